"""Compiling, linking, and the library: what simcc does once its command line is read."""

from __future__ import annotations

import os
import re

from driver.compilers import Compilers
from driver.options import Settings
from driver.process import (
    Commands,
    Stop,
    as_bytes,
    base_name,
    is_directory,
    is_file,
    is_readable,
    is_same_file,
    make_directory,
    make_scratch_directory,
    output_of,
    put_in_place,
    read_file,
    report,
    run,
    run_to,
    usage_error,
    variable,
)
from driver.toolkit import clean_environment, refused_headers, without_toolkits


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


def stem_of(path: str) -> str:
    name = base_name(path)
    return name.rpartition(".")[0] if "." in name else name


# What only CUDA has, and what may have it in a comment.
CUDA = re.compile(r"""//.*|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/|"(?:\\.|[^"\\\n])*"|(\b__global__\b|(?<!<)<<<(?!<))""")


def cuda_in(path: str):
    """Of a file of C or C++ that has a kernel or a launch: one line in the place of what the compiler says of each.
    None: it has none, or is for both compilers."""
    text = read_file(path)
    if (
        path.endswith(".cu")
        or re.search("__CUDACC__|define +__global__", text)
        or not any(found[1] for found in CUDA.finditer(text))
    ):
        return None
    said_in_one = f"{path}: error: kernels are compiled in .cu files: name it {stem_of(path)}.cu\n"
    return lambda said: said_in_one if "error: " in said else said


# Functions that allocate and free, in C and in C++: the engine sees a program's calls (engine/api/host_memory.c).
WRAPPED = "malloc calloc realloc free aligned_alloc _Znwm _Znam _ZdlPv _ZdaPv _ZdlPvm _ZdaPvm".split()


# What names of the program's have in an object.
OWN_NAMES = re.compile(r" \[clone \.sim(?:_local)?\]|\.sim(?:_local)?\b|__device_stub__")


def folder_of(compiler: list[str]) -> str:
    """Its name in folders of build/, as toolchain.mk makes it: one word, without a = (which make would read)."""
    return "_".join(base_name(word) for word in compiler).replace("=", "_")


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
            from driver.cuda import compile_cuda

            compile_cuda(self, path, target)
        else:
            self.compile_host(path, target, kind)
        return target

    def compile_host(self, path: str, target: str, kind: str) -> None:
        settings, in_c = self.settings, kind == "c"
        command = [*self.compilers.cc, *settings.c_only] if in_c else [*self.compilers.cxx, settings.standard]
        # The engine names the line of a wrong call.
        command += ["-g1", "-gdwarf-4", *settings.preprocess, "-isystem", self.headers]
        command += [settings.optimize] if settings.optimize is not None else []
        command += [
            *settings.compile,
            *settings.host_only,
            *self.dependency_options(target, self.dependency_file(target, path)),
        ]
        command += ["-x", "c" if in_c else "c++"]
        try:
            run_to(target, [*command, "-c", path], translate=cuda_in(path))
        except Stop:
            report(
                refused_headers(
                    output_of([*command, "-M", path], quiet=True), lambda: output_of([*command, "-E", path])
                )
            )
            raise

    def depends(self, target: str) -> str:
        """Whose rule -MD writes for an object: that of the program, where it is linked at once and then gone."""
        settings = self.settings
        if settings.dependency_target is not None:
            return settings.dependency_target
        return target if settings.compile_only else settings.output or "a.out"

    def dependency_file(self, target: str, path: str) -> str:
        settings = self.settings
        if settings.dependency_file is not None:
            return settings.dependency_file
        if settings.compile_only:
            return f"{target[:-2]}.d" if target.endswith(".o") else target
        alone = sum(kind != "object" for _, kind in settings.inputs) == 1
        return f"{self.depends(target)}{'' if alone else f'-{stem_of(path)}'}.d"

    def dependency_options(self, target: str, file: str) -> list[str]:
        settings = self.settings
        if not settings.dependencies:
            return []
        return [
            *(settings.dependencies, "-MF", file, "-MT", self.depends(target)),
            *(["-MP"] if settings.dependency_phony else []),
        ]

    # ---- linking ----

    def library(self) -> str:
        """The engine."""
        given = variable("SIM_LIB")
        if given is None:
            self.make("lib", self.compilers.cc, self.compilers.cxx)
            return f"{self.directory_of(self.compilers.cxx)}/libsim.a"
        if not is_file(given):
            raise usage_error(f"SIM_LIB: {given}: no such file")
        return given

    def directory_of(self, cxx: list[str]) -> str:
        """Where simcc's own Makefile builds with this compiler: as toolchain.mk calls it."""
        return f"{self.directory}/{folder_of(cxx)}"

    def make(self, goal: str, cc: list[str], cxx: list[str]) -> None:
        """By simcc's own Makefile, with these compilers; one builder at a time."""
        import fcntl

        directory = self.directory_of(cxx)
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
            ours = (b"MAKEFLAGS", b"MAKELEVEL", b"MFLAGS")  # an outer make's options are not for this one
            environment = {name: value for name, value in os.environb.items() if name not in ours}
            environment[b"SIM_BUILD"] = as_bytes(self.directory)
            chosen = [f"CC={' '.join(cc)}", f"CXX={' '.join(cxx)}"]
            run(["make", "-s", f"-j{os.cpu_count() or 1}", "-C", self.home, goal, *chosen], environment)

    def link(self, objects: list[str], library: str) -> None:
        settings = self.settings
        wrapped = [f"-Wl,--wrap={symbol}" for symbol in WRAPPED]
        command = [*self.compilers.cxx, *settings.host_only, *settings.link, *wrapped, *objects, library]
        command += ["-Wl,--undefined=sim_is_counting", "-lpthread", "-lm"]  # even where the program launches nothing
        program = "a.out" if settings.output is None else settings.output
        run_to(program, command, self.refuse_mixture, lambda said: OWN_NAMES.sub("", said))

    def refuse_mixture(self, program: str) -> None:
        """Counted code beside --fast code would be checked against memory whose other half nobody watched.

        Values that fast kernels wrote would be called uninitialized, and counts would miss half of the traffic.
        """
        libraries = (path for path, _ in self.settings.inputs if ".so" in base_name(path))
        built: dict[str, str] = {}
        for line in output_of(["readelf", "-p", "sim_build", program, *libraries], quiet=True).split("\n"):
            bracket, _, mark = line.partition("]")
            how, _, path = mark.strip().partition(" ")
            if bracket.strip().startswith("[") and how in ("counted", "fast"):
                built.setdefault(how, path)
        if len(built) > 1:
            mixture = f"{built['fast']} was built with --fast and {built['counted']} without"
            report([f"simcc: {mixture}: build all .cu files of a program alike"])
