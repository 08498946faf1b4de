"""What is made from GPU runs and from nvcc: simcc/ACCURACY.md, gpu/compiled; and the choice of ARCH."""

from __future__ import annotations

import itertools
import runpy
import shutil
import sys
import unittest
from pathlib import Path

import stand_ins
from case import ROOT, Case, Outcome, run
from lib import nvcc, table
from lib.chapters import PROGRAMS

COMPILED = ROOT / "gpu/compiled"
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


class Accuracy(Case):
    """The part of the page that is from GPU reports; test_evidence.py has the other."""

    def accuracy(self, data: Path) -> Outcome:
        self.page = self.scratch / "page.md"
        none = self.scratch / "evidence"
        none.mkdir(exist_ok=True)
        for name in ("published.tsv", "sources.tsv", "counted.tsv"):
            (none / name).write_text((ROOT / "gpu/accuracy" / name).read_text().partition("\n")[0] + "\n# source\n")
        return run([ROOT / "tools/accuracy", "--evidence", none, "--data", data, "--page", self.page])

    def test_the_committed_page_is_current_and_a_stale_one_is_found(self) -> None:
        self.assertEqual(run([ROOT / "tools/accuracy", "--check"]), (0, "", ""))
        page = self.scratch / "page.md"
        page.write_text("# Old\n")
        done = run([ROOT / "tools/accuracy", "--check", "--page", page])
        self.assertEqual((done.status, page.read_text()), (1, "# Old\n"))
        self.assertIn("stale, run make accuracy", done.err)

    def test_every_row_is_there_with_its_reason(self) -> None:
        self.assertEqual(self.accuracy(ROOT / "tests/gpu/synthetic").status, 0)
        page = self.page.read_text()
        for expected in (
            "### made-up-gpu\n\nSYNTHETIC: numbers made up",
            "| global_load_bytes | 1 | 1 |  | 1 |\n",
            "| global_load_requests | 1 | 0 |  | 0.25 |\n",
            "| dram_read_bytes | 1 | 0 | 1 | 12.56 |\n",
            "* 1 times: unexplained\n",
            "* 1 times: fewer: nvcc merges narrow accesses into wide ones, the bytes are equal\n",
            "2 looked at, 1 contradicted.",
            "| shared_read_8 | even lanes | shared_load_wavefronts | 1 | 2 |\n",
            "| global_load_sectors | 1 | 0 |  | 0.5 |\n",
            "| 01_naive | `--seq 64` | scores | global_load_sectors | 100 | 50 | 0.5 |\n",
        ):
            self.assertIn(expected, page)

    def test_a_torn_file_makes_no_page(self) -> None:
        path = self.scratch / "data/gpu/counters.tsv"
        path.parent.mkdir(parents=True)
        for row, says in (
            ("01_naive", "counters.tsv:3: expected 2 cells, got 1"),
            ("01_naive\t--seq 1", "counters.tsv: not a table of counters"),
        ):
            path.write_text(f"# about\n# chapter\toptions\n{row}\n")
            done = self.accuracy(path.parents[1])
            self.assertEqual(done.status, 2)
            self.assertIn(says, done.err)
            self.assertFalse(self.page.exists())


class Compiled(Case):
    """The tables of gpu/compiled. That they are what nvcc says: make check-ptxas check-sass, in .ci/cuda."""

    def test_printed_tables_fit_a_terminal(self) -> None:
        for tool, chapter in itertools.product(("ptxas", "sass"), PROGRAMS):
            done = run([ROOT / "tools" / tool, "show", COMPILED / f"{chapter}.{tool}.tsv", "sm_90"])
            self.assertEqual(done.status, 0, done.err)
            self.assertEqual([line for line in done.out.splitlines() if len(line) > 80], [])

    def test_another_table_is_stale(self) -> None:
        for tool, old_cell, new_cell, says in (
            ("ptxas", "\t1024\t", "\t1023\t", "sm_90 matmul_coalesced"),
            ("sass", "\t512\t", "\t511\t", "sm_90 matmul_registers"),
        ):
            text = (COMPILED / f"03_tiled_matmul.{tool}.tsv").read_text()
            old, changed = self.scratch / "old.tsv", self.scratch / "changed.tsv"
            old.write_text(text)
            changed.write_text(text.replace(old_cell, new_cell, 1))
            done = run([ROOT / "tools" / tool, "compare", old, changed])
            self.assertEqual(done.status, 1)
            self.assertIn(f"stale, run make {tool}; nvcc now says: {says}", done.err)
            self.assertEqual(run([ROOT / "tools" / tool, "compare", old, old]).status, 0)
            if NVCC:
                changed.write_text(text.replace("sources with checksum ", "sources with checksum 1", 1))
                unchanged = [ROOT / "tools" / tool, "unchanged", changed, NVCC, "1_naive.cu"]
                self.assertEqual(run(unchanged, cwd=ROOT / "03_tiled_matmul").status, 1)


class Ptxas(unittest.TestCase):
    def test_every_kernel_has_its_occupancy(self) -> None:
        """Registers are where the pages promise them: fa1_row's rows spill at d = 128 alone, what fa1_paper and the
        tiles of fa2 hold never does."""
        for chapter in PROGRAMS:
            for row in table.read(COMPILED / f"{chapter}.ptxas.tsv").records():
                name = f"{chapter} {row['kernel']}<{row['D']}> on {row['arch']}"
                self.assertNotEqual(row["threads"], "-", f"{name}: no launch told its threads: see PTXAS_RUNS")
                self.assertGreaterEqual(int(row["blocks_per_sm"]), 1, name)
                self.assertGreaterEqual(int(row["occupancy_percent"]), 1, name)
                if row["kernel"] == "fa1_row":
                    self.assertEqual(row["stack"] != "0", row["D"] == "128", name)
                elif chapter in ("04_fa1", "05_fa2") and row["kernel"] != "fa2_row":
                    self.assertEqual((row["stack"], row["spill_stores"]), ("0", "0"), name)

    def test_occupancy_is_what_nvidias_calculator_says(self) -> None:
        """cuda_occupancy.h of CUDA 13, asked once: each row has another of an SM's limits."""
        tool = runpy.run_path(str(ROOT / "tools/ptxas"), run_name="ptxas")
        for arch, registers, static, threads, dynamic, blocks in (
            ("sm_80", 32, 0, 64, 0, 32),
            ("sm_80", 32, 0, 1024, 0, 2),
            ("sm_80", 40, 0, 256, 0, 6),
            ("sm_80", 32, 16384, 128, 16384, 4),
            ("sm_80", 32, 0, 128, 166912, 1),
            ("sm_90", 36, 0, 64, 0, 24),
            ("sm_90", 37, 0, 192, 0, 8),
            ("sm_90", 168, 0, 96, 0, 4),
            ("sm_90", 255, 0, 256, 0, 1),
            ("sm_90", 64, 0, 33, 0, 16),
            ("sm_90", 32, 17000, 128, 0, 12),
            ("sm_90", 32, 7168, 32, 0, 28),
            ("sm_90", 32, 0, 128, 232448, 1),
            ("sm_90", 32, 0, 128, 232449, 0),
        ):
            kernel, launch = tool["Kernel"](registers=registers, shared=static), tool["Launch"](threads, dynamic)
            percent = f"{100 * blocks * (-(-threads // 32) * 32) / 2048:.0f}"
            self.assertEqual(tool["occupancy"](tool["SM_OF"][arch], kernel, launch), (blocks, percent), launch)


class Sass(Case):
    def setUp(self) -> None:
        super().setUp()
        self.tables = {chapter: table.read(COMPILED / f"{chapter}.sass.tsv") for chapter in PROGRAMS}

    def rows(self, chapter: str, **where: str) -> list[dict[str, str]]:
        return [row for row in self.tables[chapter].records() if where.items() <= row.items()]

    def test_every_kernel_has_its_loop_and_the_columns_sum_to_the_instructions(self) -> None:
        for chapter, loops in self.tables.items():
            kernels = {(row["arch"], row["kernel"]) for row in table.read(COMPILED / f"{chapter}.ptxas.tsv").records()}
            self.assertTrue(kernels, chapter)
            self.assertEqual({(row["arch"], row["kernel"]) for row in loops.records()}, kernels, chapter)
            first, last = loops.columns.index("ffma"), loops.columns.index("integer")
            for row in loops.rows:
                self.assertEqual(sum(map(int, row[first : last + 1])), int(row[first - 1]), f"{chapter} {row[:5]}")
                self.assertAlmostEqual(float(row[last + 1]), 100 * int(row[first]) / int(row[first - 1]), delta=0.051)

    def test_what_the_text_says_of_the_kernels(self) -> None:
        """Four FFMA for each 16 bytes of shared memory in a row's loop, 16 where a lane has a tile in registers."""
        for kernel, ffma, lds128 in (("fa2_row", "1061", "256"), ("fa2_split_q", "512", "32")):
            (row,) = self.rows("05_fa2", kernel=kernel)
            self.assertEqual((row["ffma"], row["lds128"], row["lds64"], row["lds32"]), (ffma, lds128, "0", "0"))
        for chapter, kernel in (("04_fa1", "fa1_row"), ("05_fa2", "fa2_row"), ("05_fa2", "fa2_split_q")):
            self.assertEqual({row["ldl"] for row in self.rows(chapter, kernel=kernel)}, {"0"}, kernel)

    def test_a_comment_makes_no_table_stale(self) -> None:
        """Kills a checksum of comments, and one that misses a changed token or a line that has moved."""
        text = 'int a; // one\nchar b[] = "//x";\n/* two\nthree */ int c;\n'
        same = 'int  a;  // other\nchar b[] = "//x";\t\n/* 2\n3 */ int c;\n'
        self.assertEqual(nvcc.code_of(text), nvcc.code_of(same))
        for old, new in (("a;", "d;"), ("//x", "//y"), ("two\n", "two "), ("int c", "intc")):
            self.assertNotEqual(nvcc.code_of(text), nvcc.code_of(text.replace(old, new)), new)


class Arch(Case):
    def test_the_gpu_or_the_nearest_that_nvcc_knows(self) -> None:
        path = stand_ins.make_toolkit(self.scratch / "cuda")
        pairs = {"9.0": "sm_90", "8.0": "sm_80", "8.6": "sm_80", "12.0": "sm_90", "7.0": "sm_70", "": "sm_90"}
        for capability, arch in pairs.items():
            command = [sys.executable, ROOT / "common/arch.py", self.scratch / "cuda/bin/nvcc"]
            said = run(command, PATH=path, FAKE_CAPABILITY=capability).out
            self.assertEqual(said, f"{arch}\n", capability)


class Peers(Case):
    def test_without_torch_they_say_so(self) -> None:
        out = self.scratch / "peers.tsv"
        command = [sys.executable, "-B", ROOT / "gpu/peers.py", "--tree", ROOT, "--out", out]
        done = run(command, CUDA_VISIBLE_DEVICES="")
        self.assertEqual((done.status, out.exists()), (3, False), done.err)
        self.assertIn("peers.py: ", done.err)
