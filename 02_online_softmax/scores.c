/* Open this to see where the scores come from that are neither generated nor in x.npy.
 *
 *     --values 1,2,3               one row of numbers, -inf allowed
 *     --load DIR with q.npy, k.npy (and no x.npy)
 *                                  one row of the scores of attention, Q K^T / sqrt(d): row --row, counted through
 *                                  all heads, not masked; V is its head's part of v.npy, generated if there is none
 */
#include "online_softmax.h"

#include "problem/dimensions.h"
#include "problem/inputs.h"
#include "problem/load.h"
#include "support/number.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A directory with q.npy and k.npy, but no x.npy: x is one row of their scores. */
static bool holds_attention(const char *directory)
{
	char x[PATH_MAX], q[PATH_MAX];
	return directory && access(tensor_path(directory, "x", x, sizeof x), F_OK) != 0 &&
	       access(tensor_path(directory, "q", q, sizeof q), F_OK) == 0;
}

static int parse_values(
	const char *text, struct problem *problem, uint64_t *fixed, float **values, struct error *error)
{
	size_t count = 1;
	for (const char *c = text; *c; c++)
		count += *c == ',';
	if (!(*values = malloc(count * sizeof **values)))
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for --values");
	for (size_t i = 0; i < count; i++) {
		char number[64];
		size_t length = strcspn(text, ",");
		snprintf(number, sizeof number, "%.*s", (int)smaller(length, sizeof number), text);
		bool is_infinity = strcmp(number, "-inf") == 0;
		if (!is_infinity && (length >= sizeof number || !read_real(number, &(*values)[i]))) {
			free(*values);
			*values = NULL;
			return error_set(
				error, EXIT_USAGE,
				"--values: expected finite numbers or -inf between commas, got '%.60s'", number);
		}
		if (is_infinity)
			(*values)[i] = -INFINITY;
		text += length + 1;
	}
	char source[60];
	snprintf(source, sizeof source, "--values: one row of %zu number%s", count, count == 1 ? "" : "s");
	if (dimension_fix(source, 'R', 1, problem, fixed, error) == 0)
		dimension_fix(source, 'C', count, problem, fixed, error);
	return error->exit_code;
}

/* Reads q, k and v of attention; the shape of each has to agree with the others. *values is the caller's. */
static int load_attention(
	const struct problem *problem, const char *tensor, struct problem *attention, uint64_t *fixed, float **values,
	struct error *error)
{
	return load_tensor(problem->load, tensor, "BHNd", false, attention, fixed, values, error);
}

/* x [1, N]: row --row of scale Q K^T, counted through all heads; not masked. */
static int score_attention(struct problem *problem, uint64_t *fixed, float **values, struct error *error)
{
	struct problem attention = {0};
	uint64_t loaded = 0;
	float *q = NULL, *k = NULL, *x = NULL;
	if (load_attention(problem, "q", &attention, &loaded, &q, error) == 0)
		load_attention(problem, "k", &attention, &loaded, &k, error);
	size_t N = attention.seq, d = attention.dim, rows = attention.batch * attention.heads * N;
	if (k && problem->row >= rows)
		error_set(
			error, EXIT_USAGE, "--row: expected a whole number from 0 to %zu, got '%zu'", rows - 1,
			problem->row);
	if (!error->exit_code && dimension_fix(problem->load, 'R', 1, problem, fixed, error) == 0)
		dimension_fix(problem->load, 'C', N, problem, fixed, error);
	if (!error->exit_code && !(x = calloc(N, sizeof *x)))
		error_set(error, EXIT_ENVIRONMENT, "out of memory for x");
	for (size_t j = 0; x && j < N; j++) {
		double dot = 0.0;
		const float *query = q + problem->row * d, *key = k + (problem->row / N * N + j) * d;
		for (size_t c = 0; c < d; c++)
			dot += (double)query[c] * (double)key[c];
		x[j] = (float)(dot / sqrt((double)d));
	}
	free(q);
	free(k);
	*values = x;
	return error->exit_code;
}

/* V [N, d]: the values of the head that the row belongs to, if there is a v.npy; else they are generated. */
static int take_values(struct problem *problem, uint64_t *fixed, float **values, struct error *error)
{
	char path[PATH_MAX];
	if (access(tensor_path(problem->load, "v", path, sizeof path), F_OK) != 0) {
		if (!(*values = malloc(problem->cols * problem->dim * sizeof **values)))
			return error_set(error, EXIT_ENVIRONMENT, "out of memory for V");
		input_fill_softmax(problem, "V", *values);
		return 0;
	}
	struct problem attention = {0};
	uint64_t loaded = 0;
	float *v = NULL;
	if (load_attention(problem, "v", &attention, &loaded, &v, error) != 0)
		return error->exit_code;
	size_t N = attention.seq, d = attention.dim, head = problem->row / N;
	if (head >= attention.batch * attention.heads)
		error_set(error, EXIT_USAGE, "%s: holds fewer heads than q.npy", path);
	if (!error->exit_code && dimension_fix(path, 'C', N, problem, fixed, error) == 0 &&
	    dimension_fix(path, 'd', d, problem, fixed, error) == 0)
		memmove(v, v + head * N * d, N * d * sizeof *v);
	if (error->exit_code)
		free(v);
	else
		*values = v;
	return error->exit_code;
}

int scores_provide(
	const struct options *options, const char *tensor, struct problem *problem, uint64_t *fixed, float **values,
	struct error *error)
{
	bool is_x = strcmp(tensor, "x") == 0, attention = holds_attention(problem->load);
	if (options->values && problem->load)
		return error_set(error, EXIT_USAGE, "--values: not with --load, because both give x");
	if (options->given & OPTION_BIT(OPTION_ROW) && !options->trace && !attention)
		return error_set(
			error, EXIT_USAGE, "--row: expected --trace, or a --load directory with q.npy and k.npy");
	if (is_x && options->values)
		return parse_values(options->values, problem, fixed, values, error);
	if (!attention)
		return 0;
	return (is_x ? score_attention : take_values)(problem, fixed, values, error);
}

size_t scores_row(const struct problem *problem)
{
	return holds_attention(problem->load) ? 0 : problem->row;
}
