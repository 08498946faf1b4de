"""Launches a GPU would not accept. The simulated device says why, and a program that never asks for the error is told
at its end that its kernel did not run. programs/ has such launches whose errors are asked for: silently."""

from __future__ import annotations

from support import Case, Part, Program, inline, together

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


NEVER_BODY = "\tone<<<3, 2000>>>(y);\n\tone<<<1, 32>>>(y);\n\tcudaDeviceSynchronize();\n"
NEVER = program("never", NEVER_BODY)
NEVER_FAST = inline("refusals.never.fast", text(NEVER_BODY), "--fast")
THRICE = program("thrice", "\tfor (int i = 0; i < 3; i++)\n\t\tone<<<1, dim3(64, 32)>>>(y);\n")
ASKS = program("asks", "\tone<<<1, 2000>>>(y);\n\tcudaPeekAtLastError();\n")
LATE = program("late", "\tone<<<1, 2000>>>(y);\n\tone<<<1, 3000>>>(y);\n\tone<<<1, 32>>>(y);\n\tasked();\n")
LIMITS = program(
    "limits",
    """	one<<<0, 32>>>(y);
	asked();
	one<<<1, 0>>>(y);
	asked();
	one<<<dim3(1, 65536), 32>>>(y);
	asked();
	one<<<1, dim3(1, 1, 65)>>>(y);
	asked();
	shared<<<1, 32, 48129>>>(y);
	asked();
	shared<<<1, 32, 48128>>>(y);
	asked();
	cudaFuncSetAttribute(shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 300000);
	asked();
""",
)


together("refusals", [NEVER, THRICE, ASKS, LATE, LIMITS], "-O2")


class Refusals(Case):
    def expect_run(self, made: Part | Program, out: str, err: str) -> None:
        outcome = made.run()
        self.expect_equal((outcome.status, outcome.out, outcome.err), (0, out, err), made.name)

    def test_a_program_that_never_asks_is_told_at_its_end(self):
        why = "a block may have (1024,1024,64) threads. The program never asked for the error (cudaGetLastError)"
        for made in (NEVER, NEVER_FAST):
            self.expect_run(made, "", f"========= one<<<(3,1,1), (2000,1,1)>>> was refused: {why}\n")
        why = "2048 threads in a block, which may have 1024. The program never asked for the error, nor for 2 more"
        said = f"========= one<<<(1,1,1), (64,32,1)>>> was refused: {why} (cudaGetLastError)\n"
        self.expect_run(THRICE, "", said)

    def test_a_program_that_asks_hears_nothing(self):
        self.expect_run(ASKS, "", "")
        self.expect_run(LATE, "cudaErrorInvalidConfiguration: -\n", "")

    def test_each_limit_by_name(self):
        refusals = [
            ("one<<<(0,1,1), (32,1,1)>>>", "a grid without blocks"),
            ("one<<<(1,1,1), (0,1,1)>>>", "a block without threads"),
            ("one<<<(1,65536,1), (32,1,1)>>>", "a grid may have (2147483647,65535,65535) blocks"),
            ("one<<<(1,1,1), (1,1,65)>>>", "a block may have (1024,1024,64) threads"),
        ]
        said = "".join(f"cudaErrorInvalidConfiguration: {launch} was refused: {why}\n" for launch, why in refusals)
        said += (
            "cudaErrorInvalidValue: shared<<<(1,1,1), (32,1,1), 48129>>> was refused: 48129 bytes of dynamic "
            "shared memory in a block, which may have 48128 beside 1024 static ones, more only with "
            "cudaFuncSetAttribute\ncudaSuccess: -\n"
            "cudaErrorInvalidValue: shared was refused 300000 bytes of dynamic shared memory in a block, which "
            "may have 231424 beside 1024 static ones\n"
        )
        self.expect_run(LIMITS, said, "")
