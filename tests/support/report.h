/* What a program run with SIM_REPORT=FILE wrote: launch and hazard records (simcc/README.md) as C structs. */
#ifndef SUPPORT_REPORT_H
#define SUPPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* parts: sectors of global memory, wavefronts of shared memory; ideal and conflicts: of shared memory only */
struct count {
	uint64_t bytes, requests, parts, ideal, conflicts;
};

struct tensor {
	char name[64];
	uint64_t read, write, atomic;     /* requested */
	uint64_t read_bytes, write_bytes; /* footprint */
};

enum { MAX_TENSORS = 16 };

struct launch {
	char kernel[64], arguments[96]; /* arguments: of the template */
	unsigned grid[3], block[3];
	uint64_t dynamic_shared, static_shared;
	struct count load, store, atomic, shared_load, shared_store, shared_atomic, constant;
	uint64_t read_bytes, write_bytes; /* footprint */
	uint64_t barriers, exp;
	uint64_t hazards; /* of all tools */
	struct tensor tensors[MAX_TENSORS];
	size_t tensor_count;
	bool counted;
};

struct hazard {
	char tool[24], kind[32], severity[16], kernel[64], file[256], space[16], array[96];
	unsigned line;           /* 0: none given */
	int block[3], thread[3]; /* -1: none given */
	bool has_index, has_other;
	int64_t index;
	unsigned bytes, other_line;
	int other_thread[3];
	uint64_t count;
};

struct report {
	struct launch *launches;
	struct hazard *hazards;
	size_t launch_count, hazard_count;
};

/* The test fails on a line that is not a complete record. */
struct report read_report(const char *path);
void free_report(struct report *report);

#endif
