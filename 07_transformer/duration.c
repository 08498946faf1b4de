#include "duration.h"

#include "harness.h"
#include "model/pass_time.h"
#include "report/table.h"

static uint64_t requested(
	const struct language_model *model, enum heads heads, size_t prompt, size_t answer, size_t most_rows)
{
	struct moved moved[KINDS] = {{0}};
	uint64_t bytes = 0;
	moved_add_model(model, heads, 0, prompt, most_rows, moved);
	for (size_t i = 0; i < answer; i++)
		moved_add_model(model, heads, prompt + i, 1, most_rows, moved);
	for (int kind = 0; kind < KINDS; kind++)
		bytes += moved_sum(moved[kind]);
	return bytes;
}

int duration_estimate(
	struct pass *pass, enum heads heads, size_t prompt, size_t answer, bool always, struct duration *duration,
	struct error *error)
{
	size_t rows = smaller(MOST_MEASURED_ROWS, pass->most_rows);
	struct pass_time all = pass_work(pass->model, prompt + answer, answer + 1), part, own, reference;
	*duration = (struct duration){.prompt = prompt, .answer = answer};
	if (!always && all.attention + all.products < LITTLE_WORK)
		return 0;
	if (pass_measure(pass, rows, &own, &reference, &part, error) != 0)
		return error->exit_code;
	duration->bytes = requested(pass->model, heads, prompt, answer, pass->most_rows);
	duration->seconds = all.attention / part.attention * (own.attention + reference.attention) +
	                    all.products / part.products * (own.products + reference.products);
	return 0;
}

void duration_print(FILE *out, const struct duration *duration)
{
	char bytes[32];
	fprintf(out, "Counting every kernel: %zu + %zu tokens, %s requested, ", duration->prompt, duration->answer,
	        format_bytes((double)duration->bytes, bytes));
	if (duration->seconds < 1.0)
		fprintf(out, "less than a second\n");
	else if (duration->seconds < 100.0)
		fprintf(out, "about %.0f s\n", duration->seconds);
	else
		fprintf(out, "about %.0f min\n", duration->seconds / 60.0);
}
