"""Published counters beside ours (tools/accuracy, gpu/accuracy): the kernels count what was kept, and what is planted
wrong is found."""

from __future__ import annotations

import os
import shutil
import tempfile
import unittest
from pathlib import Path

from case import ROOT, Case, run
from lib import table
from lib.gpu import counters, evidence, machine

FOLDER = ROOT / "gpu/accuracy"


class Committed(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.built = Path(directory.name)
        cls.known = evidence.read(FOLDER)
        programs = sorted({launch.program for launch in cls.known.launches})
        evidence.build(FOLDER, programs, cls.built, ROOT / "simcc/simcc")

    def count(self, launch: evidence.Launch) -> evidence.Counts:
        return evidence.count(self.built / launch.program, launch)

    def test_the_kernels_count_what_was_kept(self) -> None:
        launches = [launch for launch in self.known.launches if launch.quick or os.environ.get("LONG")]
        self.assertGreaterEqual(len(launches), 40)
        for launch in launches:
            self.assertEqual(self.count(launch), self.known.counts[launch.key], launch.options)

    def test_the_rules_that_a_gpu_measured(self) -> None:
        """Kills a changed rule of sectors, banks or atomics: each rule is counted again, whatever the tables hold."""
        evidence.build(ROOT / "gpu", ["rules"], self.built, ROOT / "simcc/simcc")
        launches = evidence.records(self.built / "rules", [])
        rows = table.read(ROOT / "gpu/measured/h200/rules.tsv").records()
        self.assertEqual({int(row["number"]) for row in rows}, set(range(1, len(launches) + 1)))
        for row in rows:
            launch = launches[int(row["number"]) - 1]
            for quantity, name in counters.names_of_rule(row["kernel"]).items():
                measured = 0 if row[quantity] == "NaN" else int(row[quantity])
                self.assertEqual(counters.counted(launch, name), measured, f"{row['kernel']}, {row['pattern']}, {name}")

    def test_its_files_are_of_the_same_launches_and_sources(self) -> None:
        """And a surplus is called arbitration only where another counter holds it."""
        known = self.known
        self.assertEqual(set(known.counts), {launch.key for launch in known.launches})
        self.assertEqual([name for name in known.sources if not known.of(name)], [])
        words = {(row.source, row.launch.options, row.formula): known.word(row) for row in known.rows}
        self.assertEqual(words["rtx3070", "tile_write_columns_8 4096 32", "shared_store_wavefronts"], "arbitration")
        self.assertEqual(words["rtx3080-sgemm", "tile_1x1 4096", "shared_store_conflicts"], "surplus")
        for row in known.rows:
            self.assertEqual(row.expect == "unexplained", row.reason != "-", f"{row.launch.options}, {row.metric}")
            if known.word(row) == "surplus":
                self.assertEqual(row.expect, "arbitration")
                self.assertNotIn("arbitration", known.verdict(row))

    def test_the_merged_loads_are_what_was_published(self) -> None:
        """Their counts; test_widths of simcc has the small sizes. When thorough they are counted again."""
        counts = machine.read_counts(FOLDER / "machine_counted.tsv")
        rows = machine.read_rows(FOLDER / "machine.tsv")
        self.assertEqual({machine.key(row) for row in rows}, set(counts))
        for row in rows:
            self.assertEqual(counts[machine.key(row)][1], int(row["published"]), row["metric"])
        if os.environ.get("LONG"):
            self.assertEqual(machine.count(rows, ROOT / "simcc/tests/machine", ROOT / "simcc/simcc"), counts)

    def test_a_part_stands_for_the_whole(self) -> None:
        chosen = {"tile_columns": 32, "strided_words 8192 1": 16, "add_columns": 32, "tile_read_columns_4 1024 32": 32}
        launches = [launch for launch in self.known.launches if launch.options in chosen]
        self.assertEqual({launch.options: launch.part for launch in launches}, chosen)
        for launch in launches:
            whole = evidence.Launch(launch.program, launch.options, 1, True)
            self.assertEqual(self.count(launch), self.count(whole), launch.options)


class Planted(Case):
    """A copy of the evidence with one thing wrong."""

    def setUp(self) -> None:
        super().setUp()
        self.folder, self.page = self.scratch / "accuracy", self.scratch / "page.md"
        shutil.copytree(FOLDER, self.folder)

    def edit(self, name: str, before: str, after: str) -> None:
        path = self.folder / name
        text = path.read_text()
        self.assertIn(before, text)
        path.write_text(text.replace(before, after, 1))

    def only(self, options: str) -> None:
        """The rows of one launch, so that little is built and run."""
        path = self.folder / "published.tsv"
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(line for line in lines if line.startswith("#") or f"\t{options}\t" in line))

    def make(self, status: int, *says: str, arguments: tuple[str, ...] = ()) -> None:
        """Ends with this status; one line of what it says for each of `says`, in any order."""
        command = [ROOT / "tools/accuracy", *arguments, "--evidence", self.folder, "--page", self.page]
        done = run(command, seconds=600)
        self.assertEqual(done.status, status, done.err)
        for line in says:
            self.assertIn(line, done.err)
        self.assertEqual(done.err.count("\n"), len(says), done.err)

    def test_a_wrong_published_value(self) -> None:
        says = "published {}, counted {}"
        for name, before, after, said in (
            (
                "published.tsv",
                "18874261",
                "18874262",
                "gather 42, l1tex__t_sectors_pipe_lsu_mem_global_op_ld: published",
            ),
            ("published.tsv", "11.76", "11.77", says.format("11.77", "11.76: NOT equal")),
            ("published.tsv", "17061038", "16777215", says.format("16777215", "16777216: NOT arbitration")),
            ("published.tsv", "1321322", "1421322", says.format("1421322", "1048576: NOT arbitration")),
            ("machine.tsv", "503316480", "503316481", says.format("503316481", "as machine code 503316480")),
        ):
            with self.subTest(after):
                self.edit(name, f"\t{before}\t", f"\t{after}\t")
                self.make(1, said)
                self.edit(name, f"\t{after}\t", f"\t{before}\t")
        self.assertIn("| NOT equal |", self.page.read_text())

    def test_a_changed_kernel(self) -> None:
        self.only("tile_columns_padded")
        self.edit("shared.cu", "tile_columns<1,", "tile_columns<2,")
        kept = (self.folder / "counted.tsv").read_text()
        of_both = [f"op_{access}: published 0, counted 32768: NOT equal, -100.000 %" for access in ("ld", "st")]
        self.make(1, *of_both, arguments=("--count",))
        self.assertIn("| NOT equal, -100.000 % |", self.page.read_text())
        self.assertNotEqual((self.folder / "counted.tsv").read_text(), kept)
        (self.folder / "shared.cu").write_text("#error planted\n")
        done = run([ROOT / "tools/accuracy", "--count", "--evidence", self.folder])
        self.assertEqual(done.status, 3)
        self.assertIn("failed", done.err.splitlines()[-1])

    def test_files_that_do_not_fit_together(self) -> None:
        says = "no shared load conflicts: make accuracy counts it"
        for name, before, after, said in (
            ("published.tsv", "\ncc75\t", "\nno such\t", "no such line in sources.tsv"),
            ("published.tsv", "\tequal\t", "\tequals\t", "arbitration, unexplained, got 'equals'"),
            ("published.tsv", "\tglobal_load_sectors\t", "\tglobal_loads\t", "expected counters and + - * /, got"),
            ("published.tsv", "\t65536\t", "\tmany\t", "Invalid literal for Fraction: 'many'"),
            ("counted.tsv", "\nglobal\tadd_rows\t", "\nglobal\tadd_row\t", "add_rows, l1tex__t_requests"),
            ("sources.tsv", "\tgpu\t", "\tchip\t", "sources.tsv: expected a column gpu"),
            ("machine.tsv", "\t503316480\t", "\t5e8\t", "published: expected a whole number, got '5e8'"),
            ("machine_counted.tsv", "product\tshared load conflicts", "product\tshared load sectors", says),
        ):
            with self.subTest(said):
                self.edit(name, before, after)
                self.make(2, said)
                self.assertFalse(self.page.exists())
                self.edit(name, after, before)


class Verdicts(unittest.TestCase):
    def test_formulas(self) -> None:
        counts = dict.fromkeys(evidence.COUNTERS, 3)
        self.assertEqual(evidence.evaluate("2 * 3 + 4 - global_load_bytes / 4", counts), 9.25)
        for formula in ("", "nothing", "global_load_bytes / 0", "1.5", "-1", "open('x')", "1 if 1 else 2", "1 +"):
            with self.assertRaises(ValueError, msg=formula):
                evidence.evaluate(formula, counts)

    def test_a_value_is_equal_to_its_digits_or_a_little_more(self) -> None:
        """That is arbitration: of what passes through shared memory, and not much more."""
        counts = {
            **dict.fromkeys(evidence.COUNTERS, 0),
            "global_load_bytes": 1000000007,
            "global_load_sectors": 8,
            "global_store_sectors": 1000,
            "shared_store_wavefronts": 1000,
        }
        launch = evidence.Launch("transpose", "copy_4 4096 16", 256, True)
        for published, formula, expect, word in (
            ("1000000007", "global_load_bytes", "equal", "equal"),
            ("1000000008", "global_load_bytes", "equal", ""),
            ("8.0", "global_load_sectors", "equal", "equal"),
            ("8.1", "global_load_sectors", "equal", ""),
            ("125000000.88", "global_load_bytes / global_load_sectors", "equal", "equal"),
            ("125000001", "global_load_bytes / global_load_sectors", "equal", "equal"),
            ("1000", "shared_store_wavefronts", "arbitration", "equal"),
            ("1300", "shared_store_wavefronts", "arbitration", "arbitration"),
            ("1301", "shared_store_wavefronts", "arbitration", ""),
            ("999", "shared_store_wavefronts", "arbitration", ""),
            ("300", "shared_store_conflicts", "arbitration", "arbitration"),
            ("301", "shared_store_conflicts", "arbitration", ""),
            ("1", "shared_load_conflicts", "arbitration", ""),
            ("1001", "global_store_sectors", "arbitration", ""),
        ):
            row = evidence.Row("rtx3080", launch, "a metric", published, formula, expect, "-", counts)
            self.assertEqual(row.word, word, published)

    def test_counts_grow_as_they_say_or_not_at_all(self) -> None:
        self.assertEqual(machine.grown([5, 40], "3", 4), 320)
        self.assertEqual(machine.grown([3, 8, 15], "2 1", 10), 120)
        for values, powers in (([5, 41], "3"), ([3, 8, 16], "2 1"), ([1, 2], "1")):
            with self.assertRaises(ValueError):
                machine.grown(values, powers, 4)
