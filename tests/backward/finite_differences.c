#include "finite_differences.h"

#include "problem/inputs.h"
#include "problem/load.h"
#include "program.h"
#include "worse.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

const char *const tensor_names[TENSORS] = {"Q", "K", "V", "dO"};

static struct setting make(struct attention_inputs inputs)
{
	size_t rows = inputs.batch * inputs.seq * inputs.dim, heads = inputs.heads;
	struct setting s = {
		.inputs = inputs,
		.elements = rows * heads,
		.key_elements = rows * (inputs.modifiers.kv_heads ? inputs.modifiers.kv_heads : heads)};
	for (int t = 0; t < TENSORS; t++) {
		s.tensors[t] = calloc(s.elements, sizeof(float));
		for (size_t i = 0; i < s.elements; i++)
			s.tensors[t][i] = input_normal(11, tensor_names[t], i);
	}
	s.sink = calloc(heads, sizeof(float));
	for (size_t h = 0; h < heads; h++)
		s.sink[h] = input_normal(11, "sink", h);
	s.inputs.q = s.tensors[0];
	s.inputs.k = s.tensors[1];
	s.inputs.v = s.tensors[2];
	if (inputs.modifiers.sink)
		s.inputs.modifiers.sink = s.sink;
	return s;
}

struct setting set_up_with(
	struct modifiers modifiers, size_t batch, size_t heads, size_t seq, size_t dim, bool causal)
{
	return make((struct attention_inputs){
		.batch = batch,
		.heads = heads,
		.seq = seq,
		.dim = dim,
		.causal = causal,
		.scale = (float)(1.0 / sqrt((double)dim)),
		.modifiers = modifiers});
}

struct setting set_up(size_t batch, size_t heads, size_t seq, size_t dim, bool causal, float scale)
{
	return make((struct attention_inputs){
		.batch = batch, .heads = heads, .seq = seq, .dim = dim, .causal = causal, .scale = scale});
}

void tear_down(struct setting *s)
{
	for (int t = 0; t < TENSORS; t++)
		free(s->tensors[t]);
	free(s->sink);
}

static double loss(const struct setting *s)
{
	struct attention_reference reference;
	cr_assert(attention_reference_compute(&s->inputs, NULL, 0, &reference));
	double sum = 0.0;
	for (size_t i = 0; i < s->elements; i++)
		sum += reference.o[i] * (double)s->tensors[3][i];
	attention_reference_free(&reference);
	return sum;
}

/* Steps of 2^-10, counted as fp32 really took them. */
static double finite_difference(struct setting *s, float *x)
{
	float saved = *x;
	double at[2], loss_at[2];
	for (int side = 0; side < 2; side++) {
		*x = saved + (side ? 0x1p-10f : -0x1p-10f);
		at[side] = *x;
		loss_at[side] = loss(s);
	}
	*x = saved;
	return (loss_at[1] - loss_at[0]) / (at[1] - at[0]);
}

/* K and V have heads of their own. */
void save_inputs(const char *directory, const struct setting *s)
{
	struct error error;
	for (int t = 0; t < TENSORS; t++) {
		bool of_keys = t == 1 || t == 2;
		size_t heads =
			of_keys ? s->key_elements / s->inputs.batch / s->inputs.seq / s->inputs.dim : s->inputs.heads;
		const size_t shape[] = {s->inputs.batch, heads, s->inputs.seq, s->inputs.dim};
		cr_assert_eq(
			save_tensor(directory, tensor_names[t], s->tensors[t], shape, 4, &error), 0, "%s",
			error.message);
	}
	cr_assert_eq(save_tensor(directory, "sink", s->sink, &s->inputs.heads, 1, &error), 0, "%s", error.message);
}

double *finite_differences(struct setting *s, float *x, size_t count)
{
	double *differences = calloc(count, sizeof *differences);
	for (size_t i = 0; i < count; i++)
		differences[i] = finite_difference(s, &x[i]);
	return differences;
}

void expect_gradient(
	const char *directory, const char *name, const double *differences, size_t count, double tolerance,
	const char *what)
{
	struct npy array;
	struct error error;
	double worst = 0.0, size = 0.0;
	cr_assert_eq(npy_read(text("%s/%s.npy", directory, name), true, &array, &error), 0, "%s", error.message);
	cr_assert_eq(shape_elements(array.shape, array.rank), count, "%s", name);
	for (size_t i = 0; i < count; i++) {
		worst = worse_of(worst, fabs((double)array.values[i] - differences[i]));
		size = fmax(size, fabs(differences[i]));
	}
	cr_log_info("%s of %s: %g", name, what, worst / size);
	cr_expect(worst <= tolerance * size && size > 0.01, "%s of %s: off by %g of %g", name, what, worst, size);
	free(array.values);
}
