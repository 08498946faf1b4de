#include "report/peer.h"

#include "measure/timing.h"
#include "report/report.h"

#include <dlfcn.h>
#include <stdlib.h>

/* The four functions, as cublas_v2.h declares them; its enumerators are numbers that never change. */
enum { CUBLAS_SUCCESS = 0, CUBLAS_NOT_TRANSPOSED = 0, CUBLAS_FP32_NOT_TF32 = 2 /* CUBLAS_PEDANTIC_MATH */ };

struct cublas {
	void *library;
	int (*create)(void **handle);
	int (*destroy)(void *handle);
	int (*set_math_mode)(void *handle, int mode);
	int (*sgemm)(
		void *handle, int transposed_a, int transposed_b, int m, int n, int k, const float *alpha,
		const float *A, int lda, const float *B, int ldb, const float *beta, float *C, int ldc);
};

struct product {
	const struct cublas *cublas;
	void *handle;
	const float *A, *B;
	float *C;
	int m, n, k;
};

static bool find_function(const struct cublas *cublas, const char *name, void *pointer)
{
	return (*(void **)pointer = dlsym(cublas->library, name)) != NULL;
}

static bool open_cublas(struct cublas *cublas)
{
	static const char *const names[] = {
		"libcublas.so", "libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
		"/usr/local/cuda/lib64/libcublas.so"};
	*cublas = (struct cublas){0};
	for (size_t i = 0; i < sizeof names / sizeof names[0] && !cublas->library; i++)
		cublas->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return cublas->library && find_function(cublas, "cublasCreate_v2", &cublas->create) &&
	       find_function(cublas, "cublasDestroy_v2", &cublas->destroy) &&
	       find_function(cublas, "cublasSetMathMode", &cublas->set_math_mode) &&
	       find_function(cublas, "cublasSgemm_v2", &cublas->sgemm);
}

/* cuBLAS counts columns first: in its eyes our row-major matrices are transposed, and (A B)^T = B^T A^T. */
static cudaError_t multiply(void *context)
{
	const struct product *p = context;
	const float one = 1.0f, zero = 0.0f;
	int status = p->cublas->sgemm(
		p->handle, CUBLAS_NOT_TRANSPOSED, CUBLAS_NOT_TRANSPOSED, p->n, p->m, p->k, &one, p->B, p->n, p->A,
		p->k, &zero, p->C, p->n);
	return status == CUBLAS_SUCCESS ? cudaSuccess : cudaErrorUnknown;
}

int peer_examine(struct run_result *result, const struct named_values *inputs, struct error *error)
{
	const struct problem *problem = &result->problem;
	size_t m = problem->m, n = problem->n, k = problem->k;
	struct device_memory memory = {.count = 0};
	struct cublas cublas;
	struct product product = {.cublas = &cublas, .m = (int)m, .n = (int)n, .k = (int)k};
	bool wanted = !result->device->simulated && !getenv("NO_PEER");
	if (!wanted || !open_cublas(&cublas) || cublas.create(&product.handle) != CUBLAS_SUCCESS)
		return 0;
	struct time_summary *time = malloc(sizeof *time);
	if (!time)
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the time of cuBLAS");
	cublas.set_math_mode(product.handle, CUBLAS_FP32_NOT_TF32);
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
	cublas.destroy(product.handle);
	return 0;
}

void peer_add_json(struct json *json, const struct run_result *result)
{
	const struct time_summary *time = result->findings;
	if (!time)
		return;
	json_open_array(json, "peers");
	json_open_object(json, NULL);
	json_string(json, "name", "cublas_sgemm");
	report_json_time(json, &(const struct kernel_result){.time = *time});
	json_close_object(json);
	json_close_array(json);
}

void peer_print(const struct terminal *terminal, const struct run_result *result)
{
	const struct time_summary *peer = result->findings;
	char text[32];
	if (!peer)
		return;
	const struct kernel_result *last = &result->kernels[result->kernel_count - 1];
	fprintf(terminal->out, "\ncuBLAS SGEMM, fp32: %s", format_milliseconds(peer->median_ms, text));
	if (last->time.runs)
		fprintf(terminal->out, "; %s reaches %.0f %% of it", last->kernel->name,
		        100.0 * peer->median_ms / last->time.median_ms);
	fputc('\n', terminal->out);
}
