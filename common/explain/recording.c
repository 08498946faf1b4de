#include "explain/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef DEVICE_SIM
#include "sim.h"
#endif

/* Memory that the device writes to as to a file: PATH is "" where nothing of ours is recorded. */
struct recording {
	const char *variable; /* of the environment, which names a file of the user's */
	char path[32];
	int file;
};

static struct recording trace = {"SIM_TRACE", "", -1}, report = {"SIM_REPORT", "", -1};

#ifdef DEVICE_SIM

/* What the user asked for stays as it is. */
static int begin(struct recording *recording, int (*write_to)(const char *path), struct error *error)
{
	if (getenv(recording->variable))
		return 0;
	recording->file = memfd_create(recording->variable, MFD_CLOEXEC);
	snprintf(recording->path, sizeof recording->path, "/proc/self/fd/%d", recording->file);
	if (recording->file >= 0 && write_to(recording->path) == 0)
		return 0;
	return error_set(error, EXIT_ENVIRONMENT, "--explain: the run cannot be recorded: %s", strerror(errno));
}

static void end(struct recording *recording, int (*write_to)(const char *path))
{
	if (recording->file < 0)
		return;
	write_to(NULL);
	close(recording->file);
	recording->file = -1;
	recording->path[0] = '\0';
}

void recording_stop(void)
{
	sim_trace(NULL);
	sim_report(NULL);
}

int recording_begin(bool with_trace, struct error *error)
{
	int status = with_trace ? begin(&trace, sim_trace, error) : 0;
	if (status == 0)
		status = begin(&report, sim_report, error);
	if (status != 0)
		recording_end();
	return status;
}

void recording_end(void)
{
	end(&trace, sim_trace);
	end(&report, sim_report);
}

#else

int recording_begin(bool with_trace, struct error *error)
{
	(void)with_trace;
	return error_set(error, EXIT_ENVIRONMENT, "--explain: only the simulated device records a run");
}

void recording_end(void) {}

void recording_stop(void) {}

#endif

static char *read_back(const struct recording *recording, size_t most_bytes, size_t *bytes)
{
	const char *path = recording->path[0] ? recording->path : getenv(recording->variable);
	*bytes = 0;
	if (!path || strcmp(path, "-") == 0)
		return NULL;
	fflush(NULL); /* the device writes through a stream of this process */
	FILE *file = fopen(path, "r");
	if (!file)
		return NULL;
	char *text = NULL;
	if (fseek(file, 0, SEEK_END) == 0 && ftell(file) >= 0) {
		*bytes = (size_t)ftell(file);
		rewind(file);
		text = *bytes <= most_bytes ? malloc(*bytes + 1) : NULL;
		if (text)
			text[fread(text, 1, *bytes, file)] = '\0';
	}
	fclose(file);
	return text;
}

bool recording_traces(void)
{
	return trace.path[0] || getenv(trace.variable);
}

char *recording_trace(size_t most_bytes, size_t *bytes)
{
	return read_back(&trace, most_bytes, bytes);
}

char *recording_report(size_t most_bytes, size_t *bytes)
{
	return read_back(&report, most_bytes, bytes);
}
