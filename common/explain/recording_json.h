/* What was recorded of a run (explain/recording.h), for the page of --explain. */
#ifndef EXPLAIN_RECORDING_JSON_H
#define EXPLAIN_RECORDING_JSON_H

#include "report/json.h"
#include "result.h"

/*
 * "trace":[...], the lines of SIM_TRACE as they are, or "no_trace": why there is none; "smaller": what to try where there is
 * too much of it; "report":[...], the lines of SIM_REPORT; "sources":{NAME: text} of the files beside the program.
 * Returns whether a hazard was recorded, and thereby what a wrong result comes from.
 */
bool explain_recording(struct json *json, const struct run_result *result);

#endif
