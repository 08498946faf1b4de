#include "report/report.h"

#include "problem/dimensions.h"
#include "problem/option_rules.h"
#include "report/metrics.h"
#include "report/provenance.h"

#include <math.h>
#include <string.h>

/* The columns that describe the problem: those whose option the chapter takes. */
static const enum option_name sizes[] = {OPTION_SEQ,      OPTION_KEYS,   OPTION_DIM,  OPTION_BATCH, OPTION_HEADS,
                                         OPTION_KV_HEADS, OPTION_SPLITS, OPTION_PAGE, OPTION_ROWS,  OPTION_COLS,
                                         OPTION_BLOCK,    OPTION_M,      OPTION_N,    OPTION_K,     OPTION_TILE_Q,
                                         OPTION_TILE_K,   OPTION_WINDOW};

enum { SIZES = sizeof sizes / sizeof sizes[0] };

/* Score modifiers that are no sizes: a column each, of those that were given. */
static const enum option_name modifiers[] = {OPTION_SOFTCAP, OPTION_ALIBI, OPTION_SINK, OPTION_DROPOUT};

enum { MODIFIERS = sizeof modifiers / sizeof modifiers[0] };

static double modifier_value(enum option_name option, const struct problem *problem)
{
	if (option == OPTION_SOFTCAP)
		return (double)problem->softcap;
	if (option == OPTION_DROPOUT)
		return (double)problem->dropout;
	return option == OPTION_ALIBI ? problem->alibi : problem->sink;
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
		if (result_tells(result, sizes[i]))
			fprintf(out, "%s\t", dimension_of_option(sizes[i])->key);
	if (result_tells(result, OPTION_CAUSAL))
		fprintf(out, "causal\t");
	for (size_t i = 0; i < MODIFIERS; i++)
		if (result_tells(result, modifiers[i]))
			fprintf(out, "%s\t", rule_of(modifiers[i]).name);
	if (result_tells(result, OPTION_LENGTHS))
		fprintf(out, "lengths\t");
	for (enum metric_name name = METRIC_NAME; name < METRIC_SKIPPED; name++)
		fprintf(out, "%s%s", name == METRIC_NAME ? "" : "\t", metrics[name].tsv);
	const char *outputs[MAX_EXPECTATIONS];
	size_t count = list_outputs(result->chapter, outputs);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "\tmax_abs_%s\ttolerance_%s", outputs[i], outputs[i]);
	fprintf(out, "\t%s\n", metrics[METRIC_SKIPPED].tsv);
}

void report_tsv_header(FILE *out, const struct run_result *result)
{
	provenance_print(out, result);
	fprintf(out, "# units: _bytes bytes, _sectors of 32 bytes, _elements of 4 bytes, _ms milliseconds, flop "
	             "operations, other counts plain; NaN or - was not measured\n");
	write_columns(out, result);
}

static void write_number(FILE *out, double value)
{
	fprintf(out, isfinite(value) ? "%.9g" : "NaN", value);
}

static void write_metric(FILE *out, const struct kernel_result *kernel, enum metric_name name)
{
	const struct metric *metric = &metrics[name];
	if (metric->unit == UNIT_TEXT) {
		const char *text = metric->text(kernel);
		fputs(text ? text : "-", out);
		return;
	}
	double value = metric_value(kernel, name);
	if (unit_is_whole(metric->unit) && !isnan(value))
		fprintf(out, "%.0f", value);
	else
		write_number(out, value);
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
		fputc('\t', out);
		write_number(out, found ? found->max_abs : (double)NAN);
		fputc('\t', out);
		write_number(out, found ? found->tolerance : (double)NAN);
	}
}

static void write_row(FILE *out, const struct run_result *result, const struct kernel_result *kernel)
{
	for (size_t i = 0; i < SIZES; i++)
		if (result_tells(result, sizes[i]))
			fprintf(out, "%zu\t", dimension_value(dimension_of_option(sizes[i]), &result->problem));
	if (result_tells(result, OPTION_CAUSAL))
		fprintf(out, "%d\t", result->problem.causal);
	for (size_t i = 0; i < MODIFIERS; i++)
		if (result_tells(result, modifiers[i]))
			fprintf(out, "%.9g\t", modifier_value(modifiers[i], &result->problem));
	if (result_tells(result, OPTION_LENGTHS))
		fprintf(out, "%s\t", result->problem.packing.text);

	for (enum metric_name name = METRIC_NAME; name < METRIC_SKIPPED; name++) {
		fputs(name == METRIC_NAME ? "" : "\t", out);
		write_metric(out, kernel, name);
	}
	write_errors(out, result, kernel);
	fputc('\t', out);
	write_metric(out, kernel, METRIC_SKIPPED);
	fputc('\n', out);
}

void report_tsv_rows(FILE *out, const struct run_result *result)
{
	for (size_t i = 0; i < result->kernel_count; i++)
		write_row(out, result, &result->kernels[i]);
}
