/*
 * Hazards that are not the end of a launch: what is computed all the same, and what is printed when a program goes
 * through the same hazard again and again. One message for the same lines of source, and a count at the end; the
 * records and the error summary leave nothing out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "program.h"
#include "report.h"

/* Kernels, then the body of main. */
static char *build(const char *compiler, const char *option, const char *kernels, const char *body)
{
	char *source = text("%s/program.cu", scratch_directory());
	char *program = text("%s/%s%s", scratch_directory(), compiler, option);
	struct outcome built;

	write_text(source, text("#include <cstdio>\n#include <cuda_runtime.h>\n%s\nint main()\n{\n"
	                        "\tint h[256], *y, *z;\n\tcudaMalloc(&y, sizeof h);\n\tcudaMalloc(&z, sizeof h);\n"
	                        "\tcudaMemset(y, 0, sizeof h);\n\t(void)h, (void)z;\n%s\treturn 0;\n}\n",
	                        kernels, body));
	built = run_program(LIST(TEST_ROOT "/common/sim/simcc", option, source, "-o", program),
	                    LIST(strcmp(compiler, "other") == 0 ? "CXX=" TEST_OTHER_CXX : "CXX=" TEST_CXX,
	                         strcmp(compiler, "other") == 0
	                                 ? text("CC=%s", strstr(TEST_OTHER_CXX, "clang") ? "clang" : "gcc")
	                                 : "CC=" TEST_CC),
	                    120);
	cr_assert(built.status == 0, "%s", built.err);
	return program;
}

static struct outcome run(const char *program, const char *setting, struct report *report)
{
	const char *path = text("%s/report.json", scratch_directory());
	struct outcome outcome;

	remove(path);
	outcome = run_program(LIST(program), LIST(text("SIM_REPORT=%s", path), setting), 60);
	*report = read_report(path);
	return outcome;
}

static size_t times(const char *in, const char *what)
{
	size_t count = 0;

	for (const char *at = in; (at = strstr(at, what)) != NULL; at += strlen(what))
		count++;
	return count;
}

static size_t records(const struct report *report, const char *tool, const char *kind)
{
	size_t count = 0;

	for (size_t i = 0; i < report->hazard_count; i++)
		count += strcmp(report->hazards[i].tool, tool) == 0 && strcmp(report->hazards[i].kind, kind) == 0;
	return count;
}

/* ---- again and again ---- */

#define RACE                                                                                                         \
	"__global__ void race(int *y)\n{\n\t__shared__ int s[64];\n\ts[threadIdx.x] = 1;\n"                          \
	"\ty[threadIdx.x] = s[63 - threadIdx.x];\n}\n"

Test(hazards, a_race_in_many_launches)
{
	static const char *const settings[] = {"SIM_ORDER=forward", "SIM_ORDER=shuffle:1", "SIM_ORDER=reverse"};
	const char *program =
		build("first", "-O2", RACE,
	              "\tfor (int i = 0; i < 300; i++)\n\t\trace<<<2, 64>>>(y);\n\tcudaDeviceSynchronize();\n");

	for (size_t i = 0; i < 3; i++) {
		struct report report;
		struct outcome o = run(program, settings[i], &report);

		cr_expect(o.status == 1, "exit %d", o.status);
		cr_expect(times(o.err, "Error: Race reported") == 2, "%s: not once for each kind:\n%s", settings[i],
		          o.err);
		cr_expect(times(o.err, "\n") < 30, "%s", o.err);
		cr_expect(times(o.err, "========= racecheck: RAW at ") == 1 &&
		                  times(o.err, "========= racecheck: WAR at ") == 1,
		          "%s", o.err);
		cr_expect(times(o.err, " in race [76800 hazards over 300 launches]\n") == 2, "%s", o.err);
		cr_expect(strstr(o.err, "========= ERROR SUMMARY: 600 errors\n") != NULL, "%s", o.err);
		cr_expect(records(&report, "racecheck", "RAW") == 300 && records(&report, "racecheck", "WAR") == 300);
		cr_expect(report.launch_count == 300 && report.launches[299].hazards == 2);
		free_report(&report);
		free_outcome(&o);
	}
}

/* What is new is said even after many launches of the rest. */
Test(hazards, a_new_place_is_printed)
{
	struct report report;
	struct outcome o = run(
		build("first", "-O2",
	              RACE "template <int N>\n__global__ void early(int *y, int n)\n{\n\tif ((int)threadIdx.x >= n)\n"
	                   "\t\treturn;\n\t__syncthreads();\n\ty[threadIdx.x] = N;\n}\n"
	                   "__global__ void copy(int *y, const int *z)\n{\n\ty[threadIdx.x] = z[threadIdx.x];\n}\n",
	              "\tfor (int i = 0; i < 50; i++) {\n\t\trace<<<1, 64>>>(y);\n"
	              "\t\tearly<1><<<3, 96>>>(y, i < 25 ? 96 : 40);\n\t\tif (i % 10 == 9)\n"
	              "\t\t\tcopy<<<1, 32>>>(y, z);\n\t}\n"),
		"SIM_ORDER=forward", &report);

	cr_expect(times(o.err, "Error: Race reported") == 2, "%s", o.err);
	cr_expect(times(o.err, "========= Warning: Barrier error detected. Divergent thread(s) in ") == 1, "%s",
	          o.err);
	cr_expect(times(o.err, "40 of 96 threads wait here; 56 have left the kernel [3 times]") == 1, "%s", o.err);
	cr_expect(times(o.err, "program.cu:14 in early [75 hazards over 25 launches]\n") == 1, "%s", o.err);
	cr_expect(times(o.err, "Uninitialized __global__ memory read") == 1, "%s", o.err);
	cr_expect(times(o.err, "program.cu:19 in copy [640 hazards over 5 launches]\n") == 1, "%s", o.err);
	cr_expect(strstr(o.err, "========= ERROR SUMMARY: 105 errors\n") != NULL, "%s", o.err);
	cr_expect(records(&report, "synccheck", "exited_threads") == 25);
	cr_expect(records(&report, "initcheck", "uninitialized") == 5);
	free_report(&report);
	free_outcome(&o);
}

/* More places than are printed: "and n more" is said once, not at each launch. */
Test(hazards, many_places)
{
	struct report report;
	struct outcome o =
		run(build("first", "-O2",
	                  "__global__ void many(int *y, const int *z)\n{\n\tint sum = z[0];\n"
	                  "\tsum += z[1];\n\tsum += z[2];\n\tsum += z[3];\n\tsum += z[4];\n\tsum += z[5];\n"
	                  "\ty[threadIdx.x] = sum;\n}\n",
	                  "\tfor (int i = 0; i < 20; i++)\n\t\tmany<<<1, 32>>>(y, z);\n"),
	            "SIM_ORDER=forward", &report);

	cr_expect(times(o.err, "Uninitialized __global__ memory read") == 4, "%s", o.err);
	cr_expect(times(o.err, "========= ... and 2 more places of this kind (uninitialized) in many\n") == 1, "%s",
	          o.err);
	cr_expect(times(o.err, " hazards over 20 launches]\n") == 4, "%s", o.err);
	cr_expect(strstr(o.err, "========= ERROR SUMMARY: 120 errors\n") != NULL, "%s", o.err);
	cr_expect(records(&report, "initcheck", "uninitialized") == 120);
	free_report(&report);
	free_outcome(&o);
}

/* One launch after another that ends in an error, each after a reset; and a call that is wrong each time. */
Test(hazards, errors_that_end_a_launch_and_misused_calls)
{
	struct report report;
	struct outcome o =
		run(build("first", "-O2", "__global__ void past(int *y)\n{\n\ty[256 + threadIdx.x] = 1;\n}\n",
	                  "\tfor (int i = 0; i < 30; i++) {\n\t\tpast<<<1, 32>>>(y);\n\t\tcudaDeviceReset();\n"
	                  "\t\tcudaMalloc(&y, sizeof h);\n\t\tcudaFree(h + i);\n\t}\n"),
	            "SIM_ORDER=forward", &report);

	cr_expect(times(o.err, "Invalid __global__ write") == 1, "%s", o.err);
	cr_expect(times(o.err, " in past [30 hazards over 30 launches]\n") == 1, "%s", o.err);
	cr_expect(times(o.err, "on CUDA API call to cudaFree.\n") == 4, "%s", o.err);
	cr_expect(times(o.err, "========= memcheck: cudaErrorInvalidValue in cudaFree [30 hazards]\n") == 1, "%s",
	          o.err);
	cr_expect(strstr(o.err, "========= ERROR SUMMARY: 60 errors\n") != NULL, "%s", o.err);
	cr_expect(records(&report, "memcheck", "api_misuse") == 30 && report.hazard_count == 60);
	free_report(&report);
	free_outcome(&o);
}

/* ---- what is computed all the same ---- */

#define EARLY                                                                                                        \
	"__global__ void reverse(int *y, int n)\n{\n\t__shared__ int s[64];\n"                                       \
	"\tint t = threadIdx.x, i = blockIdx.x * 64 + t;\n\tif (i >= n)\n\t\treturn;\n\ts[t] = i;\n"                 \
	"\t__syncthreads();\n\tint last = min(63, n - 1 - (int)blockIdx.x * 64);\n\tint other = s[last - t];\n"      \
	"\tint even = __syncthreads_count(t % 2 == 0), all = __syncthreads_and(t < 64);\n"                           \
	"\ty[i] = other * 1000 + even * 10 + all;\n}\n"

static void expect_passed(const char *program, const char *setting, bool warns)
{
	struct report report;
	struct outcome o = run(program, setting, &report);

	cr_expect(o.status == 0, "exit %d: %s", o.status, o.err);
	cr_expect_str_eq(o.out, "right\n", "%s: %s", o.out, o.err);
	cr_expect(times(o.err, "========= Warning: Barrier error") == (warns ? 2 : 0), "%s: %s", setting, o.err);
	cr_expect(times(o.err, " in reverse [2 hazards over 1 launch]\n") == warns, "two on one line: %s", o.err);
	cr_expect(strstr(o.err, "ERROR SUMMARY") == NULL);
	for (size_t i = 0; i < report.launch_count; i++)
		cr_expect(!report.launches[i].counted || report.launches[i].barriers == 3 * 3);
	free_report(&report);
	free_outcome(&o);
}

static const char *const compilers[] = {"first", "other"};
enum { COMPILERS = sizeof TEST_OTHER_CXX > 1 ? 2 : 1 };

Test(hazards, those_that_left_count_as_arrived)
{
	static const char body[] =
		"\treverse<<<3, 64>>>(y, 150);\n\tprintf(\"%s\", cudaDeviceSynchronize() == cudaSuccess ? \"\" : "
		"\"error \");\n\tcudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);\n\tint wrong = 0;\n"
		"\tfor (int i = 0; i < 150; i++) {\n\t\tint first = i / 64 * 64, count = 150 - first < 64 ? 150 - "
		"first "
		": 64;\n\t\twrong += h[i] != (2 * first + count - 1 - i) * 1000 + (count + 1) / 2 * 10 + 1;\n\t}\n"
		"\tprintf(\"%s\\n\", wrong ? \"wrong\" : \"right\");\n";

	for (int c = 0; c < COMPILERS; c++) {
		const char *program = build(compilers[c], "-O2", EARLY, body);

		expect_passed(program, "SIM_ORDER=forward", true);
		expect_passed(program, "SIM_ORDER=shuffle:2", true);
		expect_passed(program, "SIM_CHECK=memcheck,racecheck,initcheck", false);
	}
}

Test(hazards, in_a_plain_build_too)
{
	struct report report;
	struct outcome o = run(
		build("first", "--fast",
	              EARLY "__global__ void one_lane(int *y)\n{\n\tint v = threadIdx.x;\n\tif (threadIdx.x == 0)\n"
	                    "\t\ty[0] = v + __shfl_down_sync(0xffffffff, v, 16);\n}\n",
	              "\tfor (int i = 0; i < 10; i++)\n\t\treverse<<<3, 64>>>(y, 150);\n"
	              "\tcudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);\n"
	              "\tprintf(\"%s\\n\", h[149] == 128111 ? \"right\" : \"wrong\");\n\tone_lane<<<1, 32>>>(y);\n"),
		"SIM_ORDER=forward", &report);

	cr_expect(o.status == 1, "exit %d", o.status);
	cr_expect_str_eq(o.out, "right\n", "%s", o.out);
	cr_expect(times(o.err, "========= Warning: Barrier error") == 1, "%s", o.err);
	cr_expect(times(o.err, " in reverse [30 hazards over 10 launches]\n") == 1, "%s", o.err);
	cr_expect(times(o.err, "__shfl_down_sync with mask 0xffffffff reads lane 16, which has left the kernel") == 1,
	          "%s", o.err);
	cr_expect(strstr(o.err, "========= ERROR SUMMARY: 1 error\n") != NULL, "%s", o.err);
	free_report(&report);
	free_outcome(&o);
}

/* 20 lanes of the second warp are there; the mask names all 32. */
Test(hazards, exchanges_without_lanes_that_left)
{
	static const char kernel[] =
		"__global__ void some(int *y)\n{\n\tint lane = threadIdx.x % 32, all;\n\tif (threadIdx.x >= 52)\n"
		"\t\treturn;\n\tunsigned there = threadIdx.x < 32 ? 0xffffffff : 0xfffff;\n\tint n = __popc(there), "
		"ok = 0;\n"
		"\tok += __ballot_sync(0xffffffff, 1) == there;\n"
		"\tok += __all_sync(0xffffffff, 1) && !__all_sync(0xffffffff, lane != 7);\n"
		"\tok += __any_sync(0xffffffff, lane == 19) && !__any_sync(0xffffffff, 0);\n"
		"\tok += __reduce_add_sync(0xffffffff, 3) == 3 * n;\n"
		"\tok += __reduce_max_sync(0xffffffff, lane) == n - 1;\n"
		"\tok += __match_any_sync(0xffffffff, lane % 2) == (there & (lane % 2 ? 0xaaaaaaaa : 0x55555555));\n"
		"\tok += __match_all_sync(0xffffffff, 0, &all) == there && all;\n"
		"\tok += __match_all_sync(0xffffffff, 1.5f, &all) == there && all;\n"
		"\tok += __shfl_sync(0xffffffff, lane * 5, 3) == 15;\n\t__syncwarp();\n\ty[threadIdx.x] = ok;\n}\n";
	static const char body[] =
		"\tsome<<<1, 64>>>(y);\n\tcudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);\n"
		"\tint wrong = 0;\n\tfor (int i = 0; i < 64; i++)\n\t\twrong += h[i] != (i < 52 ? 9 : 0);\n"
		"\tprintf(\"%d wrong\\n\", wrong);\n";

	for (int c = 0; c < COMPILERS; c++) {
		struct report report;
		struct outcome o = run(build(compilers[c], "-O2", kernel, body), "SIM_ORDER=shuffle:4", &report);

		cr_expect(o.status == 0, "exit %d: %s", o.status, o.err);
		cr_expect_str_eq(o.out, "0 wrong\n", "%s", o.out);
		/* All but __syncwarp(), which exchanges nothing; one line may hold two. */
		cr_expect(records(&report, "synccheck", "exited_threads") == 11, "%zu\n%s",
		          records(&report, "synccheck", "exited_threads"), o.err);
		cr_expect(strstr(o.err, "the mask 0xffffffff names 12 lanes that left the kernel") != NULL, "%s",
		          o.err);
		cr_expect(times(o.err, "========= ... and ") == 1, "%s", o.err);
		for (size_t i = 0; i < report.hazard_count; i++)
			cr_expect(strcmp(report.hazards[i].severity, "warning") == 0 &&
			          report.hazards[i].thread[0] == 32 && report.hazards[i].has_other &&
			          report.hazards[i].other_thread[0] == 52);
		free_report(&report);
		free_outcome(&o);
	}
}
