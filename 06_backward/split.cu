/*
 * backward_split: the gradients without the N x N matrices and without atomics, by three kernels, each in a file of its own.
 *
 *     preprocess.cu    backward_preprocess    D
 *     dkdv.cu          backward_dkdv          dK and dV, one block per tile of keys
 *     dq.cu            backward_dq            dQ, one block per tile of queries
 *
 * Build and run: make, then ./backward --kernel backward_split; make DEVICE=cuda on a GPU. Limit: S and dP are
 * computed in both of the last two, 14N²d FLOP against 10, so that every run gives the same bits.
 */
#include "backward.h"

extern "C" cudaError_t attention_backward_split(struct backward b)
{
	cudaError_t status = launch_preprocess(b); // both of the others read D
	if (status == cudaSuccess)
		status = launch_dkdv(b);
	return status == cudaSuccess ? launch_dq(b) : status;
}
