#include "explain/tile.h"

#include "support/number.h"
#include "tensors.h"

enum { MOST_ROWS = 8, MOST_KEYS = 16, MOST_COLUMNS_OF_V = 4 };

/* The length of a head's tensor; 0 where it is not [B, H, N, d]. */
static size_t rows_of(const struct problem *problem, const struct kernel *kernel, const char *name)
{
	const struct tensor *tensor = tensor_find(kernel->tensors, name);
	size_t shape[MAX_RANK];
	return tensor && tensor_shape(problem, tensor, shape) == 4 && shape[3] == problem->dim ? shape[2] : 0;
}

static void write_rows(
	struct json *json, const char *key, const float *values, size_t rows, size_t columns, size_t dim)
{
	json_open_array(json, key);
	for (size_t row = 0; row < rows; row++)
		for (size_t c = 0; c < columns; c++)
			json_number(json, NULL, (double)values[row * dim + c]);
	json_close_array(json);
}

int explain_tile(struct json *json, const struct run_result *result, struct error *error)
{
	struct problem problem = result->problem;
	const struct kernel *kernel = result->kernels[0].kernel;
	size_t rows = smaller(rows_of(&problem, kernel, "Q"), MOST_ROWS);
	size_t keys = smaller(rows_of(&problem, kernel, "K"), MOST_KEYS), dim = problem.dim;
	if (!rows || !keys || !rows_of(&problem, kernel, "V") || problem.variant.kind != VARIANT_PLAIN)
		return 0;
	/* Below a causal mask the last of these queries: the first ones see nothing of a second tile. */
	size_t first_row = problem.causal && keys > rows ? keys - rows : 0;
	struct inputs inputs;
	int status = inputs_make(result->chapter, kernel, 1, result->options, &problem, &inputs, error);
	if (status == 0) {
		json_open_object(json, "tile");
		json_count(json, "first_row", first_row);
		json_count(json, "rows", rows);
		json_count(json, "keys", keys);
		json_number(json, "scale", (double)problem.scale);
		write_rows(json, "Q", find_values(inputs.list, "Q") + first_row * dim, rows, dim, dim);
		write_rows(json, "K", find_values(inputs.list, "K"), keys, dim, dim);
		write_rows(json, "V", find_values(inputs.list, "V"), keys, smaller(dim, MOST_COLUMNS_OF_V), dim);
		json_close_object(json);
	}
	inputs_free(&inputs);
	return status;
}
