/* The last line of a run for people: what to try next, never what has just been run. */
#ifndef REPORT_NEXT_H
#define REPORT_NEXT_H

#include "report/table.h"
#include "result.h"

/*
 * Prints the line "Next: ...". After a run in which all is well: the chapter's suggestion after the last one that this run
 * was (struct suggestion, chapter.h). After one in which `failed` is wrong: that kernel on a case small enough to follow by
 * hand, in which it was tried and is wrong, too; where there is none, or this was that case, what shows more of it. NULL:
 * nothing failed.
 */
void next_print(const struct terminal *terminal, const struct run_result *result, const struct kernel_result *failed);

/* Whether --explain takes what was run: its page shows scores without modifiers. */
bool may_be_explained(const struct run_result *result);

#endif
