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
	printf("%s: %s\n", cudaGetErrorName(cudaGetLastError()), sim_refusal() ? sim_refusal() : "-");
}
int main()
{
	int *y;
	cudaMalloc(&y, 4096);
	(void)shared, (void)asked;
"""


def text(body: str) -> str:
    """The body of main, after `int *y = ...`; asked() looks at the error and prints why."""
    return f"{HEAD}{body}\treturn 0;\n}}\n"


def program(name: str, body: str) -> Part:
    return Part(f"refusals.{name}", text(body))


NEVER_BODY = "\tone<<<3, 2000>>>(y); // @refused\n\tone<<<1, 32>>>(y);\n\tcudaDeviceSynchronize();\n"
NEVER = program("never", NEVER_BODY)
NEVER_FAST = inline("refusals.never.fast", text(NEVER_BODY), "--fast")
THRICE_BODY = "\tfor (int i = 0; i < 3; i++)\n\t\tone<<<1, dim3(64, 32)>>>(y); // @refused\n"
THRICE = program("thrice", THRICE_BODY)
ASKS = program("asks", "\tone<<<1, 2000>>>(y);\n\tcudaPeekAtLastError();\n")
WHERE = program("where", "\tone<<<1, 2000>>>(y); // @refused\n\tasked();\n")
LATE = program("late", "\tone<<<1, 2000>>>(y);\n\tone<<<1, 3000>>>(y);\n\tone<<<1, 32>>>(y);\n\tasked();\n")
FAILS = program("fails", "\tone<<<1, 2048>>>(y); // @refused\n\tif (cudaGetLastError())\n\t\treturn 1;\n")
# A grid, a block, and why a GPU refuses them. Those that it takes are refused here for their shared memory, which is
# looked at afterwards: 2^31 - 1 blocks need not run.
GRID = "a grid may have at most x 2147483647, y 65535, z 65535 blocks"


def too_many(threads: int) -> str:
    return f"{threads} threads in a block, which may have 1024"


MEMORY = "1048576 bytes of dynamic shared memory in a block, which may have 48128 beside 1024 static ones, "
MEMORY += "more only with cudaFuncSetAttribute"
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
SHAPED = program(
    "shaped",
    "".join(f"\tshared<<<dim3({grid}), dim3({block}), 1 << 20>>>(y);\n\tasked();\n" for grid, block, _ in SHAPES),
)
RETURNED = program(
    "returned",
    """	void *arguments[] = {&y};
	printf("%s\\n", cudaGetErrorName(cudaLaunchKernel(one, 1, 2000, arguments)));
""",
)
LIMITS = program(
    "limits",
    """	shared<<<1, 32, 48129>>>(y);
	asked();
	shared<<<1, 32, 48128>>>(y);
	asked();
	large<12288><<<1, 1>>>(y);
	asked();
	cudaFuncSetAttribute(shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 231425);
	asked();
	cudaFuncSetAttribute(shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 231424);
	cudaFuncSetAttribute(large<1>, cudaFuncAttributeMaxDynamicSharedMemorySize, 49149);
	shared<<<1, 32, 231424>>>(y);
	asked();
	large<1><<<1, 1, 49149>>>(y);
	asked();
	large<1><<<1, 1, 49150>>>(y);
	asked();
	large<2><<<1, 1, 49145>>>(y);
	asked();
""",
)
OPTED = program(
    "opted",
    """	cudaDeviceProp gpu;
	cudaGetDeviceProperties(&gpu, 0);
	const int most = gpu.sharedMemPerBlockOptin - 1024;
	cudaFuncSetAttribute(shared, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
	shared<<<1, 32, most>>>(y);
	asked();
	cudaFuncSetAttribute(shared, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1);
	asked();
""",
)


together("refusals", [NEVER, THRICE, ASKS, LATE, WHERE, FAILS, SHAPED, RETURNED, LIMITS, OPTED], "-O2")


class Refusals(Case):
    def expect_run(self, made: Part | Program, out: str, err: str, **settings: str) -> None:
        outcome = made.run(**settings)
        said = re.sub(
            rf"(?<=.) \(launched at {re.escape(str(made.source))}:\d+\)$", "", outcome.out, flags=re.MULTILINE
        )  # noqa: E501
        self.expect_equal((outcome.status, said, outcome.err), (0, out, err), made.name)

    def expect_told(self, made: Part | Program, source: str, refused: str, more: str, summary: str) -> None:
        outcome = made.run()
        line = marked_line(source, "@refused")
        says = rf"""========= {re.escape(refused)}
=========     at \S+ in \S+:{line}
=========     The program never asked for the error{more} \(cudaGetLastError: cudaErrorInvalidConfiguration\)
=========  *{line} \| .*@refused
========= ERROR SUMMARY: {summary}
"""
        self.expect(outcome.status == 1 and re.fullmatch(says, outcome.err), f"{made.name}: {outcome}")

    def test_a_launch_whose_error_nobody_asks_for_is_an_error_at_its_line(self):
        why = "one<<<(3,1,1), (2000,1,1)>>> was refused: " + too_many(2000)
        for made in (NEVER, NEVER_FAST):
            self.expect_told(made, text(NEVER_BODY), why, "", "1 error")
        why = f"one<<<(1,1,1), (64,32,1)>>> was refused: {too_many(2048)}"
        self.expect_told(THRICE, text(THRICE_BODY), why, ", nor for 2 more", "3 errors")

    def test_a_program_that_asks_hears_nothing(self):
        self.expect_run(ASKS, "", "")
        self.expect_run(LATE, "cudaErrorInvalidConfiguration: -\n", "")
        self.expect_run(RETURNED, "cudaErrorInvalidConfiguration\n", "")

    def test_who_asks_hears_where_it_was_launched(self):
        """Kills: a harness that names its own line only, because the launch's is nowhere to be had."""
        line = marked_line(WHERE.text, "@refused")
        self.expect_in(f"was refused: {too_many(2000)} (launched at {WHERE.source}:{line})\n", WHERE.run().out, "place")

    def test_who_asks_and_fails_is_told_the_limit(self):
        """Kills: "invalid configuration argument" alone, from which a beginner learns no limit."""
        place = f"{FAILS.source}:{marked_line(FAILS.text, '@refused')}"
        said = f"========= Note: one<<<(1,1,1), (2048,1,1)>>> was refused: {too_many(2048)} (launched at {place})\n"
        self.expect_equal(FAILS.run()[:3], (1, "", said), "fails")

    def test_each_shape_at_its_limit_and_past_it(self):
        """Kills: a dimension that nobody looks at, such as grid.z, and a limit that is one too small or too large."""
        said = ""
        for grid, block, why in SHAPES:
            error = "cudaErrorInvalidValue" if why == MEMORY else "cudaErrorInvalidConfiguration"
            said += f"{error}: shared<<<({grid}), ({block}), 1048576>>> was refused: {why}\n"
        self.expect_run(SHAPED, said, "")

    def test_shared_memory_at_its_limits_and_past_them(self):
        """Kills: static memory that is not taken off what a kernel may opt in to; and a limit that one kernel opted in
        to and another has. (More static memory than that does not compile: test_front.py.)"""
        may = "more only with cudaFuncSetAttribute"
        said = (
            "cudaErrorInvalidValue: shared<<<(1,1,1), (32,1,1), 48129>>> was refused: 48129 bytes of dynamic "
            f"shared memory in a block, which may have 48128 beside 1024 static ones, {may}\ncudaSuccess: -\n"
            "cudaSuccess: -\n"
            "cudaErrorInvalidValue: shared was refused 231425 bytes of dynamic shared memory in a block, which "
            "may have 231424 beside 1024 static ones\n"
            "cudaSuccess: -\ncudaSuccess: -\n"
            "cudaErrorInvalidValue: large<<<(1,1,1), (1,1,1), 49150>>> was refused: 49150 bytes of dynamic "
            f"shared memory in a block, which may have 49149 beside 4 static ones, {may}\n"
            "cudaErrorInvalidValue: large<<<(1,1,1), (1,1,1), 49145>>> was refused: 49145 bytes of dynamic "
            f"shared memory in a block, which may have 49144 beside 8 static ones, {may}\n"
        )
        self.expect_run(LIMITS, said, "")

    def test_another_gpu_has_its_own_limit(self):
        """Kills: the default's 232448 bytes for every GPU, in its properties or of what is opted in to."""
        past = "100353 bytes of dynamic shared memory in a block, which may have 100352 beside 1024 static ones"
        said = f"cudaSuccess: -\ncudaErrorInvalidValue: shared was refused {past}\n"
        self.expect_run(OPTED, said, "", SIM_GPU="rtx4090")
