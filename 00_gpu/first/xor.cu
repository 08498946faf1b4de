/*
 * How eight lanes of a warp add up their numbers with __shfl_xor_sync: ../cuda.md shows what this prints.
 *
 * Build and run: ../../simcc/simcc xor.cu -o xor && ./xor, or with a GPU: nvcc xor.cu -o xor && ./xor
 */
#include <stdio.h>

enum { LANES = 8, ROWS = 8 };

// Two rows at first and after each round: the lane that this lane reads from, and the sum that it has then.
__global__ void add_up(int (*rows)[LANES]) // [ROWS, LANES]
{
	int lane = threadIdx.x, sum = lane + 1, row = 0;
	rows[row++][lane] = lane;
	rows[row++][lane] = sum;
	for (int distance = LANES / 2; distance > 0; distance /= 2) {
		sum += __shfl_xor_sync(0xff, sum, distance); // 0xff: lanes 0 to 7 take part
		rows[row++][lane] = lane ^ distance;
		rows[row++][lane] = sum;
	}
}

int main(void)
{
	const char *names[ROWS] = {"lane", "its sum", "lane ^ 4", "sum", "lane ^ 2", "sum", "lane ^ 1", "sum"};
	int host[ROWS][LANES], (*rows)[LANES];
	cudaMalloc(&rows, sizeof host);
	add_up<<<1, LANES>>>(rows);
	cudaError_t error = cudaMemcpy(host, rows, sizeof host, cudaMemcpyDeviceToHost); // waits for the kernel
	cudaFree(rows);
	if (error != cudaSuccess) {
		fprintf(stderr, "%s\n", cudaGetErrorString(error));
		return 1;
	}
	for (int row = 0; row < ROWS; row++) {
		printf("%s%-12s", row > 0 && row % 2 == 0 ? "\n" : "", names[row]);
		for (int lane = 0; lane < LANES; lane++)
			printf("%4d", host[row][lane]);
		printf("\n");
	}
	return 0;
}
