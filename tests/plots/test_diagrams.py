"""The diagrams: drawn again, from what the programs count now, they are the same. And of all pictures what can be
read."""

from __future__ import annotations

import json
import re
import runpy
import xml.etree.ElementTree

from case import ROOT, Case, run
from lib import table
from lib.chapters import PROGRAMS
from lib.diagrams import decode, hero, transformer
from lib.diagrams.run import RunError
from lib.diagrams.svg import DARK, LIGHT, kilobytes
from svg import Picture

PICTURES = ROOT / "plots/pictures"
TOOL = ROOT / "tools/diagrams"


def counted(program: str, options: list[str]) -> dict[str, dict[str, int]]:
    return json.loads(run([ROOT / program, *options, "--json", "-"]).out)["kernels"][0]["hbm"]


def luminance(color: str) -> float:
    """As WCAG has it."""
    shares = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return sum(part * value for part, value in zip((0.2126, 0.7152, 0.0722), linear))


class Seen(Case):
    def test_every_word_can_be_read(self) -> None:
        paths = sorted(PICTURES.rglob("*.svg"))
        self.assertGreaterEqual(len(paths), 28 + 56)
        for path in paths:
            with self.subTest(path.name):
                picture = Picture(path.read_text())
                problems = picture.problems(300 if ".narrow." in path.name or path.name.startswith("02_") else 800)
                if path.name.startswith("hero"):  # the only one that is not read but looked at
                    problems = [problem for problem in problems if "pixels" not in problem]
                self.assertEqual(problems, [])
                self.assertGreaterEqual(len(picture.words), 10)

    def test_a_concept_has_one_color_which_can_be_seen(self) -> None:
        """Kills a hue that is changed in charts or in diagrams alone, and a kernel in the color of another family."""
        concepts = "stored read output naive fa1 fa2 fa1_row fa1_paper fa2_row fa2_tile fa2_slab fa2_split_q".split()
        asked = "".join(f"print {'color' if '_' in name else 'named'}('{name}');" for name in concepts)
        for theme in (LIGHT, DARK):
            script = f"theme = '{theme.name}'; load 'plots/theme.gp'; {asked}"
            printed = run(["gnuplot", "-e", script], cwd=ROOT, LC_ALL="C.UTF-8").err.split()  # as tools/draw runs it
            self.assertEqual(printed[:3], [theme.vermilion, theme.blue, theme.green])
            for color, least in ((theme.foreground, 4.5), (theme.dim, 4.5), *((color, 3) for color in printed[:3])):
                dark, light = sorted(map(luminance, (color, theme.background)))
                self.assertGreaterEqual((light + 0.05) / (dark + 0.05), least, color)
            self.assertEqual(len(set(printed[:6])), 6)
            self.assertEqual(printed[6:], [printed[4]] * 2 + [printed[5]] * 4)

    def test_kernels_of_a_file_differ_in_their_points(self) -> None:
        """For those who do not see the colors."""
        words = (ROOT / "plots/colors.gp").read_text().partition('series_table = "')[2].partition('"')[0]
        point_of = {kernel: look[1] for kernel, *look in (word.split("=") for word in words.split() if "=" in word)}
        for chapter in PROGRAMS:
            kernels = set(table.read(ROOT / f"plots/data/sim/{chapter}.tsv").column("kernel")) & point_of.keys()
            self.assertEqual(len({point_of[kernel] for kernel in kernels}), len(kernels), chapter)


class Diagrams(Case):
    def test_drawn_again_they_are_the_same(self) -> None:
        for name, draw in runpy.run_path(str(TOOL), run_name="diagrams")["DIAGRAMS"].items():
            for variant, svg in draw(ROOT).items():
                committed = (PICTURES / f"{name}.{variant}.svg").read_text()
                self.assertEqual(svg, committed, f"{name}.{variant}.svg is stale: make diagrams")
                xml.etree.ElementTree.fromstring(svg)

    def test_its_key_names_the_colors_that_a_diagram_has_and_no_other(self) -> None:
        """Kills: one key for all diagrams, a shape in the color of another concept than before."""
        words = {"i": "faint", "w": "orange", "o": "green", "n": "gray", "k": "gray", "r": "blue"}
        paths = [path for path in sorted(PICTURES.glob("*.light.svg")) if not path.name.startswith("hero")]
        self.assertGreaterEqual(len(paths), 15)
        for path in paths:
            svg = path.read_text()
            key = re.search(r"\n(.*)</desc>", svg)[1].lower()
            drawn = {words[name] for name in re.findall(r'<rect [^>]*class="(\w)"', svg) if name in words}
            self.assertEqual({word for word in words.values() if word in key}, drawn, path.name)

    def test_a_models_steps_must_add_up_to_what_its_run_asked_for(self) -> None:
        moved = transformer.of_the_run(ROOT / "plots/data/sim/07_answers.json")
        transformer.layer_of(moved)
        moved["project"]["weights"] *= 1.01
        with self.assertRaisesRegex(RunError, "project: weights of"):
            transformer.layer_of(moved)

    def test_its_numbers_are_those_that_are_counted_and_of_the_data_sheet(self) -> None:
        """Kills: a ratio that is rounded up, a split that is left out. 00_gpu: NVIDIA H100 SXM, 132 SMs."""
        naive, flash = (
            sum(counted(program, options)[kind].values())
            for program, options, kind in (
                ("01_naive/naive", hero.NAIVE, "footprint"),
                ("05_fa2/fa2", hero.FLASH, "requested"),
            )
        )
        ratio = int(10 * naive / flash) / 10
        splits = [at * decode.N // decode.SPLITS for at in range(decode.SPLITS + 1)]
        keys = [f">keys {first}–{end - 1}<" for first, end in zip(splits, splits[1:])]
        for name, expected in (
            (
                "hero",
                [f">{kilobytes(naive)} at least<", f">{kilobytes(flash)} at most<", f">at least {ratio:g}× fewer"],
            ),
            ("08_decode", keys),
            ("00_gpu", ["132 SMs", ">256 KB<", ">228 KB<", ": 50 MB<", "HBM: 80 GB, 3.35 TB/s"]),
        ):
            for path in PICTURES.glob(f"{name}.*.svg"):
                svg = path.read_text()
                self.assertEqual([words for words in expected if words not in svg], [], path.name)
