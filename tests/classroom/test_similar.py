"""Similar regions: copies that are renamed or reordered are found, and what is compared."""

from __future__ import annotations

import csv
import re
import sys

import mutants
import similar
from grading import ROOT, run
from hand_ins import Collected
from lib import tasks

OWN = """\
	float top = -INFINITY, total = 0.0f;
	const int first = lane;
	for (int at = first; at < N; at += WARP) {
		const float here = S[row * N + at];
		top = top < here ? here : top;
	}
	top = max_over_warp(top);
	const bool nothing = top == -INFINITY;
	for (int at = first; at < N && !nothing; at += WARP)
		total = total + expf(S[row * N + at] - top);
	total = sum_over_warp(total);
	const float inverse = nothing ? 0.0f : 1.0f / total;
	for (int at = N - WARP + lane; at >= 0; at -= WARP)
		P[row * N + at] = inverse * expf(S[row * N + at] - top);
"""
RENAMED = re.sub(r"\b(top|total|first|at|here|nothing|inverse)\b", r"my_\1", OWN).replace("1.0f", "1.f")
RENAMED = "// all my own work\n" + RENAMED.replace("\n\t", "\n\n  ")
REORDERED = OWN.replace("	float top = -INFINITY, total = 0.0f;\n	const int first = lane;\n",
                        "	const int first = lane;\n	float total = 0.0f, top = -INFINITY;\n")  # fmt: skip


class Similar(Collected):
    TASK = "01.softmax"

    def setUp(self) -> None:
        super().setUp()
        chapter = self.grader().course.chapter("01_naive")
        self.solution = tasks.solutions_of("01_naive", chapter.base)[self.TASK]
        self.stub_text = chapter.stubs[self.TASK]

    def compare(self, texts: dict[str, str]) -> tuple[list[dict[str, str]], str]:
        for name, text in texts.items():
            self.put(f"in/{name}/{self.TASK}.cu", text)
        out = self.scratch / "new/out"
        where = ("--submissions", self.scratch / "in", "--results", out)
        done = self.succeeded(run(sys.executable, ROOT / "classroom/similar.py", *where))
        self.assertEqual({oct(path.stat().st_mode & 0o777) for path in out.iterdir()}, {"0o600"})
        self.assertEqual(out.stat().st_mode & 0o777, 0o700)
        with (out / "similar.csv").open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file)), done.stdout

    def test_copies_are_found_and_nothing_else(self) -> None:
        """Kills: names that count, comments that count, a stub or the published solution that is remarkable."""
        same = {f"public{number}": self.solution for number in range(8)}
        stubs = {f"stub{number}": self.stub_text for number in range(3)}
        copies = {"anna": OWN, "bo <b>": RENAMED, "cy": REORDERED}
        for _ in range(2):  # the second time over a file that all may read
            rows, said = self.compare({**same, **stubs, **copies})
            (self.scratch / "new/out/similar.csv").chmod(0o644)
        found = {(row["one"], row["other"]): float(row["score"]) for row in rows if row["remarkable"]}
        self.assertEqual(sorted(found), [("anna", "bo <b>"), ("anna", "cy"), ("bo <b>", "cy")])
        self.assertEqual(found["anna", "bo <b>"], 1)
        self.assertTrue(all(0.8 <= score < 1 for pair, score in found.items() if "cy" in pair), found)
        self.assertIn(
            "01.softmax: 11 handed in something; 8 as the published solution; the same among themselves: 2\n", said
        )
        self.assertIn(f"\n{len(rows)} similar pairs, 3 of them remarkable: {self.scratch}/new/out/similar.html\n", said)
        self.assertEqual(sum(row["one"].startswith("public") for row in rows), 28)
        self.assertFalse([row for row in rows if "stub" in row["one"] + row["other"]])
        page = (self.scratch / "new/out/similar.html").read_text()
        self.assertEqual(page.count("<h2>"), 3)
        self.assertIn("bo &lt;b&gt;", page)
        self.assertIn("<mark>\ttop = top", page.replace("\t\ttop", "\ttop"))
        self.assertNotIn("public0", page)

    def test_how_many_may_have_what_is_rare(self) -> None:
        """Three, or a twentieth of all: each of these students has a text of its own, but some the same. Most of it is
        there twice. Kills: counting how often a text has something in the place of how many have it."""
        for all_students, same, rare in ((20, 3, True), (20, 4, False), (100, 5, True), (100, 6, False)):
            of = [0 if number < same else number for number in range(all_students)]
            tokens = [[(f"{text}.{at % 15}", at) for at in range(30)] for text in of]
            texts = [similar.Text(str(number), "", own) for number, own in enumerate(tokens)]
            pairs = similar.pairs_of("01.softmax", texts, similar.Text("", "", [("none", 1)]))
            self.assertEqual(len(pairs), same * (same - 1) // 2)
            self.assertEqual({pair.is_remarkable for pair in pairs}, {rare}, (all_students, same))

    def test_what_is_compared(self) -> None:
        """Kills: a number or a pragma that is a name, a line that is another one, a text that is too long."""
        lines = similar.lines_of("a = 1.0f + N; // x\n\n#pragma unroll 4\nb[0x10] = 1.50e1f;", frozenset("N"))
        expected = {1: "name = 1 + N ;", 3: "#4", 4: "name [ 0x10 ] = 15 ;"}
        self.assertEqual({line: " ".join(tokens) for line, tokens in lines.items()}, expected)
        self.assertEqual(similar.lines_of("\u20ac a\n\nb", frozenset()), {1: ["\u20ac", "a"], 2: [], 3: ["b"]})
        self.assertEqual(
            similar.own_text("", "1;\n2; 3;\n2;", "  2;\n", frozenset()).form, ("1", ";", "2", ";", "3", ";")
        )
        for length in (16_384, 16_385):
            self.put(f"in/of {length}/{self.TASK}.cu", "x;".ljust(length))
        self.put("in/broken.zip", "no zip")
        hands = [*self.collect(self.scratch / "in")[0], similar.collect.HandIn("absent")]
        course = self.grader().course
        given = similar.given_names(course, self.TASK)
        here, anywhere = (
            "row N S P max_over_warp SCORE_THREADS",
            "float const for threadIdx x expf INFINITY true float4",
        )
        self.assertEqual({*here.split(), *anywhere.split()} - given, set())
        self.assertEqual({"top", "name", "total"} & given, set())
        tasks_here = [task for task in course.tasks if task.id in (self.TASK, "01.score")]
        texts, unread = similar.texts_of(course, tasks_here, hands)
        found = {task: [text.student for text in own] for task, own in texts.items()}
        self.assertEqual(found, {self.TASK: ["of 16384"], "01.score": []})
        broken = "broken.zip: not compared: not a zip file (nor a directory)"
        self.assertEqual(unread, [broken, f"of 16385: {self.TASK}: not compared: 16385 characters"])

    def test_how_much_is_the_same(self) -> None:
        """Kills: another length of a run, another score, a pair too many or too few, another order."""

        def text(student: str, tokens: str) -> similar.Text:
            return similar.Text(student, " ".join(tokens), [(token, at // 2) for at, token in enumerate(tokens)])

        one, other, again = text("one", "abcdefghijkl"), text("other", "abcdefghijkz"), text("again", "abcdefghijkl")
        texts, none = [text("third", "abcdefghijyz"), one, other, again, text("empty", "")], text("", "-")
        pairs = similar.pairs_of("t", texts, none)
        found = [(pair.one.student, pair.other.student, pair.score, len(pair.rare)) for pair in pairs]
        expected = [("one", "again", 1, 2), ("one", "other", 0.875, 1), ("other", "again", 0.875, 1)]
        self.assertEqual(found, expected)  # what four of them have is not rare
        self.assertEqual([len(pair.rare) for pair in similar.pairs_of("t", texts, one)], [0, 0, 0])  # it is published
        self.assertEqual(one.lines_with(pairs[1].rare), {3, 4, 5})
        rows = similar.table_of(pairs).splitlines()
        self.assertEqual(rows[1:3], ["t,1.00,one,again,2,,yes", "t,0.88,one,other,1,,"])
        least = similar.pairs_of("t", [text("a", "abcdefghi"), text("b", "abcdefghz")], none)
        self.assertEqual([(pair.score, pair.is_remarkable) for pair in least], [(0.8, False)])
        self.assertEqual([*text("", "abcd").runs], [(*"abcd",)])
        for count in (7, 8):
            pair = similar.Pair("t", 1, one, other, {(str(number),) for number in range(count)})
            self.assertEqual(pair.is_remarkable, count == 8)
        many = [one, again, *(text(str(number), "zy") for number in range(3)), *(text("", str(n)) for n in range(3))]
        begin = "t: {} handed in something; 1 as the published solution; the same among themselves: 3, 2"
        few = "; fewer than 10: what is rare is not known"
        for more, number, end in ((["q", "p"], 10, ""), (["p", ""], 9, few)):
            texts = [*many, *(text("", each) for each in more)]
            self.assertEqual(similar.said_of("t", texts, text("", "p")), begin.format(number) + end)
        self.assertNotIn("published", similar.said_of("t", many, text("", "p")))

    def test_right_solutions_that_differ_are_no_remarkable_pair(self) -> None:
        """Of each two right ones of tests/classroom/submissions; nearly equal are those near the course's."""
        course = self.grader().course
        texts: dict[str, list[similar.Text]] = {}
        published: dict[str, similar.Text] = {}
        right = sorted((ROOT / "tests/classroom/submissions").glob("right.*"))
        for edit in (mutant.edit for mutant in mutants.read(right)):
            if "class" in edit.header:
                continue
            chapter = course.chapter(edit.name)
            solutions = tasks.solutions_of(edit.name, chapter.base)
            changed = {}
            for name, text in edit.apply(chapter.base).items():
                for part in tasks.take_apart(name, text):
                    if part.id and tasks.without_indent(name, part) != solutions[part.id]:
                        changed[part.id] = tasks.without_indent(name, part)
            for task, text in changed.items():
                given, stub = similar.given_names(course, task), chapter.stubs[task]
                texts.setdefault(task, []).append(similar.own_text(edit.words, text, stub, given))
                published[task] = similar.own_text("", solutions[task], stub, given)
        pairs = [pair for task, found in texts.items() for pair in similar.pairs_of(task, found, published[task])]
        self.assertGreaterEqual(sum(len(found) * (len(found) - 1) // 2 for found in texts.values()), 15)
        for pair in pairs:
            self.assertFalse(pair.is_remarkable, (pair.task, pair.one.student, pair.other.student))
            near = [similar.score_of(each.runs, published[pair.task].runs) for each in (pair.one, pair.other)]
            self.assertGreater(min(near), 0.8, (pair.task, pair.one.student, pair.other.student))

    def test_mistakes_of_the_command_line(self) -> None:
        for arguments, says in (
            (["SUBMISSIONS=/no/such"], "similar: SUBMISSIONS=/no/such: expected a directory of zips"),
            ([], "similar: of whom? make similar SUBMISSIONS="),
            (["SUBMISSIONS="], "similar: SUBMISSIONS= (--submissions) is empty; expected a value, or not this option"),
            (
                ["SUBMISSIONS=/no/such", "ONLY=99"],
                "similar: ONLY=99: expected chapters and tasks of classroom/tasks.tsv",
            ),
            (["SUBMISSIONS=/no/such", "KEY=short"], "similar: KEY= (--key): a key of 5 characters is found by trying"),
        ):
            done = run("make", "-s", "-C", ROOT, "similar", *arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(says, done.stderr)
