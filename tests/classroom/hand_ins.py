"""Hand-ins of a class, for tests: archives, what is in them, and a grader whose judge is a stub."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

from grading import ROOT, Graded, grade

collect = grade.collect
TASKS = ("01.score", "01.softmax", "01.weighted-sum")
# grade.py with a judge of its own: the points are those that the region asks for.
STUB = """\
import os, sys, time
sys.path[:0] = [{tools!r}, {classroom!r}]
import grade
from judge import verdict
def judged(self, task, regions, missing):
    time.sleep({pause})
    with open(os.environ.get("JUDGED", os.devnull), "a") as file:
        file.write(task.id + "\\n")
    most = sum(map(int, __import__("re").findall("[0-9]+", regions[task.id])))
    names = grade.told.NAMES
    return {{name: verdict.PASSED if at < most else verdict.not_counted("x") for at, name in enumerate(names)}}
grade.Grader._judge_region = judged
grade.run_tool("grade", grade.main)
"""


def region(task: str, number: int = 3, name: str = "x") -> str:
    """For the stub: so many of the six criteria are met. Regions that differ are judged by themselves."""
    return f"// task {task}: title\nint {name} = {number};\n// end {task}\n"


def packed(files: dict[str, str | bytes], kind: str = "zip", when: tuple = (2027, 3, 1, 12, 0, 0)) -> bytes:
    out = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(zipfile.ZipInfo(name, when), content)
        return out.getvalue()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            content = content.encode() if isinstance(content, str) else content
            info.size, info.mtime = len(content), time.mktime((*when, 0, 0, -1))
            info.type = tarfile.DIRTYPE if name.endswith("/") else tarfile.REGTYPE
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def work(number: int = 3, kind: str = "zip", **more) -> bytes:
    return packed({"fa/01_naive/naive.cu": "".join(region(task, number) for task in TASKS)}, kind, **more)


class Collected(Graded):
    def put(self, name: str, content: bytes | str) -> Path:
        path = self.scratch / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def collect(self, place: Path) -> tuple[list[collect.HandIn], list[str]]:
        return collect.collect(place, TASKS, ["01_naive"])

    def read(self, hand: collect.HandIn) -> list[str]:
        return list(self.grader().read(hand).regions)

    def stub(self, pause: float = 0) -> list[str]:
        text = STUB.format(tools=str(ROOT / "tools"), classroom=str(ROOT / "classroom"), pause=pause)
        return [sys.executable, "-c", text]

    def graded(self, place: Path, *more: str, into: str = "into", status: int = 0) -> str:
        command = [*self.stub(), "--submissions", place, "--results", self.scratch / into, *more]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=300)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def rows(self, into: str = "into", file: str = "results.csv") -> list[dict[str, str]]:
        with (self.scratch / into / file).open(newline="", encoding="utf-8") as text:
            return list(csv.DictReader(text))
