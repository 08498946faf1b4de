/*
 * Launches a GPU would not accept. The simulated device says why, and a program that never asks for the error is told
 * at its end that its kernel did not run. tests/sim/programs has such launches whose errors are asked for: silently.
 */
#include <string.h>

#include <criterion/criterion.h>

#include "program.h"

/* The body of main, after `int *y = ...`. `asked` makes the program look at the error and print why. */
static char *build(const char *name, const char *option, const char *body)
{
	char *source = text("%s/%s.cu", scratch_directory(), name),
	     *program = text("%s/%s", scratch_directory(), name);
	struct outcome built;

	write_text(source, text("#include <cuda_runtime.h>\n#include <sim.h>\n#include <stdio.h>\n"
	                        "__global__ void one(int *y) { y[threadIdx.x] = 1; }\n"
	                        "__global__ void shared(int *y)\n{\n\t__shared__ int fixed[256];\n"
	                        "\textern __shared__ int more[];\n\tmore[threadIdx.x] = fixed[threadIdx.x] = 1;\n"
	                        "\ty[threadIdx.x] = more[threadIdx.x];\n}\n"
	                        "static void asked(void)\n{\n\tprintf(\"%%s: %%s\\n\", "
	                        "cudaGetErrorName(cudaGetLastError()),\n\t       sim_refusal() ? sim_refusal() : "
	                        "\"-\");\n}\n"
	                        "int main()\n{\n\tint *y;\n\tcudaMalloc(&y, 4096);\n\t(void)shared, (void)asked;\n"
	                        "%s\treturn 0;\n}\n",
	                        body));
	built = run_program(
		LIST(TEST_ROOT "/common/sim/simcc", option, "-I" TEST_ROOT "/common/sim", source, "-o", program),
		LIST("CC=" TEST_CC, "CXX=" TEST_CXX), 60);
	cr_assert(built.status == 0, "%s", built.err);
	return program;
}

static void expect_run(const char *program, const char *out, const char *err)
{
	struct outcome run = run_program(LIST(program), NOTHING, 30);

	cr_expect(run.status == 0, "exit %d: %s", run.status, run.err);
	cr_expect_str_eq(run.out, out, "printed: %s", run.out);
	cr_expect_str_eq(run.err, err, "%s", run.err);
	free_outcome(&run);
}

Test(refusals, a_program_that_never_asks_is_told_at_its_end)
{
	static const char *const options[] = {"-O2", "--fast"};

	for (size_t i = 0; i < 2; i++)
		expect_run(build("never", options[i],
		                 "\tone<<<3, 2000>>>(y);\n\tone<<<1, 32>>>(y);\n\tcudaDeviceSynchronize();\n"),
		           "",
		           "========= one<<<(3,1,1), (2000,1,1)>>> was refused: a block may have (1024,1024,64) "
		           "threads. "
		           "The program never asked for the error (cudaGetLastError)\n");
	expect_run(build("thrice", "-O2", "\tfor (int i = 0; i < 3; i++)\n\t\tone<<<1, dim3(64, 32)>>>(y);\n"), "",
	           "========= one<<<(1,1,1), (64,32,1)>>> was refused: 2048 threads in a block, which may have 1024. "
	           "The program never asked for the error, nor for 2 more (cudaGetLastError)\n");
}

Test(refusals, a_program_that_asks_hears_nothing)
{
	expect_run(build("asks", "-O2", "\tone<<<1, 2000>>>(y);\n\tcudaPeekAtLastError();\n"), "", "");
	expect_run(build("late", "-O2",
	                 "\tone<<<1, 2000>>>(y);\n\tone<<<1, 3000>>>(y);\n\tone<<<1, 32>>>(y);\n\tasked();\n"),
	           "cudaErrorInvalidConfiguration: -\n", "");
}

Test(refusals, each_limit_by_name)
{
	expect_run(
		build("limits", "-O2",
	              "\tone<<<0, 32>>>(y);\n\tasked();\n\tone<<<1, 0>>>(y);\n\tasked();\n"
	              "\tone<<<dim3(1, 65536), 32>>>(y);\n\tasked();\n\tone<<<1, dim3(1, 1, 65)>>>(y);\n\tasked();\n"
	              "\tshared<<<1, 32, 48129>>>(y);\n\tasked();\n\tshared<<<1, 32, 48128>>>(y);\n\tasked();\n"
	              "\tcudaFuncSetAttribute(shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 300000);\n"
	              "\tasked();\n"),
		"cudaErrorInvalidConfiguration: one<<<(0,1,1), (32,1,1)>>> was refused: a grid without blocks\n"
		"cudaErrorInvalidConfiguration: one<<<(1,1,1), (0,1,1)>>> was refused: a block without threads\n"
		"cudaErrorInvalidConfiguration: one<<<(1,65536,1), (32,1,1)>>> was refused: a grid may have "
		"(2147483647,65535,65535) blocks\n"
		"cudaErrorInvalidConfiguration: one<<<(1,1,1), (1,1,65)>>> was refused: a block may have "
		"(1024,1024,64) threads\n"
		"cudaErrorInvalidValue: shared<<<(1,1,1), (32,1,1), 48129>>> was refused: 48129 bytes of dynamic "
		"shared memory in a block, which may have 48128 beside 1024 static ones, more only with "
		"cudaFuncSetAttribute\n"
		"cudaSuccess: -\n"
		"cudaErrorInvalidValue: shared was refused 300000 bytes of dynamic shared memory in a block, which "
		"may have 231424 beside 1024 static ones\n",
		"");
}

/* A learner asks for too many threads in chapter 01: the harness names the kernel and the reason, and ends with 3. */
Test(refusals, in_a_chapter)
{
	char *source = text("%s/naive.cu", scratch_directory()), *program = text("%s/naive", scratch_directory());
	char *kernels = read_text(TEST_ROOT "/01_naive/naive.cu"), *threads = strstr(kernels, "SCORE_THREADS = 128");
	struct outcome run;

	cr_assert(threads != NULL);
	memcpy(threads, "SCORE_THREADS=2048 ", strlen("SCORE_THREADS=2048 "));
	write_text(source, kernels);
	run = run_program(LIST("sh", "-c",
	                       text("cd %s && objects=build/$(basename $CC)/sim && common/sim/simcc -I01_naive %s "
	                            "$(find $objects/common $objects/01_naive -name '*.o') -lm -o %s",
	                            TEST_ROOT, source, program)),
	                  LIST("CC=" TEST_CC, "CXX=" TEST_CXX), 60);
	cr_assert(run.status == 0, "%s", run.err);
	run = run_program(LIST(program, "--seq", "16", "--dim", "16"), NOTHING, 30);
	cr_expect(run.status == 3, "exit %d: %s", run.status, run.err);
	cr_expect(
		strstr(run.err, "naive: cudaErrorInvalidConfiguration (invalid configuration argument): scores<<<") &&
			strstr(run.err, ", (2048,1,1)>>> was refused: a block may have (1024,1024,64) threads\n"),
		"%s", run.err);
	cr_expect(strchr(run.err, '\n')[1] == '\0', "more than a line: %s", run.err);
}
