/*
 * The plain build takes whatever the program takes: every option of every chapter alone, all but one, and in chapter
 * 02, where options depend on each other, every two. A run without its time gave the plain
 * build arguments that it refused.
 */
#include "problem/load.h"
#include "program.h"

#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The options that say how a run is told, or whether it is asked for, which no other program needs to know. */
static const char *const told[] = {"save",  "sweep", "time",    "json",  "tsv",  "explain", "details",
                                   "quiet", "yes",   "verbose", "color", "help", "version"};

/* Two places to load from: for chapter 02 scores, and what scores are made of. */
enum { LOAD_DIRECTORIES = 2 };

/* A value for each option: a new option gets its line here. NULL: a flag. */
static const struct {
	const char *option, *value;
} values[] = {
	{"batch", "2"},      {"heads", "3"},   {"seq", "7"},       {"dim", "5"},      {"causal", NULL},
	{"scale", "-0.375"}, {"tile-q", "32"}, {"tile-k", "32"},   {"rows", "9"},     {"cols", "7"},
	{"block", "3"},      {"row", "5"},     {"values", "-1,2"}, {"trace", NULL},   {"m", "6"},
	{"n", "7"},          {"k", "8"},       {"seed", "11"},     {"input", "ramp"}, {"load", "0"},
	{"kernel", NULL},    {"repeat", "2"},  {"warmup", "1"},    {"gpu", "a100"},   {"window", "3"},
	{"softcap", "2"},    {"alibi", NULL},  {"sink", NULL},     {"kv-heads", "1"}, {"dropout", "0.5"},
	{"lengths", "3,4"},
};

struct chapter_case {
	char program[48];
	char base[64];    /* a size that takes no time; left out where a file or --values gives the size */
	char kernel[24];  /* of --kernel */
	bool every_two;   /* of its options: where one wants another, or none of another */
	size_t least_run; /* of the sets of options, how many the program takes; the others exclude each other */
};

static struct chapter_case chapters[] = {
	{"01_naive/naive", "--seq 7 --dim 5", "naive", false, 20},
	{"02_online_softmax/online_softmax", "--rows 9 --cols 7 --dim 5", "softmax_dot", true, 100},
	{"03_tiled_matmul/tiled_matmul", "--m 6 --n 7 --k 8", "matmul_padded", false, 20},
	{"04_fa1/fa1", "--seq 7 --dim 5", "fa1_row", false, 20},
	{"05_fa2/fa2", "--seq 7 --dim 5", "fa2_row", false, 20},
	{"06_backward/backward", "--seq 7 --dim 5", "backward_split", false, 20},
};

/* The options of a program that its plain build may be given, as --help lists them; NULL ends. */
static size_t list_options(const char *program, const char *names[static 40])
{
	struct outcome help = run_program(LIST(program, "--help"), NOTHING, 20);
	size_t count = 0;
	cr_assert_eq(help.status, 0, "%s --help: %s", program, help.err);
	for (char *line = strtok(help.out, "\n"); line; line = strtok(NULL, "\n")) {
		char name[32];
		bool is_told = false;
		if (sscanf(line, "  --%31s", name) != 1)
			continue;
		for (size_t i = 0; i < sizeof told / sizeof told[0]; i++)
			is_told = is_told || strcmp(told[i], name) == 0;
		if (!is_told && count < 40)
			names[count++] = strdup(name);
	}
	cr_assert(count > 5 && count < 40, "%s --help lists %zu options", program, count);
	free_outcome(&help);
	return count;
}

static void save_ramp(const char *directory, const char *name, size_t rank, const size_t *shape)
{
	float ramp[256];
	struct error error;
	for (int i = 0; i < 256; i++)
		ramp[i] = (float)(i % 17) / 8.0f - 1.0f;
	cr_assert_eq(save_tensor(directory, name, ramp, shape, rank, &error), 0, "%s", error.message);
}

/* Files of the sizes that `values` gives. */
static void make_files(char *directories[LOAD_DIRECTORIES])
{
	static const char *const attention[] = {"q", "k", "v", "do"};
	for (int i = 0; i < LOAD_DIRECTORIES; i++)
		directories[i] = text("%s/%d", scratch_directory(), i);
	save_ramp(directories[0], "x", 2, (const size_t[]){9, 7});
	save_ramp(directories[0], "a", 2, (const size_t[]){6, 8});
	save_ramp(directories[0], "b", 2, (const size_t[]){8, 7});
	for (int t = 0; t < 4; t++) {
		save_ramp(directories[0], attention[t], 4, (const size_t[]){2, 3, 7, 5});
		save_ramp(directories[1], attention[t], 4, (const size_t[]){1, 1, 7, 5});
	}
}

/* " --seq 7"; every option has to have a line above. */
static char *argument(const struct chapter_case *chapter, const char *option, const char *directory)
{
	if (strcmp(option, "load") == 0)
		return text(" --load %s", directory);
	if (strcmp(option, "kernel") == 0)
		return text(" --kernel %s", chapter->kernel);
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
		if (strcmp(values[i].option, option) == 0)
			return values[i].value ? text(" --%s=%s", option, values[i].value) : text(" --%s", option);
	cr_assert_fail("--%s is new: give it a value here", option);
	return NULL;
}

/* True when the program ran; then every kernel has to be verified and timed. */
static bool expect_timed(const char *program, const char *arguments)
{
	const char *command = text("%s --time --repeat 1 --warmup 0 --json -%s", program, arguments);
	struct outcome o = run_program(LIST("/bin/sh", "-c", command), NOTHING, 30);
	bool ran = o.status != 2; /* 2: options that exclude each other; the plain build was not asked */
	if (ran) {
		cJSON *json = cJSON_Parse(o.out);
		const cJSON *kernel, *kernels = cJSON_GetObjectItem(json, "kernels");
		cr_expect_eq(o.status, 0, "%s: exit %d, %s", command, o.status, o.err);
		cr_expect_gt(cJSON_GetArraySize(kernels), 0, "%s: %s", command, o.out);
		cJSON_ArrayForEach(kernel, kernels) cr_expect(
			cJSON_IsTrue(cJSON_GetObjectItem(kernel, "verified")) && cJSON_GetObjectItem(kernel, "time"),
			"%s: %s is not timed", command, cJSON_GetObjectItem(kernel, "name")->valuestring);
		cJSON_Delete(json);
	}
	free_outcome(&o);
	return ran;
}

ParameterizedTestParameters(plain_build, takes_whatever_the_program_takes)
{
	return cr_make_param_array(struct chapter_case, chapters, sizeof chapters / sizeof chapters[0]);
}

ParameterizedTest(struct chapter_case *chapter, plain_build, takes_whatever_the_program_takes, .timeout = 120)
{
	const char *names[40], *program = text("%s/%s", TEST_ROOT, chapter->program);
	char *directories[LOAD_DIRECTORIES];
	size_t count = list_options(program, names), ran = 0;
	make_files(directories);
	for (int d = 0; d < LOAD_DIRECTORIES; d++)
		for (size_t i = 0; i < count; i++)
			for (size_t j = i; j < (chapter->every_two ? count : i + 1); j++) {
				bool loads = strcmp(names[i], "load") == 0 || strcmp(names[j], "load") == 0;
				bool sized =
					loads || strcmp(names[i], "values") == 0 || strcmp(names[j], "values") == 0;
				if (d > 0 && !loads)
					continue;
				char *two =
					text("%s%s", argument(chapter, names[i], directories[d]),
				             j > i ? argument(chapter, names[j], directories[d]) : "");
				char *base = sized ? "" : text(" %s", chapter->base);
				ran += expect_timed(program, text("%s%s", base, two));
				/* A row needs a trace: what else goes with the two? */
				if (strstr(two, "--row="))
					ran += expect_timed(program, text("%s%s --trace", base, two));
			}
	for (size_t left_out = 0; left_out < count; left_out++) {
		char *most = "";
		for (size_t i = 0; i < count; i++)
			if (i != left_out && strcmp(names[i], "values") != 0) /* not with --load, --rows, --cols */
				most = text("%s%s", most, argument(chapter, names[i], directories[0]));
		ran += expect_timed(program, most);
	}
	cr_log_info("%s: %zu runs", chapter->program, ran);
	cr_expect_geq(ran, chapter->least_run, "%s took only %zu of the sets of options", chapter->program, ran);
}
