"""Launches a GPU would not accept. The simulated device says why. If the program never asks for the error, that is an
error, told at its end with the line of the launch. programs/ has such launches whose errors are asked for: silently."""

from __future__ import annotations

import re

from support import Case, Part, Program, inline, marked_line, together

HEAD = r"""#include <cuda_runtime.h>
#include <sim.h>
#include <stdio.h>
__global__ void one(int *y) { y[threadIdx.x] = 1; }
__global__ void shared(int *y)
{
	__shared__ int fixed[256];
	extern __shared__ int more[];
	more[threadIdx.x] = fixed[threadIdx.x] = 1;
	y[threadIdx.x] = more[threadIdx.x];
}
template <int N>
__global__ void large(int *y)
{
	__shared__ int fixed[N];
	y[0] = fixed[N - 1] = 1;
}
static void asked(void)
{
	const cudaError_t error = cudaGetLastError();
	printf("%s: %s\n", cudaGetErrorName(error), error && sim_refusal() ? sim_refusal() : "-");
}
int main()
{
	int *y;
	cudaMalloc(&y, 4096);
	cudaDeviceProp gpu;
	(void)shared, (void)asked, (void)gpu;
"""


def text(body: str) -> str:
    """The body of main, after `int *y = ...`; asked() looks at the error and prints why."""
    return f"{HEAD}{body}\treturn 0;\n}}\n"


def asking(table: list[tuple[str, str]]) -> str:
    """Asks behind each statement of a table."""
    return text("".join(f"\t{statement};\n\tasked();\n" for statement, _ in table))


def too_many(threads: int) -> str:
    return f"{threads} threads in a block, which may have 1024"


def dynamic(bytes_: int, limit: int, static: int = 1024) -> str:
    return f"{bytes_} bytes of dynamic shared memory in a block, which may have {limit} beside {static} static ones"


MORE = ", more only with cudaFuncSetAttribute"
# A grid, a block, and why a GPU refuses them. Those that it takes are refused here for their shared memory, which is
# looked at afterwards: 2^31 - 1 blocks need not run.
GRID = "a grid may have at most x 2147483647, y 65535, z 65535 blocks"
MEMORY = dynamic(1 << 20, 48128) + MORE
SHAPES = [
    ("0,1,1", "32,1,1", "a grid without blocks"),
    ("1,0,1", "32,1,1", "a grid without blocks"),
    ("1,1,0", "32,1,1", "a grid without blocks"),
    ("1,1,1", "0,1,1", "a block without threads"),
    ("1,1,1", "1,0,1", "a block without threads"),
    ("1,1,1", "1,1,0", "a block without threads"),
    ("2147483647,1,1", "1,1,1", MEMORY),
    ("2147483648,1,1", "1,1,1", GRID),
    ("1,65535,1", "1,1,1", MEMORY),
    ("1,65536,1", "1,1,1", GRID),
    ("1,1,65535", "1,1,1", MEMORY),
    ("1,1,65536", "1,1,1", GRID),
    ("1,1,1", "1024,1,1", MEMORY),
    ("1,1,1", "1025,1,1", too_many(1025)),
    ("1,1,1", "1,1024,1", MEMORY),
    ("1,1,1", "1,1025,1", too_many(1025)),
    ("1,1,1", "1,1,64", MEMORY),
    ("1,1,1", "1,1,65", "65 threads along z of a block, which may have 64 there"),
    ("1,1,1", "4,4,64", MEMORY),
    ("1,1,1", "5,4,64", too_many(1280)),
    ("1,1,1", "65536,65536,1", too_many(1 << 32)),
]
SHAPED = [
    (
        f"shared<<<dim3({grid}), dim3({block}), 1 << 20>>>(y)",
        f"shared<<<({grid}), ({block}), 1048576>>> was refused: {why}",
    )
    for grid, block, why in SHAPES
]
# Statements, and what is refused; where nothing is, the launch succeeds.
OPT_IN = "cudaFuncSetAttribute({}, cudaFuncAttributeMaxDynamicSharedMemorySize, {})"
ONE = "large<<<(1,1,1), (1,1,1), {}>>> was refused: "
LIMITS = [
    ("shared<<<1, 32, 48129>>>(y)", f"shared<<<(1,1,1), (32,1,1), 48129>>> was refused: {dynamic(48129, 48128)}{MORE}"),
    ("shared<<<1, 32, 48128>>>(y)", ""),
    ("large<12288><<<1, 1>>>(y)", ""),
    (OPT_IN.format("shared", 231425), f"shared was refused {dynamic(231425, 231424)}"),
    (OPT_IN.format("shared", 231424), ""),
    (OPT_IN.format("large<1>", 49149), ""),
    ("shared<<<1, 32, 231424>>>(y)", ""),
    ("large<1><<<1, 1, 49149>>>(y)", ""),
    ("large<1><<<1, 1, 49150>>>(y)", ONE.format(49150) + dynamic(49150, 49149, 4) + MORE),
    ("large<2><<<1, 1, 49145>>>(y)", ONE.format(49145) + dynamic(49145, 49144, 8) + MORE),
]
ANOTHER_GPU = [
    (OPT_IN.format("shared", 100352), ""),
    ("shared<<<1, 32, 100352>>>(y)", ""),
    ("cudaGetDeviceProperties(&gpu, 0)", ""),
    (OPT_IN.format("shared", "gpu.sharedMemPerBlockOptin - 1023"), f"shared was refused {dynamic(100353, 100352)}"),
]
BODIES = {
    "never": "\tone<<<3, 2000>>>(y); // @refused\n\tone<<<1, 32>>>(y);\n\tcudaDeviceSynchronize();\n",
    "thrice": "\tfor (int i = 0; i < 3; i++)\n\t\tone<<<1, dim3(64, 32)>>>(y); // @refused\n",
    "asks": "\tone<<<1, 2000>>>(y);\n\tcudaPeekAtLastError();\n",
    "where": "\tone<<<1, 2000>>>(y); // @refused\n\tasked();\n",
    "late": "\tone<<<1, 2000>>>(y);\n\tone<<<1, 3000>>>(y);\n\tone<<<1, 32>>>(y);\n\tasked();\n",
    "fails": "\tone<<<1, 2048>>>(y); // @refused\n\tif (cudaGetLastError())\n\t\treturn 1;\n",
    "returned": "\tvoid *arguments[] = {&y};\n\tputs(cudaGetErrorName(cudaLaunchKernel(one, 1, 2000, arguments)));\n",
}
TEXTS = {name: text(body) for name, body in BODIES.items()}
TEXTS |= {"shaped": asking(SHAPED), "limits": asking(LIMITS), "another_gpu": asking(ANOTHER_GPU)}
PARTS = {name: Part(f"refusals.{name}", source) for name, source in TEXTS.items()}
NEVER_FAST = inline("refusals.never.fast", TEXTS["never"], "--fast")
together("refusals", PARTS.values(), "-O2")


class Refusals(Case):
    def expect_run(self, name: str, out: str, **settings: str) -> None:
        outcome = PARTS[name].run(**settings)
        said = re.sub(r"(?<=.) \(launched at \S+:\d+\)$", "", outcome.out, flags=re.MULTILINE)
        self.expect_equal((outcome.status, said, outcome.err), (0, out, ""), name)

    def expect_asked(self, name: str, table: list[tuple[str, str]], **settings: str) -> None:
        said = ""
        for _, refused in table:
            error = "cudaErrorInvalidValue" if " shared memory " in refused else "cudaErrorInvalidConfiguration"
            said += f"{error}: {refused}\n" if refused else "cudaSuccess: -\n"
        self.expect_run(name, said, **settings)

    def expect_told(self, made: Part | Program, name: str, refused: str, more: str, summary: str) -> None:
        outcome = made.run()
        line = marked_line(TEXTS[name], "@refused")
        says = rf"""========= {re.escape(refused)}
=========     at \S+ in \S+:{line}
=========     The program never asked for the error{more} \(cudaGetLastError: cudaErrorInvalidConfiguration\)
=========  *{line} \| .*@refused
========= ERROR SUMMARY: {summary}
"""
        self.expect(outcome.status == 1 and re.fullmatch(says, outcome.err), f"{made.name}: {outcome}")

    def place(self, name: str) -> str:
        return f"(launched at {PARTS[name].source}:{marked_line(TEXTS[name], '@refused')})\n"

    def test_a_launch_whose_error_nobody_asks_for_is_an_error_at_its_line(self):
        why = "one<<<(3,1,1), (2000,1,1)>>> was refused: " + too_many(2000)
        for made in (PARTS["never"], NEVER_FAST):
            self.expect_told(made, "never", why, "", "1 error")
        why = f"one<<<(1,1,1), (64,32,1)>>> was refused: {too_many(2048)}"
        self.expect_told(PARTS["thrice"], "thrice", why, ", nor for 2 more", "3 errors")

    def test_a_program_that_asks_hears_nothing(self):
        self.expect_run("asks", "")
        self.expect_run("late", "cudaErrorInvalidConfiguration: -\n")
        self.expect_run("returned", "cudaErrorInvalidConfiguration\n")

    def test_who_asks_hears_where_it_was_launched(self):
        """Kills: a harness that names its own line only, because the launch's is nowhere to be had."""
        out = PARTS["where"].run().out
        self.expect_in(f"was refused: {too_many(2000)} {self.place('where')}", out, "place")

    def test_who_asks_and_fails_is_told_the_limit(self):
        """Kills: "invalid configuration argument" alone, from which a beginner learns no limit."""
        said = f"========= Note: one<<<(1,1,1), (2048,1,1)>>> was refused: {too_many(2048)} {self.place('fails')}"
        self.expect_equal(PARTS["fails"].run()[:3], (1, "", said), "fails")

    def test_each_shape_at_its_limit_and_past_it(self):
        """Kills: a dimension that nobody looks at, such as grid.z, and a limit that is one too small or too large."""
        self.expect_asked("shaped", SHAPED)

    def test_shared_memory_at_its_limits_and_past_them(self):
        """Kills: static memory that is not taken off what a kernel may opt in to; a limit that one kernel opted in to
        and another has; the default's for every GPU. (More static memory does not compile: test_front.py.)"""
        self.expect_asked("limits", LIMITS)
        self.expect_asked("another_gpu", ANOTHER_GPU, SIM_GPU="rtx4090")
