/*
 * Chapter 04, second of two: fa1_paper, Algorithm 1 as printed. New since row.cu: the outer loop goes over K and V, the
 * inner one over Q, so O, l and m are kept in HBM from one tile of keys to the next; each tile has a maximum m~ of its
 * own; and O is divided by l after each tile.
 *
 * Build and run: make, or make DEVICE=cuda. Limit: 8 heads are 8 blocks and leave 124 of an H100's 132 SMs idle; at the
 * default Br = 64 half of a block's threads have no row; O, l, m are read and written per tile, one column at a time.
 */
#include "launch.cuh"
#include "load_run.cuh"

#include <math.h>

constexpr int PAPER_THREADS = 128;

static_assert(PAPER_THREADS % WARP == 0, "a block is made of whole warps");

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
		float dot = 0.0f;
#pragma unroll
		for (int c = 0; c < D; c++)
			if (c < d) // beyond d lies the next key
				dot += q_row[c] * K_tile[j * d + c];
		float s = j < visible ? scale * dot : -INFINITY;
		S[j * stride] = s;
		m_tile = fmaxf(m_tile, s);
		// end 04.scores
	}
	return m_tile;
}

// S becomes P~ = exp(S - m~); returns its sum.
__device__ float exponentiate_row(float *S, int stride, int keys, float m_tile)
{
	// task 04.exponentiate: P~ and l~ of a tile, masked rows too
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
	// end 04.exponentiate
}

// O <- (l e^(m - m_new) O + e^(m~ - m_new) P~ V) / l_new: normalized every time, as the paper prints it.
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
	float m_new = fmaxf(m_old, m_tile);
	float from_old = l_old * expf(m_old - m_new), from_tile = expf(m_tile - m_new);
	float l_new = from_old + from_tile * l_tile;
	float keep = from_old / l_new, add = from_tile / l_new; // of a row whose keys are all masked: 1 and 0
#pragma unroll
	for (int c = 0; c < D; c++)
		if (c < d) // beyond d lies the next row, which another thread is writing
			O[c] = (first ? 0.0f : keep * O[c]) + add * PV[c];
	*l = l_new;
	*m = m_new;
	// end 04.update
}

// Shared memory, 4 Bc (2 d + Br) bytes:
//
//     | K tile  [Bc, d] | V tile  [Bc, d] | S tile, transposed  [Bc, Br] |
//       written by all, read by all         column r belongs to the thread of row r alone: no barrier
//
// S is transposed so that the lanes of a warp, which hold neighboring rows, touch neighboring banks.
template <int D>
__global__ __launch_bounds__(PAPER_THREADS, 1) void fa1_paper(
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
		size_t offset = (head * N + first_key) * d;
		__syncthreads(); // without it a fast warp overwrites the tile that a slow one still reads
		load_run(K + offset, keys * d, K_tile);
		load_run(V + offset, keys * d, V_tile);
		__syncthreads(); // without it a fast warp reads keys that are not there yet

		for (int first_row = 0; first_row < N; first_row += Br) // the inner loop: it moves Q, O, l, m
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

extern "C" cudaError_t launch_fa1_paper(struct attention a)
{
	if (!usable(a))
		return cudaErrorInvalidValue;
	auto *kernel = kernel_for(a.d, fa1_paper<32>, fa1_paper<64>, fa1_paper<96>, fa1_paper<128>);
	size_t bytes = fa1_paper_shared_bytes(a.d, a.tile);
	cudaError_t status = opt_in(kernel, bytes);
	if (status != cudaSuccess)
		return status;
	kernel<<<a.B * a.H, PAPER_THREADS, bytes>>>(
		a.Q, a.K, a.V, a.O, a.l, a.m, a.N, a.d, a.tile.Br, a.tile.Bc, a.causal, a.scale);
	return cudaGetLastError();
}
