"""tools/ceilings: what it prints of its table, whether that is of these sources, and which loops it counts."""

from __future__ import annotations

import importlib.machinery
import importlib.util

from case import ROOT, Case
from lib import ceilings
from lib.nvcc import checksum_of, sources_and_headers

TOOL = ROOT / "tools/ceilings"
loader = importlib.machinery.SourceFileLoader("ceilings_tool", str(TOOL))
tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("ceilings_tool", loader))
loader.exec_module(tool)


def loop(number: int, parent: int, depth: int, line: str, count: int) -> dict:
    memory = [{"place": line, "space": "shared", "op": "load", "bits": 128, "segment": 0, "count": count}]
    return {"loop": number, "parent": parent, "depth": depth, "memory": memory}


class Ceilings(Case):
    def test_shares_of_the_peak(self) -> None:
        """Kills: a ratio upside down, a share above 1, the other of the two as the least."""
        row = {"fma": "1000", "wavefronts": "500", "slots": "1250"}
        shares = [share(row) for share in (ceilings.of_shared_memory, ceilings.of_slots, ceilings.least)]
        self.assertEqual(shares, [0.5, 0.8, 0.5])
        self.assertEqual(ceilings.of_shared_memory({**row, "wavefronts": "100"}), 1.0)
        self.assertEqual(ceilings.least({**row, "wavefronts": "100"}), 0.8)

    def test_what_was_measured_stands_beside_it(self) -> None:
        """Kills: a ratio upside down; a time with a mask, of another d or of a kernel that fp32 does not bound."""
        head = "# a run\n# roofs: hbm_bytes_per_s=4.8e+12 fp32_flop_per_s=6.69082e+13 sms=132\n"
        head += "# dim\tcausal\tkernel\tbound_by\tflop\tmedian_ms\n"
        rows = "64 0 a fp32 3.34541e13 1000\n64 1 a fp32 9 3\n128 0 a fp32 1 9\n64 0 b hbm 1 2\n"
        (self.scratch / "05_fa2.tsv").write_text(head + rows.replace(" ", "\t"))
        self.assertEqual(ceilings.measured(self.scratch), {"a": 0.5})
        self.assertEqual(ceilings.measured(self.scratch / "nothing"), {})

    def test_the_table_is_of_these_sources(self) -> None:
        """Kills: a kernel that was changed, and not compiled again; a header of a chapter that is not looked at."""
        sources = [str(ROOT / source) for chapter in tool.KERNELS for source in tool.sources_of(chapter)]
        self.assertIn(str(ROOT / "10_pipeline/tile.cuh"), sources_and_headers(sources))
        self.assertIn(checksum_of(sources), ceilings.read().title)
        self.assertEqual(
            [row["kernel"] for row in ceilings.read().records()],
            [name for chapter in tool.KERNELS.values() for functions in chapter.values() for name in functions],
        )

    def test_iterations_come_from_an_access_that_no_other_loop_has(self) -> None:
        """Kills: a line that stands in a loop around, too, as a measure; loops side by side that are counted twice."""
        loops = [loop(1, 0, 1, "a.cu:1", 1), loop(2, 1, 2, "a.cu:2", 4), loop(3, 1, 2, "a.cu:2", 4)]
        beside = {"place": "a.cu:2", "space": "shared", "op": "load", "loops": [2, 3], "source": {"requests": 80}}
        around = {"place": "a.cu:1", "space": "shared", "op": "load", "loops": [1, 2], "source": {"requests": 99}}
        self.assertEqual([tool.iterations_of(each, loops, [around, beside]) for each in loops], [0.0, 10.0, 10.0])

    def test_bytes_in_flight_are_of_the_way_that_was_taken(self) -> None:
        """Kills: the loop for rows that are not aligned, which stands deeper than the unrolled one that ran."""
        loops = [loop(1, 0, 1, "a.cu:1", 1), loop(2, 1, 2, "a.cu:2", 4), loop(3, 1, 2, "a.cu:3", 4)]
        for each in loops[:2]:
            each["memory"][0]["space"] = "global"
        for ran, numbers in (("a.cu:1", [1]), ("a.cu:2", [2]), ("a.cu:9", [2])):
            places = [{"place": ran, "space": "global", "op": "load"}]
            self.assertEqual([each["loop"] for each in tool.innermost_that_load(loops, places)], numbers, ran)
