#include "problem/tensor.h"

#include "problem/dimensions.h"

#include <string.h>

const struct tensor attention_tensors[] = {
	{"Q", "BHNd", TENSOR_INPUT, false},  {"K", "BHNd", TENSOR_INPUT, false},  {"V", "BHNd", TENSOR_INPUT, false},
	{"O", "BHNd", TENSOR_OUTPUT, false}, {"LSE", "BHN", TENSOR_OUTPUT, true}, {0},
};

const struct tensor fa1_tensors[] = {
	{"Q", "BHNd", TENSOR_INPUT, false},
	{"K", "BHNd", TENSOR_INPUT, false},
	{"V", "BHNd", TENSOR_INPUT, false},
	{"O", "BHNd", TENSOR_OUTPUT, false},
	{"l", "BHN", TENSOR_SCRATCH, true},
	{"m", "BHN", TENSOR_SCRATCH, true},
	{0},
};

const struct tensor backward_tensors[] = {
	{"Q", "BHNd", TENSOR_INPUT, false},
	{"K", "BHNd", TENSOR_INPUT, false},
	{"V", "BHNd", TENSOR_INPUT, false},
	{"dO", "BHNd", TENSOR_GRADIENT, false},
	{"O", "BHNd", TENSOR_OUTPUT, false},
	{"LSE", "BHN", TENSOR_OUTPUT, true},
	{"D", "BHN", TENSOR_SCRATCH, true},
	{"dQ", "BHNd", TENSOR_OUTPUT, false},
	{"dK", "BHNd", TENSOR_OUTPUT, false},
	{"dV", "BHNd", TENSOR_OUTPUT, false},
	{0},
};

const struct tensor backward_square_tensors[] = {
	{"Q", "BHNd", TENSOR_INPUT, false},    {"K", "BHNd", TENSOR_INPUT, false},
	{"V", "BHNd", TENSOR_INPUT, false},    {"dO", "BHNd", TENSOR_GRADIENT, false},
	{"O", "BHNd", TENSOR_PREPARED, false}, /* only the forward writes it */
	{"LSE", "BHN", TENSOR_OUTPUT, true},   {"P", "BHNN", TENSOR_SCRATCH, false},
	{"dP", "BHNN", TENSOR_SCRATCH, false}, {"dS", "BHNN", TENSOR_SCRATCH, false},
	{"dQ", "BHNd", TENSOR_OUTPUT, false},  {"dK", "BHNd", TENSOR_OUTPUT, false},
	{"dV", "BHNd", TENSOR_OUTPUT, false},  {0},
};

const struct tensor softmax_tensors[] = {
	{"x", "RC", TENSOR_INPUT, false},
	{"y", "RC", TENSOR_OUTPUT, false},
	{"m", "R", TENSOR_OUTPUT, true},
	{"l", "R", TENSOR_OUTPUT, true},
	{0},
};

const struct tensor softmax_dot_tensors[] = {
	{"x", "RC", TENSOR_INPUT, false}, {"V", "Cd", TENSOR_INPUT, false}, {"y", "Rd", TENSOR_OUTPUT, false},
	{"m", "R", TENSOR_OUTPUT, true},  {"l", "R", TENSOR_OUTPUT, true},  {0},
};

const struct tensor matmul_tensors[] = {
	{"A", "mk", TENSOR_INPUT, false},
	{"B", "kn", TENSOR_INPUT, false},
	{"C", "mn", TENSOR_OUTPUT, false},
	{0},
};

size_t tensor_shape(const struct problem *problem, const struct tensor *tensor, size_t shape[MAX_RANK])
{
	size_t rank = 0;
	for (; tensor->shape[rank]; rank++)
		shape[rank] = dimension_value(dimension_of_letter(tensor->shape[rank]), problem);
	return rank;
}

size_t tensor_elements(const struct problem *problem, const struct tensor *tensor)
{
	size_t shape[MAX_RANK], rank = tensor_shape(problem, tensor, shape);
	return shape_elements(shape, rank);
}

double tensor_bytes(const struct problem *problem, const struct tensor *tensor)
{
	size_t shape[MAX_RANK], rank = tensor_shape(problem, tensor, shape);
	double bytes = sizeof(float);
	for (size_t axis = 0; axis < rank; axis++)
		bytes *= (double)shape[axis];
	return bytes;
}

const struct tensor *tensor_find(const struct tensor *tensors, const char *name)
{
	for (; tensors->name; tensors++)
		if (strcmp(tensors->name, name) == 0)
			return tensors;
	return NULL;
}

static bool is_in(const struct problem *problem, const struct tensor *tensor)
{
	if (strcmp(tensor->name, "sink") == 0 || strcmp(tensor->name, "dsink") == 0)
		return problem->sink;
	return tensor->role != TENSOR_STARTS || problem->packing.count > 0;
}

void tensors_of_problem(
	const struct tensor *tensors, const struct problem *problem, struct tensor own[MAX_TENSORS + 1])
{
	size_t count = 0;
	for (; tensors->name; tensors++)
		if (is_in(problem, tensors))
			own[count++] = *tensors;
	own[count] = (struct tensor){0};
}

const float *find_values(const struct named_values *list, const char *name)
{
	for (; list->name; list++)
		if (strcmp(list->name, name) == 0)
			return list->values;
	return NULL;
}
