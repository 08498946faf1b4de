/* Launch records: JSON lines for SIM_REPORT, and the list a host program reads through sim.h. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/output.h"

static struct {
	FILE *file;        /* NULL: nobody asked */
	bool is_asked_for; /* by SIM_REPORT, not by the program */
	int error;         /* errno of the first record that could not be written; 0: none */
} report;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool open_file(const char *path)
{
	report.error = 0;
	report.file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
	return report.file;
}

static void tell_failure(void)
{
	fprintf(stderr, "SIM_REPORT=%s: cannot be written: %s\n", sim_options()->report_path, strerror(errno));
}

static void open_asked_for(void)
{
	const char *path = sim_options()->report_path;
	if (!path)
		return;
	report.is_asked_for = open_file(path);
	if (report.is_asked_for)
		return;
	tell_failure();
	exit(3);
}

FILE *report_file(void)
{
	pthread_once(&once, open_asked_for);
	return report.file;
}

/* A report is truncated, and a wrong SIM_* variable refused, even if the program launches nothing. */
__attribute__((constructor)) static void open_at_start(void)
{
	report_file();
}

void report_written(void)
{
	if ((fflush(report.file) == 0 && !ferror(report.file)) || report.error != 0)
		return;
	report.error = errno;
	if (report.is_asked_for)
		tell_failure();
}

bool report_has_failed(void)
{
	return report.is_asked_for && report.error != 0;
}

int sim_report(const char *path)
{
	FILE *before = report_file();
	if (before && before != stdout && fclose(before) != 0 && report.error == 0)
		report.error = errno;
	report.file = NULL;
	report.is_asked_for = false;
	if (path)
		return open_file(path) ? 0 : -1;
	errno = report.error;
	return report.error == 0 ? 0 : -1;
}

/* How many bytes the character at `text` has in UTF-8; 0: it is none. A name of a file may be any bytes. */
static int utf8_length(const unsigned char *text)
{
	const int length = *text < 0x80   ? 1
	                   : *text < 0xc2 ? 0
	                   : *text < 0xe0 ? 2
	                   : *text < 0xf0 ? 3
	                   : *text < 0xf5 ? 4
	                                  : 0;
	for (int i = 1; i < length; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	/* Longer than need be, a surrogate, or past the last character. */
	if ((*text == 0xe0 && text[1] < 0xa0) || (*text == 0xed && text[1] > 0x9f) ||
	    (*text == 0xf0 && text[1] < 0x90) || (*text == 0xf4 && text[1] > 0x8f))
		return 0;
	return length;
}

void write_json_string(FILE *out, const char *text)
{
	fputc('"', out);
	while (*text != '\0') {
		const int length = utf8_length((const unsigned char *)text);
		if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if (length == 0)
			fprintf(out, "\\ufffd");
		else if ((unsigned char)*text < 0x20)
			fprintf(out, "\\u%04x", *text);
		else
			fprintf(out, "%.*s", length, text);
		text += length > 0 ? length : 1;
	}
	fputc('"', out);
}

static void write_global(FILE *out, const char *key, const struct sim_global_count *c)
{
	fprintf(out, "\"%s\":{\"bytes\":%" PRIu64 ",\"requests\":%" PRIu64 ",\"sectors\":%" PRIu64 "}", key, c->bytes,
	        c->requests, c->sectors);
}

static void write_banks(FILE *out, const struct sim_shared_count *c)
{
	fprintf(out,
	        "\"bytes\":%" PRIu64 ",\"requests\":%" PRIu64 ",\"wavefronts\":%" PRIu64
	        ",\"ideal_wavefronts\":%" PRIu64 ",\"conflicts\":%" PRIu64 "}",
	        c->bytes, c->requests, c->wavefronts, c->ideal_wavefronts, c->conflicts);
}

static void write_shared(FILE *out, const char *key, const struct sim_shared_count *c)
{
	fprintf(out, "\"%s\":{", key);
	write_banks(out, c);
}

static void write_shared_lines(FILE *out, const struct sim_launch *launch)
{
	fprintf(out, ",\"shared_lines\":[");
	for (size_t i = 0; i < launch->shared_line_count; i++) {
		const struct sim_line_count *line = &launch->shared_lines[i];
		fprintf(out, "%s{\"file\":", i > 0 ? "," : "");
		write_json_string(out, line->file);
		fprintf(out, ",\"line\":%u,\"op\":\"%s\",", line->line,
		        (const char *const[]){"load", "store", "atomic"}[line->op]);
		write_banks(out, &line->count);
	}
	fprintf(out, "]");
}

static void write_footprint(FILE *out, const struct sim_footprint *f)
{
	fprintf(out, "\"footprint\":{\"read_bytes\":%" PRIu64 ",\"write_bytes\":%" PRIu64 "}", f->read_bytes,
	        f->write_bytes);
}

static void write_tensors(FILE *out, const struct sim_launch *launch)
{
	fprintf(out, ",\"tensors\":[");
	for (size_t i = 0; i < launch->tensor_count; i++) {
		const struct sim_tensor_count *tensor = &launch->tensors[i];
		fprintf(out, "%s{\"name\":", i > 0 ? "," : "");
		write_json_string(out, tensor->name);
		fprintf(out, ",\"requested\":{\"read_bytes\":%" PRIu64 ",\"write_bytes\":%" PRIu64,
		        tensor->read_bytes, tensor->write_bytes);
		if (tensor->atomic_bytes > 0)
			fprintf(out, ",\"atomic_bytes\":%" PRIu64, tensor->atomic_bytes);
		fprintf(out, "},");
		write_footprint(out, &tensor->footprint);
		fprintf(out, "}");
	}
	fprintf(out, "]");
}

static void write_counters(FILE *out, const struct sim_launch *launch)
{
	fprintf(out, ",\"global\":{");
	write_global(out, "load", &launch->global_load);
	fprintf(out, ",");
	write_global(out, "store", &launch->global_store);
	fprintf(out, ",");
	write_global(out, "atomic", &launch->global_atomic);
	fprintf(out, "},\"shared\":{");
	write_shared(out, "load", &launch->shared_load);
	fprintf(out, ",");
	write_shared(out, "store", &launch->shared_store);
	fprintf(out, ",");
	write_shared(out, "atomic", &launch->shared_atomic);
	fprintf(out, "}");
	write_shared_lines(out, launch);
	fprintf(out, ",\"constant\":{\"load\":{\"bytes\":%" PRIu64 ",\"requests\":%" PRIu64 "}},",
	        launch->constant_load.bytes, launch->constant_load.requests);
	write_footprint(out, &launch->footprint);
	write_tensors(out, launch);
	fprintf(out, ",\"barriers\":%" PRIu64 ",\"exp\":%" PRIu64, launch->barriers, launch->exp);
}

void sim_write_launch_json(FILE *out, const struct sim_launch *launch)
{
	static const char *const tools[SIM_TOOLS] = {"memcheck", "racecheck", "initcheck", "synccheck", "leakcheck"};
	fprintf(out, "{\"type\":\"launch\",\"kernel\":");
	write_json_string(out, launch->kernel);
	fprintf(out, ",\"template\":");
	write_json_string(out, launch->template_args);
	fprintf(out,
	        ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"dynamic_shared_bytes\":%zu,\"static_shared_bytes\":%zu",
	        launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0], launch->block[1],
	        launch->block[2], launch->dynamic_shared_bytes, launch->static_shared_bytes);
	if (launch->counted)
		write_counters(out, launch);
	fprintf(out, ",\"hazards\":{");
	for (int tool = 0, written = 0; tool < SIM_TOOLS; tool++)
		if (sim_options()->check[tool])
			fprintf(out, "%s\"%s\":%" PRIu64, written++ ? "," : "", tools[tool], launch->hazards[tool]);
	fprintf(out, "}");
	if (launch->races_of_this_order || launch->races_incomplete)
		fprintf(out, ",\"racecheck\":{\"order\":\"%s\",\"complete\":%s}",
		        launch->races_of_this_order ? "this" : "any", launch->races_incomplete ? "false" : "true");
	fprintf(out, "}");
}

/* Silence would claim more than is known. Told once each, the first to those who ask for racecheck by name. */
static void print_limits_of_racecheck(const struct sim_launch *launch)
{
	static bool told_order, told_incomplete;
	if (launch->races_of_this_order && !told_order && sim_options()->check_given) {
		told_order = true;
		fprintf(stderr,
		        "========= Note: flags or locks order accesses of kernel %s: racecheck knows what this order "
		        "of "
		        "them shows, SIM_ORDER tries others\n",
		        launch->kernel);
	}
	if (launch->races_incomplete && !told_incomplete) {
		told_incomplete = true;
		fprintf(stderr,
		        "========= Note: racecheck could not compare all accesses of kernel %s: a limit of it is "
		        "reached\n",
		        launch->kernel);
	}
}

/* ---- finished launches, for the host ---- */

static struct sim_launch *launches;
static size_t launch_count, launch_capacity;
static bool keeping; /* only a host that asks has them kept: a plain program may launch for ever */

static void free_parts(const struct sim_launch *launch)
{
	free((void *)launch->shared_lines);
	for (size_t t = 0; t < launch->tensor_count; t++)
		free((char *)launch->tensors[t].name);
	free((void *)launch->tensors);
}

void report_launch(const struct sim_launch *launch)
{
	print_limits_of_racecheck(launch);
	if (report_file()) {
		sim_write_launch_json(report.file, launch);
		fputc('\n', report.file);
		report_written();
	}
	if (!keeping) {
		free_parts(launch);
		return;
	}
	need_room(&launches, &launch_capacity, launch_count + 1, sizeof *launches);
	launches[launch_count++] = *launch;
}

size_t sim_launch_count(void)
{
	return launch_count;
}

const struct sim_launch *sim_launch_at(size_t index)
{
	return &launches[index];
}

void sim_forget_launches(void)
{
	for (size_t i = 0; i < launch_count; i++)
		free_parts(&launches[i]);
	launch_count = 0;
	keeping = true;
}
