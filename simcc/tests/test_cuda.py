"""The world's CUDA: what of it is not here is an error where it is used, which names it; a real toolkit's headers are
never picked up; -arch; and cooperative groups fail as the intrinsics do, at the user's line. What is here, and right,
is in programs/ (groups, sixteen_bits, overloads, libraries, host_atomics)."""

from __future__ import annotations

import re
import sys
import unittest
from pathlib import Path
from typing import NamedTuple

from support import COMPILERS, FIRST, HOME, LONG, SIMCC, TRIED, Case, Compiler, Part, marked_line, run, simcc, together

sys.path.append(str(HOME))
sys.dont_write_bytecode = True  # nothing is written among the sources of simcc
from passes.options import parse  # noqa: E402

sys.dont_write_bytecode = False

HEAD = """#include <cooperative_groups.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <curand_kernel.h>
#include <mma.h>
#include <thrust/device_vector.h>
#include <cufft.h>
#include <sys/time.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <vector>
namespace cg = cooperative_groups;
using namespace nvcuda;
"""


class Use(NamedTuple):
    """Something that is missing, in a kernel or in a function of the host, and two parts of the message."""

    code: str
    name: str
    what: str

    def function(self, index: int) -> str:
        if self in IN_MAIN:
            return f"void host{index}()\n{{\n{self.code}\n}}\n"
        return f"__global__ void kernel{index}(float *y, curandState *s)\n{{\n{self.code}\n}}\n"

    def launch(self, index: int) -> str:
        return "" if self in IN_MAIN else f"\tkernel{index}<<<1, 1>>>(0, 0);\n"


TILE_OF_64 = "auto t = cg::tiled_partition<64>(cg::this_thread_block());"
IN_KERNELS = [
    Use("cg::sync(cg::this_grid());", "sync", "a barrier of the whole grid"),
    Use("cg::this_grid().sync();", "sync", "a barrier of the whole grid"),
    Use("auto c = cg::this_cluster();", "this_cluster", "a group of a cluster of blocks"),
    Use(TILE_OF_64, "tiled_partition", "a tile of more than 32 threads"),
    Use("cg::memcpy_async(cg::this_thread_block(), y, y, 4);", "memcpy_async", "an asynchronous copy"),
]
IN_MAIN = [
    Use("cudaTextureObject_t texture;", "cudaTextureObject_t", "textures"),
    Use("cublasSgemm(0, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1);", "cublasSgemm", "cuBLAS"),
    Use("cublasStatus_t status = cublasSaxpy(0, 1, 0, 0, 1, 0, 1);", "cublasSaxpy", "cuBLAS"),
    Use("cufftHandle plan; cufftPlan1d(&plan, 8, CUFFT_C2C, 1);", "cufftPlan1d", "cuFFT"),
    Use("cudaGraphLaunch(0, 0);", "cudaGraphLaunch", "CUDA runtime"),
    Use("cuInit(0);", "cuInit", "the driver API"),
    Use("thrust::device_vector<int> v(10);", "thrust::device_vector", "Thrust"),
]
UNIFORM = Use("y[0] = curand_uniform(s);", "curand_uniform", "cuRAND")
FRAGMENT = Use("wmma::fragment<wmma::matrix_a, 16, 16, 16, float> f;", "wmma::fragment", "tensor cores")
COMPILER_ATOMIC = Use("__sync_fetch_and_add((int *)y, 1);", "a compiler atomic", "in device code")
# Functions of the host; printf and puts are the device's, too. What glibc calls otherwise (__isoc99_sscanf) must be
# named as it was written.
CALLED = """
    malloc(4); calloc(1, 4); free(y); exit(1); abort(); getenv("HOME"); fopen("x", "r"); fprintf(stderr, "%g", *y);
    fflush(stdout); fgets((char *)y, 4, stdin); scanf("%f", y); sscanf("1", "%f", y); sprintf((char *)y, "%p", s);
    perror("x"); strcpy((char *)y, (char *)s); y[0] = memcmp(y, s, 4); y[0] = atoi((char *)y); strtol((char *)y, 0, 10);
    rand(); srand(1); random(); time(0); usleep(1); clock_gettime(0, 0); gettimeofday(0, 0); qsort(y, 1, 4, 0);
"""
OF_THE_HOST_ONLY = [
    *[Use(call, re.findall(r"\w+(?=\()", call)[0], "in device code") for call in re.findall(r"\S.*?;", CALLED)],
    Use("y[0] = *new float(1);", "new", "in device code"),
    Use("delete y;", "delete", "in device code"),
    Use("std::vector<float> v(10);", "delete", "in device code"),
    Use("std::cout << y[0];", "std::ostream", "in device code"),
    Use("y[0] = (float)std::chrono::steady_clock::now().time_since_epoch().count();", "std::chrono", "in device code"),
    Use("throw 1;", "throw", "in device code"),
]
# By who refuses them: simcc before the compiler, the compiler, simcc after it. An error hides those found later.
USES = [[FRAGMENT, UNIFORM, *IN_MAIN[1:]], IN_KERNELS + IN_MAIN[:1], [COMPILER_ATOMIC, *OF_THE_HOST_ONLY]]
GROUPS = """#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__device__ int total(cg::thread_block_tile<32> warp, int v)
{
	return cg::reduce(warp, v, cg::plus<int>()); // reduce
}
__global__ void k(int *y, int which)
{
	auto block = cg::this_thread_block();
	auto warp = cg::tiled_partition<32>(block);
	auto eight = cg::tiled_partition<8>(warp);
	const int t = threadIdx.x;
	if (which == 0 && t < 16)
		y[t] = warp.shfl_down(t, 1); // shuffle
	if (which == 1 && t < 16)
		y[t] = total(warp, 1);
	if (which == 2 && t < 40)
		block.sync(); // block
	if (which == 3) {
		if (t % 8 != 3)
			eight.sync(); // tile
		block.sync(); // other
	}
	if (which == 4) {
		__shared__ int s[64];
		s[t] = t;
		eight.sync();
		y[t] = s[t ^ 7];
		y[t] = s[t ^ 8]; // race
	}
	if (which == 5)
		y[t] = (int)cg::tiled_partition(static_cast<cg::thread_group &>(block), 48).size(); // large
	if (which == 6)
		y[t] = (int)cg::tiled_partition(cg::coalesced_threads(), which / 2).size(); // three
}
int main(int, char **argv)
{
	int *y;
	cudaMalloc(&y, 256);
	k<<<1, 64>>>(y, argv[1][0] - '0');
	return cudaDeviceSynchronize() != cudaSuccess;
}
"""
WIDE_ATOMICS = """#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#define EXPECT(x) ((x) ? (void)0 : (printf("wrong: %s\\n", #x), exit(1)))
struct alignas(16) Wide {
	long a, b;
};
static std::atomic<Wide> wide{Wide{1, 2}};
static __int128 number = (__int128)1 << 100;
static void count()
{
	for (int i = 0; i < 20000; i++) {
		Wide seen = wide.load();
		while (!wide.compare_exchange_weak(seen, Wide{seen.a + 1, seen.b - 1}))
			EXPECT(seen.a + seen.b == 0);
	}
}
__global__ void one(int *p)
{
	*p = 1;
}
int main()
{
	int *p;
	cudaMalloc(&p, sizeof *p);
	one<<<1, 1>>>(p);
	EXPECT(wide.load().a == 1 && wide.load().b == 2);
	wide.store(Wide{3, 4});
	Wide old = wide.exchange(Wide{5, 6});
	EXPECT(old.a == 3 && old.b == 4);
	EXPECT(!wide.compare_exchange_strong(old, Wide{7, 8}) && old.a == 5 && old.b == 6);
	EXPECT(wide.compare_exchange_strong(old, Wide{0, 0}));
	std::thread other(count);
	count();
	other.join();
	EXPECT(wide.load().a == 40000 && wide.load().b == -40000);
	EXPECT(__atomic_fetch_add(&number, 7, __ATOMIC_SEQ_CST) == (__int128)1 << 100);
	EXPECT(__atomic_fetch_sub(&number, 2, __ATOMIC_SEQ_CST) == ((__int128)1 << 100) + 7);
	EXPECT(__atomic_fetch_or(&number, 8, __ATOMIC_SEQ_CST) == ((__int128)1 << 100) + 5);
	EXPECT(__atomic_fetch_xor(&number, 1, __ATOMIC_SEQ_CST) == ((__int128)1 << 100) + 13);
	EXPECT(__atomic_fetch_and(&number, 12, __ATOMIC_SEQ_CST) == ((__int128)1 << 100) + 12);
	EXPECT(__atomic_fetch_nand(&number, 4, __ATOMIC_SEQ_CST) == 12 && number == ~(__int128)4);
	return cudaDeviceSynchronize() != cudaSuccess;
}
"""
NESTED = """__global__ void other() {}
int launch()
{
	other<<<1, 1>>>();
	return 1;
}
__global__ void nested(int *, int n = launch()) {}
int main()
{
	nested<<<1, 1>>>(0);
	return 0;
}
"""
# C++ chooses among functions of one name; here it is none of the kernels.
OF_THE_HOST = """struct S {
	int v;
};
__global__ void fill(S *s, int v)
{
	s->v = v;
}
void fill(S *s, double)
{
	(void)s;
}
int main()
{
	fill<<<1, 1>>>((S *)0, 2.0);
	return cudaDeviceSynchronize();
}
"""
FAILING = {compiler: Part("cuda.groups", GROUPS, compiler) for compiler in TRIED}
WIDE = [Part("cuda.wide_atomics", WIDE_ATOMICS, compiler) for compiler in TRIED if not compiler.is_clang]
DEFAULT = Part("cuda.nested", NESTED)
HOSTS = [Part("cuda.host", OF_THE_HOST), Part("cuda.host.fast", OF_THE_HOST)]
for _compiler in TRIED:
    _first = [DEFAULT, *HOSTS[: not FIRST.front]] if _compiler == FIRST else []
    together("cuda", [FAILING[_compiler], *(WIDE if not _compiler.is_clang else []), *_first], compiler=_compiler)
together("cuda.fast", HOSTS[1:] if not FIRST.front else [], "--fast")
# which kernel, exit status, what is said, at which line
FAILURES = [
    (0, 1, "__shfl_down_sync with mask 0xffffffff reads lane 16", "shuffle"),
    (1, 1, "__shfl_xor_sync with mask 0xffffffff reads lane 16", "reduce"),
    (2, 0, "40 of 64 threads wait here", "block"),
    (3, 1, "__syncwarp: the mask 0x000000ff names lanes that never arrive here", "tile"),
    (4, 0, "hazard", "race"),
    (5, 1, "a tile of 48 threads; it may have 1, 2, 4, 8, 16 or 32", "large"),
    (6, 1, "a tile of 3 threads; it may have 1, 2, 4, 8, 16 or 32", "three"),
]
TOOLKIT = "/* Copyright NVIDIA Corporation */\n#error the toolkit's\n"


class Cuda(Case):
    def expect_refusals(self, uses: list[Use], compiler: Compiler) -> None:
        """Each use has its error, first of those of its line, and no other line has one."""
        functions = "".join(use.function(index) for index, use in enumerate(uses))
        main = "".join(use.launch(index) for index, use in enumerate(uses))
        text = f"{HEAD}{functions}int main()\n{{\n{main}}}\n"
        source = self.write("use.cu", text)
        outcome = simcc(compiler, ["-c", source.name, "-o", "x.o"], cwd=self.scratch)
        what = f"{compiler.cxx}, {', '.join(use.name for use in uses)}"
        self.expect_equal(outcome.status, 1, f"{what}: exit status")
        lines = text.split("\n")
        errors: dict[int, str] = {}
        for said in outcome.err.split("\n"):
            place = re.match(r"use\.cu:(\d+):", said)
            if re.search(r"\berror: ", said):
                self.expect(place, f"{what}: an error elsewhere: {said}")
                errors.setdefault(int(place.group(1)) if place else 0, said)
        self.expect_equal(sorted(errors), sorted(lines.index(use.code) + 1 for use in uses), f"{what}: lines")
        for use in uses:
            said = errors.get(lines.index(use.code) + 1, "")
            # of --front=clang the line is enough: clang has its own words for what is the host's
            told = bool(said) if compiler.front else use.name in said and use.what in said
            self.expect(told, f"{what}: expected {use} in\n{outcome.err}")

    def test_what_is_missing_is_an_error_where_it_is_used(self):
        for compiler in COMPILERS:
            for together_refused in USES:
                for uses in [[use] for use in together_refused] if LONG or FIRST.front else [together_refused]:
                    self.expect_refusals(uses, compiler)

    def test_a_default_argument_launches_nothing(self):
        outcome = DEFAULT.run()
        if FIRST.front:  # the host evaluates it, as in CUDA
            self.expect_silent(outcome, "launches")
            return
        self.expect_equal(outcome.status, 3, "exit status")
        said = ": error: a default argument of a kernel launches 'other': not supported by the simulated device\n"
        self.expect(re.fullmatch(rf"\S+:\d+{re.escape(said)}", outcome.err), f"message: {outcome.err}")

    def test_a_function_of_the_host_is_not_launched(self):
        if FIRST.front:
            outcome = simcc(FIRST, ["-c", self.write("a.cu", OF_THE_HOST).name, "-o", "a.o"], cwd=self.scratch)
            self.expect_in("a.cu:14:16: error: kernel call to non-global function 'fill'", outcome.err)
        for made in HOSTS if not FIRST.front else []:
            outcome = made.run()
            self.expect(outcome.status != 0, f"{made.name}: exit status")
            said = "A function that is no kernel was launched: 'fill' without __global__"
            self.expect_in(said, outcome.err, made.name)

    def test_groups_fail_as_intrinsics_do(self):
        for compiler, made in FAILING.items():
            for which, status, says, mark in FAILURES:
                outcome = made.run(str(which))
                name = f"{compiler.cxx}, kernel {which}"
                self.expect_equal(outcome.status, status, f"{name}: exit status")
                self.expect_in(says, outcome.err, name)
                self.expect_in(f"cuda.groups.cu:{marked_line(GROUPS, mark)}\n", outcome.err, name)

    @unittest.skipUnless(WIDE, "of gcc")
    def test_gccs_atomics_of_16_bytes_need_no_library(self):
        for made in WIDE:
            self.expect_silent(made.run(), "atomics of 16 bytes")

    def test_the_architecture_is_the_options(self):
        assertion = "#ifdef __CUDA_ARCH__\nstatic_assert(__CUDA_ARCH__ == EXPECTED);\n#endif\n"
        text = f"{assertion}__global__ void k() {{}}\n"
        source = self.write("arch.cu", text)
        for options, expected in [
            ([], 900),
            (["-arch=sm_80"], 800),
            (["-arch", "sm_90a"], 900),
            (["--gpu-architecture=compute_100"], 1000),
            (["-gencode", "arch=compute_75,code=sm_75", "-gencode=arch=compute_80,code=[sm_80,compute_80]"], 800),
            (["-arch=native"], 900),
        ]:
            read = parse([*options, "-c", "arch.cu"]).architecture
            self.expect_equal(read or 900, expected, f"{options}: __CUDA_ARCH__")
            if not LONG and len(options) == 1:
                continue
            arguments = [*options, f"-DEXPECTED={expected}", "-c", source, "-o", self.scratch / "arch.o"]
            self.expect_silent(simcc(FIRST, arguments), str(options))
        wrong = simcc(FIRST, ["-DEXPECTED=901", "-c", source, "-o", self.scratch / "arch.o"])
        self.expect_equal(wrong.status, 1, "no device code has __CUDA_ARCH__")

    def make_toolkit(self, folder: str = "toolkit") -> Path:
        for name in (
            "cuda_runtime.h",
            "cuda_runtime_api.h",
            "driver_types.h",
            "vector_types.h",
            "crt/host_config.h",
            "npp.h",
        ):
            self.write(f"{folder}/{name}", TOOLKIT)
        return self.scratch / folder

    def test_a_toolkits_headers_are_not_picked_up(self):
        """One that a compiler is told of in five ways; each has a copy, as a folder named twice counts once."""
        copies = [self.make_toolkit(f"toolkit{i}") for i in range(5)]
        options = [f"-I{copies[0]}", "-I", str(copies[1]), "-isystem", str(copies[2])]
        variables = [f"CPATH={copies[3]}", f"CPLUS_INCLUDE_PATH={copies[4]}"]
        device = "#include <cuda_runtime.h>\n#include <driver_types.h>\n"
        device += "__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n"
        self.write("device.cu", device)
        self.write("host.cpp", "#include <cuda_runtime.h>\nint main() { return cudaDeviceSynchronize(); }\n")
        for file in ("device.cu", "host.cpp"):
            command = ["env", *variables, str(SIMCC), file, "-c", "-o", "x.o", *options]
            self.expect_silent(run(command, FIRST.environment, self.scratch), file)

    def test_a_toolkits_header_that_is_not_ours_is_named(self):
        toolkit = self.make_toolkit()
        wrapper = self.write(
            "wrapped-g++", f'#!/bin/sh\nexec {FIRST.cxx} "$@" -idirafter {toolkit} -Wno-unused-command-line-argument\n'
        )
        wrapper.chmod(0o755)
        (toolkit / "npp.h").write_text("/* Copyright NVIDIA Corporation */\nint npp;\n")
        (toolkit / "own.h").write_text("int own;\n")  # a directory may hold others' headers too
        compiler = Compiler(FIRST.cc, str(wrapper))
        source = self.write("uses.cu", "#include <own.h>\n\n#include <npp.h>\nint main() {}\n")
        outcome = simcc(compiler, ["-c", source.name, "-o", "x.o"], cwd=self.scratch)
        self.expect_equal(outcome.status, 1, "exit status")
        said = f"uses.cu:3: error: {toolkit}/npp.h is a header of the CUDA Toolkit, "
        said += "and the simulated device has none in its place\n"
        self.expect_equal(outcome.err, said, "message")
        source.write_text("#include <own.h>\nint main() {}\n")
        self.expect_silent(simcc(compiler, ["-c", source.name, "-o", "x.o"], cwd=self.scratch), "own.h")
