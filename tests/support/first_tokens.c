#include "first_tokens.h"

#include "problem/npy.h"
#include "program.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *first_tokens(size_t tokens)
{
	static const char *const names[] = {"q", "k", "v"};
	const char *directory = text("%s/first_%zu", scratch_directory(), tokens);
	cr_assert_eq(mkdir(directory, 0777), 0, "%s", directory);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct npy all;
		struct error error;
		cr_assert_eq(
			npy_read(text(TEST_ROOT "/tests/data/real_qkv/%s.npy", names[i]), false, &all, &error), 0,
			"%s", error.message);
		cr_assert(all.rank == 4 && tokens <= all.shape[2]);
		size_t heads = all.shape[0] * all.shape[1], dim = all.shape[3];
		float *some = calloc(heads * tokens * dim, sizeof *some);
		for (size_t head = 0; head < heads; head++)
			memcpy(some + head * tokens * dim, all.values + head * all.shape[2] * dim,
			       tokens * dim * sizeof *some);
		const size_t shape[] = {all.shape[0], all.shape[1], tokens, dim};
		cr_assert_eq(npy_write(text("%s/%s.npy", directory, names[i]), some, shape, 4, &error), 0);
		free(some);
		free(all.values);
	}
	return directory;
}
