"""What the suites share: compilers, programs built once, running them, and the test case they derive from.

A suite names the programs it runs at module level (program(), Batch, inline()). build.py builds all of them before
the suites, in parallel; a suite that is run alone (python3 -m unittest test_counts) builds what it needs when it needs
it. What is built lies in build/<C++ compiler>/tests, named by the contents of all that it was made with.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import itertools
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, NamedTuple, Union

TESTS = Path(__file__).resolve().parent
HOME = TESTS.parent  # simcc/
SIMCC = HOME / "simcc"
BUILD = Path(os.environ.get("SIM_BUILD") or HOME / "build")
STRICT = ["-Wall", "-Wextra"] + (["-Werror"] if os.environ.get("WERROR") else [])

# The makes and programs that a test starts are a user's: nothing of ours reaches them.
for _name in [name for name in os.environ if name.startswith("SIM_") and name != "SIM_BUILD"]:
    del os.environ[_name]
for _name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "WERROR"):
    os.environ.pop(_name, None)

# ---- compilers ----


@dataclass(frozen=True)
class Compiler:
    cc: str
    cxx: str

    @property
    def environment(self) -> dict[str, str]:
        return {"CC": self.cc, "CXX": self.cxx}

    @property
    def folder(self) -> Path:
        """Where programs of this compiler are built; the library lies beside it."""
        words = self.cxx.split()
        return BUILD / "_".join([os.path.basename(word) for word in words]).replace("=", "_") / "tests"


def _cxx_of(cc: str) -> str:
    command = [sys.executable, str(HOME / "driver/counterpart.py"), "c++", cc]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.strip()


def _first_compiler() -> Compiler:
    cc = os.environ.get("CC") or "gcc"
    return Compiler(cc, os.environ.get("CXX") or _cxx_of(cc))


FIRST = _first_compiler()
LONG = bool(os.environ.get("LONG"))  # what else `make test-all` runs: each program alone, both LLVMs, all orders
long_test = unittest.skipUnless(LONG, "LONG=1 runs it")

# ---- running ----

RUNNER = os.environ.get("RUNNER", "").split()  # in front of programs for another CPU: qemu-aarch64 -L ...
# The address space is the runner's, with a limit on it where that is qemu, and a debugger would see the runner.
unless_run_by_another = unittest.skipIf(bool(RUNNER), "not where another program runs what is built")


class Outcome(NamedTuple):
    status: int  # exit status; 128 + signal of one that was killed
    out: str
    err: str
    seconds: float


# A report's sentence that goes on: the suites look for sentences, and one of them looks at the lines (test_hazards.py).
FOLDED = re.compile(r"\n={9} {9}(?=\S)(?!\d+ \| )")

Word = Union[str, Path]


def _cpu_limit(seconds: int) -> tuple[int, int]:
    """Soft and hard limit; a test that runs under another's limit cannot have a higher one."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    limits = (seconds, seconds + 5)
    return limits if hard == resource.RLIM_INFINITY else (min(limits[0], hard), min(limits[1], hard))


def run(
    argv: Sequence[Word],
    environment: dict[str, str] | None = None,
    cwd: Path | None = None,
    cpu_seconds: int = 60,
) -> Outcome:
    """Runs a command in a process group of its own, which is gone when this returns.

    The limit is of CPU time, because a machine that is shared stalls; on a clock it has twenty times as long.
    """
    start = time.monotonic()
    process = subprocess.Popen(
        [str(word) for word in argv],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment} if environment else None,
        cwd=cwd,
        start_new_session=True,
    )
    # It may have ended already, or become another user: the clock's limit is left.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        resource.prlimit(process.pid, resource.RLIMIT_CPU, _cpu_limit(cpu_seconds))
        resource.prlimit(process.pid, resource.RLIMIT_CORE, (0, 0))
    late = False
    try:
        out, err = process.communicate(timeout=20 * cpu_seconds)
    except subprocess.TimeoutExpired:
        late = True
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    if late:
        out, err = process.communicate()
    said = out.decode(errors="replace"), err.decode(errors="replace")
    if late or process.returncode == -signal.SIGXCPU:
        command = " ".join(str(word) for word in argv)
        raise AssertionError(f"{command}: still running after {cpu_seconds} s of CPU time. It said:\n{''.join(said)}")
    status = process.returncode if process.returncode >= 0 else 128 - process.returncode
    return Outcome(status, said[0], FOLDED.sub(" ", said[1]), time.monotonic() - start)


def leak_check() -> dict[str, str]:
    """Variables with which a program says at its end what memory it has lost (gcc's LeakSanitizer): "detected memory
    leaks". Skips a test where there is none, or where no process may look at another."""
    options = f"suppressions={TESTS / 'kept.supp'}:print_suppressions=0"
    variables = {"LD_PRELOAD": run(["gcc", "-print-file-name=liblsan.so"]).out.strip(), "LSAN_OPTIONS": options}
    loses = run([sys.executable, "-c", "import ctypes; ctypes.CDLL(None).malloc(77)"], variables)
    if "detected memory leaks" not in loses.err:
        raise unittest.SkipTest("no LeakSanitizer here")
    return variables


def _cuda_compiler() -> list[str]:
    """The clang++ that compiles CUDA, with its options, as simcc itself finds it."""
    asked = "from driver.compilers import Compilers, clang_for_cuda as f; c = Compilers(); print(*f(c.cxx, c.is_clang))"
    return run([sys.executable, "-B", "-c", asked], FIRST.environment, HOME).out.split()


CUDA = _cuda_compiler()


def _other_compiler() -> Compiler | None:
    """Another LLVM than that, where there is one with its headers."""
    used = run([*CUDA, "-dumpversion"]).out.partition(".")[0]
    headers = Path("/usr/lib").glob("llvm-*/include/llvm/Passes/PassPlugin.h")
    versions = {path.parts[3].partition("-")[2] for path in headers} - {used}
    there = [version for version in versions if shutil.which(f"clang++-{version}")]
    newest = "" if "--target" in FIRST.cxx else max(there, key=int, default="")
    return Compiler(f"clang-{newest}", f"clang++-{newest}") if newest else None


OTHER = _other_compiler()
COMPILERS = [FIRST] + ([OTHER] if OTHER else [])
TRIED = COMPILERS if LONG else [FIRST]  # by suites to which both LLVMs say the same
needs_other = unittest.skipUnless(OTHER, "there is one LLVM only")

# Libraries that were built just now: simcc need not look whether they are up to date.
LIBRARIES: dict[Compiler, Path] = {}


def simcc(
    compiler: Compiler, arguments: Sequence[Word], cwd: Path | None = None, library: Compiler | None = None
) -> Outcome:
    """`library`: whose library is linked, if it is known; the engine is C and the same whoever compiled it."""
    environment = dict(compiler.environment)
    known = LIBRARIES.get(library or compiler)
    if known:
        environment["SIM_LIB"] = str(known)
    return run([SIMCC, *arguments], environment, cwd, cpu_seconds=120)


# ---- programs ----

Run = Callable[..., Outcome]  # run(*arguments, **environment), as Program.run


def own_files() -> list[Path]:
    """All that a program is made with besides its own sources: what TOOLCHAIN in toolchain.mk lists."""
    found = []
    for folder, folders, files in os.walk(HOME):
        apart = ("bench", "build", "tests") if folder == str(HOME) else ("__pycache__",)
        folders[:] = [name for name in folders if name not in apart and not name.startswith(".")]
        found += [Path(folder, name) for name in files if not name.startswith(".") and not name.endswith(".md")]
    return sorted(found)


@functools.cache
def _toolchain_digest() -> str:
    digest = hashlib.sha1()
    for path in own_files():
        digest.update(f"{path.relative_to(HOME)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


@functools.cache
def _compiler_version(compiler: Compiler) -> str:
    return run(["sh", "-c", f"{compiler.cc} --version; {compiler.cxx} --version"]).out


@functools.cache
def _contents(path: Path) -> bytes:
    return path.read_bytes()


def quoted_headers(source: Path) -> dict[str, Path]:
    """The headers that a source includes from its own folder or one near it, as written and where they are."""
    written = re.findall(r'^#include "([^"]+)"', _contents(source).decode(), re.MULTILINE) if source.exists() else []
    places = {name: (source.parent / name).resolve() for name in written}
    return {name: place for name, place in places.items() if place.exists()}


@dataclass(frozen=True)
class Program:
    """An executable made of `sources` by simcc; `text` is that of a source that is written first, if any."""

    name: str
    sources: tuple[Path, ...]
    options: tuple[str, ...]
    compiler: Compiler
    text: str | None = None
    includes: tuple[Path, ...] = field(default=(), repr=False)  # besides the headers beside the sources
    written: tuple[tuple[Path, str], ...] = field(
        default=(), repr=False
    )  # further files, written first, and their texts
    library: Compiler | None = None  # whose library is linked: its own if that is not said

    @property
    def place(self) -> Path:
        digest = hashlib.sha1("\0".join(option for option in self.options if option != "-Werror").encode())
        versions = "".join(_compiler_version(each) for each in (self.compiler, self.library or self.compiler))
        digest.update((_toolchain_digest() + versions + (self.text or "")).encode())
        digest.update("\0".join(f"{path}\0{text}" for path, text in self.written).encode())
        # What is written from the text says nothing more, and may not be there yet: it is not read.
        found = () if self.text is not None else self.sources
        headers = {path for source in found for path in source.parent.glob("*.cuh")}
        headers |= {path for source in found for path in quoted_headers(source).values()}
        for path in [*found, *sorted(headers), *self.includes]:
            digest.update(str(path).encode() + (_contents(path) if path.exists() else b""))
        return self.compiler.folder / f"{self.name}-{digest.hexdigest()[:16]}"

    def compile(self, output: Path) -> Outcome:
        own = () if self.text is None else ((self.sources[0], self.text),)
        for path, text in (*own, *self.written):
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_text() != text:
                path.write_text(text)
        return simcc(self.compiler, [*self.options, *self.sources, "-o", output], library=self.library)

    @property
    def path(self) -> Path:
        """Builds it, if that was not done, and says where it is."""
        place = self.place
        if place.exists():
            return place
        place.parent.mkdir(parents=True, exist_ok=True)
        with open(place.parent / f".{self.name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not place.exists():
                new = place.with_name(f"{place.name}.new")
                built = self.compile(new)
                if built.status != 0:
                    raise AssertionError(f"{self.name} with {self.compiler.cxx}: simcc {built.status}\n{built.err}")
                old = re.compile(re.escape(self.name) + "-[0-9a-f]{16}")
                for stale in place.parent.iterdir():
                    if old.fullmatch(stale.name):
                        stale.unlink()
                new.rename(place)
        return place

    def run(self, *arguments: Word, cpu_seconds: int = 60, **environment: str) -> Outcome:
        return run([*RUNNER, self.path, *arguments], environment, cpu_seconds=cpu_seconds)

    @property
    def started(self) -> Path:
        """What simcc may start: itself, or what has it run."""
        if not RUNNER:
            return self.path
        script = self.path.with_name(f"{self.path.name}.sh")
        script.write_text(f'#!/bin/sh\nexec {" ".join(RUNNER)} {self.path} "$@"\n')
        script.chmod(0o755)
        return script


REGISTERED: dict[tuple[str, Compiler], Program] = {}


def _register(made: Program) -> Program:
    """Two suites that name one program share it; one name for two programs is a mistake."""
    known = REGISTERED.setdefault((made.name, made.compiler), made)
    if known != made:
        raise ValueError(f"two programs are called {made.name}")
    return known


def program(source: str, *options: str, compiler: Compiler = FIRST, name: str = "") -> Program:
    """The program of TESTS/source.cu, or of all .cu files in the folder TESTS/source."""
    place = TESTS / source
    sources = tuple(sorted(place.glob("*.cu"))) if place.is_dir() else (place.with_suffix(".cu").resolve(),)
    return _register(Program(name or source.replace("/", "."), sources, options, compiler))


def inline(name: str, text: str, *options: str, compiler: Compiler = FIRST) -> Program:
    """A program of a few lines that stands in the suite itself. `name` may be that of several compilers' programs."""
    source = compiler.folder / "sources" / f"{name}.cu"
    return _register(Program(name, (source,), options, compiler, text))


class Member(NamedTuple):
    """One of several programs that are compiled together: its own main, run by its name."""

    name: str
    source: Path
    fixed: bool = False  # with FIXED defined
    text: str | None = None  # of a source that is written first

    @property
    def contents(self) -> str:
        return self.source.read_text() if self.text is None else self.text


def without_namespaces(text: str) -> str:
    """What a program of a batch wrote, with the names that it has on its own."""
    return re.sub(r"\bprogram_\d+::", "", text)


# A main has arguments or none.
_CALLS = [
    "inline int call(int (*run)(), int, char **) { return run(); }",
    "inline int call(int (*run)(int, char **), int argc, char **argv) { return run(argc, argv); }",
]


class Batch:
    """Several one-file programs in one executable, each in a namespace; a run runs the main of one of them.

    Compiled one by one, the headers would be read a hundred times.
    """

    def __init__(
        self,
        name: str,
        members: Iterable[Member],
        *options: str,
        compiler: Compiler = FIRST,
        library: Compiler | None = None,
    ):
        self.members = list(members)
        source = compiler.folder / "sources" / f"{name}.cu"
        files = [member.source for member in self.members if member.text is None]
        includes = {path for file in files for path in file.parent.glob("*.cuh")}
        includes |= {path for file in files for path in quoted_headers(file).values()}
        includes |= set(files)
        written = tuple((member.source, member.text) for member in self.members if member.text is not None)
        made = Program(name, (source,), options, compiler, self._text(), tuple(sorted(includes)), written, library)
        self.program = _register(made)

    def _text(self) -> str:
        # Headers are read before the first namespace: those of the library and, by their guards, our own.
        includes = sorted({line for member in self.members for line in self._includes(member)})
        lines = [*includes, "#include <cstring>", *_CALLS, "#define main run"]
        calls = []
        for index, member in enumerate(self.members):
            lines += ["#define FIXED"] if member.fixed else []
            lines += [f"namespace program_{index}", "{", f'#include "{member.source}"', "}"]
            lines += ["#undef FIXED"] if member.fixed else []
            call = f"call(program_{index}::run, argc - 1, argv + 1)"
            calls.append(f'\tif (!strcmp(argv[1], "{member.name}"))\n\t\treturn {call};')
        lines += ["#undef main", "int main(int argc, char **argv)", "{", "\tif (argc < 2)\n\t\treturn 99;"]
        return "\n".join([*lines, *calls, "\treturn 99;", "}", ""])

    @staticmethod
    def _includes(member: Member) -> list[str]:
        found = re.findall(r'^#include (?:<[^>]+>|"[^"]+")', member.contents, re.MULTILINE)
        headers = {} if member.text is not None else quoted_headers(member.source)
        own = {f'#include "{written}"': f'#include "{path}"' for written, path in headers.items()}
        return [own.get(line, line) for line in found]

    def run(self, member: str, *arguments: Word, cpu_seconds: int = 60, **environment: str) -> Outcome:
        """What the program says is what it would say on its own: without its namespace."""
        assert any(each.name == member for each in self.members), member
        outcome = self.program.run(member, *arguments, cpu_seconds=cpu_seconds, **environment)
        return outcome._replace(out=without_namespaces(outcome.out), err=without_namespaces(outcome.err))

    def runs(self) -> dict[str, Run]:
        return {member.name: functools.partial(self.run, member.name) for member in self.members}


class Part:
    """A program of a few lines that stands in a suite and is compiled together with others: see together()."""

    def __init__(self, name: str, text: str, compiler: Compiler = FIRST):
        self.name, self.text = name, text
        self.source = compiler.folder / "sources" / f"{name}.cu"
        self.run: Run = self._not_yet

    @staticmethod
    def _not_yet(*_: Word, **__: str) -> Outcome:
        raise AssertionError("together() was not called")


def together(
    name: str, parts: Iterable[Part], *options: str, compiler: Compiler = FIRST, library: Compiler | None = None
) -> None:
    """Makes one executable of them, with the library of its compiler or of that one."""
    parts = list(parts)
    members = [Member(part.name, part.source, text=part.text) for part in parts]
    runs = Batch(name, members, *options, compiler=compiler, library=library).runs()
    for part in parts:
        part.run = runs[part.name]


# ---- what a source says ----


def marked_line(source: Path | str, mark: str) -> int:
    """The number of the one line that ends with the comment "// mark"; `source` is a file, or a text."""
    text = source.read_text() if isinstance(source, Path) else source
    found = [number for number, line in enumerate(text.split("\n"), 1) if line.rstrip().endswith(f"// {mark}")]
    if len(found) != 1:
        raise AssertionError(f"{len(found)} lines are marked {mark}")
    return found[0]


# ---- the test case ----


class Case(unittest.TestCase):
    """A test that goes on after an expectation that failed, and has a folder of its own."""

    maxDiff = 4000

    def setUp(self) -> None:
        self.problems: list[str] = []

    def tearDown(self) -> None:
        if self.problems:
            more = len(self.problems) - 20
            self.fail("\n".join(self.problems[:20] + ([f"... and {more} more"] if more > 0 else [])))

    @functools.cached_property
    def scratch(self) -> Path:
        FIRST.folder.mkdir(parents=True, exist_ok=True)
        for old in FIRST.folder.glob("scratch-*-*"):  # of a process that was killed
            if not Path(f"/proc/{old.name.split('-')[1]}").exists():
                shutil.rmtree(old, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(prefix=f"scratch-{os.getpid()}-", dir=FIRST.folder))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        return folder

    def write(self, name: str, text: str) -> Path:
        path = self.scratch / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def expect(self, condition: object, message: str) -> None:
        if not condition:
            self.problems.append(message)

    def expect_equal(self, got: object, wanted: object, message: str) -> None:
        self.expect(got == wanted, f"{message}: got {got!r}, expected {wanted!r}")

    def expect_in(self, part: str, whole: str, message: str = "") -> None:
        self.expect(part in whole, f"{message}: no {part!r} in\n{whole}")

    def expect_same(self, what: str, ours: str, theirs: str) -> None:
        """Two texts, of many lines perhaps: shows the first that differ."""
        pairs = itertools.zip_longest(ours.splitlines(), theirs.splitlines())
        shown = next((pair for pair in pairs if pair[0] != pair[1]), None)
        self.expect(ours == theirs, f"{what} differs: {shown}")

    def expect_silent(self, outcome: Outcome, message: str) -> None:
        self.expect(outcome.status == 0 and not outcome.err, f"{message}: status {outcome.status}: {outcome.err}")
