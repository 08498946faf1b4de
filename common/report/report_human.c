#include "report/report.h"

#include <math.h>
#include <string.h>

const char *report_problem(const struct run_result *result, char *text, size_t size)
{
	static const struct {
		enum option_name option;
		char letter;
	} dimensions[] = {{OPTION_BATCH, 'B'}, {OPTION_HEADS, 'H'}, {OPTION_SEQ, 'N'},
	                  {OPTION_ROWS, 'R'},  {OPTION_COLS, 'C'},  {OPTION_M, 'm'},
	                  {OPTION_N, 'n'},     {OPTION_K, 'k'},     {OPTION_DIM, 'd'}};
	struct problem copy = result->problem;
	size_t used = 0;
	text[0] = '\0';
	for (size_t i = 0; i < sizeof dimensions / sizeof dimensions[0]; i++)
		if (result->chapter->options & OPTION_BIT(dimensions[i].option) && used < size)
			used += (size_t)snprintf(
				text + used, size - used, "%s%c=%zu", used ? " " : "", dimensions[i].letter,
				*problem_dimension(&copy, dimensions[i].letter));
	if (result->chapter->options & OPTION_BIT(OPTION_BLOCK) && used < size)
		used += (size_t)snprintf(text + used, size - used, ", blocks of %zu", copy.block);
	if (copy.causal && used < size)
		used += (size_t)snprintf(text + used, size - used, ", causal");
	char variant[40];
	if (used < size)
		snprintf(text + used, size - used, "%s", variant_text(copy.variant, variant, sizeof variant));
	return text;
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
	else if (p->load)
		fprintf(terminal->out, ", input from %s", p->load);
	else
		fprintf(terminal->out, ", %s input, seed %llu", input_kind_names[p->input],
		        (unsigned long long)p->seed);
	if (result->generated)
		fprintf(terminal->out, "\n%s is not among it: standard normal, seed %llu", result->generated,
		        (unsigned long long)p->seed);
	fputc('\n', terminal->out);
	fprintf(terminal->out, "%s\n", result->device->title);
}

/* error 2.4e-07 at dQ[0,0,12,3], tolerance 8.9e-05, power 1.1e+04 */
static void print_output(FILE *out, const struct output_result *output)
{
	const struct check *check = &output->check;
	if (isnan(check->max_abs))
		fprintf(out, "not a number at %s[", check->tensor);
	else
		fprintf(out, "error %.2g at %s[", check->max_abs, check->tensor);
	for (size_t axis = 0; axis < output->rank; axis++)
		fprintf(out, "%s%zu", axis ? "," : "", output->at[axis]);
	fprintf(out, "], tolerance %.2g", check->tolerance);
	if (!check->judged)
		fprintf(out, ", not judged: %s",
		        check->tolerance > 0.0 ? "rounding may exceed the result"
		                               : "the result is nothing but zeros");
	else if (isfinite(check->power))
		fprintf(out, ", power %.2g%s", check->power, check->power < 10.0 ? " (weak)" : "");
}

static void print_verdict(
	const struct terminal *terminal, const struct run_result *result, const struct kernel_result *kernel)
{
	FILE *out = terminal->out;
	const char *indent = "  "; /* each line after the first stands below what follows the verdict */
	fputs("  ", out);
	terminal_print(
		terminal, kernel->verified ? STYLE_GOOD : STYLE_BAD, "%s",
		kernel->verified ? "verified" : "FAILED  ");
	for (size_t i = 0; i < kernel->output_count; i++, indent = "\n            ") {
		fputs(indent, out);
		print_output(out, &kernel->outputs[i]);
	}
	if (kernel->failure[0])
		fprintf(out, "%s%s", indent, kernel->failure);
	if (result->rows_checked < result->rows) {
		char checked[32], all[32];
		fprintf(out, "\n            %s of %s rows checked, drawn at random",
		        format_count(result->rows_checked, checked), format_count(result->rows, all));
	}
	fputc('\n', out);
}

static void print_times(
	const struct terminal *terminal, const struct run_result *result, const struct kernel_result *kernel)
{
	FILE *out = terminal->out;
	char a[32], b[32], c[32];
	if (kernel->time.runs) {
		fprintf(out, "  time      %s (p10 %s, p90 %s, %zu run%s)%s\n",
		        format_milliseconds(kernel->time.median_ms, a), format_milliseconds(kernel->time.p10_ms, b),
		        format_milliseconds(kernel->time.p90_ms, c), kernel->time.runs,
		        kernel->time.runs == 1 ? "" : "s", result->device->simulated ? ", CPU, plain build" : "");
	}
	if (kernel->has_floor) {
		fprintf(out, "  floor     %s: %s cannot beat it, bound by %s",
		        format_milliseconds(kernel->floor.ms, a), result->device->gpu->title, kernel->floor.bound_by);
		if (kernel->time.runs && !result->device->simulated)
			fprintf(out, "; measured %.0f %% of floor%s",
			        100.0 * kernel->time.median_ms / kernel->floor.ms,
			        kernel->time.median_ms < kernel->floor.ms ? ": below it, which cannot be" : "");
		fputc('\n', out);
	}
	if (kernel->peak_bytes)
		fprintf(out, "  memory    %s on the device at most\n", format_bytes((double)kernel->peak_bytes, a));
}

static void add_traffic_row(
	struct table *table, enum style style, const char *label, const struct traffic *requested,
	const struct traffic *sectors, const struct traffic *footprint)
{
	char text[6][32];
	const struct traffic none = {0, 0};
	const struct traffic *columns[] = {requested, sectors ? sectors : &none, footprint};
	for (int i = 0; i < 3; i++) {
		double unit = i == 1 ? 32.0 : 1.0; /* a sector has 32 bytes */
		bool empty = i == 1 && !sectors;
		snprintf(
			text[2 * i], 32, "%s",
			empty ? "" : format_bytes(unit * (double)columns[i]->read_bytes, (char[32]){0}));
		snprintf(
			text[2 * i + 1], 32, "%s",
			empty ? "" : format_bytes(unit * (double)columns[i]->write_bytes, (char[32]){0}));
	}
	table_row(table, style, "%s|%s|%s|%s|%s|%s|%s", label, text[0], text[1], text[2], text[3], text[4], text[5]);
}

/* What ran before, to make what the kernel takes as given: shown, but in no sum. */
static void add_prepared_rows(struct table *table, const struct counts *prepared)
{
	for (size_t i = 0; i < prepared->launch_count; i++) {
		const struct launch_counts *launch = &prepared->launches[i];
		char label[80];
		snprintf(label, sizeof label, "(%s)", launch->kernel);
		add_traffic_row(table, STYLE_DIM, label, &launch->requested, &launch->sectors, &launch->footprint);
	}
}

static void print_atomics(const struct terminal *terminal, const struct launch_counts *total)
{
	char bytes[32];
	for (size_t t = 0; t < total->tensor_count; t++)
		if (total->tensors[t].atomic_bytes)
			fprintf(terminal->out, "  atomics on %s: %s requested\n", total->tensors[t].name,
			        format_bytes((double)total->tensors[t].atomic_bytes, bytes));
}

static void print_traffic(const struct terminal *terminal, const struct counts *prepared, const struct counts *counts)
{
	struct table table = table_new("lrrrrrr");
	table_row(&table, STYLE_DIM, "global memory|requested||sectors||footprint|");
	table_row(&table, STYLE_DIM, "launch, tensor|read|written|read|written|read|written");
	add_prepared_rows(&table, prepared);
	for (size_t i = 0; i < counts->launch_count; i++) {
		const struct launch_counts *launch = &counts->launches[i];
		add_traffic_row(
			&table, STYLE_BOLD, launch->kernel, &launch->requested, &launch->sectors, &launch->footprint);
		for (size_t t = 0; t < launch->tensor_count; t++) {
			char label[40];
			snprintf(label, sizeof label, "  %s", launch->tensors[t].name);
			add_traffic_row(
				&table, STYLE_PLAIN, label, &launch->tensors[t].requested, NULL,
				&launch->tensors[t].footprint);
		}
	}
	if (counts->launch_count > 1)
		add_traffic_row(
			&table, STYLE_BOLD, "all launches", &counts->total.requested, &counts->total.sectors,
			&counts->total.footprint);
	table_print(&table, terminal);
	print_atomics(terminal, &counts->total);
}

/* Atomics have a column of their own where there are any. */
static void add_model_row(
	struct table *table, enum style style, const char *label, const uint64_t elements[3], bool atomics,
	const char *remark)
{
	char read[32], written[32], added[32], total[32];
	table_row(
		table, style, "%s|%s|%s|%s%s%s|%s", label, format_count(elements[0], read),
		format_count(elements[1], written), format_count(elements[0] + elements[1], total),
		atomics ? "|" : "", atomics ? format_count(elements[2], added) : "", remark);
}

static void print_models(
	const struct terminal *terminal, const struct run_result *result, const struct kernel_result *kernel)
{
	bool has_heads = result->chapter->options & OPTION_BIT(OPTION_HEADS);
	bool atomics = kernel->forms.atomics > 0;
	struct table table = table_new(atomics ? "lrrrrl" : "lrrrl");
	table_row(&table, STYLE_DIM, "elements|read|written|total|%s", atomics ? "atomics|" : "");
	for (size_t i = 0; i < MODELS; i++) {
		const struct model *model = &kernel->forms.models[i];
		bool requested = model->counts == MODEL_REQUESTED;
		char formula[80];
		snprintf(formula, sizeof formula, "%s%s", model->formula, has_heads ? " a head" : "");
		uint64_t expected[] = {
			model->read_elements, model->write_elements, requested ? kernel->forms.atomics : 0};
		add_model_row(&table, STYLE_PLAIN, requested ? "requested" : "footprint", expected, atomics, formula);
		if (!kernel->counts.counted)
			continue;
		uint64_t counted[] = {
			kernel->measured[i].read_bytes / 4, kernel->measured[i].write_bytes / 4,
			requested ? kernel->measured_atomic_bytes / 4 : 0};
		bool equal = memcmp(counted, expected, sizeof counted) == 0;
		add_model_row(
			&table, equal ? STYLE_GOOD : STYLE_BAD, "  counted", counted, atomics,
			equal ? "equal" : "NOT EQUAL");
	}
	table_print(&table, terminal);
}

static void print_kernel(
	const struct terminal *terminal, const struct run_result *result, const struct kernel_result *kernel)
{
	fputc('\n', terminal->out);
	terminal_print(terminal, STYLE_BOLD, "%s", kernel->kernel->name);
	fprintf(terminal->out, "  %s\n", kernel->kernel->summary);
	if (kernel->skipped[0]) {
		fprintf(terminal->out, "  skipped   %s\n", kernel->skipped);
		return;
	}
	print_verdict(terminal, result, kernel);
	if (kernel->verified)
		print_times(terminal, result, kernel);
	if (kernel->counts.counted) {
		fputc('\n', terminal->out);
		print_traffic(terminal, &kernel->prepared, &kernel->counts);
		if (kernel->compared) {
			fputc('\n', terminal->out);
			print_models(terminal, result, kernel);
		}
	}
}

static const struct kernel_result *first_failed(const struct run_result *result)
{
	for (size_t i = 0; i < result->kernel_count; i++)
		if (!result->kernels[i].verified && !result->kernels[i].skipped[0])
			return &result->kernels[i];
	return NULL;
}

static bool all_verified(const struct run_result *result)
{
	return !first_failed(result);
}

/* A case that can be worked out on paper, of the kernel that failed and with the mask it failed with. */
static void print_small_case(const struct terminal *terminal, const struct run_result *result)
{
	fprintf(terminal->out, "Next: a case small enough to follow by hand:\n  ./%s %s --kernel %s%s\n",
	        result->chapter->program, result->chapter->small, first_failed(result)->kernel->name,
	        result->problem.causal ? " --causal" : "");
}

void report_human(const struct terminal *terminal, const struct run_result *result)
{
	print_head(terminal, result);
	if (result->device->plain)
		fprintf(terminal->out, "This is the plain build: it gives times, no counts. Run %s for both.\n",
		        result->chapter->program);
	if (result->options->trace) {
		fputc('\n', terminal->out);
		report_quiet(terminal, result); /* the trace is what was asked for */
	}
	for (size_t i = 0; i < result->kernel_count && !result->options->trace; i++)
		print_kernel(terminal, result, &result->kernels[i]);
	if (result->chapter->explain && (all_verified(result) || result->findings))
		result->chapter->explain(terminal, result);

	fputc('\n', terminal->out);
	if (result->options->explain)
		fprintf(terminal->out, "Page: %s, for a browser\n", result->options->explain);
	else if (!all_verified(result))
		fprintf(terminal->out, "Where it is wrong: the same once more with --explain wrong.html, a page\n");
	const char *next = result->chapter->next;
	if (result->options->trace && result->chapter->next_after_trace)
		next = result->chapter->next_after_trace;
	if (all_verified(result))
		fprintf(terminal->out, "Next: %s\n", next);
	else
		print_small_case(terminal, result);
}

void report_quiet(const struct terminal *terminal, const struct run_result *result)
{
	int width = 0;
	for (size_t i = 0; i < result->kernel_count; i++) {
		int length = (int)strlen(result->kernels[i].kernel->name);
		width = length > width ? length : width;
	}
	for (size_t i = 0; i < result->kernel_count; i++) {
		const struct kernel_result *kernel = &result->kernels[i];
		fprintf(terminal->out, "%-*s", width, kernel->kernel->name);
		if (kernel->skipped[0])
			fprintf(terminal->out, "  skipped: %s\n", kernel->skipped);
		else
			print_verdict(terminal, result, kernel);
	}
}
