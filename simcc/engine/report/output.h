/* What the files of this folder share, besides report.h: the report's file, and JSON. */
#ifndef SIM_OUTPUT_H
#define SIM_OUTPUT_H

#include "report/report.h"

FILE *report_file(void); /* NULL when no report was asked for */
/* A record has been written to it. */
void report_written(void);
void write_json_string(FILE *out, const char *text);

/* ", and 3 more": see report.h. At the end of the program. */
void report_refusals(void);
/* True when a trace was asked for and could not be written to its end (a full disk). */
bool trace_has_failed(void);

#endif
