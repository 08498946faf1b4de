/*
 * Chapter 06: the backward pass. New since chapter 05: nothing but gradients, of the same attention.
 *
 *     naive     six kernels in the order of the derivation; P, dP and dS travel through HBM
 *     split     backward_preprocess, backward_dkdv, backward_dq: P recomputed in tiles, no atomics
 *     atomic    backward_preprocess, backward_atomic: one pass, dQ collected by atomicAdd
 *
 * Build and run: make, or make DEVICE=cuda. Honestly: split computes S and dP twice, 14 N²d FLOP against 10, to give
 * the same bits every time; in fp32 all three are bound by arithmetic, and tensor cores are not touched.
 */
#include "backward.h"

#include <math.h>

constexpr int WARP = 32;
constexpr int LANES_ACROSS = 8, LANES_DOWN = 4; // of a warp with a tile: 4 rows x 8 columns of lanes
constexpr int ROWS = 4;                         // rows of a lane
constexpr int ROWS_OF_WARP = LANES_DOWN * ROWS;
constexpr int PAD = 4;            // of a tile's rows: see load_tile
constexpr int SLAB_PAD = 8;       // of the slab's rows: see store_slab
constexpr int ROW_THREADS = 128;  // of a kernel with a block for each row
constexpr int ROWS_PER_BLOCK = 4; // of a kernel with a warp for each row

static_assert(LANES_DOWN * LANES_ACROSS == WARP, "the lanes of a warp fill their grid");

// ---- naive: one kernel for each line of the derivation ----

__device__ float sum_over_warp(float value)
{
	for (int distance = WARP / 2; distance > 0; distance /= 2)
		value += __shfl_xor_sync(0xffffffff, value, distance);
	return value;
}

// exp(S - L) is a weight that is already normalised: exp(S - m) / l = exp(S - m - ln l). A row without any key has
// L = -inf; its weights are 0, not exp(-inf + inf).
__device__ float probability(float score, float L, bool visible)
{
	return visible && L != -INFINITY ? expf(score - L) : 0.0f;
}

// P[i, j] = exp(S[i, j] - L[i]). The score is summed exactly as in multiply_rows: scale q first, then one fused
// multiply-add for each column, from the first to the last.
__global__ void probabilities(
	const float *Q,   // [heads, N, d]
	const float *K,   // [heads, N, d]
	const float *LSE, // [heads, N]
	float *P,         // [heads, N, N]
	int N, int d, bool causal, float scale)
{
	size_t row = blockIdx.x;
	size_t head = row / N;
	int i = row % N;
	for (int j = threadIdx.x; j < N; j += blockDim.x) {
		float score = 0.0f;
		for (int c = 0; c < d; c++)
			score = fmaf(scale * Q[row * d + c], K[(head * N + j) * d + c], score);
		P[row * N + j] = probability(score, LSE[row], !causal || j <= i);
	}
}

// Row j of A^T B times a factor: sum over i of A[i, j] B[i, c], a block for each j, a thread for each c.
__device__ void transposed_product(
	const float *A, // [heads, N, N]
	const float *B, // [heads, N, d]
	float *result,  // [heads, N, d]
	int N, int d, float factor)
{
	size_t row = blockIdx.x;
	size_t head = row / N;
	int j = row % N, c = threadIdx.x;
	if (c >= d)
		return; // blocks are whole warps; d may be any number
	float sum = 0.0f;
	for (int i = 0; i < N; i++)
		sum += A[(head * N + i) * N + j] * B[(head * N + i) * d + c];
	result[row * d + c] = factor * sum;
}

// dV = P^T dO
__global__ void gradient_of_v(const float *P, const float *dO, float *dV, int N, int d)
{
	transposed_product(P, dO, dV, N, d, 1.0f);
}

// dP = dO V^T
__global__ void gradient_of_p(
	const float *dO, // [heads, N, d]
	const float *V,  // [heads, N, d]
	float *dP,       // [heads, N, N]
	int N, int d)
{
	size_t row = blockIdx.x;
	size_t head = row / N;
	for (int j = threadIdx.x; j < N; j += blockDim.x) {
		float sum = 0.0f;
		for (int c = 0; c < d; c++)
			sum += dO[row * d + c] * V[(head * N + j) * d + c];
		dP[row * N + j] = sum;
	}
}

// dS = P o (dP - D), where D[i] = sum over j of P[i, j] dP[i, j]: the softmax Jacobian diag(p) - p p^T, times dP.
__global__ void gradient_of_s(
	const float *P,  // [rows, N]
	const float *dP, // [rows, N]
	float *dS,       // [rows, N]
	size_t rows, int N)
{
	size_t row = blockIdx.x * (size_t)ROWS_PER_BLOCK + threadIdx.x / WARP;
	int lane = threadIdx.x % WARP;
	if (row >= rows)
		return; // a warp leaves as one: no shuffle waits for it
	float D = 0.0f;
	for (int j = lane; j < N; j += WARP)
		D += P[row * N + j] * dP[row * N + j];
	D = sum_over_warp(D);
	for (int j = lane; j < N; j += WARP)
		dS[row * N + j] = P[row * N + j] * (dP[row * N + j] - D);
}

// dQ = scale dS K
__global__ void gradient_of_q(
	const float *dS, // [heads, N, N]
	const float *K,  // [heads, N, d]
	float *dQ,       // [heads, N, d]
	int N, int d, float scale)
{
	size_t row = blockIdx.x;
	size_t head = row / N;
	int c = threadIdx.x;
	if (c >= d)
		return; // blocks are whole warps
	float sum = 0.0f;
	for (int j = 0; j < N; j++)
		sum += dS[row * N + j] * K[(head * N + j) * d + c];
	dQ[row * d + c] = scale * sum;
}

// dK = scale dS^T Q
__global__ void gradient_of_k(const float *dS, const float *Q, float *dK, int N, int d, float scale)
{
	transposed_product(dS, Q, dK, N, d, scale);
}

// ---- tiles: what the four kernels below share ----
//
// A block has TILE rows of its own (keys in backward_dkdv, queries in backward_dq) and streams tiles of TILE rows of
// the other kind past them. A warp owns 16 of the block's rows; its lanes are a grid of 4 x 8:
//
//                     streamed rows 0 1 2 ... 7 | 8 ... 15 | ...      columns of d, four at a time
//     own row  0, 4, 8, 12    lane  0 1 2 ... 7 | 0 ...  7 |          lane 0 0 0 0 1 1 1 1 ... 7 7 7 7 | 0 ...
//              1, 5, 9, 13          8 9   ... 15                           8 8 8 8 9 ...
//              2, 6, 10, 14        16     ... 23
//              3, 7, 11, 15        24     ... 31
//
// In a product of rows (S, dP) a lane has 4 own rows x TILE/8 streamed rows, in a sum of rows (dQ, dK, dV) 4 own
// rows x D/8 columns: with tiles of 64 at d = 64 three loads of 16 bytes feed 32 multiplications either way. Loops
// over such constants are unrolled by nvcc, so that the arrays become registers (make ptxas: no stack frame).
//
// Between the two, the weights of the warp's 16 rows pass through a slab of shared memory that no other warp touches:
// __syncwarp is enough.

__device__ int lane_row()
{
	return threadIdx.x / WARP * ROWS_OF_WARP + threadIdx.x % WARP / LANES_ACROSS;
}

__device__ int lane_column()
{
	return threadIdx.x % LANES_ACROSS;
}

__device__ void load4(const float *from, float (&to)[4])
{
	float4 four = *(const float4 *)from; // one shared-memory load of 16 bytes
	to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

// tile[row, c] = factor * from[first_row + row, c], zero outside the tensor. Only real elements are requested, each
// by one thread. Rows are D + 4 floats apart, so that eight lanes that read 16 bytes of eight rows hit all 32 banks.
template <int D, int TILE>
__device__ void load_tile(
	const float *from, // [N, d], of this head
	int first_row, int N, int d, float factor, float *tile)
{
	if (d % 4 == 0) { // 16 bytes at a time: every row begins at a multiple of 16 bytes
		for (int index = threadIdx.x; index < TILE * D / 4; index += blockDim.x) {
			int row = index / (D / 4), c = index % (D / 4) * 4;
			float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
			if (first_row + row < N && c < d)
				four = *(const float4 *)(from + (size_t)(first_row + row) * d + c);
			four = make_float4(factor * four.x, factor * four.y, factor * four.z, factor * four.w);
			*(float4 *)(tile + row * (D + PAD) + c) = four;
		}
	} else {
		for (int index = threadIdx.x; index < TILE * D; index += blockDim.x) {
			int row = index / D, c = index % D;
			bool inside = first_row + row < N && c < d;
			float one = inside ? from[(size_t)(first_row + row) * d + c] : 0.0f;
			tile[row * (D + PAD) + c] = factor * one;
		}
	}
}

// dots[r][t] = sum over c of own[row r, c] * streamed[row t, c]: S with Q scaled, dP with dO and V. Every kernel of
// this file that needs S, the forward too, gets it here: the same numbers in the same order, fused explicitly, so
// that no compiler can round S differently in two places. exp(S - LSE) sums to 1 only then.
template <int D, int TILE>
__device__ void multiply_rows(const float *own, const float *streamed, float (&dots)[ROWS][TILE / LANES_ACROSS])
{
	own += lane_row() * (D + PAD);
	streamed += lane_column() * (D + PAD);
	for (int r = 0; r < ROWS; r++)
		for (int t = 0; t < TILE / LANES_ACROSS; t++)
			dots[r][t] = 0.0f;
#pragma unroll 2
	for (int c = 0; c < D; c += 4) {
		float a[ROWS][4], b[4];
		for (int r = 0; r < ROWS; r++)
			load4(own + LANES_DOWN * r * (D + PAD) + c, a[r]);
		for (int t = 0; t < TILE / LANES_ACROSS; t++) {
			load4(streamed + LANES_ACROSS * t * (D + PAD) + c, b);
			for (int r = 0; r < ROWS; r++)
				for (int e = 0; e < 4; e++)
					dots[r][t] = fmaf(a[r][e], b[e], dots[r][t]);
		}
	}
}

// Puts a lane's weights where all lanes of its warp can read them. Rows are TILE + 8 floats apart: the four rows the
// lanes of a warp write at once then lie in different banks.
template <int TILE>
__device__ void store_slab(const float (&weights)[ROWS][TILE / LANES_ACROSS], float *slab)
{
	__syncwarp(); // lanes may still be reading what the slab held before
	slab += lane_row() * (TILE + SLAB_PAD) + lane_column();
	for (int r = 0; r < ROWS; r++)
		for (int t = 0; t < TILE / LANES_ACROSS; t++)
			slab[LANES_DOWN * r * (TILE + SLAB_PAD) + LANES_ACROSS * t] = weights[r][t];
	__syncwarp(); // each lane goes on to read what the other 31 wrote
}

// sums[r][c] += sum over j of slab[row r, j] * streamed[j, c]: dV with P and dO, dK with dS and Q, dQ with dS and K.
template <int D, int TILE>
__device__ void add_products(const float *slab, const float *streamed, float (&sums)[ROWS][D / LANES_ACROSS])
{
	slab += lane_row() * (TILE + SLAB_PAD);
	streamed += 4 * lane_column();
#pragma unroll 2
	for (int j = 0; j < TILE; j += 4) {
		float weight[ROWS][4], b[4];
		for (int r = 0; r < ROWS; r++)
			load4(slab + LANES_DOWN * r * (TILE + SLAB_PAD) + j, weight[r]);
		for (int s = 0; s < 4; s++)
			for (int u = 0; u < D / WARP; u++) {
				load4(streamed + (j + s) * (D + PAD) + WARP * u, b);
				for (int r = 0; r < ROWS; r++)
					for (int e = 0; e < 4; e++)
						sums[r][4 * u + e] += weight[r][s] * b[e];
			}
	}
}

template <int COLUMNS>
__device__ void clear(float (&sums)[ROWS][COLUMNS])
{
	for (int r = 0; r < ROWS; r++)
		for (int c = 0; c < COLUMNS; c++)
			sums[r][c] = 0.0f;
}

// to[first_row + row, c] = factor * sums: only rows and columns that exist.
template <int D>
__device__ void store_rows(
	const float (&sums)[ROWS][D / LANES_ACROSS], float factor, float *to, // [N, d]
	int first_row, int N, int d)
{
	for (int r = 0; r < ROWS; r++) {
		int row = first_row + lane_row() + LANES_DOWN * r;
		for (int u = 0; u < D / WARP; u++) {
			int c = WARP * u + 4 * lane_column();
			float4 four = make_float4(
				factor * sums[r][4 * u], factor * sums[r][4 * u + 1], factor * sums[r][4 * u + 2],
				factor * sums[r][4 * u + 3]);
			float *at = to + (size_t)row * d + c;
			if (row < N && d % 4 == 0 && c < d) {
				*(float4 *)at = four;
			} else if (row < N && d % 4 != 0) {
				float one[4] = {four.x, four.y, four.z, four.w};
				for (int e = 0; e < 4; e++)
					if (c + e < d)
						at[e] = one[e];
			}
		}
	}
}

// ---- forward: O and LSE, as in chapter 05, from the scores that the backward will compute again ----

__device__ float max_over_row(float value)
{
	for (int distance = LANES_ACROSS / 2; distance > 0; distance /= 2)
		value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, distance));
	return value;
}

__device__ float sum_over_row(float value)
{
	for (int distance = LANES_ACROSS / 2; distance > 0; distance /= 2)
		value += __shfl_xor_sync(0xffffffff, value, distance);
	return value;
}

// The online softmax for one row of a tile: scores become exp(s - m), m and the lane's part of l move on. `visible`
// keys are those before `end`. Returns the factor for what was summed under the old m.
template <int COLUMNS>
__device__ float soften_row(float (&s)[COLUMNS], int first_key, int end, float &m, float &l)
{
	float m_new = m, sum = 0.0f;
	for (int t = 0; t < COLUMNS; t++) {
		s[t] = first_key + LANES_ACROSS * t < end ? s[t] : -INFINITY;
		m_new = fmaxf(m_new, s[t]);
	}
	m_new = max_over_row(m_new);
	float shift = m_new == -INFINITY ? 0.0f : m_new; // no key yet: exp(-inf + inf) would be NaN
	float correction = expf(m - shift);
	for (int t = 0; t < COLUMNS; t++) {
		s[t] = expf(s[t] - shift);
		sum += s[t];
	}
	m = m_new;
	l = correction * l + sum;
	return correction;
}

// A block for each tile of queries; K and V stream past it.
template <int D, int TILE>
__global__ void __launch_bounds__(2 * TILE, 128 / TILE) forward(struct backward b)
{
	extern __shared__ float4 shared_memory[];
	float *q_tile = (float *)shared_memory;    // [TILE, D + 4], scale Q
	float *k_tile = q_tile + TILE * (D + PAD); // [TILE, D + 4]
	float *v_tile = k_tile + TILE * (D + PAD); // [TILE, D + 4]
	float *slab = v_tile + TILE * (D + PAD);   // [TILE, TILE + 8], P
	int tiles = (b.N + TILE - 1) / TILE;
	size_t head = blockIdx.x / tiles;
	size_t matrix = head * b.N * b.d;
	int first_query = blockIdx.x % tiles * TILE;
	int keys = b.causal ? min(first_query + TILE, b.N) : b.N; // later tiles hold nothing these queries see

	float m[ROWS], l[ROWS], p[ROWS][TILE / LANES_ACROSS], o[ROWS][D / LANES_ACROSS];
	clear(o);
	for (int r = 0; r < ROWS; r++)
		m[r] = -INFINITY, l[r] = 0.0f;
	load_tile<D, TILE>(b.Q + matrix, first_query, b.N, b.d, b.scale, q_tile);
	for (int first_key = 0; first_key < keys; first_key += TILE) {
		__syncthreads(); // a slow warp may still be reading the last tiles
		load_tile<D, TILE>(b.K + matrix, first_key, b.N, b.d, 1.0f, k_tile);
		load_tile<D, TILE>(b.V + matrix, first_key, b.N, b.d, 1.0f, v_tile);
		__syncthreads(); // every warp reads rows that other warps loaded
		multiply_rows<D, TILE>(q_tile, k_tile, p);
		for (int r = 0; r < ROWS; r++) {
			int query = first_query + lane_row() + LANES_DOWN * r;
			int end = b.causal ? min(query + 1, b.N) : b.N;
			float correction = soften_row(p[r], first_key + lane_column(), end, m[r], l[r]);
			for (int c = 0; c < D / LANES_ACROSS; c++)
				o[r][c] *= correction;
		}
		store_slab<TILE>(p, slab);
		add_products<D, TILE>(slab, v_tile, o);
	}
	for (int r = 0; r < ROWS; r++) {
		float sum = sum_over_row(l[r]);
		float inverse = sum > 0.0f ? 1.0f / sum : 0.0f; // a row without keys is 0
		int query = first_query + lane_row() + LANES_DOWN * r;
		for (int c = 0; c < D / LANES_ACROSS; c++)
			o[r][c] *= inverse;
		if (query < b.N && lane_column() == 0)
			b.LSE[head * b.N + query] = sum > 0.0f ? m[r] + logf(sum) : -INFINITY;
	}
	store_rows<D>(o, 1.0f, b.O + matrix, first_query, b.N, b.d);
}

// ---- backward without the N x N matrices ----

// D[i] = sum over c of dO[i, c] O[i, c], which is sum over j of P[i, j] dP[i, j] without any j: d terms in the place
// of N. A warp for each row.
__global__ void backward_preprocess(
	const float *dO, // [rows, d]
	const float *O,  // [rows, d]
	float *D,        // [rows]
	size_t rows, int d)
{
	size_t row = blockIdx.x * (size_t)ROWS_PER_BLOCK + threadIdx.x / WARP;
	int lane = threadIdx.x % WARP;
	if (row >= rows)
		return; // a warp leaves as one: no shuffle waits for it
	float sum = 0.0f;
	// task 06.delta: D, the sum over keys without any key
#ifndef HANDOUT
	// solution e543d5b883c2
	for (int c = lane; c < d; c += WARP)
		sum += dO[row * d + c] * O[row * d + c];
	sum = sum_over_warp(sum);
	if (lane == 0)
		D[row] = sum;
#else
	// TODO (about 5 lines): D[row], the sum over c of dO[row, c] O[row, c]. A lane takes every WARP-th column.
	// Hint: all 32 lanes have to call sum_over_warp; one of them writes.
	(void)dO, (void)O, (void)D, (void)d, (void)&lane, (void)&sum;
#endif
	// end 06.delta
}

// LSE and D of TILE queries: 2 TILE threads, so each fetches one number.
template <int TILE>
__device__ void load_statistics(
	const float *LSE, const float *D, // [N], of this head
	int first_query, int N, float *lse_tile, float *d_tile)
{
	int row = threadIdx.x % TILE;
	bool inside = first_query + row < N;
	if (threadIdx.x < TILE)
		lse_tile[row] = inside ? LSE[first_query + row] : -INFINITY;
	else
		d_tile[row] = inside ? D[first_query + row] : 0.0f;
}

// S^T of a tile (rows keys, columns queries) becomes P^T.
template <int TILE>
__device__ void weigh_keys(
	float (&s)[ROWS][TILE / LANES_ACROSS], const float *lse_tile, int first_key, int first_query,
	const struct backward &b)
{
	for (int t = 0; t < TILE / LANES_ACROSS; t++) {
		int column = lane_column() + LANES_ACROSS * t, query = first_query + column;
		float L = lse_tile[column]; // -inf for a query beyond N: it has no weights
		for (int r = 0; r < ROWS; r++) {
			int key = first_key + lane_row() + LANES_DOWN * r;
			s[r][t] = probability(s[r][t], L, key < b.N && (!b.causal || key <= query));
		}
	}
}

// dQ[i, c] += scale * sum over j of dS[i, j] K[j, c], i and c of this tile, j over the block's keys: what this block
// has to say about dQ. The other blocks of the head add theirs, in whatever order they come.
template <int D, int TILE>
__device__ void add_to_dq(
	const float *slab, const float *k_tile, float scale, float *dQ, // [N, d]
	int first_query, int N, int d)
{
	float sums[ROWS][D / LANES_ACROSS], weight[ROWS], k[4];
	int row = threadIdx.x / WARP * ROWS_OF_WARP + threadIdx.x % WARP / LANES_ACROSS * ROWS; // four neighbours
	clear(sums);
#pragma unroll 4
	for (int j = 0; j < TILE; j++) {
		load4(slab + j * (TILE + SLAB_PAD) + row, weight);
		for (int u = 0; u < D / WARP; u++) {
			load4(k_tile + j * (D + PAD) + WARP * u + 4 * lane_column(), k);
			for (int r = 0; r < ROWS; r++)
				for (int e = 0; e < 4; e++)
					sums[r][4 * u + e] += weight[r] * k[e];
		}
	}
	for (int r = 0; r < ROWS; r++)
		for (int c = 0; c < D / LANES_ACROSS; c++) {
			int query = first_query + row + r, column = c / 4 * WARP + 4 * lane_column() + c % 4;
			if (query < N && column < d)
				atomicAdd(dQ + (size_t)query * d + column, scale * sums[r][c]);
		}
}

// A block's TILE keys meet all queries that see them. dK and dV stay in registers; K, V, then Q and dO are in shared
// memory, and the slab holds P^T first, then dS^T:
//
//     k_tile v_tile           [TILE, D + 4]     the block's own
//     q_tile do_tile          [TILE, D + 4]     streamed, Q times scale
//     slab                    [TILE, TILE + 8]  16 rows for each warp
//     lse_tile d_tile         [TILE]            of the streamed queries
template <int D, int TILE, bool ADD_TO_DQ>
__device__ void pass_over_queries(const struct backward &b)
{
	extern __shared__ float4 shared_memory[];
	float *k_tile = (float *)shared_memory, *v_tile = k_tile + TILE * (D + PAD);
	float *q_tile = v_tile + TILE * (D + PAD), *do_tile = q_tile + TILE * (D + PAD);
	float *slab = do_tile + TILE * (D + PAD);
	float *lse_tile = slab + TILE * (TILE + SLAB_PAD), *d_tile = lse_tile + TILE;
	int tiles = (b.N + TILE - 1) / TILE;
	size_t head = blockIdx.x / tiles, matrix = head * b.N * b.d;
	int first_key = blockIdx.x % tiles * TILE;

	float p[ROWS][TILE / LANES_ACROSS], ds[ROWS][TILE / LANES_ACROSS];
	float dk[ROWS][D / LANES_ACROSS], dv[ROWS][D / LANES_ACROSS];
	clear(dk);
	clear(dv);
	load_tile<D, TILE>(b.K + matrix, first_key, b.N, b.d, 1.0f, k_tile);
	load_tile<D, TILE>(b.V + matrix, first_key, b.N, b.d, 1.0f, v_tile);
	// Causal: queries before first_key see none of these keys.
	for (int first_query = b.causal ? first_key : 0; first_query < b.N; first_query += TILE) {
		__syncthreads(); // a slow warp may still be reading the last tiles
		load_tile<D, TILE>(b.Q + matrix, first_query, b.N, b.d, b.scale, q_tile);
		load_tile<D, TILE>(b.dO + matrix, first_query, b.N, b.d, 1.0f, do_tile);
		load_statistics<TILE>(b.LSE + head * b.N, b.D + head * b.N, first_query, b.N, lse_tile, d_tile);
		__syncthreads(); // every warp reads rows that other warps loaded

		// task 06.ds: P, dV, dP, dS, dK of a tile of queries
#ifndef HANDOUT
		// solution 9dd18c863576
		multiply_rows<D, TILE>(k_tile, q_tile, p); // S^T
		weigh_keys<TILE>(p, lse_tile, first_key, first_query, b);
		store_slab<TILE>(p, slab);
		add_products<D, TILE>(slab, do_tile, dv); // dV += P^T dO

		multiply_rows<D, TILE>(v_tile, do_tile, ds); // dP^T
		for (int r = 0; r < ROWS; r++)
			for (int t = 0; t < TILE / LANES_ACROSS; t++) // dS^T = P^T o (dP^T - D)
				ds[r][t] = p[r][t] * (ds[r][t] - d_tile[lane_column() + LANES_ACROSS * t]);
		store_slab<TILE>(ds, slab);
		add_products<D, TILE>(slab, q_tile, dk); // dK += dS^T (scale Q)
#else
		// TODO (about 10 lines): the products of this tile, with keys as rows and queries as columns:
		//     S^T = K (scale Q)^T    P^T by weigh_keys    dV += P^T dO
		//     dP^T = V dO^T          dS^T = P^T o (dP^T - D)    dK += dS^T (scale Q)
		// Hint: multiply_rows gives S^T and dP^T; store_slab, then add_products, gives dV and dK. p[r][t]
		// belongs to column lane_column() + LANES_ACROSS * t of the tile, and so does its D.
		(void)p, (void)ds, (void)slab, (void)lse_tile, (void)d_tile;
#endif
		// end 06.ds
		if (ADD_TO_DQ) {
			__syncthreads(); // dQ sums over all keys of the block: the slabs of all warps
			add_to_dq<D, TILE>(slab, k_tile, b.scale, b.dQ + matrix, first_query, b.N, b.d);
		}
	}
	store_rows<D>(dk, 1.0f, b.dK + matrix, first_key, b.N, b.d);
	store_rows<D>(dv, 1.0f, b.dV + matrix, first_key, b.N, b.d);
}

// Deterministic: dK and dV of a key are summed by one block, in the order of the queries.
template <int D, int TILE>
__global__ void __launch_bounds__(2 * TILE, 128 / TILE) backward_dkdv(struct backward b)
{
	pass_over_queries<D, TILE, false>(b);
}

// The paper's single pass: dQ of a query is a sum over blocks, which finish in no particular order.
template <int D, int TILE>
__global__ void __launch_bounds__(2 * TILE, 128 / TILE) backward_atomic(struct backward b)
{
	pass_over_queries<D, TILE, true>(b);
}

// The other half of split: a block for each tile of queries, K and V stream past. Shared memory as above, with the
// roles of queries and keys exchanged; the slab holds dS.
template <int D, int TILE>
__global__ void __launch_bounds__(2 * TILE, 128 / TILE) backward_dq(struct backward b)
{
	extern __shared__ float4 shared_memory[];
	float *q_tile = (float *)shared_memory, *do_tile = q_tile + TILE * (D + PAD);
	float *k_tile = do_tile + TILE * (D + PAD), *v_tile = k_tile + TILE * (D + PAD);
	float *slab = v_tile + TILE * (D + PAD);
	float *lse_tile = slab + TILE * (TILE + SLAB_PAD), *d_tile = lse_tile + TILE;
	int tiles = (b.N + TILE - 1) / TILE;
	size_t head = blockIdx.x / tiles, matrix = head * b.N * b.d;
	int first_query = blockIdx.x % tiles * TILE;
	int keys = b.causal ? min(first_query + TILE, b.N) : b.N; // later tiles hold nothing these queries see

	float p[ROWS][TILE / LANES_ACROSS], ds[ROWS][TILE / LANES_ACROSS], dq[ROWS][D / LANES_ACROSS];
	clear(dq);
	load_tile<D, TILE>(b.Q + matrix, first_query, b.N, b.d, b.scale, q_tile);
	load_tile<D, TILE>(b.dO + matrix, first_query, b.N, b.d, 1.0f, do_tile);
	load_statistics<TILE>(b.LSE + head * b.N, b.D + head * b.N, first_query, b.N, lse_tile, d_tile);
	for (int first_key = 0; first_key < keys; first_key += TILE) {
		__syncthreads(); // a slow warp may still be reading the last tiles
		load_tile<D, TILE>(b.K + matrix, first_key, b.N, b.d, 1.0f, k_tile);
		load_tile<D, TILE>(b.V + matrix, first_key, b.N, b.d, 1.0f, v_tile);
		__syncthreads(); // every warp reads rows that other warps loaded

		// task 06.dq: dS once more, for dQ
#ifndef HANDOUT
		// solution f98dd8e1d5f5
		multiply_rows<D, TILE>(q_tile, k_tile, p);   // S
		multiply_rows<D, TILE>(do_tile, v_tile, ds); // dP
		for (int r = 0; r < ROWS; r++) {
			int row = lane_row() + LANES_DOWN * r, query = first_query + row;
			float L = lse_tile[row], D_row = d_tile[row];
			for (int t = 0; t < TILE / LANES_ACROSS; t++) { // dS = P o (dP - D)
				int key = first_key + lane_column() + LANES_ACROSS * t;
				float weight = probability(p[r][t], L, key < b.N && (!b.causal || key <= query));
				ds[r][t] = weight * (ds[r][t] - D_row);
			}
		}
		store_slab<TILE>(ds, slab);
		add_products<D, TILE>(slab, k_tile, dq); // dQ += dS K
#else
		// TODO (about 13 lines): S = (scale Q) K^T, dP = dO V^T, P, dS = P o (dP - D), and dQ += dS K, with
		// queries as rows and keys as columns.
		// Hint: as in pass_over_queries, roles exchanged: L and D now belong to row lane_row() + LANES_DOWN
		// * r. probability(S, L, visible) is 0 for what the query may not see: keys from N on, and after it
		// when causal.
		(void)p, (void)ds, (void)slab, (void)lse_tile, (void)d_tile;
#endif
		// end 06.dq
	}
	store_rows<D>(dq, b.scale, b.dQ + matrix, first_query, b.N, b.d);
}

// ---- launchers ----

enum step { FORWARD, DKDV, DQ, ATOMIC };

template <int D, int TILE>
static cudaError_t launch_tiles(enum step step, struct backward b)
{
	constexpr size_t shared_bytes = sizeof(float) * TILE * (4 * (D + PAD) + TILE + SLAB_PAD + 2);
	void (*const kernels[])(struct backward) = {
		forward<D, TILE>, backward_dkdv<D, TILE>, backward_dq<D, TILE>, backward_atomic<D, TILE>};
	size_t blocks = (size_t)b.heads * ((b.N + TILE - 1) / TILE);
	if (blocks > 0x7fffffff)
		return cudaErrorInvalidConfiguration; // a grid has at most 2^31 - 1 blocks
	// More than 48 KB has to be asked for. A device that does not have it says so here.
	cudaError_t status =
		cudaFuncSetAttribute(kernels[step], cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
	if (status != cudaSuccess)
		return status;
	switch (step) {
	case FORWARD: forward<D, TILE><<<blocks, 2 * TILE, shared_bytes>>>(b); break;
	case DKDV: backward_dkdv<D, TILE><<<blocks, 2 * TILE, shared_bytes>>>(b); break;
	case DQ: backward_dq<D, TILE><<<blocks, 2 * TILE, shared_bytes>>>(b); break;
	case ATOMIC: backward_atomic<D, TILE><<<blocks, 2 * TILE, shared_bytes>>>(b); break;
	}
	return cudaGetLastError();
}

template <int D>
static cudaError_t launch_dimension(enum step step, struct backward b)
{
	if (b.tile == 64)
		return launch_tiles<D, 64>(step, b);
	return b.tile == 32 ? launch_tiles<D, 32>(step, b) : cudaErrorInvalidValue;
}

static cudaError_t launch(enum step step, struct backward b)
{
	if (b.d <= 32)
		return launch_dimension<32>(step, b);
	if (b.d <= 64)
		return launch_dimension<64>(step, b);
	if (b.d <= 96)
		return launch_dimension<96>(step, b);
	return b.d <= 128 ? launch_dimension<128>(step, b) : cudaErrorInvalidValue;
}

static cudaError_t preprocess(struct backward b)
{
	size_t rows = (size_t)b.heads * b.N;
	if (rows > 0x7fffffff)
		return cudaErrorInvalidConfiguration;
	unsigned blocks = (rows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK;
	backward_preprocess<<<blocks, ROWS_PER_BLOCK * WARP>>>(b.dO, b.O, b.D, rows, b.d);
	return cudaGetLastError();
}

extern "C" int backward_default_tile(int d)
{
	return d <= 64 ? 64 : 32;
}

extern "C" size_t backward_shared_bytes(int d, int tile)
{
	int D = (d + WARP - 1) / WARP * WARP;
	return sizeof(float) * tile * (4 * (D + PAD) + tile + SLAB_PAD + 2);
}

extern "C" cudaError_t attention_forward(struct backward b)
{
	return launch(FORWARD, b);
}

extern "C" cudaError_t attention_backward_naive(struct backward b)
{
	size_t rows = (size_t)b.heads * b.N;
	unsigned warps = (rows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK,
		 column_threads = (b.d + WARP - 1) / WARP * WARP;
	if (rows > 0x7fffffff)
		return cudaErrorInvalidConfiguration; // a grid has at most 2^31 - 1 blocks

	probabilities<<<rows, ROW_THREADS>>>(b.Q, b.K, b.LSE, b.P, b.N, b.d, b.causal, b.scale);
	gradient_of_v<<<rows, column_threads>>>(b.P, b.dO, b.dV, b.N, b.d);
	gradient_of_p<<<rows, ROW_THREADS>>>(b.dO, b.V, b.dP, b.N, b.d);
	gradient_of_s<<<warps, ROWS_PER_BLOCK * WARP>>>(b.P, b.dP, b.dS, rows, b.N);
	gradient_of_q<<<rows, column_threads>>>(b.dS, b.K, b.dQ, b.N, b.d, b.scale);
	gradient_of_k<<<rows, column_threads>>>(b.dS, b.Q, b.dK, b.N, b.d, b.scale);
	return cudaGetLastError(); // of any of the six: an error stays until it is asked for
}

extern "C" cudaError_t attention_backward_split(struct backward b)
{
	cudaError_t status = preprocess(b);
	if (status == cudaSuccess)
		status = launch(DKDV, b);
	return status == cudaSuccess ? launch(DQ, b) : status;
}

extern "C" cudaError_t attention_backward_atomic(struct backward b)
{
	size_t bytes = sizeof(float) * b.heads * b.N * b.d;
	cudaError_t status = cudaMemsetAsync(b.dQ, 0, bytes, 0); // blocks only add
	if (status == cudaSuccess)
		status = preprocess(b);
	return status == cudaSuccess ? launch(ATOMIC, b) : status;
}
