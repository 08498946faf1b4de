"""Pages for a browser of the tree's Markdown, and of what it links to. Used by tools/site."""

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
from urllib.parse import unquote, urlsplit

from .chapters import programs_of

MARK = ".made-by-make-site"
EXPLORER = "plots/explorer.html"
COURSE = re.compile(r'("course":)"[^"]*"')  # where a page of the explorer leads back to
IMAGES = (".svg", ".png")
CLONE = re.compile(r"^In a clone of this repository:\n\n```sh\n", re.MULTILINE)  # README.md, until it is published
LINK = re.compile(r'\b(href|src|srcset)="([^"]*)"')


class SiteError(Exception):
    """Why there is no site, in one line; the exit status."""

    def __init__(self, text: str, status: int = 1) -> None:
        super().__init__(text)
        self.status = status


STYLE = """
:root{color-scheme:light dark;--back:#fff;--text:#1f2328;--dim:#59636e;--line:#d1d9e0;--code:#f6f8fa;--link:#0969da}
@media (prefers-color-scheme:dark){
:root{--back:#0d1117;--text:#e6edf3;--dim:#9198a1;--line:#30363d;--code:#161b22;--link:#58a6ff}
}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:16px/1.55 system-ui,"DejaVu Sans",Verdana,sans-serif}
main,nav{max-width:56rem;margin:0 auto;padding:0 1rem}
nav{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;padding-top:.8rem;padding-bottom:.8rem;font-size:.9rem}
nav.top{border-bottom:1px solid var(--line);max-width:none;justify-content:center}
nav.ends{justify-content:space-between;border-top:1px solid var(--line);margin-top:2rem}
a{color:var(--link);text-underline-offset:2px}
h1,h2,h3{line-height:1.25;margin:1.8em 0 .6em}
h1{font-size:1.8rem;margin-top:1em}h2{font-size:1.35rem}h3{font-size:1.1rem}
h2{border-bottom:1px solid var(--line);padding-bottom:.25em}
img{max-width:100%;height:auto;display:block;margin:1rem auto}
code,pre{font-family:ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;font-size:.86em}
code{background:var(--code);padding:.1em .3em;border-radius:4px;overflow-wrap:anywhere}
pre{background:var(--code);padding:.8rem 1rem;border-radius:6px;overflow-x:auto;line-height:1.4}
pre code{background:none;padding:0;overflow-wrap:normal;font-size:1em}
td:first-child code{white-space:nowrap}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.93em}
th,td{border:1px solid var(--line);padding:.35em .6em;text-align:left;vertical-align:top}
blockquote{margin:1em 0;padding:0 1em;border-left:3px solid var(--line);color:var(--dim)}
nav a[aria-current]{color:var(--text);font-weight:bold;text-decoration:none}
nav .name,nav.toc{display:none}
@media (min-width:76rem){nav .name{display:inline}}
@media (min-width:86rem){
nav.toc{display:block;position:fixed;top:4.5rem;left:max(1rem,50vw - 45rem);width:14.5rem;max-height:80vh;overflow:auto}
nav.toc a{display:block;padding:.2rem 0;color:var(--dim);text-decoration:none}
}
.lines a{color:var(--dim);text-decoration:none;display:inline-block;width:3.2em;user-select:none}
"""

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<meta property="og:title" content="{title}">
<link rel="icon" type="image/svg+xml" href="{up}favicon.svg">
<link rel="stylesheet" href="{up}style.css">
</head>
<body>
<nav class="top" aria-label="Site">{top}</nav>
{toc}<main>
{body}
</main>
{ends}</body>
</html>
"""


# S in tiles, one of which is on the chip.
ICON = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">
<rect width="16" height="16" rx="3" fill="#0d1117"/>
<path d="M2 2h12v12H2zM6 2v12M10 2v12M2 6h12M2 10h12" fill="none" stroke="#9198a1" stroke-width=".6"/>
<rect x="6" y="6" width="4" height="4" fill="#F0782A"/>
</svg>
"""


def slug(heading: str) -> str:
    """The fragment of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


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
        from markdown_it import MarkdownIt
    except ImportError:
        raise SiteError(
            "the Markdown library is missing: ./setup.sh --all (python3-markdown-it), or pip install markdown-it-py", 3
        ) from None
    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


class Site:
    """Pages by their source, and the images that they show."""

    def __init__(
        self, root: Path, explorer: Path | None, address: str | None = None, wrong: Path | None = None
    ) -> None:
        """`wrong`: what tools/wrong_runs wrote."""
        self.root, self.explorer, self.wrong = root, explorer, wrong
        self.address = address or address_of(root)
        self.markdown = parser()
        self.pages: dict[str, Page] = {}
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
        waiting = ["README.md", "GLOSSARY.md", "plots/README.md", *self.chapters]
        while waiting:
            source = waiting.pop(0)
            if source not in self.pages:
                self.pages[source] = self.page(source)
                waiting += sorted(self.linked(self.pages[source]))
        for page in self.pages.values():
            page.body = LINK.sub(lambda link, page=page: self.rewritten(page, link), page.body)

    def page(self, source: str) -> Page:
        if source.endswith(".md"):
            return self.of_markdown(source)
        return self.of_folder(source) if source in self.folders else self.of_text(source)

    def of_markdown(self, source: str) -> Page:
        text = (self.root / source).read_text(encoding="utf-8")
        if self.address:
            text = CLONE.sub(lambda _: f"```sh\ngit clone {self.address} flash && cd flash\n", text)
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
        page.body = page.body.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
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
        lines = (
            f'<a id="L{n}" href="#L{n}">{n}</a>{html.escape(line)}' for n, line in enumerate(text.splitlines(), start=1)
        )
        body = f'<h1>{html.escape(source)}</h1>\n<pre class="lines">' + "\n".join(lines) + "</pre>"
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
        folder = page.source if page.source in self.folders else posixpath.dirname(page.source)
        found = posixpath.normpath(posixpath.join(folder, unquote(parts.path)))
        if found in self.folders and f"{found}/README.md" in self.files:
            found = f"{found}/README.md"
        if found == ".":
            found = "README.md"
        if found not in self.files and found not in self.folders and found != EXPLORER:
            raise SiteError(f"{page.source}: the link to {address} leads nowhere")
        return found

    def linked(self, page: Page) -> set[str]:
        found = set()
        for _, address in LINK.findall(page.body):
            target = self.target(page, address)
            if target and target.endswith(IMAGES):
                self.images.add(target)
            elif target and target != EXPLORER:
                found.add(target)
        return found

    def rewritten(self, page: Page, link: re.Match[str]) -> str:
        attribute, address = link.groups()
        target, fragment = self.target(page, address), urlsplit(html.unescape(address)).fragment
        if target is None:
            return link[0]
        if target.endswith(IMAGES) or target == EXPLORER:
            to = target
        else:
            to = place_of(target)
            if fragment and fragment not in self.pages[target].anchors:
                raise SiteError(f"{page.source}: {address}: {target} has no heading of that name")
        where = relative(to, place_of(page.source)) + (f"#{fragment}" if fragment else "")
        return f'{attribute}="{html.escape(where)}"'

    # ---- writing ----

    def top(self, place: str) -> str:
        def words_of(chapter: str) -> str:
            number, _, name = posixpath.dirname(chapter).partition("_")
            return f'{number}<span class="name"> {name.replace("_", " ")}</span>'

        wanted = [("README.md", "The course"), *((name, words_of(name)) for name in self.chapters)]
        wanted += [("GLOSSARY.md", "Glossary"), ("plots/README.md", "Pictures")]
        links = []
        for source, words in wanted:
            here = ' aria-current="page"' if place_of(source) == place else ""
            links.append(f'<a href="{relative(place_of(source), place)}"{here}>{words}</a>')
        if self.explorer:
            links.append(f'<a href="{relative(EXPLORER, place)}">Explorer: try it here</a>')
        return "\n".join(links)

    def wrong_runs(self) -> dict[str, str]:
        """{name: what is told}"""
        lines = (self.wrong / "index.tsv").read_text(encoding="utf-8").splitlines() if self.wrong else []
        return dict(line.split("\t") for line in lines)

    def body(self, page: Page) -> str:
        """With the wrong runs, on the front page, before its last but two parts."""
        runs = self.wrong_runs() if page.source == "README.md" else {}
        if not runs:
            return page.body
        items = "\n".join(
            f'<li><a href="wrong/{name}.html">{html.escape(told)}</a></li>' for name, told in runs.items()
        )
        told = f'<h2 id="wrong-runs">{len(runs)} wrong runs to explore</h2>\n<ul>\n{items}\n</ul>\n'
        before, teachers, after = page.body.partition('<h2 id="for-teachers"')
        return before + told + teachers + after

    @staticmethod
    def contents(page: Page) -> str:
        """Beside a long page, where there is room."""
        if len(page.parts) < 4:
            return ""
        links = "\n".join(f'<a href="#{name}">{html.escape(words)}</a>' for name, words in page.parts)
        return f'<nav class="toc" aria-label="On this page">{links}</nav>\n'

    def ends(self, page: Page, place: str) -> str:
        """Of a chapter's page: the one before and the next."""
        if page.source not in self.chapters:
            return ""
        order = ["README.md", *self.chapters]
        at = order.index(page.source)
        links = []
        for number, words, mark in ((at - 1, "← {}", "prev"), (at + 1, "{} →", "next")):
            if number < len(order):
                title = words.format(html.escape(self.pages[order[number]].title))
                links.append(f'<a rel="{mark}" href="{relative(place_of(order[number]), place)}">{title}</a>')
        return f'<nav class="ends" aria-label="Chapters">{" ".join(links)}</nav>\n'

    def write(self, out: Path) -> None:
        out.mkdir()
        (out / MARK).write_text("")
        (out / ".nojekyll").write_text("")
        (out / "style.css").write_text(STYLE.lstrip())
        (out / "favicon.svg").write_text(ICON)
        for page in self.pages.values():
            place = place_of(page.source)
            target = out / place
            target.parent.mkdir(parents=True, exist_ok=True)
            up = relative(".", place) + "/"
            title = html.escape(re.sub(r"[`*]", "", page.title))
            parts = {
                "title": title,
                "up": up,
                "top": self.top(place),
                "toc": self.contents(page),
                "body": self.body(page),
                "ends": self.ends(page, place),
            }
            target.write_text(PAGE.format(**parts), encoding="utf-8", errors="surrogateescape")
        for image in sorted(self.images):
            (out / image).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.root / image, out / image)
        if self.explorer:
            (out / EXPLORER).parent.mkdir(parents=True, exist_ok=True)
            text = self.explorer.read_text(encoding="utf-8")
            front = relative(place_of("README.md"), EXPLORER)
            (out / EXPLORER).write_text(COURSE.sub(rf'\1"{front}"', text, count=1), encoding="utf-8")
        for name in self.wrong_runs():
            text = (self.wrong / f"{name}.html").read_text(encoding="utf-8")
            (out / "wrong").mkdir(exist_ok=True)
            back = COURSE.sub(r'\1"../05_fa2/index.html"', text, count=1)
            (out / f"wrong/{name}.html").write_text(back, encoding="utf-8")
        os.chmod(out, 0o755)
