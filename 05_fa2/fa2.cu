/*
 * Chapter 05: FlashAttention-2. New since chapter 04: the two loops are exchanged. A block owns a tile of query rows
 * and streams K and V past it, so O, l and m never leave the chip, O is divided once, at the end, and there are Tr
 * times as many blocks. Tiles above the diagonal of a causal mask are skipped; only those on it are masked.
 *
 *     fa2_row        the helpers of fa1_row, a thread a query row; only the loops differ
 *     fa2_split_q    the warps of a block split the query tile, a thread computes small tiles of scores and output
 *
 * Build and run: make, or make DEVICE=cuda. Honestly: fa2_row wants a number from shared memory for every FMA; an SM
 * delivers half of that to lanes that all read the same 16 bytes, a quarter to others. fa2_split_q gets by with a
 * quarter, but it is fp32 still, without tensor cores.
 */
#include "fa2.h"

#include <math.h>

constexpr int WARP = 32;
constexpr float LOG2_E = 1.44269504f; // exp(x) = exp2(x log2 e)
constexpr float LN_2 = 0.693147181f;

// Keys whose scores a row of fa2_row holds in registers at a time. q and o take 2 D of the 255 registers a thread
// has.
template <int D>
constexpr int KEYS_AT_ONCE = D <= 64 ? 8 : 4;

static_assert(2 * 96 + KEYS_AT_ONCE<96> < 255, "q, o and the scores of one row fit a thread's registers at D = 96");

// Keys a query tile has to see: with a causal mask none beyond its last row. Whole tiles are loaded.
__device__ int visible_keys(int first_row, int Br, int N, bool causal)
{
	// task 05.skip: tiles above the diagonal are not loaded
#ifndef HANDOUT
	// solution 77a11ead85a6
	return causal ? min(first_row + Br, N) : N;
#else
	// TODO (about 1 line): the first key that no row of this tile sees. Without a mask there is none before N.
	// Hint: the tile's last row is first_row + Br - 1, and row i sees key i. What is returned below gives the
	// right numbers, and twice the traffic: the count of a causal run shows it.
	(void)first_row, (void)Br, (void)causal;
	return N;
#endif
	// end 05.skip
}

// ---- fa2_row: load_tile and attend are chapter 04's ----

// A tile with its rows padded to D columns, so that the loops over columns have a length the compiler knows, and to
// whole groups of keys. The padding is zeros and comes from nowhere: only real rows and columns are asked for.
template <int D>
__device__ void load_tile(
	const float *from, // [rows, d] in HBM
	int rows, int d, int padded_rows,
	float *tile) // [padded_rows, D]
{
	for (int e = threadIdx.x; e < padded_rows * D; e += blockDim.x) {
		int row = e / D, c = e % D;
		tile[e] = row < rows && c < d ? from[(size_t)row * d + c] : 0.0f;
	}
}

// A row of attention takes in KEYS keys: scores, the running maximum, the correction of what is there already, the
// sum.
template <int D, int KEYS>
__device__ void
attend(const float *q,      // [D] registers
       const float *K_tile, // [KEYS, D] shared
       const float *V_tile, // [KEYS, D] shared
       bool masked, int visible, float scale,
       float *o, // [D] registers
       float *m, float *l)
{
	float s[KEYS] = {};
#pragma unroll
	for (int c = 0; c < D; c++)
#pragma unroll
		for (int j = 0; j < KEYS; j++)
			s[j] += q[c] * K_tile[j * D + c];

	float m_new = *m;
#pragma unroll
	for (int j = 0; j < KEYS; j++) {
		s[j] = masked && j >= visible ? -INFINITY : scale * s[j]; // above the diagonal, or past the last key
		m_new = fmaxf(m_new, s[j]);
	}
	// m_new is finite: every row sees key 0, which comes first. So a group that is masked out whole adds 0.
	float correction = expf(*m - m_new);
	*m = m_new;
	*l *= correction;
#pragma unroll
	for (int j = 0; j < KEYS; j++) {
		s[j] = expf(s[j] - m_new);
		*l += s[j];
	}
#pragma unroll
	for (int c = 0; c < D; c++) {
		o[c] *= correction;
#pragma unroll
		for (int j = 0; j < KEYS; j++)
			o[c] += s[j] * V_tile[j * D + c];
	}
}

// Shared memory:   | K tile  [padded, D] | V tile  [padded, D] |   padded: Bc, up to a whole number of key groups
//
// All threads fill it, all read it, each for its own row. All lanes of a warp read the same element: a broadcast.
template <int D>
__global__ void __launch_bounds__(FA2_MOST_ROW_THREADS)
	fa2_row(const float *Q, // [B, H, N, d]
                const float *K, // [B, H, N, d]
                const float *V, // [B, H, N, d]
                float *O,       // [B, H, N, d]
                float *LSE,     // [B, H, N]
                int N, int d, int Bc, bool causal, float scale)
{
	constexpr int KEYS = KEYS_AT_ONCE<D>;
	extern __shared__ __align__(16) float shared[]; // aligned, so that nvcc may read four columns at once
	float *K_tile = shared, *V_tile = K_tile + (Bc + KEYS - 1) / KEYS * KEYS * D;

	// task 05.loop-swap: the outer loop is the grid
#ifndef HANDOUT
	// solution f3ff8b1f4a5a
	size_t head = (size_t)blockIdx.z * gridDim.y + blockIdx.y;
	int first_row = blockIdx.x * blockDim.x, row = first_row + threadIdx.x; // the outer loop is the grid
#else
	// TODO (about 2 lines): chapter 04 had a loop over the query tiles of a head here. Now a block has one tile:
	// which head, which is its first row, and which row is this thread's?
	// Hint: the grid is (query tiles, H, B); heads are counted through the batch; a thread has a row.
	size_t head = 0;
	int first_row = 0, row = N;
#endif
	// end 05.loop-swap

	const float *q_row = Q + (head * N + row) * d;
	float q[D], o[D] = {}, m = -INFINITY, l = 0.0f;
#pragma unroll
	for (int c = 0; c < D; c++)
		q[c] = row < N && c < d ? q_row[c] : 0.0f; // a thread without a row helps to load tiles

	int end = visible_keys(first_row, blockDim.x, N, causal);
	for (int first_key = 0; first_key < end; first_key += Bc) { // the inner loop: K and V stream past
		int keys = min(Bc, N - first_key), padded = (keys + KEYS - 1) / KEYS * KEYS;
		size_t tile = (head * N + first_key) * d;
		__syncthreads(); // without it a fast warp overwrites the tile that a slow one still reads
		load_tile<D>(K + tile, keys, d, padded, K_tile);
		load_tile<D>(V + tile, keys, d, padded, V_tile);
		__syncthreads(); // without it a fast warp reads keys that are not there yet

		bool diagonal =
			causal && first_key + keys - 1 > first_row; // some row of the block must not see it all
		bool masked = diagonal || padded > keys;
		int visible = diagonal ? min(keys, row - first_key + 1) : keys;
		for (int j = 0; j < keys; j += KEYS)
			attend<D, KEYS>(q, K_tile + j * D, V_tile + j * D, masked, visible - j, scale, o, &m, &l);
	}
	if (row >= N)
		return; // the last block may have more threads than rows
	float *o_row = O + (head * N + row) * d;
#pragma unroll
	for (int c = 0; c < D; c++)
		if (c < d) // beyond d lies the next row, which another thread is writing
			o_row[c] = o[c] / l;
	LSE[head * N + row] = m + logf(l);
}

// ---- fa2_split_q ----

// What is compiled in. Lanes of a warp form 4 rows x 8 columns; a lane computes ROWS x KEYS scores and ROWS x COLUMNS
// of the output, each lane's rows 4 apart, its keys 8 apart, its columns in groups of 4 that are 32 apart.
template <int D>
struct split {
	static constexpr int WARPS = 4, THREADS = WARPS * WARP;
	static constexpr int LANE_ROWS = 4, LANE_KEYS = 8;
	static constexpr int ROWS = D <= 64 ? 8 : 4;  // ROWS x COLUMNS outputs stay in registers
	static constexpr int KEYS = D <= 96 ? 8 : 4;  // ROWS x KEYS scores too
	static constexpr int COLUMNS = D / LANE_KEYS; // of the output
	static constexpr int WARP_ROWS = LANE_ROWS * ROWS, Br = WARPS * WARP_ROWS, Bc = LANE_KEYS * KEYS;

	// Row strides in shared memory, in floats. Lanes that read one column of 8 keys at once meet 8 different
	// groups of 4 banks only if rows are not a multiple of 32 apart. Q is read by all 8 lanes at the same
	// address, not padded: the two rows that a pass of 16 lanes reads meet in the same banks, 4 wavefronts where
	// 2 would do. At D = 64 padding would be 512 floats more than an RTX 4090 has.
	static constexpr int K_STRIDE = D + 4;
	// 4 rows of P are written at once, 8 keys each: 8 banks apart is conflict-free. At D = 64 that would be 512
	// floats more than an RTX 4090 has; 4 banks apart costs 3 % more wavefronts.
	static constexpr int P_STRIDE = Bc + (D == 64 ? 4 : 8);
	static constexpr int FLOATS = Br * D + Bc * K_STRIDE + Bc * D + Br * P_STRIDE;

	static_assert(D % 32 == 0, "a lane's columns are groups of 4, and 8 lanes share a row");
	static_assert(KEYS % 4 == 0, "P is read four keys at a time");
	static_assert(K_STRIDE % 4 == 0 && P_STRIDE % 4 == 0, "every row starts at a multiple of 16 bytes");
	static_assert(FLOATS * sizeof(float) <= 99 * 1024, "a block fits the 99 KB of an RTX 4090");
};

// Four columns, of which those from d on are 0 and come from nowhere. With d % 4 == 0 every row starts at a multiple
// of 16 bytes and one load does; otherwise four.
__device__ float4 load_four(const float *row, int c, int d)
{
	float4 x = {0.0f, 0.0f, 0.0f, 0.0f};
	if (d % 4 == 0)
		return c < d ? *(const float4 *)(row + c) : x;
	if (c < d)
		x.x = row[c];
	if (c + 1 < d)
		x.y = row[c + 1];
	if (c + 2 < d)
		x.z = row[c + 2];
	if (c + 3 < d)
		x.w = row[c + 3];
	return x;
}

__device__ void store_four(float *row, int c, int d, float4 x)
{
	if (d % 4 == 0) {
		if (c < d)
			*(float4 *)(row + c) = x;
		return;
	}
	if (c < d)
		row[c] = x.x;
	if (c + 1 < d)
		row[c + 1] = x.y;
	if (c + 2 < d)
		row[c + 2] = x.z;
	if (c + 3 < d)
		row[c + 3] = x.w;
}

// A tile of TILE_ROWS x D, times `factor`; rows past the last and columns past d are 0.
template <int D, int TILE_ROWS>
__device__ void load_tile_by_fours(
	const float *from, // [rows, d] in HBM
	int rows, int d, float factor,
	float *tile, // [TILE_ROWS, stride] shared
	int stride)
{
#pragma unroll 4
	for (int e = threadIdx.x; e < TILE_ROWS * (D / 4); e += split<D>::THREADS) {
		int row = e / (D / 4), c = e % (D / 4) * 4;
		float4 x = {0.0f, 0.0f, 0.0f, 0.0f};
		if (row < rows)
			x = load_four(from + (size_t)row * d, c, d);
		*(float4 *)(tile + row * stride + c) = {factor * x.x, factor * x.y, factor * x.z, factor * x.w};
	}
}

// s = Q K^T for ROWS x KEYS elements. Four columns at a time: ROWS + KEYS loads of 16 bytes for ROWS KEYS 4 FMA.
template <int D>
__device__ void score_tile(
	const float *Q, // this lane's first row; rows 4 D apart
	const float *K, // this lane's first key; keys 8 K_STRIDE apart
	float s[split<D>::ROWS][split<D>::KEYS])
{
	using T = split<D>;
#pragma unroll
	for (int r = 0; r < T::ROWS; r++)
#pragma unroll
		for (int j = 0; j < T::KEYS; j++)
			s[r][j] = 0.0f;
#pragma unroll 2
	for (int c = 0; c < D; c += 4) {
		float4 q[T::ROWS];
#pragma unroll
		for (int r = 0; r < T::ROWS; r++)
			q[r] = *(const float4 *)(Q + r * T::LANE_ROWS * D + c);
#pragma unroll
		for (int j = 0; j < T::KEYS; j++) {
			float4 k = *(const float4 *)(K + j * T::LANE_KEYS * T::K_STRIDE + c);
#pragma unroll
			for (int r = 0; r < T::ROWS; r++) {
				s[r][j] += q[r].x * k.x;
				s[r][j] += q[r].y * k.y;
				s[r][j] += q[r].z * k.z;
				s[r][j] += q[r].w * k.w;
			}
		}
	}
}

// Scores above the diagonal and past the last key become -inf. first_row, first_key: of this lane's first score.
template <int D>
__device__ void mask_tile(int first_row, int first_key, int N, bool causal, float s[split<D>::ROWS][split<D>::KEYS])
{
	using T = split<D>;
#pragma unroll
	for (int r = 0; r < T::ROWS; r++)
#pragma unroll
		for (int j = 0; j < T::KEYS; j++) {
			int row = first_row + r * T::LANE_ROWS, key = first_key + j * T::LANE_KEYS;
			if (key >= N || (causal && key > row))
				s[r][j] = -INFINITY;
		}
}

// Scores, in powers of 2, become P~ = 2^(s - m) in the warp's slab; O and l are corrected for the new maximum. A
// row's maximum is that of the 8 lanes which hold its keys: three shuffles. l stays a sum of this lane's keys until
// the end.
template <int D>
__device__ void exponentiate_tile(
	float s[split<D>::ROWS][split<D>::KEYS], float m[split<D>::ROWS], float l[split<D>::ROWS],
	float o[split<D>::ROWS][split<D>::COLUMNS],
	float *P) // this lane's first row and key in the slab
{
	using T = split<D>;
#pragma unroll
	for (int r = 0; r < T::ROWS; r++) {
		// task 05.rescale: the new maximum of a row that eight lanes share
#ifndef HANDOUT
		// solution 382b10b7d255
		float m_new = m[r];
#pragma unroll
		for (int j = 0; j < T::KEYS; j++)
			m_new = fmaxf(m_new, s[r][j]);
		for (int lanes = 1; lanes < T::LANE_KEYS; lanes *= 2)
			m_new = fmaxf(m_new, __shfl_xor_sync(0xffffffff, m_new, lanes));
		// m_new is finite: every row sees key 0, which comes first.
		float correction = exp2f(m[r] - m_new);
		m[r] = m_new;
		l[r] *= correction;
#pragma unroll
		for (int j = 0; j < T::KEYS; j++) {
			float p = exp2f(s[r][j] - m_new);
			l[r] += p;
			P[r * T::LANE_ROWS * T::P_STRIDE + j * T::LANE_KEYS] = p;
		}
#pragma unroll
		for (int c = 0; c < T::COLUMNS; c++)
			o[r][c] *= correction;
#else
		// TODO (about 13 lines): m_new, the largest of m[r] and of the row's scores s[r][...]; m[r] and l[r]
		// brought to it; p = 2^(s - m_new) added to l[r] and put into the slab; o[r][...] corrected.
		// Hint: eight neighbouring lanes hold the keys of a row, KEYS each: their maximum has to go round
		// (three shuffles). l stays this lane's own sum. Key j of row r lies at
		//     P[r * T::LANE_ROWS * T::P_STRIDE + j * T::LANE_KEYS]
		(void)s, (void)m, (void)l, (void)o, (void)P;
#endif
		// end 05.rescale
	}
}

// o += P~ V. Four keys at a time: ROWS + COLUMNS loads of 16 bytes for ROWS COLUMNS 4 FMA.
template <int D>
__device__ void weigh_tile(
	const float *P, // this lane's first row in the slab; rows 4 P_STRIDE apart
	const float *V, // this lane's first columns; keys D apart
	float o[split<D>::ROWS][split<D>::COLUMNS])
{
	using T = split<D>;
#pragma unroll 1
	for (int j = 0; j < T::Bc; j += 4) {
		float4 p[T::ROWS];
#pragma unroll
		for (int r = 0; r < T::ROWS; r++)
			p[r] = *(const float4 *)(P + r * T::LANE_ROWS * T::P_STRIDE + j);
#pragma unroll
		for (int c = 0; c < T::COLUMNS; c += 4)
#pragma unroll
			for (int key = 0; key < 4; key++) {
				float4 v = *(const float4 *)(V + (j + key) * D + c * T::LANE_KEYS);
#pragma unroll
				for (int r = 0; r < T::ROWS; r++) {
					float weight = key == 0   ? p[r].x
					               : key == 1 ? p[r].y
					               : key == 2 ? p[r].z
					                          : p[r].w;
					o[r][c] += weight * v.x;
					o[r][c + 1] += weight * v.y;
					o[r][c + 2] += weight * v.z;
					o[r][c + 3] += weight * v.w;
				}
			}
	}
}

// O / l and LSE, once. l is now summed over the 8 lanes that share a row.
template <int D>
__device__ void store_rows(
	const float o[split<D>::ROWS][split<D>::COLUMNS], const float m[split<D>::ROWS],
	const float l[split<D>::ROWS], int first_row, int lane_column, int N, int d,
	float *O,   // [N, d] of this head
	float *LSE) // [N] of this head
{
	using T = split<D>;
#pragma unroll
	for (int r = 0; r < T::ROWS; r++) {
		int row = first_row + r * T::LANE_ROWS;
		float sum = l[r];
		for (int lanes = 1; lanes < T::LANE_KEYS; lanes *= 2)
			sum += __shfl_xor_sync(0xffffffff, sum, lanes);
		if (row >= N)
			continue; // the last tile may be ragged; asked only here, because shuffles need all lanes
		float inverse = 1.0f / sum;
#pragma unroll
		for (int c = 0; c < T::COLUMNS; c += 4)
			store_four(
				O + (size_t)row * d, lane_column * 4 + c * T::LANE_KEYS, d,
				{o[r][c] * inverse, o[r][c + 1] * inverse, o[r][c + 2] * inverse,
			         o[r][c + 3] * inverse});
		if (lane_column == 0)
			LSE[row] = m[r] * LN_2 + logf(sum);
	}
}

// Shared memory:
//
//     | Q tile [Br, D] | K tile [Bc, D + 4] | V tile [Bc, D] | P~ slabs [Br, Bc + 4 or 8] |
//       written by all, read by all: __syncthreads             a slab a warp: __syncwarp
//
//     warp 0 owns rows 0 ... WARP_ROWS - 1 of Q, P~ and O, warp 1 the next, ...; each warp reads all of K and V.
//     No number goes from warp to warp: FlashAttention-1's released code split K between them and had to add up.
template <int D>
__global__ void __launch_bounds__(split<D>::THREADS, 2) fa2_split_q(
	const float *Q, // [B, H, N, d]
	const float *K, // [B, H, N, d]
	const float *V, // [B, H, N, d]
	float *O,       // [B, H, N, d]
	float *LSE,     // [B, H, N]
	int N, int d, bool causal, float scale)
{
	using T = split<D>;
	extern __shared__ __align__(16) float shared[];
	float *Q_tile = shared, *K_tile = Q_tile + T::Br * D, *V_tile = K_tile + T::Bc * T::K_STRIDE;
	float *P_slabs = V_tile + T::Bc * D;
	size_t head = ((size_t)blockIdx.z * gridDim.y + blockIdx.y) * N;
	int first_row = blockIdx.x * T::Br;
	int lane_row = threadIdx.x % WARP / T::LANE_KEYS, lane_key = threadIdx.x % T::LANE_KEYS;
	int own_row = threadIdx.x / WARP * T::WARP_ROWS + lane_row; // this lane's first row in the tile
	float *P = P_slabs + own_row * T::P_STRIDE;

	float m[T::ROWS], l[T::ROWS], o[T::ROWS][T::COLUMNS];
#pragma unroll
	for (int r = 0; r < T::ROWS; r++) {
		m[r] = -INFINITY;
		l[r] = 0.0f;
#pragma unroll
		for (int c = 0; c < T::COLUMNS; c++)
			o[r][c] = 0.0f;
	}
	// Scores come out as powers of 2: one multiplication for each element of Q, none for each score.
	load_tile_by_fours<D, T::Br>(Q + (head + first_row) * d, N - first_row, d, scale * LOG2_E, Q_tile, D);

	int end = visible_keys(first_row, T::Br, N, causal);
	for (int first_key = 0; first_key < end; first_key += T::Bc) {
		size_t tile = (head + first_key) * d;
		__syncthreads(); // without it a fast lane overwrites K, V or P~ that a slow one still reads
		load_tile_by_fours<D, T::Bc>(K + tile, N - first_key, d, 1.0f, K_tile, T::K_STRIDE);
		load_tile_by_fours<D, T::Bc>(V + tile, N - first_key, d, 1.0f, V_tile, D);
		__syncthreads(); // without it a fast warp reads rows of Q, K and V that are not there yet

		float s[T::ROWS][T::KEYS];
		score_tile<D>(Q_tile + own_row * D, K_tile + lane_key * T::K_STRIDE, s);
		// some row of the block must not see the whole tile
		bool diagonal = causal && first_key + T::Bc - 1 > first_row;
		if (diagonal || first_key + T::Bc > N)
			mask_tile<D>(first_row + own_row, first_key + lane_key, N, causal, s);
		exponentiate_tile<D>(s, m, l, o, P + lane_key);
		__syncwarp(); // without it a lane reads weights of its row that another lane has not written yet
		weigh_tile<D>(P, V_tile + lane_key * 4, o);
	}
	store_rows<D>(o, m, l, first_row + own_row, lane_key, N, d, O + head * d, LSE + head);
}

// ---- launchers ----

static int round_up(int value, int step)
{
	return (value + step - 1) / step * step;
}

extern "C" int fa2_row_keys_at_once(int d)
{
	return d <= 64 ? KEYS_AT_ONCE<64> : KEYS_AT_ONCE<128>;
}

extern "C" size_t fa2_row_shared_bytes(int d, struct tile tile)
{
	return sizeof(float) * 2 * round_up(d, WARP) * (size_t)round_up(tile.Bc, fa2_row_keys_at_once(d));
}

extern "C" struct tile fa2_split_q_tile(int d)
{
	switch (round_up(d, WARP)) {
	case 32: return {split<32>::Br, split<32>::Bc};
	case 64: return {split<64>::Br, split<64>::Bc};
	case 96: return {split<96>::Br, split<96>::Bc};
	default: return {split<128>::Br, split<128>::Bc};
	}
}

extern "C" size_t fa2_split_q_shared_bytes(int d)
{
	switch (round_up(d, WARP)) {
	case 32: return sizeof(float) * split<32>::FLOATS;
	case 64: return sizeof(float) * split<64>::FLOATS;
	case 96: return sizeof(float) * split<96>::FLOATS;
	default: return sizeof(float) * split<128>::FLOATS;
	}
}

static bool usable(const struct attention &a)
{
	return a.B >= 1 && a.H >= 1 && a.B <= FA2_MOST_HEADS && a.H <= FA2_MOST_HEADS && a.N >= 1 && a.d >= 1 &&
	       a.d <= FA2_MOST_DIM;
}

// Above 48 KB a kernel has to ask for its shared memory; what is over the device's limit is refused here.
template <class Kernel>
static cudaError_t opt_in(Kernel *kernel, size_t bytes)
{
	return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
}

template <int D>
static cudaError_t launch_row(const struct attention &a)
{
	size_t bytes = fa2_row_shared_bytes(a.d, a.tile);
	dim3 grid(round_up(a.N, a.tile.Br) / a.tile.Br, a.H, a.B);
	cudaError_t status = opt_in(fa2_row<D>, bytes);
	if (status != cudaSuccess)
		return status;
	fa2_row<D><<<grid, a.tile.Br, bytes>>>(a.Q, a.K, a.V, a.O, a.LSE, a.N, a.d, a.tile.Bc, a.causal, a.scale);
	return cudaGetLastError();
}

template <int D>
static cudaError_t launch_split_q(const struct attention &a)
{
	size_t bytes = fa2_split_q_shared_bytes(a.d);
	dim3 grid(round_up(a.N, split<D>::Br) / split<D>::Br, a.H, a.B);
	cudaError_t status = opt_in(fa2_split_q<D>, bytes);
	if (status != cudaSuccess)
		return status;
	fa2_split_q<D><<<grid, split<D>::THREADS, bytes>>>(a.Q, a.K, a.V, a.O, a.LSE, a.N, a.d, a.causal, a.scale);
	return cudaGetLastError();
}

extern "C" cudaError_t launch_fa2_row(struct attention a)
{
	if (!usable(a) || a.tile.Br < 1 || a.tile.Br > FA2_MOST_ROW_THREADS || a.tile.Bc < 1)
		return cudaErrorInvalidValue;
	switch (round_up(a.d, WARP)) {
	case 32: return launch_row<32>(a);
	case 64: return launch_row<64>(a);
	case 96: return launch_row<96>(a);
	default: return launch_row<128>(a);
	}
}

extern "C" cudaError_t launch_fa2_split_q(struct attention a)
{
	if (!usable(a))
		return cudaErrorInvalidValue;
	switch (round_up(a.d, WARP)) {
	case 32: return launch_split_q<32>(a);
	case 64: return launch_split_q<64>(a);
	case 96: return launch_split_q<96>(a);
	default: return launch_split_q<128>(a);
	}
}
