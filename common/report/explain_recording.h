/* What was recorded of a run (measure/recording.h), for the page of --explain. */
#ifndef REPORT_EXPLAIN_RECORDING_H
#define REPORT_EXPLAIN_RECORDING_H

#include "report/json.h"
#include "result.h"

/* "trace":[...], or "no_trace": why there is none; "hazards":[...]; "sources":{NAME: text} of every file they name. */
void explain_recording(struct json *json, const struct run_result *result);

#endif
