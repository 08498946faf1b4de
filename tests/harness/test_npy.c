/* .npy files: as numpy writes and reads them, and every bad file gets one line that names it. */
#include "problem/load.h"
#include "problem/npy.h"
#include "support/output_file.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[64];

static void make_directory(void)
{
	strcpy(directory, "/tmp/harness-npy-XXXXXX");
	cr_assert(mkdtemp(directory));
	cr_assert_eq(chdir(directory), 0);
}

static void remove_directory(void)
{
	DIR *open = opendir(".");
	for (struct dirent *entry; (entry = readdir(open));)
		if (entry->d_name[0] != '.' || strlen(entry->d_name) > 2)
			remove(entry->d_name);
	closedir(open);
	rmdir(directory);
}

TestSuite(npy, .init = make_directory, .fini = remove_directory);

static size_t count_files(void)
{
	size_t count = 0;
	DIR *open = opendir(".");
	for (struct dirent *entry; (entry = readdir(open));)
		count += entry->d_name[0] != '.';
	closedir(open);
	return count;
}

static void write_bytes(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");
	cr_assert_eq(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

/* A file of format `major` with this header text and `count` floats. */
static void write_raw(const char *path, int major, const char *header, const float *values, size_t count)
{
	FILE *file = fopen(path, "wb");
	size_t length = strlen(header);
	fwrite("\x93NUMPY", 1, 6, file);
	fputc(major, file), fputc(0, file);
	for (int i = 0; i < (major == 1 ? 2 : 4); i++)
		fputc((int)(length >> (8 * i) & 0xff), file);
	fputs(header, file);
	fwrite(values, sizeof *values, count, file);
	fclose(file);
}

static void expect_refused(const char *path, const char *part)
{
	struct npy array;
	struct error error = {0};
	cr_expect_eq(npy_read(path, false, &array, &error), EXIT_USAGE, "%s: %s", path, error.message);
	cr_expect(strstr(error.message, path) == error.message, "'%s' does not start with the file", error.message);
	cr_expect(strstr(error.message, part), "'%s' lacks '%s'", error.message, part);
	cr_expect(!strchr(error.message, '\n'));
	cr_expect_null(array.values);
}

static const float six[6] = {1, -2, 3.5f, 0, 1e-30f, -1e30f};

/* To the byte what numpy.save writes: version 1.0, the data at a multiple of 64. */
Test(npy, file_is_as_numpy_writes_it)
{
	const size_t shape[] = {2, 3};
	struct error error;
	char bytes[256] = {0};
	cr_assert_eq(npy_write("x.npy", six, shape, 2, &error), 0);
	FILE *file = fopen("x.npy", "rb");
	cr_assert_eq(fread(bytes, 1, sizeof bytes, file), 128 + sizeof six);
	fclose(file);
	cr_assert_eq(
		memcmp(bytes, "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
	               68),
		0);
	cr_assert_eq(bytes[127], '\n');
}

Test(npy, reads_version_2_and_any_key_order)
{
	struct error error;
	struct npy array;
	write_raw("v2.npy", 2, "{'shape':(2,3),'fortran_order':False , 'descr' : '<f4'}\n", six, 6);
	cr_assert_eq(npy_read("v2.npy", false, &array, &error), 0, "%s", error.message);
	cr_assert(array.rank == 2 && array.shape[0] == 2 && array.shape[1] == 3);
	free(array.values);
}

Test(npy, refuses_files_it_cannot_use)
{
#define HEADER(type, order, shape) "{'descr': " type ", 'fortran_order': " order ", 'shape': " shape ", }\n"
	static const struct {
		int major;
		const char *header;
		size_t count; /* of floats behind it */
		const char *says;
	} files[] = {
		{3, "{}", 0, "expected 1 or 2"},
		{1, HEADER("'<f8'", "False", "(3,)"), 6, "float64"},
		{1, HEADER("'<i4'", "False", "(6,)"), 6, "expected '<f4'"},
		{1, HEADER("'>f4'", "False", "(6,)"), 6, "little endian"},
		{1, HEADER("''", "False", "(6,)"), 6, "type '', expected '<f4'"},
		{1, HEADER("[('a', '<f4')]", "False", "(6,)"), 6, "expected '<f4'"},
		{1, HEADER("'<f4'", "True", "(2, 3)"), 6, "C order"},
		{1, HEADER("'<f4'", "False", "(1, 1, 1, 1, 6)"), 6, "at most 4"},
		{1, HEADER("'<f4'", "False", "()"), 1, "single number"},
		{1, HEADER("'<f4'", "False", "(2, 0)"), 0, "empty"},
		{1, HEADER("'<f4'", "False", "(-6,)"), 6, "whole numbers"},
		{1, "{'descr': '<f4', 'fortran_order': False, }\n", 6, "no shape"},
		{1, HEADER("'<f4'", "False", "(2, 4)"), 6, "truncated: holds 6 of the 8"},
		{1, HEADER("'<f4'", "False", "(5,)"), 6, "longer"},
		{1, HEADER("'<f4'", "False", "(99999999999, 99999999999)"), 6, "too large"},
		{1, HEADER("'<f4'", "False", "(999999999999,)"), 6, "truncated"},
	};
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		write_raw("x.npy", files[i].major, files[i].header, six, files[i].count);
		expect_refused("x.npy", files[i].says);
	}
	write_bytes("x.npy", "", 0);
	expect_refused("x.npy", "not a .npy file");
	write_bytes("x.npy", "hello, world", 12);
	expect_refused("x.npy", "not a .npy file");
	write_bytes("x.npy", "\x93NUMPY\x01\x00\x76\x00{'descr'", 19);
	expect_refused("x.npy", "truncated");
	expect_refused("missing.npy", "No such file");
	expect_refused("/tmp", "");
}

/* Kills: a byte behind what there is room for, an end that is missing, a part of a name that is left out. */
Test(npy, names_and_shapes_are_cut_where_there_is_no_room)
{
	static const size_t shape[] = {2, 34, 5};
	const char *const whole[] = {"a/dir/lse.npy", "(2, 34, 5)"};
	for (size_t size = 1; size < 20; size++)
		for (int i = 0; i < 2; i++) {
			char text[24];
			memset(text, '#', sizeof text);
			if (i == 0)
				tensor_path("a/dir", "LSE", text, size);
			else
				shape_to_text(shape, 3, text, size);
			cr_expect_eq(text[size], '#', "%s in %zu bytes", whole[i], size);
			text[size] = '\0';
			const size_t length = strlen(text), all = strlen(whole[i]);
			cr_expect_eq(
				length, size <= all ? size - 1 : all, "%s in %zu bytes: %s", whole[i], size, text);
			cr_expect_eq(strncmp(text, whole[i], length), 0, "%s in %zu bytes: %s", whole[i], size, text);
		}
}

Test(npy, output_goes_where_it_can_or_says_why)
{
	const size_t shape[] = {6};
	struct error error;
	cr_assert_eq(npy_write("no/such/place.npy", six, shape, 1, &error), EXIT_ENVIRONMENT);
	cr_assert(strstr(error.message, "no/such/place.npy: cannot be written"), "%s", error.message);
	cr_assert_eq(output_file_check(".", &error), EXIT_ENVIRONMENT);
	/* A device stays a device; a full one is noticed. */
	cr_assert_eq(npy_write("/dev/null", six, shape, 1, &error), 0);
	struct stat status;
	cr_assert(stat("/dev/null", &status) == 0 && S_ISCHR(status.st_mode));
	cr_assert_eq(npy_write("/dev/full", six, shape, 1, &error), EXIT_ENVIRONMENT);
	cr_assert(strstr(error.message, "/dev/full"), "%s", error.message);
	/* A link is followed, and the file keeps its permissions. */
	write_bytes("real.npy", "x", 1);
	cr_assert_eq(chmod("real.npy", 0640), 0);
	cr_assert_eq(symlink("real.npy", "link.npy"), 0);
	cr_assert_eq(npy_write("link.npy", six, shape, 1, &error), 0);
	cr_assert(lstat("link.npy", &status) == 0 && S_ISLNK(status.st_mode));
	cr_assert(stat("real.npy", &status) == 0 && (status.st_mode & 0777) == 0640 && status.st_size > 100);
}

/* Beside the old one, under a name that is free; the longest name of all has no room beside it. */
Test(npy, a_new_file_needs_a_name)
{
	char name[PATH_MAX], taken[64];
	struct error error;
	memset(name, '/', sizeof name);
	for (size_t i = 0; i < sizeof name - 8; i += 2)
		name[i] = '.';
	strcpy(name + sizeof name - 8, "abc.npy");
	cr_expect_eq(output_file_check(name, &error), EXIT_ENVIRONMENT);
	cr_expect_eq(errno, ENAMETOOLONG);
	cr_expect_eq(output_file_check(name + 64, &error), 0);
	for (int try = 0; try < 100; try++) {
		cr_expect_eq(output_file_check("new", &error), 0, "%d: %s", try, error.message);
		snprintf(taken, sizeof taken, "new.new.%ld.%d", (long)getpid(), try);
		write_bytes(taken, "", 0);
	}
	cr_expect_eq(output_file_check("new", &error), EXIT_ENVIRONMENT);
	cr_expect(strstr(error.message, strerror(EEXIST)), "%s", error.message);
	cr_expect_eq(output_directory_check("a", "a/x.npy", &error), 0);
	cr_expect_eq(output_directory_check("a///", "a///x.npy", &error), 0, "%s", error.message);
	cr_expect_eq(output_directory_check("no/a", "no/a/x.npy", &error), EXIT_ENVIRONMENT);
	cr_expect_eq(count_files(), 100);
}
