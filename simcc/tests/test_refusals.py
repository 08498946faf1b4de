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


NEVER_BODY = "\tone<<<3, 2000>>>(y);\n\tone<<<1, 32>>>(y);\n\tcudaDeviceSynchronize();\n"
NEVER = program("never", NEVER_BODY)
NEVER_FAST = inline("refusals.never.fast", text(NEVER_BODY), "--fast")
THRICE = program("thrice", "\tfor (int i = 0; i < 3; i++)\n\t\tone<<<1, dim3(64, 32)>>>(y);\n")
ASKS = program("asks", "\tone<<<1, 2000>>>(y);\n\tcudaPeekAtLastError();\n")
LATE = program("late", "\tone<<<1, 2000>>>(y);\n\tone<<<1, 3000>>>(y);\n\tone<<<1, 32>>>(y);\n\tasked();\n")
# A grid, a block, and why a GPU refuses them. Those that it takes are refused here for their shared memory, which is
# looked at afterwards: 2^31 - 1 blocks need not run.
GRID, BLOCK = "a grid may have (2147483647,65535,65535) blocks", "a block may have (1024,1024,64) threads"
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
    ("1,1,1", "1025,1,1", BLOCK),
    ("1,1,1", "1,1024,1", MEMORY),
    ("1,1,1", "1,1025,1", BLOCK),
    ("1,1,1", "1,1,64", MEMORY),
    ("1,1,1", "1,1,65", BLOCK),
    ("1,1,1", "4,4,64", MEMORY),
    ("1,1,1", "5,4,64", "1280 threads in a block, which may have 1024"),
]
SHAPED = program(
    "shaped",
    "".join(f"\tshared<<<dim3({grid}), dim3({block}), 1 << 20>>>(y);\n\tasked();\n" for grid, block, _ in SHAPES),
)
LIMITS = program(
    "limits",
    """	shared<<<1, 32, 48129>>>(y);
	asked();
	shared<<<1, 32, 48128>>>(y);
	asked();
	large<12288><<<1, 1>>>(y);
	asked();
	large<12289><<<1, 1>>>(y);
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


together("refusals", [NEVER, THRICE, ASKS, LATE, SHAPED, LIMITS], "-O2")


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

    def test_each_shape_at_its_limit_and_past_it(self):
        """Kills: a dimension that nobody looks at, such as grid.z, and a limit that is one too small or too large."""
        said = ""
        for grid, block, why in SHAPES:
            error = "cudaErrorInvalidValue" if why == MEMORY else "cudaErrorInvalidConfiguration"
            said += f"{error}: shared<<<({grid}), ({block}), 1048576>>> was refused: {why}\n"
        self.expect_run(SHAPED, said, "")

    def test_shared_memory_at_its_limits_and_past_them(self):
        """Kills: static memory that nobody looks at, or that is not taken off what a kernel may opt in to; and a limit
        that one kernel opted in to and another has."""
        may = "more only with cudaFuncSetAttribute"
        said = (
            "cudaErrorInvalidValue: shared<<<(1,1,1), (32,1,1), 48129>>> was refused: 48129 bytes of dynamic "
            f"shared memory in a block, which may have 48128 beside 1024 static ones, {may}\ncudaSuccess: -\n"
            "cudaSuccess: -\n"
            "cudaErrorInvalidValue: large<<<(1,1,1), (1,1,1)>>> was refused: 49156 bytes of static shared memory "
            "in a block, which may have 49152\n"
            "cudaErrorInvalidValue: shared was refused 231425 bytes of dynamic shared memory in a block, which "
            "may have 231424 beside 1024 static ones\n"
            "cudaSuccess: -\ncudaSuccess: -\n"
            "cudaErrorInvalidValue: large<<<(1,1,1), (1,1,1), 49150>>> was refused: 49150 bytes of dynamic "
            f"shared memory in a block, which may have 49149 beside 4 static ones, {may}\n"
            "cudaErrorInvalidValue: large<<<(1,1,1), (1,1,1), 49145>>> was refused: 49145 bytes of dynamic "
            f"shared memory in a block, which may have 49144 beside 8 static ones, {may}\n"
        )
        self.expect_run(LIMITS, said, "")
