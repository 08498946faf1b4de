#include "report/metrics.h"

#include "problem/attention.h"
#include "report/table.h"
#include "support/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WARP_LANES = 32 };

_Static_assert(sizeof(size_t) == sizeof(uint64_t), "a whole number is either");

/* ---- what is no field of struct kernel_result as it stands; asked only when it is known ---- */

#define NUMBER(name, expression)                                                                                     \
	static double name(const struct kernel_result *kernel)                                                       \
	{                                                                                                            \
		return expression;                                                                                   \
	}
#define WORD(name, expression)                                                                                       \
	static const char *name(const struct kernel_result *kernel)                                                  \
	{                                                                                                            \
		return expression;                                                                                   \
	}

static const struct check *worst(const struct kernel_result *kernel)
{
	return &kernel->outputs[kernel->worst].check;
}

WORD(name, kernel->kernel->name)
WORD(verified, *kernel->skipped ? "skipped" : kernel->verified ? "yes" : "no")
WORD(time_kind, kernel->time.runs ? kernel->time.kind : NULL)
WORD(bound_by, kernel->has_floor ? kernel->floor.bound_by : NULL)
WORD(error_tensor, kernel->output_count > 0 ? worst(kernel)->tensor : NULL)
WORD(skipped, *kernel->skipped ? kernel->skipped : NULL)

static const char *model_counts(const struct kernel_result *kernel)
{
	bool footprint = kernel->forms.predictions[0].counts == PREDICTS_FOOTPRINT;
	return !kernel->compared ? NULL : footprint ? "footprint" : "requested";
}

static double elements_of(const struct prediction *prediction)
{
	return (double)(prediction->read_elements + prediction->write_elements);
}

/* The closed form of that kind; the kernel may have none. */
static double find_prediction(const struct kernel_result *kernel, enum predicted_counts counts)
{
	double found = NAN;
	for (size_t i = 0; i < PREDICTIONS; i++)
		if (kernel->forms.predictions[i].counts == counts)
			found = elements_of(&kernel->forms.predictions[i]);
	return found;
}

static double bytes_of(const struct traffic *traffic)
{
	return (double)(traffic->read_bytes + traffic->write_bytes);
}

/* NAN where there is nothing to divide by. */
static double ratio(double many, double count)
{
	return count > 0.0 ? many / count : (double)NAN;
}

/* NAN where there are none. */
static double some(uint64_t requests, uint64_t value)
{
	return requests ? (double)value : (double)NAN;
}

static double square_bytes(const struct kernel_result *kernel)
{
	uint64_t bytes = 0;
	for (const struct tensor *tensor = kernel->kernel->tensors; tensor->name; tensor++)
		if (strcmp(tensor->shape, "BHNN") == 0)
			bytes += sizeof(float) * attention_rows(kernel->problem) * kernel->problem->seq;
	return (double)bytes;
}

static double warp_fma(const struct kernel_result *kernel)
{
	return kernel->forms.flop / 2 / WARP_LANES;
}

#define SHARED kernel->counts.total.shared

NUMBER(max_abs, worst(kernel)->max_abs)
NUMBER(tolerance, worst(kernel)->tolerance)
NUMBER(model_elements, elements_of(&kernel->forms.predictions[0]))
NUMBER(model_requested_elements, find_prediction(kernel, PREDICTS_REQUESTED))
NUMBER(model_footprint_elements, find_prediction(kernel, PREDICTS_FOOTPRINT))
NUMBER(peak_bytes, some(kernel->peak_bytes, kernel->peak_bytes))
NUMBER(counted_elements,
       kernel->compared ? (double)((uint64_t)bytes_of(&kernel->compared_traffic[0]) / 4) : (double)NAN)
NUMBER(shared_requests, (double)(SHARED.load_requests + SHARED.store_requests))
NUMBER(shared_wavefronts, (double)(SHARED.load_wavefronts + SHARED.store_wavefronts))
NUMBER(requested_bytes, bytes_of(&kernel->counts.total.requested))
NUMBER(footprint_bytes, bytes_of(&kernel->counts.total.footprint))
NUMBER(statistics, (double)(kernel->statistic_bytes / 4))
NUMBER(sectors_per_request, ratio(bytes_of(&kernel->counts.total.sectors), (double)kernel->counts.total.requests))
NUMBER(ideal_per_request, ratio((double)SHARED.ideal_wavefronts, shared_requests(kernel)))
NUMBER(shared_loads, some(SHARED.load_requests, SHARED.load_requests))
NUMBER(wavefronts_per_load, ratio((double)SHARED.load_wavefronts, (double)SHARED.load_requests))
NUMBER(wavefronts_per_store, ratio((double)SHARED.store_wavefronts, (double)SHARED.store_requests))
NUMBER(fma_per_load, ratio(warp_fma(kernel), (double)SHARED.load_requests))
NUMBER(wavefronts_per_fma, ratio(shared_wavefronts(kernel), warp_fma(kernel)))
NUMBER(teraflops, 1e-9 * kernel->forms.flop / kernel->time.median_ms)

static double shared_floats_per_fma(const struct kernel_result *kernel)
{
	double floats = (double)kernel->counts.shared_requested_bytes / sizeof(float);
	return floats > 0.0 ? ratio(floats, kernel->forms.flop / 2) : (double)NAN;
}

/* ---- the table ---- */

#define TIMED(member)   WHEN_TIMED, .offset = offsetof(struct kernel_result, time.member)
#define COUNTED(member) WHEN_COUNTED, .offset = offsetof(struct kernel_result, counts.member)

const struct metric metrics[METRICS] = {
	[METRIC_NAME] = {"kernel", "name", UNIT_TEXT, .text = name},
	[METRIC_VERIFIED] = {"verified", NULL, UNIT_TEXT, .text = verified},
	[METRIC_MAX_ABS] = {"max_abs", "max_abs", UNIT_FIGURES, WHEN_CHECKED, .value = max_abs},
	[METRIC_TOLERANCE] = {"tolerance", "tolerance", UNIT_FIGURES, WHEN_CHECKED, .value = tolerance},
	[METRIC_MEDIAN_MS] = {"median_ms", "median_ms", UNIT_MILLISECONDS, TIMED(median_ms)},
	[METRIC_P10_MS] = {"p10_ms", "p10_ms", UNIT_MILLISECONDS, TIMED(p10_ms)},
	[METRIC_P90_MS] = {"p90_ms", "p90_ms", UNIT_MILLISECONDS, TIMED(p90_ms)},
	[METRIC_RUNS] = {"runs", "runs", UNIT_COUNT, TIMED(runs)},
	[METRIC_TIME_KIND] = {"time_kind", "kind", UNIT_TEXT, .text = time_kind},
	[METRIC_FLOOR_MS] =
		{"floor_ms", "ms", UNIT_MILLISECONDS, WHEN_BOUNDED,
                 .offset = offsetof(struct kernel_result, floor.ms)},
	[METRIC_BOUND_BY] = {"bound_by", "bound_by", UNIT_TEXT, .text = bound_by},
	[METRIC_FLOP] = {"flop", NULL, UNIT_FIGURES, ALWAYS, .offset = offsetof(struct kernel_result, forms.flop)},
	[METRIC_REQUESTED_READ_BYTES] =
		{"requested_read_bytes", "read_bytes", UNIT_BYTES, COUNTED(total.requested.read_bytes)},
	[METRIC_REQUESTED_WRITE_BYTES] =
		{"requested_write_bytes", "write_bytes", UNIT_BYTES, COUNTED(total.requested.write_bytes)},
	[METRIC_ATOMIC_BYTES] = {"atomic_bytes", "atomic_bytes", UNIT_BYTES, COUNTED(total.atomic_bytes)},
	[METRIC_READ_SECTORS] = {"read_sectors", "read", UNIT_COUNT, COUNTED(total.sectors.read_bytes)},
	[METRIC_WRITE_SECTORS] = {"write_sectors", "write", UNIT_COUNT, COUNTED(total.sectors.write_bytes)},
	[METRIC_FOOTPRINT_READ_BYTES] =
		{"footprint_read_bytes", "read_bytes", UNIT_BYTES, COUNTED(total.footprint.read_bytes)},
	[METRIC_FOOTPRINT_WRITE_BYTES] =
		{"footprint_write_bytes", "write_bytes", UNIT_BYTES, COUNTED(total.footprint.write_bytes)},
	[METRIC_PREDICTED_COUNTS] = {"model_counts", NULL, UNIT_TEXT, .text = model_counts},
	[METRIC_PREDICTED_ELEMENTS] = {"model_elements", NULL, UNIT_COUNT, WHEN_COMPARED, .value = model_elements},
	[METRIC_PEAK_BYTES] = {"peak_bytes", "peak_bytes", UNIT_BYTES, ALWAYS, .value = peak_bytes},
	[METRIC_COUNTED_ELEMENTS] = {"counted_elements", NULL, UNIT_COUNT, WHEN_COUNTED, .value = counted_elements},
	[METRIC_PREDICTED_REQUESTED_ELEMENTS] =
		{"model_requested_elements", NULL, UNIT_COUNT, WHEN_COMPARED, .value = model_requested_elements},
	[METRIC_PREDICTED_FOOTPRINT_ELEMENTS] =
		{"model_footprint_elements", NULL, UNIT_COUNT, WHEN_COMPARED, .value = model_footprint_elements},
	[METRIC_BLOCKS] = {"blocks", "blocks", UNIT_COUNT, COUNTED(blocks)},
	[METRIC_SHARED_BYTES] = {"shared_bytes", "shared_bytes", UNIT_COUNT, COUNTED(shared_bytes)},
	[METRIC_EXPONENTIALS] = {"exponentials", NULL, UNIT_COUNT, COUNTED(exponentials)},
	[METRIC_HBM_REQUESTS] = {"hbm_requests", NULL, UNIT_COUNT, COUNTED(total.requests)},
	[METRIC_SHARED_REQUESTS] = {"shared_requests", NULL, UNIT_COUNT, WHEN_COUNTED, .value = shared_requests},
	[METRIC_SHARED_WAVEFRONTS] =
		{"shared_wavefronts", NULL, UNIT_COUNT, WHEN_COUNTED, .value = shared_wavefronts},
	[METRIC_IDEAL_WAVEFRONTS] = {"ideal_wavefronts", NULL, UNIT_COUNT, COUNTED(total.shared.ideal_wavefronts)},
	[METRIC_SHARED_CONFLICTS] = {"shared_conflicts", NULL, UNIT_COUNT, COUNTED(total.shared.conflicts)},
	[METRIC_ERROR_TENSOR] = {"error_tensor", "tensor", UNIT_TEXT, .text = error_tensor},
	[METRIC_SKIPPED] = {"skipped", "skipped", UNIT_TEXT, .text = skipped},

	[METRIC_REQUESTED_BYTES] = {NULL, NULL, UNIT_BYTES, WHEN_COUNTED, .value = requested_bytes},
	[METRIC_FOOTPRINT_BYTES] = {NULL, NULL, UNIT_BYTES, WHEN_COUNTED, .value = footprint_bytes},
	[METRIC_STATISTICS] = {NULL, NULL, UNIT_COUNT, WHEN_COUNTED, .value = statistics},
	[METRIC_SQUARE_BYTES] = {NULL, NULL, UNIT_BYTES, ALWAYS, .value = square_bytes},
	[METRIC_SECTORS_PER_REQUEST] = {NULL, NULL, UNIT_RATIO, WHEN_COUNTED, .value = sectors_per_request},
	[METRIC_WAVEFRONTS_PER_LOAD] = {NULL, NULL, UNIT_RATIO, WHEN_COUNTED, .value = wavefronts_per_load},
	[METRIC_WAVEFRONTS_PER_STORE] = {NULL, NULL, UNIT_RATIO, WHEN_COUNTED, .value = wavefronts_per_store},
	[METRIC_IDEAL_PER_REQUEST] = {NULL, NULL, UNIT_RATIO, WHEN_COUNTED, .value = ideal_per_request},
	[METRIC_SHARED_LOADS] = {NULL, NULL, UNIT_COUNT, WHEN_COUNTED, .value = shared_loads},
	[METRIC_BUSY_SMS] =
		{NULL, NULL, UNIT_COUNT, WHEN_BOUNDED, .offset = offsetof(struct kernel_result, floor.busy_sms)},
	[METRIC_FMA_PER_LOAD] = {NULL, NULL, UNIT_RATIO, WHEN_COUNTED, .value = fma_per_load},
	[METRIC_WAVEFRONTS_PER_FMA] = {NULL, NULL, UNIT_RATIO, WHEN_COUNTED, .value = wavefronts_per_fma},
	[METRIC_SHARED_FLOATS_PER_FMA] = {NULL, NULL, UNIT_RATIO, WHEN_COUNTED, .value = shared_floats_per_fma},
	[METRIC_TERAFLOPS] = {NULL, NULL, UNIT_FIGURES, WHEN_TIMED, .value = teraflops},
};

static bool is_known(const struct kernel_result *kernel, enum known known)
{
	switch (known) {
	case ALWAYS: return true;
	case WHEN_CHECKED: return kernel->output_count > 0;
	case WHEN_TIMED: return kernel->time.runs > 0;
	case WHEN_BOUNDED: return kernel->has_floor;
	case WHEN_COUNTED: return kernel->counts.counted;
	case WHEN_COMPARED: return kernel->compared;
	}
	return false;
}

double metric_value(const struct kernel_result *kernel, enum metric_name name)
{
	const struct metric *metric = &metrics[name];
	const void *field = (const char *)kernel + metric->offset;
	if (!is_known(kernel, metric->known))
		return NAN;
	if (metric->value)
		return metric->value(kernel);
	return unit_is_whole(metric->unit) ? (double)*(const uint64_t *)field : *(const double *)field;
}

const char *metric_format(double value, enum unit unit, char text[METRIC_TEXT_SIZE])
{
	text[0] = '\0';
	if (isnan(value))
		return text;
	switch (unit) {
	case UNIT_COUNT: format_count((uint64_t)value, text); break;
	case UNIT_BYTES: format_bytes(value, text); break;
	case UNIT_MILLISECONDS: format_milliseconds(value, text); break;
	case UNIT_RATIO: snprintf(text, METRIC_TEXT_SIZE, value < 0.1 && value > 0.0 ? "%.4f" : "%.2f", value); break;
	case UNIT_FIGURES: snprintf(text, METRIC_TEXT_SIZE, "%.4g", value); break;
	case UNIT_TEXT: break;
	}
	return text;
}
