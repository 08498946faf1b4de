/* Chapter 09's gradients in fp32 against finite differences of the double-precision forward: each modifier, and all of them. */
#include "finite_differences.h"
#include "program.h"
#include "variants.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static void compare(
	struct setting *s, const char *directory, const char *name, float *x, size_t count, const char *what)
{
	double *differences = finite_differences(s, x, count);
	expect_gradient(directory, name, differences, count, 5e-6, what);
	free(differences);
}

/* A problem of these options of the chapter's own. */
#define RULES(...)                                                                                                   \
	.problem = &(const struct problem)                                                                           \
	{                                                                                                            \
		.rules = &variants_rules, __VA_ARGS__                                                                \
	}

Test(finite_differences, of_every_modifier)
{
	static const float any_sink; /* which of them, set_up_with says */
	const struct {
		const char *options;
		struct modifiers modifiers;
		size_t heads;
	} cases[] = {
		{"--window 5", {.window = 5}, 1},
		{"--softcap 1.5", {.softcap = 1.5f}, 1},
		{"--alibi", {RULES(.heads = 3, .alibi = true)}, 3},
		{"--sink", {.sink = &any_sink}, 2},
		{"--kv-heads 1", {.kv_heads = 1}, 2},
		{"--dropout 0.3 --seed 4", {RULES(.dropout = 0.3f, .seed = 4)}, 2},
		{"--kv-heads 2 --window 4 --softcap 2 --alibi --sink",
	         {.kv_heads = 2, .window = 4, .softcap = 2, .sink = &any_sink, RULES(.heads = 4, .alibi = true)},
	         4},
		{"--lengths 3,8,11", {.packing = {"3,8,11", 3, {3, 11, 22}}}, 1},
		{"--lengths 9,1,12 --kv-heads 1 --softcap 2 --alibi --sink --dropout 0.2 --seed 4",
	         {.packing = {"9,1,12", 3, {9, 10, 22}},
	          .kv_heads = 1,
	          .softcap = 2,
	          .sink = &any_sink,
	          RULES(.heads = 2, .alibi = true, .dropout = 0.2f, .seed = 4)},
	         2},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		for (int causal = 0; causal < 2; causal++) {
			bool packed = cases[i].modifiers.packing.count > 0;
			struct setting s = set_up_with(
				cases[i].modifiers, packed ? 1 : 2, cases[i].heads, packed ? 22 : 11, 4, causal);
			char *what = text("%s%s", cases[i].options, causal ? " --causal" : "");
			char *in = text("%s/in", scratch_directory()), *out = text("%s/out", scratch_directory());
			save_inputs(in, &s);
			for (int p = 0; p < 2; p++) {
				char *said, *options = text("--kernel %s --quiet %s", p ? "dq" : "dkdv", what);
				int status = run_command(
					text("%s %s/chapters/variants --load %s --save %s %s", without_racecheck(),
				             TEST_BUILD, in, out, options),
					&said);
				cr_assert_eq(status, 0, "%s: %s", what, said);
			}
			compare(&s, out, "dq", s.tensors[0], s.elements, what);
			compare(&s, out, "dk", s.tensors[1], s.key_elements, what);
			compare(&s, out, "dv", s.tensors[2], s.key_elements, what);
			if (cases[i].modifiers.sink)
				compare(&s, out, "dsink", s.sink, s.inputs.heads, what);
			tear_down(&s);
		}
}
