"""gdb stays in the program's own code."""

from __future__ import annotations

import re
import shutil
import unittest

from support import FIRST, Case, marked_line, run, simcc, unless_run_by_another

PROGRAM = """__device__ float twice(float v)
{
	return 2 * v; // @twice
}
__global__ void row(const float *x, float *y)
{
	extern __shared__ __align__(16) float s[];
	int i = threadIdx.x; // @first
	s[i] = x[i]; // @store
	__syncthreads();
	float sum = __shfl_sync(~0u, s[31 - i], 3); // @sum
	y[i] = twice(sum);
} // @end
int main()
{
	float *x, *y, h[32];
	for (int i = 0; i < 32; i++)
		h[i] = i;
	cudaMalloc(&x, 128), cudaMalloc(&y, 128);
	cudaMemcpy(x, h, 128, cudaMemcpyHostToDevice);
	row<<<2, 32, 128>>>(x, y);
	return cudaDeviceSynchronize();
}
"""
# A block of two warps, which a debugger stops in; and what it says.
DEBUGGED = """__constant__ float scale = 2;
__global__ void row(const float *x, float *y, int n)
{
	__shared__ float s[32];
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float v = x[i] * scale;
	s[threadIdx.x] = v;
	__syncthreads();
	float sum = 0;
	for (int k = 0; k < n; k++)
		sum += s[k]; // @stop
	y[i] = sum;
}
int main()
{
	float *x, *y, h[64];
	for (int i = 0; i < 64; i++)
		h[i] = i;
	cudaMalloc(&x, 256), cudaMalloc(&y, 256);
	cudaMemcpy(x, h, 256, cudaMemcpyHostToDevice);
	row<<<2, 32>>>(x, y, 32);
	return cudaDeviceSynchronize();
}
"""
ENDS = "the thread leaves its kernel on this line: `continue`, or `tbreak` where another one is to stop"
# What it is about; the program, what is typed before `run`, and each command behind it with what its answer has
# (with $: ends with; of `bt` the places of all frames).
SESSIONS = [
    ("variables of a thread, its block and the device; threads by numbers; nothing when all has ended", DEBUGGED, [
        "break @stop if blockIdx.x == 1 && threadIdx.x == 5 && k == 3"], [
        ("print sum", "= 198"),
        ("print s[3]", "= 70"),
        ("print scale", "= 2"),
        ("print n", "= 32"),
        ("print threadIdx", "= {x = 5, y = 0, z = 0}"),
        ("print blockIdx.x * blockDim.x", "= 32"),
        ("info cuda threads",
         "(0,0,0) to (4,0,0) has left\n* (5,0,0) runs\n  (6,0,0) to (31,0,0) has passed the barrier at a.cu:8"),
        ("next", "for (int k"),
        ("print sum", "= 268"),
        ("cuda block (1,0,0) thread (7,0,0)", "block (1,0,0), thread (7,0,0)"),
        ("print v", "= 78"),
        ("print threadIdx.x", "= 7"),
        ("next", "sum += s[k]"),
        ("print threadIdx.x", "= 5"),
        ("print k", "= 4"),
        ("cuda", "block (1,0,0), thread (5,0,0)"),
        ("delete", ""),
        ("continue", "exited normally"),
        ("info cuda threads", "no kernel is running"),
    ]),
    ("a step into the engine or into a header of simcc's; one that passes by a device function", PROGRAM, [
        "break @sum if threadIdx.x == 5"], [
        ("step", "\ty[i] = twice(sum);"),
        ("step", "twice (v=28) at @twice"),
        ("step", " at @end"),
    ]),
    ("a breakpoint in front of the arguments; an array that has no symbol, or of a kernel shown elsewhere", PROGRAM,
     ["break row", "break twice"], [
        ("frame", " at @first\n"),
        ("print x != 0 && y != 0", "$1 = true$"),
        ("print *x@2", "$2 = {0, 1}$"),
        ("tbreak @sum", ""),
        ("delete 1", ""),
        ("continue", " at @sum"),
        ("print s[3]", "$3 = 3$"),
        ("print sizeof(s)", "$4 = 128$"),
        ("continue", "twice (v=28) at @twice"),
        ("print s", 'No symbol "s" in current context.$'),
    ]),
    ("frames of the engine, above the kernel or, of a thread that waits, below it", PROGRAM, ["break @twice"], [
        ("bt", "@twice a.cu:12"),
        ("up", " row (x="),
        ("up", "Initial frame selected; you cannot go up.$"),
        ("cuda thread (7,0,0)", ""),
        ("bt", "@sum"),
        ("down", "Bottom (innermost) frame selected; you cannot go down.$"),
    ]),
    ("a thread that runs away when it leaves its kernel", PROGRAM, ["break @end"], [
        ("finish", "a kernel has no caller: `continue`, or `tbreak` where to stop$"),
        ("next", f"{ENDS}$"),
        ("step", f"{ENDS}$"),
        ("cuda thread", " at @end"),
    ]),
    ("a word that is refused; a thread that is not, and is another one", PROGRAM, [
        "break @end if blockIdx.x == 1 && threadIdx.x == 5"], [
        ("cuda thread", "block (1,0,0), thread (5,0,0)\n"),
        ("cuda block", "block (1,0,0), thread (5,0,0)\n"),
        ("cuda thread (-1,0,0)", "cuda: expected block (X,Y,Z) thread (X,Y,Z)$"),
        ("info cuda kernels", "* row<<<(2,1,1), (32,1,1)>>>, launch 1$"),
        ("info cuda blocks", "* (1,0,0) runs\n  1 ended before it, 0 not begun$"),
    ]),
    ("threads that wait, and those that could go on, with the same words", PROGRAM, [
        "break @store if threadIdx.x == 5", "break @sum if threadIdx.x == 0"], [
        ("info cuda threads", "(0,0,0) to (4,0,0) waits for its block at a.cu:10"),
        ("continue", ""),
        ("info cuda threads", "(1,0,0) to (31,0,0) has passed the barrier at a.cu:10"),
    ]),
]  # fmt: skip


def with_lines(text: str, program: str) -> str:
    """@MARK is the line of that mark."""
    return re.sub(r"@([a-z]+)\b", lambda match: f"a.cu:{marked_line(program, match[0])}", text)


@unless_run_by_another
@unittest.skipUnless(shutil.which("gdb"), "gdb is not installed")
class Debugger(Case):
    def answers(self, program: str, commands: list[str]) -> list[str]:
        """What gdb says to each of them, errors included."""
        self.write("a.cu", program)
        self.expect_silent(simcc(FIRST, ["-g", "a.cu", "-o", "p"], cwd=self.scratch), "-g")
        one_by_one = "python\nfor each in COMMANDS:\n  print('==', flush=True)\n  try: gdb.execute(each)\n"
        one_by_one += "  except gdb.error as error: print(error, flush=True)\nend\n"
        script = self.write("session", one_by_one.replace("COMMANDS", repr(["set pagination off", *commands])))
        outcome = run(
            ["gdb", "-q", "-batch", "-iex", "add-auto-load-safe-path /", "-x", script, "./p"], cwd=self.scratch
        )
        found = [answer.strip("\n") for answer in outcome.out.split("==\n")[2:]]
        self.assertEqual((len(found), outcome.err), (len(commands), ""), outcome.out)
        return found

    def test_sessions(self):
        for kills, program, before, session in SESSIONS:
            commands = [with_lines(command, program) for command in [*before, "run", *(typed for typed, _ in session)]]
            answers = self.answers(program, commands)[len(before) + 1 :]
            for (typed, wanted), answer in zip(session, answers):
                words = with_lines(wanted, program)
                if typed == "bt":
                    places = [line.rpartition(" at ")[2] for line in answer.split("\n")]
                    self.expect_equal(places, words.split(), kills)
                elif words.endswith("$"):
                    self.expect(answer.endswith(words[:-1]), f"{kills}: {typed}: {answer}")
                else:
                    self.expect_in(words, answer, f"{kills}: {typed}")
