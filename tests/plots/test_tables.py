"""make tables: what equals, what does not, and that it can tell."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from case import ROOT, Case, Outcome, run

TABLES = ROOT / "tools/tables"
PUBLISHED = ROOT / "plots/published.tsv"
DATA = ROOT / "plots/data"


def planted(path: Path, old: str, new: str, line: str) -> str:
    """The text of a file with the first appearance of `old`, in or after the line that begins so, replaced."""
    before, begin, after = path.read_text(encoding="utf-8").partition(f"\n{line}")
    return before + begin + after.replace(old, new, 1)


class Tables(Case):
    def tables(self, chosen: str = "", data: Path | str = "plots/data", published: Path = PUBLISHED) -> Outcome:
        table = ["--table", chosen] if chosen else []
        return run([TABLES, "--data", data, "--published", published, *table], cwd=ROOT)

    def copy_data(self) -> Path:
        """A copy of plots/data."""
        copy = self.scratch / "data"
        shutil.rmtree(copy, ignore_errors=True)
        return Path(shutil.copytree(DATA, copy))

    def assert_line(self, done: Outcome, *texts: str) -> None:
        """One line of the output holds all of these."""
        found = [line for line in done.out.splitlines() if all(text in line for text in texts)]
        self.assertTrue(found, f"no line with {texts} in\n{done.out}")

    def test_nothing_differs_without_a_reason(self) -> None:
        done = self.tables()
        self.assertEqual(done.status, 0, done.out + done.err)
        self.assertEqual(done.err, "")
        for number in range(1, 10):
            self.assertIn(f"T{number}  ", done.out)
        for texts in (
            ("in all", "17,301,504  17,301,504  equal"),
            ("68,157,440 68,157,440", "17,301,504 17,301,504"),
            ("standard, plain: 11A + 12u", "25.2"),
            ("13u + 20u", "4.43"),
            ("Bc=512 (d=32)", "7"),
            ("Bc=512 at d=64 is refused: these tiles need",),
        ):
            self.assert_line(done, *texts)
        self.assertNotIn("NOT EQUAL", done.out)
        self.assertNotIn("no data", done.out)
        # five of T3, one of T4, two of T8; and the explanation below each of the three tables
        self.assertEqual(done.out.count("differs because"), 8 + 3)
        self.assertIn("equal, by inference", done.out)
        self.assertNotIn("\x1b", done.out, "color in a pipe")
        self.assertEqual([line for line in done.out.splitlines() if len(line) > 80], [])

    def test_a_wrong_published_number_is_found(self) -> None:
        path = self.scratch / "published.tsv"
        for line, old, new in (
            ("T1\t2048\ttotal", "17,301,504", "17,301,505"),
            ("T1\t2048\tshare", "\t97", "\t96"),
            ("T2\tceiling\tratio", "4.0", "4.1"),
            ("T4\t1,2,3,6,2,1\tl2", "1.0998", "1.1098"),
            ("T5\t2048x256\tbound", "compute", "memory"),
            ("T5\tridge\tintensity", "201", "202"),
            ("T6\tlimit\tnaive", "64", "65"),
            ("T8\thbm\tstandard", "40.3", "40.4"),
            ("T9\tfa1 128\tunits", "25", "26"),
            ("T9\tfa2 64\tunits", "34", "33"),
        ):
            with self.subTest(line):
                path.write_text(planted(PUBLISHED, old, new, line))
                done = self.tables(line[:2], published=path)
                self.assertEqual(done.status, 1, done.out)
                self.assertEqual(done.out.count("NOT EQUAL"), 1, done.out)
                self.assertRegex(done.out, r"\n1 of \d+ numbers are not equal")

    def test_a_wrong_count_is_found(self) -> None:
        for chosen, file, line, old, new, times in (
            ("T1", "01_naive", "2048\t64\t1\t1\t0\tnaive", "\t35127296\t", "\t35127300\t", 1),
            # the model's element count comes first and is not what the tables read: plant in every such cell
            ("T2", "05_fa2", "512\t64\t1\t1\t0\t0\t0\tfa2_row", "\t327680\t", "\t327681\t", 2),
            ("T6", "01_naive", "2048\t128\t1\t1\t0\tnaive", "\t17825792\t", "\t18825792\t", 2),
            ("T8", "06_backward", "256\t64\t1\t1\t0\t0\t0\tbackward_atomic", "\t229376\t", "\t279376\t", 2),
            ("T9", "blocks", "1024\t64\t1\t1\t16\t256\t0\tfa1_paper", "\t13\n", "\t13.1\n", 1),
        ):
            with self.subTest(chosen):
                data = self.copy_data()
                path = data / f"sim/{file}.tsv"
                for _ in range(times):
                    path.write_text(planted(path, old, new, line))
                done = self.tables(chosen, data)
                self.assertEqual(done.status, 1, done.out)
                self.assertIn("NOT EQUAL", done.out)

    def test_missing_and_damaged_data_is_no_data(self) -> None:
        """A file that is not there, is torn, or has no such column, is no data, and its command is named: never a
        number that is not equal. The other tables stay."""

        for chosen, name, pattern, new, says in (
            ("T1,T2", "long", None, None, "long.tsv: cannot be read: No such file or directory"),
            ("T9", "blocks", r"\t[^\t]*\n\Z", "\n", " cells, got "),
            ("T1", "01_naive", r"\tfootprint_read_bytes(?=[\t\n])", "\tgone", "no number of footprint_read_bytes"),
            ("T1", "01_naive", r"\t35127296(?=\t)", "\tNaN", "no number of footprint_read_bytes for naive"),
            ("T1", "01_naive", r"(?s).*", "", "01_naive.tsv: expected a line of columns"),
            ("T9", "blocks", "\n", "\r\n", ""),  # lines that end as on Windows are whole
        ):
            with self.subTest(says):
                path = self.copy_data() / f"sim/{name}.tsv"
                if pattern is None:
                    path.unlink()
                else:
                    damaged = re.sub(pattern, new, path.read_text())
                    self.assertNotEqual(damaged, path.read_text())
                    path.write_bytes(damaged.encode())
                done = self.tables(chosen, path.parents[1])
                self.assertEqual((done.status, done.err), (3 if says else 0, ""), done.out)
                if says:
                    self.assert_line(done, "no data", says, f"; make bench DEVICE=sim CHAPTERS={name}")
                if chosen == "T1,T2":
                    self.assertIn("17,301,504  equal", done.out, "T1 goes down with T2")

    def test_gpu_times_stand_beside(self) -> None:
        """T7: without a GPU's data a word, with it our times."""
        data = self.copy_data()
        for path in data.iterdir():
            if path.is_dir() and path.name != "sim":
                shutil.rmtree(path)
        done = self.tables("t7", data)
        self.assertEqual(done.status, 0)
        self.assertEqual(done.out.count("needs a GPU"), 4, done.out)
        (data / "h200").mkdir()
        head = "# device: cuda, NVIDIA H200\n# seq\tdim\tbatch\theads\tcausal\tkernel\tmedian_ms\n"
        for file, first, second in (
            ("01_naive", "naive", "naive"),
            ("04_fa1", "fa1_paper", "fa1_row"),
            ("05_fa2", "fa2_row", "fa2_split_q"),
        ):
            cells = ((1024, first, "1.25"), (4096, first, "NaN"), (1024, second, "2.5"))
            rows = [f"{seq}\t64\t1\t8\t0\t{kernel}\t{ms}\n" for seq, kernel, ms in cells]
            (data / f"h200/{file}.tsv").write_text(head + "".join(rows))
        done = self.tables("T7", data)
        self.assertEqual(done.status, 0)
        self.assertNotIn("needs a GPU", done.out)
        self.assertIn("on h200 (NVIDIA H200)", done.out)
        self.assert_line(done, "  1024", "1.25       1.25     2.50     1.25         2.50")
        self.assert_line(done, "  4096      -", "-")
