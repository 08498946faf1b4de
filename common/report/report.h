/*
 * A run's results for people, as JSON and as TSV.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "report/json.h"
#include "report/table.h"
#include "result.h"

/* The object of --json, one line. Keys without a value are absent. */
void report_json(FILE *out, const struct run_result *result);

/* The same object inside another one; infinities follow json->infinities. */
void report_json_into(struct json *json, const char *key, const struct run_result *result);

/* "time":{...} of a kernel that was timed. */
void report_json_time(struct json *json, const struct kernel_result *kernel);

/*
 * The run.json of --details, which explorer/README.md describes; infinities are text. `prints`: the run also prints for
 * people.
 */
void report_details(FILE *out, const struct run_result *result, bool prints);

/*
 * One row a kernel, columns named in the header line, which starts with "# "; lines before it, also with #, say
 * where the numbers come from. A number that was not measured is NaN, a text "-".
 */
void report_tsv_header(FILE *out, const struct run_result *result);
void report_tsv_rows(FILE *out, const struct run_result *result);

/* For people, 80 columns: the problem, then each kernel, then what the chapter explains and, if all is well, what to try
 * next. */
void report_human(const struct terminal *terminal, const struct run_result *result);

/* With --quiet: one line per kernel, and no other. */
void report_quiet(const struct terminal *terminal, const struct run_result *result);

/* "B=1 H=2 N=512 d=64 causal": the dimensions and switches the chapter takes. Returns text. */
const char *report_problem(const struct run_result *result, char *text, size_t size);

#endif
