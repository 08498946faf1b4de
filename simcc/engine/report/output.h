/* What the files of this folder share, besides report.h: the report's file, and JSON. */
#ifndef SIM_OUTPUT_H
#define SIM_OUTPUT_H

#include "report/report.h"

FILE *report_file(void); /* NULL when no report was asked for */
/* A record has been written to it. */
void report_written(void);
void write_json_string(FILE *out, const char *text);

/* The calls that have led here, innermost first; on a host thread. */
enum { MOST_CALLERS = 16 };
struct callers {
	size_t count;
	uintptr_t call[MOST_CALLERS];
};
struct callers callers_of_this(void);
/* Fills in file, line and function of the innermost of them that the program's own source makes. */
void hazard_locate_call(struct hazard *hazard, const struct callers *callers);
/* Prints it, writes its record and counts it, whatever is checked. */
void tell_hazard(const struct hazard *hazard, uint64_t errors, bool printed);

/* How often, where only the first was printed. At the end of the program. */
void print_repeated(void);
/* Of launches that were refused: see report.h. Why the last one was, where the program fails and has not read it. */
void report_refusals(int status);
/* True when a trace was asked for and could not be written to its end (a full disk). */
bool trace_has_failed(void);
bool report_has_failed(void); /* likewise */

#endif
