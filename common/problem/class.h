/*
 * The variant of each chapter: {"05_fa2", {VARIANT_WINDOW, 9}}, and so on, with a comma after each; a chapter that is
 * not listed is plain. The course lists none. In a class's hand-out this file says what class.tsv says.
 */
#ifndef PROBLEM_CLASS_H
#define PROBLEM_CLASS_H

#define CLASS_VARIANTS

#endif
