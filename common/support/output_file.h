/*
 * Files that are either complete or not there: written beside their final place, then renamed.
 *
 * "-" means standard output. A target that exists and is no regular file (a pipe, /dev/null) is written directly:
 * renaming over it would destroy it. A symbolic link is followed. All errors are EXIT_ENVIRONMENT.
 *
 * A process that ends in between (exit, abort, Ctrl-C, kill) removes what it had written. So a struct output_file stays
 * where it is until it is committed or abandoned.
 */
#ifndef SUPPORT_OUTPUT_FILE_H
#define SUPPORT_OUTPUT_FILE_H

#include "support/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct output_file {
	FILE *stream;             /* write here */
	char path[PATH_MAX];      /* the final place, as the user named it */
	char temporary[PATH_MAX]; /* where the bytes are until output_file_commit; "" when written directly */
	char target[PATH_MAX];    /* `path` with symbolic links resolved */
};

/*
 * Looks after this process's files from now on, and ignores SIGXFSZ, so that a file that may not grow is an error like a
 * full disk. A standard stream that is closed is an error, too, and no file takes its place. Opening a file does all this;
 * a program that writes to standard output calls it first.
 */
void output_file_watch(void);

/* Whether both are one file, however they are written. Two devices are not: each takes what it gets. */
bool output_file_is_same(const char *path, const char *other);

/* Creates and removes a file where `path` would be written, so that a long run fails before it starts. What is no regular
 * file is only asked whether it may be written. */
int output_file_check(const char *path, struct error *error);

int output_file_open(struct output_file *file, const char *path, struct error *error);

/* Flushes, closes and renames. On any error (a full disk) nothing is left behind. */
int output_file_commit(struct output_file *file, struct error *error);

/* Closes and removes what was written. */
void output_file_abandon(struct output_file *file);

#endif
