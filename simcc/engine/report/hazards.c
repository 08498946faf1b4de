/*
 * What is said when something is wrong: the message in compute-sanitizer's words with the source line below it, and
 * one JSON record.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/output.h"

enum { MOST_CALLS = 4 }; /* of a function misused in one way, printed */

static _Atomic uint64_t error_count;
static const char *tool_name(enum sim_tool tool)
{
	return (const char *const[]){"memcheck", "racecheck", "initcheck", "synccheck", "leakcheck"}[tool];
}

/* ---- places: a kernel that is wrong is wrong at each of its launches, and need not say so each time ---- */

struct place {
	enum sim_tool tool;
	const char *kind, *kernel; /* of a misused call: its error and its name */
	char file[256], other_file[256];
	unsigned line, other_line;
	bool printed;
	uint32_t last_launch;
	uint64_t reports, hazards, launches;
};

enum { MOST_PLACES = 4096 };

static pthread_mutex_t places_lock = PTHREAD_MUTEX_INITIALIZER;
static struct place *places;
static size_t place_count, place_capacity;

static bool is_same_side(unsigned line, const char *file, unsigned other_line, const char *other_file)
{
	return line == other_line && strcmp(file, other_file) == 0;
}

/* Which of the two sides comes first does not matter: that is a question of order. */
static bool is_at(const struct place *place, const struct hazard *h)
{
	if (place->tool != h->tool || strcmp(place->kind, h->kind) != 0 || strcmp(place->kernel, h->kernel) != 0)
		return false;
	return (is_same_side(place->line, place->file, h->line, h->file) &&
	        is_same_side(place->other_line, place->other_file, h->other_line, h->other_file)) ||
	       (is_same_side(place->line, place->file, h->other_line, h->other_file) &&
	        is_same_side(place->other_line, place->other_file, h->line, h->file));
}

/* NULL: there are too many places. */
static struct place *place_of(const struct hazard *h)
{
	for (size_t i = 0; i < place_count; i++)
		if (is_at(&places[i], h))
			return &places[i];
	if (place_count == MOST_PLACES)
		return NULL;
	need_room(&places, &place_capacity, place_count + 1, sizeof *places);
	struct place *place = &places[place_count++];
	*place = (struct place){
		.tool = h->tool, .kind = h->kind, .kernel = h->kernel, .line = h->line, .other_line = h->other_line};
	memcpy(place->file, h->file, sizeof place->file);
	memcpy(place->other_file, h->other_file, sizeof place->other_file);
	return place;
}

/* Which report of its place it is, from 1; 0: there are too many places. `printed`: it will be, if it is the first.
 */
static uint64_t count_at_place(const struct hazard *h, bool printed)
{
	uint64_t report = 0;
	pthread_mutex_lock(&places_lock);
	struct place *place = place_of(h);
	if (place) {
		report = ++place->reports;
		place->hazards += h->count;
		place->launches += place->last_launch != h->launch;
		place->last_launch = h->launch;
		place->printed |= report == 1 && printed;
	}
	pthread_mutex_unlock(&places_lock);
	return report;
}

enum { WIDTH = 80 };

static bool is_first_byte(char c)
{
	return (c & 0xc0) != 0x80;
}

/* Words behind "========= " and as many blanks; what would pass column 80 goes to further lines, behind eight. */
static void print_words(int blanks, const char *words)
{
	int column = fprintf(stderr, "========= %*s", blanks, "");
	for (bool first = true; *words != '\0'; first = false) {
		const size_t length = strcspn(words, " ");
		int columns = 0;
		for (size_t i = 0; i < length; i++)
			columns += is_first_byte(words[i]);
		if (!first && column + 1 + columns > WIDTH)
			column = fprintf(stderr, "\n=========         ") - 1;
		else if (!first)
			column += fprintf(stderr, " ");
		fwrite(words, 1, length, stderr);
		column += columns;
		words += length + (words[length] == ' ');
	}
	fputc('\n', stderr);
}

void print_repeated(void)
{
	for (size_t i = 0; i < place_count; i++) {
		const struct place *place = &places[i];
		if (!place->printed || place->reports <= (place->launches == 0 ? MOST_CALLS : 1))
			continue;
		fflush(NULL);
		char *words;
		size_t size;
		FILE *line = need(open_memstream(&words, &size));
		fprintf(line, "%s: %s", tool_name(place->tool), place->kind);
		if (place->line != 0)
			fprintf(line, " at %s:%u", place->file, place->line);
		if (place->other_line != 0)
			fprintf(line, " and %s:%u", place->other_file, place->other_line);
		fprintf(line, " in %s [%" PRIu64 " hazards", place->kernel, place->hazards);
		if (place->launches > 0)
			fprintf(line, " over %" PRIu64 " launch%s", place->launches,
			        place->launches == 1 ? "" : "es");
		fputc(']', line);
		fclose(line);
		print_words(0, words);
		free(words);
	}
}

/* ---- messages ---- */

static size_t count_characters(const char *text)
{
	size_t count = 0;
	for (; *text != '\0'; text++)
		count += is_first_byte(*text);
	return count;
}

static const char cut[] = "..."; /* in the place of what does not fit */

/* Where to begin with a line so that it fits, and in *length how many bytes do: less of its indent, and less of its ends,
 * which are marked. */
static size_t fit_source(const char *text, unsigned column, size_t *length)
{
	size_t room = WIDTH - strlen("=========           | "), skip = 0, columns = 0;
	if (column > strlen(text)) /* the source has changed since */
		column = 0;
	while (text[skip] == ' ' && count_characters(text + skip) > room)
		skip++;
	if (count_characters(text + skip) > room)
		room -= strlen(cut);
	if (column > skip + room) {
		room -= strlen(cut);
		skip = column - room / 2;
	}
	while (skip > 0 && !is_first_byte(text[skip]))
		skip--;
	for (*length = 0; text[skip + *length] != '\0'; ++*length)
		if (is_first_byte(text[skip + *length]) && ++columns > room)
			break;
	return skip;
}

/* The line, and below it a caret where the access is, if the column is known. */
static void print_line(char *text, unsigned line, unsigned column)
{
	for (char *c = text; *c != '\0'; c++)
		if (*c == '\t')
			*c = ' ';
	text[strcspn(text, "\n")] = '\0';
	size_t length, skip = fit_source(text, column, &length);
	const char *const left_out = strspn(text, " ") < skip ? cut : "";
	fprintf(stderr, "=========     %5u | %s%.*s%s\n", line, left_out, (int)length, text + skip,
	        text[skip + length] != '\0' ? cut : "");
	/* A macro's columns are not those of the line that uses it: better no caret than one in the void. */
	if (column == 0 || column > strlen(text) || text[column - 1] == ' ')
		return;
	int before = (int)strlen(left_out); /* characters: compilers count bytes */
	for (size_t i = skip; i + 1 < column; i++)
		before += is_first_byte(text[i]);
	fprintf(stderr, "=========           | %*s^\n", before, "");
}

/* NULL: there is none. */
static char *source_line(const char *path, unsigned line)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t room = 0;
	unsigned number = 0;
	while (file && number < line && getline(&text, &room, file) >= 0)
		number++;
	if (file)
		fclose(file);
	if (number == line)
		return text;
	free(text);
	return NULL;
}

static void print_source_line(const char *path, unsigned line, unsigned column)
{
	char *text = source_line(path, line);
	if (text)
		print_line(text, line, column);
	free(text);
}

/* Of the one place in the hazard's line where this function is named; 0: there is none, or there are several. */
static unsigned column_of_call(const struct hazard *h, const char *function)
{
	static const char of_names[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	const size_t length = strlen(function);
	char *text = source_line(h->file, h->line);
	unsigned column = 0, found = 0;
	for (const char *at = text; at && (at = strstr(at, function)); at += length)
		if ((at == text || !strchr(of_names, at[-1])) &&
		    (at[length] == '\0' || !strchr(of_names, at[length]))) {
			column = (unsigned)(at - text) + 1;
			found++;
		}
	free(text);
	return found == 1 ? column : 0;
}

/* In full where that fits a line of 80 columns; else without its types; else by its name alone. */
static void print_function(const struct hazard *h)
{
	const struct sim_function *function = sim_function_signed(h->signature);
	char place[300] = "", text[1200];
	if (h->line != 0)
		snprintf(place, sizeof place, " in %.255s:%u", h->file, h->line);
	snprintf(text, sizeof text, "=========     at %.700s%s", h->signature, place);
	if (function && strlen(text) > 80 && function->template_args[0] != '\0')
		snprintf(
			text, sizeof text, "=========     at %.300s<%.300s>%s", function->name,
			function->template_args, place);
	if (function && strlen(text) > 80)
		snprintf(text, sizeof text, "=========     at %.300s%s", function->name, place);
	if (h->signature[0] == '\0') /* host code of a .c file, of which there is no table */
		snprintf(text, sizeof text, "=========     at %s", place + strlen(" in "));
	fprintf(stderr, "%s\n", text);
}

static void print_hazard(const struct hazard *h)
{
	char headline[sizeof h->headline + 16];
	snprintf(
		headline, sizeof headline, "%s%s", strcmp(h->severity, "warning") == 0 ? "Warning: " : "",
		h->headline);
	print_words(0, headline);
	if (h->line != 0 || h->signature[0] != '\0')
		print_function(h);
	if (h->has_place)
		fprintf(stderr, "=========     by thread (%u,%u,%u) in block (%u,%u,%u)\n", h->thread.x, h->thread.y,
		        h->thread.z, h->block.x, h->block.y, h->block.z);
	for (int i = 0; i < 3; i++)
		if (h->detail[i][0] != '\0')
			print_words(4, h->detail[i]);
	if (h->line != 0)
		print_source_line(h->file, h->line, h->column);
	if (h->advice[0] != '\0')
		print_words(4, h->advice);
	if (h->has_other && h->other_line != 0 && (h->other_line != h->line || strcmp(h->other_file, h->file) != 0))
		print_source_line(h->other_file, h->other_line, h->other_column);
}

const char *op_name(enum sim_op op)
{
	return op == SIM_OP_LOAD ? "read" : op == SIM_OP_STORE ? "write" : "atomic";
}

static void write_record(const struct hazard *h)
{
	FILE *out = report_file();
	if (!out)
		return;
	fprintf(out, "{\"type\":\"hazard\",\"tool\":\"%s\",\"kind\":\"%s\",\"severity\":\"%s\",\"kernel\":",
	        tool_name(h->tool), h->kind, h->severity);
	write_json_string(out, h->kernel);
	if (h->has_place)
		fprintf(out, ",\"block\":[%u,%u,%u],\"thread\":[%u,%u,%u]", h->block.x, h->block.y, h->block.z,
		        h->thread.x, h->thread.y, h->thread.z);
	if (h->line != 0) {
		fprintf(out, ",\"file\":");
		write_json_string(out, h->file);
		fprintf(out, ",\"line\":%u", h->line);
	}
	if (h->space)
		fprintf(out, ",\"space\":\"%s\"", h->space);
	if (h->array[0] != '\0') {
		fprintf(out, ",\"array\":");
		write_json_string(out, h->array);
	}
	if (h->index != INT64_MIN)
		fprintf(out, ",\"index\":%" PRId64, h->index);
	if (h->bytes != 0)
		fprintf(out, ",\"bytes\":%u", h->bytes);
	fprintf(out, ",\"count\":%" PRIu64, h->count);
	if (h->advice[0] != '\0') {
		fprintf(out, ",\"advice\":");
		write_json_string(out, h->advice);
	}
	if (h->has_other) {
		fprintf(out, ",\"other\":{\"thread\":[%u,%u,%u]", h->other_thread.x, h->other_thread.y,
		        h->other_thread.z);
		if (h->other_line != 0) {
			fprintf(out, ",\"file\":");
			write_json_string(out, h->other_file);
			fprintf(out, ",\"line\":%u", h->other_line);
		}
		fprintf(out, ",\"op\":\"%s\"%s}", h->other_op, h->passed_other ? ",\"passed\":true" : "");
	}
	fprintf(out, "}\n");
	report_written();
}

void tell_hazard(const struct hazard *hazard, uint64_t errors, bool printed)
{
	fflush(stdout);
	if (printed)
		print_hazard(hazard);
	write_record(hazard);
	error_count += errors;
}

bool report_hazard(const struct hazard *hazard)
{
	if (!sim_options()->check[hazard->tool])
		return false;
	const bool is_first = hazard->launch == 0 ||
	                      (strcmp(hazard->severity, "info") != 0 && count_at_place(hazard, !hazard->silent) == 1);
	tell_hazard(hazard, strcmp(hazard->severity, "error") == 0, is_first && !hazard->silent);
	return is_first;
}

void hazard_set_location(struct hazard *hazard, const struct sim_site *site)
{
	if (!site)
		return;
	snprintf(hazard->file, sizeof hazard->file, "%s", site->file);
	hazard->line = site->line;
	hazard->column = site->column;
	/* The function of the access itself: a __device__ function, maybe. */
	if (site->function)
		hazard->signature = site->function->signature;
}

void hazard_set_other(struct hazard *hazard, uint3 thread, const struct sim_site *site, const char *op)
{
	hazard->has_other = true;
	hazard->other_thread = thread;
	hazard->other_line = site ? site->line : 0;
	hazard->other_column = site ? site->column : 0;
	snprintf(hazard->other_op, sizeof hazard->other_op, "%s", op);
	snprintf(hazard->other_file, sizeof hazard->other_file, "%s", site ? site->file : "");
}

uint3 thread_index(const struct request *request, uint32_t thread)
{
	const dim3 size = request->block;
	return (uint3){thread % size.x, thread / size.x % size.y, thread / size.x / size.y};
}

struct hazard hazard_of(
	const struct actor *actor, const struct sim_site *site, enum sim_tool tool, const char *kind,
	cudaError_t error)
{
	const struct request *request = actor->request;
	const struct sim_function *function = request->function;
	struct hazard hazard = {
		.tool = tool,
		.kind = kind,
		.severity = "error",
		.kernel = function ? function->name : request->name,
		.signature = function ? function->signature : request->name,
		.has_place = true,
		.block = actor->block,
		.thread = actor->thread,
		.index = INT64_MIN,
		.count = 1,
		.launch = request->number,
		.error = error,
	};
	hazard_set_location(&hazard, site);
	return hazard;
}

void report_misuse(cudaError_t error, const char *function, const char *format, va_list arguments)
{
	if (!sim_options()->check[SIM_MEMCHECK])
		return;
	struct hazard hazard = {
		.tool = SIM_MEMCHECK,
		.kind = "api_misuse",
		.severity = "error",
		.kernel = "",
		.index = INT64_MIN,
		.count = 1};
	const struct callers callers = callers_of_this();
	hazard_locate_call(&hazard, &callers);
	if (error == cudaSuccess)
		snprintf(hazard.headline, sizeof hazard.headline, "Invalid %s on the host", function);
	else
		snprintf(
			hazard.headline, sizeof hazard.headline,
			"Program hit %s (error %d) due to \"%s\" on CUDA API call to %s.", cudaGetErrorName(error),
			(int)error, cudaGetErrorString(error), function);
	vsnprintf(hazard.detail[0], sizeof hazard.detail[0], format, arguments);
	struct hazard call = hazard; /* its place: the line, the function and the error */
	call.kernel = function;
	call.kind = error == cudaSuccess ? "error" : cudaGetErrorName(error);
	const uint64_t report = count_at_place(&call, true);
	if (report >= 1 && report <= MOST_CALLS)
		hazard.column = column_of_call(&hazard, function);
	tell_hazard(&hazard, 1, report >= 1 && report <= MOST_CALLS);
}

void say_of_call(const char *format, ...)
{
	struct hazard place = {.signature = ""};
	const struct callers callers = callers_of_this();
	hazard_locate_call(&place, &callers);
	fflush(stdout);
	if (place.line != 0)
		fprintf(stderr, "%s:%u: ", place.file, place.line);
	va_list arguments;
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
}

uint64_t sim_error_count(void)
{
	return error_count;
}
