#include "support/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int cannot_write(const char *path, struct error *error)
{
	return error_set(error, EXIT_ENVIRONMENT, "%s: cannot be written: %s", path, strerror(errno));
}

void output_file_guard(void)
{
	/* A stream that is closed stays unwritable: the next file that is opened must not become standard output. */
	int descriptor = open("/dev/null", O_RDONLY);
	while (descriptor >= 0 && descriptor <= STDERR_FILENO)
		descriptor = open("/dev/null", O_RDONLY);
	close(descriptor);
	signal(SIGXFSZ, SIG_IGN); /* writing beyond the limit of a file's size then fails with EFBIG */
}

/* What would end the program waits until release_signals with what is returned: a file beside another is renamed, or gone, by
 * then. */
static sigset_t hold_signals(void)
{
	sigset_t all, before;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	return before;
}

/* errno stays. */
static void release_signals(sigset_t before)
{
	const int reason = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = reason;
}

/* Creates a file beside `target`, of this process alone, with that one's permissions, if it is there; its name is in
 * `temporary`. Returns its descriptor, or -1 with errno. */
static int create_beside(const char *target, char temporary[static PATH_MAX])
{
	struct stat status;
	bool exists = stat(target, &status) == 0;
	if (exists && access(target, W_OK) != 0)
		return -1;
	for (int try = 0; try < 100; try++) {
		if (snprintf(temporary, PATH_MAX, "%s.new.%ld.%d", target, (long)getpid(), try) >= PATH_MAX) {
			errno = ENAMETOOLONG;
			return -1;
		}
		int descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (descriptor >= 0 && exists)
			fchmod(descriptor, status.st_mode & 0777);
		if (descriptor >= 0 || errno != EEXIST)
			return descriptor;
	}
	return -1;
}

static bool write_all(int descriptor, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t written = write(descriptor, bytes, size);
		if (written < 0 && errno != EINTR)
			return false;
		bytes += written > 0 ? written : 0;
		size -= written > 0 ? (size_t)written : 0;
	}
	return true;
}

/* Where a symbolic link leads, also to a file that is not there yet; else the path itself. */
static void follow(const char *path, char target[static PATH_MAX])
{
	char link[PATH_MAX];
	snprintf(target, PATH_MAX, "%s", path);
	for (int links = 0; links < 40; links++) {
		ssize_t length = readlink(target, link, sizeof link - 1);
		if (length < 0)
			return;
		link[length] = '\0';
		char *slash = strrchr(target, '/');
		size_t used = *link != '/' && slash ? (size_t)(slash + 1 - target) : 0;
		snprintf(target + used, PATH_MAX - used, "%s", link);
	}
}

/* False with errno; then the old file is as it was. */
static bool replace_held(const char *target, const char *bytes, size_t size)
{
	char temporary[PATH_MAX];
	int descriptor = create_beside(target, temporary);
	if (descriptor < 0)
		return false;
	bool written = write_all(descriptor, bytes, size);
	int reason = errno;
	if (close(descriptor) != 0 && written) {
		written = false;
		reason = errno;
	}
	if (written && rename(temporary, target) == 0)
		return true;
	reason = written ? errno : reason;
	unlink(temporary);
	errno = reason;
	return false;
}

static bool replace(const char *path, const char *bytes, size_t size)
{
	char target[PATH_MAX];
	follow(path, target);
	const sigset_t before = hold_signals();
	const bool replaced = replace_held(target, bytes, size);
	release_signals(before);
	return replaced;
}

int output_file_open(struct output_file *file, const char *path, struct error *error)
{
	struct stat status;
	*file = (struct output_file){.path = path};
	if (strcmp(path, "-") == 0) {
		file->path = "standard output";
		file->stream = stdout;
	} else if (stat(path, &status) != 0 || S_ISREG(status.st_mode)) {
		file->stream = open_memstream(&file->bytes, &file->size);
	} else {
		file->stream = S_ISDIR(status.st_mode) ? (errno = EISDIR, NULL) : fopen(path, "w");
	}
	return file->stream ? 0 : cannot_write(path, error);
}

void output_file_abandon(struct output_file *file)
{
	if (file->stream && file->stream != stdout)
		fclose(file->stream);
	free(file->bytes);
	*file = (struct output_file){.path = file->path};
}

int output_file_commit(struct output_file *file, struct error *error)
{
	FILE *stream = file->stream;
	bool written = fflush(stream) == 0 && !ferror(stream);
	int reason = errno ? errno : EIO; /* of a write that failed before it may be lost */
	file->stream = NULL;
	if (stream != stdout && fclose(stream) != 0 && written) {
		written = false;
		reason = errno;
	}
	if (written && file->bytes && !replace(file->path, file->bytes, file->size)) {
		written = false;
		reason = errno;
	}
	output_file_abandon(file);
	errno = reason;
	return written ? 0 : cannot_write(file->path, error);
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

/* False with errno. */
static bool can_create(const char *target)
{
	char temporary[PATH_MAX];
	const sigset_t before = hold_signals();
	const int descriptor = create_beside(target, temporary);
	if (descriptor >= 0) {
		close(descriptor);
		unlink(temporary);
	}
	release_signals(before);
	return descriptor >= 0;
}

int output_file_check(const char *path, struct error *error)
{
	char target[PATH_MAX];
	struct stat status;
	if (strcmp(path, "-") == 0)
		return 0;
	if (stat(path, &status) != 0 && errno == ELOOP)
		return cannot_write(path, error);
	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
		/* A pipe is not opened: its reader would take the end of that for the end of the data. */
		errno = S_ISDIR(status.st_mode) ? EISDIR : S_ISSOCK(status.st_mode) ? ENXIO : 0;
		return errno || access(path, W_OK) != 0 ? cannot_write(path, error) : 0;
	}
	follow(path, target);
	return can_create(target) ? 0 : cannot_write(path, error);
}

int output_directory_check(const char *directory, const char *path, struct error *error)
{
	char beside[PATH_MAX];
	struct stat status;
	if (stat(directory, &status) == 0 && !S_ISDIR(status.st_mode))
		return error_set(error, EXIT_ENVIRONMENT, "%s: not a directory", directory);
	if (access(directory, F_OK) == 0)
		return output_file_check(path, error);
	/* Where a file can be, a directory can. */
	snprintf(beside, sizeof beside, "%s", directory);
	for (size_t end = strlen(beside); end > 1 && beside[end - 1] == '/';)
		beside[--end] = '\0';
	return can_create(beside)
	               ? 0
	               : error_set(error, EXIT_ENVIRONMENT, "%s: cannot be created: %s", directory, strerror(errno));
}
