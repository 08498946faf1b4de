#!/usr/bin/env python3
"""Writes the student tree of classroom/README.md, and puts solutions back into one.

    handout.py OUT [--class KEY]           a hand-out in OUT, which must not exist or be empty
    handout.py OUT [--class KEY] --chapters 01,02
                                           of these chapters only, which may also join those of an earlier hand-out
    handout.py --class-table [KEY]         prints class.tsv
    handout.py --class-header CLASS.tsv    prints common/problem/class.h
    handout.py --solve DIR [--except ID,ID...]
                                           solutions between the markers of DIR's chapters, those of DIR/class.tsv
    handout.py --leaks DIR                 prints where DIR holds lines of a solution, of the course or of any class

Exit status: 0 done; 1 --leaks found something; 2 a mistake in the command line, an unusable directory or file.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import re
import secrets
import shutil
import sys
import textwrap
from pathlib import Path
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from lib import edits, leaks, tasks
from lib.files import give_up, replace_file, run_tool
from lib.tasks import TaskError

CLASSROOM = Path(__file__).resolve().parent
ROOT = CLASSROOM.parent
CHOICES: dict[str, list[tuple[str, list[str]]]] = {}  # chapter: variants and their values
WORDS: dict[tuple[str, str], str] = {}  # (chapter, variant): what is computed, for the README of the chapter
try:
    TASKS = tasks.read_tasks(CLASSROOM / "tasks.tsv")
    for _, (name, variant, values, words) in tasks.rows_of(CLASSROOM / "variants.tsv", 4):
        CHOICES.setdefault(name, []).append((variant, values.split()))
        WORDS[name, variant] = words
except TaskError as error:
    give_up("handout", 2, str(error))
CHAPTERS = list(dict.fromkeys(task.chapter for task in TASKS))
VALUES = {"softcap": r"\d+(?:\.\d+)?", "window": r"[1-9]\d*"}
# What a student's tree has of the course as it is, but for what is hidden, built, a link, or left over by an editor.
FILES = """
    setup.sh LICENSE GLOSSARY.md .clang-format .clangd .vscode/*.json .gitignore common explorer simcc plots/*.gp
    tests/data/real_qkv tests/data/tiny_model/tiny.bin tools/draw tools/lib/five_words.tsv tools/model tools/rows
    tools/lib/__init__.py tools/lib/chapters.py tools/lib/edits.py tools/lib/files.py tools/lib/flat_model.py
    tools/lib/gguf.py tools/lib/rows.py tools/lib/table.py tools/lib/tasks.py classroom/tasks.tsv
    classroom/handout.mk classroom/hint.py classroom/collect.py classroom/grade* classroom/judge gpu/compiled
""".split()
OF_CHAPTER = ("Makefile", "*.c", "*.h")
LEFT_OUT = re.compile(r"\..*|.*~|.*\.(?:o|d|a|new)|__pycache__|tests|bench|build")
OF_TASK = ("hints.md", "names")
OF_CLASS = ("class.tsv", "common/problem/class.h")
GIVEN = ("00_gpu",)  # to be read and run: nothing in it is a task

LEAST_KEY = 12  # characters
SECRET = CLASSROOM / "secret"

Class = dict[str, tuple[str, str]]  # chapter: variant, value


def fail(message: str) -> NoReturn:
    raise TaskError(message)


def write_file(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, text)


def copy(source: Path, target: Path) -> None:
    """A file, or all plain files below a directory."""
    if source.is_dir():
        for path in sorted(source.iterdir()):
            if not LEFT_OUT.fullmatch(path.name) and not path.is_symlink():
                copy(path, target / path.name)
    elif source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        target.chmod(source.stat().st_mode & 0o755 | 0o644)


# ---- classes ----


def class_of_key(key: str | None) -> Class:
    """From the key alone: the same on every machine."""
    chosen: Class = dict.fromkeys(CHAPTERS, ("plain", "-"))
    for chapter in CHOICES if key is not None else ():
        digest = hashlib.sha1(os.fsencode(key) + b"\n" + chapter.encode()).digest()
        variant, values = CHOICES[chapter][digest[0] % len(CHOICES[chapter])]
        chosen[chapter] = (variant, values[digest[1] % len(values)])
    return chosen


def secret() -> str:
    """What the cases of a class are drawn from: of this clone, made when it is first asked for. class.tsv tells nothing
    about it, as it does about the key."""
    try:
        if not SECRET.exists():
            new = SECRET.with_name(f".secret.{secrets.token_hex(8)}")
            try:
                new.touch(0o600)
                new.write_text(f"{secrets.token_hex(32)}\n")
                with contextlib.suppress(FileExistsError):  # two graders may begin at once: one secret stays
                    os.link(new, SECRET)
            finally:
                new.unlink(missing_ok=True)
            told = "the cases are drawn from it; keep it, and copy it to each clone that grades this class"
            print(f"classroom/secret: made; {told}", file=sys.stderr)
        text = SECRET.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        fail(f"classroom/secret: cannot be made or read: {getattr(error, 'strerror', None) or error}")
    if len(text) < LEAST_KEY:
        fail(f"classroom/secret: has {len(text)} characters, expected at least {LEAST_KEY}")
    return text


def class_table(chosen: Class) -> str:
    title = "# What this class computes (classroom/README.md): chapter, variant, value, separated by tabs.\n"
    return title + "".join(f"{chapter}\t{variant}\t{value}\n" for chapter, (variant, value) in chosen.items())


def read_class(path: Path) -> Class:
    chosen: Class = {}
    for number, (chapter, variant, value) in tasks.rows_of(path, 3):
        if chapter not in CHAPTERS:
            fail(f"{path}:{number}: there is no chapter '{chapter}'")
        if variant != "plain" and variant not in (name for name, _ in CHOICES.get(chapter, ())):
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
    path = CLASSROOM / "variants" / f"{variant}.edits"
    for entry in edits.parse(with_value(tasks.read_text(path), value), str(path)) if variant != "plain" else ():
        if chapter in entry.name.split(","):
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
        for variant, values in CHOICES.get(chapter, ()):
            own = tasks.solutions_of(chapter, solved_sources(chapter, variant, values[0]))
            found += ((f"{task} ({variant})", text) for task, text in own.items() if text != plain[task])
    return leaks.Solutions(found)


# ---- the hand-out ----


def assignment(chapter: str, chosen: Class) -> str:
    variant, value = chosen[chapter]
    stubs = stubs_of(chapter, chosen)
    places = tasks.places_of(chapter, solved_sources(chapter, variant, value))
    mine = [task for task in TASKS if task.chapter == chapter]
    text = "## Your tasks\n\n| | task | in | about | points |\n|---|---|---|---|---|\n"
    for task in mine:
        about_lines = re.search(r"// TODO \(about (\d+) line", stubs[task.id])
        if not about_lines:
            fail(f"classroom/tasks/{task.id}: its stub has no line '// TODO (about N lines): ...'")
        lines = int(about_lines[1])
        files = [f"`{name}`" for name, regions in places.items() if task.id in regions]
        about = f"{lines} line{'s' if lines > 1 else ''}"
        text += f"| {task.number} | `{task.id}`: {task.title} | {', '.join(files)} | {about} | {task.points:g} |\n"
    text += "\nEach lies between its lines `// task` and `// end`."
    if any(sum(task.id in regions for regions in places.values()) > 1 for task in mine):
        text += " A task in several files is the same text in each."
    hint = f"`make hint N={mine[0].number}` in the tree's top directory helps with task {mine[0].number}"
    text += f"\n{hint}, a little more each time.\n\n"
    if variant != "plain":
        words = textwrap.fill(with_value(WORDS[chapter, variant], value), 110, break_on_hyphens=False)
        text += (
            f"**Your class computes something else than the text below.**\n{words}\n\n"
            "The program verifies against that. The bytes that move are the same, so all counts of bytes hold; the\n"
            "errors and results it shows are those of the plain chapter.\n\n"
        )
    return text


def without_solutions(chapter: str) -> str:
    """A README without what only a teacher should read."""
    text = tasks.read_text(ROOT / chapter / "README.md")
    text = re.sub(r"<!-- solution -->\n.*?<!-- end solution -->\n\n?", "", text, flags=re.DOTALL)
    if re.search(r"<!-- (?:end )?solution -->", text):
        fail(f"{chapter}/README.md: a <!-- solution --> without its end")
    return text


def readme_of(chapter: str, chosen: Class) -> str:
    """That, with the tasks."""
    text = without_solutions(chapter)
    text, count = re.subn(r"^(?=## )", lambda _: assignment(chapter, chosen), text, count=1, flags=re.MULTILINE)
    if not count:
        fail(f"{chapter}/README.md: no heading to put the tasks before")
    return text


def write_readme(tree: Path, chapter: str, readme: str) -> None:
    """With the pictures that it shows."""
    write_file(tree / chapter / "README.md", readme)
    for picture in re.findall(r'["(]\.\./(plots/[\w./-]+\.svg)[")]', readme):
        copy(ROOT / picture, tree / picture)


def write_chapter(tree: Path, chapter: str, chosen: Class) -> None:
    write_readme(tree, chapter, readme_of(chapter, chosen))
    stubs = stubs_of(chapter, chosen)
    for name, text in solved_sources(chapter, *chosen[chapter]).items():
        text = tasks.fill(f"{chapter}/{name}", text, stubs)[0]
        write_file(tree / chapter / name, text)
        # What the judge puts regions into: the files as they were handed out, not those that were worked on.
        write_file(tree / "classroom/judge/original" / chapter / name, text)


def write_tree(tree: Path, chosen: Class, chapters: list[str]) -> None:
    copy(CLASSROOM / "student", tree)
    of_chapters = [f"{chapter}/{name}" for chapter in (*GIVEN, *chapters) for name in OF_CHAPTER]
    of_chapters += [
        f"classroom/tasks/{task.id}/{name}" for task in TASKS if task.chapter in chapters for name in OF_TASK
    ]
    given = [f"{chapter}/{name}" for chapter in GIVEN for name in ("*.cu", "*.cuh", "*.md", "first/*.cu")]
    for pattern in (*FILES, *of_chapters, *given):
        for path in sorted(ROOT.glob(pattern)):
            copy(path, tree / path.relative_to(ROOT))
    for chapter in GIVEN:
        write_readme(tree, chapter, without_solutions(chapter))
    for chapter in chapters:
        write_chapter(tree, chapter, chosen)
    write_file(tree / "common/problem/class.h", class_header(chosen))
    write_file(tree / "class.tsv", class_table(chosen))


def check_place(out: Path, shown: str, joins: bool) -> Path:
    """The real directory around OUT."""
    if out.exists() or out.is_symlink():
        if not out.is_dir() or out.is_symlink():
            fail(f"OUT: {shown}: expected a directory, or nothing")
        if any(out.iterdir()) and not joins:
            fail(f"OUT: {shown}: is not empty; expected an empty directory, or none")
    if not out.parent.is_dir():
        fail(f"OUT: {out.parent}: no such directory")
    real = out.parent.resolve()
    for name in ("common", "simcc", "classroom", "plots", "tools", "tests/data", *GIVEN, *CHAPTERS):
        copied = ROOT / name
        if copied == real or copied in real.parents:
            fail(f"OUT: {shown}: is inside of {name}/, which is copied")
    return real


def join(new: Path, out: Path, shown: str, chapters: list[str]) -> None:
    """Adds what `out` does not have of the hand-out `new`. No file that is there changes; all or nothing."""
    own = [*chapters, *(f"classroom/judge/original/{chapter}" for chapter in chapters)]
    added, kept = [], []
    files = {path.relative_to(new): path for path in sorted(new.rglob("*")) if path.is_file()}
    # Those that tell a class first: of another one all others differ, too.
    for name, path in sorted(files.items(), key=lambda each: str(each[0]) not in OF_CLASS):
        there = out / name
        around = [out / each for each in name.parents if str(each) != "."]
        if any(each.is_symlink() or each.exists() and not each.is_dir() for each in around):
            fail(
                f"OUT: {shown}: {name} has no place: a directory of that path is a file or a link; nothing was written"
            )
        if not there.exists() and not there.is_symlink():
            added.append(name)
        elif there.is_symlink() or not there.is_file() or there.read_bytes() != path.read_bytes():
            if str(name) in OF_CLASS:
                fail(f"OUT: {shown}: {name} is of another class: another CLASS=? Nothing was written")
            if any(Path(each) in name.parents for each in own):
                fail(f"OUT: {shown}: {name} was changed there, and would be overwritten; nothing was written")
            kept.append(str(name))
    for name in added:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.move(new / name, out / name)
    of = f"{', '.join(chapters)}: {len(added)} file{'s' * (len(added) != 1)} joined"
    stay = (
        f"; not as handed out, and left as they are: {', '.join(kept[:5])}{', ...' * (len(kept) > 5)}" if kept else ""
    )
    print(f"{shown}: {of}{stay}")


def hand_out(shown: str, key: str | None, chapters: list[str] | None = None) -> None:
    chosen, out, wanted = class_of_key(key), Path(shown), chapters or CHAPTERS
    joins = chapters is not None and (out / "class.tsv").is_file() and (out / "classroom/judge/original").is_dir()
    temporary = check_place(out, shown, joins) / f".handout-{secrets.token_hex(8)}"
    try:
        temporary.mkdir()
        write_tree(temporary, chosen, wanted)
        if found := all_solutions().find_in(temporary):
            fail(f"{found[0]}; no hand-out was written")
        if joins:
            join(temporary, out, shown, wanted)
            return
        if out.is_dir():
            out.rmdir()
        temporary.rename(out)
    except OSError as error:
        fail(f"OUT: {shown}: cannot be written: {error.strerror}")
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    variants = ", ".join(sorted({chosen[chapter][0] for chapter in wanted}))
    of_class = f", of a class ({variants}): class.tsv" if key is not None else ""
    tasks_there = sum(task.chapter in wanted for task in TASKS)
    print(f"{shown}: {len(wanted)} chapter{'s' * (len(wanted) != 1)}, {tasks_there} tasks{of_class}")
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


def key_of(text: str, option: str = "CLASS= (--class)") -> str:
    if re.search(r"[\x00-\x1f\x7f]", text):
        fail(f"{option}: expected a key in one line, without control characters")
    if len(text) < LEAST_KEY:
        what = f"a key of {len(text)} characters is found by trying" if text else "the key is empty"
        fail(f"{option}: {what}; expected at least {LEAST_KEY} characters, for example {secrets.token_hex(8)}")
    return text


def directory_of(text: str) -> Path:
    return Path(text) if Path(text).is_dir() else fail(f"{text}: expected a directory")


def tasks_of(text: str) -> set[str]:
    for task in sorted(set(text.split(",")) - {task.id for task in TASKS}):
        fail(f"--except: no task '{task}'; classroom/tasks.tsv lists them")
    return set(text.split(","))


def chapters_of(text: str) -> list[str]:
    found = []
    for word in re.split(r"[\s,]+", text.strip()):
        names = [name for name in CHAPTERS if name == word or name.startswith(f"{word.zfill(2)}_")]
        if not names:
            numbers = ", ".join(name.partition("_")[0] for name in CHAPTERS)
            fail(f"CHAPTERS= (--chapters): no chapter '{word}'; expected some of {numbers}, separated by commas")
        found += names
    return [name for name in CHAPTERS if name in found]


def run() -> int:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("handout", description=__doc__, formatter_class=form, allow_abbrev=False)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("out", nargs="?", metavar="OUT")
    parser.add_argument("--class", dest="key", type=key_of, metavar="KEY")
    parser.add_argument("--chapters", type=chapters_of, metavar="01,02")
    what.add_argument("--class-table", nargs="?", default=False, type=key_of, metavar="KEY")
    what.add_argument("--class-header", type=Path, metavar="CLASS.tsv")
    what.add_argument("--solve", type=directory_of, metavar="DIR")
    parser.add_argument("--except", dest="but", type=tasks_of, default=set(), metavar="ID,ID...")
    what.add_argument("--leaks", type=directory_of, metavar="DIR")
    options = parser.parse_args()
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
        hand_out(options.out, options.key, options.chapters)
    return 0


def main() -> int:
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="surrogateescape")
    try:
        return run()
    except (TaskError, edits.EditError) as error:
        give_up("handout", 2, str(error))
    except BrokenPipeError:
        raise
    except OSError as error:
        give_up("handout", 2, f"{error.filename}: {error.strerror}")


if __name__ == "__main__":
    run_tool("handout", main)
