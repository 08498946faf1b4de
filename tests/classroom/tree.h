/* Hand-outs for tests: made, solved, compiled chapter by chapter, without the harness and the device being built
 * again. */
#ifndef CLASSROOM_TREE_H
#define CLASSROOM_TREE_H

#include <stdbool.h>
#include <stddef.h>

enum { CHAPTERS = 6, MAX_TASKS = 24, MAX_CHAPTER_KERNELS = 5 };

/* A class whose chapters all have the first variant of theirs, and one with the second ones: keys found by trying. */
#define CLASS_OF_CAPS    "class 51" /* softcap everywhere */
#define CLASS_OF_WINDOWS "class 25" /* window; 02: sink; 03: relu */

struct chapter_files {
	const char *directory, *name; /* "05_fa2", "fa2": the program */
	const char *kernels[MAX_CHAPTER_KERNELS + 1];
};
extern const struct chapter_files chapters[CHAPTERS];

/* A line of classroom/tasks.tsv. */
struct task {
	char *id, *chapter, *kernels, *title, *lines, *points;
};
size_t read_tasks(struct task tasks[MAX_TASKS]);

/* The chapter of a directory's name; the test fails without it. */
const struct chapter_files *chapter_named(const char *directory);

/* True for a kernel in a comma-separated list. */
bool is_listed(const char *list, const char *kernel);

/* Makes a hand-out in a new directory below the scratch directory. key: NULL for the plain course. */
char *hand_out(const char *name, const char *key);

/* Runs classroom/handout.py; expects exit 0. */
void solve(const char *tree, const char *except);

/* The tree's variant of a chapter, as class.tsv has it: "softcap". */
char *variant_of(const char *tree, const char *chapter);

/* Flags of simcc: warnings as in CI, but for those of work that is not finished. */
#define TREE_STRICT TEST_STRICT " -Wno-unused-variable -Wno-unused-parameter -Wno-unused-but-set-variable"

/*
 * Compiles the .cu of a directory for a chapter of a tree and links them with the course's objects of the chapter's C
 * files and the harness, but with the tree's own class. Returns the program; NULL if they do not compile. `flags` go to
 * simcc.
 */
char *try_build_sources(
	const char *tree, const struct chapter_files *chapter, const char *directory, const char *flags);

/* The tree's own files; the test fails if they do not compile. */
char *build_chapter(const char *tree, const struct chapter_files *chapter, const char *flags);

/* Runs a program, --json - added to the options; true if the kernel is there and verified. */
bool verifies(const char *program, const char *kernel, const char *options);

/* The text between "// task ID" and "// end ID"; NULL without both. */
char *region_of(const char *source, const char *id);

/* The .cu and .cuh of a directory: names in the order of the alphabet, which NULL ends. */
enum { MAX_SOURCES = 16 };
void list_sources(const char *directory, char *names[MAX_SOURCES + 1]);

/* region_of the first file of a chapter that has that region; its name goes to *file. The test fails without one. */
char *region_in(const char *tree, const char *chapter, const char *id, char **file);

#endif
