"""The exercises of a chapter and their answers: CHAPTER/README.md, and classroom/answers/CHAPTER.md in this form:

    ## 3

    Text of the answer to exercise 3, lines of 80 columns at most.

    ```sh
    ./naive --seq 512 | grep footprint
    ```

    ```text
    what these commands print, all of it, standard error too
    ```

    ```edits
    @ naive.cu what the edit does, in a few words
    --- in naive.cu
    text that occurs exactly once in that file of the chapter (../common/FILE: of the harness)
    +++
    what stands there instead
    ```

Blocks apply in their order. After an edit the program is built before the next commands run. Edits of one answer add
up; one with the header line `from the start` first undoes those before it. ```sh nvcc, ```sh model: these commands need
it, and are left out where it is missing. Commands end with status 0; `...; echo "exit status $?"` shows another one.

A number of an answer's text, 10 or greater, stands in what its commands print, in the commands, in its edits or in the
exercise. Exempt: powers of two up to 128 (sizes of warps and tiles), code between backquotes, numbers of chapters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from lib import edits
from lib.files import InputError, read_text

ROOT = Path(__file__).resolve().parents[2]
ANSWERS = ROOT / "classroom/answers"
NEEDS = ("", "nvcc", "model")  # what commands may need
COLUMNS = 80
NUMBER = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?!\w)")
EXEMPT = {"16", "32", "64", "128"}


class AnswerError(InputError):
    """One line: where, and what is wrong."""


@dataclass
class Block:
    kind: str  # prose, sh, text or edits
    line: int  # of its first line of text in the file
    text: str = ""
    needs: str = ""  # of sh
    edit: edits.Edit | None = None


@dataclass
class Answer:
    number: int
    line: int
    blocks: list[Block] = field(default_factory=list)

    def of_kind(self, kind: str) -> list[Block]:
        return [block for block in self.blocks if block.kind == kind]


def answers_file(chapter: str) -> Path:
    return ANSWERS / f"{chapter}.md"


def exercises_of(chapter: str) -> dict[int, str]:
    """{number: text} of the list under "## Exercises" of a chapter's README, in its order."""
    path = ROOT / chapter / "README.md"
    found: dict[int, str] = {}
    inside, last = False, 0
    for line_number, line in enumerate(read_text(path, AnswerError).splitlines(), 1):
        if line.startswith("## "):
            inside = line == "## Exercises"
        elif inside and (begin := re.match(r"(\d+)\. +(.*)", line)):
            last += 1
            if int(begin[1]) != last:
                raise AnswerError(f"{path}:{line_number}: exercise {begin[1]}, expected {last}")
            found[last] = begin[2]
        elif inside and last and line.startswith("   "):
            found[last] += "\n" + line[3:]
        elif line.strip():
            last = 0 if not inside else last
    if not found:
        raise AnswerError(f"{path}: no exercises under a heading '## Exercises'")
    return found


def edit_of(block: Block, path: Path) -> edits.Edit:
    try:
        found = edits.parse(block.text, str(path))
    except edits.EditError as error:
        raise AnswerError(str(error)) from error
    if len(found) != 1:
        raise AnswerError(f"{path}:{block.line}: {len(found)} entries, expected one in each block of edits")
    for replacement in found[0].replacements:
        replacement.line += block.line - 1
        if replacement.file is None:
            raise AnswerError(f"{path}:{replacement.line}: expected --- in FILE")
    found[0].line += block.line - 1
    return found[0]


def read_answers(chapter: str) -> list[Answer]:
    """In the order of the file."""
    path = answers_file(chapter)
    answers: list[Answer] = []
    fence: Block | None = None
    for number, line in enumerate(read_text(path, AnswerError).splitlines(), 1):
        blocks = answers[-1].blocks if answers else []
        if fence:
            if line != "```":
                fence.text += line + "\n"
                continue
            if fence.kind == "edits":
                fence.edit = edit_of(fence, path)
            fence = None
        elif line.startswith("```"):
            kind, _, needs = line[3:].partition(" ")
            if not answers or kind not in ("sh", "text", "edits") or needs not in (NEEDS if kind == "sh" else ("",)):
                raise AnswerError(f"{path}:{number}: expected ```sh, ```sh nvcc, ```sh model, ```text or ```edits")
            if kind == "text" and (not blocks or blocks[-1].kind != "sh"):
                raise AnswerError(f"{path}:{number}: a block of text without commands before it")
            fence = Block(kind, number + 1, needs=needs)
            blocks.append(fence)
        elif heading := re.fullmatch(r"## (\d+)", line):
            answers.append(Answer(int(heading[1]), number))
        elif answers and line.strip():
            if not blocks or blocks[-1].kind != "prose":
                blocks.append(Block("prose", number))
            blocks[-1].text += line + "\n"
        elif blocks and blocks[-1].kind == "prose":
            blocks[-1].text += "\n"
    if fence:
        raise AnswerError(f"{path}:{fence.line - 1}: a block without its end")
    return answers


def numbers_in(text: str) -> set[str]:
    return {number.replace(",", "") for number in NUMBER.findall(text)}


def unfounded(answer: Answer, exercise: str) -> list[str]:
    """The numbers of an answer's text that nothing in it shows."""
    shown = numbers_in(exercise).union(*(numbers_in(block.text) for block in answer.blocks if block.kind != "prose"))
    found = []
    for block in answer.of_kind("prose"):
        for number in NUMBER.findall(re.sub(r"`[^`]*`", "", block.text)):
            plain = number.replace(",", "")
            small = "." not in plain and (plain.startswith("0") or int(plain) < 10 or plain in EXEMPT)
            if not small and plain not in shown:
                found.append(number)
    return found


def mistakes_in(chapter: str) -> list[str]:
    """One line for each: other answers than there are exercises, and what the form forbids."""
    path = answers_file(chapter)
    exercises, answers = exercises_of(chapter), read_answers(chapter)
    found = []
    if (numbers := [answer.number for answer in answers]) != list(exercises):
        found.append(f"{path}: has answers {numbers}, the exercises are {list(exercises)}")
    for answer in answers:
        where = f"{path}:{answer.line}: answer {answer.number}"
        if not answer.of_kind("text"):
            found.append(f"{where}: no command with what it prints")
        if not answer.of_kind("prose"):
            found.append(f"{where}: no text")
        exercise = exercises.get(answer.number, "")
        found += [f"{where}: {number} is in nothing that it runs" for number in unfounded(answer, exercise)]
        lines = [line for block in answer.of_kind("prose") for line in block.text.splitlines()]
        found += [f"{where}: {len(line)} columns, expected {COLUMNS} at most" for line in lines if len(line) > COLUMNS]
    return found
