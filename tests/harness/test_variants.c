/* What classes do to scores, sums and products, against a slow computation; and packed sequences. */
#include "problem/modifiers.h"
#include "problem/packing.h"
#include "verify/matmul.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

Test(variants, lengths_are_read_or_refused)
{
	struct packing packing;
	cr_assert(packing_read(&packing, "3,17,200", 220));
	cr_expect(packing.count == 3 && packing_tokens(&packing) == 220 && packing_longest(&packing, 220) == 200);
	cr_expect_eq(packing_tiles(&packing, 220, 16), 1 + 2 + 13);
	struct sequence last = sequence_of_token(&packing, 220, 20), first = sequence_of_token(&packing, 220, 2);
	cr_expect(last.index == 2 && last.first == 20 && last.length == 200);
	cr_expect(first.index == 0 && first.first == 0 && first.length == 3);
	cr_expect(packing_read(&packing, "1", 1) && packing.count == 1);
	static const char *const refused[] = {"",   ",",    "0",    "3,",  ",3", "3,,4",
	                                      "-1", "3 ,4", "3, 4", "3.5", "x",  "99999999999999999999999999"};
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		cr_expect_not(packing_read(&packing, refused[i], 1000), "'%s'", refused[i]);
	cr_expect_not(packing_read(&packing, "3,17,201", 220));
	char many[2 * MOST_SEQUENCES + 2];
	for (size_t s = 0; s <= MOST_SEQUENCES; s++)
		memcpy(many + 2 * s, "1,", 2);
	many[2 * MOST_SEQUENCES + 1] = '\0';
	cr_expect_not(packing_read(&packing, many, 1000), "%d sequences", MOST_SEQUENCES + 1);
	many[2 * MOST_SEQUENCES - 1] = '\0';
	cr_expect(packing_read(&packing, many, 1000) && packing.count == MOST_SEQUENCES);
}

Test(variants, a_class_has_one_of_them)
{
	cr_expect_eq(modifiers_of_variant((struct class_variant){VARIANT_WINDOW, 5}).window, 5);
	cr_expect(modifiers_of_variant((struct class_variant){VARIANT_SOFTCAP, 1.5f}).softcap == 1.5f);
	struct modifiers plain = modifiers_of_variant((struct class_variant){VARIANT_PLAIN, 3});
	cr_expect(plain.window == 0 && plain.softcap == 0.0f && !plain.sink && plain.kv_heads == 0);
}

Test(variants, products_are_those_of_a_slow_computation)
{
	float a[6] = {1, -2, 0.5f, 3, 4, -1}, b[6] = {2, 1, -1, 0, 0.25f, 5}; /* [2, 3], [3, 2] */
	static const struct class_variant variants[] = {{VARIANT_PLAIN, 0}, {VARIANT_SOFTCAP, 6}, {VARIANT_RELU, 0}};
	struct named_values inputs[] = {{"A", a}, {"B", b}, {NULL, NULL}};
	double by_hand[] = {4.125, 3.5, 1.75, -2.0}; /* 2+2+.125, 1+0+2.5, 6-4-.25, 3+0-5 */
	for (int v = 0; v < 3; v++) {
		struct problem problem = {.m = 2, .n = 2, .k = 3, .variant = variants[v]};
		struct expectations expectations;
		struct error error = {0};
		cr_assert_eq(matmul_expect(&problem, inputs, &expectations, &error), 0);
		for (int e = 0; e < 4; e++) {
			double expected = by_hand[e];
			if (v == 1)
				expected = 6 * (exp(expected / 3) - 1) / (exp(expected / 3) + 1);
			if (v == 2 && expected < 0)
				expected = 0;
			cr_expect_float_eq(expectations.items[0].values[e], expected, 1e-14);
		}
		expectations_free(&expectations);
	}
}
