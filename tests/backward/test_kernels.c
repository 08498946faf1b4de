/*
 * Chapter 06's program, as a user runs it: every kernel right on every shape, its counts equal to the closed forms,
 * split the same to the bit in any order of threads, and unusable input refused in one line.
 */
#include "cases.h"
#include "finite_differences.h"
#include "first_tokens.h"
#include "json.h"
#include "page.h"
#include "problem/load.h"
#include "program.h"
#include "worse.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BACKWARD TEST_BUILD "/chapters/backward"
#define REAL     TEST_ROOT "/tests/data/real_qkv"

static struct outcome run_with(const char *line, const char *const environment[])
{
	return run_line(BACKWARD, line, environment, 120);
}

static struct outcome run(const char *line)
{
	return run_with(line, NOTHING);
}

static void expect_verified(const char *line)
{
	struct outcome o = run(line);
	cr_expect_eq(o.status, 0, "backward %s: exit %d\n%s%s", line, o.status, o.out, o.err);
	cr_expect_null(strstr(o.out, "skipped"), "backward %s: %s", line, o.out);
	free_outcome(&o);
}

/* ---- closed forms, counted again here, tile by tile ---- */

struct shape {
	size_t batch, heads, N, d;
	bool causal;
	size_t tile; /* 0: the default */
};

static size_t tile_of(const struct shape *s)
{
	return s->tile ? s->tile : s->d <= 64 ? 64 : 32;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* What one head's rows of the other kind stream past a block of tile rows, all tiles of the block's kind together. */
static size_t streamed_rows(const struct shape *s, bool keys_own)
{
	size_t sum = 0, T = tile_of(s);
	for (size_t own = 0; own < s->N; own += T)
		for (size_t other = 0; other < s->N; other += T) {
			size_t first_key = keys_own ? own : other;
			size_t last_query = least(keys_own ? other + T : own + T, s->N) - 1;
			if (!s->causal || first_key <= last_query)
				sum += least(T, s->N - other);
		}
	return sum;
}

struct moved {
	uint64_t read, write, atomic; /* bytes */
};

/* Elements requested of a tensor by a launch: what the text of the kernel asks for. */
static struct moved expected_of(const struct shape *s, const char *kernel, const char *tensor)
{
	size_t N = s->N, d = s->d, R = streamed_rows(s, true), K = streamed_rows(s, false);
	struct moved t = {0, 0, 0};
	const struct {
		const char *kernel, *tensors;
		size_t read, write, atomic;
	} rows[] = {
		{"forward", "Q", N * d, 0, 0},
		{"forward", "K V", K * d, 0, 0},
		{"forward", "O", 0, N * d, 0},
		{"forward", "LSE", 0, N, 0},
		{"probabilities", "Q K", N * N * d, 0, 0},
		{"probabilities", "P", 0, N * N, 0},
		{"gradient_of_v", "P dO", N * N * d, 0, 0},
		{"gradient_of_v", "dV", 0, N * d, 0},
		{"gradient_of_p", "V dO", N * N * d, 0, 0},
		{"gradient_of_p", "dP", 0, N * N, 0},
		{"gradient_of_s", "P dP", 2 * N * N, 0, 0},
		{"gradient_of_s", "dS", 0, N * N, 0},
		{"gradient_of_q", "dS K", N * N * d, 0, 0},
		{"gradient_of_q", "dQ", 0, N * d, 0},
		{"gradient_of_k", "dS Q", N * N * d, 0, 0},
		{"gradient_of_k", "dK", 0, N * d, 0},
		{"backward_preprocess", "dO O", N * d, 0, 0},
		{"backward_preprocess", "D", 0, N, 0},
		{"backward_dkdv", "K V", N * d, 0, 0},
		{"backward_dkdv", "Q dO", R * d, 0, 0},
		{"backward_dkdv", "LSE D", R, 0, 0},
		{"backward_dkdv", "dK dV", 0, N * d, 0},
		{"backward_dq", "Q dO", N * d, 0, 0},
		{"backward_dq", "K V", K * d, 0, 0},
		{"backward_dq", "LSE D", N, 0, 0},
		{"backward_dq", "dQ", 0, N * d, 0},
		{"backward_atomic", "K V", N * d, 0, 0},
		{"backward_atomic", "Q dO", R * d, 0, 0},
		{"backward_atomic", "LSE D", R, 0, 0},
		{"backward_atomic", "dK dV", 0, N * d, 0},
		{"backward_atomic", "dQ", 0, 0, R * d},
	};
	uint64_t bytes = 4 * s->batch * s->heads;
	/* Every query asks for L once for each key it sees: a broadcast that costs one sector. */
	if (strcmp(kernel, "probabilities") == 0 && strcmp(tensor, "LSE") == 0)
		t.read = bytes * N * N;
	for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
		char list[32], *rest = list;
		snprintf(list, sizeof list, "%s", rows[r].tensors);
		for (char *name; (name = strtok_r(rest, " ", &rest));)
			if (strcmp(rows[r].kernel, kernel) == 0 && strcmp(name, tensor) == 0)
				t = (struct moved){
					.read = bytes * rows[r].read,
					.write = bytes * rows[r].write,
					.atomic = bytes * rows[r].atomic};
	}
	return t;
}

static uint64_t expected_exponentials(const struct shape *s, const char *kernel)
{
	uint64_t pairs = s->causal ? s->N * (s->N + 1) / 2 : s->N * s->N;
	bool weighs = strcmp(kernel, "probabilities") == 0 || strcmp(kernel, "backward_dkdv") == 0 ||
	              strcmp(kernel, "backward_dq") == 0 || strcmp(kernel, "backward_atomic") == 0;
	return weighs ? s->batch * s->heads * pairs : 0;
}

static const char *const launches_of_all[] = {
	"forward",
	"probabilities",
	"gradient_of_v",
	"gradient_of_p",
	"gradient_of_s",
	"gradient_of_q",
	"gradient_of_k",
	"forward",
	"backward_preprocess",
	"backward_dkdv",
	"backward_dq",
	"forward",
	"backward_preprocess",
	"backward_atomic",
};
enum { LAUNCHES = sizeof launches_of_all / sizeof launches_of_all[0] };

static struct moved moved_of(const cJSON *tensor)
{
	const cJSON *requested = json_get(tensor, "requested");
	bool has_atomics = cJSON_HasObjectItem(requested, "atomic_bytes");
	return (struct moved){
		(uint64_t)json_number_of(requested, "read_bytes"), (uint64_t)json_number_of(requested, "write_bytes"),
		has_atomics ? (uint64_t)json_number_of(requested, "atomic_bytes") : 0};
}

static void compare_tensor(const char *what, const cJSON *tensor, struct moved expected)
{
	struct moved got = moved_of(tensor);
	cr_expect(
		got.read == expected.read && got.write == expected.write && got.atomic == expected.atomic,
		"%s, %s: read %zu write %zu atomic %zu bytes, expected %zu %zu %zu", what,
		json_string_of(tensor, "name"), (size_t)got.read, (size_t)got.write, (size_t)got.atomic,
		(size_t)expected.read, (size_t)expected.write, (size_t)expected.atomic);
}

static void compare_launch(const char *line, const struct shape *s, const cJSON *launch)
{
	static const struct {
		const char *kernel;
		int tensors;
	} touched[] = {{"forward", 5},       {"probabilities", 4}, {"gradient_of_v", 3},  {"gradient_of_p", 3},
	               {"gradient_of_s", 3}, {"gradient_of_q", 3}, {"gradient_of_k", 3},  {"backward_preprocess", 3},
	               {"backward_dkdv", 8}, {"backward_dq", 7},   {"backward_atomic", 9}};
	const char *kernel = json_string_of(launch, "kernel"), *what = text("%s: %s", line, kernel);
	const cJSON *tensors = json_get(launch, "tensors"), *tensor, *hazards;
	int tensor_count = cJSON_GetArraySize(tensors);
	for (size_t k = 0; k < sizeof touched / sizeof touched[0]; k++)
		if (strcmp(touched[k].kernel, kernel) == 0)
			cr_expect_eq(tensor_count, touched[k].tensors, "%s touched %d tensors", what, tensor_count);
	cJSON_ArrayForEach(tensor, tensors)
		compare_tensor(what, tensor, expected_of(s, kernel, json_string_of(tensor, "name")));
	if (strcmp(kernel, "forward") != 0) {
		double exponentials = json_number_of(launch, "exp");
		cr_expect_eq(
			exponentials, (double)expected_exponentials(s, kernel), "%s: %g exponentials", what,
			exponentials);
	}
	cJSON_ArrayForEach(hazards, json_get(launch, "hazards"))
		cr_expect_eq(hazards->valuedouble, 0, "%s: %s", what, hazards->string);
	/* No bank conflicts of loads in any kernel with tiles; where lanes share addresses, fewer passes than phases.
	 */
	const cJSON *shared = json_get(launch, "shared"), *load = json_get(shared, "load"),
		    *store = json_get(shared, "store");
	cr_expect_eq(json_number_of(load, "conflicts"), 0, "%s", what);
	cr_expect_leq(json_number_of(load, "wavefronts"), json_number_of(load, "ideal_wavefronts"), "%s", what);
	cr_expect_leq(json_number_of(store, "wavefronts"), 2 * json_number_of(store, "ideal_wavefronts"), "%s", what);
}

/* The lines of a SIM_REPORT as an array. Each is a launch: a hazard has a line of its own and fails the test. */
static cJSON *read_launches(const char *path)
{
	char *rest = read_text(path), *line;
	cJSON *launches = cJSON_CreateArray();
	cr_assert_not_null(rest, "%s: no report was written", path);
	while ((line = strsep(&rest, "\n")) && *line) {
		cJSON *launch = cJSON_ParseWithOpts(line, NULL, true);
		cr_assert_not_null(launch, "%s: no JSON object: %s", path, line);
		cr_expect_str_eq(json_string_of(launch, "type"), "launch", "%s", line);
		cJSON_AddItemToArray(launches, launch);
	}
	cr_assert_null(rest ? strchr(rest, '{') : NULL, "%s: an empty line", path);
	return launches;
}

/* All three kernels verified (the models included), every launch as it should be. `more`: further options. Races are
 * looked for up to 100 rows, which are two tiles and more, on the usual input. */
static void check_shape(const struct shape *s, const char *more)
{
	const char *checks = s->N > 100 || *more ? without_racecheck() : NULL;
	char *report_path = text("%s/report", scratch_directory());
	char *tile = s->tile ? text("--tile-k %zu", s->tile) : "";
	char *line =
		text("--batch %zu --heads %zu --seq %zu --dim %zu %s %s %s --quiet", s->batch, s->heads, s->N, s->d,
	             s->causal ? "--causal" : "--seed 3", tile, more);
	struct outcome o = run_with(line, LIST(text("SIM_REPORT=%s", report_path), checks));
	cr_expect_eq(o.status, 0, "backward %s: exit %d\n%s%s", line, o.status, o.out, o.err);
	if (o.status == 0) {
		cJSON *launches = read_launches(report_path);
		int count = cJSON_GetArraySize(launches), i = 0;
		const cJSON *launch;
		cr_assert_eq(count, LAUNCHES, "%s: %d launches", line, count);
		cJSON_ArrayForEach(launch, launches)
		{
			cr_expect_str_eq(json_string_of(launch, "kernel"), launches_of_all[i++]);
			compare_launch(line, s, launch);
		}
		cJSON_Delete(launches);
	}
	free_outcome(&o);
}

/* Every N of the list with two or three dimensions, every dimension with three N or more; every other one causal. In
 * make test one dimension each, so that all come, up to 40 for a long N; the shapes after the list are wide. */
Test(kernels, all_shapes)
{
	static const size_t lengths[] = {1, 2, 17, 29, 30, 31, 32, 33, 63, 64, 65, 97, 113, 128, 200, 257};
	static const size_t dims[] = {1, 8, 32, 40, 59, 64, 80, 96, 111, 128};
	size_t turn = 0;
	for (size_t n = 0; n < sizeof lengths / sizeof lengths[0]; n++)
		for (size_t k = 0; k < (lengths[n] < 97 ? 3 : 2); k++, turn++) {
			if (!thorough() && k != 0)
				continue;
			size_t d = !thorough() && lengths[n] > 100 ? (19 - n) % 4 : (3 * n + 4 * k) % 10;
			struct shape s = {1, 1, lengths[n], dims[d], turn % 2 == 0, 0};
			check_shape(&s, "");
		}
	check_shape(&(struct shape){2, 1, 33, 111, false, 0}, "");
	check_shape(&(struct shape){1, 2, 65, 64, true, 32}, "");
	check_shape(&(struct shape){1, 1, 66, 128, true, 64}, "");
	check_shape(&(struct shape){1, 1, 65, 96, false, 64}, "");
	if (thorough()) {
		check_shape(&(struct shape){2, 3, 33, 40, true, 0}, "");
		check_shape(&(struct shape){3, 2, 65, 111, false, 0}, "");
		check_shape(&(struct shape){1, 2, 97, 64, true, 32}, "");
		check_shape(&(struct shape){1, 1, 130, 128, true, 64}, "");
		check_shape(&(struct shape){1, 1, 70, 96, false, 64}, "");
	}
}

/* The cases that mistakes do not survive (test_mistakes.c). */
Test(kernels, every_case_that_finds_a_mistake)
{
	for (size_t i = 0; i < BACKWARD_CASES; i++)
		expect_verified(text("%s --quiet", backward_cases[i].options));
}

Test(kernels, all_inputs)
{
	static const char *const kinds[] = {"large-logits", "very-negative", "constant", "one-hot", "ramp"};
	static const struct shape shapes[] = {
		{1, 1, 113, 64, false, 0},
		{1, 1, 65, 111, true, 0},
		{1, 2, 33, 8, true, 0},
		{1, 1, 45, 40, false, 32}};
	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
		for (size_t i = thorough() ? 0 : 2; i < sizeof shapes / sizeof shapes[0]; i++)
			check_shape(&shapes[i], text("--input %s", kinds[k]));
	check_shape(&shapes[thorough() ? 0 : 3], "--scale -0.7");
	check_shape(&shapes[thorough() ? 1 : 2], "--scale 0");
}

/* Each output with its own worst element, and what the comparison was worth. */
static void expect_judged(const char *options, const char *not_judged)
{
	cJSON *json = run_json(BACKWARD, text("--kernel backward_split %s", options), 0);
	const cJSON *kernel = json_get(json, "kernels")->child, *output;
	int count = 0;
	cr_expect(cJSON_IsTrue(json_get(kernel, "verified")), "%s", options);
	cJSON_ArrayForEach(output, json_get(kernel, "outputs"))
	{
		const char *tensor = json_string_of(output, "tensor");
		bool judged = cJSON_IsTrue(json_get(output, "judged"));
		cr_expect_eq(
			judged, !strstr(not_judged, tensor), "%s: %s, power %g", options, tensor,
			json_number_of(output, "power"));
		cr_expect_eq(judged, json_number_of(output, "power") >= 1.0, "%s: %s", options, tensor);
		cr_expect_eq(judged, cJSON_HasObjectItem(output, "least_power"), "%s: %s", options, tensor);
		cr_expect_leq(json_number_of(output, "max_abs"), json_number_of(output, "tolerance"));
		count++;
	}
	cr_expect_eq(count, 5, "O, LSE, dQ, dK, dV");
	cJSON_Delete(json);
}

Test(kernels, each_output_says_whether_it_was_judged)
{
	expect_judged("--seq 45 --dim 64", "");
	expect_judged("--seq 113 --dim 64 --input large-logits", "");
	expect_judged("--seq 45 --dim 64 --input very-negative --causal", "");
	expect_judged("--seq 45 --dim 64 --input constant", "dQ"); /* equal keys: a query cannot choose */
	expect_judged("--seq 1 --dim 8", "dQ dK");                 /* one key: its weight is 1 whatever q and k are */
	struct outcome o = run("--seq 1 --dim 8 --verbose");
	cr_expect_eq(o.status, 0);
	cr_expect(strstr(o.out, "not judged: rounding may exceed the result"), "%s", o.out);
	free_outcome(&o);
}

/* ---- files ---- */

static float *read_values(const char *directory, const char *name, size_t count)
{
	struct npy array;
	struct error error;
	cr_assert_eq(npy_read(text("%s/%s.npy", directory, name), true, &array, &error), 0, "%s", error.message);
	size_t elements = shape_elements(array.shape, array.rank);
	cr_assert(count == 0 || elements == count, "%s: %zu elements", name, elements);
	return array.values;
}

static size_t count_files(const char *directory)
{
	size_t count = 0;
	DIR *open = opendir(directory);
	for (struct dirent *entry; open && (entry = readdir(open));)
		count += entry->d_name[0] != '.';
	if (open)
		closedir(open);
	return count;
}

static void save_inputs(const char *directory, const struct setting *s)
{
	const size_t shape[] = {s->inputs.batch, s->inputs.heads, s->inputs.seq, s->inputs.dim};
	struct error error;
	for (int t = 0; t < TENSORS; t++)
		cr_assert_eq(
			save_tensor(directory, tensor_names[t], s->tensors[t], shape, 4, &error), 0, "%s",
			error.message);
}

/*
 * The fp32 kernels against finite differences of the double-precision forward. What fp32 allows on this problem: the
 * gradients themselves are off by some 2e-7 of the largest, the differences by less than 1e-6.
 */
Test(kernels, finite_differences)
{
	static const char *const kernels[] = {"backward_naive", "backward_split", "backward_atomic"};
	static const char *const gradients[] = {"dq", "dk", "dv"};
	for (int causal = 0; causal < 2; causal++) {
		struct setting s = set_up(1, 1, 17, 8, causal, 0.35355339f);
		const char *directory = scratch_directory();
		save_inputs(directory, &s);
		double *difference[3], size[3] = {0};
		for (int t = 0; t < 3; t++) {
			difference[t] = calloc(s.elements, sizeof(double));
			for (size_t i = 0; i < s.elements; i++) {
				difference[t][i] = finite_difference(&s, t, i);
				size[t] = fmax(size[t], fabs(difference[t][i]));
			}
		}
		for (int k = 0; k < 3; k++) {
			char *out = text("%s/%s", directory, kernels[k]);
			expect_verified(
				text("--load %s --save %s --kernel %s --scale 0.35355339 %s --quiet", directory, out,
			             kernels[k], causal ? "--causal" : ""));
			for (int t = 0; t < 3; t++) {
				float *got = read_values(out, gradients[t], s.elements);
				double error = 0.0;
				for (size_t i = 0; i < s.elements; i++)
					error = worse_of(error, fabs((double)got[i] - difference[t][i]));
				cr_log_info("%s %s causal=%d: %g", kernels[k], gradients[t], causal, error / size[t]);
				cr_expect(
					error / size[t] <= 2e-6, "%s of %s, causal=%d: %g", gradients[t], kernels[k],
					causal, error / size[t]);
				free(got);
			}
		}
		for (int t = 0; t < 3; t++)
			free(difference[t]);
		tear_down(&s);
	}
}

/* ---- order ---- */

static const char *const outputs[] = {"dq", "dk", "dv", "o", "lse"};
enum { OUTPUTS = sizeof outputs / sizeof outputs[0], ORDERS = 20, N = 97, HEADS = 2, DIM = 40 };

static size_t elements_of(int output)
{
	return (size_t)HEADS * N * (output == 4 ? 1 : DIM);
}

static void run_in_order(const char *kernel, const char *directory, const char *order, float *values[OUTPUTS])
{
	char *line =
		text("--kernel %s --seq %d --heads %d --dim %d --tile-k 32 --causal --save %s --quiet", kernel, N,
	             HEADS, DIM, directory);
	struct outcome o = run_with(line, LIST(order, "SIM_THREADS=1", without_racecheck()));
	cr_assert_eq(o.status, 0, "%s %s: %s%s", order, line, o.out, o.err);
	free_outcome(&o);
	for (int t = 0; t < OUTPUTS; t++)
		values[t] = read_values(directory, outputs[t], elements_of(t));
}

static void free_values(float *values[OUTPUTS])
{
	for (int t = 0; t < OUTPUTS; t++)
		free(values[t]);
}

Test(kernels, split_is_the_same_to_the_bit_in_any_order)
{
	const char *directory = scratch_directory();
	float *first[OUTPUTS], *other[OUTPUTS];
	run_in_order("backward_split", directory, "SIM_ORDER=forward", first);
	for (int k = 0; k < (thorough() ? ORDERS : 3); k++) {
		run_in_order(
			"backward_split", directory, k == 0 ? "SIM_ORDER=reverse" : text("SIM_ORDER=shuffle:%d", k),
			other);
		for (int t = 0; t < OUTPUTS; t++)
			cr_expect_eq(
				memcmp(first[t], other[t], elements_of(t) * sizeof(float)), 0,
				"%s differs in order %d", outputs[t], k);
		free_values(other);
	}
	free_values(first);
}

/* dQ moves in its last bits; what no atomic adds up stays. */
Test(kernels, atomic_differs_in_the_last_bits_of_dq)
{
	const char *directory = scratch_directory();
	float *first[OUTPUTS], *other[OUTPUTS];
	double largest = 0.0, moved = 0.0;
	int differing = 0;
	run_in_order("backward_atomic", directory, "SIM_ORDER=forward", first);
	for (int k = 1; k <= (thorough() ? 5 : 2); k++) {
		run_in_order("backward_atomic", directory, text("SIM_ORDER=shuffle:%d", k), other);
		differing += memcmp(first[0], other[0], elements_of(0) * sizeof(float)) != 0;
		for (size_t i = 0; i < elements_of(0); i++) {
			moved = worse_of(moved, fabs((double)first[0][i] - (double)other[0][i]));
			largest = fmax(largest, fabs((double)first[0][i]));
		}
		for (int t = 1; t < OUTPUTS; t++)
			cr_expect_eq(memcmp(first[t], other[t], elements_of(t) * sizeof(float)), 0, "%s", outputs[t]);
		free_values(other);
	}
	cr_expect_geq(differing, 1, "dQ was the same in all orders");
	cr_expect(moved / largest < 1e-6, "dQ moved by %g of its largest element", moved / largest);
	free_values(first);
}

/* ---- memory, files, refusals ---- */

Test(kernels, memory_is_linear_without_the_matrices)
{
	for (size_t n = 16; n <= (thorough() ? 256 : 64); n *= 2) {
		cJSON *json = run_json(BACKWARD, text("--seq %zu --dim 16", n), 0);
		size_t line = 8 * n * 16, square = 3 * n * n; /* Q K V dO O dQ dK dV; P dP dS; LSE, D have n */
		const size_t expected[] = {4 * (line + square + n), 4 * (line + 2 * n), 4 * (line + 2 * n)};
		static const char *const kernels[] = {"backward_naive", "backward_split", "backward_atomic"};
		for (int k = 0; k < 3; k++) {
			const cJSON *kernel = json_named(json_get(json, "kernels"), kernels[k]);
			cr_expect_eq(
				json_number_of(kernel, "peak_bytes"), (double)expected[k], "%s, N=%zu", kernels[k],
				n);
		}
		cJSON_Delete(json);
	}
}

/* A float of shared memory for each of its multiplications would make memory the bound; a register tile shares it. */
Test(kernels, shared_memory_reads_per_product)
{
	static const struct {
		const char *kernel;
		double products; /* of N² d, here of one tile of 64 */
		double most;
	} kernels[] = {{"backward_dkdv", 4, 0.40}, {"backward_dq", 3, 0.40}, {"backward_atomic", 5, 0.40}};
	char *path = text("%s/report", scratch_directory());
	struct outcome o = run_with("--seq 64 --dim 64 --quiet", LIST(text("SIM_REPORT=%s", path)));
	cr_assert_eq(o.status, 0);
	cJSON *launches = read_launches(path);
	for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
		size_t found = 0;
		const cJSON *launch;
		cJSON_ArrayForEach(launch, launches)
		{
			if (strcmp(json_string_of(launch, "kernel"), kernels[k].kernel) != 0)
				continue;
			double bytes = json_number_of(json_get(json_get(launch, "shared"), "load"), "bytes");
			double reads = bytes / 4 / (kernels[k].products * 64 * 64 * 64);
			cr_log_info("%s: %g", kernels[k].kernel, reads);
			cr_expect(
				reads > 0.25 && reads <= kernels[k].most, "%s: %g reads a product", kernels[k].kernel,
				reads);
			found++;
		}
		cr_expect_eq(found, 1);
	}
	cJSON_Delete(launches);
	free_outcome(&o);
}

Test(kernels, a_query_that_sees_no_key)
{
	struct outcome o = run_program(LIST(TEST_BUILD "/backward/no_visible_key"), NOTHING, 60);
	cr_expect_eq(o.status, 0, "%s%s", o.out, o.err);
	free_outcome(&o);
}

Test(kernels, real_text)
{
	const char *directory = scratch_directory();
	const size_t tokens = thorough() ? 512 : 45;
	struct outcome o =
		run(text("--load %s --causal --save %s/out", thorough() ? REAL : first_tokens(tokens), directory));
	cr_assert_eq(o.status, 0, "%s%s", o.out, o.err);
	cr_expect(strstr(o.out, "dO is not among it: standard normal, seed 1"), "%s", o.out);
	cr_expect_eq(count_files(text("%s/out", directory)), 5);
	const size_t shape[] = {1, 2, tokens, 64};
	for (int t = 0; t < OUTPUTS; t++) {
		struct npy array;
		struct error error;
		cr_assert_eq(npy_read(text("%s/out/%s.npy", directory, outputs[t]), false, &array, &error), 0);
		cr_expect_eq(array.rank, t == 4 ? 3 : 4);
		cr_expect_eq(memcmp(array.shape, shape, array.rank * sizeof shape[0]), 0, "%s", outputs[t]);
		free(array.values);
	}
	free_outcome(&o);
}

Test(kernels, a_saved_gradient_is_the_one_that_is_loaded)
{
	struct setting s = set_up(1, 2, 33, 8, false, 0.35355339f);
	char *directory = text("%s/in", scratch_directory()), *zero = text("%s/zero", scratch_directory());
	save_inputs(directory, &s);
	struct outcome o = run(text("--load %s --save %s/out", directory, directory));
	cr_assert_eq(o.status, 0, "%s%s", o.out, o.err);
	cr_expect_null(strstr(o.out, "not among it"), "%s", o.out);
	free_outcome(&o);
	memset(s.tensors[3], 0, s.elements * sizeof(float));
	save_inputs(zero, &s);
	expect_verified(text("--load %s --save %s/out --quiet", zero, zero));
	for (int t = 0; t < 3; t++) {
		float *some = read_values(text("%s/out", directory), outputs[t], s.elements);
		float *none = read_values(text("%s/out", zero), outputs[t], s.elements);
		double sum = 0.0, zeros = 0.0;
		for (size_t i = 0; i < s.elements; i++)
			sum += fabs((double)some[i]), zeros += fabs((double)none[i]);
		cr_expect(sum > 1.0, "%s", outputs[t]);
		cr_expect_eq(zeros, 0.0, "%s of dO = 0", outputs[t]);
		free(some);
		free(none);
	}
	tear_down(&s);
}

static void expect_refused(const char *line, int status, const char *part)
{
	expect_refusal(BACKWARD, line, status, part);
}

Test(kernels, what_cannot_be_is_refused)
{
	char *directory = text("%s/in", scratch_directory());
	struct setting s = set_up(1, 1, 9, 4, false, 0.5f);
	save_inputs(directory, &s);
	expect_refused("--seq 0", 2, "--seq: expected a whole number from 1");
	expect_refused("--dim 129", 2, "--dim: expected a whole number from 1 to 128");
	expect_refused("--rows 3", 2, "--rows: does not apply to this chapter");
	expect_refused("--kernel naive", 2, "expected one of backward_naive, backward_split, backward_atomic");
	expect_refused("--tile-q 48", 3, "32 x 32 or 64 x 64");
	expect_refused("--tile-q 32 --tile-k 64", 3, "tiles of 32 queries x 64 keys");
	expect_refused(
		"--kernel backward_split --tile-q 64 --dim 128 --gpu rtx4090", 3,
		"154,112 bytes of shared memory per block, the limit of NVIDIA GeForce RTX 4090 is 101,376");
	expect_refused(text("--load %s --seq 8", directory), 2, "expected 8 for N");

	write_text(text("%s/do.npy", directory), "not numpy");
	expect_refused(text("--load %s", directory), 2, "do.npy: is not a .npy file");
	const size_t wrong[] = {1, 1, 9, 5};
	struct error error;
	float values[45] = {0};
	cr_assert_eq(save_tensor(directory, "dO", values, wrong, 4, &error), 0);
	expect_refused(text("--load %s", directory), 2, "do.npy: shape (1, 1, 9, 5), expected 4 for d");
	s.tensors[3][7] = NAN;
	save_inputs(directory, &s);
	expect_refused(text("--load %s", directory), 2, "do.npy");
	tear_down(&s);
}

/* The default tiles fit every GPU of the table at every dimension. */
Test(kernels, default_tiles_fit_everywhere)
{
	static const int dims[] = {32, 64, 96, 128};
	for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++)
		expect_verified(text("--seq 3 --dim %d --gpu rtx4090 --quiet", dims[i]));
	expect_verified("--seq 3 --dim 128 --tile-q 64 --gpu a100 --quiet");
}

/* In make test a small problem: `make` runs the whole one, and test-all compares its screen with the page. */
Test(kernels, demonstration_is_one_screen)
{
	struct outcome o = run(thorough() ? "" : "--seq 40 --dim 64 --heads 2 --causal");
	cr_assert_eq(o.status, 0, "%s", o.err);
	expect_screen(o.out);
	free_outcome(&o);
}
