/* The last line of a run for people: what to try next, never what has just been run. */
#ifndef REPORT_NEXT_H
#define REPORT_NEXT_H

#include "report/table.h"
#include "result.h"

/* Prints the line "Next: ..." after a run in which all is well: the chapter's suggestion after the last one that this run
 * was (struct suggestion, chapter.h). */
void next_print(const struct terminal *terminal, const struct run_result *result);

/* The same after a failure for which explorer_small_case has no smaller case: what shows more of it, if it was counted. */
void next_after_failure(const struct terminal *terminal, const struct run_result *result);

/* Whether --explain takes what was run: its page shows scores without modifiers. */
bool may_be_explained(const struct run_result *result);

#endif
