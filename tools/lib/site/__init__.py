"""Pages for a browser of the tree's Markdown, and of what it links to; and the links that lead nowhere. Used by
tools/site and tools/text."""

from __future__ import annotations

import html
import os
import posixpath
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from ..chapters import programs_of
from ..glossary import slug

HERE = Path(__file__).resolve().parent
FRONT = "README.md"  # the front page
FENCES = {"cuda": "x.cu", "c": "x.c", "sh": "x.sh", "edits": "x.diff", "python": "x.py"}  # a name of such a file
EXPLORER = "plots/explorer.html"
COURSE = re.compile(r'("course":)"[^"]*"')  # where a page of the explorer leads back to
IMAGES = (".svg", ".png")
SIZE = re.compile(r'<svg[^>]*? viewBox="0 0 ([\d.]+) ([\d.]+)"')
PICTURE, WIDTH = re.compile(r"<(?:img|source)\b[^>]*\.svg[^>]*>"), re.compile(r' (?:width|height)="\d+"')
SHORT = re.compile(r"<code>([^<\n]{1,24})</code>")  # stays on one line: --seq
CLONE = re.compile(r"^In a clone of this repository:\n\n```sh\n", re.MULTILINE)  # README.md, until it is published
LINK = re.compile(r'\b(href|src|srcset)="([^"]*)"')
UNDEFINED = re.compile(r"(?<![\w\]])\[[^\[\]]+\]\[[^\[\]]*\]")  # as Markdown leaves it: a link to no definition
STUDENT = "classroom/student/"  # pages of the student's tree, whose links may begin there


class SiteError(Exception):
    """Why there is no site, in one line; the exit status."""

    def __init__(self, text: str, status: int = 1) -> None:
        super().__init__(text)
        self.status = status


@dataclass
class Page:
    """Of one file or folder of the tree."""

    source: str  # relative to the tree
    title: str
    body: str
    anchors: set[str] = field(default_factory=set)
    parts: list[tuple[str, str]] = field(default_factory=list)  # anchor and words of each heading of the second level


def place_of(source: str) -> str:
    """Where the page of a file stands in the site."""
    folder, name = posixpath.split(source)
    if name == "README.md":
        return posixpath.join(folder, "index.html")
    return re.sub(r"\.md$", ".html", source) if name.endswith(".md") else f"{source}.html"


def relative(to: str, page: str) -> str:
    return posixpath.relpath(to, posixpath.dirname(page) or ".")


def address_of(root: Path) -> str | None:
    """Where the tree can be cloned from, if that is an address for everybody: https, without a name and a password."""
    asked = subprocess.run(
        ["git", "remote", "get-url", "origin"], cwd=root, capture_output=True, text=True, check=False
    )
    found = re.fullmatch(r"https://(?:[^/@]*@)?([\w.-]+(?::\d+)?/[\w./~-]+)", asked.stdout.strip())
    return f"https://{found[1]}" if found else None


def parser() -> Any:
    try:
        import pygments  # noqa: F401
        from markdown_it import MarkdownIt
    except ImportError as error:
        package = "pygments" if error.name == "pygments" else "markdown-it"
        pypi = "pygments" if error.name == "pygments" else "markdown-it-py"
        raise SiteError(
            f"a library is missing: ./setup.sh --all (python3-{package}), or pip install {pypi}", 3
        ) from None

    def block(text: str, language: str, _: str) -> str:
        lines = colored(text, FENCES.get(language, ""))
        return f'<pre class="source"><code>{"".join(lines)}</code></pre>\n' if lines else ""

    return MarkdownIt("commonmark", {"highlight": block}).enable(["table", "strikethrough"])


def colored(text: str, name: str) -> list[str]:
    """The lines of a source file of that name, as HTML. None: a language that nobody colors."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_for_filename
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_for_filename(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return []
    return in_lines(highlight(text, lexer, HtmlFormatter(nowrap=True)))


def in_lines(text: str) -> list[str]:
    """Each with its end, as HTML."""
    return [f'<span class="l">{line}\n</span>' for line in text.removesuffix("\n").split("\n")]


class Site:
    """Pages by their source, and the images that they show."""

    def __init__(
        self, root: Path, explorer: Path | None = None, address: str | None = None, wrong: Path | None = None
    ) -> None:
        """`wrong`: of tools/wrong_runs."""
        self.root, self.explorer, self.wrong = root, explorer, wrong
        self.address = address or address_of(root)
        self.markdown = parser()
        self.pages: dict[str, Page] = {}
        told = (wrong / "index.tsv").read_text(encoding="utf-8").splitlines() if wrong else []
        self.wrong_runs = {f"wrong/{name}.html": words for name, words in (line.split("\t") for line in told)}
        self.elsewhere = {EXPLORER, *self.wrong_runs}  # pages that others make
        self.images: set[str] = set()
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root,
            capture_output=True,
            check=False,
        )
        if listed.returncode != 0:
            raise SiteError("git does not list the tree's files: a clone is needed", 3)
        files = (name.decode("utf-8", "surrogateescape") for name in listed.stdout.split(b"\0") if name)
        self.files = {name for name in files if (root / name).is_file()}
        self.folders = {str(parent) for name in self.files for parent in Path(name).parents if str(parent) != "."}
        self.chapters = [
            name for name in (f"{chapter}/README.md" for chapter in programs_of(root)) if name in self.files
        ]

    # ---- reading ----

    def render(self) -> None:
        """All pages that README.md leads to; then their links, each to where it leads. Raises SiteError."""
        waiting = [FRONT, "GLOSSARY.md", "plots/README.md", *self.chapters]
        while waiting:
            source = waiting.pop(0)
            if source not in self.pages:
                self.pages[source] = self.page(source)
                waiting += sorted(self.linked(self.pages[source]))
        for page in self.pages.values():
            body = PICTURE.sub(lambda tag: WIDTH.sub("", tag[0]), page.body)
            page.body = LINK.sub(lambda link, page=page: self.rewritten(page, link), body)

    def page(self, source: str) -> Page:
        if source.endswith(".md"):
            return self.of_markdown(source)
        return self.of_folder(source) if source in self.folders else self.of_text(source)

    def text_of(self, source: str) -> str:
        try:
            text = (self.root / source).read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise SiteError(f"{source}: byte {error.start} is no UTF-8") from None
        return (
            CLONE.sub(lambda _: f"```sh\ngit clone {self.address} flash && cd flash\n", text) if self.address else text
        )

    def of_markdown(self, source: str) -> Page:
        text = self.text_of(source)
        tokens = self.markdown.parse(re.sub(r"^<!--.*?-->\n?", "", text, flags=re.MULTILINE | re.DOTALL))
        page = Page(source, source, "")
        for token, inside in zip(tokens, tokens[1:]):
            if token.type == "heading_open":
                words = "".join(child.content for child in inside.children if child.type in ("text", "code_inline"))
                token.attrSet("id", name := self.anchor(page, slug(words)))
                if token.tag == "h1":
                    page.title = words
                elif token.tag == "h2":
                    page.parts.append((name, words))
        page.body = self.markdown.renderer.render(tokens, self.markdown.options, {})
        page.body = SHORT.sub(r'<code class="short">\1</code>', page.body)
        page.body = page.body.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
        if source == FRONT:
            page.body += self.told()
        page.anchors |= set(re.findall(r'<a (?:id|name)="([^"]+)"', page.body))
        return page

    @staticmethod
    def anchor(page: Page, wanted: str) -> str:
        name, number = wanted, 0
        while name in page.anchors:
            number += 1
            name = f"{wanted}-{number}"
        page.anchors.add(name)
        return name

    def of_text(self, source: str) -> Page:
        try:
            text = (self.root / source).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise SiteError(f"{source}: is linked and is no text") from None
        lines = colored(text, source) or in_lines(html.escape(text))
        numbered = (
            line.replace(">", f'><a id="L{n}" href="#L{n}" tabindex="-1">{n}</a>', 1)
            for n, line in enumerate(lines, start=1)
        )
        body = f'<h1>{html.escape(source)}</h1>\n<pre class="source lines">' + "".join(numbered) + "</pre>"
        return Page(source, source, body, {f"L{n}" for n in range(1, text.count("\n") + 2)})

    def of_folder(self, source: str) -> Page:
        names = sorted(name for name in self.files if name.startswith(f"{source}/"))
        items = "".join(f"<li>{html.escape(name)}</li>\n" for name in names)
        return Page(source, source, f"<h1>{html.escape(source)}</h1>\n<ul>\n{items}</ul>")

    # ---- links ----

    def target(self, page: Page, address: str) -> str | None:
        """What of the tree a link leads to; None for one to elsewhere, or within the page. Raises SiteError."""
        parts = urlsplit(html.unescape(address))
        if parts.scheme or parts.netloc or not parts.path:
            return None
        folder = page.source if page.source in self.folders else posixpath.dirname(place_of(page.source))
        found = posixpath.normpath(posixpath.join(folder, unquote(parts.path)))
        if found in self.folders and f"{found}/README.md" in self.files:
            found = f"{found}/README.md"
        if found == ".":
            found = FRONT
        if found not in self.files and found not in self.folders and found not in self.elsewhere:
            raise SiteError(f"{page.source}: the link to {address} leads nowhere")
        return found

    def linked(self, page: Page) -> set[str]:
        found = set()
        for _, address in LINK.findall(page.body):
            target = self.target(page, address)
            if target and target.endswith(IMAGES):
                self.images.add(target)
            elif target and target not in self.elsewhere:
                found.add(target)
        return found

    def fragment(self, page: Page, address: str, target: str) -> str:
        """What stands behind the # of a link. Raises SiteError where its target has no such heading."""
        fragment = urlsplit(html.unescape(address)).fragment
        if fragment and not target.endswith(IMAGES) and target not in self.elsewhere:
            if target not in self.pages:
                self.pages[target] = self.page(target)
            if fragment not in self.pages[target].anchors:
                raise SiteError(f"{page.source}: {address}: {target} has no heading of that name")
        return fragment

    def broken_links(self, source: str) -> list[str]:
        """A line for each link of a Markdown file that leads nowhere."""
        page = self.of_markdown(source)
        seen_from = [page, *([Page(source.removeprefix(STUDENT), "", "")] if source.startswith(STUDENT) else [])]
        found = []
        for _, address in LINK.findall(page.body):
            wrong = []
            for at in seen_from:
                try:
                    target = self.target(at, address)
                    if target or address.startswith("#"):
                        self.fragment(at, address, target or source)
                except SiteError as error:
                    wrong.append(str(error))
            found += wrong[:1] if len(wrong) == len(seen_from) else []
        text = re.sub(r"<(pre|code)\b.*?</\1>|<[^>]*>", "", page.body, flags=re.DOTALL)
        return found + [f"{source}: {link}: no such definition" for link in UNDEFINED.findall(text)]

    def rewritten(self, page: Page, link: re.Match[str]) -> str:
        attribute, address = link.groups()
        target = self.target(page, address)
        if target is None:
            return link[0]
        to = target if target.endswith(IMAGES) or target in self.elsewhere else place_of(target)
        fragment = self.fragment(page, address, target)
        where = quote(relative(to, place_of(page.source))) + (f"#{fragment}" if fragment else "")
        size = "" if attribute == "href" else self.size(target)
        return f'{attribute}="{html.escape(where)}"{size}'

    def size(self, image: str) -> str:
        """As attributes, so that the text below does not move when it comes."""
        found = SIZE.search((self.root / image).read_text(encoding="utf-8")[:1000]) if image.endswith(".svg") else None
        return "" if not found else ' width="{:.0f}" height="{:.0f}"'.format(*map(float, found.groups()))

    # ---- writing ----

    def menu(self, page: Page) -> str:
        """The chapters, and of this page its parts."""
        place = place_of(page.source)
        parts = "".join(f'<li><a href="#{name}">{html.escape(words)}</a></li>' for name, words in page.parts)
        parts = f"<ul>{parts}</ul>" if parts else ""
        links, listed = [], [FRONT, *self.chapters, "GLOSSARY.md", "plots/README.md"]
        for source in listed:
            words = "Start" if source == FRONT else self.pages[source].title
            here = ' aria-current="page"' if source == page.source else ""
            to = relative(place_of(source), place)
            links.append(f'<li><a href="{to}"{here}>{html.escape(words)}</a>{parts if here else ""}</li>')
        if self.explorer:
            links.append(f'<li><a href="{relative(EXPLORER, place)}">Explorer: watch the bytes move</a></li>')
        if parts and page.source not in listed:
            links.append(f'<li class="parts">On this page{parts}</li>')
        return "<ul>\n" + "\n".join(links) + "\n</ul>"

    def told(self) -> str:
        """Of the wrong runs, for the front page."""
        if not self.wrong_runs:
            return ""
        items = "\n".join(
            '<li><a href="{}"><b>{}</b>{}</a></li>'.format(page, *map(html.escape, words.partition(": ")[::2]))
            for page, words in self.wrong_runs.items()
        )
        told = "Each is FlashAttention-2 with one line changed; its page shows what the device and the checker found."
        return f'<h2 id="wrong-runs">Wrong runs to explore</h2>\n<p>{told}</p>\n<ul class="cards">\n{items}\n</ul>'

    def ends(self, page: Page) -> str:
        """Of a chapter's page: the one before and the next."""
        if page.source not in self.chapters:
            return ""
        order = [FRONT, *self.chapters]
        at = order.index(page.source)
        links = []
        for number, words, mark in ((at - 1, "← {}", "prev"), (at + 1, "{} →", "next")):
            if number < len(order):
                title = words.format(html.escape(self.pages[order[number]].title))
                to = relative(place_of(order[number]), place_of(page.source))
                links.append(f'<a rel="{mark}" href="{to}">{title}</a>')
        return f'<nav class="ends" aria-label="Chapters">{" ".join(links)}</nav>\n'

    def write(self, out: Path) -> None:
        out.mkdir()
        (out / ".nojekyll").write_text("")
        for name in ("style.css", "favicon.svg"):
            shutil.copyfile(HERE / name, out / name)
        frame = (HERE / "page.html").read_text(encoding="utf-8")
        for page in self.pages.values():
            place = place_of(page.source)
            target = out / place
            target.parent.mkdir(parents=True, exist_ok=True)
            up = relative(".", place) + "/"
            parts = {
                "title": html.escape(re.sub(r"[`*]", "", page.title)),
                "up": up,
                "menu": self.menu(page),
                "body": page.body,
                "ends": self.ends(page),
            }
            target.write_text(frame.format(**parts), encoding="utf-8", errors="surrogateescape")
        for image in sorted(self.images):
            (out / image).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.root / image, out / image)
        if self.explorer:
            self.lead_back(self.explorer, out / EXPLORER)
        for place in self.wrong_runs:
            self.lead_back(self.wrong / posixpath.basename(place), out / place)
        os.chmod(out, 0o755)

    @staticmethod
    def lead_back(made: Path, out: Path) -> None:
        """Copies a page of the explorer, whose link to the course leads to the front page."""
        out.parent.mkdir(parents=True, exist_ok=True)
        back = relative(place_of(FRONT), f"{out.parent.name}/{out.name}")
        out.write_text(COURSE.sub(rf'\1"{back}"', made.read_text(encoding="utf-8"), count=1), encoding="utf-8")
