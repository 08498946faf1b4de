/* Running a chapter's program on a problem and reading the JSON it prints. */
#ifndef CHAPTER_RUN_H
#define CHAPTER_RUN_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies of the chapters' programs. */
#define NAIVE TEST_BUILD "/chapters/naive"
#define FA1   TEST_BUILD "/chapters/fa1"
#define FA2   TEST_BUILD "/chapters/fa2"

struct chapter_run {
	int status;
	char *err;   /* what it wrote to stderr */
	cJSON *json; /* NULL if it printed none */
};

/* Runs `program` with options, given as one line, and --json -. `environment`: "SIM_ORDER=reverse", or NULL. */
struct chapter_run run_chapter(const char *program, const char *environment, const char *options);
void free_chapter_run(struct chapter_run *run);

/* Runs it, and expects exit 0, silence on stderr and every kernel verified, none skipped. */
struct chapter_run run_verified(const char *program, const char *options);
/* The same for a shape that is one of many: without_racecheck(). */
struct chapter_run run_one_of_many(const char *program, const char *options);

/* The entry of kernels[]; the test fails without it. */
const cJSON *kernel_named(const struct chapter_run *run, const char *name);

/* A number at a path of keys, 0-based numbers for arrays: "hbm/requested/read_bytes", "launches/0/exp". */
double number_at(const cJSON *object, const char *path);

/* Elements read and written of one tensor, requested; 0 if the kernel touched none of that name. */
struct moved {
	uint64_t read, written;
};
struct moved elements_of(const cJSON *kernel, const char *tensor);

/* Are so many elements of a tensor read and written? */
void expect_elements(const char *options, const cJSON *kernel, const char *tensor, uint64_t read, uint64_t written);

#endif
