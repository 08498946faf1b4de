"""The diagrams: drawn again they are the same; what they count is what the programs count. And of all pictures what
can be read."""

from __future__ import annotations

import json
import re
import runpy
import xml.etree.ElementTree

from case import ROOT, Case, run
from lib import table
from lib.chapters import PROGRAMS
from lib.diagrams import decode, hero, loops, transformer
from lib.diagrams.run import RunError, traced
from lib.diagrams.svg import DARK, LIGHT, kilobytes
from svg import Picture

PICTURES = ROOT / "plots/pictures"
TOOL = ROOT / "tools/diagrams"


def counted(program: str, options: list[str]) -> dict[str, object]:
    done = run([ROOT / program, *options, "--json", "-"])
    return json.loads(done.out)["kernels"][0]["hbm"]


def luminance(color: str) -> float:
    """As WCAG has it."""
    shares = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return sum(part * value for part, value in zip((0.2126, 0.7152, 0.0722), linear))


def total(count: dict[str, int]) -> int:
    return sum(count.values())


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

    def test_the_check_finds_what_cannot_be_read(self) -> None:
        """Words of gnuplot: where a g has them, or turned."""

        def word(text: str, place: str = "translate(10.0,50.0)", size: float = 13) -> str:
            return f'<g transform="{place}" font-size="{size}" text-anchor="middle"><text>{text}</text></g>'

        upwards = word("upwards", "translate(20.0,100.0) rotate(270)")
        for body, found in (
            (word("good", "translate(40.0,50.0)") + word("too", "translate(90.0,50.0)", 12), []),
            (word("i", size=11.9), ['"i" has 11.9 pixels']),
            (word("i", size=14.1), ['"i" has 14.1 pixels']),
            (word("left"), ['"left" leaves the picture']),
            (word("low", "translate(20.0,199.0)"), ['"low" leaves the picture']),
            (word("right of it", "translate(390.0,50.0)"), ['"right of it" leaves the picture']),
            (word("i") + word("l", "translate(12.0,55.0)"), ['"l" lies on "i"']),
            (upwards + word("x", "translate(12.0,90.0)"), ['"x" lies on "upwards"']),
            (upwards + word("x", "translate(30.0,100.0)"), []),
        ):
            with self.subTest(body):
                svg = f'<svg viewBox="0 0 400 200" xmlns="http://www.w3.org/2000/svg">{body}</svg>'
                self.assertEqual(Picture(svg).problems(400), found)
                self.assertEqual(Picture(svg).problems(300), ["it is 400 pixels wide, not 300", *found])

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


class Numbers(Case):
    """What the diagrams say, beside what the programs count. (That they are drawn as ever is said above.)"""

    def test_loops_visit_each_tile_of_s_once_and_move_the_bytes_that_are_counted(self) -> None:
        for program, options, kernel, along in (
            ("04_fa1/fa1", loops.FA1, "fa1_paper", "keys"),
            ("05_fa2/fa2", loops.FA2, "fa2_row", "keys"),
            ("06_backward/backward", loops.BACKWARD, "backward_dkdv", "queries"),
            ("06_backward/backward", loops.BACKWARD, "backward_dq", "keys"),
        ):
            accesses = traced(ROOT / program, options)
            steps = loops.steps([access for access in accesses if access.kernel == kernel])
            visited = [(i, j) for step in steps for i in range(*step.queries) for j in range(*step.keys)]
            tiles = range(loops.TILES)
            self.assertEqual(sorted(visited), [(i, j) for i in tiles for j in tiles], kernel)
            for block in {step.block for step in steps}:  # each comes to its tiles in their order
                order = [getattr(step, along)[0] for step in steps if step.block == block]
                self.assertEqual(order, list(tiles), kernel)
            if options is loops.BACKWARD:
                continue
            drawn = loops.moved(accesses)
            asked = {tensor["name"]: tensor["requested"] for tensor in counted(program, options)["tensors"]}
            stored = "stored" if kernel == "fa1_paper" else "output"  # only FlashAttention-1 loads it again
            self.assertEqual(loops.has(accesses), ["loaded", stored])
            for name in "QKVO":
                self.assertEqual(drawn[name]["load"], asked[name]["read_bytes"], name)
                self.assertEqual(drawn[name]["store"], asked[name]["write_bytes"], name)

    def test_the_gpus_sizes_are_those_of_its_data_sheet(self) -> None:
        """NVIDIA H100 SXM: 132 SMs, 256 KB of registers and 228 KB of shared memory each, 50 MB of L2, 80 GB."""
        svg = (PICTURES / "00_gpu.wide.light.svg").read_text()
        for words in ("132 SMs", ">256 KB<", ">228 KB<", ": 50 MB<", "HBM: 80 GB, 3.35 TB/s"):
            self.assertIn(words, svg)


class Transformer(Case):
    def test_the_steps_add_up_to_what_the_run_asked_for_or_are_refused(self) -> None:
        run_of_it = ROOT / "plots/data/sim/07_answers.json"
        moved = transformer.of_the_run(run_of_it)
        layer = transformer.layer_of(moved)
        whole = transformer.LAYERS * sum(step.bytes for step in layer) + sum(step.bytes for step in transformer.LAST)
        self.assertAlmostEqual(whole, sum(sum(kinds.values()) for kinds in moved.values()), delta=10)
        weights = json.loads(run_of_it.read_text())["answers"][0]["weights_bytes"]
        drawn = transformer.LAYERS * sum(step.weights for step in layer) + sum(s.weights for s in transformer.LAST)
        self.assertEqual(drawn, weights)
        moved["project"]["weights"] *= 1.01
        with self.assertRaisesRegex(RunError, "project: weights of"):
            transformer.layer_of(moved)

    def test_heads_read_their_groups_keys(self) -> None:
        reads = transformer.groups(traced(ROOT / "07_transformer/transformer", transformer.STRIDED))
        self.assertEqual(reads, {head: head // 3 for head in range(9)})


class Decode(Case):
    def test_it_shows_every_split_every_piece_of_a_page_and_the_bytes(self) -> None:
        """Split s has the keys from s n / S to (s + 1) n / S - 1, and looks up each page that it touches once."""
        drawn, parts = decode.moved(ROOT), decode.splits(ROOT)
        counts = counted("08_decode/decode", decode.options(decode.SPLITS))
        for op, column in (("load", "read_bytes"), ("store", "write_bytes")):
            self.assertEqual(sum(of_name[op] for of_name in drawn.values()), counts["requested"][column])
        self.assertEqual(drawn["m, l, O"]["load"], drawn["m, l, O"]["store"])
        for name, svg in decode.draw(ROOT).items():
            for split, part in enumerate(parts):
                first, end = (at * decode.N // decode.SPLITS for at in (split, split + 1))
                self.assertEqual(part.keys, list(range(first, end)))
                self.assertEqual(part.words, list(range(first // decode.PAGE, -(-end // decode.PAGE))))
                self.assertIn(f">block {split}<", svg, name)
                self.assertIn(f">keys {first}–{end - 1}<", svg, name)
                self.assertEqual(svg.count(f">{split}<"), 2 * len(part.words), name)
            self.assertEqual(svg.count(">m, l, O<"), decode.SPLITS + 1, name)  # and their bar
            for words in (">query Q<", ">merge<", ">output O<", f">{kilobytes(total(drawn['K, V']))}, once<"):
                self.assertIn(words, svg, name)


class Hero(Case):
    def test_the_numbers_are_those_that_the_programs_count(self) -> None:
        """Kills: a ratio that is rounded up, bytes that are no dot or two, a tile of S that is never shown, an end that
        who wants no motion does not see."""
        naive = total(counted("01_naive/naive", hero.NAIVE)["footprint"])
        flash = total(counted("05_fa2/fa2", hero.FLASH)["requested"])
        for svg in hero.draw(ROOT).values():
            for words in (f">{kilobytes(naive)} at least<", f">{kilobytes(flash)} at most<", ">memory: N, not N²<"):
                self.assertEqual(svg.count(words), 1, words)
            ratio = float(re.search(r">at least ([\d.]+)× fewer bytes<", svg)[1])
            self.assertTrue(ratio <= naive / flash < ratio + 0.1, naive / flash)
            dots = len(re.findall(r'<circle [^>]*class="[uv]"', svg))
            self.assertEqual(dots, sum(-(-moved // hero.DOT) for moved in (naive, flash)))
            sweep = next(rule for rule in svg.split("@keyframes ") if rule.count("translate(") > 20)
            places = {*re.findall(r"translate\(([\d.]+)px,([\d.]+)px\)", sweep)}
            self.assertEqual(len(places), (hero.N // hero.TILE) ** 2)
            self.assertIn("@media (prefers-reduced-motion:reduce){.a,.u,.v{animation:none}}", svg)
            self.assertNotRegex(svg, "<script|<animate")
