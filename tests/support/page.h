/* What a program prints for people. */
#ifndef SUPPORT_PAGE_H
#define SUPPORT_PAGE_H

/* No line is wider than 80 columns, and the last one says what to do next. Cuts `text` into its lines. */
void expect_page(char *text);

/* A page of at most 40 lines, as every run without --verbose is one. */
void expect_screen(char *text);

#endif
