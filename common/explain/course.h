/* From the page of --explain back to the course. */
#ifndef EXPLAIN_COURSE_H
#define EXPLAIN_COURSE_H

#include "report/json.h"

/*
 * "course": the README beside the program, as the page at this path links to it. Relative, so that both can be moved together;
 * nothing where there is no such README, or where the page goes to standard output.
 */
void explain_course(struct json *json, const char *page);

#endif
