"""tools/site: every link of the pages leads somewhere, they are well-formed, and nothing is fetched from elsewhere."""

from __future__ import annotations

import html.parser
import importlib.util
import posixpath
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from urllib.parse import unquote, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from case import ROOT, Case, run
from lib.chapters import PROGRAMS

TOOL = ROOT / "tools/site"
VOID = {"meta", "link", "img", "br", "hr", "source", "input"}
HAS_LIBRARY = importlib.util.find_spec("markdown_it") is not None


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


@unittest.skipUnless(HAS_LIBRARY, "the Markdown library is not installed: ./setup.sh --all")
class Pages(Case):
    def made(self) -> Path:
        explorer = self.scratch / "explorer.html"
        explorer.write_text('<!DOCTYPE html><title>stand-in</title>{"course":"../README.md"}')
        out, wrong = self.scratch / "site", self.scratch / "wrong"
        wrong.mkdir()
        (wrong / "index.tsv").write_text("key\ta key & a mask\n")
        (wrong / "key.html").write_text('<!DOCTYPE html><title>a run</title>{"course":"x"}')
        done = run([TOOL, out, "--explorer", explorer, "--wrong", wrong])
        self.assertEqual((done.status, done.err), (0, ""))
        return out

    def test_every_link_leads_somewhere_and_nothing_comes_from_elsewhere(self) -> None:
        out = self.made()
        pages = {path.relative_to(out).as_posix(): Reader(path.read_text()) for path in out.rglob("*.html")}
        for name in ("index.html", "05_fa2/index.html", "05_fa2/row.cu.html", "GLOSSARY.html", "plots/explorer.html"):
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
        self.assertIn('"course":"../05_fa2/index.html"', (out / "wrong/key.html").read_text())
        self.assertIn('<a href="wrong/key.html">a key &amp; a mask</a>', (out / "index.html").read_text())
        style = (out / "style.css").read_text()
        self.assertNotRegex(style, r"url\(|@import|https?:")

    def test_chapters_follow_each_other_and_pictures_have_both_themes(self) -> None:
        out = self.made()
        chapters = [*PROGRAMS]
        for n, chapter in enumerate(chapters):
            text = (out / chapter / "index.html").read_text()
            before = f"../{chapters[n - 1]}/index.html" if n else "../index.html"
            self.assertIn(f'<a rel="prev" href="{before}">', text)
            self.assertEqual(
                re.findall(r'href="([^"]*)" aria-current="page">(\d\d)<', text), [("index.html", chapter[:2])]
            )
            self.assertEqual(text.count('<nav class="toc"'), text.count("<h2 ") > 3, chapter)
            if n + 1 < len(chapters):
                self.assertIn(f'<a rel="next" href="../{chapters[n + 1]}/index.html">', text)
            else:
                self.assertNotIn('rel="next"', text)
            shown = re.findall(r'src(?:set)?="[^"]*\.(light|dark)\.svg"', text)
            self.assertEqual(shown.count("light"), shown.count("dark"), chapter)
            self.assertGreater(len(shown), 0, chapter)

    def test_what_the_style_sets_can_be_read(self) -> None:
        style = (self.made() / "style.css").read_text()
        for theme in re.findall(r":root\{([^}]*)\}", style):
            colors = dict(re.findall(r"--(\w+):(#\w+)", theme))
            self.assertEqual(len(colors), 6)
            for text in ("text", "dim", "link"):
                for back in ("back", "code"):
                    self.assertGreaterEqual(contrast(colors[text], colors[back]), 4.5, f"{text} on {back}: {theme}")

    def test_only_a_site_of_ours_is_replaced(self) -> None:
        out = self.made()
        (out / "stale.html").write_text("old")
        self.assertEqual(run([TOOL, out]).status, 0)
        self.assertFalse((out / "stale.html").exists())
        foreign = self.scratch / "foreign"
        foreign.mkdir()
        (foreign / "thesis.tex").write_text("mine")
        says = f"site: OUT: {foreign}: is not empty and no site of ours; expected an empty directory, or none\n"
        for options in ([], ["--check"]):
            self.assertEqual(run([TOOL, foreign, *options]), (2, "", says))
        self.assertEqual([path.name for path in foreign.iterdir()], ["thesis.tex"])
        file = foreign / "thesis.tex"
        self.assertEqual(run([TOOL, file]), (2, "", f"site: OUT: {file}: expected a directory, or none\n"))
        for options in ([], ["--check"]):
            says = f"site: OUT: {file}/site: cannot be made in {file}: Not a directory\n"
            self.assertEqual(run([TOOL, file / "site", *options]), (3, "", says))
        (self.scratch / "empty").mkdir()
        self.assertEqual(run([TOOL, self.scratch / "empty"]).status, 0)

    def tree(self, page: str) -> Path:
        """A tree of the tools and three pages."""
        tree = self.scratch / "tree"
        shutil.copytree(ROOT / "tools", tree / "tools", ignore=shutil.ignore_patterns("__pycache__"))
        (tree / "plots").mkdir()
        for name, text in (("README.md", page), ("GLOSSARY.md", "# Words\n"), ("plots/README.md", "# Pictures\n")):
            (tree / name).write_text(text)
        subprocess.run(["git", "init", "-q", tree], check=True)
        return tree

    def test_a_link_that_leads_nowhere_is_named_and_nothing_is_written(self) -> None:
        for number, (link, says) in enumerate(
            (
                ("[a](gone.md)", "README.md: the link to gone.md leads nowhere"),
                ("[a](GLOSSARY.md#no-such)", "README.md: GLOSSARY.md#no-such: GLOSSARY.md has no heading of that name"),
                ('<img src="gone.svg">', "README.md: the link to gone.svg leads nowhere"),
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
        text = (out / "index.html").read_text()
        for address in ("GLOSSARY.html#words", "plots/index.html", "#page", "https://a.example/b"):
            self.assertIn(f'href="{address}"', text)

    def test_the_address_to_clone_from_is_never_invented(self) -> None:
        tree = self.tree("# Page\n\nIn a clone of this repository:\n\n```sh\nmake\n```\n")
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
                shown = shown if shown == asked else f"git clone {shown} flash &amp;&amp; cd flash\nmake"
                self.assertIn(f">{shown}\n</code>", (out / "index.html").read_text())


class WithoutLibrary(Case):
    def test_the_library_is_named_in_one_line(self) -> None:
        (self.scratch / "markdown_it.py").write_text("raise ImportError\n")
        done = run([TOOL, self.scratch / "out"], PYTHONPATH=str(self.scratch))
        says = "the Markdown library is missing: ./setup.sh --all (python3-markdown-it), or pip install markdown-it-py"
        self.assertEqual(done, (3, "", f"site: {says}\n"))
        self.assertFalse((self.scratch / "out").exists())


if __name__ == "__main__":
    unittest.main()
