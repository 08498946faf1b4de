/*
 * decode_paged on two pages that are allocations of their own, so that the table reaches from one into the other.
 *
 *   pages whole    both are there: prints O, exit 0
 *   pages freed    the second was freed before the kernel ran, and the table still names it
 */
#include "decode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A page of 4 tokens of one head is 256 bytes, as an allocation's boundary is: pages of any allocation have a number. */
enum { n = 8, d = 16, SIZE = 4, PAGE = SIZE * d };

static void must(cudaError_t status)
{
	if (status == cudaSuccess)
		return;
	fprintf(stderr, "pages: %s\n", cudaGetErrorString(status));
	exit(1);
}

static void *copied(const void *values, size_t bytes)
{
	void *on_device;
	must(cudaMalloc(&on_device, bytes));
	must(cudaMemcpy(on_device, values, bytes, cudaMemcpyHostToDevice));
	return on_device;
}

int main(int argc, char **argv)
{
	float page[PAGE], O[d], *output, *partials;
	for (int i = 0; i < PAGE; i++)
		page[i] = (float)(i % 7) / 7.0f;
	float *first = copied(page, sizeof page), *second = copied(page, sizeof page), *Q = copied(page, sizeof O);
	ptrdiff_t apart = (char *)second - (char *)first;
	if (argc != 2 || apart % (ptrdiff_t)sizeof page != 0) {
		fprintf(stderr, "pages: the second page has no number\n");
		return 2;
	}
	const int table[] = {0, (int)(apart / (ptrdiff_t)sizeof page)};
	const int *on_device = copied(table, sizeof table);
	must(cudaMalloc((void **)&output, sizeof O));
	must(cudaMalloc((void **)&partials, (d + 2) * sizeof(float)));
	if (strcmp(argv[1], "freed") == 0)
		must(cudaFree(second));
	struct decode decode = {
		.Q = Q,
		.K = first,
		.V = first,
		.O = output,
		.row = d,
		.head = d,
		.n = n,
		.H = 1,
		.G = 1,
		.d = d,
		.scale = 0.25f};
	struct partials of_one = {partials, partials + d, partials + d + 1, 1};
	must(launch_decode_paged(decode, of_one, (struct pages){on_device, SIZE}));
	must(cudaDeviceSynchronize());
	must(launch_merge(of_one, output, 1, d));
	must(cudaMemcpy(O, output, sizeof O, cudaMemcpyDeviceToHost));
	for (int c = 0; c < d; c++)
		printf("%.9g\n", (double)O[c]);
	return 0;
}
