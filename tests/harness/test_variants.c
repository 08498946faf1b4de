/* Packed sequences, and what a class does to attention. */
#include "closed_forms.h"
#include "problem/modifiers.h"
#include "problem/packing.h"

#include <criterion/criterion.h>
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

Test(variants, each_is_told_in_words)
{
	static const struct {
		struct class_variant variant;
		const char *words;
		double capped; /* of 3 */
	} told[] = {
		{{VARIANT_PLAIN, 0.0f}, "", 3.0},
		{{VARIANT_SOFTCAP, 2.5f}, ", soft-cap 2.5", 2.5 * 0.83365460701215526},
		{{VARIANT_WINDOW, 16.0f}, ", window 16", 3.0},
		{{VARIANT_SINK, 0.0f}, ", attention sink", 3.0},
		{{VARIANT_RELU, 0.0f}, ", ReLU", 3.0},
	};
	char text[64];
	for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
		cr_expect_str_eq(variant_text(told[i].variant, text, sizeof text), told[i].words);
		cr_expect_float_eq(variant_cap(told[i].variant, 3.0), told[i].capped, 1e-12);
	}
}

/* P is made from LSE; the slope of a soft-cap, which dS needs, asks for it once more. Nothing else moves otherwise. */
Test(variants, a_soft_cap_asks_for_its_statistics_twice)
{
	struct problem problem = {.batch = 1, .heads = 2, .kv_heads = 2, .seq = 5, .keys = 5, .dim = 3};
	struct closed_forms plain = backward_naive_forms(&problem);
	cr_expect_eq(plain.statistics, 2 * 25);
	problem.variant = (struct class_variant){VARIANT_WINDOW, 2};
	cr_expect_eq(backward_naive_forms(&problem).statistics, 2 * 25);
	problem.variant = (struct class_variant){VARIANT_SOFTCAP, 2};
	struct closed_forms capped = backward_naive_forms(&problem);
	cr_expect_eq(capped.statistics, 2 * 2 * 25);
	cr_expect_eq(capped.predictions[1].read_elements, plain.predictions[1].read_elements);
}
