"""explorer/error_map.py: tiles of each matrix, the first wrong element in reading order, what stands around it; and
what replay.py cuts from the inputs, what is kept of a run's options, and what its first wrong row is made of."""

from __future__ import annotations

import array
import itertools
import json
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "explorer"))

import replay
from attention_numbers import wrong_row
from case import Case
from details import Details, Output
from error_map import error_map

TOLERANCE = 0.5


class ErrorMap(Case):
    def map_of(self, shape: list[int], length: int, wrong: dict[int, float], tile: int, rows: tuple = ()) -> dict:
        """Zeros are expected; `wrong`: elements that are something else, by flat index."""
        elements = math.prod(shape)
        actual = array.array("f", [0.0] * elements)
        for at, value in wrong.items():
            actual[at] = value
        checked = rows or range(elements // length)
        errors = [abs(actual[row * length + c]) for row in checked for c in range(length)]
        ratios = array.array("d", [error / TOLERANCE for error in errors])
        for name, values in (("actual", actual), ("expected", array.array("d", [0.0] * len(errors)))):
            (self.scratch / f"0.0.{name}").write_bytes(values.tobytes())
        (self.scratch / "0.0.ratio").write_bytes(ratios.tobytes())
        if rows:
            (self.scratch / "0.0.rows").write_bytes(array.array("Q", rows).tobytes())
        worst = max(range(len(errors)), key=lambda i: math.inf if math.isnan(errors[i]) else errors[i])
        row, column = checked[worst // length], worst % length
        about = {"tensor": "O", "shape": shape, "row_length": length, "max_abs": errors[worst], "tolerance": TOLERANCE}
        about |= {"worst_row": row, "worst_column": column}
        return error_map(Output(self.scratch, 0, 0, about), tile)

    def test_first_in_reading_order(self) -> None:
        """Kills: the worst as the first. Row 10, column 2 is worse and further left than row 9, column 35."""
        head = 20 * 40
        made = self.map_of([1, 2, 20, 40], 40, {head + 9 * 40 + 35: 1.0, head + 10 * 40 + 2: 9.0}, 8)
        self.assertEqual([made[key] for key in ("matrices", "grid_rows", "grid_columns")], [2, 3, 3])
        self.assertEqual(made["first_wrong"], 1 * 9 + 1 * 3 + 2)
        self.assertEqual((made["first"]["row"], made["first"]["column"]), (29, 35))
        self.assertEqual((made["worst"]["row"], made["worst"]["column"]), (30, 2))
        self.assertEqual(made["ratios"], [0.0] * 12 + [18.0, 0.0, 2.0] + [0.0] * 3)
        self.assertEqual((made["first"]["first_row"], made["first"]["first_column"]), (27, 32))
        self.assertEqual(made["first"]["actual"][2][3], 1.0)
        self.assertEqual(made["first"]["wrong"][2][2:4], [False, True])
        self.assertNotIn("first", self.map_of([2, 3, 20, 40], 40, {}, 8), "all is right")

    def test_not_a_number_is_worst_and_stays(self) -> None:
        """Kills: a NaN that a larger number replaces, a window that leaves the matrix."""
        made = self.map_of([16, 16], 16, {5: math.nan, 6: 100.0}, 0)
        self.assertEqual(made["ratios"], ["nan"])
        self.assertEqual((made["first"]["column"], made["first"]["first_row"]), (5, 0))
        self.assertEqual(made["first"]["actual"][0][3:5], ["nan", 100.0])

    def test_rows_that_were_not_checked(self) -> None:
        made = self.map_of([40, 10], 10, {21 * 10 + 3: 1.0, 30 * 10: 7.0}, 8, rows=(1, 20, 21))
        self.assertEqual(made["ratios"][1:4], [-1.0, 2.0, -1.0], "nobody looks at row 30")
        self.assertEqual((made["first_wrong"], made["first"]["row"]), (2, 21))
        self.assertEqual(made["first"]["expected"][0][0], "nan", "row 19 was not checked")
        self.assertEqual(made["first"]["expected"][1][0], 0.0)

    def test_a_statistic_has_one_column_and_large_outputs_have_larger_tiles(self) -> None:
        for shape, wrong, tiles in (([1, 2, 50], 50 + 40, [2, 50, 1, 4, 16]), ([4096, 1], 4000, [1, 4096, 1, 32, 128])):
            made = self.map_of(shape, 1, {wrong: 2.0}, 16)
            expected = dict(zip(("matrices", "rows", "columns", "grid_rows", "tile_rows"), tiles))
            self.assertEqual({key: made[key] for key in expected}, expected)
            rows, tile = tiles[1], tiles[4]
            self.assertEqual(made["first_wrong"], wrong // rows * tiles[3] + wrong % rows // tile)


class Cut(Case):
    def test_what_the_shorter_problem_has_too(self) -> None:
        """Kills: rows of another head, an axis that is not cut. Each axis that counts tokens, wherever it stands."""
        for letters, shape in (("BHNd", [2, 3, 5, 4]), ("BNHd", [2, 5, 3, 4]), ("BHNN", [2, 3, 5, 5]), ("Hd", [3, 4])):
            places = list(itertools.product(*map(range, shape)))
            values = array.array("f", range(len(places)))
            expected = [
                value
                for value, place in zip(values, places)
                if all(at < 2 for letter, at in zip(letters, place) if letter in "NM")
            ]
            file = replay.cut(values, {"letters": letters, "shape": shape}, 2)
            header, data = file[10 : 10 + int.from_bytes(file[8:10], "little")], array.array("f")
            data.frombytes(file[10 + len(header) :])
            self.assertEqual(list(data), expected, letters)
            short = tuple(2 if letter in "NM" else extent for letter, extent in zip(letters, shape))
            self.assertIn(f"'shape': {short}", header.decode().replace(",)", ")"))

    def test_a_wrong_row_of_a_run(self) -> None:
        """Kills: keys behind the causal mask told as seen, and a replay in other tiles than the run had."""
        shape, zeros = [1, 1, 4, 2], [0.0] * 8
        tensors = [{"name": name, "letters": "BHNd", "shape": shape, "role": "input"} for name in "QKV"]
        about = {"tensor": "O", "shape": shape, "row_length": 2, "passed": False}
        options = "--tile-q 8 --seq 4 --causal --tile-k 2 --quiet --scale 0.5".split()
        run = {"kernels": [{"name": "k", "tensors": tensors, "outputs": [about]}], "plain_softmax": True, "hazards": 0}
        for name, kind, values in (
            ("actual", "f", zeros),
            ("expected", "d", zeros),
            ("ratio", "d", [*zeros[:5], 2.0, 9.0, 0.0]),  # of row 2, column 1 first
        ):
            (self.scratch / f"0.0.{name}").write_bytes(array.array(kind, values).tobytes())
        for name in "qkv":
            (self.scratch / f"{name}.npy").write_bytes(replay.npy(array.array("f", range(8)), shape))
        for causal, visible in ((True, 3), (False, 4)):
            own = {"causal": causal, "scale": 0.5, "arguments": options, "gpu": "a100"}
            (self.scratch / "run.json").write_text(json.dumps({**run, **own}))
            details = Details(self.scratch)
            scores = [0.5 * (4 * key * 2 + 5 * (key * 2 + 1)) for key in range(4)]
            expected = {"row": 2, "column": 1, "visible": visible, "scores": scores, "values": [1.0, 3.0, 5.0, 7.0]}
            self.assertEqual(wrong_row(details, 0), expected)
            self.assertEqual(details.kept(), "--tile-q 8 --causal --tile-k 2 --scale 0.5 --gpu a100".split())
