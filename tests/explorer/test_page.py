"""What `make explorer` writes, made from this build: small and self-contained, its counters those of --json to the
byte, its keys, its addresses, its numbers."""

from __future__ import annotations

import colorsys
import math
import re
import statistics
from pathlib import Path

from browser import Page
from case import BUILD, ROOT, Case, run
from lib.diagrams.svg import DARK, LIGHT

EXPLORER = BUILD / "explorer/explorer.html"
SOFTMAX = "#view=softmax"
STEP = "Number(document.querySelector('.scrub').value)"
LAST = "Number(document.querySelector('.scrub').max)"
WIDTH = "document.documentElement.scrollWidth"
LABEL = "document.activeElement.getAttribute('aria-label')"
FILLED = "100 + parseFloat({}.style.transform.slice(11))"  # percent: translateX(-75%)
STYLE = "getComputedStyle(document.documentElement).getPropertyValue('--{}').trim()"
TRACED = {"naive": "01_naive/naive", "fa1_paper": "04_fa1/fa1", "fa2_row": "05_fa2/fa2"}
DESK, TELEPHONE = (1440, 900), (360, 740)


def row_of(kernel: str) -> str:
    return f"document.querySelector('.race [data-kernel={kernel}]')"


def moved(kernel: str) -> str:
    return f"(({{read, written}}) => Number(read) + Number(written))({row_of(kernel)}.dataset)"


def named(name: str) -> str:
    return f"document.querySelector('[data-name={name}]').textContent"


def slide(values: str) -> str:
    """Moves the sliders of the closed forms."""
    return (
        f"Object.entries({values}).forEach(([name, value]) => {{ const slider = "
        "document.querySelector(`.sliders [data-name=${name}]`); slider.value = "
        "data.forms.sliders[name].indexOf(value); slider.dispatchEvent(new Event('input')); })"
    )


def number(shown: str) -> float:
    """As the page writes it: minus signs that are no hyphens, an infinity."""
    found = re.match(r"-?(inf|[\d.]+(e[-+]?\d+)?)", shown.replace("\u2212", "-").replace("\u221e", "inf"))
    return float(found[0]) if found else math.nan


class PageCase(Case):
    def open(self, fragment: str = "", **how: object) -> Page:
        return Page(EXPLORER, fragment, **how)

    def answer(self, page: Page, text: str) -> None:
        """As a guess of naive attention's bytes."""
        page.eval("document.querySelector('[name=naive]').value = '', document.querySelector('[name=naive]').focus()")
        page.type(text)
        page.key("Enter")


class File(PageCase):
    def test_is_one_small_file_that_leads_back_to_the_course(self) -> None:
        """Kills: what a page without a network cannot have; a wrong link, or none."""
        text = EXPLORER.read_text()
        self.assertLess(EXPLORER.stat().st_size, 500000)
        for foreign in ("src=", "@import", "url(", "fetch(", "XMLHttpRequest", "https:"):
            self.assertFalse(foreign in text, f"it holds {foreign}")
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
        """And the headline: requested bytes of FlashAttention-2 beside naive attention's footprint come first, then
        what naive attention's threads request. Kills: 55x first; told before the end."""
        with self.open("#s=99998") as page:
            headline = "document.querySelector('.headline')"
            page.key("ArrowLeft")
            self.assertIs(page.eval(f"{headline}.checkVisibility()"), False, "told before the end")
            page.key("End")
            told = page.eval(f"{headline}.innerText")
            rows = page.eval(
                "[...document.querySelectorAll('.race .row')].map((row, i) => [row.dataset.kernel, "
                "data.runs[i].command, Number(row.dataset.read), Number(row.dataset.written), "
                "row.querySelector('.count b').textContent])"
            )
        self.assertEqual([row[0] for row in rows], list(TRACED))
        footprints, totals = {}, {}
        for name, command, read, written, shown in rows:
            result = self.run_json(ROOT / TRACED[name], command.partition(" ")[2])
            (kernel,) = (kernel for kernel in result["kernels"] if kernel["name"] == name)
            requested = kernel["hbm"]["requested"]
            self.assertEqual((read, written), (requested["read_bytes"], requested["write_bytes"]), name)
            self.assertEqual(int(re.match(r"[\d,]+", shown)[0].replace(",", "")), read + written, name)
            footprints[name], totals[name] = sum(kernel["hbm"]["footprint"].values()), read + written
        most, once, least = totals["naive"], footprints["naive"], totals["fa2_row"]
        self.assertEqual(
            [x.replace(",", "") for x in re.findall(r"\d[\d,.]*\u00d7|\d[\d,]{4,}", told)],
            [f"{once / least:.2g}\u00d7", str(least), str(once), str(most), f"{most / least:.2g}\u00d7"],
        )
        self.assertIn("Caches may serve these repeats: no cache is simulated", told)

    def test_steps_by_keyboard(self) -> None:
        with self.open() as page:
            page.key("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft")
            self.assertEqual((page.eval(STEP), page.eval("location.hash")), (2, "#s=2"))
            page.until(r"/FlashAttention-2: [\d,]+ bytes/.test(document.getElementById('live').textContent)")
            self.assertGreater(page.eval(LAST), 100)
            page.key("Space")
            page.until(f"{STEP} > 4")
            page.key("Space")
            stopped = page.eval(STEP)
            later = page.eval(f"new Promise((done) => setTimeout(() => done({STEP}), 900))")
            self.assertEqual(stopped, later, "space did not stop it")
            self.assertEqual(page.eval("document.querySelector('.player .main').getAttribute('aria-label')"), "Play")

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
            for address in ("s=9999999", "view=nothing&s=-1&k=x"):
                page.hash(address)
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

    def test_tiles_are_one_stop_of_tab(self) -> None:
        """Kills: a stop for each tensor, 17 of them; arrows that stay in one tensor, or that change a step."""
        stops = "[...document.querySelectorAll('.stage [tabindex=\"0\"], .stage button:not([tabindex])')]"
        with self.open("#s=22") as page:
            self.assertEqual(page.eval(f"[{stops}.length, document.querySelectorAll('.tile').length]"), [1, 204])
            page.eval(f"{stops}[0].focus()")
            self.assertIn("Q rows 0", page.eval(LABEL))
            seen = [page.key("ArrowRight") or page.eval(LABEL) for _ in range(30)]
            self.assertTrue(seen[-1].endswith("LSE rows 0\u201331 of FlashAttention-2"), seen)
            page.key("ArrowRight", "ArrowDown", "Tab")
            left = page.eval(f"{stops}.map((one) => one.getAttribute('aria-label'))")
            self.assertEqual((left, page.eval(STEP)), (["LSE rows 32\u201363 of FlashAttention-2"], 22))
            self.assertIs(page.eval("document.activeElement.closest('.stage') === null"), True, "Tab stays there")

    def test_predict_first(self) -> None:
        """Kills: an example among the words of the question that is near an answer: "Write 82176, 82 kB or 0.1 MB"."""
        with self.open() as page:
            page.eval("document.querySelector('.skip-story').click()")
            self.assertIn("bytes so far", page.eval(f"{row_of('naive')}.innerText"), "the answer before the question")
            self.answer(page, "plenty")
            self.assertIn("plenty", page.eval("document.querySelector('.predict [role=alert]').textContent"))
            told = page.eval(
                "document.querySelector('.predict').innerText + [...document.querySelectorAll('.predict *, .player *')]"
                ".flatMap((node) => ['placeholder', 'title', 'aria-label'].map((name) => node.getAttribute(name)))"
                ".join('; ')"
            )
            examples = re.findall(r"\d+(?:[,.]\d+)*(?:\s?[kMG]?B\b)?", told)
            guesses = [guess for guess in page.eval(f"{examples}.map(parseBytes)") if guess and guess >= 1000]
            self.assertLess(10 * max(guesses), page.eval("Math.min(...tracedKernels().map((one) => one.total))"))
            self.answer(page, "4.5 MB")
            self.assertIs(page.eval("document.querySelector('.predict') === null"), True)
            page.key("End")
            self.assertIn(f"{4.5e6 / page.eval(moved('naive')):.3g}", page.eval(f"{row_of('naive')}.innerText"))
            meant = {"1e6": 1e6, "1,000": 1000, "1,234,567.5 kB": 1234567.5e3, ".5MB": 500000}
            meant.update(dict.fromkeys(["1,5 MB", "1.2.3", "-5", "1e999", "1,00"], -1))
            self.assertEqual(page.eval(f"{list(meant)}.map((guess) => parseBytes(guess) ?? -1)"), list(meant.values()))

    def test_no_total_is_told_before_a_kernel_is_done(self) -> None:
        """Neither in figures nor by a scale or a track; a scale grows with the clock alone."""
        with self.open("#s=1") as page:
            total, last = page.eval(f"[count(tracedKernels()[0].total), {LAST}]")
            forms = "document.querySelector('.forms').checkVisibility()"
            self.assertNotIn(total, page.eval("document.getElementById('traffic').innerText"))
            self.assertIs(page.eval(forms), False)
            page.hash(f"s={last - 1}")
            self.assertNotIn(total, page.eval("document.querySelector('.race').innerText"))
            page.hash("s=25")
            strips = "[...document.querySelectorAll('.race .row .written')]"
            widths = page.eval(f"{strips}.map((strip) => {FILLED.format('strip')})")
            self.assertLess(max(widths) - min(widths), 1e-3, "one clock, and the bars differ")
            self.assertGreater(min(widths), 1)
            page.hash(f"s={last}")
            self.assertIn(total, page.eval("document.querySelector('.race').innerText"))
            self.assertIs(page.eval(forms), True)

    def test_bytes_move_at_a_constant_rate(self) -> None:
        """All of the race takes 12 s, at x1/4 four times as long; the factor by which time is stretched is on the page.
        Kills: a second rate for what the longest does alone, another duration, a factor that forgets the speed."""
        watch = (
            "frames = [], real = requestAnimationFrame, window.requestAnimationFrame = (draw) => "
            f"real((now) => {{ draw(now); frames.push([now, {moved('naive')}]); }}), 0"
        )
        speed = "document.querySelector('.speed')"

        def rates(page: Page) -> list[float]:
            """Bytes a millisecond from frame to frame, where the machine left no long gap between two."""
            page.eval("frames.length = 0")
            page.until("frames.length > 30")
            frames = page.eval("frames")
            pairs = [(u - t, b - a) for (t, a), (u, b) in zip(frames, frames[1:]) if u - t < 250]
            self.assertGreater(len(pairs), 10)
            return sorted(moved / time for time, moved in pairs if time > 10)

        with self.open() as page:
            page.eval(watch)
            page.key("Space")
            total, hbm, found = page.eval("tracedKernels()[0].total"), 3.35e12, rates(page)
            self.assertLess(found[-1] / found[0], 1.1, "not a constant rate")
            self.assertAlmostEqual(statistics.median(found) * 12000 / total, 1, delta=0.1)
            page.hash(f"s={page.eval(STEP + ' + 60')}")  # beyond the others' ends
            page.eval(f"{speed}.click()")
            page.key("Space")
            self.assertAlmostEqual(statistics.median(rates(page)) * 48000 / total, 1, delta=0.1)
            self.assertEqual(page.eval(f"{speed}.textContent"), "\u00d71/4")
            clock = page.eval("document.querySelector('.clock').textContent")
            self.assertIn(f"stretched {float(f'{4 * 12 * hbm / total:.2g}'):,.0f} times", clock)

    def test_frames_lay_nothing_out(self) -> None:
        """Words eight times a second, and no other layout, however many frames there are. Kills: a width, a left or a
        text that is set in every frame, 25 to 60 layouts a second: on a telephone it stutters."""
        for fragment, start in (
            ("#s=1", ".player .main"),
            ("#s=99999", '[aria-label="The race at these sizes"] button'),
        ):
            with self.subTest(start), self.open(fragment) as page:
                page.call("Performance.enable")
                page.eval(f"document.querySelector({start!r}).click()")
                counted = []
                for _ in range(2):
                    metrics = page.call("Performance.getMetrics")["metrics"]
                    counted += [metric["value"] for metric in metrics if metric["name"] == "LayoutCount"]
                    page.eval("new Promise((done) => setTimeout(done, 2000))")
                self.assertIn(counted[1] - counted[0], range(1, 22))

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
            largest = page.eval(
                "(({width, height}) => width * height / (4 * 128 * 128))"
                "(document.querySelectorAll('.stage .tensors .memory')[3].getBoundingClientRect())"
            )
            self.assertEqual(len(insets), 2)
            for (width, height, wide, high, zoom), size in zip(insets, kernels):
                self.assertGreater(zoom, 1.1)
                self.assertAlmostEqual(width * height / size / largest, 1, delta=0.12)
                self.assertAlmostEqual(high / height, zoom, delta=0.1 * zoom)
                self.assertAlmostEqual(wide / width, zoom, delta=0.1 * zoom)

    def test_the_story_comes_first(self) -> None:
        """Six captions, then the question. Kills: a caption that pushes what it speaks of off a telephone's screen, or
        covers it; a picture as bright where the caption does not speak of it."""
        following = "document.querySelector('.story .main').click()"
        spoken = """[...document.querySelectorAll('.stage .content:not(.dimmed)')]
            .filter((cell) => cell.checkVisibility())
            .map((cell) => [cell.dataset.kernel, cell.dataset.lane, ...(({top, bottom}) => [top, bottom])(
            cell.querySelector('canvas, .threads, .code, .unused').getBoundingClientRect())])"""
        lanes = ["Global memory", "Shared memory", "Registers", "Source"]
        with self.open(size=TELEPHONE) as page:
            for part in (".player", ".predict", ".forms", ".race"):
                self.assertIs(page.eval(f"document.querySelector('{part}').checkVisibility()"), False, part)
            titles = set()
            for beat, shown in enumerate([lanes[:1], lanes[:2], lanes[1:3], lanes[1:3], lanes[:1], lanes]):
                titles.add(page.eval("document.querySelector('.story h2').textContent"))
                kernel, cells = "fa2_row" if beat else "naive", page.eval(spoken)
                self.assertEqual([(kernel, lane) for kernel, lane, *_ in cells], [(kernel, lane) for lane in shown])
                top, bottom = page.eval(
                    "(({top, bottom}) => [top, bottom])(document.querySelector('.story').getBoundingClientRect())"
                )
                self.assertLessEqual(page.eval(WIDTH), TELEPHONE[0])
                self.assertLessEqual(bottom, TELEPHONE[1])
                for _, lane, above, below in cells[: 2 if beat < 5 else 1]:
                    self.assertGreaterEqual(min(below, top) - above, min(40, below - above), f"{beat}: {lane}")
                page.eval(following)
            self.assertEqual(len(titles), 6)
            self.assertIs(page.eval("document.querySelector('.story').hidden"), True)
            self.assertIs(page.eval("document.querySelector('.predict').checkVisibility()"), True)
            self.assertEqual(page.eval(STEP), 0)
        with self.open(size=(900, 900)) as page:  # where two kernels have room
            page.eval(following)
            self.assertEqual(page.eval("document.querySelector('.stage .told').dataset.kernel"), "fa2_row")

    def test_sliders_drive_the_closed_forms(self) -> None:
        """The page's closed forms are written twice, here and in explorer/course_page: that is the test."""
        N, d, Br, Bc = 4096, 64, 128, 64
        expected = [
            4 * N * N + 4 * N * d,
            (3 * math.ceil(N / Bc) + 1) * N * d,
            2 * N * d * (1 + math.ceil(N / Br)),
        ]
        bars = (
            "[...document.querySelectorAll('.form-rows .form-row:has(output)')].map((row) => "
            "[parseFloat(row.querySelector('.bar i').style.width), row.querySelector('output').title])"
        )
        said, fits = "document.querySelector('.verdict').innerText", "document.querySelector('[data-fits]').textContent"
        with self.open("#s=99999") as page:
            equal = page.eval("document.querySelector('.verdict').dataset.equal")
            self.assertEqual(equal, "true", "what was counted is not the closed form")
            page.eval(slide(f"{{N: {N}, d: {d}, Br: {Br}, Bc: {Bc}}}"))
            for (width, title), size in zip(page.eval(bars), expected):
                self.assertEqual(int(re.sub(r"\D", "", title)), size)
                # From 0. Kills: a log scale, on which a fiftieth was half as long.
                self.assertAlmostEqual(width, 100 * size / expected[0], delta=1e-3)
            verdict = page.eval(said)
            self.assertIn("2Br/d = 4", verdict)
            # Kills: what is requested before the footprint, or as if no cache could change it.
            requested = 4 * N * N * d + 5 * N * N + N * d
            order = [verdict.index(f"{bytes_ / expected[2]:.3g}\u00d7") for bytes_ in (expected[0], requested)]
            self.assertEqual(order, sorted(order))
            self.assertNotIn("Does not fit", page.eval(fits))
            self.assertIn("A tile of S is 32.8\u00a0kB, all of S would be 67.1\u00a0MB", page.eval(fits))
            page.eval(slide("{d: 128, Bc: 256}"))
            self.assertIn("262\u00a0kB, a block of an H100 has 232\u00a0kB (227 KiB)", page.eval(fits))
            self.assertIn("Does not fit", page.eval(fits))
            # Br < d: 2 (N + d) / (d (1 + N / Br)) is 1 / 2.25, more than 2Br/d = 0.25, which it falls to.
            page.eval(slide("{N: 128, d: 128, Br: 16}"))
            self.assertIn("2.25\u00d7 as many bytes", page.eval(said))
            self.assertIn("falls to 2Br/d = 0.25", page.eval(said))

    def test_sliders_drive_a_race(self) -> None:
        """Bytes of the closed forms, at one rate; anew when a slider moves, at its end with reduced motion."""
        N, d, Br, Bc = 1024, 32, 64, 128
        sizes = [4 * N * N + 4 * N * d, (3 * N // Bc + 1) * N * d, 2 * N * d * (1 + N // Br)]
        race = "document.querySelector('[aria-label=\"The race at these sizes\"]')"
        filled = FILLED.format("row.querySelector('i')")
        lanes = (
            f"[...{race}.querySelectorAll('.form-row')].map((row) => [{filled}, "
            "row.querySelector('output').dataset.done === 'true'])"
        )
        values = slide(f"{{N: {N}, d: {d}, Br: {Br}, Bc: {Bc}}}")
        with self.open("#s=99999", reduced=True) as page:
            self.assertEqual(page.eval(lanes), [[0, False]] * 3)
            page.eval(values)
            for (width, done), size in zip(page.eval(lanes), sizes):
                self.assertAlmostEqual(width, 100 * size / max(sizes), delta=1e-3)
                self.assertIs(done, True)
            told = page.eval("document.querySelector('[data-race]').textContent")
            self.assertIn(f"{sizes[0] / sizes[2]:.3g}\u00d7 the bytes", told)
        with self.open("#s=99999") as page:
            page.eval(values)
            page.until(f"{lanes}[2][1] && !{lanes}[0][1]")
            first, second, last = (width for width, _ in page.eval(lanes))
            self.assertAlmostEqual(last, 100 * sizes[2] / max(sizes), delta=1e-3)
            self.assertTrue(last <= first < 100)
            self.assertAlmostEqual(second, min(first, 100 * sizes[1] / max(sizes)), delta=1e-3)
            page.eval(slide("{N: 2048}"))
            page.until(f"{lanes}[0][0] > 0")
            self.assertLess(page.eval(lanes)[0][0], 30, "it did not start anew")
            page.eval(f"{race}.querySelector('button').click()")
            stopped = page.eval(lanes)
            self.assertEqual(page.eval(f"new Promise((done) => setTimeout(() => done({lanes}), 300))"), stopped)


class Look(PageCase):
    def test_fits_a_desk_and_a_telephone(self) -> None:
        views = ("s=25", "view=tile&s=9", "view=softmax&s=2", "view=softmax&p=1&s=3&forget=1", "view=traffic&s=99999")
        for size, dark, ground in ((TELEPHONE, False, "rgb(255, 255, 255)"), (DESK, True, "rgb(13, 17, 23)")):
            with self.subTest(size), self.open(size=size, dark=dark) as page:
                for address in views:
                    page.hash(address)
                    self.assertLessEqual(page.eval(WIDTH), size[0], address)
                lowest = page.eval(
                    "Math.min(...[...document.querySelectorAll('button:not(.tile), a.button')].filter((b) => "
                    "b.offsetParent).map((b) => b.getBoundingClientRect().height))"
                )
                self.assertGreaterEqual(lowest, 36, "the height of a button")
                self.assertEqual(page.eval("getComputedStyle(document.body).backgroundColor"), ground)
                wide = "[...document.querySelectorAll('.sliders output')].map((one) => { one.textContent = '16,384'; "
                wide += "return one.scrollWidth - one.clientWidth; })"
                self.assertEqual(max(page.eval(wide)), 0, "the longest number of a slider")

    def test_is_accessible(self) -> None:
        """Our own check of what WCAG 2.1 AA asks of such a page; it has to find what is planted. Kills: ink on ink,
        naive attention's swatch on its pressed chip; bars of FlashAttention-1 and 2 with 2.9:1 on a gray ground."""
        check = (Path(__file__).parent / "accessible.js").read_text()
        for address in ("", "#s=25", "#s=99999", f"{SOFTMAX}&s=3", f"{SOFTMAX}&p=1&s=3&forget=1"):
            for size, dark in ((DESK, False), (TELEPHONE, True)):
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
        """Blue is loaded, vermilion stored, green the output; a kernel has its color of the charts; what is added has a
        hue of its own, and is hatched as a store is. Kills: amber for what is stored; two kernels' colors exchanged;
        colors of the other theme in what is drawn before the theme is known."""

        def rgb(color: str) -> list[int]:
            return [int(color[at : at + 2], 16) for at in (1, 3, 5)]

        def hue(color: str) -> float:
            return 360 * colorsys.rgb_to_hls(*(part / 255 for part in rgb(color)))[0]

        for dark, theme in ((False, LIGHT), (True, DARK)):
            with self.subTest(theme.name), self.open("#s=99999", dark=dark) as page:
                names = ("store-fill", "load", "output", "fa1", "fa2", "mark")
                shown = dict(zip(names, (page.eval(STYLE.format(name)) for name in names)))
                meant = [theme.vermilion.lower(), theme.blue.lower(), theme.green.lower()]
                self.assertEqual(list(shown.values())[:3], meant)
                charts = dict(re.findall(r"(\w+)=(\w+)=\d+", (ROOT / "plots/colors.gp").read_text()))
                look = (ROOT / "plots/theme.gp").read_text().partition("if (theme eq 'dark') {")
                in_dark, _, in_light = look[2].partition("} else {")
                hues = dict(re.findall(r"(\w+) = '(#\w+)'", look[0] + (in_dark if dark else in_light)))
                for kernel in TRACED:
                    swatch = f"{row_of(kernel)}.querySelector('.kernel'), '::before'"
                    own = hues[{"naive": "foreground", "fa1": "orange", "fa2": "purple"}[charts[kernel]]]
                    drawn = page.eval(f"getComputedStyle({swatch}).backgroundColor")
                    self.assertEqual(drawn, "rgb({}, {}, {})".format(*rgb(own)), kernel)
                added = page.eval(STYLE.format("atomic"))
                for name, color in shown.items():
                    apart = abs(hue(added) - hue(color))
                    self.assertGreater(min(apart, 360 - apart), 45, name)
                hatched = "[palette[ADDED] !== palette[64 + ADDED], palette[LOADED] !== palette[64 + LOADED]]"
                self.assertEqual(page.eval(hatched), [True, False], "only what is stored or added")
                inset = page.eval("getComputedStyle(document.querySelector('.inset i')).backgroundColor")
                self.assertEqual(inset, "rgb(29, 36, 44)" if dark else "rgb(237, 240, 243)")
                # The last that naive attention does is to store a number of O's last row.
                canvas = '.memory:has([aria-label^="O rows 0"][aria-label$="Naive attention"]) canvas'
                pixels = page.eval(
                    f"[...document.querySelector('{canvas}').getContext('2d').getImageData(14, 127, 2, 1).data]"
                )
                self.assertIn([*rgb(theme.vermilion), 255], [pixels[:4], pixels[4:]])

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
            # A machine that shows few frames goes past it at full speed.
            page.eval("document.querySelector('.speed').click()")
            page.key("Space")
            page.until("[...seen].some((one) => one.includes('true,false,travel'))")

    def test_one_index_base(self) -> None:
        """A block has the same number beside the bar and on the stage."""
        with self.open("#s=25") as page:
            race, stage = (
                page.eval(f"[...document.querySelectorAll('{where}')].map((one) => one.textContent).join()")
                for where in (".race .count small", ".stage .where")
            )
            for block in re.findall(r"block (\d+)", race):
                self.assertIn(f"block {block} ", stage)
            self.assertIn("of 0\u2013127", race)

    def test_theme(self) -> None:
        theme = "document.documentElement.dataset.theme"
        with self.open() as page:
            self.assertEqual(page.eval(f"document.getElementById('theme').click(), {theme}"), "dark")
            page.hash("theme=light")
            self.assertEqual(page.eval(theme), "light")


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

    def test_softmax_is_the_programs(self) -> None:
        """m, correction and l of every block, the program's and the page's; of a row of the run, too."""
        for address, options in (
            ("x=3,-1.5,0.25,7,7.5,2,9,-4&b=3", "--values 3,-1.5,0.25,7,7.5,2,9,-4 --block 3"),
            ("x=-inf,-inf,-inf,2,1,-inf&b=2", "--values -inf,-inf,-inf,2,1,-inf --block 2"),
            ("p=1", f"--load {ROOT}/tests/data/real_qkv --row 1023 --block 64"),
        ):
            trace = self.run_json(ROOT / "02_online_softmax/online_softmax", f"--trace {options}")["trace"]
            self.assertGreater(len(trace), 2)
            with self.subTest(address), self.open(SOFTMAX) as page:
                for block, update in enumerate(trace, 1):
                    page.hash(f"view=softmax&{address}&s={block}")
                    for key in ("m", "correction", "l"):
                        expected = -math.inf if update[key] is None else update[key]
                        shown = number(page.eval(named(key)))
                        same = shown == expected or abs(shown - expected) <= 1e-3 * abs(expected)
                        self.assertTrue(same, f"block {block}: {key} is {expected}, the page says {shown}")

    def test_o_is_the_attention_of_the_row(self) -> None:
        """V's column mixed with the softmax, as the recurrence leaves it; without the correction O is another, the
        weights do not add up to 1, and the page says so."""
        x, v = (1, 2, 3, 6, 2, 1), (5, -2, 0.5, 1, 7, 2)
        weights = [math.exp(score) for score in x]
        expected = sum(weight * value for weight, value in zip(weights, v)) / sum(weights)
        right = math.exp(-5) + math.exp(-4) + math.exp(-3) + 1 + math.exp(-4) + math.exp(-5)
        # The first block keeps its own maximum.
        wrong = 1 + math.exp(-1) + 1 + math.exp(-3) + math.exp(-4) + math.exp(-5)
        wrong_o = (5 * math.exp(-1) - 2 + 0.5 * math.exp(-3) + 1 + 7 * math.exp(-4) + 2 * math.exp(-5)) / wrong
        address = f"{SOFTMAX}&x={','.join(map(str, x))}&v={','.join(map(str, v))}&b=2"
        with self.open(f"{address}&s=3") as page:
            for name, value in (("output", expected), ("expected", expected), ("total", 1)):
                self.assertAlmostEqual(number(page.eval(named(name))), value, delta=1e-4)
            told = page.eval("document.getElementById('forget').click(), location.hash")
            self.assertTrue("v=5" in told and "forget=1" in told, told)
            for name, value in (("output", wrong_o), ("expected", expected), ("total", right / wrong)):
                self.assertAlmostEqual(number(page.eval(named(name))), value, delta=1e-4)
            self.assertGreater(page.eval("document.querySelectorAll('.online.off').length"), 0)
            self.assertTrue(page.eval("document.querySelector('.equations .error').textContent"))

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

    def test_the_legend_names_what_is_drawn(self) -> None:
        """Kills: a blue swatch beside crimson bars, a line without a name, numbers over each other or cut off, a minus
        behind a minus, a run that is not named."""
        colors = "['.swatch-online', '.chart .online'].map((one) => getComputedStyle(document.querySelector(one)))"
        colors += ".map(({backgroundColor, fill}, i) => i ? fill : backgroundColor)"
        boxes = "[...document.querySelectorAll('.bars .value')].map((text) => text.getBoundingClientRect())"
        overlap = f"{boxes}.some((box, i, all) => i > 0 && box.left < all[i - 1].right)"
        beyond = (
            "[...document.querySelectorAll('.bars .tag')].filter((tag) => { const box = tag.getBBox(); return "
            "box.x + box.width > tag.ownerSVGElement.viewBox.baseVal.width; }).length"
        )
        with self.open(f"{SOFTMAX}&x=-20.5,-8.75,3,6,2,1&b=1&s=2") as page:
            for _ in range(2):
                swatch, bar = page.eval(colors)
                self.assertEqual(swatch, bar)
                page.eval("document.getElementById('forget').click()")
            legends = page.eval("[...document.querySelectorAll('.legend')].map((one) => one.textContent).join('|')")
            self.assertIn("O of the standard softmax", legends)
            told = page.eval("document.querySelector('.equations').textContent")
            self.assertIn("e\u221220.5 \u2212 (\u22128.75)", told)
            self.assertEqual(page.eval(f"{boxes}.length"), 6)
            for size in (24, 16, 8):
                page.hash(f"view=softmax&b=1&s=1&x={','.join(str(-1.25 * i) for i in range(size))}")
                self.assertIs(page.eval(overlap), False, size)
        with self.open(f"{SOFTMAX}&p=1&s=1", size=TELEPHONE) as page:
            told = page.eval("document.querySelector('#softmax .clock').textContent")
            self.assertIn("of the run ./online_softmax", told)
            self.assertEqual(page.eval(beyond), 0, "the maximum is cut off")
            page.hash("view=softmax&x=-3e38,-1.111e38&b=1&s=2")
            self.assertEqual(page.eval(beyond), 0, "the maximum is cut off")
            self.assertEqual(page.eval("document.querySelectorAll('.bars .tag').length"), 2)

    def test_softmax_takes_no_nonsense(self) -> None:
        with self.open(SOFTMAX) as page:
            for field, value, says in (
                ("values", "1, abc, 3", "Value 2.*abc|abc.*Value 2"),
                ("values", "", "No values"),
                ("values", "1, inf", "Value 2"),
                ("values", "1e99", "Value 1"),
                ("values", "4, -inf, 2", r"\A\Z"),
                ("block", "0", "whole number"),
                ("block", "4097", "to 4096"),  # an address would not hold it
            ):
                place = f"document.getElementById('{field}')"
                told = page.eval(
                    f"{place}.value = '{value}', {place}.dispatchEvent(new Event('input')), "
                    "document.getElementById('softmax-error').textContent"
                )
                self.assertRegex(told, says)
