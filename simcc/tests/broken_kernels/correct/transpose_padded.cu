// NVIDIA's transpose: 32 x 32 tiles, 32 x 8 threads, a padding column, ragged edges.
#include "../main.cuh"

__global__ void transpose(float *out, const float *in, int width, int height)
{
	__shared__ float tile[32][33];
	int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
	for (int j = 0; j < 32; j += 8)
		if (x < width && y + j < height)
			tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
	__syncthreads();
	x = blockIdx.y * 32 + threadIdx.x;
	y = blockIdx.x * 32 + threadIdx.y;
	for (int j = 0; j < 32; j += 8)
		if (x < height && y + j < width)
			out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main()
{
	float *y = empty<float>(70 * 50);
	transpose<<<dim3(3, 2), dim3(32, 8)>>>(y, upwards<float>(70 * 50), 70, 50);
	return element(y, 3 * 50 + 7) != 7 * 70 + 3 || end();
}
