/* Chapter 08: its kernels on the harness's inputs. */
#include "step.h"

#include "support/random.h"

#include <stdlib.h>

/* ---- tensors ---- */

const struct tensor whole_tensors[] = {
	{"Q", "Hd", TENSOR_INPUT, false},
	{"K", "NGd", TENSOR_INPUT, false},
	{"V", "NGd", TENSOR_INPUT, false},
	{"O", "Hd", TENSOR_OUTPUT, false},
	{0},
};

const struct tensor split_tensors[] = {
	{"Q", "Hd", TENSOR_INPUT, false},
	{"K", "NGd", TENSOR_INPUT, false},
	{"V", "NGd", TENSOR_INPUT, false},
	{"O of splits", "SHd", TENSOR_SCRATCH, false},
	{"m of splits", "SH", TENSOR_SCRATCH, false},
	{"l of splits", "SH", TENSOR_SCRATCH, false},
	{"O", "Hd", TENSOR_OUTPUT, false},
	{0},
};

/* The table's entries are whole numbers of 4 bytes. */
const struct tensor paged_tensors[] = {
	{"Q", "Hd", TENSOR_INPUT, false},
	{"K", "NGd", TENSOR_INPUT, false},
	{"V", "NGd", TENSOR_INPUT, false},
	{"table", "T", TENSOR_SCRATCH, false},
	{"K pages", "TpGd", TENSOR_SCRATCH, false},
	{"V pages", "TpGd", TENSOR_SCRATCH, false},
	{"O of splits", "SHd", TENSOR_SCRATCH, false},
	{"m of splits", "SH", TENSOR_SCRATCH, false},
	{"l of splits", "SH", TENSOR_SCRATCH, false},
	{"O", "Hd", TENSOR_OUTPUT, false},
	{0},
};

/* ---- launching ---- */

struct decode decode_of(const struct problem *problem, const struct device_memory *memory)
{
	return (struct decode){
		.Q = device_find(memory, "Q"),
		.K = device_find(memory, "K"),
		.V = device_find(memory, "V"),
		.O = device_find(memory, "O"),
		.row = problem->kv_heads * problem->dim,
		.head = problem->dim,
		.n = (int)problem->seq,
		.H = (int)problem->heads,
		.G = (int)problem->kv_heads,
		.d = (int)problem->dim,
		.scale = problem->scale,
	};
}

struct partials partials_of(const struct problem *problem, const struct device_memory *memory)
{
	return (struct partials){
		.O = device_find(memory, "O of splits"),
		.m = device_find(memory, "m of splits"),
		.l = device_find(memory, "l of splits"),
		.S = (int)problem->splits,
	};
}

static struct pages pages_of(const struct problem *problem, const struct device_memory *memory)
{
	return (struct pages){(const int *)device_find(memory, "table"), (int)problem->page};
}

cudaError_t run_naive(const struct problem *problem, const struct device_memory *memory)
{
	return launch_decode_naive(decode_of(problem, memory));
}

cudaError_t run_grouped(const struct problem *problem, const struct device_memory *memory)
{
	return launch_decode_grouped(decode_of(problem, memory));
}

cudaError_t merge(cudaError_t status, struct decode decode, struct partials partials)
{
	return status == cudaSuccess ? launch_merge(partials, decode.O, decode.H, decode.d) : status;
}

cudaError_t run_split(const struct problem *problem, const struct device_memory *memory)
{
	struct decode decode = decode_of(problem, memory);
	struct partials partials = partials_of(problem, memory);
	return merge(launch_decode_split(decode, partials), decode, partials);
}

cudaError_t run_paged(const struct problem *problem, const struct device_memory *memory)
{
	struct decode decode = decode_of(problem, memory);
	struct partials partials = partials_of(problem, memory);
	decode.K = device_find(memory, "K pages");
	decode.V = device_find(memory, "V pages");
	return merge(launch_decode_paged(decode, partials, pages_of(problem, memory)), decode, partials);
}

void shuffle_pages(uint64_t seed, int *pages, size_t count)
{
	for (size_t i = 0; i < count; i++)
		pages[i] = (int)i;
	for (size_t i = count; i > 1; i--) {
		size_t other = random_word(stream_start(seed, "pages"), i) % i;
		int page = pages[i - 1];
		pages[i - 1] = pages[other];
		pages[other] = page;
	}
}

cudaError_t fill_pages(const struct problem *problem, const struct device_memory *memory)
{
	size_t bytes = problem->pages * sizeof(int);
	int *order = malloc(bytes);
	if (!order)
		return cudaErrorMemoryAllocation;
	shuffle_pages(problem->seed, order, problem->pages);
	cudaError_t status = cudaMemcpy(device_find(memory, "table"), order, bytes, cudaMemcpyHostToDevice);
	free(order);
	if (status != cudaSuccess)
		return status;
	return launch_append((struct append){
		.K = device_find(memory, "K"),
		.V = device_find(memory, "V"),
		.K_pages = device_find(memory, "K pages"),
		.V_pages = device_find(memory, "V pages"),
		.pages = pages_of(problem, memory),
		.rows = (int)problem->seq,
		.width = (int)(problem->kv_heads * problem->dim),
		.first = 0,
	});
}

bool group_fits(const struct problem *problem, char *reason, size_t size)
{
	size_t group = problem->heads / problem->kv_heads;
	if (group > MOST_GROUP)
		snprintf(
			reason, size, "%zu heads share one of keys, and each is a warp of a block: the limit is %d",
			group, MOST_GROUP);
	return group <= MOST_GROUP;
}
