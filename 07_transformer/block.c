/* Chapter 07: its kernels on the harness's inputs. */
#include "block.h"
#include "expect.h"
#include "transformer.h"

/* ---- tensors: a row a token, C = H d columns ---- */

const struct tensor norm_tensors[] = {
	{"x", "NHd", TENSOR_INPUT, false},
	{"weight", "Hd", TENSOR_INPUT, false},
	{"normed", "NHd", TENSOR_OUTPUT, false},
	{0},
};

const struct tensor rope_tensors[] = {
	{"x", "NHd", TENSOR_INPUT, false},
	{"angles", "Nd", TENSOR_INPUT, false},
	{"rotated", "NHd", TENSOR_OUTPUT, false},
	{0},
};

const struct tensor project_tensors[] = {
	{"x", "NHd", TENSOR_INPUT, false},
	{"W", "HdHd", TENSOR_INPUT, false},
	{"residual", "NHd", TENSOR_INPUT, false},
	{"projected", "NHd", TENSOR_OUTPUT, false},
	{0},
};

const struct tensor swiglu_tensors[] = {
	{"gate", "NHd", TENSOR_INPUT, false},
	{"up", "NHd", TENSOR_INPUT, false},
	{"gated", "NHd", TENSOR_OUTPUT, false},
	{0},
};

const struct tensor strided_tensors[] = {
	{"Q", "NHd", TENSOR_INPUT, false},
	{"K", "MGd", TENSOR_INPUT, false},
	{"V", "MGd", TENSOR_INPUT, false},
	{"O", "NHd", TENSOR_OUTPUT, false},
	{0},
};

const struct tensor permuted_tensors[] = {
	{"Q", "NHd", TENSOR_INPUT, false},
	{"K", "MGd", TENSOR_INPUT, false},
	{"V", "MGd", TENSOR_INPUT, false},
	{"Q of heads", "HNd", TENSOR_SCRATCH, false},
	{"K of heads", "GMd", TENSOR_SCRATCH, false},
	{"V of heads", "GMd", TENSOR_SCRATCH, false},
	{"O of heads", "HNd", TENSOR_SCRATCH, false},
	{"O", "NHd", TENSOR_OUTPUT, false},
	{0},
};

/* ---- launching ---- */

cudaError_t run_rms_norm(const struct problem *problem, const struct device_memory *memory)
{
	return launch_rms_norm(
		device_find(memory, "x"), device_find(memory, "weight"), device_find(memory, "normed"),
		(int)problem->seq, (int)row_width(problem), EPSILON);
}

cudaError_t run_rope(const struct problem *problem, const struct device_memory *memory)
{
	return launch_rope(
		device_find(memory, "x"), device_find(memory, "angles"), device_find(memory, "rotated"),
		(int)problem->seq, (int)problem->heads, (int)problem->dim);
}

cudaError_t run_project(const struct problem *problem, const struct device_memory *memory)
{
	return launch_project((struct projection){
		.encoding = WEIGHTS_F32,
		.W = device_find(memory, "W"),
		.x = device_find(memory, "x"),
		.residual = device_find(memory, "residual"),
		.y = device_find(memory, "projected"),
		.N = (int)problem->seq,
		.rows = (int)row_width(problem),
		.columns = (int)row_width(problem),
	});
}

cudaError_t run_swiglu(const struct problem *problem, const struct device_memory *memory)
{
	return launch_swiglu(
		device_find(memory, "gate"), device_find(memory, "up"), device_find(memory, "gated"),
		problem->seq * row_width(problem));
}

static struct attention strided_attention(const struct problem *problem, const struct device_memory *memory)
{
	size_t d = problem->dim;
	return (struct attention){
		.Q = device_find(memory, "Q"),
		.K = device_find(memory, "K"),
		.V = device_find(memory, "V"),
		.O = device_find(memory, "O"),
		.q = {problem->heads * d, d},
		.kv = {problem->kv_heads * d, d},
		.o = {problem->heads * d, d},
		.N = (int)problem->seq,
		.M = (int)problem->keys,
		.H = (int)problem->heads,
		.G = (int)problem->kv_heads,
		.d = (int)d,
		.causal = problem->causal,
		.scale = problem->scale,
		.Br = row_tile_queries(problem),
		.Bc = row_tile_keys(problem),
	};
}

cudaError_t run_strided(const struct problem *problem, const struct device_memory *memory)
{
	return launch_attention(strided_attention(problem, memory));
}

/* Copies into arrays of heads, the same kernel on them, and a copy back. */
cudaError_t run_permuted(const struct problem *problem, const struct device_memory *memory)
{
	struct attention rows = strided_attention(problem, memory), heads = rows;
	size_t d = problem->dim;
	float *Q = device_find(memory, "Q of heads"), *K = device_find(memory, "K of heads");
	float *V = device_find(memory, "V of heads"), *O = device_find(memory, "O of heads");
	heads.Q = Q;
	heads.K = K;
	heads.V = V;
	heads.O = O;
	heads.q = heads.o = (struct strides){d, (size_t)rows.N * d};
	heads.kv = (struct strides){d, (size_t)rows.M * d};
	cudaError_t status = launch_permute(rows.Q, rows.q, Q, heads.q, rows.N, rows.H, rows.d);
	if (status == cudaSuccess)
		status = launch_permute(rows.K, rows.kv, K, heads.kv, rows.M, rows.G, rows.d);
	if (status == cudaSuccess)
		status = launch_permute(rows.V, rows.kv, V, heads.kv, rows.M, rows.G, rows.d);
	if (status == cudaSuccess)
		status = launch_attention(heads);
	if (status == cudaSuccess)
		status = launch_permute(O, heads.o, rows.O, rows.o, rows.N, rows.H, rows.d);
	return status;
}

bool attention_runs(const struct problem *problem, char *reason, size_t size)
{
	if (problem->heads > MOST_HEADS)
		snprintf(reason, size, "heads are the grid's y, the limit is %d", MOST_HEADS);
	return problem->heads <= MOST_HEADS && row_threads_fit(problem, MOST_ROW_THREADS, reason, size);
}
