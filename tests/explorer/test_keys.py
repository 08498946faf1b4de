"""The explorer by keyboard alone, in a browser: every control of every view, after a click on a tab too; and without
motion."""

from __future__ import annotations

import tempfile
from pathlib import Path

from browser import Page
from case import ROOT, run
from test_page import DESK, LAST, STEP, TELEPHONE, PageCase

FOCUS = "(({tagName, id, className, textContent}) => id || className || textContent || tagName)(document.activeElement)"
LABEL = "document.activeElement.getAttribute('aria-label')"
CHOSEN = "$('[aria-selected=true]').dataset.view"
IN_TABS = "document.activeElement.closest('[role=tablist]') !== null"
# What Tab should stop at, in the order of the document, which is that of a reader.
STOPS = """$$('a[href], button, input, summary, [tabindex="0"]').filter((node) =>
    node.tabIndex >= 0 && !node.disabled && (node.className === 'skip' || node.checkVisibility()))"""
# Of the element with the focus: its place in STOPS, where it stands on the page, whether its focus is seen.
STOP = f"""(() => {{ const node = document.activeElement, box = node.getBoundingClientRect();
    const style = getComputedStyle(node);
    return [{STOPS}.indexOf(node), box.left, box.top + scrollY, box.bottom + scrollY,
        style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2]; }})()"""


class Keys(PageCase):
    @classmethod
    def setUpClass(cls) -> None:
        """Pages that have all views between them; None is that of `make explorer`."""
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        room = Path(scratch.name)
        cls.backward, cls.decode = room / "backward.html", room / "decode.html"
        for program, options, page in (
            ("06_backward/backward", "--seq 40 --dim 8", cls.backward),
            ("08_decode/decode", "--seq 40 --dim 8 --splits 3", cls.decode),
        ):
            done = run([ROOT / program, *options.split(), "--quiet", "--explain", page])
            assert done.status == 0, done.err
        cls.views = [(None, view) for view in ("traffic", "tile", "softmax")]
        cls.views += [(cls.backward, view) for view in ("checks", "traffic", "tile", "products")]
        cls.views += [(cls.decode, "splits")]

    def look(self, path: Path | None, fragment: str = "", **how: object) -> Page:
        return Page(path, fragment, **how) if path else self.open(fragment, **how)

    def test_the_views_keys_work_after_a_click_on_its_tab(self) -> None:
        """Kills: the focus stays in the tablist, where arrows lead to another view and the others do nothing."""
        for path, view in self.views:
            other = "tile" if view == "traffic" else "traffic"
            with self.subTest(view, page=path), self.look(path, f"#view={other}") as page:
                self.assertIs(page.shows(".foot kbd"), True)
                page.click(f"[data-view={view}]")
                if view == "checks":
                    self.assertIs(page.shows(".foot kbd"), False, "a view without steps names no keys")
                    continue
                page.click(f"[data-view={view}]")  # once more on the tab of the view that is there
                page.key("Home", "ArrowRight", "ArrowRight")
                first = max(page.eval("Number($('.scrub').min)"), 1 if view == "products" else 0)
                self.assertEqual((page.eval(CHOSEN), page.eval(STEP)), (view, first + 2))
                page.key("ArrowLeft")
                self.assertEqual(page.eval(STEP), first + 1)
                page.key("Space")
                page.until(f"{STEP} > {first + 1}")
                page.key("End")
                self.assertEqual((page.eval(CHOSEN), page.eval(STEP)), (view, page.eval(LAST)))

    def test_the_tablist_by_keyboard(self) -> None:
        """Kills: Home and End that do nothing there, a last tab without a next, keys that also step the view."""
        with self.open("#s=3") as page:
            page.eval("$('[aria-selected=true]').focus()")
            for key, view in (
                ("ArrowRight", "tile"), ("End", "softmax"), ("ArrowLeft", "tile"), ("Home", "traffic"),
                ("ArrowLeft", "softmax"), ("ArrowRight", "traffic"),
            ):  # fmt: skip
                page.key(key)
                self.assertEqual((page.eval(CHOSEN), page.eval(IN_TABS)), (view, True), key)
            self.assertEqual(page.eval(STEP), 0)

    def walk(self, page: Page) -> None:
        """With Tab through the whole page, and out of it."""
        stops, before = page.eval(f"{STOPS}.length"), None
        for expected in range(stops):
            page.key("Tab")
            at, left, top, bottom, is_seen = page.eval(STOP)
            name = page.eval(FOCUS)
            self.assertEqual(at, expected, f"{name}: not the next control")
            self.assertTrue(is_seen, f"{name}: nobody sees that it has the focus")
            if before and expected > 1:
                goes_back = bottom <= before[1] and left < before[0]
                self.assertFalse(goes_back, f"{name}: stands before what had the focus before it")
            before = (left, top)
        page.key("Tab")
        self.assertNotEqual(page.eval(STOP)[0], stops - 1, "the focus is caught")

    def click_all(self, page: Page) -> None:
        """With the mouse, one after the other."""
        over = "(({left, right, top, bottom}) => aim.contains(document.elementFromPoint("
        over += "(left + right) / 2, (top + bottom) / 2)))"
        page.eval(f"all = {STOPS}.filter((node) => !node.matches('a, [role=tab]')), 0")
        for i in range(page.eval("all.length")):
            if page.eval(f"aim = all[{i}], aim.isConnected && aim.checkVisibility() && !aim.disabled"):
                page.eval("aim.id = aim.id || 'aim', aim.scrollIntoView({block: 'center'}), 0")
                name = page.eval("aim.getAttribute('aria-label') || aim.textContent || aim.className")
                self.assertTrue(page.eval(f"{over}(aim.getBoundingClientRect())"), f"{name}: is covered")
                page.click("#" + page.eval("aim.id"))
                page.eval("aim.id = aim.id === 'aim' ? '' : aim.id, 0")

    def test_every_control_takes_tab_and_the_pointer(self) -> None:
        """In reading order. Kills: a control out of order (light and dark came after the tabs, but stood before them on
        a telephone), one without an outline, one that keeps the focus, that another one covers, or that throws; a page
        that a click makes wider than the screen."""
        addresses = [(path, f"#view={view}&s=4") for path, view in self.views]
        for path, address in [*addresses, (None, ""), (None, "#s=99999")]:
            for size, dark in ((DESK, False), (TELEPHONE, True)):
                with (
                    self.subTest(address, page=path, size=size),
                    self.look(path, address, size=size, dark=dark) as page,
                ):
                    self.walk(page)
                    self.click_all(page)
                    self.assertLessEqual(page.eval("document.documentElement.scrollWidth"), size[0])

    def test_from_the_story_to_the_race(self) -> None:
        """Nothing but keys. Kills: a focus that is lost when what had it goes."""
        with self.open(size=TELEPHONE) as page:
            page.eval("$('.story .main').focus()")
            page.key(*["Enter"] * 6)
            self.assertEqual(page.eval("document.activeElement.id"), "main", "after the story")
            page.key("Tab")
            self.assertEqual(page.eval("document.activeElement.name"), "naive")
            page.type("5 MB")
            page.key("Enter")
            self.assertEqual(page.eval(LABEL), "Pause")
            page.until(f"{STEP} > 3")
            page.key("Space")
            stopped = page.eval(STEP)
            self.assertEqual(page.eval(LABEL), "Play")
            page.key("ArrowRight")
            self.assertEqual(page.eval(STEP), stopped + 1)

    def test_what_takes_a_key_itself_keeps_it(self) -> None:
        """Kills: a blank that plays instead of opening what is folded, one that a slider swallows, arrows that step
        instead of scrolling."""
        with self.open("#s=4") as page:
            page.eval("$('.foot summary').focus()")
            page.key("Space")
            self.assertEqual((page.eval("$('.foot details').open"), page.eval(STEP)), (True, 4))
            page.eval("$('.scrub').focus()")
            page.key("ArrowRight")
            self.assertEqual(page.eval(STEP), 5)
            page.key("Space")
            page.until(f"{STEP} > 6")
        with self.look(self.backward, "#view=products&s=2", size=TELEPHONE) as page:
            page.eval("$('.scroll').focus()")
            page.key("ArrowRight")
            page.until("$('.scroll').scrollLeft > 0")
            self.assertEqual(page.eval(STEP), 2)
