"""Programs of several files: what belongs to a file and what to the program, and what may not be linked together."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

from support import COMPILERS, FIRST, RUNNER, Case, Compiler, marked_line, run, simcc

# Each file prints what its own `row`, its own inline function and its own constant make; and what else is its own: a
# struct of another layout, with the copies that the compiler makes, tables (of virtual functions, too), a pointer to a
# function.
NUMBERED = r"""#include <cstdio>
template <int D>
__global__ void row(int *y)
{
	__shared__ int tile[D * NUMBER];
	tile[threadIdx.x] = NUMBER;
	__syncthreads();
	y[threadIdx.x] = tile[D - 1 - threadIdx.x];
}
inline __device__ int ten() { return 10 * NUMBER; }
template <typename T>
__device__ T hundred() { static const T table[] = {0, 100 * NUMBER}; return table[1]; }
__constant__ int thousand = 1000 * NUMBER;
__global__ static void add(int *y) { y[0] += ten() + hundred<int>() + thousand; }
struct partial {
	float before[NUMBER];
	int value = NUMBER;
	__device__ partial operator+(const partial &other) const { partial sum = other; sum.value += value; return sum; }
};
template <typename T> struct constants { static constexpr T of[] = {0, 4 * NUMBER}; };
struct shape { __device__ virtual int sides() { return 64 * NUMBER; } };
extern "C" inline __device__ int of_c() { return 8 * NUMBER; }
inline __device__ int sixteen(int x) { return 16 * x * NUMBER; }
__device__ int (*functions[])(int) = {sixteen};
__global__ static void others(int *y)
{
	auto lambda = [](int x) { return x * NUMBER; };
	shape of_file, *any = &of_file;
	y[0] = (partial() + partial()).value + constants<int>::of[1] + of_c() + functions[0](1) + lambda(32) +
		any->sides();
}
// A template of the host, whose name is the same in both files: each means its own kernel.
template <void (*KERNEL)(int *)> void launch(int *y) { KERNEL<<<1, 32>>>(y); }
void FUNCTION()
{
	int y[2], *dy;
	cudaMalloc(&dy, 128);
	launch<row<32>>(dy);
	add<<<1, 1>>>(dy);
	cudaMemcpy(y, dy, 4, cudaMemcpyDeviceToHost);
	others<<<1, 1>>>(dy);
	cudaMemcpy(y + 1, dy, 4, cudaMemcpyDeviceToHost);
	printf("%d %d\n", y[0], y[1]);
	cudaFree(dy);
}
"""
# 1 + 10 + 100 + 1000 and 2 + 4 + 8 + 16 + 32 + 64, of the second file twice as much.
OF_FIRST, OF_SECOND = "1111 126\n", "2222 252\n"
TWO_CALLS = "void first(); void second();\nint main() { first(); second(); }\n"
WRONG = r"""template <int D>
__global__ void wrong(int *y)
{
%s	__shared__ int tile[D];
	tile[threadIdx.x] = 1;
	y[threadIdx.x + 32] = tile[0]; // @wrong
}
void %s()
{
	int *y;
	cudaMalloc(&y, 128);
	wrong<32><<<1, 32>>>(y);
}
"""
BOTH = r"""#include <cstdio>
template <typename T> __host__ __device__ T both(T x);
#ifdef DEFINED
template <typename T> __host__ __device__ T both(T x) { return x + 1; }
template __host__ __device__ int both<int>(int);
#endif
inline int count() { static int calls; return ++calls; }
__host__ __device__ inline int *where() { static int here; return &here; }
"""
BOTH_DEVICE = r"""__global__ void k(int *y) { y[0] = both(1) + (where() != nullptr); }
int *device()
{
	int y = 0, *dy;
	cudaMalloc(&dy, 4);
	k<<<1, 1>>>(dy);
	cudaMemcpy(&y, dy, 4, cudaMemcpyDeviceToHost);
	count();
	printf("%d\n", y);
	return where();
}
"""
BOTH_MAIN = r"""int *device();
__global__ void k2(int *y) { y[0] = where() != nullptr; }
int main()
{
	int *there = device();
	count();
	printf("%d %d %d\n", both(41), count(), there == where());
}
"""
KERNELS = r"""__device__ int stored = 5;
__device__ int add(int x) { return x + stored; }
__global__ void plain(int *y) { y[0] = add(1); }
template <int D> __global__ void row(int *y) { y[0] += D; }
template __global__ void row<30>(int *);
"""
KERNELS_MAIN = r"""#include <cstdio>
__global__ void plain(int *y);
template <int D> __global__ void row(int *y);
#ifdef DEVICE_TOO
extern __device__ int stored;
__device__ int add(int x);
__global__ void here(int *y) { stored += 1; y[0] += 1000 * add(0); }
#endif
int main()
{
	int y, *dy;
	cudaMalloc(&dy, 4);
	plain<<<1, 1>>>(dy);
	row<30><<<1, 1>>>(dy);
#ifdef DEVICE_TOO
	here<<<1, 1>>>(dy);
	plain<<<1, 1>>>(dy + 0);
	here<<<1, 1>>>(dy);
#endif
	cudaMemcpy(&y, dy, 4, cudaMemcpyDeviceToHost);
	printf("%d\n", y);
}
"""


class Files(Case):
    def write_numbered(self) -> None:
        self.write("first.cu", f"#define NUMBER 1\n#define FUNCTION first\n{NUMBERED}")
        self.write("second.cu", f"#define NUMBER 2\n#define FUNCTION second\n{NUMBERED}")
        self.write("main.cpp", TWO_CALLS)

    def shell(self, command: str) -> None:
        outcome = run(["sh", "-c", command], cwd=self.scratch)
        self.assertEqual(outcome.status, 0, outcome.err)

    def build(self, compiler: Compiler, arguments: str) -> None:
        built = simcc(compiler, arguments.split(), cwd=self.scratch)
        self.assertEqual((built.status, built.err), (0, ""), f"{compiler.cxx}: simcc {arguments}")

    def expect_output(self, how: str, program: str, printed: str) -> None:
        outcome = run([*RUNNER, self.scratch / program])
        self.expect_equal((outcome.status, outcome.out, outcome.err), (0, printed, ""), how)

    def expect_refused(self, compiler: Compiler, arguments: str, *says: str) -> None:
        (self.scratch / "program").unlink(missing_ok=True)
        built = simcc(compiler, arguments.split(), cwd=self.scratch)
        what = f"{compiler.cxx}: simcc {arguments}"
        self.expect_equal(built.status, 1, what)
        for part in says:
            self.expect_in(part, built.err, what)
        self.expect_equal(list(self.scratch.glob("program*")), [], f"{what}: files that were left behind")

    def test_device_code_is_private_to_its_file(self):
        self.write_numbered()
        for compiler, mode in itertools.product(COMPILERS, ("", "--fast")):
            self.build(compiler, f"{mode} -c first.cu")
            self.build(compiler, f"{mode} -c second.cu")
            self.shell("rm -f lib.a; ar rcs lib.a first.o second.o")
            for files in (
                f"{mode} main.cpp first.cu second.cu",
                f"{mode} second.cu main.cpp first.cu",
                "main.cpp second.o first.o",
                "main.cpp lib.a",
            ):
                self.build(compiler, f"{files} -o program")
                self.expect_output(f"{compiler.cxx} {files}", "program", OF_FIRST + OF_SECOND)

    def test_reports_name_private_code(self):
        """What two files have under one name keeps its name and its own lines in reports."""
        sources = {"first": WRONG % ("", "first"), "second": WRONG % ("\n\n\n", "second")}
        for name, source in sources.items():
            self.write(f"{name}.cu", source)
        for compiler in COMPILERS:
            self.build(compiler, "-c first.cu")
            self.build(compiler, "-c second.cu")
            for name, source in sources.items():
                self.write("main.cpp", f"void {name}();\nint main() {{ {name}(); return 0; }}\n")
                self.build(compiler, "main.cpp first.o second.o -o program")
                outcome = run([*RUNNER, self.scratch / "program"])
                self.expect_equal(outcome.status, 1, f"{compiler.cxx}: {name}")
                line = marked_line(source, "@wrong")
                self.expect_in(f"void wrong<32>(int*) in {name}.cu:{line}\n", outcome.err, compiler.cxx)

    def test_a_call_of_the_host_names_its_file_as_the_user_did(self):
        """Kills: the whole path of a file that simcc was given by another name, if the program runs elsewhere, or of
        one that lies where it runs; another file, whose name ends in this one's."""
        (self.scratch / "sub").mkdir()
        kernel = "__global__ void k(int *y) { *y = 1; }\n"
        main = "void own(int *), host(); int main(int argc, char **)\n{\n\tcudaFree(&argc);\n\town(&argc), host();\n}\n"
        self.write("sub/x.cu", kernel + main)
        self.write("x.cu", f"namespace other {{ {kernel} }}\n")
        self.write("yx.cu", "void own(int *x)\n{\n\tcudaFree(x);\n}\n")
        self.write("sub/host.cpp", "#include <cuda_runtime.h>\nvoid host()\n{\n\tint x;\n\tcudaFree(&x);\n}\n")
        self.build(FIRST, "x.cu sub/x.cu yx.cu sub/host.cpp -g -o program")
        for folder, host in ((Path("/"), f"{self.scratch}/sub/host.cpp"), (self.scratch, "sub/host.cpp")):
            told = run([*RUNNER, self.scratch / "program"], cwd=folder).err
            named = re.findall(r"(?:in|at) (\S*\.c\S*:\d+)$", told, re.MULTILINE)
            self.expect_equal(named, ["sub/x.cu:4", "yx.cu:3", f"{host}:5"], told)

    def test_host_code_is_shared(self):
        """A __host__ __device__ function is one function of the host and each file's own in device code."""
        self.write("device.cu", f"#define DEFINED\n{BOTH}{BOTH_DEVICE}")
        self.write("main.cu", f"{BOTH}{BOTH_MAIN}")
        for compiler in COMPILERS:
            for mode in ("", "--fast"):
                self.build(compiler, f"{mode} main.cu device.cu -o program")
                self.expect_output(f"{compiler.cxx} {mode}", "program", "3\n42 3 1\n")

    def test_kernels_and_functions_of_another_file(self):
        """A kernel of another file, by declaration or by explicit instantiation; with -rdc=true all is shared."""
        self.write("kernels.cu", KERNELS)
        self.write("main.cu", KERNELS_MAIN)
        self.write("twice.cu", "__device__ int stored = 6;\n__global__ void k(int *y) { y[0] = stored; }\n")
        for compiler, mode in itertools.product(COMPILERS, ("", "--fast")):
            for file in ("-DDEVICE_TOO main.cu", "kernels.cu", "twice.cu"):
                self.build(compiler, f"{mode} -dc {file}")
            for files, printed in (
                (f"{mode} main.cu kernels.cu twice.cu", "36\n"),
                (f"{mode} -rdc=true -DDEVICE_TOO main.cu kernels.cu", "7007\n"),
                ("main.o kernels.o", "7007\n"),
            ):
                self.build(compiler, f"{files} -o program")
                self.expect_output(f"{compiler.cxx} {files}", "program", printed)
            self.expect_refused(compiler, "main.o kernels.o twice.o -o program", "multiple definition", "stored")
            says = ["main.cu:7:39: error: 'stored' is not defined in this file: device variables of other files need"]
            says += ["main.cu:7:60: error: 'add(int)' is not defined in this file: device code of other files needs"]
            self.expect_refused(compiler, f"{mode} -DDEVICE_TOO main.cu kernels.cu -o program", *says)

    def test_fast_and_counted_code_are_not_linked(self):
        """What one half writes the other half's checks cannot know. C and C++ files go with either."""
        mixed = [
            "main.cpp first.o second.fast.o -o program",
            "main.cpp second.fast.o first.o -o program",
            "main.cpp first.cu second.fast.o -o program",
            "--fast main.cpp second.cu first.o -o program",
            "main.cpp first.o fast.a -o program",
            "main.cpp first.o -L. -lfast -s -o program",
        ]
        self.write_numbered()
        for compiler in COMPILERS:
            self.build(compiler, "-c first.cu")
            self.build(compiler, "-c second.cu")
            self.build(compiler, "--fast -c second.cu -o second.fast.o")
            self.shell("rm -f *.a; ar rcs fast.a second.fast.o; ar rcs libfast.a second.fast.o")
            said = "simcc: second.cu was built with --fast and first.cu without"
            for arguments in mixed:
                self.expect_refused(compiler, arguments, said, "alike\n")
            self.write("main.cpp", "void second();\nint main() { second(); }\n")
            self.build(compiler, "-c -O2 main.cpp")
            self.build(compiler, "main.o second.fast.o -o program")
            self.expect_output("host code with --fast", "program", OF_SECOND)
            self.build(compiler, "main.o second.o fast.a -o program")  # nothing of the archive is needed
            self.expect_output("an archive that is not used", "program", OF_SECOND)
            self.write("main.cpp", TWO_CALLS)
