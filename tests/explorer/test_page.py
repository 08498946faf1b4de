"""What `make explorer` writes, made from this build: small and self-contained, its counters those of --json to the
byte, its keys, its addresses, its numbers."""

from __future__ import annotations

import colorsys
import math
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from browser import Page
from case import BUILD, ROOT, Case, run
from frames import measure
from lib.diagrams.svg import DARK, LIGHT

EXPLORER = BUILD / "explorer/explorer.html"
SOFTMAX = "#view=softmax"
STEP = "Number(document.querySelector('.scrub').value)"
WIDTH = "document.documentElement.scrollWidth"
FILLED = "100 + parseFloat({}.style.transform.slice(11))"  # percent: translateX(-75%)
TRACED = {"naive": "01_naive/naive", "fa1_paper": "04_fa1/fa1", "fa2_row": "05_fa2/fa2"}


def row_of(kernel: str) -> str:
    return f"document.querySelector('.race [data-kernel={kernel}]')"


def named(name: str) -> str:
    return f"document.querySelector('[data-name={name}]').textContent"


def number(shown: str) -> float:
    """As the page writes it: minus signs that are no hyphens, an infinity."""
    found = re.match(r"-?(inf|[\d.]+(e[-+]?\d+)?)", shown.replace("\u2212", "-").replace("\u221e", "inf"))
    return float(found[0]) if found else math.nan


class PageCase(Case):
    def open(self, fragment: str = "", **how: object) -> Page:
        return Page(EXPLORER, fragment, **how)


class File(PageCase):
    def test_is_one_small_file(self) -> None:
        text = EXPLORER.read_text()
        self.assertLess(EXPLORER.stat().st_size, 500000)
        for foreign in ("src=", "@import", "url(", "fetch(", "XMLHttpRequest", "https:"):
            self.assertFalse(foreign in text, f"it holds {foreign}")

    def test_leads_back_to_the_course(self) -> None:
        """Kills: a page from which no link leads to what it belongs to, or a wrong one."""
        with self.open() as page:
            link = page.eval("(({href, textContent}) => [href, textContent])(document.querySelector('.brand a'))")
            self.assertEqual(link, [(ROOT / "README.md").as_uri(), "The course"])

    def test_is_the_same_when_made_again(self) -> None:
        again = EXPLORER.with_name("again.html")  # beside it: the link to the course is relative
        self.addCleanup(again.unlink, missing_ok=True)
        outcome = run([ROOT / "explorer/course_page", again], cwd=ROOT, SIM_ORDER="reverse", SIM_THREADS="1")
        self.assertEqual(outcome.status, 0, outcome.err)
        self.assertTrue(EXPLORER.read_bytes() == again.read_bytes(), "the page depends on more than the code")


class Traffic(PageCase):
    def test_counters_are_those_of_the_command_line(self) -> None:
        with self.open() as page:
            page.key("End")
            rows = page.eval(
                "[...document.querySelectorAll('.race .row')].map((row, i) => [row.dataset.kernel, "
                "data.runs[i].command, Number(row.dataset.read), Number(row.dataset.written), "
                "row.querySelector('.count b').textContent])"
            )
        self.assertEqual([row[0] for row in rows], list(TRACED))
        for name, command, read, written, shown in rows:
            result = self.run_json(ROOT / TRACED[name], command.partition(" ")[2])
            (kernel,) = (kernel for kernel in result["kernels"] if kernel["name"] == name)
            requested = kernel["hbm"]["requested"]
            self.assertEqual((read, written), (requested["read_bytes"], requested["write_bytes"]), name)
            self.assertEqual(int(re.match(r"[\d,]+", shown)[0].replace(",", "")), read + written, name)

    def test_steps_by_keyboard(self) -> None:
        with self.open() as page:
            page.key("ArrowRight", "ArrowRight", "ArrowRight")
            self.assertEqual(page.eval(STEP), 3)
            page.key("ArrowLeft")
            self.assertEqual(page.eval(STEP), 2)
            self.assertEqual(page.eval("location.hash"), "#s=2")
            page.until(r"/FlashAttention-2: [\d,]+ bytes/.test(document.getElementById('live').textContent)")
            page.key("End")
            last = page.eval(STEP)
            self.assertEqual(last, page.eval("Number(document.querySelector('.scrub').max)"))
            self.assertGreater(last, 100)
            page.key("Home")
            self.assertEqual(page.eval(STEP), 0)
            page.key("Space")
            page.until("document.querySelector('.scrub').value > 2")
            page.key("Space")
            stopped = page.eval(STEP)
            later = page.eval(f"new Promise((done) => setTimeout(() => done({STEP}), 900))")
            self.assertEqual(stopped, later, "space did not stop it")
            label = page.eval("document.querySelector('.player .main').getAttribute('aria-label')")
            self.assertEqual(label, "Play")

    def test_an_address_holds_the_step(self) -> None:
        look = (
            "document.querySelector('.race').innerText + "
            "[...document.querySelectorAll('.stage canvas')].map((c) => c.toDataURL()).join()"
        )
        with self.open("#s=7") as page:
            opened = page.eval(look)
        with self.open() as page:
            page.key(*["ArrowRight"] * 9, *["ArrowLeft"] * 2)
            self.assertTrue(page.eval(look) == opened, "#s=7 is not seven steps on")
            self.assertEqual(page.eval("location.hash"), "#s=7")
            page.hash("s=9999999")
            page.eval("location.hash")
            page.hash("view=nothing&s=-1&k=x")
            heads = page.eval("document.querySelectorAll('.stage .head').length")
            self.assertEqual(heads, 3, "an address that means nothing breaks the page")

    def test_an_address_refused_comes_later(self) -> None:
        """A browser that refuses, because there were many a moment ago, as Safari does."""
        with self.open() as page:
            page.eval("history.replaceState = () => { throw new DOMException('too many', 'SecurityError'); }, 0")
            page.key("ArrowRight", "ArrowRight")
            self.assertEqual(page.eval(STEP), 2, "the step waits for the address")
            self.assertEqual(page.eval("location.hash"), "")
            page.eval("delete history.replaceState, 0")
            page.until("location.hash === '#s=2'")
            page.eval(
                "written = 0, keep = history.replaceState.bind(history), "
                "history.replaceState = (...all) => { written++; keep(...all); }, 0"
            )
            page.key("Space")
            page.until("document.querySelector('.scrub').value > 4")
            page.key("Space")
            self.assertEqual(page.eval("written"), 1, "playing writes the address")
            self.assertIs(page.eval("location.hash === '#s=' + document.querySelector('.scrub').value"), True)

    def test_a_tile_tells_its_line(self) -> None:
        with self.open("#s=22") as page:
            told = page.eval(
                "[...document.querySelectorAll('.tile')].filter((t) => "
                "t.getAttribute('aria-label').startsWith('K rows 96'))[2].focus(), "
                "document.getElementById('inspect').innerText"
            )
            source = page.eval("document.querySelector('#inspect pre').textContent")
            for words in ("FlashAttention-2", "barrier interval", "loaded"):
                self.assertIn(words, told)
            line = int(re.match(r"row\.cuh:(\d+) ", source)[1])
            expected = (ROOT / "05_fa2/row.cuh").read_text().splitlines()[line - 1].strip()
            self.assertIn("from[", expected)
            self.assertIn(expected, source)
            page.key("ArrowUp")
            label = page.eval("document.activeElement.getAttribute('aria-label')")
            self.assertTrue(label.startswith("K rows 64"), label)
            self.assertEqual(page.eval(STEP), 22, "an arrow among the tiles moved the clock")

    def test_tiles_are_one_stop_of_tab(self) -> None:
        """Kills: a stop for each tensor, 17 of them; arrows that stay in one tensor, or that change a step."""
        stops = "[...document.querySelectorAll('.stage [tabindex=\"0\"], .stage button:not([tabindex])')]"
        label = "document.activeElement.getAttribute('aria-label')"
        with self.open("#s=22") as page:
            self.assertEqual(
                (page.eval(f"{stops}.length"), page.eval("document.querySelectorAll('.tile').length")), (1, 204)
            )
            page.eval(f"{stops}[0].focus()")
            self.assertIn("Q rows 0", page.eval(label))
            seen = [page.key("ArrowRight") or page.eval(label) for _ in range(30)]
            self.assertTrue(seen[-1].endswith("LSE rows 0\u201331 of FlashAttention-2"), seen)
            page.key("ArrowRight", "ArrowDown", "Tab")
            left = page.eval(f"{stops}.map((one) => one.getAttribute('aria-label'))")
            self.assertEqual((left, page.eval(STEP)), (["LSE rows 32\u201363 of FlashAttention-2"], 22))
            self.assertIs(page.eval("document.activeElement.closest('.stage') === null"), True, "Tab stays there")

    def test_the_headline_is_the_footprint(self) -> None:
        """Requested bytes of FlashAttention-2 beside naive attention's footprint come first, then what the threads of
        naive attention request. Kills: 55x first; a claim about a cache, of which nothing was measured: that it serves
        most repeats, that without one the bytes requested would move (it would be sectors), that it moves a footprint
        of which half is written."""
        bytes_of = {}
        for name in ("naive", "fa2_row"):
            tiles = "--tile-q 32 --tile-k 32" if name == "fa2_row" else ""
            (kernel,) = self.run_json(ROOT / TRACED[name], f"--kernel {name} --heads 1 --seq 128 --dim 16 {tiles}")[
                "kernels"
            ]
            bytes_of[name] = [sum(kernel["hbm"][counts].values()) for counts in ("requested", "footprint")]
        (most, once), (least, _) = bytes_of.values()
        with self.open("#s=99998") as page:
            headline = "document.querySelector('.headline')"
            page.key("ArrowLeft")
            self.assertIs(page.eval(f"{headline}.checkVisibility()"), False, "told before the end")
            page.key("End")
            told = page.eval(f"{headline}.innerText")
            self.assertEqual(
                [x.replace(",", "") for x in re.findall(r"\d[\d,.]*\u00d7|\d[\d,]{4,}", told)],
                [f"{once / least:.2g}\u00d7", str(least), str(once), str(most), f"{most / least:.2g}\u00d7"],
            )
            self.expect_no_claim(told)

    def expect_no_claim(self, told: str) -> None:
        """Of caches it says what is true by the definitions of chapter 01, and no more."""
        self.assertIn("Caches may serve these repeats: no cache is simulated", told)
        self.assertNotRegex(told, "serves? most|[Ww]ithout any cache|perfect cache")

    def test_predict_first(self) -> None:
        naive = row_of("naive")
        with self.open() as page:
            page.eval("document.querySelector('.skip-story').click()")
            self.assertIn("bytes so far", page.eval(f"{naive}.innerText"), "the answer before the question")
            page.eval("document.querySelector('[name=naive]').focus()")
            page.type("plenty")
            page.key("Enter")
            self.assertIn("plenty", page.eval("document.querySelector('.predict [role=alert]').textContent"))
            page.eval("document.querySelector('[name=naive]').value = ''")
            page.type("4.5 MB")
            page.key("Enter")
            self.assertIs(page.eval("document.querySelector('.predict') === null"), True)
            page.key("End")
            moved = page.eval(f"Number({naive}.dataset.read) + Number({naive}.dataset.written)")
            self.assertIn(f"{4.5e6 / moved:.3g}", page.eval(f"{naive}.innerText"))
            meant = {"1e6": 1e6, "1,000": 1000, "1,234,567.5 kB": 1234567.5e3, ".5MB": 500000}
            meant.update(dict.fromkeys(["1,5 MB", "1.2.3", "-5", "1e999", "1,00"], -1))
            self.assertEqual(page.eval(f"{list(meant)}.map((guess) => parseBytes(guess) ?? -1)"), list(meant.values()))

    def test_no_example_gives_an_answer_away(self) -> None:
        """Kills: "Write 82176, 82 kB or 0.1 MB", the bytes of FlashAttention-2 and -1; a speed in bytes a second, a
        twelfth of the second total."""
        with self.open() as page:
            totals = page.eval("tracedKernels().map((kernel) => kernel.total)")
            page.eval("document.querySelector('.skip-story').click()")
            page.eval("document.querySelector('.predict input').focus()")
            page.type("plenty")
            page.key("Enter")
            told = page.eval(
                "document.querySelector('.predict').innerText + [...document.querySelectorAll('.predict *, .player *')]"
                ".flatMap((node) => ['placeholder', 'title', 'aria-label'].map((name) => node.getAttribute(name)))"
                ".join('; ')"
            )
            examples = re.findall(r"\d+(?:[,.]\d+)*(?:\s?[kMG]?B\b)?", told)
            guesses = [guess for guess in page.eval(f"{examples}.map(parseBytes)") if guess and guess >= 1000]
            self.assertEqual(guesses, [3000] * 3, examples)
            for total in totals:
                self.assertGreater(total, 10 * 3000)

    def test_no_total_is_told_before_a_kernel_is_done(self) -> None:
        """Neither in figures nor by a scale or a track; a scale grows with the clock alone."""
        with self.open("#s=1") as page:
            total = page.eval("count(tracedKernels()[0].total)")
            last = page.eval("Number(document.querySelector('.scrub').max)")
            self.assertNotIn(total, page.eval("document.getElementById('traffic').innerText"))
            self.assertIs(page.eval("document.querySelector('.forms').checkVisibility()"), False)
            page.hash(f"s={last - 1}")
            self.assertNotIn(total, page.eval("document.querySelector('.race').innerText"))
            page.hash("s=25")
            widths = page.eval(
                "[...document.querySelectorAll('.race .row .written')].map((strip) => " + FILLED.format("strip") + ")"
            )
            self.assertLess(max(widths) - min(widths), 1e-3, "one clock, and the bars differ")
            self.assertGreater(min(widths), 1)
            page.hash(f"s={last}")
            self.assertIn(total, page.eval("document.querySelector('.race').innerText"))
            self.assertIs(page.eval("document.querySelector('.forms').checkVisibility()"), True)

    def test_bytes_move_at_a_constant_rate(self) -> None:
        """All of the race takes 12 s, at x1/N N times as long; the factor by which time is stretched is on the page.
        Groups are passed through, not jumped over. Kills: a second rate for what the longest does alone, another
        duration, a factor that forgets the speed."""
        watch = (
            "frames = [], real = requestAnimationFrame, "
            "window.requestAnimationFrame = (draw) => real((now) => { draw(now); "
            f"const {{read, written}} = {row_of('naive')}.dataset; "
            "frames.push([now, Number(read) + Number(written)]); }), 0"
        )

        def rates(page: Page) -> list[float]:
            """Bytes a millisecond from frame to frame, where the machine left no long gap between two of them."""
            page.eval("frames.length = 0")
            page.until("frames.length > 30")
            frames = page.eval("frames")
            pairs = [(u - t, b - a) for (t, a), (u, b) in zip(frames, frames[1:]) if u - t < 250]
            self.assertGreater(len(pairs), 10)
            return sorted(moved / time for time, moved in pairs if time > 10)

        with self.open() as page:
            page.eval(watch)
            page.key("Space")
            slow = rates(page)
            self.assertEqual(page.eval("document.querySelector('.speed').textContent"), "\u00d71")
            self.assertLess(slow[-1] / slow[0], 1.1, "not a constant rate")
            ends = page.eval("tracedKernels()[0].groups.map((group) => group.end)")
            moved = page.eval(f"Number({row_of('naive')}.dataset.read) + Number({row_of('naive')}.dataset.written)")
            self.assertNotIn(moved, ends, "it jumps from barrier to barrier")
            page.eval("document.querySelector('.speed').click()")
            self.assertEqual(page.eval("document.querySelector('.speed').textContent"), "\u00d71/4")
            slower = rates(page)
            self.assertAlmostEqual(slow[len(slow) // 2] / slower[len(slower) // 2], 4, delta=0.4)
            total, hbm = page.eval("tracedKernels()[0].total"), 3.35e12
            self.assertAlmostEqual(slow[len(slow) // 2] * 12000 / total, 1, delta=0.1)
            clock = page.eval("document.querySelector('.clock').textContent")
            self.assertIn(f"stretched {float(f'{4 * 12 * hbm / total:.2g}'):,.0f} times", clock)
            page.hash(f"s={page.eval(STEP + ' + 60')}")  # beyond the others' ends
            page.eval("[0, 1, 2].forEach(() => document.querySelector('.speed').click())")
            page.key("Space")
            alone = rates(page)
            self.assertAlmostEqual(alone[len(alone) // 2] / slow[len(slow) // 2], 1, delta=0.1)

    def test_frames_lay_nothing_out(self) -> None:
        """Chromium's trace: words eight times a second, and no other layout, however many frames there are. Kills: a
        width, a left or a text that is set in every frame, 25 to 60 layouts a second; a stage built anew in each frame,
        over half of what 30 frames a second leave the main thread."""
        race = "document.querySelector('[aria-label=\"The race at these sizes\"] button')"
        for start in ("document.querySelector('.player .main')", race):
            with self.subTest(start), self.open("#s=99999" if "player" not in start else "#s=1") as page:
                page.eval(f"{start}.click()")
                found = measure(page, 2)
                self.assertGreater(found["played"], 0)
                self.assertLess(found["layouts"], 11, found)
                self.assertLess(found["busy"], 16, found)

    def test_shared_memory_says_its_scale(self) -> None:
        """Its box is as large, a byte, as global memory's; what is drawn larger says how much."""
        areas = (
            "[...document.querySelectorAll('.inset')].map((inset) => { const box = inset.querySelector('i'), "
            "cell = inset.closest('.content').querySelector('.memory canvas').getBoundingClientRect(); "
            "return [box.style.width, box.style.height, cell.width, cell.height].map(parseFloat)"
            ".concat(Number(inset.dataset.zoom)); })"
        )
        with self.open("#s=7") as page:
            insets = page.eval(areas)
            kernels = page.eval("tracedKernels().slice(1).map((kernel) => kernel.shared[0].bytes)")
            pixels = page.eval(
                "[...document.querySelectorAll('.stage .tensors')].map((cell) => { const box = "
                "cell.querySelectorAll('.memory')[0].getBoundingClientRect(); return box.height; })"
            )
            self.assertEqual(len(insets), 2)
            largest = page.eval(
                "(() => { const box = document.querySelectorAll('.stage .tensors .memory')[3].getBoundingClientRect(); "
                "return box.width * box.height / (4 * 128 * 128); })()"
            )
            self.assertGreater(min(pixels), 0)
            for (width, height, wide, high, zoom), size in zip(insets, kernels):
                self.assertGreater(zoom, 1.1)
                self.assertAlmostEqual(width * height / size / largest, 1, delta=0.12)
                self.assertAlmostEqual(high / height, zoom, delta=0.1 * zoom)
                self.assertAlmostEqual(wide / width, zoom, delta=0.1 * zoom)

    def test_the_story_comes_first(self) -> None:
        """Six captions, then the question. Kills: a caption that pushes what it speaks of off a telephone's screen, or
        covers it; a picture as bright where the caption does not speak of it."""
        title = "document.querySelector('.story h2').textContent"
        spoken = """[...document.querySelectorAll('.stage .content:not(.dimmed)')]
            .filter((cell) => cell.checkVisibility())
            .map((cell) => [cell.dataset.kernel, cell.dataset.lane, ...(({top, bottom}) => [top, bottom])(
            cell.querySelector('canvas, .threads, .code, .unused').getBoundingClientRect())])"""
        lanes = ["Global memory", "Shared memory", "Registers", "Source"]
        expected = [lanes[:1], lanes[:2], lanes[1:3], lanes[1:3], lanes[:1], lanes]
        with self.open(size=(360, 740)) as page:
            for part in (".player", ".predict", ".forms", ".race"):
                self.assertIs(page.eval(f"document.querySelector('{part}').checkVisibility()"), False, part)
            titles, heads = [], []
            for _ in range(6):
                titles.append(page.eval(title))
                heads.append(page.eval("document.querySelector('.stage .told').dataset.kernel"))
                self.assertLessEqual(page.eval(WIDTH), 360)
                cells, beat = page.eval(spoken), len(titles) - 1
                self.assertEqual(
                    [(kernel, lane) for kernel, lane, *_ in cells], [(heads[-1], x) for x in expected[beat]]
                )
                top, bottom = page.eval(
                    "(({top, bottom}) => [top, bottom])(document.querySelector('.story').getBoundingClientRect())"
                )
                self.assertLessEqual(bottom, 740)
                for _, lane, above, below in cells[: 2 if beat < 5 else 1]:
                    self.assertGreaterEqual(min(below, top) - above, min(40, below - above), f"{titles[-1]}: {lane}")
                page.eval("document.querySelector('.story .main').click()")
            self.assertEqual(len(set(titles)), 6)
            self.assertEqual(heads, ["naive"] + ["fa2_row"] * 5)
            self.assertIs(page.eval("document.querySelector('.story').hidden"), True)
            self.assertIs(page.eval("document.querySelector('.predict').checkVisibility()"), True)
            self.assertEqual(page.eval(STEP), 0)
        with self.open(size=(900, 900)) as page:  # where two kernels have room
            page.eval("document.querySelector('.story .main').click()")
            self.assertEqual(page.eval("document.querySelector('.stage .told').dataset.kernel"), "fa2_row")
        with self.open() as page:
            dimmed = "[...document.querySelectorAll('.stage .dimmed canvas')].map((c) => getComputedStyle(c).opacity)"
            self.assertEqual(set(page.eval(dimmed)), {"0.25"})
            for word, flow in (("S stays here", ""), ("O is written once", "written")):
                while page.eval(title) != word:
                    page.eval("document.querySelector('.story .main').click()")
                column = "[...document.querySelectorAll('.stage .flows')].filter((_, i) => i % 3 === 2)[0].innerText"
                self.assertIn(flow, page.eval(column))
                self.assertIs(page.eval(column) == "", flow == "")

    def test_sliders_drive_the_closed_forms(self) -> None:
        """The page's closed forms are written twice, here and in explorer/course_page: that is the test."""
        N, d, Br, Bc = 4096, 64, 128, 64

        def slide(page: Page, values: str) -> None:
            page.eval(
                f"Object.entries({values}).forEach(([name, value]) => {{ const slider = "
                "document.querySelector(`.sliders [data-name=${name}]`); slider.value = "
                "data.forms.sliders[name].indexOf(value); slider.dispatchEvent(new Event('input')); })"
            )

        expected = [
            4 * N * N + 4 * N * d,
            (3 * math.ceil(N / Bc) + 1) * N * d,
            2 * N * d * (1 + math.ceil(N / Br)),
        ]
        with self.open("#s=99999") as page:
            equal = page.eval("document.querySelector('.verdict').dataset.equal")
            self.assertEqual(equal, "true", "what was counted is not the closed form")
            slide(page, f"{{N: {N}, d: {d}, Br: {Br}, Bc: {Bc}}}")
            titles = page.eval("[...document.querySelectorAll('.form-rows output')].map((o) => o.title)")
            self.assertEqual([int(re.sub(r"\D", "", title)) for title in titles], expected)
            verdict = page.eval("document.querySelector('.verdict').innerText")
            self.assertIn("2Br/d = 4", verdict)
            first, requested = f"{expected[0] / expected[2]:.3g}\u00d7", 4 * N * N * d + 5 * N * N + N * d
            self.assertIn(first, verdict)
            # Kills: what is requested before the footprint, or as if no cache could change it.
            self.assertLess(verdict.index(first), verdict.index(f"{requested / expected[2]:.3g}\u00d7"))
            self.expect_no_claim(page.eval("document.querySelector('.forms-card').innerText"))
            # Tiles that do not fit.
            fits = "document.querySelector('[data-fits]').textContent"
            self.assertNotIn("Does not fit", page.eval(fits))
            self.assertIn("A tile of S is 32.8\u00a0kB, all of S would be 67.1\u00a0MB", page.eval(fits))
            slide(page, "{N: 4096, d: 128, Br: 128, Bc: 256}")
            self.assertIn("262\u00a0kB, a block of an H100 has 232\u00a0kB (227 KiB)", page.eval(fits))
            self.assertIn("Does not fit", page.eval(fits))
            # The bars begin at 0. Kills: a log scale, on which a fiftieth was half as long.
            bars = page.eval(
                "[...document.querySelectorAll('.form-rows .form-row:has(output)')].map((row) => "
                "[parseFloat(row.querySelector('.bar i').style.width), row.querySelector('output').title])"
            )
            self.assertEqual(len(bars), 3)
            sizes = [int(re.sub(r"\D", "", title)) for _, title in bars]
            for (width, _), size in zip(bars, sizes):
                self.assertAlmostEqual(width, 100 * size / max(sizes), delta=1e-3)
            # Br < d: 2 (N + d) / (d (1 + N / Br)) is 1 / 2.25, more than 2Br/d = 0.25, which it falls to.
            slide(page, "{N: 128, d: 128, Br: 16}")
            loss = page.eval("document.querySelector('.verdict').innerText")
            self.assertIn("2.25\u00d7 as many bytes", loss)
            self.assertIn("falls to 2Br/d = 0.25", loss)

    def test_sliders_drive_a_race(self) -> None:
        """Bytes of the closed forms, at one rate; anew when a slider moves, at its end with reduced motion."""
        N, d, Br, Bc = 1024, 32, 64, 128
        sizes = [4 * N * N + 4 * N * d, (3 * N // Bc + 1) * N * d, 2 * N * d * (1 + N // Br)]
        lanes = (
            "[...document.querySelectorAll('[aria-label=\"The race at these sizes\"] .form-row')].map((row) => "
            "[" + FILLED.format("row.querySelector('i')") + ", row.querySelector('output').dataset.done === 'true'])"
        )
        told = "document.querySelector('[data-race]').textContent"
        slide = "for (const [name, value] of Object.entries({values})) {{ const slider = "
        slide += "document.querySelector(`.sliders [data-name=${{name}}]`); slider.value = "
        slide += "data.forms.sliders[name].indexOf(value); slider.dispatchEvent(new Event('input')); }}"
        values = f"{{N: {N}, d: {d}, Br: {Br}, Bc: {Bc}}}"
        with self.open("#s=99999", reduced=True) as page:
            self.assertEqual(page.eval(lanes), [[0, False]] * 3)
            page.eval(slide.format(values=values))
            for (width, done), size in zip(page.eval(lanes), sizes):
                self.assertAlmostEqual(width, 100 * size / max(sizes), delta=1e-3)
                self.assertIs(done, True)
            self.assertIn(f"{sizes[0] / sizes[2]:.3g}\u00d7 the bytes", page.eval(told))
        with self.open("#s=99999") as page:
            page.eval(slide.format(values=values))
            page.until(f"{lanes}[2][1] && !{lanes}[0][1]")
            first, second, last = (width for width, _ in page.eval(lanes))
            self.assertAlmostEqual(last, 100 * sizes[2] / max(sizes), delta=1e-3)
            self.assertTrue(last <= first < 100)
            self.assertAlmostEqual(second, min(first, 100 * sizes[1] / max(sizes)), delta=1e-3)
            page.eval(slide.format(values="{N: 2048}"))
            page.until(f"{lanes}[0][0] > 0")
            self.assertLess(page.eval(lanes)[0][0], 30, "it did not start anew")
            page.eval("document.querySelector('[aria-label=\"The race at these sizes\"] button').click()")
            stopped = page.eval(lanes)
            self.assertEqual(page.eval(f"new Promise((done) => setTimeout(() => done({lanes}), 300))"), stopped)


class Look(PageCase):
    def expect_fits(self, size: tuple[int, int], dark: bool) -> None:
        with self.open("#s=25", size=size, dark=dark) as page:
            widths = [page.eval(WIDTH)]
            for address in ("view=tile&s=9", "view=softmax&s=2", "view=softmax&p=1&s=3&forget=1", "view=traffic"):
                page.hash(address)
                widths.append(page.eval(WIDTH))
            self.assertLessEqual(max(widths), size[0], widths)
            lowest = page.eval(
                "Math.min(...[...document.querySelectorAll('button:not(.tile), a.button')].filter((b) => "
                "b.offsetParent).map((b) => b.getBoundingClientRect().height))"
            )
            self.assertGreaterEqual(lowest, 36, "the height of a button")
            background = page.eval("getComputedStyle(document.body).backgroundColor")
            self.assertEqual(background, "rgb(13, 17, 23)" if dark else "rgb(255, 255, 255)")

    def test_fits_a_telephone(self) -> None:
        self.expect_fits((375, 800), dark=False)
        with self.open("#s=99999", size=(360, 740)) as page:
            wide = "[...document.querySelectorAll('.sliders output')].map((one) => { one.textContent = '16,384'; "
            wide += "return one.scrollWidth - one.clientWidth; })"
            self.assertEqual(max(page.eval(wide)), 0)

    def test_fits_a_desk_in_the_dark(self) -> None:
        self.expect_fits((1440, 900), dark=True)

    def test_is_accessible(self) -> None:
        """Our own check of what WCAG 2.1 AA asks of such a page; it has to find what is planted. Kills: ink on ink, the
        swatch of naive attention on its pressed chip; bars of FlashAttention-1 and 2 with 2.9:1 on a gray ground."""
        check = (Path(__file__).parent / "accessible.js").read_text()
        for address in ("", "#s=25", "#s=99999", f"{SOFTMAX}&s=3", f"{SOFTMAX}&p=1&s=3&forget=1"):
            for size, dark in (((1440, 900), False), ((390, 844), True), ((800, 844), False)):
                with self.subTest(address, size=size), self.open(address, size=size, dark=dark) as page:
                    self.assertEqual(page.eval(check), [])
        with self.open("#s=25") as page:
            page.eval(
                "document.querySelector('.clock').style.color = '#bbb', "
                "document.querySelector('.memory canvas').style.outline = 'none', "
                "document.querySelector('.player button').removeAttribute('aria-label'), "
                "document.querySelector('.player button').removeAttribute('title'), "
                "document.querySelector('.head .kernel').style.setProperty('--own', 'var(--ground)'), "
                "document.querySelector('.race .read').style.background = 'var(--line)', 0"
            )
            found = "\n".join(page.eval(check))
            for word in ("contrast", "outline 1", "no name", "swatch 1", "bar 1"):
                self.assertIn(word, found)

    def test_colors_are_those_of_the_pictures(self) -> None:
        """Blue is loaded, vermilion stored, green the output; a kernel has its color of the charts. Kills: amber for
        what is stored; two kernels' colors exchanged; colors of the other theme in what is drawn before the theme is
        known."""
        pixels = (
            "((canvas, ...places) => {{ const {{width, height}} = canvas; "
            "const {{data}} = canvas.getContext('2d').getImageData(0, 0, width, height); "
            "return places.map(([x, y]) => '#' + [0, 1, 2].map((part) => data[4 * (y * width + x) + part]"
            ".toString(16).padStart(2, '0')).join('')); }})(document.querySelector('{}'), {})"
        )
        style = "getComputedStyle(document.documentElement).getPropertyValue('--{}').trim()"
        for theme, colors in ((False, LIGHT), (True, DARK)):
            vermilion, blue = colors.vermilion.lower(), colors.blue.lower()
            with self.subTest(colors.name), self.open("#s=99999", dark=theme) as page:
                self.assertEqual(page.eval(style.format("store-fill")), vermilion)
                self.assertEqual(page.eval(style.format("load")), blue)
                self.assertEqual(page.eval(style.format("output")), colors.green.lower())
                charts = dict(re.findall(r"(\w+)=(\w+)=\d+", (ROOT / "plots/colors.gp").read_text()))
                look = (ROOT / "plots/theme.gp").read_text().partition("if (theme eq 'dark') {")
                dark, _, light = look[2].partition("} else {")
                hues = dict(re.findall(r"(\w+) = '(#\w+)'", look[0] + (dark if theme else light)))
                for kernel in TRACED:
                    own = page.eval(
                        f"getComputedStyle({row_of(kernel)}.querySelector('.kernel'), '::before').backgroundColor"
                    )
                    hue = hues[{"naive": "foreground", "fa1": "orange", "fa2": "purple"}[charts[kernel]]]
                    rgb = ", ".join(str(int(hue[at : at + 2], 16)) for at in (1, 3, 5))
                    self.assertEqual(own, f"rgb({rgb})", kernel)
                inset = page.eval("getComputedStyle(document.querySelector('.inset i')).backgroundColor")
                self.assertEqual(inset, "rgb(29, 36, 44)" if theme else "rgb(237, 240, 243)")
                # The last that naive attention does is to store a number of O's last row.
                drawn = page.eval(
                    pixels.format(
                        '.memory:has([aria-label^="O rows 0"][aria-label$="Naive attention"]) canvas',
                        "[15, 127], [14, 127]",
                    )
                )
                self.assertIn(vermilion, drawn)

    def test_an_atomic_has_a_color_of_its_own(self) -> None:
        """Kills: purple for what is added, which is FlashAttention-2's; a color that a theme hides; an atomic that only
        its color tells from a load."""
        names = ["load", "store-fill", "output", "fa1", "fa2", "mark"]
        style = "getComputedStyle(document.documentElement).getPropertyValue('--{}').trim()"

        def parts(page: Page, name: str) -> list[float]:
            shown = page.eval(style.format(name))
            return [int(shown[at : at + 2], 16) / 255 for at in (1, 3, 5)]

        def light(rgb: list[float]) -> float:
            linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in rgb]
            return sum(share * x for share, x in zip((0.2126, 0.7152, 0.0722), linear)) + 0.05

        for dark in (False, True):
            with self.subTest(dark=dark), self.open(dark=dark) as page:
                own = colorsys.rgb_to_hls(*parts(page, "atomic"))[0]
                for name in names:
                    apart = abs(own - colorsys.rgb_to_hls(*parts(page, name))[0])
                    self.assertGreater(360 * min(apart, 1 - apart), 45, name)
                for name in ("ground", "raised", "faint"):
                    low, high = sorted((light(parts(page, "atomic")), light(parts(page, name))))
                    self.assertGreater(high / low, 3, name)
                self.assertEqual(
                    page.eval("[palette[ADDED] === palette[64 + ADDED], palette[LOADED] === palette[64 + LOADED]]"),
                    [False, True],
                    "stores and atomics are hatched, loads are not",
                )

    def test_words_are_smaller_than_headings(self) -> None:
        """The names of the rows in the picture of a score, as they are shown. Kills: words in a picture that grows with
        its card, 20 px, larger than every heading, and 10 px on a telephone."""
        shown = """[...document.querySelectorAll('.dot-card p, .dot-card text')].map((node) =>
            parseFloat(getComputedStyle(node).fontSize) * (node.getScreenCTM ? node.getScreenCTM().a : 1))"""
        for size in ((1440, 900), (900, 800), (360, 740)):
            with self.subTest(size=size), self.open("#view=tile&s=9", size=size) as page:
                sizes = page.eval(shown)
                self.assertEqual(len(sizes), 4, "what it is the sum of, and three rows")
                self.assertTrue(all(12 <= one <= 14 for one in sizes), sizes)
                wide = "[...document.querySelectorAll('.dot svg')].map((one) => one.getBoundingClientRect().width)"
                room = page.eval("document.querySelector('.dot').getBoundingClientRect().width")
                self.assertEqual(page.eval(wide), [room] * 3)

    def test_bytes_travel_between_lanes(self) -> None:
        pipes = "[...document.querySelectorAll('.pipe')].map((pipe) => [pipe.hasAttribute('data-down'), "
        pipes += "pipe.hasAttribute('data-up'), getComputedStyle(pipe, '::before').animationName].join()).join(' ')"
        with self.open("#s=99999") as page:
            still = page.eval(pipes)
            self.assertIn("true,true,none", still, "naive attention's last block moves nothing")
            self.assertIn("false,false,none", still, "a kernel that is done moves something")
            page.key("Home")
            # What moves is drawn anew several times a second: the page keeps what it showed, so nothing is missed.
            page.eval(
                f"window.seen = new Set(), new MutationObserver(() => seen.add({pipes})).observe("
                "document.body, {attributes: true, subtree: true})"
            )
            page.key("Space")
            page.until("[...seen].some((one) => one.includes('true,false,travel'))")

    def test_one_index_base(self) -> None:
        """A block has the same number beside the bar and on the stage."""
        with self.open("#s=25") as page:
            race = page.eval("[...document.querySelectorAll('.race .count small')].map((s) => s.textContent).join()")
            stage = page.eval("[...document.querySelectorAll('.stage .where')].map((s) => s.textContent).join()")
            for block in re.findall(r"block (\d+)", race):
                self.assertIn(f"block {block} ", stage)
            self.assertIn("of 0\u2013127", race)
            self.assertIn(
                "in this interval", page.eval("document.querySelector('.stage .tensors ~ .flows').textContent")
            )
            spoken = page.eval("document.querySelector('.sliders [data-name=N]').getAttribute('aria-valuetext')")
            self.assertEqual(spoken, "128 sequence length")

    def test_theme_and_motion(self) -> None:
        theme = "document.documentElement.dataset.theme"
        for reduced, motion in ((True, ["0s", "none"]), (False, ["0.18s", "act"])):
            with self.open(f"{SOFTMAX}&s=2", reduced=reduced) as page:
                moves = (
                    "[getComputedStyle(document.querySelector('.weights rect')).transitionDuration.split(',')[0], "
                    "getComputedStyle(document.querySelector('.lit')).animationName]"
                )
                self.assertEqual(page.eval(moves), motion)
        with self.open() as page:
            self.assertEqual(page.eval(f"document.getElementById('theme').click(), {theme}"), "dark")
            page.hash("theme=light")
            self.assertEqual(page.eval(theme), "light")

    def test_the_maximum_is_written_whole(self) -> None:
        beyond = (
            "[...document.querySelectorAll('.bars .tag')].filter((tag) => { const box = tag.getBBox(); return "
            "box.x + box.width > tag.ownerSVGElement.viewBox.baseVal.width; }).map((tag) => tag.textContent).join()"
        )
        with self.open(f"{SOFTMAX}&p=1&s=1", size=(375, 800)) as page:
            self.assertEqual(page.eval(beyond), "", "cut off")
            page.hash("view=softmax&x=-3e38,-1.111e38&b=1&s=2")
            self.assertEqual(page.eval(beyond), "", "cut off")
            self.assertEqual(page.eval("document.querySelectorAll('.bars .tag').length"), 2)


class Softmax(PageCase):
    def test_a_link_past_the_tabs_keeps_the_step(self) -> None:
        address = f"{SOFTMAX}&x=1,2,3&b=1&s=3&theme=nothing"
        with self.open(address) as page:
            page.key("Tab")
            self.assertEqual(page.eval("document.activeElement.className"), "skip")
            page.key("Enter")
            self.assertEqual(page.eval("new Promise((done) => setTimeout(() => done(location.hash), 100))"), address)
            self.assertEqual(page.eval("document.activeElement.id"), "main")
            self.assertAlmostEqual(number(page.eval(named("l"))), 1 + math.exp(-1) + math.exp(-2), delta=1e-5)
            self.assertEqual(page.eval("document.documentElement.dataset.theme"), "light")

    def compare_trace(self, address: str, options: str) -> None:
        """m, correction and l of every block, the program's and the page's."""
        trace = self.run_json(ROOT / "02_online_softmax/online_softmax", f"--trace {options}")["trace"]
        self.assertGreater(len(trace), 2)
        with self.open(SOFTMAX) as page:
            for block, update in enumerate(trace, 1):
                page.hash(f"view=softmax&{address}&s={block}")
                for key in ("m", "correction", "l"):
                    expected = -math.inf if update[key] is None else update[key]
                    shown = number(page.eval(named(key)))
                    same = shown == expected or abs(shown - expected) <= 1e-3 * abs(expected)
                    self.assertTrue(same, f"block {block}: {key} is {expected}, the page says {shown}")

    def test_softmax_is_the_programs(self) -> None:
        self.compare_trace("x=3,-1.5,0.25,7,7.5,2,9,-4&b=3", "--values 3,-1.5,0.25,7,7.5,2,9,-4 --block 3")
        self.compare_trace("x=-inf,-inf,-inf,2,1,-inf&b=2", "--values -inf,-inf,-inf,2,1,-inf --block 2")

    def test_softmax_of_a_real_row_is_the_runs(self) -> None:
        self.compare_trace("p=1", f"--load {ROOT}/tests/data/real_qkv --row 1023 --block 64")

    def test_o_is_the_attention_of_the_row(self) -> None:
        """V's column mixed with the softmax, as the recurrence leaves it; without the correction O is another."""
        x, v = (1, 2, 3, 6, 2, 1), (5, -2, 0.5, 1, 7, 2)
        weights = [math.exp(score) for score in x]
        expected = sum(weight * value for weight, value in zip(weights, v)) / sum(weights)
        address = f"{SOFTMAX}&x={','.join(map(str, x))}&v={','.join(map(str, v))}&b=2"
        with self.open(f"{address}&s=3") as page:
            self.assertAlmostEqual(number(page.eval(named("output"))), expected, delta=1e-4)
            self.assertAlmostEqual(number(page.eval(named("expected"))), expected, delta=1e-4)
            self.assertIn("v=5", page.eval("document.getElementById('forget').click(), location.hash"))
            o = l = 0.0
            m = -math.inf
            for first in (0, 2, 4):
                m = max(m, *x[first : first + 2])
                l += sum(math.exp(score - m) for score in x[first : first + 2])
                pairs = zip(x[first : first + 2], v[first : first + 2])
                o += sum(math.exp(score - m) * value for score, value in pairs)
            self.assertAlmostEqual(number(page.eval(named("output"))), o / l, delta=1e-4)
            self.assertGreater(abs(o / l - expected), 0.1)

    def test_the_formula_is_lit_where_it_acts(self) -> None:
        lit = "[...document.querySelectorAll('.formula .lit')].map((term) => term.dataset.term).join()"
        with self.open(f"{SOFTMAX}&x=1,2,3,6,2,1&b=2&s=0") as page:
            self.assertEqual(page.eval(lit), "")
            for step, terms in (
                (1, "maximum,sum,output"),
                (2, "maximum,correction,sum,correction,output"),
                (3, "sum,output,divide"),
            ):
                page.key("ArrowRight")
                self.assertEqual(page.eval(lit), terms, step)
            self.assertIn("Block 2 of 0\u20132", page.eval("document.querySelector('#softmax .clock').textContent"))
            page.hash("view=softmax&x=1,2,3,6,2,1&b=2&s=2&forget=1")
            self.assertEqual(page.eval(lit), "maximum,forgotten,sum,forgotten,output")

    def test_forgetting_the_correction_is_wrong(self) -> None:
        total = named("total")
        right = math.exp(-5) + math.exp(-4) + math.exp(-3) + 1 + math.exp(-4) + math.exp(-5)
        # The first block keeps its own maximum.
        wrong = 1 + math.exp(-1) + 1 + math.exp(-3) + math.exp(-4) + math.exp(-5)
        with self.open(f"{SOFTMAX}&x=1,2,3,6,2,1&b=2&s=3") as page:
            self.assertAlmostEqual(number(page.eval(total)), 1, delta=1e-5)
            forgotten = page.eval(f"document.getElementById('forget').click(), {total}")
            self.assertAlmostEqual(number(forgotten), right / wrong, delta=1e-4)
            self.assertIn("forget=1", page.eval("location.hash"))
            self.assertGreater(page.eval("document.querySelectorAll('.online.off').length"), 0)
            self.assertTrue(page.eval("document.querySelector('.equations .error').textContent"))

    def test_the_legend_names_what_is_drawn(self) -> None:
        """Kills: a blue swatch beside crimson bars, a line without a name, numbers over each other, a minus behind a
        minus, a run that is not named."""
        colors = "['.swatch-online', '.chart .online'].map((one) => getComputedStyle(document.querySelector(one)))"
        colors += ".map(({backgroundColor, fill}, i) => i ? fill : backgroundColor)"
        boxes = "[...document.querySelectorAll('.bars .value')].map((text) => text.getBoundingClientRect())"
        overlap = f"{boxes}.some((box, i, all) => i > 0 && box.left < all[i - 1].right)"
        with self.open(f"{SOFTMAX}&x=-20.5,-8.75,3,6,2,1&b=1&s=2") as page:
            for _ in range(2):
                swatch, bar = page.eval(colors)
                self.assertEqual(swatch, bar)
                page.eval("document.getElementById('forget').click()")
            legends = page.eval("[...document.querySelectorAll('.legend')].map((one) => one.textContent).join('|')")
            self.assertIn("O of the standard softmax", legends)
            stroke = "getComputedStyle(document.querySelector('.chart.{} .maximum')).stroke"
            lines = [page.eval(stroke.format(chart)) for chart in ("bars", "column")]
            self.assertEqual(lines, ["rgb(143, 98, 0)", "rgb(0, 158, 115)"], "m amber, O green")
            self.assertIn(
                "e\u221220.5 \u2212 (\u22128.75)", page.eval("document.querySelector('.equations').textContent")
            )
            self.assertEqual(page.eval("document.querySelectorAll('.bars .value').length"), 6)
            for size in (24, 16, 8):
                page.hash(f"view=softmax&b=1&s=1&x={','.join(str(-1.25 * i) for i in range(size))}")
                self.assertIs(page.eval(overlap), False, size)
            page.hash("view=softmax")
            self.assertIn(
                "of the run ./online_softmax", page.eval("document.querySelector('#softmax .clock').textContent")
            )

    def test_softmax_takes_no_nonsense(self) -> None:
        def typed(page: Page, value: str, field: str = "values") -> str:
            place = f"document.getElementById('{field}')"
            return page.eval(
                f"{place}.value = '{value}', {place}.dispatchEvent(new Event('input')), "
                "document.getElementById('softmax-error').textContent"
            )

        with self.open(SOFTMAX) as page:
            self.assertRegex(typed(page, "1, abc, 3"), "Value 2.*abc|abc.*Value 2")
            self.assertIn("No values", typed(page, ""))
            self.assertIn("Value 2", typed(page, "1, inf"))
            self.assertIn("Value 1", typed(page, "1e99"))
            self.assertEqual(typed(page, "4, -inf, 2"), "")
            self.assertIn("whole number", typed(page, "0", "block"))
            self.assertIn("to 4096", typed(page, "4097", "block"), "an address would not hold it")


if __name__ == "__main__":
    unittest.main()
