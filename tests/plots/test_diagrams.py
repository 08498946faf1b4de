"""The diagrams: drawn again they are the same bytes; what they count is what the programs count."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import sys
import unittest
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from case import ROOT, Case, run

sys.path.insert(0, str(ROOT / "tools"))
from lib.diagrams import decode, gpu, hero, loops, tiles, transformer
from lib.diagrams.run import RunError, traced
from lib.diagrams.svg import kilobytes

PICTURES = ROOT / "plots/pictures"
TOOL = ROOT / "tools/diagrams"


def counted(program: str, options: list[str]) -> dict[str, object]:
    done = run([ROOT / program, *options, "--json", "-"])
    return json.loads(done.out)["kernels"][0]["hbm"]


def total(count: dict[str, int]) -> int:
    return sum(count.values())


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

    def test_what_cannot_be_drawn_is_one_line(self) -> None:
        names = ", ".join(runpy.run_path(str(TOOL), run_name="diagrams")["DIAGRAMS"])
        refused = f"diagrams: villain: no such diagram, expected {names}\n"
        self.assertEqual(run([TOOL, "villain"]), (2, "", refused))
        tree = self.scratch / "tree"
        for part in ("tools", "simcc/machine"):
            shutil.copytree(ROOT / part, tree / part, ignore=shutil.ignore_patterns("__pycache__"))
        done = run([tree / "tools/diagrams"])
        self.assertEqual((done.status, done.out), (1, ""))
        self.assertEqual(done.err, "diagrams: naive: No such file or directory (make build)\n")
        self.assertFalse((tree / "plots").exists())


class Loops(Case):
    # program, its options, kernel of the trace, how many blocks, what a block goes along
    KERNELS = (
        ("04_fa1/fa1", loops.FA1, "fa1_paper", 1, "keys"),
        ("05_fa2/fa2", loops.FA2, "fa2_row", loops.TILES, "keys"),
        ("06_backward/backward", loops.BACKWARD, "backward_dkdv", loops.TILES, "queries"),
        ("06_backward/backward", loops.BACKWARD, "backward_dq", loops.TILES, "keys"),
    )

    def test_each_tile_of_s_is_visited_once(self) -> None:
        for program, options, kernel, blocks, along in self.KERNELS:
            trace = [access for access in traced(ROOT / program, options) if access.kernel == kernel]
            steps = loops.steps(trace)
            visited = [(i, j) for step in steps for i in range(*step.queries) for j in range(*step.keys)]
            tiles = range(loops.TILES)
            self.assertEqual(sorted(visited), [(i, j) for i in tiles for j in tiles], kernel)
            for block in range(blocks):  # each comes to its tiles in their order
                order = [getattr(step, along)[0] for step in steps if step.block == block]
                self.assertEqual(order, list(tiles), kernel)

    def test_the_bytes_are_those_that_the_programs_count(self) -> None:
        for program, options in (("04_fa1/fa1", loops.FA1), ("05_fa2/fa2", loops.FA2)):
            drawn = loops.moved(traced(ROOT / program, options))
            tensors = {tensor["name"]: tensor["requested"] for tensor in counted(program, options)["tensors"]}
            stored = "stored" if "fa1" in program else "output"  # only FlashAttention-1 loads it again
            self.assertEqual(loops.has(traced(ROOT / program, options)), ["loaded", stored])
            for name in "QKVO":
                asked = tensors[name]
                self.assertEqual(drawn[name]["load"], asked["read_bytes"], name)
                self.assertEqual(drawn[name]["store"], asked["write_bytes"], name)
            total = sum(sum(count.values()) for count in drawn.values())
            self.assertEqual(total, sum(sum(count.values()) for count in tensors.values()))


class Gpu(Case):
    def test_a_block_loads_a_tile_of_x_and_stores_it_transposed(self) -> None:
        trace = [a for a in traced(ROOT / "00_gpu/gpu", gpu.TRANSPOSE) if a.block == gpu.BLOCK]
        boxes = {access.tensor: gpu.box(access) for access in trace}
        row, column, end_row, end_column = boxes["x"]
        self.assertEqual((end_row - row, end_column - column), (32, 32))
        self.assertEqual((column // 32, row // 32, 0), gpu.BLOCK)
        self.assertEqual(boxes["y"], (column, row, end_column, end_row))

    def test_the_gpus_sizes_are_those_of_its_data_sheet(self) -> None:
        """NVIDIA H100 SXM: 132 SMs, 256 KB of registers and 228 KB of shared memory each, 50 MB of L2, 80 GB."""
        svg = (PICTURES / "00_gpu.wide.light.svg").read_text()
        for words in ("132 SMs", ">256 KB<", ">228 KB<", ": 50 MB<", "HBM: 80 GB, 3.35 TB/s"):
            self.assertIn(words, svg)
        self.assertEqual([gpu.size(n) for n in (512, 2048, 3 << 20)], ["512 B", "2 KB", "3 MB"])


class Transformer(Case):
    RUN = ROOT / "plots/data/sim/07_answers.json"

    def test_the_steps_add_up_to_what_the_run_asked_for(self) -> None:
        moved = transformer.of_the_run(self.RUN)
        layer = transformer.layer_of(moved)
        whole = transformer.LAYERS * sum(step.bytes for step in layer) + sum(step.bytes for step in transformer.LAST)
        self.assertAlmostEqual(whole, sum(sum(kinds.values()) for kinds in moved.values()), delta=10)
        weights = json.loads(self.RUN.read_text())["answers"][0]["weights_bytes"]
        drawn = transformer.LAYERS * sum(step.weights for step in layer) + sum(s.weights for s in transformer.LAST)
        self.assertEqual(drawn, weights)

    def test_steps_that_do_not_add_up_are_refused(self) -> None:
        moved = transformer.of_the_run(self.RUN)
        moved["project"]["weights"] *= 1.01
        with self.assertRaisesRegex(RunError, "project: weights of"):
            transformer.layer_of(moved)

    def test_keys_and_values_are_not_drawn_as_if_all_were_stored(self) -> None:
        """Of the bytes of keys and values a token stores one layer's row; the others are read."""
        layer = transformer.layer_of(transformer.of_the_run(self.RUN))
        stored = 4 * 3 * transformer.C_KV  # by W_k, W_v and rope
        self.assertLess(stored, 0.01 * sum(step.kv for step in layer))
        for svg in transformer.draw(ROOT).values():
            self.assertNotIn('class="w"', svg)

    def test_heads_read_their_groups_keys(self) -> None:
        reads = transformer.groups(traced(ROOT / "07_transformer/transformer", transformer.STRIDED))
        self.assertEqual(reads, {head: head // 3 for head in range(9)})


class Decode(Case):
    @classmethod
    def setUpClass(cls) -> None:
        cls.parts = decode.splits(ROOT)
        cls.rows = decode.rows_of_keys(ROOT)
        cls.trace = traced(ROOT / "08_decode/decode", decode.options(decode.SPLITS))

    def test_each_key_is_read_by_one_split(self) -> None:
        """Split s has the keys from s n / S to (s + 1) n / S - 1, and looks up each page that it touches once."""
        for split, part in enumerate(self.parts):
            first, end = (at * decode.N // decode.SPLITS for at in (split, split + 1))
            self.assertEqual(part.keys, list(range(first, end)))
            self.assertEqual(part.words, list(range(first // decode.PAGE, -(-end // decode.PAGE))))

    def test_pages_are_whole_and_not_in_order(self) -> None:
        places = [row // decode.PAGE for row in self.rows[:: decode.PAGE]]
        self.assertEqual(sorted(places), list(range(decode.PAGES)))
        self.assertNotEqual(places, sorted(places))
        in_pages = [places[key // decode.PAGE] * decode.PAGE + key % decode.PAGE for key in range(decode.N)]
        self.assertEqual(self.rows, in_pages)

    def test_each_split_reads_the_query_and_leaves_what_the_merge_reads(self) -> None:
        self.assertEqual(decode.loads(self.trace, "Q", 4 * decode.D), {s: [0] for s in range(decode.SPLITS)})
        for name, row in (("O of splits", 4 * decode.D), ("m of splits", 4), ("l of splits", 4)):
            accesses = [access for access in self.trace if access.tensor == name]
            stores = {access.block[1]: access.ranges for access in accesses if access.op == "store"}
            self.assertEqual(stores, {s: ((s * row, (s + 1) * row),) for s in range(decode.SPLITS)}, name)
            read = [(access.kernel, access.ranges) for access in accesses if access.op == "load"]
            self.assertEqual(read, [("merge_splits", ((0, decode.SPLITS * row),))], name)

    def test_it_shows_every_block_every_piece_of_a_page_and_the_bytes(self) -> None:
        drawn = decode.moved(ROOT)
        counts = counted("08_decode/decode", decode.options(decode.SPLITS))
        for op, column in (("load", "read_bytes"), ("store", "write_bytes")):
            self.assertEqual(sum(of_name[op] for of_name in drawn.values()), counts["requested"][column])
        self.assertEqual(drawn["m, l, O"]["load"], drawn["m, l, O"]["store"])
        for name, svg in decode.draw(ROOT).items():
            for split, part in enumerate(self.parts):
                self.assertIn(f">block {split}<", svg, name)
                self.assertIn(f">keys {part.keys[0]}–{part.keys[-1]}<", svg, name)
                self.assertEqual(svg.count(f">{split}<"), 2 * len(part.words), name)
            self.assertEqual(svg.count(">m, l, O<"), decode.SPLITS + 1, name)  # and their bar
            for words in (">query Q<", ">merge<", ">output O<", f">{kilobytes(total(drawn['K, V']))}, once<"):
                self.assertIn(words, svg, name)
            bars = re.findall(r'height="15" class="(\w)"', svg)  # the bytes: K, V; m, l, O; Q; table; O
            self.assertEqual(bars, ["r", "w", "r", "r", "r", "o"], name)


class Tiles(Case):
    def test_a_blocks_tiles_cover_a_strip_of_a_and_of_b(self) -> None:
        for kernel, side, depth in (
            ("matmul_coalesced", 32, 256),
            ("matmul_tiled", 32, 32),
            ("matmul_registers", 128, 8),
        ):
            options = ["--kernel", kernel, "--m", "256", "--n", "256", "--k", "256"]
            boxes = tiles.of_a_block(traced(ROOT / "03_tiled_matmul/tiled_matmul", options))
            last = 256 - side
            self.assertEqual(boxes["C"], [(last, last, 256, 256)], kernel)
            steps = range(0, 256, depth)
            self.assertEqual(boxes["A"], [(last, at, 256, at + depth) for at in steps], kernel)
            self.assertEqual(boxes["B"], [(at, last, at + depth, 256) for at in steps], kernel)


class Hero(Case):
    @classmethod
    def setUpClass(cls) -> None:
        cls.variants = hero.draw(ROOT)

    def test_the_numbers_are_those_that_the_programs_count(self) -> None:
        """Kills: a ratio that is rounded up, bytes that are no dot or two, a tile of S that is never shown."""
        naive = total(counted("01_naive/naive", hero.NAIVE)["footprint"])
        flash = total(counted("05_fa2/fa2", hero.FLASH)["requested"])
        for svg in self.variants.values():
            for words in (f">{kilobytes(naive)} at least<", f">{kilobytes(flash)} at most<", ">memory: N, not N²<"):
                self.assertEqual(svg.count(words), 1, words)
            ratio = float(re.search(r">at least ([\d.]+)× fewer bytes<", svg)[1])
            self.assertTrue(ratio <= naive / flash < ratio + 0.1, naive / flash)
            dots = len(re.findall(r'<circle [^>]*class="[uv]"', svg))
            self.assertEqual(dots, sum(-(-moved // hero.DOT) for moved in (naive, flash)))
            sweep = next(rule for rule in svg.split("@keyframes ") if rule.count("translate(") > 20)
            places = {*re.findall(r"translate\(([\d.]+)px,([\d.]+)px\)", sweep)}
            self.assertEqual(len(places), (hero.N // hero.TILE) ** 2)

    def test_every_byte_of_the_matrices_appears_once_for_each_kernel(self) -> None:
        events = hero.naive_events(traced(ROOT / "01_naive/naive", hero.NAIVE))
        for tensor, op in (("S", "writes"), ("S", "reads"), ("P", "writes"), ("P", "reads"), ("O", "writes")):
            rows = [rows for event in events for rows in getattr(event, op) if rows.tensor == tensor]
            covered = sorted((r.first, r.end) for r in rows)
            edges = [0, *(end for _, end in covered)]
            self.assertEqual([first for first, _ in covered], edges[:-1], f"{tensor} {op}")
            self.assertEqual(edges[-1], hero.N)

    def test_without_motion_the_end_is_shown(self) -> None:
        for svg in self.variants.values():
            self.assertIn("@media (prefers-reduced-motion:reduce){.a,.u,.v{animation:none}}", svg)
            self.assertNotIn("<script", svg)
            self.assertNotIn("<animate", svg)
            self.assertLess(len(svg.encode()), 150_000)
            self.assertRegex(svg, r"<title [^>]*>FlashAttention-2 moves [\d.]+ kB, naive attention [\d.]+ kB: ")

    def test_no_animation_is_without_its_element_or_the_other_way_round(self) -> None:
        for svg in self.variants.values():
            defined = re.findall(r"@keyframes (k\d+)", svg)
            used = re.findall(r"animation-name:(k\d+)", svg)
            self.assertEqual(sorted(defined), sorted(set(defined)))
            self.assertEqual(set(defined), set(used))


if __name__ == "__main__":
    unittest.main()
