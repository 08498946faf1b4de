/* What a hand-out holds, and what it must not: tasks, hints, no solution, no history; and what is refused. */
#include "program.h"
#include "tree.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOOL TEST_ROOT "/classroom/handout.py"

static struct outcome tool(const char *const arguments[])
{
	const char *argv[16] = {"python3", TOOL};
	for (size_t i = 0; arguments[i]; i++)
		argv[i + 2] = arguments[i];
	return run_program(argv, NOTHING, 60);
}

static void expect_refused(const char *const arguments[], const char *says)
{
	struct outcome o = tool(arguments);
	cr_expect_eq(
		o.status, 2, "%s %s: exit %d, %s", arguments[0], arguments[0] ? arguments[1] : "", o.status, o.err);
	cr_expect(strstr(o.err, says), "'%s' is not in: %s", says, o.err);
	cr_expect(strchr(o.err, '\n') && !*(strchr(o.err, '\n') + 1), "more than a line: %s", o.err);
	cr_expect_str_empty(o.out);
	free_outcome(&o);
}

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static size_t occurrences(const char *text_to_search, const char *what)
{
	size_t count = 0;
	for (const char *at = text_to_search; (at = strstr(at, what)); at += strlen(what))
		count++;
	return count;
}

/* ---- the course ---- */

Test(handout, tasks_are_few_and_small)
{
	struct task tasks[MAX_TASKS];
	size_t count = read_tasks(tasks);
	int points = 0;
	for (size_t t = 0; t < count; t++) {
		size_t same_id = 0, same_chapter = 0;
		for (size_t other = 0; other < count; other++) {
			same_id += strcmp(tasks[t].id, tasks[other].id) == 0;
			same_chapter += strcmp(tasks[t].chapter, tasks[other].chapter) == 0;
		}
		cr_expect_eq(same_id, 1, "%s is listed %zu times", tasks[t].id, same_id);
		cr_expect_leq(same_chapter, 4, "%s has %zu tasks", tasks[t].chapter, same_chapter);
		cr_expect_leq(atoi(tasks[t].lines), 13, "%s takes %s lines", tasks[t].id, tasks[t].lines);
		const struct chapter_files *chapter = chapter_named(tasks[t].chapter);
		for (const char *at = tasks[t].kernels; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
			bool known = false;
			for (size_t k = 0; chapter->kernels[k]; k++)
				known = known || strncmp(at, chapter->kernels[k], strcspn(at, ",")) == 0;
			cr_expect(known, "%s: no kernel %s in %s", tasks[t].id, at, chapter->directory);
		}
		points += atoi(tasks[t].points);
	}
	for (int c = 0; c < CHAPTERS; c++) {
		bool has_task = false;
		for (size_t t = 0; t < count; t++)
			has_task = has_task || strcmp(tasks[t].chapter, chapters[c].directory) == 0;
		cr_expect(has_task, "%s has no task", chapters[c].directory);
	}
	cr_expect_eq(points, 100, "all points together are %d", points);
}

/* A stub says what is wanted, in how many lines, and hints; the lines are those of the solution, give or take a few. */
static void expect_stub(const char *where, const char *solution, const char *stub, const char *lines)
{
	cr_assert(solution && stub, "%s", where);
	cr_expect(strncmp(stub, "// TODO (about ", 15) == 0, "%s: the stub begins with: %.40s", where, stub);
	cr_expect(strstr(stub, "\n// Hint: "), "%s: the stub has no '// Hint: '", where);
	cr_expect_null(strstr(stub, "(void)"), "%s: uses what is not used", where);
	int budget = atoi(stub + 15), own = 0;
	cr_expect_gt(budget, 0);
	if (lines)
		cr_expect_eq(budget, atoi(lines), "%s: the stub says %d lines, tasks.tsv %s", where, budget, lines);
	/* Without comments, braces alone and blank lines. */
	for (const char *line = solution; *line; line = strchr(line, '\n') + 1) {
		const char *at = line + strspn(line, " \t");
		own += *at != '\n' && *at != '#' && strncmp(at, "//", 2) != 0 && strncmp(at, "}\n", 2) != 0;
	}
	cr_expect(abs(own - budget) <= 1 + budget / 5, "%s: %d lines, the stub says about %d", where, own, budget);
}

Test(handout, tasks_are_whole)
{
	struct task tasks[MAX_TASKS];
	size_t count = read_tasks(tasks);
	for (size_t t = 0; t < count; t++) {
		char *file, *region = region_in(TEST_ROOT, tasks[t].chapter, tasks[t].id, &file);
		char *source = read_text(text("%s/%s/%s", TEST_ROOT, tasks[t].chapter, file));
		char *title = text("// task %s: %s\n", tasks[t].id, tasks[t].title);
		cr_expect_eq(occurrences(source, title), 1, "no line '%s'", title);
		char *directory = text("%s/classroom/tasks/%s", TEST_ROOT, tasks[t].id);
		expect_stub(tasks[t].id, region, read_text(text("%s/stub.cu", directory)), tasks[t].lines);
		static const char *const variants[] = {"softcap", "window", "sink", "relu"};
		for (size_t v = 0; v < 4; v++) {
			char *answer = read_text(text("%s/answer.%s.cu", directory, variants[v]));
			char *stub = read_text(text("%s/stub.%s.cu", directory, variants[v]));
			cr_expect_eq(
				answer == NULL, stub == NULL, "%s, %s: one without the other", directory,
				variants[v]);
			if (answer)
				expect_stub(text("%s, %s", tasks[t].id, variants[v]), answer, stub, NULL);
		}
	}
}

Test(handout, every_task_has_three_hints)
{
	struct task tasks[MAX_TASKS];
	size_t count = read_tasks(tasks);
	char *tree = hand_out("hints", CLASS_OF_CAPS);
	for (size_t t = 0; t < count; t++) {
		char *before = strdup("");
		for (int level = 1; level <= 3; level++) {
			struct outcome o =
				run_program_in(tree, LIST("make", "hint", text("N=%zu", t + 1)), NOTHING, 20);
			cr_expect_eq(o.status, 0, "%s: %s", tasks[t].id, o.err);
			cr_expect(strstr(o.out, text("Task %zu, %s: ", t + 1, tasks[t].id)), "%s", o.out);
			cr_expect(strstr(o.out, text("Hint %d of 3\n\n", level)), "%s: %s", tasks[t].id, o.out);
			cr_expect_gt(strlen(o.out), 160, "%s, hint %d is short: %s", tasks[t].id, level, o.out);
			cr_expect_str_neq(o.out, before);
			before = strdup(o.out);
			free_outcome(&o);
		}
	}
	/* By name, a level again, and the last one when there is no further one. */
	struct outcome o = run_program_in(tree, LIST("make", "hint", "N=05.rescale", "LEVEL=2"), NOTHING, 20);
	cr_expect(o.status == 0 && strstr(o.out, "Hint 2 of 3"), "%s%s", o.out, o.err);
	o = run_program_in(tree, LIST("make", "hint", "N=16"), NOTHING, 20);
	cr_expect(
		o.status == 0 && strstr(o.out, "Hint 3 of 3") && strstr(o.out, "the last one"), "%s%s", o.out, o.err);
	cr_expect(strstr(o.out, "LOG2_E * SOFT_CAP"), "the class's own part of the hint is missing: %s", o.out);
	cr_expect_null(strstr(o.out, "WINDOW"), "another class's part is in it: %s", o.out);
	o = run_program_in(tree, LIST("make", "hint"), NOTHING, 20);
	cr_expect(o.status == 0 && strstr(o.out, "05.rescale"), "%s%s", o.out, o.err);
	static const char *const wrong[][2] = {{"N=0", "N=0"}, {"N=20", "1 to 19"}, {"N=x;ls", "1 to 19"}};
	for (size_t i = 0; i < 3; i++) {
		o = run_program_in(tree, LIST("make", "hint", wrong[i][0]), NOTHING, 20);
		cr_expect(o.status == 2 && strstr(o.err, wrong[i][1]), "%s: %s", wrong[i][0], o.err);
	}
	o = run_program_in(tree, LIST("make", "hint", "N=1", "LEVEL=4"), NOTHING, 20);
	cr_expect(o.status == 2 && strstr(o.err, "hints 1 to 3"), "%s", o.err);
}

/* ---- the tree ---- */

/* By the function that handout.py itself asks before it writes a tree (tools/lib/leaks.py). */
static void expect_no_solution(const char *tree, const char *key)
{
	struct outcome o = tool(LIST("--leaks", tree));
	cr_expect_eq(o.status, 0, "%s%s", o.out, o.err);
	free_outcome(&o);
	if (!key)
		return;
	o = run_program(LIST("grep", "-rF", "--", key, tree), NOTHING, 20);
	cr_expect_eq(o.status, 1, "the class's key: %s", o.out);
	free_outcome(&o);
}

Test(handout, no_tree_holds_a_solution)
{
	expect_no_solution(hand_out("plain", NULL), NULL);
	expect_no_solution(hand_out("caps", CLASS_OF_CAPS), CLASS_OF_CAPS);
	expect_no_solution(hand_out("windows", CLASS_OF_WINDOWS), CLASS_OF_WINDOWS);
}

/* Three lines of any solution are found in any file, however they are laid out. */
Test(handout, planted_solutions_are_found)
{
	static const struct {
		const char *file, *text, *task;
	} planted[] = {
		{"01_naive/README.md",
	         "float m=-INFINITY;\nfor (int j = lane; j < N; j += WARP)\n\n  m = fmaxf(m, s[j]);\n", "01.softmax"},
		{"common/harness.h",
	         "+\tload_tiles(A, B, m, n, k, first, a_tile, b_tile); // x\n+\t__syncthreads();\n"
	         "+\tfor (int p = 0; p < TILE; p++)\n+\t{\n"
	         "+\t\tsum += a_tile[p][threadIdx.y] * b_tile[p][threadIdx.x];\n",
	         "03.tile"},
		{"notes.txt", "int end = causal ? min(first_row + Br, N) : N;\n", "05.skip"},
		{"04_fa1/chapter.c",
	         "m_new = 0;\nfloat l_new = from_old + from_tile * l_tile;\n"
	         "float inverse = l_new > 0.0f ? 1.0f / l_new : 0.0f;\n"
	         "float keep = from_old * inverse, add = from_tile * inverse;\n",
	         "04.update (window)"},
	};
	char *tree = hand_out("planted", NULL);
	for (size_t i = 0; i < sizeof planted / sizeof planted[0]; i++) {
		char *path = text("%s/%s", tree, planted[i].file), *before = read_text(path);
		write_text(path, text("%s\n%s", before ? before : "", planted[i].text));
		struct outcome o = tool(LIST("--leaks", tree));
		char *line = text("%s:", planted[i].file);
		cr_expect(
			o.status == 1 && strncmp(o.out, line, strlen(line)) == 0 &&
				strstr(o.out, text("the solution of %s\n", planted[i].task)),
			"%s: exit %d: %s%s", planted[i].file, o.status, o.out, o.err);
		cr_expect_null(strchr(strchr(o.out, '\n') + 1, '\n'), "found more than that: %s", o.out);
		free_outcome(&o);
		write_text(path, before ? before : "");
	}
}

/* A course whose given part holds a solution makes no hand-out. */
Test(handout, a_leaking_course_is_not_handed_out)
{
	char *course = text("%s/course", scratch_directory()), *out = text("%s/out", scratch_directory());
	struct outcome o = run_program(
		LIST("/bin/sh", "-c",
	             text("mkdir %s && cd " TEST_ROOT " && cp -r --parents setup.sh 0*_*/*.* 0*_*/Makefile common "
	                  "$(ls -d simcc/* | grep -v build) classroom plots tools tests/data %s && "
	                  "sed -n '/task 06.dq/,/end 06.dq/p' 06_backward/dq.cu | grep -v '// task\\|// end' >> "
	                  "%s/06_backward/README.md",
	                  course, course, course)),
		NOTHING, 60);
	cr_assert_eq(o.status, 0, "%s", o.err);
	o = run_program(LIST("python3", text("%s/classroom/handout.py", course), out), NOTHING, 60);
	cr_expect_eq(o.status, 2, "%s%s", o.out, o.err);
	cr_expect(
		strstr(o.err, "06_backward/README.md:") && strstr(o.err, "06.dq; no hand-out was written"), "%s",
		o.err);
	cr_expect(!exists(out));
	o = run_program(LIST("ls", "-A", scratch_directory()), NOTHING, 5);
	cr_expect_null(strstr(o.out, ".handout"), "left behind: %s", o.out);
}

Test(handout, tree_is_complete)
{
	char *tree = hand_out("complete", CLASS_OF_WINDOWS);
	static const char *const expected[] = {
		"README.md",
		"AGENTS.md",
		"WORKLOG.md",
		"predictions.txt",
		"Makefile",
		"setup.sh",
		"LICENSE",
		"class.tsv",
		".gitignore",
		".clang-format",
		"common/chapter.mk",
		"simcc/simcc",
		"common/problem/class.h",
		"plots/fa2.gp",
		"classroom/tasks.tsv",
		"classroom/hint.py",
		"classroom/handout.mk",
		"classroom/tasks/01.score/hints.md",
		"classroom/tasks/01.score/names",
		"classroom/grade/original/02_online_softmax/partial.cuh",
		"tools/lib/tasks.py",
		"tests/data/real_qkv/q.npy"};
	static const char *const left_out[] = {
		".git",
		"build",
		"classroom/handout.py",
		"classroom/tasks/01.score/stub.cu",
		"classroom/tasks/01.score/answer.softcap.cu",
		"classroom/variants",
		"classroom/student",
		"tools/lib/leaks.py",
		"tests/Makefile",
		"tests/classroom",
		".ci"};
	for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
		cr_expect(exists(text("%s/%s", tree, expected[i])), "no %s", expected[i]);
	for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; i++)
		cr_expect(!exists(text("%s/%s", tree, left_out[i])), "there is %s", left_out[i]);
	cr_expect_eq(access(text("%s/simcc/simcc", tree), X_OK), 0, "simcc cannot be executed");
	for (int c = 0; c < CHAPTERS; c++) {
		char *readme = read_text(text("%s/%s/README.md", tree, chapters[c].directory));
		cr_expect(strstr(readme, "## Your tasks\n"), "%s", chapters[c].directory);
		cr_expect(strstr(readme, "Your class computes something else"), "%s", chapters[c].directory);
		cr_expect(
			!exists(text("%s/%s/%s", tree, chapters[c].directory, chapters[c].name)),
			"a program is in it");
	}
	/* What is handed out asks tools to coach, and has a place for predictions of kernels there are. */
	cr_expect(strstr(read_text(text("%s/AGENTS.md", tree)), "coach"));
	cr_expect(strstr(read_text(text("%s/predictions.txt", tree)), "\nfa1_paper --seq 512"));
	struct outcome o = run_program_in(tree, LIST("make", "help"), NOTHING, 20);
	cr_expect(o.status == 0 && strstr(o.out, "make hint"), "%s", o.err);
	o = run_program_in(tree, LIST("make", "handout", "OUT=x"), NOTHING, 20);
	cr_expect(o.status == 2 && strstr(o.err, "was handed out"), "%s", o.err);
}

/* Every link and picture of what students read is in the tree. */
Test(handout, links_lead_somewhere)
{
	char *tree = hand_out("links", NULL);
	size_t links = 0;
	for (int c = -1; c < CHAPTERS; c++) {
		char *directory = c < 0 ? tree : text("%s/%s", tree, chapters[c].directory);
		char *readme = read_text(text("%s/README.md", directory));
		static const char *const openings[] = {"](", "src=\"", "srcset=\""};
		for (size_t o = 0; o < sizeof openings / sizeof openings[0]; o++)
			for (char *at = readme; (at = strstr(at, openings[o]));) {
				at += strlen(openings[o]);
				char *target = strndup(at, strcspn(at, ")\"#"));
				if (target[0] && strncmp(target, "http", 4) != 0) {
					links++;
					cr_expect(
						exists(text("%s/%s", directory, target)), "%s: no %s", directory,
						target);
				}
			}
	}
	cr_expect_gt(links, 30);
}

/* ---- where it is written ---- */

Test(handout, odd_places_and_keys)
{
	const char *scratch = scratch_directory();
	char *spaced = text("%s/a place\twith 'blanks\"", scratch), *empty = text("%s/empty", scratch);
	struct outcome o = tool(
		LIST(spaced, "--class",
	             "K\xc3\xbc"
	             "che 'A' \"B\" $HOME \xe2\x98\x83"));
	cr_expect_eq(o.status, 0, "%s", o.err);
	cr_expect(exists(text("%s/05_fa2/row.cu", spaced)));
	cr_expect(strstr(o.out, "cannot build in a path with a space"), "%s", o.out);
	o = run_program(LIST("mkdir", empty), NOTHING, 5);
	o = tool(LIST(text("%s///", empty)));
	cr_expect_eq(o.status, 0, "an empty directory is used: %s", o.err);
	cr_expect(exists(text("%s/05_fa2/row.cu", empty)));
	/* Relative, through make, with what a shell would take apart. */
	o = run_program_in(
		TEST_ROOT, LIST("make", "handout", text("OUT=%s/b c", scratch), "CLASS=a'b $$x `y`"), NOTHING, 30);
	cr_expect_eq(o.status, 0, "%s", o.err);
	struct outcome table = tool(LIST("--class-table", "a'b $x `y`"));
	cr_expect_str_eq(read_text(text("%s/b c/class.tsv", scratch)), table.out);
	o = run_program_in(scratch, LIST("python3", TOOL, "relative"), NOTHING, 30);
	cr_expect(o.status == 0 && exists(text("%s/relative/Makefile", scratch)), "%s", o.err);
	o = run_program(LIST("ls", "-A", scratch), NOTHING, 5);
	cr_expect_null(strstr(o.out, ".handout"), "left behind: %s", o.out);
}

Test(handout, bad_places_and_keys_are_refused)
{
	const char *scratch = scratch_directory();
	char *full = text("%s/full", scratch), *file = text("%s/full/file", scratch);
	struct outcome o = run_program(LIST("mkdir", full), NOTHING, 5);
	write_text(file, "mine");
	expect_refused(LIST(full), "is not empty");
	expect_refused(LIST(file), "expected a directory, or nothing");
	expect_refused(LIST(text("%s/x", file)), "no such directory");
	expect_refused(LIST(text("%s/none/x", scratch)), "no such directory");
	expect_refused(LIST(TEST_ROOT "/common/handout"), "is inside of common/");
	expect_refused(LIST("/proc/handout"), "cannot be written");
	expect_refused(LIST(""), "OUT is empty");
	expect_refused(LIST("--outt"), "no such option");
	expect_refused(LIST(text("%s/x", scratch), "--class", ""), "the key is empty");
	expect_refused(LIST(text("%s/x", scratch), "--class", "a\nb"), "control characters");
	expect_refused(LIST(text("%s/x", scratch), "--class"), "expected one key");
	expect_refused(LIST(text("%s/x", scratch), "--klass", "a"), "is not understood");
	o = run_program_in(TEST_ROOT, LIST("make", "handout", text("OUT=%s/x", scratch), "CLASS="), NOTHING, 20);
	cr_expect(o.status == 2 && strstr(o.err, "the key is empty"), "%s", o.err);
	o = run_program_in(TEST_ROOT, LIST("make", "handout"), NOTHING, 20);
	cr_expect(o.status == 2 && strstr(o.err, "OUT=directory"), "%s", o.err);
	cr_expect_str_eq(read_text(file), "mine");
	o = run_program(LIST("ls", "-A", scratch), NOTHING, 5);
	cr_expect_str_eq(o.out, "full\n", "left behind: %s", o.out);
}

/* ---- classes ---- */

/* A key is for a term: what it chooses must be the same next year, on another machine. */
Test(handout, a_key_chooses_the_same_for_ever)
{
	struct outcome o = tool(LIST("--class-table", "ws27"));
	cr_expect_eq(o.status, 0);
	cr_expect_str_eq(
		strchr(o.out, '\n') + 1, "01_naive\tsoftcap\t4\n"
					 "02_online_softmax\tsoftcap\t1.5\n"
					 "03_tiled_matmul\tsoftcap\t20\n"
					 "04_fa1\twindow\t9\n"
					 "05_fa2\tsoftcap\t1.5\n"
					 "06_backward\tsoftcap\t5\n");
	o = tool(LIST("--class-table"));
	cr_expect_eq(occurrences(o.out, "\tplain\t-\n"), 6, "%s", o.out);
	expect_refused(LIST("--class-table", "a", "b"), "one key at most");
}

Test(handout, a_bad_class_table_is_refused)
{
	static const char good[] = "01_naive\tplain\t-\n02_online_softmax\tsink\t-\n03_tiled_matmul\trelu\t-\n"
				   "04_fa1\twindow\t5\n05_fa2\tsoftcap\t2.5\n06_backward\tplain\t-\r\n";
	static const struct {
		const char *from, *to, *says;
	} changes[] = {
		{"01_naive\tplain", "01_naive\tsink", "no variant 'sink'"},
		{"window\t5", "window\t0", "no value of window"},
		{"window\t5", "window\t5x", "no value of window"},
		{"softcap\t2.5", "softcap\t0.0", "no value of softcap"},
		{"softcap\t2.5", "softcap\t2.5f;system(1)", "no value of softcap"},
		{"sink\t-", "sink\t3", "no value of sink"},
		{"04_fa1\twindow", "04_fa9\twindow", "expected chapter"},
		{"06_backward\tplain\t-\r\n", "", "no line for 06_backward"}};
	char *path = text("%s/class.tsv", scratch_directory());
	write_text(path, good);
	struct outcome o = tool(LIST("--class-header", path));
	cr_expect_eq(o.status, 0, "%s", o.err);
	cr_expect(strstr(o.out, "{\"05_fa2\", {VARIANT_SOFTCAP, 2.5}},"), "%s", o.out);
	cr_expect_null(strstr(o.out, "06_backward"), "%s", o.out);
	for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
		const char *at = strstr(good, changes[i].from);
		write_text(
			path, text("%.*s%s%s", (int)(at - good), good, changes[i].to, at + strlen(changes[i].from)));
		expect_refused(LIST("--class-header", path), changes[i].says);
	}
	expect_refused(LIST("--class-header", "/nonexistent/class.tsv"), "cannot be read");
}

/* ---- solutions back ---- */

Test(handout, solutions_come_back_to_the_letter)
{
	char *tree = hand_out("back", NULL);
	solve(tree, NULL);
	for (int c = 0; c < CHAPTERS; c++) {
		char *names[MAX_SOURCES + 1], *directory = text("%s/%s", TEST_ROOT, chapters[c].directory);
		list_sources(directory, names);
		for (size_t i = 0; names[i]; i++)
			cr_expect_str_eq(
				read_text(text("%s/%s/%s", tree, chapters[c].directory, names[i])),
				read_text(text("%s/%s", directory, names[i])), "%s/%s", directory, names[i]);
	}
}

Test(handout, solve_refuses_what_it_cannot_use)
{
	char *tree = hand_out("bad", NULL), *file;
	char *path = text("%s/05_fa2/row.cu", tree), *source = read_text(path),
	     *end = strstr(source, "// end 05.skip");
	expect_refused(LIST("--solve", tree, "--except", "05.nothing"), "no task '05.nothing'");
	expect_refused(LIST("--solve", tree, "--accept", "05.skip"), "is not understood");
	expect_refused(LIST("--solve", text("%s/none", tree)), "expected a directory");
	expect_refused(LIST("--solve"), "expected a directory");
	write_text(path, text("%.*s%s", (int)(end - source), source, end + strlen("// end 05.skip")));
	expect_refused(LIST("--solve", tree), "no line '// end 05.skip'");
	write_text(
		path, text("%.*s// end 05.loop-swap%s", (int)(end - source), source, end + strlen("// end 05.skip")));
	expect_refused(LIST("--solve", tree), "where '// end 05.skip' was expected");
	write_text(path, "int x;\n");
	expect_refused(LIST("--solve", tree), "no line '// task 05.loop-swap");
	unlink(path);
	expect_refused(LIST("--solve", tree), "row.cu: cannot be read");
	unlink(text("%s/05_fa2/split_q.cu", tree));
	solve(tree, "06.dq,01.score"); /* a chapter that is not there is left out */
	cr_expect(strstr(region_in(tree, "06_backward", "06.dq", &file), "TODO"));
	cr_expect_null(strstr(region_in(tree, "06_backward", "06.ds", &file), "TODO"));
	cr_expect(!exists(path));
	unlink(text("%s/class.tsv", tree));
	expect_refused(LIST("--solve", tree), "class.tsv: cannot be read");
}
