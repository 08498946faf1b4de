"""What is planted in a chapter's kernels, and what is said of it: faults/CHAPTER.edits is the suite faults_CHAPTER. An
entry (tools/lib/edits.py) is one change, built as a program of its own (support/chapter.mk).

A fault says what shows it. Each run ends with status 1 and says each text on stderr or in its JSON; where there are
several runs, they stand with " | " between them, and so do the texts, or these are the same for all. Without the fault
the same options pass and nothing is said. That wrong results are found is for cases/CHAPTER.tsv: here, of chapters 01
and 04 to 10, is one for each sentence. Threads run in reverse order, so that a race changes a result.

    options: OPTIONS | OPTIONS        NAME=VALUE is for the environment
    says: TEXT, TEXT | TEXT           no such line: whatever it says. logits: these are off by more than the tolerance;
                                      counts: they are right, what moved is not; -: a right order, which has to pass
    kernels: NAME NAME                which are built anew (tools/plant), where the options do not say
    loses TASK: criteria              a submission, too, of which ../classroom/mutants.py says what it loses
"""

from __future__ import annotations

import json
import re
import sys
import zlib
from pathlib import Path

import golden
from case import BUILD, ROOT, WITHOUT_RACECHECK, Case, Outcome, run, split_environment
from lib import edits

TESTS = Path(__file__).resolve().parents[1]
CHAPTER = Path(sys.argv[2]).stem.partition(":")[0].removeprefix("faults_")  # suite.py's results
ENTRIES = edits.read(str(TESTS / f"faults/{CHAPTER}.edits"))
RIGHT = BUILD / "chapters" / CHAPTER.partition("_")[2]


def start(program: Path, options: str, **environment: str) -> Outcome:
    arguments, more = split_environment(options.split())
    return run([program, "--json", "-", *arguments], cwd=ROOT, **{**environment, **more})


def masked(text: str) -> str:
    """Without what another compiler rounds otherwise, places and the width of columns."""
    text = re.sub(r"-?\b(?:\d+\.\d+|\d+(?=e[+-]))(?:e[+-]\d+)?|-?\b(?:nan|inf)\b", "#", text)
    text = re.sub(r"(\.cuh?):\d+", r"\1:#", text.replace(str(BUILD), "BUILD"))
    return re.sub(r"  +", "  ", re.sub(r"0x[0-9a-f]+", "#", text))


def planted(entry: edits.Edit) -> Path:
    return BUILD / "faults" / CHAPTER / entry.name / "program"


def runs_of(entry: edits.Edit) -> list[tuple[str, str]]:
    """The options of each run of a fault, and what it says."""
    own = {key for key in entry.header if not key.startswith(("loses ", "says "))}
    if unknown := own - {"options", "says", "kernels"} or {"options"} - own:
        entry.fail(f"'{unknown.pop()}': expected options: and says:")
    runs, texts = entry.header["options"].split(" | "), entry.header.get("says", "").split(" | ")
    if len(texts) not in (1, len(runs)):
        entry.fail(f"{len(runs)} runs and {len(texts)} texts")
    return [(options, texts[at % len(texts)]) for at, options in enumerate(runs)]


class Faults(Case):
    def find(self, entry: edits.Edit) -> None:
        """Kills a verification that passes what is wrong, a count that is not compared, a check that is off."""
        for options, says in runs_of(entry):
            with self.subTest(options):
                numbers = all(text.endswith("is wrong") for text in says.split(", "))
                checks = {"SIM_CHECK": WITHOUT_RACECHECK} if numbers else {}
                done = start(planted(entry), options, SIM_ORDER="reverse", **checks)
                if says == "-":
                    self.assertEqual(done.status, 0, f"no fault, {options}: {(done.err or done.out)[:400]}")
                    continue
                self.assertEqual(done.status, 1, f"survives {options}: {(done.err or done.out)[:400]}")
                result = json.loads(done.out) if done.out.startswith("{") else {"verified": False}
                verdicts = [kernel.get("verified") for kernel in result.get("kernels", [result])]
                self.assertIn(False, verdicts, "verified in JSON")
                if says in ("logits", "counts"):
                    error = result["logits_error"]
                    self.assertEqual(error is None or error > 1e-3, says == "logits", error)  # NaN is null
                else:
                    for text in says.split(", "):
                        self.assertTrue(
                            text in done.err or text in done.out, f"no '{text}': {done.err}{done.out[:400]}"
                        )

    def test_what_some_say_to_the_word(self) -> None:
        """Kills: another word, index, order or advice where a run has failed, on the screen and on stderr."""
        said = []
        for entry in ENTRIES:
            if zlib.crc32(entry.name.encode()) % 4 != 0:  # whatever others join
                continue
            arguments, more = split_environment(runs_of(entry)[0][0].split())
            done = run([planted(entry), *arguments], SIM_THREADS="1", SIM_ORDER="reverse", **more)
            said += [f"$ {entry.name}", *masked(done.out + done.err).splitlines()]
        self.assertEqual(golden.changes(TESTS / f"faults/said/{CHAPTER}.txt", said), "")

    def test_the_same_options_pass_without_them(self) -> None:
        for options in dict.fromkeys(options for entry in ENTRIES for options, _ in runs_of(entry)):
            with self.subTest(options):
                done = start(RIGHT, options)
                self.assertEqual((done.status, done.err), (0, ""))


if CHAPTER not in ("00_gpu", "02_online_softmax", "03_tiled_matmul"):  # of what make test builds
    del Faults.test_what_some_say_to_the_word
# A test for each entry: expected.tsv says how many.
for each in ENTRIES:
    setattr(Faults, f"test_{each.name}", lambda self, entry=each: self.find(entry))
