"""A copy of the course in which the answers to exercises are tried: built as the course is, changed and put back."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from lib import edits, printed
from lib.answers import ROOT, Answer, AnswerError, Block, answers_file
from lib.chapters import PROGRAMS

COPIED = ("Makefile", "common", "simcc", "tools", "plots", "tests/data")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "my", "*.fast", "*.fast.o", "tests", "bench", "pictures")
# A make that starts this is not the one a reader starts.
NOT_PASSED_ON = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "WERROR", "LONG", "N"}


def environment() -> dict[str, str]:
    given = {name: value for name, value in os.environ.items() if name not in NOT_PASSED_ON}
    return {**given, "DEVICE": "sim"}


def built_folder() -> str:
    """As toolchain.mk makes it."""
    words = (os.environ.get("CC") or "gcc").split()
    return "_".join(word.rpartition("/")[2] for word in words).replace("=", "_")


def missing(needs: str, chapter: str) -> str:
    """What commands need and this machine has not, or nothing. What nvcc says depends on its version."""
    if needs == "nvcc":
        nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        says = printed.run(f"{nvcc} --version", ROOT)[1] if Path(nvcc).exists() else ""
        table = (ROOT / f"gpu/compiled/{chapter}.ptxas.tsv").read_text(encoding="utf-8")
        wanted = table.partition(",")[0].split()[-1]  # "# nvcc V13.0.88, -O3, ..."
        return "" if wanted in says.split() else f"no nvcc {wanted}, with which gpu/compiled was made"
    if needs == "model" and not any((ROOT / "models").glob("*.bin")):
        return "no model: make model"
    return ""


@dataclass
class Trial:
    """A copy of what the chapter needs, in `tree`; make copy() first."""

    chapter: str
    tree: Path
    originals: dict[str, str] = field(default_factory=dict)  # of files that are changed now, relative to the chapter
    left_out: list[str] = field(default_factory=list)  # commands that were not run, and why
    stale: bool = False

    @property
    def directory(self) -> Path:
        return self.tree / self.chapter

    def copy(self, build: bool = True) -> None:
        """The sources and what was built of them, with their times: nothing is built anew. The chapter is built
        first; with build=False in the copy, when a command needs it."""
        self.stale = not build
        if build:
            status, said = printed.run("make --no-print-directory -s build", ROOT / self.chapter, environment())
            if status != 0:
                raise AnswerError(f"{self.chapter}: cannot be built\n{said}")
        for name in (*COPIED, *PROGRAMS):
            source, target = ROOT / name, self.tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                ignore = LEFT_OUT if name != "tests/data" else None
                shutil.copytree(source, target, ignore=ignore, symlinks=True)
            else:
                shutil.copy2(source, target)
        if (ROOT / "models").is_dir():
            (self.tree / "models").symlink_to(ROOT / "models")
        self.copy_built()

    def copy_built(self) -> None:
        built, target = ROOT / "build", self.tree / "build"
        target.mkdir()
        for path in built.glob("*.built-with"):
            shutil.copy2(path, target)
        objects = f"{built_folder()}/sim"
        if (built / objects).is_dir():
            shutil.copytree(built / objects, target / objects, ignore=LEFT_OUT)
        for path in target.rglob("*"):
            if path.suffix in (".d", ".flags"):
                times = path.stat()
                path.write_text(path.read_text().replace(str(ROOT), str(self.tree)))
                os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    # ---- one answer ----

    def put_back(self) -> None:
        for name, text in self.originals.items():
            (self.directory / name).write_text(text, encoding="utf-8")
            self.stale = True
        self.originals = {}

    def apply(self, edit: edits.Edit) -> None:
        if "from" in edit.header:
            self.put_back()
        names = dict.fromkeys(replacement.file or "" for replacement in edit.replacements)
        try:
            sources = {name: (self.directory / name).read_text(encoding="utf-8") for name in names}
        except OSError as error:
            raise AnswerError(f"{edit.path}:{edit.line}: {error.filename}: {error.strerror}") from error
        try:
            changed = edit.apply(sources)
        except edits.EditError as error:
            raise AnswerError(str(error)) from error
        for name, text in changed.items():
            self.originals.setdefault(name, sources[name])
            (self.directory / name).write_text(text, encoding="utf-8")
        self.stale = True

    def build(self, where: str) -> None:
        if self.stale:
            status, said = printed.run("make --no-print-directory -s build", self.directory, environment())
            if status != 0:
                edited = "with its edits " if self.originals else ""
                raise AnswerError(f"{where}: {edited}the chapter does not compile\n{said}")
        self.stale = False

    def run(self, block: Block, where: str) -> str:
        """What a block of commands prints."""
        self.build(where)
        status, said = printed.run(block.text, self.directory, environment())
        if status != 0:
            raise AnswerError(f"{where}: its commands end with status {status}\n{said}")
        text = said.encode("utf-8", "surrogateescape").decode("utf-8", "replace")  # a small model says any bytes
        return re.sub(r"\A\n+|\n+\Z", "", text) + "\n"

    def try_answer(self, answer: Answer) -> list[tuple[Block, str]]:
        """(block of text, what is printed now) for each of an answer; commands that cannot run here are in left_out."""
        path = answers_file(self.chapter)
        found = []
        try:
            said = None
            for block in answer.blocks:
                where = f"{path}:{block.line}: answer {answer.number}"
                if block.kind == "edits" and block.edit:
                    self.apply(block.edit)
                elif block.kind == "sh" and (reason := missing(block.needs, self.chapter)):
                    self.left_out.append(f"{where}: {reason}")
                    said = None
                elif block.kind == "sh":
                    said = self.run(block, where)
                elif block.kind == "text" and said is not None:
                    found.append((block, said))
            return found
        finally:
            self.put_back()
