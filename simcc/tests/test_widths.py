"""simcc --loops and simcc --widths: the loops of a disassembly, and counts as the machine code. The machine code is
that of two kernels of our own with patterns of accesses whose counters were published; what nvcc made of them is kept
as simcc --loops printed it (machine/), so nothing here needs nvcc. What is planted wrong must not be joined."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import unittest
from fractions import Fraction
from pathlib import Path

from support import HOME, SIMCC, TESTS, Case, Outcome, Program, Word, inline, marked_line, program, run

sys.path.insert(0, str(HOME))

from machine.disassembly import name_and_arguments, parse
from machine.facts import records_of
from machine.loops import find_loops
from machine.requests import Pattern, shared_cost
from machine.segments import Segment, counts_of_run

FOLDER = TESTS / "machine"
PRODUCT = program("machine/product")
ATTENTION = program("machine/attention")
FAST = inline("widths.fast", "__global__ void one() {}\nint main() { one<<<1, 1>>>(); }\n", "--fast")
SUMS = inline(
    "widths.sums",
    r"""#include <cuda_runtime.h>
__global__ void sums(float *y)
{
	__shared__ float x[66];
	for (int i = threadIdx.x; i < 66; i += 32)
		x[i] = i;
	__syncthreads();
	float sum = 0;
	for (int i = 1; i < 65; i++)
		sum += x[i - 1] + x[i] + x[i + 1]; // @three
	y[threadIdx.x] = sum;
}
int main()
{
	float *y;
	cudaMalloc(&y, 128);
	sums<<<1, 32>>>(y);
	return cudaDeviceSynchronize();
}
""",
)
CHOSEN = inline(
    "widths.chosen",
    r"""#include <cuda_runtime.h>
enum mode { FIRST, SECOND };
template <mode MODE> __global__ void chosen(int *y)
{
	y[threadIdx.x] = MODE; // @store
}
int main()
{
	int *y;
	cudaMalloc(&y, 128);
	chosen<SECOND><<<1, 32>>>(y);
	return cudaDeviceSynchronize();
}
""",
)
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
NVDISASM = os.environ.get("NVDISASM") or shutil.which("nvdisasm") or shutil.which("/usr/local/cuda/bin/nvdisasm")
ALL = (1 << 32) - 1


def records(name: str) -> list[dict]:
    return [json.loads(line) for line in (FOLDER / f"{name}.sm_89.jsonl").read_text().splitlines()]


def entry(loops: list[dict], place: str, op: str, bits: int) -> dict:
    """The first memory entry of that kind."""
    return next(
        each
        for record in loops
        for each in record["memory"]
        if (each["place"], each["op"], each["bits"]) == (place, op, bits)
    )


class Widths(Case):
    def widths(self, made: Program, loops: list[dict], *arguments: Word) -> Outcome:
        table = self.scratch / "loops.jsonl"
        table.write_text("".join(json.dumps(record) + "\n" for record in loops))
        return run([SIMCC, "--widths", table, "--json", made.started, *arguments], cpu_seconds=120)

    def joined(self, made: Program, loops: list[dict], *arguments: Word) -> dict:
        outcome = self.widths(made, loops, *arguments)
        self.assertEqual((outcome.status, outcome.err), (0, ""))
        return json.loads(outcome.out)

    def why_not(self, joined: dict) -> dict[str, str]:
        return {
            f"{each['place']} {each['op']}": each["not_joined"] for each in joined["places"] if "not_joined" in each
        }

    def line(self, source: str, mark: str) -> str:
        return f"{source}.cu:{marked_line(FOLDER / f'{source}.cu', mark)}"

    # ---- what was published ----

    def test_the_register_tiled_product_is_what_an_rtx_4090_counted(self) -> None:
        """At n = 4096: each block and step of 8 is the same, so what is counted at n = 64 goes 64^3 times."""
        joined = self.joined(PRODUCT, records("product"), 64)
        self.assertEqual(self.why_not(joined), {})
        load, times = joined["machine"]["shared"]["load"], (4096 // 64) ** 3
        self.assertEqual(load["requests"] * times, 167_772_160)
        self.assertEqual(load["conflicts"] * times, 503_316_480)
        self.assertEqual(load["excessive_wavefronts"] * times, 369_098_752)
        wavefronts = load["wavefronts"] + joined["machine"]["shared"]["store"]["wavefronts"]
        self.assertEqual(wavefronts * times, 1_006_632_960)
        self.assertEqual(joined["source"]["shared"]["load"]["requests"], 2048)

    def test_attention_is_what_an_l4_counted(self) -> None:
        """At N = 4096. A count is a k^2 + b k with k blocks: a for each tile of keys, b for each block."""
        counts = {k: self.joined(ATTENTION, records("attention"), 64 * k) for k in (1, 2, 3)}
        for joined in counts.values():
            self.assertEqual(self.why_not(joined), {})
        for side, op, metric, published in (
            ("machine", "load", "requests", 81_289_216),
            ("machine", "load", "wavefronts", 95_969_280),
            ("machine", "load", "conflicts", 14_680_064),
            ("machine", "store", "requests", 8_413_440),
            ("source", "load", "requests", 106_463_232),
        ):
            got = {k: joined[side]["shared"][op][metric] for k, joined in counts.items()}
            a = Fraction(got[2] - 2 * got[1], 2)
            b = got[1] - a
            self.assertEqual(got[3], 9 * a + 3 * b, "not of that form")
            self.assertEqual(64**2 * a + 64 * b, published, f"{side} {op} {metric}")

    # ---- what is wrong must not be joined ----

    def test_faults_in_the_machine_code_are_not_joined(self) -> None:
        b = self.line("product", "@b")
        tile = self.line("product", "@a tile")

        for place, op, bits, wrong, says in (
            (b, "load", 128, {"bits": 64}, "different words in an iteration, and instructions for 32"),
            (b, "load", 128, {"count": 15}, "different words in an iteration, and instructions for 60"),
            (b, "load", 128, {"place": "product.cu:1"}, "no instruction has this line"),
            (b, "load", 128, {"segment": 7, "count": 15}, "an unknown number of times"),
            (tile, "store", 32, {"count": 16}, "words are stored"),
            # Neighboring lanes have neighboring words: no lane has four.
            (tile, "store", 32, {"bits": 128, "count": 2}, "no words of this line lie as an instruction of 16 bytes"),
        ):
            with self.subTest(says):
                loops = records("product")
                entry(loops, place, op, bits).update(wrong)
                joined = self.joined(PRODUCT, loops, 64)
                self.assertIn(says, self.why_not(joined).get(f"{place} {op}", "joined"))
                self.assertNotIn(op, joined["machine"]["shared"], "a sum of what is not known")

    def test_faults_in_unrolled_loops_are_not_joined(self) -> None:
        def wider(each: dict) -> None:
            each["bits"] = 128 if each["bits"] == 64 else each["bits"]

        def an_instruction_more(each: dict) -> None:
            each["count"] += 1

        for mark, change in (("@a", wider), ("@again", an_instruction_more)):
            with self.subTest(mark):
                place, loops = self.line("attention", mark), records("attention")
                for each in (each for record in loops for each in record["memory"] if each["place"] == place):
                    change(each)
                joined = self.joined(ATTENTION, loops, 64)
                self.assertIn(f"{place} load", self.why_not(joined))
                self.assertNotIn("load", joined["machine"]["shared"])

    def test_a_value_that_goes_from_iteration_to_iteration_is_not_guessed(self) -> None:
        """A sum of three neighbors, of which nvcc may load one and have two."""
        loop = {"arch": "sm_89", "kernel": "sums", "template": "", "line": "", "from": "", "lines": "", "mix": {}}
        loop.update(loop=1, parent=0, depth=1, instructions=1)
        place = (
            f"{SUMS.path.parent.joinpath('sources', 'widths.sums.cu').name}:{marked_line(SUMS.text or '', '@three')}"
        )
        loop["memory"] = [{"place": place, "space": "shared", "op": "load", "bits": 32, "segment": 0, "count": 1}]
        joined = self.joined(SUMS, [loop])
        self.assertIn("load words again that their lanes have accessed before", self.why_not(joined)[f"{place} load"])
        self.assertNotIn("load", joined["machine"].get("shared", {}))

    def test_a_kernel_that_is_not_there_is_said(self) -> None:
        joined = self.joined(PRODUCT, records("attention"), 64)
        self.assertEqual(set(self.why_not(joined).values()), {"no machine code of this kernel in the file"})
        self.assertEqual(joined["machine"], {})
        for parent in (1, 7):  # its own, or one that is not there
            loops = records("product")
            loops[1]["parent"] = parent
            why = set(self.why_not(self.joined(PRODUCT, loops, 64)).values())
            self.assertEqual(why, {"the file has not all loops around its loops"})
        twice = records("product") + [{**record, "arch": "sm_90"} for record in records("product")]
        self.assertIn("for several architectures", next(iter(self.why_not(self.joined(PRODUCT, twice, 64)).values())))

    def edited_tables(self) -> list[Path]:
        """The second loop's line with one value that no compiler makes."""
        made = []
        for number, (key, value) in enumerate(
            [("parent", -1), ("parent", "0"), ("loop", -1), ("kernel", 3), ("memory", {}), ("memory", [1])]
            + [("memory", [{"place": "a:1", "space": "shared", "op": "load", "bits": 0, "segment": 0, "count": 1}])]
        ):
            loops = records("product")
            loops[1][key] = value
            made.append(self.write(f"edited{number}", "".join(json.dumps(record) + "\n" for record in loops)))
        return made

    def test_a_template_argument_that_is_an_enumerator(self) -> None:
        """The program calls it (mode)1, the machine code 1."""
        loop = {"arch": "sm_90", "kernel": "chosen", "template": "1", "line": "", "from": "", "lines": "", "mix": {}}
        loop.update(loop=0, parent=0, depth=0, instructions=1)
        place = f"widths.chosen.cu:{marked_line(CHOSEN.text or '', '@store')}"
        loop["memory"] = [{"place": place, "space": "global", "op": "store", "bits": 32, "segment": 0, "count": 1}]
        joined = self.joined(CHOSEN, [loop])
        self.assertEqual((joined["template"], self.why_not(joined)), ("(mode)1", {}))

    def test_what_cannot_be_used_is_one_line(self) -> None:
        table = FOLDER / "product.sm_89.jsonl"
        torn = self.write("torn", '{"arch":"sm_89"}\n')
        text = self.write("text", "int main() {}\n")
        edited = self.edited_tables()
        for arguments, status, says in (
            (["--widths"], 2, "simcc: expected: simcc --widths FILE.sass"),
            (["--widths", table], 2, "simcc: expected: simcc --widths FILE.sass"),
            (["--widths", table, self.scratch / "none"], 2, "No such file"),
            (["--widths", self.scratch / "none", PRODUCT.started], 2, "none: No such file or directory"),
            (["--widths", torn, PRODUCT.started], 2, "torn:1: expected a line of simcc --loops, with a key kernel"),
            *(
                (["--widths", path, PRODUCT.started], 2, f"{path.name}:2: expected a line of simcc --loops")
                for path in edited
            ),
            (["--widths", text, PRODUCT.started], 2, "text: expected what `nvdisasm -gi -c FILE.cubin` prints"),
            (["--widths", table, FAST.started], 2, "wrote no trace"),
            (["--widths", table, "false"], 1, "false ended with status 1"),
            (["--loops"], 2, "simcc: expected: simcc --loops FILE.sass"),
            (["--loops", text], 2, "text: expected what"),
        ):
            with self.subTest(says):
                outcome = run([SIMCC, *arguments])
                self.assertEqual((outcome.status, outcome.out), (status, ""))
                self.assertIn(says, outcome.err)
                if "trace" not in says:
                    self.assertEqual(outcome.err.count("\n"), 1, outcome.err)

    def test_the_table_for_people_names_what_is_joined_and_what_is_not(self) -> None:
        loops = records("product")
        entry(loops, self.line("product", "@b"), "load", 128)["count"] -= 1
        table = self.write("loops.jsonl", "".join(json.dumps(record) + "\n" for record in loops))
        outcome = run([SIMCC, "--widths", table, PRODUCT.started, 64])
        self.assertEqual((outcome.status, outcome.err), (0, ""))
        self.assertIn("launch 0, product<64, 8, 8>, sm_89\n", outcome.out)
        self.assertRegex(outcome.out, r"\n  shared load conflicts +4,096 +not known\n")
        self.assertRegex(outcome.out, r"\n  shared store requests +256 +256\n")
        self.assertIn("shared load: 8 x 32 bits, 16 x 128 bits: merged, 8 read again\n", outcome.out)
        self.assertIn("shared load: 15 x 128 bits: NOT JOINED: ", outcome.out)

    # ---- the parts ----

    @unittest.skipUnless(NVCC and NVDISASM, "nvcc and nvdisasm are not both here: machine/ was not made again")
    def test_the_kept_loops_are_what_nvcc_makes(self) -> None:
        release = subprocess.run([NVCC, "--version"], capture_output=True, text=True, check=True).stdout
        if "V13.0.88" not in release:
            self.skipTest("nvcc is not V13.0.88, with which machine/ was made")
        for name in ("product", "attention"):
            cubin, text = self.scratch / "cubin", self.scratch / "sass"
            source = FOLDER / f"{name}.cu"
            options = ["-std=c++17", "-O3", "-lineinfo", "-arch=sm_89", "-cubin", "-o", cubin]
            self.assertEqual(run([NVCC, *options, source]).status, 0)
            text.write_text(run([NVDISASM, "-gi", "-c", cubin]).out)
            made = run([SIMCC, "--loops", text])
            self.assertEqual((made.status, made.err), (0, ""))
            self.expect_equal(made.out, (FOLDER / f"{name}.sm_89.jsonl").read_text(), f"{name}.sm_89.jsonl")

    def test_loops_of_a_disassembly(self) -> None:
        """An outer loop that is left by a CALL of a label, an inner one unrolled by two, its remainder; a function that
        returns; a trap behind the end that nothing reaches."""
        program = parse((FOLDER / "loops.sass").read_text())
        self.assertEqual(program.architecture, "sm_80")
        (section,) = program.sections
        graph = find_loops(section)
        self.assertEqual(graph.trouble, "")
        self.assertEqual(
            [(loop.number, loop.parent, loop.depth) for loop in graph.loops],
            [(0, 0, 0), (1, 0, 1), (2, 1, 2), (3, 1, 2)],
        )
        outside, outer, unrolled, rest = records_of(program)
        self.assertEqual(unrolled["mix"], {"BRA": 1, "FFMA": 2, "LDS.64": 1})
        self.assertEqual(rest["mix"], {"BRA": 1, "FFMA": 1, "LDS.32": 1})
        self.assertEqual((unrolled["line"], rest["line"]), ("own.cuh:7", "own.cuh:7"))
        self.assertEqual((unrolled["from"], unrolled["lines"]), ("own.cu:12", "own.cu:12-12"))
        self.assertEqual(outer["mix"], {"BAR": 1, "BRA": 3, "CALL": 1, "STS.128": 1})
        self.assertEqual([(each["op"], each["bits"], each["segment"]) for each in outer["memory"]], [("store", 128, 0)])
        self.assertEqual(outside["mix"].get("STG.32"), 1)
        (store,) = outside["memory"]
        self.assertNotEqual(store["segment"], 0, "it has a predicate")

    def test_what_an_iteration_waits_for_and_executes_at_least(self) -> None:
        """Kills: registers of a wide store that are not all looked at, a group of copies that is never waited for, ways
        whose loads are added up, the longer way. A loop: 4 loads of 4 bytes or 2 of 16, then 3 copies in two groups."""
        ways = {
            "narrow": "LDG.E R4, desc[UR4][R2.64] ; LDG.E R5, desc[UR4][R2.64+0x4] ; LDG.E R6, desc[UR4][R2.64+0x8] ; "
            "LDG.E R7, desc[UR4][R2.64+0xc] ; STS.128 [R20], R4 ; BRA `(.L_x_3) ;",
            "wide": "LDG.E.128 R4, desc[UR4][R2.64] ; LDG.E.128 R8, desc[UR4][R2.64+0x10] ; STS.128 [R20], R4 ; "
            "STS.128 [R20+0x10], R8 ;",
            "copies": "LDGSTS.E.BYPASS.128 [R20], desc[UR4][R2.64] ; LDGDEPBAR ; "
            "LDGSTS.E [R21], desc[UR4][R2.64], P2 ; LDGSTS.E [R22], desc[UR4][R2.64], P2 ; "
            "LDGDEPBAR ; DEPBAR.LE SB0, 0x1 ; LDG.E.64 R10, desc[UR4][R2.64] ; "
            "FFMA R12, R10, R11, R12 ; DEPBAR.LE SB0, 0x0 ; @P1 BRA `(.L_x_1) ; EXIT ;",
        }
        program = ' .target sm_90\n .section .text.kernel,"ax"\n .other kernel, STO_CUDA_ENTRY\n'
        program += ' //## File "own.cu", line 1\n'
        parts = [".L_x_1:", "@P0 BRA `(.L_x_2) ;", ways["narrow"], ".L_x_2:", ways["wide"], ".L_x_3:", ways["copies"]]
        address = 0
        for part in parts:
            for word in [part] if part.endswith(":") else part.split(" ; "):
                line = word if part.endswith(":") else f"        /*{address:04x}*/ {word.rstrip(' ;')} ;"
                address += 16
                program += f"{line}\n"
        _, loop = records_of(parse(program))
        self.assertEqual(loop["instructions"], 1 + 6 + 4 + 10)
        self.assertEqual(loop["least"], 1 + 4 + 10)
        self.assertEqual(loop["in_flight"], 32)
        without = program.replace("LDG.E.128 R8", "LDG.E.128 R4").replace("R20+0x10], R8", "R20+0x10], R4")
        self.assertEqual(records_of(parse(without))[1]["in_flight"], 16 + 8)

    def test_a_jump_to_nobody_knows_where_is_said(self) -> None:
        text = (FOLDER / "loops.sass").read_text().replace("@!P1 BRA `(.L_x_2) ;", "BRX R2 -0x40 ;")
        self.assertEqual({record["trouble"] for record in records_of(parse(text))}, {"a jump by BRX"})

    def test_names_and_template_arguments(self) -> None:
        for declaration, expected in (
            ("void fa2_row<64>(float const*, int)", ("fa2_row", "64")),
            ("plain(float*)", ("plain", "")),
            ("void a::b::kernel<4, (Mode)1, true>(int)", ("kernel", "4, 1, true")),
            ("void (anonymous namespace)::hidden<8>(int)", ("hidden", "8")),
        ):
            self.assertEqual(name_and_arguments(declaration), expected)

    def test_runs_divide_in_one_way_or_not_at_all(self) -> None:
        """Of pairs and singles: a body of 8 words, a smaller one of 2, one word peeled off; then a remainder loop."""
        body, small = Segment(2, 1, 0, ((4, 4), (8, 2))), Segment(3, 1, 0, ((4, 1), (8, 0)))
        peeled = Segment(1, 0, 5, ((4, 1),))
        parents = {0: 0, 1: 0, 2: 1, 3: 1}
        self.assertEqual(counts_of_run(16, [body, peeled], parents, 4), {((4, 8), (8, 4))})
        self.assertEqual(counts_of_run(17, [body, peeled], parents, 4), {((4, 9), (8, 4))})
        self.assertEqual(counts_of_run(18, [body, peeled], parents, 4), set())
        self.assertGreater(len(counts_of_run(16, [body, small], parents, 4)), 1)

    def test_the_rule_of_wide_loads(self) -> None:
        """As the engine counts them: test_counts has the same."""

        def cost(addresses: list[int], width: int, op: str = "load", lanes: int = ALL) -> tuple[int, int, int]:
            active = tuple(lane for lane in range(32) if lanes >> lane & 1)
            pattern = Pattern(active, tuple(addresses[lane] - addresses[active[0]] for lane in active))
            made = shared_cost(pattern, addresses[active[0]] % 128, width, op)
            return made.wavefronts, made.ideal, made.conflicts

        self.assertEqual(cost([0] * 32, 16), (2, 4, 0))
        self.assertEqual(cost([0] * 32, 16, "store"), (4, 4, 0))
        self.assertEqual(cost([16 * lane for lane in range(32)], 16), (4, 4, 0))
        self.assertEqual(cost([16 * (lane // 2) for lane in range(32)], 16), (2, 4, 0))
        self.assertEqual(cost([32 * lane for lane in range(32)], 16), (8, 4, 4))
        self.assertEqual(cost([128 * lane for lane in range(32)], 4), (32, 1, 31))
        self.assertEqual(cost([8 * lane for lane in range(32)], 8, lanes=0xFFFF), (1, 1, 0))
