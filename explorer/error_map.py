"""Where an output is wrong: its error in tiles, the first tile that is, and what stands around an element.

For the page; the verdict is the program's alone (common/verify/check.h).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from details import Output, number, worst_of

USUAL_TILE, MOST_TILES, MOST_TILES_ACROSS = 16, 4096, 32
AROUND_ROWS, AROUND_COLUMNS = 5, 7


@dataclass
class Grid:
    """A tensor as matrices of its last two dimensions, in tiles; a statistic has one column."""

    matrices: int
    rows: int
    columns: int
    tile_rows: int
    tile_columns: int
    grid_rows: int = 0
    grid_columns: int = 0

    def tile(self, row: int, column: int) -> int:
        down = row // self.rows * self.grid_rows + row % self.rows // self.tile_rows
        return down * self.grid_columns + column // self.tile_columns


def measure(shape: list[int], length: int, tile: int) -> Grid:
    """`tile`: the height of one, 0: chosen. Tiles grow until no more than a few thousand are left."""
    axis = len(shape) - 1 if length == 1 and shape[-1] != 1 else len(shape) - 2
    rows = 1 if len(shape) == 1 and length > 1 else shape[0] if len(shape) == 1 else shape[axis]
    grid = Grid(math.prod(shape) // (rows * length), rows, length, tile or USUAL_TILE, min(length, USUAL_TILE))
    while -(-rows // grid.tile_rows) > MOST_TILES_ACROSS:
        grid.tile_rows *= 2
    while -(-length // grid.tile_columns) > MOST_TILES_ACROSS:
        grid.tile_columns *= 2
    while True:
        grid.grid_rows, grid.grid_columns = -(-rows // grid.tile_rows), -(-length // grid.tile_columns)
        one_tile = grid.grid_rows == 1 and grid.grid_columns == 1
        if one_tile or grid.matrices * grid.grid_rows * grid.grid_columns <= MOST_TILES:
            return grid
        grid.tile_rows *= 2 if grid.grid_rows > 1 else 1
        grid.tile_columns *= 2 if grid.grid_columns > 1 else 1


def ratios(output: Output, grid: Grid) -> list[float]:
    """[matrices, grid_rows, grid_columns]: the worst error / tolerance; NaN: not a number; -1: not checked."""
    worst = [-1.0] * (grid.matrices * grid.grid_rows * grid.grid_columns)
    for r, row in enumerate(output.rows):
        for column in range(0, grid.columns, grid.tile_columns):
            first = r * grid.columns + column
            here = worst_of(output.ratio[first : min(first + grid.tile_columns, (r + 1) * grid.columns)])
            tile = grid.tile(row, column)
            if not here <= worst[tile] and not math.isnan(worst[tile]):
                worst[tile] = here
    return worst


def around(output: Output, grid: Grid, row: int, column: int) -> dict:
    """An element and its neighbors in its own matrix; what is expected in a row that was not checked is NaN."""
    rows, columns = min(grid.rows, AROUND_ROWS), min(grid.columns, AROUND_COLUMNS)
    matrix = row // grid.rows * grid.rows
    first_row = matrix + max(0, min(row - matrix - rows // 2, grid.rows - rows))
    first_column = max(0, min(column - columns // 2, grid.columns - columns))
    checked = {row: r for r, row in enumerate(output.rows) if first_row <= row < first_row + rows}
    seen: dict[str, list] = {"expected": [], "actual": [], "wrong": []}
    for here in range(first_row, first_row + rows):
        at = here * grid.columns + first_column
        seen["actual"].append([number(value) for value in output.actual[at : at + columns]])
        of = checked.get(here, -1) * grid.columns + first_column
        expected = output.expected[of : of + columns] if of >= 0 else [math.nan] * columns
        seen["expected"].append([number(value) for value in expected])
        seen["wrong"].append(
            [not ratio <= 1.0 for ratio in output.ratio[of : of + columns]] if of >= 0 else [False] * columns
        )
    return {"row": row, "column": column, "first_row": first_row, "first_column": first_column, **seen}


def error_map(output: Output, tile: int) -> dict:
    """As heat.js draws it."""
    about = output.about
    grid = measure(about["shape"], output.length, tile)
    made = {"tensor": about["tensor"], "shape": about["shape"], **vars(grid)}
    if "unwritten" in about:
        made["unwritten"] = about["unwritten"]
    made |= {"worst_error": about["max_abs"], "worst_tolerance": about["tolerance"]}
    made["ratios"] = [number(float(f"{ratio:.9g}")) for ratio in ratios(output, grid)]
    wrong = output.first_wrong()
    if wrong is not None:
        row, column = divmod(output.flat(wrong), output.length)
        made |= {"first_wrong": grid.tile(row, column), "first": around(output, grid, row, column)}
    made["worst"] = around(output, grid, about["worst_row"], about["worst_column"])
    return made
