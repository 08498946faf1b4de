"""The plugin that makes what clang generates count: statements counted by hand, arguments. What it
refuses: test_mistakes.py.

Kills a front end that: loses an access of a statement (a line of COUNTED each), counts one of a thread's own, tells
the host that it is the device, gives two files one private variable, or calls a kernel with wrong arguments.
"""

from __future__ import annotations

import os
import re
import shutil
import sys

import reports
from support import CUDA, FIRST, HOME, OTHER, RUNNER, SIMCC, Case, inline, run, simcc

# A statement of thread i of 32, and the requests of it: loads and stores of global memory. x, y: floats; a, b: ints.
COUNTED = [
    ("y[i] = x[i] + x[i]", 2, 1),
    ("b[i] = a[i] ^ a[i]", 2, 1),
    ("b[i] = a[i] & 0", 1, 1),
    ("b[i] = a[i] * 0", 1, 1),
    ("b[i] = a[i] - a[i] + a[i] / 1", 3, 1),
    ("y[i] = x[i] * 0.0f", 1, 1),
    ("y[i] += x[i]", 2, 1),
    ("b[i]++", 1, 1),
    ("b[i] = a[i] ? a[i] : a[i]", 2, 1),
    ("b[i] = a[i] && a[i + 32]", 1, 1),
    ("y[i] = 1; y[i] = 2", 0, 2),
    ("y[i] = y[i]", 1, 1),
    ("float v = x[i]; if (v > 1e30f) y[i] = v", 1, 0),
    ("const float &r = x[i]; y[i] = r + r", 2, 1),
    ("for (int k = 0; k < 4; k++) y[i] = x[i]", 4, 4),
    ("float v[4]; for (int k = 0; k < 4; k++) v[k] = x[4 * i + k]; y[i] = v[i % 4]", 4, 1),
    ("((bits *)b)[i].low = 1", 1, 1),
    ("b[i] = ((bits *)a)[i].low + ((bits *)a)[i].high", 2, 1),
    ("((three *)y)[i] = ((three *)x)[i]", 3, 3),
    ("((float4 *)y)[i] = ((float4 *)x)[i]", 1, 1),
    ("float4 v = ((float4 *)x)[i]; y[i] = v.x + v.w", 1, 1),
    ("y[i] = ((float4 *)x)[i].x + ((float4 *)x)[i].w", 2, 1),
    ("((float4 *)y)[i] = make_float4(1, 2, 3, x[i])", 1, 1),
    ("((double2 *)y)[i].x = ((double2 *)x)[i].y", 1, 1),
    ("new ((float4 *)y + i) float4(four(x[i]))", 1, 1),
    ("new ((three *)y + i) three(thrice(x[i]))", 1, 3),
    ("y[i] = twice(x[i])", 1, 1),
    ("y[i] = deref(x + i) + deref(x + i)", 2, 1),
    ("y[i] = [&] { return x[i] + x[i]; }()", 2, 1),
    ("*(volatile float *)&y[i] = *(volatile float *)&x[i]", 1, 1),
    ("memcpy(&y[i], &x[i], 4)", 1, 1),
    ("y[i] = __ldg(&x[i]) + fmaxf(x[i], 0)", 2, 1),
    ("atomicAdd(&y[i], x[i])", 1, 0),
]
HEAD = """#include <cstring>
#include <new>
struct bits { unsigned low : 3, high : 29; };
struct three { float x, y, z; };
template <class T> __device__ T twice(T v) { return v + v; }
__device__ float deref(const float *p) { return *p; }
__device__ float4 four(float v) { return make_float4(v, v, v, v); }
__device__ three thrice(float v) { return {v, v, v}; }
"""
KERNELS = "".join(
    f"__global__ void k{n}(const float *x, float *y, const int *a, int *b) {{ int i = threadIdx.x; {statement}; }}\n"
    for n, (statement, *_) in enumerate(COUNTED)
)
LAUNCHES = "".join(f"\tk{n}<<<1, 32>>>(x, y, (int *)x, (int *)y);\n" for n in range(len(COUNTED)))
MAIN = """int main()
{{
	float *x, *y;
	cudaMalloc(&x, 4096), cudaMalloc(&y, 4096);
	cudaMemset(x, 0, 4096), cudaMemset(y, 0, 4096);
{launches}	return cudaDeviceSynchronize();
}}
"""
STATEMENTS = inline("front.counted", HEAD + KERNELS + MAIN.format(launches=LAUNCHES), "-w")

# Each kind of argument as the ABI passes it, and a kernel with one of each.
ARGUMENTS = inline(
    "front.arguments",
    """#include <cstdio>
struct small { char c[3]; };
struct floats { float x, y, z; };
struct mixed { double d; int i; };
struct large { long v[9]; };
struct alignas(64) wide { int v; wide(int n) : v(n) {} wide(const wide &o) : v(o.v) {} };
struct alignas(32) apart { int v[40]; };
struct made { int v; made(int n) : v(n) {} made(const made &o) : v(o.v) {} ~made() {} };
struct empty {};
__global__ void k(int *y, bool t, small s, floats f, empty, mixed m, large l, made o, float4 v, short h, wide w,
	apart a)
{
	bool lies = (size_t)&w % 64 == 0 && (size_t)&a % 32 == 0;
	y[0] = t && s.c[2] == 7 && f.z == 3 && m.i == 5 && m.d == 2.5 && l.v[8] == 9 && o.v == 11 && v.w == 4 && h == -2 &&
		lies && w.v == 13 && a.v[39] == 15;
}
template <class F> __global__ void call(int *y, F f) { y[threadIdx.x] += f(threadIdx.x); }
__global__ void k(int *y, int n) { y[0] += n; }
int main()
{
	int *y, h[2];
	cudaMalloc(&y, 8), cudaMemset(y, 0, 8);
	apart a = {};
	a.v[39] = 15;
	floats f = {1, 2, 3};
	large l = {{1, 2, 3, 4, 5, 6, 7, 8, 9}};
	k<<<1, 1>>>(y, true, small{{0, 0, 7}}, f, empty(), mixed{2.5, 5}, l, made(11), float4{1, 2, 3, 4}, -2, 13, a);
	call<<<1, 2>>>(y, [=] __device__(int i) { return (int)l.v[i] * 10; });
	void (*pointer)(int *, int) = k;
	pointer<<<1, 1>>>(y, 100);
	int thousand = 1000;
	void *arguments[] = {&y, &thousand};
	cudaLaunchKernel((const void *)pointer, dim3(1), dim3(1), arguments, 0, 0);
	cudaMemcpy(h, y, 8, cudaMemcpyDeviceToHost);
	printf("%d %d\\n", h[0], h[1]);
}
""",
)

# Behind a line, what is said of it at its beginning.
DECLARED = """template <int N> __device__ float sum()
{
	__shared__ float s[N];
	return s[threadIdx.x];
}
typedef const int &number;
__global__ void fits(float *y) { y[0] = sum<12288>(); }
__global__ void k(float *y)
{
	__shared__ float large[12289]; // this __shared__ variable has 49156 bytes
	y[0] = large[threadIdx.x];
}
__global__ void both(float *y) // this kernel's __shared__ variables have 49156 bytes
{
	__shared__ float one;
	y[0] = sum<12288>() + one;
}
__global__ void refers(float *y, number n) // a kernel's parameter cannot be a reference
{
	y[0] = n;
}
template <int N> struct numbers { char first; alignas(16) float v[N]; };
__constant__ char half[32768];
__constant__ float table[8192];
__device__ float beside[20000];
__constant__ float more; // this file's __constant__ variables have 65540 bytes
__constant__ const float last[] = {1};
__global__ void takes(const float *__restrict__ y, numbers<8180> a, int, int, int) {}
__global__ void many(float *, numbers<8180>, int, int, int, int) // this kernel's parameters have 32768 bytes
{
}
int main() {}
"""


# Of a file of a program that is one (-rdc=true): what is the file's own, beside another one like it.
OWN = r"""#include <cstdio>
static __device__ int mine[2] = {FILE, 0};
namespace
{
struct tag {};
__global__ void hidden(int *y) { y[0] += 10 * mine[0]; }
template <class T> __global__ void typed(int *y, T) { y[0] += 100 * mine[0]; }
}
static __global__ void own(int *y) { y[0] += mine[1]; }
template <class F> __global__ void call(int *y, F f) { y[0] += f(); }
template <int N> __device__ int shared_sum() { __shared__ int s[N]; s[threadIdx.x] = N; __syncthreads(); return s[0]; }
template <int N> __global__ void of_both(int *y) { y[0] += shared_sum<N>(); }
int ENTRY()
{
	int *y, h = 0, seven = 7, blockDim = 0;
	cudaMalloc(&y, 4), cudaMemset(y, 0, 4);
	cudaMemcpyToSymbol(mine, &seven, 4, 4);
	own<<<1, 1>>>(y), hidden<<<1, 1>>>(y), typed<<<1, 1>>>(y, tag());
	call<<<1, 1>>>(y, [=] __device__ { return 1000 * FILE; });
	of_both<32><<<1, 1>>>(y);
	cudaMemcpy(&h, y, 4, cudaMemcpyDeviceToHost), cudaFree(y);
	return h + blockDim;
}
"""


ORDINARY = """#ifdef __aarch64__
#include <arm_neon.h>
static int third() { return vgetq_lane_s32(vdupq_n_s32(3), 0); }
#else
#include <immintrin.h>
static int third() { return _mm_extract_epi16(_mm_sad_epu8(_mm_set1_epi8(3), _mm_setzero_si128()), 0) / 8; }
#endif
#include <atomic>
#include <cstdio>
#include <malloc.h>
#include <memory>
#include <mutex>
#include <random>
#include <type_traits>
#pragma nv_diag_suppress 177
union quad { float4 f; float a[4]; };
static_assert(std::is_trivially_copyable<float4>::value && std::is_trivial<int2>::value, "as with nvcc");
// PTX, and below assembly of the host's whose letters mean something else.
__global__ void k(quad *p) { quad u = p[0]; p[1] = u; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(p[1].a[3]) : "f"(3.0f)); }
__global__ void other() {}
static int launched;
static int launch() { other<<<1, 1>>>(); return ++launched; }
__global__ void by_default(int *, int = launch()) {}
// What C++ leaves open is as on a GPU: a shift by more bits than there are; __restrict__ over a barrier.
__global__ void shifts(int *u, int by)
{
	int s = 40, n = -5;
	u[0] = 0xffu << s, u[1] = 0xffu >> by, u[2] = n >> by, u[3] = 1u << (by - 9);
}
__global__ void restricted(int *__restrict__ a, int *o)
{
	a[0] = 0;
	__syncthreads();
	if (threadIdx.x == 20)
		a[0] = 9;
	__syncthreads();
	o[threadIdx.x] = a[0];
}
static bool host_assembly()
{
	unsigned low = 1, high = 2;
	double sum = 3;
#ifdef __x86_64__
	asm("movl $1, %%eax; movl $2, %%edx" : "=a"(low), "=d"(high));
	asm("fadd %2, %0" : "=t"(sum) : "0"(1.0), "f"(2.0));
#endif
	return low == 1 && high == 2 && sum == 3;
}
std::once_flag flag;
int main()
{
	std::mt19937 numbers(1);
	std::call_once(flag, [] { puts("once"); });
	std::atomic<int> counter{1};
	std::shared_ptr<int> owner = std::make_shared<int>(__sync_fetch_and_add((int *)&counter, 1)), other = owner;
	if (counter.fetch_add(*owner) != 2 || owner.use_count() != 2)
		return 1;
	by_default<<<1, 1>>>(0); // the host evaluates it, once
	if (launched != 1 || !host_assembly())
		return 2;
	quad *p, last;
	cudaMalloc(&p, 2 * sizeof *p), cudaMemset(p, 0, 2 * sizeof *p);
	int *open, of[37];
	cudaMalloc(&open, sizeof of);
	shifts<<<1, 1>>>(open, 40);
	restricted<<<1, 32>>>(open + 4, open + 5);
	cudaMemcpy(of, open, sizeof of, cudaMemcpyDeviceToHost);
	if (of[0] != 0 || of[1] != 0 || of[2] != -1 || of[3] != 1 << 31 || of[5] != 9 || of[36] != 9)
		return 3;
	k<<<1, 1>>>(p);
	return cudaMemcpy(&last, p + 1, sizeof last, cudaMemcpyDeviceToHost) + (last.f.w != 8) + third() - 3;
}
"""
# Behind a line, what is said of it.
NAMED_BY_HOST = """struct pair { int a, b; };
__device__ int count;
__device__ float table[4];
__device__ pair both;
__constant__ float scale;
__constant__ const float known = 3;
__host__ __device__ int of_either() { return count; }
__global__ void k(float *x) { x[0] = count + table[1] + scale + known + both.a + of_either(); }
int main(int argc, char **)
{
	float h[4] = {known}, *x;
	pair copy;
	count = 3; // __device__ count written
	count++; // __device__ count read, __device__ count written
	h[0] += table[argc] * 2; // __device__ table read
	both.b = 4; // __device__ both written
	h[1] = scale; // __constant__ scale read
	copy = both; // __device__ both read
	cudaMemcpyToSymbol(scale, h, 4), cudaMemcpyToSymbol(table, h, 16), cudaMemcpyFromSymbol(h, both, 8);
	cudaGetSymbolAddress((void **)&x, table);
	k<<<1, 1>>>(x);
	int *address = &count;
	return copy.a + (address == (void *)x);
}
"""


class Front(Case):
    def test_the_accesses_of_a_statement_are_the_source_s(self):
        report = self.scratch / "report"
        self.expect_silent(STATEMENTS.run(SIM_REPORT=str(report), SIM_CHECK="memcheck"), "statements")
        launches = reports.read_report(report).launches
        self.expect_equal(len(launches), len(COUNTED), "launches")
        for (statement, loads, stores), launch in zip(COUNTED, launches):
            counted = [launch["global"][op]["requests"] for op in ("load", "store")]
            self.expect_equal(counted, [loads, stores], statement)

    def test_arguments_of_every_kind(self):
        outcome = ARGUMENTS.run()
        self.expect_equal((outcome.status, outcome.out, outcome.err), (0, "1111 20\n", ""), "arguments")

    def test_what_is_said_of_declarations(self):
        """Kills: what nvcc refuses, for its static shared memory, __constant__ memory, parameters or a reference; also
        where the file has no function."""
        self.write("a.cu", DECLARED)
        for options in ([], ["--fast"]):
            outcome = simcc(FIRST, [*options, "-c", "a.cu", "-o", "a.o"], cwd=self.scratch)
            said = re.findall(r"^a\.cu:(\d+):1: error: (.*?)(?:, and .*)?$", outcome.err, re.MULTILINE)
            asked = [(str(n), line.partition(" // ")[2]) for n, line in enumerate(DECLARED.split("\n"), 1)]
            wanted = [each for each in asked if each[1]]
            self.expect_equal(sorted(said), sorted(wanted), outcome.err)
            self.expect_in("ends at 49152: 'extern __shared__' with cudaFuncSetAttribute() can have more", outcome.err)
            self.expect_in("constant memory ends at 65536: a __device__ variable can have more", outcome.err)
            self.expect_in("a kernel's end at 32764: memory of cudaMalloc() can have more", outcome.err)
        self.write("a.cu", "__constant__ char large[65537];\nint main() {}\n")
        outcome = simcc(FIRST, ["-c", "a.cu", "-o", "a.o"], cwd=self.scratch)
        self.expect_equal(outcome.status, 1, outcome.err)
        self.expect_in("a.cu:1:1: error: this file's __constant__ variables have 65537 bytes", outcome.err)

    def test_an_operand_of_ptx_has_its_own_width(self):
        """Kills: a warning of 32 bits in a register of 64, which ARM64's are."""
        text = 'void __attribute__((global)) k(int n) { asm volatile("cp.async.wait_group %0;" ::"r"(n)); }\n'
        asked = "from driver import cuda; print(*cuda.LANGUAGE, *cuda.SILENT, *cuda.ON_DEVICE)"
        options = run([sys.executable, "-B", "-c", asked], cwd=HOME).out.split()
        arm = ["--target=aarch64-linux-gnu", "-nostdinc", "-fsyntax-only"]
        self.expect_silent(run([*CUDA, *options, *arm, self.write("a.cu", text)]), "for ARM64")

    def test_the_host_is_warned_of_device_variables(self):
        """In nvcc's words. Kills: a warning of an address, of a constant's value, or in code that is for both sides."""
        self.write("a.cu", NAMED_BY_HOST)
        said = simcc(FIRST, ["a.cu", "-o", "p"], cwd=self.scratch)
        lines = NAMED_BY_HOST.split("\n")
        wanted = []
        for number, line in enumerate(lines, 1):
            for what in line.partition(" // ")[2].split(", ") if " // " in line else []:
                qualifier, name, how = what.split()
                says = f'a {qualifier} variable "{name}" cannot be directly {how} in a host function: '
                says += "cudaMemcpyToSymbol()" if how == "written" else "cudaMemcpyFromSymbol()"
                wanted.append(f"{number}: {says} copies it")
        got = re.findall(r"^a\.cu:(\d+):\d+: warning: (.*)$", said.err, re.MULTILINE)
        self.expect_equal(sorted(f"{line}: {text}" for line, text in got), sorted(wanted), said.err)
        self.expect_equal(said.status, 0, said.err)

    def test_a_program_of_one_device_code(self):
        for number, entry in ((1, "one"), (2, "two")):
            self.write(f"{entry}.cu", f"#define FILE {number}\n#define ENTRY {entry}\n{OWN}")
        self.write(
            "main.cpp", '#include <cstdio>\nint one(), two();\nint main() { printf("%d %d\\n", one(), two()); }\n'
        )
        for options in (["-rdc=true"], [], ["-rdc=true", "--fast"]):
            built = simcc(FIRST, [*options, "one.cu", "two.cu", "main.cpp", "-o", "p"], cwd=self.scratch)
            self.expect_silent(built, str(options))
            outcome = run([*RUNNER, self.scratch / "p"])
            self.expect_equal((outcome.out, outcome.err), (f"{1110 + 39} {2220 + 39}\n", ""), str(options))

    def test_what_ordinary_programs_have(self):
        """Each was refused, or did not link, once. Kills: PTX's letters exchanged in the host's code, too."""
        for options in ([], ["--fast"]):
            self.write("a.cu", ORDINARY)
            self.expect_silent(simcc(FIRST, [*options, "a.cu", "-o", "p"], cwd=self.scratch), str(options))
            self.expect_equal(run([*RUNNER, self.scratch / "p"])[:2], (0, "once\n"), str(options))

    def test_another_clang_gets_another_plugin(self):
        """Behind a script, which stays the same file. Kills: clang with a plugin that was built for another one; a
        folder that grows with each compilation."""
        if not OTHER:
            self.skipTest("there is one LLVM only")
        source, build = self.write("a.cu", "__global__ void k() {}\nint main() {}\n"), self.scratch / "b"
        for name in ("clang", "clang++"):
            script = f'#!/bin/sh\nexec {shutil.which(name)}$(cat {self.scratch}/version) "$@"\n'
            self.write(f"bin/{name}", script).chmod(0o755)
        path = f"{self.scratch}/bin:{os.environ['PATH']}"
        wrapped = {"CC": f"{self.scratch}/bin/clang", "CXX": f"{self.scratch}/bin/clang++", "PATH": path}
        (self.scratch / "headers").mkdir()
        wrapped |= {"SIM_BUILD": str(build), "SIM_PRECOMPILED": str(self.scratch / "headers")}
        for version in ("", OTHER.cxx[len("clang++") :], ""):
            (self.scratch / "version").write_text(version)
            for _ in range(2):
                self.expect_silent(run([SIMCC, "-c", source, "-o", self.scratch / "a.o"], wrapped), version)
            self.expect_equal(sorted(os.listdir(self.scratch / "headers")), ["device.pch", "host.pch"], version)

    def test_without_llvm_s_headers(self):
        """One line that says what to install."""
        text = "int main() {}\n"
        version = run([*CUDA, "-dumpversion"]).out.partition(".")[0]
        for name in ("llvm-config", f"llvm-config-{version}"):
            self.write(f"bin/{name}", "#!/bin/sh\nexit 1\n").chmod(0o755)
        path = f"{self.scratch}/bin:{os.environ['PATH']}"
        environment = {**FIRST.environment, "SIM_BUILD": str(self.scratch / "b"), "PATH": path}
        outcome = run([shutil.which("env"), "-u", "SIM_LIB", SIMCC, "-c", self.write("a.cu", text)], environment)
        self.expect_equal((outcome.status, outcome.err.count("\n") < 4), (1, True), outcome.err)
        self.expect_in("llvm-dev", outcome.err)
