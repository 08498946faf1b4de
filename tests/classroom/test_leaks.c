/* A solution that leaked from the course, or from another class, must not pass: neither as a file nor pasted. */
#include "program.h"
#include "tree.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* A wrong function shows here: more than a tile, and ordinary numbers. */
static const char *telling_problem(const char *chapter)
{
	return chapter[1] == '2'   ? "--rows 3 --cols 300 --dim 20"
	       : chapter[1] == '3' ? "--m 40 --n 70 --k 65"
	                           : "--seq 100 --dim 24";
}

static char *put_regions(char *source, const char *other, const char *chapter)
{
	struct task tasks[MAX_TASKS];
	size_t count = read_tasks(tasks);
	for (size_t t = 0; t < count; t++) {
		if (strcmp(tasks[t].chapter, chapter) != 0)
			continue;
		char *own = region_of(source, tasks[t].id), *leaked = region_of(other, tasks[t].id);
		char *at = strstr(source, own);
		source = text("%.*s%s%s", (int)(at - source), source, leaked, at + strlen(own));
	}
	return source;
}

/* True if every kernel of the chapter verifies; false also when it does not even compile. */
static bool passes(const char *tree, const struct chapter_files *chapter, const char *source)
{
	char *path = text("%s/leaked-%s.cu", scratch_directory(), chapter->name);
	write_text(path, source);
	char *program = try_build_source(tree, chapter, path, "-O0 -w");
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

static char *source_of(const char *tree, const struct chapter_files *chapter)
{
	return read_text(text("%s/%s/%s.cu", tree, chapter->directory, chapter->name));
}

Test(leaks, files_of_another_class_fail, .timeout = 300)
{
	char *trees[CLASSES];
	solved_trees(trees);
	for (int c = 0; c < CHAPTERS; c++)
		for (int own = 1; own < CLASSES; own++) {
			cr_expect(
				passes(trees[own], &chapters[c], source_of(trees[own], &chapters[c])),
				"%s: %s does not pass in its own class", chapters[c].directory, keys[own]);
			cr_expect(
				!passes(trees[own], &chapters[c], source_of(trees[0], &chapters[c])),
				"%s: the course's file passes in %s", chapters[c].directory, keys[own]);
			cr_expect(
				!passes(trees[own], &chapters[c], source_of(trees[CLASSES - own], &chapters[c])),
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
				char *source = source_of(trees[own], &chapters[c]);
				if (leaked == own)
					continue;
				source = put_regions(
					source, source_of(trees[leaked], &chapters[c]), chapters[c].directory);
				cr_expect(
					!passes(trees[own], &chapters[c], source), "%s: tasks of %s pass in %s",
					chapters[c].directory, leaked ? keys[leaked] : "the course", keys[own]);
			}
}
