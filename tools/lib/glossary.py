"""Links the words of GLOSSARY.md where a page uses them first.

In a page the first use of a word in running text becomes a link, [warp] or [warps][warp], and the end of the page says
where these lead. Links that are no longer at the first use are taken away: it may be done again after any edit. Code,
headings, comments, blocks that tools write and other links are left alone, and are no use of a word. A word inside a
longer one of the glossary is no use of it: a register tile is no tile.

A heading "### word" of the glossary is a word, and so are its plural and the forms of FORMS.
"""

from __future__ import annotations

import re
from collections.abc import Callable

# Forms that are not the word with an s.
FORMS = {
    "coalesced": ("uncoalesced",),
    "page of the cache": ("pages of the cache",),
    "query": ("queries",),
    "spill": ("spilled", "spilling"),
    "split of the keys": ("splits of the keys",),
}
# What is no running text: the parts of a page in which no word is looked for.
SKIPPED = re.compile(
    r"^```.*?^```$"  # fences
    r"|^<!-- (?:markdown|output)\b.*?^<!-- end -->$"  # what other tools write
    r"|<!--.*?-->"
    r"|^#.*?$"  # headings
    r"|(?<=\n\n)(?: {4}|\t).*?(?=\n\n(?! {4}|\t|\n)|\Z)"  # indented code
    r"|`[^`\n]*(?:\n[^`\n]+)?`"  # code in a line
    r"|!?(?<!\])\[[^\]]*\]\([^)]*\)"  # links
    r"|<[^>\n]+>",
    re.MULTILINE | re.DOTALL,
)
DEFINITION = re.compile(r"^\[[^\]]+\]: \S*GLOSSARY\.md#\S+\n", re.MULTILINE)
REFERENCE = re.compile(r"\[([^\[\]]+)\](?:\[([^\[\]]+)\])?")


def slug(heading: str) -> str:
    """The fragment of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def plain(text: str) -> str:
    return " ".join(text.lower().split())


def in_running_text(pattern: re.Pattern[str], change: Callable[[re.Match[str]], str], text: str) -> str:
    """`change` done to each match of the pattern; the rest stays."""
    made, end = "", 0
    for skipped in SKIPPED.finditer(text):
        made += pattern.sub(change, text[end : skipped.start()]) + skipped[0]
        end = skipped.end()
    return made + pattern.sub(change, text[end:])


def linked(text: str, glossary: str, place: str) -> str:
    """The page with links at first uses; `place` is where the glossary, of this text, lies as seen from the page."""
    words = re.findall(r"^### (.+)$", glossary, re.MULTILINE)
    forms = {form.lower(): word for word in words for form in (word, f"{word}s", *FORMS.get(word, ()))}
    lower = {word.lower() for word in words}
    longest_first = sorted(forms, key=len, reverse=True)
    any_form = re.compile(
        r"(?<![\w`/.-])(?:"
        + "|".join(r"\s+".join(map(re.escape, form.split())) for form in longest_first)
        + r")(?![\w`-])",
        re.IGNORECASE,
    )
    seen: list[str] = []

    def bare(link: re.Match[str]) -> str:
        return link[1] if plain(link[2] or link[1]) in lower else link[0]

    def first(use: re.Match[str]) -> str:
        word = forms[plain(use[0])]
        if word in seen:
            return use[0]
        seen.append(word)
        alone = use.string[use.end() : use.end() + 1] not in ("(", "[", ":")  # which would make another kind of link
        return f"[{use[0]}]" if plain(use[0]) == word.lower() and alone else f"[{use[0]}][{word}]"

    without = in_running_text(REFERENCE, bare, DEFINITION.sub("", text)).rstrip("\n") + "\n"
    made = in_running_text(any_form, first, without)
    places = "".join(f"[{word}]: {place}#{slug(word)}\n" for word in sorted(seen, key=str.lower))
    return f"{made}\n{places}" if seen else made
