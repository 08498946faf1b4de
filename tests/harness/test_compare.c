/* A count that is not its closed form: the kernel is not verified, and the reason says which. */
#include "run/compare.h"
#include "run/details.h"
#include "run/tensors.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the kernel left in its output, in place of a device's memory. */
enum { ROWS = 8 };
static float left[ROWS];

int tensor_fetch(
	const struct tensor *tensor, const struct problem *problem, const struct device_memory *memory,
	float **values, struct error *error)
{
	(void)problem, (void)memory;
	if (strcmp(tensor->name, "gone") == 0)
		return error_set(error, EXIT_VERIFICATION, "its memory was freed");
	*values = malloc(sizeof left);
	memcpy(*values, left, sizeof left);
	return 0;
}

/* What launches wrote of it, and is it as they left it? */
static uint64_t written;
static bool as_left;

uint64_t device_written_bytes(const struct device_memory *memory, const char *name)
{
	(void)memory;
	return strcmp(name, "first") == 0 ? sizeof left : written;
}

bool device_is_as_left(const struct device_memory *memory, const char *name)
{
	(void)memory;
	return strcmp(name, "first") == 0 || as_left;
}

int details_output(
	const char *directory, size_t kernel, size_t number, const struct expectation *expectation,
	const float *actual, size_t elements, struct error *error)
{
	(void)directory, (void)kernel, (void)number, (void)expectation, (void)actual, (void)elements, (void)error;
	return 0; /* none are asked for */
}

static const struct tensor tensors[] = {
	{"Q", "BHNd", TENSOR_INPUT, false},
	{"O", "BHNd", TENSOR_OUTPUT, false},
	{"LSE", "BHN", TENSOR_OUTPUT, true},
	{NULL, NULL, TENSOR_INPUT, false}};
static const struct kernel kernel = {.name = "any", .tensors = tensors};

/* As counted: Q is read twice, O written once and added to, LSE read and written. */
static struct tensor_traffic counted[] = {
	{"Q", .requested = {.read_bytes = 800}, .footprint = {.read_bytes = 400}},
	{"O", .requested = {.write_bytes = 400}, .footprint = {.write_bytes = 400}, .atomic_bytes = 40},
	{"LSE", .requested = {.read_bytes = 8, .write_bytes = 4}, .footprint = {.read_bytes = 8, .write_bytes = 4},
         .atomic_bytes = 20}};

/* The failure of a kernel with these forms, "" if it is verified. */
static const char *failure_of(struct closed_forms forms)
{
	static struct kernel_result result;
	result = (struct kernel_result){
		.kernel = &kernel,
		.verified = true,
		.counts =
			{.counted = true,
	                 .launch_count = 1,
	                 .blocks = 6,
	                 .shared_bytes = 512,
	                 .total =
	                         {.tensors = counted,
	                          .tensor_count = 3,
	                          .shared = {.conflicts = 2, .load_wavefronts = 4, .store_wavefronts = 3}}},
		.prepared = {.shared_bytes = 1024},
		.forms = forms};
	compare_forms(&result);
	cr_assert_eq(result.verified, !result.failure[0]);
	return result.failure;
}

Test(compare, each_count_is_held_to_its_closed_form)
{
	const struct closed_forms right = {
		.predictions = {{PREDICTS_REQUESTED, 200, 100, "3Nd"}, {PREDICTS_FOOTPRINT, 100, 100, "2Nd"}},
		.atomics = 10,
		.statistics = 3 + 5,
		.blocks = 6,
		.shared_bytes = 1024,
		.tells_wavefronts = true,
		.conflicts = 2,
		.wavefronts = 7};
	cr_expect_str_eq(failure_of(right), "");
	for (int off = -1; off < 2; off += 2) {
		uint64_t one = (uint64_t)(int64_t)off;
		const char *const requested = "the requested count is not its closed form, 3Nd",
				  *const footprint = "the footprint count is not its closed form, 2Nd",
				  *const atomics = "the atomics are not as many as expected";
		struct closed_forms wrong[10];
		for (int i = 0; i < 10; i++)
			wrong[i] = right;
		wrong[0].predictions[0].read_elements += one;
		wrong[1].predictions[0].write_elements += one;
		wrong[2].predictions[1].read_elements += one;
		wrong[3].predictions[1].write_elements += one;
		wrong[4].atomics += one;
		wrong[5].statistics += one;
		wrong[6].blocks += one;
		wrong[7].shared_bytes += one;
		wrong[8].conflicts += one;
		wrong[9].wavefronts += one;
		const char *const says[] = {
			requested,
			requested,
			footprint,
			footprint,
			atomics,
			"32 bytes of statistics were requested",
			"6 blocks were launched",
			"a block has 1024 bytes of shared memory",
			"2 bank conflicts were counted",
			"7 wavefronts of shared memory were counted"};
		for (int i = 0; i < 10; i++)
			cr_expect(strstr(failure_of(wrong[i]), says[i]), "%d%+d: '%s'", i, off, failure_of(wrong[i]));
	}
	struct closed_forms much = right;
	much.predictions[0].read_elements = 2000;
	cr_expect_str_eq(
		failure_of(much),
		"the requested count is not its closed form, 3Nd: 200 elements are read, not 2,000: -1,800");
	much.predictions[0] = (struct prediction){PREDICTS_REQUESTED, 200, 99, "3Nd"};
	cr_expect(strstr(failure_of(much), ", 3Nd: 100 elements are written, not 99: +1"), "'%s'", failure_of(much));
	struct closed_forms both = right;
	both.atomics = both.blocks = 0;
	cr_expect_str_eq(failure_of(both), "the atomics are not as many as expected", "the first reason stands");
}

/* Of memory that no kernel wrote on the device: the launcher computed on the host. */
Test(compare, a_run_without_a_launch_is_not_verified)
{
	struct kernel_result result = {.kernel = &kernel, .verified = true, .counts = {.counted = true}};
	compare_forms(&result);
	cr_expect(!result.verified);
	cr_expect(strstr(result.failure, "launched nothing"), "'%s'", result.failure);
}

/* Exactly the declared memory, or less of it at once, is what the description says. */
Test(compare, memory_beside_the_tensors_is_not_verified)
{
	for (size_t more = 0; more < 2; more++) {
		struct kernel_result result = {
			.kernel = &kernel, .verified = true, .counts = {.counted = true}, .peak_bytes = 1000 + more};
		compare_memory(&result, 1000);
		cr_expect_eq(result.verified, more == 0, "%zu bytes more: '%s'", more, result.failure);
	}
}

/* What the kernel of *result, which has ROWS rows of one element, came to. */
static void compare(const struct expectations *expectations, struct kernel_result *result)
{
	struct options options = {.details = NULL};
	struct run_result run = {.options = &options, .problem = {.batch = 1, .heads = 1, .seq = ROWS, .dim = 1}};
	struct device_memory memory = {.count = 0};
	struct error error;
	cr_assert_eq(compare_outputs(&run, result, expectations, &memory, stderr, &error), 0);
}

/* Eight rows of LSE, of which rows 0, 3 and 7 are compared, behind an output that is right and of launches, if that is
 * `second`. What the kernel came to is in *result. */
static void compare_lse(
	bool statistic, bool second, const struct counts *prepared, const struct counts *counts,
	struct kernel_result *result)
{
	static const size_t rows[] = {0, 3, 7};
	static const double values[] = {1, 1, 1};
	const struct tensor outputs[] = {
		{"first", "BHN", TENSOR_OUTPUT, false},
		{"LSE", "BHN", TENSOR_OUTPUT, statistic},
		{NULL, NULL, TENSOR_INPUT, false}};
	const struct kernel one = {.name = "one", .tensors = outputs + !second};
	struct expectations expectations = {.count = 2};
	for (size_t i = 0; i < 2; i++)
		expectations.items[i] = (struct expectation){
			.tensor = outputs[i].name,
			.row_count = 3,
			.row_length = 1,
			.rows = rows,
			.values = values,
			.tolerance = 0.1};
	*result = (struct kernel_result){.kernel = &one, .prepared = *prepared, .counts = *counts};
	compare(&expectations, result);
}

/* What stands in rows that nobody drew is at least a number, of statistics or infinite. */
Test(compare, rows_that_nobody_drew_are_numbers)
{
	static const struct {
		float at_5;
		bool statistic, passes;
	} cases[] = {
		{1.0f, false, true},     {NAN, false, false},       {INFINITY, false, false},
		{-INFINITY, true, true}, {(float)NAN, true, false},
	};
	const struct counts none = {.counted = false};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct kernel_result result;
		for (int row = 0; row < ROWS; row++)
			left[row] = row == 5 ? cases[i].at_5 : 1.0f;
		compare_lse(cases[i].statistic, false, &none, &none, &result);
		cr_expect_eq(result.verified, cases[i].passes, "case %zu: %s", i, result.failure);
		cr_expect_eq(strstr(result.failure, "not compared") == NULL, cases[i].passes);
	}
}

/* An output that nobody can say anything of, beside one that is right, is not verified. */
Test(compare, an_output_that_is_not_looked_at_is_not_verified)
{
	static const double values[ROWS] = {1, 1, 1, 1, 1, 1, 1, 1};
	static const char *const says[] = {"nothing to verify other against", "its memory was freed"};
	for (size_t i = 0; i < 2; i++) {
		const char *name = i == 0 ? "other" : "gone";
		const struct tensor outputs[] = {
			{name, "BHN", TENSOR_OUTPUT, false},
			{"LSE", "BHN", TENSOR_OUTPUT, false},
			{NULL, NULL, TENSOR_INPUT, false}};
		const struct kernel two = {.name = "two", .tensors = outputs};
		struct expectations expectations = {.count = 1 + i};
		for (size_t e = 0; e < 2; e++)
			expectations.items[e] = (struct expectation){
				.tensor = e == 0 ? "LSE" : "gone",
				.row_count = ROWS,
				.row_length = 1,
				.values = values,
				.tolerance = 0.1};
		struct kernel_result result = {.kernel = &two};
		for (int row = 0; row < ROWS; row++)
			left[row] = 1.0f;
		compare(&expectations, &result);
		cr_expect(!result.verified && !result.right_by_luck, "%s", name);
		cr_expect(strstr(result.failure, says[i]), "%s: '%s'", name, result.failure);
	}
}

/* Right numbers are a kernel's where its launches wrote all of them, and nothing else did since. Kills: a check of the first
 * output alone. */
Test(compare, right_numbers_of_others_are_not_verified)
{
	static const struct {
		uint64_t written;
		bool as_left;
		const char *says;
	} cases[] = {
		{4 * ROWS, true, ""},
		{4 * ROWS - 1, true, "its launches wrote 31 of the 32 bytes of LSE"},
		{4 * ROWS, false, "LSE was changed after the last launch that wrote it"},
	};
	const struct counts none = {.counted = false}, counts = {.counted = true, .launch_count = 1};
	for (size_t run = 0; run < 2 * (sizeof cases / sizeof cases[0]); run++) {
		const size_t i = run / 2;
		const bool second = run % 2;
		struct kernel_result result;
		for (int row = 0; row < ROWS; row++)
			left[row] = 1.0f;
		written = cases[i].written;
		as_left = cases[i].as_left;
		compare_lse(true, second, &none, &counts, &result);
		cr_expect_eq(result.verified, !*cases[i].says, "case %zu: %s", i, result.failure);
		cr_expect(strncmp(result.failure, cases[i].says, strlen(cases[i].says)) == 0, "'%s'", result.failure);
		compare_lse(true, second, &none, &none, &result);
		cr_expect(result.verified, "of a plain build nothing is known");
	}
}

/* Kills: elements told as never written by what was written of another tensor, or told though a kernel copied such NaN. */
Test(compare, what_no_launch_wrote_is_told_by_the_tensors_own_counts)
{
	static struct tensor_traffic tensors_written[] = {{.name = "O"}, {.name = "LSE"}};
	static struct launch_counts launch = {.tensors = tensors_written, .tensor_count = 2};
	const struct counts none = {.counted = false}, nothing = {.counted = true},
			    counts = {.counted = true, .launches = &launch, .launch_count = 1};
	for (size_t rows_written = ROWS - 4; rows_written <= ROWS; rows_written++) {
		struct kernel_result result;
		for (int row = 0; row < ROWS; row++)
			left[row] = 1.0f;
		memset(&left[ROWS - 3], 0xff, 3 * sizeof *left);
		tensors_written[0].footprint.write_bytes = sizeof(float) * (ROWS - rows_written);
		tensors_written[1].footprint.write_bytes = sizeof(float) * rows_written;
		const bool by_preparing = rows_written % 2; /* what is filled before the kernel runs counts, too */
		compare_lse(false, false, by_preparing ? &counts : &none, by_preparing ? &nothing : &counts, &result);
		cr_expect(!result.verified);
		const char *says = rows_written <= ROWS - 3 ? "3 of 8 elements of LSE were never written" : "";
		const char *said = result.outputs[0].unwritten;
		cr_expect(strncmp(said, says, *says ? strlen(says) : 1) == 0, "%zu rows: '%s'", rows_written, said);
	}
}
