// Shuffles of each kind, width and type; votes; barriers that count.
#include "check.cuh"

__global__ void kinds(int *wrong)
{
	const int lane = threadIdx.x;
	const int results[][2] = {
		{__shfl_sync(0xffffffff, lane * 10, 5), 50},
		{__shfl_up_sync(0xffffffff, lane, 3), lane < 3 ? lane : lane - 3},
		{__shfl_down_sync(0xffffffff, lane, 3), lane > 28 ? lane : lane + 3},
		{__shfl_xor_sync(0xffffffff, lane, 7), lane ^ 7},
		{__shfl_sync(0xffffffff, lane, 9, 8), lane / 8 * 8 + 1},
		{__shfl_up_sync(0xffffffff, lane, 1, 8), lane % 8 ? lane - 1 : lane},
		{__shfl_down_sync(0xffffffff, lane, 2, 4), lane % 4 < 2 ? lane + 2 : lane},
		// the groups before may be read, those behind not
		{__shfl_xor_sync(0xffffffff, lane, 16, 16), lane < 16 ? lane : lane - 16},
		{__shfl_xor_sync(0xffffffff, lane, 1, 2), lane ^ 1},
		{__shfl_xor_sync(0xffffffff, lane, 24, 8), lane < 16 ? lane : lane ^ 24},
		// of an operand the low five bits count: 33 is 1, -1 is 31
		{__shfl_sync(0xffffffff, lane, 33), 1},
		{__shfl_up_sync(0xffffffff, lane, 33), lane < 1 ? lane : lane - 1},
		{__shfl_down_sync(0xffffffff, lane, 34), lane > 29 ? lane : lane + 2},
		{__shfl_down_sync(0xffffffff, lane, (unsigned)-1, 8), lane},
		{__shfl_xor_sync(0xffffffff, lane, 33, 8), lane ^ 1},
	};
	wrong[lane] = first_wrong(results);
}

// Eight bytes move as a whole; lanes match whose bits are all the same: 0 is not -0.
__global__ void types(float *f, double *d, long long *l, unsigned *u)
{
	int lane = threadIdx.x, all_l, all_d, all_zeros;
	const long long high = (long long)(lane / 16) << 40;
	const double zero = lane % 2 ? -0.0 : 0.0;
	f[lane] = __shfl_down_sync(0xffffffff, 0.5f * lane, 1);
	d[lane] = __shfl_xor_sync(0xffffffff, 1e300 * lane, 31);
	l[lane] = __shfl_up_sync(0xffffffff, (1LL << 40) + lane, 1) + __shfl_down_sync(0xffffffff, 7LL << 40, 1);
	const unsigned any_l = __match_any_sync(0xffffffff, high), any_d = __match_any_sync(0xffffffff, zero),
		       any_f = __match_any_sync(0xffffffff, (float)zero),
		       half = __match_all_sync(0xffffffff, high, &all_l),
		       zeros = __match_all_sync(0xffffffff, zero, &all_zeros),
		       whole = __match_all_sync(0xffffffff, 1e300, &all_d);
	u[lane] = any_l == (lane < 16 ? 0xffff : 0xffff0000) && any_d == (lane % 2 ? 0xaaaaaaaa : 0x55555555) &&
	          any_f == any_d && half == 0 && !all_l && zeros == 0 && !all_zeros && whole == 0xffffffff && all_d;
}

// Of the lanes in a mask: sum, and, or, xor; the least and the greatest, without and with a sign.
__global__ void reductions(const unsigned *x, unsigned *y, unsigned mask)
{
	unsigned lane = threadIdx.x, value = x[lane];
	if ((mask >> lane & 1) == 0)
		return;
	y[0 * 32 + lane] = __reduce_add_sync(mask, value);
	y[1 * 32 + lane] = __reduce_and_sync(mask, value);
	y[2 * 32 + lane] = __reduce_or_sync(mask, value);
	y[3 * 32 + lane] = __reduce_xor_sync(mask, value);
	y[4 * 32 + lane] = __reduce_min_sync(mask, value);
	y[5 * 32 + lane] = __reduce_max_sync(mask, value);
	y[6 * 32 + lane] = (unsigned)__reduce_min_sync(mask, (int)value);
	y[7 * 32 + lane] = (unsigned)__reduce_max_sync(mask, (int)value);
}

int main()
{
	int *dy = device_zeros<int>(96);
	//= kinds store=128/1/4
	kinds<<<1, 32>>>(dy);
	EXPECT_EACH(dy, 32, i, 0);

	float f[32];
	double d[32];
	long long l[32];
	unsigned u[32];
	float *df = device_zeros<float>(32);
	double *dd = device_zeros<double>(32);
	long long *dl = device_zeros<long long>(32);
	unsigned *du = device_zeros<unsigned>(32);
	//= types store=128+256+256+128/4/4+8+8+4
	types<<<1, 32>>>(df, dd, dl, du);
	fetch(f, df, 32);
	fetch(d, dd, 32);
	fetch(l, dl, 32);
	fetch(u, du, 32);
	for (int i = 0; i < 32; i++) {
		EXPECT(f[i] == 0.5f * (i < 31 ? i + 1 : 31) && d[i] == 1e300 * (31 - i));
		EXPECT(l[i] == (8LL << 40) + (i < 1 ? i : i - 1) && u[i] == 1);
	}

	// -1 everywhere; 16 low lanes in two sectors, 8 odd lanes in two
	//= each store=128+64+32/3/4+2+2
	each<<<1, 32>>>([=] __device__(int lane) {
		dy[lane] = -1;
		if (lane < 16)
			dy[lane] = __shfl_xor_sync(0x0000ffff, lane, 1);
		else if (lane % 2)
			dy[lane] = __shfl_sync(0xaaaa0000 & __activemask(), lane, 17);
	});
	EXPECT_EACH(dy, 32, i, i < 16 ? i ^ 1 : i % 2 ? 17 : -1);
	//= each store=256/2/8
	each<<<1, 64>>>([=] __device__(int t) {
		const int lane = t % 32;
		const unsigned active = lane < 10 ? __activemask() : 0;
		const unsigned results[][2] = {
			{__ballot_sync(0xffffffff, lane % 2), 0xaaaaaaaa},
			{(unsigned)__any_sync(0xffffffff, lane == 31), 1},
			{(unsigned)__any_sync(0xffffffff, lane == 32), 0},
			{(unsigned)__all_sync(0xffffffff, lane < 32), 1},
			{(unsigned)__all_sync(0xffffffff, lane != 4), 0},
			{lane < 10 ? __ballot_sync(0x3ff, lane > 5) : 0, lane < 10 ? 0x3c0u : 0},
			{active, lane < 10 ? 0x3ffu : 0},
		};
		dy[t] = first_wrong(results);
	});
	EXPECT_EACH(dy, 64, i, 0);
	//= each store=96*4/3/12 barriers=5
	each<<<1, 96>>>([=] __device__(int t) {
		const int results[][2] = {
			{__syncthreads_count(t % 3 == 0), 32}, {__syncthreads_and(t < 96) != 0, 1},
			{__syncthreads_and(t != 50), 0},       {__syncthreads_or(t == 95) != 0, 1},
			{__syncthreads_or(t == 96), 0},
		};
		dy[t] = first_wrong(results);
	});
	EXPECT_EACH(dy, 96, i, 0);

	unsigned x[32], all[256];
	for (unsigned i = 0; i < 32; i++)
		x[i] = i == 19 ? 0x80000006u : 0x70000013u + 4 * i;
	unsigned *dr = device_copy(x, 32), *dall = device_zeros<unsigned>(256);
	const unsigned masks[] = {0xffffffffu, 0xffff0000u};
	//= reductions load=128/1/4 store=8*128/8/8*4
	//= reductions load=128/1/4 store=8*64/8/8*2
	for (unsigned mask : masks) {
		reductions<<<1, 32>>>(dr, dall, mask);
		fetch(all, dall, 256);
		unsigned first = mask == 0xffffffffu ? 0 : 16;
		unsigned sum = 0, both = ~0u, either = 0, odd = 0, least = ~0u, most = 0;
		int low = 0x7fffffff, high = -low - 1;
		for (unsigned i = first; i < 32; i++) {
			sum += x[i], both &= x[i], either |= x[i], odd ^= x[i];
			least = x[i] < least ? x[i] : least, most = x[i] > most ? x[i] : most;
			low = (int)x[i] < low ? (int)x[i] : low, high = (int)x[i] > high ? (int)x[i] : high;
		}
		const unsigned expected[] = {sum, both, either, odd, least, most, (unsigned)low, (unsigned)high};
		for (unsigned i = 0; i < 256; i++)
			EXPECT(i % 32 < first || all[i] == expected[i / 32]);
	}

	// From lanes that do not take part: a word of ones, NaN as a float, not a fair value.
	//= each store=64/1/2
	each<<<1, 32>>>([=] __device__(int i) {
		if (i < 16)
			df[i] = __shfl_down_sync(0xffff, 1.0f, 8);
	});
	fetch(f, df, 16);
	for (int i = 0; i < 16; i++)
		EXPECT(i < 8 ? f[i] == 1 : f[i] != f[i]);
	return 0;
}
