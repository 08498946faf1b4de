/* What a program prints for people, and what every chapter's program does alike. */
#ifndef SUPPORT_PAGE_H
#define SUPPORT_PAGE_H

#include "program.h"

/* No line is wider than 80 columns, and the last one says what to do next. Cuts `text` into its lines. */
void expect_page(char *text);

/* A page of at most 40 lines, as every run without --verbose is one. */
void expect_screen(char *text);

/*
 * Of `program` with the options in `line`, or with arguments that may hold blanks: it ends with `status`, nothing on standard
 * output, and one line that begins with its name and has `part` in it.
 */
void expect_refusal(const char *program, const char *line, int status, const char *part);
void expect_refusal_of(const char *const arguments[], int status, const char *part);

#endif
