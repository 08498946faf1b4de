/* Did you mean ...: of the words that would have been right, the one that a wrong word is near. */
#ifndef SUPPORT_NEAREST_H
#define SUPPORT_NEAREST_H

#include <stddef.h>

/*
 * The word of words[0 .. count) that `written` is near, the nearest one and the first of several; NULL where none is.
 *
 * Near is a word that differs by few mistakes (a letter too many, one missing, a wrong one, two neighbors exchanged: one
 * for each three letters of the longer word, at least one), or one that contains the other: `sequence` is near `seq`,
 * `row` is near `fa2_row`. Letters count the same in upper and lower case.
 */
const char *nearest_word(const char *written, const char *const *words, size_t count);

/* "; did you mean h100?" in `text`, or "" where no word is near. Returns text. */
enum { NEAREST_TEXT_SIZE = 80 };
const char *nearest_text(const char *written, const char *const *words, size_t count, char text[NEAREST_TEXT_SIZE]);

#endif
