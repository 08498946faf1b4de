"""The judge's mutation score: submissions/wrong.*, cheats.* and those of ../faults must each lose exactly what they
name, right.* must keep everything."""

from __future__ import annotations

import json
import math
import os
import random
import re
import struct
import tempfile
import unittest
from collections.abc import Iterable
from pathlib import Path

import golden
import mutants
from grading import Graded, only_when_thorough, run

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
KINDS = {  # as the pages call them
    "wrong": ("classroom/submissions/wrong.*", "faults/[0-9]*.edits"),
    "right": ("classroom/submissions/right.*",),
    "cheats": ("classroom/submissions/cheats.*",),
}
# Wrong ones of three chapters, a right one and a cheat: what make test has time for. Those without a maximum or a tile
# once kept 65 and 85 %.
FEW = (
    r"^(?:01_naive (?:a mask of -1e4|a one-element array .*|no maximum is subtracted)"
    r"|03_tiled_matmul (?:no_barrier_between_tiles|guards as ifs|no tile: .*)|05_fa2 nothing is skipped)$"
)


DRAWN = int(os.environ.get("MUTANTS_DRAWN", "0"))
TOLD = Path(__file__).with_name("told.txt")


def masked(text: str) -> str:
    """Without what another seed, sandbox or compiler changes, and so without the ends of wrapped lines."""
    text = re.sub(r"\n {6,}", " ", text)
    text = re.sub(r"--seed \d+", "--seed #", text)
    text = re.sub(r"\w+\[[\d,]+\] is \S+, expected \S+ \(error \S+ tolerance \S+\)", "X is #", text)
    text = re.sub(r"(local_overrun at \w+\.cu):\d+", r"\1:#", text)
    return re.sub(r"note: submissions run .*\n", "", text)


def submissions(kinds: Iterable[str] = KINDS) -> list[mutants.Mutant]:
    files = [path for kind in kinds for place in KINDS[kind] for path in sorted(TESTS.glob(place))]
    return mutants.read(files)


class Mutants(unittest.TestCase):
    def test_the_pages_say_how_many_there_are(self) -> None:
        """They said 327, 339 and 350 wrong ones at the same time."""
        for kind in KINDS:
            count = len(submissions([kind]))
            for page in ("README.md", "classroom/README.md"):
                text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
                self.assertRegex(text, rf"\b{count} {kind}", page)

    def expect_all_caught(self, what: str, chosen: list[mutants.Mutant]) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            lines, total = mutants.score(chosen, Path(scratch))
        self.assertEqual(lines, [], "\n".join(lines))
        print(f"    table: {what}: {total}")

    def test_a_few_of_all_to_the_word(self) -> None:
        """Kills: another point, reason, hint or case in what a student reads. REMAKE=1 writes told.txt anew: read its
        difference."""
        chosen = [mutant for mutant in submissions() if re.search(FEW, f"{mutant.edit.name} {mutant.edit.words}")]
        self.assertEqual(len(chosen), 7)
        with tempfile.TemporaryDirectory() as scratch:
            bench = mutants.Bench(Path(scratch))
            self.assertEqual("".join(bench.judge_all(chosen)), "")
        # What every page has is in commands.txt.
        same = re.compile(r"(?m)^(?:task  .*|all tasks .*|ok: .*|note: .*|\d.* (\S+)/\1|)\n")
        text = "".join(f"@ {name}\n{same.sub('', masked(said))}" for name, said in sorted(bench.told.items()))
        self.assertEqual(golden.changes(TOLD, text.splitlines()), "")

    @only_when_thorough
    def test_all(self) -> None:
        for kind in KINDS:
            with self.subTest(kind):
                self.expect_all_caught(kind, submissions([kind]))

    @unittest.skipUnless(DRAWN, "MUTANTS_DRAWN=N only (CI)")
    def test_some_of_a_chapter(self) -> None:
        """The commit draws the chapter and N of its submissions: CI comes by all of them in time."""
        commit = run("git", "-C", ROOT, "rev-parse", "HEAD").stdout
        draw, everything = random.Random(commit), submissions()
        chapter = draw.choice(sorted({mutant.edit.name for mutant in everything}))
        mine = [mutant for mutant in everything if mutant.edit.name == chapter]
        self.expect_all_caught(chapter, draw.sample(mine, min(DRAWN, len(mine))))

    def test_an_edit_that_does_not_apply_fails(self) -> None:
        """Or changes nothing, or whose grades are others than it says: none must pass for a mutant that was caught."""
        text = "@ 01_naive of a file\nloses 01.score: all\n---\nscale * dot\n+++\nscale * dot\n"
        row = "01.weighted-sum\t{}\tof a row\tO[row * d + c] = sum;\t{}\n"
        rows = "01.score\tall\tof a row\tno such text\tother\n" + row.format(
            "keeps: no such words", "O[row * d + c] = sum"
        )
        rows += row.format("fresh", "O[row * d + c] = sum") + row.format("refused", "O[row * d + c] = sum + sum;")
        with tempfile.TemporaryDirectory() as scratch:
            paths = Path(scratch, "bad.edits"), Path(scratch, "bad.tsv")
            for path, content in zip(paths, (text, rows)):
                path.write_text(content)
            lines, total = mutants.score(mutants.read(paths), Path(scratch))
            done = run(mutants.__file__, "--only", "none of these", *paths)
        self.assertEqual((done.returncode, done.stderr.splitlines()[-1]), (2, "mutants.py: error: no such entries"))
        self.assertEqual((len(lines), total), (5, "mutation score 0 of 5"), lines)
        for line, says in zip(
            lines,
            (
                "edits:1: 01_naive: of a file:\n .*changes nothing",
                "tsv:1: 01_naive: of a row:\n .*bad\\.tsv:1: .*found 0 times",
                "tsv:2: .*01.weighted-sum loses plain .*'no such words' is not in: ",
                "tsv:3: .*loses plain",
                "tsv:4: .*expected 'refused'",
            ),
        ):
            self.assertRegex(line, rf"(?s)^bad\.{says}")


class Kit(Graded):
    """The two programs of a chapter: the runner, which knows no right answer, and the judge, which does."""

    def kit(self, chapter: str, options: str) -> tuple[Path, Path, dict]:
        """A runner that has run, its outputs, and what the judge says of them."""
        builder = self.grader().judge_of(chapter).builder
        program = builder.program({}, "")
        out = self.scratch / f"out{len(list(self.scratch.iterdir()))}"
        done = run(program, "--save", out, *options.split())
        self.assertEqual((done.returncode, done.stderr), (0, ""), options)
        self.assertEqual((out / "run.txt").read_text(), "launched cudaSuccess\nsaved\n")
        return builder.kit / "judge", out, self.verdict(builder.kit / "judge", out, options)

    def verdict(self, judge: Path, out: Path | str, options: str, variant: str = "plain=0") -> dict:
        done = run(judge, variant, given="\t".join([str(out), *options.split()]))
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stderr)
        return json.loads(done.stdout)

    def test_what_is_wrong_with_an_output(self) -> None:
        """Kills: a file that is taken though it is cut off, a link, no file, or of another shape; NaN that passes."""
        options = "--kernel naive --heads 2 --seq 5 --dim 3 --seed 7"
        judge, out, verdict = self.kit("01_naive", options)
        expected = {"statistics": [], "atomic_bytes": 0, "statistic_bytes": 0, "ideal_bytes": 4 * 4 * 2 * 5 * 3}
        # A score reads d of Q and of K; the softmax S three times; an output N of P and of V.
        read, written = 2 * 25 * (2 * 3) + 2 * 3 * 25 + 2 * 15 * 10, 2 * (25 + 25 + 15)
        expected["models"] = [
            {"counts": "footprint", "bytes": 4 * 2 * (4 * 25 + 4 * 15), "write_bytes": 4 * written},
            {"counts": "requested", "bytes": 4 * (read + written), "write_bytes": 4 * written},
        ]
        for model in verdict["models"]:
            self.assertTrue(model.pop("formula"))
        self.assertEqual(verdict, expected)
        self.assertEqual(self.verdict(judge, "-", options)["ideal_bytes"], expected["ideal_bytes"])
        lines = "\t".join([str(out), *options.split()]) + "\n"  # kills: a file of each that stays open
        done = run("sh", "-c", f"ulimit -n 16; exec {judge} plain=0", given=20 * lines)
        self.assertEqual(["wrong" in json.loads(line) for line in done.stdout.splitlines()], [False] * 20)
        path = out / "o.npy"
        right = path.read_bytes()
        data = len(right) - 4 * 30
        last = struct.unpack("<f", right[-4:])[0]
        (out / "elsewhere").write_bytes(right)
        longest = right[:data] + bytes(512 - data)
        missing, not_written = "nothing written", r"^O was not written, or not in its shape$"
        for content, category, says in (
            (right[:-4] + struct.pack("<f", last * (1 + 1e-6)), "", ""),
            (right[:-4] + struct.pack("<f", last + 1), "wrong result", r"^  O\[0,1,4,2\] is \S+, expected "),
            (right[:-4] + struct.pack("<f", math.nan), "NaN or infinity", r"^  O\[0,1,4,2\] is -?nan, expected "),
            (right[:-4] + struct.pack("<f", -math.inf), "NaN or infinity", r"^  O\[0,1,4,2\] is -inf, expected "),
            (right[:-1], "wrong result", ""),
            (right[data:], missing, not_written),
            (b"", missing, not_written),
            (longest + right[data:], "", ""),
            (longest + b"x" + right[data:], missing, not_written),
            (lambda path: path.symlink_to("elsewhere"), missing, not_written),
            (os.mkfifo, missing, not_written),
            (lambda _: None, missing, not_written),
        ):
            path.unlink(missing_ok=True)
            (path.write_bytes(content) if isinstance(content, bytes) else content(path))
            wrong = self.verdict(judge, out, options).get("wrong", {"category": "", "text": ""})
            self.assertEqual(wrong["category"], category)
            self.assertTrue(re.search(says, wrong["text"]), wrong["text"])

    def test_another_form(self) -> None:
        """Right for the chapter and wrong for a class, which is said; and wrong for both."""
        options = "--kernel naive --seq 9 --dim 4 --input large-logits"
        judge, out, verdict = self.kit("01_naive", options)
        self.assertNotIn("wrong", verdict)
        verdict = self.verdict(judge, out, options, "softcap=0.5")
        self.assertEqual((verdict["wrong"]["category"], verdict["is_plain_form"]), ("wrong result", True))
        self.assertIn("wrong", self.verdict(judge, out, options, "window=2"))
        right = self.verdict(judge, out, options, "window=9")  # which hides nothing
        self.assertFalse(right.keys() & {"wrong", "is_plain_form"})
        (out / "o.npy").write_bytes((out / "o.npy").read_bytes()[:-4] + struct.pack("<f", 1e9))
        self.assertNotIn("is_plain_form", self.verdict(judge, out, options, "softcap=0.5"))

    def test_masks_and_outputs_in_place(self) -> None:
        """-inf in the whole first row of x and in every third element: their weights are 0."""
        options = "--kernel softmax_online --rows 3 --cols 7 --seed 3"
        judge, out, verdict = self.kit("02_online_softmax", f"{options} --masked")
        self.assertNotIn("wrong", verdict)
        self.assertIn("wrong", self.verdict(judge, out, options))
        y = struct.unpack("<21f", (out / "y.npy").read_bytes()[-84:])
        self.assertEqual([at for at in range(21) if y[at] == 0.0], [*range(7), 9, 12, 15, 18])
        self.assertEqual((verdict["statistics"], verdict["statistic_bytes"]), (["m", "l"], 4 * 2 * 3))
        judge = self.grader().judge_of("06_backward").builder.kit / "judge"
        verdict = self.verdict(judge, "-", "--kernel backward_atomic --heads 2 --seq 5 --dim 3")
        self.assertEqual((verdict["atomic_bytes"], "wrong" in verdict), (4 * 2 * 5 * 3, False))
        _, _, verdict = self.kit("02_online_softmax", f"{options} --in-place")
        self.assertNotIn("wrong", verdict)

    def test_wrong_words(self) -> None:
        judge, _, _ = self.kit("01_naive", "--kernel naive --seq 1 --dim 1")
        program = self.grader().judge_of("01_naive").builder.program({}, "")
        (there := self.scratch / "there").mkdir()  # what a submission has made before
        judging, good = f"ulimit -v 150000; exec {judge} plain=0", "-\t--kernel\tnaive\n"
        running = f"exec {program} --kernel naive"
        for command, given, status, says in (
            (judging, "-\n", 2, "judge: --kernel: expected one of 01_naive"),
            (judging, "\n\n", 2, "judge: expected DIR|- --kernel NAME ..."),
            (judging, "-\t--kernel\tnaive\t--seq\t0\n", 2, "judge: --seq"),
            (judging, "-\t--kernel\tnaive\t--gpu\tnone\n", 2, "judge: --gpu"),
            # An error behind which a verdict without its "wrong" would pass anything.
            (judging, f"{there}\t--kernel\tnaive\t--seq\t200000\t--dim\t128\n", 3, "judge: out of memory"),
            (f"exec {judge} other=0", None, 2, "judge: expected KIND=VALUE, and lines of input"),
            (f"exec {judge} plain=0 > /dev/full", "", 3, "judge: standard output: cannot be written"),
            (running, None, 2, "runner: expected --kernel NAME --save DIR"),
            (f"{running} --save /none/x", None, 3, "runner: /none/x/run.txt: cannot be written"),
            (f"{running} --save {there}", None, 3, f"runner: {there}/run.txt: cannot be written"),
            (f"{running} --sequence 3", None, 2, "runner: --sequence"),
        ):
            # A good line before and behind: the first is answered, and nothing after the one that is wrong.
            done = run("sh", "-c", command, given="" if given is None else f"{good}{given}{good}")
            answers = 1 if command == judging else 0
            self.assertEqual((done.returncode, done.stdout.count("\n")), (status, answers), done.stderr)
            self.assertRegex(done.stderr, f"^{re.escape(says)}[^\n]*\n$")
        done = run(program, "--save", self.scratch / "too large", "--kernel", "naive", "--seq", "262144")
        self.assertEqual((done.returncode, done.stderr), (3, ""))
        self.assertRegex((self.scratch / "too large/run.txt").read_text(), r"^cannot [^\n]+\n$")
