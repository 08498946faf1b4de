// Structs of which one member, or the second half, never gets a value, copied as a whole: that is no padding.
// EXPECT initcheck uninitialized error x2
#include "main.cuh"

struct row_state {
	float m, l;
	int count;
};

struct pair {
	double mean, deviation;
};

__global__ void start(row_state *rows, pair *pairs)
{
	rows[threadIdx.x].m = -1e30f;
	rows[threadIdx.x].l = 0;
	pairs[threadIdx.x].mean = 1;
	IF_RIGHT(rows[threadIdx.x].count = 0);
	IF_RIGHT(pairs[threadIdx.x].deviation = 2);
}

__global__ void step(row_state *rows)
{
	row_state row = rows[threadIdx.x]; // BUG
	row.count++;
	row.l += 1;
	rows[threadIdx.x] = row;
}

__global__ void copy(const pair *from, pair *to)
{
	to[threadIdx.x] = from[threadIdx.x]; // BUG
}

int main()
{
	row_state *rows = empty<row_state>(64);
	pair *from = empty<pair>(64), *to = empty<pair>(64);
	start<<<1, 64>>>(rows, from);
	step<<<1, 64>>>(rows);
	copy<<<1, 64>>>(from, to);
	return end();
}
