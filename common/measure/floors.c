#include "measure/floors.h"

static double beyond_l2(double bytes, const struct gpu *gpu)
{
	double l2 = (double)gpu->l2_bytes;
	return bytes > l2 ? bytes - l2 : 0.0;
}

struct floor floor_compute(const struct floor_work *work, const struct gpu *gpu)
{
	double hbm_bytes = work->input_bytes + work->handed_bytes + beyond_l2(work->written_bytes, gpu);
	double busy = work->blocks && work->blocks < (uint64_t)gpu->sms ? (double)work->blocks / gpu->sms : 1.0;
	const struct {
		const char *name;
		double seconds;
	} bounds[] = {
		{"hbm", hbm_bytes / gpu->hbm_bytes_per_s},
		{"fp32", work->flop / (gpu->fp32_flop_per_s * busy)},
		{"exp", work->exponentials / (gpu->exp_per_s * busy)},
		{"shared", work->shared_bytes / (gpu->shared_bytes_per_s * busy)},
	};
	struct floor floor = {0.0, "hbm"};
	for (unsigned i = 0; i < sizeof bounds / sizeof bounds[0]; i++)
		if (1e3 * bounds[i].seconds > floor.ms)
			floor = (struct floor){1e3 * bounds[i].seconds, bounds[i].name};
	return floor;
}

double floor_handed_bytes(double bytes, const struct gpu *gpu)
{
	return beyond_l2(bytes, gpu);
}

double floor_shared_bytes(double requested_bytes)
{
	return requested_bytes / 32.0;
}
