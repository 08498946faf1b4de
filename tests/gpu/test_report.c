/*
 * gpu-report without a GPU: every step is run with stand-ins for NVIDIA's tools (tests/gpu/fake). Their nvcc builds
 * for the simulated device, so the CUDA side of the harness runs as well; what the report makes of their output is
 * looked at here. No number below was measured.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "program.h"

static char *in_scratch(const char *name)
{
	return text("%s/%s", scratch_directory(), name);
}

/* A CUDA toolkit of stand-ins; all but those named in `without`. Returns the PATH with it. */
static const char *fake_toolkit(const char *without)
{
	static const char *const tools[] = {"nvcc", "nvidia-smi", "ncu", "compute-sanitizer", "python3"};

	cr_assert(mkdir(in_scratch("cuda"), 0777) == 0 && mkdir(in_scratch("cuda/bin"), 0777) == 0);
	cr_assert(symlink(TEST_ROOT "/simcc/include", in_scratch("cuda/include")) == 0);
	for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++)
		if (strstr(without, tools[i]) == NULL)
			cr_assert(
				symlink(text("%s/tests/gpu/fake/%s", TEST_ROOT, tools[i]),
			                in_scratch(text("cuda/bin/%s", tools[i]))) == 0);
	return text("PATH=%s:/usr/bin:/bin", in_scratch("cuda/bin"));
}

/* The report with these options; NULL ends them. */
static struct outcome report(const char *path, const char *extra, const char *const options[])
{
	const char *argv[32] = {"perl", TEST_ROOT "/gpu/report.pl"};

	for (size_t i = 0; options[i] != NULL; i++)
		argv[i + 2] = options[i];
	return run_program(
		argv,
		LIST(path, extra, "FAKE_SIMCC=" TEST_ROOT "/simcc/simcc", "NVCC=", "CC=" TEST_CC, "CXX=" TEST_CXX,
	             "MAKEFLAGS=-- OUT=/nowhere DEVICE=sim"),
		150);
}

static const char *cases(const char *rows)
{
	const char *path = in_scratch("cases.tsv");
	write_text(path, text("# made for this test\n# chapter\toptions\tinputs\tseconds\n%s", rows));
	return path;
}

/* A file of the archive the report leaves; "" if there is none. */
static const char *packed(const char *directory, const char *name)
{
	struct outcome run =
		run_program(LIST("tar", "-xOzf", text("%s/report.tar.gz", directory), name), NOTHING, 20);
	return run.out;
}

static void expect_text(const char *where, const char *content, const char *expected)
{
	cr_expect(
		content != NULL && strstr(content, expected) != NULL, "%s: expected '%s' in\n%s", where, expected,
		content ? content : "(no file)");
}

Test(report, every_step_with_stand_ins)
{
	const char *out = in_scratch("out"), *path = fake_toolkit("");
	struct outcome run =
		report(path, "FAKE_NCU=",
	               LIST("--out", out, "--seconds", "140", "--jobs", "2", "--chapters", "01_naive", "--kernels",
	                    "race_[fg]*o*", "--only",
	                    "machine,build,correctness,roofs,peers,counters,rules,sanitizer,kernels", "--sim-tree",
	                    TEST_ROOT, "--cases",
	                    cases("01_naive\t--seq 17 --dim 59\tall\t60\n"
	                          "01_naive\t--seq 33 --causal\trandom\t60\n")));
	const char *summary = read_text(text("%s/summary.md", out));

	cr_expect(run.status == 0, "status %d\n%s%s", run.status, run.out, run.err);
	expect_text("summary", summary, "Stand-in GPU, driver 1.2.3, nvcc V0.0.0");
	expect_text("summary", summary, "| correctness | done |");
	expect_text("summary", summary, "01_naive 7 of 7");
	expect_text("summary", summary, "| peers | not here |");
	expect_text("summary", summary, "no torch");
	expect_text("summary", summary, "| rules | done |");
	expect_text("summary", summary, " 0 contradicted");
	expect_text("summary", summary, "| sanitizer | done |");
	expect_text("summary", summary, "4 runs clean");
	expect_text("summary", summary, "Metrics this ncu does not have: smsp__sass_inst_executed_op_shared_ld");

	const char *counters = packed(out, "data/counters.tsv");
	expect_text("counters", counters, "\tscores\t-\tglobal_load_bytes\t");
	expect_text("counters", counters, "\t0.25\tfewer: nvcc merges narrow accesses");
	expect_text("counters", counters, "\tbound holds\tdram__bytes_read.sum");
	expect_text("counters", counters, "\tall launches\t-\tflop\t");
	cr_expect(strstr(counters, "saw no such launch") == NULL, "%s", counters);

	const char *kernels = packed(out, "data/sanitizer.tsv");
	expect_text("sanitizer", kernels, "race_float4\tbroken\tracecheck\terror\terror\tagree");
	expect_text("sanitizer", kernels, "race_float4\tfixed\tracecheck\tclean\tclean\tagree");
	expect_text("sanitizer", kernels, "race_global_histogram\tbroken\tracecheck\terror\tclean\tdiffer, as known");
	cr_expect(strstr(kernels, "no reason we know") == NULL, "%s", kernels);
	expect_text(
		"correctness", packed(out, "data/correctness.tsv"),
		"--seq 17 --dim 59 --input one-hot\tright\t0\t1\t");
	expect_text("machine", packed(out, "data/machine.tsv"), "gpu\tStand-in GPU");
}

Test(report, goes_on_after_failures)
{
	const char *out = in_scratch("out"), *path = fake_toolkit("compute-sanitizer");
	struct outcome run =
		report(path, "FAKE_NCU=denied",
	               LIST("--out", out, "--seconds", "100", "--jobs", "2", "--chapters", "02_online_softmax",
	                    "--only", "machine,build,correctness,roofs,matmul,counters,rules,sanitizer,kernels",
	                    "--sim-tree", TEST_ROOT, "--cases", cases("02_online_softmax\t--rows 0\trandom\t60\n")));
	const char *summary = read_text(text("%s/summary.md", out));

	cr_expect(run.status == 1, "status %d\n%s%s", run.status, run.out, run.err);
	expect_text("summary", summary, "| correctness | failed |");
	expect_text("summary", summary, "--rows: expected a whole number");
	expect_text("summary", summary, "| roofs | done |");
	expect_text("summary", summary, "| matmul | failed |");
	expect_text("summary", summary, "03_tiled_matmul was not built");
	expect_text("summary", summary, "| counters | not here |");
	expect_text("summary", summary, "ERR_NVGPUCTRPERM");
	expect_text("summary", summary, "| kernels | not here |");
	expect_text("summary", summary, "compute-sanitizer is not here");
	expect_text("summary", summary, "| pack | done |");
}

Test(report, keeps_its_time_limit)
{
	const char *out = in_scratch("out"), *path = fake_toolkit("");
	struct outcome run =
		report(path, "FAKE_NCU=",
	               LIST("--out", out, "--seconds", "4", "--jobs", "2", "--chapters", "06_backward", "--kernels",
	                    "none", "--sim-tree", TEST_ROOT));
	const char *summary = read_text(text("%s/summary.md", out));

	cr_expect(run.seconds < 90, "%g s, of 4", run.seconds);
	cr_expect(run.status == 1, "what was begun and not finished is no success: %d\n%s", run.status, run.out);
	expect_text("summary", summary, "| kernels | cut short |");
}

Test(report, says_what_is_missing)
{
	const struct {
		const char *without, *line;
		int status;
		const char *const options[8];
	} refusals[] = {
		{"nvidia-smi", "needs an NVIDIA GPU", 3, {"--out", "o"}},
		{"nvcc", "needs nvcc", 3, {"--out", "o"}},
		{"", "--out: expected a directory", 2, {NULL}},
		{"", "--only: expected some of machine, build", 2, {"--out", "o", "--only", "everything"}},
		{"", "not a directory that can be written", 3, {"--out", "/dev/null/x"}},
	};

	for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
		run_program(LIST("rm", "-rf", in_scratch("cuda")), NOTHING, 10);
		const char *path = fake_toolkit(refusals[i].without);
		if (strcmp(refusals[i].without, "nvcc") == 0 && access("/usr/local/cuda/bin/nvcc", X_OK) == 0)
			continue; /* it would be found there */
		if (strcmp(refusals[i].without, "nvidia-smi") == 0 && access("/usr/bin/nvidia-smi", X_OK) == 0)
			continue;
		struct outcome run = report(path, "FAKE_NCU=", refusals[i].options);
		cr_expect(
			run.status == refusals[i].status, "%s: status %d\n%s", refusals[i].line, run.status, run.err);
		expect_text("stderr", run.err, refusals[i].line);
		free_outcome(&run);
	}
}

Test(report, its_parts)
{
	struct outcome run =
		run_program(LIST("perl", TEST_ROOT "/tests/gpu/modules.pl", scratch_directory()), NOTHING, 60);
	size_t checks = 0;

	for (const char *at = run.out; (at = strstr(at, "ok ")) != NULL; at++)
		checks++;
	cr_expect(
		run.status == 0 && strstr(run.out, "not ok") == NULL, "status %d\n%s%s", run.status, run.out,
		run.err);
	cr_expect(
		checks >= 80 && strstr(run.out, text("1..%zu\n", checks)) != NULL, "%zu checks\n%s", checks, run.out);
}

/* Programs of this machine's own, so that each way of being wrong can be had. */
Test(verify, tells_right_from_wrong)
{
	const char *tree = in_scratch("tree"), *tsv = in_scratch("verdicts.tsv");
	const char *program = text("%s/01_naive/naive", tree);

	cr_assert(mkdir(tree, 0777) == 0 && mkdir(text("%s/01_naive", tree), 0777) == 0);
	write_text(
		program, "#!/bin/sh\ncase \"$*\" in\n"
			 "*good*) echo 'naive  verified  error 0 at O' ;;\n"
			 "*bad*) echo 'naive  WRONG'; exit 1 ;;\n"
			 "*silent*) exit 0 ;;\n"
			 "*slow*) sleep 60 ;;\nesac\n");
	cr_assert(chmod(program, 0755) == 0);
	struct outcome run = run_program(
		LIST("perl", TEST_ROOT "/gpu/verify.pl", "--tree", tree, "--tsv", tsv, "--jobs", "4", "--cases",
	             cases("01_naive\tgood\tall\t60\n01_naive\tbad\trandom\t60\n"
	                   "01_naive\tsilent\trandom\t60\n01_naive\tslow\trandom\t1\n")),
		NOTHING, 60);
	const char *verdicts = read_text(tsv);

	cr_expect(run.status == 1, "status %d\n%s%s", run.status, run.out, run.err);
	expect_text("verdicts", verdicts, "good --input very-negative\tright\t0\t1\t");
	expect_text("verdicts", verdicts, "bad --input random\twrong\t1\t0\t");
	expect_text("verdicts", verdicts, "silent --input random\tempty\t0\t0\t");
	expect_text("verdicts", verdicts, "slow --input random\ttoo slow\t124\t");
	expect_text("sums", run.out, "  6 of   9 cases right");

	run = run_program(
		LIST("perl", TEST_ROOT "/gpu/verify.pl", "--tree", tree, "--chapter", "07_none"), NOTHING, 60);
	cr_expect(run.status == 2, "a chapter without cases: status %d", run.status);
}

/* What a GPU run at N = 16384 relies on: beyond 2^30 products rows are drawn, and the program says how many. */
Test(verify, large_problems_are_sampled)
{
	struct outcome run = run_program(
		LIST(TEST_ROOT "/05_fa2/fa2.fast", "--seq", "4200", "--heads", "1", "--dim", "64", "--kernel",
	             "fa2_split_q", "--repeat", "1", "--warmup", "0", "--quiet"),
		NOTHING, 120);

	cr_expect(run.status == 0, "status %d\n%s", run.status, run.err);
	expect_text("stdout", run.out, "fa2_split_q  verified");
	expect_text("stdout", run.out, "64 of 4,200 rows checked");
}
