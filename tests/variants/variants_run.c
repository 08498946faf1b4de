#include "variants_run.h"

#include "problem/load.h"
#include "program.h"

#include <criterion/criterion.h>
#include <math.h>

static void save(const char *directory, const char *tensor, const float *values, const size_t *shape, size_t rank)
{
	struct error error;
	cr_assert_eq(save_tensor(directory, tensor, values, shape, rank, &error), 0, "%s", error.message);
}

const char *save_tokens(size_t first, size_t tokens, const float sinks[H])
{
	static float values[TOKENS * H * DIM];
	static const size_t of_sinks[] = {H};
	char *directory = text("%s/of_%zu_%zu", scratch_directory(), first, tokens);
	for (int t = 0; t < 3; t++) {
		const char name[] = {"QKV"[t], '\0'};
		const size_t shape[] = {1, t == 0 ? H : G, tokens, DIM};
		const double steps[] = {0.3, 0.7, 1.3};
		for (size_t e = 0; e < shape[1] * tokens * DIM; e++) {
			size_t head = e / DIM / tokens, token = first + e / DIM % tokens;
			values[e] = (float)sin(steps[t] * (double)((head * TOKENS + token) * DIM + e % DIM));
		}
		save(directory, name, values, shape, 4);
	}
	save(directory, "sink", sinks, of_sinks, 1);
	return directory;
}

struct npy output_of(const char *kernel, const char *options, const char *environment)
{
	const char *directory = text("%s/%s", scratch_directory(), kernel);
	char *line = text("--kernel %s --quiet --save %s %s", kernel, directory, options);
	struct outcome o = run_line(VARIANTS, line, LIST(environment), 60);
	struct npy O;
	struct error error;
	cr_assert_eq(o.status, 0, "%s: exit %d, %s", line, o.status, o.err);
	cr_assert_eq(npy_read(text("%s/o.npy", directory), false, &O, &error), 0, "%s", error.message);
	free_outcome(&o);
	return O;
}
