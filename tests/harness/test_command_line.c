/*
 * A chapter's program as a user meets it: exit codes, one clear line for what cannot be, nothing half-written.
 * Chapter 01 stands for all.
 */
#include "first_tokens.h"
#include "json.h"
#include "page.h"
#include "program.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAIVE TEST_ROOT "/01_naive/naive"

static struct outcome run(const char *line)
{
	return run_line(NAIVE, line, NOTHING, 120);
}

static size_t count_lines(const char *string)
{
	size_t lines = 0;
	for (; *string; string++)
		lines += *string == '\n';
	return lines;
}

static void expect_refused(const char *line, int status, const char *part)
{
	expect_refusal(NAIVE, line, status, part);
}

static size_t count_files(const char *directory)
{
	size_t count = 0;
	DIR *open = opendir(directory);
	for (struct dirent *entry; open && (entry = readdir(open));)
		count += entry->d_name[0] != '.';
	if (open)
		closedir(open);
	return count;
}

Test(command_line, usage)
{
	expect_refused("--seq 0", 2, "--seq: expected a whole number from 1");
	expect_refused("--dim 129", 2, "--dim: expected a whole number from 1 to 128");
	expect_refused("--seq abc", 2, "--seq");
	expect_refused("--kernel bogus", 2, "--kernel: expected naive, got 'bogus'");
	expect_refused("--kernel niave", 2, "--kernel: expected naive, got 'niave'; did you mean naive?");
	expect_refused("--gpu b42", 2, "--gpu: expected one of a100");
	expect_refused("--gpu A100_80", 2, "got 'A100_80'; did you mean a100-80?");
	expect_refused("--gpu 4090", 2, "got '4090'; did you mean rtx4090?");
	expect_refused("--sequence 5", 2, "naive: --sequence: unknown option, did you mean --seq?");
	expect_refused("--bogus", 2, "--bogus: unknown option");
	expect_refused("--hea 2", 2, "--hea: unknown option");
	expect_refused("--rows 2", 2, "--rows: does not apply to this chapter");
	expect_refused("--seq 1000000 --heads 100", 3, "memory");
}

Test(command_line, unusable_input)
{
	const char *directory = scratch_directory();
	expect_refused(text("--load %s", directory), 2, "q.npy: cannot be read");
	write_text(text("%s/q.npy", directory), "not numpy");
	expect_refused(text("--load %s", directory), 2, "q.npy: is not a .npy file");
	expect_refused("--load " TEST_ROOT "/tests/data/real_qkv --seq 511", 2, "expected 511 for N");
	expect_refused(text("--load %s --save %s/out", directory, directory), 2, "q.npy: is not a .npy file");
	cr_assert_eq(count_files(directory), 1, "something was left behind");
}

Test(command_line, unwritable_output)
{
	const char *directory = scratch_directory();
	write_text(text("%s/file", directory), "x");
	expect_refused(text("--seq 8 --save %s/file", directory), 3, "not a directory");
	expect_refused(text("--seq 8 --save %s/no/such", directory), 3, "cannot be created");
	expect_refused(text("--seq 8 --json %s/no/x.json", directory), 3, "cannot be written");
	expect_refused(
		"--seq 8 --quiet --tsv /dev/full --json /dev/null --color never --gpu a100 --save /dev/null", 3, "");
	cr_assert_eq(count_files(directory), 1);
	struct outcome o = run_program(LIST("/bin/sh", "-c", NAIVE " --seq 8 > /dev/full"), NOTHING, 60);
	cr_assert_eq(o.status, 3, "a full standard output: %d %s", o.status, o.err);
	free_outcome(&o);
}

/* However many runs there were to take the median of, as on a fast machine. */
Test(command_line, fits_a_terminal)
{
	only_when_thorough(); /* and with the plain build */
	struct outcome o = run("--seq 3 --dim 2 --heads 2 --causal --time --repeat 10000 --gpu a100-80 --verbose");
	cr_assert_eq(o.status, 0, "%s", o.err);
	cr_assert(strstr(o.out, ", 10000 runs)"), "%s", o.out);
	expect_page(o.out);
	free_outcome(&o);
}

Test(command_line, json_is_one_object_and_nothing_else)
{
	struct outcome o = run("--seq 17 --dim 5 --heads 2 --causal --json -");
	cr_assert_eq(o.status, 0, "%s", o.err);
	cr_assert_str_empty(o.err);
	cr_assert_eq(o.out[0], '{');
	cr_assert_eq(count_lines(o.out), 1);
	cJSON *json = cJSON_Parse(o.out);
	const cJSON *kernel = json_named(json_get(json, "kernels"), "naive"), *model = json_get(kernel, "model"),
		    *footprint = json_get(json_get(kernel, "hbm"), "footprint");
	/* 2 heads of 4N² + 4Nd = 1,156 + 340 elements */
	cr_expect(cJSON_IsTrue(json_get(kernel, "verified")));
	cr_expect_str_eq(json_string_of(model, "counts"), "footprint");
	cr_expect_eq(json_number_of(model, "read_elements"), 1666);
	cr_expect_eq(json_number_of(model, "write_elements"), 1326);
	cr_expect_eq(json_number_of(model, "elements"), 2992);
	cr_expect_eq(json_number_of(footprint, "read_bytes"), 6664);
	cr_expect_eq(json_number_of(footprint, "write_bytes"), 5304);
	cr_expect_eq(json_number_of(kernel, "peak_bytes"), 7344); /* 4 (4 H N d + 2 H N²) */
	cr_expect_null(cJSON_GetObjectItem(kernel, "time"));
	cJSON_Delete(json);
	free_outcome(&o);
}

/* Without --time the simulated device times nothing, and what only times need is refused. */
Test(command_line, times_are_taken_on_request)
{
	struct outcome o = run("--seq 8 --dim 4"),
		       timed = run("--seq 8 --dim 4 --time --repeat 2 --warmup 0 --verbose");
	cJSON *json = run_json(NAIVE, "--seq 8 --dim 4 --time --repeat 1", 0);
	const cJSON *time = json_get(json_named(json_get(json, "kernels"), "naive"), "time");
	cr_expect_null(strstr(o.out, " time "), "%s", o.out);
	cr_expect(
		strstr(timed.out, "\n  time ") && strstr(timed.out, ", 2 runs), CPU, plain build\n"), "%s",
		timed.out);
	cr_expect_str_eq(json_string_of(time, "kind"), "measured-cpu");
	cr_expect_eq(json_number_of(time, "runs"), 1);
	cJSON_Delete(json);
	free_outcome(&timed);
	free_outcome(&o);
	o = run("--seq 8 --dim 4 --tsv -");
	cr_expect(strstr(o.out, "\tNaN\tNaN\tNaN\tNaN\t-\t"), "%s", o.out);
	free_outcome(&o);
	expect_refused("--seq 8 --repeat 1", 2, "--repeat: needs --time");
	expect_refused("--seq 8 --warmup 0", 2, "--warmup: needs --time");
	expect_refused("--sweep --repeat 1", 2, "--repeat: needs --time");
}

/* The launches of the plain build: the run that is verified, the warm-ups and the timed ones, of three kernels each.
 * Kills: a run too many or too few, and a --warmup or --repeat that the plain build is not told of. */
Test(command_line, warm_ups_and_repeats_are_as_many_as_asked_for)
{
	const char *folder = scratch_directory(), *copy = text("%s/naive", folder), *plain = text("%s.fast", copy);
	struct outcome o = run_program(LIST("cp", NAIVE, copy), NOTHING, 10);
	free_outcome(&o);
	write_text(plain, text("#!/bin/sh\nSIM_REPORT=%s/report exec %s.fast \"$@\"\n", folder, NAIVE));
	chmod(plain, 0755);
	static const struct {
		const char *line;
		size_t runs;
	} asked[] = {
		{"--repeat 1 --warmup 0", 1},
		{"--repeat 3 --warmup 0", 3},
		{"--repeat 1 --warmup 4", 5},
		{"--repeat 2", 3}};
	for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
		o = run_line(copy, text("--seq 8 --dim 4 --time %s", asked[i].line), NOTHING, 60);
		cr_expect_eq(o.status, 0, "%s: %s", asked[i].line, o.err);
		cr_expect_eq(
			count_lines(read_text(text("%s/report", folder))), 3 * (1 + asked[i].runs), "%s",
			asked[i].line);
		free_outcome(&o);
	}
}

/* A copy that lies alone has no plain build. */
Test(command_line, times_need_the_plain_build)
{
	const char *copy = text("%s/naive", scratch_directory());
	struct outcome o = run_program(LIST("cp", NAIVE, copy), NOTHING, 10);
	free_outcome(&o);
	o = run_program(LIST(copy, "--seq", "8", "--time"), NOTHING, 20);
	cr_expect_eq(o.status, 3);
	cr_expect_str_eq(
		o.err, "naive: --time: naive.fast, the plain build, is not there: `make fast` in 01_naive\n");
	cr_expect_str_empty(o.out);
	free_outcome(&o);
}

Test(command_line, loads_and_saves)
{
	const char *directory = scratch_directory();
	size_t tokens = thorough() ? 512 : 45;
	const char *real = thorough() ? TEST_ROOT "/tests/data/real_qkv" : first_tokens(tokens);
	struct outcome o =
		run(text("--load %s --causal --save %s/out --json %s/r.json --quiet", real, directory, directory));
	cr_assert_eq(o.status, 0, "%s", o.err);
	cr_assert(strstr(o.out, "verified"), "%s", o.out);
	free_outcome(&o);
	FILE *file = fopen(text("%s/out/o.npy", directory), "rb");
	cr_assert(file && fseek(file, 0, SEEK_END) == 0 && ftell(file) == 128 + 4 * 2 * (long)tokens * 64);
	fclose(file);
	cr_assert_eq(count_files(text("%s/out", directory)), 1);
	cJSON *json = cJSON_Parse(read_text(text("%s/r.json", directory)));
	const cJSON *problem = json_get(json, "problem");
	const struct {
		const char *key;
		double value;
	} sizes[] = {{"batch", 1}, {"heads", 2}, {"seq", (double)tokens}, {"dim", 64}};
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		cr_expect_eq(json_number_of(problem, sizes[i].key), sizes[i].value, "%s", sizes[i].key);
	cr_expect(cJSON_IsTrue(json_get(problem, "causal")));
	cJSON_Delete(json);
}

Test(command_line, output_for_people)
{
	struct outcome o = run("--seq 257 --dim 8 --heads 3 --batch 2 --verbose"),
		       colored = run("--seq 65 --color always");
	cr_assert_eq(o.status, 0, "%s", o.err);
	cr_assert_str_empty(o.err, "progress belongs on a terminal only");
	cr_assert_null(strchr(o.out, '\x1b'));
	cr_assert(strchr(colored.out, '\x1b'));
	cr_assert(strstr(o.out, "  equal\n"));
	cr_assert_null(strstr(o.out, "NOT EQUAL"));
	expect_page(o.out);
	expect_screen(run("--seq 65 --heads 3 --batch 2").out);
	free_outcome(&colored);
}

Test(command_line, sweep_is_a_table)
{
	struct outcome o = run("--sweep --dim 8");
	cr_assert_eq(o.status, 0, "%s", o.err);
	size_t columns = 0, rows = 0;
	for (char *line = strtok(o.out, "\n"); line; line = strtok(NULL, "\n")) {
		size_t tabs = 0;
		for (char *c = line; *c; c++)
			tabs += *c == '\t';
		if (*line == '#') {
			columns = tabs; /* of the last of these lines */
			continue;
		}
		rows++;
		cr_assert(columns > 20 && tabs == columns, "%s", line);
	}
	cr_assert_eq(rows, 4); /* N = 128 ... 1024 */
	free_outcome(&o);
}

/* Before the columns: where the numbers come from, and nothing that names the machine. */
Test(command_line, a_table_says_where_it_comes_from)
{
	static const char *const starts[] = {
		"# 01_naive on the simulated device (limits of NVIDIA A100 40 GB), ",
		"# machine: ",
		"# device: sim, limits of a100, NVIDIA A100 40 GB\n",
		"# roofs: hbm_bytes_per_s=1.555e+12 fp32_flop_per_s=",
		"# compiler: ",
		"# date: 20",
		"# command: ./naive --seq 5 --dim 3 --gpu a100 --tsv -\n",
		"# units: ",
		"# seq\tdim\t"};
	struct outcome o = run("--seq 5 --dim 3 --gpu a100 --tsv -");
	cr_assert_eq(o.status, 0, "%s", o.err);
	const char *line = o.out;
	for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
		cr_expect_eq(
			strncmp(line, starts[i], strlen(starts[i])), 0, "expected '%s', got '%.70s'", starts[i],
			line);
		line = strchr(line, '\n');
		cr_assert_not_null(line);
		line++;
	}
	cr_expect(!strstr(o.out, "(R)") && !strstr(o.out, "(TM)") && !strstr(o.out, " @ "), "%s", o.out);
	char host[256] = "";
	gethostname(host, sizeof host - 1);
	cr_expect(strlen(host) < 4 || !strstr(o.out, host), "the host's name is in it");
	free_outcome(&o);
}

Test(command_line, hard_shapes_and_inputs)
{
	static const char *const shapes[] = {
		"--seq 1 --dim 1",
		"--seq 2 --dim 128",
		"--seq 33 --dim 59 --causal",
		"--batch 2 --heads 3 --seq 65 --dim 40",
		"--seq 257 --dim 8 --causal",
		"--seq 40 --dim 16 --causal --scale 8"};
	static const char *const kinds[] = {"random", "large-logits", "very-negative", "constant", "one-hot", "ramp"};
	for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
		for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
			struct outcome o = run(text("%s --input %s --quiet", shapes[s], kinds[k]));
			cr_expect_eq(o.status, 0, "%s, %s: %s%s", shapes[s], kinds[k], o.out, o.err);
			free_outcome(&o);
		}
}

Test(command_line, help_and_version)
{
	struct outcome o = run("--help");
	cr_assert_eq(o.status, 0);
	cr_assert(strstr(o.out, "--causal") && strstr(o.out, "naive"));
	free_outcome(&o);
	o = run("--version");
	cr_assert_eq(o.status, 0);
	cr_assert(strstr(o.out, "01_naive"));
	free_outcome(&o);
}
