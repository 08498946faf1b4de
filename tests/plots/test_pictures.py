"""The pictures: drawn again they are those of the repository; their words can be read; their headlines say what the
data says; and what is missing is named together with the command that makes it.

What a test changes is a house of its own: a copy of plots/ and tools/ in its scratch directory.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from house import ROOT, Case, run, table
from lib.chapters import PROGRAMS
from svg import Picture

SIM_PICTURES, GPU_PICTURES = 15, 13
DATA = ROOT / "plots/data"
NAME = re.compile(r"FlashAttention-\d|Invented 9|\w*[A-Za-z_]\w*")  # a digit in it is no number of a headline
Done = subprocess.CompletedProcess


def new_house(path: Path) -> Path:
    """A copy of what draws, without the pictures."""
    shutil.copytree(ROOT / "plots", path / "plots", ignore=shutil.ignore_patterns("pictures"))
    shutil.copytree(ROOT / "tools", path / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    for chapter in PROGRAMS:
        (path / chapter).mkdir()
        shutil.copy2(ROOT / chapter / "Makefile", path / chapter)
    return path


def draw(house: Path, *options: str, **environment: str) -> Done:
    return run(sys.executable, house / "tools/draw", "all", *options, cwd=house, **environment)


def cell(path: Path, column: str, **where: object) -> float:
    """Of the first row with these values."""
    wanted = {(name, str(value)) for name, value in where.items()}
    for record in table.read(path).records():
        if wanted <= record.items():
            return float(record[column])
    raise AssertionError(f"{path}: no {column} where {where}")


def bytes_of(path: Path, kind: str, **where: object) -> float:
    return cell(path, f"{kind}_read_bytes", **where) + cell(path, f"{kind}_write_bytes", **where)


def rewrite(path: Path, to: Path, change: object) -> None:
    """A table with `change` done to each row, {column: cell}."""
    data = table.read(path)
    table.write(to, data.about, data.columns, [list(change(record).values()) for record in data.records()])


def as_gpu(record: dict[str, str]) -> dict[str, str]:
    """A row of the simulated device as one of a GPU would look: times of another kind, nothing counted. The times are
    invented: for tests of the scripts only."""
    counted = r"(requested|footprint)_|.*(atomic_bytes|sectors|counted|exponentials|hbm_requests|ideal)|shared_[rw]"
    changed = {column: "NaN" if re.match(counted, column) else cell for column, cell in record.items()}
    if record["median_ms"] != "NaN":
        changed["time_kind"] = "measured-gpu"
        for column in ("median_ms", "p10_ms", "p90_ms"):
            changed[column] = f"{(0.004 * float(record[column])) ** 0.5:.6g}"  # over less than two decades
    return changed


def twice_the_bytes(record: dict[str, str]) -> dict[str, str]:
    """Of one kernel."""
    if record["kernel"] == "fa2_split_q":
        record["requested_read_bytes"] = str(2 * int(record["requested_read_bytes"]))
    return record


class PictureCase(Case):
    def house(self, name: str = "house") -> Path:
        return new_house(self.scratch / name)

    def draw(self, house: Path, *options: str, **environment: str) -> Path:
        """Draws without a word of complaint; returns the folder of the simulated device's pictures."""
        done = draw(house, *options, **environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return house / "plots/pictures/sim"

    def draw_one(self, house: Path, script: str, data: object, to: str, *options: str) -> Picture:
        done = run(sys.executable, "tools/draw", "one", *options, script, data, to, cwd=house)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return Picture((house / f"{to}.light.svg").read_text())

    def assert_readable(self, folder: Path, count: int) -> None:
        paths = sorted(folder.glob("*.svg"))
        self.assertEqual(len(paths), count)
        for path in paths:
            with self.subTest(path.name):
                svg = path.read_text()
                picture = Picture(svg)
                width = 300 if ".narrow." in path.name else 800
                self.assertEqual(picture.problems(width, path.name.startswith("attention_map")), [])
                self.assertGreaterEqual(len(picture.words), 10)
                self.assertGreaterEqual(len(picture.title), 20)
                self.assertGreaterEqual(len(picture.description), 60)
                measured = "tests/data/real_qkv" not in picture.provenance  # else it was computed, and has no date
                origin = r"(20\d\d(-\d\d){2}|for a test)\Z" if measured else "double precision"
                self.assertRegex(picture.provenance, origin)
                self.assertNotIn(picture.provenance[-10:], " ".join(picture.texts), "where its numbers come from")
                self.assertLessEqual(len(re.findall(r"\d[\d.]*", NAME.sub("", picture.title))), 1, picture.title)
                self.assertNotIn("Gnuplot", svg)
                self.assertIn('role="img" aria-labelledby=', svg)
                self.assertEqual(
                    " ".join(" ".join(picture.texts).split()).count(picture.title), 1, "its title is not its headline"
                )


class Drawn(PictureCase):
    """The pictures of the repository's data, drawn once for all of these tests."""

    @classmethod
    def setUpClass(cls) -> None:
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.drawn = new_house(Path(scratch.name, "a/deeper/place there"))
        # Elsewhere, in another time zone and language.
        cls.done = draw(cls.drawn, TZ="Asia/Kathmandu", LANG="C", LC_ALL="C", COLUMNS="40")
        cls.folder = cls.drawn / "plots/pictures/sim"

    def setUp(self) -> None:
        super().setUp()
        self.assertEqual((self.done.returncode, self.done.stderr), (0, ""))

    def picture(self, name: str) -> Picture:
        return Picture((self.folder / f"{name}.light.svg").read_text())

    def test_the_pictures_in_the_repository_are_those_of_its_data(self) -> None:
        """Byte for byte with the gnuplot that made them; with another one the same words."""
        tracked = ROOT / "plots/pictures/sim"
        same = run("gnuplot", "--version").stdout.startswith("gnuplot 5.4")
        names = sorted(path.name for path in tracked.glob("*.svg"))
        self.assertEqual(names, sorted(path.name for path in self.folder.glob("*.svg")))
        for name in names:
            with self.subTest(name):
                before, after = (tracked / name).read_text(), (self.folder / name).read_text()
                if same:
                    self.assertTrue(before == after, "it is not what make plots draws")
                else:
                    self.assertEqual(sorted(Picture(after).texts), sorted(Picture(before).texts))

    def test_every_word_is_large_enough_inside_and_on_no_other(self) -> None:
        self.assert_readable(self.folder, 4 * SIM_PICTURES)

    def test_without_a_gpu_no_kernel_has_a_height_and_no_picture_a_time(self) -> None:
        """The data has times of a CPU; they say nothing of a GPU, so no picture shows them."""
        kinds = {record["time_kind"] for record in table.read(DATA / "sim/05_fa2.tsv").records()}
        self.assertEqual(kinds, {"measured-cpu"})
        self.assertEqual([path.name for path in self.folder.glob("time_vs_n*")], [])
        for path in self.folder.glob("*.svg"):
            for word in ("plain build", "ms on ", "times faster", "times slower", "p10"):
                self.assertNotIn(word, path.read_text(), path.name)
        roofline = self.picture("roofline")
        self.assertIn("No throughput was measured, so no kernel has a height", roofline.description)
        self.assertEqual([text for text in roofline.texts if " %" in text], [], "a share of a roof")

    def test_the_headline_of_errors_is_true_of_every_kernel_it_means(self) -> None:
        """Of attention: the product of matrices may use more."""
        shares = [
            float(record["max_abs"]) / float(record["tolerance"])
            for name in ("01_naive", "04_fa1", "05_fa2", "06_backward")
            for record in table.read(DATA / f"sim/{name}.tsv").records()
        ]
        rounded_up = math.ceil(1000 * max(shares)) / 10
        expected = f"Exact to rounding: no attention kernel uses more than {rounded_up} % of its tolerance"
        self.assertEqual(self.picture("error_vs_n").title, expected)

    def test_the_lines_of_closed_forms_go_through_the_counts(self) -> None:
        """A count equals its closed form, so the line of that goes through the point."""
        root = self.picture("03_tiled_matmul").root

        def pairs(plot: int, pattern: str, attribute: str) -> list[tuple[float, float]]:
            group = next(element for element in root.iter() if element.get("id") == f"gnuplot_plot_{plot}a")
            text = " ".join(element.get(attribute, "") for element in group.iter())
            return [(float(x), float(y)) for x, y in re.findall(pattern + r"([\d.]+),([\d.]+)", text)]

        for curve in (1, 2, 3):
            line = pairs(curve, "[ML]", "d")
            points = [
                (float(element.get("x")), float(element.get("y")))
                for element in next(e for e in root.iter() if e.get("id") == f"gnuplot_plot_{curve + 3}a").iter()
                if element.get("x")
            ] or pairs(curve + 3, r"translate\(", "transform")
            self.assertEqual(len(points), 5, f"curve {curve}")
            for x, y in points:
                near = [abs(line_y - y) for line_x, line_y in line if abs(line_x - x) < 0.6]
                self.assertLessEqual(min(near, default=math.inf), 0.6, f"curve {curve} does not pass {x}, {y}")

    def test_the_models_weights_and_activations_are_those_of_its_answers(self) -> None:
        """The script works them out from the model's shape; a run of the model counted the same."""
        answer = json.loads((DATA / "sim/07_answers.json").read_text())["answers"][0]
        weights = answer["weights_bytes"]
        activations = sum(row["model"]["activations_bytes"] for row in answer["moved"]["answer"])
        picture = self.picture("07_transformer")
        at, cached = math.ceil(weights / (30 * 2 * 576 * 4)), math.ceil(weights / (30 * 2 * 192 * 4))
        self.assertEqual(picture.title, f"From {at} tokens on attention asks for more bytes than all weights")
        self.assertIn(f" n = {cached}", picture.texts)
        self.assertIn(f"weights, as stored: {1e-6 * weights:.3g} MB", picture.texts)
        self.assertIn(f"activations: {1e-6 * activations / (answer['logit_rows'] - 1):.3g} MB", picture.texts)

    def test_what_splits_cost_is_worked_out_from_the_data(self) -> None:
        asked = {
            n: bytes_of(DATA / "sim/08_decode.tsv", "requested", kernel="decode_split", seq=n, splits=44)
            for n in (4096, 256)
        }
        shares = [100 * (asked[n] / (4 * 2 * n * 3 * 64) - 1) for n in asked]
        picture = self.picture("08_decode")
        self.assertEqual(picture.title, "44 splits give every SM of the H100 SXM work")
        cost = f"{shares[0]:.1f} % more bytes than keys and values alone at N = 4096, {shares[1]:.0f} % at 256"
        self.assertIn(f"44 splits of 3 blocks for 132 SMs request {cost}", picture.provenance)

    def test_a_caption_says_of_which_size_the_number_of_the_headline_is(self) -> None:
        """Each number of a headline again, from the sizes that its caption names. Kills: a caption without them."""

        def of(name: str, pattern: str) -> tuple[str, list[int]]:
            picture = self.picture(name)
            self.assertRegex(picture.provenance, pattern)
            number = re.search(r"[\d.]+", re.sub(r"FlashAttention-\d", "", picture.title))[0]
            return number, [int(size) for size in re.search(pattern, picture.provenance).groups()]

        data = DATA / "sim/00_gpu.tsv"
        share, (n, d) = of("01_naive", r"The headline at N = (\d+), d = (\d+)\.")
        self.assertEqual(share, f"{100 * n / (n + d):.0f}")
        times, (columns,) = of("00_gpu", r"The headline at (\d+) columns\.")
        strided, copy = (
            sum(cell(data, f"{op}_sectors", kernel=kernel, cols=columns) for op in ("read", "write"))
            for kernel in ("copy_strided", "copy")
        )
        self.assertEqual(times, f"{strided / copy:.0f}")
        fold, (n, narrow, wide) = of("hbm_vs_block", r"N = (\d+), .* the headline from Bc = (\d+) to (\d+)\.")
        self.assertEqual(fold, f"{(3 * n / narrow + 1) / (3 * n / wide + 1):.1f}")
        less, (n, rows) = of("05_fa2", r"\AN = (\d+), d = \d+\. Br: .*, the headline at (\d+)\.")
        self.assertEqual(less, f"{100 * (1 - (2 * n / rows + 2) / (3 * n / rows + 1)):.0f}")
        splits, (blocks, sms) = of("08_decode", r"44 splits of (\d+) blocks for (\d+) SMs")
        self.assertEqual(splits, f"{math.ceil(sms / blocks)}")

    def test_naive_attentions_bars_are_stored_read_input_and_output(self) -> None:
        """S and P are stored and read once each; O is a quarter of the rest. Kills: bytes in another's color."""
        for name, blue in (("01_naive.light", "114, 178"), ("01_naive.narrow.dark", "180, 233")):
            svg = (self.folder / f"{name}.svg").read_text()
            corners = r"points = '[\d.]+,([\d.]+) [\d.]+,\S+ [\d.]+,([\d.]+) "
            parts = re.findall(rf"<polygon fill = '([^']*)'( fill-opacity = '[^']*')? {corners}", svg)
            self.assertEqual(len(parts), 4 * 5)
            for at in range(0, len(parts), 4):
                fills = [fill for fill, *_ in parts[at : at + 4]]
                self.assertTrue(fills[0].startswith("rgb(213,") and fills[3].startswith("rgb(  0, 158"), fills)
                self.assertTrue(fills[1] == fills[2] and blue in fills[1], fills)
                self.assertEqual([bool(faint) for _, faint, *_ in parts[at : at + 4]], [False, False, True, False])
                stored, read, inputs, output = (float(low) - float(high) for *_, low, high in parts[at : at + 4])
                self.assertAlmostEqual(stored, read, delta=0.02)
                self.assertAlmostEqual(inputs, 3 * output, delta=0.1)

    def assert_share(self, folder: Path, data: Path) -> None:
        """The headline of hbm_vs_n, worked out here."""
        where = {"seq": 2048, "dim": 64, "causal": 0}
        requested = bytes_of(data / "05_fa2.tsv", "requested", kernel="fa2_split_q", **where)
        ratio = bytes_of(data / "01_naive.tsv", "footprint", kernel="naive", **where) / requested
        expected = f"FlashAttention-2 requests {ratio:.1f} times fewer bytes than naive attention's footprint"
        self.assertEqual(Picture((folder / "hbm_vs_n.light.svg").read_text()).title, expected)

    def test_a_headline_is_computed_from_the_data(self) -> None:
        self.assert_share(self.folder, DATA / "sim")
        house = self.house()
        path = house / "plots/data/sim/05_fa2.tsv"
        rewrite(path, path, twice_the_bytes)
        self.draw_one(house, "plots/hbm_vs_n.gp", "plots/data/sim", "new/hbm_vs_n")
        self.assert_share(house / "new", path.parent)

    def test_a_readme_whose_block_is_not_of_its_data_is_stale(self) -> None:
        house = self.house()
        shutil.copytree(self.folder, house / "plots/pictures/sim")
        page = house / "README.md"
        page.write_text(
            "# A page\n\n<!-- markdown: tools/pages picture sim/hbm_vs_n -->\n<!-- end -->\n\n"
            "<!-- markdown: tools/pages chapters -->\nold\n<!-- end -->\nText.\n"
        )

        def readme(*options: str) -> Done:
            return run(sys.executable, "tools/pages", "readme", *options, "README.md", cwd=house)

        stale = readme("--check")
        self.assertEqual(stale.returncode, 1)
        self.assertIn("README.md: the block printed by 'tools/pages picture sim/hbm_vs_n' is stale", stale.stderr)
        self.assertIn("old\n", page.read_text(), "a check changed the file")
        made = readme()
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertEqual(readme("--check").returncode, 0)
        self.assertRegex(page.read_text(), r"\n<!-- end -->\nText\.\n\Z")
        self.assertNotIn("old\n", page.read_text())
        picture = self.picture("hbm_vs_n")
        for part in (
            f'alt="{picture.title}"',
            'sim/hbm_vs_n.narrow.light.svg" width="300">',
            f"<sub>{picture.provenance}</sub>\n<!-- end -->",
        ):
            self.assertIn(part, page.read_text())
        path = house / "plots/data/sim/05_fa2.tsv"
        rewrite(path, path, twice_the_bytes)
        again = readme("--check")
        self.assertEqual(again.returncode, 1, "a count changed and nothing is stale")
        self.assertIn("'tools/pages chapters' is stale", again.stderr)
        self.assertNotIn("picture", again.stderr)


class Drawing(PictureCase):
    """Of other data, with other options, or not at all."""

    def test_a_gpus_folder_without_counts_is_drawn_and_readable_too(self) -> None:
        house = self.house()
        data = house / "plots/data/h200"
        data.mkdir()
        for path in [DATA / f"sim/{chapter}.tsv" for chapter in PROGRAMS]:
            rewrite(path, data / path.name, as_gpu)
            title = table.read(path).title
            text = (data / path.name).read_text()
            text = text.replace("sim, limits of h100, NVIDIA H100 SXM", "cuda, NVIDIA Invented 9")
            text = text.replace("sms=132", "sms=99")
            (data / path.name).write_text(
                text.replace(title, title.partition(" on ")[0] + " on an invented GPU, for a test")
            )
        self.draw(house, "h200")
        folder = house / "plots/pictures/h200"
        self.assert_readable(folder, 4 * GPU_PICTURES)
        roofline, times = ((folder / f"{name}.light.svg").read_text() for name in ("roofline", "time_vs_n"))
        self.assertIn("Heights: measured", roofline)
        self.assertIn("HBM 4.80 TB/s", roofline, "not this GPU's roofs")
        self.assertIn("ms on the GPU, p10 to p90", times)
        self.assertNotIn("CPU", times)
        # Over less than two decades the axis of times has 2, 5, 20, ... too, and no other axis here has such words.
        self.assertRegex("\n".join(Picture((folder / "04_fa1.light.svg").read_text()).texts), r"(?m)^ *[0.]*[25]0* *$")
        product = data / "03_tiled_matmul.tsv"
        first, last = (cell(product, "median_ms", kernel=f"matmul_{name}", n=384) for name in ("naive", "registers"))
        expected = f"The kernel with register tiles is {first / last:.1f} times faster than the first"
        self.assertEqual(Picture((folder / "03_tiled_matmul.light.svg").read_text()).title, expected)
        splits = Picture((folder / "08_decode.light.svg").read_text())
        self.assertEqual("33 splits give every SM of the Invented 9 work", splits.title)
        self.assertNotIn("H100", " ".join(splits.texts))
        # And the map of the chapters gets a column of its times.
        chapters = run(sys.executable, "tools/pages", "chapters", cwd=house).stdout
        ms = cell(data / "05_fa2.tsv", "median_ms", kernel="fa2_split_q", seq=2048, dim=64, causal=0)
        self.assertIn("| counted | what it is | time, h200 |", chapters)
        self.assertIn(f"N = 2048 | {ms:.3g} ms: `fa2_split_q`, N = 2048 |", chapters)

    def test_counts_without_times_have_the_whole_picture(self) -> None:
        """As a chapter's sweep is that was made without --time."""

        def untimed(record: dict[str, str]) -> dict[str, str]:
            return {column: "NaN" if column.endswith("_ms") else cell for column, cell in record.items()}

        house = self.house()
        for name, series in (
            ("01_naive", "S and P: stored"),
            ("05_fa2", "fa2_split_q"),
            ("06_backward", "split: 13Nd"),
        ):
            with self.subTest(name):
                data = self.scratch / f"{name}.tsv"
                rewrite(DATA / f"sim/{name}.tsv", data, untimed)
                picture = self.draw_one(house, f"plots/{name.partition('_')[2]}.gp", data, f"new/{name}")
                self.assertEqual(picture.problems(800), [])
                self.assertNotIn("ms on the GPU, p10 to p90", picture.texts)
                self.assertIn(series, picture.texts)

    def test_the_card_that_links_show_is_a_png_of_their_size(self) -> None:
        """Kills: --png that draws nothing, a card of another size, a ratio that is not the chart's."""
        house = self.house()
        said = self.draw_one(house, "plots/card.gp", "plots/data/sim", "card", "--png")
        head = (house / "card.light.png").read_bytes()[:24]
        self.assertEqual((head[1:4], struct.unpack(">2I", head[16:])), (b"PNG", (1200, 630)))
        chart = Picture((ROOT / "plots/pictures/sim/hbm_vs_n.light.svg").read_text())
        ratio = re.search(r"[\d.]+ times", chart.title)[0]
        self.assertIn(ratio, said.title)
        self.assertIn(f"{ratio.partition(' ')[0]}× fewer bytes", said.texts)

    def test_what_cannot_be_drawn_is_one_line(self) -> None:
        """A file that is missing is named with the command that makes it."""
        house, spaced = self.house(), self.house("the house")  # of a path with a space make makes several files
        make = ("make", "--no-print-directory", "-sC", "plots")
        missing = house / "plots/data/sim/05_fa2.tsv"
        missing.rename(self.scratch / "kept")
        expected = f"draw: {missing.relative_to(house)} is missing: make bench DEVICE=sim CHAPTERS=05_fa2 writes it\n"
        self.assert_one_line(draw(house), 3, expected)
        (self.scratch / "kept").rename(missing)
        for done, status, says in (
            (draw(house, "b200"), 3, "make bench DEVICE=cuda"),
            (draw(house, "cuda"), 3, "make bench DEVICE=cuda"),
            (draw(house, "--gpu", "b9000"), 2, "draw: GPU=b9000: expected one of a100 a100-80 h100 h200 rtx4090\n"),
            (draw(house, PATH="/nowhere"), 3, "draw: gnuplot is not installed: ./setup.sh installs it\n"),
            (run(*make, cwd=spaced), 2, "make cannot draw in a path with a space: "),
            (run(*make, "DATA=/nowhere", cwd=house), 2, "DATA=/nowhere: make plots draws plots/data alone"),
        ):
            with self.subTest(says):
                self.assert_one_line(done, status, says)
        self.assertFalse((house / "plots/pictures").exists(), "something was drawn")

    def test_a_torn_file_is_not_drawn(self) -> None:
        house = self.house()
        path = house / "plots/data/sim/01_naive.tsv"
        whole = path.read_text()
        for pattern, says in ((r"\t[^\t]*(?=\n\Z)", " cells, got "), (r"(?m)^[^#].*\n", "01_naive.tsv has no rows")):
            path.write_text(re.sub(pattern, "", whole))
            torn = draw(house)
            self.assert_one_line(torn, 2, says)
            self.assertIn("; make bench DEVICE=sim CHAPTERS=01_naive writes it anew\n", torn.stderr)
            self.assertFalse((house / "plots/pictures").exists(), "something was drawn")
        path.write_text(whole)
        for path in (house / "plots/data/sim").glob("0[1456]*.tsv"):  # no headline with nan in it
            path.write_text(path.read_text().replace("max_abs", "gone", 1))
        expected = (
            'draw: plots/error_vs_n.gp has no number for its headline, "Exact to rounding: no attention kernel uses '
            'more than nan % of its tolerance": is a column missing in plots/data/sim?\n'
        )
        self.assert_one_line(draw(house), 1, expected)
        self.assertFalse((house / "plots/pictures/sim/error_vs_n.light.svg").exists())

    def test_a_kernel_that_nobody_gave_a_colour_is_drawn_in_grey_beside_its_name(self) -> None:
        house = self.house()
        path = house / "plots/data/sim/05_fa2.tsv"
        data = table.read(path)
        new = [[cell.replace("fa2_row", "fa2_new") for cell in row] for row in data.rows if "fa2_row" in row]
        table.write(path, data.about, data.columns, [*data.rows, *new])
        for script, source in (("fa2", path), ("error_vs_n", path.parent)):
            picture = self.draw_one(house, f"plots/{script}.gp", source, script)
            self.assertEqual(picture.problems(800), [])
            self.assertIn("fa2_new", picture.texts)
        after = self.draw_one(house, "plots/hbm_vs_n.gp", path.parent, "hbm_vs_n").texts
        before = Picture((ROOT / "plots/pictures/sim/hbm_vs_n.light.svg").read_text()).texts
        self.assertEqual(sorted(before), sorted(after), "it changed what is said of those that were there")

    def test_without_gnuplot_a_chapters_sweep_goes_on(self) -> None:
        programs = self.scratch / "bin"  # all that is in PATH, but gnuplot
        programs.mkdir()
        for directory in map(Path, [Path(sys.executable).parent, *os.get_exec_path()]):
            for path in directory.glob("*") if directory.is_dir() else ():
                if not path.name.startswith("gnuplot") and not os.path.lexists(programs / path.name):
                    (programs / path.name).symlink_to(path)
        compilers = [f"{name}={os.environ[name]}" for name in ("CC", "CXX") if name in os.environ]
        plot = run("make", "-C", "01_naive", "plot", "DEVICE=sim", *compilers, PATH=str(programs))
        self.assertEqual(plot.returncode, 0, plot.stdout + plot.stderr)
        self.assertIn("no picture: gnuplot is not installed", plot.stdout)

    def test_a_known_gpu_has_its_roofs(self) -> None:
        """Wherever a GPU's ridge and its roofs are, its words stay apart."""
        house = self.house()
        for gpu in ("a100", "a100-80", "h100", "h200", "rtx4090"):
            self.draw(house, "sim", "--gpu", gpu)
        self.assertFalse((house / "plots/pictures").exists(), "the tracked pictures are the default GPU's")
        folder = house / "build/plots/pictures/sim"
        self.assert_readable(folder, 2 * 5)
        svg = (folder / "roofline-a100.light.svg").read_text()
        self.assertIn("fp32 peak, 19.5 TFLOP/s", svg)
        self.assertIn("HBM 1.55 TB/s", svg)

    def test_in_a_terminal(self) -> None:
        """In 80 columns, without gnuplot; a kernel in the color of its family, where there are colors. Kills: colors of
        what is stored and read, or where nobody sees them."""
        house = self.house()
        drawn = draw(house, "sim", "--terminal", LC_ALL="C", PATH="/nowhere")
        self.assertEqual((drawn.returncode, drawn.stderr), (0, ""))
        self.assertIn("Bytes of global memory, per head, against N", drawn.stdout)
        self.assertNotRegex(drawn.stdout, r"\bms\b", "a CPU's time is shown")
        self.assertGreater(len(re.findall("[\u2801-\u28ff]", drawn.stdout)), 100, "no braille")
        self.assertNotIn("\033", drawn.stdout)
        self.assertEqual([line for line in drawn.stdout.splitlines() if len(line) > 80], [])
        spawned = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]))"
        command = ["env", "-u", "NO_COLOR", "TERM=xterm", sys.executable, "-c", spawned]
        colored = run(*command, sys.executable, "tools/draw", "all", "sim", "--terminal", cwd=house)
        named = re.findall(r"\033\[(\d+)m━━\033\[0m (\S+)", colored.stdout)
        self.assertEqual(len(named), 5)
        for color, name in named:
            self.assertEqual(color, "39" if name.startswith("naive") else "35", name)

    def test_a_drawing_that_is_ended_leaves_nothing(self) -> None:
        house = self.house()
        command = [sys.executable, "tools/draw", "one", "plots/naive.gp", "plots/data/sim/01_naive.tsv", "new/naive"]
        command += ["--set", "where='dim=64 causal=0'"]
        slow = self.scratch / "bin/gnuplot"  # so that the drawing is not over before the signal
        slow.parent.mkdir()
        slow.write_text(f'#!/bin/sh\n{shutil.which("gnuplot")} "$@"\nexec sleep 2\n')
        slow.chmod(0o755)
        environment = {**os.environ, "PATH": f"{slow.parent}:{os.environ['PATH']}"}
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(number):
                drawing = subprocess.Popen(command, cwd=house, stdout=subprocess.DEVNULL, env=environment)
                deadline = time.monotonic() + 20
                while not any(path.is_file() for path in house.glob("new/*/*")) and time.monotonic() < deadline:
                    time.sleep(0.001)
                drawing.send_signal(number)
                self.assertEqual(drawing.wait(timeout=60), 128 + number)
                self.assertEqual(list((house / "new").iterdir()), [], "a file is left")


class Numbers(Case):
    """What the pictures are drawn from."""

    def write(self, columns: str, *rows: str) -> Path:
        path = self.scratch / "t.tsv"
        title = "05_fa2 on the simulated device, today"
        table.write(path, [title, "units: none"], columns.split(), [row.split() for row in rows])
        return path

    def test_rows_are_found_by_name_and_what_was_not_measured_is_left_out(self) -> None:
        columns = "seq batch heads kernel verified requested_read_bytes requested_write_bytes atomic_bytes median_ms"
        rows = (
            "128 2 4 a yes 70 10 0 NaN - 800",
            "256 2 4 a no 70 10 0 1 measured-cpu 800",
            "512 2 4 b yes 80 8 12 2 measured-gpu 800",
            "512 2 4 a yes 160 0 0 2 measured-cpu 800",
        )
        path = self.write(f"{columns} time_kind flop", *rows)
        for options, printed in (
            (("--kernel", "a", "--columns", "seq requested"), "128\t80\n512\t160\n"),
            (("--kernel", "b", "--columns", "seq requested flop"), "512\t100\t800\n"),
            (("--kernel", "a", "--columns", "requested per_head"), "80\t0.125\n160\t0.125\n"),
            (("--kernel", "a", "--columns", "seq median_ms"), ""),  # of a CPU: it says nothing of a GPU
            (("--kernel", "b", "--columns", "seq median_ms"), "512\t2\n"),
            (("--kernel", "a", "--columns", "seq footprint"), ""),
            (("--kernel", "a", "--where", "seq=first nothing=3", "--columns", "requested"), "80\n"),
            (("--kernel", "a", "--columns", "gflops"), ""),  # a throughput only of a time that a GPU took
            (("--kernel", "a", "--columns", "seq error_share"), ""),  # of columns that the file does not have
            (("--kernel", "b", "--columns", "gflops"), "0.0004\n"),
        ):
            with self.subTest(options):
                done = run(ROOT / "tools/rows", *options, path)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, printed, ""))

    def test_gnuplot_gets_the_first_the_last_and_the_wanted_number(self) -> None:
        rows = ("128 1 a 70 NaN", "256 1 a 80 5", "512 1 a NaN 6", "1024 0 a 90 8", "128 0 b 10 7")
        path = self.write("seq causal kernel median_ms tolerance_O", *rows)
        script = f"data = '{path}'; where = 'causal=1'; load 'plots/data.gp'; load tables(''); "
        for expression, printed in (
            ("first_of('a', 'seq')", "128.0"),
            ("last_of('a', 'seq')", "512.0"),
            ("last_of('a', 'median_ms')", "80.0"),
            ("first_of('a', 'tolerance_O')", "5.0"),
            ("number_at('a', 'median_ms', 'seq', 256)", "80.0"),
            ("number_at('a', 'median_ms', 'seq', 512)", "NaN"),
            ("last_of('b', 'seq')", "NaN"),
            ("last_of('none', 'seq')", "NaN"),
            ("rows(data, 'a', 'seq per_head*median_ms')", r"< printf '128 70 \n256 80 \n'"),
            ("rows(data, 'a', 'seq tolerance_O')", r"< printf '256 5 \n512 6 \n'"),
            ("made_by('a')", "05_fa2 on the simulated device, today"),
            ("source('a')", "The simulated device, today"),
        ):
            with self.subTest(expression):
                self.assertEqual(run("gnuplot", "-e", f"{script} print {expression}").stderr.strip(), printed)

    def test_roofs_are_what_their_program_writes_and_attention_sums_to_one(self) -> None:
        self.assertEqual(run(programs() / "roofs").stdout, (DATA / "roofs.tsv").read_text())
        # A row of the window holds at most all of its weight; all rows together, the share the file says.
        path = DATA / "attention_map.tsv"
        records = table.read(path).records()
        for head in "01":
            weights = [0.0] * 20
            for record in records:
                if record["head"] == head and record["key"] <= record["query"]:
                    weights[int(record["query"]) - 148] += float(record["probability"])
            self.assertLessEqual(max(weights), 1 + 20 * 0.5e-4)
            self.assertAlmostEqual(sum(weights) / 20, cell(path, "inside", head=head), delta=2e-3)


class Pages(Case):
    def test_a_stale_readme_leaves_the_next_one_alone(self) -> None:
        """Each page answers for itself, and a block that is not whole is no block that agrees."""

        def pages(*options: str) -> Done:
            return run(ROOT / "tools/pages", "readme", *options, cwd=self.scratch)

        first, second = self.scratch / "a.md", self.scratch / "b.md"
        three = "<!-- markdown: echo 3 -->\n3\n<!-- end -->\n"
        first.write_text(f"<!-- output: echo 1 -->\n```text\n2\n```\n{three}")
        second.write_text("<!-- output: echo 4 -->\n```text\n4\n```\n")
        done = pages("--check", "a.md", "b.md")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "a.md: 2 blocks, 1 of them stale\nb.md: 1 blocks as printed\n")
        self.assertEqual(done.stderr, "a.md: the block printed by 'echo 1' is stale: make readme\n")
        for text in ("<!-- output: echo 4 -->\n\n```text\n5\n```\n", "<!-- markdown: echo 4 -->\n5\n"):
            second.write_text(text)
            done = pages("--check", "b.md")
            self.assertNotEqual(done.returncode, 0, "a block that is not whole was left out")
            self.assertIn("b.md: 1 blocks begin and 0 are whole", done.stderr)

    def test_a_page_shows_each_picture(self) -> None:
        """Kills a picture that is left behind when its page changes."""
        listed = run("git", "ls-files", "*.md").stdout.split() if (ROOT / ".git").exists() else []
        pages = [ROOT / name for name in listed] or [*ROOT.glob("*.md"), *ROOT.glob("*/*.md")]
        shown = {name for page in pages for name in re.findall(r'pictures/([\w./]+\.svg)"', page.read_text())}
        pictures = ROOT / "plots/pictures"
        drawn = {
            str(path.relative_to(pictures)) for folder in ("", "sim") for path in (pictures / folder).glob("*.svg")
        }
        self.assertEqual(drawn - shown, set())

    def test_the_chapter_table_says_what_the_data_says(self) -> None:
        done = run(ROOT / "tools/pages", "chapters")
        self.assertEqual(done.returncode, 0, done.stderr)
        fa2, backward = DATA / "sim/05_fa2.tsv", DATA / "sim/06_backward.tsv"
        plain = {"dim": 64, "causal": 0}
        requested = bytes_of(fa2, "requested", kernel="fa2_split_q", seq=2048, **plain)
        best = bytes_of(DATA / "sim/01_naive.tsv", "footprint", kernel="naive", seq=2048, **plain) / requested
        self.assertIn(
            f"| **{best:.1f} ×** | fewer bytes requested than naive's footprint, naive's best case, N = 2048 |",
            done.stdout,
        )
        split = bytes_of(backward, "footprint", kernel="backward_split", seq=1024, **plain)
        less = 100 * (1 - split / bytes_of(backward, "footprint", kernel="backward_naive", seq=1024, **plain))
        self.assertIn(f"| **−{less:.0f} %** | footprint, beside the naive backward, N = 1024 |", done.stdout)
        self.assertNotRegex(done.stdout, r"\d [num]?s\b", "a CPU's time is shown")
        self.assertIn("machine, date and commit are in the first lines of each file", done.stdout.splitlines()[-1])


def programs() -> Path:
    """Where plots/Makefile builds its programs with this compiler: it is asked for that."""
    asked = "print-build: ; @echo $(BUILD)"
    compiler = f"CC={os.environ.get('CC', 'gcc')}"
    done = run("make", "-s", "-C", "plots", f"--eval={asked}", "programs", "print-build", compiler)
    return Path(done.stdout.strip())
