"""Compiling, linking, and the library: what simcc does once its command line is read."""

from __future__ import annotations

import os
import re

from passes import messages
from passes.compilers import (
    CLANG_ASSEMBLY,
    CLANG_FROM_INTERMEDIATE,
    CLANG_INTERMEDIATE,
    DEVICE,
    GCC_ASSEMBLY,
    INSTRUMENTED,
    Compilers,
)
from passes.options import Settings
from passes.process import (
    Commands,
    Stop,
    as_bytes,
    escaped,
    is_directory,
    is_file,
    is_readable,
    is_same_file,
    make_directory,
    make_scratch_directory,
    output_of,
    put_in_place,
    read_file,
    run,
    run_saying,
    run_to,
    succeeds,
    usage_error,
    variable,
    write_file,
)
from passes.source import Source
from passes.toolkit import clean_environment, refused_dependencies, refused_headers, without_toolkits


def build(settings: Settings, home: str, directory: str) -> None:
    Commands.verbose = settings.verbose
    settings.preprocess = without_toolkits(settings.preprocess)
    clean_environment()
    compilers = Compilers()
    check_inputs(settings)
    if settings.keep is None:
        scratch = make_scratch_directory()
    else:
        scratch = settings.keep
        if not make_directory(scratch):
            raise usage_error(f"--keep {scratch}: cannot make that directory")
    job = Build(settings, compilers, home, directory, scratch)
    library = "" if settings.compile_only else job.library()
    objects = [job.object_of(path, kind) for path, kind in settings.inputs]
    if not settings.compile_only:
        job.link(objects, library)


def check_inputs(settings: Settings) -> None:
    files = [(path, kind) for path, kind in settings.inputs if kind]
    if not files:
        raise usage_error("no input files")
    for path, _ in files:
        if not is_file(path):
            raise usage_error(f"{path}: {'a directory, expected a file' if is_directory(path) else 'no such file'}")
        if not is_readable(path):
            raise usage_error(f"{path}: cannot be read")
        if settings.output is not None and is_same_file(path, settings.output):
            raise usage_error(f"-o {settings.output}: is one of the inputs")
    compiled = sum(kind != "object" for _, kind in files)
    if settings.compile_only and settings.output is not None and compiled > 1:
        raise usage_error("-o cannot name one file for several with -c")
    for written in (settings.output, settings.dependency_file):
        if written is not None:  # better told before the minutes that a build may take
            put_in_place(None, written)


def base_name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def stem_of(path: str) -> str:
    name = base_name(path)
    return name.rpartition(".")[0] if "." in name else name


PRECOMPILED = variable("SIM_PRECOMPILED")
ARCHITECTURE = 900  # the default GPU's, an H100
# Behind our own headers (cuda_runtime.h).
NAMES_STD = re.compile(r"^#pragma sim_program.*\b(?:std|__gnu_cxx)\b", re.ASCII | re.DOTALL | re.MULTILINE)

# Functions that allocate and free, in C and in C++: the engine sees a program's calls (engine/api/host_memory.c).
WRAPPED = "malloc calloc realloc free aligned_alloc _Znwm _Znam _ZdlPv _ZdaPv _ZdlPvm _ZdaPvm".split()


# What an object says of itself, unless it is "counted", and the option that made it so.
OPTION_OF = {"fast": "--fast", "front": "--front=clang"}


class Build:
    """One run of simcc."""

    def __init__(self, settings: Settings, compilers: Compilers, home: str, directory: str, scratch: str) -> None:
        self.settings = settings
        self.compilers = compilers
        self.home = home
        self.directory = directory
        self.headers = f"{home}/include"
        self.scratch = scratch
        self.count = 0  # of the names in the scratch directory
        self.headers_text = ""  # of SIM_PRECOMPILED, where this file begins with it

    def scratch_name(self, path: str) -> str:
        self.count += 1
        return f"{self.scratch}/{self.count - 1}-{stem_of(path)}"

    # ---- compiling ----

    def object_of(self, path: str, kind: str | None) -> str:
        """The object that a file is, or is compiled to."""
        if kind is None or kind == "object":
            return path
        if self.settings.compile_only:
            target = f"{stem_of(path)}.o" if self.settings.output is None else self.settings.output
        else:
            target = f"{self.scratch_name(path)}.o"
        if kind == "cuda":
            self.compile_cuda(path, target)
        else:
            self.compile_host(path, target, kind)
        return target

    def compile_host(self, path: str, target: str, kind: str) -> None:
        settings, in_c = self.settings, kind == "c"
        command = [*self.compilers.cc, *settings.c_only] if in_c else [*self.compilers.cxx, settings.standard]
        # The engine names the line of a wrong call.
        command += ["-g1", "-gdwarf-4", *settings.preprocess, "-isystem", self.headers]
        command += [settings.optimize] if settings.optimize is not None else []
        command += [*settings.compile, *settings.host_only, *self.dependency_options(target)]
        command += ["-x", "c" if in_c else "c++"]
        try:
            run_to(target, [*command, "-c", path])
        except Stop:
            report(refused_dependencies(path, output_of([*command, "-M", path], quiet=True)))
            raise

    def compile_cuda(self, path: str, target: str) -> None:
        for_arm = any("aarch64" in word for word in (*self.compilers.cxx, os.uname().machine))
        if (self.settings.front or ("clang" if for_arm else "passes")) == "clang":
            from passes import front

            front.compile_cuda(self, path, target, self.plugin())
            return
        from passes import assembly, private, source

        settings, stem = self.settings, self.scratch_name(path)
        self.preprocess(path, target, f"{stem}.ii")
        content = read_file(f"{stem}.ii")
        report(refused_headers(content))
        plain = source.transform(content, settings.fast, self.compilers.family, self.headers)
        report(messages.of_source(plain))
        given = plain.text
        if self.headers_text:
            given = f'# 0 "{escaped(path)}"\n{self.pragma()}{given[len(self.headers_text) :]}'
        write_file(f"{stem}.sim.ii", given)
        self.compile_to_assembly(stem, plain)
        generated = read_file(f"{stem}.s")
        if '"' in path:  # in a note before inline assembly gcc writes a name as it is
            generated = re.sub(r'(?m)^(# \d+ ")(.*)(" \d+)$', lambda at: at[1] + escaped(at[2]) + at[3], generated)
        text, errors = assembly.transform(generated, plain, settings.fast, self.headers, stem)
        report(errors)
        if not settings.relocatable:
            text = private.transform(text)
        write_file(f"{stem}.sim.s", text + build_mark(path, "fast" if settings.fast else "counted"))
        # clang mixes files with and without checksums, and warns of its own doing
        run_to(target, [*self.compilers.cxx, "-Wa,--no-warn", "-c", f"{stem}.sim.s"])

    def preprocess(self, path: str, target: str, output: str) -> None:
        """A program that says nothing of std:: does without what only that needs of the C++ library: it takes longer to
        compile than a kernel. A message of the preprocessor, too, is for the second time, which is for all others."""
        settings = self.settings
        command = [*self.compilers.cxx, "-E", "-x", "c++", settings.standard, *settings.compile]
        command += ["-D__CUDACC__=1", "-D__NVCC__=1", "-DSIM_BUILTIN_TOKENS=1", "-U_FORTIFY_SOURCE"]
        command += ["-DSIM_FAST=1"] if settings.fast else []
        command += [f"-D__CUDA_ARCH__={settings.architecture or ARCHITECTURE}"]
        command += ["-isystem", self.headers, *settings.preprocess]
        command += self.compilers.optimiser_options(settings.fast, settings.optimize)
        whole = not PRECOMPILED or settings.fast or settings.dependencies or self.compilers.is_clang
        if whole or not self.preprocess_behind(command, path, output):
            self.preprocess_all(command, path, target, output)

    def pragma(self) -> str:
        return f'#pragma GCC pch_preprocess "{PRECOMPILED}/cuda_runtime.h.gch"\n'

    def preprocess_behind(self, command: list[str], path: str, output: str) -> bool:
        """With our headers as SIM_PRECOMPILED=DIR has them, made there if it is not: gcc reads them in a third of the
        time. The passes see the whole text, as ever. False: this program needs more, or this gcc takes another one."""
        ready = f"{PRECOMPILED}/cuda_runtime.ii"
        command = [*command, *DEVICE, *GCC_ASSEMBLY, "-DSIM_WITHOUT_STD=1"]
        if not is_file(ready):
            whole = f"{ready}.{os.getpid()}"
            header = [*command, "-c", "-x", "c++-header", f"{self.headers}/cuda_runtime.h"]
            made = [word for word in header if word != "-E"]
            if not succeeds([*made, "-o", f"{PRECOMPILED}/cuda_runtime.h.gch"]):
                return False
            empty = f"{self.scratch}/empty.cu"
            write_file(empty, "")
            if not succeeds([*command, "-include", "cuda_runtime.h", empty, "-o", whole]):
                return False
            write_file(whole, "".join(read_file(whole).partition("#pragma sim_program\n")[:2]))
            os.replace(as_bytes(whole), as_bytes(ready))
        command += ["-fpch-preprocess", "-include", f"{PRECOMPILED}/cuda_runtime.h", path, "-o", output]
        if not succeeds(command):
            return False
        _, found, program = read_file(output).partition(self.pragma())
        text = f'# 0 "{escaped(path)}"\n' + read_file(ready).partition("\n")[2]
        if not found or NAMES_STD.search(text + program):
            return False
        self.headers_text = text
        write_file(output, text + program)
        return True

    def preprocess_all(self, command: list[str], path: str, target: str, output: str) -> None:
        command = [*command, *self.dependency_options(target), "-include", "cuda_runtime.h", path, "-o", output]
        if not succeeds([*command, "-DSIM_WITHOUT_STD=1"]) or NAMES_STD.search(read_file(output)):
            said_in_lines = [*command, *messages.ONE_LINE[self.compilers.family]]
            run_saying(said_in_lines, lambda said: messages.of_preprocessor(said, self.headers))

    def compile_to_assembly(self, stem: str, plain: Source) -> None:
        """clang copies structs with memcpy, which its sanitizer pass would hide in a library call.

        There its intermediate code is rewritten on the way, before that pass runs.
        """
        settings, compilers = self.settings, self.compilers
        command = [*compilers.cxx, "-x", "c++-cpp-output", settings.standard, *settings.compile]
        command += compilers.optimiser_options(settings.fast, settings.optimize) + DEVICE
        command += CLANG_ASSEMBLY if compilers.is_clang else GCC_ASSEMBLY
        command += messages.ONE_LINE[compilers.family]
        command += ["-fpch-preprocess"] if self.headers_text else []

        def translate(said: str) -> str:
            return messages.for_user(said, plain.columns, self.headers)

        if settings.fast or not compilers.is_clang:
            run_saying([*command, "-S", f"{stem}.sim.ii", "-o", f"{stem}.s"], translate)
            return
        from passes import llvm

        run_saying([*command, *CLANG_INTERMEDIATE, f"{stem}.sim.ii", "-o", f"{stem}.ll"], translate)
        write_file(f"{stem}.sim.ll", llvm.transform(read_file(f"{stem}.ll")))
        command = [*compilers.cxx, *CLANG_FROM_INTERMEDIATE, *INSTRUMENTED, *DEVICE, *settings.compile]
        run([*command, "-S", f"{stem}.sim.ll", "-o", f"{stem}.s"])

    def dependency_options(self, target: str) -> list[str]:
        settings = self.settings
        if not settings.dependencies:
            return []
        file = settings.dependency_file
        if file is None:
            file = f"{target[:-2]}.d" if target.endswith(".o") else target
        of = target if settings.dependency_target is None else settings.dependency_target
        return [settings.dependencies, "-MF", file, "-MT", of, *(["-MP"] if settings.dependency_phony else [])]

    # ---- linking ----

    def library(self) -> str:
        """The engine."""
        return self.given("SIM_LIB") or self.made("lib", "libsim.a", self.compilers.cc, self.compilers.cxx)

    def plugin(self) -> str:
        """What clang runs for --front=clang: front/."""
        from passes.compilers import twin_of
        from passes.front import compiler_of

        cxx = compiler_of(self.compilers)
        return self.given("SIM_PLUGIN") or self.made("plugin", "front.so", twin_of("c", cxx), cxx)

    def given(self, name: str) -> str | None:
        path = variable(name)
        if path is not None and not is_file(path):
            raise usage_error(f"{name}: {path}: no such file")
        return path

    def made(self, goal: str, file: str, cc: list[str], cxx: list[str]) -> str:
        """Built by simcc's own Makefile with these compilers; one builder at a time."""
        import fcntl

        directory = f"{self.directory}/{'_'.join(base_name(word) for word in cxx)}"  # as toolchain.mk calls it
        try:
            os.makedirs(as_bytes(directory), exist_ok=True)
            name = ".lock" if goal == "lib" else f".{goal}.lock"  # the library's own test may need the plugin
            lock = open(as_bytes(f"{directory}/{name}"), "wb")  # noqa: SIM115 closed below, by "with lock"
        except OSError as error:
            raise Stop(
                3, f"simcc: cannot write {directory}: {error.strerror} (SIM_BUILD chooses another place)"
            ) from None
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            ours = (b"MAKEFLAGS", b"MAKELEVEL", b"MFLAGS", b"SIM_FRONT")  # an outer make's options are not for this one
            environment = {name: value for name, value in os.environb.items() if name not in ours}
            environment[b"SIM_BUILD"] = as_bytes(self.directory)
            chosen = [f"CC={' '.join(cc)}", f"CXX={' '.join(cxx)}"]
            run(["make", "-s", f"-j{os.cpu_count() or 1}", "-C", self.home, goal, *chosen], environment)
        return f"{directory}/{file}"

    def link(self, objects: list[str], library: str) -> None:
        settings = self.settings
        wrapped = [f"-Wl,--wrap={symbol}" for symbol in WRAPPED]
        command = [*self.compilers.cxx, *settings.host_only, *settings.link, *wrapped, *objects, library]
        command += ["-Wl,--undefined=sim_is_counting", "-lpthread", "-lm"]  # even where the program launches nothing
        run_to("a.out" if settings.output is None else settings.output, command, self.refuse_mixture)

    def refuse_mixture(self, program: str) -> None:
        """Counted code beside --fast code would be checked against memory whose other half nobody watched.

        Values that fast kernels wrote would be called uninitialized, and counts would miss half of the traffic.
        """
        libraries = (path for path, _ in self.settings.inputs if ".so" in base_name(path))
        built: dict[str, str] = {}
        for line in output_of(["readelf", "-p", "sim_build", program, *libraries], quiet=True).split("\n"):
            bracket, _, mark = line.partition("]")
            how, _, path = mark.strip().partition(" ")
            if bracket.strip().startswith("[") and how in ("counted", *OPTION_OF):
                built.setdefault(how, path)
        marked = next((how for how in OPTION_OF if how in built), None)
        other = next((path for how, path in built.items() if how != marked), None)
        if marked and other:
            mixture = f"{built[marked]} was built with {OPTION_OF[marked]} and {other} without"
            report([f"simcc: {mixture}: build all .cu files of a program alike"])


def build_mark(path: str, how: str) -> str:
    """How the object was built, for refuse_mixture: a string in a section that no program loads."""
    return f'\t.section\tsim_build,"",@progbits\n\t.string\t"{how} {escaped(path)}"\n'


def report(errors: list[str]) -> None:
    if errors:
        raise Stop(1, *errors)
