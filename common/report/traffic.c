#include "report/traffic.h"
#include "support/number.h"

#include <string.h>

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

void traffic_print(
	const struct terminal *terminal, const struct counts *prepared, const struct counts *counts, bool tensors)
{
	struct table table = table_new("lrrrrrr");
	table_row(&table, STYLE_DIM, "global memory|requested||sectors||footprint|");
	table_row(
		&table, STYLE_DIM, "%s|read|written|read|written|read|written",
		tensors ? "launch, tensor" : "launch");
	add_prepared_rows(&table, prepared);
	for (size_t i = 0; i < counts->launch_count; i++) {
		const struct launch_counts *launch = &counts->launches[i];
		add_traffic_row(
			&table, STYLE_BOLD, launch->kernel, &launch->requested, &launch->sectors, &launch->footprint);
		for (size_t t = 0; tensors && t < launch->tensor_count; t++) {
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

void models_print(
	const struct terminal *terminal, const struct run_result *result, const struct kernel_result *kernel)
{
	bool has_heads = result->chapter->options & OPTION_BIT(OPTION_BATCH);
	bool atomics = kernel->forms.atomics > 0;
	struct table table = table_new(atomics ? "lrrrrl" : "lrrrl");
	table_row(&table, STYLE_DIM, "matrix elements|read|written|total|%s", atomics ? "atomics|" : "");
	for (size_t i = 0; i < PREDICTIONS; i++) {
		const struct prediction *prediction = &kernel->forms.predictions[i];
		bool requested = prediction->counts == PREDICTS_REQUESTED;
		char formula[80];
		snprintf(formula, sizeof formula, "%s%s", prediction->formula, has_heads ? " per head" : "");
		uint64_t expected[] = {
			prediction->read_elements, prediction->write_elements, requested ? kernel->forms.atomics : 0};
		add_model_row(&table, STYLE_PLAIN, requested ? "requested" : "footprint", expected, atomics, formula);
		if (!kernel->counts.counted)
			continue;
		uint64_t counted[] = {
			kernel->compared_traffic[i].read_bytes / 4, kernel->compared_traffic[i].write_bytes / 4,
			requested ? kernel->compared_atomic_bytes / 4 : 0};
		bool equal = memcmp(counted, expected, sizeof counted) == 0;
		add_model_row(
			&table, equal ? STYLE_GOOD : STYLE_BAD, "  counted", counted, atomics,
			equal ? "equal" : "NOT EQUAL");
	}
	table_print(&table, terminal);
}
