"""The command line of simcc."""

from __future__ import annotations

import re

from driver.process import print_on, usage_error

# How nvcc's --version goes: scripts look for "release" and for "V". The first line says who it is, and compilers.py
# knows itself by it. CUDA's version is that of include/cuda_runtime_api.h.
VERSION = """\
simcc 1.0: a CUDA compiler for machines without a GPU
Cuda compilation tools, release 13.0, V13.0.0
"""

HELP = """\
usage: simcc [options] file.cu [more.cu more.c more.cpp more.o] -o program

Builds an unmodified CUDA C program for the simulated device. The default build counts and checks every memory
access of device code; --fast builds the same source optimized and unchecked.

  -o FILE        the program (default a.out), or with -c the object (default NAME.o)
  -c             compile, do not link
  --fast         -O3 -march=native, no counters and no checks
  -O0 ... -O3    for host code and --fast; device code is compiled in one way, with -g for a debugger
  -g -w -W... -f... -m... -std= -I -D -U -L -l -include -isystem -iquote -pthread -MD -MMD -MP -MF -MT
                 as the C++ compiler takes them (default -std=c++17)
  -x LANGUAGE    cu, c, c++ or none: what the files that follow are
  -v             print the commands
  --keep DIR     keep the intermediate files in DIR
  -rdc=true -dc  device code belongs to the whole program; without it to its file, as with nvcc
  -arch= -gencode= -code=
                 the value of __CUDA_ARCH__, and nothing else (default sm_90)
  --help --version

  simcc --widths FILE.sass[,...] [--json] PROGRAM [arguments]
                 runs a counted program and prints its counts as nvcc's machine code has them, beside the source's;
                 FILE.sass: what `nvdisasm -gi -c` prints of a cubin that nvcc made with -lineinfo
  simcc --loops FILE.sass ...
                 the loops of that machine code and what is in them, a line of JSON each

Accepted and ignored, for nvcc's sake: -lineinfo -G --use_fast_math -Xptxas -Xlinker -Xcudafe
--expt-relaxed-constexpr --extended-lambda -ccbin -m64 -maxrregcount -fmad -ftz -prec-div -prec-sqrt, -Werror with
nvcc's kinds (all-warnings, reorder, ...), and -Xcompiler but for its -D, -U and -I.

Environment: CXX, the C++ compiler, which links (g++, clang++-19, ...); CC, the compiler of .c files; each follows
the other. A .cu file is compiled by CXX if that is clang, otherwise by the clang++ that is installed;
SIM_BUILD, where libsim.a is built (default: build beside simcc, or where that cannot be written ~/.cache/simcc);
SIM_LIB, a libsim.a to use as it is. What a built program takes from the environment: man simcc, README.md.
Exit status: 0 built, 1 it does not compile or link, 2 a mistake in the command line, 3 a file cannot be written.
"""

# Options with a value, attached or the next argument: the list of commands they go to, as one word.
ONE_WORD = {"-I": "preprocess", "-D": "preprocess", "-U": "preprocess", "-L": "link"}
# With a value that is always the next argument: two words for the preprocessor, or a setting.
TWO_WORDS = frozenset("-include -isystem -iquote -idirafter".split())
SETTING = {
    "-o": "output",
    "-x": "language",
    "-MF": "dependency_file",
    "-MT": "dependency_target",
    "-MQ": "dependency_target",
    "--keep": "keep",
}
RELOCATABLE = ("-rdc", "--relocatable-device-code")
STANDARD = ("-std", "--std")
ATTACHED = frozenset("-o -I -D -U -L -l -x".split())
IGNORED_WITH_VALUE = frozenset(
    """-arch --gpu-architecture -gencode --generate-code -code --gpu-code -Xcompiler --compiler-options -Xptxas
    --ptxas-options -Xlinker --linker-options -Xcudafe -ccbin --compiler-bindir -maxrregcount --maxrregcount
    -diag-suppress --diag-suppress -cudart --cudart -t --threads -fmad --fmad -ftz --ftz -prec-div --prec-div
    -prec-sqrt --prec-sqrt""".split()
)
SWITCHES = frozenset("fmad ftz prec-div prec-sqrt".split())  # true or false
# What nvcc's -Werror is for, and of that what a C++ compiler's is for.
WARNINGS = frozenset(
    """all-warnings cross-execution-space-call reorder default-stream-launch missing-launch-bounds
    ext-lambda-captures-this deprecated-declarations""".split()
)
WARNINGS_OF_BOTH = frozenset("reorder deprecated-declarations".split())
# nvcc's, with a value or without. As -o, -l or -f they would be something else.
REFUSED = frozenset(
    "odir output-directory optf options-file lib link ldir default-stream objtemp objdir-as-tempdir fatbin".split()
)
IGNORED = frozenset(
    """-G -lineinfo --generate-line-info --use_fast_math -use_fast_math -m64 --device-debug --expt-relaxed-constexpr
    -expt-relaxed-constexpr --expt-extended-lambda -expt-extended-lambda --extended-lambda -extended-lambda -restrict
    --restrict -dlto""".split()
)
# With an = behind one or two dashes.
IGNORED_WITH_EQUALS = frozenset(option.lstrip("-") for option in IGNORED_WITH_VALUE)
FOR_HOST_COMPILER = ("Xcompiler", "compiler-options")
# With these a NaN is no NaN, or a sum is another one.
INEXACT = frozenset(
    """-ffast-math -funsafe-math-optimizations -ffinite-math-only -fno-honor-nans -fno-honor-infinities
    -fassociative-math -freciprocal-math -fno-signed-zeros -fapprox-func""".split()
)
# They would keep clang from running the plugin, or take the code out of its reach, call what is not linked, or change
# what the engine's functions and structs look like.
UNCOUNTABLE = tuple(
    """-flegacy-pass-manager -fno-experimental-new-pass-manager -fopenmp -mcmodel
    -masm -fno-sanitize -fsanitize=thread -fsyntax-only -fpack-struct -fpcc-struct-return -fno-pie -fno-PIE
    -fno-pic -fno-PIC -m16 -m32 -mx32 -mabi= -mfunction-return -mindirect-branch -mretpoline -fprofile-arcs
    -fprofile-generate -fprofile-instr-generate -fauto-profile -fpatchable-function-entry -finstrument-function
    -fsplit-stack -mlvi -mseses -femulated-tls -fxray -ffreestanding -fno-implicit-templates -fvtable-verify""".split()
)
# The same, but others begin like them.
WITHOUT_FLOATS = frozenset("-mno-sse -mno-sse2 -mno-80387 -msoft-float -mgeneral-regs-only".split())
ARCHITECTURE = frozenset("arch gpu-architecture gencode generate-code code gpu-code".split())
GENERATION = ("gencode", "generate-code")
GPU = re.compile("(?:sm|compute|lto)_([1-9][0-9]|1[0-9][0-9])[af]?")
STANDARDS = {
    "c++": re.compile(r"(?:c|gnu)\+\+(?:98|03|0x|11|1y|14|1z|17|2a|20|2b|23|2c|26)"),
    "c": re.compile("(?:c|gnu)(?:89|90|9x|99|1x|11|17|18|2x|23|2y)|iso9899:[0-9]+"),
}
FLAGS = {
    "-c": ("compile_only",),
    "-dc": ("compile_only", "relocatable"),
    "--device-c": ("compile_only", "relocatable"),
    "--fast": ("fast",),
    "-v": ("verbose",),
    "-MP": ("dependency_phony",),
}
PASSED_ON = {
    "-w": "compile",
    "-pedantic": "compile",
    "-pthread": "host_only",
    "-static": "link",
    "-s": "link",
    "-rdynamic": "link",
    "-no-pie": "link",
    "-pie": "link",
}
LANGUAGES = {"cu": "cuda", "cuda": "cuda", "c": "c", "c++": "cxx"}
SUFFIXES = {
    "cu": "cuda",
    "cuh": "cuda",
    "c": "c",
    "cc": "cxx",
    "cpp": "cxx",
    "cxx": "cxx",
    "C": "cxx",
    "o": "object",
    "a": "object",
    "so": "object",
}


class Settings:
    """What the command line asks for."""

    def __init__(self) -> None:
        self.inputs: list[tuple[str, str | None]] = []  # path, kind: None for what only the linker reads by name
        self.preprocess: list[str] = []  # options for all compilers
        self.compile: list[str] = []
        self.c_only: list[str] = []
        self.host_only: list[str] = []
        self.link: list[str] = []
        self.output: str | None = None
        self.language = "none"
        self.standard = "-std=c++17"
        self.optimize: str | None = None
        self.architecture = 0  # __CUDA_ARCH__: the highest that is asked for
        self.compile_only = False
        self.relocatable = False
        self.fast = False
        self.verbose = False
        self.debug = False
        self.keep: str | None = None
        self.dependencies: str | None = None
        self.dependency_file: str | None = None
        self.dependency_target: str | None = None
        self.dependency_phony = False


def parse(arguments: list[str]) -> Settings:
    """The settings; a mistake is a usage error, --help and --version print and end."""
    settings = Settings()
    rest = arguments[::-1]
    while rest:
        argument = rest.pop()
        if argument == "-O" and rest and rest[-1] in ("0", "1", "2", "3"):
            argument += rest.pop()
        if argument[:1] == "-" and argument.lstrip("-").partition("=")[0] in REFUSED:
            raise usage_error(f"{argument.partition('=')[0]} is not supported")
        if len(argument) < 2 or argument[0] != "-":
            add_input(settings, argument)
        elif not (plain(settings, argument) or with_value(settings, argument, rest) or other(settings, argument)):
            raise usage_error(f"unknown option '{argument}' (see simcc --help)")
    return settings


def plain(settings: Settings, argument: str) -> bool:
    """Takes an option without a value. Returns whether it is one."""
    if argument in ("--help", "-h", "--version", "-V"):
        print_on(1, HELP if argument in ("--help", "-h") else VERSION)
        raise SystemExit(0)
    if argument in FLAGS:
        for name in FLAGS[argument]:
            setattr(settings, name, True)
    elif argument in PASSED_ON:
        getattr(settings, PASSED_ON[argument]).append(argument)
    elif argument in ("-MD", "-MMD"):
        settings.dependencies = argument
    else:
        return argument in IGNORED
    return True


def with_value(settings: Settings, argument: str, rest: list[str]) -> bool:
    """Takes an option with a value, which may be the next of `rest`, its last. Returns whether it is one."""
    option, value = argument, None
    if option in ("-Werror", "--Werror") and rest and are_warnings(rest[-1]):
        rest.pop()
        return True
    known = option in ONE_WORD or option in SETTING or option in TWO_WORDS or option in IGNORED_WITH_VALUE
    if not known and option not in (*RELOCATABLE, *STANDARD, "-l"):
        option, value = argument[:2], argument[2:]
        if option not in ATTACHED:
            return False
    if value is None:
        value = rest.pop() if rest else None
    if value is None or (value == "" and option in SETTING):
        raise usage_error(f"{option} needs a value")
    if option in ONE_WORD:
        getattr(settings, ONE_WORD[option]).append(option + value)
    elif option in TWO_WORDS:
        settings.preprocess += [option, value]
    elif option in SETTING:
        setattr(settings, SETTING[option], value)
    elif option in RELOCATABLE:
        settings.relocatable = value.lower() == "true"
    elif option in STANDARD:
        set_standard(settings, f"{option} {value}", value)
    elif option == "-l":
        add_input(settings, f"-l{value}")
    else:
        note_ignored(settings, option, value)
    return True


def note_ignored(settings: Settings, option: str, value: str) -> None:
    """What counts of an option that is ignored otherwise: an architecture, what makes another program of a source."""
    if option.lstrip("-") in SWITCHES and value not in ("true", "false"):
        raise usage_error(f"{option} {value}: expected true or false")
    if option.lstrip("-") not in FOR_HOST_COMPILER:
        note_architecture(settings, option, value)
        return
    rest = re.split(r"[\s,]+", value.strip("\"' "))[::-1]
    while rest:
        word = rest.pop()
        if word[:2] in ("-D", "-U", "-I"):
            with_value(settings, word, rest)


def note_architecture(settings: Settings, option: str, value: str) -> None:
    """-arch=sm_80, -gencode arch=compute_80,code=sm_80: of several the highest, as the newest GPU would have it."""
    name = option.lstrip("-")
    if name not in ARCHITECTURE:
        return
    names = ("arch", "code") if name in GENERATION else ()
    for word in re.split(r"[\s,=\[\]\"']+", value.strip("\"' []")):
        found = GPU.fullmatch(word)
        if found:
            settings.architecture = max(settings.architecture, 10 * int(found[1]))
        elif word not in names and word not in ("native", "all", "all-major"):
            raise usage_error(f"{option}={value}: expected sm_90 or the like, compute_90, native, all or all-major")


def other(settings: Settings, argument: str) -> bool:
    """Takes an option with anything attached. Returns whether it is one."""
    name, equals, value = argument.partition("=")
    if argument.startswith("-O") and argument[2:] in ("", "0", "1", "2", "3", "s", "g", "z"):
        settings.optimize = argument
    elif equals and name in STANDARD:
        set_standard(settings, argument, value)
    elif name in RELOCATABLE and value in ("true", "false"):
        settings.relocatable = value == "true"
    elif equals and name.lstrip("-") in IGNORED_WITH_EQUALS:
        note_ignored(settings, name, value)
    elif (name == "--Werror" or value not in WARNINGS_OF_BOTH) and name.lstrip("-") == "Werror" and are_warnings(value):
        pass
    elif argument.startswith("-Wl,"):
        settings.link.append(argument)
    elif argument.startswith("-W"):
        settings.compile.append(argument)
    elif argument.startswith(UNCOUNTABLE) or argument in WITHOUT_FLOATS:
        raise usage_error(f"{argument}: device code cannot be counted or run with it")
    elif is_debug(argument) or argument.startswith(("-fsanitize", "-flto")):
        settings.debug = settings.debug or (is_debug(argument) and argument != "-g0")
        settings.host_only.append(argument)
    elif argument in INEXACT:
        pass
    elif argument.startswith(("-f", "-m")):
        settings.compile.append(argument)
    else:
        return False
    return True


def are_warnings(value: str) -> bool:
    return all(word in WARNINGS for word in value.split(","))


def set_standard(settings: Settings, argument: str, value: str) -> None:
    if STANDARDS["c++"].fullmatch(value):
        settings.standard = f"-std={value}"
    elif STANDARDS["c"].fullmatch(value):
        settings.c_only.append(f"-std={value}")
    else:
        raise usage_error(f"{argument}: no such standard; expected c++17 or the like, or c11 for .c files")


def is_debug(argument: str) -> bool:
    """-g3, -ggdb, -ggdb2, -gdwarf-4 ..."""
    for prefix in ("-ggdb", "-gdwarf", "-g"):
        if argument.startswith(prefix):
            level = argument[len(prefix) :]
            return level in ("", "-") or (len(level.lstrip("-")) == 1 and level[-1] in "0123456789" and len(level) < 3)
    return False


def add_input(settings: Settings, path: str) -> None:
    """Inputs and -l options keep their order, because the linker cares."""
    settings.inputs.append((path, None if path.startswith("-l") else language_of(settings, path)))


def language_of(settings: Settings, path: str) -> str:
    if settings.language != "none":
        if settings.language not in LANGUAGES:
            raise usage_error(f"-x {settings.language}: expected cu, c, c++ or none")
        return LANGUAGES[settings.language]
    stem, dot, suffix = path.rpartition(".")
    while suffix.isdigit() and ".so." in path:  # libm.so.6
        stem, dot, suffix = stem.rpartition(".")
    if not dot or suffix not in SUFFIXES:
        raise usage_error(f"{path}: what is it? expected .cu, .c, .cpp, .cc, .o or .a")
    return SUFFIXES[suffix]
