"""Memory of the simulated device, and what becomes of an access that is wrong: a thread's own variables, the arena,
large allocations, local arrays written past their ends, when the host hears of a fault, and kernels called without a
launch. The programs are in memory/; with LONG=1 another LLVM builds them, too."""

from __future__ import annotations

import itertools
import platform
import re
from typing import NamedTuple

from reports import read_report
from support import (
    FIRST,
    TESTS,
    TRIED,
    Batch,
    Case,
    Compiler,
    Member,
    Run,
    inline,
    marked_line,
    run,
    unless_run_by_another,
)

FOLDER = TESTS / "memory"
NAMES = {"-O2": ["arena", "arguments", "empty_locals", "faults", "large", "no_launch", "overruns"]}
NAMES["-O2"] += ["packed", "wrong_addresses"]
NAMES["-g"] = ["arguments", "empty_locals", "overruns"]  # variables stay in memory
NAMES["--fast"] = ["large", "no_launch", "overruns"]


class Built(NamedTuple):
    name: str
    compiler: Compiler
    option: str
    run: Run


def build(compiler: Compiler, option: str) -> dict[str, Built]:
    members = [Member(name, FOLDER / f"{name}.cu") for name in NAMES[option]]
    runs = Batch(f"memory.{option.lstrip('-')}", members, "-O2", "-w", option, compiler=compiler).runs()
    return {name: Built(name, compiler, option, run) for name, run in runs.items()}


COUNTED = [build(compiler, "-O2") for compiler in TRIED]
DEBUGGED = build(FIRST, "-g")
FAST = [build(compiler, "--fast") for compiler in TRIED]
EMPTY_LOCALS = [made["empty_locals"] for made in [*COUNTED, DEBUGGED]]
OVERRUNS = [made["overruns"] for made in [*COUNTED, DEBUGGED]]
ARGUMENTS = [made["arguments"] for made in [*COUNTED, DEBUGGED]]
NO_LAUNCH = [made["no_launch"] for made in COUNTED + FAST]
LARGE = [COUNTED[0]["large"], FAST[0]["large"]]
ARENA, FAULTS = COUNTED[0]["arena"], COUNTED[0]["faults"]
WRONG_ADDRESSES = COUNTED[0]["wrong_addresses"]

ONE_LAUNCH = "__global__ void k() {}\nint main() { k<<<1, 32>>>(); return cudaDeviceSynchronize(); }\n"
LIMITED = inline("memory.limited", ONE_LAUNCH)
LARGE_BLOCK = inline(
    "memory.large_block",
    """#include <cuda_runtime.h>
__global__ void copy(const char *x, char *y) { *y = *x; }
int main()
{
	char *x, *y;
	if (cudaMalloc(&x, 1000u << 20) != cudaSuccess)
		return 5;
	cudaMalloc(&y, 1);
	copy<<<1, 1>>>(x, y);
	return cudaDeviceSynchronize();
}
""",
)
# A block that grows where it is, inside the C library; and a copy past the end of one that does not.
HOST_COPIES = inline(
    "memory.host_copies",
    """#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
int main()
{
	static char text[9002];
	memset(text, 'a', 9001);
	FILE *in = fmemopen(text, 9001, "r");
	getc(in);
	char *d, *block;
	cudaMalloc(&d, 10000);
	char *line = (char *)malloc(5000), *const last = line; // behind which nothing lies, or it would move
	size_t n = 5000;
	if (getline(&line, &n, in) != 9000 || line != last)
		return 5;
	printf("%s ", cudaGetErrorName(cudaMemcpy(d, line, 9001, cudaMemcpyHostToDevice)));
	block = (char *)malloc(60);
	printf("%s\\n", cudaGetErrorName(cudaMemcpy(d, block, 61, cudaMemcpyHostToDevice)));
	free(block), free(line);
	void *pinned, *aligned; // at one place: so large a block is a mapping of its own
	cudaMallocHost(&pinned, 64 << 20);
	cudaFreeHost(pinned);
	if (posix_memalign(&aligned, 4096, 64 << 20) == 0)
		free(aligned);
}
""",
)
# Blocks of the heap come and go; what is left is known to the byte. Large ones are mappings, which end with a page.
MANY_BLOCKS = inline(
    "memory.many_blocks",
    """#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
static char *d;
static bool is_known(char *block, size_t bytes)
{
	const cudaError_t whole = cudaMemcpy(d, block, bytes, cudaMemcpyHostToDevice);
	return whole == cudaSuccess && cudaMemcpy(d, block + 1, bytes, cudaMemcpyHostToDevice) == cudaErrorInvalidValue;
}
int main()
{
	static char *kept[5000];
	int wrong = 0;
	cudaMalloc(&d, 300000);
	for (int i = 0; i < 20000; i++) {
		char *&block = kept[i % 7 ? i / 7 : 4999];
		free(block), block = (char *)malloc(60);
	}
	for (int i = 0; i < 2857; i += 100)
		wrong += !is_known(kept[i], 60);
	for (int bytes = 2; bytes < 200; bytes++)
		wrong += !is_known((char *)malloc(bytes), bytes);
	char *large = (char *)malloc(200000), *line = (char *)malloc(200000);
	size_t length = 200000;
	wrong += !is_known(large, 200000);
	const bool grown = getdelim(&line, &length, 1, fmemopen(calloc(1, 250000), 250000, "r")) == 250000;
	printf("%d wrong, %s\\n", wrong, cudaGetErrorName(cudaMemcpy(d, line, 250000, cudaMemcpyHostToDevice)));
	return !grown;
}
""",
)
# Too short a block, filled and copied with the same wrong length: 0 and 2 and 4 ..., or 1 and 2 and 3 ....
OVERFILLED = inline(
    "memory.overfilled",
    """#include <cstdio>
#include <cstdlib>
#include <unistd.h>
int main(int, char **argv)
{
	int n = 100, step = atoi(argv[1]), *d, *h = (int *)malloc(n), *behind = (int *)malloc(4000);
	for (int i = 0; i < n; i++)
		h[i] = step * i;
	cudaMalloc(&d, n * sizeof(int));
	const cudaError_t error = cudaMemcpy(d, h, n * sizeof(int), cudaMemcpyHostToDevice);
	dprintf(1, "%s\\n", cudaGetErrorName(error));
	_exit(behind == NULL);
}
""",
)
# What only a signal tells of.
SIGNALS = inline(
    "memory.signals",
    """#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
__device__ __noinline__ int sum(volatile int *y, int n)
{
	volatile int mine[100];
	mine[n % 100] = n;
	return n < 0 ? 0 : sum(y, n + 1) + mine[*y % 100];
}
__global__ void wrong(int *y, int way, int zero)
{
	if (way == 0)
		y[0] = y[0] / zero;
	else if (way == 1)
		*(volatile int *)(size_t)(16 + zero) = 1;
	else if (way == 2)
		y[0] = sum(y, zero);
	else
		__builtin_trap();
}
int main(int, char **argv)
{
	int *y;
	if (argv[1][0] == '4')
		signal(SIGSEGV, [](int) { _exit(7); });
	cudaMalloc(&y, 4);
	wrong<<<1, 1>>>(y, atoi(argv[1]), 0);
	printf("%s\\n", cudaGetErrorName(cudaDeviceSynchronize()));
	fflush(stdout);
	*(volatile int *)(size_t)(argv[1][0] >= '3' ? 8 : (size_t)argv) = 1; // of the host: nobody catches it, or it does
	return 0;
}
""",
    "--fast",
    "-w",
)
# One thread of the host launches, another one allocates.
TWO_HOST_THREADS = inline(
    "memory.two_host_threads",
    """#include <thread>
__device__ int table[64];
__global__ void k(int *y)
{
	for (int i = 0; i < 64; i++)
		y[threadIdx.x] += table[i];
}
int main()
{
	int *y;
	volatile bool stop = false;
	cudaMalloc(&y, 4096);
	cudaMemset(y, 0, 4096);
	std::thread other([&] {
		void *held[1000];
		for (int i = 0; i < 3000; i++) {
			cudaMalloc(&held[i % 1000], 64);
			for (int j = 0; i % 1000 == 999 && j < 1000; j++)
				cudaFree(held[j]);
		}
		stop = true;
	});
	while (!stop)
		k<<<1, 64>>>(y), cudaDeviceSynchronize();
	other.join();
	return cudaGetLastError();
}
""",
    "-w",
    "-pthread",
)


class Memory(Case):
    def test_a_thread_s_variables_are_empty_when_a_function_begins(self):
        for made in EMPTY_LOCALS:
            for threads, order in (("1", "forward"), ("2", "reverse"), ("2", "shuffle:3")):
                outcome = made.run(SIM_THREADS=threads, SIM_ORDER=order)
                what = f"{made.compiler.cxx} {threads} {order}: {outcome.out}{outcome.err}"
                self.expect_equal(outcome.status, 0, what)
                self.expect_equal(outcome.out.count(": 0 fair results\n"), 9, what)

    def test_copies_of_what_the_c_library_let_grow(self):
        """Kills: a valid copy that is refused because a block of the heap was smaller once; a silent refusal, where
        memcheck is off; a block that was cudaMallocHost's once and free() refuses."""
        ends = {"memcheck": "cudaErrorInvalidValue", "none": "cudaSuccess", "racecheck": "cudaSuccess"}
        for check, past_end in ends.items():
            outcome = HOST_COPIES.run(SIM_CHECK=check)
            self.expect_equal(outcome.out, f"cudaSuccess {past_end}\n", f"{check}: {outcome.err}")
            self.expect_equal((outcome.status, "cudaFreeHost" in outcome.err), (check == "memcheck", False), check)

    @unless_run_by_another
    def test_many_blocks_of_the_host(self):
        """Kills: a table of blocks that loses some when it grows; a page's rest behind a large block as its own."""
        outcome = MANY_BLOCKS.run(SIM_CHECK="memcheck")
        self.expect_equal(outcome.out, "0 wrong, cudaSuccess\n", outcome.err[-2000:])

    def test_a_copy_from_a_block_that_was_written_past_its_end(self):
        """Kills: a copy that is not told of where the overrun has destroyed what the C library knows of the block."""
        for step in "01237":
            outcome = OVERFILLED.run(step)
            self.expect_equal(outcome.out, "cudaErrorInvalidValue\n", f"{step}: {outcome.err}")

    def test_an_allocation_beside_a_launch(self):
        """Kills: a table of allocations that grows, and is freed, under another thread's hands."""
        for _ in range(3):
            self.expect_silent(TWO_HOST_THREADS.run(), "two threads of the host")

    def test_the_emptiness_behind_an_allocation_is_never_given(self):
        outcome = ARENA.run(SIM_THREADS="1", SIM_CHECK="memcheck")
        printed = "342 blocks and more\nfreed places are given again\ncudaErrorIllegalAddress\n"
        self.expect_equal(outcome.out, printed, outcome.err)
        self.expect_in("is out of bounds", outcome.err)
        self.expect_equal(outcome.status, 1, "exit status")

    @unless_run_by_another
    def test_allocating_touches_nothing(self):
        """Half of the device's memory, twice: 1 MB of it for tables, 16 MB for what it is copied from."""
        for made in LARGE:
            outcome = made.run("24", cpu_seconds=20)
            self.expect_equal(outcome.status, 0, outcome.err)
            self.expect_equal(outcome.out, "0 MB at the end\n", made.name)

    # ---- addresses that are wrong in themselves ----

    def test_each_misaligned_access_is_found(self):
        """Each width in each memory by load, store and atomic, at each byte of an array whose last granule is a partly
        used one. Kills: a memory, a width or the array's end where nobody looks at the alignment."""
        path = self.scratch / "report.json"
        outcome = WRONG_ADDRESSES.run("misaligned", SIM_REPORT=str(path), SIM_CHECK="memcheck")
        expected, tried = [], set()
        for line in outcome.out.splitlines():
            memory, kind, size, offset, error = line.split()
            is_wrong = int(offset) % int(size) != 0
            self.expect_equal(error, "cudaErrorMisalignedAddress" if is_wrong else "cudaSuccess", line)
            space = "shared" if memory in ("fixed", "dynamic") else "global"
            expected += [("misaligned", space, int(size))] if is_wrong else []
            tried.add((memory, kind, size))
        found = [(hazard["kind"], hazard["space"], hazard["bytes"]) for hazard in read_report(path).hazards]
        self.expect_equal(found, expected, "records")
        # Four memories by load and store of 2, 4, 8 and 16 bytes, atomics of all but 16; constants are only read.
        self.expect_equal(len(tried), 4 * (2 * 4 + 3) + 4, "memories, kinds and widths")

    def test_packed_structs_lie_anywhere(self):
        """Kills: with clang, a packed struct of one member that is taken for a misaligned one."""
        for made in COUNTED:
            self.expect_silent(made["packed"].run(), made["packed"].compiler.cxx)

    def test_where_null_pointers_end(self):
        """Kills: a limit of 32 KB, below which indices from a null pointer stay."""
        path = self.scratch / "report.json"
        outcome = WRONG_ADDRESSES.run("null", SIM_REPORT=str(path))
        self.expect_equal(outcome.out.count(" cudaErrorIllegalAddress\n"), 7, outcome.out)
        kinds = [hazard["kind"] for hazard in read_report(path).hazards]
        self.expect_equal(kinds, ["null"] * 5 + ["out_of_bounds"] * 2, "null ends at 64 KB")
        self.expect_in(f"no memory for a cudaMalloc of {1 << 50} bytes", outcome.err, "where a null pointer comes from")

    def test_the_nearest_allocation_is_one_that_is_there(self):
        """Kills: a message that names what has been freed."""
        path = self.scratch / "report.json"
        outcome = WRONG_ADDRESSES.run("beside", SIM_REPORT=str(path))
        self.expect_equal(outcome.out, "cudaErrorIllegalAddress\n", outcome.err)
        self.expect_equal([hazard["array"] for hazard in read_report(path).hazards], ["alloc0"], outcome.err)

    @unless_run_by_another
    def test_a_limit_on_address_space_is_one_line(self):
        """80 MB of tables in the program itself made the system end it by a signal before main."""
        for kilobytes in (40000, 60000, 90000, 200000):
            limited = run(["sh", "-c", f"ulimit -v {kilobytes}; exec {LIMITED.path}"])
            said = (limited.status, limited.err.removeprefix("the simulated device "))
            lines = ("is out of host memory\n", "cannot start a thread\n")  # it may be the thread's stack
            self.expect(said in ((0, ""), *((3, line) for line in lines)), f"{kilobytes}: {said}")

    @unless_run_by_another
    def test_no_room_for_what_initcheck_knows_is_said(self):
        """Kills: an allocation that initcheck does not look at, without a word. 2 GB are the arena's, 1 GB its own."""
        for limit, note in (("ulimit -v 2900000; ", True), ("", False)):
            done = run(["sh", "-c", f"{limit}exec {LARGE_BLOCK.path}"], {"SIM_THREADS": "1", "SIM_CHECK": "initcheck"})
            said = "Note: initcheck does without 'alloc0': no address space for its map of 1048576000 bytes\n"
            self.expect_equal(said in done.err, note, done.err)
            self.expect_equal((done.status, "Uninitialized" in done.err), (not note, not note), done.err)

    # ---- overruns ----

    def expect_overrun(self, made: Built, way: int, count: int, found: bool = False) -> bool:
        """Where an overrun must be found, and where it must only do no harm: it may stay among the variables of its
        frame, or reach what no function needs any more. Is it found?"""
        outcome = made.run(str(way), str(count), SIM_TIMEOUT="0.3", SIM_THREADS="2", SIM_CHECK="memcheck,synccheck")
        what = f"{made.compiler.cxx} {way} {count}: exit {outcome.status}: {outcome.out}{outcome.err}"
        self.expect(outcome.status in (0, 1), what)
        self.expect("host code ran" not in outcome.out, what)
        self.expect_in("works again", outcome.out, what)
        self.expect_equal(outcome.status == 0, "cudaSuccess" in outcome.out, what)
        is_found = "ocal array was overrun" in outcome.err and "cudaErrorIllegalAddress\n" in outcome.out
        self.expect(is_found or not found, what)
        return is_found

    def test_an_overrun_array_never_returns_elsewhere(self):
        for made in OVERRUNS:
            # One element, wherever it lies: one of them is the return address, and that one is found.
            for way, last in ((0, 33), (1, 33), (9, 20), (10, 20), (11, 20)):
                found = [self.expect_overrun(made, way, index) for index in range(1, last + 1)]
                self.expect(any(found), f"{made.compiler.cxx}: way {way}")
            # From the array to behind the kernel's frame.
            for way in (2, 3, 4):
                self.expect_overrun(made, way, 400, True)
            self.expect_overrun(made, 5, 20, True)
            for way in (6, 7, 8):
                self.expect_overrun(made, way, 100000)
            self.expect_overrun(made, 14, 400)
            self.expect_overrun(made, 13, 30000)

    def test_between_the_stacks_lie_pages_that_nobody_may_touch(self):
        """Kills: a stack that ends in the next one, or behind the last in what lies there; an overrun told as an
        overflow, or as a fault of no memory. A fast build has no check but these pages. An old kernel knows no mark for
        a page, and says so; qemu knows none, and says nothing."""
        ways = {"": {}}
        for said in ("-1", "0"):
            source, library = self.scratch / "madvise.c", self.scratch / f"madvise{said}.so"
            source.write_text(f"int madvise(void *first, unsigned long size, int advice) {{ return {said}; }}")
            made = run([*FIRST.cc.split(), "-shared", "-fPIC", "-o", library, source])
            self.expect_equal((made.status, made.err), (0, ""), "a library of its own")
            ways[said] = {"LD_PRELOAD": str(library)}
        for made, order, (said, way) in itertools.product(FAST, ("forward", "reverse"), ways.items()):
            path = self.scratch / "report.jsonl"
            outcome = made["overruns"].run("3", "1024", SIM_ORDER=order, SIM_REPORT=str(path), **way)
            what = f"{made['overruns'].compiler.cxx} {order} {said}: {outcome.out}{outcome.err}"
            found = {(hazard["kind"], hazard["space"]) for hazard in read_report(path).hazards}
            self.expect_equal(found, {("local_overrun", "local")}, what)
            self.expect_in("A local array was overrun", outcome.err, what)
            self.expect_in(f"by thread ({39 * (order == 'reverse')},0,0) in block", outcome.err, what)
            self.expect_in("cudaErrorIllegalAddress\nworks again", outcome.out, what)

    def test_an_index_far_outside_is_found_in_every_array(self):
        """An array whose address goes nowhere but to its own elements."""
        for made in OVERRUNS:
            for index in ("20000", "1000000", "300000000", "-3000", "-100000000"):
                for way in ("16", "9"):
                    outcome = made.run(way, index, SIM_CHECK="memcheck")
                    what = f"{made.compiler.cxx} {way} {index}: exit {outcome.status}, {outcome.out}"
                    self.expect_in("Invalid __", outcome.err, what)
                    self.expect(outcome.status == 1 and "cudaErrorIllegalAddress\n" in outcome.out, what)

    def test_a_pointer_that_outlives_its_variable_is_found(self):
        for made in OVERRUNS:
            outcome = made.run("12", "1", SIM_CHECK="memcheck")
            self.expect_in("Invalid __local__ write of size 8 bytes", outcome.err)
            self.expect_in("a function that has returned", outcome.err)
            self.expect(outcome.status == 1 and "cudaErrorIllegalAddress\n" in outcome.out, outcome.out)

    @unless_run_by_another
    def test_what_only_a_signal_tells_of(self):
        """Kills: a fault of a --fast kernel taken for another one; a fault of the host's that is caught, or not
        by the handler that it had set before."""
        outside = "Invalid access outside any memory of the thread"
        ways = [
            ("LaunchFailure", "Integer division by zero", "or of the smallest integer by -1", 1, None),
            ("IllegalAddress", outside, "Address 0x10\n", 1, None),
            ("IllegalAddress", "Stack overflow", "this thread needs more than ", 1, "local"),
            ("IllegalInstruction", "Illegal instruction, or __trap()", "", 128 + 11, None),
            ("IllegalInstruction", "Illegal instruction, or __trap()", "", 7, None),
        ]
        for way, (error, headline, detail, status, space) in enumerate(ways):
            if way == 0 and platform.machine() != "x86_64":
                continue  # there a division by zero is 0
            path = self.scratch / "report.json"
            outcome = SIGNALS.run(str(way), SIM_REPORT=str(path))
            spaces = [hazard.get("space") for hazard in read_report(path).hazards]
            self.expect_equal(spaces, [space], headline)
            what = f"{way}: {outcome}"
            self.expect_equal((outcome.status, outcome.out), (status, f"cudaError{error}\n"), what)
            self.expect(outcome.err.startswith(f"========= {headline}\n"), what)
            self.expect(f"=========     {detail}" in outcome.err and "in block (0,0,0)\n" in outcome.err, what)

    # ---- calls ----

    def test_arguments_on_the_stack_are_the_thread_s_own(self):
        printed = (
            "by_value 4 3 cudaSuccess\nmany 8 8 cudaSuccess\nwith_constructor 7 7 cudaSuccess\n"
            "aligned 6 6 cudaSuccess\ncall 8 15 cudaSuccess\ncudaLaunchKernel 4 3 cudaSuccess\n"
        )
        for made in ARGUMENTS:
            outcome = made.run()
            self.expect_silent(outcome, made.compiler.cxx)
            self.expect_equal(outcome.out, printed, made.compiler.cxx)

    def expect_fault(self, kind: str, error: str, call: int = 0, **environment: str) -> str:
        """The program's messages."""
        printed = ["peek: cudaSuccess", "get: cudaSuccess", "refused: cudaErrorInvalidConfiguration"]
        printed += ["record: cudaSuccess", "copy: cudaSuccess", "get again: cudaSuccess"]
        printed += [f"waits: cudaError{error}", f"stays: cudaError{error}", "other calls:"]
        printed += ["reset: cudaSuccess", "works again: cudaSuccess", ""]
        outcome = FAULTS.run(kind, str(call), SIM_TIMEOUT="0.2", **environment)
        self.expect_equal(outcome.out.split("\n"), printed, f"{kind} {call} {environment}: {outcome.err}")
        self.expect_equal(outcome.status, int("SIM_CHECK" not in environment), kind)
        return outcome.err

    def test_a_fault_is_heard_of_where_the_host_waits(self):
        for call in range(1, 9):
            said = self.expect_fault("stray", "IllegalAddress", call)
            self.expect_equal(said.count("Invalid __global__ write"), 1, f"{call}: {said}")

    def test_each_fault_is_told_once_and_stays(self):
        """Kills: another place, error or word; a call that works after a fault. And what only a report keeps from the
        program: without a check an access that happens, an error that nobody hears of, a loop without an end. What the
        failed block had not counted yet, counted in the next launch; a block's own end told as a barrier that it
        passes, a copy of its that arrives in the next launch."""
        path, source = self.scratch / "report.json", FOLDER / "faults.cu"
        expected = re.findall(r"^//= (\S+) (\S+) (\S+) (\S+) (.*)", source.read_text(), re.MULTILINE)
        self.expect_equal(len(expected), 19, "kinds")
        for kind, error, hazard, thread, says in expected:
            said = self.expect_fault(kind, error, SIM_REPORT=str(path))
            line = marked_line(source, kind.rstrip("0123456789"))
            place = rf"faults\.cu:{line} by thread \({thread}\) in block \([01],0,0\) "
            told = re.sub(r"\n?=========\s+", " ", said)
            for pattern in (place, says, rf" {line} \| ", " ERROR SUMMARY: 1 error\n"):
                self.expect(re.search(pattern, told), f"{kind}: no {pattern!r} in {told}")
            self.expect("Note:" not in told, f"{kind}: {told}")
            report = read_report(path)
            found = [(each["kind"], each["line"]) for each in report.hazards]
            self.expect_equal(found, [(hazard, line)], kind)
            ran = [(each["block"][0], each["global"]["store"]["requests"]) for each in report.launches[1:]]
            self.expect_equal(ran, [(32, 1)], f"{kind}: launches that ran, stores of the one after the reset")
            if kind != "arms":  # no barrier is compared with another one
                self.expect_equal(self.expect_fault(kind, error, SIM_CHECK="none"), "", f"{kind}, unchecked")

    def test_a_kernel_without_a_launch_is_a_message(self):
        for made, (way, kernel) in itertools.product(NO_LAUNCH, enumerate(("kernel", "nothing", "kernel"))):
            outcome = made.run(str(way))
            what = f"{made.compiler.cxx} {made.name} {way}: {outcome.err}"
            self.expect_equal((outcome.status, outcome.out, outcome.err.count("\n")), (1, "", 1), what)
            place = "" if made.option == "--fast" else r"no_launch\.cu:\d+.*"
            self.expect(re.search(f"{place}'{kernel}' was called like a function", outcome.err), what)
