// Where the address space is short, freed places are given again, and the emptiness behind what is in use is not: a
// write past an end never lands in a neighbor.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <sys/resource.h>
#include <vector>

enum { MB = 1 << 20 };

struct block {
	char *first;
	size_t bytes;
};

static size_t gap_behind(const std::vector<block> &blocks, const block &one)
{
	size_t gap = SIZE_MAX;
	for (const block &other : blocks)
		if (other.first > one.first) {
			size_t distance = other.first - (one.first + one.bytes);
			gap = distance < gap ? distance : gap;
		}
	return gap;
}

__global__ void write_at(char *place)
{
	*place = 1;
}

int main()
{
	const struct rlimit limit = {1500000ull << 10, 1500000ull << 10};
	std::vector<block> blocks;
	char *p;
	size_t again = 0;
	setrlimit(RLIMIT_AS, &limit);
	while (cudaMalloc(&p, MB) == cudaSuccess)
		blocks.push_back({p, MB});
	printf("%s\n", blocks.size() >= 342 ? "342 blocks and more" : "too few blocks");
	for (int round = 0; round < 200; round++) {
		size_t bytes = 1 + rand() % (2 * MB), at = rand() % blocks.size();
		cudaFree(blocks[at].first);
		blocks.erase(blocks.begin() + at);
		if (cudaMalloc(&p, bytes) == cudaSuccess) {
			again++;
			blocks.push_back({p, bytes});
		}
	}
	printf("%s\n", again > 50 ? "freed places are given again" : "freed places are lost");
	for (const block &one : blocks)
		if (gap_behind(blocks, one) < MB) {
			printf("a neighbor lies close behind\n");
			return 2;
		}
	write_at<<<1, 1>>>(blocks.back().first + blocks.back().bytes);
	printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
	return 0;
}
