#include "finite_differences.h"

#include "problem/inputs.h"

#include <criterion/criterion.h>
#include <stdlib.h>

const char *const tensor_names[TENSORS] = {"Q", "K", "V", "dO"};

struct setting set_up(size_t batch, size_t heads, size_t seq, size_t dim, bool causal, float scale)
{
	struct setting s = {.elements = batch * heads * seq * dim};
	for (int t = 0; t < TENSORS; t++) {
		s.tensors[t] = calloc(s.elements, sizeof(float));
		for (size_t i = 0; i < s.elements; i++)
			s.tensors[t][i] = input_normal(11, tensor_names[t], i);
	}
	s.inputs = (struct attention_inputs){
		.batch = batch,
		.heads = heads,
		.seq = seq,
		.dim = dim,
		.causal = causal,
		.scale = scale,
		.q = s.tensors[0],
		.k = s.tensors[1],
		.v = s.tensors[2]};
	return s;
}

void tear_down(struct setting *s)
{
	for (int t = 0; t < TENSORS; t++)
		free(s->tensors[t]);
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
double finite_difference(struct setting *s, int tensor, size_t index)
{
	float *x = &s->tensors[tensor][index], saved = *x;
	double at[2], loss_at[2];
	for (int side = 0; side < 2; side++) {
		*x = saved + (side ? 0x1p-10f : -0x1p-10f);
		at[side] = *x;
		loss_at[side] = loss(s);
	}
	*x = saved;
	return (loss_at[1] - loss_at[0]) / (at[1] - at[0]);
}
