/*
 * What a submission gets: nothing for what was handed out, everything for the solution, the same twice; and what the
 * grader says to submissions that are not as they should be.
 */
#include "grading.h"
#include "tree.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void run(const char *command)
{
	struct outcome o = run_program(LIST("sh", "-c", command), NOTHING, 60);
	cr_assert_eq(o.status, 0, "%s\n%s", command, o.err);
	free_outcome(&o);
}

static void expect_refused(const char *path, const char *says)
{
	struct outcome o = grade(LIST("--submission", path), NOTHING);
	cr_assert_eq(o.status, 2, "exit %d: %s%s", o.status, o.out, o.err);
	cr_assert_not_null(strstr(o.err, says), "'%s' is not in: %s", says, o.err);
	cr_assert_null(strchr(strchr(o.err, '\n') + 1, '\n'), "more than one line: %s", o.err);
	free_outcome(&o);
}

/* ---- points ---- */

Test(classroom_grade, solutions_have_all_points)
{
	cJSON *results = grade_to_json(solution("all"), NULL, 0);
	cr_assert_float_eq(score_of(results, NULL), 100.0, 1e-9, "%s", output_of(results, NULL));
	cJSON_Delete(results);
}

Test(classroom_grade, untouched_tasks_have_none_and_every_one_is_explained)
{
	cJSON *results = grade_to_json(untouched("none"), NULL, 0);
	struct task tasks[MAX_TASKS];
	size_t count = read_tasks(tasks);
	cr_assert_eq(score_of(results, NULL), 0.0);
	for (size_t t = 0; t < count; t++) {
		cr_assert_eq(score_of(results, tasks[t].id), 0.0);
		cr_assert_not_null(
			strstr(output_of(results, tasks[t].id), "as it was handed out"), "%s: %s", tasks[t].id,
			output_of(results, tasks[t].id));
		cr_assert_not_null(strstr(output_of(results, tasks[t].id), "hint:"));
	}
	cJSON_Delete(results);
}

/* Something was written, but nothing that computes: also without the shortcut for untouched text. */
Test(classroom_grade, a_touched_stub_has_none_either)
{
	only_when_thorough();
	char *tree = untouched("touched");
	struct task tasks[MAX_TASKS];
	size_t count = read_tasks(tasks);
	for (size_t t = 0; t < count; t++) {
		char *file;
		region_in(tree, tasks[t].chapter, tasks[t].id, &file);
		replace_in(
			text("%s/%s/%s", tree, tasks[t].chapter, file), text("// end %s", tasks[t].id),
			text(";\n// end %s", tasks[t].id));
	}
	/* no statement may follow a return that is not a block's last: such a stub is left as it is */
	cJSON *results = grade_to_json(tree, NULL, 0);
	for (size_t t = 0; t < count; t++) {
		cr_assert_eq(
			score_of(results, tasks[t].id), 0.0, "%s: %s", tasks[t].id, output_of(results, tasks[t].id));
		cr_assert_null(strstr(output_of(results, tasks[t].id), "as it was handed out"), "%s", tasks[t].id);
		cr_assert_not_null(strstr(output_of(results, tasks[t].id), "hint:"));
	}
	cJSON_Delete(results);
}

Test(classroom_grade, one_task_alone_has_its_points_and_no_others)
{
	char *tree = solution("one");
	char *path = text("%s/04_fa1/paper.cu", tree);
	replace_in(path, "\t*l = l_new;\n", "\t*l = l_tile;\n");
	cJSON *results = grade_to_json(tree, "04_fa1", 0);
	cr_assert_float_eq(score_of(results, "04.scores"), points_of("04.scores"), 1e-9);
	cr_assert_float_eq(score_of(results, "04.exponentiate"), points_of("04.exponentiate"), 1e-9);
	cr_assert_float_eq(score_of(results, "04.update"), 0.1 * points_of("04.update"), 1e-9); /* its prediction */
	cr_assert_not_null(
		strstr(output_of(results, "04.update"), "expected"), "%s", output_of(results, "04.update"));
	cr_assert_not_null(strstr(output_of(results, "04.update"), ", got"));
	cJSON_Delete(results);
}

Test(classroom_grade, twice_the_same_and_on_one_busy_core_too)
{
	only_when_thorough();
	char *tree = solution("twice");
	replace_in(text("%s/01_naive/naive.cu", tree), "float m = -INFINITY;", "float m = 0.0f;");
	replace_in(
		text("%s/03_tiled_matmul/3_tiled.cu", tree), "\t\t__syncthreads(); // without it a warp multiplies",
		"\t\tsum += fminf(fmaxf(a_tile[0][0], 0.0f), 0.0f);\n\t\t__syncthreads(); // without it a warp "
		"multiplies");
	const char *only = "01_naive,03_tiled_matmul";
	cJSON *once = grade_to_json(tree, only, 0);
	char *path = text("%s.second.json", tree);
	struct outcome o = run_program(
		LIST("sh", "-c",
	             "(while :; do :; done) & a=$!; (while :; do :; done) & b=$!; taskset -c "
	             "0 \"$@\"; s=$?; kill $a $b; exit $s",
	             "sh", "perl", TEST_ROOT "/classroom/grade.pl", "--submission", tree, "--only", only, "--results",
	             path),
		LIST("CC=" TEST_CC, "CXX=" TEST_CXX), 390);
	cr_assert_eq(o.status, 0, "%s%s", o.out, o.err);
	char *second = read_text(path), *first = read_text(text("%s.json", tree));
	cr_assert_str_eq(first, second);
	cr_assert_lt(score_of(once, NULL), points_of("01_naive") + points_of("03_tiled_matmul"));
	cr_assert_gt(score_of(once, NULL), 0.5 * (points_of("01_naive") + points_of("03_tiled_matmul")));
	free(first), free(second);
	free_outcome(&o);
	cJSON_Delete(once);
}

/* Whoever spins everywhere holds up the others less and less; a task that ends has its points all the same. */
Test(classroom_grade, runs_without_end_get_less_and_less_time)
{
	only_when_thorough();
	char *tree = solution("spinning");
	static const char spin[] = "\t\tfor (volatile int k = 1; k;)\n\t\t\t;\n";
	static const char *const files[] = {"3_tiled.cu", "4_padded.cu"};
	for (size_t f = 0; f < 2; f++) {
		const char *file = text("%s/03_tiled_matmul/%s", tree, files[f]);
		replace_in(file, "\ta_tile[x][y] = i < m", text("%s\ta_tile[x][y] = i < m", spin));
		replace_in(
			file, "\tfloat sum = 0.0f;\n\tfor (int first = 0",
			text("%s\tfloat sum = 0.0f;\n\tfor (int first = 0", spin));
	}
	setenv("GRADE_CPU_SECONDS", "4", 1);
	cJSON *results = grade_to_json(tree, "03_tiled_matmul", 0);
	unsetenv("GRADE_CPU_SECONDS");
	cr_expect_not_null(
		strstr(output_of(results, "03.load"), "past its 4 seconds"), "%s", output_of(results, "03.load"));
	cr_expect_not_null(
		strstr(output_of(results, "03.tile"), "past its 1 seconds"), "%s", output_of(results, "03.tile"));
	cr_expect_float_eq(
		score_of(results, "03.registers"), points_of("03.registers"), 1e-9, "%s",
		output_of(results, "03.registers"));
	cJSON_Delete(results);
}

Test(classroom_grade, fresh_cases_tell_a_category_and_a_hint_only)
{
	char *tree = solution("fresh");
	/* right on all published cases: wrong where N is none of theirs */
	replace_in(
		text("%s/01_naive/naive.cu", tree), "\tO[row * d + c] = sum;",
		"\tbool known = N == 48 || N == 1 || N == 33 || N == 67 || N == 129 || N == 40 || N == 65 || N == "
		"70;\n"
		"\tO[row * d + c] = known ? sum : 2.0f * sum;");
	cJSON *results = grade_to_json(tree, "01.weighted-sum", 0);
	const char *said = output_of(results, "01.weighted-sum");
	const char *fresh = strstr(said, "fresh cases:");
	cr_assert_not_null(fresh, "%s", said);
	cr_assert_not_null(strstr(fresh, "wrong result"), "%s", said);
	cr_assert_not_null(strstr(fresh, "hint:"), "%s", said);
	cr_assert_null(strstr(fresh, "expected"), "%s", said);
	cr_assert_null(strstr(fresh, "--seq"), "%s", said);
	cr_assert_float_eq(score_of(results, "01.weighted-sum"), 0.85 * points_of("01.weighted-sum"), 1e-6);
	cJSON_Delete(results);
}

Test(classroom_grade, another_class_is_another_solution)
{
	only_when_thorough();
	char *tree = solution("plain"), *key = CLASS_OF_CAPS;
	struct outcome o = grade(
		LIST("--submission", tree, "--key", key, "--only", "01_naive", "--results", text("%s.json", tree)),
		LIST(text("GRADE_BUILD=%s/classes", scratch_directory())));
	cr_assert_eq(o.status, 0, "%s%s", o.out, o.err);
	cJSON *results = cJSON_Parse(read_text(text("%s.json", tree)));
	cr_assert_lt(score_of(results, "01.score"), 0.2 * points_of("01.score"), "%s", o.out);
	cJSON_Delete(results);
	free_outcome(&o);

	char *own = hand_out("own", key);
	solve(own, NULL);
	o = grade(
		LIST("--submission", own, "--key", key, "--only", "01_naive", "--results", text("%s.json", own)),
		LIST(text("GRADE_BUILD=%s/classes", scratch_directory())));
	cr_assert_eq(o.status, 0, "%s%s", o.out, o.err);
	results = cJSON_Parse(read_text(text("%s.json", own)));
	cr_assert_float_eq(score_of(results, "01.score"), 0.9 * points_of("01.score"), 1e-6, "%s", o.out);
	cJSON_Delete(results);
	free_outcome(&o);
}

/* ---- predictions ---- */

Test(classroom_grade, a_prediction_is_right_within_one_percent)
{
	static const struct {
		const char *line;
		double share;
	} lines[] = {
		{"naive --seq 1024 --dim 64 = 17,825,792", 1.0},
		{"naive  --seq 1024   --dim 64=17825792 bytes\r", 1.0},
		{"naive --seq 1024 --dim 64 = 18 004 000", 1.0},
		{"naive --seq 1024 --dim 64 = 18005000", 0.9},
		{"naive --seq 1024 --dim 64 = 17640000", 0.9},
		{"naive --seq 1024 --dim 64 =", 0.9},
		{"naive --seq 1024 --dim 64 = lots", 0.9},
		{"", 0.9},
		{"na\xc3\xafve \xff = 1", 0.9}};
	char *tree = solution("predictions");
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		write_text(text("%s/predictions.txt", tree), text("# mine\n%s\n", lines[i].line));
		cJSON *results = grade_to_json(tree, "01.score", 0);
		cr_expect_float_eq(
			score_of(results, "01.score"), lines[i].share * points_of("01.score"), 1e-6, "'%s': %s",
			lines[i].line, output_of(results, NULL));
		cJSON_Delete(results);
	}
}

/* ---- submissions that are not as they should be ---- */

Test(classroom_grade, zips_are_taken_with_and_without_a_folder)
{
	char *tree = solution("zip");
	const char *tops[] = {"", "smith_anna_123", "my work/fa"};
	for (size_t i = 0; i < 3; i++) {
		char *zip = zipped(tree, tops[i]);
		cJSON *results = grade_to_json(zip, "01_naive", 0);
		cr_expect_float_eq(
			score_of(results, NULL), points_of("01_naive"), 1e-6, "%s: %s", tops[i],
			output_of(results, NULL));
		cJSON_Delete(results);
		unlink(zip);
	}
}

Test(classroom_grade, line_ends_marks_and_read_only_directories_do_not_matter)
{
	char *tree = solution("ends");
	run(
		text("cd '%s' && sed -i 's/$/\\r/' 01_naive/naive.cu predictions.txt && sed -i "
	             "'1s/^/\\xef\\xbb\\xbf\\/\\/ "
	             "\\xc3\\xa9t\\xc3\\xa9 \\xff\\n/' 01_naive/naive.cu && chmod -R a-w .",
	             tree));
	cJSON *results = grade_to_json(tree, "01_naive", 0);
	cr_assert_float_eq(
		score_of(results, NULL), points_of("01_naive"), 1e-6, "%s", output_of(results, "01.score"));
	cJSON_Delete(results);
	run(text("chmod -R u+w '%s'", tree));
}

Test(classroom_grade, what_is_missing_costs_only_itself)
{
	char *tree = solution("missing");
	run(
		text("cd '%s' && rm 01_naive/naive.cu predictions.txt WORKLOG.md && ln -s /etc/passwd "
	             "03_tiled_matmul/x.cu && "
	             "mv 03_tiled_matmul/3_tiled.cu y && ln -s ../y 03_tiled_matmul/3_tiled.cu",
	             tree));
	cJSON *results = grade_to_json(tree, "01.score,02.merge,03.load,03.registers", 0);
	cr_expect_eq(score_of(results, "01.score"), 0.0);
	cr_expect_not_null(
		strstr(output_of(results, "01.score"), "is missing"), "%s", output_of(results, "01.score"));
	cr_expect_float_eq(score_of(results, "02.merge"), 0.9 * points_of("02.merge"), 1e-6);
	cr_expect_eq(score_of(results, "03.load"), 0.0);
	cr_expect_not_null(
		strstr(output_of(results, "03.load"), "link, expected a file"), "%s", output_of(results, "03.load"));
	/* a task of another file of that chapter */
	cr_expect_float_eq(
		score_of(results, "03.registers"), 0.9 * points_of("03.registers"), 1e-6, "%s",
		output_of(results, "03.registers"));
	cr_expect_not_null(strstr(output_of(results, NULL), "predictions.txt is missing"));
	cJSON_Delete(results);
}

Test(classroom_grade, a_mistake_of_grammar_costs_its_task_only)
{
	char *tree = solution("grammar");
	replace_in(text("%s/01_naive/naive.cu", tree), "O[row * d + c] = sum;", "O[row * d + c] = sum");
	cJSON *results = grade_to_json(tree, "01_naive", 0);
	cr_expect_float_eq(score_of(results, "01.score"), points_of("01.score"), 1e-6);
	cr_expect_float_eq(score_of(results, "01.softmax"), points_of("01.softmax"), 1e-6);
	cr_expect_float_eq(score_of(results, "01.weighted-sum"), 0.1 * points_of("01.weighted-sum"), 1e-6);
	const char *said = output_of(results, "01.weighted-sum");
	cr_expect_not_null(strstr(said, "it does not compile"), "%s", said);
	cr_expect_not_null(strstr(said, "naive.cu:"), "%s", said);
	cJSON_Delete(results);
}

Test(classroom_grade, huge_and_binary_files_are_not_read)
{
	char *tree = solution("huge");
	run(
		text("cd '%s' && head -c 104857600 /dev/zero > 01_naive/naive.cu && printf 'a\\0b' > "
	             "02_online_softmax/partial.cuh "
	             "&& : > 03_tiled_matmul/3_tiled.cu && head -c 104857600 /dev/zero > film.mkv",
	             tree));
	cJSON *results = grade_to_json(tree, "01.score,02.merge,03.load,04.update", 0);
	cr_expect_not_null(strstr(output_of(results, "01.score"), "104857600"), "%s", output_of(results, "01.score"));
	cr_expect_not_null(strstr(output_of(results, "02.merge"), "UTF-8"), "%s", output_of(results, "02.merge"));
	cr_expect_not_null(strstr(output_of(results, "03.load"), "empty"), "%s", output_of(results, "03.load"));
	cr_expect_float_eq(score_of(results, "04.update"), points_of("04.update"), 1e-6);
	cJSON_Delete(results);
}

Test(classroom_grade, unusable_submissions_are_one_line_and_exit_2)
{
	char *here = (char *)scratch_directory(), *tree = solution("bad");
	expect_refused(text("%s/nothing-there", here), "no such file");
	run(
		text("mkdir '%s/empty' && echo hello > '%s/text.zip' && : > '%s/zero.zip' && mkfifo '%s/pipe'", here,
	             here, here, here));
	expect_refused(text("%s/empty", here), "empty");
	expect_refused(text("%s/text.zip", here), "not a zip file");
	expect_refused(text("%s/zero.zip", here), "not a zip file");
	expect_refused(text("%s/pipe", here), "neither a directory nor a plain file");
	run(text("mkdir '%s/other' && echo hello > '%s/other/essay.txt'", here, here));
	expect_refused(text("%s/other", here), "none of");
	char *zip = zipped(tree, "");
	run(text("head -c 3000 '%s' > '%s/cut.zip'", zip, here));
	expect_refused(text("%s/cut.zip", here), "zip file");
	run(text("cd '%s' && ln -s /etc/passwd link.txt && zip -qry '%s/links.zip' .", tree, here));
	expect_refused(text("%s/links.zip", here), "is a link");
	run(
		text("mkdir -p '%s/a/b' && cd '%s/a/b' && cp -r '%s' ../t && zip -qr '%s/dots.zip' ../t", here, here,
	             tree, here));
	expect_refused(text("%s/dots.zip", here), "leaves the archive");
	/* a zip that says it holds less than it does */
	struct outcome o =
		grade(LIST("--submission", text("%s/dots.zip", here), "--results", text("%s/r.json", here)), NOTHING);
	cr_assert_eq(o.status, 2);
	cJSON *results = cJSON_Parse(read_text(text("%s/r.json", here)));
	cr_assert_eq(score_of(results, NULL), 0.0);
	cr_assert_not_null(strstr(output_of(results, NULL), "leaves the archive"));
	cJSON_Delete(results);
	free_outcome(&o);
}

Test(classroom_grade, mistakes_of_the_command_line_are_exit_2_and_full_disks_exit_3)
{
	struct outcome o = grade(LIST("--only", "07_none"), NOTHING);
	cr_expect_eq(o.status, 2);
	cr_expect_not_null(strstr(o.err, "07_none"), "%s", o.err);
	free_outcome(&o);
	o = grade(LIST("--subm", "x"), NOTHING);
	cr_expect_eq(o.status, 2);
	free_outcome(&o);
	o =
		grade(LIST("--submission", solution("disk"), "--only", "01.score", "--results", "/dev/full/r.json"),
	              NOTHING);
	cr_expect_eq(o.status, 3, "%s%s", o.out, o.err);
	cr_expect_not_null(strstr(o.err, "RESULTS=/dev/full/r.json"), "%s", o.err);
	free_outcome(&o);
}

Test(classroom_grade, check_submission_says_what_there_is)
{
	char *tree = solution("check");
	struct outcome o = grade(LIST("--check", "--submission", tree), NOTHING);
	cr_expect_eq(o.status, 0, "%s%s", o.out, o.err);
	cr_expect_not_null(strstr(o.out, "3 of 3 tasks begun"), "%s", o.out);
	cr_expect_not_null(strstr(o.out, "This can be handed in"), "%s", o.out);
	free_outcome(&o);
	replace_in(
		text("%s/01_naive/naive.cu", tree), "#include \"naive.h\"",
		"#include \"naive.h\"\n#include <dlfcn.h>");
	replace_in(
		text("%s/predictions.txt", tree), "naive --seq 1024 --dim 64 =", "naive --seq 1024 --dim 64 = many");
	run(text("rm '%s/06_backward/dq.cu'", tree));
	o = grade(LIST("--check", "--submission", tree), NOTHING);
	cr_expect_eq(o.status, 1, "%s%s", o.out, o.err);
	cr_expect_not_null(strstr(o.out, "dlfcn.h"), "%s", o.out);
	cr_expect_not_null(strstr(o.out, "is missing"), "%s", o.out);
	cr_expect_not_null(strstr(o.out, "expected a number of bytes"), "%s", o.out);
	free_outcome(&o);
}

/* A student's own tree has no solutions: it grades itself, by the same judge. */
Test(classroom_grade, a_hand_out_grades_itself)
{
	only_when_thorough();
	char *tree = hand_out("itself", NULL);
	solve(tree, NULL);
	struct outcome o = run_program(
		LIST("make", "-s", "-C", tree, "grade", "ONLY=02_online_softmax", "CC=" TEST_CC, "REQUIRE=80"),
		LIST("CXX=" TEST_CXX), 390);
	cr_assert_eq(o.status, 0, "%s%s", o.out, o.err);
	cr_assert_not_null(strstr(o.out, "all tasks"), "%s", o.out);
	free_outcome(&o);
}
