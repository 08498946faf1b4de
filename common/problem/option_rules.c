#include "problem/option_rules.h"

#include "problem/dimensions.h"
#include "support/nearest.h"

#include "gpus.h"

#include <stdio.h>

enum { MOST_RUNS = 1 << 20, MOST_CHOICES = 16 };

static const char *input_choice(size_t index)
{
	return index < INPUT_KINDS ? input_kind_names[index] : NULL;
}

static const char *color_choice(size_t index)
{
	static const char *const names[] = {
		[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never"};
	return index < sizeof names / sizeof names[0] ? names[index] : NULL;
}

static const char *gpu_choice(size_t index)
{
	return gpu_table[index].name;
}

#define FIELD(member) offsetof(struct options, member)

static const struct option_rule rules[OPTIONS] = {
	[OPTION_CAUSAL] = {"causal", TYPE_FLAG, FIELD(problem.causal), 0, 0, 0, 0, "query i sees keys 0 to i only"},
	[OPTION_SCALE] =
		{"scale", TYPE_NUMBER, FIELD(problem.scale), 0, 0, 0, "s", "scores are s q.k (default 1/sqrt(d))"},
	[OPTION_SOFTCAP] =
		{"softcap", TYPE_ABOVE_ZERO, FIELD(problem.softcap), 0, 0, 0, "c",
                 "a score s becomes c tanh(s / c), before the mask"},
	[OPTION_ALIBI] =
		{"alibi", TYPE_FLAG, FIELD(problem.alibi), 0, 0, 0, 0,
                 "scores fall by 2^(-8 (h + 1) / H) per key of distance"},
	[OPTION_SINK] =
		{"sink", TYPE_FLAG, FIELD(problem.sink), 0, 0, 0, 0,
                 "add exp(x) to the denominator, x learned per head"},
	[OPTION_DROPOUT] =
		{"dropout", TYPE_BELOW_ONE, FIELD(problem.dropout), 0, 0, 0, "p",
                 "weights are 0 with probability p, drawn with --seed"},
	[OPTION_LENGTHS] =
		{"lengths", TYPE_LENGTHS, FIELD(problem.packing), 0, 0, 0, "a,b,c",
                 "sequences of so many tokens, one after another"},
	[OPTION_VALUES] = {"values", TYPE_TEXT, FIELD(values), 0, 0, 0, "a,b,c", "one row of scores, by hand"},
	[OPTION_TRACE] = {"trace", TYPE_FLAG, FIELD(trace), 0, 0, 0, 0, "print every update of the row"},
	[OPTION_PROMPT] =
		{"prompt", TYPE_TEXT, FIELD(prompt), 0, 0, 0, "TEXT", "the text that the language model answers"},
	[OPTION_TOKENS] =
		{"tokens", TYPE_COUNT, FIELD(tokens), 1, 1 << 20, 0, "T",
                 "tokens of the answer at most (default 80)"},
	[OPTION_MODEL] =
		{"model", TYPE_TEXT, FIELD(model), 0, 0, 0, "FILE",
                 "a file of tools/model (default: make model's, or a tiny one)"},
	[OPTION_TEMPERATURE] =
		{"temperature", TYPE_NUMBER, FIELD(temperature), 0, 0, 0, "t",
                 "randomness of the choice; 0: the likeliest token"},
	[OPTION_TOP_P] =
		{"top-p", TYPE_NUMBER, FIELD(top_p), 0, 0, 0, "p", "choose among the likeliest tokens that sum to p"},
	[OPTION_COUNT_ALL] =
		{"count-all", TYPE_FLAG, FIELD(count_all), 0, 0, 0, 0, "count every kernel, not only attention"},
	[OPTION_SEED] = {"seed", TYPE_SEED, FIELD(problem.seed), 0, 0, 0, "S", "seed of the random inputs"},
	[OPTION_INPUT] = {"input", TYPE_CHOICE, FIELD(problem.input), 0, 0, input_choice, "KIND", ""},
	[OPTION_LOAD] = {"load", TYPE_TEXT, FIELD(problem.load), 0, 0, 0, "DIR", "read the inputs from DIR/*.npy"},
	[OPTION_KERNEL] = {"kernel", TYPE_TEXT, FIELD(kernel), 0, 0, 0, "NAME", "one kernel (default: all)"},
	[OPTION_SAVE] = {"save", TYPE_TEXT, FIELD(save), 0, 0, 0, "DIR", "the last kernel's outputs, as DIR/*.npy"},
	[OPTION_SWEEP] = {"sweep", TYPE_FLAG, FIELD(sweep), 0, 0, 0, 0, "run over a range of sizes, written as TSV"},
	[OPTION_TIME] = {"time", TYPE_FLAG, FIELD(time), 0, 0, 0, 0, "also measure times; a GPU run always does"},
	[OPTION_REPEAT] = {"repeat", TYPE_COUNT, FIELD(repeat), 1, MOST_RUNS, 0, "R", "timed runs (default: enough)"},
	[OPTION_WARMUP] = {"warmup", TYPE_COUNT, FIELD(warmup), 0, MOST_RUNS, 0, "W", "runs before timing starts"},
	[OPTION_GPU] = {"gpu", TYPE_TEXT, FIELD(gpu), 0, 0, gpu_choice, "NAME", "limits and peak rates of: "},
	[OPTION_JSON] =
		{"json", TYPE_TEXT, FIELD(json), 0, 0, 0, "FILE", "write the results as JSON; - is standard output"},
	[OPTION_TSV] =
		{"tsv", TYPE_TEXT, FIELD(tsv), 0, 0, 0, "FILE", "write the results as TSV; - is standard output"},
	[OPTION_EXPLAIN] =
		{"explain", TYPE_TEXT, FIELD(explain), 0, 0, 0, "FILE",
                 "write a page on this run, to be opened in a browser"},
	[OPTION_DETAILS] =
		{"details", TYPE_TEXT, FIELD(details), 0, 0, 0, "DIR",
                 "write DIR/run.json and arrays: what --explain reads"},
	[OPTION_VERBOSE] =
		{"verbose", TYPE_FLAG, FIELD(verbose), 0, 0, 0, 0, "every table: launches, tensors, closed forms"},
	[OPTION_QUIET] = {"quiet", TYPE_FLAG, FIELD(quiet), 0, 0, 0, 0, "one line per kernel"},
	[OPTION_YES] = {"yes", TYPE_FLAG, FIELD(yes), 0, 0, 0, 0, "run even if the simulated device needs hours"},
	[OPTION_COLOR] = {"color", TYPE_CHOICE, FIELD(color), 0, 0, color_choice, "WHEN", ""},
	[OPTION_HELP] = {"help", TYPE_FLAG, FIELD(help), 0, 0, 0, 0, "print this and exit"},
	[OPTION_VERSION] = {"version", TYPE_FLAG, FIELD(version), 0, 0, 0, 0, "print the version and exit"},
};

struct option_rule rule_of(enum option_name option)
{
	const struct dimension *dimension = dimension_of_option(option);
	if (!dimension)
		return rules[option];
	return (struct option_rule){
		.name = dimension->name,
		.type = TYPE_COUNT,
		.offset = FIELD(problem) + dimension->offset,
		.least = dimension->least,
		.most = dimension->most,
		.value = dimension->letter,
		.help = dimension->help};
}

const char *option_help(enum option_name option, uint64_t applicable)
{
	static const struct {
		enum option_name option, beside;
		const char *help;
	} other_helps[] = {
		{OPTION_SEQ, OPTION_KEYS, "queries"},
		{OPTION_SEQ, OPTION_SPLITS, "tokens in the cache: the keys of one query"},
		{OPTION_TOKENS, OPTION_COUNT_ALL, "tokens of the answer at most (default 80; 4 with --count-all)"},
	};
	for (size_t i = 0; i < sizeof other_helps / sizeof other_helps[0]; i++)
		if (other_helps[i].option == option && applicable & OPTION_BIT(other_helps[i].beside))
			return other_helps[i].help;
	return rule_of(option).help;
}

const char *option_choices(enum option_name option, char text[OPTION_CHOICES_SIZE])
{
	const struct option_rule rule = rule_of(option);
	size_t used = 0;
	text[0] = '\0';
	for (size_t i = 0; rule.choice && rule.choice(i) && used < OPTION_CHOICES_SIZE; i++)
		used += (size_t)snprintf(
			text + used, OPTION_CHOICES_SIZE - used, "%s%s", i ? ", " : "", rule.choice(i));
	return text;
}

int option_choice_unknown(enum option_name option, const char *source, const char *text, struct error *error)
{
	const struct option_rule rule = rule_of(option);
	const char *words[MOST_CHOICES];
	char expected[OPTION_CHOICES_SIZE], meant[NEAREST_TEXT_SIZE];
	size_t count = 0;
	while (count < MOST_CHOICES && rule.choice(count)) {
		words[count] = rule.choice(count);
		count++;
	}
	return error_set(
		error, EXIT_USAGE, "%s: expected one of %s, got '%.60s'%s", source, option_choices(option, expected),
		text, nearest_text(text, words, count, meant));
}
