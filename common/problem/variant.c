#include "problem/variant.h"

#include "problem/class.h"
#include "problem/modifiers.h"

#include <stdio.h>
#include <string.h>

const char *const variant_names[VARIANT_KINDS] = {
	[VARIANT_PLAIN] = "plain", [VARIANT_SOFTCAP] = "softcap", [VARIANT_WINDOW] = "window",
	[VARIANT_SINK] = "sink",   [VARIANT_RELU] = "relu",
};

static const struct {
	const char *chapter;
	struct class_variant variant;
} chapters[] = {CLASS_VARIANTS{NULL, {VARIANT_PLAIN, 0.0f}}};

struct class_variant variant_of_chapter(const char *chapter)
{
	for (size_t i = 0; chapters[i].chapter; i++)
		if (strcmp(chapters[i].chapter, chapter) == 0)
			return chapters[i].variant;
	return (struct class_variant){VARIANT_PLAIN, 0.0f};
}

double variant_cap(struct class_variant variant, double x)
{
	return soft_cap(variant.kind == VARIANT_SOFTCAP ? variant.value : 0.0f, x);
}

const char *variant_text(struct class_variant variant, char *text, size_t size)
{
	switch (variant.kind) {
	case VARIANT_SOFTCAP: snprintf(text, size, ", soft-cap %g", (double)variant.value); break;
	case VARIANT_WINDOW: snprintf(text, size, ", window %g", (double)variant.value); break;
	case VARIANT_SINK: snprintf(text, size, ", attention sink"); break;
	case VARIANT_RELU: snprintf(text, size, ", ReLU"); break;
	default: snprintf(text, size, "%s", "");
	}
	return text;
}
