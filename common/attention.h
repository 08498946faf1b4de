/*
 * What a launcher of attention is given: kernels and harness share this header. The harness fills it from the problem
 * (kernel_launch in chapter.c): chapters have no code for it.
 */
#ifndef KERNEL_ATTENTION_H
#define KERNEL_ATTENTION_H

#ifndef __cplusplus
#include <stdbool.h>
#endif

/* Br query rows by Bc keys. */
struct tile {
	int Br, Bc;
};

/* Device pointers at 16-byte boundaries, fp32, row-major, owned by the caller. NULL: no tensor of the kernel's list. */
struct attention {
	const float *Q, *K, *V; /* [B, H, N, d] */
	float *O;               /* [B, H, N, d] */
	float *LSE;             /* [B, H, N]: m + ln l */
	float *l, *m;           /* [B, H, N]: running sum and maximum, in HBM */
	float *S, *P;           /* [B, H, N, N] */
	int B, H;               /* each head of each sequence is a problem of its own */
	int N, d;               /* any N >= 1, 1 <= d <= 128 */
	bool causal;
	float scale;
	struct tile tile; /* what the kernel's closed forms say; 0 by 0: none */
};

#endif
