#include "peer.h"

#include <stdlib.h>

const struct time_summary *peer_time(const struct run_result *result)
{
	return result->findings;
}

void peer_add_json(struct json *json, const struct run_result *result)
{
	const struct time_summary *time = peer_time(result);
	if (!time)
		return;
	json_open_array(json, "peers");
	json_open_object(json, NULL);
	json_string(json, "name", "cublas_sgemm");
	json_open_object(json, "time");
	json_number(json, "median_ms", time->median_ms);
	json_number(json, "p10_ms", time->p10_ms);
	json_number(json, "p90_ms", time->p90_ms);
	json_string(json, "kind", "measured-gpu");
	json_count(json, "runs", time->runs);
	json_close_object(json);
	json_close_object(json);
	json_close_array(json);
}

#ifdef HAVE_CUBLAS

#include <cublas_v2.h>

struct product {
	cublasHandle_t handle;
	const float *A, *B;
	float *C;
	int m, n, k;
};

/* cuBLAS counts columns first: in its eyes our row-major matrices are transposed, and (A B)^T = B^T A^T. */
static cudaError_t multiply(void *context)
{
	const struct product *p = context;
	const float one = 1.0f, zero = 0.0f;
	cublasStatus_t status = cublasSgemm(
		p->handle, CUBLAS_OP_N, CUBLAS_OP_N, p->n, p->m, p->k, &one, p->B, p->n, p->A, p->k, &zero, p->C,
		p->n);
	return status == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown;
}

int peer_examine(struct run_result *result, const struct named_values *inputs, struct error *error)
{
	const struct problem *problem = &result->problem;
	size_t m = problem->m, n = problem->n, k = problem->k;
	struct device_memory memory = {.count = 0};
	struct product product = {.m = (int)m, .n = (int)n, .k = (int)k};
	if (result->device->simulated || cublasCreate(&product.handle) != CUBLAS_STATUS_SUCCESS)
		return 0;
	struct time_summary *time = malloc(sizeof *time);
	if (!time)
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the time of cuBLAS");
	/* fp32 as ours, not tensor cores in TF32 */
	cublasSetMathMode(product.handle, CUBLAS_PEDANTIC_MATH);
	float *A = device_allocate(&memory, "A", m * k * sizeof(float));
	float *B = device_allocate(&memory, "B", k * n * sizeof(float));
	CUDA_CHECK(cudaMemcpy(A, find_values(inputs, "A"), m * k * sizeof(float), cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemcpy(B, find_values(inputs, "B"), k * n * sizeof(float), cudaMemcpyHostToDevice));
	product.A = A;
	product.B = B;
	product.C = device_allocate(&memory, "C", m * n * sizeof(float));

	struct time_plan plan = {result->options->warmup, result->options->repeat, 1.0};
	*time = time_measure(result->device, &plan, multiply, &product);
	result->findings = time;
	device_free_all(&memory);
	cublasDestroy(product.handle);
	return 0;
}

#else

int peer_examine(struct run_result *result, const struct named_values *inputs, struct error *error)
{
	(void)result;
	(void)inputs;
	(void)error;
	return 0;
}

#endif
