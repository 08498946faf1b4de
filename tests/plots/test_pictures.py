"""The pictures: drawn again they are those of the repository; their words can be read; other data give other headlines;
and what is missing is named together with the command that makes it.

What a test changes is a house of its own: a copy of plots/ and tools/ in its scratch directory.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import sys
from pathlib import Path

from case import ROOT, Case, Outcome, run
from lib import table
from lib.chapters import PROGRAMS
from svg import Picture

SIM_PICTURES, GPU_PICTURES = 15, 13
DATA = ROOT / "plots/data"
SIM = DATA / "sim"


def new_house(path: Path) -> Path:
    """A copy of what draws, without the pictures."""
    shutil.copytree(ROOT / "plots", path / "plots", ignore=shutil.ignore_patterns("pictures"))
    shutil.copytree(ROOT / "tools", path / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    for chapter in PROGRAMS:
        (path / chapter).mkdir()
        shutil.copy2(ROOT / chapter / "Makefile", path / chapter)
    return path


def draw(house: Path, *options: str, **environment: str) -> Outcome:
    return run([sys.executable, house / "tools/draw", "all", *options], cwd=house, **environment)


def cell(path: Path, column: str, **where: object) -> float:
    """Of the first row with these values."""
    wanted = {(name, str(value)) for name, value in where.items()}
    for record in table.read(path).records():
        if wanted <= record.items():
            return float(record[column])
    raise AssertionError(f"{path}: no {column} where {where}")


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
    def assert_one_line(self, done: Outcome, status: int, what: str) -> None:
        self.assertEqual((done.status, done.err.strip("\n").count("\n")), (status, 0), done)
        self.assertIn(what, done.err)

    def house(self) -> Path:
        return new_house(self.scratch / "house")

    def draw_one(self, house: Path, script: str, data: object, to: str) -> Picture:
        done = run([sys.executable, "tools/draw", "one", script, data, to], cwd=house)
        self.assertEqual((done.status, done.err), (0, ""))
        return Picture((house / f"{to}.light.svg").read_text())

    def draw(self, house: Path, count: int, *options: str) -> dict[str, Picture]:
        """Draws without a word of complaint so many pictures that can be read: {name: picture}, the light ones."""
        done = draw(house, *options)
        self.assertEqual((done.status, done.err), (0, ""))
        paths = sorted(path for folder in ("plots", "build/plots") for path in house.glob(f"{folder}/pictures/*/*.svg"))
        self.assertEqual(len(paths), count)
        pictures = {path.name: Picture(path.read_text()) for path in paths}
        for name, picture in pictures.items():
            width = 300 if ".narrow." in name else 800
            self.assertEqual(picture.problems(width), [], name)
        return {name[: -len(".light.svg")]: of for name, of in pictures.items() if name.endswith(".light.svg")}


class Drawn(PictureCase):
    """The pictures of the repository, which test_diagrams.py can read: they are those of its data, and so is what they
    say in words."""

    @staticmethod
    def picture(name: str) -> Picture:
        return Picture((ROOT / f"plots/pictures/sim/{name}.light.svg").read_text())

    def test_drawn_again_they_are_the_same(self) -> None:
        """Elsewhere, in another time zone and language; with another gnuplot the same words."""
        house = new_house(self.scratch / "a/deeper/place there")
        done = draw(house, TZ="Asia/Kathmandu", LANG="C", LC_ALL="C", COLUMNS="40")
        self.assertEqual((done.status, done.err), (0, ""))
        before, after = (
            {path.name: path.read_text() for path in tree.glob("plots/pictures/sim/*.svg")} for tree in (ROOT, house)
        )
        self.assertEqual((len(after), after.keys()), (4 * SIM_PICTURES, before.keys()))
        same = run(["gnuplot", "--version"]).out.startswith("gnuplot 5.4")
        what = str if same else lambda svg: sorted(Picture(svg).texts)
        self.assertEqual([name for name in before if what(before[name]) != what(after[name])], [], "make plots")

    def test_each_says_what_it_shows_and_where_that_is_from(self) -> None:
        """The data has times of a CPU; they say nothing of a GPU, so no picture shows them."""
        for path in sorted((ROOT / "plots/pictures/sim").glob("*.svg")):
            with self.subTest(path.name):
                picture = Picture(path.read_text())
                measured = "tests/data/real_qkv" not in picture.provenance  # else it was computed, and has no date
                self.assertRegex(picture.provenance, r"20\d\d(-\d\d){2}\Z" if measured else "double precision")
                self.assertEqual(" ".join(" ".join(picture.texts).split()).count(picture.title), 1, "the headline")
                self.assertNotRegex(path.read_text(), "plain build|ms on |times faster|times slower|p10")
        roofline = self.picture("roofline")
        self.assertIn("No throughput was measured, so no kernel has a height", roofline.description)
        self.assertEqual([text for text in roofline.texts if " %" in text], [], "a share of a roof")

    # A picture, a ratio of two cells as file kernel columns row: what the headline says of it, how it is rounded.
    ONE = "dim=64 causal=0 seq="
    RATIOS = (
        ("00_gpu", "00_gpu copy_strided sectors cols=64", "00_gpu copy sectors cols=64", "{:.0f} times"),
        ("03_tiled_matmul", "03_tiled_matmul matmul_naive requested n=384",
         "03_tiled_matmul matmul_registers requested n=384", "{:.0f}-fold"),
        ("04_fa1", f"01_naive naive footprint {ONE}1024", f"04_fa1 fa1_row requested {ONE}1024", "{:.1f} times"),
        ("hbm_vs_n", f"01_naive naive footprint {ONE}2048", f"05_fa2 fa2_split_q requested {ONE}2048", "{:.1f} times"),
        ("memory_vs_n", f"01_naive naive peak {ONE}2048", f"05_fa2 fa2_split_q peak {ONE}2048", "{:.1f} times"),
        ("09_variants", "09_variants forward requested seq=1024 window=1024",
         "09_variants forward requested seq=1024 window=64", "{:.1f} times"),
        ("06_backward", f"06_backward backward_split footprint {ONE}1024",
         f"06_backward backward_naive footprint {ONE}1024", "{less:.0f} %"),
    )  # fmt: skip
    # And closed forms, of chapters' sizes and of the H100's 132 SMs.
    FORMS = (
        ("01_naive", f"{100 * 2048 / (2048 + 64):.0f} %"),
        ("05_fa2", f"{100 * (1 - (2 * 2048 / 128 + 2) / (3 * 2048 / 128 + 1)):.0f} %"),
        ("08_decode", f"{-(-132 // 3)} splits"),
        ("hbm_vs_block", f"{(3 * 1024 / 32 + 1) / (3 * 1024 / 256 + 1):.1f}-fold"),
    )

    def test_headlines_are_worked_out_from_the_data(self) -> None:
        def value(text: str) -> float:
            name, kernel, quantity, *where = text.split()
            ends = {"sectors": ("read_sectors", "write_sectors"), "peak": ("peak_bytes",)}
            columns = ends.get(quantity, (f"{quantity}_read_bytes", f"{quantity}_write_bytes"))
            wanted = dict(pair.split("=") for pair in where)
            return sum(cell(SIM / f"{name}.tsv", column, kernel=kernel, **wanted) for column in columns)

        ratios = [(name, value(a) / value(b), words) for name, a, b, words in self.RATIOS]
        told = [(name, words.format(ratio, less=100 * (1 - ratio))) for name, ratio, words in ratios]
        weights = json.loads((SIM / "07_answers.json").read_text())["answers"][0]["weights_bytes"]
        told.append(("07_transformer", f"From {math.ceil(weights / (30 * 2 * 576 * 4))} tokens on"))
        for name, words in [*told, *self.FORMS]:
            self.assertRegex(self.picture(name).title, rf"(?<![\d.]){re.escape(words)}", name)


class Drawing(PictureCase):
    """Of other data, with other options, or not at all: in a house of its own."""

    def test_another_count_is_another_headline_and_a_stale_page(self) -> None:
        house = self.house()
        (house / "README.md").write_text("<!-- markdown: tools/pages chapters -->\nold\n<!-- end -->\n")
        readme = (sys.executable, "tools/pages", "readme", "README.md")
        self.assertEqual(run(readme, cwd=house).status, 0)
        path = house / "plots/data/sim/05_fa2.tsv"
        fewer = re.search(r"[\d.]+ times", Drawn.picture("hbm_vs_n").title)[0]
        rewrite(path, path, twice_the_bytes)
        self.assertEqual(run([*readme, "--check"], cwd=house).status, 1, "a count changed and nothing is stale")
        title = self.draw_one(house, "plots/hbm_vs_n.gp", "plots/data/sim", "new/hbm_vs_n").title
        self.assertAlmostEqual(float(re.search(r"([\d.]+) times", title)[1]), float(fewer.split()[0]) / 2, delta=0.3)

    def test_a_gpus_folder_without_counts_is_drawn_and_readable_too(self) -> None:
        house = self.house()
        data = house / "plots/data/h200"
        data.mkdir()
        for path in [SIM / f"{chapter}.tsv" for chapter in PROGRAMS]:
            rewrite(path, data / path.name, as_gpu)
            title = table.read(path).title
            text = (data / path.name).read_text().replace("sms=132", "sms=99")
            text = text.replace("sim, limits of h100, NVIDIA H100 SXM", "cuda, NVIDIA Invented 9")
            (data / path.name).write_text(
                text.replace(title, title.partition(" on ")[0] + " on an invented GPU, for a test")
            )
        pictures = self.draw(house, 4 * GPU_PICTURES, "h200")
        self.assertIn("Heights: measured", pictures["roofline"].description)
        self.assertIn("HBM 4.80 TB/s", " ".join(pictures["roofline"].texts), "not this GPU's roofs")
        self.assertIn("ms on the GPU, p10 to p90", pictures["time_vs_n"].texts)
        self.assertNotIn("CPU", " ".join([*pictures["time_vs_n"].texts, pictures["time_vs_n"].description]))
        product = data / "03_tiled_matmul.tsv"
        first, last = (cell(product, "median_ms", kernel=f"matmul_{name}", n=384) for name in ("naive", "registers"))
        faster = f"The kernel with register tiles is {first / last:.1f} times faster than the first"
        self.assertEqual(pictures["03_tiled_matmul"].title, faster)
        self.assertEqual(pictures["08_decode"].title, "33 splits give every SM of the Invented 9 work")
        self.assertNotIn("H100", " ".join(pictures["08_decode"].texts))

    def test_a_known_gpu_has_its_roofs(self) -> None:
        """Wherever a GPU's ridge and its roofs are, its words stay apart."""
        house = self.house()
        script = house / "plots/roofline.gp"
        default, text = "gpu = 'h100'", script.read_text()
        for gpu in ("h100", "h200", "rtx4090", "a100-80", "a100"):
            script.write_text(text.replace(default, f"gpu = '{gpu}'"))
            picture = self.draw_one(house, "plots/roofline.gp", "plots/data/sim", f"build/{gpu}")
            self.assertEqual(picture.problems(800), [], gpu)
        texts = " ".join(picture.texts)
        self.assertIn("fp32 peak, 19.5 TFLOP/s", texts)
        self.assertIn("HBM 1.55 TB/s", texts)

    def test_what_cannot_be_drawn_is_one_line(self) -> None:
        """A file that is missing or torn is named with the command that makes it, and nothing is drawn."""
        house, spaced = self.house(), new_house(self.scratch / "the house")  # there make would make several files
        make, sim = ("make", "--no-print-directory", "-sC", "plots"), house / "plots/data/sim"
        naive, anew = (sim / "01_naive.tsv").read_text(), "make bench DEVICE=sim CHAPTERS=01_naive writes it"
        for text, status, says in (
            (None, 3, f"draw: plots/data/sim/01_naive.tsv is missing: {anew}\n"),
            (re.sub(r"\t[^\t]*\n\Z", "\n", naive), 2, f"; {anew} anew\n"),
            (re.sub(r"(?m)^[^#].*\n", "", naive), 2, f"01_naive.tsv has no rows; {anew} anew\n"),
        ):
            (sim / "01_naive.tsv").unlink() if text is None else (sim / "01_naive.tsv").write_text(text)
            self.assert_one_line(draw(house), status, says)
        (sim / "01_naive.tsv").write_text(naive)
        for done, status, says in (
            (draw(house, PATH="/nowhere"), 3, "draw: gnuplot is not installed: ./setup.sh installs it\n"),
            (run(make, cwd=spaced), 2, "make cannot draw in a path with a space: "),
            (run([*make, "DATA=/nowhere"], cwd=house), 2, "DATA=/nowhere: make plots draws plots/data alone"),
        ):
            self.assert_one_line(done, status, says)
        self.assertFalse((house / "plots/pictures").exists(), "something was drawn")
        for path in sim.glob("0[1456]*.tsv"):
            path.write_text(path.read_text().replace("max_abs", "gone", 1))
        done = run([sys.executable, "tools/draw", "one", "plots/error_vs_n.gp", sim, "out"], cwd=house)
        self.assert_one_line(done, 1, "draw: plots/error_vs_n.gp has no number for its headline, ")
        self.assertEqual(list(house.glob("out*")), [])

    def test_in_a_terminal(self) -> None:
        """In 80 columns, without gnuplot."""
        house, command = self.house(), (sys.executable, "tools/draw", "all", "sim", "--terminal")
        drawn = run(command, cwd=house, LC_ALL="C", PATH="/nowhere")
        self.assertEqual((drawn.status, drawn.err), (0, ""))
        self.assertIn("Bytes of global memory, per head, against N", drawn.out)
        self.assertNotRegex(drawn.out, r"\bms\b", "a CPU's time is shown")
        self.assertGreater(len(re.findall("[\u2801-\u28ff]", drawn.out)), 100, "no braille")
        self.assertNotIn("\033", drawn.out)
        self.assertEqual([line for line in drawn.out.splitlines() if len(line) > 80], [])


class Numbers(Case):
    """What the pictures are drawn from."""

    def test_rows_are_found_by_name_and_what_was_not_measured_is_left_out(self) -> None:
        columns = "seq batch heads kernel verified requested_read_bytes requested_write_bytes atomic_bytes median_ms"
        columns += " time_kind flop"
        rows = (
            "128 2 4 a yes 70 10 0 NaN - 800",
            "256 2 4 a no 70 10 0 1 measured-cpu 800",
            "512 2 4 b yes 80 8 12 2 measured-gpu 800",
            "512 2 4 a yes 160 0 0 2 measured-cpu 800",
        )
        path = self.scratch / "t.tsv"
        table.write(path, ["05_fa2 on the simulated device, today"], columns.split(), [row.split() for row in rows])
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
                done = run([ROOT / "tools/rows", *options, path])
                self.assertEqual(done, (0, printed, ""))

    def test_roofs_are_what_their_program_writes_and_attention_sums_to_one(self) -> None:
        self.assertEqual(run([programs() / "roofs"]).out, (DATA / "roofs.tsv").read_text())
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
    def test_a_page_shows_each_picture(self) -> None:
        """Kills a picture that is left behind when its page changes."""
        listed = run(["git", "ls-files", "*.md"], cwd=ROOT).out.split() if (ROOT / ".git").exists() else []
        pages = [ROOT / name for name in listed] or [*ROOT.glob("*.md"), *ROOT.glob("*/*.md")]
        shown = {name for page in pages for name in re.findall(r'pictures/([\w./]+\.svg)"', page.read_text())}
        pictures = ROOT / "plots/pictures"
        drawn = {
            str(path.relative_to(pictures)) for folder in ("", "sim") for path in (pictures / folder).glob("*.svg")
        }
        self.assertEqual(drawn - shown, set())


def programs() -> Path:
    """Where plots/Makefile builds its programs with this compiler: it is asked for that."""
    asked = "print-build: ; @echo $(BUILD)"
    compiler = f"CC={os.environ.get('CC', 'gcc')}"
    done = run(["make", "-s", "-C", ROOT / "plots", f"--eval={asked}", "programs", "print-build", compiler])
    return Path(done.out.strip())
