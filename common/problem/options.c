#include "problem/options.h"

#include "problem/dimensions.h"
#include "problem/option_rules.h"
#include "support/nearest.h"
#include "support/number.h"
#include "support/output_file.h"

#include <getopt.h>
#include <inttypes.h>
#include <string.h>

static int parse_whole(
	const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *value, struct error *error)
{
	if (read_whole(text, least, most, value))
		return 0;
	return error_set(
		error, EXIT_USAGE, "--%s: expected a whole number from %" PRIu64 " to %" PRIu64 ", got '%.60s'", name,
		least, most, text);
}

static int parse_number(const char *name, const char *text, float *value, struct error *error)
{
	if (read_real(text, value))
		return 0;
	return error_set(error, EXIT_USAGE, "--%s: expected a finite number, got '%.60s'", name, text);
}

static int parse_choice(enum option_name option, const char *text, void *field, struct error *error)
{
	const struct option_rule rule = rule_of(option);
	for (unsigned i = 0; rule.choice(i); i++)
		if (strcmp(rule.choice(i), text) == 0) {
			memcpy(field, &i, sizeof i); /* enum fields have the size of unsigned */
			return 0;
		}
	char source[40];
	snprintf(source, sizeof source, "--%s", rule.name);
	return option_choice_unknown(option, source, text, error);
}

static int parse_value(struct options *options, enum option_name option, const char *text, struct error *error)
{
	const struct option_rule composed = rule_of(option), *rule = &composed;
	void *field = (char *)options + rule->offset;
	uint64_t whole;
	switch (rule->type) {
	case TYPE_FLAG: *(bool *)field = true; return 0;
	case TYPE_COUNT:
		if (parse_whole(rule->name, text, rule->least, rule->most, &whole, error) != 0)
			return error->exit_code;
		*(size_t *)field = (size_t)whole;
		return 0;
	case TYPE_SEED:
		if (parse_whole(rule->name, text, 0, UINT64_MAX, &whole, error) != 0)
			return error->exit_code;
		*(uint64_t *)field = whole;
		return 0;
	case TYPE_NUMBER:
		options->problem.scale_given |= option == OPTION_SCALE;
		return parse_number(rule->name, text, field, error);
	case TYPE_ABOVE_ZERO:
		if (read_real(text, field) && *(float *)field > 0.0f)
			return 0;
		return error_set(
			error, EXIT_USAGE, "--%s: expected a finite number above 0, got '%.60s'", rule->name, text);
	case TYPE_BELOW_ONE:
		if (read_real(text, field) && *(float *)field >= 0.0f && *(float *)field < 1.0f)
			return 0;
		return error_set(
			error, EXIT_USAGE, "--%s: expected a number from 0 to below 1, got '%.60s'", rule->name,
			text);
	case TYPE_LENGTHS:
		if (packing_read(field, text, dimension_of_option(OPTION_SEQ)->most))
			return 0;
		return error_set(
			error, EXIT_USAGE,
			"--%s: expected 1 to %d whole numbers above 0, as 3,17,200, whose sum is at most %" PRIu64
			", got '%.60s'",
			rule->name, MOST_SEQUENCES, dimension_of_option(OPTION_SEQ)->most, text);
	case TYPE_CHOICE: return parse_choice(option, text, field, error);
	case TYPE_TEXT:
		if (!*text)
			return error_set(
				error, EXIT_USAGE, "--%s: expected %s, got nothing", rule->name, rule->value);
		*(const char **)field = text;
		return 0;
	}
	return 0;
}

/* The option that getopt_long has just taken, as it was written: it takes "--hea" for "--heads", too. */
static const char *written_option(char **argv)
{
	return optarg && optarg == argv[optind - 1] ? argv[optind - 2] : argv[optind - 1];
}

static bool is_abbreviated(const char *written, const char *name)
{
	size_t length = strcspn(written + 2, "=");
	return length != strlen(name) || strncmp(written + 2, name, length) != 0;
}

/* There are no short options; "-" alone is none. */
static bool is_short(const char *written)
{
	return written[0] == '-' && written[1] != '\0' && written[1] != '-';
}

/* One that the chapter takes, or NULL. */
static const char *nearest_option(const char *name, uint64_t applicable)
{
	const char *names[OPTIONS];
	size_t count = 0;
	for (int i = 0; i < OPTIONS; i++)
		if (applicable & OPTION_BIT(i))
			names[count++] = rule_of((enum option_name)i).name;
	return nearest_word(name, names, count);
}

static int unknown_option(const char *written, uint64_t applicable, struct error *error)
{
	size_t dashes = strspn(written, "-"), length = strcspn(written, "=");
	char name[61];
	snprintf(name, sizeof name, "%.*s", (int)(length > dashes ? length - dashes : 0), written + dashes);
	const char *nearest = nearest_option(name, applicable);
	if (nearest)
		return error_set(
			error, EXIT_USAGE, "%.*s: unknown option, did you mean --%s?",
			(int)(length < 60 ? length : 60), written, nearest);
	return error_set(error, EXIT_USAGE, "%.60s: unknown option, expected one that --help lists", written);
}

static int inapplicable_option(const char *name, uint64_t applicable, struct error *error)
{
	const char *nearest = nearest_option(name, applicable);
	if (nearest)
		return error_set(
			error, EXIT_USAGE, "--%s: does not apply to this chapter, did you mean --%s?", name, nearest);
	return error_set(
		error, EXIT_USAGE, "--%s: does not apply to this chapter, expected one that --help lists", name);
}

/* Standard output has one name: opened under another it would be written over. */
static const char *as_dash(const char *path)
{
	static const char *const others[] = {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
	for (size_t i = 0; path && i < sizeof others / sizeof others[0]; i++)
		if (strcmp(path, others[i]) == 0)
			return "-";
	return path;
}

static int check_together(const struct options *options, struct error *error)
{
	const struct {
		enum option_name option;
		const char *path;
	} files[] = {{OPTION_JSON, options->json}, {OPTION_TSV, options->tsv}, {OPTION_EXPLAIN, options->explain}};
	const char *holder = NULL;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		if (!files[i].path || strcmp(files[i].path, "-") != 0)
			continue;
		if (holder)
			return error_set(
				error, EXIT_USAGE, "--%s -, --%s -: only one of them can write to standard output",
				holder, rule_of(files[i].option).name);
		holder = rule_of(files[i].option).name;
	}
	/* The last would replace the others. */
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		for (size_t j = i + 1; j < sizeof files / sizeof files[0]; j++)
			if (files[i].path && files[j].path && strcmp(files[i].path, "-") != 0 &&
			    strcmp(files[j].path, "-") != 0 && output_file_is_same(files[i].path, files[j].path))
				return error_set(
					error, EXIT_USAGE, "--%s, --%s: %.200s: each needs a file of its own",
					rule_of(files[i].option).name, rule_of(files[j].option).name, files[j].path);
	static const enum option_name with_prompt[] = {
		OPTION_TOKENS, OPTION_MODEL, OPTION_TEMPERATURE, OPTION_TOP_P, OPTION_COUNT_ALL};
	for (size_t i = 0; i < sizeof with_prompt / sizeof with_prompt[0]; i++)
		if (options->given & OPTION_BIT(with_prompt[i]) && !options->prompt)
			return error_set(error, EXIT_USAGE, "--%s: needs --prompt", rule_of(with_prompt[i]).name);
	if (options->explain && (options->sweep || options->prompt))
		return error_set(
			error, EXIT_USAGE, "--explain: not with %s: a page shows one run of the chapter's kernels",
			!options->prompt  ? "--sweep"
			: !options->sweep ? "--prompt"
					  : "--sweep, nor with --prompt");
	if (options->explain &&
	    options_refuse(options, OPTIONS_MODIFIERS, "not with --explain, whose page shows plain scores", error) !=
	            0)
		return error->exit_code;
	if (options->details && options->explain)
		return error_set(
			error, EXIT_USAGE, "--details: not with --explain, which has a directory of its own");
	if (options->details && (options->sweep || options->prompt))
		return error_set(error, EXIT_USAGE, "--details: not with --%s", options->sweep ? "sweep" : "prompt");
	if (!options->sweep)
		return 0;
	static const enum option_name refused[] = {
		OPTION_LENGTHS, OPTION_SEQ,    OPTION_KEYS, OPTION_SPLITS, OPTION_COLS, OPTION_M,    OPTION_N,
		OPTION_K,       OPTION_VALUES, OPTION_ROW,  OPTION_TRACE,  OPTION_LOAD, OPTION_SAVE, OPTION_JSON};
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		if (options->given & OPTION_BIT(refused[i]))
			return error_set(
				error, EXIT_USAGE, "--%s: not with --sweep, which chooses the sizes and writes TSV",
				rule_of(refused[i]).name);
	return 0;
}

/* --lengths says how many tokens there are, in one sequence after another. */
static int fill_lengths(struct options *options, struct error *error)
{
	struct problem *problem = &options->problem;
	size_t tokens = packing_tokens(&problem->packing);
	if (!tokens)
		return 0;
	if (options->given & OPTION_BIT(OPTION_BATCH) && problem->batch != 1)
		return error_set(
			error, EXIT_USAGE, "--batch: not with --lengths, which lists the sequences of the batch");
	if (options->given & OPTION_BIT(OPTION_SEQ) && problem->seq != tokens)
		return error_set(
			error, EXIT_USAGE, "--seq: expected %zu, the sum of --lengths, got %zu", tokens,
			problem->seq);
	problem->batch = 1;
	problem->seq = tokens;
	/* Files have to agree; OPTIONS is the bit of dimensions without an option, and z is the one that an input has. */
	options->given |= OPTION_BIT(OPTION_SEQ) | OPTION_BIT(OPTION_BATCH) | OPTION_BIT(OPTIONS);
	return 0;
}

int options_parse(
	int argc, char **argv, uint64_t applicable, const struct problem *defaults, struct options *options,
	struct error *error)
{
	enum { FIRST_CODE = 256 }; /* above every character: getopt_long returns some, too */
	struct option table[OPTIONS + 1];
	memset(table, 0, sizeof table);
	for (int i = 0; i < OPTIONS; i++) {
		const struct option_rule rule = rule_of((enum option_name)i);
		table[i] = (struct option){
			rule.name, rule.type == TYPE_FLAG ? no_argument : required_argument, NULL, FIRST_CODE + i};
	}

	memset(options, 0, sizeof *options);
	options->problem = *defaults;
	options->warmup = 1;
	options->top_p = 1.0f;
	error->exit_code = 0;
	optind = 0; /* glibc: start afresh */
	opterr = 0;
	for (;;) {
		const char *next = argv[optind > 0 ? optind : 1];
		if (argc > 1 && next && is_short(next)) /* getopt_long would take it apart, letter by letter */
			return unknown_option(next, applicable, error);
		int found = getopt_long(argc, argv, "+:", table, NULL);
		if (found == -1)
			break;
		if (found == ':')
			return error_set(
				error, EXIT_USAGE, "--%s: expected a value %s", table[optopt - FIRST_CODE].name,
				rule_of((enum option_name)(optopt - FIRST_CODE)).value);
		if (found == '?' && optopt >= FIRST_CODE)
			return error_set(error, EXIT_USAGE, "--%s: takes no value", table[optopt - FIRST_CODE].name);
		if (found == '?')
			return unknown_option(argv[optind - 1], applicable, error);
		enum option_name option = (enum option_name)(found - FIRST_CODE);
		const char *name = table[option].name;
		if (is_abbreviated(written_option(argv), name))
			return unknown_option(written_option(argv), applicable, error);
		if (!(applicable & OPTION_BIT(option)))
			return inapplicable_option(name, applicable, error);
		if (parse_value(options, option, optarg, error) != 0)
			return error->exit_code;
		options->given |= OPTION_BIT(option);
	}
	if (optind < argc)
		return error_set(
			error, EXIT_USAGE, "%.60s: unexpected argument, expected options only", argv[optind]);
	if (fill_lengths(options, error) != 0)
		return error->exit_code;
	problem_fill_defaults(&options->problem);
	options->json = as_dash(options->json);
	options->tsv = as_dash(options->tsv);
	options->explain = as_dash(options->explain);
	return check_together(options, error);
}

int options_parse_line(
	char *line, uint64_t applicable, const struct problem *defaults, struct options *options, struct error *error)
{
	enum { MOST_WORDS = 32 };
	char *arguments[MOST_WORDS] = {line};
	int count = 1;
	for (char *word = strtok(line, " "); word && count < MOST_WORDS - 1; word = strtok(NULL, " "))
		arguments[count++] = word;
	return options_parse(count, arguments, applicable, defaults, options, error);
}

static bool is_same(const struct option_rule *rule, const void *a, const void *b)
{
	const char *left, *right;
	switch (rule->type) {
	case TYPE_FLAG: return *(const bool *)a == *(const bool *)b;
	case TYPE_COUNT: return *(const size_t *)a == *(const size_t *)b;
	case TYPE_SEED: return *(const uint64_t *)a == *(const uint64_t *)b;
	case TYPE_NUMBER:
	case TYPE_ABOVE_ZERO:
	case TYPE_BELOW_ONE: return *(const float *)a == *(const float *)b;
	case TYPE_CHOICE: return *(const unsigned *)a == *(const unsigned *)b;
	case TYPE_LENGTHS: return packing_is_same(a, b);
	case TYPE_TEXT:
		left = *(const char *const *)a;
		right = *(const char *const *)b;
		return left && right ? strcmp(left, right) == 0 : left == right;
	}
	return false;
}

bool options_agree(const struct options *a, const struct options *b, uint64_t set)
{
	for (int i = 0; i < OPTIONS; i++) {
		const struct option_rule rule = rule_of((enum option_name)i);
		if (set & OPTION_BIT(i) &&
		    !is_same(&rule, (const char *)a + rule.offset, (const char *)b + rule.offset))
			return false;
	}
	return true;
}

int options_refuse(const struct options *options, uint64_t set, const char *why, struct error *error)
{
	for (int i = 0; i < OPTIONS; i++)
		if (options->given & set & OPTION_BIT(i))
			return error_set(error, EXIT_USAGE, "--%s: %s", rule_of((enum option_name)i).name, why);
	return 0;
}

/* "512", "0.125", "random": the value as the option takes it. False when there is nothing to say. */
static bool format_value(const struct options *options, const struct option_rule *rule, char *text, size_t size)
{
	const void *field = (const char *)options + rule->offset;
	switch (rule->type) {
	case TYPE_COUNT: snprintf(text, size, "%zu", *(const size_t *)field); return *(const size_t *)field != 0;
	case TYPE_SEED: snprintf(text, size, "%llu", (unsigned long long)*(const uint64_t *)field); return true;
	case TYPE_NUMBER:
		snprintf(text, size, "%.9g", (double)*(const float *)field); /* nine digits are enough for any fp32 */
		return rule->offset != offsetof(struct options, problem.scale) || options->problem.scale_given;
	case TYPE_ABOVE_ZERO:
	case TYPE_BELOW_ONE:
		snprintf(text, size, "%.9g", (double)*(const float *)field);
		return *(const float *)field > 0.0f;
	case TYPE_CHOICE: snprintf(text, size, "%s", rule->choice(*(const unsigned *)field)); return true;
	case TYPE_FLAG:
	case TYPE_TEXT:
	case TYPE_LENGTHS: break;
	}
	return false;
}

enum { MOST_SHOWN = 1 << 16 }; /* a larger limit is there for the arithmetic only */

void options_print_help(FILE *out, uint64_t applicable, const struct problem *defaults)
{
	struct options shown = {.problem = *defaults, .warmup = 1, .top_p = 1.0f};
	for (int i = 0; i < OPTIONS; i++) {
		if (!(applicable & OPTION_BIT(i)))
			continue;
		const struct option_rule composed = rule_of((enum option_name)i), *rule = &composed;
		char left[40], value[32], choices[OPTION_CHOICES_SIZE];
		snprintf(
			left, sizeof left, "--%s%s%s", rule->name, rule->value ? " " : "",
			rule->value ? rule->value : "");
		fprintf(out, "  %-16s %s%s", left, option_help((enum option_name)i, applicable),
		        option_choices((enum option_name)i, choices));
		if (rule->type == TYPE_COUNT && rule->most <= MOST_SHOWN)
			fprintf(out, ", %" PRIu64 " to %" PRIu64, rule->least, rule->most);
		bool is_choice = rule->type == TYPE_CHOICE; /* the first one named is the default */
		if (!is_choice && format_value(&shown, rule, value, sizeof value))
			fprintf(out, " (default %s)", value);
		fputc('\n', out);
	}
}

size_t options_of_problem(
	const struct options *given, const struct problem *problem, uint64_t applicable,
	char storage[PROBLEM_ARGUMENTS][32], const char *arguments[PROBLEM_ARGUMENTS])
{
	struct options options = *given;
	options.problem = *problem;
	size_t count = 0;
	for (int i = 0; i < PROBLEM_OPTIONS; i++) {
		const struct option_rule composed = rule_of((enum option_name)i), *rule = &composed;
		const void *field = (const char *)&options + rule->offset;
		if (!(applicable & OPTION_BIT(i)))
			continue;
		const char *value = storage[count + 1];
		if (rule->type == TYPE_FLAG && !*(const bool *)field)
			continue;
		bool text = rule->type == TYPE_TEXT || rule->type == TYPE_LENGTHS;
		if (text && !(value = *(const char *const *)field))
			continue;
		if (rule->type != TYPE_FLAG && !text &&
		    !format_value(&options, rule, storage[count + 1], sizeof storage[0]) &&
		    !(options.given & OPTION_BIT(i)))
			continue;
		snprintf(storage[count], sizeof storage[0], "--%s", rule->name);
		arguments[count] = storage[count];
		count++;
		if (rule->type != TYPE_FLAG)
			arguments[count++] = value;
	}
	return count;
}
