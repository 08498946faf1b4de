"""--explain on every chapter: a page on the run, right or wrong. The first wrong tile is compared with one found here,
from what the broken program and the right one saved."""

from __future__ import annotations

import array
import json
import math
import re
import shutil
import signal
import time
from pathlib import Path
from subprocess import PIPE

from browser import Page
from case import BUILD, ROOT, Case, run, started

FA2 = ROOT / "05_fa2/fa2"
FA1 = ROOT / "04_fa1/fa1"
BACKWARD = ROOT / "06_backward/backward"
DECODE = ROOT / "08_decode/decode"
ONLINE_SOFTMAX = ROOT / "02_online_softmax/online_softmax"
DESK, TELEPHONE = (1440, 900), (360, 800)
WIDTH = "document.documentElement.scrollWidth"
CHECKS = "document.getElementById('checks').innerText"
COUNT = "document.querySelectorAll('{}').length".format


def broken(fault: str, edits: str = "explorer/faults") -> Path:
    """Chapter 05 with a fault of faults.edits, or of tests/faults; chapter 08 with one of splits.edits."""
    return BUILD / ("faults/05_fa2" if fault.startswith("fa2_row_") else edits) / fault / "program"


def text_of(selector: str) -> str:
    return f"document.querySelector({json.dumps(selector)}).textContent"


def texts_of(selector: str) -> str:
    return f"[...document.querySelectorAll({json.dumps(selector)})].map((one) => one.textContent)"


def data_of(page: Path) -> dict:
    """The JSON inside a page."""
    return json.loads(page.read_text().partition('id="data">')[2].partition("</script>")[0])


class Explain(Case):
    def explain(self, program: Path, options: str, status: int = 0, **environment: str) -> Path:
        self.page = self.scratch / "page.html"
        self.said = self.run_program(program, f"{options} --quiet --explain {self.page}", status, **environment).err
        return self.page

    def expect(self, page: Page, selector: str, *words: str) -> None:
        """An element shows these words, and none of those that begin with a !."""
        told = page.eval(f"document.querySelector({json.dumps(selector)}).innerText")
        told = " ".join(told.lower().split())  # a style may show capitals
        for word in words:
            check = self.assertNotIn if word.startswith("!") else self.assertIn
            check(word.lstrip("!").lower(), told)


class Command(Explain):
    def test_refusals_leave_nothing_behind(self) -> None:
        page_of_one = "--explain: not with --{}: a page shows one run"
        for program, options, status, says in (
            ("05_fa2/fa2", "--explain", 2, "--explain: expected a value FILE"),
            ("05_fa2/fa2", "--sweep --explain x.html", 2, "--explain: not with --sweep"),
            ("05_fa2/fa2", "--json - --explain -", 2, "--json -, --explain -: only one of them"),
            ("05_fa2/fa2", "--json x --explain x", 2, "--json, --explain: x: each needs a file of its own"),
            ("05_fa2/fa2", "--explain x.html --details .", 2, "--details: not with --explain"),
            ("05_fa2/fa2", "--seq 8 --details no/where", 3, "no/where: cannot be created"),
            ("05_fa2/fa2", "--details . --json run.json", 2, "run.json of --details, expected another file"),
            ("05_fa2/fa2", "--seq 8 --explain nowhere/x.html", 3, "nowhere/x.html: cannot be written"),
            ("05_fa2/fa2", "--seq 8 --quiet --explain /dev/full", 3, "cannot be written"),
            ("05_fa2/fa2", "--seq 0 --explain x.html", 2, "--seq"),
            ("05_fa2/fa2", "--kernel fa2_row --tile-k 65536 --seq 65536 --explain x.html", 3, "shared memory"),
            ("07_transformer/transformer", "--prompt hi --explain x.html", 2, page_of_one.format("prompt")),
            (
                "08_decode/decode",
                "--prompt hi --sweep --explain x.html",
                2,
                page_of_one.format("sweep, nor with --prompt"),
            ),
        ):
            with self.subTest(options):
                said = self.run_program(ROOT / program, options, status).err
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
            (FA2, "page.html", readme.as_uri()),
            (FA2, f"{room.name}/page.html", readme.as_uri()),
            (FA2, f"{readme.parent}/page.html", readme.as_uri()),
            (moved, "page.html", None),
        ):
            page = self.scratch / path
            self.addCleanup(page.unlink, missing_ok=True)
            said = run([program, "--seq", "8", "--dim", "8", "--quiet", "--explain", path], cwd=self.scratch)
            self.assertEqual(said.status, 0, said.err)
            with self.subTest(path), Page(page, "#view=traffic&s=3") as opened:
                self.assertEqual(opened.eval("document.querySelector('.brand a')?.href ?? null"), leads_to)
                self.assertGreater(opened.eval(COUNT(".stage .head")), 2, "only lines of source need the source")

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
    # Of each output: a map over the words beside it, or words that leave the page.
    MAPS = """[...document.querySelectorAll('.output')].filter((output) => {
        const [map, words] = [...output.children].map((child) => child.getBoundingClientRect());
        return words.width < 200 || (words.left < map.right && words.top < map.bottom) ||
            words.right > innerWidth; }).length"""
    CHAPTERS = (
        ("00_gpu/gpu", "--rows 33 --cols 40", ""),
        ("01_naive/naive", "--seq 40 --dim 8", "|Step by step"),
        (
            "02_online_softmax/online_softmax",
            "--trace --values 1,-inf,3,6,2,1 --block 2",
            "|Online softmax",
        ),
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
                with self.subTest(program, size=size), Page(path, size=size) as page:
                    self.assertEqual(page.eval(self.MAPS), 0)
            with self.subTest(program), Page(path, size=TELEPHONE) as page:
                self.assertEqual("|".join(page.eval(texts_of("[role=tab]"))), f"This run|Memory traffic{views}")
                self.assertEqual(page.eval(COUNT("[data-wrong=true], [data-equal=false]")), 0, "marked as wrong")
                self.assertGreater(page.eval(COUNT("[data-wrong=false]")), 0)
                self.assertLessEqual(page.eval(WIDTH), TELEPHONE[0])
                page.hash("view=traffic")
                page.key("End")
                self.assertGreater(page.eval(COUNT(".race .count .done")), 0, "never ends")
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
        path = self.explain(broken("fa2_row_one_tile_too_few"), f"{problem} --save wrong --json wrong.json", 1)
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
            self.assertGreater(page.eval(COUNT(".ring")), 0, "no ring")
            unequal = page.eval(COUNT("[data-equal=false]"))
            self.assertGreater(unequal, 0, "the counts are not their closed form, and it is not said")
            self.assertIn("FAILED", page.eval(text_of(".badge")))
            page.eval(f"{output}.querySelector('[data-tile]').focus()")
            page.key("ArrowDown")
            self.assertIn("rows 32", page.eval(f"{output}.querySelector('[aria-live]').textContent"))

    # A fault, options; the key from which on it is wrong, keys that are not read ("": not looked at, "-": not said);
    # what the page says.
    SAID = (
        ("no_rescale", "", "8,9", "-", ["l were not multiplied by the correction", "while O was."]),
        ("off_by_one", "--causal", "1,2", "-", ["first 2 keys, while it may see 1", "as many queries as keys"]),
        ("dropped_tail", "", "96,97", "96,100", [
            "3 whole tiles of 32 keys", "only its first 96 keys", "4 keys too few",
            "Keys 96–99 of K and V of head 0 are never read: the tail, 4 keys"]),
        ("dropped_tail", "--seq 97", "", "96,97", ["Key 96 of K and V of head 0 is never read: the tail, 1 key after"]),
        ("dropped_tail", "--seq 20", "", "0,20", ["No key of K and V of head 0 is read at all, so l stays 0"]),
        ("fa2_row_one_tile_too_few", "--causal --tile-k 16", "", "16,32", [
            "Block 0 writes O up to row 31 and does not read keys 16"]),
        ("no_rescale", "--heads 1 --seq 40 --tile-k 8", "", "", ["Right after tile 0, wrong from tile 1 on"]),
        ("no_key", "--seq 70", "", "0,70", [
            "No key of K and V", "so l is 0: the row took in no key", "!it is query", "!never written"]),
        ("nan_tail", "--heads 1 --seq 64", "", "", [
            "O[0, 0, 40, 20] is NaN", "LSE is right, so m and l are: look at O alone",
            "it is query 40 that is wrong, not the key"]),
        ("trap", "--heads 1 --seq 8 --dim 8", "", "", ["cudaErrorLaunchFailure", "!The numbers are right"]),
    )  # fmt: skip

    def test_says_what_is_wrong(self) -> None:
        """From which key on, which keys are not read, and what the row looks made of."""
        for fault, options, replay, unread, words in self.SAID:
            given = f"--kernel fa2_row --heads 2 --seq 100 --dim 32 --tile-q 32 --tile-k 32 {options}"
            with self.subTest(fault + options), Page(self.explain(broken(fault), given, 1)) as page:
                for name, expected in (("replay", replay), ("unread", unread)):
                    if expected:
                        shown = page.eval(f"document.querySelector('[data-{name}]')?.dataset.{name} ?? '-'")
                        self.assertEqual(shown, expected, name)
                self.expect(page, "#main", *words)
                if fault == "nan_tail":
                    wrong = "[...document.querySelectorAll('[data-output=O] [data-{}]')].map((t) => t.dataset.tile)"
                    self.assertEqual([page.eval(wrong.format(x)) for x in ("wrong=true", "first")], [["3"], ["3"]])
        with Page(self.explain(FA2, "--kernel fa2_row --seq 100 --dim 32 --causal")) as page:
            self.assertEqual(page.eval(COUNT(".unread")), 0, "of a right kernel")
            for wrong, got, part in (
                ("dQ", 2, "Only dQ is wrong"),
                ("dQ dK", 2, "look at dP, D and dS"),
                ("dK dV", 2, "look at P"),
                ("O LSE", 2, "LSE is too large: look at m and l"),
                ("LSE", "inf", "O is right, so l fits it"),
            ):
                outputs = [
                    {"tensor": name, "got": got, "expected": 1, "wrong": name in wrong.split()}
                    for name in ("O", "LSE", "dQ", "dK", "dV")
                    if name in "O LSE" or "d" in wrong
                ]
                self.assertIn(part, page.eval(f"adviceOf({json.dumps(outputs)})"))

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
            path = self.explain(broken(fault), f"--kernel fa2_row {options}", 1)
            self.assertIn(rows, self.said)
            self.assertIn(statistics, " ".join(self.said.split()))
            self.assertNotIn("not a number", self.said)
            with self.subTest(fault), Page(path) as page:
                self.assertLess(page.eval(CHECKS).index(rows), 100)
                untrue = ("!l is 0", "!m is −∞", "!stays 0", "!From which key", "!O each element")
                self.expect(page, "#checks", *words, *untrue)

    def test_a_missing_barrier_is_one_cause_with_its_sentence(self) -> None:
        """Four hazards; one sentence, three lines around each access, the calls between which the barrier belongs."""
        path = self.explain(broken("no_barrier"), "--kernel fa2_row --seq 100 --tile-q 64", 1)
        self.assertIn("Race reported", self.said, "the terminal does not say it")
        hazards = [line for line in data_of(path)["runs"][0]["report"] if line["type"] == "hazard"]
        self.assertGreater(len(hazards), 2)
        source = (broken("no_barrier").parent / "row.cuh").read_text().splitlines()
        with Page(path, size=TELEPHONE, dark=True) as page:
            (cause,) = page.eval(texts_of(".hazards > li > h3"))
            missing = r"^A __syncthreads\(\) is missing between line \d+ \(in load_tile, row.cuh:\d+\) and line "
            self.assertRegex(cause, missing)
            shown = page.eval(texts_of(".sides pre"))
            self.assertEqual(len(shown), 2)
            for text, around in zip(shown, ("tile[first + i * step] =", "K_tile[")):
                lines = text.rstrip("\n").split("\n")
                self.assertEqual(len(lines), 3, text)
                self.assertIn(around, lines[1])
                number = int(re.search(r"\d+", lines[1])[0])
                for at, line in zip((number - 1, number, number + 1), lines):
                    self.assertIn(source[at - 1].strip(), line)
            self.expect(page, ".hazards", "On K tile", "load_tile<D>(K + offset", "attend<D, KEYS>")
            self.assertEqual(page.eval(COUNT(".hazards > li details li")), len(hazards) - 1)
            self.assertLessEqual(page.eval(WIDTH), TELEPHONE[0])

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
            ("fa2_row_no_barrier_before_loading", {"loop": around}),
            ("no_barrier_at_all", {"straight": between, "loop": around}),
        ):
            path = self.explain(broken(fault), problem, 1)
            with self.subTest(fault), Page(path) as page:
                told = dict(page.eval(gaps))
                self.assertEqual(list(told), list(expected))
                self.assertEqual(page.eval(COUNT(".luck")), 1 - min(1, page.eval(COUNT(".outputs:not(.calm)"))))
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
            self.expect(page, ".hazards", "They are called here")

    def test_a_barrier_of_the_block_is_one_of_its_warps_too(self) -> None:
        """A race within a warp at the place of the missing barrier has the same cause; elsewhere it has its own."""
        path = self.explain(broken("fa2_row_no_barrier_before_loading"), "--kernel fa2_row --seq 256 --heads 1", 1)
        text, records = path.read_text(), data_of(path)["runs"][0]["report"]
        within = next(line for line in records if line["type"] == "hazard")
        advice = within["advice"].replace("__syncthreads", "__syncwarp")
        self.assertNotEqual(advice, within["advice"])
        within = {**within, "severity": "warning", "advice": advice, "block": [0, 0, 0]}
        for passed, count in ((True, 1), (False, 2)):
            within["other"] = {key: value for key, value in within["other"].items() if passed or key != "passed"}
            added = f'"report":[{json.dumps(within, separators=(",", ":"))},'
            path.write_text(text.replace('"report":[', added, 1))
            with Page(path) as page:
                told = page.eval(texts_of(".hazards > li > h3"))
                self.assertEqual(len(told), count)
                self.assertIn("a __syncthreads() is missing behind line", told[0])

    def test_finds_the_loop_around_lines(self) -> None:
        """Kills: braces of comments and strings that count, a loop that is only above the lines."""
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
        lines = ((6, 7), (2, 7), (4, 4), (2, 9), (9, 11), (11, 11))
        found = f"{json.dumps(lines)}.map(([a, b]) => loopAround(bareText({json.dumps(text)}), a, b))"
        with Page(self.explain(FA2, "--seq 8 --dim 8")) as page:
            loops = [loop and (loop["head"], loop["end"]) for loop in page.eval(found)]
        self.assertEqual(loops, [(5, 8), (1, 10), (1, 10), (1, 10), None, None])

    def test_bank_conflicts_are_counted_per_line(self) -> None:
        """Each line's, exactly: over all lines they are the kernel's; and only where many wait a page says so."""
        for program, said in ((broken("bank_conflict"), ""), (FA2, "!")):
            path = self.explain(program, "--kernel fa2_split_q --heads 1 --seq 100 --dim 32")
            launches = [line["shared"] for line in data_of(path)["runs"][0]["report"] if line["type"] == "launch"]
            total = sum(shared[op]["conflicts"] for shared in launches for op in ("load", "store", "atomic"))
            with Page(path) as page:
                told = page.eval(
                    "[...document.querySelectorAll('.bank-lines li')].map((line) => Number(line.dataset.lost))"
                )
                self.assertEqual((sum(told), told), (total, sorted(told, reverse=True)))
                self.expect(
                    page, "#checks", f"{said}waits for the banks of shared memory", f"{said}look at the strides"
                )
                if program != FA2:
                    self.assertIn("float4 k = ", page.eval(text_of(".bank-lines .here")))

    def test_names_the_tiles_that_were_used(self) -> None:
        """Not those that were asked for, where a kernel is compiled with its own."""
        path = self.explain(broken("tail_of_compiled_tiles"), "--heads 1 --seq 100 --dim 32 --tile-q 16 --tile-k 16", 1)
        with Page(path) as page:
            self.expect(page, "[data-kernel=fa2_row] .kernel-head", "tiles of 16 \u00d7 16 (Br")
            self.expect(page, "[data-kernel=fa2_slab] .kernel-head", "tiles of 32 \u00d7 64 (Br")
            self.expect(page, "[data-kernel=fa2_slab] .reach", "1 whole tile of 64 keys, wrong with one key more")
            page.hash("view=traffic&k=fa2_slab")
            names = "[...document.querySelectorAll('.memory .tile')].map((tile) => tile.getAttribute('aria-label'))"
            self.assertLessEqual(
                {"K rows 64\u201399 of fa2_slab", "Q rows 96\u201399 of fa2_slab"}, {*page.eval(names)}
            )

    def test_a_replay_is_no_part_of_the_run(self) -> None:
        """What is run again, for the page or for the small case, is neither on the page nor in files of the user's."""
        problem = "--kernel fa2_row --heads 1 --seq 100 --dim 32 --tile-k 32"
        files = {name: str(self.scratch / name) for name in ("SIM_TRACE", "SIM_REPORT")}
        recorded = []
        for options in ("--quiet", "", f"--quiet --explain {self.scratch}/page.html"):
            said = self.run_program(broken("no_rescale"), f"{problem} {options}", 1, **files).out
            self.assertEqual("a case small enough" in said, not options)
            recorded.append([Path(file).read_text() for file in files.values()])
        self.assertEqual(recorded[1:], recorded[:1] * 2)
        for data in (data_of(self.scratch / "page.html"), data_of(self.explain(broken("no_rescale"), problem, 1))):
            (made,) = data["runs"]
            self.assertGreater(len(made["replays"][0]["steps"]), 3)
            self.assertEqual(len([line for line in made["trace"] if line.get("type") == "launch"]), 1)
            self.assertEqual(len(made["report"]), 1)
        self.assertEqual(data_of(self.explain(FA2, problem))["runs"][0]["replays"][0]["steps"], [])

    def test_a_right_run_is_not_blank(self) -> None:
        with Page(self.explain(FA2, "--kernel fa2_row --heads 1 --seq 100 --dim 32 --tile-q 32 --tile-k 32")) as page:
            rows = page.eval("[...document.querySelectorAll('[data-tensor]')].map((row) => row.innerText)")
            self.assertEqual([row.split()[0] for row in rows], ["Q", "K", "V", "O", "LSE"])
            self.assertIn("each element read once", rows[0])
            self.assertIn("each element read 4 times", rows[1])


class Terminal(Explain):
    """What the program of a wrong kernel says of the page and of a smaller case."""

    def test_tiles_that_a_kernel_does_not_take_are_told(self) -> None:
        slab = "fa2: --tile-k 16: not for fa2_slab, which is compiled with tiles of 32 x 64\n"
        without = "backward: --tile-k 32: not for backward_naive, which has no tiles\n"
        for program, options, told in (
            (FA2, "--kernel fa2_slab --tile-k 16", slab),
            (FA2, "--kernel fa2_slab --tile-q 32 --tile-k 64", ""),
            (FA2, "--tile-q 16 --tile-k 16", ""),
            (BACKWARD, "--kernel backward_naive --tile-k 32", without),
        ):
            self.explain(program, f"--seq 8 --dim 8 {options}")
            self.assertEqual(self.said, told)

    def test_the_commands_that_a_failure_proposes(self) -> None:
        """That of a page; that of a smaller case, which is wrong, too: of a kernel with compiled tiles it has more keys
        than a tile. Where a race is, none is tried. Kills: lines too long."""
        for fault, options, lengths in (
            ("no_barrier", "--kernel fa2_row --seq 100", ()),
            ("no_rescale", "--kernel fa2_row --seq 100 --heads 2 --dim 32 --input ramp --seed 7", (3, 4, 5)),
            ("tail_of_compiled_tiles", "--kernel fa2_slab --seq 300", (65,)),
        ):
            said = self.run_program(broken(fault), options, 1).out
            line = re.search(r"Where it is wrong, as a page:\n  \./fa2 (.*)\n", said)
            self.assertTrue(line, said)
            self.assertEqual(line[1].split(), [*options.split(), "--explain", "wrong.html"])
            self.run_program(broken(fault), line[1], 1)
            (self.scratch / "wrong.html").unlink()
            self.assertEqual([line for line in said.splitlines() if len(line) > 80 and "  ./" not in line], [])
            smaller = re.search(r"Next: a case small enough to follow by hand:\n  \./fa2 (.*)", said)
            if not lengths:
                self.assertIn("Next: what it moved, the same with --verbose", said)
                continue
            self.assertTrue(smaller, said)
            self.assertIn(int(re.search(r"--seq (\d+)", smaller[1])[1]), lengths)
            self.assertNotIn("small enough", self.run_program(broken(fault), smaller[1], 1).out)

    def test_tensors_within_tolerance_are_not_told_as_wrong(self) -> None:
        said = self.run_program(broken("lse_alone"), "--kernel fa2_row --seq 100", 1).out
        self.assertIn(" at LSE[", said)
        self.assertNotIn(" at O[", said)
        said = self.run_program(broken("lse_alone"), "--seq 100 --verbose", 1).out
        self.assertRegex(said, r" at O\[.*, right\n")


class Views(Explain):
    def test_tiles_of_shared_memory_have_names(self) -> None:
        for program, kernel, names in (
            (FA2, "fa2_row", ["K tile", "V tile"]),
            (FA2, "fa2_split_q", ["Q tile", "K tile", "V tile", "P slabs"]),
            (FA1, "fa1_paper", ["K tile", "V tile", "S"]),
        ):
            with Page(self.explain(program, f"--kernel {kernel} --heads 1 --seq 70"), "#view=traffic") as page:
                self.assertEqual(page.eval(texts_of(".regions span")), names)

    def test_an_interval_has_one_number(self) -> None:
        """Of one block, whose first interval asks for nothing. Kills: an index into what was recorded."""
        path = self.explain(FA1, "--kernel fa1_paper --heads 1 --seq 40 --dim 8 --tile-k 16")
        numbers = "['.race .count small', '.stage .where'].map((where) => Number(/interval (\\d+)/.exec("
        numbers += "document.querySelector(where).textContent)[1]))"
        with Page(path, "#view=traffic") as page:
            for _ in range(5):
                page.key("ArrowRight")
                race, stage = page.eval(numbers)
                self.assertEqual(race, stage)

    def test_which_block_reads_which_keys(self) -> None:
        """All of them; below a causal mask a triangle: 1, 2, 3, 4 of 4 tiles."""
        problem = "--kernel fa2_row --heads 1 --seq 128 --dim 8 --tile-q 32 --tile-k 32"
        for mask, expected in (("", 1.0), ("--causal", (1 + 2 + 3 + 4) / 16)):
            with Page(self.explain(FA2, f"{problem} {mask}"), "#view=traffic") as page:
                share, told, drawn = page.eval(
                    "(card => [Number(card.dataset.share), card.textContent, card.querySelectorAll('canvas').length])("
                    "document.querySelector('.readers[data-kernel=fa2_row]'))"
                )
                self.assertAlmostEqual(share, expected, delta=1e-3)
                self.assertEqual("across" in told, drawn == 1, "a picture is described that is not there")
                self.assertEqual("Each of the 4 blocks reads all 128 rows of K." in told, not mask)

    def test_the_five_products_of_the_backward_pass(self) -> None:
        """Five products; the split kernel computes S and dP twice, and that is seen from what its launches write."""
        counts = (
            "[...document.querySelectorAll('#products tbody tr')].map((row) => "
            "[row.children[1].textContent, Number(row.dataset.products)])"
        )
        path = self.explain(BACKWARD, "--heads 1 --seq 40 --dim 8")
        with Page(path, "#view=products", size=TELEPHONE) as page:
            found = dict(page.eval(counts))
            self.assertEqual((found["backward_dkdv"], found["backward_dq"], found["backward_atomic"]), (4, 3, 5))
            self.assertEqual(sum(found.values()), 5 + 7 + 5)
            seen = [page.eval(text_of("#products h2"))]
            for _ in range(4):
                page.key("ArrowRight")
                seen.append(page.eval(text_of("#products h2")))
            self.assertEqual([text.split()[0] for text in seen], ["S", "dV", "dP", "dQ", "dK"])
            self.assertLessEqual(page.eval(WIDTH), TELEPHONE[0])

    def test_the_splits(self) -> None:
        """Each block's keys, what it leaves and what the merge reads, beside the formulas of the chapter."""
        H, G, N = 6, 2, 20
        for kernel, S, page_size in (("decode_split", 3, 16), ("decode_paged", 3, 4), ("decode_split", 23, 16)):
            problem = f"--heads {H} --kv-heads {G} --seq {N} --dim 8 --splits {S} --page {page_size} --kernel {kernel}"
            with Page(self.explain(DECODE, problem), "#view=splits", size=TELEPHONE) as page:
                self.assertEqual(page.eval("document.querySelector('.scrub').max"), str(G * S + H))
                told, places = [], []
                for step in range(G * S + H):
                    page.key("ArrowRight")
                    shown = page.eval(
                        "(({keys, cells, rows}) => [keys, cells, rows].map((list) => list ? "
                        "list.split(',').map(Number) : []))(document.querySelector('.memory-map').dataset)"
                    )
                    told.append(page.eval(text_of(".split-told")))
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

    def test_the_splits_of_a_wrong_kernel(self) -> None:
        """Kills: a view that needs keys, partials or a merge of a kernel that is wrong because it has none."""
        for fault, told in (
            ("no_tile_reads", "It reads no key. It writes m"),
            ("no_partials", "writes no m, l or O of a split; it reads keys 0"),
            ("no_merge", "reads keys 0"),
        ):
            path = self.explain(broken(fault, "explorer/splits"), "--seq 100 --kernel decode_split --splits 4", 1)
            with self.subTest(fault), Page(path, "#view=splits&s=1") as page:
                self.expect(page, ".split-told", told)
                self.assertIn("Keys 0\u201399", page.eval(text_of(".memory-map")))
                page.key("End")
                self.expect(page, "#splits", "!NaN", "!undefined", "!Infinity")
                for view in ("checks", "traffic"):
                    page.hash(f"view={view}")
                page.key("End")

    def test_a_table_shows_that_it_goes_on(self) -> None:
        """On a telephone. Kills: a table that is cut without a mark, or whose rows lose their names; numbers of a tile
        that touch."""
        short = broken("fa2_row_one_tile_too_few")
        for program, options, view, table in (
            (short, "--causal --seq 100 --dim 40 --kernel fa2_row", "checks", ".scroll:has(.around)"),
            (BACKWARD, "--heads 1 --seq 40 --dim 8", "products", "#products .scroll"),
            (DECODE, "--seq 40 --dim 8 --splits 3", "splits", "#splits .scroll"),
        ):
            path = self.explain(program, options, view == "checks")
            with self.subTest(view), Page(path, f"#view={view}", size=TELEPHONE) as page:
                node = f"document.querySelector('{table}')"
                page.until(f"{node}.hasAttribute('data-more')")
                page.eval(f"{node}.scrollLeft = 9999")
                page.until(f"!{node}.hasAttribute('data-more')")
                left = f"{node}.querySelector('tbody tr > :first-child').getBoundingClientRect().left"
                self.assertLess(abs(page.eval(f"{left} - {node}.getBoundingClientRect().left")), 2, "no name")
        apart = """Math.min(...[...document.querySelectorAll('.scores tbody tr')].flatMap((row) =>
            [...row.cells].map((cell) => { const range = document.createRange();
                range.selectNodeContents(cell.querySelector('span') || cell); return range.getBoundingClientRect(); })
            .map((box, i, all) => i > 0 ? box.left - all[i - 1].right : 99)))"""
        path = self.explain(FA2, "--kernel fa2_row --seq 40 --tile-k 32")
        for size, numbers in ((DESK, True), ((1230, 900), True), (TELEPHONE, False)):
            with Page(path, "#view=tile&s=3", size=size) as page:
                self.assertEqual(page.eval(COUNT(".scores td span")) > 0, numbers)
                if numbers:
                    self.assertGreater(page.eval(apart), 1)

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
        parts = ("[data-title]", "[data-total]", ".step-told", "[data-score]")
        title, total, told, chosen = (f"document.querySelector('{name}').innerText" for name in parts)
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
                    loads = [x for x in lines if x["op"] == "load"]
                    loaded = [x for x in loads if x["tensor"] == "Q" or x["ranges"][0][0] < 4 * d * end]
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
                            shown = page.eval(chosen).replace("\u2212", "-").replace("\u221e", "inf")
                            name, _, value = shown.partition(" = ")
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
                self.expect(page, "#tile", "No traffic stands beside them")
                self.assertEqual(page.eval(COUNT(".block-traffic")), 0)

    def test_the_bytes_of_a_tile_are_not_one_steps(self) -> None:
        """Chapter 04's block passes over all queries for a tile of keys: what moves while the tile is computed is said
        to be of S, m, P and o together, and of which rows of Q. Kills: the traffic of a tile, O and m written too, said
        to be that of the step S, or of one interval, or of rows 0-7."""
        told = "document.querySelector('.block-traffic').innerText"
        path = self.explain(FA1, "--kernel fa1_paper --heads 1 --seq 40 --dim 8 --tile-q 16 --tile-k 16")
        lines = [x for x in data_of(path)["runs"][0]["trace"] if x.get("block") == [0, 0, 0] and x["space"] == "global"]
        loads = sorted({x["interval"] for x in lines if x["tensor"] == "K"})
        with Page(path, "#view=tile") as page:
            for t, (start, end) in enumerate(zip(loads, [*loads[1:], math.inf])):
                moved = sum(x["bytes"] for x in lines if start < x["interval"] < end)
                so_far = sum(x["bytes"] for x in lines if x["interval"] < end)
                steps = [page.hash(f"view=tile&s={1 + 5 * t + step}") or page.eval(told) for step in range(5)]
                self.assertNotIn("four steps", steps[0])
                self.assertEqual(len({*steps[1:]}), 1, "S, m, P and o have one text")
                self.expect(
                    page,
                    ".block-traffic",
                    "While this tile of keys is computed, steps S, m, P and o together, over 3 query tiles of the "
                    f"block, rows 0\u201339 of Q: {moved:,} bytes of",
                    f"By its end the block has moved {so_far:,} of {sum(x['bytes'] for x in lines):,}",
                    f"interval {start + 1}, all four steps",
                    "!in this interval",
                    "!in this step",
                )
        path = self.explain(FA2, "--kernel fa2_row --heads 1 --seq 40 --dim 8 --tile-q 16 --tile-k 16")
        with Page(path, "#view=tile&s=3") as page:  # its block has one query tile, which is in registers
            tile = (
                "together, for the block\u2019s query tile, rows 0\u201315 of Q: no byte of global memory. By its end"
            )
            self.expect(page, ".block-traffic", tile, "interval 2, all four steps", "!in this step")
        path = self.explain(FA2, "--kernel fa2_row --heads 1 --seq 300 --dim 8 --tile-q 32 --tile-k 64")
        with Page(path, "#view=tile&s=99") as page:  # 256 keys are on the page; the fifth tile has intervals 9 and 10
            self.expect(page, ".block-traffic", "after this page\u2019s keys", "intervals 8\u201310")

    def test_is_accessible(self) -> None:
        check = (Path(__file__).parent / "accessible.js").read_text()
        for program, options, status, views in (
            (FA2, "--heads 1 --seq 40 --dim 8", 0, "checks traffic tile"),
            (broken("no_barrier"), "--kernel fa2_row --seq 100 --tile-q 64", 1, "checks"),
            (broken("off_by_one"), "--kernel fa2_row --causal --seq 100", 1, "checks"),
            (BACKWARD, "--heads 1 --seq 40 --dim 8", 0, "products"),
            (DECODE, "--seq 40 --dim 8 --splits 3", 0, "splits"),
        ):
            path = self.explain(program, options, status)
            for view in views.split():
                for dark in (False, True):
                    with self.subTest(view, dark=dark), Page(path, f"#view={view}", size=TELEPHONE, dark=dark) as page:
                        self.assertEqual(page.eval(check), [])


class Missing(Explain):
    """What a page does without, and how it says so."""

    def test_a_trace_that_is_not_there_has_its_reason(self) -> None:
        large = "--kernel backward_naive --heads 1 --seq 400 --dim 4"
        for program, options, status, variables, words, said in (
            (BACKWARD, "--seq 160", 0, {"SIM_TRACE_LIMIT": "1"}, ["over 1 MiB", "./backward --"], ""),
            (BACKWARD, large, 0, {}, ["more than a page should. Try ./backward --seq 4"], "This run's trace has"),
            (FA2, "--seq 8", 0, {"SIM_TRACE": "/dev/null"}, ["SIM_TRACE", "!too large"], "SIM_TRACE"),
            (broken("beyond"), "--kernel fa2_row --seq 40", 1, {}, ["No launch came to its end"], ""),
        ):
            with self.subTest(options), Page(self.explain(program, options, status, **variables)) as page:
                self.expect(page, "#checks", "No picture of the memory traffic", *words)
                if program == BACKWARD:
                    told = "backward: --explain: no picture of the memory traffic: " if said else ""
                    self.assertTrue(self.said.startswith(told + said) and (said or not self.said), self.said)
                    self.assertNotIn("SIM_", self.said, "the recording is ours, the reader knows nothing of it")

    def test_a_missing_report_is_told(self) -> None:
        """SIM_REPORT may send it elsewhere: the page claims nothing of hazards that it does not have."""
        for program, options, status in ((FA2, "--seq 8", 0), (broken("no_barrier"), "--kernel fa2_row --seq 100", 1)):
            with Page(self.explain(program, options, status, SIM_REPORT="/dev/null")) as page:
                told = "No list of what the device found: SIM_REPORT, which is set"
                self.expect(page, "#checks", told, "!no hazards")
        with Page(self.explain(FA2, "--seq 8")) as page:
            self.expect(page, "#checks", "!No list")

    def test_lines_of_warps_are_passed_over(self) -> None:
        """A user's SIM_TRACE_REQUESTS adds them to the trace."""
        path = self.explain(FA2, "--seq 8 --dim 8 --heads 1 --kernel fa2_row", SIM_TRACE_REQUESTS="1")
        (run,) = data_of(path)["runs"]
        self.assertTrue(any("warp" in line for line in run["trace"]))
        requested = run["result"]["kernels"][0]["hbm"]["requested"]
        with Page(path, "#view=traffic&s=3") as page:
            self.assertEqual(page.eval("tracedKernels()[0].total"), sum(requested.values()))

    def test_softmax_steps_are_fp32(self) -> None:
        """Nine digits of 3e38 are not the fp32 number: a difference of one rounding would be e to a huge power."""
        path = self.explain(ONLINE_SOFTMAX, "--trace --values 3e38,-3e38,1 --block 1")
        with Page(path, "#view=softmax&s=3") as page:
            self.assertEqual(page.eval(text_of("[data-name=total]")), "1")
            self.expect(page, ".equations", "stays 3.00e38")

    def test_a_row_too_long_is_left_out_with_a_sentence(self) -> None:
        path = self.explain(ONLINE_SOFTMAX, "--trace --rows 1 --cols 4097")
        (data,) = data_of(path)["runs"]
        self.assertNotIn("x", data["result"])
        with Page(path, "#view=softmax") as page:
            self.expect(page, "#checks", "4097 values is too long")
