#include "measure/floors.h"

#include "support/number.h"

static double beyond_l2(double bytes, const struct gpu *gpu)
{
	double l2 = (double)gpu->l2_bytes;
	return bytes > l2 ? bytes - l2 : 0.0;
}

struct floor floor_compute(const struct floor_work *work, const struct gpu *gpu)
{
	double hbm_bytes = work->input_bytes + work->handed_bytes + beyond_l2(work->written_bytes, gpu);
	uint64_t sms = (uint64_t)gpu->sms, busy_sms = work->blocks ? smaller(work->blocks, sms) : sms;
	double busy = (double)busy_sms / (double)sms;
	const struct {
		const char *name;
		double seconds;
	} of_all_sms[] = {
		{"fp32", work->flop / gpu->fp32_flop_per_s},
		{"exp", work->exponentials / gpu->exp_per_s},
		{"shared", work->shared_bytes / gpu->shared_bytes_per_s},
	};
	double memory_ms = 1e3 * hbm_bytes / gpu->hbm_bytes_per_s;
	struct floor floor = {
		.ms = memory_ms,
		.bound_by = "hbm",
		.full_ms = memory_ms,
		.full_bound_by = "hbm",
		.memory_ms = memory_ms,
		.busy_sms = busy_sms,
		.sms = sms};
	for (unsigned i = 0; i < sizeof of_all_sms / sizeof of_all_sms[0]; i++) {
		double full_ms = 1e3 * of_all_sms[i].seconds, ms = full_ms / busy;
		if (full_ms > floor.full_ms) {
			floor.full_ms = full_ms;
			floor.full_bound_by = of_all_sms[i].name;
		}
		if (ms > floor.ms) {
			floor.ms = ms;
			floor.bound_by = of_all_sms[i].name;
		}
	}
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
