/*
 * A GPU for the harness where there is none: the simulated device under the side of it that is compiled for CUDA, with
 * the name that a driver gives it, the memory that it says is free, launches that take the milliseconds of GPU_MS, one
 * after another, and a clock that goes on GPU_TICK seconds each time that it is looked at. ld's --wrap puts these in
 * the place of the calls. The program says at the end what was filled on the device, and how often.
 *
 * With "sweep", "fits" or "expect" before its options a chapter is asked what it says of problems that nobody runs
 * here.
 */
#include "harness.h"
#include "run/fits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LARGE = 40 << 20, TOO_LARGE = 1000000000 };

static const char *variable(const char *name, const char *otherwise)
{
	return getenv(name) ? getenv(name) : otherwise;
}

cudaError_t __real_cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device);
cudaError_t __wrap_cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
	cudaError_t status = __real_cudaGetDeviceProperties(properties, device);
	snprintf(properties->name, sizeof properties->name, "%s", variable("GPU_NAME", "NVIDIA H100 80GB HBM3"));
	return status;
}

cudaError_t __wrap_cudaGetDeviceCount(int *count)
{
	*count = atoi(variable("GPU_COUNT", "1"));
	return *count < 0 ? cudaErrorInitializationError : cudaSuccess;
}

cudaError_t __wrap_cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
	*free_bytes = strtoull(variable("GPU_FREE", "80000000000"), NULL, 10);
	*total = 80000000000;
	return cudaSuccess;
}

cudaError_t __wrap_cudaEventElapsedTime(float *ms, cudaEvent_t before, cudaEvent_t after)
{
	static const char *next = "";
	char *end;
	(void)before, (void)after;
	*ms = strtof(*next ? next : (next = variable("GPU_MS", "0.5")), &end);
	next = *end ? end + 1 : end;
	return cudaSuccess;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	static double at = 1000.0;
	if (clock != CLOCK_MONOTONIC || syscall(SYS_gettid) != getpid())
		return (int)syscall(SYS_clock_gettime, clock, now);
	at += strtod(variable("GPU_TICK", "1e-3"), NULL);
	now->tv_sec = (time_t)at;
	now->tv_nsec = (long)((at - (double)now->tv_sec) * 1e9);
	return 0;
}

static struct fill {
	int value, times;
	size_t bytes;
} fills[200];

static void say_fills(void)
{
	for (struct fill *fill = fills; fill->times; fill++)
		fprintf(stderr, "%d times %zu bytes of %d\n", fill->times, fill->bytes, fill->value);
}

cudaError_t __real_cudaMemset(void *pointer, int value, size_t bytes);
cudaError_t __wrap_cudaMemset(void *pointer, int value, size_t bytes)
{
	struct fill *fill = fills;
	if (fill->times == 0 && getenv("GPU_FILLS"))
		atexit(say_fills);
	while (fill->times && (fill->value != value || fill->bytes != bytes))
		fill++;
	*fill = (struct fill){value, fill->times + 1, bytes};
	return bytes < LARGE ? __real_cudaMemset(pointer, value, bytes) : cudaSuccess; /* of what flushes the cache */
}

cudaError_t __real_cudaMalloc(void **pointer, size_t bytes);
cudaError_t __wrap_cudaMalloc(void **pointer, size_t bytes)
{
	return bytes > TOO_LARGE ? cudaErrorMemoryAllocation : __real_cudaMalloc(pointer, bytes);
}

/* The steps of --sweep, on the simulated device and on a GPU. */
static void print_sweep(const struct chapter *chapter)
{
	for (int simulated = 1; simulated >= 0; simulated--) {
		struct problem p = chapter->defaults;
		printf("%s:", simulated ? "simulated" : "GPU");
		for (size_t step = 0; chapter->sweep(step, simulated, &p); step++, p = chapter->defaults)
			printf(" %zu/%zu/%zu", p.seq, p.keys, p.splits);
		printf("\n");
	}
}

/* Which rows of each output are compared, and with what, of an x that counts up again and again. */
static void print_expected(const struct chapter *chapter, size_t rows, size_t cols)
{
	struct problem problem = chapter->defaults;
	struct expectations expectations;
	struct error error;
	float *x = malloc(rows * cols * sizeof *x);
	const struct named_values inputs[] = {{"x", x}, {NULL, NULL}};
	problem.rows = rows;
	problem.cols = cols;
	if (!x)
		exit(3);
	for (size_t i = 0; i < rows * cols; i++)
		x[i] = (float)(i % 8191) - 4000.0f;
	if (chapter->expect(&problem, inputs, &expectations, &error) != 0)
		exit(error.exit_code);
	printf("%zu of %zu\n", expectations.row_count, expectations.all_rows);
	for (size_t e = 0; e < expectations.count; e++) {
		const struct expectation *of = &expectations.items[e];
		double sum = 0.0, tolerances = 0.0;
		size_t drawn = 0;
		for (size_t t = 0; t < of->row_count * of->row_length; t++)
			sum += of->values[t] * (double)(t % 1021 + 1);
		for (size_t t = 0; of->tolerances && t < of->row_count * of->row_length; t++)
			tolerances += of->tolerances[t] * (double)(t % 1021 + 1);
		for (size_t r = 0; of->rows && r < of->row_count; r++)
			drawn += of->rows[r] * (r + 1);
		printf("%s %s: %zu rows of %zu, drawn %zu, %.15g, tolerance %.12g\n", of->tensor, of->shape,
		       of->row_count, of->row_length, drawn, sum, tolerances);
	}
	expectations_free(&expectations);
	free(x);
}

/* Which kernels take the problem of these options, with how many blocks of what size, and why others do not. */
static void print_fits(const struct chapter *chapter, int argc, char **argv)
{
	struct options options;
	struct device device;
	struct error error;
	if (options_parse(argc, argv, chapter->options, &chapter->defaults, &options, &error) != 0 ||
	    device_open(options.gpu, &device, &error) != 0) {
		printf("%s\n", error.message);
		return;
	}
	problem_fill_defaults(&options.problem);
	for (const struct kernel *kernel = chapter->kernels; kernel < chapter->kernels + chapter->kernel_count;
	     kernel++) {
		struct closed_forms forms;
		char reason[200] = "";
		if (options.kernel && strcmp(options.kernel, kernel->name) != 0)
			continue;
		if (kernel_fits(kernel, &options.problem, &device, &forms, reason, sizeof reason))
			printf("%s: %llu blocks, %zu bytes, %zu x %zu\n", kernel->name,
			       (unsigned long long)forms.blocks, forms.shared_bytes, forms.tile_q, forms.tile_k);
		else
			printf("%s: %s\n", kernel->name, reason);
	}
}

int __real_chapter_main(const struct chapter *chapter, int argc, char **argv);
int __wrap_chapter_main(const struct chapter *chapter, int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "sweep") == 0)
		print_sweep(chapter);
	else if (argc == 4 && strcmp(argv[1], "expect") == 0)
		print_expected(chapter, strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
	else if (argc > 1 && strcmp(argv[1], "fits") == 0)
		print_fits(chapter, argc - 1, argv + 1);
	else
		return __real_chapter_main(chapter, argc, argv);
	return 0;
}
