/*
 * Chapter 04: FlashAttention-1. New since chapter 03: S is never written. Tiles of K and V pass through shared
 * memory; of each row of S only its maximum m and its sum of exponentials l survive (chapter 02's recurrence, on
 * tiles).
 *
 *     fa1_paper          Algorithm 1 as printed: outer loop over K/V, inner loop over Q; O, l, m live in HBM
 *     fa1_row            a thread owns a query row and keeps q, o, l, m in registers; K/V tiles stream past
 *     fa1_row_dynamic    the same with d known only at run time: its "registers" are memory
 *
 * Build and run: make, or make DEVICE=cuda. Honestly: a block a head is all the parallelism there is, so 8 heads
 * leave 124 of an H100's 132 SMs idle. fa1_paper also fetches and rewrites O, l, m for every tile, a column a time.
 */
#include "fa1.h"

#include <math.h>

constexpr int WARP = 32;
constexpr int PAPER_THREADS = 128;
constexpr int SCORES_AT_ONCE = 64; // of fa1_row_dynamic

// Keys whose scores a row of fa1_row holds in registers at a time. q and o take 2 D of the 255 registers a thread
// has.
template <int D>
constexpr int KEYS_AT_ONCE = D <= 64 ? 8 : 4;

static_assert(PAPER_THREADS % WARP == 0, "a block is made of whole warps");
static_assert(2 * 96 + KEYS_AT_ONCE<96> < 255, "q, o and the scores of one row fit a thread's registers at D = 96");
static_assert(2 * 128 + KEYS_AT_ONCE<128> > 255, "at D = 128 they do not: ptxas shows the spills");

// ---- fa1_paper ----

// Rows of a tile lie one after the other in HBM, so a tile is one run of numbers: neighbours load neighbours.
__device__ void load_run(const float *from, int count, float *to)
{
	for (int e = threadIdx.x; e < count; e += blockDim.x)
		to[e] = from[e];
}

// A row of S for the keys of the tile; returns its largest score, -inf when the mask hides all of them.
template <int D>
__device__ float score_row(
	const float *q,      // [d] in HBM
	const float *K_tile, // [keys, d]
	int d, int keys, int visible, float scale,
	float *S, // [keys], `stride` apart
	int stride)
{
	float q_row[D], m_tile = -INFINITY;
#pragma unroll
	for (int c = 0; c < D; c++)
		q_row[c] = c < d ? q[c] : 0.0f; // beyond d lies the next row
	for (int j = 0; j < keys; j++) {
		// task 04.scores: a row of scores and its maximum
#ifndef HANDOUT
		// solution 35fd9d92ded1
		float dot = 0.0f;
#pragma unroll
		for (int c = 0; c < D; c++)
			if (c < d) // beyond d lies the next key
				dot += q_row[c] * K_tile[j * d + c];
		float s = j < visible ? scale * dot : -INFINITY;
		S[j * stride] = s;
		m_tile = fmaxf(m_tile, s);
#else
		// TODO (about 7 lines): the score of key j, scale times the product of q_row and the tile's row j,
		// or -INFINITY from key `visible` on. Keep it in S, and the largest of all in m_tile.
		// Hint: a row of the tile has d numbers, and neighbouring keys of this row lie `stride` numbers
		// apart in S. A loop to the constant D is unrolled, so that q_row stays in registers; `if (c < d)`
		// inside it.
		(void)q_row, (void)K_tile, (void)visible, (void)scale, (void)S, (void)stride;
#endif
		// end 04.scores
	}
	return m_tile;
}

// S becomes P~ = exp(S - m~); returns its sum.
__device__ float exponentiate_row(float *S, int stride, int keys, float m_tile)
{
	// task 04.exponentiate: P~ and l~ of a tile, masked rows too
#ifndef HANDOUT
	// solution c07b814d7411
	// Without this, a row whose keys are all masked computes -inf - -inf = NaN. With it, P~ and l~ are 0, and the
	// row's O, l and m come out of update_row as they went in.
	float largest = m_tile == -INFINITY ? 0.0f : m_tile;
	float l_tile = 0.0f;
	for (int j = 0; j < keys; j++) {
		float p = expf(S[j * stride] - largest);
		S[j * stride] = p;
		l_tile += p;
	}
	return l_tile;
#else
	// TODO (about 8 lines): each S of the row becomes exp(S - m_tile), in place; return their sum.
	// Hint: the mask may hide all keys of the tile from this row. Then m_tile is -inf, and so are the scores.
	(void)S, (void)stride, (void)keys, (void)m_tile;
	return 0.0f;
#endif
	// end 04.exponentiate
}

// O <- (l e^(m - m_new) O + e^(m~ - m_new) P~ V) / l_new: normalised every time, as the paper prints it.
template <int D>
__device__ void update_row(
	const float *P, int stride, // [keys], `stride` apart
	const float *V_tile,        // [keys, d]
	int d, int keys, bool first, float m_tile, float l_tile,
	float *O,           // [d] in HBM
	float *l, float *m) // this row's, in HBM
{
	float PV[D] = {};
	for (int j = 0; j < keys; j++) {
		float p = P[j * stride];
#pragma unroll
		for (int c = 0; c < D; c++)
			if (c < d) // beyond d lies the next key
				PV[c] += p * V_tile[j * d + c];
	}
	float m_old = first ? -INFINITY : *m, l_old = first ? 0.0f : *l;

	// task 04.update: lines 11 to 13 of Algorithm 1
#ifndef HANDOUT
	// solution 3ec2b1648770
	float m_new = fmaxf(m_old, m_tile);
	float from_old = l_old * expf(m_old - m_new), from_tile = expf(m_tile - m_new);
	float l_new = from_old + from_tile * l_tile;
	float keep = from_old / l_new, add = from_tile / l_new; // of a row that is masked out whole: 1 and 0
#pragma unroll
	for (int c = 0; c < D; c++)
		if (c < d) // beyond d lies the next row, which another thread is writing
			O[c] = (first ? 0.0f : keep * O[c]) + add * PV[c];
	*l = l_new;
	*m = m_new;
#else
	// TODO (about 9 lines): lines 11 to 13 of Algorithm 1. m_new, l_new; then
	//     O <- (l e^(m - m_new) O + e^(m~ - m_new) P~ V) / l_new        for the d columns there are
	// Hint: l and O are each a sum of two parts, with the same two factors. O holds nothing before the first
	// tile: what is read from HBM is counted, and what nobody wrote is a hazard.
	(void)PV, (void)O, (void)m_old, (void)l_old, (void)m_tile, (void)l_tile;
#endif
	// end 04.update
}

// Shared memory, 4 Bc (2 d + Br) bytes:
//
//     | K tile  [Bc, d] | V tile  [Bc, d] | S tile, transposed  [Bc, Br] |
//       written by all, read by all         column r belongs to the thread of row r alone: no barrier
//
// S is transposed so that the lanes of a warp, which hold neighbouring rows, touch neighbouring banks.
template <int D>
__global__ void __launch_bounds__(PAPER_THREADS, 1) fa1_paper(
	const float *Q, // [heads, N, d]
	const float *K, // [heads, N, d]
	const float *V, // [heads, N, d]
	float *O,       // [heads, N, d]
	float *l,       // [heads, N]
	float *m,       // [heads, N]
	int N, int d, int Br, int Bc, bool causal, float scale)
{
	extern __shared__ float shared[];
	float *K_tile = shared, *V_tile = K_tile + Bc * d, *S = V_tile + Bc * d;
	size_t head = blockIdx.x;

	for (int first_key = 0; first_key < N; first_key += Bc) { // the outer loop: K and V are loaded once
		int keys = min(Bc, N - first_key);                // the last tile may be ragged
		size_t tile = (head * N + first_key) * d;
		__syncthreads(); // without it a fast warp overwrites the tile that a slow one still reads
		load_run(K + tile, keys * d, K_tile);
		load_run(V + tile, keys * d, V_tile);
		__syncthreads(); // without it a fast warp reads keys that are not there yet

		for (int first_row = 0; first_row < N; first_row += Br) // the inner loop: Q, O, l, m come and go
			for (int r = threadIdx.x; r < min(Br, N - first_row); r += blockDim.x) {
				size_t row = head * N + first_row + r;
				int visible = causal ? first_row + r - first_key + 1 : keys;
				float m_tile = score_row<D>(Q + row * d, K_tile, d, keys, visible, scale, S + r, Br);
				float l_tile = exponentiate_row(S + r, Br, keys, m_tile);
				update_row<D>(
					S + r, Br, V_tile, d, keys, first_key == 0, m_tile, l_tile, O + row * d,
					l + row, m + row);
			}
	}
}

// ---- fa1_row ----

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
       int visible, float scale,
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
		s[j] = j < visible ? scale * s[j] : -INFINITY; // masked, or past the last key
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
__global__ void __launch_bounds__(FA1_MOST_ROW_THREADS)
	fa1_row(const float *Q, // [heads, N, d]
                const float *K, // [heads, N, d]
                const float *V, // [heads, N, d]
                float *O,       // [heads, N, d]
                float *LSE,     // [heads, N]
                int N, int d, int Bc, bool causal, float scale)
{
	constexpr int KEYS = KEYS_AT_ONCE<D>;
	extern __shared__ __align__(16) float shared[]; // aligned, so that nvcc may read four columns at once
	float *K_tile = shared, *V_tile = K_tile + (Bc + KEYS - 1) / KEYS * KEYS * D;
	size_t head = blockIdx.x;

	for (int first_row = 0; first_row < N; first_row += blockDim.x) { // query tiles, one after the other
		int row = first_row + threadIdx.x;
		const float *q_row = Q + (head * N + row) * d;
		float q[D], o[D] = {}, m = -INFINITY, l = 0.0f;
#pragma unroll
		for (int c = 0; c < D; c++)
			q[c] = row < N && c < d ? q_row[c] : 0.0f; // a thread without a row helps to load tiles

		for (int first_key = 0; first_key < N; first_key += Bc) { // K and V stream past
			int keys = min(Bc, N - first_key), padded = (keys + KEYS - 1) / KEYS * KEYS;
			size_t tile = (head * N + first_key) * d;
			__syncthreads(); // without it a fast warp overwrites the tile that a slow one still reads
			load_tile<D>(K + tile, keys, d, padded, K_tile);
			load_tile<D>(V + tile, keys, d, padded, V_tile);
			__syncthreads(); // without it a fast warp reads keys that are not there yet
			int visible = causal ? min(keys, row - first_key + 1) : keys;
			for (int j = 0; j < keys; j += KEYS)
				attend<D, KEYS>(q, K_tile + j * D, V_tile + j * D, visible - j, scale, o, &m, &l);
		}
		if (row < N) { // the last tile may have more threads than rows
			float *o_row = O + (head * N + row) * d;
#pragma unroll
			for (int c = 0; c < D; c++)
				if (c < d) // beyond d lies the next row, which another thread is writing
					o_row[c] = o[c] / l;
			LSE[head * N + row] = m + logf(l);
		}
	}
}

// ---- fa1_row_dynamic ----

// Line for line fa1_row, with d where D was and a count of keys where KEYS was. A loop whose length is not known
// cannot be unrolled, an array indexed by its counter cannot live in registers (registers have no addresses), so q, o
// and s are local memory: HBM by another name, cached in L1. No counter here sees it; ptxas does (make ptxas).
template <int MOST_DIM>
__global__ void __launch_bounds__(FA1_MOST_ROW_THREADS, 1) fa1_row_dynamic(
	const float *Q, // [heads, N, d]
	const float *K, // [heads, N, d]
	const float *V, // [heads, N, d]
	float *O,       // [heads, N, d]
	float *LSE,     // [heads, N]
	int N, int d, int Bc, bool causal, float scale)
{
	extern __shared__ float shared[];
	float *K_tile = shared, *V_tile = K_tile + Bc * d; // [Bc, d] each
	size_t head = blockIdx.x;

	for (int first_row = 0; first_row < N; first_row += blockDim.x) {
		int row = first_row + threadIdx.x;
		const float *q_row = Q + (head * N + row) * d;
		float q[MOST_DIM], o[MOST_DIM], s[SCORES_AT_ONCE], m = -INFINITY, l = 0.0f;
		for (int c = 0; c < d; c++) {
			q[c] = row < N ? q_row[c] : 0.0f; // a thread without a row helps to load tiles
			o[c] = 0.0f;
		}
		for (int first_key = 0; first_key < N; first_key += Bc) {
			int keys = min(Bc, N - first_key);
			size_t tile = (head * N + first_key) * d;
			__syncthreads(); // without it a fast warp overwrites the tile that a slow one still reads
			load_run(K + tile, keys * d, K_tile);
			load_run(V + tile, keys * d, V_tile);
			__syncthreads(); // without it a fast warp reads keys that are not there yet
			for (int first = 0; first < keys; first += SCORES_AT_ONCE) {
				int count = min(SCORES_AT_ONCE, keys - first);
				float m_new = m;
				for (int j = 0; j < count; j++) {
					s[j] = 0.0f;
					for (int c = 0; c < d; c++)
						s[j] += q[c] * K_tile[(first + j) * d + c];
					bool masked = causal && first_key + first + j > row;
					s[j] = masked ? -INFINITY : scale * s[j];
					m_new = fmaxf(m_new, s[j]);
				}
				float correction = expf(m - m_new);
				m = m_new;
				l *= correction;
				for (int j = 0; j < count; j++) {
					s[j] = expf(s[j] - m_new);
					l += s[j];
				}
				for (int c = 0; c < d; c++) {
					o[c] *= correction;
					for (int j = 0; j < count; j++)
						o[c] += s[j] * V_tile[(first + j) * d + c];
				}
			}
		}
		for (int c = 0; c < d && row < N; c++) // the last tile may have more threads than rows
			O[(head * N + row) * d + c] = o[c] / l;
		if (row < N)
			LSE[head * N + row] = m + logf(l);
	}
}

// ---- launchers ----

static int round_up(int value, int step)
{
	return (value + step - 1) / step * step;
}

extern "C" size_t fa1_paper_shared_bytes(int d, struct tile tile)
{
	return sizeof(float) * tile.Bc * (2 * (size_t)d + tile.Br);
}

extern "C" size_t fa1_row_shared_bytes(int d, struct tile tile)
{
	int D = round_up(d, WARP);
	return sizeof(float) * 2 * D * (size_t)round_up(tile.Bc, D <= 64 ? KEYS_AT_ONCE<64> : KEYS_AT_ONCE<128>);
}

extern "C" size_t fa1_row_dynamic_shared_bytes(int d, struct tile tile)
{
	return sizeof(float) * 2 * d * (size_t)tile.Bc;
}

static bool usable(const struct attention &a)
{
	return a.heads >= 1 && a.N >= 1 && a.d >= 1 && a.d <= FA1_MOST_DIM && a.tile.Br >= 1 && a.tile.Bc >= 1;
}

// Above 48 KB a kernel has to ask for its shared memory; what is over the device's limit is refused here.
template <class Kernel>
static cudaError_t opt_in(Kernel *kernel, size_t bytes)
{
	return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
}

template <int D>
static cudaError_t launch_paper(const struct attention &a)
{
	size_t bytes = fa1_paper_shared_bytes(a.d, a.tile);
	cudaError_t status = opt_in(fa1_paper<D>, bytes);
	if (status != cudaSuccess)
		return status;
	fa1_paper<D><<<a.heads, PAPER_THREADS, bytes>>>(
		a.Q, a.K, a.V, a.O, a.l, a.m, a.N, a.d, a.tile.Br, a.tile.Bc, a.causal, a.scale);
	return cudaGetLastError();
}

template <int D>
static cudaError_t launch_row(const struct attention &a)
{
	size_t bytes = fa1_row_shared_bytes(a.d, a.tile);
	cudaError_t status = opt_in(fa1_row<D>, bytes);
	if (status != cudaSuccess)
		return status;
	fa1_row<D><<<a.heads, a.tile.Br, bytes>>>(a.Q, a.K, a.V, a.O, a.LSE, a.N, a.d, a.tile.Bc, a.causal, a.scale);
	return cudaGetLastError();
}

template <int MOST_DIM>
static cudaError_t launch_row_dynamic(const struct attention &a)
{
	size_t bytes = fa1_row_dynamic_shared_bytes(a.d, a.tile);
	cudaError_t status = opt_in(fa1_row_dynamic<MOST_DIM>, bytes);
	if (status != cudaSuccess)
		return status;
	fa1_row_dynamic<MOST_DIM>
		<<<a.heads, a.tile.Br, bytes>>>(a.Q, a.K, a.V, a.O, a.LSE, a.N, a.d, a.tile.Bc, a.causal, a.scale);
	return cudaGetLastError();
}

extern "C" cudaError_t launch_fa1_paper(struct attention a)
{
	if (!usable(a))
		return cudaErrorInvalidValue;
	switch (round_up(a.d, WARP)) {
	case 32: return launch_paper<32>(a);
	case 64: return launch_paper<64>(a);
	case 96: return launch_paper<96>(a);
	default: return launch_paper<128>(a);
	}
}

extern "C" cudaError_t launch_fa1_row(struct attention a)
{
	if (!usable(a) || a.tile.Br > FA1_MOST_ROW_THREADS)
		return cudaErrorInvalidValue;
	switch (round_up(a.d, WARP)) {
	case 32: return launch_row<32>(a);
	case 64: return launch_row<64>(a);
	case 96: return launch_row<96>(a);
	default: return launch_row<128>(a);
	}
}

extern "C" cudaError_t launch_fa1_row_dynamic(struct attention a)
{
	if (!usable(a) || a.tile.Br > FA1_MOST_ROW_THREADS)
		return cudaErrorInvalidValue;
	return a.d <= 64 ? launch_row_dynamic<64>(a) : launch_row_dynamic<FA1_MOST_DIM>(a);
}
