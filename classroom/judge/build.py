"""Compiling a chapter with a region in its place, and linking the program that runs its kernels.

The compiler is simcc with the flags of the student's own make, in the sandbox: it sees what it compiles and nothing
else of the course. Of what it says a student sees the first error in the region, in the student's names and lines.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from driver.build import WRAPPED, folder_of
from driver.compilers import clang_for_cuda, is_clang
from driver.cuda import identity_of
from driver.process import Stop
from lib import edits
from lib.tasks import rows_of

from . import sandbox
from .course import Chapter, Course
from .once import Once
from .region import original
from .sandbox import Environment
from .submission import readable

HINTS: dict[str, str] = {reason: hint for _, (reason, hint) in rows_of(Path(__file__).with_name("hints.tsv"), 2)}
MOST_STACK = 1024  # bytes of a function's frame above those of the solution's
LAUNCHERS = "common/attention.h"  # all of common/ that a kernel sees
FRAME = re.compile(r"(.*?:\d+(?::\d+)?):(.*)\t(\d+)\t[\w,]+$")  # clang gives no column
QUICK_PYTHON = ("python3", "-S", "-E")  # simcc needs nothing of what a machine has installed for its own Python
TOO_MUCH = "the compiler ran past its limit of time or memory"
OPTIONS = ("-Werror=vla", "-fstack-usage")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
OWN_MAKE = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES", "DEVICE")


@dataclass(frozen=True)
class Failure:
    """Why nothing was run, or what a run did wrong."""

    category: str
    message: str
    hint: str = ""  # where nothing is given, that of the category

    def __post_init__(self) -> None:
        object.__setattr__(self, "hint", self.hint or HINTS.get(self.category, ""))


@dataclass(frozen=True)
class Object:
    path: Path
    frames: dict[str, tuple[str, int]]  # function: where it stands, bytes
    lacks_return: bool = False  # the compiler warned that a function may end without one


def digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogateescape")).hexdigest()[:20]


def run_quietly(command: list[str], what: str, **environment: str) -> None:
    """A tool of the teacher's side: that it fails is never the submission's fault. Raises Environment."""
    variables = {name: value for name, value in os.environ.items() if name not in OWN_MAKE}
    done = subprocess.run(command, env={**variables, **environment}, capture_output=True, check=False)
    if done.returncode != 0:
        raise Environment(f"{what}:\n{os.fsdecode(done.stdout + done.stderr).strip()}")


@contextlib.contextmanager
def alone(root: Path) -> Iterator[None]:
    """For what is built in a tree: two graders of it may run at once. Raises Environment."""
    build = root / "build"
    try:
        build.mkdir(exist_ok=True)
        lock = (build / ".classroom-lock").open("w")
    except OSError as error:
        raise Environment(f"{build}: cannot be written: {error.strerror}") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def frames_of(text: str) -> dict[str, tuple[str, int]]:
    """What -fstack-usage wrote."""
    found = {}
    for line in text.splitlines():
        if match := FRAME.match(line):
            found[match[2]] = (match[1], int(match[3]))
    return found


def too_much_stack(frames: Mapping[str, tuple[str, int]], solution: Mapping[str, tuple[str, int]]) -> int:
    """By how many bytes a function's frame is above its bound; 0: none is.

    A function that the solution has not is another instance of one in the same line, or it is a lambda: those count
    together, each once.
    """
    at_line: dict[str, int] = {}
    for place, size in solution.values():
        at_line[place] = max(at_line.get(place, 0), size)
    most, lambdas = 0, {}
    for name, (place, size) in frames.items():
        known = solution[name][1] if name in solution else at_line.get(place)
        if known is not None:
            most = max(most, size - known)
        else:
            kind = place + "".join(re.findall(r"Ul.*", name))
            lambdas[kind] = max(lambdas.get(kind, 0), size)
    return max(0, max(most, sum(lambdas.values())) - MOST_STACK)


class Builder:
    """Of one chapter. Objects and programs are kept while the grader runs: the same sources are built once."""

    def __init__(self, course: Course, chapter: Chapter, cc: str, cxx: str, scratch: Path) -> None:
        self.course, self.chapter, self.cc, self.cxx = course, chapter, cc, cxx
        self.scratch = scratch / chapter.name
        self.scratch.mkdir(parents=True, exist_ok=True)
        compiler = folder_of(cc.split())
        self.kit = course.root / "build" / compiler / "sim/classroom" / chapter.name
        self.compile_command: list[str] = []  # of the chapter's own make
        self.link_options: list[str] = []
        self.lacking_return: set[Path] = set()  # programs
        self._solved_objects: Once[Object] = Once()
        self._programs: Once[Path | Failure | str] = Once()

    # ---- what does not depend on a submission ----

    def build_kit(self) -> None:
        chapter = self.chapter.name
        original = self.course.classroom / "judge/original" / chapter
        make = ["make", "--no-print-directory", "-s", "-C", str(self.course.root / chapter), "kit", "DEVICE=sim"]
        make += ["-f", str(self.course.classroom / "judge/judge.mk"), f"CC={self.cc}", f"CXX={self.cxx}"]
        make += [f"ORIGINAL={original}"] if original.exists() else []
        with alone(self.course.root):
            run_quietly(make, f"{chapter}: the judge does not build")
            words = shlex.split((self.kit / "compile").read_text(encoding="utf-8"))
            # Without -g, with which each value has a place of its own in a frame.
            self.compile_command = [word for word in words if word != "-g" and not word.startswith(("CC=", "CXX="))]
            self._precompile()
        self.link_options = (self.kit / "link").read_text(encoding="utf-8").split()

    @functools.cached_property
    def _clang(self) -> list[str]:
        """Which compiles the kernels. Raises Environment."""
        try:
            return clang_for_cuda(self.cxx.split(), is_clang("CXX", self.cxx.split()))
        except Stop as stop:
            raise Environment(stop.lines[0]) from stop

    @functools.cached_property
    def _compiler(self) -> list[str]:
        """What decides, besides a source, about what is made of it."""
        simcc = self.course.root / "simcc"
        state = [repr([*self.compile_command, *OPTIONS]), self.cxx, identity_of(self._clang)]
        own = ("driver/*.py", "front/*", "include/**/*")
        for path in sorted(path for pattern in own for path in simcc.glob(pattern)):
            status = path.stat()
            state.append(f"{path.name} {status.st_size} {status.st_mtime_ns}")
        return state

    @functools.cached_property
    def _headers(self) -> Path:
        """The simulated device's headers, precompiled: of a compilation they are a third of the compiler's time."""
        return self.kit.parent / "headers" / digest(self._compiler)

    def _precompile(self) -> None:
        """With simcc's plugin, if that is not there: in the sandbox nothing of it can be written."""
        if not self._headers.exists():
            for other in self._headers.parent.glob("*"):  # of a compiler that is no more; each has 8 MB
                shutil.rmtree(other)
        self._headers.mkdir(parents=True, exist_ok=True)
        empty = self.scratch / "empty.cu"
        empty.touch()
        command = [*self.compile_command, *OPTIONS, "-c", str(empty), "-o", f"{empty}.o"]
        variables = {"CC": self.cc, "CXX": self.cxx, "SIM_PRECOMPILED": str(self._headers)}
        run_quietly(command, "the simulated device's headers do not compile", **variables)

    @functools.cached_property
    def _solved(self) -> Path:
        """Where the chapter's own objects are kept, of just these sources and just this compiler."""
        state = [*self._compiler]
        state.append((self.course.root / LAUNCHERS).read_text(encoding="utf-8"))
        state += [f"{name}\n{text}" for name, text in sorted({**self.chapter.base, **self.chapter.headers}.items())]
        directory = self.kit / "solved" / digest(state)
        directory.mkdir(parents=True, exist_ok=True)
        return directory

    def solved_object(self, name: str) -> Object:
        """Of the chapter with all tasks solved; in a hand-out, as it was handed out."""
        return self._solved_objects.get(name, lambda: self._make_solved(name))

    def _make_solved(self, name: str) -> Object:
        kept, frames = (self._solved / f"{name}.{kind}" for kind in ("o", "su"))
        if not kept.exists():
            directory = self.scratch / f"solved-{name}"
            directory.mkdir()
            self._write_sources(directory, name, self.chapter.base)
            made = self._compile(directory, name)
            if isinstance(made, str):
                raise Environment(f"{self.chapter.name}/{name}: the chapter's own file does not compile:\n{made}")
            for source, target in ((directory / "frames.su", frames), (made.path, kept)):
                new = f"{target}.{os.getpid()}"  # another grader may be reading the old one
                shutil.copyfile(source, new)
                os.replace(new, target)
            shutil.rmtree(directory)
        return Object(kept, frames_of(frames.read_text(encoding="utf-8", errors="replace")))

    # ---- a submission's ----

    def program(self, regions: Mapping[str, str], task: str) -> Path | Failure:
        """The chapter's, with these regions {task: as it is compiled}, those of `task` and of its neighbors."""
        label = digest(f"{each}\n{text}" for each, text in sorted(regions.items()))
        made = self._programs.get(label, lambda: self._make_program(regions, label))
        return self._does_not_compile(made, task) if isinstance(made, str) else made

    def discard(self, program: Path) -> None:
        """It is not asked for again."""
        self._programs.forget(program.name.partition("-")[2])
        program.unlink()

    def compiled_anew(self, regions: Mapping[str, str]) -> set[str]:
        """The .cu files that hold these regions, or include one and hold a kernel of its task."""
        chapter = self.chapter
        kernels = {kernel for task in chapter.tasks if task.id in regions for kernel in task.kernels}
        found = {name for name in edits.affected(chapter.base, chapter.spliced(regions)) if name.endswith(".cu")}
        own = {name for name in found if regions.keys() & set(chapter.places.get(name, ()))}
        own |= {name for name in found if kernels & set(re.findall(r"\w+", COMMENT.sub("", chapter.base[name])))}
        return own or found

    def _make_program(self, regions: Mapping[str, str], label: str) -> Path | Failure | str:
        sources, anew = self.chapter.spliced(regions), self.compiled_anew(regions)
        directory = self.scratch / label
        directory.mkdir()
        objects: list[Path] = []
        lacks_return = False
        for name in sorted(name for name in sources if name.endswith(".cu")):
            if name not in anew:
                objects.append(self.solved_object(name).path)
                continue
            self._write_sources(directory, name, sources)
            made = self._compile(directory, name)
            if isinstance(made, str):
                return made
            # A hand-out has no solutions: its bound is that of the stubs, and some bytes for what a solution needs.
            extra = too_much_stack(made.frames, self.solved_object(name).frames)
            if extra > (0 if self.course.is_teacher else MOST_STACK):
                why = f"its local variables take {extra} bytes more than what a thread may have"
                hint = f"More than {MOST_STACK} bytes are memory that nobody counts: keep less."
                return Failure("refused", why, hint)
            objects.append(made.path)
            lacks_return = lacks_return or made.lacks_return
        program = self._link(objects, self.scratch / f"program-{label}")
        if lacks_return and isinstance(program, Path):
            self.lacking_return.add(program)
        shutil.rmtree(directory)
        return program

    def _write_sources(self, directory: Path, name: str, sources: Mapping[str, str]) -> None:
        for each in self.chapter.needed(name):
            text = sources.get(each, self.chapter.headers.get(each, ""))
            (directory / each).write_bytes(text.encode("utf-8", "surrogateescape"))

    def _compile(self, directory: Path, name: str) -> Object | str:
        """The object, or what the compiler said: with the headers themselves, where it said anything."""
        made = self._compile_behind(str(self._headers), directory, name)
        return self._compile_behind("", directory, name) if isinstance(made, str) and made != TOO_MUCH else made

    def _compile_behind(self, headers: str, directory: Path, name: str) -> Object | str:
        kept = directory / "kept"
        # Its driver and plugin, compiled.
        device = Path(os.environ.get("SIM_BUILD") or self.course.root / "simcc/build")
        own = [*OPTIONS, "--keep", str(kept), "-c", str(directory / name)]
        result = sandbox.run(
            [*QUICK_PYTHON, *self.compile_command, *own, "-o", str(directory / f"{name}.o")],
            output=directory / "compile.log",
            cpu_seconds=sandbox.limit("compile_seconds"),
            memory_mb=4 * sandbox.limit("memory_mb"),
            read=[self.course.root / "simcc", device, self.course.root / LAUNCHERS, self._headers],
            write=[directory],
            environment={
                "CC": self.cc,
                "CXX": self.cxx,
                "TMPDIR": str(directory),
                "SIM_BUILD": str(device),
                "SIM_PRECOMPILED": headers,
            },
            compilers=(self.cc.split()[0], self.cxx.split()[0], self._clang[0]),
        )
        log = (directory / "compile.log").read_bytes()[:20_000].decode("utf-8", "replace")
        if result.timeout or re.search(r"out of memory|cannot allocate", log, re.IGNORECASE):
            return TOO_MUCH
        if lost := re.search(r".*(?:No space left on device|Killed signal|[Dd]isk quota exceeded).*", log):
            raise Environment(f"{self.chapter.name}/{name}: the compiler was ended: {lost[0].strip()}")
        if result.status or result.signal:
            return log or f"the compiler ended with status {result.status or -result.signal}"
        text = "".join(path.read_text(encoding="utf-8", errors="replace") for path in kept.glob("*.su"))
        (directory / "frames.su").write_text(text, encoding="utf-8")
        shutil.rmtree(kept)
        return Object(directory / f"{name}.o", frames_of(text), "-Wreturn-type" in log)

    def _does_not_compile(self, log: str, task: str) -> Failure:
        if log == TOO_MUCH:
            return Failure("does not compile", log, "Look for a loop in a constant, or a huge array.")
        hint = ""
        for line in log.splitlines():
            match = re.match(r"([\w.-]+)/([\w.-]+):(\d+):(?:\d+:)? (?:fatal )?error: (.*)", line)
            if match and re.search("was not declared|undeclared identifier", match[4]):
                names = f"classroom/tasks/{match[1]}/names"
                hint = f"A region knows what it declares, CUDA's functions, the constants above, and those of {names}."
            if match and match[1] == task:
                said = readable(original(re.sub("; did you mean .*", "", match[4])))[:300]
                return Failure("does not compile", f"@@{task}/{match[2]}:{match[3]}@@: {said}", hint)
            if match:
                return Failure("does not compile", f"task {match[1]} of the same program does not compile", hint)
        return Failure("does not compile", "what the region declares does not fit the lines around it", hint)

    def _link(self, objects: list[Path], program: Path) -> Path | Failure:
        command = [*self.cxx.split(), *(f"-Wl,--wrap={name}" for name in WRAPPED), *map(str, objects)]
        command += [str(self.kit / "rest.o"), *self.link_options, "-lpthread", "-lm", "-o", str(program)]
        done = subprocess.run(command, env={**os.environ, "LC_ALL": "C"}, capture_output=True, check=False)
        if done.returncode == 0:
            return program
        said = os.fsdecode(done.stderr)
        missing = re.search(r"undefined reference to `([^'(]*)", said)
        if not missing:
            raise Environment(f"{self.chapter.name}: it does not link:\n{said.strip()}")
        return Failure("does not compile", f"{original(missing[1])} is declared, and is nowhere defined")
