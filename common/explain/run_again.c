#include "explain/run_again.h"

#include "explain/recording.h"
#include "tensors.h"

#include <stdlib.h>

static int compare(
	const struct tensor *tensor, const struct expectations *expectations, const struct problem *problem,
	const struct device_memory *memory, struct rerun *rerun, struct error *error)
{
	const struct expectation *expectation = expectations_find_shaped(expectations, tensor->name, tensor->shape);
	struct rerun_output *output = &rerun->outputs[rerun->output_count];
	size_t shape[MAX_RANK], rank = tensor_shape(problem, tensor, shape);
	struct error_map map = {0};
	float *actual;
	if (!expectation)
		return 0;
	if (tensor_fetch(tensor, problem, memory, &actual, error) != 0)
		return error->exit_code;
	struct check check = check_tensor(expectation, actual);
	rerun->wrong = rerun->wrong || !check.passed;
	if (error_map_make(&map, &check, expectation, actual, shape, rank, 0)) {
		const struct neighbourhood *around = map.wrong ? &map.first : &map.around_worst;
		size_t r = around->row - around->first_row, c = around->column - around->first_column;
		*output = (struct rerun_output){
			.tensor = tensor->name,
			.wrong = !check.passed,
			.rank = rank,
			.got = around->actual[r][c],
			.expected = around->expected[r][c]};
		check_coordinates(around->row, around->column, expectation->row_length, shape, rank, output->at);
		rerun->output_count++;
	}
	error_map_free(&map);
	free(actual);
	return 0;
}

/* False where the device found something: then the rest is not replayed. */
static bool launch(const struct kernel *kernel, const struct problem *problem, const struct device_memory *memory)
{
	unsigned long long hazards = device_hazards();
	cudaError_t status = kernel->prepare ? kernel->prepare(problem, memory) : cudaSuccess;
	struct closed_forms forms = kernel->forms(problem);
	if (status == cudaSuccess)
		status = kernel_launch(kernel, &forms, problem, memory);
	if (status == cudaSuccess)
		status = cudaDeviceSynchronize();
	return status == cudaSuccess && device_hazards() == hazards;
}

bool run_again(
	const struct chapter *chapter, const struct kernel *kernel, const struct problem *problem,
	const struct named_values *inputs, struct rerun *rerun, struct error *error)
{
	struct expectations expectations = {0};
	struct device_memory memory = {.count = 0};
	*rerun = (struct rerun){.wrong = false};
	recording_stop();
	bool ran = (!kernel->runs || kernel->runs(problem, (char[200]){""}, 200)) &&
	           chapter->expect(problem, inputs, &expectations, error) == 0;
	if (ran) {
		tensors_allocate(kernel, problem, inputs, &memory);
		ran = launch(kernel, problem, &memory);
	}
	for (const struct tensor *tensor = kernel->tensors; ran && tensor->name; tensor++)
		if (tensor_is_output(tensor))
			ran = compare(tensor, &expectations, problem, &memory, rerun, error) == 0;
	if (cudaDeviceSynchronize() == cudaSuccess) /* after a fault memory cannot be freed either */
		device_free_all(&memory);
	expectations_free(&expectations);
	return ran;
}
