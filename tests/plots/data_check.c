#include "data_check.h"

#include <math.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char problem[600];

static const char *say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *say(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(problem, sizeof problem, format, arguments);
	va_end(arguments);
	return problem;
}

static bool matches(const char *text, const char *pattern)
{
	regex_t expression;
	if (!text || regcomp(&expression, pattern, REG_EXTENDED | REG_NOSUB) != 0)
		return false;
	bool found = regexec(&expression, text, 0, NULL, 0) == 0;
	regfree(&expression);
	return found;
}

const char *data_name(const char *path)
{
	static char name[80];
	const char *slash = strrchr(path, '/');
	snprintf(name, sizeof name, "%s", slash ? slash + 1 : path);
	name[strcspn(name, ".")] = '\0';
	return name;
}

/* ---- where it comes from ---- */

static const char *check_provenance(const struct data_file *file, const char *device)
{
	static const struct {
		const char *name, *pattern;
	} keys[] = {
		{"machine", "^.+, [0-9]+ cores?, [A-Za-z]+ [a-z0-9_]+$"},
		{"device", "^(sim, limits of [a-z0-9-]+, .+|cuda, .+)$"},
		{"roofs", "^(-|hbm_bytes_per_s=[0-9.e+]+ fp32_flop_per_s=[0-9.e+]+ .*sms=[0-9]+)$"},
		{"compiler", "^(gcc|clang|nvcc) .*[0-9]+\\.[0-9]+"},
		{"commit", "^([0-9a-f]{7,40}( \\+ changes)?|unknown)$"},
		{"date", "^20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z$"},
		{"command", "^make bench CHAPTERS="},
		{"each", "^for example .*--repeat [0-9]+"},
		{"units", "_bytes bytes, .*_elements of 4 bytes, _ms milliseconds.*NaN or - was not measured"},
		{"fingerprint", "^[0-9a-f]{16}$"},
	};
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (!matches(data_key(file, keys[i].name), keys[i].pattern))
			return say("# %s: '%s'", keys[i].name, data_key(file, keys[i].name));
	if (!matches(
		    file->title, " on (the simulated device \\(limits of .+\\)|.+), .+ with [0-9]+ cores?, "
				 "20[0-9]{2}-[01][0-9]-[0-3][0-9]$"))
		return say("the first line is no sentence for a picture: '%s'", file->title);
	bool simulated = strncmp(data_key(file, "device"), "sim", 3) == 0;
	if (simulated != (strcmp(device, "sim") == 0))
		return say("in %s lies data of '%s'", device, data_key(file, "device"));
	return NULL;
}

/* ---- columns ---- */

static const char *const texts[] = {"kernel",       "verified",     "time_kind", "bound_by",
                                    "model_counts", "error_tensor", "skipped"};

static bool is_text(const char *column)
{
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		if (strcmp(texts[i], column) == 0)
			return true;
	return false;
}

/* Each in its unit: the pictures read them by these names. */
static const char *check_columns(const struct data_file *file, const char *name)
{
	static const char *const all[] = {
		"kernel",
		"verified",
		"max_abs",
		"tolerance",
		"median_ms",
		"p10_ms",
		"p90_ms",
		"runs",
		"time_kind",
		"floor_ms",
		"bound_by",
		"flop",
		"requested_read_bytes",
		"requested_write_bytes",
		"atomic_bytes",
		"read_sectors",
		"write_sectors",
		"footprint_read_bytes",
		"footprint_write_bytes",
		"model_counts",
		"model_elements",
		"peak_bytes",
		"counted_elements",
		"model_requested_elements",
		"model_footprint_elements",
		"blocks",
		"shared_bytes",
		"exponentials",
		"hbm_requests",
		"shared_requests",
		"shared_wavefronts",
		"ideal_wavefronts",
		"error_tensor",
		"skipped"};
	static const char *const attention[] = {"seq", "dim", "batch", "heads", "causal"};
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (!data_has(file, all[i]))
			return say("no column %s", all[i]);
	bool matrices = strcmp(name, "03_tiled_matmul") == 0, rows = strcmp(name, "02_online_softmax") == 0;
	for (size_t i = 0; i < 5 && !matrices && !rows; i++)
		if (!data_has(file, attention[i]))
			return say("no column %s", attention[i]);
	if (rows && !(data_has(file, "rows") && data_has(file, "cols")))
		return say("no columns rows, cols");
	if (matrices && !(data_has(file, "m") && data_has(file, "n") && data_has(file, "k")))
		return say("no columns m, n, k");
	for (size_t i = 0; i < file->columns.cell_count; i++)
		for (size_t j = 0; j < i; j++)
			if (strcmp(file->columns.cells[i], file->columns.cells[j]) == 0)
				return say("two columns %s", file->columns.cells[i]);
	return NULL;
}

static const char *check_cells(const struct data_file *file, const struct data_row *row)
{
	if (row->cell_count != file->columns.cell_count)
		return say("%zu cells, %zu columns", row->cell_count, file->columns.cell_count);
	for (size_t i = 0; i < row->cell_count; i++) {
		const char *column = file->columns.cells[i], *cell = row->cells[i];
		if (!*cell || (!is_text(column) && !matches(cell, "^(NaN|[0-9]+(\\.[0-9]+)?(e[-+][0-9]+)?)$")))
			return say("%s: '%s'", column, cell);
	}
	return NULL;
}

/* ---- arithmetic ---- */

struct row {
	const struct data_file *file;
	const struct data_row *cells;
	const char *kernel;
	bool simulated;
};

static double get(const struct row *row, const char *column)
{
	return data_number(row->file, row->cells, column);
}

static const char *check_verified(const struct row *row)
{
	const char *verified = data_text(row->file, row->cells, "verified");
	const char *skipped = data_text(row->file, row->cells, "skipped");
	if (strcmp(verified, "yes") != 0 || strcmp(skipped, "-") != 0)
		return say("verified is '%s', skipped '%s'", verified, skipped);
	if (!(get(row, "max_abs") <= get(row, "tolerance")) || !(get(row, "tolerance") < 0.1))
		return say("error %g, tolerance %g", get(row, "max_abs"), get(row, "tolerance"));
	for (size_t i = 0; i < row->file->columns.cell_count; i++) {
		const char *column = row->file->columns.cells[i];
		char tolerance[80];
		if (strncmp(column, "max_abs_", 8) != 0 || isnan(get(row, column)))
			continue;
		snprintf(tolerance, sizeof tolerance, "tolerance_%s", column + 8);
		if (!(get(row, column) <= get(row, tolerance)))
			return say("%s is %g, %s %g", column, get(row, column), tolerance, get(row, tolerance));
	}
	return NULL;
}

static const char *check_time(const struct row *row)
{
	const char *kind = data_text(row->file, row->cells, "time_kind");
	if (strcmp(kind, row->simulated ? "measured-cpu" : "measured-gpu") != 0)
		return say("time_kind is '%s'", kind);
	double low = get(row, "p10_ms"), middle = get(row, "median_ms"), high = get(row, "p90_ms");
	if (!(0 < low && low <= middle && middle <= high && get(row, "runs") >= 1))
		return say("times %g, %g, %g of %g runs", low, middle, high, get(row, "runs"));
	return NULL;
}

/* The textbook's closed forms, all heads; NaN for a kernel that has none here. */
static double closed_form(const struct row *row)
{
	const char *kernel = row->kernel;
	double N = get(row, "seq"), d = get(row, "dim"), heads = get(row, "batch") * get(row, "heads");
	double R = get(row, "rows"), C = get(row, "cols"), m = get(row, "m"), n = get(row, "n"), k = get(row, "k");
	double Br = get(row, "tile_q") > 0 ? get(row, "tile_q") : 128, Bc = get(row, "tile_k");
	bool causal = get(row, "causal") == 1;
	if (strcmp(kernel, "naive") == 0)
		return heads * (4 * N * N + 4 * N * d);
	if (strcmp(kernel, "fa1_paper") == 0 && Bc > 0)
		return heads * (3 * ceil(N / Bc) + 1) * N * d;
	if (strncmp(kernel, "fa1_row", 7) == 0)
		return heads * 2 * N * d * (1 + ceil(N / Br));
	if (strcmp(kernel, "fa2_row") == 0 && !causal)
		return heads * 2 * N * d * (1 + ceil(N / Br));
	if (strcmp(kernel, "backward_naive") == 0)
		return heads * (8 * N * N + 10 * N * d);
	if (strcmp(kernel, "softmax_three_pass") == 0)
		return 4 * R * C;
	if (strcmp(kernel, "softmax_online") == 0)
		return 3 * R * C;
	if (strcmp(kernel, "matmul_naive") == 0 || strcmp(kernel, "matmul_coalesced") == 0)
		return 2 * m * n * k + m * n;
	if (strcmp(kernel, "matmul_tiled") == 0 || strcmp(kernel, "matmul_padded") == 0)
		return m * k * ceil(n / 32) + k * n * ceil(m / 32) + m * n;
	return (double)NAN;
}

static const char *check_models(const struct row *row)
{
	const char *counts = data_text(row->file, row->cells, "model_counts");
	bool footprint = strcmp(counts, "footprint") == 0;
	double model = get(row, "model_elements"), expected = closed_form(row);
	double same = get(row, footprint ? "model_footprint_elements" : "model_requested_elements");
	if (!footprint && strcmp(counts, "requested") != 0)
		return say("model_counts is '%s'", counts);
	if (model != same || (!isnan(expected) && model != expected))
		return say("model_elements %.0f, by its kind %.0f, by the textbook %.0f", model, same, expected);
	return NULL;
}

static const char *check_counts(const struct row *row)
{
	double requested = get(row, "requested_read_bytes") + get(row, "requested_write_bytes");
	double footprint = get(row, "footprint_read_bytes") + get(row, "footprint_write_bytes");
	double sectors = get(row, "read_sectors") + get(row, "write_sectors");
	bool of_footprint = strcmp(data_text(row->file, row->cells, "model_counts"), "footprint") == 0;
	if (get(row, "counted_elements") != get(row, "model_elements"))
		return say(
			"counted %.0f elements, the closed form says %.0f", get(row, "counted_elements"),
			get(row, "model_elements"));
	/* statistics (l, m, LSE, D) are in the sums and in no model: at most 6 N for each of the Tc visits of a row
	 */
	double all = of_footprint ? footprint : requested, modelled = 4 * get(row, "counted_elements");
	if (!(all >= modelled && all <= 1.3 * modelled))
		return say("%.0f bytes in all, %.0f of them modelled", all, modelled);
	/* a footprint is no more than what is asked for; a sector is asked for once a request, or more than once */
	if (!(footprint <= requested + 2 * get(row, "atomic_bytes")) || !(32 * sectors >= footprint / 2))
		return say("footprint %.0f, requested %.0f, sectors of 32 bytes %.0f", footprint, requested, sectors);
	/* loads of 8 and 16 bytes may need half as many passes as their width has; older data has no conflicts */
	bool told = data_has(row->file, "shared_conflicts");
	double passes = get(row, "shared_wavefronts") - (told ? get(row, "shared_conflicts") : 0.0);
	double ideal = get(row, "ideal_wavefronts");
	if (!(get(row, "blocks") >= 1) || !(ideal <= 2 * passes) || (told && !(passes <= ideal)))
		return say(
			"blocks %.0f, wavefronts %.0f, ideal %.0f", get(row, "blocks"), get(row, "shared_wavefronts"),
			get(row, "ideal_wavefronts"));
	if (!(get(row, "floor_ms") > 0) || !(get(row, "peak_bytes") > 0) || !(get(row, "flop") > 0))
		return say(
			"floor %g ms, %g bytes at most, %g FLOP", get(row, "floor_ms"), get(row, "peak_bytes"),
			get(row, "flop"));
	return NULL;
}

static const char *check_row(const struct row *row, const char *name)
{
	const char *verified = data_text(row->file, row->cells, "verified");
	if (strcmp(verified, "skipped") == 0)
		return matches(data_text(row->file, row->cells, "skipped"), "[a-z].*[0-9]")
		               ? NULL
		               : say("no reason to skip");
	const char *(*const checks[])(const struct row *) = {check_verified, check_time, check_models, check_counts};
	for (size_t i = 0; i < (row->simulated ? 4 : 3); i++)
		if (checks[i](row))
			return problem;
	if (strcmp(name, "blocks") == 0) {
		double elements = get(row, row->simulated ? "counted_elements" : "model_requested_elements");
		double Nd = get(row, "seq") * get(row, "dim") * get(row, "heads") * get(row, "batch");
		if (get(row, "units") != elements / Nd)
			return say("units %g, elements %.0f of N d = %.0f", get(row, "units"), elements, Nd);
	}
	return NULL;
}

const char *data_check(const struct data_file *file, const char *device, const char *name)
{
	if (!file)
		return say("it is not there");
	if (check_provenance(file, device) || check_columns(file, name))
		return problem;
	if (file->row_count == 0)
		return say("it has no rows");
	if (strcmp(name, "blocks") == 0 && !data_has(file, "units"))
		return say("no column units");
	for (size_t i = 0; i < file->row_count; i++) {
		const struct data_row *cells = &file->rows[i];
		if (check_cells(file, cells))
			return problem;
		struct row row = {file, cells, data_text(file, cells, "kernel"), strcmp(device, "sim") == 0};
		char before[sizeof problem];
		if (!check_row(&row, name))
			continue;
		snprintf(before, sizeof before, "%s", problem);
		return say("row %zu, %s: %.500s", i + 1, row.kernel, before);
	}
	return NULL;
}

/* ---- what has to be there ---- */

static size_t count_rows(const struct data_file *file, const char *kernel, int seq, int dim, int causal)
{
	size_t count = 0;
	for (size_t i = 0; i < file->row_count; i++) {
		const struct data_row *row = &file->rows[i];
		count += strcmp(data_text(file, row, "kernel"), kernel) == 0 &&
		         data_number(file, row, "seq") == seq && data_number(file, row, "dim") == dim &&
		         data_number(file, row, "causal") == causal && data_number(file, row, "heads") == 1 &&
		         data_number(file, row, "batch") == 1;
	}
	return count;
}

static const char *check_sweep(const struct data_file *file, int last, const char *const kernels[])
{
	size_t points = 0;
	for (size_t k = 0; kernels[k]; k++)
		for (int seq = 128; seq <= last; seq *= 2)
			for (int dim = 64; dim <= 128; dim *= 2)
				for (int causal = 0; causal < 2; causal++, points++)
					if (count_rows(file, kernels[k], seq, dim, causal) != 1)
						return say(
							"%zu rows of %s, N=%d d=%d causal=%d",
							count_rows(file, kernels[k], seq, dim, causal), kernels[k],
							seq, dim, causal);
	return file->row_count == points ? NULL : say("%zu rows, expected %zu", file->row_count, points);
}

const char *data_check_points(const struct data_file *file, const char *name)
{
	static const struct {
		const char *name;
		int last;
		const char *kernels[4];
	} sweeps[] = {
		{"01_naive", 2048, {"naive"}},
		{"04_fa1", 1024, {"fa1_paper", "fa1_row", "fa1_row_dynamic"}},
		{"05_fa2", 2048, {"fa2_row", "fa2_split_q"}},
		{"06_backward", 1024, {"backward_naive", "backward_split", "backward_atomic"}},
	};
	for (size_t i = 0; i < sizeof sweeps / sizeof sweeps[0]; i++)
		if (strcmp(sweeps[i].name, name) == 0)
			return check_sweep(file, sweeps[i].last, sweeps[i].kernels);
	static const struct {
		const char *name;
		size_t rows;
	} others[] = {{"02_online_softmax", 15}, {"03_tiled_matmul", 25}, {"blocks", 10}, {"long", 2}};
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (strcmp(others[i].name, name) == 0)
			return file->row_count == others[i].rows
			               ? NULL
			               : say("%zu rows, expected %zu", file->row_count, others[i].rows);
	return say("no file of a bench has this name");
}
