#include "explain/wrong_row.h"

#include <stdlib.h>

void wrong_row_find(const struct kernel_result *kernel, const struct inputs *inputs, struct wrong_row *row)
{
	const struct problem *problem = kernel->problem;
	const struct error_map *map = NULL;
	for (size_t c = 0; c < kernel->output_count; c++)
		if (kernel->maps[c].wrong && (!map || kernel->maps[c].first.row < map->first.row))
			map = &kernel->maps[c];
	const float *Q = find_values(inputs->list, "Q"), *K = find_values(inputs->list, "K");
	const float *V = find_values(inputs->list, "V");
	size_t N = problem->seq, d = problem->dim;
	if (!map || map->first.row >= problem->batch * problem->heads * N || N > MOST_SCORES ||
	    problem->variant.kind != VARIANT_PLAIN)
		return;
	*row = (struct wrong_row){.row = map->first.row, .column = map->columns == d ? map->first.column : 0};
	row->visible = problem->causal ? row->row % N + 1 : N;
	row->scores = malloc(N * sizeof *row->scores);
	row->values = malloc(N * sizeof *row->values);
	row->keys = row->scores && row->values ? N : 0;
	for (size_t j = 0; j < row->keys; j++) {
		size_t key = row->row / N * N + j;
		double score = 0.0;
		for (size_t c = 0; c < d; c++)
			score += (double)Q[row->row * d + c] * (double)K[key * d + c];
		row->scores[j] = (double)problem->scale * score;
		row->values[j] = (double)V[key * d + row->column];
	}
}

void wrong_row_free(struct wrong_row *row)
{
	free(row->scores);
	free(row->values);
	*row = (struct wrong_row){.keys = 0};
}
