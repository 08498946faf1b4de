"""A .cu file compiled by clang, twice, as nvcc does: for the device and for the host.

Both sides are code for this machine's CPU. What makes the device's side count is front/, which clang runs; the two
objects become one here.
"""

from __future__ import annotations

import os
import re

from driver.compilers import clang_for_cuda, twin_of
from driver.messages import Translation
from driver.process import (
    Command,
    Stop,
    as_bytes,
    as_text,
    base_name,
    escaped,
    is_file,
    output_of,
    place_in_path,
    put_in_place,
    read_file,
    report,
    run,
    run_saying,
    run_silently,
    usage_error,
    variable,
    words,
    write_file,
)
from driver.toolkit import refused_headers

# cuda_runtime.h is ours, and so are the qualifiers. Without the CUDA SDK's version clang would ask for its old launch.
LANGUAGE = """-x cuda --cuda-host-only -nocudainc -nocudalib -nobuiltininc -Xclang -target-sdk-version=10.1
    -Xclang -fcuda-allow-variadic-functions -D__CUDACC__=1 -D__NVCC__=1 -U_FORTIFY_SOURCE -gdwarf-4
    -fdebug-compilation-dir=. -ffp-contract=off -fno-addrsig -fno-crash-diagnostics""".split()
# Behind the user's: what clang says of CUDA is no news.
SILENT = """-Wno-unknown-cuda-version -Wno-unknown-pragmas -Wno-pass-failed -Wno-unknown-attributes
    -Wno-cuda-compat -Wno-error=user-defined-warnings""".split()
# An operand of PTX has its own width. And what is said of aliases, in the new way, names the type that a copy is of.
ON_DEVICE = """-Xclang -fcuda-is-device -Xclang -ffake-address-space-map -Xclang -mno-constructor-aliases
    -Xclang -new-struct-path-tbaa -ftls-model=local-exec -Wno-asm-operand-widths -U__CUDA_ARCH__""".split()
# Counted code. Optimized behind the plugin, whose calls keep each access what and where it is. What C++ calls
# undefined, and a GPU does all the same, is done: an endless loop, an overflow, an address that is wrong.
COUNTED = """-O1 -fno-builtin -fno-finite-loops -fwrapv -fno-delete-null-pointer-checks -fno-omit-frame-pointer
    -fno-optimize-sibling-calls -fno-stack-protector -fno-math-errno -fno-vectorize -fno-slp-vectorize""".split()
COUNTED_ON_X86 = "-mno-red-zone -fno-stack-clash-protection -fcf-protection=none".split()
FAST_ON_X86 = "-march=native -Wno-unknown-warning-option -Wno-invalid-feature-combination".split()  # clang 19's own
ARCHITECTURE = 900  # the default GPU's, an H100
# Assembly that the plugin adds to the host's side, in sections that no program loads: how the object was built, for
# refuse_mixture() of build.py, and a file of Python that gdb loads with the program.
MARK = '\t.section\tsim_build,"",@progbits\n\t.string\t"{}"\n'
SCRIPT = '\t.section\t.debug_gdb_scripts,"MS",@progbits,1\n\t.byte\t1\n\t.asciz\t"{}"\n'


# Of an asm statement with PTX: what clang says of a letter that this CPU has not, and one that it has, of values alike.
REFUSED_OPERAND = re.compile(
    r"^(\S.*?):\d+:\d+: error: invalid (output|input) constraint '[=+]?\w' in asm", re.MULTILINE
)
PTX_OPERANDS = {
    name: {sign + letter: sign + now for sign in ("", "=", "+") for letter, now in letters.items()}
    for name, letters in {
        "x86": {"f": "x"},
        "arm": {"f": "w", "l": "r"},
    }.items()
}


class Again(Exception):
    """Compile it once more."""


class Clang:
    """The clang++ that compiles CUDA, its plugin, the triple of its code and the folder of its own headers.

    To ask it for these takes longer than to compile a short kernel: what it said stands beside the plugin, and holds as
    long as it says that it is the same version, and its program is the same file.
    """

    def __init__(self, job) -> None:
        self.command = clang_for_cuda(job.compilers.cxx, job.compilers.is_clang)
        directory = job.directory_of(self.command)
        self.plugin = f"{directory}/front.so"
        note, identity = f"{directory}/front.clang", identity_of(self.command)
        known = read_file(note).split("\n") if is_file(note) else []
        if known[:1] != [identity] or not self.is_new(job.home):
            job.make("plugin", twin_of("c", self.command), self.command)
        if known[:1] != [identity] or len(known) < 3:
            known = [identity, self.ask("-dumpmachine"), self.ask("-print-resource-dir"), ""]
            write_file(f"{note}.{os.getpid()}", "\n".join(known))
            os.replace(as_bytes(f"{note}.{os.getpid()}"), as_bytes(note))
        self.triple, self.headers = known[1], f"{known[2]}/include"

    def ask(self, option: str) -> str:
        said = words(output_of([*self.command, option]))
        if not said:
            raise usage_error(f"'{' '.join(self.command)} {option}' says nothing: not a clang that simcc can use")
        return said[0]

    def is_new(self, home: str) -> bool:
        """As the Makefile has it."""
        try:
            made = os.stat(as_bytes(self.plugin)).st_mtime_ns
            names = [name for name in os.listdir(as_bytes(f"{home}/front")) if name.endswith((b".cpp", b".h"))]
            sources = [f"{home}/Makefile", *(f"{home}/front/{as_text(name)}" for name in names)]
            return all(os.stat(as_bytes(source)).st_mtime_ns < made for source in sources)
        except OSError:
            return False


def identity_of(command: list[str]) -> str:
    """Of what a command runs. A script, or a link to another program, may run another clang tomorrow: it is asked."""
    parts = []
    for word in command:
        place = place_in_path(word)
        if not place:
            parts.append(word)
            continue
        real = as_text(os.path.realpath(as_bytes(place)))
        about = os.stat(as_bytes(real))
        parts.append(f"{real} {about.st_size} {about.st_mtime_ns}")
        if not base_name(real).startswith("clang") or read_file(real)[:2] == "#!":
            parts.append(" ".join(output_of([*command, "--version"]).split("\n")))
    return " ".join(parts)


class Source:
    """A .cu file and how its two sides are compiled."""

    def __init__(self, job, path: str, target: str) -> None:
        """`job` is a build.Build."""
        self.job, self.path, self.clang, settings = job, path, Clang(job), job.settings
        self.stem = job.scratch_name(path)
        x86 = self.clang.triple.startswith("x86_64")
        # Variables stay in memory, where a debugger finds them.
        debug = settings.debug and not settings.fast
        mark = MARK.format(f"{'fast' if settings.fast else 'counted'} {escaped(path)}")
        mark += SCRIPT.format(escaped(f"{job.home}/front/gdb.py")) if debug else ""
        self.variables = {"SIM_FAST": str(int(settings.fast)), "SIM_DEBUG": str(int(debug)), "SIM_MARK": mark}
        self.variables |= {"SIM_HEADERS": job.headers, "SIM_RELOCATABLE": str(int(settings.relocatable))}
        device, host = (
            [*ON_DEVICE, f"-D__CUDA_ARCH__={settings.architecture or ARCHITECTURE}"],
            ["-fno-strict-aliasing"],
        )
        if settings.fast:
            optimize = [settings.optimize or "-O3", "-DSIM_FAST=1", *(FAST_ON_X86 if x86 else [])]
            device, host = [*device, *optimize], [*host, *optimize]
        else:
            device += [*COUNTED, *(COUNTED_ON_X86 if x86 else []), *(["-O0"] if debug else [])]
            host += [settings.optimize or "-O0"]
        self.options = {"device": device, "host": host}
        # Which headers each side has read, which may be others: the host's all, the device's as they are asked for.
        self.dependencies = {
            "device": job.dependency_options(target, f"{self.stem}.device.d"),
            "host": ["-MD", "-MF", f"{self.stem}.host.d", "-MT", job.depends(target)],
        }

    def command(self, side: str, *output: str, header: str | None = None) -> list[str]:
        """Compiles one side; `header` is ours as precompiled(), or "": the header itself is made so."""
        settings, clang, headers = self.job.settings, self.clang, self.job.headers
        command = [*clang.command, *LANGUAGE]
        # Builtins of the auxiliary CPU are for the other side: the host's are this CPU's (_mm_pause, vaddq_f32).
        command += ["-Xclang", "-aux-triple", "-Xclang", clang.triple] if side == "device" else []
        command += ["-Wsometimes-uninitialized"] if side == "device" else []
        command += [settings.standard, *settings.compile]
        command += SILENT
        command += [*self.options[side], "-isystem", f"{headers}/sim_front", "-isystem", headers]
        command += ["-isystem", clang.headers]
        if header == "":
            return [*command, *definitions(settings.preprocess), *output]
        command += ["-include", "cuda_runtime.h"] if header is None else ["-include-pch", header]
        return [*command, f"-fpass-plugin={clang.plugin}", *settings.preprocess, *output]

    def compilations(self, headers: dict[str, str | None]) -> list[Command]:
        """Of both sides."""
        found = []
        for side in self.options:
            output = [*self.dependencies[side], "-c", self.path, "-o", f"{self.stem}.{side}.o"]
            found.append((self.command(side, *output, header=headers[side]), {**self.variables, "SIM_SIDE": side}))
        return found

    def precompiled(self, directory: str) -> dict[str, str | None]:
        """Our headers as clang reads them in a third of the time, made in this directory if they are not there."""
        made: dict[str, str | None] = {}
        for side in self.options:
            made[side] = f"{directory}/{side}.pch"
            if not is_file(made[side]):
                new = f"{made[side]}.{os.getpid()}"
                header = f"{self.job.headers}/cuda_runtime.h"
                run_silently([(self.command(side, "-Xclang", "-emit-pch", "-c", header, "-o", new, header=""), {})])
                if is_file(new):
                    os.replace(as_bytes(new), as_bytes(made[side]))
        return made

    def translated_for_ptx(self, translation):
        """PTX's letters for operands are not all this CPU's: where clang refuses one, it gets the file with another."""

        def translate(said: str) -> str:
            wrong = REFUSED_OPERAND.findall(said)
            if not wrong:
                return translation(said)
            letters = PTX_OPERANDS["x86" if self.clang.triple.startswith("x86_64") else "arm"]
            self.overlay({file for file, _ in wrong}, letters)
            raise Again

        return translate

    def overlay(self, files: set[str], letters: dict[str, str]) -> None:
        """From now on clang reads these files so for the device; a constraint is a string in front of a parenthesis."""
        roots = []
        for number, file in enumerate(sorted(files)):
            copy = f"{self.stem}.{number}.ptx"
            text = re.sub(
                r'"([=+]?\w)"(?=\s*\()', lambda found: f'"{letters.get(found[1], found[1])}"', read_file(file)
            )
            write_file(copy, text)
            place = as_text(os.path.abspath(as_bytes(file)))
            roots.append(f'{{"type": "file", "name": "{escaped(place)}", "external-contents": "{escaped(copy)}"}}')
        write_file(
            f"{self.stem}.overlay",
            f'{{"version": 0, "use-external-names": false, "roots": [{", ".join(roots)}]}}',
        )
        self.options["device"] += ["-ivfsoverlay", f"{self.stem}.overlay"]

    def preprocessed(self) -> str:
        return self.said("-E")

    def said(self, option: str) -> str:
        return output_of(self.command("host", option, self.path), quiet=True)

    def write_dependencies(self, target: str) -> None:
        """A rule of each side: make takes both."""
        settings, texts = self.job.settings, [read_file(f"{self.stem}.device.d")]
        if settings.dependencies == "-MD":
            texts.append(read_file(f"{self.stem}.host.d"))
        else:
            of = self.job.depends(target)
            texts.append(output_of(self.command("host", "-MM", "-MT", of, self.path), quiet=True))
        write_file(f"{self.stem}.d", "".join(texts))
        put_in_place(f"{self.stem}.d", self.job.dependency_file(target, self.path))


def definitions(options: list[str]) -> list[str]:
    """Of a preprocessor's options those that change what our headers say."""
    return [option for option in options if option.startswith(("-D", "-U"))]


def compile_cuda(job, path: str, target: str) -> None:
    """SIM_PRECOMPILED is a directory for our precompiled headers, of just these options. Where clang does not take
    them, and where it has something to say, the file is compiled with the headers themselves."""
    source, directory = Source(job, path, target), variable("SIM_PRECOMPILED")
    if not (directory and run_silently(source.compilations(source.precompiled(directory)))):
        translation = Translation(job.headers, source.preprocessed)
        try:
            run_saying(source.compilations(dict.fromkeys(source.options)), source.translated_for_ptx(translation))
        except Again:
            run_saying(source.compilations(dict.fromkeys(source.options)), translation)
        except Stop:
            report(refused_headers(source.said("-M"), source.preprocessed))
            raise
    stem = source.stem
    report(refused_headers(read_file(f"{stem}.host.d"), source.preprocessed))
    if job.settings.dependencies:
        source.write_dependencies(target)
    run(["ld", "-r", f"{stem}.device.o", f"{stem}.host.o", "-o", f"{stem}.o"])
    local = ["--localize-symbol=*.sim_local", *([] if job.settings.relocatable else ["--localize-symbol=*.sim"])]
    run(["objcopy", "--wildcard", *local, f"{stem}.o"])
    put_in_place(f"{stem}.o", target)
