"""What `make explorer` writes, made from this build: small and self-contained, its counters those of --json to the
byte, its addresses, its numbers, its looks. Its keys: test_keys.py."""

from __future__ import annotations

import json
import math
import re
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
            # All of the race takes 12 s, at x1/4 four times as long: said as the factor by which time is stretched.
            page.eval("$('.speed').click()")
            stretched = 4 * 12 * 3.35e12 / page.eval("tracedKernels()[0].total")
            self.assertIn(f"stretched {float(f'{stretched:.2g}'):,.0f} times", page.text(".clock"))

    def test_the_story_comes_first(self) -> None:
        """Six captions, each of some lanes of one kernel, then the question. Kills: a picture as bright where the
        caption does not speak of it; a caption off a telephone's screen."""
        spoken = """$$('.stage .content:not(.dimmed)').filter((cell) => cell.checkVisibility())
            .map((cell) => [cell.dataset.kernel, cell.dataset.lane])"""
        lanes = ["Global memory", "Shared memory", "Registers", "Source"]
        with self.open(size=TELEPHONE) as page:
            link = page.eval("(({href, textContent}) => [href, textContent])($('.brand a'))")
            self.assertEqual(link, [(ROOT / "README.md").as_uri(), "The course"])
            foreign = re.findall(
                r"src=|@import|url\(|fetch\(|XMLHttpRequest|https?:(?!//www.w3.org)", EXPLORER.read_text()
            )
            self.assertEqual(foreign, [], "it is one file, and needs no network")
            for part in (".player", ".predict", ".forms", ".race"):
                self.assertIs(page.shows(part), False, part)
            for beat, shown in enumerate([lanes[:1], lanes[:2], lanes[1:3], lanes[1:3], lanes[:1], lanes]):
                kernel = "fa2_row" if beat else "naive"
                self.assertEqual(page.eval(spoken), [[kernel, lane] for lane in shown])
                self.assertLessEqual(page.eval("$('.story').getBoundingClientRect().bottom"), TELEPHONE[1])
                page.eval("$('.story .main').click()")
            self.assertEqual(
                (page.eval("$('.story').hidden"), page.shows(".predict"), page.eval(STEP)), (True, True, 0)
            )

    def test_sliders_drive_the_closed_forms(self) -> None:
        sizes = {"N": 4096, "d": 64, "Br": 128, "Bc": 64}
        N, d, expected = sizes["N"], sizes["d"], closed_forms(**sizes)
        bars = (
            "$$('.form-rows .form-row:has(output)').map((row) => "
            "[parseFloat(row.querySelector('.bar i').style.width), row.querySelector('output').title])"
        )
        race = '[aria-label="The race at these sizes"]'
        filled = FILLED.format("row.querySelector('i')")
        lanes = f"$$('{race} .form-row').map((row) => {filled})"
        with self.open("#s=99999", reduced=True) as page:
            equal = page.eval("$('.verdict').dataset.equal")
            self.assertEqual(equal, "true", "what was counted is not the closed form")
            page.eval(slide(**sizes))
            shown = page.eval(bars)
            self.assertEqual(len(shown), len(expected))
            for (width, title), raced, size in zip(shown, page.eval(lanes), expected):
                self.assertAlmostEqual(raced, 100 * size / expected[0], delta=1e-3)
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
        """Our own check of what WCAG 2.1 AA asks of such a page; it finds what is planted."""
        check = (Path(__file__).parent / "accessible.js").read_text()
        for address in ("", "#s=25", "#s=99999", f"{SOFTMAX}&s=3", f"{SOFTMAX}&p=1&s=3&forget=1"):
            for size, dark in ((DESK, False), (TELEPHONE, True)):
                with self.subTest(address, size=size), self.open(address, size=size, dark=dark) as page:
                    self.assertEqual(page.eval(check), [])
        planted = (
            ("contrast", "$('.clock').style.color = '#bbb'"),
            ("outline 1", "$('.memory canvas').style.outline = 'none'"),
            ("no name", "['aria-label', 'title'].forEach((name) => $('.player button').removeAttribute(name))"),
            ("swatch 1", "$('.head .kernel').style.setProperty('--own', 'var(--ground)')"),
            ("bar 1", "$('.race .read').style.background = 'var(--line)'"),
            (
                "empty header",
                "$('main').append(document.createElement('table')), $('main table:last-child').innerHTML = '<th>'",
            ),
            ("is skipped", "$('main').insertAdjacentHTML('afterbegin', '<h4>deep</h4>')"),
            ("id twice: main", "$('.clock').id = 'main'"),
            ("incomplete tab", "$('[role=tab]').removeAttribute('aria-selected')"),
            ("no main", "document.documentElement.lang = ''"),
        )
        with self.open("#s=25") as page:
            page.eval("".join(f"{change};" for _, change in planted) + "0")
            found = "\n".join(page.eval(check))
            for word, _ in planted:
                self.assertIn(word, found)

    def test_colors_are_those_of_the_pictures(self) -> None:
        """Blue is loaded, vermilion stored, green the output. Kills: amber for what is stored; colors of the other
        theme in what is drawn before the theme is known."""
        for dark, theme in ((False, LIGHT), (True, DARK)):
            with self.subTest(theme.name), self.open("#s=99999", dark=dark) as page:
                shown = [page.eval(STYLE.format(name)) for name in ("store-fill", "load", "output")]
                self.assertEqual(shown, [theme.vermilion.lower(), theme.blue.lower(), theme.green.lower()])

    def test_theme(self) -> None:
        theme = "document.documentElement.dataset.theme"
        with self.open() as page:
            self.assertEqual(page.eval(f"$('#theme').click(), {theme}"), "dark")
            page.hash("theme=light")
            self.assertEqual(page.eval(theme), "light")


class Softmax(PageCase):
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

    def test_the_legend_names_what_is_drawn(self) -> None:
        """Kills: a blue swatch beside crimson bars, a line without a name, a minus behind a minus; a term that is lit
        where it does nothing."""
        colors = "[getComputedStyle($('.swatch-online')).backgroundColor, getComputedStyle($('.chart .online')).fill]"
        lit = "$$('.formula .lit').map((term) => term.dataset.term).join()"
        with self.open(f"{SOFTMAX}&x=-20.5,-8.75,3,6,2,1&b=1&s=2") as page:
            for terms in ("maximum,correction,sum,correction,output", "maximum,forgotten,sum,forgotten,output"):
                swatch, bar = page.eval(colors)
                self.assertEqual((swatch, page.eval(lit)), (bar, terms))
                page.eval("$('#forget').click()")
            self.assertIn("O of the standard softmax", "|".join(page.texts(".legend")))
            self.assertIn("e\u221220.5 \u2212 (\u22128.75)", page.text(".equations"))

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
