#include "problem/attention.h"
#include "problem/dimensions.h"
#include "problem/inputs.h"
#include "report/command.h"
#include "report/metrics.h"
#include "report/next.h"
#include "report/report.h"
#include "report/traffic.h"
#include "support/number.h"

#include <math.h>
#include <string.h>

const char *report_problem(const struct run_result *result, char *text, size_t size)
{
	const struct problem *problem = &result->problem;
	size_t used = 0;
	text[0] = '\0';
	for (const struct dimension *dimension = dimensions; dimension < dimensions + DIMENSIONS; dimension++)
		if (dimension->shape && result_tells(result, dimension->option) && used < size)
			used += (size_t)snprintf(
				text + used, size - used, "%s%s=%zu", used ? " " : "", dimension->letter,
				dimension_value(dimension, problem));
	if (result->chapter->options & OPTION_BIT(OPTION_BLOCK) && used < size)
		used += (size_t)snprintf(text + used, size - used, ", blocks of %zu", problem->block);
	if (problem->causal && used < size)
		used += (size_t)snprintf(text + used, size - used, ", causal");
	char variant[40];
	if (used < size)
		snprintf(text + used, size - used, "%s", variant_text(problem->variant, variant, sizeof variant));
	return text;
}

/* scores: window 64, soft-cap 30, ALiBi, sink */
static void print_modifiers(FILE *out, const struct problem *problem)
{
	const char *before = "scores: ", *between = ", ";
	if (problem->window) {
		fprintf(out, "%swindow %zu", before, problem->window);
		before = between;
	}
	if (problem->softcap > 0.0f) {
		fprintf(out, "%ssoft-cap %g", before, (double)problem->softcap);
		before = between;
	}
	if (problem->alibi) {
		fprintf(out, "%sALiBi", before);
		before = between;
	}
	if (problem->sink) {
		fprintf(out, "%ssink", before);
		before = between;
	}
	if (problem->dropout > 0.0f) {
		fprintf(out, "%sdropout %g", before, (double)problem->dropout);
		before = between;
	}
	if (before == between)
		fputc('\n', out);
	if (problem->packing.count)
		fprintf(out, "packed: %zu sequence%s of %s tokens\n", problem->packing.count,
		        problem->packing.count == 1 ? "" : "s", problem->packing.text);
}

/* A name that the user wrote: no terminal's command. */
static void print_name(FILE *out, const char *name)
{
	for (; *name; name++)
		fputc((unsigned char)*name < ' ' || *name == '\x7f' ? '?' : *name, out);
}

static void print_head(const struct terminal *terminal, const struct run_result *result)
{
	char problem[120];
	const struct problem *p = &result->problem;
	terminal_print(terminal, STYLE_BOLD, "%s", result->chapter->name);
	fprintf(terminal->out, "  %s\n", result->chapter->title);
	fprintf(terminal->out, "%s", report_problem(result, problem, sizeof problem));
	if (result->chapter->options & OPTION_BIT(OPTION_SCALE))
		fprintf(terminal->out, ", scale %.4g", (double)p->scale);
	if (result->options->values)
		fprintf(terminal->out, ", input from --values");
	else if (p->load) {
		fputs(", input from ", terminal->out);
		print_name(terminal->out, p->load);
	} else
		fprintf(terminal->out, ", %s input, seed %llu%s%s", input_kind_names[p->input],
		        (unsigned long long)p->seed, p->input == INPUT_RANDOM ? "" : "\ninput: ",
		        p->input == INPUT_RANDOM ? "" : input_meaning(p->input, result->chapter->options));
	if (result->generated)
		fprintf(terminal->out, "\n%s is not among it: standard normal, seed %llu", result->generated,
		        (unsigned long long)p->seed);
	fputc('\n', terminal->out);
	print_modifiers(terminal->out, p);
	fprintf(terminal->out, "%s\n", result->device->title);
}

/* error 2.4e-07 at dQ[0,0,12,3], tolerance 8.9e-05, power 1.1e+04 */
static void print_output(FILE *out, const struct output_result *output, bool with_power)
{
	const struct check *check = &output->check;
	if (*output->unwritten) { /* the error and its bound say nothing of what was not computed */
		fputs(output->unwritten, out);
		return;
	}
	if (isnan(check->max_abs))
		fprintf(out, "not a finite number at %s[", check->tensor);
	else if (check_fails_by_row(check))
		fprintf(out, "error %.2g times the bound of the row of %s[", check->row_ratio, check->tensor);
	else
		fprintf(out, "error %.2g at %s[", check->max_abs, check->tensor);
	for (size_t axis = 0; axis < output->rank; axis++)
		fprintf(out, "%s%zu", axis ? "," : "", output->at[axis]);
	fprintf(out, "], tolerance %.2g", check->tolerance);
	if (!check->judged)
		fprintf(out, ", not judged: %s",
		        check->tolerance > 0.0 ? "rounding may exceed the result"
		                               : "the result is nothing but zeros");
	else if (with_power && isfinite(check->power))
		fprintf(out, ", power %.2g%s", check->power, check->power < 10.0 ? " (weak)" : "");
}

/* Rows in which zeros would pass, of outputs with others in which they would not. */
static void print_rows_not_judged(FILE *out, const struct run_result *result)
{
	char count[32], all[32];
	for (size_t k = 0; k < result->kernel_count; k++)
		for (size_t i = 0; i < result->kernels[k].output_count; i++) {
			const struct check *check = &result->kernels[k].outputs[i].check;
			if (check->judged && check->rows_not_judged && check->passed)
				fprintf(out, "%s of %s rows of '%s' of %s are not judged: zeros would pass.\n",
				        format_count(check->rows_not_judged, count), format_count(check->rows, all),
				        check->tensor, result->kernels[k].kernel->name);
		}
}

/* Outputs in which zeros would pass, too: these inputs say nothing of them. */
static void print_not_judged(FILE *out, const struct kernel_result *kernel, const char *before, const char *after)
{
	const char *between = before;
	for (size_t i = 0; i < kernel->output_count; i++)
		if (!kernel->outputs[i].check.judged) {
			fprintf(out, "%s%s", between, kernel->outputs[i].check.tensor);
			between = ", ";
		}
	if (between != before)
		fputs(after, out);
}

static void print_rows_checked(FILE *out, const struct run_result *result, const char *before, const char *after)
{
	char checked[32], all[32];
	if (result->rows_checked < result->rows)
		fprintf(out, "%s%s of %s rows checked, drawn at random%s", before,
		        format_count(result->rows_checked, checked), format_count(result->rows, all), after);
}

static void print_word(const struct terminal *terminal, const struct kernel_result *kernel)
{
	fputc(' ', terminal->out);
	terminal_print(
		terminal, kernel->verified ? STYLE_GOOD : STYLE_BAD, "%s", kernel->verified ? "verified" : "FAILED");
}

/*
 * Behind the word what was found of each output, a line each, the first where there is room beside the word. Without room an
 * output that is right is left out where another one is wrong.
 */
static void print_verdict(
	const struct terminal *terminal, const struct run_result *result, const struct kernel_result *kernel,
	bool has_room)
{
	enum { COLUMN = 12 };
	FILE *out = terminal->out;
	const char *below = "            ", *indent = has_room ? "  " : below;
	if (has_room)
		fputc(' ', out);
	print_word(terminal, kernel);
	if (!has_room)
		fputc('\n', out);
	for (size_t i = 0; i < kernel->output_count; i++) {
		const struct output_result *output = &kernel->outputs[i];
		bool beside_wrong = output->check.passed && !kernel->outputs[kernel->worst].check.passed;
		if (beside_wrong && !has_room)
			continue;
		fputs(indent, out);
		indent = below;
		if (*output->unwritten) {
			print_folded(out, output->unwritten, COLUMN);
			continue;
		}
		print_output(out, output, !beside_wrong);
		fputs(beside_wrong && output->check.judged ? ", right\n" : "\n", out);
	}
	if (result->rows_checked < result->rows) {
		print_rows_checked(out, result, indent, "\n");
		indent = below;
	}
	if (*kernel->failure) {
		fputs(indent, out);
		print_folded(out, kernel->failure, COLUMN);
	}
}

static const char *show(const struct kernel_result *kernel, enum metric_name name, char text[METRIC_TEXT_SIZE])
{
	return metric_format(metric_value(kernel, name), metrics[name].unit, text);
}

/* On a GPU; beside a floor the time of a CPU says nothing. 0: no floor is known, or L2 may keep all that is written. */
static void print_share_of_floor(
	FILE *out, const struct run_result *result, const struct kernel_result *kernel, const char *before,
	const char *floor)
{
	if (!kernel->time.runs || kernel->floor.ms <= 0.0 || result->device->simulated)
		return;
	fprintf(out, "%s%.0f %% of %s%s", before, 100.0 * kernel->time.median_ms / kernel->floor.ms, floor,
	        kernel->time.median_ms < kernel->floor.ms ? ": below it, which cannot be" : "");
}

/* The cost and the occupancy are two numbers: a floor with idle SMs says mostly how many of them idle. */
static void print_floor(FILE *out, const struct run_result *result, const struct kernel_result *kernel)
{
	const struct floor *floor = &kernel->floor, *filled = &kernel->filled;
	char a[32], b[32];
	fprintf(out, "  floor     %s with every SM busy, bound by %s; HBM alone %s\n",
	        format_milliseconds(floor->full_ms, a), floor->full_bound_by,
	        format_milliseconds(floor->memory_ms, b));
	fprintf(out, "  SMs       %llu of %llu have a block: the %s needs %s at least",
	        (unsigned long long)floor->busy_sms, (unsigned long long)floor->sms, result->device->gpu->title,
	        format_milliseconds(floor->ms, a));
	print_share_of_floor(out, result, kernel, "\n            measured ", "that floor");
	fputc('\n', out);
	if (kernel->filled_heads)
		fprintf(out, "  B·H=%zu   floor %s, bound by %s: one head per SM, from closed forms\n",
		        kernel->filled_heads, format_milliseconds(filled->ms, a), filled->bound_by);
}

static const char *time_remark(const struct run_result *result)
{
	return result->device->simulated ? ", CPU, plain build" : "";
}

static void print_times(
	const struct terminal *terminal, const struct run_result *result, const struct kernel_result *kernel)
{
	FILE *out = terminal->out;
	char a[METRIC_TEXT_SIZE], b[METRIC_TEXT_SIZE], c[METRIC_TEXT_SIZE];
	if (kernel->time.runs)
		fprintf(out, "  time      %s (p10 %s, p90 %s, %zu run%s)%s\n", show(kernel, METRIC_MEDIAN_MS, a),
		        show(kernel, METRIC_P10_MS, b), show(kernel, METRIC_P90_MS, c), kernel->time.runs,
		        kernel->time.runs == 1 ? "" : "s", time_remark(result));
	if (kernel->has_floor)
		print_floor(out, result, kernel);
	if (kernel->peak_bytes)
		fprintf(out, "  memory    %s on the device at most\n", show(kernel, METRIC_PEAK_BYTES, a));
}

/* ---- a line a kernel ---- */

/* The output of the kernel's own that is worst, and the one that is judged least sharply; what was prepared for it says
 * nothing of it. */
struct own {
	const struct check *worst, *least; /* least: NULL where nothing is judged, or no error is allowed */
};

static struct own find_own(const struct kernel_result *kernel)
{
	struct own own = {NULL, NULL};
	for (size_t i = 0; i < kernel->output_count; i++) {
		const struct check *check = &kernel->outputs[i].check;
		if (kernel->outputs[i].prepared)
			continue;
		if (!own.worst || check_is_worse(check, own.worst))
			own.worst = check;
		if (check->least_power > 0.0 && isfinite(check->median_power) &&
		    (!own.least || check->median_power < own.least->median_power))
			own.least = check;
	}
	return own;
}

/* Widths of the columns: of names, and of counts, 0 where nothing was counted. */
struct columns {
	int name, count;
	const char *kind;         /* of the counts: "requested", "footprint"; NULL: some of each */
	bool has_power;           /* a column of it */
	const struct check *same; /* instead, the power that all of them have, if any */
};

static const char *kind_of(const struct kernel_result *kernel)
{
	return kernel->forms.predictions[0].counts == PREDICTS_FOOTPRINT ? "footprint" : "requested";
}

static bool is_same_power(const struct check *a, const struct check *b)
{
	return a && b && fabs(a->least_power / b->least_power - 1.0) < 0.01 &&
	       fabs(a->median_power / b->median_power - 1.0) < 0.01;
}

static struct columns measure_columns(const struct run_result *result)
{
	struct columns columns = {.kind = NULL};
	char text[METRIC_TEXT_SIZE];
	bool some = false;
	for (size_t i = 0; i < result->kernel_count; i++) {
		const struct kernel_result *kernel = &result->kernels[i];
		int name = (int)strlen(kernel->kernel->name);
		columns.name = name > columns.name ? name : columns.name;
		if (!kernel->verified)
			continue;
		const struct check *least = find_own(kernel).least;
		int count = kernel->counts.counted ? (int)strlen(show(kernel, METRIC_COUNTED_ELEMENTS, text)) : 0;
		columns.count = count > columns.count ? count : columns.count;
		columns.kind = !some || columns.kind == kind_of(kernel) ? kind_of(kernel) : NULL;
		columns.has_power = columns.has_power || (some && !is_same_power(columns.same, least));
		columns.same = least;
		some = true;
	}
	return columns;
}

static void print_column_names(FILE *out, const struct run_result *result, const struct columns *columns)
{
	fprintf(out, "%*s             error", columns->name, "");
	if (columns->has_power)
		fputs("   power  median", out);
	if (columns->count)
		fprintf(out, " matrix elements%s%s", columns->kind ? " " : "", columns->kind ? columns->kind : "");
	if (columns->count && result->chapter->options & OPTION_BIT(OPTION_BATCH)) {
		size_t heads = attention_heads(&result->problem);
		fprintf(out, " = %zu head%s of", heads, heads == 1 ? "" : "s");
	}
	fputc('\n', out);
}

/* What was counted, and the closed form that the chapter is about: they are equal, or the kernel is not verified. */
static void print_count(FILE *out, const struct kernel_result *kernel, const struct columns *columns)
{
	const int before = columns->name + (columns->has_power ? 34 : 18) + columns->count;
	const char *formula = kernel->forms.predictions[0].formula;
	char elements[METRIC_TEXT_SIZE], atomics[32];
	fprintf(out, " %*s =", columns->count, show(kernel, METRIC_COUNTED_ELEMENTS, elements));
	if (before + 4 + (int)text_columns(formula) > 80)
		fprintf(out, "\n%*s", columns->name + 1, "");
	fprintf(out, " %s", formula);
	if (!columns->kind)
		fprintf(out, ", %s", kind_of(kernel));
	if (kernel->forms.atomics)
		fprintf(out, "\n%*s + %s atomics", before, "", format_count(kernel->forms.atomics, atomics));
}

/* One line for a kernel that is right, more for one that is wrong, or not judged in all. */
static void print_summary(
	const struct terminal *terminal, const struct run_result *result, const struct kernel_result *kernel,
	const struct columns *columns)
{
	FILE *out = terminal->out;
	char time[METRIC_TEXT_SIZE], indent[80];
	fprintf(out, "%-*s", columns->name, kernel->kernel->name);
	if (*kernel->skipped) {
		fputs(" skipped  ", out);
		print_folded(out, kernel->skipped, (size_t)columns->name + 10);
		return;
	}
	if (!kernel->verified) {
		print_verdict(terminal, result, kernel, false);
		return;
	}
	const struct own own = find_own(kernel);
	print_word(terminal, kernel);
	fprintf(out, " %8.2g", own.worst->max_abs);
	if (columns->has_power && own.least)
		fprintf(out, " %7.2g %7.2g", own.least->least_power, own.least->median_power);
	else if (columns->has_power)
		fprintf(out, " %15s", own.worst->tolerance > 0.0 ? "not judged" : "exact");
	if (kernel->counts.counted)
		print_count(out, kernel, columns);
	fputc('\n', out);
	snprintf(indent, sizeof indent, "%*snot judged ", columns->name + 1, "");
	print_not_judged(out, kernel, indent, ": zeros would pass, too\n");
	snprintf(indent, sizeof indent, "%*s", columns->name + 1, "");
	print_rows_checked(out, result, indent, "\n");
	if (kernel->time.runs) {
		fprintf(out, "%stime %s%s", indent, show(kernel, METRIC_MEDIAN_MS, time), time_remark(result));
		print_share_of_floor(out, result, kernel, ", ", "the floor");
		fputc('\n', out);
	}
}

static void print_kernel(
	const struct terminal *terminal, const struct run_result *result, const struct kernel_result *kernel)
{
	fputc('\n', terminal->out);
	terminal_print(terminal, STYLE_BOLD, "%s", kernel->kernel->name);
	fprintf(terminal->out, "  %s\n", kernel->kernel->summary);
	if (*kernel->skipped) {
		fputs("  skipped   ", terminal->out);
		print_folded(terminal->out, kernel->skipped, 12);
		return;
	}
	print_verdict(terminal, result, kernel, true);
	if (kernel->verified)
		print_times(terminal, result, kernel);
	if (kernel->counts.counted) {
		fputc('\n', terminal->out);
		traffic_print(terminal, &kernel->prepared, &kernel->counts, true);
		if (kernel->compared) {
			fputc('\n', terminal->out);
			models_print(terminal, result, kernel);
		}
	}
}

void report_human(const struct terminal *terminal, const struct run_result *result)
{
	struct columns columns = measure_columns(result);
	print_head(terminal, result);
	if (result->device->plain)
		fprintf(terminal->out, "This is the plain build: it gives times, no counts. Run %s for both.\n",
		        result->chapter->program);
	if (!result->options->verbose) {
		fputc('\n', terminal->out);
		print_column_names(terminal->out, result, &columns);
	}
	for (size_t i = 0; i < result->kernel_count; i++)
		if (result->options->verbose)
			print_kernel(terminal, result, &result->kernels[i]);
		else
			print_summary(terminal, result, &result->kernels[i], &columns);
	if (!result->options->verbose && !columns.has_power && columns.same)
		fprintf(terminal->out, "Power: worst row %.2g, median %.2g; a row off by %.2g of itself fails.\n",
		        columns.same->least_power, columns.same->median_power, 1.0 / columns.same->least_power);
	print_rows_not_judged(terminal->out, result);
	if (result->chapter->print_lesson && (!result_failed(result) || result->findings))
		result->chapter->print_lesson(terminal, result);

	fputc('\n', terminal->out);
	if (result_failed(result) && !result->options->details && may_be_explained(result)) {
		fputs("Where it is wrong, as a page:\n  ", terminal->out);
		command_print(terminal->out, result->program, result->arguments);
		fputs(" --explain wrong.html\n", terminal->out);
	}
	if (!result_failed(result))
		next_print(terminal, result);
}

void report_quiet(const struct terminal *terminal, const struct run_result *result)
{
	int width = measure_columns(result).name;
	for (size_t i = 0; i < result->kernel_count; i++) {
		const struct kernel_result *kernel = &result->kernels[i];
		fprintf(terminal->out, "%-*s", width, kernel->kernel->name);
		if (*kernel->skipped) {
			fprintf(terminal->out, "  skipped: %s\n", kernel->skipped);
			continue;
		}
		fputc(' ', terminal->out);
		print_word(terminal, kernel);
		if (kernel->output_count) {
			fputs("  ", terminal->out);
			print_output(terminal->out, &kernel->outputs[kernel->worst], true);
		}
		if (*kernel->failure)
			fprintf(terminal->out, "%s%s%s", kernel->output_count ? "; " : "  ", kernel->failure,
			        kernel->right_by_luck ? ": right in this run only by luck" : "");
		if (kernel->verified)
			print_not_judged(terminal->out, kernel, "; not judged: ", "");
		print_rows_checked(terminal->out, result, "; ", "");
		fputc('\n', terminal->out);
	}
}
