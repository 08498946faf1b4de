"""What `make explorer` writes, made from this build: small and self-contained, its counters those of --json to the
byte, its addresses, its numbers, its looks. Its keys: test_keys.py."""

from __future__ import annotations

import json
import math
import re
import statistics
from pathlib import Path

from browser import Page
from case import BUILD, ROOT, Case
from lib.diagrams.svg import DARK, LIGHT

EXPLORER = BUILD / "explorer/explorer.html"
SOFTMAX = "#view=softmax"
STEP = "Number($('.scrub').value)"
LAST = "Number($('.scrub').max)"
WIDTH = "document.documentElement.scrollWidth"
FILLED = "100 + parseFloat({}.style.transform.slice(11))"  # percent: translateX(-75%)
STYLE = "getComputedStyle(document.documentElement).getPropertyValue('--{}').trim()"
TRACED = {"naive": "01_naive/naive", "fa1_paper": "04_fa1/fa1", "fa2_row": "05_fa2/fa2"}
DESK, TELEPHONE = (1440, 900), (360, 740)


def moved(kernel: str) -> str:
    return f"(({{read, written}}) => Number(read) + Number(written))($('.race [data-kernel={kernel}]').dataset)"


def slide(**values: int) -> str:
    """Moves the sliders of the closed forms."""
    return (
        f"Object.entries({json.dumps(values)}).forEach(([name, value]) => {{ const slider = "
        "$(`.sliders [data-name=${name}]`); slider.value = "
        "data.forms.sliders[name].indexOf(value); slider.dispatchEvent(new Event('input')); })"
    )


def closed_forms(N: int, d: int, Br: int, Bc: int) -> list[int]:
    """Bytes, written twice, here and in explorer/course_page: that is the test."""
    return [
        4 * N * N + 4 * N * d,
        (3 * math.ceil(N / Bc) + 1) * N * d,
        2 * N * d * (1 + math.ceil(N / Br)),
    ]


def number(page: Page, name: str) -> float:
    """As the page writes it: minus signs that are no hyphens, an infinity."""
    shown = page.text(f"[data-name={name}]").replace("\u2212", "-").replace("\u221e", "inf")
    found = re.match(r"-?(inf|[\d.]+(e[-+]?\d+)?)", shown)
    return float(found[0]) if found else math.nan


class PageCase(Case):
    def open(self, fragment: str = "", **how: object) -> Page:
        return Page(EXPLORER, fragment, **how)

    def answer(self, page: Page, text: str) -> None:
        """As a guess of naive attention's bytes."""
        page.eval("$('[name=naive]').value = '', $('[name=naive]').focus()")
        page.type(text)
        page.key("Enter")


class Traffic(PageCase):
    def test_is_one_small_file_that_leads_back_to_the_course(self) -> None:
        """Kills: what a page without a network cannot have; a wrong link, or none."""
        text = EXPLORER.read_text()
        self.assertLess(EXPLORER.stat().st_size, 500000)
        for foreign in ("src=", "@import", "url(", "fetch(", "XMLHttpRequest", "https:"):
            self.assertFalse(foreign in text, f"it holds {foreign}")
        with self.open() as page:
            link = page.eval("(({href, textContent}) => [href, textContent])($('.brand a'))")
            self.assertEqual(link, [(ROOT / "README.md").as_uri(), "The course"])

    def test_counters_are_those_of_the_command_line(self) -> None:
        """And the headline: requested bytes of FlashAttention-2 beside naive attention's footprint come first, then
        what naive attention's threads request. Kills: 55x first; told before the end."""
        with self.open("#s=99998") as page:
            page.key("ArrowLeft")
            self.assertIs(page.shows(".headline"), False, "told before the end")
            page.key("End")
            told = page.eval("$('.headline').innerText")
            rows = page.eval(
                "$$('.race .row').map((row, i) => [row.dataset.kernel, data.runs[i].command, "
                "Number(row.dataset.read), Number(row.dataset.written), row.querySelector('.count b').textContent])"
            )
        self.assertEqual([row[0] for row in rows], list(TRACED))
        footprints, totals = {}, {}
        for name, command, read, written, shown in rows:
            result = self.run_json(ROOT / TRACED[name], command.partition(" ")[2])
            (hbm,) = (kernel["hbm"] for kernel in result["kernels"] if kernel["name"] == name)
            requested = hbm["requested"]
            self.assertEqual((read, written), (requested["read_bytes"], requested["write_bytes"]), name)
            self.assertEqual(int(re.match(r"[\d,]+", shown)[0].replace(",", "")), read + written, name)
            footprints[name], totals[name] = sum(hbm["footprint"].values()), read + written
        most, once, least = totals["naive"], footprints["naive"], totals["fa2_row"]
        self.assertEqual(
            [x.replace(",", "") for x in re.findall(r"\d[\d,.]*\u00d7|\d[\d,]{4,}", told)],
            [f"{once / least:.2g}\u00d7", str(least), str(once), str(most), f"{most / least:.2g}\u00d7"],
        )
        self.assertIn("Caches may serve these repeats: no cache is simulated", told)

    def test_an_address_holds_the_step(self) -> None:
        look = "$('.race').innerText + $$('.stage canvas').map((c) => c.toDataURL()).join()"
        with self.open("#s=7") as page:
            opened = page.eval(look)
        with self.open() as page:
            page.key(*["ArrowRight"] * 9, *["ArrowLeft"] * 2)
            self.assertTrue(page.eval(look) == opened, "#s=7 is not seven steps on")
            self.assertEqual((page.eval(STEP), page.eval("location.hash")), (7, "#s=7"))
            page.until(r"/FlashAttention-2: [\d,]+ bytes/.test($('#live').textContent)")
            for address in ("s=9999999", "view=nothing&s=-1&k=x"):
                page.hash(address)
                self.assertEqual(page.count(".stage .head"), 3, "an address that means nothing breaks the page")

    def test_a_tile_tells_its_line(self) -> None:
        with self.open("#s=22") as page:
            page.eval("$$('.tile').filter((t) => t.getAttribute('aria-label').startsWith('K rows 96'))[2].focus()")
            told, source = page.eval("$('#inspect').innerText"), page.text("#inspect pre")
            for words in ("FlashAttention-2", "barrier interval", "loaded"):
                self.assertIn(words, told)
            line = int(re.match(r"row\.cuh:(\d+) ", source)[1])
            expected = (ROOT / "05_fa2/row.cuh").read_text().splitlines()[line - 1].strip()
            self.assertIn("from[", expected)
            self.assertIn(expected, source)

    def test_predict_first(self) -> None:
        row = "$('.race [data-kernel=naive]').innerText"
        with self.open() as page:
            page.eval("$('.skip-story').click()")
            self.assertIn("bytes so far", page.eval(row), "the answer before the question")
            self.answer(page, "plenty")
            self.assertIn("plenty", page.text(".predict [role=alert]"))
            self.answer(page, "4.5 MB")
            self.assertEqual(page.count(".predict"), 0)
            page.key("End")
            self.assertIn(f"{4.5e6 / page.eval(moved('naive')):.3g}", page.eval(row))
            meant = {"1e6": 1e6, "1,000": 1000, "1,234,567.5 kB": 1234567.5e3, ".5MB": 500000}
            meant.update(dict.fromkeys(["1,5 MB", "1.2.3", "-5", "1e999", "1,00"], -1))
            self.assertEqual(page.eval(f"{list(meant)}.map((guess) => parseBytes(guess) ?? -1)"), list(meant.values()))

    def test_no_total_is_told_before_a_kernel_is_done(self) -> None:
        """Neither in figures nor by a scale or a track; a scale grows with the clock alone."""
        with self.open("#s=1") as page:
            total, last = page.eval(f"[count(tracedKernels()[0].total), {LAST}]")
            self.assertNotIn(total, page.eval("$('#traffic').innerText"))
            self.assertIs(page.shows(".forms"), False)
            page.hash(f"s={last - 1}")
            self.assertNotIn(total, page.eval("$('.race').innerText"))
            page.hash("s=25")
            widths = page.eval(f"$$('.race .row .written').map((strip) => {FILLED.format('strip')})")
            self.assertLess(max(widths) - min(widths), 1e-3, "one clock, and the bars differ")
            self.assertGreater(min(widths), 1)
            page.hash(f"s={last}")
            self.assertIn(total, page.eval("$('.race').innerText"))
            self.assertIs(page.shows(".forms"), True)

    def test_bytes_move_at_a_constant_rate(self) -> None:
        """All of the race takes 12 s, at x1/4 four times as long; the factor by which time is stretched is on the page.
        Kills: a second rate for what the longest does alone, another duration, a factor that forgets the speed."""
        watch = (
            "frames = [], real = requestAnimationFrame, window.requestAnimationFrame = (draw) => "
            f"real((now) => {{ draw(now); frames.push([now, {moved('naive')}]); }}), 0"
        )

        def durations(page: Page) -> list[float]:
            """Of the whole race, in s, by what each frame moves, where the machine left no long gap between two."""
            page.eval("frames.length = 0")
            page.until("frames.length > 30")
            frames, total = page.eval("[frames, tracedKernels()[0].total]")
            pairs = [(u - t, b - a) for (t, a), (u, b) in zip(frames, frames[1:]) if 10 < u - t < 250]
            self.assertGreater(len(pairs), 10)
            return sorted(total * time / moved / 1000 for time, moved in pairs)

        with self.open() as page:
            page.eval(watch)
            page.key("Space")
            found = durations(page)
            self.assertLess(found[-1] / found[0], 1.1, "not a constant rate")
            self.assertAlmostEqual(statistics.median(found), 12, delta=1.2)
            page.hash(f"s={page.eval(STEP + ' + 60')}")  # beyond the others' ends
            page.eval("$('.speed').click()")
            page.key("Space")
            self.assertAlmostEqual(statistics.median(durations(page)), 48, delta=4.8)
            self.assertEqual(page.text(".speed"), "\u00d71/4")
            stretched = 4 * 12 * 3.35e12 / page.eval("tracedKernels()[0].total")
            self.assertIn(f"stretched {float(f'{stretched:.2g}'):,.0f} times", page.text(".clock"))

    def test_the_story_comes_first(self) -> None:
        """Six captions, then the question. Kills: a caption that pushes what it speaks of off a telephone's screen, or
        covers it; a picture as bright where the caption does not speak of it."""
        spoken = """$$('.stage .content:not(.dimmed)').filter((cell) => cell.checkVisibility())
            .map((cell) => [cell.dataset.kernel, cell.dataset.lane, ...(({top, bottom}) => [top, bottom])(
            cell.querySelector('canvas, .threads, .code, .unused').getBoundingClientRect())])"""
        lanes = ["Global memory", "Shared memory", "Registers", "Source"]
        with self.open(size=TELEPHONE) as page:
            for part in (".player", ".predict", ".forms", ".race"):
                self.assertIs(page.shows(part), False, part)
            titles = set()
            for beat, shown in enumerate([lanes[:1], lanes[:2], lanes[1:3], lanes[1:3], lanes[:1], lanes]):
                titles.add(page.text(".story h2"))
                kernel, cells = "fa2_row" if beat else "naive", page.eval(spoken)
                self.assertEqual([cell[:2] for cell in cells], [[kernel, lane] for lane in shown])
                top, bottom = page.eval("(({top, bottom}) => [top, bottom])($('.story').getBoundingClientRect())")
                self.assertLessEqual(page.eval(WIDTH), TELEPHONE[0])
                self.assertLessEqual(bottom, TELEPHONE[1])
                for _, lane, above, below in cells[: 2 if beat < 5 else 1]:
                    self.assertGreaterEqual(min(below, top) - above, min(40, below - above), f"{beat}: {lane}")
                page.eval("$('.story .main').click()")
            self.assertEqual(len(titles), 6)
            self.assertEqual(
                (page.eval("$('.story').hidden"), page.shows(".predict"), page.eval(STEP)), (True, True, 0)
            )
        with self.open(size=(900, 900)) as page:  # where two kernels have room
            page.eval("$('.story .main').click()")
            self.assertEqual(page.eval("$('.stage .told').dataset.kernel"), "fa2_row")

    def test_sliders_drive_the_closed_forms(self) -> None:
        sizes = {"N": 4096, "d": 64, "Br": 128, "Bc": 64}
        N, d, expected = sizes["N"], sizes["d"], closed_forms(**sizes)
        bars = (
            "$$('.form-rows .form-row:has(output)').map((row) => "
            "[parseFloat(row.querySelector('.bar i').style.width), row.querySelector('output').title])"
        )
        with self.open("#s=99999") as page:
            equal = page.eval("$('.verdict').dataset.equal")
            self.assertEqual(equal, "true", "what was counted is not the closed form")
            page.eval(slide(**sizes))
            shown = page.eval(bars)
            self.assertEqual(len(shown), len(expected))
            for (width, title), size in zip(shown, expected):
                self.assertEqual(int(re.sub(r"\D", "", title)), size)
                # From 0. Kills: a log scale, on which a fiftieth was half as long.
                self.assertAlmostEqual(width, 100 * size / expected[0], delta=1e-3)
            verdict, fits = page.eval("$('.verdict').innerText"), page.text("[data-fits]")
            self.assertIn("2Br/d = 4", verdict)
            # Kills: what is requested before the footprint, or as if no cache could change it.
            requested = 4 * N * N * d + 5 * N * N + N * d
            order = [verdict.index(f"{size / expected[2]:.3g}\u00d7") for size in (expected[0], requested)]
            self.assertEqual(order, sorted(order))
            self.assertNotIn("Does not fit", fits)
            self.assertIn("A tile of S is 32.8\u00a0kB, all of S would be 67.1\u00a0MB", fits)
            page.eval(slide(d=128, Bc=256))
            fits = page.text("[data-fits]")
            self.assertIn("262\u00a0kB, a block of an H100 has 232\u00a0kB (227 KiB)", fits)
            self.assertIn("Does not fit", fits)
            # Br < d: 2 (N + d) / (d (1 + N / Br)) is 1 / 2.25, more than 2Br/d = 0.25, which it falls to.
            page.eval(slide(N=128, d=128, Br=16))
            verdict = page.eval("$('.verdict').innerText")
            self.assertIn("2.25\u00d7 as many bytes", verdict)
            self.assertIn("falls to 2Br/d = 0.25", verdict)

    def test_sliders_drive_a_race(self) -> None:
        """Bytes of the closed forms, at one rate; anew when a slider moves, at its end with reduced motion."""
        values = {"N": 1024, "d": 32, "Br": 64, "Bc": 128}
        naive, fa1, fa2 = sizes = closed_forms(**values)
        race = '[aria-label="The race at these sizes"]'
        filled, done = FILLED.format("row.querySelector('i')"), "row.querySelector('output').dataset.done === 'true'"
        lanes = f"$$('{race} .form-row').map((row) => [{filled}, {done}])"
        with self.open("#s=99999", reduced=True) as page:
            self.assertEqual(page.eval(lanes), [[0, False]] * 3)
            page.eval(slide(**values))
            for (width, done), size in zip(page.eval(lanes), sizes):
                self.assertAlmostEqual(width, 100 * size / naive, delta=1e-3)
                self.assertIs(done, True)
            self.assertIn(f"{naive / fa2:.3g}\u00d7 the bytes", page.text("[data-race]"))
        with self.open("#s=99999") as page:
            page.eval(slide(**values))
            page.until(f"{lanes}[2][1] && !{lanes}[0][1]")
            first, second, last = (width for width, _ in page.eval(lanes))
            self.assertAlmostEqual(last, 100 * fa2 / naive, delta=1e-3)
            self.assertTrue(last <= first < 100)
            self.assertAlmostEqual(second, min(first, 100 * fa1 / naive), delta=1e-3)
            page.eval(slide(N=2048))
            page.until(f"{lanes}[0][0] > 0")
            self.assertLess(page.eval(lanes)[0][0], 30, "it did not start anew")
            page.eval(f"$('{race} button').click()")
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
                buttons = "$$('button:not(.tile), a.button').filter((b) => b.offsetParent)"
                lowest = page.eval(f"Math.min(...{buttons}.map((b) => b.getBoundingClientRect().height))")
                self.assertGreaterEqual(lowest, 36, "the height of a button")
                self.assertEqual(page.eval("getComputedStyle(document.body).backgroundColor"), ground)
                wide = "$$('.sliders output').map((one) => { one.textContent = '16,384'; "
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
                "$('.clock').style.color = '#bbb', $('.memory canvas').style.outline = 'none', "
                "$('.player button').removeAttribute('aria-label'), $('.player button').removeAttribute('title'), "
                "$('.head .kernel').style.setProperty('--own', 'var(--ground)'), "
                "$('.race .read').style.background = 'var(--line)', 0"
            )
            found = "\n".join(page.eval(check))
            for word in ("contrast", "outline 1", "no name", "swatch 1", "bar 1"):
                self.assertIn(word, found)

    def test_colors_are_those_of_the_pictures(self) -> None:
        """Blue is loaded, vermilion stored, green the output. Kills: amber for what is stored; colors of the other
        theme in what is drawn before the theme is known."""
        for dark, theme in ((False, LIGHT), (True, DARK)):
            with self.subTest(theme.name), self.open("#s=99999", dark=dark) as page:
                shown = [page.eval(STYLE.format(name)) for name in ("store-fill", "load", "output")]
                self.assertEqual(shown, [theme.vermilion.lower(), theme.blue.lower(), theme.green.lower()])
                # The last that naive attention does is to store a number of O's last row.
                canvas = '.memory:has([aria-label^="O rows 0"][aria-label$="Naive attention"]) canvas'
                pixels = page.eval(f"[...$('{canvas}').getContext('2d').getImageData(14, 127, 2, 1).data]")
                self.assertIn([*bytes.fromhex(theme.vermilion[1:]), 255], [pixels[:4], pixels[4:]])

    def test_one_index_base(self) -> None:
        """A block has the same number beside the bar and on the stage."""
        with self.open("#s=25") as page:
            race, stage = (" ".join(page.texts(where)) + " " for where in (".race .count small", ".stage .where"))
            for block in re.findall(r"block (\d+)", race):
                self.assertIn(f"block {block} ", stage)
            self.assertIn("of 0\u2013127", race)

    def test_theme(self) -> None:
        theme = "document.documentElement.dataset.theme"
        with self.open() as page:
            self.assertEqual(page.eval(f"$('#theme').click(), {theme}"), "dark")
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
            self.assertAlmostEqual(number(page, "l"), 1 + math.exp(-1) + math.exp(-2), delta=1e-5)
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
                        shown = number(page, key)
                        same = shown == expected or abs(shown - expected) <= 1e-3 * abs(expected)
                        self.assertTrue(same, f"block {block}: {key} is {expected}, the page says {shown}")

    def test_o_is_the_attention_of_the_row(self) -> None:
        """V's column mixed with the softmax, as the recurrence leaves it; without the correction O is another, the
        weights do not add up to 1, and the page says so."""
        x, v = (1, 2, 3, 6, 2, 1), (5, -2, 0.5, 1, 7, 2)
        weights = [math.exp(score) for score in x]
        expected = sum(weight * value for weight, value in zip(weights, v)) / sum(weights)
        # The first block keeps its own maximum, 2; the others have 6.
        kept = [math.exp(score - largest) for score, largest in zip(x, (2, 2, 6, 6, 6, 6))]
        wrong = sum(weight * value for weight, value in zip(kept, v)) / sum(kept)
        total = sum(math.exp(score - 6) for score in x) / sum(kept)
        with self.open(f"{SOFTMAX}&x={','.join(map(str, x))}&v={','.join(map(str, v))}&b=2&s=3") as page:
            for name, value in (("output", expected), ("expected", expected), ("total", 1)):
                self.assertAlmostEqual(number(page, name), value, delta=1e-4)
            told = page.eval("$('#forget').click(), location.hash")
            self.assertTrue("v=5" in told and "forget=1" in told, told)
            for name, value in (("output", wrong), ("expected", expected), ("total", total)):
                self.assertAlmostEqual(number(page, name), value, delta=1e-4)
            self.assertGreater(page.count(".online.off"), 0)
            self.assertTrue(page.text(".equations .error"))

    def test_the_formula_is_lit_where_it_acts(self) -> None:
        lit = "$$('.formula .lit').map((term) => term.dataset.term).join()"
        with self.open(f"{SOFTMAX}&x=1,2,3,6,2,1&b=2&s=0") as page:
            self.assertEqual(page.eval(lit), "")
            for step, terms in (
                (1, "maximum,sum,output"),
                (2, "maximum,correction,sum,correction,output"),
                (3, "sum,output,divide"),
            ):
                page.key("ArrowRight")
                self.assertEqual(page.eval(lit), terms, step)
            self.assertIn("Block 2 of 0\u20132", page.text("#softmax .clock"))
            page.hash("view=softmax&x=1,2,3,6,2,1&b=2&s=2&forget=1")
            self.assertEqual(page.eval(lit), "maximum,forgotten,sum,forgotten,output")

    def test_the_legend_names_what_is_drawn(self) -> None:
        """Kills: a blue swatch beside crimson bars, a line without a name, numbers over each other or cut off, a minus
        behind a minus, a run that is not named."""
        colors = "[getComputedStyle($('.swatch-online')).backgroundColor, getComputedStyle($('.chart .online')).fill]"
        boxes = "$$('.bars .value').map((text) => text.getBoundingClientRect())"
        overlap = f"{boxes}.some((box, i, all) => i > 0 && box.left < all[i - 1].right)"
        beyond = (
            "$$('.bars .tag').filter((tag) => { const box = tag.getBBox(); return "
            "box.x + box.width > tag.ownerSVGElement.viewBox.baseVal.width; }).length"
        )
        with self.open(f"{SOFTMAX}&x=-20.5,-8.75,3,6,2,1&b=1&s=2") as page:
            for _ in range(2):
                swatch, bar = page.eval(colors)
                self.assertEqual(swatch, bar)
                page.eval("$('#forget').click()")
            self.assertIn("O of the standard softmax", "|".join(page.texts(".legend")))
            self.assertIn("e\u221220.5 \u2212 (\u22128.75)", page.text(".equations"))
            self.assertEqual(page.count(".bars .value"), 6)
            for size in (24, 16, 8):
                page.hash(f"view=softmax&b=1&s=1&x={','.join(str(-1.25 * i) for i in range(size))}")
                self.assertIs(page.eval(overlap), False, size)
        with self.open(f"{SOFTMAX}&p=1&s=1", size=TELEPHONE) as page:
            self.assertIn("of the run ./online_softmax", page.text("#softmax .clock"))
            self.assertEqual(page.eval(beyond), 0, "the maximum is cut off")
            page.hash("view=softmax&x=-3e38,-1.111e38&b=1&s=2")
            self.assertEqual(page.eval(beyond), 0, "the maximum is cut off")
            self.assertEqual(page.count(".bars .tag"), 2)

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
                page.eval(f"$('#{field}').value = '{value}', $('#{field}').dispatchEvent(new Event('input'))")
                self.assertRegex(page.text("#softmax-error"), says)
