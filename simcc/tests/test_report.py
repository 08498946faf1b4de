"""sim_report(path): a program that says itself where the records of its launches go (report.cu); and what is said of a
kernel whose name is long."""

from __future__ import annotations

import json
from math import gcd
from pathlib import Path
from typing import Any

from support import FIRST, RUNNER, Case, Outcome, Program, inline, marked_line, program, run, simcc

REPORT = program("report")
FAST = program("report", "--fast", name="report.fast")


def records(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def spell(text: str) -> list[str]:
    """ "one 2" for a launch of two threads of one, "racecheck" for a hazard."""
    return [f"{r['kernel']} {r['block'][0]}" if r["type"] == "launch" else r["tool"] for r in records(text)]


class SimReport(Case):
    def run_program(self, made: Program, **environment: str) -> tuple[Path, Outcome]:
        environment = {name: value.format(folder=self.scratch) for name, value in environment.items()}
        return self.scratch, made.run(self.scratch, **environment)

    def expect_files(self, folder: Path, out: str, hazards: list[str]) -> None:
        self.assertEqual(spell((folder / "first").read_text()), ["one 2", *hazards, "race 64"])
        self.assertEqual(spell((folder / "second").read_text()), ["one 4"])
        self.assertEqual(spell(out), ["one 8"])
        self.assertTrue(out.endswith("still open\n"), out)

    def test_each_record_goes_where_it_was_asked_for(self) -> None:
        folder, run = self.run_program(REPORT, SIM_THREADS="1")
        self.assertEqual(run.status, 1, run.err)  # the race
        self.assertNotIn("not so", run.err)
        self.expect_files(folder, run.out, ["racecheck"])

    def test_the_report_of_the_environment_keeps_what_it_has(self) -> None:
        folder, run = self.run_program(REPORT, SIM_REPORT="{folder}/asked", SIM_CHECK="none")
        self.assertEqual((run.status, run.err), (0, ""))
        self.assertEqual(spell((folder / "asked").read_text()), ["one 1"])
        self.expect_files(folder, run.out, [])

    def test_a_fast_program_has_records_too(self) -> None:
        folder, run = self.run_program(FAST)
        self.assertEqual((run.status, run.err), (0, ""))
        self.expect_files(folder, run.out, [])


# ---- SIM_* of a program that was built ----

CHECKS = "a comma list of memcheck, racecheck, initcheck, synccheck, leakcheck, all, none"
THREADS, SECONDS = "a number of CPU threads from 1 to 1024", "a number of seconds greater than 0"
FILE, MEGABYTES = "a file name, or - for standard output", "a number of megabytes from 1 to 65536"
# variable, values that are refused, what is said to be expected, values that are taken
VARIABLES = [
    ("GPU", ["", "gtx1060", "H100"], "a100, a100-80, h100, h200 or rtx4090", ["a100-80", "h200"]),
    ("CHECK", ["", "memchek", "memcheck,", "a" * 255], CHECKS, ["none," * 47 + "all," * 4 + "none", "leakcheck"]),
    ("CHECK", ["none," * 48 + "all," * 3 + "none"], "a shorter list", []),
    ("ORDER", ["", "backwards", "shuffled"], "forward, reverse or shuffle:SEED", ["shuffle", "reverse"]),
    ("ORDER", ["shuffle:", "shuffle:x", "shuffle:-1", "shuffle:1x", f"shuffle:{1 << 64}"], "a number after shuffle:",
     ["shuffle:0", f"shuffle:{(1 << 64) - 1}"]),
    ("THREADS", ["", "0", "two", "1025", "2.5"], THREADS, ["1", "1024"]),
    ("TIMEOUT", ["", "never", "0", "-1", "1e6", "nan", "5s"], SECONDS, ["0.5", "999999"]),
    ("REPORT", [""], FILE, []),
    ("TRACE", [""], FILE, []),
    ("TRACE_LIMIT", ["", "0", "65537", "all"], MEGABYTES, ["1", "65536"]),
    ("TRACE_REQUESTS", ["", "2", "yes"], "0 or 1", ["0", "1"]),
]  # fmt: skip


class Variables(Case):
    def test_what_a_variable_takes(self) -> None:
        """Kills: a bound that is off by one, and a value that is taken for another one in silence."""
        for name, refused, expected, taken in VARIABLES:
            for value in refused:
                run = REPORT.run(self.scratch, **{f"SIM_{name}": value})
                said = f"SIM_{name}={value}: expected {expected}\n"
                self.expect_equal((run.status, run.out, run.err), (2, "", said), f"{name}={value}")
            for value in taken:
                run = REPORT.run(self.scratch, **{f"SIM_{name}": value})
                self.expect(run.status != 2 and "expected" not in run.err, f"{name}={value}: {run.err}")


# ---- the order of blocks ----

BLOCKS = inline(
    "blocks",
    """#include <cstdio>
__global__ void tell() { printf("%u ", blockIdx.x); }
int main()
{
	for (int blocks = 1; blocks < 40; blocks++) {
		tell<<<blocks, 1>>>();
		cudaDeviceSynchronize();
		puts("");
	}
}
""",
)


# Two copies per thread, each looked at before it has been waited for: 1 where it had arrived, -1 where it had not.
ARRIVALS = inline(
    "arrivals",
    """#include <cstdio>
#include <cuda_pipeline.h>
__device__ int one = 1;
__global__ void look()
{
	__shared__ volatile int s[2][64];
	int t = threadIdx.x;
	for (int i = 0; i < 2; i++)
		__pipeline_memcpy_async((int *)&s[i][t], &one, 4);
	printf("%02d %d %d\\n", t, s[0][t], s[1][t]);
}
int main()
{
	look<<<1, 64>>>();
	return cudaDeviceSynchronize();
}
""",
)

PRINTS = inline(
    "prints",
    """#include <cstdio>
#include <cstdlib>
__global__ void print(int length, int times)
{
	for (int i = 0; i < times; i++)
		if (printf("%0*d\\n", length - 1, i) != length)
			printf("another length\\n");
	printf("x");
	printf("y\\n");
}
int main(int, char **argv)
{
	print<<<1, 1>>>(atoi(argv[1]), atoi(argv[2]));
	return cudaDeviceSynchronize();
}
""",
)


def mixed(number: int) -> int:
    return number * 0x9E3779B97F4A7C15 % (1 << 64)


def shuffled(total: int, seed: int) -> list[int]:
    """Steps of the first number from mixed % total on that is prime to total."""
    start = mixed(seed + 1)
    step = next(step for step in range(start % total, 2 * total) if gcd(step, total) == 1)
    return [(number * step + (start >> 32)) % total for number in range(total)]


class Orders(Case):
    def test_each_order_is_the_same_everywhere(self) -> None:
        """Kills: a block that runs twice or never, and a seed that names another order than it did."""
        orders = {"forward": lambda n: [*range(n)], "reverse": lambda n: [*reversed(range(n))]}
        orders |= {f"shuffle:{seed}": lambda n, seed=seed: shuffled(n, seed) for seed in (0, 1, 2, 7, (1 << 64) - 1)}
        for order, blocks in orders.items():
            told = BLOCKS.run(SIM_ORDER=order, SIM_THREADS="1").out.splitlines()
            self.assertEqual([[*map(int, line.split())] for line in told], [blocks(n) for n in range(1, 40)], order)

    def test_when_a_copy_arrives_that_nobody_has_waited_for(self) -> None:
        """Kills: shuffles in which all copies arrive at once, or none."""
        late = {"forward": lambda which: True, "reverse": lambda which: False}
        late |= {f"shuffle:{seed}": lambda which, seed=seed: mixed(seed ^ which) >> 63 for seed in (0, 1, 7)}
        for order, is_late in late.items():
            outcome = ARRIVALS.run(SIM_ORDER=order, SIM_CHECK="memcheck")
            seen = [[-1 if is_late(thread << 20 ^ copy) else 1 for copy in (0, 1)] for thread in range(64)]
            lines = [f"{thread:02} {first} {second}" for thread, (first, second) in enumerate(seen)]
            self.assertEqual(sorted(outcome.out.splitlines()), lines, order)


class Prints(Case):
    def test_lines_of_any_length_up_to_a_limit_of_all(self) -> None:
        """Kills: a byte that is lost where a line has just no room any more; more than 16 MB, or less."""
        for length, times, kept in ((511, 2, 2), (512, 2, 2), (2000, 2, 2), (1 << 20, 17, 16)):
            said = "".join(f"{i:0{length - 1}}\n" for i in range(kept)) + "xy\n" * (times == kept)
            told = PRINTS.run(str(length), str(times))
            self.assertTrue(told.out == said and told.status == 0, f"{length}: {len(told.out)} bytes")


# ---- a template's signature may be longer than the message: then its name says enough ----

SIGNATURES = [
    # template and parameters, launch, what is printed
    ("template <int A>\n__global__ void wide(int *y)", "wide<8><<<1, 1>>>(y)", "void wide<8>(int*)"),
    (
        "template <int A, int B, class T>\n__global__ void multiply(T *y, const T *, const T *, T, T, T)",
        "multiply<8, 16, int><<<1, 1>>>(y, y, y, 1, 2, 3)",
        "multiply<8, 16, int>",
    ),
    (
        "template <class A, class B, class C>\n__global__ void multiply(int *y, A, B, C)",
        "multiply<unsigned long long, unsigned long long, long long><<<1, 1>>>(y, 1, 2, 3)",
        "multiply",
    ),
]
SIGNATURE_PROGRAM = """#include <cuda_runtime.h>
{head}
{{
	y[1000] = 1; // @store
}}
int main()
{{
	int *y;
	cudaMalloc(&y, 64);
	{launch};
}}
"""


class LongSignatures(Case):
    def test_long_signatures(self):
        for head, launch, printed in SIGNATURES:
            source = SIGNATURE_PROGRAM.format(head=head, launch=launch)
            self.write("long.cu", source)
            built = simcc(FIRST, ["long.cu", "-o", "long"], cwd=self.scratch)
            self.assertEqual(built.status, 0, built.err)
            outcome = run([*RUNNER, self.scratch / "long"])
            self.assertEqual(outcome.status, 1, outcome.err)
            at = next(line for line in outcome.err.splitlines() if line.startswith("=========     at "))
            self.assertEqual(at, f"=========     at {printed} in long.cu:{marked_line(source, '@store')}")
            self.assertLessEqual(len(at), 80, at)
