"""tools/own, in a copy of the course: a file of one's own is begun once, judged as the chapter's, compared with it."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import unittest
from pathlib import Path

from case import ROOT, Outcome, run
from lib import tasks
from lib.trial import Trial

NEEDED = (*(f"classroom/{name}" for name in ("handout.mk", "own.tsv", "tasks.tsv", "tasks", "answers")), "tests/faults")
LONG = bool(os.environ.get("LONG"))
ROWS = [row for _, row in tasks.rows_of(ROOT / "classroom/own.tsv", 6)]
FEW = ("02_online_softmax", "05_fa2")  # without LONG: a header and a kernel


class OwnFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="own-Übung-")
        cls.addClassCleanup(scratch.cleanup)
        cls.tree = Path(scratch.name, "Übung")
        Trial("01_naive", cls.tree).copy()
        for name in NEEDED:
            source, target = ROOT / name, cls.tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(source, target) if source.is_dir() else shutil.copy2(source, target)

    def setUp(self) -> None:
        for old in self.tree.glob("[!.]*/my"):
            shutil.rmtree(old)

    def make(self, chapter: str, *arguments: str, limit: str = "300", inputs: str = "random") -> Outcome:
        command = ["make", "--no-print-directory", "-s", "-C", self.tree / chapter, *arguments]
        return run(command, seconds=300, MAKEFLAGS="", DEVICE="sim", INPUTS=inputs, OWN_TIMEOUT=limit)

    def begun(self, chapter: str, kind: str, number: str, file: str) -> Path:
        path = self.tree / chapter / f"my/{kind}{number}/{file}"
        done = self.make(chapter, kind, f"N={number}")
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertIn(f"my/{kind}{number}/{file} is new: ", done.out)
        self.assertEqual([each.name for each in path.parent.iterdir()], [file])
        return path

    def judged(self, chapter: str, kind: str, number: str, verified: bool, limit: str = "300") -> str:
        done = self.make(chapter, kind, f"N={number}", limit=limit)
        self.assertEqual(done.status, 0 if verified else 2, done.out + done.err)
        self.assertEqual(f"/{kind}{number}/" in done.out and "is verified: " in done.out, verified, done.out)
        return done.out + done.err

    def put_right(self, chapter: str, kind: str, number: str, file: str) -> None:
        """With the chapter's own file nothing differs."""
        shutil.copyfile(ROOT / chapter / file, self.tree / chapter / f"my/{kind}{number}/{file}")
        said = self.judged(chapter, kind, number, True)
        self.assertIn("it moves exactly what the chapter moves", said)
        self.assertGreaterEqual(len(re.findall(r"(?m)^  .* the same$", said)), 7, said)

    def rows(self, kind: str) -> list[list[str]]:
        return [row for row in ROWS if row[1] == kind and (LONG or row[0] in FEW)]

    def test_each_blank_file(self) -> None:
        """Kills a program without the learner's file, and a file that is taken for a wrong one while it is empty."""
        for chapter, _, number, file, kernel, _ in self.rows("blank"):
            with self.subTest(chapter, number=number):
                path = self.begun(chapter, "blank", number, file)
                text = path.read_text(encoding="utf-8")
                self.assertIn(f" * Write {kernel}", text.replace("naive_attention", "naive"))
                self.assertNotRegex(text, r"__global__ void \w+\(\n|`")
                path.write_text(f"// a remark\n{text}", encoding="utf-8")
                done = self.make(chapter, "blank", f"N={number}")
                self.assertEqual((done.status, done.err), (0, ""))
                self.assertIn("not written yet", done.out)
                self.put_right(chapter, "blank", number, file)

    def test_each_fault(self) -> None:
        """It does not tell its name, is found, and nothing is left of it in the chapter's own file."""
        for chapter, _, number, file, _, name in self.rows("fault"):
            with self.subTest(chapter, number=number):
                text = self.begun(chapter, "fault", number, file).read_text(encoding="utf-8")
                self.assertNotIn(name, text)
                self.assertNotIn("without it", text)
                self.judged(chapter, "fault", number, False)
                if file.endswith(".cuh"):  # in a kernel it is what a blank file is, when it is written
                    self.put_right(chapter, "fault", number, file)

    def test_a_task(self) -> None:
        """In a header, which other kernels include."""
        path = self.begun("02_online_softmax", "task", "1", "partial.cuh")
        begun = path.read_text(encoding="utf-8")
        self.assertIn("// TODO", begun)
        self.assertIn("not written yet", self.make("02_online_softmax", "task", "N=1").out)
        path.write_text(begun.replace("return ", "return 2.0f * ", 1), encoding="utf-8")
        self.judged("02_online_softmax", "task", "1", False)
        self.put_right("02_online_softmax", "task", "1", "partial.cuh")

    def test_what_is_wrong_with_it(self) -> None:
        """Kills a judgment of the numbers alone, of the demonstration, or of the exit status; a message that names
        another file; an endless launcher without a word and without an end."""
        path = self.begun("03_tiled_matmul", "blank", "1", "3_tiled.cu")
        right = (ROOT / "03_tiled_matmul/3_tiled.cu").read_text(encoding="utf-8")
        tile = "\t__shared__ float a_tile"
        right = right.replace(tile, f"\tif (blockIdx.z)\n\t\treturn;\n{tile}", 1)
        header = '#include "tiles.cuh"\n'
        right = right.replace(header, f"{header}#include <sys/syscall.h>\n#include <unistd.h>\n", 1)
        launch, at_257 = "\tdim3 grid(", "\tif (a.n == 257)"
        shape = "./my/blank1/tiled_matmul --m 1 --n 257 --k 64 --input random --kernel matmul_tiled"
        other = f"But another shape:\n\n$ {shape}\n"
        endless = f"{shape}: an endless loop? It was ended after 40 s (OWN_TIMEOUT=40)"
        loads = "load_tiles(A, B, m, n, k, first, a_tile, b_tile);"
        for old, new, expected in (
            (loads, f"{loads} {loads}", " bytes, 1.89 × the 2,359,296 of the closed form."),
            (
                "sum = 0.0f;",
                "sum = blockIdx.x | blockIdx.y | threadIdx.x | threadIdx.y ? 0 : A[0] * 0;",
                " bytes, +4 the ",
            ),
            (" launch_matmul_tiled(", " launch_tiled(", "3_tiled.cu has no function launch_matmul_tiled, which the"),
            ("a.m, TILE))", "a.m, TILE), 2)", "C is right, but 128 blocks were launched, its description says 64."),
            ("float sum = 0.0f;", "float sum = a_tile[0][0] == 9.0f;", "C is right, but only by luck"),
            ("sum += a_tile", "sum = a_tile", "matmul_tiled is wrong."),
            ("+ j] = sum;", "+ j] = summ;", "my/blank1/3_tiled.cu:"),
            ("j < n ?", "j < min(n, 256) ?", other),
            (launch, f"{at_257} _exit(0);\n{launch}", "its host code called _exit(0) before there were results"),
            (launch, f"{at_257} syscall(SYS_exit_group, 0);\n{launch}", f"{other}It ended without a result (exit"),
            (launch, f"{at_257} for (;;) pause();\n{launch}", endless),
        ):
            with self.subTest(new):
                self.assertIn(old, right)
                path.write_text(right.replace(old, new, 1), encoding="utf-8")
                limit = "40" if expected == endless else "300"
                said = self.judged("03_tiled_matmul", "blank", "1", False, limit=limit)
                self.assertIn(expected, said)
        self.assertIn(": still running; it is ended after 40 s", said)
        self.make("03_tiled_matmul", "clean")
        self.assertEqual([each.name for each in path.parent.iterdir()], ["3_tiled.cu"])

    def test_a_fault_of_one_kind_of_shape(self) -> None:
        """Kills: shapes among which none is causal and longer than a block's threads, none causal of another scale,
        none with a scale below 0, none whose scores lie below -1e4, none longer than the demonstration, none with
        d = 128. And 1 / sqrt(d) in place of the scale, which shapes without --scale do not tell from it."""
        naive = ("01_naive", "blank1", "naive.cu")
        scale = (r"\b([ab])\.scale\b", r"(1 / sqrtf(\1.d))", "--scale ")
        of_all = (
            (*naive, *scale),
            ("05_fa2", "blank1", "row.cu", *scale),
            ("08_decode", "fault1", "split.cu", *scale),
            ("04_fa1", "blank1", "row.cu", *scale),
            ("06_backward", "fault1", "dq.cu", *scale),
            ("07_transformer", "task2", "attention.cu", *scale),
            ("09_variants", "fault1", "forward.cu", *scale),
        )
        for chapter, own, file, old, new, shape in (
            (*naive, "causal && j > i", "causal && (int)threadIdx.x > i", "--causal"),
            (*naive, r"a\.scale", "(a.causal ? 1 / sqrtf((float)a.d) : a.scale)", "--causal"),
            (*naive, r"a\.scale", "fabsf(a.scale)", "--scale -"),
            (*naive, "-INFINITY", "-1e4f", "very-negative"),
            (*naive, "j < N; j \\+= WARP", "j < min(N, 512); j += WARP", "--seq "),
            (*naive, r"for \(int c = 0; c < d; c\+\+\)", "for (int c = 0; c < min(d, 127); c++)", "--dim 128"),
            *of_all[: None if LONG else 1],
        ):
            with self.subTest(chapter, by=new):
                changed, times = re.subn(old, new, (ROOT / chapter / file).read_text(encoding="utf-8"))
                self.assertGreater(times, 0)
                path = self.tree / chapter / "my" / own / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(changed, encoding="utf-8")
                done = self.make(chapter, own[:-1], f"N={own[-1]}", inputs="random very-negative")
                self.assertEqual(done.status, 2, done.out)
                self.assertRegex(done.out, rf"\nBut another shape:\n\n\$ .*{shape}")

    def test_headers_of_its_own(self) -> None:
        """Kills: one beside the file that is not found, or after the chapter's of that name; one that is not looked at
        again when it has changed. And a byte order mark that the compiler takes for a name."""
        path = self.begun("03_tiled_matmul", "blank", "1", "3_tiled.cu")
        right = (ROOT / "03_tiled_matmul/3_tiled.cu").read_text(encoding="utf-8")
        path.write_text(
            f'#include "mine.h"\n{right}'.replace("float sum = 0.0f;", "float sum = NONE;"), encoding="utf-8-sig"
        )
        path.with_name("mine.h").write_text("constexpr float NONE = 0;\n", encoding="utf-8")
        self.judged("03_tiled_matmul", "blank", "1", True)
        path.with_name("mine.h").write_text("constexpr float NONE = 1;\n", encoding="utf-8")
        self.assertIn("matmul_tiled is wrong.", self.judged("03_tiled_matmul", "blank", "1", False))
        path.with_name("tiles.cuh").write_text("#error mine\n", encoding="utf-8")
        self.assertIn("my/blank1/tiles.cuh:1:2: error: mine", self.judged("03_tiled_matmul", "blank", "1", False))

    def test_what_is_no_kernel(self) -> None:
        """Kills: a traceback, a linker's error, and a file written where a link leads; a limit that is refused without
        its form; status 3, as of a disk that is full, where a file or a link to nothing lies in the way."""
        path = self.begun("01_naive", "blank", "1", "naive.cu")
        elsewhere, begun, folder = path.with_name("elsewhere"), path.read_text(encoding="utf-8"), path.parent

        def refused(says: str, limit: str = "300") -> None:
            done = self.make("01_naive", "blank", "N=1", limit=limit)
            self.assertEqual((done.status, done.out, elsewhere.exists()), (2, "", False))
            self.assertRegex(done.err, rf"\Ablank: {says}\nmake: [^\n]*\n\Z")

        path.write_text(f"{begun};\n", encoding="utf-8")
        for limit in ("1e9", "0", "٣"):
            says = "expected seconds, greater than 0 and less than 1000000, such as 300 or 0.5"
            refused(f"OWN_TIMEOUT={limit}: {says}", limit)
        no_file = r"\S*my/blank1/naive\.cu: is no file, nor a link to one; delete it to begin again"
        no_kernel = r"\S*my/blank1/naive\.cu: is .*; (delete it to begin again|save it as UTF-8)"
        for what, make, says in (
            (path, lambda: path.symlink_to(path.name), no_file),
            (path, lambda: path.symlink_to(elsewhere.name), no_file),
            (path, lambda: path.mkdir(), no_file),
            (path, lambda: path.write_text("// nothing\n", encoding="utf-8"), no_kernel),
            (path, lambda: path.write_text(begun, encoding="utf-16"), no_kernel),
            (folder, lambda: folder.touch(), "my/blank1: is no folder, nor a link to one; delete it to begin again"),
            (folder.parent, lambda: folder.parent.symlink_to("none"), "my: is no folder, nor a link to one; .*"),
        ):
            shutil.rmtree(what) if what.is_dir() and not what.is_symlink() else what.unlink()
            make()
            refused(says)
        folder.parent.unlink()

    def test_which_there_are(self) -> None:
        for kind in ("blank", "task", "fault"):
            done = self.make("05_fa2", kind)
            self.assertEqual((done.status, done.err), (0, ""))
            self.assertRegex(done.out, r"\n 1  \S")
            self.assertIn(f"make {kind} ", self.make("05_fa2", "help").out)
            for chapter, number, says in (
                *(("05_fa2", wrong, f"N={wrong}: expected a {kind} of 05_fa2, 1") for wrong in ("0", "-1", "")),
                (".", "1", rf"of which chapter\? make -C CHAPTER {kind} N=1; .* 01_naive 0"),
                *([("00_gpu", "1", "00_gpu has no blank\n")] if kind == "blank" else []),
            ):
                done = self.make(chapter, kind, f"N={number}")
                self.assertEqual((done.status, done.out), (2, ""))
                self.assertRegex(done.err, rf"\A{kind}: {says}")
        listed = re.findall(r"make (blank|task|fault)\b", self.make("00_gpu", "help").out)
        self.assertEqual(listed, ["fault"], "make help names what the chapter has not")
        self.assertFalse((self.tree / "05_fa2/my").exists())

    def test_a_hand_out_has_none(self) -> None:
        answers = self.tree / "classroom/answers"
        answers.rename(answers.with_name("away"))
        self.addCleanup(lambda: answers.with_name("away").rename(answers))
        for kind in ("blank", "task", "fault"):
            done = self.make("04_fa1", kind, "N=1")
            self.assertEqual((done.status, done.out), (2, ""))
            self.assertIn(f"{kind}: this tree was handed out", done.err)
            self.assertNotIn(f"make {kind}", self.make("04_fa1", "help").out)
