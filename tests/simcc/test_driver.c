/* simcc's command line: what it builds, what it refuses and how it says so; and the SIM_* variables of what it built.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "program.h"
#include "report.h"

#define SIMCC TEST_ROOT "/common/sim/simcc"

static const char good[] = "#include <cstdio>\n"
			   "#ifndef VALUE\n"
			   "#define VALUE 1\n"
			   "#endif\n"
			   "__global__ void store(int *y) { y[threadIdx.x] = VALUE; }\n"
			   "int main()\n"
			   "{\n"
			   "	int y[32], *dy;\n"
			   "	cudaMalloc(&dy, sizeof y);\n"
			   "	store<<<1, 32>>>(dy);\n"
			   "	cudaMemcpy(y, dy, sizeof y, cudaMemcpyDeviceToHost);\n"
			   "	printf(\"%d\\n\", y[31]);\n"
			   "	return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;\n"
			   "}\n";

static char *in_scratch(const char *name)
{
	return text("%s/%s", scratch_directory(), name);
}

static struct outcome simcc(const char *const arguments[])
{
	const char *argv[32] = {SIMCC};

	for (size_t i = 0; arguments[i] != NULL; i++)
		argv[i + 1] = arguments[i];
	return run_program_in(scratch_directory(), argv, LIST("CC=" TEST_CC, "CXX=" TEST_CXX), 60);
}

static size_t count_lines(const char *output)
{
	size_t lines = 0;

	for (; *output != '\0'; output++)
		lines += *output == '\n';
	return lines;
}

/* The files in the scratch directory besides the one named. */
static size_t other_files(const char *name)
{
	DIR *directory = opendir(scratch_directory());
	size_t count = 0;

	for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
		count += entry->d_name[0] != '.' && strcmp(entry->d_name, name) != 0;
	closedir(directory);
	return count;
}

static void expect_built(const char *what, struct outcome built, const char *program, const char *printed)
{
	struct outcome run;

	cr_expect(built.status == 0, "%s: simcc's status %d: %s", what, built.status, built.err);
	cr_expect_str_empty(built.err, "%s: simcc said %s", what, built.err);
	cr_expect_str_empty(built.out, "%s: simcc printed %s", what, built.out);
	if (built.status != 0)
		return;
	run = run_program_in(scratch_directory(), LIST(program), NOTHING, 20);
	cr_expect(run.status == 0 && strcmp(run.out, printed) == 0, "%s: status %d, printed %s%s", what, run.status,
	          run.out, run.err);
}

Test(simcc, usage)
{
	static const struct {
		const char *arguments[6], *named;
	} wrong[] = {{{NULL}, "no input"},
	             {{"--nonsense", "a.cu"}, "--nonsense"},
	             {{"-nonsense", "a.cu"}, "-nonsense"},
	             {{"missing.cu", "-o", "x"}, "missing.cu"},
	             {{"a.cu", "-o"}, "-o"},
	             {{"a.cu", "b.cu", "-c", "-o", "x.o"}, "-o"},
	             {{"a.xyz"}, "a.xyz"},
	             {{"-x", "fortran", "a.cu"}, "fortran"},
	             {{"-O9", "a.cu"}, "-O9"}};
	struct outcome run = simcc(LIST("--help"));

	cr_expect(run.status == 0 && strstr(run.out, "usage: simcc") == run.out, "--help: %s", run.out);
	cr_expect_str_empty(run.err);
	run = simcc(LIST("--version"));
	cr_expect(run.status == 0 && count_lines(run.out) == 1 && strncmp(run.out, "simcc ", 6) == 0, "%s", run.out);
	write_text(in_scratch("a.cu"), good);
	write_text(in_scratch("b.cu"), good);
	write_text(in_scratch("a.xyz"), good);
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		run = simcc(wrong[i].arguments);
		cr_expect(run.status == 2, "%s: status %d", wrong[i].named, run.status);
		cr_expect(count_lines(run.err) == 1 && strstr(run.err, wrong[i].named) != NULL, "%s: said %s",
		          wrong[i].named, run.err);
		cr_expect_str_empty(run.out);
	}
	cr_expect(other_files("a.cu") == 2, "a refused command line left something behind");
	run = run_program(LIST(SIMCC, in_scratch("a.cu")), LIST("CXX=no-such-compiler"), 20);
	cr_expect(run.status == 2 && strstr(run.err, "no-such-compiler") != NULL, "CXX: %s", run.err);
}

/* simcc as its own compiler, by whatever way, is refused at once: it would wait for itself for ever. */
Test(simcc, its_own_compiler)
{
	static const char *const itself[] = {SIMCC, "./link", "env ./link", "./script", "./copy/simcc"};

	write_text(in_scratch("a.cu"), good);
	write_text(in_scratch("a.c"), "int main(void) { return 0; }\n");
	cr_assert(symlink(SIMCC, in_scratch("link")) == 0);
	write_text(in_scratch("script"), "#!/bin/sh\nexec " SIMCC " -O2 \"$@\"\n");
	chmod(in_scratch("script"), 0755);
	cr_assert(run_program_in(scratch_directory(),
	                         LIST("sh", "-c", "mkdir copy && cp -r " TEST_ROOT "/common/sim/[ls]i* copy"),
	                         NOTHING, 20)
	                  .status == 0);
	for (size_t i = 0; i < sizeof itself / sizeof itself[0]; i++)
		for (int cxx = 0; cxx < 2; cxx++)
			for (int only_compile = 0; only_compile < 2; only_compile++) {
				const char *variable = text("%s=%s", cxx ? "CXX" : "CC", itself[i]);
				struct outcome run = run_program_in(scratch_directory(),
				                                    only_compile ? LIST(SIMCC, "-c", "a.c")
				                                                 : LIST(SIMCC, "a.cu", "-o", "prog"),
				                                    LIST(variable), 20);

				cr_expect(run.status == 2, "%s: status %d", variable, run.status);
				cr_expect(count_lines(run.err) == 1 && strstr(run.err, "is simcc itself") != NULL,
				          "%s: said %s", variable, run.err);
			}
}

Test(simcc, errors_name_the_users_line)
{
	static const struct {
		const char *source, *says[2];
	} wrong[] = {
		{"__global__ void k(int *y)\n{\n\ty[0] = nowhere;\n}\nint main() { k<<<1, 1>>>(0); }\n",
	         {"a.cu:3", "nowhere"}},
		{"__global__ void k(int *y) {}\n\nint main()\n{\n\tk<<<1, 1>>>(0, 2);\n}\n", {"a.cu:5", NULL}},
		{"#include \"missing.h\"\nint main() {}\n", {"a.cu:1", "missing.h"}},
		{"#define LAUNCH(k) k<<<1, 1>>>(0)\n\nint main()\n{\n\tLAUNCH(nothing);\n}\n", {"a.cu:5", "nothing"}},
		{"__device__ int f();\n__global__ void k(int *y) { y[0] = f(); }\nint main() { k<<<1, 1>>>(0); }\n",
	         {"undefined reference", "f()"}},
	};

	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct outcome run;

		write_text(in_scratch("a.cu"), wrong[i].source);
		run = simcc(LIST("a.cu", "-o", "prog"));
		cr_expect(run.status == 1, "%s: status %d", wrong[i].source, run.status);
		for (size_t s = 0; s < 2 && wrong[i].says[s] != NULL; s++)
			cr_expect(strstr(run.err, wrong[i].says[s]) != NULL, "no %s in %s", wrong[i].says[s],
			          run.err);
		cr_expect(other_files("a.cu") == 0, "something was left behind");
	}
}

Test(simcc, options)
{
	mkdir(in_scratch("headers"), 0777);
	write_text(in_scratch("headers/value.h"), "#define VALUE 77\n");
	write_text(in_scratch("a.cu"), good);
	write_text(in_scratch("with_header.cu"), text("#include <value.h>\n%s", good));
	expect_built("plain", simcc(LIST("a.cu")), "./a.out", "1\n");
	expect_built("-D", simcc(LIST("-DVALUE=5", "a.cu", "-o", "prog")), "./prog", "5\n");
	expect_built("-D apart, -O3, -g, -W, -std",
	             simcc(LIST("a.cu", "-D", "VALUE=6", "-O3", "-g", "-Wall", "-Wextra", "-Werror", "-std=c++14",
	                        "-oprog")),
	             "./prog", "6\n");
	expect_built("-I", simcc(LIST("with_header.cu", "-Iheaders", "-o", "prog")), "./prog", "77\n");
	expect_built("--fast", simcc(LIST("--fast", "a.cu", "-DVALUE=8", "-o", "prog")), "./prog", "8\n");
	expect_built("nvcc's own",
	             simcc(LIST("-arch=sm_90", "-gencode", "arch=compute_90,code=sm_90", "-lineinfo",
	                        "--use_fast_math", "-Xcompiler", "-Wall,-O3", "-Xptxas=-v", "-rdc=true", "-lm",
	                        "--expt-relaxed-constexpr", "a.cu", "-o", "prog")),
	             "./prog", "1\n");
	expect_built("-x", simcc(LIST("-x", "cu", "a.cu", "-x", "none", "-o", "prog")), "./prog", "1\n");
}

Test(simcc, objects)
{
	struct outcome run;

	write_text(in_scratch("kernel.cu"), "__global__ static void k(int *y, int v) { y[threadIdx.x] = v; }\n"
	                                    "extern \"C\" void fill(int *y, int v) { k<<<1, 32>>>(y, v); }\n");
	write_text(in_scratch("main.c"),
	           "#include <cuda_runtime.h>\n#include <stdio.h>\n"
	           "void fill(int *y, int v);\n"
	           "int main(void)\n{\n"
	           "	int y[32], *dy;\n"
	           "	if (cudaMalloc((void **)&dy, sizeof y) != cudaSuccess)\n		return 1;\n"
	           "	fill(dy, 12);\n"
	           "	cudaMemcpy(y, dy, sizeof y, cudaMemcpyDeviceToHost);\n"
	           "	printf(\"%d\\n\", y[31]);\n	return 0;\n}\n");
	run = simcc(LIST("-c", "kernel.cu"));
	cr_expect(run.status == 0 && access(in_scratch("kernel.o"), R_OK) == 0, "-c: %s", run.err);
	run = simcc(LIST("-c", "main.c", "-std=c11", "-Wall", "-Wextra", "-Werror", "-o", "host.o"));
	cr_expect(run.status == 0 && access(in_scratch("host.o"), R_OK) == 0, "-c of a .c: %s", run.err);
	expect_built("objects", simcc(LIST("kernel.o", "host.o", "-o", "prog")), "./prog", "12\n");
	expect_built("a .c, a .cu", simcc(LIST("main.c", "kernel.cu", "-o", "prog")), "./prog", "12\n");
	expect_built("--fast, mixed", simcc(LIST("--fast", "main.c", "kernel.cu", "-o", "prog")), "./prog", "12\n");
	cr_expect(other_files("prog") == 4, "intermediate files were left behind");
}

Test(simcc, paths_with_spaces_and_quotes)
{
	mkdir(in_scratch("it's a $(dir)"), 0777);
	write_text(in_scratch("it's a $(dir)/my file.cu"), good);
	expect_built("spaces", simcc(LIST("it's a $(dir)/my file.cu", "-o", "it's a $(dir)/my program")),
	             in_scratch("it's a $(dir)/my program"), "1\n");
	write_text(in_scratch("it's a $(dir)/bad.cu"),
	           "__global__ void k(int *y)\n{\n\ty[threadIdx.x] = 1;\n}\nint main() { k<<<1, 1>>>(0); }\n");
	struct outcome run = simcc(LIST("it's a $(dir)/bad.cu", "-o", "bad"));
	cr_expect(run.status == 0, "%s", run.err);
	run = run_program_in(scratch_directory(), LIST("./bad"), NOTHING, 20);
	cr_expect(run.status == 1 && strstr(run.err, "bad.cu:3") != NULL, "%s", run.err);
}

/* A feature that is not there is named; it never compiles to a wrong answer. */
Test(simcc, unsupported_features_are_named)
{
	static const char *const features[][2] = {
		{"#include <cooperative_groups.h>\nint main() {}\n", "cooperative_groups"},
		{"#include <cuda_fp16.h>\nint main() {}\n", "cuda_fp16.h"},
		{"#include <mma.h>\nint main() {}\n", "mma.h"},
		{"#include <thrust/device_vector.h>\nint main() {}\n", "hrust"},
		{"#include <cub/cub.cuh>\nint main() {}\n", "cub"},
		{"#include <curand_kernel.h>\nint main() {}\n", "curand"},
		{"#include <cublas_v2.h>\nint main() {}\n", "cublas"},
		{"__managed__ int x;\nint main() {}\n", "__managed__"},
		{"texture<float, 1> t;\nint main() {}\n", "texture"},
		{"__global__ void k(int *y) { asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(y[0])); }\nint main() {}\n",
	         "asm"},
		{"__global__ void k(int *y) { y[0] = *(int *)malloc(4); }\nint main() {}\n", "malloc"},
		{"__global__ void k(int *y) { y[0] = *new int; }\nint main() {}\n", "new"},
		{"__global__ void k(int *y) { if (y) k<<<1, 1>>>(y); }\nint main() {}\n", "dynamic parallelism"},
	};

	for (size_t i = 0; i < sizeof features / sizeof features[0]; i++) {
		struct outcome run;

		write_text(in_scratch("a.cu"), features[i][0]);
		run = simcc(LIST("a.cu", "-o", "prog"));
		cr_expect(run.status == 1, "%s: status %d", features[i][1], run.status);
		cr_expect(strstr(run.err, features[i][1]) != NULL && strstr(run.err, "not supported") != NULL &&
		                  strstr(run.err, "a.cu:") != NULL,
		          "%s: said %s", features[i][1], run.err);
		cr_expect(other_files("a.cu") == 0, "%s: something was left behind", features[i][1]);
	}
}

Test(simcc, environment_of_a_program)
{
	static const char *const wrong[] = {
		"SIM_GPU=gtx1060",     "SIM_CHECK=memchek", "SIM_CHECK=",      "SIM_ORDER=backwards",
		"SIM_ORDER=shuffle:x", "SIM_THREADS=0",     "SIM_THREADS=two", "SIM_TIMEOUT=never",
		"SIM_TIMEOUT=-1",      "SIM_REPORT="};
	const char *program = in_scratch("prog"), *path = in_scratch("report.json");
	struct outcome run;
	struct report report;

	write_text(in_scratch("a.cu"), good);
	write_text(in_scratch("idle.cu"), "int main() { return 0; }\n");
	cr_assert(simcc(LIST("a.cu", "-o", "prog")).status == 0);
	cr_assert(simcc(LIST("idle.cu", "-o", "idle")).status == 0);
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		run = run_program(LIST(program), LIST(wrong[i]), 20);
		cr_expect(run.status == 2, "%s: status %d", wrong[i], run.status);
		cr_expect(count_lines(run.err) == 1 && strstr(run.err, text("%.6s", wrong[i])) != NULL, "%s: said %s",
		          wrong[i], run.err);
		cr_expect_str_empty(run.out, "%s: went on", wrong[i]);
	}
	run = run_program(LIST(program), LIST("SIM_REPORT=/nonexistent/report.json"), 20);
	cr_expect(run.status == 3 && count_lines(run.err) == 1, "unwritable report: status %d: %s", run.status,
	          run.err);

	run = run_program(LIST(program), LIST("SIM_REPORT=-"), 20);
	cr_expect(run.status == 0 && strncmp(run.out, "{\"type\":\"launch\"", 16) == 0 &&
	                  strstr(run.out, "\n1\n") != NULL,
	          "SIM_REPORT=-: %s", run.out);
	write_text(path, "what was there before\n");
	run = run_program(LIST(in_scratch("idle")), LIST(text("SIM_REPORT=%s", path)), 20);
	cr_expect(run.status == 0);
	cr_expect_str_empty(read_text(path), "a program without a launch left the old report");
	run = run_program(LIST(program), LIST(text("SIM_REPORT=%s", path)), 20);
	report = read_report(path);
	cr_expect(report.launch_count == 1 && report.hazard_count == 0);

	for (size_t i = 0; i < 5; i++) { /* every GPU there is */
		const char *gpu = ((const char *[]){"a100", "a100-80", "h100", "h200", "rtx4090"})[i];

		run = run_program(LIST(program),
		                  LIST(text("SIM_GPU=%s", gpu), "SIM_CHECK=memcheck,synccheck", "SIM_THREADS=3"), 20);
		cr_expect(run.status == 0 && strcmp(run.out, "1\n") == 0, "%s: %s", gpu, run.err);
	}
}

/* SIM_GPU decides what fits: 100 KB of shared memory is too much for an rtx4090 (99 KB) and fine on an h100. */
Test(simcc, the_gpu_sets_the_limits)
{
	struct outcome run;

	write_text(in_scratch("a.cu"),
	           "#include <cstdio>\n"
	           "__global__ void k(float *y) { extern __shared__ float s[]; s[threadIdx.x] = 1; y[threadIdx.x] = "
	           "s[threadIdx.x]; }\n"
	           "int main()\n{\n	float *y;\n	cudaDeviceProp p;\n	cudaGetDeviceProperties(&p, 0);\n"
	           "	cudaMalloc(&y, 128);\n"
	           "	cudaError_t error = cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 "
	           "<< 10);\n"
	           "	k<<<1, 32, 100 << 10>>>(y);\n"
	           "	cudaError_t launch = cudaGetLastError();\n"
	           "	printf(\"%s %s %zu\\n\", cudaGetErrorName(error), cudaGetErrorName(launch), "
	           "p.sharedMemPerBlockOptin);\n"
	           "	return 0;\n}\n");
	run = simcc(LIST("a.cu", "-o", "prog"));
	cr_assert(run.status == 0, "%s", run.err);
	run = run_program(LIST(in_scratch("prog")), LIST("SIM_GPU=h100"), 20);
	cr_expect_str_eq(run.out, "cudaSuccess cudaSuccess 232448\n", "h100: %s", run.out);
	run = run_program(LIST(in_scratch("prog")), LIST("SIM_GPU=rtx4090"), 20);
	cr_expect_str_eq(run.out, "cudaErrorInvalidValue cudaErrorInvalidValue 101376\n", "rtx4090: %s", run.out);
	run = run_program(LIST(in_scratch("prog")), NOTHING, 20);
	cr_expect_str_eq(run.out, "cudaSuccess cudaSuccess 232448\n", "default: %s", run.out);
}
