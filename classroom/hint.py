#!/usr/bin/env python3
"""make hint N=3 [LEVEL=2]: prints the next hint for a task, or that of a level.

N is the task's number or its id. What was shown is remembered in build/hints.tsv.
Exit status: 0 done; 2 a mistake in N or LEVEL; 3 build/ cannot be written.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from lib import tasks
from lib.files import give_up, replace_file, run_tool

CLASSROOM = Path(__file__).resolve().parent
ROOT = CLASSROOM.parent
SHOWN = ROOT / "build/hints.tsv"


def variant_of(chapter: str) -> str:
    table = ROOT / "class.tsv"
    rows = tasks.rows_of(table, 3) if table.exists() else ()
    return next((variant for _, (name, variant, _) in rows if name == chapter), "plain")


def hints_of(task: tasks.Task) -> list[str]:
    """The parts "## 1" and so on of hints.md; "## 2 softcap" is added to the second where the class computes that."""
    text = tasks.read_text(CLASSROOM / "tasks" / task.id / "hints.md").replace("\r\n", "\n")
    pieces = re.split(r"^## (\d+)(?: (\w+))?\n", text, flags=re.MULTILINE)
    variant = variant_of(task.chapter)
    hints: dict[int, str] = {}
    for level, wanted, text in zip(pieces[1::3], pieces[2::3], pieces[3::3]):
        if wanted in (None, variant):
            hints[int(level)] = hints.get(int(level), "") + text
    return [hints[level].strip("\n") for level in sorted(hints)]


def run(wanted: str, level: str) -> None:
    all_tasks = [task for task in tasks.read_tasks(CLASSROOM / "tasks.tsv") if (ROOT / task.chapter).is_dir()]
    if not wanted:
        print("make hint N=... [LEVEL=1]; the tasks:\n")
        print("\n".join(f"{task.number:3}  {task.id:<16} {task.title}" for task in all_tasks))
        return
    task = next((task for task in all_tasks if wanted in (str(task.number), task.id)), None)
    if task is None:
        numbers = f"{all_tasks[0].number} to {all_tasks[-1].number}"
        raise tasks.TaskError(f"N={wanted}: expected a task, {numbers} or its name; `make hint` lists them")
    hints = hints_of(task)
    shown = dict(re.findall(r"(?m)^(.*)\t([0-9]+)$", tasks.read_text(SHOWN) if SHOWN.exists() else ""))
    if not hints:
        raise tasks.TaskError(f"classroom/tasks/{task.id}/hints.md: no heading '## 1'")
    seen = int(shown.get(task.id, 0))
    if level and not (re.fullmatch("[1-9][0-9]*", level) and int(level) <= len(hints)):
        raise tasks.TaskError(f"LEVEL={level}: task {task.id} has hints 1 to {len(hints)}")
    number = int(level) if level else min(seen + 1, len(hints))
    print(f"Task {task.number}, {task.id}: {task.title}\nHint {number} of {len(hints)}\n\n{hints[number - 1]}\n")
    print(f"make hint N={task.number} says more." if number < len(hints) else "That was the last one.")
    if number > seen:
        shown[task.id] = str(number)
        SHOWN.parent.mkdir(exist_ok=True)
        replace_file(SHOWN, "".join(f"{task}\t{level}\n" for task, level in sorted(shown.items())))


def main() -> int:
    sys.stdout.reconfigure(encoding="utf-8")
    try:
        run(os.environ.get("N", ""), os.environ.get("LEVEL", ""))
    except tasks.TaskError as error:
        give_up("hint", 2, str(error))
    return 0


if __name__ == "__main__":
    run_tool("hint", main)
