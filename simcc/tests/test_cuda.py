"""The world's CUDA: a real toolkit's headers are never picked up; and cooperative groups fail as the intrinsics
do, at the user's line. What is here, and right, is in programs/ (groups, sixteen_bits, overloads, libraries);
what is not is an error where it is used, which names it (mistakes/missing.cu)."""

from __future__ import annotations

from pathlib import Path

from support import CUDA, FIRST, SIMCC, TRIED, Case, Compiler, Part, long_test, marked_line, run, simcc, together

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
		y[t] = (int)cg::tiled_partition(static_cast<cg::thread_group &>(block), 64).size(); // large
	if (which == 6)
		y[t] = (int)cg::tiled_partition(cg::coalesced_threads(), which / 2).size(); // three
	if (which == 7)
		y[t] = (int)cg::tiled_partition(cg::coalesced_threads(), which - 7).size(); // none
}
int main(int, char **argv)
{
	int *y;
	cudaMalloc(&y, 256);
	k<<<1, 64>>>(y, argv[1][0] - '0');
	return cudaDeviceSynchronize() != cudaSuccess;
}
"""
FAILING = {compiler: Part("cuda.groups", GROUPS, compiler) for compiler in TRIED}
for _compiler, _made in FAILING.items():
    together("cuda", [_made], compiler=_compiler)
# which kernel, exit status, what is said, at which line
FAILURES = [
    (0, 1, "__shfl_down_sync with mask 0xffffffff reads lane 16", "shuffle"),
    (1, 1, "__shfl_xor_sync with mask 0xffffffff reads lane 16", "reduce"),
    (2, 0, "40 of 64 threads wait here", "block"),
    (3, 1, "__syncwarp: the mask 0x000000ff names lanes that never arrive here", "tile"),
    (4, 0, "hazard", "race"),
    (5, 1, "a tile of 64 threads; it may have 1, 2, 4, 8, 16 or 32", "large"),
    (6, 1, "a tile of 3 threads; it may have 1, 2, 4, 8, 16 or 32", "three"),
    (7, 1, "a tile of 0 threads; it may have 1, 2, 4, 8, 16 or 32", "none"),
]
TOOLKIT = "/* Copyright NVIDIA Corporation */\n#error the toolkit's\n"


class Cuda(Case):
    def test_groups_fail_as_intrinsics_do(self):
        for compiler, made in FAILING.items():
            for which, status, says, mark in FAILURES:
                outcome = made.run(str(which))
                name = f"{compiler.cxx}, kernel {which}"
                self.expect_equal(outcome.status, status, f"{name}: exit status")
                self.expect_in(says, outcome.err, name)
                self.expect_in(f"cuda.groups.cu:{marked_line(GROUPS, mark)}\n", outcome.err, name)

    def make_toolkit(self, folder: str = "toolkit") -> Path:
        names = "cuda_runtime.h cuda_runtime_api.h driver_types.h vector_types.h crt/host_config.h npp.h"
        for name in names.split():
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

    @long_test
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
