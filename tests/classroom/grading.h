/* Grading for tests: submissions made from the course's solutions, and what the grader says of them. */
#ifndef CLASSROOM_GRADING_H
#define CLASSROOM_GRADING_H

#include "program.h"

#include <cjson/cJSON.h>

/* A directory with the chapters' solutions, predictions.txt (all right) and WORKLOG.md, below the scratch directory. */
char *solution(const char *name);

/* The same with the files of a hand-out as it is: nothing done. */
char *untouched(const char *name);

/* grade.pl with arguments (a list that NULL ends) and environment. */
struct outcome grade(const char *const arguments[], const char *const environment[]);

/* Grades with --results; the run has to end with `status`. The caller deletes the object. */
cJSON *grade_to_json(const char *submission, const char *only, int status);

/* The points of all tasks, or of one. */
double score_of(const cJSON *results, const char *task);

/* What is said about a task; "" if there is no such task. */
const char *output_of(const cJSON *results, const char *task);

/* Packs a directory's content: zip -r, with `top` as a folder around it ("" for none). Returns the zip. */
char *zipped(const char *directory, const char *top);

/* Points a task or a chapter has in tasks.tsv. */
double points_of(const char *task_or_chapter);

/* Replaces one occurrence in a file; the test fails if it is not there. */
void replace_in(const char *path, const char *from, const char *to);

#endif
