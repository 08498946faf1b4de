"""tools/site: every link of the pages leads somewhere, they are well-formed, and nothing is fetched from elsewhere."""

from __future__ import annotations

import html.parser
import importlib.util
import posixpath
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from urllib.parse import unquote, urlsplit

from case import ROOT, Case, run
from lib.chapters import PROGRAMS

TOOL = ROOT / "tools/site"
VOID = {"meta", "link", "img", "br", "hr", "source", "input"}
HAS_LIBRARY = all(map(importlib.util.find_spec, ("markdown_it", "pygments")))
STAND_IN = '<!DOCTYPE html><title>a stand-in</title>{"course":"../README.md"}'


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
        self.links += [(f"{tag} {name}", value or "") for name, value in attrs if name in ("href", "src", "srcset")]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID or not self.open or self.open.pop() != tag:
            self.errors.append(f"</{tag}> closes nothing, or something else")


@unittest.skipUnless(HAS_LIBRARY, "markdown-it or Pygments is not installed: ./setup.sh --all")
class Course(unittest.TestCase):
    """One site of the course, for the tests that read it."""

    @classmethod
    def setUpClass(cls) -> None:
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        scratch, cls.out = Path(place.name), Path(place.name, "site")
        (scratch / "explorer.html").write_text(STAND_IN)
        (scratch / "wrong").mkdir()
        (scratch / "wrong/index.tsv").write_text("key\ta key & a mask: what is wrong\n")
        (scratch / "wrong/key.html").write_text(STAND_IN)
        done = run([TOOL, cls.out, "--explorer", "explorer.html", "--wrong", "wrong"], cwd=scratch)
        assert (done.status, done.err) == (0, ""), done

    def page(self, name: str) -> str:
        return (self.out / name).read_text()

    def test_every_link_leads_somewhere_and_nothing_comes_from_elsewhere(self) -> None:
        out = self.out
        pages = {path.relative_to(out).as_posix(): Reader(path.read_text()) for path in out.rglob("*.html")}
        for name in ("index.html", "05_fa2/index.html", "05_fa2/row.cu.html", "GLOSSARY.html"):
            self.assertIn(name, pages)
        for name, page in pages.items():
            if name not in ("plots/explorer.html", "wrong/key.html"):  # the stand-ins
                self.assertEqual(page.errors, [], name)
            self.assertEqual(len(page.ids), len(set(page.ids)), name)
            for what, address in page.links:
                parts = urlsplit(address)
                if parts.scheme or parts.netloc:
                    self.assertEqual((what, parts.scheme), ("a href", "https"), f"{name}: {address} is fetched")
                    continue
                path = posixpath.join(posixpath.dirname(name), unquote(parts.path))
                target = posixpath.normpath(path) if parts.path else name
                self.assertTrue((out / target).is_file(), f"{name}: {address} leads nowhere")
                if parts.fragment:
                    self.assertIn(parts.fragment, pages[target].ids, f"{name}: {address}")
        self.assertNotRegex(self.page("style.css"), r"url\(|@import|https?:")

    def test_the_front_page_is_the_readme_and_leads_to_the_wrong_runs(self) -> None:
        front = self.page("index.html")
        for shown in (
            "<p>Attention is how a token of a text takes in the others. ",
            '<a href="wrong/key.html"><b>a key &amp; a mask</b>what is wrong</a>',
            '<a href="plots/explorer.html">',
        ):
            self.assertIn(shown, front)
        # The explorer's script makes its link: of the tree's README it becomes that of the front page.
        for page in ("plots/explorer.html", "wrong/key.html"):
            self.assertIn('"course":"../index.html"', self.page(page))

    def test_chapters_follow_each_other_and_pictures_have_both_themes(self) -> None:
        order = ["..", *(f"../{chapter}" for chapter in PROGRAMS), None]
        for n, chapter in enumerate(PROGRAMS, 1):
            text = self.page(f"{chapter}/index.html")
            found = dict(re.findall(r'<a rel="(prev|next)" href="(.*?)/index.html">', text))
            self.assertEqual((found["prev"], found.get("next")), (order[n - 1], order[n + 1]))
            # In the menu the page itself is marked, with its parts and no other's.
            self.assertEqual(re.findall(r'href="([^"]*)" aria-current="page">', text), ["index.html"])
            parts = re.findall(r'<li><a href="#([^"]*)">', text)
            self.assertEqual(parts, re.findall(r'<h2 id="([^"]*)"', text), chapter)
            # Both themes, each with its room before it comes.
            shown = re.findall(r'src(?:set)?="[^"]*\.(light|dark)\.svg" width="\d+" height="\d+"[^=]*>', text)
            self.assertEqual(len(shown), text.count(".svg") - 1, f"{chapter}, but for the icon")
            self.assertEqual(shown.count("light"), shown.count("dark"), chapter)

    def test_source_text_is_shown_whole_and_colored(self) -> None:
        for source, has in (("05_fa2/row.cu", '<span class="kr">__global__</span>'), ("LICENSE", "Copyright")):
            shown = re.search(r'<pre class="source lines">(.*)</pre>', self.page(f"{source}.html"), re.DOTALL)[1]
            lines = html.unescape(re.sub(r"<a [^>]*>\d+</a>|<.*?>", "", shown))
            self.assertEqual(lines, (ROOT / source).read_text())
            self.assertIn(has, shown)


@unittest.skipUnless(HAS_LIBRARY, "markdown-it or Pygments is not installed: ./setup.sh --all")
class Tree(Case):
    """A tree of the tools, a README, and what each site has."""

    def setUp(self) -> None:
        super().setUp()
        self.out, self.tree = self.scratch / "site", self.scratch / "tree"
        shutil.copytree(ROOT / "tools", self.tree / "tools", ignore=shutil.ignore_patterns("__pycache__"))
        (self.tree / "plots").mkdir()
        for name in ("GLOSSARY.md", "plots/README.md"):
            (self.tree / name).write_text("# Words\n")
        subprocess.run(["git", "init", "-q", self.tree], check=True)
        self.write("")

    def write(self, page: str) -> None:
        (self.tree / "README.md").write_text(f"# Page\n\n{page}\n", errors="surrogateescape")

    def site(self, *arguments: str | Path, status: int = 0, says: str = "") -> None:
        done = run([self.tree / "tools/site", *arguments])
        self.assertEqual((done.status, done.err), (status, f"site: {says}\n" if status else ""))

    def test_nothing_is_replaced(self) -> None:
        """Kills: a clone, or a file of someone's, that is lost."""
        (self.out / ".git").mkdir(parents=True)
        file = self.scratch / "thesis.tex"
        file.write_text("mine")
        for place, status, says in (
            (self.out, 2, "expected an empty directory, or none: delete it first"),
            (file, 2, "expected an empty directory, or none: delete it first"),
            (file / "site", 3, f"cannot be made in {file}: Not a directory"),
        ):
            for options in ([], ["--check"]):
                self.site(place, *options, status=status, says=f"OUT: {place}: {says}")
        self.assertEqual(((self.out / ".git").is_dir(), file.read_text()), (True, "mine"))
        (self.out / ".git").rmdir()
        self.site(self.out)

    def test_links_are_kept_and_one_that_leads_nowhere_is_named(self) -> None:
        for link, says in (
            ("[a](GLOSSARY.md#no-such)", "GLOSSARY.md#no-such: GLOSSARY.md has no heading of that name"),
            ('<img src="gone.svg">', "the link to gone.svg leads nowhere"),
            ("\udcff", "byte 8 is no UTF-8"),
        ):
            with self.subTest(link):
                self.write(link)
                self.site(self.out, status=1, says=f"README.md: {says}")
                self.assertFalse(self.out.exists())
        self.write("[w](GLOSSARY.md#words) [p](plots) [h](#page) [x](https://a.example/b)\n")
        self.site(self.out)
        text = (self.out / "index.html").read_text()
        for address in ("GLOSSARY.html#words", "plots/index.html", "#page", "https://a.example/b"):
            self.assertIn(f'href="{address}"', text)

    def test_the_address_to_clone_from_is_never_invented(self) -> None:
        """Nor are a name and a password in it shown."""
        self.write("In a clone of this repository:\n\n```sh\nmake\n```\n")
        clone = "git clone https://{}.example/me/flash flash &amp;&amp; cd flash\n"
        for origin, options, shown in (
            ("/home/me/flash", [], ""),
            ("git@a.example:me/flash.git", [], ""),
            ("https://me:secret@a.example/me/flash", [], clone.format("a")),
            ("https://a.example/me/flash.git", ["--address", "https://b.example/me/flash"], clone.format("b")),
        ):
            with self.subTest(origin=origin, options=options):
                subprocess.run(["git", "-C", self.tree, "config", "remote.origin.url", origin], check=True)
                shutil.rmtree(self.out, ignore_errors=True)
                self.site(self.out, *options)
                code = re.search(r"<pre[^>]*><code>(.*?)</code>", (self.out / "index.html").read_text(), re.DOTALL)[1]
                self.assertEqual(re.sub("<.*?>", "", code), f"{shown}make\n")
        says = "ADDRESS=https://a.example; rm x: expected an address, https://..."
        self.site(self.scratch / "other", "--address", "https://a.example; rm x", status=2, says=says)


class WithoutLibrary(Case):
    def test_the_library_is_named_in_one_line(self) -> None:
        (self.scratch / "markdown_it.py").write_text("raise ImportError(name='markdown_it')\n")
        done = run([TOOL, self.scratch / "out"], PYTHONPATH=str(self.scratch))
        says = "site: a library is missing: ./setup.sh --all (python3-markdown-it), or pip install markdown-it-py\n"
        self.assertEqual(done, (3, "", says))
