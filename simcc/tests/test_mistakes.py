"""What somebody sees who mistypes: messages about the lines as they were written, never about what simcc makes of them;
launches that are none, in nvcc's words; and one line for a file, an option or a compiler that simcc cannot use."""

from __future__ import annotations

import itertools
import os
import re

from support import (
    COMPILERS,
    FIRST,
    HOME,
    SIMCC,
    TESTS,
    Case,
    Compiler,
    Outcome,
    Part,
    marked_line,
    run,
    simcc,
    together,
)

# What looks like one of those mistakes and is none.
RIGHT_LAUNCHES = """namespace a { __global__ void k(float *x) { x[0] = 1; } }
namespace b { __global__ void k(float *x, int n) { x[0] = n; } }
struct Reduce { float v; Reduce(float f) : v(f) {} void scale(float f) { v *= f; } void go() { scale(3); } };
__global__ void scale(float *x) { x[0] *= 2; }
__global__ void run(float *x) { x[0] *= 2; }
template <class F> void launch(F run, int n) { run<<<1, n>>>(n); }
template <class F> void call(F run, int n) { run(n); }
typedef void nothing;
__global__ nothing named(float *x) { x[0] = 1; }
__launch_bounds__(32) __global__ inline void bounded(float *x, float (*f)[3] = 0) { x[0] = f != 0; }
template <class T> __global__ decltype((void)T()) typed(T *x) { x[0] = 1; }
template <class T, int N = 4> __global__ void numbered(T *x, T v = T(1)) { x[0] = v + N; }
template __global__ void numbered<float, 5>(float *x, float v);
struct Table { void (*kernels[2])(float *); };
__global__ void kernel(float *x, int n) { x[0] = n; }
int main()
{
	float *x = 0;
	a::k<<<1, 1>>>(x), b::k<<<1, 1>>>(x, 1);
	named<<<1, 1>>>(x), bounded<<<1, 1>>>(x), typed<<<1, 1>>>(x);
	numbered<float><<<1, 1>>>(x), numbered<<<1, 1>>>(x, 2.0f), numbered<float, 5><<<dim3(1), 1, 0, 0>>>(x);
	Table t = {{a::k, scale}};
	t.kernels[1]<<<1, 1>>>(x), (t.kernels[0] ? a::k : scale)<<<1, 1>>>(x);
	for (auto kernel : t.kernels)
		kernel<<<1, 1>>>(x);
	auto launch_it = [&](auto kernel, auto... args) { kernel<<<1, 1>>>(args...); };
	launch_it(scale, x);
	switch (x ? 1 : 2) {
	case 1:scale<<<x ? 1 : 2, 1 < 2, 0>>>(x);
	}
	Reduce(1).go();
}
"""

KERNEL = "__global__ void k(float *x)\n{\n"
MAIN = "int main()\n{\n\tfloat *x;\n\tcudaMalloc(&x, 4);\n\tk<<<1, 32>>>(x);\n}\n"
# Each a file of its own: what is between the kernel's brackets, and the line and words of the first error.
ALONE = [
    ("\tif (x[0] > 0) {\n\t\tx[0] = 1;\n}\n", 11, "expected '}'"),
    ("\tx[(threadIdx.x] = 1;\n}\n", 3, "expected ')'"),
    ("\tx[threadIdx.x = 1;\n}\n", 3, "expected ']'"),
    ("\t__syncthreads(;\n}\n", 3, "expected expression"),
    ("\tif (x[0] > 0)) {\n\t\tx[0] = 1;\n\t}\n}\n", 3, "expected "),
    ("\tif x[0] > 0) {\n\t\tx[0] = 1;\n\t}\n}\n", 3, "expected '(' after 'if'"),
    ("\tx[0]] = 1;\n}\n", 3, "expected expression"),
    ("\tx[0] = 1;\n}\n}\n", 5, "extraneous closing brace ('}')"),
    ('\tprintf("%g\\n, x[0]);\n}\n', 3, "expected expression"),
    ("\tx[0] = 'a;\n}\n", 3, "expected expression"),
    ("#error such\n}\n", 3, "such"),
    ('#include "none.h"\n}\n', 3, "'none.h' file not found"),
]
# The function that a pointer points to only a run can tell.
POINTER = """void host(int *y) { (void)y; }
__global__ void k(int *y) { *y = 1; }
int main()
{
	void (*pointer)(int *) = host;
	int *y;
	cudaMalloc(&y, 4);
	pointer<<<1, 1>>>(y); // launch
	k<<<1, 1>>>(y);
	return cudaDeviceSynchronize();
}
"""
POINTERS = [Part("mistakes.pointer", POINTER), Part("mistakes.pointer.fast", POINTER)]
together("mistakes", POINTERS[:1])
together("mistakes.fast", POINTERS[1:], "--fast")
# What no message may name: it is not the user's.
OURS = re.compile(r"\bsim_|\bsim::|__attribute__|__asm__|launch\.h|simcc/include|\.simcc\d|simcc-[0-9a-f]{10}")

GOOD = "__global__ void k(int *y) { *y = 1; }\nint main() { int *y; cudaMalloc(&y, 4); k<<<1, 1>>>(y); }\n"


class Mistakes(Case):
    def compile(self, compiler: Compiler, text: str) -> Outcome:
        self.write("a.cu", text)
        outcome = simcc(compiler, ["-c", "a.cu", "-o", "a.o"], cwd=self.scratch)
        self.expect(not OURS.search(outcome.err), f"{compiler.cxx}: what is not the user's in\n{outcome.err}")
        return outcome

    def test_what_is_said_of_a_line(self):
        """Kills: a message about our headers, at another place, twice though it is compiled twice, or without what
        was meant; launches and device code of the host's that pass."""
        for compiler, name in itertools.product(COMPILERS, ("mistyped", "missing", "of_the_host")):
            text = (TESTS / f"mistakes/{name}.cu").read_text()
            self.write("a.cu", text)
            outcome = simcc(compiler, ["-ferror-limit=0", "-c", "a.cu", "-o", "a.o"], cwd=self.scratch)
            self.expect_equal(outcome.status, 1, f"{compiler.cxx}, {name}: exit status")
            self.expect(not OURS.search(outcome.err), f"{compiler.cxx}: what is not the user's in\n{outcome.err}")
            said: dict[int, list[tuple[int, str]]] = {}
            message = re.compile(r"^a\.cu:(\d+):(\d+): (?:error|warning): (.*)$", re.MULTILINE)
            for line, column, words in message.findall(outcome.err):
                said.setdefault(int(line), []).append((int(column), words))
            for number, line in enumerate(text.split("\n"), 1):
                code, _, asked = line.partition(" // ")
                part, _, words = asked.partition(": ")
                found = said.get(number, [])
                what = f"{compiler.cxx}, {name}, line {number}: {line.strip()}: {found}"
                self.expect(bool(found) == bool(asked), what)
                if asked:
                    column = len(code[: code.index(part)].encode()) + 1 if part else len(code) + 1
                    at = [said_there for at, said_there in found if at == column and words in said_there]
                    self.expect(len(at) == 1, what)

    def test_brackets_strings_and_the_preprocessor(self):
        for compiler, (body, line, words) in itertools.product(COMPILERS, ALONE):
            outcome = self.compile(compiler, KERNEL + body + MAIN)
            said = re.findall(r"^a\.cu:(\d+):\d+: (?:fatal )?error: (.*)$", outcome.err, re.MULTILINE)
            self.expect(any(int(at) == line and words in text for at, text in said), f"{body}: {outcome.err}")

    def test_launches_that_look_wrong(self):
        for compiler in COMPILERS:
            self.expect_silent(self.compile(compiler, RIGHT_LAUNCHES), compiler.cxx)

    def test_what_may_have_no_value(self):
        """Kills: a variable that not all threads write, of which nothing is said without -Wall."""
        text = "__global__ void k(float *x)\n{\n\tfloat v;\n\tif (x[0] > 0)\n\t\tv = 1;\n\tx[1] = v;\n}\n"
        for compiler in COMPILERS:
            said = re.findall(r"^a\.cu:(\d+):\d+: warning: (.*)$", self.compile(compiler, text).err, re.MULTILINE)
            self.expect_equal([line for line, _ in said], ["4"], compiler.cxx)
            self.expect_in("variable 'v' is used uninitialized whenever 'if' condition is false", said[0][1])

    def test_a_kernel_in_a_file_of_c(self):
        """Kills: 20 lines about `__global__` and `<<<`, or one in their place where the file is for gcc, too."""
        for name in ("base.c", "base.cpp"):
            self.write(name, GOOD)
            outcome = simcc(FIRST, ["-c", name], cwd=self.scratch)
            said = f"{name}: error: kernels are compiled in .cu files: name it base.cu"
            self.expect_refused(name, outcome, 1, said)
        text = '#ifdef __CUDACC__\n__global__ void k();\n#endif\nint f() { return wrong; } // "<<<"\n'
        for both in (text, text.split("#endif\n")[1]):
            self.write("base.cpp", both)
            outcome = simcc(FIRST, ["-c", "base.cpp"], cwd=self.scratch)
            self.expect(outcome.status == 1 and "wrong" in outcome.err and ".cu" not in outcome.err, outcome.err)

    def test_a_pointer_to_no_kernel(self):
        """What only a run can tell: at the line of the launch. Kills: a launch that does nothing, in silence."""
        for made in POINTERS:
            outcome = made.run()
            self.expect_equal(outcome.status, 1, f"{made.name}: exit status")
            said = "a function that is no kernel was launched: it has no __global__"
            self.expect_in(f"{made.source}:{marked_line(POINTER, 'launch')}: error: {said}\n", outcome.err, made.name)

    # ---- one line for what simcc cannot use ----

    def expect_refused(self, what: str, outcome: Outcome, status: int, said: str) -> None:
        self.expect_equal((outcome.status, outcome.out, outcome.err), (status, "", f"{said}\n"), what)

    def test_a_file_that_cannot_be_written(self):
        """Kills: ld's or as's message with the name of a temporary file, or one that names none."""
        self.write("a.cu", GOOD)
        self.write("a.c", "int f(void) { return 1; }\n")
        self.write("folder.cu/x", "")
        for place, why in (
            ("none/x", "No such file or directory"),
            ("folder.cu", "Is a directory"),
            ("a.cu/x", "Not a directory"),
            ("/dev/full", "No space left on device"),
        ):
            for words in ("a.cu", "-c a.cu", "--fast a.cu", "-c a.c"):
                outcome = simcc(FIRST, [*words.split(), "-o", place], cwd=self.scratch)
                self.expect_refused(f"{words} {place}", outcome, 3, f"simcc: cannot write {place}: {why}")
        outcome = simcc(FIRST, ["-c", "a.cu", "-MD", "-MF", "none/d"], cwd=self.scratch)
        self.expect_refused("-MF", outcome, 3, "simcc: cannot write none/d: No such file or directory")
        outcome = simcc(FIRST, ["-c", "folder.cu"], cwd=self.scratch)
        self.expect_refused("a folder", outcome, 2, "simcc: folder.cu: a directory, expected a file")
        self.expect_equal(sorted(os.listdir(self.scratch)), ["a.c", "a.cu", "folder.cu"], "files that are left behind")

    def test_a_compiler_that_simcc_cannot_use(self):
        """Kills: a message of tcc's or of the shell's per file, about options; hundreds of the compiler's or the
        linker's messages about simcc's own files."""
        self.write("a.cu", GOOD)
        self.write("bin/tcc", "#!/bin/sh\necho 'tcc version 0.9.27 (x86_64 Linux)'\n").chmod(0o755)
        path = {"PATH": f"{self.scratch}/bin:{os.environ['PATH']}"}
        c, cxx = FIRST.cc, FIRST.cxx
        neither = "is neither gcc nor clang; expected one of them"
        other = "makes no 64-bit code for x86-64 or ARM64, and the simulated device runs no other"
        for variable, chosen, why, by_make in (
            ("CC", "tcc", neither, "'tcc' is neither gcc nor clang, or is not installed"),
            ("CXX", "tcc", neither, None),
            ("CC", "true", neither, None),
            ("CXX", "true", neither, None),
            ("CC", "no-such", ": compiler 'no-such' not found; expected gcc or clang",
             "'no-such' is neither gcc nor clang, or is not installed"),
            ("CC", cxx, "is a C++ compiler; expected gcc or clang", ""),
            ("CXX", c, "is a C compiler, which does not link C++; expected g++ or clang++", ""),
            ("CC", f"{c} -m32", other, ""),
            ("CXX", f"{cxx} -m32", other, ""),
            *([] if "--target" in cxx else [("CXX", f"{cxx} -mx32", other, "")]),  # which that of ARM64 passes over
        ):  # fmt: skip
            said = f"{variable}='{chosen}'{'' if why.startswith(':') else ' '}{why}"
            environment = {**FIRST.environment, **path, variable: chosen}
            outcome = run([SIMCC, "a.cu"], environment, cwd=self.scratch)
            self.expect_refused(said, outcome, 2, f"simcc: {said}")
            if by_make is not None:
                outcome = run(
                    ["make", "-s", "-C", HOME, *(f"{name}={environment[name]}" for name in ("CC", "CXX"))], path
                )
                self.expect_equal((outcome.status, outcome.out, outcome.err.count("\n")), (2, "", 1), outcome.err)
                self.expect_in(by_make or f" {said}.", outcome.err)
