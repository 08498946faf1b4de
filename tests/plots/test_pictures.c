/*
 * The pictures: made again they are the same bytes, wherever and whenever; their words can be read; their headlines
 * say what the data says; and what is missing is named together with the command that makes it.
 *
 * Each test draws in a house of its own: a copy of plots/ in a scratch directory.
 */
#include "program.h"
#include "svg_text.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIM_PICTURES = 13, GPU_PICTURES = 10, TIMEOUT_S = 120, PROBLEM_BYTES = 4000 };

/* A copy of the repository's plots/, without the pictures. */
static const char *new_house(const char *name)
{
	const char *house = text("%s/%s", scratch_directory(), name);
	struct outcome copied = run_program(
		LIST("sh", "-c",
	             text("mkdir -p '%s' && cp -r '" TEST_ROOT "/plots' '%s/' && rm -rf '%s/plots/pictures'", house,
	                  house, house)),
		NOTHING, TIMEOUT_S);
	cr_assert_eq(copied.status, 0, "%s", copied.err);
	return house;
}

static struct outcome draw_with(const char *house, const char *device, const char *const environment[])
{
	if (device)
		return run_program_in(house, LIST("plots/pictures.sh", device), environment, TIMEOUT_S);
	return run_program_in(house, LIST("plots/pictures.sh"), environment, TIMEOUT_S);
}

static void draw(const char *house, const char *device)
{
	struct outcome drawn = draw_with(house, device, LIST("FORMATS=svg"));
	cr_assert_eq(drawn.status, 0, "%s", drawn.err);
	cr_expect_str_empty(drawn.err, "drawing is silent: %s", drawn.err);
}

/* A shell command in a house; it has to succeed. */
static void change(const char *house, const char *command)
{
	struct outcome changed = run_program_in(house, LIST("sh", "-c", command), NOTHING, TIMEOUT_S);
	cr_assert_eq(changed.status, 0, "%s: %s", command, changed.err);
}

/* Calls `look` for every SVG of a folder; returns how many there are. */
static size_t each_picture(
	const char *folder, void (*look)(const char *name, const char *svg, const char *more), const char *more)
{
	DIR *directory = opendir(folder);
	cr_assert(directory, "%s: no such folder", folder);
	size_t count = 0;
	for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
		size_t length = strlen(entry->d_name);
		if (length < 4 || strcmp(entry->d_name + length - 4, ".svg") != 0)
			continue;
		char *svg = read_text(text("%s/%s", folder, entry->d_name));
		cr_assert(svg);
		look(entry->d_name, svg, more);
		free(svg);
		count++;
	}
	closedir(directory);
	return count;
}

/* ---- what the data says, read without the scripts ---- */

/* A cell of the first row in which the columns of `where` ("kernel=naive seq=1024") have these values. */
static double cell(const char *path, const char *where, const char *column)
{
	char *all = read_text(path), *save_line = NULL, *names[80] = {0};
	size_t count = 0;
	double found = NAN;
	cr_assert(all, "%s", path);
	for (char *line = strtok_r(all, "\n", &save_line); line && isnan(found);
	     line = strtok_r(NULL, "\n", &save_line)) {
		char *save = NULL, *cells[80] = {0};
		size_t cell_count = 0;
		int heading = line[0] == '#' && strchr(line, '\t');
		if (line[0] == '#' && !heading)
			continue;
		for (char *word = strtok_r(heading ? line + 2 : line, "\t", &save); word && cell_count < 80;
		     word = strtok_r(NULL, "\t", &save))
			cells[cell_count++] = word;
		if (heading) {
			memcpy(names, cells, sizeof names);
			count = cell_count;
			continue;
		}
		int fits = 1;
		double value = NAN;
		for (size_t i = 0; i < count && i < cell_count; i++) {
			char *pair = text("%s=", names[i]),
			     *condition = strstr(text(" %s ", where), text(" %s", pair));
			if (condition) {
				condition += 1 + strlen(pair);
				size_t length = strcspn(condition, " ");
				fits = fits && strlen(cells[i]) == length &&
				       strncmp(condition, cells[i], length) == 0;
			}
			if (strcmp(names[i], column) == 0)
				value = strtod(cells[i], NULL);
		}
		if (fits)
			found = value;
	}
	free(all);
	cr_assert(!isnan(found), "%s: no %s where %s", path, column, where);
	return found;
}

static double bytes_of(const char *path, const char *where, const char *kind)
{
	return cell(path, where, text("%s_read_bytes", kind)) + cell(path, where, text("%s_write_bytes", kind));
}

static struct picture *picture_of(const char *house, const char *name)
{
	char *svg = read_text(text("%s/plots/pictures/sim/%s.light.svg", house, name));
	cr_assert(svg, "%s was not drawn", name);
	struct picture *picture = read_picture(name, svg);
	free(svg);
	return picture;
}

/* ---- tests ---- */

static void compare(const char *name, const char *svg, const char *other)
{
	char *again = read_text(text("%s/%s", other, name));
	cr_expect(again && strcmp(svg, again) == 0, "%s: made again, it is not the same", name);
	free(again);
}

Test(plots_pictures, made_again_elsewhere_in_another_time_zone_they_are_the_same_bytes)
{
	const char *here = new_house("here"), *there = new_house("a/deeper/place there");
	draw(here, NULL);
	struct outcome drawn =
		draw_with(there, NULL, LIST("FORMATS=svg", "TZ=Asia/Kathmandu", "LANG=C", "LC_ALL=C", "COLUMNS=40"));
	cr_assert_eq(drawn.status, 0, "%s", drawn.err);
	cr_expect_eq(
		each_picture(text("%s/plots/pictures/sim", here), compare, text("%s/plots/pictures/sim", there)),
		2 * SIM_PICTURES);
}

Test(plots_pictures, the_pictures_in_the_repository_are_those_of_its_data)
{
	struct outcome version = run_program(LIST("gnuplot", "--version"), NOTHING, TIMEOUT_S);
	if (strncmp(version.out, "gnuplot 5.4", 11) != 0)
		skip_test("the tracked pictures were made by gnuplot 5.4; this is another one");
	const char *house = new_house("house");
	draw(house, "sim");
	cr_expect_eq(
		each_picture(text("%s/plots/pictures/sim", house), compare, TEST_ROOT "/plots/pictures/sim"),
		2 * SIM_PICTURES);
	cr_expect_eq(
		each_picture(TEST_ROOT "/plots/pictures/sim", compare, text("%s/plots/pictures/sim", house)),
		2 * SIM_PICTURES, "a picture is in the repository that nothing draws");
}

static void readable(const char *name, const char *svg, const char *more)
{
	(void)more;
	char problems[PROBLEM_BYTES];
	struct picture *picture = read_picture(name, svg);
	cr_expect_eq(picture_problems(picture, problems, sizeof problems), 0, "%s:\n%s", name, problems);
	cr_expect_geq(picture->count, 10, "%s has %zu words", name, picture->count);
	cr_expect_geq(strlen(picture->title), 20, "%s: title \"%s\"", name, picture->title);
	cr_expect_geq(strlen(picture->description), 60, "%s: description \"%s\"", name, picture->description);
	cr_expect_null(strstr(svg, "Gnuplot"), "%s still has gnuplot's title", name);
	cr_expect_not_null(strstr(svg, "role=\"img\" aria-labelledby="), "%s", name);
	/* The headline in the picture is the title. */
	size_t shown = 0;
	for (size_t i = 0; i < picture->count; i++)
		shown += strcmp(picture->words[i].text, picture->title) == 0;
	cr_expect_eq(shown, 1, "%s: its title is not its headline", name);
	free(picture);
}

Test(plots_pictures, every_word_is_large_enough_inside_and_on_no_other)
{
	const char *house = new_house("house");
	draw(house, NULL);
	cr_expect_eq(each_picture(text("%s/plots/pictures/sim", house), readable, NULL), 2 * SIM_PICTURES);
}

Test(plots_pictures, a_gpus_folder_without_counts_is_drawn_and_readable_too)
{
	const char *house = new_house("house");
	change(house, "mkdir plots/data/h200 && for f in plots/data/sim/0*.tsv; do "
	              "awk -f '" TEST_ROOT "/tests/plots/as_gpu.awk' $f > plots/data/h200/${f##*/}; done");
	draw(house, "h200");
	cr_expect_eq(each_picture(text("%s/plots/pictures/h200", house), readable, NULL), 2 * GPU_PICTURES);
	char *roofline = read_text(text("%s/plots/pictures/h200/roofline.light.svg", house));
	cr_expect_not_null(strstr(roofline, "Heights: measured"));
	cr_expect_not_null(strstr(roofline, "HBM 4.80 TB/s"), "not this GPU's roofs");
	char *times = read_text(text("%s/plots/pictures/h200/time_vs_n.light.svg", house));
	cr_expect_not_null(strstr(times, "ms on the GPU"));
	cr_expect_null(strstr(times, "CPU"));
	struct picture *matmul = read_picture(
		"03_tiled_matmul", read_text(text("%s/plots/pictures/h200/03_tiled_matmul.light.svg", house)));
	const char *product = text("%s/plots/data/h200/03_tiled_matmul.tsv", house);
	cr_expect_str_eq(
		matmul->title, text("At n = 384 the kernel with register tiles is %.1f times faster than the first",
	                            cell(product, "kernel=matmul_naive n=384", "median_ms") /
	                                    cell(product, "kernel=matmul_registers n=384", "median_ms")));
	free(matmul);
	/* And the map of the chapters gets a column of its times. */
	struct outcome table = run_program_in(house, LIST("perl", "plots/chapter_table.pl"), NOTHING, TIMEOUT_S);
	double ms =
		cell(text("%s/plots/data/h200/05_fa2.tsv", house), "kernel=fa2_split_q seq=2048 dim=64 causal=0",
	             "median_ms");
	cr_expect_not_null(strstr(table.out, "| time, a CPU's plain build | time, h200 |"), "%s", table.out);
	cr_expect_not_null(
		strstr(table.out, text("N = 1024 | %.3g ms: `fa2_split_q`, N = 2048 |", ms)), "%s", table.out);
}

Test(plots_pictures, without_a_gpu_no_kernel_has_a_height_and_times_are_a_cpus)
{
	const char *house = new_house("house");
	draw(house, "sim");
	struct picture *roofline = picture_of(house, "roofline");
	cr_expect_not_null(strstr(roofline->description, "No throughput was measured, so no kernel has a height"));
	for (size_t i = 0; i < roofline->count; i++)
		cr_expect_null(
			strstr(roofline->words[i].text, " %"), "a share of a roof: %s", roofline->words[i].text);
	struct picture *times = picture_of(house, "time_vs_n");
	size_t axis = 0;
	for (size_t i = 0; i < times->count; i++)
		axis += strcmp(times->words[i].text, "ms on this CPU, plain build") == 0;
	cr_expect_eq(axis, 1);
	cr_expect_not_null(strstr(times->title, "On a CPU, not a GPU"));
}

/* The headline of hbm_vs_n, worked out here. */
static void expect_share(const char *house)
{
	const char *naive = text("%s/plots/data/sim/01_naive.tsv", house),
		   *fa2 = text("%s/plots/data/sim/05_fa2.tsv", house);
	const char *where = "kernel=%s seq=1024 dim=64 causal=0";
	double share = bytes_of(fa2, text(where, "fa2_split_q"), "requested") /
	               bytes_of(naive, text(where, "naive"), "footprint");
	struct picture *picture = picture_of(house, "hbm_vs_n");
	cr_expect_str_eq(
		picture->title,
		text("At N = 1024 FlashAttention-2 requests %.0f %% of the bytes naive attention moves",
	             100 * share));
	free(picture);
}

Test(plots_pictures, a_headline_is_computed_from_the_data)
{
	const char *house = new_house("house");
	draw(house, "sim");
	expect_share(house);
	/* Other numbers, another headline. */
	change(house, "perl -ni -e 'if (/^# .*\\tkernel\\t/) { @names = split /\\t/, s/^# //r } "
	              "if (/\\tfa2_split_q\\t/) { chomp; @c = split /\\t/; "
	              "for (0 .. $#names) { $c[$_] *= 2 if $names[$_] eq \"requested_read_bytes\" } $_ = "
	              "join(\"\\t\", @c) . \"\\n\" } "
	              "print' plots/data/sim/05_fa2.tsv");
	draw(house, "sim");
	expect_share(house);
	cr_expect_neq(
		strcmp(picture_of(house, "hbm_vs_n")->title,
	               "At N = 1024 FlashAttention-2 requests 26 % of the bytes naive attention moves"),
		0);
}

/* The largest share of its tolerance that a row of a file uses. */
static double worst_share(const char *name)
{
	struct outcome run = run_program(
		LIST("awk", "-F", "\t",
	             "/^# .*\\t/ { for (i = 1; i <= NF; i++) at[$i] = i } "
	             "!/^#/ && $at[\"max_abs\"] / $at[\"tolerance\"] > worst { worst = "
	             "$at[\"max_abs\"] / $at[\"tolerance\"] } "
	             "END { print worst }",
	             text(TEST_ROOT "/plots/data/sim/%s.tsv", name)),
		NOTHING, TIMEOUT_S);
	return strtod(run.out, NULL);
}

/* Of attention: the product of matrices may use more. */
Test(plots_pictures, the_headline_of_errors_is_true_of_every_kernel_it_means)
{
	static const char *const attention[] = {"01_naive", "04_fa1", "05_fa2", "06_backward"};
	double worst = 0;
	for (int i = 0; i < 4; i++)
		worst = fmax(worst, worst_share(attention[i]));
	const char *house = new_house("house");
	draw(house, "sim");
	cr_expect_str_eq(
		picture_of(house, "error_vs_n")->title,
		text("Exact to rounding: no attention kernel uses more than %.1f %% of its tolerance", 100 * worst));
}

/* The n-th number pair "x,y" of a curve or of points after `from`; 0 when there is none before `to`. */
static int position(const char *from, const char *to, const char *before, double *x, double *y, const char **next)
{
	const char *at = strstr(from, before);
	if (!at || at > to)
		return 0;
	*next = at + strlen(before);
	return sscanf(*next, "%lf,%lf", x, y) == 2;
}

/* A count equals its closed form, so the line of that goes through the point. */
Test(plots_pictures, the_lines_of_closed_forms_go_through_the_counts)
{
	const char *house = new_house("house");
	draw(house, "sim");
	char *svg = read_text(text("%s/plots/pictures/sim/03_tiled_matmul.light.svg", house));
	for (int curve = 1; curve <= 3; curve++) {
		const char *line = strstr(svg, text("id=\"gnuplot_plot_%da\"", curve)),
			   *points = strstr(svg, text("id=\"gnuplot_plot_%da\"", curve + 3));
		cr_assert(line && points);
		const char *line_end = strstr(line, "\t</g>"), *points_end = strstr(points, "\t</g>");
		double x, y;
		size_t found = 0;
		for (const char *at = points; position(at, points_end, "translate(", &x, &y, &at); found++) {
			double near_x, near_y, least = INFINITY;
			const char *start = strstr(line, " d='M");
			cr_assert(start && start < line_end);
			for (const char *vertex = start + 5; vertex && vertex < line_end;) {
				if (sscanf(vertex, "%lf,%lf", &near_x, &near_y) == 2 && fabs(near_x - x) < 0.6)
					least = fmin(least, fabs(near_y - y));
				vertex = strpbrk(vertex, "L'");
				vertex = vertex && *vertex == 'L' ? vertex + 1 : NULL;
			}
			cr_expect_leq(least, 0.6, "curve %d passes (%g, %g) at a distance of %g", curve, x, y, least);
		}
		cr_expect_eq(found, 5, "curve %d has %zu points", curve, found);
	}
	free(svg);
}

/* An axis of less than two decades has more than one number to read it by. */
Test(plots_pictures, an_axis_of_times_can_be_read)
{
	const char *house = new_house("house");
	draw(house, "sim");
	struct picture *picture = picture_of(house, "02_online_softmax");
	size_t ticks = 0;
	for (size_t i = 0; i < picture->count;
	     i++) { /* 0.5, 1, 2, 5, 10, 20, ...; no other axis here has such words */
		const char *word = picture->words[i].text, *digit = word + strspn(word, "0.");
		ticks += strchr("125", *digit) && *digit && digit[1 + strspn(digit + 1, "0")] == '\0';
	}
	cr_expect_geq(ticks, 2, "%zu of 1, 2, 5, 10, ...", ticks);
	free(picture);
}

Test(plots_pictures, rows_are_found_by_name_and_what_was_not_measured_is_left_out)
{
	const char *file = text("%s/t.tsv", scratch_directory());
	write_text(
		file,
		"# a sentence\n# units: none\n# seq\tbatch\theads\tkernel\tverified\trequested_read_bytes\trequested_"
		"write_bytes\tatomic_bytes\tmedian_ms\ttime_kind\tflop\n"
		"128\t2\t4\ta\tyes\t70\t10\t0\tNaN\t-\t800\n"
		"256\t2\t4\ta\tno\t70\t10\t0\t1\tmeasured-cpu\t800\n"
		"512\t2\t4\tb\tyes\t80\t8\t12\t2\tmeasured-gpu\t800\n"
		"512\t2\t4\ta\tyes\t160\t0\t0\t2\tmeasured-cpu\t800\n");
#define ROWS(want, ...)                                                                                              \
	do {                                                                                                         \
		struct outcome o = run_program(                                                                      \
			LIST("awk", "-f", TEST_ROOT "/plots/rows.awk", __VA_ARGS__, file), NOTHING, TIMEOUT_S);      \
		cr_expect_str_eq(o.out, want, "%s%s", o.out, o.err);                                                 \
	} while (0)
	ROWS("128\t80\n512\t160\n", "-v", "kernel=a", "-v", "columns=seq requested");
	ROWS("128\t10\n512\t20\n", "-v", "kernel=a", "-v", "columns=seq per_head*requested");
	ROWS("512\t100\t8\n", "-v", "kernel=b", "-v", "columns=seq requested flop/requested");
	ROWS("512\t2\n", "-v", "kernel=a", "-v", "columns=seq median_ms");
	ROWS("", "-v", "kernel=a", "-v", "columns=seq footprint");
	ROWS("NaN\n", "-v", "kernel=a", "-v", "last=1", "-v", "columns=footprint");
	ROWS("160\n", "-v", "kernel=a", "-v", "last=1", "-v", "columns=requested");
	ROWS("80\n", "-v", "kernel=a", "-v", "where=seq=first nothing=3", "-v", "columns=requested");
	/* A throughput only of a time that a GPU took. */
	ROWS("NaN\n", "-v", "kernel=a", "-v", "last=1", "-v", "columns=gflops");
	/* Of columns that the file does not have, whatever an awk makes of "NaN". */
	ROWS("", "-v", "kernel=a", "-v", "columns=seq error_share");
	ROWS("0.0004\n", "-v", "kernel=b", "-v", "last=1", "-v", "columns=gflops");
#undef ROWS
}

Test(plots_pictures, a_missing_file_names_the_command_that_makes_it)
{
	const char *house = new_house("house");
	change(house, "rm plots/data/sim/05_fa2.tsv");
	struct outcome missing = draw_with(house, NULL, NOTHING);
	cr_expect_eq(missing.status, 3);
	cr_expect_str_eq(
		missing.err,
		"plots: plots/data/sim/05_fa2.tsv is missing: make bench DEVICE=sim CHAPTERS=05_fa2 writes it\n");
	cr_expect_neq(access(text("%s/plots/pictures", house), F_OK), 0, "something was drawn");
	struct outcome unknown = draw_with(house, "b200", NOTHING);
	cr_expect_eq(unknown.status, 3);
	cr_expect_not_null(strstr(unknown.err, "make bench DEVICE=cuda"), "%s", unknown.err);
	struct outcome none = draw_with(house, "cuda", NOTHING);
	cr_expect_eq(none.status, 3);
	cr_expect_not_null(strstr(none.err, "make bench DEVICE=cuda"), "%s", none.err);
}

/* Of a path with a space make makes several files. */
Test(plots_pictures, a_path_with_a_space_is_one_line)
{
	const char *house = new_house("the house");
	struct outcome spaced =
		run_program_in(house, LIST("make", "--no-print-directory", "-sC", "plots"), NOTHING, TIMEOUT_S);
	cr_expect_eq(spaced.status, 2);
	cr_expect_not_null(strstr(spaced.err, "make cannot draw in a path with a space: "), "%s", spaced.err);
	cr_expect_str_empty(strchr(spaced.err, '\n') + 1, "%s", spaced.err);
}

Test(plots_pictures, a_torn_file_is_not_drawn)
{
	static const struct {
		const char *damage, *says;
	} cases[] = {
		{"sed -i '$s/\\t[^\\t]*$//' 01_naive.tsv", " columns, found "},
		{"sed -i '/^#/!d' 01_naive.tsv", "01_naive.tsv has no rows"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *house = new_house(text("house%zu", i));
		change(house, text("cd plots/data/sim && %s", cases[i].damage));
		struct outcome torn = draw_with(house, NULL, LIST("FORMATS=svg"));
		cr_expect_eq(torn.status, 2, "exit %d", torn.status);
		cr_expect_not_null(strstr(torn.err, cases[i].says), "%s", torn.err);
		const char *command = strstr(torn.err, "; make bench DEVICE=sim CHAPTERS=01_naive writes it anew\n");
		cr_expect(command && strchr(torn.err, '\n')[1] == '\0', "%s", torn.err);
		cr_expect_neq(access(text("%s/plots/pictures", house), F_OK), 0, "something was drawn");
	}
	/* A column that is gone: no headline with nan in it. */
	const char *house = new_house("house");
	change(house, "sed -i s/max_abs/gone/ plots/data/sim/0[1456]*.tsv");
	struct outcome gone = draw_with(house, NULL, LIST("FORMATS=svg"));
	cr_expect_eq(gone.status, 1, "exit %d", gone.status);
	cr_expect_str_eq(
		gone.err,
		"plots: plots/error_vs_n.gp has no number for its headline, \"Exact to rounding: no attention "
		"kernel uses more than nan % of its tolerance\": is a column missing in plots/data/sim?\n");
	cr_expect_neq(access(text("%s/plots/pictures/sim/error_vs_n.light.svg", house), F_OK), 0);
}

Test(plots_pictures, lines_that_end_as_on_windows_draw_the_same)
{
	const char *house = new_house("house"), *other = new_house("other");
	change(other, "sed -i 's/$/\\r/' plots/data/sim/*.tsv");
	draw(house, "sim");
	draw(other, "sim");
	cr_expect_eq(
		each_picture(text("%s/plots/pictures/sim", house), compare, text("%s/plots/pictures/sim", other)),
		2 * SIM_PICTURES);
}

Test(plots_pictures, without_gnuplot_one_line_says_so)
{
	struct outcome without = draw_with(new_house("house"), NULL, LIST("PATH=/nowhere"));
	cr_expect_eq(without.status, 3);
	cr_expect_str_eq(without.err, "plots: gnuplot is not installed: ./setup.sh installs it\n");
}

Test(plots_pictures, without_gnuplot_a_chapters_sweep_goes_on)
{
	/* All that is in PATH, but gnuplot. */
	const char *bin = text("%s/bin", scratch_directory());
	struct outcome linked = run_program(
		LIST("sh", "-c",
	             text("mkdir '%s' && IFS=: && for d in $PATH; do for f in \"$d\"/*; do "
	                  "case $f in */gnuplot*) ;; *) ln -s \"$f\" '%s/' 2>/dev/null ;; esac; done; done; true",
	                  bin, bin)),
		NOTHING, TIMEOUT_S);
	cr_assert_eq(linked.status, 0, "%s", linked.err);
	struct outcome plot = run_program(
		LIST("make", "-C", TEST_ROOT "/02_online_softmax", "plot", "DEVICE=sim", "CC=" TEST_CC,
	             "CXX=" TEST_CXX, "ARGS=--repeat 1"),
		LIST(text("PATH=%s", bin)), TIMEOUT_S);
	cr_expect_eq(plot.status, 0, "%s%s", plot.out, plot.err);
	cr_expect_not_null(strstr(plot.out, "no picture: gnuplot is not installed"), "%s", plot.out);
}

Test(plots_pictures, a_gpu_nobody_knows_is_a_mistake_and_a_known_one_has_its_roofs)
{
	const char *house = new_house("house");
	struct outcome unknown = draw_with(house, NULL, LIST("GPU=b9000"));
	cr_expect_eq(unknown.status, 2);
	cr_expect_str_eq(unknown.err, "plots: GPU=b9000: expected one of a100 a100-80 h100 h200 rtx4090\n");
	struct outcome a100 = draw_with(house, "sim", LIST("GPU=a100", "FORMATS=svg"));
	cr_expect_eq(a100.status, 0, "%s", a100.err);
	char *svg = read_text(text("%s/build/plots/pictures/sim/roofline-a100.light.svg", house));
	cr_assert(svg);
	cr_expect_not_null(strstr(svg, "fp32 peak, 19.5 TFLOP/s"));
	cr_expect_not_null(strstr(svg, "HBM 1.55 TB/s"));
	cr_expect_neq(
		access(text("%s/plots/pictures", house), F_OK), 0, "the tracked pictures are the default GPU's");
	/* Wherever a GPU's ridge and its roofs are, its words stay apart. */
	static const char *const others[] = {"a100-80", "h100", "h200", "rtx4090"};
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		struct outcome other = draw_with(house, "sim", LIST(text("GPU=%s", others[i]), "FORMATS=svg"));
		cr_expect_eq(other.status, 0, "%s", other.err);
	}
	cr_expect_eq(each_picture(text("%s/build/plots/pictures/sim", house), readable, NULL), 2 * 5);
}

Test(plots_pictures, in_a_terminal_no_line_is_wider_than_80)
{
	struct outcome drawn = draw_with(new_house("house"), "sim", LIST("TERM_PLOTS=1", "LC_ALL=C"));
	cr_assert_eq(drawn.status, 0, "%s", drawn.err);
	cr_expect_str_empty(drawn.err, "%s", drawn.err);
	cr_expect_not_null(strstr(drawn.out, "Bytes of global memory, a head, against N"));
	cr_expect_not_null(strstr(drawn.out, "plain build"), "the kind of time is not said");
	char *save = NULL;
	for (char *line = strtok_r(drawn.out, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		cr_expect_leq(strlen(line), 80, "%s", line);
}

Test(plots_pictures, roofs_and_attention_are_what_the_programs_write)
{
	const char *scratch = scratch_directory();
	struct outcome roofs =
		run_program(LIST(TEST_BUILD "/../plots/roofs", text("%s/roofs", scratch)), NOTHING, TIMEOUT_S);
	cr_assert_eq(roofs.status, 0, "%s", roofs.err);
	cr_expect_str_eq(read_text(text("%s/roofs", scratch)), read_text(TEST_ROOT "/plots/data/roofs.tsv"));
	struct outcome map = run_program_in(
		TEST_ROOT,
		LIST(TEST_BUILD "/../plots/attention_map", "tests/data/real_qkv", "132", "28",
	             text("%s/map", scratch)),
		NOTHING, TIMEOUT_S);
	cr_assert_eq(map.status, 0, "%s", map.err);
	cr_expect_str_eq(read_text(text("%s/map", scratch)), read_text(TEST_ROOT "/plots/data/attention_map.tsv"));
	/* A row of the window holds at most all of its weight; all rows together, the share the file says. */
	const char *path = TEST_ROOT "/plots/data/attention_map.tsv";
	for (int head = 0; head < 2; head++) {
		double sum = 0;
		for (int query = 132; query < 160; query++) {
			double row = 0;
			for (int key = 132; key <= query; key++)
				row += cell(path, text("head=%d query=%d key=%d", head, query, key), "probability");
			cr_expect_leq(row, 1 + 28 * 0.5e-4);
			sum += row;
		}
		cr_expect_float_eq(sum / 28, cell(path, text("head=%d", head), "inside"), 2e-3);
	}
}

Test(plots_pictures, attention_map_refuses_what_it_cannot_use)
{
#define REFUSED(code, message, ...)                                                                                  \
	do {                                                                                                         \
		struct outcome o = run_program_in(                                                                   \
			TEST_ROOT, LIST(TEST_BUILD "/../plots/attention_map", __VA_ARGS__), NOTHING, TIMEOUT_S);     \
		cr_expect_eq(o.status, code);                                                                        \
		cr_expect_not_null(strstr(o.err, message), "%s", o.err);                                             \
	} while (0)
	REFUSED(2, "usage: attention_map DIRECTORY FIRST COUNT", "tests/data/real_qkv");
	REFUSED(2, "usage: attention_map", "tests/data/real_qkv", "1x", "28");
	REFUSED(2, "the text has 512 characters", "tests/data/real_qkv", "500", "28");
	REFUSED(2, "q.npy", "tests/data", "0", "28");
	REFUSED(3, "/nowhere/map", "tests/data/real_qkv", "0", "28", "/nowhere/map");
#undef REFUSED
}

static size_t count_files(const char *folder)
{
	size_t count = 0;
	DIR *directory = opendir(folder);
	for (struct dirent *entry; directory && (entry = readdir(directory));)
		count += entry->d_name[0] != '.';
	if (directory)
		closedir(directory);
	return count;
}

/* Starts a drawing, ends it once it has begun a file, and returns its wait status. */
static int end_drawing(const char *house, int with)
{
	pid_t child = fork();
	if (child == 0) {
		if (chdir(house) == 0 && freopen("/dev/null", "w", stdout))
			execl("plots/draw.sh", "draw.sh", "plots/naive.gp", "plots/data/sim/01_naive.tsv",
			      "new/naive", "--", "where='dim=64 causal=0'", (char *)NULL);
		_exit(127);
	}
	struct timespec nap = {0, 1000 * 1000};
	for (int i = 0; i < 20000 && count_files(text("%s/new", house)) == 0; i++)
		nanosleep(&nap, NULL);
	kill(child, with);
	int status = 0;
	waitpid(child, &status, 0);
	return status;
}

Test(plots_pictures, a_drawing_that_is_ended_leaves_nothing)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	const char *house = new_house("house");
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		int status = end_drawing(house, ends[i]);
		cr_expect(
			WIFEXITED(status) && WEXITSTATUS(status) == 128 + ends[i], "signal %d: status %x", ends[i],
			status);
		cr_expect_eq(count_files(text("%s/new", house)), 0, "signal %d left a file", ends[i]);
	}
}

static struct outcome readme(const char *house, const char *option)
{
	return run_program_in(house, LIST("perl", "plots/readme.pl", option, "README.md"), NOTHING, TIMEOUT_S);
}

Test(plots_pictures, a_readme_whose_block_is_not_of_its_data_is_stale)
{
	const char *house = new_house("house"), *path = text("%s/README.md", house);
	draw(house, "sim");
	write_text(
		path, "# A page\n\n<!-- markdown: perl plots/picture.pl sim/hbm_vs_n -->\n<!-- end -->\n\n"
		      "<!-- markdown: perl plots/chapter_table.pl -->\nold\n<!-- end -->\nText.\n");
	struct outcome stale = readme(house, "--check");
	cr_expect_eq(stale.status, 1);
	cr_expect_not_null(
		strstr(stale.err, "README.md: the block printed by 'perl plots/picture.pl sim/hbm_vs_n' is stale"),
		"%s", stale.err);
	cr_expect_not_null(strstr(read_text(path), "old\n"), "a check changed the file");
	struct outcome made = run_program_in(house, LIST("perl", "plots/readme.pl", "README.md"), NOTHING, TIMEOUT_S);
	cr_assert_eq(made.status, 0, "%s", made.err);
	cr_expect_eq(readme(house, "--check").status, 0);
	char *page = read_text(path);
	cr_expect_null(strstr(page, "old\n"));
	cr_expect_str_eq(page + strlen(page) - strlen("<!-- end -->\nText.\n"), "<!-- end -->\nText.\n");
	cr_expect_not_null(strstr(page, text("alt=\"%s\"", picture_of(house, "hbm_vs_n")->title)));
	/* Another time of one kernel, and nothing else. */
	change(house, "perl -pi -e 's/(\\d+)(\\.\\d+\\t[^\\t]*\\t[^\\t]*\\t\\d+\\tmeasured)/(1 + $1) . $2/e if "
	              "/^1024\\t64\\t.*fa2_split_q/' "
	              "plots/data/sim/05_fa2.tsv");
	struct outcome again = readme(house, "--check");
	cr_expect_eq(again.status, 1, "a time changed and nothing is stale");
	cr_expect_not_null(strstr(again.err, "'perl plots/chapter_table.pl' is stale"), "%s", again.err);
	cr_expect_null(strstr(again.err, "picture.pl"), "%s", again.err);
}

/* Each page answers for itself, and a block that is not whole is no block that agrees. */
Test(plots_pictures, a_stale_readme_leaves_the_next_one_alone)
{
	const char *house = scratch_directory(), *tool = TEST_ROOT "/plots/readme.pl";
	write_text(
		text("%s/a.md", house), "<!-- output: echo 1 -->\n```text\n2\n```\n<!-- markdown: echo 3 -->\n3\n"
					"<!-- end -->\n");
	write_text(text("%s/b.md", house), "<!-- output: echo 4 -->\n```text\n4\n```\n");
	struct outcome o = run_program_in(house, LIST("perl", tool, "--check", "a.md", "b.md"), NOTHING, TIMEOUT_S);
	cr_expect_eq(o.status, 1);
	cr_expect_str_eq(o.out, "a.md: 2 blocks, 1 of them stale\nb.md: 1 blocks as printed\n");
	cr_expect_str_eq(o.err, "a.md: the block printed by 'echo 1' is stale: make readme\n");
	write_text(text("%s/b.md", house), "<!-- output: echo 4 -->\n\n```text\n5\n```\n");
	o = run_program_in(house, LIST("perl", tool, "--check", "b.md"), NOTHING, TIMEOUT_S);
	cr_expect_neq(o.status, 0, "a block that is not whole was left out");
	cr_expect(strstr(o.err, "b.md: 1 blocks begin and 0 are whole"), "%s", o.err);
	write_text(text("%s/b.md", house), "<!-- markdown: echo 4 -->\n5\n");
	o = run_program_in(house, LIST("perl", tool, "b.md"), NOTHING, TIMEOUT_S);
	cr_expect_neq(o.status, 0, "a block without an end was left out");
}

Test(plots_pictures, the_chapter_table_says_what_the_data_says)
{
	const char *data = TEST_ROOT "/plots/data/sim";
	const char *where = "kernel=%s seq=%d dim=64 causal=0";
	struct outcome table = run_program_in(TEST_ROOT, LIST("perl", "plots/chapter_table.pl"), NOTHING, TIMEOUT_S);
	cr_assert_eq(table.status, 0, "%s", table.err);
	double fa2 = bytes_of(text("%s/05_fa2.tsv", data), text(where, "fa2_split_q", 2048), "requested");
	double naive = bytes_of(text("%s/01_naive.tsv", data), text(where, "naive", 2048), "footprint");
	const char *share = text("| %.0f %% of the bytes naive moves, N = 2048 |", 100 * fa2 / naive);
	cr_expect_not_null(strstr(table.out, share), "no '%s' in\n%s", share, table.out);
	double split = bytes_of(text("%s/06_backward.tsv", data), text(where, "backward_split", 1024), "footprint");
	double materialised =
		bytes_of(text("%s/06_backward.tsv", data), text(where, "backward_naive", 1024), "footprint");
	const char *less = text(
		"| %.0f %% less footprint than the naive backward at N = 1024 |", 100 * (1 - split / materialised));
	cr_expect_not_null(strstr(table.out, less), "no '%s' in\n%s", less, table.out);
	double ms = cell(text("%s/05_fa2.tsv", data), text(where, "fa2_split_q", 1024), "median_ms");
	const char *time = text("| %.3g ms: `fa2_split_q`, N = 1024 |", ms);
	cr_expect_not_null(strstr(table.out, time), "no '%s' in\n%s", time, table.out);
	cr_expect_not_null(strstr(table.out, "A CPU's time says nothing about a GPU."));
}

/* The reader of words, on words that cannot be read. */
Test(plots_pictures, the_check_finds_small_clipped_and_covered_words)
{
#define WORD(transform, size, anchor, words)                                                                         \
	"<g transform=\"" transform "\" stroke=\"none\" font-family=\"DejaVu Sans\" font-size=\"" size               \
	"\"  text-anchor=\"" anchor "\">\n<text>" words "</text>\n</g>\n"
	static const struct {
		const char *words;
		size_t problems;
	} cases[] = {
		{WORD("translate(10.0,50.0)", "13.00", "start", "good")
	                 WORD("translate(60.0,50.0)", "11.00", "start", "too"),
	         0},
		{WORD("translate(10.0,50.0)", "10.90", "start", "small"), 1},
		{WORD("translate(10.0,50.0)", "13.00", "end", "left of it"), 1},
		{WORD("translate(390.0,50.0)", "13.00", "start", "clipped"), 1},
		{WORD("translate(20.0,199.0)", "13.00", "start", "low"), 1},
		{WORD("translate(10.0,50.0)", "13.00", "start", "one")
	                 WORD("translate(20.0,55.0)", "13.00", "start", "two"),
	         1},
		{WORD("translate(10.0,50.0)", "13.00", "start", "one")
	                 WORD("translate(10.0,50.0)", "13.00", "start", "one"),
	         1},
		{WORD("translate(20.0,100.0) rotate(270)", "13.00", "middle", "upwards and long")
	                 WORD("translate(12.0,90.0)", "13.00", "start", "x"),
	         1},
		{WORD("translate(20.0,100.0) rotate(270)", "13.00", "middle", "upwards")
	                 WORD("translate(30.0,100.0)", "13.00", "start", "x"),
	         0},
	};
#undef WORD
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char problems[PROBLEM_BYTES];
		struct picture *picture = read_picture(
			"case",
			text("<svg viewBox=\"0 0 400 200\"><title>a</title><desc>b</desc>%s</svg>", cases[i].words));
		cr_expect_eq(
			picture_problems(picture, problems, sizeof problems), cases[i].problems, "case %zu:\n%s", i,
			problems);
		free(picture);
	}
	cr_expect_float_eq(text_width("N²", 20.48), 15.32 + 8.21, 1e-9);
}
