"""What a hand-out holds, and what it must not: tasks, hints, no solution, no history; and what is refused."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import shlex
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path
from subprocess import CompletedProcess as Done

from grading import CLASS_OF_CAPS, CLASS_OF_WINDOWS, ROOT, Scratch, handout, run, tool
from judge import course
from lib import tasks
from lib.chapters import PROGRAMS
from tree import PROGRAMS as HANDED_OUT


def region_in(chapter: Path, task: str) -> tuple[str, str]:
    """(text of the first file of a chapter that has this region, what lies between the task's two lines)."""
    for path in sorted([*chapter.glob("*.cu"), *chapter.glob("*.cuh")]):
        source = path.read_text()
        if found := re.search(rf"// task {re.escape(task)}: .*\n((?:.*\n)*?)\s*// end {re.escape(task)}\n", source):
            return source, found[1]
    raise AssertionError(f"{chapter}: no region of task {task}")


class Handout(Scratch):
    tasks = handout.TASKS

    def refused(self, done: Done[str], says: str) -> None:
        """With one line."""
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn(says, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


class Course(Handout):
    def test_tasks_are_few_and_small(self) -> None:
        chapters = [task.chapter for task in self.tasks]
        self.assertEqual({*chapters, *handout.GIVEN}, set(HANDED_OUT))
        self.assertEqual(set(chapters) & set(handout.GIVEN), set())
        self.assertLessEqual(max(map(chapters.count, chapters)), 4)
        self.assertEqual(len({task.id for task in self.tasks}), len(self.tasks))
        self.assertEqual(sum(task.points for task in self.tasks), 100)
        for task in self.tasks:
            self.assertLessEqual(task.lines, 13, task.id)
            known = (ROOT / task.chapter / "chapter.c").read_text()
            for kernel in task.kernels:
                self.assertIn(f'"{kernel}"', known, task.id)

    def expect_stub(self, where: str, solution: str, stub: str) -> int:
        """It says what is wanted, in about how many lines, and hints; the lines are those of the solution, give or take
        a few."""
        begin = re.match(r"// TODO \(about (\d+) [\s\S]*\n// Hint: ", stub)
        self.assertTrue(begin and "(void)" not in stub, f"{where}: {stub}")
        budget, counted = int(begin[1]), [line.strip() for line in solution.splitlines()]
        # Without comments, braces alone and blank lines.
        own = sum(not (line.startswith(("#", "//")) or line in ("", "}")) for line in counted)
        self.assertLessEqual(abs(own - budget), 1 + budget // 5, f"{where}: {own} lines, the stub says about {budget}")
        return budget

    def test_tasks_are_whole(self) -> None:
        for task in self.tasks:
            source, solution = region_in(ROOT / task.chapter, task.id)
            self.assertEqual(source.count(f"// task {task.id}: {task.title}\n"), 1, task.id)
            directory = ROOT / "classroom/tasks" / task.id
            self.assertEqual(self.expect_stub(task.id, solution, (directory / "stub.cu").read_text()), task.lines)
            for variant, values in handout.CHOICES.get(task.chapter, ()):
                solved = handout.solved_sources(task.chapter, variant, values[0])
                own = tasks.solutions_of(task.chapter, solved)[task.id]
                stub = directory / f"stub.{variant}.cu"
                self.assertEqual(own.split() != solution.split(), stub.exists(), f"{stub}: one without the other")
                if stub.exists():
                    chosen = {task.chapter: (variant, values[0])}
                    text = handout.stubs_of(task.chapter, chosen)[task.id]
                    self.expect_stub(f"{task.id}, {variant}", own, text)

    def test_what_a_page_says_of_its_tasks(self) -> None:
        """Kills: a number, a file, a length or points of another task; a sentence about copies that there are not."""
        for key in (None, CLASS_OF_CAPS):
            chosen = handout.class_of_key(key)
            for chapter in handout.CHAPTERS:
                text, stubs = handout.assignment(chapter, chosen), handout.stubs_of(chapter, chosen)
                sources, rows = handout.solved_sources(chapter, *chosen[chapter]), []
                for number, task in enumerate(self.tasks, 1):
                    files = ", ".join(f"`{name}`" for name, own in sources.items() if f"// task {task.id}: " in own)
                    if task.chapter == chapter:
                        about = re.search(r"about (\d+ lines?)", stubs[task.id])[1]
                        rows.append(f"| {number} | `{task.id}`: {task.title} | {files} | {about} | {task.points:g} |")
                self.assertEqual(re.findall(r"(?m)^\| \d.*", text), rows)
                self.assertEqual("A task in several files" in text, any("`, `" in row for row in rows))
                number = rows[0].split()[1]
                self.assertIn(f"\n`make hint N={number}` in the tree's top directory helps with task {number}, a", text)
                self.assertEqual("**Your class computes" in text, chosen[chapter][0] != "plain")

    def test_small_parts(self) -> None:
        """Kills: a constant without its f, chapters in another order, a file that others cannot read."""
        for value, text in (("3", "3.0f 3 @VALUE@"), ("2.5", "2.5f 2.5 @VALUE@")):
            text = text.replace("@VALUE@", f"{value}fx")
            self.assertEqual(handout.with_value("@VALUE@f @VALUE@ @VALUE@fx", value), text)
        self.assertEqual(handout.chapters_of(" 3, 01 01_naive"), ["01_naive", "03_tiled_matmul"])
        self.assertEqual(handout.check_place(ROOT / "x", "shown", False), ROOT)
        for mode, expected in ((0o600, 0o644), (0o666, 0o644), (0o700, 0o744), (0o777, 0o755)):
            file, copied = self.scratch / "file", self.scratch / "new/file"
            file.write_text("")
            file.chmod(mode)
            handout.copy(file, copied)
            self.assertEqual(copied.stat().st_mode & 0o777, expected)

    def test_every_task_has_three_hints(self) -> None:
        tree = self.hand_out("hints", CLASS_OF_CAPS)
        spec = importlib.util.spec_from_file_location("hint_of_tree", tree / "classroom/hint.py")
        hint = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(hint)
        for number, task in enumerate(self.tasks, 1):
            said = [io.StringIO() for _ in range(3)]
            for level, shown in enumerate(said, 1):
                with contextlib.redirect_stdout(shown):
                    hint.run(str(number), "")
                begin = rf"Task {number}, {task.id}: .*\nHint {level} of 3\n\n"
                self.assertRegex(shown.getvalue(), rf"(?s)^{begin}.{{100}}")
            self.assertEqual(len({shown.getvalue().partition("of 3")[2] for shown in said}), 3)
        # The class's own part of a hint, and none of another class's.
        own = r"(?s)Hint 3 of 3\n(?!.*WINDOW).*SOFT_CAP \* tanhf\(s\[r\]\[j\] / SOFT_CAP\).*the last one"
        for settings, status, says in (
            ("N=16", 0, own),  # there is no further one
            ("N=05.rescale LEVEL=2", 0, "Hint 2 of 3"),
            ("", 0, "05.rescale"),
            ("N=0", 2, "^hint: N=0: expected a task, 1 to 25 or its name"),
            ("N=26", 2, "^hint: N=26: expected a task, 1 to 25"),
            ("N='x;ls'", 2, "^hint: N=x;ls: expected a task, 1 to 25"),
            ("N=1 LEVEL=4", 2, "^hint: LEVEL=4: task 01.score has hints 1 to 3\n"),
        ):
            done = run("make", "hint", *shlex.split(settings), directory=tree)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertRegex(done.stderr or done.stdout, says)


class Tree(Handout):
    def test_planted_solutions_are_found(self) -> None:
        """Also those of a class, however they are laid out; test_tasks has the rules."""
        tree = self.hand_out("planted")
        with (tree / "04_fa1/chapter.c").open("a") as file:
            file.write(
                "m_new = 0;\nfloat l_new = from_old + from_tile * l_tile;\n"
                "\n+\tfloat inverse = l_new>0.0f ? 1.0f / l_new : 0.0f; // x\n"
                "float keep = from_old*inverse, add = from_tile * inverse;\n"
            )
        done = tool("--leaks", tree)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, "^04_fa1/chapter.c:.* the solution of 04.update \\(window\\)\n$")

    def test_a_leaking_course_is_not_handed_out(self) -> None:
        """A course whose given part holds a solution."""
        page = region_in(ROOT / "06_backward", "06.dq")[1]
        leak = unittest.mock.patch.object(handout, "readme_of", return_value=page)
        with leak, self.assertRaisesRegex(tasks.TaskError, r"README.md:.* 06\.dq; no hand-out was written$"):
            handout.hand_out(str(self.scratch / "out"), None)
        self.assertEqual(list(self.scratch.iterdir()), [])

    def test_tree_is_complete(self) -> None:
        tree = self.hand_out("complete", CLASS_OF_WINDOWS)
        there = """README.md AGENTS.md WORKLOG.md predictions.txt Makefile setup.sh LICENSE class.tsv .gitignore
            .clang-format common/chapter.mk explorer/explain simcc/simcc common/problem/class.h plots/fa2.gp
            classroom/tasks.tsv classroom/hint.py classroom/handout.mk classroom/tasks/01.score/hints.md
            classroom/tasks/01.score/names classroom/judge/original/02_online_softmax/partial.cuh
            tools/lib/tasks.py tests/data/real_qkv/q.npy tests/data/tiny_model/tiny.bin tools/model tools/lib/gguf.py
            GLOSSARY.md"""
        left_out = """.git build classroom/handout.py classroom/tasks/01.score/stub.cu
            classroom/tasks/01.score/stub.softcap.cu classroom/variants classroom/student tools/lib/leaks.py
            tests/Makefile tests/classroom .ci"""
        left_out = [*left_out.split(), *(f"{chapter}/{program}" for chapter, program in PROGRAMS.items())]
        self.assertEqual([name for name in there.split() if not (tree / name).exists()], [])
        self.assertEqual([name for name in left_out if (tree / name).exists()], [])
        self.assertTrue((tree / "simcc/simcc").stat().st_mode & 0o100, "simcc cannot be executed")
        for path in filter(Path.is_file, tree.rglob("*")):
            self.assertNotIn(CLASS_OF_WINDOWS.encode(), path.read_bytes(), f"{path}: the class's key")
        for name in ("draw", "model", "rows"):  # each finds what it imports
            self.succeeded(run(sys.executable, tree / "tools" / name, "--help"))
        for chapter in handout.GIVEN:
            given = [path.name for path in (ROOT / chapter).glob("*.*") if path.suffix != ".fast"]
            self.assertEqual([name for name in given if not (tree / chapter / name).exists()], [])
        for chapter in (name for name in HANDED_OUT if name not in handout.GIVEN):
            self.assertIn("## Your tasks\n", (tree / chapter / "README.md").read_text())
        done = run("make", "handout", "OUT=x", directory=tree)
        self.assertEqual(done.returncode, 2)
        self.assertIn("was handed out", done.stderr)
        # The student's own judge has the same class, tasks and stubs.
        teacher, own = course.Course(ROOT, CLASS_OF_WINDOWS), course.Course(tree, None)
        self.assertEqual((own.chosen, own.tasks), (teacher.chosen, teacher.tasks))
        self.assertEqual(own.given_files(), teacher.given_files())
        self.assertNotEqual(own.chosen, course.Course(ROOT, "").chosen)
        for mine, theirs in ((own.chapter(name), teacher.chapter(name)) for name in own.chapters):
            self.assertEqual((mine.base, mine.stubs, mine.variant), (mine.given, theirs.stubs, theirs.variant))

    def test_answers_to_exercises_stay_with_the_teacher(self) -> None:
        """Neither their files, nor a line of their text or outputs, nor a tool that prints them."""
        tree = self.hand_out("without-answers")
        lines = set()
        for path in (ROOT / "classroom/answers").glob("*.md"):
            fences = re.split(r"^```.*\n", path.read_text(), flags=re.MULTILINE)
            lines.update(line.strip() for text in fences[::2] for line in text.splitlines() if len(line) > 40)
        self.assertGreater(len(lines), 10)
        for path in (path for path in tree.rglob("*") if path.is_file()):
            self.assertNotIn("answers", path.relative_to(tree).parts)
            text = path.read_text(errors="replace")
            self.assertEqual(lines & {line.strip() for line in text.splitlines()}, set(), path)
            if path.name == "README.md":
                self.assertNotRegex(text, r"make (?:answer|blank|fault|task)\b|<!-- solution", path)
        done = run("make", "-s", "--no-print-directory", "answer", "N=1", directory=tree / "01_naive")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("answer: this tree was handed out; the answers are the teacher's\n", done.stderr)
        help_text = self.succeeded(run("make", "-s", "help", directory=tree / "01_naive")).stdout
        self.assertIn("make ptxas", help_text)
        self.assertNotIn("answer", help_text)

    def test_a_page_that_cannot_be_handed_out(self) -> None:
        """Kills: an answer that is handed out because its end is missing, a page without the tasks."""
        for text, says in (
            ("# Title\n", "no heading to put the tasks before"),
            ("# Title\n<!-- solution -->\nit\n## More\n", "a <!-- solution --> without its end"),
            ("# Title\n<!-- end solution -->\n## More\n", "a <!-- solution --> without its end"),
        ):
            page = unittest.mock.patch.object(handout.tasks, "read_text", return_value=text)
            with page, self.assertRaisesRegex(handout.TaskError, f"^01_naive/README.md: {says}"):
                handout.readme_of("01_naive", handout.class_of_key(None))

    def test_what_stands_between_two_solutions_stays(self) -> None:
        text = "a\n<!-- solution -->\nb\n<!-- end solution -->\n\nc\n<!-- solution -->\nd\n<!-- end solution -->\ne\n"
        with unittest.mock.patch.object(handout.tasks, "read_text", return_value=text):
            self.assertEqual(handout.without_solutions("01_naive"), "a\nc\ne\n")

    def test_links_lead_somewhere(self) -> None:
        """Every link and picture of what students read is in the tree."""
        tree = self.hand_out("links")
        links = [
            (directory, target)
            for directory in (tree, *(tree / chapter for chapter in HANDED_OUT))
            for target in re.findall(r'(?:\]\(|src="|srcset=")([^)"#]+)', (directory / "README.md").read_text())
            if not target.startswith("http")
        ]
        self.assertGreater(len(links), 30)
        self.assertEqual([each for each in links if not Path(*each).exists()], [])


class Places(Handout):
    def test_odd_places_and_keys(self) -> None:
        spaced, empty = self.scratch / "a place\twith 'blanks\"", self.scratch / "empty"
        done = self.succeeded(tool(spaced, "--class", "K\xfcche 'A' \"B\" $HOME \u2603"))
        self.assertTrue((spaced / "05_fa2/row.cu").exists())
        self.assertIn("cannot build in a path with a space", done.stdout)
        empty.mkdir()
        self.succeeded(tool(f"{empty}///"))
        self.assertTrue((empty / "05_fa2/row.cu").exists())
        # Relative, through make, with what a shell would take apart.
        self.succeeded(run("make", "handout", f"OUT={self.scratch}/b c", "CLASS=a'b $$x `y` z"))
        table = tool("--class-table", "a'b $x `y` z").stdout
        self.assertEqual((self.scratch / "b c/class.tsv").read_text(), table)
        self.succeeded(tool("relative", directory=self.scratch))
        self.assertTrue((self.scratch / "relative/Makefile").exists())
        self.assertEqual(list(self.scratch.glob(".*")), [])

    def test_bad_places_and_keys_are_refused(self) -> None:
        full = self.scratch / "full"
        full.mkdir()
        file = full / "file"
        file.write_text("mine")
        # Only chapters that are asked for join a hand-out, and only a whole one.
        whole, parts = self.scratch / "whole", (self.scratch / "table", self.scratch / "original")
        for directory in (whole, parts[1]):
            (directory / "classroom/judge/original").mkdir(parents=True)
        for directory in (whole, parts[0]):
            directory.mkdir(exist_ok=True)
            (directory / "class.tsv").write_text("")
        (link := self.scratch / "link").symlink_to(full)
        (lost := self.scratch / "lost").symlink_to("nowhere")
        there = sorted(self.scratch.rglob("*"))
        place = self.scratch / "x"
        for arguments, says in (
            ([full], "is not empty"),
            ([whole], "is not empty"),
            *(([part, "--chapters", "01"], "is not empty") for part in parts),
            ([file], "expected a directory, or nothing"),
            ([file / "x"], "no such directory"),
            ([self.scratch / "none/x"], "no such directory"),
            ([self.scratch / "\udcff/x"], "/\udcff: no such directory"),  # a byte that is no UTF-8 stays one
            ([link], "expected a directory, or nothing"),
            ([lost], "expected a directory, or nothing"),
            ([ROOT / "common/x"], "is inside of common/, which is copied"),
            ([ROOT / "00_gpu/first/x"], "is inside of 00_gpu/, which is copied"),
            (["/proc/handout"], "cannot be written"),
            ([""], "OUT is empty"),
            (["--outt"], "unrecognized arguments"),
            ([place, "--class", ""], "the key is empty"),
            ([place, "--class", "a\nb"], "control characters"),
            (
                [place, "--class", "eleven char"],
                "CLASS= (--class): a key of 11 characters is found by trying; expected",
            ),
            ([place, "--chapters", "10"], "no chapter '10'; expected some of 01, 02"),
            ([place, "--chapters", ""], "no chapter ''; expected some of 01, 02"),
            ([place, "--class"], "expected one argument"),
            ([place, "--klass", "a"], "unrecognized arguments"),
        ):
            with self.subTest(says, arguments=arguments):
                self.refused(tool(*arguments), says)
        for settings, says in (([f"OUT={place}", "CLASS="], "the key is empty"), ([], "OUT=directory")):
            done = run("make", "handout", *settings)
            self.assertEqual(done.returncode, 2)
            self.assertIn(says, done.stderr)
        self.assertEqual(file.read_text(), "mine")
        self.assertEqual(sorted(self.scratch.rglob("*")), there)


class Classes(Handout):
    GOOD = (
        "01_naive\tplain\t-\n02_online_softmax\tsink\t-\n03_tiled_matmul\trelu\t-\n"
        "04_fa1\twindow\t5\n05_fa2\tsoftcap\t2.5\n06_backward\tplain\t-\r\n"
        "07_transformer\tplain\t-\n08_decode\tplain\t-\n"
    )

    def join(self, new: dict[str, str], there: dict[str, str]) -> tuple[dict[str, str], str]:
        """What becomes of a tree with these files when a hand-out joins it, and what is said; "-> x": a link."""
        trees = [Path(tempfile.mkdtemp(dir=self.scratch)) for _ in range(2)]
        for tree, files in zip(trees, (new, there)):
            for name, text in files.items():
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                if text.startswith("-> "):
                    (tree / name).symlink_to(text[3:])
                else:
                    (tree / name).write_text(text)
        said, out, found = io.StringIO(), trees[1], {}
        try:
            with contextlib.redirect_stdout(said):
                handout.join(trees[0], out, "OUT", ["04_fa1"])
        except tasks.TaskError as error:
            said.write(str(error))
        for path in out.rglob("*"):
            if path.is_symlink() or path.is_file():
                text = f"-> {os.readlink(path)}" if path.is_symlink() else path.read_text()
                found[str(path.relative_to(out))] = text
        return found, said.getvalue()

    def test_what_joins_a_tree_replaces_nothing(self) -> None:
        """Kills: a student's file that is overwritten, or half a hand-out (test_weekly joins whole ones)."""
        new = {"class.tsv": "one", "README.md": "new", "04_fa1/row.cu": "04", "plots/data/04.tsv": "04"}
        mine = {"class.tsv": "one", "README.md": "mine", "my.cu": "mine"}
        linked = self.scratch / "linked"
        linked.mkdir()
        (linked / "row.cu").write_text("04")
        left, joined = "; not as handed out, and left as they are: README.md", "OUT: 04_fa1: {} joined{}\n".format
        changed = "OUT: OUT: 04_fa1/row.cu was changed there, and would be overwritten; nothing was written"
        no_place = "OUT: OUT: 04_fa1/row.cu has no place: a directory of that path is a file or a link; nothing was"
        for there, more, says in (
            ({}, new.keys() - mine.keys(), joined("2 files", left)),
            ({"my.cu": "other", **new}, {}, joined("0 files", "")),
            ({**new, "README.md": "-> nowhere", "04_fa1/row.cu": ""}, None, changed),
            ({"README.md": "-> nowhere", "plots/data/04.tsv": "04"}, ["04_fa1/row.cu"], joined("1 file", left)),
            ({"class.tsv": "another"}, None, "OUT: OUT: class.tsv is of another class: another CLASS=? Nothing was"),
            ({"04_fa1": "a file"}, None, no_place),
            ({"04_fa1/row.cu/x": "in a directory"}, None, changed),
            ({"04_fa1/row.cu": f"-> {linked}/row.cu"}, None, changed),
            ({"04_fa1": f"-> {linked}"}, None, no_place),
        ):
            files, said = self.join(new, mine | there)
            self.assertEqual(files, mine | there | {name: new[name] for name in more or ()})
            (self.assertIn if more is None else self.assertEqual)(says, said)
        for count, end in ((4, "README.md, a0, a1, a2, a3\n"), (5, "README.md, a0, a1, a2, a3, ...\n")):
            names = [f"a{number}" for number in range(count)]
            said = self.join(new | dict.fromkeys(names, "new"), mine | dict.fromkeys(names, "mine"))[1]
            self.assertTrue(said.endswith(end), said)

    def test_a_key_chooses_the_same_for_ever(self) -> None:
        """A key is for a term: what it chooses must be the same next year, on another machine."""
        chosen = " ".join(map("=".join, handout.class_of_key("ws27").values()))
        self.assertEqual(chosen, "softcap=112 softcap=92 softcap=20 window=9 softcap=92 softcap=120 plain=- plain=-")
        self.assertEqual(tool("--class-table").stdout.count("\tplain\t-\n"), 8)
        made = re.search("example ([0-9a-f]{16})\n$", tool("--class-table", "ws27").stderr)[1]  # the sentence makes one
        table = handout.class_table(handout.class_of_key(made))
        self.assertEqual(self.succeeded(tool("--class-table", made)).stdout, table)
        self.refused(tool("--class-table", "a" * 12, "b"), "not allowed with")

    def test_a_bad_class_table_is_refused(self) -> None:
        path = self.scratch / "class.tsv"
        path.write_bytes(self.GOOD.encode())
        header = self.succeeded(tool("--class-header", path)).stdout
        self.assertIn('{"05_fa2", {VARIANT_SOFTCAP, 2.5}},', header)
        self.assertIn('{"02_online_softmax", {VARIANT_SINK, 0}},', header)
        self.assertNotIn("06_backward", header)
        for old, new, says in (
            ("01_naive\tplain", "01_naive\tsink", "no variant 'sink'"),
            ("window\t5", "window\t0", "no value of window"),
            ("window\t5", "window\t5x", "no value of window"),
            ("softcap\t2.5", "softcap\t0.0", "no value of softcap"),
            ("softcap\t2.5", "softcap\t2.5f;system(1)", "no value of softcap"),
            ("sink\t-", "sink\t3", "no value of sink"),
            ("04_fa1\twindow", "04_fa9\twindow", "there is no chapter"),
            ("07_transformer\tplain\t-", "07_transformer\twindow\t5", "no variant 'window'"),
            ("06_backward\tplain\t-\r\n", "", "no line for 06_backward"),
        ):
            self.assertIn(old, self.GOOD)
            path.write_bytes(self.GOOD.replace(old, new).encode())
            with self.subTest(new):
                self.refused(tool("--class-header", path), says)
        self.refused(tool("--class-header", "/nonexistent/class.tsv"), "cannot be read")


class Solutions(Handout):
    def test_they_come_back_to_the_letter(self) -> None:
        tree = self.hand_out("back")
        every = ",".join(task.id for task in self.tasks if task.id != "01.score")
        said = [self.succeeded(tool("--solve", tree, *more)).stdout for more in (["--except", every], [])]
        places = [path.read_text().count("// task ") for path in tree.glob("0[1-8]_*/*.cu*")]
        self.assertEqual(said, [f"{tree}: 1 solution\n", f"{tree}: {sum(places)} solutions\n"])
        for chapter in HANDED_OUT:
            paths = [*(ROOT / chapter).glob("*.cu"), *(ROOT / chapter).glob("*.cuh")]
            self.assertTrue(paths)
            for path in paths:
                self.assertEqual((tree / chapter / path.name).read_bytes(), path.read_bytes(), str(path))

    def test_solve_refuses_what_it_cannot_use(self) -> None:
        tree = self.hand_out("bad")
        path = tree / "05_fa2/row.cu"
        source = path.read_text()
        self.refused(tool("--solve", tree, "--except", "05.nothing"), "no task '05.nothing'")
        self.refused(tool("--solve", tree, "--accept", "05.skip"), "not allowed with")
        self.refused(tool("--solve", tree / "none"), "expected a directory")
        self.refused(tool("--solve"), "expected one argument")
        self.assertEqual(source.count("// end 05.skip"), 1)
        for text, says in (
            (source.replace("// end 05.skip", ""), "no line '// end 05.skip'"),
            (source.replace("// end 05.skip", "// end 05.loop-swap"), "where '// end 05.skip' was expected"),
            ("int x;\n", "no line '// task 05.loop-swap"),
        ):
            path.write_text(text)
            self.refused(tool("--solve", tree), says)
        path.unlink()
        self.refused(tool("--solve", tree), "row.cu: cannot be read")
        for file in ("tile.cu", "slab.cu", "split_q.cu", "warp_tile.cuh"):
            (tree / "05_fa2" / file).unlink()
        # A chapter that is not there is left out.
        self.succeeded(tool("--solve", tree, "--except", "06.dq,01.score"))
        self.assertIn("TODO", region_in(tree / "06_backward", "06.dq")[1])
        self.assertNotIn("TODO", region_in(tree / "06_backward", "06.ds")[1])
        self.assertFalse(path.exists())
        (tree / "class.tsv").unlink()
        self.refused(tool("--solve", tree), "class.tsv: cannot be read")
