#!/usr/bin/env python3
"""Writes the student tree of classroom/README.md, and puts solutions back into one.

    handout.py OUT [--class KEY]           a hand-out in OUT, which must not exist or be empty
    handout.py --class-table [KEY]         prints class.tsv
    handout.py --class-header CLASS.tsv    prints common/problem/class.h
    handout.py --solve DIR [--except ID,ID...]
                                           solutions between the markers of DIR's chapters, those of DIR/class.tsv
    handout.py --leaks DIR                 prints where DIR holds lines of a solution, of the course or of any class

Exit status: 0 done; 1 --leaks found something; 2 a mistake in the command line, an unusable directory or file.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from lib import edits, leaks, tasks
from lib.files import replace_file
from lib.tasks import TaskError

CLASSROOM = Path(__file__).resolve().parent
ROOT = CLASSROOM.parent
try:
    TASKS = tasks.read_tasks(CLASSROOM / "tasks.tsv")
except TaskError as error:
    print(f"handout: {error}", file=sys.stderr)
    sys.exit(2)
CHAPTERS = list(dict.fromkeys(task.chapter for task in TASKS))

Class = dict[str, tuple[str, str]]  # chapter: variant, value


def fail(message: str) -> NoReturn:
    raise TaskError(message)


# ---- files ----


def write_file(path: Path, text: str) -> None:
    """Whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text)
    except OSError as error:
        fail(f"{path}: cannot be written: {error.strerror}")


def copy_file(source: Path, target: Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        target.chmod(source.stat().st_mode & 0o755 | 0o644)
    except OSError as error:
        fail(f"{target}: cannot be written: {error.strerror}")


def copy_tree(source: Path, target: Path) -> None:
    """All plain files below a directory: no hidden ones, no editor's backups, nothing that was built."""
    if source.is_file():
        copy_file(source, target)
        return
    for path in sorted(source.iterdir()):
        if re.search(r"^\.|~$|\.(?:o|d|a|new)$|^__pycache__$", path.name) or path.is_symlink():
            continue
        if path.is_dir() or path.is_file():
            copy_tree(path, target / path.name)


# ---- classes ----

# exp(c) is beyond what a float holds: a softmax without its maximum shows.
ATTENTION = ("92", "96", "100", "104", "108", "112", "120", "128")
PRODUCT = ("6", "8", "10", "12", "14", "16", "20", "24")
WINDOW = ("5", "6", "7", "9", "10", "11", "12", "13")
OF_ATTENTION = (("softcap", ATTENTION), ("window", WINDOW))
CHOICES = {
    "01_naive": OF_ATTENTION,
    "02_online_softmax": (("softcap", ATTENTION), ("sink", ("-",))),
    "03_tiled_matmul": (("softcap", PRODUCT), ("relu", ("-",))),
    "04_fa1": OF_ATTENTION,
    "05_fa2": OF_ATTENTION,
    "06_backward": OF_ATTENTION,
}
VARIANTS = sorted({variant for choices in CHOICES.values() for variant, _ in choices})
VALUES = {"softcap": r"\d+(?:\.\d+)?", "window": r"[1-9]\d*"}


def class_of_key(key: str | None) -> Class:
    """From the key alone: the same on every machine."""
    chosen: Class = {}
    for chapter in CHAPTERS:
        if key is None:
            chosen[chapter] = ("plain", "-")
            continue
        digest = hashlib.sha1(os.fsencode(key) + b"\n" + chapter.encode()).digest()
        variant, values = CHOICES[chapter][digest[0] % 2]
        chosen[chapter] = (variant, values[digest[1] % len(values)])
    return chosen


def class_table(chosen: Class) -> str:
    lines = [f"{chapter}\t{variant}\t{value}\n" for chapter, (variant, value) in chosen.items()]
    return "# What this class computes (classroom/README.md): chapter, variant, value, separated by tabs.\n" + "".join(
        lines
    )


def read_class(path: Path) -> Class:
    chosen: Class = {}
    for number, (chapter, variant, value) in tasks.rows_of(path, 3):
        if chapter not in CHOICES:
            fail(f"{path}:{number}: there is no chapter '{chapter}'")
        if variant != "plain" and variant not in (name for name, _ in CHOICES[chapter]):
            fail(f"{path}:{number}: {chapter} has no variant '{variant}'")
        if not re.fullmatch(VALUES.get(variant, "-"), value, re.ASCII) or (variant == "softcap" and float(value) == 0):
            fail(f"{path}:{number}: '{value}' is no value of {variant}")
        chosen[chapter] = (variant, value)
    for chapter in CHAPTERS:
        if chapter not in chosen:
            fail(f"{path}: no line for {chapter}")
    return {chapter: chosen[chapter] for chapter in CHAPTERS}


def class_header(chosen: Class) -> str:
    entries = "".join(
        f' \\\n\t{{"{chapter}", {{VARIANT_{variant.upper()}, {0 if value == "-" else value}}}}},'
        for chapter, (variant, value) in chosen.items()
        if variant != "plain"
    )
    text = tasks.read_text(ROOT / "common/problem/class.h")
    header, count = re.subn(r"^#define CLASS_VARIANTS$", lambda line: line[0] + entries, text, flags=re.MULTILINE)
    if not count:
        fail('common/problem/class.h: no line "#define CLASS_VARIANTS"')
    return header


# ---- the chapters of a class ----


def with_value(text: str, value: str) -> str:
    """@VALUE@ is the constant of a class; @VALUE@f as a float."""
    number = value if "." in value else f"{value}.0"
    return re.sub(r"@VALUE@f\b", f"{number}f", text).replace("@VALUE@", value)


def own_sources(chapter: str) -> dict[str, str]:
    sources = tasks.read_sources(ROOT / chapter)
    there = {task for regions in tasks.places_of(chapter, sources).values() for task in regions}
    for task in TASKS:
        if task.chapter == chapter and task.id not in there:
            fail(f"{chapter}: no line '// task {task.id}: ...'")
    return sources


def solved_sources(chapter: str, variant: str, value: str) -> dict[str, str]:
    """The chapter's sources as a class has them, solutions included."""
    sources = own_sources(chapter)
    path = CLASSROOM / "variants" / variant / f"{chapter}.edits"
    if variant != "plain":
        for entry in edits.parse(with_value(tasks.read_text(path), value), str(path)):
            sources = entry.apply(sources)
    return sources


def stubs_of(chapter: str, chosen: Class) -> dict[str, str]:
    """classroom/tasks/ID/stub.cu; what stub.VARIANT.cu says more, and its number of lines, before the hint."""
    stubs = {}
    for task in (task for task in TASKS if task.chapter == chapter):
        directory = CLASSROOM / "tasks" / task.id
        stubs[task.id] = tasks.read_text(directory / "stub.cu")
        own = directory / f"stub.{chosen[chapter][0]}.cu"
        if own.exists():
            more = tasks.read_text(own)
            about = re.search(r"about \d+ lines?", more) or fail(f"{own}: no 'about N lines'")
            text = re.sub(r"about \d+ lines?", about[0], stubs[task.id], count=1)
            stubs[task.id] = text.replace("// Hint: ", f"{more}// Hint: ", 1)
    return stubs


def all_solutions() -> leaks.Solutions:
    """Of the course, and of every variant what is not the course's."""
    found = []
    for chapter in CHAPTERS:
        plain = tasks.solutions_of(chapter, own_sources(chapter))
        found += plain.items()
        for variant, values in CHOICES[chapter]:
            own = tasks.solutions_of(chapter, solved_sources(chapter, variant, values[0]))
            found += ((f"{task} ({variant})", text) for task, text in own.items() if text != plain[task])
    return leaks.Solutions(found)


# ---- the hand-out ----


def words_of(chapter: str, variant: str, value: str) -> str:
    """What a class computes, for the README of the chapter."""
    if variant == "softcap" and chapter.startswith("02"):
        return (
            f"Scores are soft-capped: *x* counts as *c*·tanh(*x*/*c*) with *c* = {value}. A weight is\n"
            "exp(cap(*x*) - cap(*m*)), *m* is still the largest *x*, and a score of -inf still has no weight."
        )
    if variant == "softcap" and chapter.startswith("03"):
        return f"*C* is soft-capped: *C* = *c*·tanh(*AB*/*c*), element by element, with *c* = {value}."
    if variant == "softcap":
        slope = ". Its derivative, 1 - tanh²(*s*/*c*), is a factor of dS." if chapter.startswith("06") else "."
        return (
            f"Scores are soft-capped: *s* becomes *c*·tanh(*s*/*c*) with *c* = {value}, after the scale and before\n"
            f"the mask and the softmax{slope}"
        )
    if variant == "window":
        return (
            f"Attention looks through a window: query *i* sees key *j* only if |*i* - *j*| < {value}, and, with a\n"
            "causal mask, only if *j* ≤ *i* too. Every query sees itself."
        )
    if variant == "sink":
        return (
            "Every row has an attention sink: one more score, 0, that takes weight and has no column. It counts in\n"
            "*m*, in *l* and in every quotient."
        )
    return "*C* goes through a ReLU: *C* = max(*AB*, 0), element by element."


def assignment(chapter: str, chosen: Class) -> str:
    variant, value = chosen[chapter]
    stubs = stubs_of(chapter, chosen)
    places = tasks.places_of(chapter, solved_sources(chapter, variant, value))
    mine = [task for task in TASKS if task.chapter == chapter]
    first, repeated = mine[0].number, False
    text = "## Your tasks\n\n| | task | in | about | points |\n|---|---|---|---|---|\n"
    for task in mine:
        about_lines = re.search(r"// TODO \(about (\d+) line", stubs[task.id])
        if not about_lines:
            fail(f"classroom/tasks/{task.id}: its stub has no line '// TODO (about N lines): ...'")
        lines = int(about_lines[1])
        files = [f"`{name}`" for name, regions in places.items() if task.id in regions]
        repeated |= len(files) > 1
        about = "1 line" if lines == 1 else f"{lines} lines"
        text += f"| {task.number} | `{task.id}`: {task.title} | {', '.join(files)} | {about} | {task.points:g} |\n"
    text += "\nEach lies between its lines `// task` and `// end`."
    if repeated:
        text += " A task in several files is the same text in each."
    text += f"\n`make hint N={first}` in the tree's top directory helps with task {first}, a little more each time.\n\n"
    if variant != "plain":
        text += (
            f"**Your class computes something else than the text below.**\n{words_of(chapter, variant, value)}\n\n"
            "The program verifies against that. The bytes that move are the same, so all counts of bytes hold; the\n"
            "errors and results it shows are those of the plain chapter.\n\n"
        )
    return text


def readme_of(chapter: str, chosen: Class) -> str:
    """A README without what only a teacher should read, and with the tasks."""
    text = tasks.read_text(ROOT / chapter / "README.md")
    text = re.sub(r"<!-- solution -->\n.*?<!-- end solution -->\n\n?", "", text, flags=re.DOTALL)
    if re.search(r"<!-- (?:end )?solution -->", text):
        fail(f"{chapter}/README.md: a <!-- solution --> without its end")
    text, count = re.subn(r"^(?=## )", lambda _: assignment(chapter, chosen), text, count=1, flags=re.MULTILINE)
    if not count:
        fail(f"{chapter}/README.md: no heading to put the tasks before")
    return text


def write_chapter(tree: Path, chapter: str, chosen: Class) -> None:
    for path in sorted((ROOT / chapter).iterdir()):
        if path.name == "Makefile" or path.suffix in (".c", ".h", ".tsv"):
            copy_file(path, tree / chapter / path.name)
    readme = readme_of(chapter, chosen)
    write_file(tree / chapter / "README.md", readme)
    for picture in re.findall(r'["(]\.\./(plots/[\w./-]+\.svg)[")]', readme):
        copy_file(ROOT / picture, tree / picture)
    stubs = stubs_of(chapter, chosen)
    for name, text in solved_sources(chapter, *chosen[chapter]).items():
        text = tasks.fill(f"{chapter}/{name}", text, stubs)[0]
        write_file(tree / chapter / name, text)
        # What the judge puts regions into: the files as they were handed out, not those that were worked on.
        write_file(tree / "classroom/judge/original" / chapter / name, text)


def write_tree(tree: Path, chosen: Class) -> None:
    for name in ("setup.sh", "LICENSE", ".clang-format", ".gitignore"):
        if (ROOT / name).exists():
            copy_file(ROOT / name, tree / name)
    for path in sorted((CLASSROOM / "student").iterdir()):
        copy_file(path, tree / path.name)
    for chapter in CHAPTERS:
        write_chapter(tree, chapter, chosen)
    copy_tree(ROOT / "common", tree / "common")
    for path in sorted((ROOT / "simcc").iterdir()):
        if path.name not in ("tests", "bench", "build"):
            copy_tree(path, tree / "simcc" / path.name)
    write_file(tree / "common/problem/class.h", class_header(chosen))
    for path in sorted((ROOT / "plots").glob("*.gp")):
        copy_file(path, tree / "plots" / path.name)
    for name in ("draw", "rows"):  # what draws a chapter's sweep
        copy_file(ROOT / "tools" / name, tree / "tools" / name)
    copy_tree(ROOT / "tests/data/real_qkv", tree / "tests/data/real_qkv")
    for name in ("__init__.py", "chapters.py", "files.py", "rows.py", "table.py", "tasks.py"):
        copy_file(ROOT / "tools/lib" / name, tree / "tools/lib" / name)
    for name in ("tasks.tsv", "handout.mk", "hint.py"):
        copy_file(CLASSROOM / name, tree / "classroom" / name)
    for task in TASKS:
        for name in ("hints.md", "names"):
            copy_file(CLASSROOM / "tasks" / task.id / name, tree / "classroom/tasks" / task.id / name)
    for path in (*sorted(CLASSROOM.glob("grade*")), CLASSROOM / "judge"):
        copy_tree(path, tree / "classroom" / path.name)
    write_file(tree / "class.tsv", class_table(chosen))


def check_place(out: Path, shown: str) -> Path:
    """The real directory around OUT."""
    if out.exists() or out.is_symlink():
        if not out.is_dir() or out.is_symlink():
            fail(f"OUT: {shown}: expected a directory, or nothing")
        if any(out.iterdir()):
            fail(f"OUT: {shown}: is not empty; expected an empty directory, or none")
    if not out.parent.is_dir():
        fail(f"OUT: {out.parent}: no such directory")
    real = out.parent.resolve()
    for name in ("common", "simcc", "classroom", "plots", "tools", "tests/data", *CHAPTERS):
        copied = ROOT / name
        if copied == real or copied in real.parents:
            fail(f"OUT: {shown}: is inside of {name}/, which is copied")
    return real


def hand_out(shown: str, key: str | None) -> None:
    chosen = class_of_key(key)
    out = Path(shown)
    real = check_place(out, shown)
    try:
        temporary = Path(tempfile.mkdtemp(prefix=".handout-", dir=real))
    except OSError:
        fail(f"OUT: {shown}: cannot be written")
    try:
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o777 & ~umask)
        write_tree(temporary, chosen)
        if found := all_solutions().find_in(temporary):
            fail(f"{found[0]}; no hand-out was written")
        try:
            if out.is_dir():
                out.rmdir()
            temporary.rename(out)
        except OSError as error:
            fail(f"OUT: {shown}: cannot be written: {error.strerror}")
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    variants = ", ".join(sorted({variant for variant, _ in chosen.values()}))
    print(
        f"{shown}: {len(CHAPTERS)} chapters, {len(TASKS)} tasks"
        + (f", of a class ({variants}): class.tsv" if key is not None else "")
    )
    if re.search(r"\s", str(out.resolve())):
        print("make cannot build in a path with a space: move it before you try it")


# ---- solutions back ----


def solve(directory: Path, excepted: set[str]) -> None:
    chosen = read_class(directory / "class.tsv")
    count = 0
    texts: dict[Path, str] = {}  # written when all of them are known: all or nothing
    for chapter in CHAPTERS:
        solved = solved_sources(chapter, *chosen[chapter])
        places = tasks.places_of(chapter, solved)
        if not any((directory / chapter / name).exists() for name in places):
            continue
        solutions = tasks.solutions_of(chapter, solved)
        answers = {task: text for task, text in solutions.items() if task not in excepted}
        for name, regions in places.items():
            path = directory / chapter / name
            if not path.is_file():
                fail(f"{path}: cannot be read: it is missing, or no plain file")
            text = tasks.read_text(path)
            there = {part.id for part in tasks.take_apart(str(path), text)}
            for task in regions:
                if task not in there:
                    fail(f"{path}: no line '// task {task}: ...'")
            texts[path], filled = tasks.fill(str(path), text, answers)
            count += filled
    for path, text in texts.items():
        write_file(path, text)
    print(f"{directory}: {count} solution{'' if count == 1 else 's'}")


# ---- the command line ----


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        fail(f"{message} (see --help)")


def key_of(text: str) -> str:
    if not text:
        fail("--class: the key is empty")
    if re.search(r"[\x00-\x1f\x7f]", text):
        fail("--class: expected a key in one line, without control characters")
    return text


def directory_of(text: str) -> Path:
    return Path(text) if Path(text).is_dir() else fail(f"{text}: expected a directory")


def tasks_of(text: str) -> set[str]:
    for task in sorted(set(text.split(",")) - {task.id for task in TASKS}):
        fail(f"--except: no task '{task}'; classroom/tasks.tsv lists them")
    return set(text.split(","))


def run(arguments: list[str]) -> int:
    form = argparse.RawDescriptionHelpFormatter
    parser = Parser(prog="handout", description=__doc__, formatter_class=form, allow_abbrev=False)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("out", nargs="?", metavar="OUT")
    parser.add_argument("--class", dest="key", type=key_of, metavar="KEY")
    what.add_argument("--class-table", nargs="?", default=False, type=key_of, metavar="KEY")
    what.add_argument("--class-header", type=Path, metavar="CLASS.tsv")
    what.add_argument("--solve", type=directory_of, metavar="DIR")
    parser.add_argument("--except", dest="but", type=tasks_of, default=set(), metavar="ID,ID...")
    what.add_argument("--leaks", type=directory_of, metavar="DIR")
    options = parser.parse_args(arguments)
    if options.class_table is not False:
        print(class_table(class_of_key(options.class_table)), end="")
    elif options.class_header:
        print(class_header(read_class(options.class_header)), end="")
    elif options.solve:
        solve(options.solve, options.but)
    elif options.leaks:
        found = all_solutions().find_in(options.leaks)
        print("".join(f"{line}\n" for line in found), end="")
        return 1 if found else 0
    elif not options.out:
        parser.error("no directory given" if options.out is None else "OUT is empty")
    else:
        hand_out(options.out, options.key)
    return 0


def main() -> int:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="surrogateescape")
    try:
        return run(sys.argv[1:])
    except (TaskError, edits.EditError) as error:
        print(f"handout: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # Nobody reads on: no complaint at the end either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except OSError as error:
        print(f"handout: {error.filename or error}: {error.strerror or 'cannot be used'}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
