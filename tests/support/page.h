/* What a program prints for people, and what every chapter's program does alike. */
#ifndef SUPPORT_PAGE_H
#define SUPPORT_PAGE_H

#include "program.h"

/* No line is wider than 80 columns, and the last one says what to do next. Cuts `text` into its lines. */
void expect_page(char *text);

/* A page of at most 40 lines, as every run without --verbose is one. */
void expect_screen(char *text);

/*
 * `make` in a chapter, with the compiler under test: verified, a screen of 24 lines and more, with each of `parts` in it.
 * With a variable or a target more, as make takes it: make_in.
 */
void expect_demonstration(const char *chapter, const char *const parts[]);
struct outcome make_in(const char *chapter, const char *const more[], const char *const environment[]);

/* The printed blocks of a page are what the programs print now. Only in make test-all. */
void expect_printed(const char *page);

/*
 * Of `program` with the options in `line`, or with arguments that may hold blanks: it ends with `status`, nothing on standard
 * output, and one line that begins with its name and has `part` in it.
 */
void expect_refusal(const char *program, const char *line, int status, const char *part);
void expect_refusal_of(const char *const arguments[], int status, const char *part);

/* Every --input is verified with each of the options in `lines`, and so is `line` in other orders of the threads. */
void expect_every_kind(const char *program, const char *const lines[]);
void expect_any_order(const char *program, const char *line);

#endif
