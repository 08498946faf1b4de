/*
 * What a trained model's attention looks like: the probabilities of a window of the text of tests/data/real_qkv, both
 * heads, as a data file for the heat-map. P_ij = exp(scale q_i k_j - LSE_i), with LSE from the double reference.
 *
 *   attention_map DIRECTORY FIRST COUNT [FILE]
 *
 * DIRECTORY holds q.npy, k.npy, v.npy ([1, H, N, d]) and text.txt, a character a token. FIRST and COUNT are the
 * window: queries and keys FIRST ... FIRST + COUNT - 1. Attention is causal; the softmax goes over all keys, not only
 * over those of the window, and the column `inside` says how much of the window's weight lies inside it.
 */
#include "problem/npy.h"
#include "support/error.h"
#include "support/number.h"
#include "support/output_file.h"
#include "verify/reference.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct model {
	struct npy q, k, v; /* [1, H, N, d] */
	char *text;         /* [N] */
	struct attention_inputs inputs;
	struct attention_reference reference;
};

/* What is said of a head as a whole, and of its rows in the window. */
struct summary {
	double distance; /* characters looked back, mean over all queries */
	double spaces;   /* mean weight on spaces and line ends, over all queries */
	double inside;   /* of the window's queries: mean weight on keys of the window */
};

static int load(const char *directory, const char *name, struct npy *array, struct error *error)
{
	char path[512];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	int status = npy_read(path, false, array, error);
	if (status == 0 && (array->rank != 4 || array->shape[0] != 1))
		return error_set(error, EXIT_USAGE, "%s: expected the shape (1, H, N, d)", path);
	return status;
}

static int load_text(const char *directory, size_t seq, char **text, struct error *error)
{
	char path[512];
	snprintf(path, sizeof path, "%s/text.txt", directory);
	*text = calloc(seq + 1, 1);
	if (*text == NULL)
		return error_set(error, EXIT_ENVIRONMENT, "no memory for a text of %zu characters", seq);
	FILE *in = fopen(path, "rb");
	size_t read = in ? fread(*text, 1, seq + 1, in) : 0;
	if (in)
		fclose(in);
	if (read != seq)
		return error_set(error, EXIT_USAGE, "%s: expected %zu characters, one a token", path, seq);
	return 0;
}

static int load_model(const char *directory, struct model *model, struct error *error)
{
	if (load(directory, "q.npy", &model->q, error) != 0 || load(directory, "k.npy", &model->k, error) != 0 ||
	    load(directory, "v.npy", &model->v, error) != 0)
		return error->exit_code;
	const size_t *shape = model->q.shape;
	if (memcmp(shape, model->k.shape, sizeof model->k.shape) != 0 ||
	    memcmp(shape, model->v.shape, sizeof model->v.shape) != 0)
		return error_set(error, EXIT_USAGE, "%s: q.npy, k.npy and v.npy differ in shape", directory);
	if (load_text(directory, shape[2], &model->text, error) != 0)
		return error->exit_code;
	model->inputs = (struct attention_inputs){
		.batch = 1,
		.heads = shape[1],
		.seq = shape[2],
		.dim = shape[3],
		.causal = true,
		.scale = 1 / sqrtf((float)shape[3]),
		.q = model->q.values,
		.k = model->k.values,
		.v = model->v.values};
	if (!attention_reference_compute(&model->inputs, NULL, 0, &model->reference))
		return error_set(error, EXIT_ENVIRONMENT, "no memory for the reference");
	return 0;
}

/* P_ij of a head: 0 for a key that the mask hides. */
static double probability(const struct model *model, size_t head, size_t query, size_t key)
{
	const struct attention_inputs *in = &model->inputs;
	if (key > query)
		return 0;
	const float *q = in->q + (head * in->seq + query) * in->dim; // [d]
	const float *k = in->k + (head * in->seq + key) * in->dim;   // [d]
	double dot = 0;
	for (size_t c = 0; c < in->dim; c++)
		dot += (double)q[c] * k[c];
	return exp(in->scale * dot - model->reference.lse[head * in->seq + query]);
}

/* Also makes sure that every row sums to 1: that the reference's LSE belongs to these scores. */
static int summarize(
	const struct model *model, size_t head, size_t first, size_t count, struct summary *summary,
	struct error *error)
{
	*summary = (struct summary){0};
	for (size_t query = 0; query < model->inputs.seq; query++) {
		double sum = 0, inside = 0, distance = 0, spaces = 0;
		for (size_t key = 0; key <= query; key++) {
			double p = probability(model, head, query, key);
			sum += p;
			distance += p * (double)(query - key);
			inside += key >= first ? p : 0;
			spaces += model->text[key] == ' ' || model->text[key] == '\n' ? p : 0;
		}
		if (!(fabs(sum - 1) < 1e-9))
			return error_set(
				error, EXIT_VERIFICATION, "head %zu, query %zu: P sums to %.12f", head, query, sum);
		summary->distance += distance / (double)model->inputs.seq;
		summary->spaces += spaces / (double)model->inputs.seq;
		if (query >= first && query < first + count)
			summary->inside += inside / (double)count;
	}
	return 0;
}

/* A character as a tick label: what cannot be seen gets a sign. */
static const char *label(char character, char text[2])
{
	if (character == ' ')
		return "␣";
	if (character == '\n')
		return "↵";
	text[0] = character;
	text[1] = '\0';
	return text;
}

static int write_map(
	const struct model *model, const char *directory, size_t first, size_t count, FILE *out, struct error *error)
{
	fprintf(out,
	        "# causal attention of a character-level language model on English text, both heads, by the double "
	        "reference\n"
	        "# command: attention_map %s %zu %zu\n"
	        "# units: probability; distance in characters; inside and spaces shares of 1\n"
	        "# head\tquery\tkey\tquery_text\tkey_text\tprobability\tdistance\tinside\tspaces\n",
	        directory, first, count);
	for (size_t head = 0; head < model->inputs.heads; head++) {
		struct summary summary;
		if (summarize(model, head, first, count, &summary, error) != 0)
			return error->exit_code;
		for (size_t query = first; query < first + count; query++)
			for (size_t key = first; key <= query; key++) {
				char a[2], b[2];
				fprintf(out, "%zu\t%zu\t%zu\t%s\t%s\t%.4f\t%.6g\t%.6g\t%.6g\n", head, query, key,
				        label(model->text[query], a), label(model->text[key], b),
				        probability(model, head, query, key), summary.distance, summary.inside,
				        summary.spaces);
			}
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct model model = {0};
	struct output_file file;
	struct error error = {0};
	output_file_guard();
	uint64_t first, count;
	if (argc < 4 || argc > 5 || !read_whole(argv[2], 0, SIZE_MAX, &first) ||
	    !read_whole(argv[3], 1, SIZE_MAX, &count)) {
		fprintf(stderr, "usage: attention_map DIRECTORY FIRST COUNT [FILE]\n");
		return EXIT_USAGE;
	}
	if (load_model(argv[1], &model, &error) == 0 &&
	    (first >= model.inputs.seq || count > model.inputs.seq - first))
		error_set(
			&error, EXIT_USAGE, "window %" PRIu64 " + %" PRIu64 ": the text has %zu characters", first,
			count, model.inputs.seq);
	if (error.exit_code == 0 && output_file_open(&file, argc == 5 ? argv[4] : "-", &error) == 0) {
		if (write_map(&model, argv[1], first, count, file.stream, &error) == 0)
			output_file_commit(&file, &error);
		else
			output_file_abandon(&file);
	}
	if (error.exit_code != 0)
		fprintf(stderr, "attention_map: %s\n", error.message);
	attention_reference_free(&model.reference);
	free(model.q.values);
	free(model.k.values);
	free(model.v.values);
	free(model.text);
	return error.exit_code;
}
