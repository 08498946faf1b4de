#include "report/report.h"

#include "report/provenance.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The columns that describe the problem: those whose option the chapter takes. */
static const struct {
	enum option_name option;
	const char *name;
	size_t offset; /* of a size_t in struct problem */
} sizes[] = {
	{OPTION_SEQ, "seq", offsetof(struct problem, seq)},
	{OPTION_DIM, "dim", offsetof(struct problem, dim)},
	{OPTION_BATCH, "batch", offsetof(struct problem, batch)},
	{OPTION_HEADS, "heads", offsetof(struct problem, heads)},
	{OPTION_ROWS, "rows", offsetof(struct problem, rows)},
	{OPTION_COLS, "cols", offsetof(struct problem, cols)},
	{OPTION_BLOCK, "block", offsetof(struct problem, block)},
	{OPTION_M, "m", offsetof(struct problem, m)},
	{OPTION_N, "n", offsetof(struct problem, n)},
	{OPTION_K, "k", offsetof(struct problem, k)},
	{OPTION_TILE_Q, "tile_q", offsetof(struct problem, tile_q)},
	{OPTION_TILE_K, "tile_k", offsetof(struct problem, tile_k)},
};

enum { SIZES = sizeof sizes / sizeof sizes[0] };

static bool applies(const struct run_result *result, enum option_name option)
{
	return result->chapter->options & OPTION_BIT(option);
}

/* The outputs of all kernels of the chapter, each once: one pair of columns for the error of each. */
static size_t list_outputs(const struct chapter *chapter, const char *names[MAX_EXPECTATIONS])
{
	size_t count = 0;
	for (size_t k = 0; k < chapter->kernel_count; k++)
		for (const struct tensor *tensor = chapter->kernels[k].tensors; tensor->name; tensor++) {
			size_t known = 0;
			while (known < count && strcmp(names[known], tensor->name) != 0)
				known++;
			if (tensor_is_output(tensor) && known == count && count < MAX_EXPECTATIONS)
				names[count++] = tensor->name;
		}
	return count;
}

static void write_columns(FILE *out, const struct run_result *result)
{
	fprintf(out, "# ");
	for (size_t i = 0; i < SIZES; i++)
		if (applies(result, sizes[i].option))
			fprintf(out, "%s\t", sizes[i].name);
	if (applies(result, OPTION_CAUSAL))
		fprintf(out, "causal\t");
	fprintf(out, "kernel\tverified\tmax_abs\ttolerance\tmedian_ms\tp10_ms\tp90_ms\truns\ttime_kind\tfloor_"
	             "ms\tbound_by\t"
	             "flop\trequested_read_bytes\trequested_write_bytes\tatomic_bytes\tread_sectors\twrite_sectors\t"
	             "footprint_read_bytes\tfootprint_write_bytes\tmodel_counts\tmodel_elements\tpeak_bytes\t"
	             "counted_elements\tmodel_requested_elements\tmodel_footprint_elements\tblocks\tshared_bytes\t"
	             "exponentials\thbm_requests\tshared_requests\tshared_wavefronts\tideal_wavefronts\t"
	             "shared_conflicts\terror_tensor");
	const char *outputs[MAX_EXPECTATIONS];
	size_t count = list_outputs(result->chapter, outputs);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "\tmax_abs_%s\ttolerance_%s", outputs[i], outputs[i]);
	fprintf(out, "\tskipped\n");
}

void report_tsv_header(FILE *out, const struct run_result *result)
{
	provenance_print(out, result);
	fprintf(out, "# units: _bytes bytes, _sectors of 32 bytes, _elements of 4 bytes, _ms milliseconds, flop "
	             "operations, other counts plain; NaN or - was not measured\n");
	write_columns(out, result);
}

static void write_number(FILE *out, bool known, double value)
{
	if (known && isfinite(value))
		fprintf(out, "\t%.9g", value);
	else
		fprintf(out, "\tNaN");
}

static void write_count(FILE *out, bool known, uint64_t value)
{
	if (known)
		fprintf(out, "\t%" PRIu64, value);
	else
		fprintf(out, "\tNaN");
}

static void write_text(FILE *out, bool known, const char *value)
{
	fprintf(out, "\t%s", known ? value : "-");
}

/* The closed form of that kind; the kernel may have none. */
static void write_model(FILE *out, const struct kernel_result *kernel, enum model_counts counts)
{
	const struct model *found = NULL;
	for (size_t i = 0; i < MODELS && kernel->compared; i++)
		if (kernel->forms.models[i].counts == counts)
			found = &kernel->forms.models[i];
	write_count(out, found, found ? found->read_elements + found->write_elements : 0);
}

static void write_errors(FILE *out, const struct run_result *result, const struct kernel_result *kernel)
{
	const char *outputs[MAX_EXPECTATIONS];
	size_t count = list_outputs(result->chapter, outputs);
	for (size_t i = 0; i < count; i++) {
		const struct check *found = NULL;
		for (size_t c = 0; c < kernel->output_count; c++)
			if (strcmp(kernel->outputs[c].check.tensor, outputs[i]) == 0)
				found = &kernel->outputs[c].check;
		write_number(out, found, found ? found->max_abs : 0.0);
		write_number(out, found, found ? found->tolerance : 0.0);
	}
}

static void write_row(FILE *out, const struct run_result *result, const struct kernel_result *kernel)
{
	for (size_t i = 0; i < SIZES; i++)
		if (applies(result, sizes[i].option))
			fprintf(out, "%zu\t", *(const size_t *)((const char *)&result->problem + sizes[i].offset));
	if (applies(result, OPTION_CAUSAL))
		fprintf(out, "%d\t", result->problem.causal);

	const struct check *worst = &kernel->outputs[kernel->worst].check;
	bool checked = kernel->output_count > 0, timed = kernel->time.runs > 0, counted = kernel->counts.counted,
	     modelled = kernel->compared;
	const struct launch_counts *total = &kernel->counts.total;
	const struct model *model = &kernel->forms.models[0];
	fprintf(out, "%s", kernel->kernel->name);
	write_text(out, true, kernel->skipped[0] ? "skipped" : kernel->verified ? "yes" : "no");
	write_number(out, checked, worst->max_abs);
	write_number(out, checked, worst->tolerance);
	write_number(out, timed, kernel->time.median_ms);
	write_number(out, timed, kernel->time.p10_ms);
	write_number(out, timed, kernel->time.p90_ms);
	write_count(out, timed, kernel->time.runs);
	write_text(out, timed, report_time_kind(result));
	write_number(out, kernel->has_floor, kernel->floor.ms);
	write_text(out, kernel->has_floor, kernel->floor.bound_by);
	write_number(out, true, kernel->forms.flop);
	write_count(out, counted, total->requested.read_bytes);
	write_count(out, counted, total->requested.write_bytes);
	write_count(out, counted, total->atomic_bytes);
	write_count(out, counted, total->sectors.read_bytes);
	write_count(out, counted, total->sectors.write_bytes);
	write_count(out, counted, total->footprint.read_bytes);
	write_count(out, counted, total->footprint.write_bytes);
	write_text(out, modelled, model->counts == MODEL_FOOTPRINT ? "footprint" : "requested");
	write_count(out, modelled, model->read_elements + model->write_elements);
	write_count(out, kernel->peak_bytes > 0, kernel->peak_bytes);

	const struct shared_traffic *shared = &total->shared;
	const struct traffic *compared = &kernel->measured[0];
	write_count(out, counted && modelled, (compared->read_bytes + compared->write_bytes) / 4);
	write_model(out, kernel, MODEL_REQUESTED);
	write_model(out, kernel, MODEL_FOOTPRINT);
	write_count(out, counted, kernel->counts.blocks);
	write_count(out, counted, kernel->counts.shared_bytes);
	write_count(out, counted, kernel->counts.exponentials);
	write_count(out, counted, total->requests);
	write_count(out, counted, shared->load_requests + shared->store_requests);
	write_count(out, counted, shared->load_wavefronts + shared->store_wavefronts);
	write_count(out, counted, shared->ideal_wavefronts);
	write_count(out, counted, shared->conflicts);
	write_text(out, checked, worst->tensor);
	write_errors(out, result, kernel);
	write_text(out, kernel->skipped[0], kernel->skipped);
	fputc('\n', out);
}

void report_tsv_rows(FILE *out, const struct run_result *result)
{
	for (size_t i = 0; i < result->kernel_count; i++)
		write_row(out, result, &result->kernels[i]);
}
