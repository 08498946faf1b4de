"""What a chapter's program says to people: one screen, what to try next, and what it asks before it takes hours."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import time
from collections import defaultdict
from pathlib import Path
from subprocess import PIPE
from typing import Any, ClassVar, NamedTuple

from case import ROOT, Case, run, started
from lib.chapters import PROGRAMS as CHAPTERS

THOROUGH = bool(os.environ.get("LONG"))  # make test-all
WIDTH = 80

# Runs of few milliseconds that are unlike the demonstration (masks, ragged and tiny shapes, kernels that cannot run,
# tables), each with what it prints; what a computer's rounding may change is #. REMAKE=1 writes the file anew: read
# its difference. Of a command with " ... WORDS" behind it, whose screen begins like another one, the lines from the one
# on that begins with these words.
SCREENS = Path(__file__).with_name("screens.txt")


class Screen(NamedTuple):
    begins: str
    text: str


def read_screens() -> dict[str, dict[str, Screen]]:
    """By chapter and options."""
    screens: dict[str, dict[str, Screen]] = defaultdict(dict)
    for screen in re.split(r"^\$ ", SCREENS.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        command, _, text = screen.partition("\n")
        command, _, begins = command.partition(" ... ")
        chapter, _, options = command.partition(" ")
        screens[chapter][options] = Screen(begins, text)
    return screens


# In the place of `make` in a chapter: the same screen of a smaller problem.
SMALLER = {
    "00_gpu": "--rows 64 --cols 96",
    "01_naive": "--seq 256",
    "02_online_softmax": "--rows 8 --cols 300",
    "03_tiled_matmul": "--m 128 --n 128 --k 128",
    "04_fa1": "--seq 129",
    "05_fa2": "--seq 129",
    "06_backward": "--seq 129",
    "07_transformer": "--seq 65 --causal",
    "09_variants": "--seq 129 --causal --window 20",
    "10_pipeline": "--seq 129",
}


LINES = read_screens()


class ScreenCase(Case):
    def program(self, chapter: str, options: str, *words: object, **environment: str) -> str:
        """What it prints, run where its reader runs it."""
        done = run([f"./{CHAPTERS[chapter]}", *options.split(), *words], cwd=ROOT / chapter, **environment)
        self.assertEqual((done.status, done.err), (0, ""), f"{chapter} {options}: {done.err}")
        return done.out

    def assert_screen(self, text: str, most: int, said: str) -> None:
        lines = text.splitlines()
        self.assertEqual([line for line in lines if len(line) > WIDTH], [], said)
        self.assertEqual([line for line in lines if line != line.rstrip()], [], said)
        self.assertTrue(6 <= len(lines) <= most, f"{said}: {len(lines)} lines\n{text}")
        self.assertTrue(lines[-1].startswith("Next: "), f"{said}: {lines[-1]}")


class Screens(ScreenCase):
    """One screen: 24 lines for `make` in a chapter, 80 columns for all."""

    def assert_demonstration(self, text: str, said: str) -> None:
        self.assert_screen(text, 24, said)
        self.assertIn("verified", text)
        self.assertRegex(
            text, r"error   power  median|\nPower: worst row \S+, median \S+; a row off by \S+ of itself fails\.\n"
        )
        self.assertNotIn("\x1b", text)

    def test_a_smaller_demonstration_is_one_screen(self) -> None:
        for chapter, options in SMALLER.items():
            with self.subTest(chapter):
                self.assert_demonstration(self.program(chapter, options, SIM_CHECK="none"), f"{chapter} {options}")

    def test_lines_of_other_screens(self) -> None:
        for chapter, options, shown in SHOWN:
            self.assertIn(shown, self.program(chapter, options), f"{chapter} {options}")

    def test_the_kind_of_input_is_explained_where_it_is_not_the_usual_one(self) -> None:
        for chapter in ("01_naive", "03_tiled_matmul"):
            help_text = self.program(chapter, "--help")
            kinds = re.search(r"Kinds of --input:\n((?:  \S.*\n)+)", help_text)[1].splitlines()
            self.assertEqual(len(kinds), 6)
            for kind, meaning in (line.split(maxsplit=1) for line in kinds):
                size = "--m 3 --n 3 --k 3" if chapter == "03_tiled_matmul" else "--seq 3 --dim 2"
                out = self.program(chapter, f"{size} --input {kind}")
                self.assertEqual(f"\ninput: {meaning}\n" in out, kind != "random", f"{chapter} {kind}")


# Lines of screens that show nothing else of their own.
SHOWN = (
    ("00_gpu", "--rows 3 --cols 5 --kernel who_am_i --input ramp --verbose",
     "            error 0 at block[0,0], tolerance 0, not judged: the result is nothing but zeros\n"),
    ("04_fa1", "--seq 17 --dim 5 --tile-q 600 --tile-k 4",
     "\nfa1_row   skipped  --tile-q 600 needs as many threads per block, the limit is\n"
     "                   256: each may need 255 of 65,536 registers\n"),
    ("01_naive", "--seq 33 --heads 6 --dim 128 --gpu a100-80",
     "simulated device, limits of NVIDIA A100 80 GB\n"),
    ("06_backward", "--seq 9 --tile-q 32",
     ".\nThe price is arithmetic: 1.42 times the FLOP of naive, with P made anew in both\npasses. backward_atomic has"),
    ("06_backward", "--seq 1 --dim 2 --kernel backward_split --verbose --input constant",
     "            error 0 at dK[0,0,0,0], tolerance "),
    ("06_backward", "--seq 1 --dim 2 --kernel backward_split --verbose --input constant",
     ", not judged: rounding may exceed the result\n"),
    ("06_backward", "--seq 70 --dim 5 --causal --kernel backward_atomic --verbose",
     "\n  (forward)              6.76 kB  1.68 kB  16.2 kB  8.16 kB    4.20 kB  1.68 kB\n"),
    ("06_backward", "--seq 70 --dim 5 --causal --kernel backward_atomic --verbose",
     "\n  all launches           9.25 kB  3.08 kB  21.4 kB  17.4 kB    10.4 kB  4.48 kB\n"
     "  atomics on dQ: 1.52 kB requested\n"),
    ("06_backward", "--seq 70 --dim 5 --causal --kernel backward_atomic --verbose",
     "\n  requested        2,160      700  2,860      380  6Nd + 2dΣR per head\n"
     "    counted        2,160      700  2,860      380  equal\n"),
    ("07_transformer", "--help", "\n  --seq N          queries (default 64)\n"),
    ("07_transformer", "--seq 3 --dim 6 --heads 3 --kv-heads 1 --kernel rope --quiet",
     "  error 9.2e-08 at rotated[1,2,5], tolerance 6.2e-07, "),
    ("08_decode", "--seq 2 --heads 2 --kv-heads 1 --dim 2 --splits 3 --kernel decode_split",
     "\n1 head of keys x 3 make 3 blocks: 2 of 132 SMs have work.\n1 split has no key.\n"),
    ("08_decode", "--seq 2 --heads 2 --kv-heads 1 --dim 2 --splits 3 --kernel decode_paged",
     "\nThe table has 1 page of 16 tokens; a head of keys reads 2 of its words:\n"
     "two splits that share a page both look it up.\n"),
    ("08_decode", "--seq 2 --heads 2 --kv-heads 1 --dim 2 --splits 1 --kernel decode_paged",
     "\nThe table has 1 page of 16 tokens; a head of keys reads 1 of its words.\n"),
    ("09_variants", "--seq 70 --dim 5 --heads 4 --kv-heads 2 --dropout 0.5 --causal --kernel forward",
     "\nscores: dropout 0.5\n"),
    ("09_variants", "--seq 70 --dim 5 --heads 4 --kv-heads 2 --dropout 0.5 --causal --kernel forward",
     "\n1 of 280 rows of 'O' of forward are not judged: zeros would pass.\n"),
    ("09_variants", "--seq 9 --kernel decode --splits 1 --dim 3",
     "\nIn decode 1 split costs 29.6 % more bytes than keys and values alone.\n"),
    ("09_variants", "--seq 9 --kernel decode --splits 10 --dim 3",
     "\nIn decode 10 splits cost 246.3 % more bytes than keys and values alone;\n1 split has no key.\n"),
    ("09_variants", "--seq 4100 --heads 1 --kernel decode --verbose",
     "\n            64 of 4,100 rows checked, drawn at random\n"),
)  # fmt: skip


class Next(ScreenCase):
    """The last line of a run suggests another run than that one."""

    chapters = tuple(CHAPTERS) if THOROUGH else ("00_gpu", "02_online_softmax")
    done: ClassVar[dict[tuple[str, str], tuple[str, dict[str, Any]]]] = {}

    def ran(self, chapter: str, options: str) -> tuple[str, dict[str, Any]]:
        """The last line, and what was run, whatever words it was said in: the problem, the kernels, a trace."""
        if (chapter, options) not in self.done:
            path = self.scratch / "run.json"
            # Without the device's checks, which are not asked here, in half the time.
            last = self.program(chapter, f"{options} --json", path, SIM_CHECK="none").splitlines()[-1]
            got = json.loads(path.read_text())
            kernels = [one["name"] for one in got["kernels"]]
            what = {"kernels": kernels, "problem": got["problem"], "trace": got.get("trace")}
            self.done[chapter, options] = last, what
        return self.done[chapter, options]

    def following(self, chapter: str, options: str) -> str | None:
        """The options of the suggestion; None where it is no run of this program on kernels."""
        last, _ = self.ran(chapter, options)
        found = re.search(rf"\./{CHAPTERS[chapter]} (.*)$", last)
        if not found or "--prompt" in last or "--sweep" in last:
            other = r"cd \.\./\d\d_\w+ && make$|--prompt |--sweep$|the exercises in README.md|\.\./tools/ceilings show$"
            self.assertRegex(last, other)
            return None
        return found[1]

    def assert_another(self, chapter: str, options: str) -> None:
        following = self.following(chapter, options)
        if following is not None:
            same = self.ran(chapter, following)[1] == self.ran(chapter, options)[1]
            self.assertFalse(same, f"{chapter} {options}: suggests {following}")

    def test_who_follows_the_suggestions_never_runs_the_same_twice(self) -> None:
        for chapter in self.chapters:
            with self.subTest(chapter):
                walked, seen = [""], [self.ran(chapter, "")[1]]
                while (following := self.following(chapter, walked[-1])) is not None:
                    self.assertLess(len(walked), 6, f"{chapter}: {walked} goes round in circles")
                    what = self.ran(chapter, following)[1]
                    self.assertNotIn(what, seen, f"{chapter} {walked[-1]}: suggests {following}, which was run")
                    seen.append(what)
                    walked.append(following)

    def test_runs_of_other_problems_are_not_suggested_again_either(self) -> None:
        for chapter in self.chapters:
            for line in LINES[chapter]:
                if re.search("--tsv|--sweep|--prompt", line):
                    continue
                with self.subTest(f"{chapter} {line}"):
                    self.assert_another(chapter, line)


class Hours(ScreenCase):
    """A run that would take an hour and more. These take days and years, however fast a machine is.

    Decoding what fits into memory does not."""

    def test_with_yes_it_begins(self) -> None:
        """Still at work after a second: it was not refused. (Without: cases/05_fa2.tsv.)"""
        options = "--seq 200000 --heads 1 --dim 128 --kernel fa2_row"
        with started([ROOT / "05_fa2/fa2", *options.split(), "--yes"], stdout=PIPE, stderr=PIPE) as fa2:
            time.sleep(1)
            self.assertIsNone(fa2.poll(), "it ended")

    def test_tensors_that_do_not_fit_together(self) -> None:
        done = run([ROOT / "01_naive/naive", *"--seq 1000000 --yes".split()])
        self.assertRegex(done.err, r"\Anaive: naive: needs 8.00 TB of memory, .*\n\Z")
        # Q, K, V and O together are twice what there is, each of them half
        most = float(re.search(r"the device has ([\d.]+) GB", done.err)[1])
        heads = int(most * 1e9 / 2 / (4 * 64 * 10_000))
        done = run([ROOT / "05_fa2/fa2", *f"--seq 10000 --dim 64 --heads {heads}".split()])
        self.assertEqual((done.status, done.out), (3, ""), done.err)
        needed = float(re.search(r"needs ([\d.]+) GB of memory", done.err)[1])
        self.assertAlmostEqual(needed / most, 2, delta=0.05)

    def test_a_sweep_is_estimated_as_a_whole(self) -> None:
        done = run([ROOT / "05_fa2/fa2", *"--sweep --heads 60000 --batch 6000 --dim 1".split()], cwd=self.scratch)
        self.assertIn(done.status, (2, 3), done.err)  # 3 where its tensors do not fit
        self.assertEqual(len(done.err.splitlines()), 1)

    def test_a_sweep_in_a_terminal_ends_with_what_its_lines_are(self) -> None:
        primary, secondary = pty.openpty()
        with started([ROOT / "00_gpu/gpu", "--sweep", "--kernel", "copy"], stdout=secondary, stderr=secondary):
            os.close(secondary)
            shown = b""
            with contextlib.suppress(OSError):  # the program has ended
                while chunk := os.read(primary, 4096):
                    shown += chunk
        os.close(primary)
        self.assertRegex(shown.decode(), r"These lines are TSV, .*make plot draws them, --tsv FILE .*\s*\Z")
        piped = run([ROOT / "00_gpu/gpu", "--sweep", "--kernel", "copy"])
        self.assertEqual((piped.status, piped.err, "make plot" in piped.out), (0, "", False))


class Suggestions(ScreenCase):
    """A word that is none, near one that is; of options: test_options.c."""

    def test_in_every_chapter(self) -> None:
        for chapter, name in CHAPTERS.items():
            kernels = re.search(r"Kernels, in teaching order:\n((?:  \S.*\n)+)", self.program(chapter, "--help"))[1]
            for kernel in (line.split()[0] for line in kernels.splitlines()):
                done = run([ROOT / chapter / name, "--kernel", kernel[:-1]])
                self.assertEqual((done.status, done.out), (2, ""))
                self.assertRegex(done.err, rf"\A{name}: --kernel: expected .*; did you mean \w+\?\n\Z")
