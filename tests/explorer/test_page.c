/*
 * What `make explorer` writes, made from this build: small and self-contained, its counters those of --json to the byte,
 * its keys, its addresses, its numbers.
 */
#include "browser.h"
#include "json.h"
#include "program.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ROW(name)   "document.querySelector('.race [data-kernel=" name "]')"
#define SOFTMAX     "#view=softmax"
#define NAMED(name) "document.querySelector('[data-name=" name "]').textContent"

static const struct {
	const char *name, *program;
} traced[] = {
	{"naive", TEST_ROOT "/01_naive/naive"},
	{"fa1_paper", TEST_ROOT "/04_fa1/fa1"},
	{"fa2_row", TEST_ROOT "/05_fa2/fa2"}};
enum { TRACED = sizeof traced / sizeof traced[0] };

/* Times of the plain build are no matter here. */
static cJSON *run_again(const char *program, const char *command)
{
	const char *options = strchr(command, ' ');
	cr_assert(options, "%s", command);
	return run_json(program, text("%s --repeat 1 --warmup 0", options + 1), 0);
}

Test(page, is_one_small_file)
{
	static const char *const foreign[] = {"src=", "@import", "url(", "fetch(", "XMLHttpRequest", "https:"};
	struct stat status;
	char *page = read_text(EXPLORER_PAGE);
	cr_assert(page && stat(EXPLORER_PAGE, &status) == 0);
	cr_expect(status.st_size < 500000, "%ld bytes", (long)status.st_size);
	for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
		cr_expect_null(strstr(page, foreign[i]), "it holds %s", foreign[i]);
	free(page);
}

Test(page, is_the_same_when_made_again, .timeout = 120)
{
	const char *again = text("%s/again.html", scratch_directory());
	struct outcome o = run_program_in(
		TEST_ROOT, LIST("perl", "plots/explorer.pl", again), LIST("SIM_ORDER=reverse", "SIM_THREADS=1"), 100);
	cr_assert_eq(o.status, 0, "%s", o.err);
	char *first = read_text(EXPLORER_PAGE), *second = read_text(again);
	cr_assert(first && second);
	cr_expect(strcmp(first, second) == 0, "the page depends on more than the code");
	free(first), free(second);
}

Test(page, counters_are_those_of_the_command_line, .timeout = 120)
{
	cJSON *results =
		browse("", EXPLORER_PAGE,
	               LIST("key:End",
	                    "eval:[...document.querySelectorAll('.race .row')].map((row, i) => [row.dataset.kernel, "
	                    "data.runs[i].command, Number(row.dataset.read), Number(row.dataset.written), "
	                    "row.querySelector('.count b').textContent])"));
	const cJSON *rows = cJSON_GetArrayItem(results, 0);
	cr_assert_eq(cJSON_GetArraySize(rows), TRACED);
	for (int i = 0; i < TRACED; i++) {
		const cJSON *row = cJSON_GetArrayItem(rows, i);
		cr_assert_str_eq(result_string(row, 0), traced[i].name);
		cJSON *json = run_again(traced[i].program, result_string(row, 1));
		const cJSON *kernel = json_named(json_get(json, "kernels"), traced[i].name);
		const cJSON *requested = json_get(json_get(kernel, "hbm"), "requested");
		double read = json_number_of(requested, "read_bytes"),
		       written = json_number_of(requested, "write_bytes");
		cr_expect_eq(
			result_number(row, 2), read, "%s reads %.0f, the page says %.0f", traced[i].name, read,
			result_number(row, 2));
		cr_expect_eq(
			result_number(row, 3), written, "%s writes %.0f, the page says %.0f", traced[i].name, written,
			result_number(row, 3));
		char digits[32] = "";
		for (const char *c = result_string(row, 4); *c; c++)
			if (*c != ',')
				strncat(digits, c, 1);
		cr_expect_eq(
			strtod(digits, NULL), read + written, "%s shows %s", traced[i].name, result_string(row, 4));
		cJSON_Delete(json);
	}
	cJSON_Delete(results);
}

static void expect_fits(const char *options, double width)
{
	cJSON *results = browse(
		options, EXPLORER_PAGE "#s=25",
		LIST("eval:document.documentElement.scrollWidth", "hash:view=softmax&s=2",
	             "eval:document.documentElement.scrollWidth", "hash:view=softmax&p=1&s=3&forget=1",
	             "eval:document.documentElement.scrollWidth", "hash:view=traffic",
	             "eval:document.documentElement.scrollWidth",
	             "eval:Math.min(...[...document.querySelectorAll('button:not(.tile), a.button')].filter((b) => "
	             "b.offsetParent).map((b) => b.getBoundingClientRect().height))",
	             "eval:getComputedStyle(document.body).backgroundColor"));
	for (int i = 0; i < 4; i++)
		cr_expect(
			result_number(results, i) <= width, "%s: view %d is %.0f wide", options, i,
			result_number(results, i));
	cr_expect(result_number(results, 4) >= 36, "a button is only %.0f high", result_number(results, 4));
	bool dark = strstr(options, "--dark");
	cr_expect_str_eq(result_string(results, 5), dark ? "rgb(13, 17, 23)" : "rgb(255, 255, 255)");
	cJSON_Delete(results);
}

Test(page, fits_a_telephone, .timeout = 120)
{
	expect_fits("--size 375x800", 375);
}

Test(page, fits_a_desk_in_the_dark, .timeout = 120)
{
	expect_fits("--size 1440x900 --dark", 1440);
}

Test(page, theme_and_motion, .timeout = 120)
{
	cJSON *results =
		browse("--reduced", EXPLORER_PAGE,
	               LIST("eval:getComputedStyle(document.querySelector('.bar i')).transitionDuration",
	                    "eval:document.getElementById('theme').click(), document.documentElement.dataset.theme",
	                    "hash:theme=light", "eval:document.documentElement.dataset.theme"));
	cr_expect_str_eq(result_string(results, 0), "0s");
	cr_expect_str_eq(result_string(results, 1), "dark");
	cr_expect_str_eq(result_string(results, 2), "light");
	cJSON_Delete(results);
}

Test(page, steps_by_keyboard, .timeout = 120)
{
	static const char step[] = "eval:Number(document.querySelector('.scrub').value)";
	cJSON *results = browse(
		"", EXPLORER_PAGE,
		LIST("key:ArrowRight", "key:ArrowRight", "key:ArrowRight", step, "key:ArrowLeft", step,
	             "eval:location.hash",
	             "until:/FlashAttention-2: [\\d,]+ bytes/.test(document.getElementById('live').textContent)",
	             "key:End", step, "eval:Number(document.querySelector('.scrub').max)", "key:Home", step,
	             "key:Space", "until:document.querySelector('.scrub').value > 2", "key:Space", step,
	             "eval:new Promise((done) => setTimeout(() => "
	             "done(Number(document.querySelector('.scrub').value)), 900))",
	             "eval:document.querySelector('.player .main').getAttribute('aria-label')"));
	cr_expect_eq(result_number(results, 0), 3);
	cr_expect_eq(result_number(results, 1), 2);
	cr_expect_str_eq(result_string(results, 2), "#s=2");
	cr_expect_eq(result_number(results, 3), result_number(results, 4));
	cr_expect_gt(result_number(results, 3), 100);
	cr_expect_eq(result_number(results, 5), 0);
	cr_expect_eq(result_number(results, 6), result_number(results, 7), "space did not stop it");
	cr_expect_str_eq(result_string(results, 8), "Play");
	cJSON_Delete(results);
}

Test(page, an_address_holds_the_step, .timeout = 120)
{
	static const char look[] = "eval:document.querySelector('.race').innerText + "
				   "[...document.querySelectorAll('.stage canvas')].map((c) => c.toDataURL()).join()";
	cJSON *opened = browse("", EXPLORER_PAGE "#s=7", LIST(look));
	cJSON *walked =
		browse("", EXPLORER_PAGE,
	               LIST("key:ArrowRight", "key:ArrowRight", "key:ArrowRight", "key:ArrowRight", "key:ArrowRight",
	                    "key:ArrowRight", "key:ArrowRight", "key:ArrowRight", "key:ArrowRight", "key:ArrowLeft",
	                    "key:ArrowLeft", look, "eval:location.hash", "hash:s=9999999", "eval:location.hash",
	                    "hash:view=nothing&s=-1&k=x", "eval:document.querySelectorAll('.stage .head').length"));
	cr_expect_str_eq(result_string(opened, 0), result_string(walked, 0), "#s=7 is not seven steps on");
	cr_expect_str_eq(result_string(walked, 1), "#s=7");
	cr_expect_eq(result_number(walked, 3), 3, "an address that means nothing breaks the page");
	cJSON_Delete(opened);
	cJSON_Delete(walked);
}

/* A number as the page writes it: minus signs that are no hyphens, an infinity. */
static double shown_number(const char *string)
{
	char plain[64] = "";
	for (const char *c = string; *c && strlen(plain) < sizeof plain - 4;) {
		bool minus = strncmp(c, "\u2212", 3) == 0, infinity = strncmp(c, "\u221e", 3) == 0;
		strncat(plain, minus ? "-" : infinity ? "inf" : c, minus ? 1 : infinity ? 3 : 1);
		c += minus || infinity ? 3 : 1;
	}
	return strtod(plain, NULL);
}

/* A browser that refuses, because there were many a moment ago, as Safari does. */
Test(page, an_address_refused_comes_later, .timeout = 120)
{
	cJSON *results = browse(
		"", EXPLORER_PAGE,
		LIST("eval:history.replaceState = () => { throw new DOMException('too many', 'SecurityError'); }, 0",
	             "key:ArrowRight", "key:ArrowRight", "eval:Number(document.querySelector('.scrub').value)",
	             "eval:location.hash", "eval:delete history.replaceState, 0", "until:location.hash === '#s=2'",
	             "eval:written = 0, keep = history.replaceState.bind(history), history.replaceState = (...all) "
	             "=> "
	             "{ written++; keep(...all); }, 0",
	             "key:Space", "until:document.querySelector('.scrub').value > 4", "key:Space", "eval:written",
	             "eval:location.hash === '#s=' + document.querySelector('.scrub').value"));
	cr_expect_eq(result_number(results, 1), 2, "the step waits for the address");
	cr_expect_str_eq(result_string(results, 2), "");
	cr_expect_eq(result_number(results, 5), 1, "playing writes the address %g times", result_number(results, 5));
	cr_expect(cJSON_IsTrue(cJSON_GetArrayItem(results, 6)));
	cJSON_Delete(results);
}

Test(page, a_link_past_the_tabs_keeps_the_step, .timeout = 120)
{
	cJSON *results =
		browse("", EXPLORER_PAGE SOFTMAX "&x=1,2,3&b=1&s=3&theme=nothing",
	               LIST("key:Tab", "eval:document.activeElement.className", "key:Enter",
	                    "eval:new Promise((done) => setTimeout(() => done(location.hash), 100))",
	                    "eval:document.activeElement.id", "eval:" NAMED("l"),
	                    "eval:document.documentElement.dataset.theme"));
	cr_expect_str_eq(result_string(results, 0), "skip");
	cr_expect_str_eq(result_string(results, 1), "#view=softmax&x=1,2,3&b=1&s=3&theme=nothing");
	cr_expect_str_eq(result_string(results, 2), "main");
	cr_expect_float_eq(shown_number(result_string(results, 3)), 1 + exp(-1) + exp(-2), 1e-5);
	cr_expect_str_eq(result_string(results, 4), "light");
	cJSON_Delete(results);
}

/* Line `number` of a file without the blanks around it. */
static char *line_of(const char *path, int number)
{
	char *source = read_text(path), *line = source;
	cr_assert(source, "%s", path);
	for (int i = 1; i < number; i++)
		line = strchr(line, '\n') + 1;
	line += strspn(line, " \t");
	return text("%.*s", (int)strcspn(line, "\n"), line);
}

Test(page, a_tile_tells_its_line, .timeout = 120)
{
	cJSON *results =
		browse("", EXPLORER_PAGE "#s=22",
	               LIST("eval:[...document.querySelectorAll('.tile')].filter((t) => "
	                    "t.getAttribute('aria-label').startsWith('K rows 96'))[2].focus(), "
	                    "document.getElementById('inspect').innerText",
	                    "eval:document.querySelector('#inspect pre').textContent", "key:ArrowUp",
	                    "eval:document.activeElement.getAttribute('aria-label')",
	                    "eval:document.querySelector('.scrub').value"));
	const char *told = result_string(results, 0), *source = result_string(results, 1);
	int line = 0;
	cr_expect(
		strstr(told, "FlashAttention-2") && strstr(told, "barrier interval") && strstr(told, "loaded"), "%s",
		told);
	cr_assert_eq(sscanf(source, "fa2.cu:%d ", &line), 1, "%s", source);
	char *expected = line_of(TEST_ROOT "/05_fa2/fa2.cu", line);
	cr_expect(
		strstr(source, expected) && strstr(expected, "from["), "'%s' is not line %d: %s", source, line,
		expected);
	cr_expect(strncmp(result_string(results, 2), "K rows 64", 9) == 0, "%s", result_string(results, 2));
	cr_expect_str_eq(result_string(results, 3), "22", "an arrow among the tiles moved the clock");
	cJSON_Delete(results);
}

Test(page, predict_first, .timeout = 120)
{
	cJSON *results = browse(
		"", EXPLORER_PAGE,
		LIST("eval:" ROW("naive") ".innerText.includes('of')",
	             "eval:document.querySelector('[name=naive]').focus()", "type:plenty", "key:Enter",
	             "eval:document.querySelector('.predict [role=alert]').textContent",
	             "eval:document.querySelector('[name=naive]').value = ''", "type:4.5 MB", "key:Enter",
	             "eval:document.querySelector('.predict') === null", "key:End", "eval:" ROW("naive") ".innerText",
	             "eval:Number(" ROW("naive") ".dataset.read) + Number(" ROW("naive") ".dataset.written)",
	             "eval:['1e6', '1,000', '1,234,567.5 kB', '.5MB', '1,5 MB', '1.2.3', '-5', '1e999', "
	             "'1,00'].map((guess) "
	             "=> parseBytes(guess) ?? -1)"));
	cr_expect(cJSON_IsFalse(cJSON_GetArrayItem(results, 0)), "the answer stands there before the question");
	cr_expect(strstr(result_string(results, 2), "plenty"), "%s", result_string(results, 2));
	cr_expect(cJSON_IsTrue(cJSON_GetArrayItem(results, 4)));
	const cJSON *guesses = cJSON_GetArrayItem(results, 7);
	static const double meant[] = {1e6, 1000, 1234567.5e3, 500000, -1, -1, -1, -1, -1};
	for (int i = 0; i < 9; i++)
		cr_expect_eq(
			result_number(guesses, i), meant[i], "guess %d is taken for %g", i,
			result_number(guesses, i));
	char *ratio = text("%.3g", 4.5e6 / result_number(results, 6));
	cr_expect(strstr(result_string(results, 5), ratio), "'%s' lacks %s", result_string(results, 5), ratio);
	cJSON_Delete(results);
}

/* The page's closed forms are written twice, here and in plots/explorer.pl: that is the test. */
Test(page, sliders_drive_the_closed_forms, .timeout = 120)
{
	const double N = 4096, d = 64, Br = 128, Bc = 64;
	cJSON *results = browse(
		"", EXPLORER_PAGE "#s=1",
		LIST("eval:document.querySelector('.verdict').dataset.equal",
	             "eval:Object.entries({N: 4096, d: 64, Br: 128, Bc: 64}).forEach(([name, value]) => { "
	             "const slider = "
	             "document.querySelector(`.sliders [data-name=${name}]`); slider.value = "
	             "data.forms.sliders[name].indexOf(value); slider.dispatchEvent(new Event('input')); })",
	             "eval:[...document.querySelectorAll('.form-row output')].map((o) => "
	             "Number(o.title.replace(/[^0-9]/g, '')))",
	             "eval:document.querySelector('.verdict').innerText",
	             "eval:Object.entries({N: 128, d: 128, Br: 16}).forEach(([name, value]) => { const slider = "
	             "document.querySelector(`.sliders [data-name=${name}]`); slider.value = "
	             "data.forms.sliders[name].indexOf(value); slider.dispatchEvent(new Event('input')); })",
	             "eval:document.querySelector('.verdict').innerText"));
	const double expected[] = {
		4 * N * N * d + 5 * N * N + N * d, 4 * N * N + 4 * N * d, (3 * ceil(N / Bc) + 1) * N * d,
		2 * N * d * (1 + ceil(N / Br))};
	cr_expect_str_eq(result_string(results, 0), "true", "what was counted is not the closed form");
	for (int i = 0; i < 4; i++)
		cr_expect_eq(
			result_number(cJSON_GetArrayItem(results, 2), i), expected[i], "form %d: %.0f", i,
			result_number(cJSON_GetArrayItem(results, 2), i));
	cr_expect(strstr(result_string(results, 3), "2Br/d = 4"), "%s", result_string(results, 3));
	cr_expect(
		strstr(result_string(results, 3), text("%.3g", expected[1] / expected[3])), "%s",
		result_string(results, 3));
	/* Br < d: 2 (N + d) / (d (1 + N / Br)) is 1 / 2.25, more than 2Br/d = 0.25, which it falls to. */
	const char *loss = result_string(results, 5);
	cr_expect(strstr(loss, "2.25\u00d7 as many bytes") && strstr(loss, "falls to 2Br/d = 0.25"), "%s", loss);
	cJSON_Delete(results);
}

/* m, correction and l of every block, the program's and the page's. */
static void compare_trace(const char *hash, const char *options)
{
	cJSON *json = run_json(
		TEST_ROOT "/02_online_softmax/online_softmax", text("--trace --repeat 1 --warmup 0 %s", options), 0);
	const cJSON *trace = json_get(json, "trace");
	const char *actions[64] = {NULL};
	int blocks = cJSON_GetArraySize(trace);
	for (int i = 0; i < blocks; i++) {
		actions[2 * i] = text("hash:view=softmax&%s&s=%d", hash, i + 1);
		actions[2 * i + 1] = "eval:[" NAMED("m") ", " NAMED("correction") ", " NAMED("l") "]";
	}
	cJSON *results = browse("", EXPLORER_PAGE SOFTMAX, actions);
	for (int i = 0; i < blocks; i++) {
		static const char *const keys[] = {"m", "correction", "l"};
		for (int key = 0; key < 3; key++) {
			const cJSON *value = json_get(cJSON_GetArrayItem(trace, i), keys[key]);
			double expected = cJSON_IsNull(value) ? -INFINITY : value->valuedouble;
			double shown = shown_number(result_string(cJSON_GetArrayItem(results, i), key));
			bool same = shown == expected || fabs(shown - expected) <= 1e-3 * fabs(expected);
			cr_expect(
				same, "%s, block %d: %s is %g, the page says %g", options, i, keys[key], expected,
				shown);
		}
	}
	cJSON_Delete(results);
	cJSON_Delete(json);
}

Test(page, softmax_is_the_programs, .timeout = 120)
{
	compare_trace("x=3,-1.5,0.25,7,7.5,2,9,-4&b=3", "--values 3,-1.5,0.25,7,7.5,2,9,-4 --block 3");
	compare_trace("x=-inf,-inf,-inf,2,1,-inf&b=2", "--values -inf,-inf,-inf,2,1,-inf --block 2");
}

Test(page, softmax_of_a_real_row_is_the_runs, .timeout = 120)
{
	compare_trace("p=1", "--load " TEST_ROOT "/tests/data/real_qkv --row 1023 --block 64");
}

Test(page, the_maximum_is_written_whole, .timeout = 120)
{
	static const char beyond[] = "eval:[...document.querySelectorAll('.bars .tag')].filter((tag) => { const box "
				     "= tag.getBBox(); return "
				     "box.x + box.width > tag.ownerSVGElement.viewBox.baseVal.width; }).map((tag) => "
				     "tag.textContent).join()";
	cJSON *results =
		browse("--size 375x800", EXPLORER_PAGE SOFTMAX "&p=1&s=1",
	               LIST(beyond, "hash:view=softmax&x=-3e38,-1.111e38&b=1&s=2", beyond,
	                    "eval:document.querySelectorAll('.bars .tag').length"));
	cr_expect_str_empty(result_string(results, 0), "cut off: %s", result_string(results, 0));
	cr_expect_str_empty(result_string(results, 1), "cut off: %s", result_string(results, 1));
	cr_expect_eq(result_number(results, 2), 2);
	cJSON_Delete(results);
}

Test(page, forgetting_the_correction_is_wrong, .timeout = 120)
{
	cJSON *results =
		browse("", EXPLORER_PAGE SOFTMAX "&x=1,2,3,6,2,1&b=2&s=3",
	               LIST("eval:" NAMED("total"), "eval:document.getElementById('forget').click(), " NAMED("total"),
	                    "eval:location.hash", "eval:document.querySelectorAll('.online.off').length",
	                    "eval:document.querySelector('.equations .error').textContent"));
	double right = exp(-5) + exp(-4) + exp(-3) + 1 + exp(-4) + exp(-5);
	double wrong = 1 + exp(-1) + 1 + exp(-3) + exp(-4) + exp(-5); /* the first block keeps its own maximum */
	cr_expect_float_eq(shown_number(result_string(results, 0)), 1.0, 1e-5);
	cr_expect_float_eq(
		shown_number(result_string(results, 1)), right / wrong, 1e-4, "%s", result_string(results, 1));
	cr_expect(strstr(result_string(results, 2), "forget=1"), "%s", result_string(results, 2));
	cr_expect_gt(result_number(results, 3), 0);
	cJSON_Delete(results);
}

Test(page, softmax_takes_no_nonsense, .timeout = 120)
{
#define TYPED(value)                                                                                                 \
	"eval:document.getElementById('values').value = '" value "', "                                               \
	"document.getElementById('values').dispatchEvent(new Event('input')), "                                      \
	"document.getElementById('softmax-error').textContent"
	cJSON *results =
		browse("", EXPLORER_PAGE SOFTMAX,
	               LIST(TYPED("1, abc, 3"), TYPED(""), TYPED("1, inf"), TYPED("1e99"), TYPED("4, -inf, 2"),
	                    "eval:document.getElementById('block').value = '0', "
	                    "document.getElementById('block').dispatchEvent(new Event('input')), "
	                    "document.getElementById('softmax-error').textContent",
	                    "eval:document.getElementById('block').value = '4097', "
	                    "document.getElementById('block').dispatchEvent(new Event('input')), "
	                    "document.getElementById('softmax-error').textContent"));
	cr_expect(
		strstr(result_string(results, 0), "Value 2") && strstr(result_string(results, 0), "abc"), "%s",
		result_string(results, 0));
	cr_expect(strstr(result_string(results, 1), "No values"), "%s", result_string(results, 1));
	cr_expect(strstr(result_string(results, 2), "Value 2"), "%s", result_string(results, 2));
	cr_expect(strstr(result_string(results, 3), "Value 1"), "%s", result_string(results, 3));
	cr_expect_str_eq(result_string(results, 4), "");
	cr_expect(strstr(result_string(results, 5), "whole number"), "%s", result_string(results, 5));
	cr_expect(
		strstr(result_string(results, 6), "to 4096"), "an address would not hold it: %s",
		result_string(results, 6));
	cJSON_Delete(results);
}
