/*
 * The words of a picture as gnuplot's SVG holds them, and whether they can be read: large enough, inside the picture,
 * not on top of each other.
 *
 * Widths are estimates: the advance widths of DejaVu Sans, without kerning; heights from the capital's top (0.73 of
 * the size) to a little below the line (0.2). A browser without that font takes another one, of about the same width.
 * Lines and points that cross a word are not looked at.
 */
#ifndef PLOTS_SVG_TEXT_H
#define PLOTS_SVG_TEXT_H

#include <stddef.h>

enum { MAX_WORDS = 400, WORD_BYTES = 300, TITLE_BYTES = 2000 };

struct word {
	char text[WORD_BYTES];
	double size;
	double corner[4][2]; /* of its box, turned as the word is; pixels, y downwards */
};

struct picture {
	double width, height; /* the viewBox */
	char title[TITLE_BYTES], description[TITLE_BYTES];
	size_t count;
	struct word words[MAX_WORDS];
};

/* Fails the running test when the text is no SVG of gnuplot's. `name` is for messages. The caller frees it. */
struct picture *read_picture(const char *name, const char *svg);

/* Width of a text in pixels at a size. */
double text_width(const char *text, double size);

/* How many words cannot be read; what is wrong with them, a line each, in `problems`. */
size_t picture_problems(const struct picture *picture, char *problems, size_t size);

#endif
