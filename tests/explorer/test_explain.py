"""--explain on every chapter: a page on the run, right or wrong. The first wrong tile is compared with one found here,
from what the broken program and the right one saved."""

from __future__ import annotations

import array
import json
import math
import re
import shutil
import signal
import sys
import time
import unittest
from pathlib import Path
from subprocess import PIPE

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from browser import Page
from case import BUILD, ROOT, Case, run, started

FA2 = ROOT / "05_fa2/fa2"
ONLINE_SOFTMAX = ROOT / "02_online_softmax/online_softmax"
TELEPHONE = (375, 800)
WIDTH = "document.documentElement.scrollWidth"
PARTS = ("[data-title]", "[data-total]", ".step-told", "[data-score]")  # of Step by step
CHECKS = "document.getElementById('checks').innerText"


def broken(fault: str, edits: str = "faults") -> Path:
    """Chapter 05 with a fault of faults.edits, chapter 08 with one of splits.edits."""
    return BUILD / "explorer" / edits / fault / "program"


def data_of(page: Path) -> dict:
    """The JSON inside a page."""
    return json.loads(page.read_text().partition('id="data">')[2].partition("</script>")[0])


class Explain(Case):
    def explain(self, program: Path, options: str, status: int = 0, **environment: str) -> Path:
        self.page = self.scratch / "page.html"
        self.said = self.run_program(program, f"{options} --quiet --explain {self.page}", status, **environment).err
        return self.page


class Command(Explain):
    def test_refusals_leave_nothing_behind(self) -> None:
        for options, status, says in (
            ("--explain", 2, "--explain: expected a value FILE"),
            ("--sweep --explain x.html", 2, "--explain: not with --sweep"),
            ("--json - --explain -", 2, "--json -, --explain -: only one of them"),
            ("--json x --explain x", 2, "--json, --explain: x: each needs a file of its own"),
            ("--explain x.html --details .", 2, "--details: not with --explain"),
            ("--seq 8 --details no/where", 3, "no/where: cannot be created"),
            ("--seq 8 --details . --json run.json", 2, "run.json: is run.json of --details, expected another file"),
            ("--seq 8 --explain nowhere/x.html", 3, "nowhere/x.html: cannot be written"),
            ("--seq 8 --quiet --explain /dev/full", 3, "cannot be written"),
            ("--seq 0 --explain x.html", 2, "--seq"),
            ("--kernel fa2_row --tile-k 65536 --seq 65536 --explain x.html", 3, "shared memory"),
        ):
            self.assertIn(says, self.run_program(FA2, options, status).err, options)
        for program in ("07_transformer/transformer", "08_decode/decode"):
            for options, others in (("", "--prompt"), ("--sweep ", "--sweep, nor with --prompt")):
                says = self.run_program(ROOT / program, f"--prompt hi {options}--explain no/x.html", 2).err
                self.assertIn(f": --explain: not with {others}: a page shows one run", says)
                self.assertEqual(says.count("\n"), 1)
        self.assertEqual(list(self.scratch.iterdir()), [])
        self.assertIn("--explain FILE", self.run_program(FA2, "--help").out)

    def test_to_standard_output_the_page_is_alone(self) -> None:
        page = self.run_program(FA2, "--seq 8 --dim 8 --explain -").out
        self.assertTrue(page.startswith("<!doctype html>"), page[:100])
        self.assertTrue(page.endswith("</html>\n"))

    def test_into_pipes_that_a_shell_opened(self) -> None:
        """Kills: a run that inherits no open files, a page that is renamed over a pipe."""
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
        self.assertIn(
            "python3 cannot be started", self.run_program(FA2, "--seq 8 --explain page.html", 3, PATH="/nowhere").err
        )
        self.assertEqual(list(self.scratch.iterdir()), [])

    def test_leads_back_to_its_chapter(self) -> None:
        """Kills: a page without a link to the course, one that leads nowhere from where the page lies."""
        readme, room = ROOT / "05_fa2/README.md", self.scratch / "a room #1"
        room.mkdir()
        link = "document.querySelector('.brand a')?.href ?? null"
        for path in ("page.html", f"{room.name}/page.html", f"{readme.parent}/page.html"):
            page = self.scratch / path
            self.addCleanup(page.unlink, missing_ok=True)
            said = run([FA2, "--seq", "8", "--dim", "8", "--quiet", "--explain", path], cwd=self.scratch)
            self.assertEqual(said.status, 0, said.err)
            with Page(page) as opened:
                self.assertEqual(opened.eval(link), readme.as_uri(), path)
        moved = self.scratch / "fa2"
        shutil.copy(FA2.resolve(), moved)
        self.run_program(moved, "--seq 8 --dim 8 --quiet --explain moved.html")
        with Page(self.scratch / "moved.html") as opened:
            self.assertIsNone(opened.eval(link), "there is no README beside it")
        self.assertNotIn('"course"', self.run_program(FA2, "--seq 8 --dim 8 --explain -").out.partition('id="data"')[2])

    def test_nothing_outlives_a_run_that_is_ended(self) -> None:
        """However a run is ended, it leaves no page and no recording."""
        rest = self.scratch / "tmp"
        rest.mkdir()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            command = ["env", "--default-signal=INT", f"TMPDIR={rest}", FA2, "--seq", "32768"]
            command += ["--quiet", "--explain", "page.html"]
            with started(command, cwd=self.scratch, stdout=PIPE, stderr=PIPE) as process:
                deadline = time.monotonic() + 60
                while not list(rest.glob("explain.*/report")):
                    self.assertLess(time.monotonic(), deadline, "nothing is recorded")
                    time.sleep(0.1)
                process.send_signal(number)
                out, err = process.communicate(timeout=30)
            # Ended by that signal, or with the status by which a shell tells it.
            self.assertIn(process.returncode, (-number, 128 + number))
            self.assertEqual((out, err), ("", ""))
            self.assertEqual([*rest.iterdir(), *self.scratch.iterdir()], [rest])


class EveryChapter(Explain):
    CHAPTERS = (
        ("00_gpu/gpu", "--rows 33 --cols 40", "This run|Memory traffic"),
        ("01_naive/naive", "--seq 40 --dim 8", "This run|Memory traffic|Step by step"),
        (
            "02_online_softmax/online_softmax",
            "--trace --values 1,-inf,3,6,2,1 --block 2",
            "This run|Memory traffic|Online softmax",
        ),
        ("03_tiled_matmul/tiled_matmul", "--m 33 --n 40 --k 17", "This run|Memory traffic"),
        ("04_fa1/fa1", "--heads 2 --seq 40 --dim 8 --causal", "This run|Memory traffic|Step by step"),
        ("05_fa2/fa2", "--batch 2 --seq 40 --dim 8", "This run|Memory traffic|Step by step"),
        ("06_backward/backward", "--seq 40 --dim 8", "This run|Memory traffic|Step by step|Five products"),
        ("07_transformer/transformer", "--seq 20 --keys 40 --dim 8 --causal", "This run|Memory traffic"),
        ("08_decode/decode", "--seq 40 --dim 8 --splits 3", "This run|Memory traffic|The splits"),
    )

    def test_every_chapter_has_a_page(self) -> None:
        for program, options, views in self.CHAPTERS:
            with self.subTest(program), Page(self.explain(ROOT / program, options), size=TELEPHONE) as page:
                self.assertEqual(self.said, "")
                tabs = "[...document.querySelectorAll('[role=tab]')].map((tab) => tab.textContent).join('|')"
                self.assertEqual(page.eval(tabs), views)
                wrong = page.eval("document.querySelectorAll('[data-wrong=true], [data-equal=false]').length")
                self.assertEqual(wrong, 0, "something is marked wrong")
                self.assertGreater(page.eval("document.querySelectorAll('[data-wrong=false]').length"), 0)
                self.assertLessEqual(page.eval(WIDTH), TELEPHONE[0])
                page.hash("view=traffic")
                page.key("End")
                self.assertIs(page.eval("document.querySelector('.race .count .done') !== null"), True, "never ends")
                counted = page.eval(
                    "[...document.querySelectorAll('.race .row')].every((row, i) => { const r = "
                    "tracedKernels()[i].result.hbm.requested; return Number(row.dataset.read) === r.read_bytes && "
                    "Number(row.dataset.written) === r.write_bytes + r.atomic_bytes; })"
                )
                self.assertIs(counted, True, "not the bytes it counted")
                self.assertLessEqual(page.eval(WIDTH), TELEPHONE[0])


class Wrong(Explain):
    HEADS, ROWS, COLUMNS, TILE_ROWS, TILE_COLUMNS = 2, 100, 40, 32, 16

    def saved(self, directory: str) -> array.array:
        """The numbers of an o.npy of [1, HEADS, ROWS, COLUMNS]."""
        count = self.HEADS * self.ROWS * self.COLUMNS
        return array.array("f", (self.scratch / directory / "o.npy").read_bytes()[-4 * count :])

    def test_marks_the_first_wrong_tile(self) -> None:
        problem = "--kernel fa2_row --heads 2 --seq 100 --dim 40 --causal --tile-q 32 --tile-k 16"
        self.run_program(FA2, f"{problem} --quiet --save right")
        path = self.explain(broken("short_tiles"), f"{problem} --save wrong --json wrong.json", 1)
        right, wrong = self.saved("right"), self.saved("wrong")
        down, across = -(-self.ROWS // self.TILE_ROWS), -(-self.COLUMNS // self.TILE_COLUMNS)

        def place(i: int) -> tuple[int, int, int]:
            return i // self.COLUMNS // self.ROWS, i // self.COLUMNS % self.ROWS, i % self.COLUMNS

        def tile(i: int) -> int:
            head, row, column = place(i)
            return (head * down + row // self.TILE_ROWS) * across + column // self.TILE_COLUMNS

        # "not <=": a NaN is wrong.
        differ = [i for i, (a, b) in enumerate(zip(right, wrong)) if not abs(a - b) <= 1e-4]
        self.assertTrue(differ, "the fault shows nowhere")
        first, tiles = differ[0], set(map(tile, differ))

        output = "document.querySelector('[data-kernel=fa2_row] [data-output=O]')"
        with Page(path) as page:
            marked = page.eval(f"Number({output}.querySelector('[data-first]').dataset.tile)")
            self.assertEqual(marked, tile(first))
            said = page.eval(f"[...{output}.querySelectorAll('[data-tile]')].map((t) => t.dataset.wrong === 'true')")
            self.assertEqual(said, [t in tiles for t in range(self.HEADS * down * across)])
            head, row, column = place(first)
            told = page.eval(f"{output}.innerText")
            number = re.search(rf"O\[0, {head}, {row}, {column}\] is ([\u2212\d.e-]+)", told)
            self.assertTrue(number, told)
            self.assertAlmostEqual(float(number[1].replace("\u2212", "-").rstrip(".")), wrong[first], delta=1e-5)
            self.assertGreater(page.eval("document.querySelectorAll('.ring').length"), 0, "no ring")
            unequal = page.eval("document.querySelectorAll('[data-equal=false]').length")
            self.assertGreater(unequal, 0, "the counts are not their closed form, and it is not said")
            self.assertIn("FAILED", page.eval("document.querySelector('.badge').textContent"))
            page.eval(f"{output}.querySelector('[data-tile]').focus()")
            page.key("ArrowDown")
            self.assertIn("rows 32", page.eval(f"{output}.querySelector('[aria-live]').textContent"))

    def test_marks_what_is_not_a_number(self) -> None:
        with Page(self.explain(broken("nan_tail"), "--kernel fa2_row --heads 1 --seq 64 --dim 32", 1)) as page:
            told = page.eval("document.querySelector('[data-output=O]').innerText")
            self.assertIn("O[0, 0, 40, 20] is NaN", told)
            tiles = page.eval(
                "[...document.querySelectorAll('[data-output=O] [data-wrong=true]')].map((t) => t.dataset.tile).join()"
            )
            self.assertEqual(tiles, "5")
            first = page.eval("document.querySelector('[data-output=O] [data-first]').dataset.tile")
            self.assertEqual(first, "5", "another tile is marked as the first wrong one")

    def test_lists_hazards_with_their_lines(self) -> None:
        path = self.explain(broken("no_barrier"), "--kernel fa2_row --seq 100", 1)
        self.assertIn("Race reported", self.said, "the terminal does not say it")
        with Page(path, size=TELEPHONE, dark=True) as page:
            self.assertGreater(page.eval("document.querySelectorAll('[data-tool=racecheck]').length"), 0)
            self.assertLessEqual(page.eval(WIDTH), TELEPHONE[0])

    def test_a_missing_barrier_is_one_cause_with_its_sentence(self) -> None:
        """Four hazards; one sentence, three lines around each access, the calls between which the barrier belongs."""
        path = self.explain(broken("no_barrier"), "--kernel fa2_row --seq 100 --tile-q 64", 1)
        hazards = [line for line in data_of(path)["runs"][0]["report"] if line["type"] == "hazard"]
        self.assertGreater(len(hazards), 2)
        source = (broken("no_barrier").parent / "row.cuh").read_text().splitlines()
        with Page(path) as page:
            causes = page.eval("[...document.querySelectorAll('.hazards > li > h3')].map((h) => h.textContent)")
            self.assertEqual(len(causes), 1)
            self.assertRegex(
                causes[0], r"^A __syncthreads\(\) is missing between line \d+ \(in load_tile, row.cuh:\d+\) and line "
            )
            shown = page.eval("[...document.querySelectorAll('.sides pre')].map((pre) => pre.textContent)")
            self.assertEqual(len(shown), 2)
            for text, around in zip(shown, ("tile[first + i * step] =", "K_tile[")):
                lines = text.rstrip("\n").split("\n")
                self.assertEqual(len(lines), 3, text)
                self.assertIn(around, lines[1])
                number = int(re.search(r"\d+", lines[1])[0])
                for at, line in zip((number - 1, number, number + 1), lines):
                    self.assertIn(source[at - 1].strip(), line)
            told = page.eval("document.querySelector('.hazards').innerText")
            self.assertIn("On K tile", told)
            self.assertIn("load_tile<D>(K + offset", told, "the call is not shown")
            self.assertIn("attend<D, KEYS>", told)
            more = page.eval("document.querySelectorAll('.hazards > li details li').length")
            self.assertEqual(more, len(hazards) - 1)

    def test_a_launch_that_failed_has_no_right_numbers(self) -> None:
        """Kills: "the numbers are right in this run" where there are none."""
        with Page(self.explain(broken("trap"), "--kernel fa2_row --heads 1 --seq 8 --dim 8", 1)) as page:
            text = page.eval("document.getElementById('main').innerText")
            self.assertIn("cudaErrorLaunchFailure", text)
            self.assertNotIn("The numbers are right", text)

    def test_says_where_the_barrier_is_missing(self) -> None:
        """Within one pass of the loop, from one iteration to the next, or both; told from what one thread did."""
        problem = "--kernel fa2_row --seq 256 --heads 1"
        gaps = "[...document.querySelectorAll('.gap')]"
        gaps += ".map((gap) => [gap.dataset.gap, gap.querySelector('pre').textContent])"
        load, attend, mark = "load_tile<D>(V + offset", "attend<D, KEYS>(q", "__syncthreads() is missing here"
        between, around = (
            [load, mark, attend],
            ["for (int first_key", mark, "load_tile<D>(K + offset", load, attend, "or here, at the end"],
        )
        for fault, expected in (
            ("no_barrier", {"straight": between}),
            ("no_barrier_before_load", {"loop": around}),
            ("no_barrier_at_all", {"straight": between, "loop": around}),
        ):
            path = self.explain(broken(fault), problem, 1)
            with self.subTest(fault), Page(path) as page:
                told = dict(page.eval(gaps))
                self.assertEqual(list(told), list(expected))
                count = "document.querySelectorAll('{}').length".format
                self.assertEqual(page.eval(count(".luck")), 1 - min(1, page.eval(count(".outputs:not(.calm)"))))
                for kind, parts in expected.items():
                    self.assertTrue(told[kind].startswith("row.cu\n"), told[kind])
                    self.assertIn("\u2026", told[kind])
                    places = [told[kind].find(part) for part in parts]
                    self.assertNotIn(-1, places, told[kind])
                    self.assertEqual(places, sorted(places), told[kind])
        # Which thread the device ran first proves nothing.
        path.write_text(path.read_text().replace(',"passed":true', ""))
        with Page(path) as page:
            self.assertEqual(page.eval(gaps), [])
            self.assertIn("They are called here", page.eval("document.querySelector('.hazards').innerText"))

    def test_a_barrier_of_the_block_is_one_of_its_warps_too(self) -> None:
        """A race within a warp at the place of the missing barrier has the same cause; elsewhere it has its own."""
        path = self.explain(broken("no_barrier_before_load"), "--kernel fa2_row --seq 256 --heads 1", 1)
        text, records = path.read_text(), data_of(path)["runs"][0]["report"]
        within = next(line for line in records if line["type"] == "hazard")
        advice = within["advice"].replace("__syncthreads", "__syncwarp")
        self.assertNotEqual(advice, within["advice"])
        within = {**within, "severity": "warning", "advice": advice, "block": [0, 0, 0]}
        heads = "[...document.querySelectorAll('.hazards > li > h3')].map((h) => h.textContent)"
        for passed, count in ((True, 1), (False, 2)):
            within["other"] = {key: value for key, value in within["other"].items() if passed or key != "passed"}
            added = f'"report":[{json.dumps(within, separators=(",", ":"))},'
            path.write_text(text.replace('"report":[', added, 1))
            with Page(path) as page:
                told = page.eval(heads)
                self.assertEqual(len(told), count)
                self.assertIn("a __syncthreads() is missing behind line", told[0])

    def test_finds_the_loop_around_lines(self) -> None:
        text = """for (int i = 0; i < n; i++) { // {
    s[i] = 0;
    for (int j = 0; j < f("{", ')'); j++)
        a(j);
    while (more(n)) {
        b();
        c(); /* } */
    }
    d();
}
e();
"""
        with Page(self.explain(FA2, "--seq 8 --dim 8")) as page:
            for first, last, loop in (
                (6, 7, [5, 8]),
                (2, 7, [1, 10]),
                (4, 4, [1, 10]),
                (2, 9, [1, 10]),
                (9, 11, None),
                (11, 11, None),
            ):
                found = page.eval(f"loopAround(bareText({json.dumps(text)}), {first}, {last})")
                self.assertEqual(found and [found["head"], found["end"]], loop, (first, last))

    def test_bank_conflicts_are_counted_per_line(self) -> None:
        """Each line's, exactly: over all lines they are the kernel's."""
        problem = "--kernel fa2_split_q --heads 1 --seq 100 --dim 32"
        lines = "[...document.querySelectorAll('.bank-lines li')].map((line) => Number(line.dataset.lost))"
        for program in (broken("bank_conflict"), FA2):
            path = self.explain(program, problem)
            launches = [line for line in data_of(path)["runs"][0]["report"] if line["type"] == "launch"]
            total = sum(launch["shared"][op]["conflicts"] for launch in launches for op in ("load", "store", "atomic"))
            self.assertGreater(total, 0)
            with Page(path) as page:
                told = page.eval(lines)
                self.assertEqual(sum(told), total)
                self.assertEqual(page.eval("document.querySelector('[data-conflicts]').dataset.conflicts"), str(total))
                self.assertEqual(told, sorted(told, reverse=True))
                if program != FA2:
                    here = page.eval("document.querySelector('.bank-lines .here').textContent")
                    self.assertIn("float4 k = ", here)

    def test_tells_from_which_key_on_and_what_the_row_is_made_of(self) -> None:
        problem = "--kernel fa2_row --heads 2 --seq 100 --dim 32 --tile-q 32 --tile-k 32"
        for fault, causal, reach, words in (
            ("no_rescale", "", "8,9", ("l were not multiplied by the correction", "while O was.")),
            ("forgotten_on_o", "", "8,9", ("O were not multiplied by the correction", "while l was.")),
            ("off_by_one", "--causal", "1,2", ("first 2 keys, while it may see 1",)),
            ("too_strict", "--causal", "0,1", ("Wrong already with a single key", "is the mask a key too strict")),
            ("dropped_tail", "", "96,97", ("3 whole tiles of 32 keys", "only its first 96 keys", "4 keys too few")),
        ):
            with self.subTest(fault), Page(self.explain(broken(fault), f"{problem} {causal}", 1)) as page:
                told = page.eval("document.querySelector('[data-replay]').innerText")
                self.assertEqual(page.eval("document.querySelector('[data-replay]').dataset.replay"), reach)
                self.assertIn("as many queries as keys", told)
                for part in words:
                    self.assertIn(part, told)
                gradients = (("dQ", "Only dQ is wrong"), ("dQ dK", "look at dP, D and dS"), ("dK dV", "look at P"))
                for wrong, part in gradients:
                    outputs = "['O', 'LSE', 'dQ', 'dK', 'dV'].map((tensor) => ({tensor, got: 2, expected: 1, "
                    outputs += f"wrong: '{wrong}'.split(' ').includes(tensor)}}))"
                    self.assertIn(part, page.eval(f"adviceOf({outputs})"))
                lse = "['O', 'LSE'].map((tensor) => ({tensor, got: 'inf', expected: 1, wrong: tensor === 'LSE'}))"
                self.assertIn("O is right, so l fits it", page.eval(f"adviceOf({lse})"))

    def test_what_nobody_wrote_is_told_before_all_else(self) -> None:
        """Kills: rows without a number explained by softmax, a tensor that is said to be written whole."""
        for fault, options, rows, statistics, words in (
            (
                "last_row",
                "--seq 70",
                "2 of 140 rows of O were never written: O[0,0,69,:], O[0,1,69,:]",
                "2 of 140 elements of LSE were never written: LSE[0,0,69], LSE[0,1,69]",
                ("look at the line that writes", "O 8,832 of 8,960 elements written once"),
            ),
            (
                "one_batch",
                "--batch 2 --seq 65 --dim 60",
                "130 of 260 rows of O were never written: O[1,0,0,:] to O[1,1,64,:]",
                "130 of 260 elements of LSE were never written: LSE[1,0,0] to LSE[1,1,64]",
                ("No key of K and V of head 2 is read, either", "O 7,800 of 15,600 elements written"),
            ),
        ):
            problem = f"--kernel fa2_row {options}"
            said = self.run_program(broken(fault), problem, 1)
            for text in (said.out, said.err):
                self.assertIn(rows, text)
                self.assertIn(statistics, " ".join(text.split()))
            self.assertNotIn("not a number", said.out)
            with self.subTest(fault), Page(self.explain(broken(fault), problem, 1)) as page:
                told = page.eval(CHECKS)
                self.assertLess(told.index(rows), 100)
                for part in words:
                    self.assertIn(part.lower(), " ".join(told.lower().split()))
                for part in ("l is 0", "m is \u2212\u221e", "stays 0", "From which key", "O each element"):
                    self.assertNotIn(part, told)
        said = self.run_program(broken("no_key"), "--kernel fa2_row --seq 70", 1)
        self.assertNotIn("never written", said.out + said.err)

    def test_names_the_tiles_that_were_used(self) -> None:
        """Not those that were asked for, where a kernel is compiled with its own."""
        path = self.explain(broken("tail_of_compiled_tiles"), "--heads 1 --seq 100 --dim 32 --tile-q 16 --tile-k 16", 1)
        head = "document.querySelector('[data-kernel={}] .kernel-head').textContent"
        with Page(path) as page:
            self.assertIn("tiles of 16 \u00d7 16 (Br", page.eval(head.format("fa2_row")))
            self.assertIn("tiles of 32 \u00d7 64 (Br", page.eval(head.format("fa2_slab")))
            told = page.eval("document.querySelector('[data-kernel=fa2_slab] .reach').textContent")
            self.assertIn("1 whole tile of 64 keys, wrong with one key more", told)
            self.assertNotIn("Br", page.eval("document.getElementById('subtitle').textContent"))
            page.hash("view=traffic&k=fa2_slab")
            names = "[...document.querySelectorAll('.memory .tile')].map((tile) => tile.getAttribute('aria-label'))"
            self.assertIn("K rows 64\u201399 of fa2_slab", page.eval(names))
            self.assertIn("Q rows 96\u201399 of fa2_slab", page.eval(names))

    def test_tiles_that_a_kernel_does_not_take_are_told(self) -> None:
        compiled = "which is compiled with tiles of"
        for program, options, told in (
            (FA2, "--kernel fa2_slab --tile-k 16", f"fa2: --tile-k 16: not for fa2_slab, {compiled} 32 x 64\n"),
            (FA2, "--kernel fa2_split_q --tile-q 16", f"fa2: --tile-q 16: not for fa2_split_q, {compiled} 128 x 64\n"),
            (FA2, "--kernel fa2_slab --tile-q 32 --tile-k 64", ""),
            (FA2, "--kernel fa2_row --tile-q 16 --tile-k 16", ""),
            (FA2, "--tile-q 16 --tile-k 16", ""),
            (
                ROOT / "06_backward/backward",
                "--kernel backward_naive --tile-k 32",
                "backward: --tile-k 32: not for backward_naive, which has no tiles\n",
            ),
        ):
            self.explain(program, f"--seq 8 --dim 8 {options}")
            self.assertEqual(self.said, told)

    def test_tells_which_keys_are_not_read(self) -> None:
        problem = "--kernel fa2_row --heads 2 --dim 32 --tile-q 32 --tile-k 32"
        for fault, options, gap, words in (
            (
                "dropped_tail",
                "--seq 100",
                "96,100",
                "Keys 96\u201399 of K and V of head 0 are never read: the tail, 4 keys",
            ),
            ("dropped_tail", "--seq 97", "96,97", "Key 96 of K and V of head 0 is never read: the tail, 1 key after"),
            ("dropped_tail", "--seq 20", "0,20", "No key of K and V of head 0 is read at all, so l stays 0"),
            ("no_key", "--seq 70", "0,70", "No key of K and V"),
            (
                "short_tiles",
                "--seq 100 --causal --tile-k 16",
                "16,32",
                "Block 0 writes O up to row 31 and does not read keys 16",
            ),
        ):
            with self.subTest(fault + options), Page(self.explain(broken(fault), f"{problem} {options}", 1)) as page:
                self.assertEqual(page.eval("document.querySelector('[data-unread]').dataset.unread"), gap)
                self.assertIn(words, page.eval("document.querySelector('[data-unread]').textContent"))
        for program, status in ((FA2, 0), (broken("no_rescale"), 1), (broken("off_by_one"), 1)):
            path = self.explain(
                program, f"{problem} --seq 100 {'' if 'rescale' in str(program) else '--causal'}", status
            )
            with Page(path) as page:
                self.assertIs(page.eval("document.querySelector('.unread') === null"), True)

    def test_advice_for_what_is_not_a_number(self) -> None:
        for fault, options, words in (
            ("nan_tail", "--seq 64", "LSE is right, so m and l are: look at O alone"),
            ("no_key", "--seq 40", "so l is 0: the row took in no key"),
        ):
            with Page(self.explain(broken(fault), f"--kernel fa2_row --heads 1 --dim 32 {options}", 1)) as page:
                self.assertIn(words, page.eval("document.querySelector('.advice').textContent"))
                reach = page.eval("document.querySelector('.reach').textContent")
                self.assertEqual("it is query 40 that is wrong, not the key" in reach, fault == "nan_tail", reach)

    def test_tells_from_which_tile_on(self) -> None:
        problem = "--kernel fa2_row --heads 1 --seq 40 --dim 32 --tile-k 8"
        with Page(self.explain(broken("no_rescale"), problem, 1)) as page:
            told = page.eval("document.querySelector('.reach').textContent")
            self.assertIn("Right after tile 0, wrong from tile 1 on", told)
            outputs = "['O', 'LSE'].map((tensor) => ({tensor, wrong: true, got: 2, expected: 1}))"
            self.assertIn("LSE is too large: look at m and l", page.eval(f"adviceOf({outputs})"))

    def test_a_replay_is_no_part_of_the_run(self) -> None:
        problem = "--kernel fa2_row --heads 1 --seq 100 --dim 32 --tile-k 32"
        run = data_of(self.explain(broken("no_rescale"), problem, 1))["runs"][0]
        self.assertGreater(len(run["replays"][0]["steps"]), 3)
        self.assertEqual(len([line for line in run["trace"] if line.get("type") == "launch"]), 1)
        self.assertEqual(len(run["report"]), 1)
        self.assertEqual(data_of(self.explain(FA2, problem))["runs"][0]["replays"][0]["steps"], [])

    def test_a_recording_of_the_users_ends_with_the_run(self) -> None:
        """What is run again, for the page or for the small case, is in no file of theirs."""
        problem = "--kernel fa2_row --heads 1 --seq 100 --dim 32 --tile-k 32"
        files = {name: str(self.scratch / name) for name in ("SIM_TRACE", "SIM_REPORT")}
        self.run_program(broken("no_rescale"), f"{problem} --quiet", 1, **files)
        alone = [Path(file).read_text() for file in files.values()]
        self.assertEqual(alone[1].count("\n"), 1)
        run = data_of(self.explain(broken("no_rescale"), problem, 1, **files))["runs"][0]
        self.assertGreater(len(run["replays"][0]["steps"]), 3)
        self.assertEqual([Path(file).read_text() for file in files.values()], alone)
        said = self.run_program(broken("no_rescale"), problem, 1, **files).out
        self.assertIn("a case small enough", said)
        self.assertEqual([Path(file).read_text() for file in files.values()], alone)

    def test_the_small_case_that_is_proposed_is_wrong(self) -> None:
        """Of a kernel with compiled tiles, too: more keys than a tile. Where a race is, none is tried."""
        for fault, options, lengths in (
            ("tail_of_compiled_tiles", "--kernel fa2_slab --seq 300", {65}),
            ("no_rescale", "--kernel fa2_row --seq 300", {4, 3, 5}),
        ):
            said = self.run_program(broken(fault), options, 1).out
            line = re.search(r"Next: a case small enough to follow by hand:\n  \./fa2 (.*)", said)
            self.assertTrue(line, said)
            self.assertIn(int(re.search(r"--seq (\d+)", line[1])[1]), lengths)
            again = self.run_program(broken(fault), line[1], 1).out
            self.assertNotIn("small enough", again)
        said = self.run_program(broken("no_barrier"), "--kernel fa2_row --seq 100", 1).out
        self.assertIn("Next: what it moved, the same with --verbose", said)

    def test_what_is_told_of_a_failure(self) -> None:
        """Kills: a page without the command that makes it, tensors within tolerance under FAILED, lines too long."""
        for fault, options in (
            ("no_barrier", "--kernel fa2_row --seq 100"),
            ("last_row", "--kernel fa2_row --seq 100 --heads 2 --dim 32 --input ramp --seed 7"),
        ):
            said = self.run_program(broken(fault), options, 1).out
            lines = [line for line in said.splitlines() if not line.startswith("  ./")]
            self.assertLessEqual(max(map(len, lines)), 80, said)
            line = re.search(r"Where it is wrong, as a page:\n  \./fa2 (.*)\n", said)
            self.assertTrue(line, said)
            again = line[1]
            self.assertEqual(again.split(), [*options.split(), "--explain", "wrong.html"])
            self.run_program(broken(fault), again, 1)
            self.assertTrue((self.scratch / "wrong.html").is_file())
            (self.scratch / "wrong.html").unlink()
        said = self.run_program(broken("lse_alone"), "--kernel fa2_row --seq 100", 1).out
        self.assertIn(" at LSE[", said)
        self.assertNotIn(" at O[", said)
        said = self.run_program(broken("lse_alone"), "--seq 100 --verbose", 1).out
        self.assertRegex(said, r" at O\[.*, right\n")
        self.assertEqual([line for line in said.splitlines() if len(line) > 80 and "  ./" not in line], [])

    def test_bank_conflicts_are_told_of_a_right_kernel(self) -> None:
        problem = "--kernel fa2_split_q --heads 1 --seq 100 --dim 32"
        for program, late in ((broken("bank_conflict"), True), (FA2, False)):
            with Page(self.explain(program, problem)) as page:
                self.assertIs("waits for the banks of shared memory" in page.eval(CHECKS), late)
                self.assertIs("look at the strides" in page.eval(CHECKS), late)

    def test_a_right_run_is_not_blank(self) -> None:
        with Page(self.explain(FA2, "--kernel fa2_row --heads 1 --seq 100 --dim 32 --tile-q 32 --tile-k 32")) as page:
            rows = page.eval("[...document.querySelectorAll('[data-tensor]')].map((row) => row.innerText)")
            self.assertEqual([row.split()[0] for row in rows], ["Q", "K", "V", "O", "LSE"])
            self.assertIn("each element read once", rows[0])
            self.assertIn("each element read 4 times", rows[1])

    def test_tiles_of_shared_memory_have_names(self) -> None:
        regions = "[...document.querySelectorAll('.regions span')].map((span) => span.textContent)"
        for program, kernel, names in (
            (FA2, "fa2_row", ["K tile", "V tile"]),
            (FA2, "fa2_split_q", ["Q tile", "K tile", "V tile", "P slabs"]),
            (ROOT / "04_fa1/fa1", "fa1_paper", ["K tile", "V tile", "S"]),
        ):
            with Page(self.explain(program, f"--kernel {kernel} --heads 1 --seq 70"), "#view=traffic") as page:
                self.assertEqual(page.eval(regions), names)


class Views(Explain):
    def test_a_map_leaves_room_for_its_words(self) -> None:
        """Kills: maps of four heads over the words beside them, a page that scrolls sideways."""
        rooms = """[...document.querySelectorAll('.output')].map((output) => {
            const [map, words] = [...output.children].map((child) => child.getBoundingClientRect());
            return words.width < 200 || (words.left < map.right && words.top < map.bottom) ||
                words.right > innerWidth; })"""
        problem = "--batch 2 --heads 2 --dim 60"
        for program, options in ((FA2, "--seq 65"), (ROOT / "06_backward/backward", "--seq 33 --tile-q 32")):
            path = self.explain(program, f"{problem} {options}")
            for size in ((1440, 900), (1000, 800), (360, 740)):
                with self.subTest((program.name, size)), Page(path, size=size) as page:
                    self.assertNotIn(True, page.eval(rooms))
                    self.assertLessEqual(page.eval(WIDTH), size[0])

    def test_an_interval_has_one_number(self) -> None:
        """Of one block, whose first interval asks for nothing. Kills: an index into what was recorded."""
        path = self.explain(ROOT / "04_fa1/fa1", "--kernel fa1_paper --heads 1 --seq 40 --dim 8 --tile-k 16")
        numbers = "['.race .count small', '.stage .where'].map((where) => Number(/interval (\\d+)/.exec("
        numbers += "document.querySelector(where).textContent)[1]))"
        with Page(path, "#view=traffic") as page:
            for _ in range(5):
                page.key("ArrowRight")
                race, stage = page.eval(numbers)
                self.assertEqual(race, stage)

    def test_which_block_reads_which_keys(self) -> None:
        """All of them; below a causal mask a triangle: 1, 2, 3, 4 of 4 tiles."""
        share = "document.querySelector('.readers[data-kernel=fa2_row]').dataset.share"
        problem = "--kernel fa2_row --heads 1 --seq 128 --dim 8 --tile-q 32 --tile-k 32"
        for mask, expected in (("", 1.0), ("--causal", (1 + 2 + 3 + 4) / 16)):
            with Page(self.explain(FA2, f"{problem} {mask}"), "#view=traffic") as page:
                self.assertAlmostEqual(float(page.eval(share)), expected, delta=1e-3)
                told, drawn = page.eval(
                    "(card => [card.textContent, card.querySelectorAll('canvas').length])("
                    "document.querySelector('.readers[data-kernel=fa2_row]'))"
                )
                self.assertEqual("across" in told, drawn == 1, "a picture is described that is not there")
                self.assertEqual("Each of the 4 blocks reads all 128 rows of K." in told, not mask)

    def test_the_five_products_of_the_backward_pass(self) -> None:
        """Five products; the split kernel computes S and dP twice, and that is seen from what its launches write."""
        counts = (
            "[...document.querySelectorAll('#products tbody tr')].map((row) => "
            "[row.children[1].textContent, Number(row.dataset.products)])"
        )
        path = self.explain(ROOT / "06_backward/backward", "--heads 1 --seq 40 --dim 8")
        with Page(path, "#view=products", size=TELEPHONE) as page:
            found = dict(page.eval(counts))
            self.assertEqual((found["backward_dkdv"], found["backward_dq"], found["backward_atomic"]), (4, 3, 5))
            self.assertEqual(sum(found.values()), 5 + 7 + 5)
            formula = "document.querySelector('#products h2').textContent"
            seen = [page.eval(formula)]
            for _ in range(4):
                page.key("ArrowRight")
                seen.append(page.eval(formula))
            self.assertEqual([text.split()[0] for text in seen], ["S", "dV", "dP", "dQ", "dK"])
            self.assertLessEqual(page.eval(WIDTH), TELEPHONE[0])

    def test_the_splits(self) -> None:
        """Each block's keys, what it leaves and what the merge reads, beside the formulas of the chapter."""
        H, G, N = 6, 2, 20
        for kernel, S, page_size in (("decode_split", 3, 16), ("decode_paged", 3, 4), ("decode_split", 23, 16)):
            problem = f"--heads {H} --kv-heads {G} --seq {N} --dim 8 --splits {S} --page {page_size} --kernel {kernel}"
            with Page(self.explain(ROOT / "08_decode/decode", problem), "#view=splits", size=TELEPHONE) as page:
                self.assertEqual(page.eval("document.querySelector('.scrub').max"), str(G * S + H))
                told, places = [], []
                for step in range(G * S + H):
                    page.key("ArrowRight")
                    shown = page.eval(
                        "(({keys, cells, rows}) => [keys, cells, rows].map((list) => list ? "
                        "list.split(',').map(Number) : []))(document.querySelector('.memory-map').dataset)"
                    )
                    told.append(page.eval("document.querySelector('.split-told').textContent"))
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
                swatches = "[...document.querySelectorAll('#splits .legend i')].map((one) => getComputedStyle(one))"
                drawn = "getComputedStyle(document.querySelector('.splits .store-now')).fill"
                self.assertEqual(
                    page.eval(f"{swatches}.map((one) => [one.backgroundImage, one.backgroundColor])[2]"),
                    ["none", page.eval(drawn)],
                )
                self.assertEqual("looks up page" in told[0], kernel == "decode_paged")
                self.assertLessEqual(page.eval(WIDTH), TELEPHONE[0])

    def test_the_splits_of_a_wrong_kernel(self) -> None:
        """Kills: a view that needs keys, partials or a merge of a kernel that is wrong because it has none."""
        for fault, told in (
            ("no_tile_reads", "It reads no key. It writes m"),
            ("no_partials", "writes no m, l or O of a split; it reads keys 0"),
            ("no_merge", "reads keys 0"),
        ):
            path = self.explain(broken(fault, "splits"), "--seq 100 --kernel decode_split --splits 4", 1)
            with self.subTest(fault), Page(path, "#view=splits&s=1") as page:
                self.assertIn(told, page.eval("document.querySelector('.split-told').textContent"))
                self.assertIn("Keys 0\u201399", page.eval("document.querySelector('.memory-map').textContent"))
                page.key("End")
                for word in ("NaN", "undefined", "Infinity"):
                    self.assertNotIn(word, page.eval("document.getElementById('splits').textContent"))
                for view in ("checks", "traffic"):
                    page.hash(f"view={view}")
                page.key("End")

    def test_a_table_shows_that_it_goes_on(self) -> None:
        """Kills: a table that is cut without a mark, within a number, or whose rows lose their names; on a telephone
        numbers that touch."""
        problem = "--causal --heads 2 --seq 100 --dim 40 --kernel fa2_row"
        more = "(node => [node.dataset.more ?? null, node.scrollWidth > node.clientWidth])"
        whole = """(node => { const end = node.querySelector('table').getBoundingClientRect().left +
            parseFloat(node.style.getPropertyValue('--end'));
            const cells = [...node.querySelector('tr:nth-child(2), tbody tr').cells];
            return cells.every((cell) => !(cell.getBoundingClientRect().left < end - 1 &&
                cell.getBoundingClientRect().right > end + 1)) && end <= node.getBoundingClientRect().right + 1; })"""
        for program, options, view, table in (
            (broken("short_tiles"), problem, "checks", ".scroll:has(.around)"),
            (ROOT / "06_backward/backward", "--heads 1 --seq 40 --dim 8", "products", "#products .scroll"),
            (ROOT / "08_decode/decode", "--seq 40 --dim 8 --splits 3", "splits", "#splits .scroll"),
        ):
            path = self.explain(program, options, view == "checks")
            with self.subTest(view), Page(path, f"#view={view}", size=(360, 740)) as page:
                node = f"document.querySelector('{table}')"
                page.until(f"{node}.hasAttribute('data-more')")
                self.assertIs(page.eval(f"{whole}({node})"), True, "cut within a column")
                page.eval(f"{node}.scrollLeft = 9999")
                page.until(f"!{node}.hasAttribute('data-more')")
                left = f"{node}.querySelector('tbody tr > :first-child').getBoundingClientRect().left"
                self.assertLess(abs(page.eval(f"{left} - {node}.getBoundingClientRect().left")), 2, "no name")
            with Page(path, f"#view={view}") as page:
                self.assertIn(page.eval(f"{more}({node})"), ([None, False], ["", True]))
        texts = """[...document.querySelectorAll('.scores tbody tr')].flatMap((row) => [...row.cells].map((cell) => {
            const range = document.createRange(); range.selectNodeContents(cell.querySelector('span') || cell);
            return range.getBoundingClientRect(); }).map((box, i, all) => i > 0 ? box.left - all[i - 1].right : 99))"""
        path = self.explain(FA2, "--kernel fa2_row --seq 40 --tile-k 32")
        for size, shown in (((1440, 900), True), ((1230, 900), True), ((360, 740), False)):
            with Page(path, "#view=tile&s=3", size=size) as page:
                self.assertIs(page.eval("document.querySelector('.scores td span') !== null"), shown)
                if shown:
                    self.assertGreater(min(page.eval(texts)), 1)

    def test_step_by_step(self) -> None:
        """Over all keys, tile by tile, m, l and o of each row are those of naive attention here, and the bytes are
        those of the block's lines in the trace. Kills: keys left out, o without its correction, a mask a key off, the
        traffic of another block, or of one that passes over K again for other rows, O's store before the last tile."""
        N, d, Bc = 40, 6, 16
        values = {name: [math.sin(7 * i + 1) * (1 + i / 90) for i in range(N * d)] for name in "qkv"}
        for name, shift in zip("qkv", (0, 3, 5)):
            values[name] = array.array("f", values[name][shift:] + values[name][:shift])
            header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, {N}, {d}), }}".ljust(117) + "\n"
            head = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
            (self.scratch / f"{name}.npy").write_bytes(head + values[name].tobytes())
        rows = {name: [flat[i * d : (i + 1) * d] for i in range(N)] for name, flat in values.items()}
        table = """[...document.querySelectorAll('.states tbody tr')].map((row) => [...row.children].map((cell) =>
            Number(cell.textContent.replace('\u2212', '-').replace('\u221e', 'Infinity'))))"""
        title, total, told, chosen = (f"document.querySelector('{name}').innerText" for name in PARTS)
        for causal, first, block in (("", 0, [0, 0, 0]), ("--causal", N - 8, [2, 0, 0])):
            path = self.explain(FA2, f"--kernel fa2_row --tile-q 16 --tile-k {Bc} --load {self.scratch} {causal}")
            lines = [x for x in data_of(path)["runs"][0]["trace"] if x.get("block") == block if x["space"] == "global"]
            whole = f"{sum(x['bytes'] for x in lines):,} bytes"
            with Page(path, "#view=tile", size=TELEPHONE) as page:
                self.assertEqual(page.eval("document.querySelector('.scrub').max"), str(2 + 5 * 3))
                for tile in range(3):
                    end, step = min(Bc * (tile + 1), N), 5 * (tile + 1) + 1
                    page.hash(f"view=tile&s={step - 4}")
                    self.assertIn(f"{2 * 4 * d * (end - Bc * tile)} bytes", page.eval(told))
                    page.hash(f"view=tile&s={step}")
                    loaded = [
                        x
                        for x in lines
                        if x["op"] == "load" and (x["tensor"] == "Q" or x["ranges"][0][0] < 4 * d * end)
                    ]
                    self.assertIn(f"has moved {sum(x['bytes'] for x in loaded):,} of {whole}", page.eval(total))
                    for i, cells in enumerate(page.eval(table)):
                        keys = range(min(end, first + i + 1) if causal else end)
                        q = [x / math.sqrt(d) for x in rows["q"][first + i]]
                        s = [sum(a * b for a, b in zip(q, rows["k"][j])) for j in keys]
                        P = [math.exp(x - max(s)) for x in s]
                        o = [sum(p * rows["v"][j][c] for p, j in zip(P, keys)) for c in range(d)]
                        for got, expected in zip([*cells[:2], *cells[3:]], [first + i, max(s), sum(P), *o]):
                            self.assertAlmostEqual(got, expected, delta=6e-3 * max(1, abs(expected)))
                        if tile == 2:
                            page.eval(f"document.querySelectorAll('.scores tbody tr')[{i}].cells[3].focus()")
                            name, _, value = (
                                page.eval(chosen).replace("\u2212", "-").replace("\u221e", "inf").partition(" = ")
                            )
                            self.assertEqual(name, f"S[{first + i}, 34]")
                            self.assertAlmostEqual(float(value), s[34] if len(s) > 34 else -math.inf, delta=6e-3)
                page.key("End")
                self.assertEqual(page.eval(title), "O = o / l")
                self.assertIn(f"of {whole}", page.eval(total))
                for got, expected in zip(page.eval(table)[7][4:], (x / sum(P) for x in o)):
                    self.assertAlmostEqual(got, expected, delta=6e-3 * max(1, abs(expected)))
                self.assertLessEqual(page.eval(WIDTH), TELEPHONE[0])
                page.eval("document.querySelector('.scores [tabindex=\"0\"]').focus()")
                page.key("ArrowUp", "ArrowRight", "Home")
                self.assertEqual(page.eval("document.activeElement.dataset.at"), "6,3", "the chosen score after a step")
                page.key("Space")
                page.until("location.hash === '#view=tile' && Number(document.querySelector('.scrub').value) > 1")
                page.key("Space")
                stopped = page.eval("document.querySelector('.scrub').value")
                self.assertEqual(page.eval("location.hash"), f"#view=tile&s={stopped}")
        for program, options in (("01_naive/naive", ""), ("04_fa1/fa1", "--kernel fa1_row --tile-q 16 --tile-k 16")):
            path = self.explain(ROOT / program, f"--seq 40 --dim 8 --heads 1 {options}")
            with Page(path, "#view=tile&s=99") as page:
                self.assertIn("No traffic stands beside them", page.eval("document.getElementById('tile').innerText"))
                self.assertIs(page.eval("document.querySelector('.block-traffic') === null"), True)

    def test_the_bytes_of_a_tile_are_not_one_steps(self) -> None:
        """Chapter 04's block passes over all queries for a tile of keys, and chapter 05's has one query tile: what
        moves while the tile is computed is said to be of S, m, P and o together, and of which rows of Q. Kills: the
        traffic of a tile, O and m written too, said to be that of the step S, or of one interval, or of rows 0-7."""
        tile = "While this tile of keys is computed, steps S, m, P and o together, "
        for program, kernel, queries in (
            ("04_fa1/fa1", "fa1_paper", "over 3 query tiles of the block, rows 0\u201339 of Q"),
            ("05_fa2/fa2", "fa2_row", "for the block\u2019s query tile, rows 0\u201315 of Q"),
        ):
            path = self.explain(ROOT / program, f"--kernel {kernel} --heads 1 --seq 40 --dim 8 --tile-q 16 --tile-k 16")
            lines = [x for x in data_of(path)["runs"][0]["trace"] if x.get("block") == [0, 0, 0]]
            lines = [x for x in lines if x["space"] == "global" and (kernel == "fa1_paper" or x["tensor"] in "QKV")]
            loads = sorted({x["interval"] for x in lines if x["tensor"] == "K"})
            total = f"{sum(x['bytes'] for x in lines):,}" if kernel == "fa1_paper" else ""
            first = 1 if kernel == "fa1_paper" else 2  # the other one starts with Q
            with Page(path, "#view=tile") as page:
                for t, start in enumerate(loads):
                    end = loads[t + 1] if t + 1 < len(loads) else math.inf
                    moved = sum(x["bytes"] for x in lines if start < x["interval"] < end)
                    self.assertEqual(moved > 0, kernel == "fa1_paper")
                    so_far = sum(x["bytes"] for x in lines if x["interval"] < end)
                    seen = set()
                    for step in range(first + 5 * t + 1, first + 5 * t + 5):
                        page.hash(f"view=tile&s={step}")
                        seen.add(page.eval("document.querySelector('.block-traffic').innerText"))
                    (told,) = seen
                    bytes_of = f"{moved:,} bytes" if moved else "no byte"
                    self.assertIn(f"{tile}{queries}: {bytes_of} of global memory. ", told)
                    self.assertIn(f"By its end the block has moved {so_far:,} of {total}", told)
                    self.assertIn(f"interval {start + 1}, all four steps", told)
                    self.assertRegex(told, "(read|written)\nin these four steps")
                    for wrong in ("in this interval", "in this step"):
                        self.assertNotIn(wrong, told)
                    page.hash(f"view=tile&s={first + 5 * t}")
                    self.assertNotIn("four steps", page.eval("document.querySelector('.block-traffic').innerText"))
        path = self.explain(FA2, "--kernel fa2_row --heads 1 --seq 300 --dim 8 --tile-q 32 --tile-k 64")
        with Page(path, "#view=tile&s=99") as page:  # 256 keys are on the page; the fifth tile has intervals 9 and 10
            told = page.eval("document.querySelector('.block-traffic').innerText")
            self.assertIn("after this page\u2019s keys", told)
            self.assertIn("intervals 8\u201310", told)

    def test_is_accessible(self) -> None:
        check = (Path(__file__).parent / "accessible.js").read_text()
        for program, options, status in (
            (FA2, "--heads 1 --seq 40 --dim 8", 0),
            (broken("no_barrier"), "--kernel fa2_row --seq 100 --tile-q 64", 1),
            (broken("off_by_one"), "--kernel fa2_row --causal --seq 100", 1),
            (ROOT / "06_backward/backward", "--heads 1 --seq 40 --dim 8", 0),
            (ROOT / "08_decode/decode", "--seq 40 --dim 8 --splits 3", 0),
        ):
            path = self.explain(program, options, status)
            for dark in (False, True):
                for view in ("checks", "traffic", "tile", "products", "splits"):
                    with Page(path, f"#view={view}", size=TELEPHONE, dark=dark) as page:
                        self.assertEqual(page.eval(check), [])


class Missing(Explain):
    """What a page does without, and how it says so."""

    def no_traffic(self, path: Path) -> str:
        with Page(path) as page:
            _, found, sentence = page.eval(CHECKS).partition("No picture of the memory traffic")
        return sentence if found else "nothing"

    def test_a_program_that_was_moved_still_explains(self) -> None:
        """The course is where it was when it was built; only lines of source need the source beside the program."""
        moved = Path(shutil.copy(FA2, self.scratch / "moved"))
        with Page(self.explain(moved, "--seq 16 --dim 8"), "#view=traffic&s=3") as page:
            self.assertEqual(page.eval("document.querySelectorAll('.stage .head').length"), 3)

    def test_a_trace_too_long_is_left_out_with_a_sentence(self) -> None:
        path = self.explain(ROOT / "06_backward/backward", "--seq 160", SIM_TRACE_LIMIT="1")
        self.assertEqual(self.said, "", "the recording is ours, the reader knows nothing of it")
        says = self.no_traffic(path)
        self.assertIn("over 1 MiB", says)
        self.assertIn("./backward --", says)

    def test_a_trace_over_what_a_page_takes_is_told_on_the_terminal(self) -> None:
        says = self.no_traffic(
            self.explain(ROOT / "06_backward/backward", "--kernel backward_naive --heads 1 --seq 400 --dim 4")
        )
        self.assertIn("more than a page should. Try ./backward --seq 4", says)
        self.assertIn("backward: --explain: no picture of the memory traffic: This run's trace has", self.said)
        self.assertNotIn("SIM_", self.said)

    def test_a_missing_trace_has_its_own_reason(self) -> None:
        says = self.no_traffic(self.explain(FA2, "--seq 8", SIM_TRACE="/dev/null"))
        self.assertIn("SIM_TRACE", says)
        self.assertNotIn("too large", says)
        says = self.no_traffic(self.explain(broken("beyond"), "--kernel fa2_row --seq 40", 1))
        self.assertIn("No launch came to its end", says)

    def test_a_missing_report_is_told(self) -> None:
        """SIM_REPORT may send it elsewhere: the page claims nothing of hazards that it does not have."""
        for program, options, status in ((FA2, "--seq 8", 0), (broken("no_barrier"), "--kernel fa2_row --seq 100", 1)):
            with Page(self.explain(program, options, status, SIM_REPORT="/dev/null")) as page:
                told = page.eval(CHECKS)
                self.assertIn("No list of what the device found: SIM_REPORT, which is set", told)
                self.assertNotIn("no hazards", told)
        with Page(self.explain(FA2, "--seq 8")) as page:
            self.assertNotIn("No list", page.eval(CHECKS))

    def test_lines_of_warps_are_passed_over(self) -> None:
        """A user's SIM_TRACE_REQUESTS adds them to the trace."""
        path = self.explain(FA2, "--seq 8 --dim 8 --heads 1 --kernel fa2_row", SIM_TRACE_REQUESTS="1")
        (run,) = data_of(path)["runs"]
        self.assertTrue(any("warp" in line for line in run["trace"]))
        with Page(path, "#view=traffic&s=3") as page:
            total = page.eval("tracedKernels()[0].total")
        requested = run["result"]["kernels"][0]["hbm"]["requested"]
        self.assertEqual(total, requested["read_bytes"] + requested["write_bytes"])

    def test_softmax_steps_are_fp32(self) -> None:
        """Nine digits of 3e38 are not the fp32 number: a difference of one rounding would be e to a huge power."""
        path = self.explain(ONLINE_SOFTMAX, "--trace --values 3e38,-3e38,1 --block 1")
        with Page(path, "#view=softmax&s=3") as page:
            self.assertEqual(page.eval("document.querySelector('[data-name=total]').textContent"), "1")
            self.assertIn("stays 3.00e38", page.eval("document.querySelector('.equations').innerText"))

    def test_a_row_too_long_is_left_out_with_a_sentence(self) -> None:
        path = self.explain(ONLINE_SOFTMAX, "--trace --rows 1 --cols 4097")
        (data,) = data_of(path)["runs"]
        self.assertNotIn("x", data["result"])
        with Page(path, "#view=softmax") as page:
            self.assertIn("4097 values is too long", page.eval(CHECKS))


if __name__ == "__main__":
    unittest.main()
