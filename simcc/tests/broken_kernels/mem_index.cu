// Indices that lead outside of an array, a little and far, and what is said of the place. Another kernel has an array
// just before the one of `fixed`.
// EXPECT memcheck out_of_bounds error x19
#include "main.cuh"

// What the compiler does not know.
#define AT(index) (zero + WRONG(index, 0))

__device__ int table[16];

__global__ void another(int k)
{
	__shared__ int nearby[16];
	nearby[k] = 1;
}

__global__ void fixed(int way, int zero)
{
	__shared__ int s[128];
	switch (way) {
	case 0: s[AT(-1)] = 1; break;           // BUG
	case 1: s[AT(-64)] = 1; break;          // BUG
	case 2: s[AT(-100)] = 1; break;         // BUG
	case 3: s[AT(-100000)] = 1; break;      // BUG
	case 4: s[(unsigned)AT(-1)] = 1; break; // BUG
	}
}

// Past its end, and over the array behind it into what no array has.
__global__ void in_a_row(int way, int zero)
{
	__shared__ int k[32], v[64], q[32];
	k[0] = v[0] = q[0] = 0;
	switch (way) {
	case 0: k[AT(32 + 5)] = 1; break;           // BUG
	case 1: k[AT(32 + 64 + 64 + 4)] = 1; break; // BUG
	}
	table[0] = k[0] + v[0] + q[0];
}

__global__ void dynamic(int way, int zero)
{
	extern __shared__ int d[];
	switch (way) {
	case 0: d[AT(-1)] = 1; break;    // BUG
	case 1: d[AT(16)] = 1; break;    // BUG
	case 2: d[AT(100)] = 1; break;   // BUG
	case 3: d[AT(65600)] = 1; break; // BUG
	case 4: d[AT(-60)] = 1; break;   // BUG
	case 5:
		((short *)d)[32] = 1; // inside: the launch has 66 bytes
		d[AT(16)] = 1;        // BUG
	}
}

// Far behind its end a GPU may have another array.
__global__ void global(int way, int zero, int *x)
{
	switch (way) {
	case 0: x[(unsigned)AT(-1)] = 1; break;    // BUG
	case 1: x[(unsigned)AT(-3000)] = 1; break; // BUG
	case 2: x[AT(16)] = 1; break;              // BUG
	case 3: x[AT(1 << 18)] = 1; break;         // BUG
	case 4: table[AT(16)] = 1; break;          // BUG
	case 5: table[AT(-3)] = 1; break;          // BUG
	}
}

int main()
{
	another<<<1, 1>>>(0);
	for (int way = 0; way < 5; way++)
		fixed<<<1, 1>>>(way, 0), reset();
	for (int way = 0; way < 2; way++)
		in_a_row<<<1, 1>>>(way, 0), reset();
	for (int way = 0; way < 6; way++)
		dynamic<<<1, 1, 64 + way / 5 * 2>>>(way, 0), reset();
	for (int way = 0; way < 6; way++) {
		int *x = empty<int>(16), *behind = empty<int>(16);
		global<<<1, 1>>>(way, 0, x), reset();
		(void)behind;
	}
	return end();
}
