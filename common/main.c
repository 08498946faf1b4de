#include "harness.h"

#include "explorer.h"
#include "measure/plain_build.h"
#include "problem/inputs.h"
#include "problem/load.h"
#include "report/next.h"
#include "report/report.h"
#include "run/details.h"
#include "run/estimate.h"
#include "run/files.h"
#include "run/host_code.h"
#include "run/run.h"
#include "support/nearest.h"
#include "support/output_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char version[] = "1.0";

static int complain(const struct chapter *chapter, const struct error *error)
{
	fflush(stdout);
	fprintf(stderr, "%s: %s\n", chapter->program, error->message);
	return error->exit_code;
}

/* A full disk behind standard output shows only when it is flushed. */
static int finish_standard_output(struct error *error)
{
	struct output_file file;
	return output_file_open(&file, "-", error) != 0 ? error->exit_code : output_file_commit(&file, error);
}

static void print_help(const struct chapter *chapter)
{
	printf("Usage: %s [options]\n\n%s\n\nOptions:\n", chapter->program, chapter->title);
	options_print_help(stdout, chapter->options, &chapter->defaults);
	printf("\nKernels, in teaching order:\n");
	for (size_t i = 0; i < chapter->kernel_count; i++)
		printf("  %-18s %s\n", chapter->kernels[i].name, chapter->kernels[i].summary);
	printf("\nKinds of --input:\n");
	for (int kind = 0; kind < INPUT_KINDS; kind++)
		printf("  %-14s %s\n", input_kind_names[kind],
		       input_meaning((enum input_kind)kind, chapter->options));
	printf("\nExit status: 0 all that ran are verified; 1 one is wrong; 2 usage, or unusable\n"
	       "input; 3 environment (no device, no memory, a device limit, unwritable output).\n");
}

/* The kernels to run: all, or the one that --kernel names. */
static int choose_kernels(
	const struct chapter *chapter, const char *name, const struct kernel **kernels, size_t *count,
	struct error *error)
{
	*kernels = name ? chapter_kernel(chapter, name) : chapter->kernels;
	*count = name ? 1 : chapter->kernel_count;
	if (*kernels)
		return 0;
	char known[300] = "", meant[NEAREST_TEXT_SIZE];
	const char *names[chapter->kernel_count];
	for (size_t i = 0; i < chapter->kernel_count; i++) {
		size_t used = strlen(known);
		names[i] = chapter->kernels[i].name;
		snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", names[i]);
	}
	return error_set(
		error, EXIT_USAGE, "--kernel: expected %s%s, got '%.60s'%s",
		chapter->kernel_count > 1 ? "one of " : "", known, name,
		nearest_text(name, names, chapter->kernel_count, meant));
}

/*
 * The counting build takes times only on request: NAME.fast, the plain build, is run for them. On a GPU and in NAME.fast
 * itself the kernels run as they are, and are always timed.
 */
static int fill_timing_defaults(
	const struct chapter *chapter, const struct device *device, struct options *options, struct error *error)
{
	if (!device->simulated || device->plain) {
		options->time = true;
		return 0;
	}
	if (options->time && !plain_build_exists())
		return error_set(
			error, EXIT_ENVIRONMENT, "--time: %s.fast, the plain build, is not there: `make fast` in %s",
			chapter->program, chapter->name);
	if (!options->time && options->given & (OPTION_BIT(OPTION_REPEAT) | OPTION_BIT(OPTION_WARMUP)))
		return error_set(
			error, EXIT_USAGE, "--%s: needs --time, nothing is timed without it",
			options->given & OPTION_BIT(OPTION_REPEAT) ? "repeat" : "warmup");
	return 0;
}

static bool wants_color(enum color_choice choice)
{
	const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM"), *force = getenv("CLICOLOR_FORCE");
	if (choice != COLOR_AUTO)
		return choice == COLOR_ALWAYS;
	if (no_color && *no_color)
		return false;
	if (force && *force && strcmp(force, "0") != 0) /* make, which prints it to a terminal */
		return true;
	return isatty(STDOUT_FILENO) && !(terminal && strcmp(terminal, "dumb") == 0);
}

/* What kernels and launchers print while data goes to standard output: it would stand in the middle of the data. */
static int run_with_data_apart(
	struct run_result *result, const struct kernel *kernels, size_t kernel_count, struct progress *progress,
	struct error *error)
{
	const struct options *options = result->options;
	bool data = files_have_standard_output(options) || (options->sweep && !options->tsv);
	int kept = data ? dup(STDOUT_FILENO) : -1;
	if (kept >= 0) {
		int elsewhere = options->quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
		fflush(stdout);
		dup2(elsewhere >= 0 ? elsewhere : STDERR_FILENO, STDOUT_FILENO);
		if (elsewhere >= 0)
			close(elsewhere);
	}
	int status = run_problem(result, kernels, kernel_count, options->kernel != NULL, progress, stderr, error);
	if (kept >= 0) {
		fflush(stdout);
		dup2(kept, STDOUT_FILENO);
		close(kept);
	}
	return status;
}

/* Accesses are about as many as FLOP: of larger problems no trace is kept. */
static bool is_small_enough_to_trace(const struct kernel *kernels, size_t kernel_count, const struct problem *problem)
{
	static const double most_flop = 2e9;
	double flop = 0.0;
	for (size_t i = 0; i < kernel_count; i++)
		flop += kernels[i].forms(problem).flop;
	return flop <= most_flop;
}

static void tsv(FILE *out, const struct run_result *result)
{
	report_tsv_header(out, result);
	report_tsv_rows(out, result);
}

static void details(FILE *out, const struct run_result *result)
{
	const struct options *options = result->options;
	report_details(out, result, !options->quiet && !files_have_standard_output(options));
}

typedef void report_function(FILE *out, const struct run_result *result);

static int write_report(
	const struct run_result *result, const char *path, report_function *report, struct error *error)
{
	struct output_file file;
	if (output_file_open(&file, path, error) != 0)
		return error->exit_code;
	report(file.stream, result);
	return output_file_commit(&file, error);
}

static int write_files(const struct run_result *result, struct error *error)
{
	const struct options *options = result->options;
	char path[PATH_MAX];
	if (options->json && write_report(result, options->json, report_json, error) != 0)
		return error->exit_code;
	if (options->tsv && write_report(result, options->tsv, tsv, error) != 0)
		return error->exit_code;
	if (!options->details)
		return 0;
	files_run_json(options->details, path);
	return write_report(result, path, details, error);
}

/* Files first: what is said of them for people is then true, and is said also where one cannot be written. */
static int write_reports(const struct run_result *result, struct error *error)
{
	const struct options *options = result->options;
	int status = write_files(result, error);
	if (!files_have_standard_output(options)) {
		struct terminal terminal = {stdout, wants_color(options->color)};
		const struct kernel_result *failed = result_failed(result);
		if (options->quiet)
			report_quiet(&terminal, result);
		else
			report_human(&terminal, result);
		if (!options->quiet && failed && !explorer_small_case(result, failed))
			next_after_failure(&terminal, result);
	}
	return status ? status : finish_standard_output(error);
}

static int run_once(
	struct run_result *result, const struct kernel *kernels, size_t kernel_count, struct progress *progress,
	struct error *error)
{
	int status = run_with_data_apart(result, kernels, kernel_count, progress, error);
	if (status <= EXIT_VERIFICATION && write_reports(result, error) != 0)
		status = error->exit_code;
	run_result_free(result);
	return status;
}

static double sweep_work(const struct run_result *result, const struct kernel *kernels, size_t kernel_count)
{
	const struct options *options = result->options;
	double work = 0.0;
	struct problem problem = options->problem;
	for (size_t step = 0; result->chapter->sweep(step, result->device->simulated, &problem); step++) {
		work += estimate_run(kernels, kernel_count, &problem, result->device);
		problem = options->problem;
	}
	return work;
}

/* Every step of the sweep into one TSV, a block of rows a step. */
static int run_sweep(
	struct run_result *result, const struct kernel *kernels, size_t kernel_count, struct progress *progress,
	struct error *error)
{
	const struct options *options = result->options;
	double work = sweep_work(result, kernels, kernel_count);
	if (estimate_refuse_large(result, kernels, kernel_count, work, "--sweep", error) != 0)
		return error->exit_code;
	const char *path = options->tsv ? options->tsv : "-";
	struct output_file file;
	if (output_file_open(&file, path, error) != 0)
		return error->exit_code;
	bool all_verified = true;
	size_t steps = 0;
	struct problem problem = options->problem;
	while (result->chapter->sweep(steps, result->device->simulated, &problem))
		steps++;
	report_tsv_header(file.stream, result);
	for (size_t step = 0; step < steps; step++) {
		char text[120];
		result->problem = options->problem;
		result->chapter->sweep(step, result->device->simulated, &result->problem);
		int status = run_with_data_apart(result, kernels, kernel_count, progress, error);
		if (status <= EXIT_VERIFICATION)
			report_tsv_rows(file.stream, result);
		if (file.stream == stdout)
			fflush(stdout);
		run_result_free(result);
		if (status > EXIT_VERIFICATION) {
			output_file_abandon(&file);
			return status;
		}
		all_verified = all_verified && status == EXIT_ALL_VERIFIED;
		progress_show(
			progress, "sweep: %zu of %zu done, %s", step + 1, steps,
			report_problem(result, text, sizeof text));
	}
	progress_clear(progress);
	bool flooded = file.stream == stdout && progress->shown && isatty(STDOUT_FILENO);
	if (output_file_commit(&file, error) != 0)
		return error->exit_code;
	if (flooded)
		fputs("These lines are TSV, for programs: make plot draws them, --tsv FILE writes them to a file.\n",
		      stderr);
	return all_verified ? EXIT_ALL_VERIFIED : EXIT_VERIFICATION;
}

/* With --explain this program becomes explorer/explain, which runs it again. Returns in that other run. */
static int hand_on_or_record(
	struct run_result *result, const struct kernel *kernels, size_t kernel_count, struct options *options,
	char **argv, struct error *error)
{
	const struct device *device = result->device;
	if (!options->explain)
		return 0;
	options->details = explorer_room();
	if (!options->details)
		return explorer_explain(options->explain, argv, error);
	result->traced = device->simulated && !device->plain &&
	                 is_small_enough_to_trace(kernels, kernel_count, &options->problem);
	return device->simulated && !device->plain ? details_record(options->details, result->traced, error) : 0;
}

static int run_program(const struct chapter *given, int argc, char **argv)
{
	struct chapter_lists lists;
	struct chapter own = *given;
	const struct chapter *chapter = &own;
	struct error error = {0};
	struct options options;
	struct device device;
	const struct kernel *kernels;
	size_t kernel_count;

	if (options_parse(argc, argv, chapter->options, &chapter->defaults, &options, &error) != 0)
		return complain(chapter, &error);
	options.problem.variant = variant_of_chapter(chapter->name);
	own = chapter_of_problem(given, &options.problem, &lists);
	if (options.help || options.version) {
		if (options.help)
			print_help(chapter);
		else
			printf("%s %s\n", chapter->name, version);
		return finish_standard_output(&error) != 0 ? complain(chapter, &error) : EXIT_ALL_VERIFIED;
	}
	if (choose_kernels(chapter, options.kernel, &kernels, &kernel_count, &error) != 0 ||
	    files_check(kernels, kernel_count, &options, &error) != 0 ||
	    device_open(options.gpu, &device, &error) != 0 ||
	    fill_timing_defaults(chapter, &device, &options, &error) != 0)
		return complain(chapter, &error);

	if (options.prompt) {
		const struct terminal terminal = {stdout, wants_color(options.color)};
		int status = chapter->generate(chapter, &options, &device, &terminal, &error);
		if (!error.exit_code)
			finish_standard_output(&error);
		return error.exit_code ? complain(chapter, &error) : status;
	}

	static struct run_result result; /* half of what a small `ulimit -s` leaves */
	result.chapter = chapter;
	result.options = &options;
	result.program = strncmp(argv[0], "./", 2) == 0 ? argv[0] + 2 : chapter->program;
	result.arguments = (const char *const *)argv + 1;
	result.problem = options.problem;
	result.device = &device;
	if (hand_on_or_record(&result, kernels, kernel_count, &options, argv, &error) != 0)
		return complain(chapter, &error);
	struct progress progress = progress_new(!options.quiet);
	int status = (options.sweep ? run_sweep : run_once)(&result, kernels, kernel_count, &progress, &error);
	return status > EXIT_VERIFICATION ? complain(chapter, &error) : status;
}

int chapter_main(const struct chapter *chapter, int argc, char **argv)
{
	output_file_guard();
	host_code_guard(chapter->program);
	int status = run_program(chapter, argc, argv);
	host_code_unguard();
	return status;
}
