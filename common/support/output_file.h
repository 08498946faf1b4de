/*
 * Files that are either complete or not there: kept in memory until output_file_commit, which writes them beside their final
 * place and renames. A process that ends before that has written nothing.
 *
 * "-" means standard output. A target that exists and is no regular file (a pipe, /dev/null) is written directly:
 * renaming over it would destroy it. A symbolic link is followed. All errors are EXIT_ENVIRONMENT.
 *
 * A struct output_file stays where it is until it is committed or abandoned: its stream writes into it.
 */
#ifndef SUPPORT_OUTPUT_FILE_H
#define SUPPORT_OUTPUT_FILE_H

#include "support/error.h"

#include <stdbool.h>
#include <stdio.h>

struct output_file {
	FILE *stream;     /* write here */
	const char *path; /* as the user named it; the caller's */
	char *bytes;      /* what was written, of a regular file; complete once the stream is closed */
	size_t size;
};

/* First of all in a program: a standard stream that is closed is an error, and no file takes its place; a file that may not
 * grow is one like a full disk, not the end of the process. */
void output_file_guard(void);

/* Whether both are one file, however they are written. Two devices are not: each takes what it gets. */
bool output_file_is_same(const char *path, const char *other);

/* Creates and removes a file where `path` would be written, so that a long run fails before it starts. What is no regular
 * file is only asked whether it may be written. */
int output_file_check(const char *path, struct error *error);

/* The same of a file in a directory that is created with it, if it is not there. */
int output_directory_check(const char *directory, const char *path, struct error *error);

int output_file_open(struct output_file *file, const char *path, struct error *error);

/* Closes, writes and renames. On any error (a full disk) nothing is left behind. */
int output_file_commit(struct output_file *file, struct error *error);

/* Closes, and forgets what was written. */
void output_file_abandon(struct output_file *file);

#endif
