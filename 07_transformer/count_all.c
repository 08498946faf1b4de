#include "count_all.h"

#include "measure/counts.h"
#include "report/table.h"
#include "support/clock.h"

#include <math.h>

/* Projects one token, and counts it. */
static int project_one(struct pass *pass, uint64_t *bytes, double *seconds, struct error *error)
{
	const struct operations *run = pass->operations;
	struct counts counts;
	counts_forget();
	double begin = clock_seconds();
	run->project(run->state, &pass->model->layer[0].gate, pass->n, 1, NULL, pass->gate);
	if (run->status(run->state, error) != 0)
		return error->exit_code;
	*seconds = clock_seconds() - begin;
	if (counts_collect(0, counts_launches(), &counts, error) != 0)
		return error->exit_code;
	*bytes = counts.total.requested.read_bytes + counts.total.requested.write_bytes;
	counts_free(&counts);
	return 0;
}

static int measure_rate(struct pass *pass, double *bytes_per_s, struct error *error)
{
	const struct operations *run = pass->operations;
	static const int some_token = 0;
	run->embed(run->state, &some_token, 1, pass->x);
	run->rms_norm(run->state, pass->x, pass->model->layer[0].feed_forward_norm, 1, pass->n);
	*bytes_per_s = 0.0;
	for (int i = 0; i < 3; i++) { /* the fastest: the first one also makes the device's own tables */
		uint64_t bytes = 0;
		double seconds = 0.0;
		if (project_one(pass, &bytes, &seconds, error) != 0)
			return error->exit_code;
		*bytes_per_s = fmax(*bytes_per_s, (double)bytes / fmax(seconds, 1e-9));
	}
	return 0;
}

int estimate_make(
	struct pass *pass, enum heads heads, size_t prompt, size_t answer, struct estimate *estimate,
	struct error *error)
{
	struct moved moved[KINDS] = {{0}};
	moved_add_model(pass->model, heads, 0, prompt, pass->most_rows, moved);
	for (size_t i = 0; i < answer; i++)
		moved_add_model(pass->model, heads, prompt + i, 1, pass->most_rows, moved);
	estimate->bytes = 0;
	for (int kind = 0; kind < KINDS; kind++)
		estimate->bytes += moved_sum(moved[kind]);
	return measure_rate(pass, &estimate->bytes_per_s, error);
}

void estimate_print(FILE *out, const struct estimate *estimate, size_t prompt, size_t answer)
{
	char bytes[32];
	double seconds = (double)estimate->bytes / estimate->bytes_per_s;
	fprintf(out, "Counting every kernel: %zu + %zu tokens, %s requested, ", prompt, answer,
	        format_bytes((double)estimate->bytes, bytes));
	if (seconds < 1.0)
		fprintf(out, "less than a second\n");
	else if (seconds < 100.0)
		fprintf(out, "about %.0f s\n", seconds);
	else
		fprintf(out, "about %.0f min\n", seconds / 60.0);
}
