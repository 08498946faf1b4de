#include "problem/sweep.h"

bool sweep_attention(size_t step, bool simulated, struct problem *problem)
{
	problem->seq = (size_t)(simulated ? 32 : 128) << step;
	return problem->seq <= (simulated ? 256 : 16384);
}

bool sweep_backward(size_t step, bool simulated, struct problem *problem)
{
	problem->seq = (size_t)(simulated ? 16 : 64) << step;
	return problem->seq <= (simulated ? 128 : 16384);
}

bool sweep_softmax(size_t step, bool simulated, struct problem *problem)
{
	problem->cols = (size_t)256 << step;
	return problem->cols <= (simulated ? 4096 : 65536);
}

bool sweep_columns(size_t step, bool simulated, struct problem *problem)
{
	problem->rows = (size_t)1 << (simulated ? 8 : 20);
	problem->cols = (size_t)1 << step;
	return problem->cols <= 64;
}

bool sweep_matmul(size_t step, bool simulated, struct problem *problem)
{
	static const size_t small[] = {32, 64, 96, 128, 192}, large[] = {256, 512, 1024, 2048, 4096};
	if (step >= sizeof small / sizeof small[0])
		return false;
	problem->m = problem->n = problem->k = simulated ? small[step] : large[step];
	return true;
}
