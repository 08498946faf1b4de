"""A hand-out builds by itself: moved, by its own make, with either compiler, without a warning. What the judge
keeps of a chapter is of just these sources."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from grading import CLASS_OF_CAPS, ROOT, Graded, only_when_thorough, run, tool
from judge.build import OPTIONS, Builder
from lib.edits import affected


def listed(how: list[str], path: Path) -> str:
    return run("objdump", *how, path).stdout


class Build(Graded):
    def test_sanitize_is_not_clean_where_warnings_are_left(self) -> None:
        """It printed a hazard, and then `clean`."""
        program = self.scratch / "program"
        name = os.path.relpath(program, ROOT / "07_transformer")
        for body, status, last in (
            ("echo 'project ok'", 0, "clean in memcheck.* in 10 orders$"),
            ("echo '========= Warning: a race' >&2", 0, "no errors in memcheck.*; the warnings above are left$"),
            ("echo '========= Warning: a race' >&2; exit 1", 2, "^$"),
        ):
            program.write_text(f"#!/bin/sh\n{body}\n")
            program.chmod(0o755)
            done = run(
                "make", "-s", "-o", "build", "-C", ROOT / "07_transformer", "sanitize", "DEVICE=sim", f"NAME={name}"
            )
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertRegex(done.stdout.rstrip("\n"), last)
            self.assertEqual("a race" in done.stderr, "race" in body)

    def test_precompiled_headers_change_nothing(self) -> None:
        """Kills: counts, lines or frames that are others behind them, and headers that are never taken, or fail in a
        directory of that name."""
        for chapter, name in (("01_naive", "naive"), ("02_online_softmax", "dot"), ("03_tiled_matmul", "7_registers")):
            builder = self.grader().judge_of(chapter).builder
            headers_here = self.scratch / "Übung" / builder._headers.name
            headers_here.mkdir(parents=True, exist_ok=True)
            source, made = ROOT / chapter / f"{name}.cu", {}
            for headers in ("", str(headers_here)):
                kept, out = self.scratch / "kept", self.scratch / "out.o"
                command = [*builder.compile_command, *OPTIONS, "-v", f"-I{ROOT / chapter}", "--keep", kept]
                environment = {"CC": builder.cc, "CXX": builder.cxx, "SIM_PRECOMPILED": headers}
                done = run(*command, "-c", source, "-o", out, environment=environment)
                self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
                self.assertEqual("-include cuda_runtime.h" in done.stderr, not headers, "the headers themselves")
                code = re.findall(r"^ [^\t]*\t[^\t]*\t(\w+)|R_X86_64_\w+\t([\w.]+)", listed(["-dr"], out), re.M)
                lines = sorted(set(re.findall(r"^(\S+ +\d+) ", listed(["--dwarf=decodedline"], out), re.M)))
                frames = sorted("".join(path.read_text() for path in kept.glob("*.su")).splitlines())
                made[headers] = code, lines, frames
                shutil.rmtree(kept)
            self.assertEqual(*made.values())
            self.assertGreater(min(map(len, made[""])), 10, "nothing was compared")

    def test_what_is_built_here_runs_on_any_x86_64(self) -> None:
        """An image is built on one CPU and grades on another. Kills: -march=native, or a clone not chosen at run
        time: instructions beyond the first x86-64 in a function that is no clone (tzcnt is bsf there)."""
        builder = self.grader().judge_of("01_naive").builder
        self.assertTrue(Path(os.environ["SIM_LIB"]).is_file(), "each link looks at the device's sources")
        kit, solved = builder.kit, builder.solved_object("naive.cu").path
        beyond = re.compile(
            r"\t(v[a-z]+\w*|popcnt|lzcnt|andn|bextr|mulx|rorx|s[ah][rl]x|p(?:dep|ext|insr[bdq]|max[su][bdw]))\b"
        )
        for path in (kit / "judge", kit / "rest.o", solved):
            function, found = "", set()
            for line in listed(["-d", "--no-show-raw-insn"], path).splitlines():
                if line.endswith(">:"):
                    function = line.split("<")[-1]
                elif beyond.search(line) and "\tverr" not in line:
                    found.add(function)
            self.assertEqual({name for name in found if ".avx2" not in name}, set(), path)
            self.assertEqual(bool(found), path != solved, f"{path}: what is looked for is not found in the clones")

    def test_what_is_compiled_for_a_task(self) -> None:
        """A file that includes a region's header and holds no kernel of its task is the class's. Kills: one of a
        task's own files left out, or all compiled for a word in a comment."""
        grader = self.grader()
        others = {"02.weight": {"trace.cu"}, "02.merge": {"trace.cu", "three_pass.cu"}}
        others["02.stream"] = others["02.merge"]
        for task in grader.course.tasks:
            chapter = grader.course.chapter(task.chapter)
            builder = Builder(grader.course, chapter, grader.cc, grader.cxx, self.scratch)
            region = {task.id: "x;\n"}
            reached = {name for name in affected(chapter.base, chapter.spliced(region)) if name.endswith(".cu")}
            self.assertEqual(reached - builder.compiled_anew(region), others.get(task.id, set()), task.id)
            for name in others.get(task.id, ()):
                kernels = set(re.findall(r"__global__ void (\w+)", chapter.base[name]))
                self.assertTrue(kernels and not kernels & set(task.kernels), f"{name} of {task.id}")

    @only_when_thorough
    def test_a_moved_tree_builds_fails_and_is_solved(self) -> None:
        """The whole tree, built by its own make, somewhere else than where it was written."""
        tree = self.scratch / "moved/here"
        tree.parent.mkdir()
        self.hand_out("first", CLASS_OF_CAPS).rename(tree)
        self.grader().judge_of("01_naive")  # builds the device, and sets SIM_LIB
        done = run("make", "-s", "-j2", "-C", tree, "build", "DEVICE=sim")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = run("make", "-C", tree / "01_naive", "test", "DEVICE=sim")
        self.assertEqual(done.returncode, 2, "make test in an untouched chapter")
        self.assertRegex(done.stdout + done.stderr, "FAILED|wrong")
        self.succeeded(tool("--solve", tree))
        self.succeeded(run("make", "-C", tree / "01_naive", "test", "DEVICE=sim"))

    def test_what_is_kept_of_a_chapter_follows_its_sources_and_the_compiler(self) -> None:
        builder = self.grader().judge_of("01_naive").builder
        kept = {builder._solved}

        def again() -> Path:
            del builder.__dict__["_solved"], builder.__dict__["_compiler"]
            return builder._solved

        self.assertEqual({again()}, kept)
        for change in (builder.chapter.base, builder.chapter.headers):
            name = next(iter(change))
            before = change[name]
            change[name] += "\n"
            kept.add(again())
            change[name] = before
        builder.compile_command.append("-O3")
        kept.add(again())
        builder.compile_command.pop()
        self.assertEqual(len(kept), 4)
