#include "svg_text.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;
static const double smallest = 11;             /* pixels at the README's width */
static const double above = 0.73, below = 0.2; /* of the size */
static const double slack = 0.5;               /* pixels two boxes may share: they are estimates */

/* DejaVu Sans 2.37, advance widths of ' ' to '~' in 1/2048 of the size. */
static const short advances[] = {651,  821,  942,  1716, 1303, 1946, 1597, 563,  799,  799,  1024, 1716, 651,  739,
                                 651,  690,  1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 690,  690,
                                 1716, 1716, 1716, 1087, 2048, 1401, 1405, 1430, 1577, 1294, 1178, 1587, 1540, 604,
                                 604,  1343, 1141, 1767, 1532, 1612, 1235, 1612, 1423, 1300, 1251, 1499, 1401, 2025,
                                 1403, 1251, 1403, 799,  690,  799,  1716, 1024, 1024, 1255, 1300, 1126, 1300, 1260,
                                 721,  1300, 1298, 569,  569,  1186, 569,  1995, 1298, 1253, 1300, 1300, 842,  1067,
                                 803,  1298, 1212, 1675, 1212, 1212, 1075, 1303, 690,  1303, 1716};
/* And of what else the pictures write; anything else counts as wide. */
static const struct {
	const char *character;
	short advance;
} others[] = {{"²", 821},  {"³", 821},  {"×", 1716}, {"·", 651}, {"Θ", 1612}, {"○", 1787}, {"●", 1787},
              {"␣", 1300}, {"↵", 1716}, {"⁻", 1081}, {"⁰", 821}, {"¹", 821},  {"⁴", 821},  {"⁵", 821},
              {"⁶", 821},  {"⁷", 821},  {"⁸", 821},  {"⁹", 821}, {"∝", 1463}, {"−", 1716}};

static size_t length_of(unsigned char first)
{
	return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

double text_width(const char *text, double size)
{
	double units = 0;
	while (*text) {
		unsigned char first = (unsigned char)*text;
		size_t bytes = length_of(first), advance = 2048;
		if (bytes == 1 && first >= ' ' && first <= '~')
			advance = (size_t)advances[first - ' '];
		for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
			if (strncmp(text, others[i].character, bytes) == 0 && strlen(others[i].character) == bytes)
				advance = (size_t)others[i].advance;
		units += (double)advance;
		for (size_t i = 0; i < bytes && *text; i++)
			text++;
	}
	return units / 2048 * size;
}

/* "&lt;" -> "<" and so on, up to `end`. */
static void unescape(const char *from, const char *end, char *to, size_t size)
{
	static const struct {
		const char *entity;
		char character;
	} entities[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&#39;", '\''}};
	size_t used = 0;
	while (from < end && used + 1 < size) {
		char character = *from;
		size_t bytes = 1;
		for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++)
			if (strncmp(from, entities[i].entity, strlen(entities[i].entity)) == 0) {
				character = entities[i].character;
				bytes = strlen(entities[i].entity);
			}
		to[used++] = character;
		from += bytes;
	}
	to[used] = '\0';
}

/* What stands between <name ...> and </name>. */
static void element(const char *svg, const char *name, char *to, size_t size)
{
	char opening[32], closing[32];
	snprintf(opening, sizeof opening, "<%s", name);
	snprintf(closing, sizeof closing, "</%s>", name);
	const char *start = strstr(svg, opening);
	const char *text = start ? strchr(start, '>') : NULL;
	const char *end = text ? strstr(text, closing) : NULL;
	to[0] = '\0';
	if (end)
		unescape(text + 1, end, to, size);
}

static void place(struct word *word, double x, double y, double degrees, const char *anchor)
{
	double width = text_width(word->text, word->size);
	double left = strcmp(anchor, "end") == 0 ? -width : strcmp(anchor, "middle") == 0 ? -width / 2 : 0;
	double c = cos(degrees * pi / 180), s = sin(degrees * pi / 180);
	double box[4][2] = {
		{left, -above * word->size},
		{left + width, -above * word->size},
		{left + width, below * word->size},
		{left, below * word->size}};
	for (int i = 0; i < 4; i++) {
		word->corner[i][0] = x + c * box[i][0] - s * box[i][1];
		word->corner[i][1] = y + s * box[i][0] + c * box[i][1];
	}
}

/* The number after `key` in [from, end); `otherwise` if it is not there. */
static double number_after(const char *from, const char *end, const char *key, double otherwise)
{
	const char *at = strstr(from, key);
	return at && at < end ? strtod(at + strlen(key), NULL) : otherwise;
}

struct picture *read_picture(const char *name, const char *svg)
{
	struct picture *picture = calloc(1, sizeof *picture);
	const char *box = strstr(svg, "viewBox=\"0 0 ");
	cr_assert(
		picture && box && sscanf(box, "viewBox=\"0 0 %lf %lf", &picture->width, &picture->height) == 2,
		"%s: no viewBox", name);
	element(svg, "title", picture->title, sizeof picture->title);
	element(svg, "desc", picture->description, sizeof picture->description);
	for (const char *group = svg; (group = strstr(group, "<g transform=\"translate(")); group++) {
		const char *text = strstr(group, "<text"), *end = text ? strstr(text, "</text>") : NULL;
		double x, y;
		char anchor[16] = "start";
		cr_assert(end && picture->count < MAX_WORDS, "%s: a group of text that is none", name);
		cr_assert(sscanf(group, "<g transform=\"translate(%lf,%lf)", &x, &y) == 2, "%s: %.60s", name, group);
		const char *anchored = strstr(group, "text-anchor=\"");
		if (anchored && anchored < text)
			sscanf(anchored, "text-anchor=\"%15[a-z]", anchor);
		struct word *word = &picture->words[picture->count++];
		unescape(strchr(text, '>') + 1, end, word->text, sizeof word->text);
		word->size = number_after(group, text, "font-size=\"", 0);
		place(word, x, y, number_after(group, text, "rotate(", 0), anchor);
	}
	return picture;
}

/* How far the two boxes lie apart along the direction of an edge; negative: they overlap along it. */
static double gap_along(const struct word *a, const struct word *b, double dx, double dy)
{
	double low[2] = {1e9, 1e9}, high[2] = {-1e9, -1e9};
	const struct word *both[2] = {a, b};
	double length = hypot(dx, dy);
	for (int w = 0; w < 2; w++)
		for (int i = 0; i < 4; i++) {
			double at = (both[w]->corner[i][0] * dx + both[w]->corner[i][1] * dy) / length;
			low[w] = fmin(low[w], at);
			high[w] = fmax(high[w], at);
		}
	return fmax(low[0], low[1]) - fmin(high[0], high[1]);
}

/* Two convex boxes overlap when no edge's direction separates them. */
static int overlap(const struct word *a, const struct word *b)
{
	const struct word *both[2] = {a, b};
	for (int w = 0; w < 2; w++)
		for (int i = 0; i < 2; i++) {
			double dx = both[w]->corner[i + 1][0] - both[w]->corner[i][0];
			double dy = both[w]->corner[i + 1][1] - both[w]->corner[i][1];
			if (hypot(dx, dy) > 0 && gap_along(a, b, dx, dy) > -slack)
				return 0;
		}
	return 1;
}

static int is_blank(const struct word *word)
{
	return strspn(word->text, " ") == strlen(word->text);
}

size_t picture_problems(const struct picture *picture, char *problems, size_t size)
{
	size_t found = 0, used = 0;
	problems[0] = '\0';
#define PROBLEM(...)                                                                                                 \
	do {                                                                                                         \
		found++;                                                                                             \
		if (used < size)                                                                                     \
			used += (size_t)snprintf(problems + used, size - used, __VA_ARGS__);                         \
	} while (0)
	for (size_t i = 0; i < picture->count; i++) {
		const struct word *word = &picture->words[i];
		if (is_blank(word))
			continue;
		if (word->size < smallest)
			PROBLEM("  \"%s\" has %.1f pixels\n", word->text, word->size);
		for (int c = 0; c < 4; c++) {
			double x = word->corner[c][0], y = word->corner[c][1];
			if (x < 0 || y < 0 || x > picture->width || y > picture->height) {
				PROBLEM("  \"%s\" leaves the picture at %.0f,%.0f\n", word->text, x, y);
				break;
			}
		}
		for (size_t j = 0; j < i; j++)
			if (!is_blank(&picture->words[j]) && overlap(word, &picture->words[j]))
				PROBLEM("  \"%s\" lies on \"%s\"\n", word->text, picture->words[j].text);
	}
#undef PROBLEM
	return found;
}
