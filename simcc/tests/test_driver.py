"""simcc's command line: what it builds, what it refuses and how; and the SIM_* variables of what it built."""

from __future__ import annotations

import itertools
import json
import os
import shutil
from pathlib import Path

from reports import read_report
from support import (
    COMPILERS,
    FIRST,
    HOME,
    LIBRARIES,
    RUNNER,
    SIMCC,
    Case,
    Outcome,
    Word,
    inline,
    long_test,
    marked_line,
    run,
    simcc,
)

GOOD = r"""#include <cstdio>
#ifndef VALUE
#define VALUE 1
#endif
__global__ void store(int *y) { y[threadIdx.x] = VALUE; }
int main()
{
	int y[32], *dy;
	cudaMalloc(&dy, sizeof y);
	store<<<1, 32>>>(dy);
	cudaMemcpy(y, dy, sizeof y, cudaMemcpyDeviceToHost);
	printf("%d\n", y[31]);
	return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
"""
GOOD_PROGRAM = inline("driver.good", GOOD)
IDLE = inline("driver.idle", "int main() { return 0; }\n")
# 100 KB of shared memory is too much for an rtx4090 (99 KB) and fine on an h100.
LIMITS = inline(
    "driver.limits",
    r"""#include <cstdio>
__global__ void k(float *y)
{
	extern __shared__ float s[];
	s[threadIdx.x] = 1;
	y[threadIdx.x] = s[threadIdx.x];
}
int main()
{
	float *y;
	cudaDeviceProp p;
	cudaGetDeviceProperties(&p, 0);
	cudaMalloc(&y, 128);
	cudaError_t error = cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10);
	k<<<1, 32, 100 << 10>>>(y);
	cudaError_t launch = cudaGetLastError();
	printf("%s %s %zu\n", cudaGetErrorName(error), cudaGetErrorName(launch), p.sharedMemPerBlockOptin);
	return 0;
}
""",
)

# Of directory and file, and the language; the last is no UTF-8.
ODD_NAMES = [("Übung", "C"), ("Übung", "C.UTF-8"), ("日本", "C"), ("a'b&c;(#%:", "C"), ("a\\303b", "C")]
ODD_NAMES += [(os.fsdecode(b"a\xff"), "C.UTF-8")]
RACY = """__device__ int length(const char *text) { return text[0] != 0; }
__global__ void k(float4 *y)
{
	const char *text = "Übung日本"; y[0] = make_float4(length(text), threadIdx.x, 0, 0); // @race
}
int main()
{
	float4 *y;
	cudaMalloc(&y, sizeof *y);
	k<<<1, 64>>>(y);
	cudaDeviceSynchronize();
}
"""

# source, what the message must say; @wrong marks the line that must be named
WRONG_SOURCES = [
    ('#include "missing.h" // @wrong\nint main() {}\n', ["missing.h"]),
    (
        "__global__ void k(int *y)\n{\n\ty[0] = *(int *)malloc(4); // @wrong\n}\nint main() {}\n",
        ["'malloc' in device code is not supported"],
    ),
    ("__global__ void k(int *y)\n{\n\ty[0] = nowhere; // @wrong\n}\nint main() { k<<<1, 1>>>(0); }\n", ["nowhere"]),
    (
        "__device__ int f();\n__global__ void k(int *y) { y[0] = f(); }\nint main() { k<<<1, 1>>>(0); }\n",
        ["not defined in this file", "f()"],
    ),
]


class Driver(Case):
    def simcc(self, *arguments: Word) -> Outcome:
        return simcc(FIRST, arguments, cwd=self.scratch)

    def other_files(self, name: str) -> int:
        """How many files the scratch folder holds besides the one named."""
        return sum(1 for entry in self.scratch.iterdir() if entry.name != name)

    def expect_built(self, what: str, built: Outcome, program: str, printed: str) -> None:
        self.expect_equal((built.status, built.out, built.err), (0, "", ""), f"{what}: simcc")
        if built.status == 0:
            outcome = run([*RUNNER, self.scratch / program])
            self.expect_equal((outcome.status, outcome.out), (0, printed), f"{what}: {outcome.err}")

    def expect_refused(self, what: str, outcome: Outcome, named: str) -> None:
        """One line that names what is wrong, status 2, nothing on standard output."""
        self.expect_equal((outcome.status, outcome.out), (2, ""), f"{what}: {outcome.err}")
        self.expect_equal(outcome.err.count("\n"), 1, f"{what}: lines of {outcome.err}")
        self.expect_in(named, outcome.err, what)

    def test_usage(self):
        wrong = [
            ([], "no input"),
            (["--nonsense", "a.cu"], "--nonsense"),
            (["-nonsense", "a.cu"], "-nonsense"),
            (["missing.cu", "-o", "x"], "missing.cu"),
            (["a.cu", "-o"], "-o"),
            (["a.cu", "b.cu", "-c", "-o", "x.o"], "-o"),
            (["a.xyz"], "a.xyz"),
            (["-x", "fortran", "a.cu"], "fortran"),
            (["-O9", "a.cu"], "-O9"),
        ]
        outcome = self.simcc("--help")
        self.expect(outcome.status == 0 and outcome.out.startswith("usage: simcc"), f"--help: {outcome.out}")
        self.expect_equal(outcome.err, "", "--help")
        outcome = self.simcc("--version")
        self.expect(outcome.status == 0 and outcome.out.startswith("simcc "), f"--version: {outcome.out}")
        self.expect_in("\nCuda compilation tools, release ", outcome.out)  # as nvcc
        for name in ("a.cu", "b.cu", "a.xyz"):
            self.write(name, GOOD)
        for arguments, named in wrong:
            self.expect_refused(str(arguments), self.simcc(*arguments), named)
        self.expect_equal(self.other_files("a.cu"), 2, "files that a refused command line left behind")
        outcome = run([SIMCC, self.scratch / "a.cu"], {"CXX": "no-such-compiler"})
        self.expect_equal(outcome.status, 2, "a compiler that is not there")
        self.expect_in("no-such-compiler", outcome.err)

    def test_its_own_compiler(self):
        """simcc as its own compiler, by whatever way, is refused at once: it would wait for itself for ever."""
        self.write("a.cu", GOOD)
        self.write("a.c", "int main(void) { return 0; }\n")
        (self.scratch / "link").symlink_to(SIMCC)
        self.write("script", f'#!/bin/sh\nexec {SIMCC} -O2 "$@"\n').chmod(0o755)
        copied = run(["sh", "-c", f"mkdir copy && cp -r {SIMCC} {HOME}/driver copy"], cwd=self.scratch)
        self.assertEqual(copied.status, 0, copied.err)
        for itself in (str(SIMCC), "./link", "env ./link", "./script", "./copy/simcc"):
            for variable in ("CC", "CXX"):
                for arguments in (["-c", "a.c"], ["a.cu", "-o", "prog"]):
                    outcome = run([SIMCC, *arguments], {**FIRST.environment, variable: itself}, cwd=self.scratch)
                    self.expect_refused(f"{variable}={itself} {arguments}", outcome, "is simcc itself")

    def test_errors_name_the_users_line(self):
        for source, says in WRONG_SOURCES:
            self.write("a.cu", source)
            outcome = self.simcc("a.cu", "-o", "prog")
            self.expect_equal(outcome.status, 1, f"{source}: {outcome.err}")
            place = [f"a.cu:{marked_line(source, '@wrong')}"] if "@wrong" in source else []
            for part in place + says:
                self.expect_in(part, outcome.err, source)
            self.expect_equal(self.other_files("a.cu"), 0, "files that were left behind")

    def test_options(self):
        self.write("headers/value.h", "#define VALUE 77\n")
        self.write("a.cu", GOOD)
        self.write("with_header.cu", f"#include <value.h>\n{GOOD}")
        nvcc = ["-arch=sm_90", "-gencode", "arch=compute_90,code=sm_90", "-lineinfo", "--use_fast_math", "-Xcompiler"]
        nvcc += ["-Wall,-O3", "-Xptxas=-v", "-rdc=true", "-lm", "--expt-relaxed-constexpr", "a.cu"]
        apart = ["a.cu", "-D", "VALUE=6", "-O3", "-g", "-Wall", "-Wextra", "-Werror", "-std=c++14", "-oprog"]
        self.expect_built("plain", self.simcc("a.cu"), "a.out", "1\n")
        self.expect_built("-D", self.simcc("-DVALUE=5", "a.cu", "-o", "prog"), "prog", "5\n")
        self.expect_built("-D apart, -O3, -g, -W, -std", self.simcc(*apart), "prog", "6\n")
        self.expect_built("-I", self.simcc("with_header.cu", "-Iheaders", "-o", "prog"), "prog", "77\n")
        self.expect_built("--fast", self.simcc("--fast", "a.cu", "-DVALUE=8", "-o", "prog"), "prog", "8\n")
        self.expect_built("nvcc's own", self.simcc(*nvcc, "-o", "prog"), "prog", "1\n")
        self.expect_built("-x", self.simcc("-x", "cu", "a.cu", "-x", "none", "-o", "prog"), "prog", "1\n")

    def test_options_as_nvcc_has_them(self):
        """Kills: another program in silence, where a macro stands behind -Xcompiler; words that nvcc takes apart."""
        self.write("a.cu", GOOD)
        for number, words in enumerate(
            [
                "-Xcompiler -DVALUE=0",
                "--compiler-options -O0,-D,VALUE=1",
                "-Xcompiler=-Wall,-DVALUE=2",
                "-O 2 -DVALUE=3",
            ]
        ):
            self.expect_built(words, self.simcc(*words.split(), "a.cu", "-o", "prog"), "prog", f"{number}\n")
        self.write("b.cu", 'static_assert(__cplusplus == 201402L, "not C++14");\nint main() {}\n')
        for words in ("-std c++14", "--std c++14"):
            self.expect_silent(self.simcc(*words.split(), "b.cu", "-o", "prog"), words)
        self.expect_refused("-std", self.simcc("b.cu", "-std"), "-std needs a value")

    def test_options_that_nvcc_has_for_code_of_gpus(self):
        """Kills: one that clang or the linker is asked for: as -f, -m and -W, or as -o dir and -l ib."""
        self.write("a.cu", GOOD)
        values = "maxrregcount 32 fmad false ftz true prec-div false prec-sqrt true".split()
        values += "Werror all-warnings Werror cross-execution-space-call,reorder".split()
        for dashes, joint in itertools.product(("-", "--"), ("=", " ")):
            pairs = [f"{dashes}{name}{joint}{value}" for name, value in zip(values[::2], values[1::2])]
            options = " ".join(pairs)
            self.expect_built(options, self.simcc(*options.split(), "a.cu", "-o", "prog"), "prog", "1\n")
        self.expect_built("-Werror", self.simcc("-Werror", "-Werror=reorder", "a.cu", "-o", "prog"), "prog", "1\n")
        self.expect_refused("-fmad", self.simcc("-fmad", "a.cu"), "-fmad a.cu: expected true or false")
        for words in ("-odir out", "-optf file", "-lib", "-default-stream per-thread", "--default-stream=legacy"):
            name = words.replace("=", " ").split()[0]
            self.expect_refused(words, self.simcc(*words.split(), "a.cu"), f"simcc: {name} is not supported\n")

    def test_a_program_depends_on_its_headers(self):
        """Kills: a rule for an object that is gone once the program is linked; a file in its place."""
        self.write("a.cuh", "#define VALUE 1\n")
        self.write("a.cu", '#include "a.cuh"\n' + GOOD)
        for words, file, target in (
            ("a.cu -MMD -o prog", "prog.d", "prog"),
            ("a.cu -MD -MF rule -o prog", "rule", "prog"),
            ("-c a.cu -MMD", "a.d", "a.o"),
        ):
            self.expect_silent(self.simcc(*words.split()), words)
            rules = (Path(self.scratch) / file).read_text()
            self.expect_equal((rules.startswith(f"{target}:"), "a.cuh" in rules), (True, True), words)

    def test_a_nan_stays_one(self):
        """Kills: a part of -ffast-math that is passed on where the whole is not."""
        text = GOOD.replace("= VALUE;", "= is_nan(__int_as_float(0x7fc00000 + threadIdx.x));")
        text = "__device__ bool is_nan(float v) { return v != v; }\n" + text
        self.write("a.cu", text)
        options = "-ffast-math -ffinite-math-only -funsafe-math-optimizations -fno-honor-nans".split()
        for more in ([], ["--fast"]):
            self.expect_built(str(more), self.simcc(*options, *more, "a.cu", "-o", "prog"), "prog", "1\n")

    def test_an_optimizer_s_miss_is_no_warning(self):
        """clang says of --fast that it could not unroll a loop as its pragma asks, which -Werror would stop at."""
        self.write(
            "halve.cu",
            "__global__ void halve(float *x, int n)\n{\n"
            "#pragma unroll\n\tfor (int i = threadIdx.x; i < n; i += blockDim.x)\n\t\tx[i] *= 0.5f;\n}\n",
        )
        for compiler in COMPILERS:
            outcome = simcc(compiler, ["--fast", "-Wall", "-Wextra", "-Werror", "-c", "halve.cu"], cwd=self.scratch)
            self.expect_equal((outcome.status, outcome.err), (0, ""), compiler.cxx)

    def test_objects(self):
        self.write(
            "kernel.cu",
            "__global__ static void k(int *y, int v) { y[threadIdx.x] = v; }\n"
            'extern "C" void fill(int *y, int v) { k<<<1, 32>>>(y, v); }\n',
        )
        self.write(
            "main.c",
            r"""#include <cuda_runtime.h>
#include <stdio.h>
void fill(int *y, int v);
int main(void)
{
	int y[32], *dy;
	if (cudaMalloc((void **)&dy, sizeof y) != cudaSuccess)
		return 1;
	fill(dy, 12);
	cudaMemcpy(y, dy, sizeof y, cudaMemcpyDeviceToHost);
	printf("%d\n", y[31]);
	return 0;
}
""",
        )
        outcome = self.simcc("-c", "kernel.cu")
        self.expect(outcome.status == 0 and (self.scratch / "kernel.o").exists(), f"-c: {outcome.err}")
        outcome = self.simcc("-c", "main.c", "-std=c11", "-Wall", "-Wextra", "-Werror", "-o", "host.o")
        self.expect(outcome.status == 0 and (self.scratch / "host.o").exists(), f"-c of a .c: {outcome.err}")
        self.expect_built("objects", self.simcc("kernel.o", "host.o", "-o", "prog"), "prog", "12\n")
        self.expect_built("a .c, a .cu", self.simcc("main.c", "kernel.cu", "-o", "prog"), "prog", "12\n")
        mixed = self.simcc("--fast", "main.c", "kernel.cu", "-o", "prog")
        self.expect_built("--fast, mixed", mixed, "prog", "12\n")
        self.expect_equal(self.other_files("prog"), 4, "files; intermediate ones were left behind")

    def test_nothing_hides_device_code(self):
        """Attributes and pragmas that would take its hooks away, or optimize it, are not there when it is counted."""
        hiding = r"""__attribute__((optimize("O3"))) __global__ void first(int *p) { p[threadIdx.x] = 1; }
#pragma GCC push_options
#pragma GCC optimize("O2")
__global__ void second(int *p) { p[threadIdx.x] = 1; }
#pragma GCC pop_options
__attribute__((noinline, no_sanitize("thread"))) __device__ int one(int *p) { return *p; }
[[gnu::optimize("O3")]] __device__ int two(int *p) { return *p; }
__global__ void third(int *p) { p[0] = one(p + 1) + two(p + 2); }
int main()
{
	int *p, optimize = 0;
	cudaMalloc(&p, 128);
	first<<<1, 32>>>(p);
	second<<<1, 32>>>(p);
	third<<<1, 1>>>(p);
	return cudaDeviceSynchronize() + optimize;
}
"""
        source = self.write("hiding.cu", hiding)
        for compiler in COMPILERS:
            self.expect_silent(simcc(compiler, [source, "-o", self.scratch / "hiding"]), compiler.cxx)
            outcome = run([*RUNNER, self.scratch / "hiding"], {"SIM_REPORT": str(self.scratch / "report")})
            self.expect_silent(outcome, compiler.cxx)
            launches = read_report(self.scratch / "report").launches
            counted = [(one["global"]["load"]["bytes"], one["global"]["store"]["bytes"]) for one in launches]
            self.expect_equal(counted, [(0, 128), (0, 128), (8, 4)], compiler.cxx)
        for option in ("-mcmodel=large", "-fno-sanitize=all", "-masm=intel", "-fsyntax-only", "-fpack-struct"):
            outcome = simcc(FIRST, [option, source])
            self.expect_equal((outcome.status, len(outcome.err.splitlines())), (2, 1), option)
            self.expect_in(option, outcome.err)
        before = source.read_text()
        self.expect_equal(simcc(FIRST, [source, "-o", source]).status, 2, "-o names the source")
        self.expect_equal(source.read_text(), before, "the source")

    def test_what_is_no_file_is_written_to_and_stays(self):
        """As root a rename onto /dev/null would put a program in its place. (Here a link to it would go.)"""
        source = self.write("a.cu", GOOD)
        link, pipe = self.scratch / "null", self.scratch / "pipe"
        link.symlink_to(os.devnull)
        os.mkfifo(pipe)
        for arguments in (["-c", source, "-o", link], [source, "-o", link]):
            self.expect_silent(simcc(FIRST, arguments), f"{arguments}")
            self.expect(link.is_symlink() and not os.path.isfile(link), f"{arguments}: the link has gone")
        outcome = run(
            ["sh", "-c", f"cat '{pipe}' | wc -c & '{SIMCC}' -c '{source}' -o '{pipe}' && wait"],
            environment=FIRST.environment,
        )
        self.expect(outcome.status == 0 and int(outcome.out) > 1000, f"a pipe: {outcome.out}{outcome.err}")
        self.expect(pipe.is_fifo(), "the pipe has gone")

    def test_paths_with_spaces_and_quotes(self):
        folder = "it's a $(dir) \"x"
        self.write(f"{folder}/my file.cu", GOOD)
        built = self.simcc(f"{folder}/my file.cu", "-o", f"{folder}/my program")
        self.expect_built("spaces", built, f"{folder}/my program", "1\n")
        bad = "__global__ void k(int *y)\n{\n\ty[threadIdx.x] = 1; // @store\n}\nint main() { k<<<1, 1>>>(0); }\n"
        self.write(f"{folder}/bad.cu", bad)
        built = self.simcc(f"{folder}/bad.cu", "-o", "bad")
        self.assertEqual(built.status, 0, built.err)
        outcome = run([*RUNNER, self.scratch / "bad"])
        self.expect_equal(outcome.status, 1, "exit status")
        self.expect_in(f"bad.cu:{marked_line(bad, '@store')}", outcome.err)

    @long_test  # builds a library of its own
    def test_paths_beyond_ascii(self):
        """Columns are bytes. Kills: a line that is not quoted, a caret too far to the right."""
        shutil.copytree(HOME, self.scratch / "Übung/simcc", ignore=shutil.ignore_patterns("build", "tests", "bench"))
        for (name, language), compiler in itertools.product(ODD_NAMES, COMPILERS):
            what = f"{name}, {compiler.cxx}, {language}"
            environment = {**compiler.environment, "LC_ALL": language, "SIM_REPORT": "r", "SIM_TRACE": "t"}
            library = LIBRARIES.get(compiler)
            environment.update({"SIM_LIB": str(library)} if library else {})
            shown = os.fsencode(f"{name}/{name}.cu")
            folder = Path(os.fsdecode(os.fsencode(self.scratch)), name)
            folder.mkdir(exist_ok=True)
            (folder / f"{name}.cu").write_text(RACY)
            built = run(["Übung/simcc/simcc", os.fsdecode(shown), "-o", folder / "racy"], environment, self.scratch)
            self.expect_silent(built, what)
            outcome = run([*RUNNER, folder / "racy"], environment, self.scratch)
            self.expect_equal(outcome.status, 1, f"{what}: exit status")
            at = marked_line(RACY, "@race")
            text = RACY.split("\n")[at - 1].lstrip("\t")  # too long for its indent, and for its end
            self.expect_in(f" in {shown.decode(errors='replace')}:{at}\n", outcome.err, what)
            quoted = f"=========     {at:5} | "
            lines = outcome.err.split("\n")
            quotes = [line for line in lines if line.startswith(quoted)]
            if not quotes or len(quotes[0]) < 80 or not (quoted + text).startswith(quotes[0].removesuffix("...")):
                self.expect(False, f"{what}: 80 columns of the line are not quoted in\n{outcome.err}")
                continue
            caret = lines[lines.index(quotes[0]) + 1]
            self.expect(caret.endswith("^") and caret[: len(caret) - 1].rstrip().endswith("|"), f"{what}: {caret}")
            points_at = text[len(caret) - 1 - len(quoted)]
            self.expect_equal(points_at, "=", f"{what}: what the caret points at")
            # or they are no UTF-8, or no JSON
            records = [json.loads(line) for file in "rt" for line in (self.scratch / file).read_bytes().splitlines()]
            files = {record["file"] for record in records if "file" in record}
            self.expect_equal(files, {shown.decode(errors="replace")}, f"{what}: files in report and trace")

    # ---- the variables of a built program ----

    def test_environment_of_a_program(self):
        outcome = GOOD_PROGRAM.run(SIM_REPORT="/nonexistent/report.json")
        self.expect_equal((outcome.status, outcome.err.count("\n")), (3, 1), f"unwritable: {outcome.err}")
        outcome = GOOD_PROGRAM.run(SIM_REPORT="/dev/full")  # a report that is cut off passed for a clean one
        self.expect_equal(
            (outcome.status, outcome.err),
            (3, "SIM_REPORT=/dev/full: cannot be written: No space left on device\n"),
            "full",
        )

        outcome = GOOD_PROGRAM.run(SIM_REPORT="-")
        written = outcome.out.startswith('{"type":"launch"') and "\n1\n" in outcome.out
        self.expect(outcome.status == 0 and written, f"SIM_REPORT=-: {outcome.out}")
        path = self.write("report.json", "what was there before\n")
        outcome = IDLE.run(SIM_REPORT=str(path))
        self.expect_equal((outcome.status, path.read_text()), (0, ""), "a program without a launch")
        GOOD_PROGRAM.run(SIM_REPORT=str(path))
        report = read_report(path)
        self.expect_equal((len(report.launches), len(report.hazards)), (1, 0), "records")

        for gpu in ("a100", "a100-80", "h100", "h200", "rtx4090"):  # every GPU there is
            outcome = GOOD_PROGRAM.run(SIM_GPU=gpu, SIM_CHECK="memcheck,synccheck", SIM_THREADS="3")
            self.expect_equal((outcome.status, outcome.out), (0, "1\n"), f"{gpu}: {outcome.err}")

    def test_the_gpu_sets_the_limits(self):
        fits = "cudaSuccess cudaSuccess 232448\n"
        self.expect_equal(LIMITS.run(SIM_GPU="h100").out, fits, "h100")
        refused = "cudaErrorInvalidValue cudaErrorInvalidValue 101376\n"
        self.expect_equal(LIMITS.run(SIM_GPU="rtx4090").out, refused, "rtx4090")
        self.expect_equal(LIMITS.run().out, fits, "default")

    # ---- the machine ----

    def test_simcc_needs_no_home_and_no_tmp(self):
        """A folder for what is temporary with a space in it, no home, and any language."""
        folder = self.scratch / "a folder"
        folder.mkdir()
        source = self.write(
            "source/a.cu",
            r"""#include <cstdio>
__global__ void k(float *y) { y[0] = 1.5f; }
int main()
{
	float y, *dy;
	cudaMalloc(&dy, 4);
	k<<<1, 1>>>(dy);
	cudaMemcpy(&y, dy, 4, cudaMemcpyDeviceToHost);
	printf("%g\n", y);
}
""",
        )
        source.parent.chmod(0o555)
        self.addCleanup(source.parent.chmod, 0o755)
        for language in ("C", "de_DE.UTF-8", "tr_TR.UTF-8"):
            environment = {"LC_ALL": language, "HOME": "/nonexistent", "TMPDIR": str(folder), **FIRST.environment}
            built = run([SIMCC, source, "-o", folder / "program"], environment)
            self.assertEqual(built.status, 0, f"{language}: {built.err}")
            outcome = run([*RUNNER, folder / "program"], environment)
            self.expect_equal((outcome.status, outcome.out), (0, "1.5\n"), f"{language}: {outcome.err}")
            self.expect_equal(os.listdir(folder), ["program"], f"{language}: files that were left behind")
