"""--explain on every chapter: a page on the run, right or wrong, and the sentences that a wrong one leads to."""

from __future__ import annotations

import json
import math
import re
import shutil
import signal
from pathlib import Path
from subprocess import PIPE
from typing import Any

from browser import Page
from case import BUILD, ROOT, Case, run, split_environment, started, until
from npy import read_npy, write_npy

FA2 = ROOT / "05_fa2/fa2"
FA1 = ROOT / "04_fa1/fa1"
BACKWARD = ROOT / "06_backward/backward"
DECODE = ROOT / "08_decode/decode"
ONLINE_SOFTMAX = ROOT / "02_online_softmax/online_softmax"
DESK, TELEPHONE = (1440, 900), (360, 800)
WIDTH = "document.documentElement.scrollWidth"
ACCESSIBLE = (Path(__file__).parent / "accessible.js").read_text()


def broken(fault: str) -> Path:
    """Chapter 05 with a fault of faults.edits or of tests/faults, chapter 08 with one of splits.edits."""
    folders = ("explorer/faults", "explorer/splits", "faults/05_fa2")
    return next(filter(Path.exists, (BUILD / folder / fault / "program" for folder in folders)))


def run_of(page: Path) -> dict:
    """The JSON inside a page: its one run."""
    (found,) = json.loads(page.read_text().partition('id="data">')[2].partition("</script>")[0])["runs"]
    return found


class Explain(Case):
    def explain(self, program: Path, options: str, status: int | None = None, **environment: str) -> Path:
        """A page on a run; one of a chapter's own program is right."""
        if status is None:
            status = int(BUILD in program.parents)
        self.page = self.scratch / "page.html"
        self.said = self.run_program(program, f"{options} --quiet --explain {self.page}", status, **environment).err
        return self.page

    def open(self, program: Path, options: str, fragment: str = "", size: tuple[int, int] = DESK) -> Page:
        return Page(self.explain(program, options), fragment, size=size)

    def expect(self, page: Page, selector: str, words: str) -> None:
        """An element shows these words, of which a | parts one from the next, and none of those that begin with a !."""
        told = page.eval(f"$({json.dumps(selector)}).innerText")
        told = " ".join(told.lower().split())  # a style may show capitals
        for word in words.split(" | "):
            check = self.assertNotIn if word.startswith("!") else self.assertIn
            check(word.lstrip("!").lower(), told)


class Command(Explain):
    def test_refusals_leave_nothing_behind(self) -> None:
        """What else is refused on the command line: harness/test_options.c."""
        for options, status, says in (
            ("--explain", 2, "--explain: expected a value FILE"),
            ("--explain x.html --details .", 2, "--details: not with --explain"),
            ("--seq 8 --details no/where", 3, "no/where: cannot be created"),
            ("--details . --json run.json", 2, "run.json of --details, expected another file"),
            ("--seq 8 --explain nowhere/x.html", 3, "nowhere/x.html: cannot be written"),
            ("--seq 8 --quiet --explain /dev/full", 3, "cannot be written"),
            ("--seq 0 --explain x.html", 2, "--seq"),
            ("--kernel fa2_row --tile-k 65536 --seq 65536 --explain x.html", 3, "shared memory"),
        ):
            with self.subTest(options):
                said = self.run_program(FA2, options, status).err
                self.assertIn(says, said)
                self.assertEqual(said.count("\n"), 1, said)
        self.assertEqual(list(self.scratch.iterdir()), [])

    def test_into_pipes(self) -> None:
        """The page is alone in its pipe. Kills: a run that inherits no open files, a page that is renamed over one."""
        page = self.run_program(FA2, "--seq 8 --dim 8 --explain -").out
        self.assertRegex(page, r"(?s)\A<!doctype html>.*</html>\n\Z")
        self.assertNotIn('"course"', page.partition('id="data"')[2], "nobody knows where the page will lie")
        call = f"{FA2} --seq 8 --dim 8 --quiet --json >(cat > run.json) --explain >(cat > page.html)"
        outcome = run(["bash", "-c", call], cwd=self.scratch)  # ends with the last cat
        self.assertEqual((outcome.status, outcome.err), (0, ""))
        self.assertTrue((self.scratch / "page.html").read_text().endswith("</html>\n"))
        self.assertTrue(json.loads((self.scratch / "run.json").read_text())["kernels"])

    def test_what_cannot_be_made_is_one_line(self) -> None:
        """Kills: a traceback where the program ended before its results; status 127 where there is no Python."""
        ended = run([ROOT / "explorer/explain", "page.html", "/bin/true"], cwd=self.scratch)
        self.assertEqual((ended.status, ended.err.count("\n")), (3, 1), ended.err)
        self.assertIn("ended with status 0 before its results", ended.err)
        without = self.run_program(FA2, "--seq 8 --explain page.html", 3, PATH="/nowhere")
        self.assertIn("python3 cannot be started", without.err)
        self.assertEqual(list(self.scratch.iterdir()), [])

    def test_leads_back_to_its_chapter(self) -> None:
        """Kills: a page without a link to the course, one that leads nowhere from where the page lies."""
        readme, room = ROOT / "05_fa2/README.md", self.scratch / "a room #1"
        room.mkdir()
        moved = shutil.copy(FA2.resolve(), self.scratch / "fa2")  # no README lies beside it
        for program, path, leads_to in (
            (FA2, f"{room.name}/page.html", readme.as_uri()),
            (FA2, f"{readme.parent}/page.html", readme.as_uri()),
            (moved, "page.html", None),
        ):
            page = self.scratch / path
            self.addCleanup(page.unlink, missing_ok=True)
            said = run([program, "--seq", "8", "--dim", "8", "--quiet", "--explain", path], cwd=self.scratch)
            self.assertEqual(said.status, 0, said.err)
            with self.subTest(path), Page(page, "#view=traffic&s=3") as opened:
                self.assertEqual(opened.eval("$('.brand a')?.href ?? null"), leads_to)
                self.assertGreater(opened.count(".stage .head"), 2, "only lines of source need the source")

    def test_nothing_outlives_a_run_that_is_ended(self) -> None:
        """However a run is ended, it leaves no page and no recording."""
        rest = self.scratch / "tmp"
        rest.mkdir()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            command = ["env", "--default-signal=INT", f"TMPDIR={rest}", FA2, "--seq", "32768"]
            command += ["--quiet", "--explain", "page.html"]
            with started(command, cwd=self.scratch, stdout=PIPE, stderr=PIPE) as process:
                until(lambda: list(rest.glob("explain.*/report")))
                process.send_signal(number)
                out, err = process.communicate(timeout=30)
            # Ended by that signal, or with the status by which a shell tells it.
            self.assertIn(process.returncode, (-number, 128 + number))
            self.assertEqual((out, err), ("", ""))
            self.assertEqual([*rest.iterdir(), *self.scratch.iterdir()], [rest])


class EveryChapter(Explain):
    # Of each output: a map over the words beside it, or words that leave the page.
    MAPS = """$$('.output').filter((output) => {
        const [map, words] = [...output.children].map((child) => child.getBoundingClientRect());
        return words.width < 200 || (words.left < map.right && words.top < map.bottom) ||
            words.right > innerWidth; }).length"""
    COUNTED = """$$('.race .row').every((row, i) => { const r = tracedKernels()[i].result.hbm.requested;
        return Number(row.dataset.read) === r.read_bytes &&
            Number(row.dataset.written) === r.write_bytes + r.atomic_bytes; })"""
    CHAPTERS = (
        ("00_gpu/gpu", "--rows 33 --cols 40", ""),
        ("01_naive/naive", "--seq 40 --dim 8", "|Step by step"),
        ("02_online_softmax/online_softmax", "--trace --values 1,-inf,3,6,2,1 --block 2", "|Online softmax"),
        ("03_tiled_matmul/tiled_matmul", "--m 33 --n 40 --k 17", ""),
        ("04_fa1/fa1", "--heads 2 --seq 40 --dim 8 --causal", "|Step by step"),
        ("05_fa2/fa2", "--batch 2 --seq 65 --dim 60", "|Step by step"),
        ("06_backward/backward", "--batch 2 --heads 2 --seq 33 --dim 60 --tile-q 32", "|Step by step|Five products"),
        ("07_transformer/transformer", "--seq 20 --keys 40 --dim 8 --causal", ""),
        ("08_decode/decode", "--seq 40 --dim 8 --splits 3", "|The splits"),
        ("09_variants/variants", "--seq 40 --dim 8 --causal", "|Step by step|The splits"),
        ("10_pipeline/pipeline", "--heads 1 --seq 40", "|Step by step"),
    )

    def test_every_chapter_has_a_page(self) -> None:
        for program, options, views in self.CHAPTERS:
            path = self.explain(ROOT / program, options)
            self.assertEqual(self.said, "")
            for size in (DESK, TELEPHONE):
                with self.subTest(program, size=size), Page(path, size=size, dark=size == DESK) as page:
                    self.assertEqual("|".join(page.texts("[role=tab]")), f"This run|Memory traffic{views}")
                    self.assertEqual(page.eval(self.MAPS), 0)
                    self.assertEqual(page.count("[data-wrong=true], [data-equal=false]"), 0, "marked as wrong")
                    self.assertGreater(page.count("[data-wrong=false]"), 0)
                    self.assertLessEqual(page.eval(WIDTH), size[0])
                    if size == TELEPHONE:
                        for view in page.eval("$$('[role=tab]').map((tab) => tab.dataset.view)"):
                            page.hash(f"view={view}")
                            self.assertEqual(page.eval(ACCESSIBLE), [], view)
                    page.hash("view=traffic")
                    page.key("End")
                    self.assertGreater(page.count(".race .count .done"), 0, "never ends")
                    self.assertIs(page.eval(self.COUNTED), True, "not the bytes it counted")
                    self.assertLessEqual(page.eval(WIDTH), size[0])


class Wrong(Explain):
    def test_marks_the_first_wrong_tile(self) -> None:
        """Of 100 rows the second half of each 32 misses keys; the last 4 rows see all. (Tiles: test_error_map.py.)"""
        problem = "--kernel fa2_row --heads 2 --seq 100 --dim 40 --causal --tile-q 32 --tile-k 16 --save wrong"
        output = "$('[data-kernel=fa2_row] [data-output=O]')"
        with self.open(broken("fa2_row_one_tile_too_few"), problem) as page:
            marked = page.eval(f"[...{output}.querySelectorAll('[data-tile]')].map((t) => t.dataset.wrong === 'true')")
            self.assertEqual(marked, ([True] * 9 + [False] * 3) * 2)
            self.assertEqual(page.eval(f"{output}.querySelector('[data-first]').dataset.tile"), "0")
            told = page.eval(f"{output}.innerText")
            number = re.search(r"O\[0, 0, 16, 0\] is ([\u2212\d.e-]+)", told)
            self.assertTrue(number, told)
            _, wrong = read_npy(self.scratch / "wrong/o.npy")
            self.assertAlmostEqual(float(number[1].replace("\u2212", "-").rstrip(".")), wrong[16 * 40], delta=1e-5)
            self.assertGreater(page.count(".ring"), 0, "no ring")
            self.assertGreater(page.count("[data-equal=false]"), 0, "counts that are not their closed form")
            self.assertIn("FAILED", page.text(".badge"))
            page.eval(f"{output}.querySelector('[data-tile]').focus()")
            page.key("ArrowDown")
            self.assertIn("rows 32", page.eval(f"{output}.querySelector('[aria-live]').textContent"))

    # A fault, options; the key from which on it is wrong, keys that are not read ("": not looked at, "-": not said);
    # what the page says.
    SAID = (
        ("no_rescale", "", "8,9", "-", "l were not multiplied by the correction | while O was."),
        ("off_by_one", "--causal", "1,2", "-",
         "first 2 keys, while it may see 1 | as many queries as keys"),
        ("dropped_tail", "", "96,97", "96,100",
         "3 whole tiles of 32 keys | only its first 96 keys | 4 keys too few | "
         "Keys 96–99 of K and V of head 0 are never read: the tail, 4 keys"),
        ("dropped_tail", "--seq 20", "", "0,20", "No key of K and V of head 0 is read at all, so l stays 0"),
        ("fa2_row_one_tile_too_few", "--causal --tile-k 16", "", "16,32",
         "Block 0 writes O up to row 31 and does not read keys 16"),
        ("no_rescale", "--heads 1 --seq 40 --tile-k 8", "", "", "Right after tile 0, wrong from tile 1 on"),
        ("no_key", "--seq 70", "", "0,70",
         "No key of K and V | so l is 0: the row took in no key | !it is query | !never written"),
        ("nan_tail", "--heads 1 --seq 64", "", "",
         "O[0, 0, 40, 20] is NaN | LSE is right, so m and l are: look at O alone | "
         "it is query 40 that is wrong, not the key"),
        ("trap", "--heads 1 --seq 8 --dim 8", "", "", "cudaErrorLaunchFailure | !The numbers are right"),
        ("last_row", "--seq 70", "", "",
         "2 of 140 rows of O were never written: O[0,0,69,:], O[0,1,69,:] | look at the line that writes | "
         "O 4,416 of 4,480 elements written once | !l is 0 | !m is −∞ | !stays 0 | !From which key"),
        ("one_batch", "--batch 2 --seq 65 --dim 60", "", "",
         "130 of 260 rows of O were never written: O[1,0,0,:] to O[1,1,64,:] | "
         "No key of K and V of head 2 is read, either | O 7,800 of 15,600 elements written | !l is 0"),
    )  # fmt: skip

    def test_says_what_is_wrong(self) -> None:
        """From which key on, which keys are not read, and what the row looks made of."""
        for fault, options, replay, unread, words in self.SAID:
            given = f"--kernel fa2_row --heads 2 --seq 100 --dim 32 --tile-q 32 --tile-k 32 {options}"
            with self.subTest(fault + options), self.open(broken(fault), given) as page:
                for name, expected in (("replay", replay), ("unread", unread)):
                    if expected:
                        self.assertEqual(page.eval(f"$('[data-{name}]')?.dataset.{name} ?? '-'"), expected, name)
                self.expect(page, "#main", words)
                if "were never written" in words:
                    first = words.partition(" | ")[0]
                    self.assertLess(page.eval("$('#checks').innerText").index(first), 100, "told before all else")
                if fault == "nan_tail":
                    wrong = "$$('[data-output=O] [data-{}]').map((t) => t.dataset.tile)"
                    self.assertEqual([page.eval(wrong.format(x)) for x in ("wrong=true", "first")], [["3"], ["3"]])

    def test_a_missing_barrier_is_one_cause_with_its_sentence(self) -> None:
        """Four hazards; one sentence, three lines around each access, the calls between which the barrier belongs."""
        path = self.explain(broken("no_barrier"), "--kernel fa2_row --seq 100 --tile-q 64")
        self.assertIn("Race reported", self.said, "the terminal does not say it")
        hazards = [line for line in run_of(path)["report"] if line["type"] == "hazard"]
        self.assertGreater(len(hazards), 2)
        source = (broken("no_barrier").parent / "row.cuh").read_text().splitlines()
        with Page(path, size=TELEPHONE, dark=True) as page:
            self.assertEqual(page.eval(ACCESSIBLE), [])
            (cause,) = page.texts(".hazards > li > h3")
            missing = r"^A __syncthreads\(\) is missing between line \d+ \(in load_tile, row.cuh:\d+\) and line "
            self.assertRegex(cause, missing)
            self.assertEqual(page.count(".sides pre"), 2)
            for text, around in zip(page.texts(".sides pre"), ("tile[first + i * step] =", "K_tile[")):
                lines = text.rstrip("\n").split("\n")
                self.assertEqual(len(lines), 3, text)
                self.assertIn(around, lines[1])
                number = int(re.search(r"\d+", lines[1])[0])
                for at, line in zip((number - 1, number, number + 1), lines):
                    self.assertIn(source[at - 1].strip(), line)
            self.expect(page, ".hazards", "On K tile | load_tile<D>(K + offset | attend<D, KEYS>")
            self.assertEqual(page.count(".hazards > li details li"), len(hazards) - 1)
            self.assertLessEqual(page.eval(WIDTH), TELEPHONE[0])

    def test_says_where_the_barrier_is_missing(self) -> None:
        """Within one pass of the loop, from one iteration to the next, or both; told from what one thread did."""
        gaps = "$$('.gap').map((gap) => [gap.dataset.gap, gap.querySelector('pre').textContent])"
        load, attend, mark = "load_tile<D>(V + offset", "attend<D, KEYS>(q", "__syncthreads() is missing here"
        between = ["row.cu\n", load, mark, attend]
        around = ["row.cu\n", "for (int first_key", mark, "load_tile<D>(K + offset", load, attend]
        around.append("or here, at the end")
        for fault, expected in (
            ("no_barrier", {"straight": between}),
            ("fa2_row_no_barrier_before_loading", {"loop": around}),
            ("no_barrier_at_all", {"straight": between, "loop": around}),
        ):
            with self.subTest(fault), self.open(broken(fault), "--kernel fa2_row --seq 256 --heads 1") as page:
                told = dict(page.eval(gaps))
                self.assertEqual(list(told), list(expected))
                self.assertEqual(page.count(".luck"), 1 - min(1, page.count(".outputs:not(.calm)")))
                for kind, parts in expected.items():
                    self.assertRegex(told[kind], "(?s)^" + ".*".join(map(re.escape, parts)))
                    self.assertIn("\u2026", told[kind])
        # Which thread the device ran first proves nothing.
        self.page.write_text(self.page.read_text().replace(',"passed":true', ""))
        with Page(self.page) as page:
            self.assertEqual(page.eval(gaps), [])
            self.expect(page, ".hazards", "They are called here")

    def test_bank_conflicts_are_counted_per_line(self) -> None:
        """Each line's, exactly: over all lines they are the kernel's; and only where many wait a page says so."""
        for program, said in ((broken("bank_conflict"), ""), (FA2, "!")):
            path = self.explain(program, "--kernel fa2_split_q --heads 1 --seq 100 --dim 32", 0)
            launches = [line["shared"] for line in run_of(path)["report"] if line["type"] == "launch"]
            total = sum(shared[op]["conflicts"] for shared in launches for op in ("load", "store", "atomic"))
            with Page(path) as page:
                told = page.eval("$$('.bank-lines li').map((line) => Number(line.dataset.lost))")
                self.assertEqual((sum(told), told), (total, sorted(told, reverse=True)))
                words = f"{said}waits for the banks of shared memory | {said}look at the strides"
                self.expect(page, "#checks", words)
                if not said:
                    self.assertIn("float4 k = ", page.text(".bank-lines .here"))

    def test_finds_the_loop_around_lines(self) -> None:
        """Kills: braces of comments and strings that count, a loop that is only above the lines."""
        text = """for (int i = 0; i < n; i++) { // {
    s[i] = 0;
    for (int j = 0; j < f("{", '}'); j++)
        a(j);
    while (more(n)) {
        b();
        c(); /* } */
    }
    d();
}
e();
"""
        lines = ((6, 7), (2, 7), (4, 4), (2, 9), (9, 11), (11, 11))
        found = f"{json.dumps(lines)}.map(([a, b]) => loopAround(bareText({json.dumps(text)}), a, b))"
        with self.open(FA2, "--seq 8 --dim 8") as page:
            loops = [loop and (loop["head"], loop["end"]) for loop in page.eval(found)]
        self.assertEqual(loops, [(5, 8), (1, 10), (1, 10), (1, 10), None, None])

    def test_a_replay_is_no_part_of_the_run(self) -> None:
        """What is run again, for the page, is neither on the page nor in files of the user's."""
        problem = "--kernel fa2_row --heads 1 --seq 100 --dim 32 --tile-k 32"
        files = {name: str(self.scratch / name) for name in ("SIM_TRACE", "SIM_REPORT")}
        recorded = []
        for options in ("--quiet", "", f"--quiet --explain {self.scratch}/page.html"):
            self.run_program(broken("no_rescale"), f"{problem} {options}", 1, **files)
            recorded.append([Path(file).read_text() for file in files.values()])
        self.assertEqual(recorded[1:], recorded[:1] * 2)
        made = run_of(self.scratch / "page.html")
        self.assertGreater(len(made["replays"][0]["steps"]), 3)
        self.assertEqual(len([line for line in made["trace"] if line.get("type") == "launch"]), 1)
        self.assertEqual(len(made["report"]), 1)


class Terminal(Explain):
    """What the program of a wrong kernel says of the page and of a smaller case."""

    def test_the_commands_that_a_failure_proposes(self) -> None:
        """A smaller case is wrong, too; of a kernel with compiled tiles it has more keys than a tile. Where a race is,
        none is tried. (How they are told: faults/said.)"""
        for fault, options, lengths in (
            ("no_barrier", "--kernel fa2_row --seq 100", ()),
            ("no_rescale", "--kernel fa2_row --seq 100 --heads 2 --dim 32 --input ramp --seed 7", (3, 4, 5)),
            ("tail_of_compiled_tiles", "--kernel fa2_slab --seq 300", (65,)),
        ):
            said = self.run_program(broken(fault), options, 1).out
            self.assertIn(f"Where it is wrong, as a page:\n  ./fa2 {options} --explain wrong.html\n", said)
            smaller = re.search(r"Next: a case small enough to follow by hand:\n  \./fa2 (.*--seq (\d+).*)", said)
            self.assertEqual(bool(smaller), bool(lengths), said)
            if smaller:
                self.assertIn(int(smaller[2]), lengths)
                self.assertNotIn("small enough", self.run_program(broken(fault), smaller[1], 1).out)

    def test_tensors_within_tolerance_are_not_told_as_wrong(self) -> None:
        said = self.run_program(broken("lse_alone"), "--kernel fa2_row --seq 100", 1).out
        self.assertIn(" at LSE[", said)
        self.assertNotIn(" at O[", said)
        said = self.run_program(broken("lse_alone"), "--seq 100 --verbose", 1).out
        self.assertRegex(said, r" at O\[.*, right\n")


ROW = "--kernel fa2_row --heads 1"
TILES = "--dim 32 --tile-q 32 --tile-k 32"
SPLIT = "--seq 100 --kernel decode_split --splits 4"
READERS = '.readers[data-kernel=fa2_row][data-share="{}"]'.format
PRODUCTS = '#products tr[data-products="{}"] td:nth-child(2)'.format
NO_PICTURE = "No picture of the memory traffic | "
NO_LIST = "No list of what the device found: SIM_REPORT, which is set | !no hazards"
# A program or a fault, options and variables, an address; what is said there: of a selector the words that the element
# shows, or the texts of all elements.
PAGES: Any = (
    (FA2, f"{ROW} --seq 70", "view=traffic", {".regions span": ["K tile", "V tile"]}),
    (FA2, f"{ROW} --seq 100 {TILES}", "view=checks",
     {"[data-tensor=Q]": "each element read once", "[data-tensor=K]": "each element read 4 times"}),
    # Which block reads which keys: below a causal mask a triangle, 1, 2, 3, 4 of 4 tiles.
    (FA2, f"{ROW} --seq 128 {TILES} --causal", "view=traffic", {READERS("0.6250"): "across | !all 128 rows"}),
    # Of five products the split kernel computes S and dP twice: that is seen from what its launches write.
    (BACKWARD, "--heads 1 --seq 40 --dim 8", "view=products",
     {PRODUCTS(1): ["probabilities", "gradient_of_v", "gradient_of_p", "gradient_of_q", "gradient_of_k"],
      PRODUCTS(3): ["backward_dq"], PRODUCTS(4): ["backward_dkdv"], PRODUCTS(5): ["backward_atomic"]}),
    # The tiles that were used, not those that were asked for, where a kernel is compiled with its own.
    ("tail_of_compiled_tiles", "--heads 1 --seq 100 --dim 32 --tile-q 16 --tile-k 16", "view=checks",
     {"[data-kernel=fa2_row] .kernel-head": "tiles of 16 \u00d7 16 (Br",
      "[data-kernel=fa2_slab] .kernel-head": "tiles of 32 \u00d7 64 (Br",
      "[data-kernel=fa2_slab] .reach": "1 whole tile of 64 keys, wrong with one key more"}),
    # A kernel that is wrong because it has no keys, partials or merge.
    ("no_tile_reads", SPLIT, "view=splits&s=1", {".split-told": "It reads no key. It writes m"}),
    ("no_partials", SPLIT, "view=splits&s=1",
     {".split-told": "writes no m, l or O of a split; it reads keys 0", ".memory-map": "Keys 0\u201399"}),
    # No traffic stands beside the steps of a kernel that does not work tile by tile of keys.
    (ROOT / "01_naive/naive", "--seq 40 --dim 8 --heads 1", "view=tile&s=99",
     {"#tile": "No traffic stands beside them", ".block-traffic": []}),
    # A block passes over all queries for a tile of keys: its bytes are those of four steps.
    (FA1, "--kernel fa1_paper --heads 1 --seq 40 --dim 8 --tile-q 16 --tile-k 16", "view=tile&s=8",
     {".block-traffic": "steps S, m, P and o together, over 3 query tiles of the block, rows 0\u201339 of Q: | "
      "all four steps | !in this step"}),
    # Its block has one query tile, which is in registers.
    (FA2, f"{ROW} --dim 8 --seq 40 --tile-q 16 --tile-k 16", "view=tile&s=3",
     {".block-traffic": "together, for the block\u2019s query tile, rows 0\u201315 of Q: no byte of global memory. | "
      "interval 2, all four steps | !in this step"}),
    # Nine digits of 3e38 are not the fp32 number: a difference of one rounding would be e to a huge power.
    (ONLINE_SOFTMAX, "--trace --values 3e38,-3e38,1 --block 1", "view=softmax&s=3",
     {"[data-name=total]": ["1"], ".equations": "stays 3.00e38"}),
    # What is not there has its reason; of hazards that it does not have the page claims nothing.
    (BACKWARD, "--seq 160 SIM_TRACE_LIMIT=1", "", {"#checks": NO_PICTURE + "over 1 MiB | ./backward --"}),
    (BACKWARD, "--kernel backward_naive --heads 1 --seq 400 --dim 4", "",
     {"#checks": NO_PICTURE + "more than a page should. Try ./backward --seq 4"}),
    (FA2, "--seq 8 SIM_TRACE=/dev/null", "", {"#checks": NO_PICTURE + "SIM_TRACE | !too large"}),
    ("beyond", "--kernel fa2_row --seq 40", "", {"#checks": NO_PICTURE + "No launch came to its end"}),
    (FA2, "--seq 8 SIM_REPORT=/dev/null", "", {"#checks": NO_LIST}),
    ("no_barrier", "--kernel fa2_row --seq 100 SIM_REPORT=/dev/null", "", {"#checks": NO_LIST}),
)  # fmt: skip


class Views(Explain):
    def test_what_pages_say(self) -> None:
        for program, given, address, told in PAGES:
            options, variables = split_environment(given.split())
            path = self.explain(
                broken(program) if isinstance(program, str) else program, " ".join(options), **variables
            )
            with self.subTest(given), Page(path, f"#{address}") as page:
                for selector, expected in told.items():
                    if isinstance(expected, str):
                        self.expect(page, selector, expected)
                    else:
                        self.assertEqual(page.texts(selector), expected)

    def test_the_splits(self) -> None:
        """Each block's keys, what it leaves and what the merge reads, beside the formulas of the chapter."""
        H, G, N = 6, 2, 20
        lists = "(({keys, cells, rows}) => [keys, cells, rows].map((list) => list ? list.split(',').map(Number) : []))"
        for kernel, S, page_size in (("decode_split", 3, 16), ("decode_paged", 3, 4), ("decode_split", 23, 16)):
            problem = f"--heads {H} --kv-heads {G} --seq {N} --dim 8 --splits {S} --page {page_size} --kernel {kernel}"
            with self.open(DECODE, problem, "#view=splits", TELEPHONE) as page:
                self.assertEqual(page.eval("$('.scrub').max"), str(G * S + H))
                told, places = [], []
                for step in range(G * S + H):
                    page.key("ArrowRight")
                    shown = page.eval(f"{lists}($('.memory-map').dataset)")
                    told.append(page.text(".split-told"))
                    if step >= G * S:
                        head = step - G * S
                        self.assertEqual(shown, [[], [split * H + head for split in range(S)], [head]])
                        continue
                    group, split = divmod(step, S)
                    keys = list(range(split * N // S, (split + 1) * N // S))
                    if kernel == "decode_split":
                        self.assertEqual(shown[0], keys)
                    self.assertEqual(len(shown[0]), len(keys))
                    places += shown[0]
                    heads = range(group * H // G, (group + 1) * H // G)
                    self.assertEqual(shown[1:], [[split * H + head for head in heads], []])
                    self.assertEqual("has none to read" in told[-1], not keys)
                self.assertEqual(sorted(places), sorted([*range(N)] * G), "a key is read twice, or not at all")
                self.assertEqual("looks up page" in told[0], kernel == "decode_paged")
                self.assertLessEqual(page.eval(WIDTH), TELEPHONE[0])

    def test_step_by_step(self) -> None:
        """Over all keys, tile by tile, m, l and o of each row are those of naive attention here, and the bytes are
        those of the block's lines in the trace. Kills: keys left out, o without its correction, a mask a key off, the
        traffic of another block, or of one that passes over K again for other rows, O's store before the last tile."""
        N, d, Bc = 40, 6, 16
        values = [math.sin(7 * i + 1) * (1 + i / 90) for i in range(N * d)]
        rows = {}
        for name, shift in zip("qkv", (0, 3, 5)):
            flat = values[shift:] + values[:shift]
            write_npy(self.scratch / f"{name}.npy", (1, 1, N, d), flat)
            rows[name] = [flat[i * d : (i + 1) * d] for i in range(N)]
        table = """$$('.states tbody tr').map((row) => [...row.children].map((cell) =>
            Number(cell.textContent.replace('\u2212', '-').replace('\u221e', 'Infinity'))))"""
        for causal, first, block in (("", 0, [0, 0, 0]), ("--causal", N - 8, [2, 0, 0])):
            path = self.explain(FA2, f"--kernel fa2_row --tile-q 16 --tile-k {Bc} --load {self.scratch} {causal}")
            lines = [x for x in run_of(path)["trace"] if x.get("block") == block and x["space"] == "global"]
            loads = [x for x in lines if x["op"] == "load"]
            whole = f"{sum(x['bytes'] for x in lines):,} bytes"
            with Page(path, "#view=tile", size=TELEPHONE) as page:
                self.assertEqual(page.eval("$('.scrub').max"), str(2 + 5 * 3))
                for tile in range(3):
                    end, step = min(Bc * (tile + 1), N), 5 * (tile + 1) + 1
                    page.hash(f"view=tile&s={step - 4}")
                    self.expect(page, ".step-told", f"{2 * 4 * d * (end - Bc * tile)} bytes")
                    page.hash(f"view=tile&s={step}")
                    loaded = [x["bytes"] for x in loads if x["tensor"] == "Q" or x["ranges"][0][0] < 4 * d * end]
                    self.expect(page, "[data-total]", f"has moved {sum(loaded):,} of {whole}")
                    for i, cells in enumerate(page.eval(table)):
                        keys = range(min(end, first + i + 1) if causal else end)
                        q = [x / math.sqrt(d) for x in rows["q"][first + i]]
                        s = [sum(a * b for a, b in zip(q, rows["k"][j])) for j in keys]
                        P = [math.exp(x - max(s)) for x in s]
                        o = [sum(p * rows["v"][j][c] for p, j in zip(P, keys)) for c in range(d)]
                        for got, expected in zip([*cells[:2], *cells[3:]], [first + i, max(s), sum(P), *o]):
                            self.assertAlmostEqual(got, expected, delta=6e-3 * max(1, abs(expected)))
                        if tile == 2:
                            page.eval(f"$$('.scores tbody tr')[{i}].cells[3].focus()")
                            shown = page.eval("$('[data-score]').innerText")
                            name, _, value = shown.replace("\u2212", "-").replace("\u221e", "inf").partition(" = ")
                            self.assertEqual(name, f"S[{first + i}, 34]")
                            self.assertAlmostEqual(float(value), s[34] if len(s) > 34 else -math.inf, delta=6e-3)
                page.key("End")
                self.assertEqual(page.eval("$('[data-title]').innerText"), "O = o / l")
                self.expect(page, "[data-total]", f"of {whole}")
                for got, expected in zip(page.eval(table)[7][4:], (x / sum(P) for x in o)):
                    self.assertAlmostEqual(got, expected, delta=6e-3 * max(1, abs(expected)))
                self.assertLessEqual(page.eval(WIDTH), TELEPHONE[0])
                page.eval("$('.scores [tabindex=\"0\"]').focus()")
                page.key("ArrowUp", "ArrowRight", "Home")
                self.assertEqual(page.eval("document.activeElement.dataset.at"), "6,3", "the chosen score after a step")
