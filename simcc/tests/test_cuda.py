"""The world's CUDA: what of it is not here is an error where it is used, which names it; a real toolkit's headers are
never picked up; -arch; and cooperative groups fail as the intrinsics do, at the user's line. What is here, and right,
is in programs/ (groups, sixteen_bits, overloads, libraries, host_atomics)."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

from support import (
    COMPILERS,
    CUDA,
    FIRST,
    HOME,
    LONG,
    SIMCC,
    TRIED,
    Case,
    Compiler,
    Part,
    marked_line,
    run,
    simcc,
    together,
)

sys.path.append(str(HOME))
sys.dont_write_bytecode = True  # nothing is written among the sources of simcc
from driver.options import parse  # noqa: E402

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
    malloc(4); calloc(1, 4); free(y); exit(1); abort(); getenv("HOME"); fopen("x", "r"); fprintf((FILE *)s, "%g", *y);
    fflush(0); fgets((char *)y, 4, 0); scanf("%f", y); sscanf("1", "%f", y); sprintf((char *)y, "%p", s);
    perror("x"); strcpy((char *)y, (char *)s); y[0] = memcmp(y, s, 4); y[0] = atoi((char *)y); strtol((char *)y, 0, 10);
    rand(); srand(1); random(); time(0); clock_gettime(0, 0); qsort(y, 1, 4, 0);
"""
NOT_OURS = "a function of the host, which a kernel cannot call"
OF_THE_HOST = [
    *[
        Use(call, name, "in device code" if name in ("malloc", "free") else NOT_OURS)
        for call in re.findall(r"\S.*?;", CALLED)
        for name in re.findall(r"\w+(?=\()", call)[:1]
    ],
    Use("y[0] = *new float(1);", "new", "in device code"),
    Use("delete y;", "delete", "in device code"),
]
# What clang itself knows to be the host's.
KNOWN_TO_CLANG = [
    Use("usleep(1);", "usleep", NOT_OURS),
    Use("gettimeofday(0, 0);", "gettimeofday", NOT_OURS),
    Use("std::vector<float> v(10);", "std::vector<float>", NOT_OURS),
    Use("fputs(0, stderr);", "stderr", "__host__ variable"),
    Use("std::cout << y[0];", "cout", "__host__ variable"),
    Use("y[0] = std::chrono::steady_clock::now().time_since_epoch().count();", "now", "__host__ function"),
    Use("throw 1;", "throw", "in __global__ function"),
]
# By who refuses them: clang, then the plugin. An error hides those found later.
USES = [[FRAGMENT, UNIFORM, *IN_KERNELS, *IN_MAIN, *KNOWN_TO_CLANG], [COMPILER_ATOMIC, *OF_THE_HOST]]
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
FAILING = {compiler: Part("cuda.groups", GROUPS, compiler) for compiler in TRIED}
DEFAULT = Part("cuda.nested", NESTED)
for _compiler in TRIED:
    together("cuda", [FAILING[_compiler], *([DEFAULT] if _compiler == FIRST else [])], compiler=_compiler)
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
        outcome = simcc(compiler, ["-ferror-limit=0", "-c", source.name, "-o", "x.o"], cwd=self.scratch)
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
            told = use.name in said and use.what in said
            self.expect(told, f"{what}: expected {use} in\n{outcome.err}")

    def test_what_is_missing_is_an_error_where_it_is_used(self):
        for compiler in COMPILERS:
            for together_refused in USES:
                for uses in [[use] for use in together_refused] if LONG else [together_refused]:
                    self.expect_refusals(uses, compiler)

    def test_a_default_argument_may_launch(self):
        """The host evaluates it, once."""
        self.expect_silent(DEFAULT.run(), "launches")

    def test_groups_fail_as_intrinsics_do(self):
        for compiler, made in FAILING.items():
            for which, status, says, mark in FAILURES:
                outcome = made.run(str(which))
                name = f"{compiler.cxx}, kernel {which}"
                self.expect_equal(outcome.status, status, f"{name}: exit status")
                self.expect_in(says, outcome.err, name)
                self.expect_in(f"cuda.groups.cu:{marked_line(GROUPS, mark)}\n", outcome.err, name)

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
        cxx, *options = CUDA
        for name, wrapped in (("wrapped-clang", cxx.replace("++", "")), ("wrapped-clang++", cxx)):
            text = f'#!/bin/sh\nexec {wrapped} "$@" -idirafter {toolkit} -Wno-unused-command-line-argument\n'
            wrapper = self.write(name, text)
            wrapper.chmod(0o755)
        (toolkit / "npp.h").write_text("/* Copyright NVIDIA Corporation */\nint npp;\n")
        (toolkit / "own.h").write_text("int own;\n")  # a directory may hold others' headers too
        compiler = Compiler(FIRST.cc, " ".join([str(wrapper), *options]))
        source = self.write("uses.cu", "#include <own.h>\n\n#include <npp.h>\nint main() {}\n")
        outcome = simcc(compiler, ["-c", source.name, "-o", "x.o"], cwd=self.scratch)
        self.expect_equal(outcome.status, 1, "exit status")
        said = f"uses.cu:3: error: {toolkit}/npp.h is a header of the CUDA Toolkit, "
        said += "and the simulated device has none in its place\n"
        self.expect_equal(outcome.err, said, "message")
        source.write_text("#include <own.h>\nint main() {}\n")
        self.expect_silent(simcc(compiler, ["-c", source.name, "-o", "x.o"], cwd=self.scratch), "own.h")
