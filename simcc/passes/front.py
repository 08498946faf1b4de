"""simcc --front=clang: a .cu file compiled by clang as CUDA, twice, as nvcc does: for the device and for the host.

Both sides are code for this machine's CPU. What makes the device's side count is front/, which clang runs; the two
objects become one here.
"""

from __future__ import annotations

import re

from passes.compilers import FAST
from passes.denied import DENIED
from passes.missing import PRAGMA, RUNTIME, missing_function
from passes.process import Stop, in_path, output_of, put_in_place, run, run_saying, usage_error, words, write_file

# cuda_runtime.h is ours, and so are the qualifiers. Without the CUDA SDK's version clang would ask for its old launch.
LANGUAGE = """-x cuda --cuda-host-only -nocudainc -nocudalib -nobuiltininc -Xclang -target-sdk-version=10.1
    -Xclang -fcuda-allow-variadic-functions -Wno-unknown-cuda-version -Wno-unknown-pragmas -D__CUDACC__=1 -D__NVCC__=1
    -DSIM_FRONT=1 -U_FORTIFY_SOURCE -include cuda_runtime.h -gdwarf-4
    -fdebug-compilation-dir=. -ffp-contract=off -ftls-model=local-exec -fno-addrsig
    -Wno-pass-failed -Wno-unknown-attributes""".split()
# Counted code. Optimized behind the plugin, whose calls keep each access what and where it is. What C++ calls
# undefined, and a GPU does all the same, is done: an endless loop, an overflow, an address that is wrong.
ON_DEVICE = """-Xclang -fcuda-is-device -Xclang -ffake-address-space-map -Xclang -mno-constructor-aliases
    -U__CUDA_ARCH__""".split()
DEVICE = """-O1 -fno-builtin -fno-finite-loops -fwrapv -fno-delete-null-pointer-checks -fno-omit-frame-pointer
    -fno-optimize-sibling-calls -fno-stack-protector -fno-math-errno -fno-vectorize -fno-slp-vectorize""".split()
X86 = "-mno-red-zone -fno-stack-clash-protection -fcf-protection=none".split()
# A file of Python that gdb loads with the program.
SCRIPT = '\t.section\t.debug_gdb_scripts,"MS",@progbits,1\n\t.byte\t1\n\t.asciz\t"{}"\n'
# The passes' table of what device code may not call, in the words of LLVM's expressions.
POSIX_DENIED = "\n".join(
    f"^({symbol.replace('(?:', '(').replace(chr(92) + 'w', '[A-Za-z0-9_]')})\t{called}" for symbol, called in DENIED
)
MESSAGE = re.compile(r"\S.*?: (?:fatal )?(?:error|warning): ")
NOTE = re.compile(r"\S.*?: note: ")
INCLUDED = re.compile(r"In file included from ")
COUNT = re.compile(r"\d+ (?:error|warning)s?\b.* generated")
# What clang says of a name that it does not know.
LACKING = re.compile(
    r"(?:use of undeclared identifier|unknown type name|no (?:template|type|member)(?: named)?) '(?P<name>\w+)'"
    r"(?: in namespace '(?P<space>[\w:]+)')?(?:[;,] did you mean .*)?"
)
DYNAMIC = re.compile(r"reference to __global__ function '\w+' in __(?:global|device)__ function")
LINE_MARKER = re.compile(r'# \d+ "(.*)"')
UNSUPPORTED = ("__managed__", "__cluster_dims__", "texture", "surface")


def compiler_of(compilers) -> list[str]:
    """CXX where that is clang; else the clang++ that is there: .c and .cpp files may be another compiler's."""
    if compilers.is_clang:
        return compilers.cxx
    if not in_path("clang++"):
        raise usage_error("--front=clang: clang++ is not installed, and CXX names no clang")
    return ["clang++"]


def compile_cuda(job, path: str, target: str, plugin: str) -> None:
    """`job` is a build.Build, `plugin` the compiled front/."""
    from passes.build import ARCHITECTURE, build_mark, report
    from passes.toolkit import refused_dependencies

    settings, stem = job.settings, job.scratch_name(path)
    cxx = compiler_of(job.compilers)
    builtin = words(output_of([*cxx, "-print-resource-dir"]))[0] + "/include"
    triple = words(output_of([*cxx, "-dumpmachine"]))[0]
    command = [*cxx, *LANGUAGE, "-Xclang", "-aux-triple", "-Xclang", triple, settings.standard]
    command += settings.compile
    command += ["-isystem", f"{job.headers}/sim_front", "-isystem", job.headers, "-isystem", builtin]
    command += [*settings.preprocess, f"-fpass-plugin={plugin}"]
    environment = [
        "env",
        f"SIM_FAST={int(settings.fast)}",
        f"SIM_HEADERS={job.headers}",
        f"SIM_RELOCATABLE={int(settings.relocatable)}",
        f"SIM_DENIED={POSIX_DENIED}",
    ]
    x86 = triple.startswith("x86_64")
    fast = [*(FAST if x86 else []), "-DSIM_FAST=1"] if settings.fast else []
    debug = "-g" in settings.host_only and not settings.fast  # variables stay in memory, where a debugger finds them
    environment.append(f"SIM_DEBUG={int(debug)}")
    as_asked = [settings.optimize or "-O3", *fast] if settings.fast else [*DEVICE, *(X86 if x86 else [])]
    if debug:
        as_asked.append("-O0")
    device = [*environment, "SIM_SIDE=device", *command, *ON_DEVICE, *as_asked]
    device += [f"-D__CUDA_ARCH__={settings.architecture or ARCHITECTURE}", *job.dependency_options(target)]
    host = [
        *environment,
        "SIM_SIDE=host",
        *command,
        "-fno-strict-aliasing",
        settings.optimize or ("-O3" if settings.fast else "-O0"),
    ]
    host += fast
    said: list[str] = []

    def preprocessed() -> str:
        return output_of([*host, "-E", path], quiet=True)

    def translate(text: str) -> str:
        new = [block for block in blocks(text) if block not in said]
        said.extend(new)
        return "".join(for_user(block, job.headers, preprocessed) for block in new)

    try:
        run_saying([*device, "-c", path, "-o", f"{stem}.device.o"], translate)
        run_saying([*host, "-c", path, "-o", f"{stem}.host.o"], translate)
    except Stop:
        report(refused_dependencies(path, output_of([*host, "-M", path], quiet=True)))
        raise
    script = SCRIPT.format(f"{job.home}/front/gdb.py") if debug else ""
    write_file(
        f"{stem}.mark.s",
        script + build_mark(path, "fast" if settings.fast else "front") + '\t.section\t.note.GNU-stack,"",@progbits\n',
    )
    objects = [f"{stem}.device.o", f"{stem}.host.o", f"{stem}.mark.s"]
    run([*cxx, "-r", "-nostdlib", *objects, "-o", f"{stem}.o"])
    local = ["--localize-symbol=*.sim_local", *([] if settings.relocatable else ["--localize-symbol=*.sim"])]
    run(["objcopy", "--wildcard", *local, f"{stem}.o"])
    put_in_place(f"{stem}.o", target)


def blocks(text: str) -> list[str]:
    """clang's messages, each with its notes and the lines that belong to it, but for how many they are: of both sides
    that would be two."""
    found: list[str] = []
    leads = False  # the lines in front of a message that say where its file is included
    for line in text.splitlines(keepends=True):
        if COUNT.match(line):
            continue
        if not found or (not leads and (INCLUDED.match(line) or MESSAGE.match(line))):
            found.append("")
        leads = bool(INCLUDED.match(line))
        found[-1] += line
    return found


def for_user(block: str, headers: str, preprocessed) -> str:
    """Without the notes about our headers, and with what the simulated device lacks called so."""
    lines, ours = [], False
    for line in block.splitlines(keepends=True):
        if MESSAGE.match(line) or NOTE.match(line):
            ours = bool(NOTE.match(line)) and line.startswith(f"{headers}/")
        if not ours and not line.startswith(f"In file included from {headers}/"):
            lines.append(line)
    text = DYNAMIC.sub(
        "a launch in device code (dynamic parallelism) is not supported by the simulated device", "".join(lines)
    )
    found = LACKING.search(text)
    if not found:
        return text
    what = lacking(found["name"], (found["space"] or "").split("::"), headers, preprocessed)
    return text[: found.start()] + what + text[found.end() :] if what else text


def lacking(name: str, spaces: list[str], headers: str, preprocessed) -> str | None:
    """What is said of a name that is nowhere declared; None: it is the program's own mistake."""
    if name in UNSUPPORTED:
        return f"'{name}' is not supported by the simulated device"
    text = text_of(headers, preprocessed())
    known = {(kind, prefix): library for kind, prefix, library in PRAGMA.findall(text)}
    known["function", RUNTIME[0]] = RUNTIME[1]
    for space in reversed(spaces):
        if ("namespace", space) in known:
            return f"'{space}::{name}' ({known['namespace', space]}) is not supported by the simulated device"
    prefixes = [prefix for kind, prefix in known if kind == "function" and name.startswith(prefix)]
    if not prefixes or spaces != [""]:
        return None
    prefix = max(prefixes, key=len)
    return missing_function(name, prefix, known["function", prefix], text)


def text_of(headers: str, preprocessed: str) -> str:
    """Of a preprocessed program, what stands in our headers."""
    lines, ours = [], False
    for line in preprocessed.splitlines(keepends=True):
        found = LINE_MARKER.match(line)
        if found:
            ours = found[1].startswith(f"{headers}/")
        elif ours:
            lines.append(line)
    return "".join(lines)
