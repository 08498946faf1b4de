// A struct of which one member never gets a value, copied as a whole.
// EXPECT initcheck uninitialized error
#include "main.cuh"

struct row_state {
	float m, l;
	int count;
};

__global__ void start(row_state *rows)
{
	row_state *row = &rows[threadIdx.x];
	row->m = -1e30f;
	row->l = 0;
	IF_RIGHT(row->count = 0);
}

__global__ void step(row_state *rows)
{
	row_state row = rows[threadIdx.x]; // BUG
	row.count++;
	row.l += 1;
	rows[threadIdx.x] = row;
}

int main()
{
	row_state *rows = empty<row_state>(64);
	start<<<1, 64>>>(rows);
	step<<<1, 64>>>(rows);
	return end();
}
