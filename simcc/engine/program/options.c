/* The SIM_* environment, read once. A value we do not understand ends the program: a typing error must not
 * quietly switch a check off. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/program.h"

static struct sim_options options;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct gpu *chosen_gpu; /* by sim_set_gpu; beats the environment */

static void refuse(const char *variable, const char *value, const char *expected)
{
	fflush(stdout);
	fprintf(stderr, "%s=%s: expected %s\n", variable, value, expected);
	_exit(2); /* what is to be done at exit would ask for the options again */
}

static bool read_number(const char *text, uint64_t *number)
{
	errno = 0;
	char *end;
	*number = strtoull(text, &end, 0);
	return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}

static void read_checks(const char *value)
{
	static const char *const names[SIM_TOOLS] = {"memcheck", "racecheck", "initcheck", "synccheck", "leakcheck"};
	memset(options.check, 0, sizeof options.check);
	char copy[256];
	if (strlen(value) >= sizeof copy)
		refuse("SIM_CHECK", value, "a shorter list");
	strcpy(copy, value);
	for (char *word, *rest = copy; (word = strsep(&rest, ","));) {
		int tool = 0;
		while (tool < SIM_TOOLS && strcmp(word, names[tool]) != 0)
			tool++;
		if (tool < SIM_TOOLS)
			options.check[tool] = true;
		else if (strcmp(word, "all") == 0)
			for (tool = 0; tool < SIM_TOOLS; tool++)
				options.check[tool] = true;
		else if (strcmp(word, "none") != 0)
			refuse("SIM_CHECK", value,
			       "a comma list of memcheck, racecheck, initcheck, synccheck, leakcheck, all, none");
	}
}

static void read_order(const char *value)
{
	if (strcmp(value, "forward") == 0) {
		options.order = SIM_ORDER_FORWARD;
	} else if (strcmp(value, "reverse") == 0) {
		options.order = SIM_ORDER_REVERSE;
	} else if (strncmp(value, "shuffle", 7) == 0 && (value[7] == '\0' || value[7] == ':')) {
		options.order = SIM_ORDER_SHUFFLE;
		options.order_seed = 1;
		if (value[7] == ':' && !read_number(value + 8, &options.order_seed))
			refuse("SIM_ORDER", value, "a number after shuffle:");
	} else {
		refuse("SIM_ORDER", value, "forward, reverse or shuffle:SEED");
	}
}

static int count_cores(void)
{
	cpu_set_t set;
	return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static void read_environment(void)
{
	options.gpu = gpu_find("h100");
	options.threads = count_cores();
	options.timeout_s = 60;
	for (int tool = 0; tool < SIM_TOOLS; tool++)
		options.check[tool] = tool != SIM_LEAKCHECK;

	const char *value;
	uint64_t number;
	if ((value = getenv("SIM_GPU")) && !(options.gpu = gpu_find(value)))
		refuse("SIM_GPU", value, "a100, a100-80, h100, h200 or rtx4090");
	if ((value = getenv("SIM_CHECK"))) {
		read_checks(value);
		options.check_given = true;
	}
	if ((value = getenv("SIM_ORDER")))
		read_order(value);
	if ((value = getenv("SIM_THREADS"))) {
		if (!read_number(value, &number) || number < 1 || number > 1024)
			refuse("SIM_THREADS", value, "a number of CPU threads from 1 to 1024");
		options.threads = (int)number;
	}
	if ((value = getenv("SIM_TIMEOUT"))) {
		char *end;
		options.timeout_s = strtod(value, &end);
		if (end == value || *end != '\0' || !(options.timeout_s > 0 && options.timeout_s < 1e6))
			refuse("SIM_TIMEOUT", value, "a number of seconds greater than 0");
	}
	if ((value = getenv("SIM_REPORT"))) {
		if (value[0] == '\0')
			refuse("SIM_REPORT", value, "a file name, or - for standard output");
		options.report_path = value;
	}
	if ((value = getenv("SIM_TRACE"))) {
		if (value[0] == '\0')
			refuse("SIM_TRACE", value, "a file name, or - for standard output");
		if (options.report_path && strcmp(value, "-") != 0 && strcmp(value, options.report_path) == 0)
			refuse("SIM_TRACE", value, "another file than SIM_REPORT's");
		options.trace_path = value;
	}
	options.trace_limit = (size_t)64 << 20;
	if ((value = getenv("SIM_TRACE_LIMIT"))) {
		if (!read_number(value, &number) || number < 1 || number > 65536)
			refuse("SIM_TRACE_LIMIT", value, "a number of megabytes from 1 to 65536");
		options.trace_limit = (size_t)number << 20;
	}
	if ((value = getenv("SIM_TRACE_REQUESTS"))) {
		if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
			refuse("SIM_TRACE_REQUESTS", value, "0 or 1");
		options.trace_requests = value[0] == '1';
	}
	if (chosen_gpu)
		options.gpu = chosen_gpu;
}

const struct sim_options *sim_options(void)
{
	pthread_once(&once, read_environment);
	return &options;
}

int sim_set_gpu(const char *name)
{
	const struct gpu *gpu = gpu_find(name);
	if (!gpu)
		return -1;
	chosen_gpu = gpu;
	options.gpu = gpu;
	return 0;
}
