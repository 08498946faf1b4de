/*
 * Chapter 07: the kernels of a transformer's block. N tokens of C = H d numbers each; a row is a token. What attention
 * works on are the projections' own outputs: head h of a row is its columns h d to (h + 1) d - 1.
 *
 *     h = rms_norm(x)      Q, K, V = project(h)      Q, K = rope(Q, K)      O = attention(Q, K, V)
 *     x = x + project(O)   h = rms_norm(x)           x = x + project(swiglu(project(h), project(h)))
 *
 * Pointers are the device's, tensors fp32 and row-major; the caller owns all of it. A launcher allocates and copies
 * nothing, and returns the launch error. What it cannot take is cudaErrorInvalidValue.
 */
#ifndef TRANSFORMER_H
#define TRANSFORMER_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#else
#include <stdbool.h>
#endif

/* 65,536 registers an SM has, 255 a thread may need: at most 256 threads, each with a query row of its own. */
enum { MOST_ROW_THREADS = 256, MOST_HEAD_DIM = 128, MOST_HEADS = 65535 };

/* Where element c of head h of row i lies: at i row + h head + c. */
struct strides {
	size_t row, head;
};

/*
 * N queries and M >= N keys; query i is token M - N + i. N = M when a prompt is read, N = 1 when a token is added to it.
 * H query heads share G heads of keys and values: head h reads head h / (H / G); G divides H.
 */
struct attention {
	const float *Q;     /* N rows, H heads */
	const float *K, *V; /* M rows, G heads */
	float *O;           /* N rows, H heads */
	struct strides q, kv, o;
	int N, M, H, G, d; /* 1 <= d <= 128; H at most MOST_HEADS */
	bool causal;       /* a query sees the keys up to its own token */
	float scale;
	int Br, Bc; /* query rows, a thread each, at most MOST_ROW_THREADS; key rows of a tile */
};
cudaError_t launch_attention(struct attention attention);

/* Shared memory of a block, bytes. */
size_t attention_shared_bytes(int d, int Bc);

/* to[i, h, :] = from[i, h, :], rows and heads as their strides say: a copy into another order. */
cudaError_t launch_permute(
	const float *from, struct strides of_from, float *to, struct strides of_to, int rows, int heads, int d);

/* y[i, c] = weight[c] x[i, c] / sqrt(mean_c x[i, c]^2 + epsilon); x, y [N, C], weight [C]. y may be x. */
cudaError_t launch_rms_norm(const float *x, const float *weight, float *y, int N, int C, float epsilon);

/*
 * Rotates pairs (x[2p], x[2p + 1]) of each head by an angle that grows with the token: angles [N, d] holds its cosine at
 * 2p and its sine at 2p + 1. x, y [N, H, d]; y may be x. Without a partner, the last column of an odd d is copied.
 */
cudaError_t launch_rope(const float *x, const float *angles, float *y, int N, int H, int d);

/* out = up gate / (1 + exp(-gate)), element by element. out may be gate. */
cudaError_t launch_swiglu(const float *gate, const float *up, float *out, size_t elements);

/* How a weight matrix lies in memory: plain, or blocks of 32 columns with a scale of their own, as GGUF has them. */
enum weight_encoding {
	WEIGHTS_F32, /* 4 bytes a weight */
	WEIGHTS_Q4_1, /* fp16 d, fp16 m, 32 numbers q of 4 bits: w = d q + m. The first 16 are the low halves of 16 bytes */
	WEIGHTS_Q8_0 /* fp16 d, 32 numbers q of 8 bits, with sign: w = d q */
};

/* y[i, r] = residual[i, r] + sum_c W[r, c] x[i, c]; x [N, columns], residual and y [N, rows], W [rows, columns]. */
struct projection {
	enum weight_encoding encoding;
	const void *W; /* at a 4-byte boundary; columns a multiple of 32 where there are blocks */
	const float *x;
	const float *residual; /* NULL: 0. May be y */
	float *y;              /* not x */
	int N, rows, columns;
};
cudaError_t launch_project(struct projection projection);

/* How many rows of W a block takes: 32, or 4 where that would be fewer blocks than an H100 has SMs. */
int projection_rows(int N, int rows);

#ifdef __cplusplus
}
#else

/* ---- reference.c and pass.c: nothing that a kernel needs ---- */

struct problem;
struct named_values;
struct expectations;
struct language_model;
struct operations;
struct chapter;
struct options;
struct device;
struct terminal;
struct error;

#define EPSILON 1e-5f /* of RMSNorm */

/*
 * What the outputs should be of which the inputs are there. M < N and G that does not divide H are EXIT_USAGE. Where a
 * product would take too long, rows of O and of `projected` are drawn with the seed.
 */
int transformer_expect(
	const struct problem *problem, const struct named_values *inputs, struct expectations *expectations,
	struct error *error);

/* How attention gets its heads: where they lie, or from copies. */
enum heads { HEADS_STRIDED, HEADS_PERMUTED };

/*
 * The kernels as operations of a language model's forward pass (model/forward.h): all of them, with the model's weights on
 * the device as they are; or attention alone, beside plain C: Q and the new rows of K and V are copied to the device, O is copied
 * back. A call has at most `most_rows` rows, a pass at most `capacity` tokens. operations_end frees all, after an error too.
 */
int device_operations(
	const struct language_model *model, enum heads heads, bool all_kernels, size_t capacity, size_t most_rows,
	struct operations *operations, struct error *error);

/* What the program does with --prompt, as struct chapter's `generate`. */
int transformer_generate(
	const struct chapter *chapter, const struct options *options, const struct device *device,
	const struct terminal *terminal, struct error *error);
#endif
#endif
