/* What is made from GPU runs and from nvcc: simcc/ACCURACY.md, the chapters' ptxas.tsv; and the choice of ARCH.
 */
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "program.h"

#ifdef HAVE_OCCUPANCY
#include <cuda_occupancy.h>
#endif

static char *in_scratch(const char *name)
{
	return text("%s/%s", scratch_directory(), name);
}

static void expect_text(const char *where, const char *content, const char *expected)
{
	cr_expect(
		content != NULL && strstr(content, expected) != NULL, "%s: expected '%s' in\n%s", where, expected,
		content ? content : "(no file)");
}

/* ---- ACCURACY.md ---- */

static struct outcome accuracy(const char *data)
{
	return run_program(
		LIST("perl", TEST_ROOT "/gpu/accuracy.pl", "--data", data, "--page", in_scratch("page.md")), NOTHING,
		30);
}

Test(accuracy, the_committed_page_is_current)
{
	struct outcome run = run_program(LIST("perl", TEST_ROOT "/gpu/accuracy.pl", "--check"), NOTHING, 30);
	cr_expect(run.status == 0, "%s", run.err);
}

Test(accuracy, without_a_run_it_says_so_in_one_line)
{
	cr_expect(accuracy(scratch_directory()).status == 0);
	const char *page = read_text(in_scratch("page.md"));
	expect_text("page", page, "\n\nNo GPU has been asked yet: ");
	cr_expect(strchr(page, '|') == NULL && strlen(page) < 250, "%s", page);
}

Test(accuracy, every_row_is_there_with_its_reason)
{
	cr_expect(accuracy(TEST_ROOT "/tests/gpu/synthetic").status == 0);
	const char *page = read_text(in_scratch("page.md"));
	static const char *const lines[] = {
		"## made-up-gpu\n\nSYNTHETIC: numbers made up",
		"| global_load_bytes | 2 | 1 |  | 0.5 ... 1 |\n",
		"| global_load_requests | 1 | 0 |  | 0.25 |\n",
		"| dram_read_bytes | 1 | 0 | 1 | 12.56 |\n",
		"* 1 times: unexplained\n",
		"* 1 times: fewer: nvcc merges narrow accesses into wide ones, the bytes are equal\n",
		"2 looked at, 1 contradicted.",
		"| shared_read_8 | even lanes | shared_load_wavefronts | 1 | 2 |\n",
		"### 05_fa2, `--seq 64`\n",
		"| fa2_row | fa2_row&lt;64&gt; | dram_read_bytes | 98,304 | 1,234,567 | 12.56 | bound holds |\n",
		"| fa2_row | fa2_row&lt;64&gt; | ffma |  | 777 |  | only measured |\n",
	};
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		expect_text("page", page, lines[i]);
}

Test(accuracy, a_torn_file_makes_no_page)
{
	const char *folder = in_scratch("data"), *path = text("%s/gpu/counters.tsv", folder);
	cr_assert(mkdir(folder, 0777) == 0 && mkdir(text("%s/gpu", folder), 0777) == 0);
	write_text(path, "# about\n# chapter\toptions\n01_naive\n");
	struct outcome run = accuracy(folder);
	cr_expect(run.status == 2, "status %d", run.status);
	expect_text("stderr", run.err, "counters.tsv:3: expected 2 cells, got 1");
	write_text(path, "# about\n# chapter\toptions\n01_naive\t--seq 1\n");
	run = accuracy(folder);
	cr_expect(run.status == 2, "status %d", run.status);
	expect_text("stderr", run.err, "counters.tsv: expected a column kernel");
	cr_expect(access(in_scratch("page.md"), F_OK) != 0);
}

/* ---- ptxas.tsv ---- */

struct row {
	char arch[16], kernel[64], D[32];
	int registers, shared, threads, dynamic, blocks, percent;
	bool launched;
};

/* Calls `look` for every row of every chapter's table; returns how many there were. */
static size_t for_each_row(void (*look)(const char *path, const struct row *row))
{
	glob_t found;
	size_t rows = 0;

	cr_assert(glob(TEST_ROOT "/0*/ptxas.tsv", 0, NULL, &found) == 0 && found.gl_pathc == 6);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char *rest = read_text(found.gl_pathv[i]), *line;
		while ((line = strsep(&rest, "\n")) != NULL) {
			struct row row;
			char threads[16], dynamic[16], blocks[16], percent[16];
			if (line[0] == '#' || line[0] == '\0')
				continue;
			cr_assert(
				sscanf(line,
			               "%15[^\t]\t%63[^\t]\t%31[^\t]\t%d\t%*d\t%*d\t%*d\t%d\t%15[^\t]\t%15[^\t]\t%"
			               "15[^\t]\t%15s",
			               row.arch, row.kernel, row.D, &row.registers, &row.shared, threads, dynamic,
			               blocks, percent) == 9,
				"%s: %s", found.gl_pathv[i], line);
			row.launched = threads[0] != '-';
			row.threads = atoi(threads), row.dynamic = atoi(dynamic);
			row.blocks = atoi(blocks), row.percent = atoi(percent);
			look(found.gl_pathv[i], &row);
			rows++;
		}
	}
	globfree(&found);
	return rows;
}

static void look_for_gaps(const char *path, const struct row *row)
{
	cr_expect(row->launched, "%s: %s<%s>: no launch told its threads: see PTXAS_RUNS", path, row->kernel, row->D);
	cr_expect(
		row->blocks >= 1 && row->percent >= 1, "%s: %s<%s> on %s does not run", path, row->kernel, row->D,
		row->arch);
}

Test(ptxas, every_kernel_has_its_occupancy)
{
	cr_expect(for_each_row(look_for_gaps) >= 120);
}

#ifdef HAVE_OCCUPANCY
/* The table's own arithmetic against NVIDIA's, which is a header of the toolkit and needs no GPU. */
static void compare_with_calculator(const char *path, const struct row *row)
{
	bool hopper = strcmp(row->arch, "sm_90") == 0;
	struct cudaOccDeviceProp sm = {
		.computeMajor = hopper ? 9 : 8,
		.maxThreadsPerBlock = 1024,
		.maxThreadsPerMultiprocessor = 2048,
		.regsPerBlock = 65536,
		.regsPerMultiprocessor = 65536,
		.warpSize = 32,
		.sharedMemPerBlock = 48 * 1024,
		.sharedMemPerMultiprocessor = (hopper ? 228 : 164) * 1024,
		.numSms = hopper ? 132 : 108,
		.sharedMemPerBlockOptin = (hopper ? 227 : 163) * 1024,
		.reservedSharedMemPerBlock = 1024,
	};
	struct cudaOccFuncAttributes kernel = {
		.maxThreadsPerBlock = INT_MAX,
		.numRegs = row->registers,
		.sharedSizeBytes = (size_t)row->shared,
		.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
		.maxDynamicSharedSizeBytes = (size_t)row->dynamic,
	};
	struct cudaOccDeviceState state = {
		.cacheConfig = CACHE_PREFER_NONE, .carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
	struct cudaOccResult result;

	cudaOccError status = cudaOccMaxActiveBlocksPerMultiprocessor(
		&result, &sm, &kernel, &state, row->threads, (size_t)row->dynamic);
	cr_expect(
		status == CUDA_OCC_SUCCESS && result.activeBlocksPerMultiprocessor == row->blocks,
		"%s: %s<%s> on %s: %d blocks, NVIDIA's calculator says %d (%d)", path, row->kernel, row->D, row->arch,
		row->blocks, result.activeBlocksPerMultiprocessor, (int)status);
}

Test(ptxas, occupancy_is_what_the_toolkit_calculates)
{
	cr_expect(for_each_row(compare_with_calculator) >= 120);
}
#else
Test(ptxas, occupancy_is_what_the_toolkit_calculates)
{
	skip_test("no CUDA Toolkit: occupancies were not compared with NVIDIA's calculator");
}
#endif

/* What has changed since its table was made is compiled; when thorough all that compiles fast. CI compiles everything. */
Test(ptxas, tables_are_what_nvcc_says)
{
	static const char *const chapters[] = {"01_naive", "02_online_softmax", "03_tiled_matmul", "04_fa1",
	                                       "05_fa2",   "06_backward"};
	struct outcome version =
		run_program(LIST("sh", "-c", "nvcc --version || /usr/local/cuda/bin/nvcc --version"), NOTHING, 30);
	const char *head = read_text(TEST_ROOT "/01_naive/ptxas.tsv");
	char toolkit[32] = "";

	if (version.status != 0)
		skip_test("no nvcc: the tables of registers were not compared with what it says");
	cr_assert(sscanf(head, "# nvcc %31[^,],", toolkit) == 1, "%s", head);
	if (strstr(version.out, toolkit) == NULL)
		skip_test(text("nvcc is not %s, with which the tables of registers were made", toolkit));
	for (size_t i = 0; i < sizeof chapters / sizeof chapters[0]; i++) {
		struct outcome run = run_program(
			LIST("make", "--no-print-directory", "-s", "-C", text("%s/%s", TEST_ROOT, chapters[i]),
		             "check-ptxas", "DEVICE=sim", "CC=" TEST_CC, "CXX=" TEST_CXX,
		             thorough() && i < 3 ? "PTXAS_FULL=1" : "PTXAS_FULL="),
			LIST("MAKEFLAGS="), 200);
		cr_expect(run.status == 0, "%s\n%s", chapters[i], run.err);
	}
}

Test(ptxas, printed_tables_fit_a_terminal)
{
	glob_t found;

	cr_assert(glob(TEST_ROOT "/0*/ptxas.tsv", 0, NULL, &found) == 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct outcome run = run_program(
			LIST("perl", TEST_ROOT "/common/ptxas.pl", "--show", found.gl_pathv[i]), NOTHING, 20);
		cr_expect(run.status == 0 && strstr(run.out, "sm_90\n") != NULL, "%s", run.out);
		for (char *rest = run.out, *line; (line = strsep(&rest, "\n")) != NULL;)
			cr_expect(strlen(line) <= 80, "%zu columns: %s", strlen(line), line);
	}
	globfree(&found);
}

/* ---- ARCH ---- */

Test(arch, the_gpu_or_the_nearest_that_nvcc_knows)
{
	static const struct {
		const char *capability, *arch;
	} pairs[] = {{"9.0", "sm_90"},  {"8.0", "sm_80"}, {"8.6", "sm_80"},
	             {"12.0", "sm_90"}, {"7.0", "sm_70"}, {"", "sm_90"}};

	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		struct outcome run = run_program(
			LIST("sh", TEST_ROOT "/common/arch.sh", TEST_ROOT "/tests/gpu/fake/nvcc"),
			LIST("PATH=" TEST_ROOT "/tests/gpu/fake:/usr/bin:/bin",
		             text("FAKE_CAPABILITY=%s", pairs[i].capability)),
			20);
		cr_expect(
			strcmp(run.out, text("%s\n", pairs[i].arch)) == 0, "'%s' gave %s", pairs[i].capability,
			run.out);
	}
}

/* ---- Python, where it is ---- */

Test(peers, without_torch_they_say_so)
{
	struct outcome run = run_program(
		LIST("python3", "-B", TEST_ROOT "/gpu/peers.py", "--tree", TEST_ROOT, "--out",
	             in_scratch("peers.tsv")),
		LIST("CUDA_VISIBLE_DEVICES="), 60);

	if (run.status == 127)
		skip_test("no python3: gpu/peers.py was not looked at");
	cr_expect(run.status == 3, "status %d\n%s", run.status, run.err);
	expect_text("stderr", run.err, "peers.py: ");
	cr_expect(access(in_scratch("peers.tsv"), F_OK) != 0);
	run = run_program(
		LIST("python3", "-B", "-c", "import ast, sys\nfor path in sys.argv[1:]: ast.parse(open(path).read())",
	             TEST_ROOT "/gpu/peers.py", TEST_ROOT "/gpu/flash_triton.py"),
		NOTHING, 60);
	cr_expect(run.status == 0, "%s", run.err);
}
