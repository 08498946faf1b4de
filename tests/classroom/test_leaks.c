/* A solution that leaked from the course, or from another class, must not pass: neither as a file nor pasted. */
#include "program.h"
#include "tree.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A wrong function shows here: more than a tile, and ordinary numbers. */
static const char *telling_problem(const char *chapter)
{
	return chapter[1] == '2'   ? "--rows 3 --cols 300 --dim 20"
	       : chapter[1] == '3' ? "--m 40 --n 70 --k 65"
	                           : "--seq 100 --dim 24";
}

/* A new directory with a chapter's sources of one tree, and in them the regions of another. */
static char *put_regions(const char *tree, const char *leaked, const char *chapter)
{
	static int number;
	struct task tasks[MAX_TASKS];
	size_t count = read_tasks(tasks);
	char *names[MAX_SOURCES + 1], *directory = text("%s/pasted-%d", scratch_directory(), ++number);
	mkdir(directory, 0777);
	list_sources(text("%s/%s", tree, chapter), names);
	for (size_t i = 0; names[i]; i++) {
		char *source = read_text(text("%s/%s/%s", tree, chapter, names[i]));
		char *other = read_text(text("%s/%s/%s", leaked, chapter, names[i]));
		for (size_t t = 0; t < count; t++) {
			char *own = region_of(source, tasks[t].id), *pasted = region_of(other, tasks[t].id);
			if (!own)
				continue;
			char *at = strstr(source, own);
			source = text("%.*s%s%s", (int)(at - source), source, pasted, at + strlen(own));
		}
		write_text(text("%s/%s", directory, names[i]), source);
	}
	return directory;
}

/* True if every kernel of the chapter verifies; false also when it does not even compile. */
static bool passes(const char *tree, const struct chapter_files *chapter, const char *directory)
{
	char *program = try_build_sources(tree, chapter, directory, "-O0 -w");
	for (size_t k = 0; program && chapter->kernels[k]; k++)
		if (!verifies(program, chapter->kernels[k], telling_problem(chapter->directory)))
			return false;
	return program != NULL;
}

static const char *const keys[] = {NULL, CLASS_OF_CAPS, CLASS_OF_WINDOWS};
enum { CLASSES = sizeof keys / sizeof keys[0] };

static void solved_trees(char *trees[CLASSES])
{
	for (int k = 0; k < CLASSES; k++) {
		trees[k] = hand_out(text("class-%d", k), keys[k]);
		solve(trees[k], NULL);
	}
}

static char *directory_of(const char *tree, const struct chapter_files *chapter)
{
	return text("%s/%s", tree, chapter->directory);
}

Test(leaks, files_of_another_class_fail, .timeout = 300)
{
	char *trees[CLASSES];
	solved_trees(trees);
	for (int c = 0; c < CHAPTERS; c++)
		for (int own = 1; own < CLASSES; own++) {
			cr_expect(
				passes(trees[own], &chapters[c], directory_of(trees[own], &chapters[c])),
				"%s: %s does not pass in its own class", chapters[c].directory, keys[own]);
			cr_expect(
				!passes(trees[own], &chapters[c], directory_of(trees[0], &chapters[c])),
				"%s: the course's file passes in %s", chapters[c].directory, keys[own]);
			cr_expect(
				!passes(trees[own], &chapters[c], directory_of(trees[CLASSES - own], &chapters[c])),
				"%s: the other class's file passes in %s", chapters[c].directory, keys[own]);
		}
}

/* Only what lies between the markers, pasted into the class's own file. */
Test(leaks, regions_of_another_class_fail, .timeout = 300)
{
	char *trees[CLASSES];
	solved_trees(trees);
	for (int c = 0; c < CHAPTERS; c++)
		for (int own = 1; own < CLASSES; own++)
			for (int leaked = 0; leaked < CLASSES; leaked++) {
				if (leaked == own)
					continue;
				char *pasted = put_regions(trees[own], trees[leaked], chapters[c].directory);
				cr_expect(
					!passes(trees[own], &chapters[c], pasted), "%s: tasks of %s pass in %s",
					chapters[c].directory, leaked ? keys[leaked] : "the course", keys[own]);
			}
}
