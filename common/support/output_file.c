#include "support/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int cannot_write(const char *path, struct error *error)
{
	return error_set(error, EXIT_ENVIRONMENT, "%s: cannot be written: %s", path, strerror(errno));
}

/* ---- a program that ends before its files are whole ---- */

enum { MOST_OPEN = 8 };
static struct output_file *volatile open_files[MOST_OPEN]; /* whose temporary may exist */

/* Only what a signal handler may do. */
static void remove_temporaries(void)
{
	for (int i = 0; i < MOST_OPEN; i++)
		if (open_files[i])
			unlink(open_files[i]->temporary);
}

static void end_without_a_trace(int number)
{
	remove_temporaries();
	raise(number); /* SA_RESETHAND: ends the process as if nobody had looked */
}

/* A signal that is ignored (nohup), or that somebody else waits for, stays as it is. */
void output_file_watch(void)
{
	static const int ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGPIPE, SIGALRM, SIGTERM, SIGXCPU};
	static bool watched;
	if (watched)
		return;
	watched = true;
	/* A stream that is closed stays unwritable: the next file that is opened must not become standard output. */
	int descriptor = open("/dev/null", O_RDONLY);
	while (descriptor >= 0 && descriptor <= STDERR_FILENO)
		descriptor = open("/dev/null", O_RDONLY);
	close(descriptor);
	atexit(remove_temporaries);
	signal(SIGXFSZ, SIG_IGN); /* writing beyond the limit of a file's size then fails with EFBIG */
	for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++) {
		struct sigaction end = {.sa_handler = end_without_a_trace,
		                        .sa_flags = (int)SA_RESETHAND | SA_NODEFER | SA_ONSTACK},
				 before;
		if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
			sigaction(ending[i], &end, NULL);
	}
}

/* From before its temporary exists until after it has gone: a signal may come at any moment. */
static bool remember(struct output_file *file)
{
	output_file_watch();
	for (int i = 0; i < MOST_OPEN; i++)
		if (!open_files[i]) {
			open_files[i] = file;
			return true;
		}
	errno = EMFILE;
	return false;
}

static void forget(const struct output_file *file)
{
	for (int i = 0; i < MOST_OPEN; i++)
		if (open_files[i] == file)
			open_files[i] = NULL;
}

/* ---- files ---- */

enum { SUFFIX = 40 }; /* room for ".new.PID.TRY" */

/* A new file beside the target, of this process alone. Its name is whole before a signal may look at it. */
static int create_temporary(struct output_file *file)
{
	size_t length = strlen(file->target);
	memcpy(file->temporary, file->target, length);
	for (int try = 0; try < 100; try++) {
		snprintf(file->temporary + length, SUFFIX, ".new.%ld.%d", (long)getpid(), try);
		if (!remember(file))
			return -1;
		int descriptor = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (descriptor >= 0)
			return descriptor;
		forget(file);
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

int output_file_open(struct output_file *file, const char *path, struct error *error)
{
	memset(file, 0, sizeof *file);
	if (strlen(path) + SUFFIX > sizeof file->path) {
		errno = ENAMETOOLONG;
		return cannot_write(path, error);
	}
	strcpy(file->path, path);
	if (strcmp(path, "-") == 0) {
		strcpy(file->path, "standard output");
		file->stream = stdout;
		return 0;
	}

	struct stat status;
	bool exists = stat(path, &status) == 0;
	if (exists && !S_ISREG(status.st_mode)) {
		file->stream = S_ISDIR(status.st_mode) ? (errno = EISDIR, NULL) : fopen(path, "w");
		return file->stream ? 0 : cannot_write(path, error);
	}
	if (exists && access(path, W_OK) != 0)
		return cannot_write(path, error);
	if (!exists || !realpath(path, file->target))
		strcpy(file->target, path);
	if (strlen(file->target) + SUFFIX > sizeof file->temporary) {
		errno = ENAMETOOLONG;
		return cannot_write(path, error);
	}
	int descriptor = create_temporary(file);
	if (descriptor >= 0 && (!exists || fchmod(descriptor, status.st_mode & 0777) == 0) &&
	    (file->stream = fdopen(descriptor, "w")))
		return 0;
	int result = cannot_write(path, error);
	if (descriptor >= 0) {
		close(descriptor);
		unlink(file->temporary);
	}
	forget(file);
	return result;
}

void output_file_abandon(struct output_file *file)
{
	if (file->stream && file->stream != stdout)
		fclose(file->stream);
	if (file->temporary[0])
		unlink(file->temporary);
	forget(file);
	file->stream = NULL;
}

int output_file_commit(struct output_file *file, struct error *error)
{
	FILE *stream = file->stream;
	bool written = !ferror(stream) && fflush(stream) == 0;
	int reason = errno;
	file->stream = NULL;
	if (stream != stdout && fclose(stream) != 0 && written) {
		written = false;
		reason = errno;
	}
	if (written && file->temporary[0] && rename(file->temporary, file->target) != 0) {
		written = false;
		reason = errno;
	}
	if (!written) {
		output_file_abandon(file);
		errno = reason;
		return cannot_write(file->path, error);
	}
	forget(file);
	return 0;
}

/* Where a path that is no device leads: the directory's identity, and the name in it. */
struct place {
	dev_t device;
	ino_t directory;
	char name[NAME_MAX + 1];
};

static bool find_place(const char *path, struct place *place)
{
	char real[PATH_MAX];
	struct stat status;
	bool exists = stat(path, &status) == 0;
	if ((exists && S_ISCHR(status.st_mode)) || strlen(path) >= sizeof real)
		return false;
	if (!exists || !realpath(path, real))
		strcpy(real, path);
	char *slash = strrchr(real, '/');
	const char *name = slash ? slash + 1 : real, *directory = !slash ? "." : slash == real ? "/" : real;
	if (strlen(name) > NAME_MAX)
		return false;
	strcpy(place->name, name);
	if (slash && slash != real)
		*slash = '\0';
	if (stat(directory, &status) != 0)
		return false;
	place->device = status.st_dev;
	place->directory = status.st_ino;
	return true;
}

bool output_file_is_same(const char *path, const char *other)
{
	struct place one, two;
	return find_place(path, &one) && find_place(other, &two) && one.device == two.device &&
	       one.directory == two.directory && strcmp(one.name, two.name) == 0;
}

int output_file_check(const char *path, struct error *error)
{
	if (strcmp(path, "-") == 0)
		return 0;
	struct stat status;
	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
		/* A pipe is not opened: its reader would take the end of that for the end of the data. */
		errno = S_ISDIR(status.st_mode) ? EISDIR : S_ISSOCK(status.st_mode) ? ENXIO : 0;
		return errno || access(path, W_OK) != 0 ? cannot_write(path, error) : 0;
	}
	struct output_file file;
	if (output_file_open(&file, path, error) != 0)
		return error->exit_code;
	output_file_abandon(&file);
	return 0;
}
