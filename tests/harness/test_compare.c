/* A count that is not its closed form: the kernel is not verified, and the reason says which. */
#include "run/compare.h"
#include "run/details.h"
#include "run/tensors.h"

#include <criterion/criterion.h>
#include <string.h>

/* Outputs are not compared here: they would come from a device. */
int tensor_fetch(
	const struct tensor *tensor, const struct problem *problem, const struct device_memory *memory,
	float **values, struct error *error)
{
	(void)tensor, (void)problem, (void)memory, (void)values;
	return error_set(error, EXIT_ENVIRONMENT, "no device");
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
		.counts = {.counted = true, .blocks = 6, .total = {.tensors = counted, .tensor_count = 3}},
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
		.blocks = 6};
	cr_expect_str_eq(failure_of(right), "");
	for (int off = -1; off < 2; off += 2) {
		uint64_t one = (uint64_t)(int64_t)off;
		const char *const requested = "the requested count is not its closed form, 3Nd",
				  *const footprint = "the footprint count is not its closed form, 2Nd",
				  *const atomics = "the atomics are not as many as expected";
		struct closed_forms wrong[7];
		for (int i = 0; i < 7; i++)
			wrong[i] = right;
		wrong[0].predictions[0].read_elements += one;
		wrong[1].predictions[0].write_elements += one;
		wrong[2].predictions[1].read_elements += one;
		wrong[3].predictions[1].write_elements += one;
		wrong[4].atomics += one;
		wrong[5].statistics += one;
		wrong[6].blocks += one;
		const char *const says[] = {
			requested,
			requested,
			footprint,
			footprint,
			atomics,
			"32 bytes of statistics were requested",
			"6 blocks were launched"};
		for (int i = 0; i < 7; i++)
			cr_expect(strstr(failure_of(wrong[i]), says[i]), "%d%+d: '%s'", i, off, failure_of(wrong[i]));
	}
	struct closed_forms both = right;
	both.atomics = both.blocks = 0;
	cr_expect_str_eq(failure_of(both), "the atomics are not as many as expected", "the first reason stands");
}
