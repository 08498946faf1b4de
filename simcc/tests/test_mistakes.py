"""What somebody sees who mistypes: messages about the lines as they were written, never about what simcc makes of them;
launches that are none, in nvcc's words; and one line for a file, an option or a compiler that simcc cannot use."""

from __future__ import annotations

import os
import re
import sys
import unittest
from typing import NamedTuple

from support import (
    COMPILERS,
    FIRST,
    HOME,
    SIMCC,
    Case,
    Compiler,
    Outcome,
    Part,
    marked_line,
    run,
    simcc,
    together,
)

sys.path.append(str(HOME))
sys.dont_write_bytecode = True  # nothing is written among the sources of simcc
from passes.source import transform  # noqa: E402

sys.dont_write_bytecode = False

KERNEL = "__global__ void k(float *x)\n{\n"
MAIN = "int main()\n{\n\tfloat *x;\n\tcudaMalloc(&x, 4);\n\tk<<<1, 32>>>(x);\n}\n"
FORM = "a kernel launch is KERNEL<<<grid, block>>>(arguments), or <<<grid, block, shared bytes, stream>>>"
# Each a file of its own, with the one error that it has: killed is "launching 'k' in device code" about the line of the
# launch, which is right.
BRACKETS = [
    (
        KERNEL + "\tif (x[0] > 0) {\n\t\tx[0] = 1;\n}\n" + MAIN,
        3,
        16,
        "the '{' opened here is not closed before the '}' at line 5, which is further left",
    ),
    (KERNEL + "\tx[0] = 1;\n" + MAIN, 2, 1, "the '{' opened here is not closed"),
    (KERNEL + "\tx[(threadIdx.x] = 1;\n}\n" + MAIN, 3, 4, "the '(' opened here is not closed before the ']' at line 3"),
    (KERNEL + "\tx[threadIdx.x = 1;\n}\n" + MAIN, 3, 3, "the '[' opened here is not closed before the '}' at line 4"),
    (KERNEL + "\t__syncthreads(;\n}\n" + MAIN, 3, 15, "the '(' opened here is not closed before the '}' at line 4"),
    (KERNEL + "\tf([&] { x[0] = 1; );\n}\n" + MAIN, 3, 8, "the '{' opened here is not closed before the ')' at line 3"),
    (KERNEL + "\tf(x[0]));\n}\n" + MAIN, 3, 9, "')' without a '('"),
    (KERNEL + "\tif (x[0] > 0)) {\n\t\tx[0] = 1;\n\t}\n}\n" + MAIN, 3, 15, "')' without a '('"),
    (KERNEL + "\tif x[0] > 0) {\n\t\tx[0] = 1;\n\t}\n}\n" + MAIN, 3, 13, "')' without a '('"),
    (KERNEL + "\tx[0]] = 1;\n}\n" + MAIN, 3, 6, "']' without a '['"),
    (KERNEL + "\tf(x]);\n}\n" + MAIN, 3, 5, "']' without a '['"),
    (KERNEL + "\tf([&] { g(x)); });\n}\n" + MAIN, 3, 14, "')' without a '('"),
    (KERNEL + "\tf(x});\n}\n" + MAIN, 3, 5, "'}' without a '{'"),
    (KERNEL + "\tx[0] = 1;\n}\n" + MAIN + "}\n", 11, 1, "'}' without a '{'"),
    (KERNEL + "\tif (x[0] > 0) {\n\t\tx[0] = 1;\n\t}\n\t}\n}\n" + MAIN, 6, 2, "'}' without a '{'"),
    (KERNEL + "}\nint main()\n{\n\tk<<<1, f(2)>>>0);\n}\n", 6, 3, FORM),
    (KERNEL + "}\nint main()\n{\n\tk<<<1, 2>>>(0));\n}\n", 6, 16, "')' without a '('"),
]
RIGHT_BRACKETS = KERNEL + "\tchar c = '{', s[] = \"([{\";\n\tif (x[0] > 1'0) {\n\t\tx[0] = c + s[0];\n}\n}\n" + MAIN

# Found by the source pass, all at once. "@" in a message is the line marked so.
LAUNCHES = """#define LAUNCH(kernel) kernel<<<1, 32>>>(x, 2)
__global__ int number(float *x) { return 0; } // number
__global__ float *pointer(float *x) { return x; } // pointer
__global__ nothing(float *x) {} // nothing
__global__ void three(float *x, int n, // three
                      int m)
{
}
__global__ void filled(float *x, int n = 1) {}
template <class T> __global__ void typed(T *x) {}
template <class... T> __global__ void any_number(int, T...) {}
void plain(float *x) {} // plain
__device__ void device(float *x) {} // device
template <int n> void host_template(float *x) {} // template
void later(float *x); // later
struct shadow { shadow(int) {} };
__global__ void apply(float *x) {}
void run(void (*apply)(float *, int), float *x)
{
	apply<<<1, 1>>>(x, 1); // fine: not the kernel of this name
	apply(x, 1);
}
template <class... T> void pass_on(T... t)
{
	three<<<1, 1>>>(t...);
}
int main()
{
	float *x;
	three<<<1, 32>>>(x, 2); // few
	LAUNCH(typed); // macro
	three<<<1, 32>>>(x, 2, 3, 4); // many
	filled<<<1, 32>>>(); // least
	filled<<<1, 32>>>(x, 1, 2); // most
	typed<float><<<1, 32>>>(x, 1); // template arguments
	any_number<<<1, 32>>>(); // any
	three(x, 1, 2); // call
	if (x)
		typed<float>(x); // template call
	three<<<1>>>(x, 1, 2); // one
	three<<<1, 1, 0, 0, 0>>>(x, 1, 2); // five
	three<<<1, 1>>; // open
	three<<1, 1>>(x, 1, 2); // two
	typed<float><<1, 1>>(x); // two of a template
	three<<1, 1>>>(x, 1, 2); // two and three
	plain<<<1, 1>>>(x); // no global
	device<<<1, 1>>>(x); // no kernel
	host_template<3><<<1, 1>>>(x); // no template
	later<<<1, 1>>>(x); // not yet
	filled<<<1, 1>>>(x), any_number<<<dim3(1, 1), 1>>>(1, 2, 3), pass_on(x, 1, 2);
	cudaFuncSetCacheConfig(&three, cudaFuncCachePreferL1);
}
"""
# What was meant, if simcc has it.
MISSPELT = {
    "if (cudaMaloc(&x, 4) != cudaSuccess) return 1;": "cudaMalloc",
    "cudaDeviceSyncronize();": "cudaDeviceSynchronize",
    'printf("%s", cudaGetErorString(e));': "cudaGetErrorString",
    "cudaMemCpy(x, x, 4);": "cudaMemcpy",
    "cudaMemcpy3D(x);": "",
    "cudaGraphLaunch(0, 0);": "",
}
VOID = "a __global__ function must have a void return type"
CALL = "a __global__ function call must be configured"
HOST = "a host function call cannot be configured"
IN_LAUNCHES = {
    "number": VOID,
    "pointer": VOID,
    "nothing": VOID,
    "few": "too few arguments: kernel three takes 3 (declared at line @three), the launch gives 2",
    "macro": "too many arguments: kernel typed takes 1 (declared at line 10), the launch gives 2",
    "many": "too many arguments: kernel three takes 3 (declared at line @three), the launch gives 4",
    "least": "too few arguments: kernel filled takes 1 to 2 (declared at line 9), the launch gives 0",
    "most": "too many arguments: kernel filled takes 1 to 2 (declared at line 9), the launch gives 3",
    "template arguments": "too many arguments: kernel typed takes 1 (declared at line 10), the launch gives 2",
    "any": "too few arguments: kernel any_number takes 1 or more (declared at line 11), the launch gives 0",
    "call": f"{CALL}: three<<<grid, block>>>(...)",
    "template call": f"{CALL}: typed<<<grid, block>>>(...)",
    "one": FORM,
    "five": FORM,
    "open": FORM,
    "two": FORM,
    "two of a template": FORM,
    "two and three": FORM,
    "no global": f"{HOST}: 'plain' (line @plain) has no __global__",
    "no kernel": f"{HOST}: 'device' (line @device) has no __global__",
    "no template": f"{HOST}: 'host_template' (line @template) has no __global__",
    "not yet": f"{HOST}: 'later' (line @later) has no __global__",
}


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

# With clang's intermediate code: what has no load or store through a pointer says nothing of how it writes pointers.
HOST_ONLY = [
    "float h[32]; cudaMemset(h, 0, 128);",
    "int h[2]; cudaGetDevice(h);",
    "cudaDeviceProp prop; cudaGetDeviceProperties(&prop, 0);",
]
# A `;` that is missing, and what is none of that.
SHARED = """#define T 16
__global__ void k(float *a)
{
	__shared__ float tile[T][T + 1]
	int x = threadIdx.x; // expected ';' before 'int'
	__shared__ float n
	n = 0; // expected ';' before 'n'
	__shared__ float m(3); // an initializer is not allowed for __shared__ variable 'm'
	__shared__ float i = 3; // an initializer is not allowed for __shared__ variable 'i'
	__shared__ int s[256],
	int t = threadIdx.x; // expected ';' before 'int'
	__shared__ float
		lines[4],
		more[4];
	a[x] = tile[0][x] + t + n + m + i + s[0] + lines[0] + more[0];
}
__global__ void p(__shared__ int *q) {} // a parameter cannot be __shared__: 'q'
"""


# clang has words of its own for what it reads itself: test_front.py.
words_of_the_passes = unittest.skipIf(FIRST.front, "messages of simcc's own passes")


class Wrong(NamedTuple):
    """A line, where in it the caret stands with gcc and with clang ("" where there is none), a part of the error."""

    line: str
    gcc: str
    clang: str
    says: str


INCOMPATIBLE = "is incompatible with the kernel's parameter of type"
# Found by the compiler. Killed: columns beyond the line, text that nobody wrote, the templates behind a launch.
IN_KERNEL = [
    Wrong("\tint t = threadIdx.x, u = blockIdx.x * blockDim.x, v = nowhere;", "nowhere", "nowhere", "'nowhere'"),
    Wrong("\t__shared__ float s[4]; s[threadIdx.y] = Undeclared;", "Undeclared", "Undeclared", "'Undeclared'"),
    Wrong("\t/* größe */ x[0] = commented;", "", "", "'commented'"),
    Wrong('\tx[0] = "größe"[1] + behind;', "behind", "behind", "'behind'"),
    Wrong("\tif (threadIdx == 0) x[0] = 1;", "==", "==", "'uint3' and 'int'"),
    Wrong("\tx[threadidx.x] = 1;", "threadidx", "threadidx", "; did you mean 'threadIdx'?"),
]
IN_MAIN = [
    Wrong("\tk<<<1, 32>>>(x, nothere);", "nothere", "nothere", "'nothere'"),
    Wrong("\tk<<<dim3(1, wide), 32>>>(x, 1);", "wide", "wide", "'wide'"),
    Wrong("\tk<<<1, 32>>>(x, 1); declared_nowhere = 3;", "declared_nowhere", "declared_nowhere", "'declared_nowhere'"),
    Wrong("\tnokernel<<<1, 32>>>(x);", "nokernel", "nokernel", "'nokernel'"),
    Wrong("\tLAUNCH(unknown);", "", "", "'unknown'"),
    Wrong("\tk<<<1, 32>>>(i, 2);", "(i, 2", "k", f"argument 1 of type 'int*' {INCOMPATIBLE} 'float*'"),
    Wrong("\tk<<<1, 32>>>(x, x);", "x);", "k", f"argument 2 of type 'float*' {INCOMPATIBLE} 'int'"),
    Wrong("\tt<float><<<1, 32>>>(x, S{1});", "(x, S", "t", f"argument 2 of type 'S' {INCOMPATIBLE} 'float'"),
    Wrong("\tfilled<<<1, 32>>>(S{1});", "(S{1}", "filled", f"argument 1 of type 'S' {INCOMPATIBLE} 'float*'"),
    Wrong("\tunnamed<<<1, 32>>>(x);", "unnamed", "unnamed", VOID),
    Wrong("\t(*i)<<<1, 32>>>(x);", "(", "(", "what is launched here is no __global__ function"),
    Wrong("\tmissing = 1\n\tk<<<1, 32>>>(x, 2);", "\n", "\n", "expected ';'"),
]
COMPILED = f"""#define LAUNCH(kernel) kernel<<<1, 32>>>(x)
struct S {{ int v; }};
__global__ S unnamed(float *x);
__global__ void filled(float *x, int n = 1) {{ x[n] = 0; }}
template <class T> __global__ void t(T *x, T y) {{ x[0] = y; }}
__global__ void k(float *x, int n)
{{
{chr(10).join(wrong.line for wrong in IN_KERNEL)}
}}
int main()
{{
	float *x = 0; int *i = 0, missing;
{chr(10).join(wrong.line for wrong in IN_MAIN)}
	return 0;
}}
"""
# Calls of functions of simcc's own, and what gcc and clang say.
OF_OURS = {
    "v += __shfl_down_sync(v, 3);": (": it takes 4 arguments, the call gives 2", ": it takes at least 3 arguments,"),
    "atomicAdd(x[0], 1.0f);": (": argument 1 of type 'float' is incompatible with 'float*'",) * 2,
    "__syncthreads(1);": ("too many arguments to function 'void __syncthreads()'", ": it takes 0 arguments,"),
    "cudaMalloc(c, bytes);": (": argument 1 of type 'float*' is incompatible with 'void**'",) * 2,
    "cudaMalloc(bytes);": (": it takes 2 arguments, the call gives 1",) * 2,
    "cudaMemcpy(c, h, bytes);": ("too few arguments to function 'cudaError_t cudaMemcpy(", ": it takes 4 arguments,"),
    "cudaMemcpy(c, h, bytes, 1.5);": ("cannot convert 'double' to 'cudaMemcpyKind'", "argument 4 of type 'double' is"),
    "cudaEventCreate(e);": (": argument 1 of type 'cudaEvent_t' is incompatible with '",) * 2,
    "dim3 b(1, 2, 3, 4);": (": it takes 1 or 3 arguments, the call gives 4", "it takes 1 or at most 3 arguments,"),
    "cudamalloc(&c, bytes);": ("; did you mean 'cudaMalloc'?",) * 2,
    "syncthreads();": ("; did you mean '__syncthreads'?",) * 2,
}
# Marked: what is refused because it stands in a function that is surely the host's alone.
ON_THE_HOST = """__device__ void declared(float *x);
struct S { void m() { __syncthreads(); } __device__ void d() { __syncthreads(); } };
template <class T> void generic(T x) { __syncthreads(); }
void declared(float *x) { __syncthreads(); }
void perhaps(float *x) { if (x) { __syncthreads(); } }
__host__ __device__ void both() { __syncthreads(); }
__global__ void k(float *x) { auto l = [&] { perhaps(x), __syncwarp(); }; l(), declared(x), S().m(), generic(x); }
void frees(float *x)
{
	auto l = [&](int i) { if (i) { __syncwarp(); } };
	cudaFree(x);
	if (x) {
		__syncthreads(); // frees
	}
}
void launches(float *x)
{
	k<<<1, 1>>>(x);
	for (;;) x[0] = __shfl_down_sync(~0u, x[0], 1); // launches
}
int main()
{
	auto l = [] __device__() { __syncthreads(); };
	switch (1) { case 1: { __activemask(); } } // main
	return __syncthreads_or(1); // main
}
"""
POINTER = """void host(int *y) { (void)y; }
int main()
{
	void (*pointer)(int *) = host;
	pointer<<<1, 1>>>(0); // launch
	return cudaDeviceSynchronize();
}
"""
POINTERS = [Part("mistakes.pointer", POINTER), Part("mistakes.pointer.fast", POINTER)]
together("mistakes", POINTERS[:1])
together("mistakes.fast", POINTERS[1:], "--fast")
# What no message may name: it is not the user's.
OURS = re.compile(r"\bsim_|\bsim::|__attribute__|__asm__|launch\.h|simcc/include|\.simcc\d|simcc-[0-9a-f]{10}")

GOOD = "__global__ void k(int *y) { *y = 1; }\nint main() { int *y; cudaMalloc(&y, 4); k<<<1, 1>>>(y); }\n"
# Options with which the assembly pass, the engine or the linker does not have the code that they need; a variable that
# is not filled with 0x7F says nothing.
REFUSED = """-m32 -mx32 -m16 -masm=intel -mfunction-return=thunk -mindirect-branch=thunk -mindirect-branch=thunk-extern
    -mretpoline -mabi=ms -fpcc-struct-return -fprofile-arcs -fprofile-generate -fauto-profile -fno-pic -fno-PIC -fno-PIE
    -fsanitize=thread -fpatchable-function-entry=4 -finstrument-functions -fsplit-stack -fxray-instrument -ffreestanding
    -mlvi-hardening -mseses -femulated-tls
    -fno-implicit-templates -fvtable-verify=std -mno-sse -mgeneral-regs-only -pg --coverage -static-pie
    -gsplit-dwarf""".split()


def shown(number: int, line: str, column: int) -> str:
    """A line of the user's in a message, with a caret."""
    return f"{number:5} | {line}\n      | {' ' * (column - 1)}^\n".replace("\t", " ")


class Mistakes(Case):
    def compile(self, compiler: Compiler, text: str) -> Outcome:
        self.write("a.cu", text)
        outcome = simcc(compiler, ["-c", "a.cu", "-o", "a.o"], cwd=self.scratch)
        self.expect(not OURS.search(outcome.err), f"{compiler.cxx}: what is not the user's in\n{outcome.err}")
        return outcome

    def test_brackets_that_do_not_match(self):
        """Kills: the '{' of a whole function, far away and right, for a ')' or ']' that is one too many."""
        for text, line, column, says in BRACKETS:
            file = str(self.write("a.cu", text)).encode().decode("latin-1")  # as the passes have it
            found = transform(f'# 1 "{file}"\n{text}', False, "gcc", "/include").errors
            self.expect_equal(found, [(file, line, column, says)], text)
        header = '# 1 "cuda.h" 1 3\nint cudaMalloc(float **, int);\n'
        found = transform(f'{header}# 1 "a.cu" 2\n{RIGHT_BRACKETS}', False, "gcc", "/include").errors
        self.expect_equal(found, [], "brackets in literals, and an indent that is only ugly")

    @words_of_the_passes
    def test_a_string_that_does_not_end(self):
        """Kills: three messages at two columns for one quotation mark, or that names beyond ASCII are not supported."""
        for mark, line in (('"', '\tprintf("%g\\n, x[0]);'), ("'", "\tx[0] = 'a;"), ('"', "\tx[0] = '\"' + \"it's[;")):
            text = f"#include <stdio.h>\n{KERNEL}{line}\n}}\n{MAIN}"
            at = line.rindex(mark) + 1
            said = f"a.cu:4:{at}: error: missing terminating {mark} character\n{shown(4, line, at)}"
            for compiler in COMPILERS:
                outcome = self.compile(compiler, text)
                self.expect_equal((outcome.status, outcome.err), (1, said), f"{compiler.cxx}: {line}")

    @words_of_the_passes
    def test_what_the_preprocessor_says(self):
        """Kills: its columns count a tab as eight, and its lines are shown in another form than all others."""
        lines = ['\t#include "a.h"', "\t#warning careful", '#define X "abc', "\t#error größe", '#include "none.h"']
        self.write("a.h", "")
        at = [0, 3, 11, 3, 10]
        for compiler in COMPILERS:
            said = self.compile(compiler, "\n".join(lines) + "\n").err
            for number in (2, 3, 4, 5):
                kind = {4: "error", 5: "fatal error"}.get(number, "warning")
                self.expect_in(f"a.cu:{number}:{at[number - 1]}: {kind}: ", said, compiler.cxx)
                self.expect_in(shown(number, lines[number - 1], at[number - 1]), said, compiler.cxx)

    @words_of_the_passes
    def test_a_misspelt_function(self):
        """Kills: a function that simcc declares for itself, twice and at a line of a temporary file, with none named
        that was meant."""
        lines = [f"\t{line}" for line in MISSPELT]
        text = "int main()\n{\n\tfloat *x;\n\tcudaError_t e;\n" + "\n".join(lines) + "\n}\n"
        said = ""
        for number, line in enumerate(lines, 5):
            for found in re.finditer(r"cuda(\w+)(?=\()", line):
                at, meant = found.start() + 1, MISSPELT[line[1:]]
                what = "is not a function of the CUDA runtime that the simulated device has; did you mean"
                says = f"{what} '{meant}'?" if meant else "(the CUDA runtime) is not supported by the simulated device"
                said += f"a.cu:{number}:{at}: error: '{found[0]}' {says}\n{shown(number, line, at)}"
        for compiler in COMPILERS:
            outcome = self.compile(compiler, text)
            self.expect_equal((outcome.status, outcome.err), (1, said), compiler.cxx)

    @words_of_the_passes
    def test_launches_that_are_none(self):
        """Kills: templates of the engine in place of what is wrong; a missing __global__ that only a run tells."""
        lines = LAUNCHES.split("\n")
        at = {line.rpartition("// ")[2]: number for number, line in enumerate(lines, 1) if "// " in line}
        outcome = self.compile(FIRST, LAUNCHES)
        self.expect_equal(outcome.status, 1, "exit status")
        says = {mark: re.sub(r"@(\w+)", lambda name: str(at[name[1]]), text) for mark, text in IN_LAUNCHES.items()}
        said = outcome.err.splitlines()
        found = [re.sub(r"^(a.cu:\d+):\d+:", r"\1:", line) for line in said if line.startswith("a.cu:")]
        self.expect_equal(
            sorted(found), sorted(f"a.cu:{at[mark]}: error: {text}" for mark, text in says.items()), "said"
        )
        self.expect_equal(len(said), 3 * len(says) - 1, "a line and a caret with each, but in a macro")
        for line, caret in zip(said, said[1:]):
            if set(caret) <= set(" |^"):
                self.expect_in(line[caret.index("^") :][:3], ("<<<", "<<1", "__g", "thr", "typ"), line)

    @words_of_the_passes
    def test_launches_that_look_wrong(self):
        for compiler in COMPILERS:
            self.expect_silent(self.compile(compiler, RIGHT_LAUNCHES), compiler.cxx)

    def test_host_code_without_a_load(self):
        """Kills: with clang, `ptr` in intermediate code that has typed pointers."""
        for compiler in COMPILERS:
            for text in HOST_ONLY:
                outcome = self.compile(compiler, f"int main() {{ {text} }}\n")
                self.expect(outcome.status == 0, f"{compiler.cxx}: {text}: {outcome.err}")

    @words_of_the_passes
    def test_shared_declarations(self):
        """Kills: "an initializer is not allowed" where the `;` of a __shared__ array is missing."""
        outcome = self.compile(FIRST, SHARED)
        lines = (line.partition("// ")[2] for line in SHARED.split("\n"))
        wanted = [f"a.cu:{number}: error: {said}" for number, said in enumerate(lines, 1) if said]
        found = [re.sub(r"^(a.cu:\d+):\d+:", r"\1:", line) for line in outcome.err.splitlines() if line[:5] == "a.cu:"]
        self.expect_equal(found, wanted, "said")

    @words_of_the_passes
    def test_columns_are_those_of_the_users_lines(self):
        lines = COMPILED.split("\n")
        for compiler in COMPILERS:
            outcome = self.compile(compiler, COMPILED)
            self.expect_equal(outcome.status, 1, f"{compiler.cxx}: exit status")
            said = outcome.err.split("\n")
            for number, line in re.findall(r"^ *(\d+) \| (.*)$", outcome.err, re.MULTILINE):
                self.expect_equal(line, lines[int(number) - 1].replace("\t", " "), f"{compiler.cxx}: line {number}")
            for wrong in IN_KERNEL + IN_MAIN:
                self.expect_error(f"{compiler.cxx}: {wrong.line!r}", wrong, compiler.is_clang, lines, said)

    def expect_error(self, what: str, wrong: Wrong, clang: bool, lines: list[str], said: list[str]) -> None:
        mark = wrong.clang if clang else wrong.gcc
        line = wrong.line.split("\n")[0] + "\n"
        in_front = line[: line.index(mark)]
        place = f"a.cu:{lines.index(line[:-1]) + 1}:" + (f"{len(in_front.encode()) + 1}:" if mark else "")
        found = next((i for i, text in enumerate(said) if text.startswith(f"{place} error: ")), None)
        if found is None:
            self.expect(False, f"{what}: no error at {place} in\n" + "\n".join(said))
            return
        self.expect_in(wrong.says, said[found].replace(" *'", "*'"), what)
        if mark:
            self.expect_equal(said[found + 2], f"      | {' ' * len(in_front)}^", what)

    @words_of_the_passes
    def test_notes_about_simccs_own_headers(self):
        """Kills: twenty lines of templates and macros behind one that says what is wrong, or that does not say it."""
        in_kernel = [call for call in OF_OURS if re.match("v|_|atomic", call)]
        lines = ["__global__ void k(float *x, float v)", "{", *(f"\t{call}" for call in in_kernel), "}"]
        lines += ["int main()", "{", "\tfloat *c = 0, *h = 0;", "\tsize_t bytes = 4;", "\tcudaEvent_t e;"]
        lines += [*(f"\t{call}" for call in OF_OURS if call not in in_kernel), "}"]
        for compiler in COMPILERS:
            outcome = self.compile(compiler, "\n".join(lines) + "\n")
            said = outcome.err.replace(" *'", "*'").replace(" **'", "**'").split("\n")
            for call, (of_gcc, of_clang) in OF_OURS.items():
                line = lines.index(f"\t{call}") + 1
                found = [text for text in said if text.startswith(f"a.cu:{line}:")]
                self.expect_equal(len(found), 1, f"{compiler.cxx}: messages about {call}\n{outcome.err}")
                self.expect_in(of_clang if compiler.is_clang else of_gcc, "".join(found), f"{compiler.cxx}: {call}")

    @words_of_the_passes
    def test_device_code_in_a_function_of_the_host(self):
        """Kills: a run that ends with "was used by host code", without a line; threadIdx for which threadIdx is
        proposed."""
        lines = ON_THE_HOST.split("\n")
        said = ""
        for number, line in enumerate(lines, 1):
            found = re.search(r"(__\w+)\(.*// (\w+)$", line)
            if found:
                why = f'calling a __device__ function("{found[1]}") from a __host__ function("{found[2]}")'
                at = found.start() + 1
                said += f"a.cu:{number}:{at}: error: {why} is not allowed\n{shown(number, line, at)}"
        outcome = self.compile(FIRST, ON_THE_HOST)
        self.expect_equal((outcome.status, outcome.err), (1, said), "in functions of the host")
        right = "\n".join(line for line in lines if "//" not in line)
        self.expect_silent(self.compile(FIRST, right), "in those that may be the device's")
        for compiler in COMPILERS:
            said = self.compile(compiler, "int f() { return threadIdx.x; }\n").err
            why = 'error: a __device__ variable "threadIdx" cannot be directly read in a host function\n'
            self.expect_in(f"a.cu:1:18: {why}", said, compiler.cxx)

    @words_of_the_passes
    def test_a_pointer_to_no_kernel(self):
        """What only a run can tell: at the line of the launch. Kills: a message without a place."""
        for made in POINTERS:
            outcome = made.run()
            self.expect(outcome.status != 0, f"{made.name}: exit status")
            said = "A function that is no kernel was launched: 'host' without __global__, at"
            self.expect_in(f"{said} {made.source}:{marked_line(POINTER, 'launch')}\n", outcome.err, made.name)

    # ---- one line for what simcc cannot use ----

    def expect_refused(self, what: str, outcome: Outcome, status: int, said: str) -> None:
        self.expect_equal((outcome.status, outcome.out, outcome.err), (status, "", f"{said}\n"), what)

    def test_a_file_that_cannot_be_written(self):
        """Kills: ld's or as's message with the name of a temporary file, or one that names none."""
        self.write("a.cu", GOOD)
        self.write("a.c", "int f(void) { return 1; }\n")
        self.write("folder.cu/x", "")
        places = [
            ("none/x", "No such file or directory"),
            ("folder.cu", "Is a directory"),
            ("a.cu/x", "Not a directory"),
        ]
        for place, why in places:
            for arguments in (["a.cu"], ["-c", "a.cu"], ["--fast", "a.cu"], ["-c", "a.c"]):
                outcome = simcc(FIRST, [*arguments, "-o", place], cwd=self.scratch)
                self.expect_refused(f"{arguments} {place}", outcome, 3, f"simcc: cannot write {place}: {why}")
        for arguments in (["-c", "a.cu"], ["-c", "a.c"]):
            outcome = simcc(FIRST, [*arguments, "-o", "/dev/full"], cwd=self.scratch)
            said = "simcc: cannot write /dev/full: No space left on device"
            self.expect_refused(f"{arguments} /dev/full", outcome, 3, said)
        outcome = simcc(FIRST, ["-c", "a.cu", "-MD", "-MF", "none/d"], cwd=self.scratch)
        self.expect_refused("-MF", outcome, 3, "simcc: cannot write none/d: No such file or directory")
        outcome = simcc(FIRST, ["-c", "folder.cu"], cwd=self.scratch)
        self.expect_refused("a folder", outcome, 2, "simcc: folder.cu: a directory, expected a file")
        self.expect_equal(sorted(os.listdir(self.scratch)), ["a.c", "a.cu", "folder.cu"], "files that are left behind")

    def test_options_that_change_the_code(self):
        """Kills: an assembler's message about a file that nobody wrote, a linker's about functions nobody calls."""
        self.write("a.cu", GOOD)
        for option in REFUSED:
            outcome = simcc(FIRST, [option, "a.cu"], cwd=self.scratch)
            self.expect_equal((outcome.status, outcome.err.count("\n")), (2, 1), f"{option}: {outcome.err}")
            self.expect_in(option, outcome.err, option)

    def test_values_that_mean_nothing(self):
        """Kills: an architecture or a standard that nobody knows, taken in silence or told by the compiler;
        an output without a name."""
        self.write("a.cu", GOOD)
        gpu = "expected sm_90 or the like, compute_90, native, all or all-major"
        standard = "no such standard; expected c++17 or the like, or c11 for .c files"
        wrong = {
            "-arch=foo": f"-arch=foo: {gpu}",
            "-arch sm_9000": f"-arch=sm_9000: {gpu}",
            "-arch=sm_9x": f"-arch=sm_9x: {gpu}",
            "-arch=": f"-arch=: {gpu}",
            "--gpu-architecture=arch": f"--gpu-architecture=arch: {gpu}",
            "-gencode arch=compute_80,code=x": f"-gencode=arch=compute_80,code=x: {gpu}",
            "-code=sm_1": f"-code=sm_1: {gpu}",
            "-std=c++99": f"-std=c++99: {standard}",
            "-std=c12": f"-std=c12: {standard}",
            "-std=": f"-std=: {standard}",
            "-o ": "-o needs a value",
            "--keep ": "--keep needs a value",
        }
        for option, said in wrong.items():
            outcome = simcc(FIRST, ["a.cu", *option.split(" ")], cwd=self.scratch)
            self.expect_refused(option, outcome, 2, f"simcc: {said}")
        self.expect_equal(os.listdir(self.scratch), ["a.cu"], "files that are made")

    def test_a_compiler_that_is_neither(self):
        """Kills: a message of tcc's or of the shell's per file, about options."""
        self.write("a.cu", GOOD)
        self.write("bin/tcc", "#!/bin/sh\necho 'tcc version 0.9.27 (x86_64 Linux)'\n").chmod(0o755)
        path = {"PATH": f"{self.scratch}/bin:{os.environ['PATH']}"}
        neither = "is neither gcc nor clang"
        for name, why in (("tcc", f" {neither}; expected one of them"), ("true", f" {neither}; expected one of them")):
            for variable in ("CC", "CXX"):
                outcome = run([SIMCC, "a.cu"], {**FIRST.environment, variable: name, **path}, cwd=self.scratch)
                self.expect_refused(f"{variable}={name}", outcome, 2, f"simcc: {variable}='{name}'{why}")
        outcome = run([SIMCC, "a.cu"], {**FIRST.environment, "CC": "no-such"}, cwd=self.scratch)
        said = "simcc: CC='no-such': compiler 'no-such' not found; expected gcc or clang"
        self.expect_refused("no compiler", outcome, 2, said)
        for name in ("tcc", "no-such"):
            outcome = run(["make", "-s", "-C", HOME, f"CC={name}", "CXX=g++"], path)
            self.expect_equal((outcome.status, outcome.out, outcome.err.count("\n")), (2, "", 1), outcome.err)
            self.expect_in(f"'{name}' {neither}, or is not installed", outcome.err)

    def test_a_compiler_of_something_else(self):
        """Kills: hundreds of the compiler's or the linker's messages about simcc's own files."""
        self.write("a.cu", GOOD)
        c, cxx, other = (
            FIRST.cc,
            FIRST.cxx,
            "makes no 64-bit code for x86-64 or ARM64, and the simulated device runs no other",
        )
        wrong = [
            ("CC", cxx, "is a C++ compiler; expected gcc or clang"),
            ("CXX", c, "is a C compiler, which does not link C++; expected g++ or clang++"),
            ("CC", f"{c} -m32", other),
            ("CXX", f"{cxx} -m32", other),
            ("CXX", f"{cxx} -mx32", other),
        ]
        for variable, chosen, why in wrong:
            said = f"{variable}='{chosen}' {why}"
            environment = {**FIRST.environment, variable: chosen}
            outcome = run([SIMCC, "a.cu"], environment, cwd=self.scratch)
            self.expect_refused(said, outcome, 2, f"simcc: {said}")
            outcome = run(["make", "-s", "-C", HOME, *(f"{name}={value}" for name, value in environment.items())])
            self.expect_equal((outcome.status, outcome.out, outcome.err.count("\n")), (2, "", 1), outcome.err)
            self.expect_in(f" {said}.", outcome.err)
