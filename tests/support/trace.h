/* What a program run with SIM_TRACE=FILE wrote (simcc/README.md), each line parsed and found in order. */
#ifndef SUPPORT_TRACE_H
#define SUPPORT_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "report.h"

struct trace {
	cJSON **lines;
	size_t count;
	bool truncated; /* it ends with the record that says so */
};

/*
 * The test fails on a line that is no complete record, and on one that is out of place: lines go by launch, block,
 * interval, space and kind of access, after a record of their launch that names their tensor; ranges are sorted and
 * apart, lie in the tensor and hold no more bytes than were asked for; source lines are sorted.
 */
struct trace read_trace(const char *path);
void free_trace(struct trace *trace);

/* False for the records that begin launches and end a truncated trace. */
bool is_access(const cJSON *line);

/* Bytes asked for in a launch (-1: all of them), by space, tensor (NULL: any) and "load", "store" or "atomic". */
uint64_t traced_bytes(const struct trace *trace, int launch, const char *space, const char *tensor, const char *op);

/* The trace says the same as the launch records: bytes of each tensor and kind of access, and footprints. */
void expect_trace_of(const char *what, const struct trace *trace, const struct report *report);

/* One access as the comments of programs/trace.cu spell it: "stage 1,0,0 0 global alloc0 load 12 [16,28] 20". */
char *spell_access(const cJSON *line);

#endif
