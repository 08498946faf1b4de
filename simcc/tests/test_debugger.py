"""gdb stays in the program's own code. Kills, one a test: what each one's first line says."""

from __future__ import annotations

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
SESSION = [
    # what is typed, and what stands in the answer
    ("print sum", "= 198"),
    ("print s[3]", "= 70"),
    ("print scale", "= 2"),
    ("print n", "= 32"),
    ("print threadIdx", "= {x = 5, y = 0, z = 0}"),
    ("print blockIdx.x * blockDim.x", "= 32"),
    (
        "info cuda threads",
        "(0,0,0) to (4,0,0) has left\n* (5,0,0) runs\n  (6,0,0) to (31,0,0) has passed the barrier at a.cu:8",
    ),
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
]
ENDS = "the thread leaves its kernel on this line: `continue`, or `tbreak` where another one is to stop"


def at(mark: str, program: str = PROGRAM) -> str:
    return f"a.cu:{marked_line(program, mark)}"


@unless_run_by_another
@unittest.skipUnless(shutil.which("gdb"), "gdb is not installed")
class Debugger(Case):
    def answers(self, *commands: str, program: str = PROGRAM) -> list[str]:
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

    def test_threads_and_variables(self):
        """Variables of a thread, its block and the device; threads by their numbers; nothing when all has ended."""
        stop = f"break {at('@stop', DEBUGGED)} if blockIdx.x == 1 && threadIdx.x == 5 && k == 3"
        typed = [command for command, _ in SESSION]
        said = self.answers(stop, "run", *typed, "info cuda threads", program=DEBUGGED)[2:]
        for (command, words), answer in zip([*SESSION, ("info cuda threads", "no kernel is running")], said):
            self.expect_in(words, answer, command)

    def test_step(self):
        """A step into the engine or into a header of simcc's; one that passes by a device function."""
        said = self.answers(f"break {at('@sum')} if threadIdx.x == 5", "run", *["step"] * 3)[2:]
        self.assertEqual(said[0].partition("\t")[2], "\ty[i] = twice(sum);")
        self.assertIn(f"twice (v=28) at {at('@twice')}", said[1])
        self.assertIn(f" at {at('@end')}", said[2])

    def test_a_function_s_name(self):
        """A breakpoint in front of the arguments."""
        said = self.answers("break row", "break twice", "run", "print x != 0 && y != 0", "print *x@2", "delete 1", "c")
        self.assertIn(f" at {at('@first')}", said[2])
        self.assertEqual(said[3:5], ["$1 = true", "$2 = {0, 1}"])
        self.assertIn(f"twice (v=28) at {at('@twice')}", said[6])

    def test_dynamic_shared_memory(self):
        """An array that has no symbol; one of a kernel that is shown elsewhere."""
        said = self.answers(
            f"break {at('@sum')}",
            f"break {at('@twice')}",
            "run",
            "print s[3]",
            "print sizeof(s)",
            "delete 1",
            "c",
            "print s",
        )
        self.assertEqual(said[3:5], ["$1 = 3", "$2 = 128"])
        self.assertEqual(said[7], 'No symbol "s" in current context.')

    def test_frames(self):
        """Frames of the engine, above the kernel or, of a thread that waits, below it."""
        said = self.answers(f"break {at('@twice')}", "run", "bt", "up", "up", "cuda thread (7,0,0)", "bt", "down")[2:]
        self.assertEqual([line.split(" at ")[-1] for line in said[0].split("\n")], [at("@twice"), "a.cu:12"])
        self.assertIn(" row (x=", said[1])
        self.assertEqual(said[2], "Initial frame selected; you cannot go up.")
        self.assertEqual([line.split(" at ")[-1] for line in said[4].split("\n")], [at("@sum")])
        self.assertEqual(said[5], "Bottom (innermost) frame selected; you cannot go down.")

    def test_the_end_of_a_kernel(self):
        """A thread that runs away when it leaves its kernel."""
        said = self.answers(f"break {at('@end')}", "run", "finish", "next", "step", "cuda thread")[2:]
        self.assertEqual(said[0], "a kernel has no caller: `continue`, or `tbreak` where to stop")
        self.assertEqual(said[1:3], [ENDS, ENDS])
        self.assertIn(f" at {at('@end')}", said[3])

    def test_words_of_cuda_gdb(self):
        """A word that is refused; a thread that is not, and is another one."""
        asked = ["cuda thread", "cuda block", "cuda thread (-1,0,0)", "info cuda kernels", "info cuda blocks"]
        said = self.answers(f"break {at('@end')} if blockIdx.x == 1 && threadIdx.x == 5", "run", *asked)[2:]
        for answer in said[:2]:
            self.assertEqual(answer.partition("\n")[0], "block (1,0,0), thread (5,0,0)")
        self.assertEqual(said[2], "cuda: expected block (X,Y,Z) thread (X,Y,Z)")
        self.assertEqual(
            said[3:], ["* row<<<(2,1,1), (32,1,1)>>>, launch 1", "* (1,0,0) runs\n  1 ended before it, 0 not begun"]
        )

    def test_a_barrier_that_is_complete(self):
        """Threads that wait, and those that could go on, with the same words."""
        said = self.answers(
            f"break {at('@store')} if threadIdx.x == 5", f"break {at('@sum')} if threadIdx.x == 0", "run",
            "info cuda threads", "c", "info cuda threads",
        )  # fmt: skip
        self.assertIn("(0,0,0) to (4,0,0) waits for its block at a.cu:10", said[3])
        self.assertIn("(1,0,0) to (31,0,0) has passed the barrier at a.cu:10", said[5])
