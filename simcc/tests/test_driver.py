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
OF_C_KERNEL = """__global__ static void k(int *y, int v) { y[threadIdx.x] = v; }
extern "C" void fill(int *y, int v) { k<<<1, 32>>>(y, v); }
"""
OF_C = r"""#include <cuda_runtime.h>
#include <stdio.h>
void fill(int *y, int v);
int main(void)
{
	int y[32], *dy;
	cudaMalloc((void **)&dy, sizeof y);
	fill(dy, 12);
	cudaMemcpy(y, dy, sizeof y, cudaMemcpyDeviceToHost);
	printf("%d\n", y[31]);
	return 0;
}
"""
HALVE = """__global__ void halve(float *x, int n)
{
#pragma unroll
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		x[i] *= 0.5f;
}
"""
NAN = "__device__ bool is_nan(float v) { return v != v; }\n"
NAN += GOOD.replace("= VALUE;", "= is_nan(__int_as_float(0x7fc00000 + threadIdx.x));")
SOURCES = {
    "a.cu": GOOD,
    "a.xyz": GOOD,
    "headers/value.h": "#define VALUE 77\n",
    "with_header.cu": f"#include <value.h>\n{GOOD}",
    "cxx14.cu": f'static_assert(__cplusplus == 201402L, "not C++14");\n#define VALUE 14\n{GOOD}',
    "arch.cu": f"#ifdef __CUDA_ARCH__\n#define VALUE __CUDA_ARCH__\n#endif\n{GOOD}",
    "nan.cu": NAN,
    "halve.cu": HALVE,
    "kernel.cu": OF_C_KERNEL,
    "main.c": OF_C,
}
GOOD_PROGRAM = inline("driver.good", GOOD)
IDLE = inline("driver.idle", "int main() { return 0; }\n")
HIDING = r"""__attribute__((optimize("O3"))) __global__ void first(int *p) { p[threadIdx.x] = 1; }
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

# Options, and what the program built with them prints, which is its VALUE; None where they make an object.
BUILT = [
    ("a.cu -DVALUE=5", 5),
    ("a.cu -D VALUE=6 -O3 -g -Wall -Wextra -Werror -std=c++14", 6),
    ("with_header.cu -Iheaders", 77),
    ("--fast a.cu -DVALUE=8", 8),
    ("-x cu a.cu -x none", 1),
    ("a.cu -Werror -Werror=reorder", 1),
    # nvcc's own. Kills: another program in silence, where a macro stands behind -Xcompiler; words that it takes apart.
    ("a.cu -arch=sm_90 -gencode arch=compute_90,code=sm_90 -lineinfo --use_fast_math -Xcompiler -Wall,-O3"
     " -Xptxas=-v -rdc=true -lm --expt-relaxed-constexpr", 1),
    ("a.cu -Xcompiler -DVALUE=0", 0),
    ("a.cu --compiler-options -O0,-D,VALUE=4", 4),
    ("a.cu -Xcompiler=-Wall,-DVALUE=2", 2),
    ("a.cu -O 2 -DVALUE=3", 3),
    ("cxx14.cu -std c++14", 14),
    ("cxx14.cu --std c++14", 14),
    # Kills: a part of -ffast-math that is passed on where the whole is not, so that a NaN is none.
    ("nan.cu -ffast-math -ffinite-math-only -funsafe-math-optimizations -fno-honor-nans", 1),
    ("nan.cu --fast -ffast-math -ffinite-math-only -funsafe-math-optimizations -fno-honor-nans", 1),
    # nvcc's __CUDA_ARCH__
    ("arch.cu", 900),
    ("arch.cu -arch=sm_80", 800),
    ("arch.cu -arch sm_90a", 900),
    ("arch.cu --gpu-architecture=compute_100", 1000),
    # Kills: the first or the last of several, which need not be the highest.
    ("arch.cu -gencode arch=compute_75,code=sm_75 -gencode=arch=compute_80,code=[sm_80,compute_80]"
     " -gencode arch=compute_70,code=sm_70", 800),
    ("arch.cu -arch=native", 900),
    # Objects, C, and what clang says of --fast: that it could not unroll a loop as its pragma asks.
    ("-c kernel.cu", None),
    ("-c main.c -std=c11 -Wall -Wextra -Werror -o host.o", None),
    ("kernel.o host.o", 12),
    ("main.c kernel.cu", 12),
    ("--fast main.c kernel.cu", 12),
    ("--fast -Wall -Wextra -Werror -c halve.cu", None),
]  # fmt: skip
# nvcc's for code of GPUs. Kills: one that clang or the linker is asked for: as -f, -m and -W, or as -o dir and -l ib.
FOR_GPUS = "maxrregcount 32 fmad false ftz true prec-div false prec-sqrt true".split()
FOR_GPUS += "Werror all-warnings Werror cross-execution-space-call,reorder".split()
BUILT += [
    (" ".join(["a.cu", *(f"{dashes}{name}{joint}{value}" for name, value in zip(FOR_GPUS[::2], FOR_GPUS[1::2]))]), 1)
    for dashes, joint in itertools.product(("-", "--"), ("=", " "))
]
# With which the plugin, the engine or the linker does not have the code that it needs. Kills: an assembler's message
# about a file that nobody wrote, a linker's about functions nobody calls.
OTHER_CODE = """
    -m32 -mx32 -m16 -masm=intel -mfunction-return=thunk -mindirect-branch=thunk -mretpoline
    -mindirect-branch=thunk-extern -mabi=ms -fpcc-struct-return -fprofile-arcs -fprofile-generate -fauto-profile
    -fno-pic -fno-PIC -fno-PIE -fsanitize=thread -fno-sanitize=all -fpatchable-function-entry=4 -finstrument-functions
    -fsplit-stack -fxray-instrument -ffreestanding -mlvi-hardening -mseses -femulated-tls -fno-implicit-templates
    -fvtable-verify=std -mno-sse -mgeneral-regs-only -pg --coverage -static-pie -gsplit-dwarf -mcmodel=large
    -fsyntax-only -fpack-struct
""".split()
GPU = "expected sm_90 or the like, compute_90, native, all or all-major\n"
STANDARD = "no such standard; expected c++17 or the like, or c11 for .c files\n"
# What is refused, and what the one line has.
REFUSED = [
    ("", "no input"),
    ("--nonsense a.cu", "--nonsense"),
    ("-nonsense a.cu", "-nonsense"),
    ("missing.cu -o x", "missing.cu"),
    ("a.cu -o", "-o"),
    ("a.cu nan.cu -c -o x.o", "-o"),
    ("a.xyz", "a.xyz"),
    ("-x fortran a.cu", "fortran"),
    ("-O9 a.cu", "-O9"),
    ("a.cu -std", "-std needs a value"),
    ("-fmad a.cu", "-fmad a.cu: expected true or false"),
    ("-odir out a.cu", "simcc: -odir is not supported\n"),
    ("-optf file a.cu", "simcc: -optf is not supported\n"),
    ("-lib a.cu", "simcc: -lib is not supported\n"),
    ("-default-stream per-thread a.cu", "simcc: -default-stream is not supported\n"),
    ("--default-stream=legacy a.cu", "simcc: --default-stream is not supported\n"),
    ("-arch=foo a.cu", f"-arch=foo: {GPU}"),
    ("-arch sm_9000 a.cu", f"-arch=sm_9000: {GPU}"),
    ("-arch=sm_9x a.cu", f"-arch=sm_9x: {GPU}"),
    ("-arch= a.cu", f"-arch=: {GPU}"),
    ("--gpu-architecture=arch a.cu", f"--gpu-architecture=arch: {GPU}"),
    ("-gencode arch=compute_80,code=x a.cu", f"-gencode=arch=compute_80,code=x: {GPU}"),
    ("-code=sm_1 a.cu", f"-code=sm_1: {GPU}"),
    ("-std=c++99 a.cu", f"-std=c++99: {STANDARD}"),
    ("-std=c12 a.cu", f"-std=c12: {STANDARD}"),
    ("-std= a.cu", f"-std=: {STANDARD}"),
    ("a.cu -o a.cu", "a.cu"),
    *((f"{option} a.cu", option) for option in OTHER_CODE),
]  # fmt: skip


class Driver(Case):
    def simcc(self, *arguments: Word) -> Outcome:
        return simcc(FIRST, arguments, cwd=self.scratch)

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

    def write_sources(self) -> set[str]:
        for name, text in SOURCES.items():
            self.write(name, text)
        return set(os.listdir(self.scratch))

    def test_usage(self):
        outcome = self.simcc("--help")
        self.expect(outcome.status == 0 and outcome.out.startswith("usage: simcc"), f"--help: {outcome.out}")
        self.expect_equal(outcome.err, "", "--help")
        outcome = self.simcc("--version")
        self.expect(outcome.status == 0 and outcome.out.startswith("simcc "), f"--version: {outcome.out}")
        self.expect_in("\nCuda compilation tools, release ", outcome.out)  # as nvcc
        outcome = run([SIMCC, self.write("a.cu", GOOD)], {"CXX": "no-such-compiler"})
        self.expect_equal(outcome.status, 2, "a compiler that is not there")
        self.expect_in("no-such-compiler", outcome.err)

    def test_options_that_are_refused(self):
        files = self.write_sources()
        for words, named in REFUSED:
            self.expect_refused(words, self.simcc(*words.split()), named)
        for option in ("-o", "--keep"):
            self.expect_refused(option, self.simcc("a.cu", option, ""), f"simcc: {option} needs a value\n")
        self.expect_equal(set(os.listdir(self.scratch)), files, "files that a refused command line left behind")
        self.expect_equal((self.scratch / "a.cu").read_text(), GOOD, "the source")

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

    def test_options(self):
        files = self.write_sources()
        self.expect_built("plain", self.simcc("a.cu"), "a.out", "1\n")
        for words, printed in BUILT:
            if printed is None:
                self.expect_equal(self.simcc(*words.split())[:3], (0, "", ""), words)
            else:
                self.expect_built(words, self.simcc(*words.split(), "-o", "prog"), "prog", f"{printed}\n")
        made = {"a.out", "prog", "kernel.o", "host.o", "halve.o"}
        self.expect_equal(set(os.listdir(self.scratch)), files | made, "files; intermediate ones were left behind")

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

    def test_nothing_hides_device_code(self):
        """Attributes and pragmas that would take its hooks away, or optimize it, are not there when it is counted."""
        self.write("a.cu", HIDING)
        for compiler in COMPILERS:
            self.expect_silent(simcc(compiler, ["a.cu"], cwd=self.scratch), compiler.cxx)
            outcome = run([*RUNNER, self.scratch / "a.out"], {"SIM_REPORT": str(self.scratch / "report")})
            self.expect_silent(outcome, compiler.cxx)
            launches = read_report(self.scratch / "report").launches
            counted = [(one["global"]["load"]["bytes"], one["global"]["store"]["bytes"]) for one in launches]
            self.expect_equal(counted, [(0, 128), (0, 128), (8, 4)], compiler.cxx)

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
        outcome = GOOD_PROGRAM.run(SIM_REPORT="-")
        written = outcome.out.startswith('{"type":"launch"') and "\n1\n" in outcome.out
        self.expect(outcome.status == 0 and written, f"SIM_REPORT=-: {outcome.out}")
        path = self.write("report.json", "what was there before\n")
        outcome = IDLE.run(SIM_REPORT=str(path))
        self.expect_equal((outcome.status, path.read_text()), (0, ""), "a program without a launch")
        GOOD_PROGRAM.run(SIM_REPORT=str(path))
        report = read_report(path)
        self.expect_equal((len(report.launches), len(report.hazards)), (1, 0), "records")

    # ---- the machine ----

    def test_simcc_needs_no_home_and_no_tmp(self):
        """A folder for what is temporary with a space in it, no home, and any language."""
        folder = self.scratch / "a folder"
        folder.mkdir()
        source = self.write("source/a.cu", GOOD)
        source.parent.chmod(0o555)
        self.addCleanup(source.parent.chmod, 0o755)
        for language in ("C", "de_DE.UTF-8", "tr_TR.UTF-8"):
            environment = {"LC_ALL": language, "HOME": "/nonexistent", "TMPDIR": str(folder), **FIRST.environment}
            built = run([SIMCC, source, "-o", folder / "program"], environment)
            self.assertEqual(built.status, 0, f"{language}: {built.err}")
            outcome = run([*RUNNER, folder / "program"], environment)
            self.expect_equal((outcome.status, outcome.out), (0, "1\n"), f"{language}: {outcome.err}")
            self.expect_equal(os.listdir(folder), ["program"], f"{language}: files that were left behind")
