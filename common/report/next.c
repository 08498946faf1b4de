#include "report/next.h"

#include "problem/options.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 300 };

/*
 * Did the run do what these options ask for? It did where each of them has the value that it had in the run: options that
 * say the default in words change nothing, and neither do those of the run that are not among them.
 */
static bool was_run(const struct run_result *result, const char *line)
{
	char words[LINE_SIZE];
	snprintf(words, sizeof words, "%s", line);
	struct options asked, run = *result->options;
	struct error error;
	const struct chapter *chapter = result->chapter;
	if (options_parse_line(words, chapter->options, &chapter->defaults, &asked, &error) != 0) {
		fprintf(stderr, "%s: %s: %s\n", chapter->program, line, error.message);
		abort(); /* a mistake in the program */
	}
	run.problem = result->problem;
	return options_agree(&asked, &run, asked.given);
}

static const struct suggestion *after_this_run(const struct run_result *result)
{
	const struct suggestion *next = result->chapter->next, *found = next;
	for (; next->options; next++)
		if (was_run(result, next->options))
			found = next + 1;
	while (found->options && was_run(result, found->options))
		found++;
	return found;
}

bool may_be_explained(const struct run_result *result)
{
	return !(result->options->given & OPTIONS_MODIFIERS);
}

void next_after_failure(const struct terminal *terminal, const struct run_result *result)
{
	bool has_moved = false;
	for (size_t i = 0; i < result->kernel_count; i++)
		has_moved = has_moved || (!result->kernels[i].verified && result->kernels[i].counts.counted);
	if (!has_moved)
		return;
	fprintf(terminal->out, "Next: %s\n",
	        result->options->verbose ? "other shapes and inputs, make test"
	                                 : "what it moved, the same with --verbose");
}

void next_print(const struct terminal *terminal, const struct run_result *result)
{
	const struct suggestion *next = after_this_run(result);
	if (next->options)
		fprintf(terminal->out, "Next: %s%s./%s %s\n", next->why ? next->why : "", next->why ? " " : "",
		        result->program, next->options);
	else
		fprintf(terminal->out, "Next: %s\n", next->why);
}
