"""tools/site: every link of the pages leads somewhere, they are well-formed, and nothing is fetched from elsewhere."""

from __future__ import annotations

import html.parser
import importlib.util
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from urllib.parse import unquote, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from case import ROOT, Case, run
from lib.chapters import PROGRAMS

TOOL = ROOT / "tools/site"
VOID = {"meta", "link", "img", "br", "hr", "source", "input"}
HAS_LIBRARY = all(map(importlib.util.find_spec, ("markdown_it", "pygments")))


class Reader(html.parser.HTMLParser):
    """Links, ids and what is not well-formed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[tuple[str, str]] = []  # attribute, address
        self.ids: list[str] = []
        self.errors: list[str] = []
        self.feed(text)
        self.close()
        self.errors += [f"<{tag}> is not closed" for tag in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src", "srcset"):
                self.links.append((f"{tag} {name}", value or ""))
            if name == "id":
                self.ids.append(value or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID or not self.open or self.open.pop() != tag:
            self.errors.append(f"</{tag}> closes nothing, or something else")


def contrast(first: str, second: str) -> float:
    """Of two colors, #rgb or #rrggbb: WCAG's ratio."""

    def luminance(color: str) -> float:
        digits = color[1:] if len(color) == 7 else "".join(2 * digit for digit in color[1:])
        shares = (int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4))
        linear = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
        return sum(part * value for part, value in zip((0.2126, 0.7152, 0.0722), linear))

    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


@unittest.skipUnless(HAS_LIBRARY, "markdown-it or Pygments is not installed: ./setup.sh --all")
class Pages(Case):
    @classmethod
    def setUpClass(cls) -> None:
        """One site for the tests that only read it."""
        cls.place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.place.cleanup)
        cls.out = cls.made(Path(cls.place.name))

    @staticmethod
    def made(scratch: Path) -> Path:
        explorer = scratch / "explorer.html"
        explorer.write_text('<!DOCTYPE html><title>stand-in</title>{"course":"../README.md"}')
        out, wrong = scratch / "site", scratch / "wrong"
        wrong.mkdir()
        (wrong / "index.tsv").write_text("key\ta key & a mask: what is wrong\n")
        (wrong / "key.html").write_text('<!DOCTYPE html><title>a run</title>{"course":"x"}')
        (scratch / "card.png").write_text("a picture")
        published = ["--published", "https://a.example/course/", "--card", scratch / "card.png"]
        done = run([TOOL, out, "--explorer", explorer, "--wrong", wrong, *published])
        assert (done.status, done.err) == (0, ""), done
        return out

    def test_every_link_leads_somewhere_and_nothing_comes_from_elsewhere(self) -> None:
        out = self.out
        pages = {path.relative_to(out).as_posix(): Reader(path.read_text()) for path in out.rglob("*.html")}
        for name in (
            "index.html",
            "README.html",
            "05_fa2/index.html",
            "05_fa2/row.cu.html",
            "GLOSSARY.html",
            "plots/explorer.html",
        ):
            self.assertIn(name, pages)
        for name, page in pages.items():
            own = name not in ("plots/explorer.html", "wrong/key.html")
            self.assertEqual(page.errors, [] if own else page.errors, name)
            self.assertEqual(len(page.ids), len(set(page.ids)), name)
            for what, address in page.links:
                parts = urlsplit(address)
                if parts.scheme or parts.netloc:
                    self.assertEqual((what, parts.scheme), ("a href", "https"), f"{name}: {address} is fetched")
                    continue
                target = (
                    posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path)))
                    if parts.path
                    else name
                )
                self.assertTrue((out / target).is_file(), f"{name}: {address} leads nowhere")
                if parts.fragment:
                    self.assertIn(parts.fragment, pages[target].ids, f"{name}: {address}")
        # The explorer's script makes its link: of the tree's README it becomes that of the page.
        back = re.search(r'"course":"(.*)"', (out / "plots/explorer.html").read_text())
        self.assertTrue(back and (out / "plots" / back[1]).samefile(out / "index.html"))
        self.assertIn('"course":"../index.html"', (out / "wrong/key.html").read_text())
        front = (out / "index.html").read_text()
        self.assertIn('<a href="wrong/key.html"><b>a key &amp; a mask</b>what is wrong</a>', front)
        # The front page: every chapter with the number that the README's ladder has, and where to begin.
        self.assertEqual(re.findall(r'<li><a href="(.*?)/index.html"><b>', front), [*PROGRAMS])
        ladder = re.findall(r"\| \*\*(.*?)\*\* \|", (ROOT / "README.md").read_text())
        self.assertEqual(re.findall(r"<span><strong>(.*?)</strong> \S", front), ladder)
        self.assertIn("<p>Attention is how a token of a text takes in the others. ", front)
        self.assertRegex(front, r'<a href="plots/explorer.html"><picture>')
        self.assertIn("at least 3.", re.search(r'<img alt="([^"]*)" src="plots/pictures/hero', front)[1])
        self.assertRegex(front, r'<button popovertarget="menu">[^$]*<nav id="menu" popover ')
        parts = re.search(r"<li class=\"parts\">On this page<ul>(.*?)</ul>", (out / "README.html").read_text())[1]
        self.assertIn('<a href="#limits">Limits</a>', parts)
        for address in ("00_gpu/index.html", "plots/explorer.html", "README.html#limits", "classroom/index.html"):
            self.assertIn(f'<a href="{address}"', front)
        # What other sites show beside a link, by its whole address.
        self.assertIn('property="og:image" content="https://a.example/course/card.png"', front)
        self.assertEqual((out / "card.png").read_text(), "a picture")
        style = (out / "style.css").read_text()
        self.assertNotRegex(style, r"url\(|@import|https?:")

    def test_chapters_follow_each_other_and_pictures_have_both_themes(self) -> None:
        out = self.out
        chapters = [*PROGRAMS]
        for n, chapter in enumerate(chapters):
            text = (out / chapter / "index.html").read_text()
            before = f"../{chapters[n - 1]}/index.html" if n else "../index.html"
            self.assertIn(f'<a rel="prev" href="{before}">', text)
            # In the menu the page itself is marked, by its title, with its parts and no other's.
            title = re.search(r"<h1[^>]*>(.*?)</h1>", text)[1]
            self.assertEqual(
                re.findall(r'href="([^"]*)" aria-current="page">([^<]*)<', text),
                [("index.html", re.sub("<.*?>", "", title))],
            )
            parts = re.findall(r'<li><a href="#([^"]*)">', text)
            self.assertEqual(parts, re.findall(r'<h2 id="([^"]*)"', text), chapter)
            if n + 1 < len(chapters):
                self.assertIn(f'<a rel="next" href="../{chapters[n + 1]}/index.html">', text)
            else:
                self.assertNotIn('rel="next"', text)
            shown = re.findall(r'src(?:set)?="[^"]*\.(light|dark)\.svg"([^>]*)', text)
            themes = [theme for theme, _ in shown]
            self.assertEqual(themes.count("light"), themes.count("dark"), chapter)
            self.assertGreater(len(shown), 0, chapter)
            for _, attributes in shown:  # of its room, before it comes
                self.assertRegex(attributes, r'^ width="\d+" height="\d+"')
                self.assertEqual((attributes.count("width="), attributes.count("height=")), (1, 1))

    def test_source_text_is_shown_whole_and_colored(self) -> None:
        out = self.out
        for source in ("05_fa2/row.cu", ".devcontainer/Dockerfile", "LICENSE"):
            text = (out / f"{source}.html").read_text()
            shown = re.search(r'<pre class="source lines">(.*)</pre>', text, re.DOTALL)[1]
            lines = html.unescape(re.sub(r"<a [^>]*>\d+</a>|<.*?>", "", shown))
            self.assertEqual(lines, (ROOT / source).read_text())
            self.assertEqual(shown.count('<span class="l">'), lines.count("\n"))
        colors = re.findall(r'<span class="([^l])">(.*?)</span>', (out / "05_fa2/row.cu.html").read_text())
        for of, words in (("k", "__global__"), ("k", "float"), ("n", "1"), ("s", "&lt;math.h&gt;")):
            self.assertIn((of, words), colors)
        self.assertRegex(
            (out / "README.html").read_text(), r'<pre class="source"><code><span class="l">.*class="k">for<'
        )

    def test_what_the_style_sets_can_be_read(self) -> None:
        style = (self.out / "style.css").read_text()
        for theme in re.findall(r":root\{([^}]*)\}", style):
            colors = dict(re.findall(r"--(\w+):(#\w+)", theme))
            self.assertEqual(len(colors), 13)
            for text in colors.keys() - {"back", "code", "line"}:
                for back in ("back", "code"):
                    self.assertGreaterEqual(contrast(colors[text], colors[back]), 4.5, f"{text} on {back}: {theme}")

    def test_a_site_that_says_where_it_is_must_know(self) -> None:
        """Kills: an og:image that leads nowhere; a front page that offers itself."""
        begin = "[Try it in the browser](https://a.example), or here:\n\n```sh\nmake\n```\n"
        tool = self.tree(f"# Page\n\n<!-- markdown: tools/pages start -->\n{begin}<!-- end -->\n") / "tools/site"
        out, card = self.scratch / "site", self.scratch / "card.png"
        card.write_text("a picture")
        address = "expected an address, https://..."
        both = "--published and --card: expected both, or none"
        for options, says in (
            (["--published", "a.example", "--card", card], f"SITE=a.example: {address}"),
            (["--published", "https://a.example/?q=1", "--card", card], f"SITE=https://a.example/?q=1: {address}"),
            (["--address", "https://a.example; rm x"], f"ADDRESS=https://a.example; rm x: {address}"),
            (["--published", "https://a.example"], both),
            (["--card", card], both),
        ):
            self.assertEqual(run([tool, out, *options]), (2, "", f"site: {says}\n"))
        self.assertEqual(run([tool, out, "--published", "https://a.example", "--card", card]).status, 0)
        self.assertNotIn("Try it in the browser", (out / "index.html").read_text())
        self.assertIn("Try it in the browser", (out / "README.html").read_text())

    def test_only_a_site_of_ours_is_replaced(self) -> None:
        tool = self.tree("# Page\n") / "tools/site"
        out = self.scratch / "site"
        self.assertEqual(run([tool, out]).status, 0)
        self.assertEqual(run([tool, out]).status, 0)
        # A file that the site did not make, of a clone or a CNAME, is never lost.
        (out / ".git").mkdir()
        (out / ".git/HEAD").write_text("mine")
        says = f"site: OUT: {out}: holds .git/HEAD, which no earlier call made; move it away\n"
        self.assertEqual(run([tool, out]), (2, "", says))
        self.assertEqual((out / ".git/HEAD").read_text(), "mine")
        foreign = self.scratch / "foreign"
        foreign.mkdir()
        (foreign / "thesis.tex").write_text("mine")
        says = f"site: OUT: {foreign}: is not empty and no site of ours; expected an empty directory, or none\n"
        for options in ([], ["--check"]):
            self.assertEqual(run([tool, foreign, *options]), (2, "", says))
        self.assertEqual([path.name for path in foreign.iterdir()], ["thesis.tex"])
        file = foreign / "thesis.tex"
        self.assertEqual(run([tool, file]), (2, "", f"site: OUT: {file}: expected a directory, or none\n"))
        for options in ([], ["--check"]):
            says = f"site: OUT: {file}/site: cannot be made in {file}: Not a directory\n"
            self.assertEqual(run([tool, file / "site", *options]), (3, "", says))
        (self.scratch / "empty").mkdir()
        self.assertEqual(run([tool, self.scratch / "empty"]).status, 0)

    def tree(self, page: str) -> Path:
        """A tree of the tools, a README, and what the front page shows and leads to."""
        tree = self.scratch / "tree"
        shutil.copytree(ROOT / "tools", tree / "tools", ignore=shutil.ignore_patterns("__pycache__"))
        blocks = (
            f"Attention is O.\n\n<!-- markdown: tools/pages {name} -->\n\n<!-- end -->\n"
            for name in ("chapters", "picture hero")
        )
        begin = "" if "pages start" in page else "<!-- markdown: tools/pages start -->\n<!-- end -->\n"
        page = "\n".join([page, begin, *blocks, "## Limits\n"])
        for name, text in (("README.md", page), ("GLOSSARY.md", "# Words\n"), ("plots/README.md", "# Pictures\n")):
            (tree / name).parent.mkdir(exist_ok=True)
            (tree / name).write_text(text, errors="surrogateescape")
        for name in ("00_gpu/README.md", "classroom/README.md", "simcc/ACCURACY.md"):
            (tree / name).parent.mkdir()
            (tree / name).write_text("# A page\n")
        subprocess.run(["git", "init", "-q", tree], check=True)
        return tree

    def test_a_link_that_leads_nowhere_is_named_and_nothing_is_written(self) -> None:
        for number, (link, says) in enumerate(
            (
                ("[a](gone.md)", "README.md: the link to gone.md leads nowhere"),
                ("[a](GLOSSARY.md#no-such)", "README.md: GLOSSARY.md#no-such: GLOSSARY.md has no heading of that name"),
                ('<img src="gone.svg">', "README.md: the link to gone.svg leads nowhere"),
                ("\udcff", "README.md: byte 8 is no UTF-8"),
            )
        ):
            with self.subTest(link):
                tree = self.tree(f"# Page\n\n{link}\n").rename(self.scratch / f"tree{number}")
                out = self.scratch / f"out{number}"
                self.assertEqual(run([tree / "tools/site", out]), (1, "", f"site: {says}\n"))
                self.assertFalse(out.exists())

    def test_links_within_a_page_and_to_its_folder_are_kept(self) -> None:
        tree = self.tree("# Page\n\n[w](GLOSSARY.md#words) [p](plots) [h](#page) [x](https://a.example/b)\n")
        out = self.scratch / "out"
        self.assertEqual(run([tree / "tools/site", out]).status, 0)
        text = (out / "README.html").read_text()
        for address in ("GLOSSARY.html#words", "plots/index.html", "#page", "https://a.example/b"):
            self.assertIn(f'href="{address}"', text)

    def test_the_address_to_clone_from_is_never_invented(self) -> None:
        begin = "In a clone of this repository:\n\n```sh\nmake\n```\n"
        tree = self.tree(f"# Page\n\n<!-- markdown: tools/pages start -->\n{begin}<!-- end -->\n")
        asked = "make"
        for number, (origin, options, shown) in enumerate(
            (
                (None, [], asked),
                ("/home/me/flash", [], asked),
                ("git@a.example:me/flash.git", [], asked),
                ("https://me:secret@a.example/me/flash", [], "https://a.example/me/flash"),
                ("https://a.example/me/flash.git", [], "https://a.example/me/flash.git"),
                (None, ["--address", "https://b.example/f"], "https://b.example/f"),
            )
        ):
            with self.subTest(origin=origin, options=options):
                subprocess.run(["git", "-C", tree, "remote", "remove", "origin"], check=False, capture_output=True)
                if origin:
                    subprocess.run(["git", "-C", tree, "remote", "add", "origin", origin], check=True)
                out = self.scratch / f"out{number}"
                self.assertEqual(run([tree / "tools/site", out, *options]).status, 0)
                shown = shown if shown == asked else f"git clone {shown} flash && cd flash\nmake"
                for page in ("index.html", "README.html"):
                    code = re.search(r"<pre[^>]*><code>(.*?)</code>", (out / page).read_text(), re.DOTALL)[1]
                    self.assertEqual(html.unescape(re.sub("<.*?>", "", code)), f"{shown}\n")


class WithoutLibrary(Case):
    def test_the_library_is_named_in_one_line(self) -> None:
        for module, package, pypi in (
            ("markdown_it", "python3-markdown-it", "markdown-it-py"),
            ("pygments", "python3-pygments", "pygments"),
        ):
            fake = self.scratch / module
            fake.mkdir()
            (fake / "__init__.py").write_text(f"raise ImportError(name={module!r})\n")
            done = run([TOOL, self.scratch / "out"], PYTHONPATH=str(self.scratch))
            says = f"a library is missing: ./setup.sh --all ({package}), or pip install {pypi}"
            self.assertEqual(done, (3, "", f"site: {says}\n"))
            self.assertFalse((self.scratch / "out").exists())


if __name__ == "__main__":
    unittest.main()
