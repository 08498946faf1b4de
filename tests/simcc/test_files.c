/* Programs of several files: what belongs to a file and what to the program, and what may not be linked together. */
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "program.h"
#include "report.h"

#define SIMCC TEST_ROOT "/common/sim/simcc"

/* Each file prints what its own `row`, its own inline function and its own constant make. */
static const char numbered[] = "#include <cstdio>\n"
			       "template <int D>\n"
			       "__global__ void row(int *y)\n"
			       "{\n"
			       "	__shared__ int tile[D * NUMBER];\n"
			       "	tile[threadIdx.x] = NUMBER;\n"
			       "	__syncthreads();\n"
			       "	y[threadIdx.x] = tile[D - 1 - threadIdx.x];\n"
			       "}\n"
			       "inline __device__ int ten() { return 10 * NUMBER; }\n"
			       "template <typename T>\n"
			       "__device__ T hundred() { return 100 * NUMBER; }\n"
			       "__constant__ int thousand = 1000 * NUMBER;\n"
			       "__global__ static void add(int *y) { y[0] += ten() + hundred<int>() + thousand; }\n"
			       "void FUNCTION()\n"
			       "{\n"
			       "	int y, *dy;\n"
			       "	cudaMalloc(&dy, 128);\n"
			       "	row<32><<<1, 32>>>(dy);\n"
			       "	add<<<1, 1>>>(dy);\n"
			       "	cudaMemcpy(&y, dy, 4, cudaMemcpyDeviceToHost);\n"
			       "	printf(\"%d\\n\", y);\n"
			       "	cudaFree(dy);\n"
			       "}\n";
static const char two_calls[] = "void first(); void second();\nint main() { first(); second(); }\n";

static char *in_scratch(const char *name)
{
	return text("%s/%s", scratch_directory(), name);
}

struct compiler {
	const char *cc, *cxx;
};

/* The compiler under test and, where it is there, the other one; their number. */
static size_t list_compilers(struct compiler compilers[2])
{
	compilers[0] = (struct compiler){TEST_CC, TEST_CXX};
	compilers[1] = (struct compiler){strstr(TEST_OTHER_CXX, "clang") ? "clang" : "gcc", TEST_OTHER_CXX};
	return TEST_OTHER_CXX[0] == '\0' ? 1 : 2;
}

static struct outcome simcc(struct compiler with, const char *arguments)
{
	return run_program_in(scratch_directory(), LIST("sh", "-c", text("exec " SIMCC " %s", arguments)),
	                      LIST(text("CC=%s", with.cc), text("CXX=%s", with.cxx)), 60);
}

static void build(struct compiler with, const char *arguments)
{
	struct outcome built = simcc(with, arguments);

	cr_assert(built.status == 0, "%s: simcc %s: status %d: %s", with.cxx, arguments, built.status, built.err);
	cr_expect_str_empty(built.err, "%s: simcc %s: %s", with.cxx, arguments, built.err);
}

static void expect_output(const char *how, const char *program, const char *printed)
{
	struct outcome run = run_program_in(scratch_directory(), LIST(program), NOTHING, 20);

	cr_expect(run.status == 0, "%s: status %d: %s", how, run.status, run.err);
	cr_expect_str_eq(run.out, printed, "%s printed %s", how, run.out);
	cr_expect_str_empty(run.err, "%s said %s", how, run.err);
}

static void expect_refused(struct compiler with, const char *arguments, const char *const says[], const char *program)
{
	struct outcome built = simcc(with, arguments);

	cr_expect(built.status == 1, "%s: simcc %s: status %d", with.cxx, arguments, built.status);
	for (size_t i = 0; says[i] != NULL; i++)
		cr_expect(strstr(built.err, says[i]) != NULL, "simcc %s: no '%s' in %s", arguments, says[i],
		          built.err);
	cr_expect(access(in_scratch(program), F_OK) != 0, "simcc %s left a program", arguments);
}

Test(files, device_code_is_private_to_its_file)
{
	struct compiler compilers[2];
	const size_t count = list_compilers(compilers);

	write_text(in_scratch("first.cu"), text("#define NUMBER 1\n#define FUNCTION first\n%s", numbered));
	write_text(in_scratch("second.cu"), text("#define NUMBER 2\n#define FUNCTION second\n%s", numbered));
	write_text(in_scratch("main.cpp"), two_calls);
	for (size_t c = 0; c < count; c++)
		for (int fast = 0; fast < 2; fast++) {
			const char *mode = fast ? "--fast" : "", *how = text("%s %s", compilers[c].cxx, mode);

			build(compilers[c], text("%s main.cpp first.cu second.cu -o together", mode));
			expect_output(how, "./together", "1111\n2222\n");
			build(compilers[c], text("%s second.cu main.cpp first.cu -o reversed", mode));
			expect_output(how, "./reversed", "1111\n2222\n");
			build(compilers[c], text("%s -c first.cu", mode));
			build(compilers[c], text("%s -c second.cu", mode));
			build(compilers[c], "main.cpp second.o first.o -o objects");
			expect_output(how, "./objects", "1111\n2222\n");
			cr_assert(run_program_in(scratch_directory(),
			                         LIST("sh", "-c", "rm -f lib.a; ar rcs lib.a first.o second.o"),
			                         NOTHING, 20)
			                  .status == 0);
			build(compilers[c], "main.cpp lib.a -o archive");
			expect_output(how, "./archive", "1111\n2222\n");
		}
}

/* What two files have under one name keeps its name and its own lines in reports. */
Test(files, reports_name_private_code)
{
	static const char source[] = "template <int D>\n"
				     "__global__ void wrong(int *y)\n"
				     "{\n"
				     "%s"
				     "	__shared__ int tile[D];\n"
				     "	tile[threadIdx.x] = 1;\n"
				     "	y[threadIdx.x + 32] = tile[0];\n"
				     "}\n"
				     "void %s()\n"
				     "{\n"
				     "	int *y;\n"
				     "	cudaMalloc(&y, 128);\n"
				     "	wrong<32><<<1, 32>>>(y);\n"
				     "}\n";
	struct compiler compilers[2];
	const size_t count = list_compilers(compilers);

	write_text(in_scratch("first.cu"), text(source, "", "first"));
	write_text(in_scratch("second.cu"), text(source, "\n\n\n", "second"));
	for (size_t c = 0; c < count; c++)
		for (int which = 1; which <= 2; which++) {
			struct outcome run;
			const char *name = which == 1 ? "first" : "second";

			write_text(in_scratch("main.cpp"),
			           text("void %s();\nint main() { %s(); return 0; }\n", name, name));
			build(compilers[c], "main.cpp first.cu second.cu -o program");
			run = run_program_in(scratch_directory(), LIST("./program"), NOTHING, 20);
			cr_expect(run.status == 1, "status %d", run.status);
			cr_expect(strstr(run.err, text("void wrong<32>(int*) in %s.cu:%d\n", name,
			                               which == 1 ? 6 : 9)) != NULL,
			          "%s: %s", name, run.err);
		}
}

/* A __host__ __device__ function is one function of the host and each file's own in device code; C++ files call it.
 */
Test(files, host_code_is_shared)
{
	static const char source[] = "#include <cstdio>\n"
				     "template <typename T> __host__ __device__ T both(T x);\n"
				     "#ifdef DEFINED\n"
				     "template <typename T> __host__ __device__ T both(T x) { return x + 1; }\n"
				     "template __host__ __device__ int both<int>(int);\n"
				     "#endif\n"
				     "inline int count() { static int calls; return ++calls; }\n"
				     "__host__ __device__ inline int *where() { static int here; return &here; }\n"
				     "%s";
	struct compiler compilers[2];
	const size_t count = list_compilers(compilers);

	write_text(in_scratch("device.cu"),
	           text(text("#define DEFINED\n%s", source),
	                "__global__ void k(int *y) { y[0] = both(1) + (where() != nullptr); }\n"
	                "int *device() { int y = 0, *dy; cudaMalloc(&dy, 4); k<<<1, 1>>>(dy);\n"
	                "	cudaMemcpy(&y, dy, 4, cudaMemcpyDeviceToHost); count(); printf(\"%d\\n\", y);\n"
	                "	return where(); }\n"));
	write_text(in_scratch("main.cu"),
	           text(source, "int *device();\n"
	                        "__global__ void k2(int *y) { y[0] = where() != nullptr; }\n"
	                        "int main() { int *there = device(); count();\n"
	                        "	printf(\"%d %d %d\\n\", both(41), count(), there == where()); }\n"));
	for (size_t c = 0; c < count; c++)
		for (int fast = 0; fast < 2; fast++) {
			build(compilers[c], text("%s main.cu device.cu -o program", fast ? "--fast" : ""));
			expect_output(compilers[c].cxx, "./program", "3\n42 3 1\n");
		}
}

/* A kernel of another file, by declaration or by explicit instantiation; with -rdc=true all device code is shared. */
Test(files, kernels_and_functions_of_another_file)
{
	struct compiler compilers[2];
	const size_t count = list_compilers(compilers);

	write_text(in_scratch("kernels.cu"), "__device__ int stored = 5;\n"
	                                     "__device__ int add(int x) { return x + stored; }\n"
	                                     "__global__ void plain(int *y) { y[0] = add(1); }\n"
	                                     "template <int D> __global__ void row(int *y) { y[0] += D; }\n"
	                                     "template __global__ void row<30>(int *);\n");
	write_text(in_scratch("main.cu"),
	           "#include <cstdio>\n"
	           "__global__ void plain(int *y);\n"
	           "template <int D> __global__ void row(int *y);\n"
	           "#ifdef DEVICE_TOO\n"
	           "extern __device__ int stored;\n"
	           "__device__ int add(int x);\n"
	           "__global__ void here(int *y) { stored += 1; y[0] += 1000 * add(0); }\n"
	           "#endif\n"
	           "int main() { int y, *dy; cudaMalloc(&dy, 4); plain<<<1, 1>>>(dy); row<30><<<1, 1>>>(dy);\n"
	           "#ifdef DEVICE_TOO\n"
	           "	here<<<1, 1>>>(dy); plain<<<1, 1>>>(dy + 0); here<<<1, 1>>>(dy);\n"
	           "#endif\n"
	           "	cudaMemcpy(&y, dy, 4, cudaMemcpyDeviceToHost); printf(\"%d\\n\", y); }\n");
	write_text(in_scratch("twice.cu"),
	           "__device__ int stored = 6;\n__global__ void k(int *y) { y[0] = stored; }\n");
	for (size_t c = 0; c < count; c++)
		for (int fast = 0; fast < 2; fast++) {
			const char *mode = fast ? "--fast" : "";

			build(compilers[c], text("%s main.cu kernels.cu twice.cu -o program", mode));
			expect_output(compilers[c].cxx, "./program", "36\n");
			build(compilers[c], text("%s -rdc=true -DDEVICE_TOO main.cu kernels.cu -o program", mode));
			expect_output("-rdc=true", "./program", "7007\n");
			build(compilers[c], text("%s -dc -DDEVICE_TOO main.cu", mode));
			build(compilers[c], text("%s -dc kernels.cu", mode));
			build(compilers[c], "main.o kernels.o -o program");
			expect_output("-dc", "./program", "7007\n");
			unlink(in_scratch("program"));
			expect_refused(compilers[c],
			               text("%s -rdc=true main.cu kernels.cu twice.cu -o program", mode),
			               LIST("multiple definition", "stored"), "program");
		}
}

/* What one half writes the other half's checks cannot know. C and C++ files go with either. */
Test(files, fast_and_counted_code_are_not_linked)
{
	struct compiler compilers[2];
	const size_t count = list_compilers(compilers);

	write_text(in_scratch("first.cu"), text("#define NUMBER 1\n#define FUNCTION first\n%s", numbered));
	write_text(in_scratch("second.cu"), text("#define NUMBER 2\n#define FUNCTION second\n%s", numbered));
	write_text(in_scratch("main.cpp"), two_calls);
	for (size_t c = 0; c < count; c++) {
		static const char *const mixed[] = {
			"main.cpp first.o second.fast.o -o program",  "main.cpp second.fast.o first.o -o program",
			"main.cpp first.cu second.fast.o -o program", "--fast main.cpp second.cu first.o -o program",
			"main.cpp first.o fast.a -o program",         "main.cpp first.o -L. -lfast -s -o program"};

		build(compilers[c], "-c first.cu");
		build(compilers[c], "-c second.cu");
		build(compilers[c], "--fast -c second.cu -o second.fast.o");
		cr_assert(
			run_program_in(scratch_directory(),
		                       LIST("sh", "-c",
		                            "rm -f *.a; ar rcs fast.a second.fast.o; ar rcs libfast.a second.fast.o"),
		                       NOTHING, 20)
				.status == 0);
		for (size_t i = 0; i < sizeof mixed / sizeof mixed[0]; i++)
			expect_refused(compilers[c], mixed[i],
			               LIST("simcc: second.cu was built with --fast and first.cu without"),
			               "program");
		expect_refused(compilers[c], mixed[0], LIST("alike\n"), "program");
		write_text(in_scratch("main.cpp"), "void second();\nint main() { second(); }\n");
		build(compilers[c], "-c -O2 main.cpp");
		build(compilers[c], "main.o second.fast.o -o program");
		expect_output("host code with --fast", "./program", "2222\n");
		build(compilers[c], "main.o second.o fast.a -o program"); /* nothing of the archive is needed */
		expect_output("an archive that is not used", "./program", "2222\n");
		unlink(in_scratch("program"));
		write_text(in_scratch("main.cpp"), two_calls);
	}
}
