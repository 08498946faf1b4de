"""Hazards that are not the end of a launch: what is computed all the same, and what is printed when a program goes
through the same hazard again and again. One message for the same lines of source, and a count at the end; the records
and the error summary leave nothing out."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from itertools import product
from pathlib import Path
from zlib import crc32

from reports import Report, is_counted, read_report
from support import (
    COMPILERS,
    FIRST,
    LONG,
    RUNNER,
    TRIED,
    Case,
    Compiler,
    Outcome,
    Part,
    inline,
    marked_line,
    run,
    simcc,
    together,
    unless_run_by_another,
)


def program(name: str, kernels: str, body: str, compiler: Compiler = FIRST) -> Part:
    """Kernels, then the body of main."""
    head = "#include <cstdio>\n#include <cstdlib>\n#include <cuda_runtime.h>\n"
    main = "int main()\n{\n\tint h[256], *y, *z;\n\tcudaMalloc(&y, sizeof h);\n\tcudaMalloc(&z, sizeof h);\n"
    main += "\tcudaMemset(y, 0, sizeof h);\n\t(void)h, (void)z;\n"
    return Part(f"hazards.{name}", f"{head}{kernels}\n{main}{body}\treturn 0;\n}}\n", compiler)


RACE = """__global__ void race(int *y)
{
	__shared__ int s[64];
	s[threadIdx.x] = 1;
	y[threadIdx.x] = s[63 - threadIdx.x];
}
"""
TWO_FILES = program(  # one side of the race in a file of its own, as #line says
    "two_files",
    """#line 7 "reader.cuh"
__device__ int read(const int *s, int i) { return s[i]; }
#line 20 "writer.cu"
__global__ void race(int *y)
{
	__shared__ int s[64];
	s[threadIdx.x] = 1;
	y[threadIdx.x] = read(s, 63 - threadIdx.x);
}
""",
    """	race<<<1, 64>>>(y);
""",
)
SAME_NAME = [  # two files of one name in two directories
    program(
        f"same_name_{compiler.cxx}",
        """#line 7 "same.cu"
__global__ void own(int *y) { y[1 << 28] = 1; }
#line 20 "part/same.cu"
__global__ void far(int *y) { y[1 << 28] = 1; }
__global__ void divide(int *y, int n) { y[0] = 1 / (n - n); }
""",
        """	own<<<1, 1>>>(y);
	cudaDeviceReset();
	cudaMalloc(&y, sizeof h);
	far<<<1, 1>>>(y);
	cudaDeviceReset();
	cudaMalloc(&y, sizeof h);
	divide<<<1, 1>>>(y, 3);
	cudaDeviceReset();
""",
        compiler=compiler,
    )
    for compiler in COMPILERS
]
COMMENT = (
    "/* äöü, and words that nobody needs, until the line is wider than a terminal: that took a few of them more */"
)
WIDE = inline(
    "hazards.wide",
    f"""__global__ void wide(int *y)
{{
    {COMMENT} y[0] = (int)threadIdx.x;
{" " * 320}y[1] = (int)blockIdx.x; {COMMENT}
}}
int main()
{{
    int *y;
    cudaMalloc(&y, 64);
    wide<<<4, 64>>>(y);
    {COMMENT} cudaMemcpy(y, y, 4, cudaMemcpyDeviceToHost);
    return cudaDeviceSynchronize();
}}
""",
    "-w",
)
# Lines of source as long as there is room for, and longer: where their `=` is, there is the access.
STORE, FILLER = "y[99] =  1;", "/* äöü, äöü, äöü, äöü, äöü, äöü, äöü, äöü, äöü, äöü, äöü, äöü, äöü */ "
FITTED = [f"\t   {STORE:{length - 1}};" for length in (54, 55, 58, 59, 90)]
FITTED += [f"    {FILLER[:before]}*/{blanks}{STORE:60};" for before in (44, 45, 47, 60) for blanks in (" ", "  ")]
FITTED += [f"    /* {'x' * before} */ {STORE:60};" for before in (41, 42)] + [f"\t   {FILLER[:50]}*/ y[99] =\n1;"]
FIT = program(
    "fit",
    "".join(f"__global__ void k{i}(int *y)\n{{\n{line}\n}}\n" for i, line in enumerate(FITTED)),
    "".join(f"\tcudaMalloc(&y, 64), k{i}<<<1, 1>>>(y), cudaDeviceReset();\n" for i in range(len(FITTED))),
)
AGAIN = program(
    "again",
    RACE
    + """template <int N>
__global__ void early(int *y, int n)
{
	if ((int)threadIdx.x >= n)
		return;
	__syncthreads(); // @early
	if (blockIdx.x == 0) // else blocks race, which is found only when they run at the same time
		y[threadIdx.x] = N;
}
__global__ void copy(int *y, const int *z)
{
	y[threadIdx.x] = z[threadIdx.x]; // @copy
}
""",
    """	cudaMemset((void *)z, 0, 1); // of z[0] three bytes are left
	for (int i = 0; i < 50; i++) {
		race<<<2, 64>>>(y);
		early<1><<<3, 96>>>(y, i < 25 ? 96 : 40);
		if (i % 10 == 9)
			copy<<<1, 32>>>(y, z);
	}
""",
)
MANY_PLACES = program(
    "many_places",
    """__global__ void many(int *y, const int *z)
{
	int sum = z[0];
	sum += z[1];
	sum += z[2];
	sum += z[3];
	sum += z[4];
	sum += z[5];
	y[threadIdx.x] = sum;
}
__global__ void four(int *y, const int *z)
{
	int sum = z[0];
	sum += z[1];
	sum += z[2];
	sum += z[3];
	y[threadIdx.x] = sum;
}
""",
    """	for (int i = 0; i < 20; i++)
		many<<<1, 32>>>(y, z);
	four<<<1, 32>>>(y, z);
""",
)
ENDS = program(
    "ends",
    """__global__ void past(int *y)
{
	y[256 + threadIdx.x] = 1;
}
""",
    """	for (int i = atoi(getenv("TIMES")); i > 0; i--) {
		past<<<1, 32>>>(y);
		cudaDeviceReset();
		cudaMalloc(&y, sizeof h);
		cudaFree(h + i); // @free
	}
""",
)
EARLY = """__global__ void reverse(int *y, int n)
{
	__shared__ int s[64];
	int t = threadIdx.x, i = blockIdx.x * 64 + t;
	if (i >= n)
		return;
	s[t] = i;
	__syncthreads();
	int last = min(63, n - 1 - (int)blockIdx.x * 64);
	int other = s[last - t];
	int even = __syncthreads_count(t % 2 == 0), all = __syncthreads_and(t < 64);
	y[i] = other * 1000 + even * 10 + all;
}
"""
ARRIVED = [
    program(
        "arrived",
        EARLY,
        """	reverse<<<3, 64>>>(y, 150);
	printf("%s", cudaDeviceSynchronize() == cudaSuccess ? "" : "error ");
	cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);
	int wrong = 0;
	for (int i = 0; i < 150; i++) {
		int first = i / 64 * 64, count = 150 - first < 64 ? 150 - first : 64;
		wrong += h[i] != (2 * first + count - 1 - i) * 1000 + (count + 1) / 2 * 10 + 1;
	}
	printf("%s\\n", wrong ? "wrong" : "right");
""",
        compiler=compiler,
    )
    for compiler in TRIED
]
PLAIN = program(
    "plain",
    EARLY
    + """__global__ void one_lane(int *y)
{
	int v = threadIdx.x;
	if (threadIdx.x == 0)
		y[0] = v + __shfl_down_sync(0xffffffff, v, 16);
}
""",
    """	for (int i = 0; i < 10; i++)
		reverse<<<3, 64>>>(y, 150);
	cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);
	printf("%s\\n", h[149] == 128111 ? "right" : "wrong");
	one_lane<<<1, 32>>>(y);
""",
)
# More blocks than a cell of racecheck has numbers for, 2^21. Tickets say who is early and who late in any order of
# blocks.
LARGE_GRID = program(
    "large_grid",
    """__device__ int tickets, flags[2], data[2], sum;
__global__ void talk(int last, bool fences)
{
	int ticket = atomicAdd(&tickets, 1);
	if (ticket == 3 || ticket == last - 1) {
		data[ticket != 3] = 21; // @data
		if (fences)
			__threadfence();
		atomicExch(&flags[ticket != 3], 1);
	} else if (ticket == last) {
		while (atomicAdd(&flags[0], 0) + atomicAdd(&flags[1], 0) < 2)
			;
		__threadfence();
		sum = data[0] + data[1]; // @sum
	}
}
""",
    """	int last = (1 << 21) + 1000;
	talk<<<last + 1, 1>>>(last, getenv("FENCES"));
	cudaMemcpyFromSymbol(h, sum, sizeof(int));
	printf("%d\\n", *h);
""",
)
# The same without a fence, where it has cells.
UNFENCED_GRID = program(
    "unfenced_grid",
    """__global__ void touch(int *y)
{
	if (blockIdx.x % (1 << 21) == 1)
		atomicAdd(y, 1);
}
""",
    '	touch<<<atoi(getenv("BLOCKS")), 1>>>(y);\n',
)

# The first thread takes all locks without a fence. Of five racecheck knows the last four.
LOCKS = program(
    "locks",
    """__global__ void take(int *locks, int *x, int count)
{
	if (threadIdx.x % 32)
		return;
	for (int i = 0; i < count; i++) {
		while (atomicCAS(locks + i, 0, 1) != 0)
			;
		if (threadIdx.x != 0)
			__threadfence();
	}
	x[0] += 1;
	__threadfence();
	for (int i = count; i-- > 0;)
		atomicExch(locks + i, 0);
}
""",
    """	cudaMemset(y, 0, 64);
	cudaMemset(z, 0, 64);
	take<<<1, 64>>>(y, z, atoi(getenv("LOCKS")));
""",
)


# Tickets say when a thread had its turn.
TURNS = program(
    "turns",
    """__global__ void take_turns(int *count, int *turn)
{
	turn[atomicAdd(count, 1)] = blockIdx.x * 64 + threadIdx.x;
}
""",
    """	take_turns<<<4, 64>>>(y, z);
	cudaMemcpy(h, z, sizeof h, cudaMemcpyDeviceToHost);
	for (int i = 0; i < 256; i++)
		printf("%d ", h[i]);
""",
)
# Which of the two barriers of a loop is missing; `parted`: the lanes of a warp do not run in step. Twice, because
# racecheck works in two ways: beside programs with fences, and where there are none.
ROUNDS, UNFENCED_ROUNDS = (
    program(
        name,
        """template <bool AFTER_STORE, bool AFTER_LOAD>
__global__ void rounds(int *y, bool parted)
{
	__shared__ int s[64];
	int sum = 0;
	for (int i = 0; i < 4; i++) {
		if (parted && threadIdx.x % 2)
			y[threadIdx.x] = i;
		s[threadIdx.x] = i; // @fill
		if (AFTER_STORE)
			__syncthreads();
		sum += s[63 - threadIdx.x]; // @drain
		if (AFTER_LOAD)
			__syncthreads();
	}
	y[threadIdx.x] = sum;
}
""",
        """	const bool parted = getenv("PARTED");
	switch (atoi(getenv("MISSING"))) {
	case 1: rounds<false, true><<<2, 64>>>(y, parted); break;
	case 2: rounds<true, false><<<2, 64>>>(y, parted); break;
	case 3: rounds<false, false><<<2, 64>>>(y, parted); break;
	}
""",
    )
    for name in ("rounds", "rounds.unfenced")
)
# The same where the accesses are in functions that the loop calls; where no thread does both; and in a warp.
HELPERS, UNFENCED_HELPERS = (
    program(
        name,
        """__device__ void put(int *s, int i)
{
	s[threadIdx.x] = i; // @put
}
__device__ int get(const int *s)
{
	return s[63 - threadIdx.x] + s[threadIdx.x ^ 1]; // @get
}
template <bool AFTER_STORE, bool AFTER_LOAD>
__global__ void helped(int *y)
{
	__shared__ int s[64];
	int sum = 0;
	put(s, 0);
	__syncthreads();
	for (int i = 0; i < 4; i++) {
		put(s, i); // @calls_put
		if (AFTER_STORE)
			__syncthreads();
		sum += get(s); // @calls_get
		if (AFTER_LOAD)
			__syncthreads();
	}
	y[threadIdx.x] = sum;
}
template <bool AFTER_STORE, bool AFTER_LOAD>
__global__ void divided(int *y)
{
	__shared__ int s[64];
	for (int i = 0; i < 4; i++) {
		if (threadIdx.x < 32)
			s[threadIdx.x] = i; // @gives
		if (AFTER_STORE)
			__syncthreads();
		if (threadIdx.x >= 32)
			y[threadIdx.x] = s[63 - threadIdx.x]; // @takes
		if (AFTER_LOAD)
			__syncthreads();
	}
}
template <bool AFTER_STORE, bool AFTER_LOAD>
__global__ void lanes(int *y)
{
	__shared__ int s[32];
	for (int i = 0; i < 4; i++) {
		s[threadIdx.x] = i; // @writes
		if (AFTER_STORE)
			__syncwarp();
		y[threadIdx.x] = s[31 - threadIdx.x]; // @reads
		if (AFTER_LOAD)
			__syncwarp();
	}
}
""",
        """	const bool last = atoi(getenv("MISSING")) == 2;
	switch (*getenv("KERNEL")) {
	case 'h': last ? helped<true, false><<<1, 64>>>(y) : helped<false, true><<<1, 64>>>(y); break;
	case 'd': last ? divided<true, false><<<1, 64>>>(y) : divided<false, true><<<1, 64>>>(y); break;
	case 'l': last ? lanes<true, false><<<1, 32>>>(y) : lanes<false, true><<<1, 32>>>(y); break;
	}
""",
    )
    for name in ("helpers", "helpers.unfenced")
)
# A thread reads what a lane of its warp has written, and what one of another warp has.
BOTH = program(
    "both",
    """__global__ void both(int *y)
{
	__shared__ int s[64];
	s[threadIdx.x] = threadIdx.x; // @fill
	y[threadIdx.x] = s[threadIdx.x ^ 1]; // @beside
	y[threadIdx.x] += s[63 - threadIdx.x]; // @far
}
""",
    "	both<<<1, 64>>>(y);\n",
)
ONE_LINE = program(
    "one_line",
    """__global__ void one_line(int *y)
{
	__shared__ int bin[8], s[65];
	s[threadIdx.x] = s[64] = bin[threadIdx.x % 8] = 0;
	__syncthreads();
	bin[threadIdx.x % 5]++; // @count
	__syncthreads();
	if (s[64] <= (int)threadIdx.x) // @most
		s[64] = threadIdx.x; // @replace
	__syncthreads();
	bin[threadIdx.x % 7] = threadIdx.x; // @write
	s[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 1]; // @shift
	y[0] += s[threadIdx.x]; // @sum
	__syncthreads();
	int t = threadIdx.x, *out = y + 64 * blockIdx.x + 1;
	s[t] = 1; out[t] = s[63 - t]; // @put
	__syncthreads();
	for (int i = 0; i < 2; i++) s[t] = i, __syncthreads(), out[t] = s[63 - t]; // @loop
}
""",
    "	one_line<<<2, 64>>>(y);\n",
)
NAMED = program(
    "named",
    """struct Parts { int one, more[2]; };
__device__ float table[4][8];
__global__ void named(int which, int last)
{
	__shared__ float tile[32][32], cube[2][3][4], row[8], total;
	__shared__ float2 pairs[8];
	__shared__ float4 one;
	__shared__ Parts parts[4];
	__shared__ double doubles[8];
	const int t = threadIdx.x;
	switch (t % 32 == 0 ? which : -1) {
	case 0: tile[0][last - 2] = t; break; // tile[0][1]
	case 1: cube[1][2][last] = t; break; // cube[1][2][3]
	case 2: row[2 * last] = t; break; // row[6] (counted in elements of 4 bytes)
	case 3: total = t; break; // total
	case 4: pairs[last - 3].y = t; break; // pairs[0].y
	case 5: one.z = t; break; // one.z
	case 6: parts[1].more[last - 2] = t; break; // parts[1], byte 8 of it
	case 7: doubles[last] = t; break; // doubles[3] (counted in elements of 8 bytes)
	case 8: table[1][last - 3] = t; break; // table[1][0]
	}
}
""",
    "	for (int i = 0; i < 9; i++)\n		named<<<1, 64>>>(i, 3);\n",
)
# Lanes at distances of 1, 2 and 32 words: 1, 2 and 32 visits of the banks where 1 is the least.
LINES = program(
    "lines",
    """template <int D>
__global__ void strides(int *y)
{
	__shared__ int s[32 * 32], t[3 * 32];
	for (int i = 0; i < 32; i++)
		s[32 * i + threadIdx.x] = i; // @rows
	__syncthreads();
	int sum = s[D * threadIdx.x]; // @two
	sum += s[32 * threadIdx.x]; // @column
	atomicAdd(&s[0], sum); // @one
	size_t bytes = 12;
	memcpy(&t[3 * threadIdx.x], &s[512 + 3 * threadIdx.x], bytes); // @copied
	y[threadIdx.x] = sum;
}
""",
    """	strides<2><<<3, 32>>>(y);
	strides<1><<<1, 32>>>(y);
""",
)
# Calls of the API that a message tells of besides the error: by error, what is called | what is said.
MISUSED_CALLS = {
    "cudaErrorInvalidValue": r"""
        cudaFree(h) | is no device memory
        cudaFree(y + 1) | is not the start of an allocation
        cudaFree(freed) | 'alloc2' at .* has been freed before
        cudaFree(variable_at) | the start of an allocation \('variable' starts
        cudaFreeHost(y) | is device memory: cudaFree frees it
        cudaFreeHost(h) | was not allocated by cudaMallocHost, or is freed
        cudaMemcpy(0, h, 4, up) | the destination is NULL
        cudaMemcpy(y, 0, 4, up) | the source is NULL
        cudaMemcpy(h, h, 4, up) | destination .* is host memory, not device
        cudaMemcpy(y, z, 4, up) | source .* is device memory, not host memory
        cudaMemcpy(freed, h, 4, up) | inside 'alloc2', which has been freed
        cudaMemcpy(h, freed, 4, down) | source .* inside 'alloc2', which has been freed
        cudaMemcpy(h, y + 1, 1024, down) | source: .* end 4 bytes past its end
        cudaMemcpy(y + 1, h, 1024, up) | end 4 bytes past its end
        cudaMemcpy(y + 256, h, 4, up) | is in no allocation
        cudaMemcpyAsync(y, z, 1028, across) | end 4 bytes past its end
        cudaMemset(y, 0, 1025) | end 1 bytes past its end
        cudaMemset(h, 0, 4) | is host memory, not device memory
        cudaMemcpyToSymbol(variable, h, 8, 9) | end 1 bytes past
        cudaMemcpyFromSymbol(h, variable, 8, 9) | end 1 bytes past
        cudaMemcpy(heap + 1, y, 64, down) | destination: 64 bytes from byte 4 of a block of the heap .* end 4 bytes past
        cudaMemcpy(pinned, y, 65, down) | 65 bytes from byte 0 of a block of the heap .* 1 bytes past .* \(it has 64\)
        cudaMemcpy(y, fixed + 8, 57 * 4, up) | from byte 32 of a static variable .* 4 bytes past .* \(it has 256\)
        cudaMemcpy(h, z, 4096, down) | leave the function's variables on the host's stack
        cudaMemcpy((void *)4096, y, 64, down) | 64 bytes from 0x1000 are not all memory of the program
    """,
    # The host's memory: each of these would end the program by a signal, some of them much later.
    "cudaSuccess": r"""
        free(y) | Invalid free\(\) on the host[^~]* is device memory: cudaFree frees it
        realloc(y, 4096) | Invalid realloc\(\) on the host
        delete[] y | Invalid delete\[\] on the host
        std::unique_ptr<int>(y).reset() | Invalid delete on the host
        free(pinned) | is from cudaMallocHost: cudaFreeHost frees it
    """,
    "cudaErrorInvalidMemcpyDirection": r"""
        cudaMemcpy(y, h, 4, (cudaMemcpyKind)5) | no direction of this copy
        cudaMemcpyAsync(y, h, 4, (cudaMemcpyKind)-1) | no direction of this copy
        cudaMemcpyToSymbol(variable, h, 4, 0, (cudaMemcpyKind)2) | no direction of this copy
        cudaMemcpyFromSymbol(h, variable, 4, 0, up) | no direction of this copy
    """,
    "cudaErrorNotSupported": r"""
        cudaMallocManaged(&m, 4) | managed memory.*: use cudaMalloc
        cudaHostGetDevicePointer(&m, h, 0) | copy with cudaMemcpy
    """,
    "cudaErrorInvalidDeviceFunction": r"""
        cudaLaunchKernel((const void *)h, 1, 1, 0, 0, 0) | this is no kernel's address
    """,
}
MISUSES = [
    (error, *line.strip().split(" | "))
    for error, lines in MISUSED_CALLS.items()
    for line in lines.split("\n")
    if line.strip()
]
# As large as there is room for, which is said nothing of.
RIGHT_CALLS = [
    "cudaMemcpy(heap, y, 64, down)",
    "cudaMemcpy(pinned, y, 64, down)",
    "cudaMemcpy(y, fixed + 8, 56 * 4, up)",
]


def returned(call: str) -> str:
    return call if call.startswith("cuda") else f"({call}, cudaSuccess)"


MISUSED = program(
    "misused",
    "#include <memory>\n__device__ int variable[4];\n__global__ void k() {}\n",
    """	static int fixed[64];
	int *freed, *m = y, *pinned, *heap = (int *)malloc(64);
	cudaMallocHost(&pinned, 64);
	void *variable_at;
	const void *untyped = (const void *)k;
	const cudaMemcpyKind up = cudaMemcpyHostToDevice, down = cudaMemcpyDeviceToHost, across = cudaMemcpyDeviceToDevice;
	cudaMalloc(&freed, 4);
	cudaFree(freed);
	cudaGetSymbolAddress(&variable_at, variable);
	const char *which = getenv("CALL");
"""
    + "".join(
        f'\tif (atoi(which) == {i})\n\t\tprintf("%s ", cudaGetErrorName({returned(call)}));\n'
        for i, call in enumerate([*(call for _, call, _ in MISUSES), *RIGHT_CALLS])
    )
    + """	printf("%s ", cudaGetErrorName(cudaGetLastError()));
	printf("%s%s\\n", m ? "" : "null ", cudaGetErrorName(cudaFree(y)));
""",
)

# All threads write the same NaN, which is no race of writes.
NEVER_WRITTEN = program(
    "never_written",
    """__global__ void in_block(float *y, bool written)
{
	__shared__ float sum;
	if (written && threadIdx.x == 0)
		sum = 0;
	__syncthreads();
	sum += threadIdx.x; // @block
	__syncthreads();
	y[threadIdx.x] = sum;
}
__global__ void between_blocks(float *y)
{
	y[0] += 1; // @grid
}
""",
    """	float *sum;
	cudaMalloc(&sum, 4);
	if (getenv("WRITTEN"))
		cudaMemset(sum, 0, 4);
	in_block<<<1, 64>>>((float *)y, getenv("WRITTEN"));
	between_blocks<<<2, 1>>>(sum);
""",
)
MANY_ARRAYS = program(
    "many_arrays",
    """__global__ void gather(int **x, int n, int *y)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += *x[i];
	*y = sum;
}
""",
    """	int n = atoi(getenv("ARRAYS")), **arrays = (int **)malloc(n * sizeof *arrays), **x;
	for (int i = 0; i < n; i++)
		cudaMalloc(&arrays[i], sizeof(int));
	cudaMalloc(&x, n * sizeof *arrays);
	cudaMemcpy(x, arrays, n * sizeof *arrays, cudaMemcpyHostToDevice);
	gather<<<1, 1>>>(x, n, y);
	free(arrays);
""",
)
# The wait stands in a file of its own, as #line says.
WAITS_ELSEWHERE = program(
    "waits_elsewhere",
    """#include <cuda_pipeline.h>
#line 7 "wait.cuh"
__device__ void wait() { __pipeline_wait_prior(0); }
#line 20 "early.cu"
__global__ void early(const int *x, int *y)
{
	__shared__ int s[64];
	wait();
	__pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 4);
	__pipeline_commit();
	__syncthreads();
	y[threadIdx.x] = s[63 - threadIdx.x];
	wait();
}
""",
    "	early<<<1, 64>>>(z, y);\n",
)

# Copies that no instruction does, and one that reads nothing, which may come from anywhere.
REFUSED_COPIES = program(
    "refused_copies",
    """#include <cuda_pipeline.h>
__constant__ int table[4];
__global__ void refused(int *x, int way, int bytes)
{
	alignas(16) __shared__ int s[8];
	switch (way) {
	case 0: __pipeline_memcpy_async(s, x, bytes); break; // @0
	case 1: __pipeline_memcpy_async(s, x, 4, bytes - 7); break; // @1
	case 2: __pipeline_memcpy_async(x + 4, x, bytes - 8); break; // @2
	case 3: __pipeline_memcpy_async(s, s + 4, bytes + 4); break; // @3
	case 4: __pipeline_memcpy_async(s, table, bytes + 4); break; // @4
	case 5: __pipeline_memcpy_async(s, (int *)NULL, 4, bytes - 8); break; // @5
	}
	__pipeline_commit();
	__pipeline_wait_prior(0);
}
""",
    """	refused<<<1, 1>>>(y, atoi(getenv("WAY")), 12);
	printf("%s\\n", cudaGetErrorName(cudaDeviceSynchronize()));
""",
)
# Block 1 is slow, and comes upon them in another order than block 2.
TWO_RACES = program(
    "two_races",
    """__global__ void races(int *y)
{
	__shared__ int a[64], b[64];
	int sum = 0;
	for (int i = 0; i < (blockIdx.x == 0 ? 20000 : blockIdx.x == 1 ? 60000 : 0); i++)
		sum += __shfl_xor_sync(~0u, i, 1);
	for (unsigned i = 1; i < (blockIdx.x == 0 ? 0 : 3); i++)
		if ((i + blockIdx.x) % 2 == 0) {
			b[threadIdx.x] = 1;
			sum += b[63 - threadIdx.x];
		} else {
			a[threadIdx.x] = 1;
			sum += a[63 - threadIdx.x];
		}
	y[threadIdx.x + 64 * blockIdx.x] = sum;
}
""",
    "	for (int i = 0; i < 8; i++)\n		races<<<3, 64>>>(y);\n	cudaDeviceSynchronize();\n",
)

ALL = [TWO_RACES, TWO_FILES, AGAIN, MANY_PLACES, ENDS, LARGE_GRID, LOCKS, TURNS, ROUNDS, NAMED]
ALL += [
    HELPERS,
    BOTH,
    ONE_LINE,
    LINES,
    MISUSED,
    NEVER_WRITTEN,
    MANY_ARRAYS,
    WAITS_ELSEWHERE,
    REFUSED_COPIES,
    FIT,
]
together("hazards", [*ALL, ARRIVED[0]], "-O2")
together("hazards.unfenced", [UNFENCED_ROUNDS, UNFENCED_HELPERS, UNFENCED_GRID], "-O2")
together("hazards.fast", [PLAIN], "--fast")
for part, compiler in zip(SAME_NAME, COMPILERS):  # each names files in its own way
    together("hazards.same_name", [part], "-O2", compiler=compiler, library=FIRST)
if len(TRIED) > 1:
    together("hazards", [ARRIVED[1]], "-O2", compiler=TRIED[1])


def place(made: Part, mark: str) -> str:
    return f"{made.source.name}:{marked_line(made.text, mark)}"


class Hazards(Case):
    def run_one(self, made: Part, **settings: str) -> tuple[Outcome, Report]:
        path = self.scratch / "report.json"
        path.unlink(missing_ok=True)
        outcome = made.run(SIM_REPORT=str(path), **settings)
        return outcome, read_report(path)

    def expect_times(self, text: str, times: int, what: str) -> None:
        self.expect(text.count(what) == times, f"not {times} times but {text.count(what)}: {what!r} in\n{text}")

    def test_a_report_fits_a_terminal(self):
        """Kills: a sentence or a source line past column 80, a caret that does not stand under the access, or
        the call; what lies behind the end of a line that was shortened since."""
        # One block after the other: of two at once, one may write between two threads' same values of the other.
        settings = {"env": {**os.environ, "SIM_THREADS": "1"}, "stderr": subprocess.PIPE, "text": True, "check": False}
        done = subprocess.run([*RUNNER, WIDE.path], **settings)
        self.expect("blocks run in any order" in done.stderr, done.stderr)
        lines = done.stderr.splitlines()
        path = str(WIDE.sources[0])  # a word, which is not taken apart
        self.expect_equal([line for line in lines if len(line) > 80 and path not in line], [], "too long")
        carets = [i for i, line in enumerate(lines) if line.endswith("^")]
        self.expect_equal({lines[i - 1][lines[i].index("^")] for i in carets}, {"=", "c"}, done.stderr)
        self.addCleanup(WIDE.sources[0].write_text, WIDE.sources[0].read_text())
        WIDE.sources[0].write_text("x\n" * 9)
        short = subprocess.run([*RUNNER, WIDE.path], **settings).stderr
        self.expect_equal(sorted(re.findall("[0-9]+ [|] .*", short)), ["3 | x", "4 | x"], short)
        self.expect("^" not in short, short)

    def test_as_much_of_a_line_as_fits(self):
        """Kills: a character less, or more, on either side; bytes that are counted for characters."""
        told = re.findall(r"^========= +\d+ \| (.*)\n=========           \| ( *)\^$", FIT.run().err, re.MULTILINE)
        self.expect_equal(len(told), len(FITTED), "lines with a caret")
        for source, (shown, caret) in zip(FITTED, told):
            line = source.split("\n")[0].replace("\t", " ")
            text, end = line.lstrip(), line.index("=")
            if len(text) <= 58:
                expected = line[max(0, len(line) - 58) :]
            elif len(line[: end + 1].encode()) <= 4 + 55:  # compilers count bytes
                expected = f"{text[:55]}..."
            else:
                first = len(line.encode()[: len(line[: end + 1].encode()) - 26].decode(errors="ignore"))
                rest = line[first + 52 :] and "..."
                expected = f"...{line[first : first + 52]}{rest}"
            self.expect_equal(shown, expected, line)
            self.expect_equal(shown[len(caret) : len(caret) + 1], "=", f"above the caret: {line}")

    # ---- again and again ----

    def test_both_sides_name_their_file(self):
        for order in ("forward", "reverse"):
            _, report = self.run_one(TWO_FILES, SIM_ORDER=order)
            races = [hazard for hazard in report.hazards if hazard["tool"] == "racecheck"]
            for hazard in races:
                other = hazard["other"]
                sides = {(each["file"], each["line"]) for each in (hazard, other)}
                self.expect_equal(sides, {("reader.cuh", 7), ("writer.cu", 23)}, f"{order}: {hazard}")
            self.expect(races, f"{order}: no race was found")

    def test_files_of_one_name_are_told_apart(self):
        for each in SAME_NAME:
            _, report = self.run_one(each)
            places = [(hazard["kind"], hazard["file"], hazard["line"]) for hazard in report.hazards]
            expected = [("out_of_bounds", "same.cu", 7), ("out_of_bounds", "part/same.cu", 20)]
            self.expect_equal(places, [*expected, ("division_by_zero", "part/same.cu", 21)], each.name)

    def test_the_same_hazards_again_and_again(self):
        """Each place is printed once, and at the end how often; what is new even after many launches of the rest."""
        early, copy = place(AGAIN, "@early"), place(AGAIN, "@copy")
        for order in ("forward", "shuffle:1", "reverse"):
            outcome, report = self.run_one(AGAIN, SIM_ORDER=order)
            for times, said in (
                (2, "Error: Race reported"),
                (1, "========= racecheck: RAW at "),
                (1, "========= racecheck: WAR at "),
                (2, " in race [12800 hazards over 50 launches]\n"),
                (1, "========= Warning: Barrier error detected. Divergent thread(s) in "),
                (1, "40 of 96 threads wait here; 56 have left the kernel [3 times]"),
                (1, f"{early} in early [75 hazards over 25 launches]\n"),
                (1, "Uninitialized __global__ memory read"),
                (1, f"{copy} in copy [635 hazards over 5 launches]\n"),
                (1, "========= ERROR SUMMARY: 105 errors\n"),
            ):
                self.expect_times(outcome.err, times, said)
            kinds = [hazard["kind"] for hazard in report.hazards if hazard["severity"] != "info"]
            expected = {"RAW": 50, "WAR": 50, "exited_threads": 25, "uninitialized": 5}
            self.expect_equal(Counter(kinds), expected, f"{order}: records")
            self.expect_equal(len(report.launches), 105, f"{order}: launches")

    def test_many_places(self):
        """More places than are printed: "and n more" is said once, not at each launch; and never of just as many."""
        outcome, report = self.run_one(MANY_PLACES, SIM_ORDER="forward")
        self.expect_times(outcome.err, 8, "Uninitialized __global__ memory read")
        more = "========= ... and 2 more places of this kind (uninitialized) in many\n"
        self.expect_times(outcome.err, 1, more)
        self.expect_times(outcome.err, 1, "... and ")
        self.expect_times(outcome.err, 4, " hazards over 20 launches]\n")
        self.expect_in("========= ERROR SUMMARY: 124 errors\n", outcome.err)
        self.expect_equal(len(report.of("initcheck", "uninitialized")), 124, "records")

    def test_errors_that_end_a_launch_and_misused_calls(self):
        """One launch after another that ends in an error, each after a reset; and a call that is wrong each time. A few
        calls need no sum."""
        for times in (4, 5, 30):
            outcome, report = self.run_one(ENDS, SIM_ORDER="forward", TIMES=str(times))
            for count, said in (
                (1, "Invalid __global__ write"),
                (1, f" in past [{times} hazards over {times} launches]\n"),
                (4, "on CUDA API call to cudaFree.\n"),
                (int(times > 4), f"{place(ENDS, '@free')} in cudaFree [{times} hazards]\n"),
                (1, f"========= ERROR SUMMARY: {2 * times} errors\n"),
            ):
                self.expect_times(outcome.err, count, said)
            kinds = Counter(hazard["kind"] for hazard in report.hazards)
            self.expect_equal(kinds, {"out_of_bounds": times, "api_misuse": times}, "records")

    def test_each_misused_call(self):
        """One at a time: the error is returned and kept, the message names the call, and the device goes on."""
        for i, (error, call, says) in enumerate(MISUSES):
            outcome, report = self.run_one(MISUSED, CALL=str(i))
            is_hazard = error not in ("cudaErrorNotSupported", "cudaErrorInvalidDeviceFunction")
            name = call.partition("(")[0]
            null = "null " if "&m" in call else ""  # no pointer is left that a program would go on with
            self.expect_equal(outcome.out, f"{error} {error} {null}cudaSuccess\n", call)
            self.expect_equal((outcome.status, len(report.hazards)), (is_hazard, is_hazard), f"{call}: status, records")
            if call.startswith("cuda"):
                self.expect_in(f"on CUDA API call to {name}." if is_hazard else name, outcome.err, call)
            self.expect(re.search(says, outcome.err), f"{call}: no {says!r} in {outcome.err}")
        for i, call in enumerate(RIGHT_CALLS, len(MISUSES)):
            outcome, report = self.run_one(MISUSED, CALL=str(i))
            self.expect_equal((outcome.out, report.hazards), ("cudaSuccess cudaSuccess cudaSuccess\n", []), call)
            self.expect_silent(outcome, call)

    # ---- what the records tell besides ----

    def test_which_access_follows_which_in_the_program(self):
        """A thread that passed both proves it, whichever of two racing threads this device happened to run first."""
        fill, drain = (marked_line(ROUNDS.text, mark) for mark in ("@fill", "@drain"))
        follows = {"1": {(fill, drain)}, "2": {(drain, fill)}, "3": {(fill, drain), (drain, fill)}}
        cure = {missing: "a __syncthreads() is missing between these two accesses" for missing in follows}
        cure["3"] = (
            "no barrier stands between them in this loop. If they are of different iterations, a "
            "__syncthreads() is missing at the end of its body. If they are of the same iteration, it is missing "
            "between these two accesses"
        )
        cure["2"] = (
            f"the access in line {fill} is of the loop's next iteration: a __syncthreads() is missing behind line "
            f"{drain}, at the end of the loop's body"
        )
        ways = product(
            (ROUNDS, UNFENCED_ROUNDS), ("forward", "reverse", "shuffle:1", "shuffle:2"), ({}, {"PARTED": "1"})
        )
        for made, order, parted in ways:
            for missing, expected in follows.items():
                what = f"{made.source.name}, {order}, {missing} {parted}"
                _, report = self.run_one(made, SIM_ORDER=order, MISSING=missing, **parted)
                races = [hazard for hazard in report.hazards if hazard["tool"] == "racecheck"]
                told = {(race["other"]["line"], race["line"]) for race in races if "passed" in race["other"]}
                self.expect(races, f"{what}: no race was found")
                self.expect_equal(told, expected, what)
                advice = {race["advice"] for race in races if race["array"] == "s"}
                self.expect_equal(advice, {cure[missing]}, what)

    def test_where_a_barrier_belongs_outside_of_the_functions_that_need_it(self):
        """Kills: a barrier "between these two accesses", where one stands and the missing one is at the loop's end,
        because the accesses are in functions that the loop calls, or because no thread comes to both; and advice of a
        __syncwarp() where the missing __syncthreads() will do."""
        lines = {mark: marked_line(HELPERS.text, f"@{mark}") for mark in re.findall(r"// @(\w+)", HELPERS.text)}
        sides = {  # the upper one, the lower one, and how they are called
            "helped": (
                f"line {lines['calls_put']} (in put, line {lines['put']})",
                f"line {lines['calls_get']} (in get, line {lines['get']})",
                "__syncthreads()",
            ),
            "divided": (f"line {lines['gives']}", f"line {lines['takes']}", "__syncthreads()"),
            "lanes": (f"line {lines['writes']}", f"line {lines['reads']}", "__syncwarp()"),
        }
        for made, order in product((HELPERS, UNFENCED_HELPERS), ("forward", "reverse", "shuffle:1")):
            for kernel, (upper, lower, barrier) in sides.items():
                between = f"between {upper} and {lower}" if kernel == "helped" else "between these two accesses"
                for missing, cure in (
                    ("1", f"a {barrier} is missing {between}"),
                    (
                        "2",
                        f"the access in {upper} is of the loop's next iteration: a {barrier} is missing behind "
                        f"{lower}, at the end of the loop's body"
                        + ". Without a loop: what stands between them is not for both lanes, by its mask or because "
                        "one has left" * (kernel == "lanes"),
                    ),
                ):
                    what = f"{made.source.name}, {order}, {kernel} without barrier {missing}"
                    outcome, report = self.run_one(made, SIM_ORDER=order, KERNEL=kernel, MISSING=missing)
                    told = set(re.findall(r"^========= {5}(.* is missing .*)", outcome.err, re.MULTILINE))
                    self.expect_equal(told, {cure}, what)
                    severities = {race["severity"] for race in report.hazards}
                    expected = {"helped": {"error", "warning"}, "divided": {"error"}, "lanes": {"warning"}}
                    self.expect_equal(severities, expected[kernel], f"{what}: the records leave nothing out")

    def test_an_element_has_the_name_that_it_has_in_c(self):
        """Kills: an index into rows, vectors or structs that counts words of 4 bytes."""
        outcome, _ = self.run_one(NAMED)
        named = re.findall("^=========     on (.*)$", outcome.err, re.MULTILINE)
        self.expect_equal(named, re.findall("break; // (.*)", NAMED.text), outcome.err)

    def test_a_race_of_the_block_comes_first(self):
        """Kills: the first line a student sees is that a __syncwarp() is missing, where a __syncthreads() is."""
        for order in ("forward", "reverse", "shuffle:1"):
            outcome, report = self.run_one(BOTH, SIM_ORDER=order)
            severities = [race["severity"] for race in report.hazards]
            self.expect_equal(severities, sorted(severities), order)
            self.expect_equal(set(severities), {"error", "warning"}, order)
            self.expect(outcome.err.startswith("========= Error: Race reported between"), f"{order}: {outcome.err}")

    def test_what_helps_where_one_line_reads_and_writes(self):
        """Kills: "read into a variable, wait, then write" of a counter, which only atomics cure; "read, change and
        write" of a line that only writes; "the loop's next iteration" where there is no loop; "between" where a
        barrier is."""
        cures = {
            "count": "several threads read, change and write the same element: each needs an element of its own, or "
            "atomics",
            "write": "threads use the same element in the same place: each needs an element of its own, or atomics",
            "shift": "a __sync(?:threads|warp)\\(\\) is missing between these two accesses: read into a variable, "
            "wait, then write",
            "put": "a __syncthreads\\(\\) is missing between these two accesses",
            "loop": "the barrier in this line does not stand between them: a __syncthreads\\(\\) is missing at the end "
            "of the loop's body, .*",
            "replace": "several threads read, change and write the same element: each needs an element of its own, or "
            "atomics",
            "sum": "(?:several threads read, change and .*|blocks run in any order and .*: use atomics, or .*"
            "__threadfence.*)",
        }
        for order in ("forward", "reverse", "shuffle:1"):
            _, report = self.run_one(ONE_LINE, SIM_ORDER=order)
            for mark, cure in cures.items():
                line = marked_line(ONE_LINE.text, f"@{mark}")
                lines = {line, line - (mark == "replace")}
                advice = {
                    race["advice"]
                    for race in report.hazards
                    if {race["line"], race["other"]["line"]} in ({line}, lines)
                }
                self.expect(advice, f"{order}: no race in line {line}")
                for each in advice:
                    one_writes = mark == "replace" and order == "reverse"
                    self.expect(one_writes or re.fullmatch(cure, each), f"{order}, {mark}: {each}")

    def test_what_helps_where_nothing_was_written(self):
        """Kills: "read into a variable, wait, then write" of a sum that nobody wrote before; not a word of that."""
        several = (
            "several threads read, change and write the same element: each needs an element of its own, or atomics"
        )
        for order, written in product(("forward", "reverse"), ({}, {"WRITTEN": "1"})):
            _, report = self.run_one(NEVER_WRITTEN, SIM_ORDER=order, **written)
            races = [hazard for hazard in report.hazards if hazard["tool"] == "racecheck"]
            lines = [marked_line(NEVER_WRITTEN.text, mark) for mark in ("@block", "@grid")]
            self.expect_equal({race["line"] for race in races}, set(lines), f"{order} {written}: races")
            advice = {race["advice"] for race in races if race["line"] == lines[0] and race["severity"] != "info"}
            self.expect_equal(advice, {several}, f"{order} {written}")
            unwritten = [hazard["line"] for hazard in report.of("initcheck", "uninitialized")]
            self.expect_equal(unwritten, [] if written else lines, f"{order} {written}: what nobody wrote")

    @unless_run_by_another  # under a limit of address space there is no room for so many arrays
    def test_more_hazards_than_are_kept(self):
        """Kills: the 4,097th place or array left out without a word."""
        for arrays, note in ((4096, 0), (4097, 1)):
            outcome, report = self.run_one(MANY_ARRAYS, ARRAYS=str(arrays), SIM_CHECK="initcheck")
            self.expect_equal(len(report.hazards), 4096, "records")
            said = "Note: kernel gather has more than 4096 hazards of different places and arrays: some are left out"
            self.expect_times(outcome.err, note, said)

    def test_more_places_than_a_cell_has_room_for(self):
        """Kills: the number of a place cut to 16 bits, so that a race names another one."""
        filler = '__attribute__((used, section("sim_sites"), aligned(8))) static char places[24 * 70000] = {0};\n'
        kernel = """__global__ void shift(int *y)
{
	y[blockIdx.x] = 1;
	y[blockIdx.x ^ 1] = 2;
}
int main()
{
	int *y;
	cudaMalloc(&y, 64);
	shift<<<2, 1>>>(y);
	return cudaDeviceSynchronize();
}
"""
        made, report = self.scratch / "places", self.scratch / "report.json"
        sources = [self.write("filler.c", filler), self.write("shift.cu", kernel)]
        built = simcc(FIRST, [*sources, "-o", made])  # places of the first come first
        self.assertEqual(built.status, 0, built.err)
        outcome = run([*RUNNER, made], {"SIM_REPORT": str(report)})
        sides = {frozenset((race["line"], race["other"]["line"])) for race in read_report(report).hazards}
        self.expect_equal(sides, {frozenset((3, 4))}, outcome.err)

    def test_a_copy_that_was_begun_behind_the_wait(self):
        """Kills: "the wait leaves the last 0 groups under way, and this copy is in one of them"; a line of another file
        without its name."""
        outcome, report = self.run_one(WAITS_ELSEWHERE, SIM_ORDER="forward")
        says = (
            "this copy was begun behind the wait at wait.cuh:7, its thread's last: a __syncthreads() is missing "
            "between the access and the copy, if that is to come later, or another wait"
        )
        self.expect(says in [race["advice"] for race in report.of("racecheck", "RAW")], outcome.err)

    def test_copies_that_no_instruction_does(self):
        """Kills: one that is done all the same, or is refused for another reason."""
        reasons = ["of a length that is not 4, 8 or 16 bytes", "that reads more bytes than it writes"]
        reasons += ["to memory that is not shared", *2 * ["from memory that is not global"]]
        for way, why in enumerate(reasons):
            outcome, report = self.run_one(REFUSED_COPIES, WAY=str(way))
            self.expect_equal((outcome.status, outcome.out), (1, "cudaErrorIllegalAddress\n"), why)
            self.expect_in(f"========= An asynchronous copy (cp.async) {why}\n", outcome.err)
            lines = [hazard["line"] for hazard in report.hazards]
            self.expect_equal(lines, [marked_line(REFUSED_COPIES.text, f"@{way}")], why)
        self.expect_silent(self.run_one(REFUSED_COPIES, WAY="5")[0], "of nothing")

    def test_shared_memory_line_by_line(self):
        _, report = self.run_one(LINES)
        self.expect_equal(len(report.launches), 2, "launches")
        lines = {mark: marked_line(LINES.text, f"@{mark}") for mark in ("rows", "two", "column", "one", "copied")}
        for launch, blocks, ways in zip(report.launches, (3, 1), (2, 1)):
            told = [
                (line["line"], line["op"], line["requests"], line["wavefronts"], line["ideal_wavefronts"])
                for line in launch["shared_lines"]
            ]
            expected = [
                (lines["rows"], "store", 32 * blocks, 32 * blocks, 32 * blocks),
                (lines["two"], "load", blocks, ways * blocks, blocks),
                (lines["column"], "load", blocks, 32 * blocks, blocks),
                (lines["one"], "atomic", blocks, blocks, blocks),
                (lines["copied"], "load", 3 * blocks, 3 * blocks, 3 * blocks),
                (lines["copied"], "store", 3 * blocks, 3 * blocks, 3 * blocks),
            ]
            self.expect_equal(told, expected, launch["template"])
            self.expect_equal({Path(line["file"]).name for line in launch["shared_lines"]}, {LINES.source.name}, "file")

    # ---- orders ----

    def test_hazards_of_several_workers_are_in_the_order_of_blocks(self):
        """Kills: what a block found in the order in which another worker found it."""
        outcome, report = self.run_one(TWO_RACES, SIM_THREADS="2")
        self.expect_equal(outcome.status, 1, "exit status")
        self.expect_equal("".join(hazard["array"] for hazard in report.hazards), 8 * "bbaa", "arrays")

    def test_each_order_is_the_one_asked_for(self):
        """Hazards are looked for in several orders: that says something only if the orders differ."""
        turns = {}
        for order in ("forward", "reverse", "shuffle:1", "shuffle:2"):
            outcome, _ = self.run_one(TURNS, SIM_ORDER=order, SIM_THREADS="1")
            self.expect_silent(outcome, order)
            turns[order] = [int(word) for word in outcome.out.split()]
            self.expect_equal(sorted(turns[order]), list(range(256)), f"{order}: all threads, once each")
        self.expect_equal(turns["forward"], list(range(256)), "forward")
        self.expect_equal(turns["reverse"], list(range(256))[::-1], "reverse")
        sums = [crc32(bytes(turns[order])) for order in ("shuffle:1", "shuffle:2")]
        self.expect_equal(sums, [2764263245, 2226988075], "a seed's order is the same everywhere, and for ever")

    # ---- large grids ----

    def test_more_blocks_than_a_cell_can_tell_apart(self):
        for order, threads in (("forward", "1"), ("shuffle:1", "2"))[: 2 if LONG else 1]:
            outcome, report = self.run_one(LARGE_GRID, SIM_ORDER=order, SIM_THREADS=threads, FENCES="1")
            self.expect_equal((outcome.status, outcome.out, outcome.err), (0, "42\n", ""), order)
            outcome, report = self.run_one(LARGE_GRID, SIM_ORDER=order, SIM_THREADS=threads)
            self.expect_times(outcome.err, 1, f"{place(LARGE_GRID, '@data')} and Read access at ")
            self.expect_equal([hazard["count"] for hazard in report.hazards], [4, 4], "bytes")

    def test_blocks_that_a_cell_cannot_tell_apart_are_said(self):
        """Kills an engine that gives two blocks one number and says nothing."""
        for blocks in (1, (1 << 21) + 2):
            outcome, report = self.run_one(UNFENCED_GRID, BLOCKS=str(blocks), SIM_CHECK="racecheck")
            self.expect_equal(outcome.status, 0, outcome.err)
            self.expect_times(outcome.err, int(blocks > 1), "racecheck could not compare all accesses of kernel touch")

    def test_more_locks_than_a_thread_is_known_to_hold(self):
        """Kills an engine that forgets one of them and says nothing."""
        for locks, complete in ((4, True), (5, False)):
            outcome, _ = self.run_one(LOCKS, LOCKS=str(locks), SIM_ORDER="forward", SIM_CHECK="racecheck")
            self.expect_equal(outcome.status, int(complete), outcome.err)
            self.expect_times(outcome.err, int(not complete), "racecheck could not compare all accesses of kernel take")

    # ---- what is computed all the same ----

    def expect_passed(self, made: Part, warns: bool, **setting: str) -> None:
        outcome, report = self.run_one(made, **setting)
        self.expect_equal((outcome.status, outcome.out), (0, "right\n"), outcome.err)
        self.expect_times(outcome.err, 2 * warns, "========= Warning: Barrier error")
        self.expect_times(outcome.err, int(warns), " in reverse [2 hazards over 1 launch]\n")  # two on one line
        self.expect("ERROR SUMMARY" not in outcome.err, outcome.err)
        for launch in report.launches:
            self.expect(not is_counted(launch) or launch["barriers"] == 3 * 3, f"{launch['barriers']} barriers")

    def test_those_that_left_count_as_arrived(self):
        for made in ARRIVED:
            self.expect_passed(made, True, SIM_ORDER="forward")
            self.expect_passed(made, True, SIM_ORDER="shuffle:2")
            self.expect_passed(made, False, SIM_CHECK="memcheck,racecheck,initcheck")

    def test_in_a_plain_build_too(self):
        outcome, _ = self.run_one(PLAIN, SIM_ORDER="forward")
        self.expect_equal((outcome.status, outcome.out), (1, "right\n"), outcome.err)
        self.expect_times(outcome.err, 1, "========= Warning: Barrier error")
        self.expect_times(outcome.err, 1, " in reverse [30 hazards over 10 launches]\n")
        lane = "__shfl_down_sync with mask 0xffffffff reads lane 16, which has left the kernel"
        self.expect_times(outcome.err, 1, lane)
        self.expect_in("========= ERROR SUMMARY: 1 error\n", outcome.err)
