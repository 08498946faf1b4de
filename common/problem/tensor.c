#include "problem/tensor.h"

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

double tensor_bytes(const struct problem *problem, const struct tensor *tensor)
{
	size_t shape[MAX_RANK], rank = problem_shape(problem, tensor->shape, shape);
	double bytes = sizeof(float);
	for (size_t axis = 0; axis < rank; axis++)
		bytes *= (double)shape[axis];
	return bytes;
}
