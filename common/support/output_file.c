#include "support/output_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int cannot_write(const char *path, struct error *error)
{
	return error_set(error, EXIT_ENVIRONMENT, "%s: cannot be written: %s", path, strerror(errno));
}

int output_file_open(struct output_file *file, const char *path, struct error *error)
{
	memset(file, 0, sizeof *file);
	if (strlen(path) + sizeof ".XXXXXX" > sizeof file->path) {
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
	if (strlen(file->target) + sizeof ".XXXXXX" > sizeof file->temporary) {
		errno = ENAMETOOLONG;
		return cannot_write(path, error);
	}
	strcpy(file->temporary, file->target);
	strcat(file->temporary, ".XXXXXX");

	int descriptor = mkstemp(file->temporary);
	if (descriptor < 0)
		return cannot_write(path, error);
	mode_t mask = umask(0);
	umask(mask);
	mode_t mode = exists ? (status.st_mode & 0777) : (0666 & ~mask); /* mkstemp gives 0600 to all */
	if (fchmod(descriptor, mode) != 0 || !(file->stream = fdopen(descriptor, "w"))) {
		int result = cannot_write(path, error);
		close(descriptor);
		unlink(file->temporary);
		return result;
	}
	return 0;
}

void output_file_abandon(struct output_file *file)
{
	if (file->stream && file->stream != stdout)
		fclose(file->stream);
	if (file->temporary[0])
		unlink(file->temporary);
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
	return 0;
}

int output_file_check(const char *path, struct error *error)
{
	if (strcmp(path, "-") == 0)
		return 0;
	struct output_file file;
	if (output_file_open(&file, path, error) != 0)
		return error->exit_code;
	output_file_abandon(&file);
	return 0;
}
