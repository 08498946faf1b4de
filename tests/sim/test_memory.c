/*
 * Memory of the simulated device, and what becomes of an access that is wrong: a thread's own variables, the arena,
 * large allocations, local arrays written past their ends, when the host hears of a fault, and kernels called without
 * a launch. The programs are in tests/sim/memory; both compilers build them.
 */
#include <stdbool.h>
#include <string.h>

#include <criterion/criterion.h>

#include "program.h"

static const struct compiler {
	const char *cc, *cxx;
} compilers[] = {{TEST_CC, TEST_CXX}, {"", TEST_OTHER_CXX}};
enum { COMPILERS = 2 };

static bool is_there(const struct compiler *compiler)
{
	return compiler->cxx[0] != '\0';
}

static struct outcome compile(const struct compiler *compiler, const char *name, const char *option,
                              const char *program)
{
	return run_program(LIST(TEST_ROOT "/common/sim/simcc", "-O2", "-w", option,
	                        text("%s/tests/sim/memory/%s.cu", TEST_ROOT, name), "-o", program),
	                   LIST(text("CC=%s", compiler->cc), text("CXX=%s", compiler->cxx)), 120);
}

static char *build(const struct compiler *compiler, const char *name, const char *option)
{
	char *program = text("%s/%s-%s%s", scratch_directory(), name, compiler->cxx, option);
	struct outcome built = compile(compiler, name, option, program);

	cr_assert(built.status == 0, "%s: %s", name, built.err);
	return program;
}

static size_t occurrences(const char *in, const char *what)
{
	size_t count = 0;

	for (; (in = strstr(in, what)) != NULL; in += strlen(what))
		count++;
	return count;
}

Test(memory, a_thread_s_variables_are_empty_when_a_function_begins)
{
	static const char *const ways[][2] = {{"1", "forward"}, {"2", "reverse"}, {"2", "shuffle:3"}};

	for (size_t c = 0; c < COMPILERS && is_there(&compilers[c]); c++) {
		char *program = build(&compilers[c], "empty_locals", "-g");

		for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
			struct outcome run = run_program(
				LIST(program),
				LIST(text("SIM_THREADS=%s", ways[w][0]), text("SIM_ORDER=%s", ways[w][1])), 60);

			cr_expect(run.status == 0, "%s: exit %d: %s%s", program, run.status, run.out, run.err);
			cr_expect(occurrences(run.out, ": 0 fair results\n") == 16, "%s printed\n%s", program,
			          run.out);
			free_outcome(&run);
		}
	}
}

Test(memory, the_emptiness_behind_an_allocation_is_never_given)
{
	struct outcome run = run_program(LIST(build(&compilers[0], "arena", "-g")),
	                                 LIST("SIM_THREADS=1", "SIM_CHECK=memcheck"), 60);

	cr_expect_str_eq(run.out, "342 blocks and more\nfreed places are given again\ncudaErrorIllegalAddress\n",
	                 "printed %s%s", run.out, run.err);
	cr_expect(strstr(run.err, "is out of bounds") != NULL, "%s", run.err);
	cr_expect(run.status == 1, "exit %d", run.status);
	free_outcome(&run);
}

Test(memory, allocating_touches_nothing)
{
	static const char *const options[] = {"-g", "--fast"};

	for (size_t i = 0; i < 2; i++) {
		/* Half of the device's memory, twice: 1 MB of it for tables, 16 MB for what it is copied from. */
		struct outcome run = run_program(LIST(build(&compilers[0], "large", options[i]), "24"), NOTHING, 60);

		cr_expect(run.status == 0, "exit %d: %s", run.status, run.err);
		cr_expect_str_eq(run.out, "0 MB at the end\n", "%s printed %s", options[i], run.out);
		cr_expect(run.seconds < 20, "%g s", run.seconds);
		free_outcome(&run);
	}
}

/* Where an overrun must be found, and where it must only do no harm: it may stay among the variables of its frame, or
 * reach what no function needs any more. */
static void expect_overrun(const char *program, int way, int count, bool found)
{
	struct outcome run = run_program(LIST(program, text("%d", way), text("%d", count)),
	                                 LIST("SIM_TIMEOUT=1", "SIM_THREADS=2", "SIM_CHECK=memcheck,synccheck"), 60);
	const char *what = text("%s %d %d", program, way, count);

	cr_expect(run.status == 0 || run.status == 1, "%s: exit %d\n%s%s", what, run.status, run.out, run.err);
	cr_expect(strstr(run.out, "host code ran") == NULL, "%s: host code ran", what);
	cr_expect(strstr(run.out, "works again") != NULL, "%s: %s%s", what, run.out, run.err);
	cr_expect((run.status == 0) == (strstr(run.out, "cudaSuccess") != NULL), "%s: exit %d, %s", what, run.status,
	          run.out);
	if (found) {
		cr_expect(strstr(run.out, "cudaErrorIllegalAddress\n") != NULL, "%s: %s", what, run.out);
		cr_expect(strstr(run.err, "ocal array was overrun") != NULL, "%s: %s", what, run.err);
	}
	free_outcome(&run);
}

Test(memory, an_overrun_array_never_returns_elsewhere, .timeout = 600)
{
	for (size_t c = 0; c < COMPILERS && is_there(&compilers[c]); c++) {
		char *program = build(&compilers[c], "overruns", "-g");

		/* One element, wherever it lies: one of them is the return address. */
		for (int index = 1; index < 34; index++)
			for (int way = 0; way <= 1; way++)
				expect_overrun(program, way, index, false);
		for (int index = 1; index < 14; index++)
			for (int way = 9; way <= 11; way++)
				expect_overrun(program, way, index, false);
		/* From the array to behind the kernel's frame. */
		for (int way = 2; way <= 4; way++)
			expect_overrun(program, way, 400, true);
		expect_overrun(program, 5, 20, true);
		for (int way = 6; way <= 8; way++)
			expect_overrun(program, way, 100000, false);
		expect_overrun(program, 14, 400, false);
		expect_overrun(program, 13, 30000, false);
	}
}

/* An array whose address goes nowhere but to its own elements. */
Test(memory, an_index_far_outside_is_found_in_every_array)
{
	static const char *const indices[] = {"20000", "1000000", "300000000", "-3000", "-100000000"};

	for (size_t c = 0; c < COMPILERS && is_there(&compilers[c]); c++) {
		char *program = build(&compilers[c], "overruns", "-g");

		for (size_t i = 0; i < 2 * (sizeof indices / sizeof indices[0]); i++) {
			struct outcome run = run_program(LIST(program, i % 2 ? "9" : "16", indices[i / 2]),
			                                 LIST("SIM_CHECK=memcheck"), 60);

			cr_expect(strstr(run.err, "Invalid __") != NULL, "%s: %s", indices[i / 2], run.err);
			cr_expect(run.status == 1 && strstr(run.out, "cudaErrorIllegalAddress\n") != NULL, "%s",
			          run.out);
			free_outcome(&run);
		}
	}
}

/* Element by element: some index is the return address, and that one is found. */
Test(memory, the_return_address_is_among_what_is_found)
{
	static const int ways[] = {0, 1, 9, 10, 11};

	for (size_t c = 0; c < COMPILERS && is_there(&compilers[c]); c++) {
		char *program = build(&compilers[c], "overruns", "-g");

		for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
			int found = 0;

			for (int index = 1; index < 40 && found == 0; index++) {
				struct outcome run =
					run_program(LIST(program, text("%d", ways[w]), text("%d", index)),
				                    LIST("SIM_TIMEOUT=1", "SIM_CHECK=memcheck,synccheck"), 60);

				found += strstr(run.err, "ocal array was overrun") != NULL &&
				         strstr(run.out, "cudaErrorIllegalAddress\n") != NULL;
				free_outcome(&run);
			}
			cr_expect(found, "%s: way %d", program, ways[w]);
		}
	}
}

Test(memory, a_pointer_that_outlives_its_variable_is_found)
{
	for (size_t c = 0; c < COMPILERS && is_there(&compilers[c]); c++) {
		struct outcome run = run_program(LIST(build(&compilers[c], "overruns", "-g"), "12", "1"),
		                                 LIST("SIM_CHECK=memcheck"), 60);

		cr_expect(strstr(run.err, "Invalid __local__ write of size 8 bytes") != NULL, "%s", run.err);
		cr_expect(strstr(run.err, "a function that has returned") != NULL, "%s", run.err);
		cr_expect(run.status == 1 && strstr(run.out, "cudaErrorIllegalAddress\n") != NULL, "%s", run.out);
		free_outcome(&run);
	}
}

Test(memory, arguments_on_the_stack_are_the_thread_s_own)
{
	for (size_t c = 0; c < COMPILERS && is_there(&compilers[c]); c++) {
		struct outcome run = run_program(LIST(build(&compilers[c], "arguments", "-g")), NOTHING, 60);

		cr_expect_str_eq(run.out,
		                 "by_value 4 3 cudaSuccess\nmany 8 8 cudaSuccess\nwith_constructor 7 7 cudaSuccess\n"
		                 "aligned 6 6 cudaSuccess\ncall 8 15 cudaSuccess\ncudaLaunchKernel 4 3 cudaSuccess\n",
		                 "%s", run.out);
		cr_expect_str_empty(run.err, "%s", run.err);
		cr_expect(run.status == 0, "exit %d", run.status);
		free_outcome(&run);
	}
}

Test(memory, a_fault_is_heard_of_where_the_host_waits)
{
	char *program = build(&compilers[0], "late_errors", "-g");

	for (int call = 0; call <= 8; call++) {
		struct outcome run = run_program(LIST(program, text("%d", call)), NOTHING, 60);

		cr_expect(run.status == 1, "%d: exit %d", call, run.status);
		cr_expect_str_eq(run.out,
		                 "peek: cudaSuccess\nget: cudaSuccess\nrefused: cudaErrorInvalidConfiguration\n"
		                 "record: cudaSuccess\ncopy: cudaSuccess\nget again: cudaSuccess\n"
		                 "waits: cudaErrorIllegalAddress\nstays: cudaErrorIllegalAddress\n"
		                 "stays: cudaErrorIllegalAddress\ndone: 0\nreset: cudaSuccess\n",
		                 "%d: %s", call, run.out);
		cr_expect(occurrences(run.err, "Invalid __global__ write") == 1, "%s", run.err);
		free_outcome(&run);
	}
}

Test(memory, a_kernel_without_a_launch_is_a_message)
{
	static const char *const options[] = {"-g", "--fast"};
	static const char *const says[] = {
		"'kernel' was called like a function",  "'nothing' was called like a function",
		"'generic' was called like a function", "'generic' was called like a function",
		"'kernel' was called like a function",  "threadIdx was used by host code",
		"__syncthreads() was used by host code"};

	for (size_t c = 0; c < COMPILERS && is_there(&compilers[c]); c++)
		for (size_t i = 0; i < 2; i++) {
			char *program = build(&compilers[c], "no_launch", options[i]);

			for (int way = 0; way < 7; way++) {
				struct outcome run = run_program(LIST(program, text("%d", way)), NOTHING, 60);

				cr_expect(run.status == 1, "%s %d: exit %d", program, way, run.status);
				cr_expect(strstr(run.err, says[way]) != NULL, "%s %d: %s", program, way, run.err);
				cr_expect(occurrences(run.err, "\n") == 1, "%s", run.err);
				cr_expect(i == 1 || way > 4 || strstr(run.err, "no_launch.cu:") != NULL, "%s",
				          run.err);
				cr_expect_str_empty(run.out, "%s %d went on", program, way);
				free_outcome(&run);
			}
		}
}

/* gcc says so when it compiles; of clang, and of calls that no compiler sees through, the program does. */
Test(memory, a_direct_call_of_a_kernel_does_not_run)
{
	for (size_t c = 0; c < COMPILERS && is_there(&compilers[c]); c++) {
		char *program = text("%s/direct", scratch_directory());
		struct outcome built = compile(&compilers[c], "no_launch", "-DDIRECT", program), run;

		if (built.status != 0) {
			cr_expect(strstr(built.err, "no_launch.cu:49") != NULL &&
			                  strstr(built.err, "kernel<<<grid, block>>>(...)") != NULL,
			          "%s", built.err);
			continue;
		}
		cr_expect(strstr(compilers[c].cxx, "clang") != NULL, "%s compiled it", compilers[c].cxx);
		run = run_program(LIST(program, "7"), NOTHING, 60);
		cr_expect(run.status == 1 && strstr(run.err, "no_launch.cu:49: error: kernel 'kernel'") != NULL, "%s",
		          run.err);
		free_outcome(&run);
	}
}
