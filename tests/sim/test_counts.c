/*
 * Counts worked out a second time, from the addresses alone, by the plainest code: for each (access of the source,
 * occurrence) the set of lanes' addresses, its distinct sectors, its conflicts bank by bank. Nothing here knows how
 * the engine groups or counts.
 */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "program.h"
#include "report.h"

enum { MAX_OCCURRENCES = 1024, MAX_SITES = 4, NOBODY = -1 };

/* What one warp did at one site: address of each lane, at its k-th time there. */
struct site_log {
	int64_t address[MAX_OCCURRENCES][32];
	int times[32];
};

static struct site_log sites[MAX_SITES];

static void begin_warp(void)
{
	memset(sites, 0xff, sizeof sites); /* NOBODY */
	for (int s = 0; s < MAX_SITES; s++)
		memset(sites[s].times, 0, sizeof sites[s].times);
}

static void log_access(int site, unsigned lane, uint64_t address)
{
	int time = sites[site].times[lane]++;

	cr_assert(time < MAX_OCCURRENCES);
	sites[site].address[time][lane] = (int64_t)address;
}

static unsigned distinct_sectors(const int64_t address[32])
{
	unsigned count = 0;

	for (int i = 0; i < 32; i++) {
		int seen = address[i] == NOBODY;

		for (int j = 0; j < i; j++)
			seen |= address[j] != NOBODY && address[j] / 32 == address[i] / 32;
		count += !seen;
	}
	return count;
}

/* Lanes first ... first + count - 1 are served together: the fullest bank decides. Words of `width` bytes. */
static unsigned phase_conflicts(const int64_t address[32], int first, int count, int width)
{
	unsigned most = 0;

	for (int bank = 0; bank < 128 / width; bank++) {
		unsigned words = 0;

		for (int i = first; i < first + count; i++) {
			int skip = address[i] == NOBODY || address[i] / width % (128 / width) != bank;

			for (int j = first; j < i && !skip; j++)
				skip = address[j] != NOBODY && address[j] / width == address[i] / width;
			words += !skip;
		}
		most = words > most ? words : most;
	}
	return most;
}

static unsigned count_wavefronts(const int64_t address[32], unsigned size, uint64_t *ideal)
{
	const int width = size > 4 ? (int)size : 4, lanes = 128 / width;
	unsigned total = 0;

	for (int first = 0; first < 32; first += lanes) {
		unsigned conflicts = phase_conflicts(address, first, lanes, width);

		total += conflicts;
		*ideal += conflicts > 0;
	}
	return total;
}

static void end_warp(struct count *count, unsigned size, int shared)
{
	for (int s = 0; s < MAX_SITES; s++)
		for (int time = 0; time < MAX_OCCURRENCES; time++) {
			const int64_t *address = sites[s].address[time];
			unsigned lanes = 0;

			for (int i = 0; i < 32; i++)
				lanes += address[i] != NOBODY;
			if (lanes == 0)
				break;
			count->bytes += (uint64_t)lanes * size;
			count->requests++;
			count->parts +=
				shared ? count_wavefronts(address, size, &count->ideal) : distinct_sectors(address);
		}
}

static void expect_count(const char *what, const struct count *counted, const struct count *computed)
{
	cr_expect(counted->bytes == computed->bytes && counted->requests == computed->requests &&
	                  counted->parts == computed->parts && counted->ideal == computed->ideal,
	          "%s: counted %zu/%zu/%zu/%zu, from the addresses %zu/%zu/%zu/%zu", what, (size_t)counted->bytes,
	          (size_t)counted->requests, (size_t)counted->parts, (size_t)counted->ideal, (size_t)computed->bytes,
	          (size_t)computed->requests, (size_t)computed->parts, (size_t)computed->ideal);
}

static struct report run(const char *name, size_t launches)
{
	char *path = text("%s/report.json", scratch_directory());
	struct outcome outcome =
		run_program(LIST(text("%s/programs/%s", TEST_BUILD, name)), LIST(text("SIM_REPORT=%s", path)), 30);
	struct report report = read_report(path);

	cr_assert(outcome.status == 0, "%s: %s", name, outcome.err);
	cr_assert(report.launch_count == launches, "%s: %zu launches", name, report.launch_count);
	free_outcome(&outcome);
	return report;
}

/* ---- strides ---- */

static void check_global_strides(const struct report *report)
{
	for (unsigned offset = 0; offset < 4; offset++)
		for (unsigned k = 1; k <= 64; k++) {
			const struct launch *launch = &report->launches[64 * offset + k - 1];
			struct count load = {.bytes = 0};

			begin_warp();
			for (unsigned lane = 0; lane < 32; lane++)
				log_access(0, lane, 4 * (offset + k * lane));
			end_warp(&load, 4, 0);
			expect_count(text("stride %u, offset %u", k, offset), &launch->load, &load);
			if (offset == 0)
				cr_expect(launch->load.parts == (k < 8 ? 4 * k : 32),
				          "stride %u: %zu sectors, not min(32, 4k)", k, (size_t)launch->load.parts);
		}
}

static void check_shared_strides(const struct report *report, size_t first, unsigned size)
{
	for (unsigned k = 1; k <= 33; k++) {
		const struct launch *launch = &report->launches[first + k - 1];
		struct count count = {.bytes = 0};

		begin_warp();
		for (unsigned lane = 0; lane < 32; lane++)
			log_access(0, lane, size * k * lane);
		end_warp(&count, size, 1);
		expect_count(text("%u-byte load, stride %u", size, k), &launch->shared_load, &count);
		expect_count(text("%u-byte store, stride %u", size, k), &launch->shared_store, &count);
		/* the rule everybody knows: gcd(k, 32) lanes want the same bank */
		if (size == 4 && (k & (k - 1)) == 0)
			cr_expect(launch->shared_load.parts == k, "stride %u: not %u wavefronts", k, k);
		if (size == 4 && k % 2 == 1)
			cr_expect(launch->shared_load.parts == 1, "odd stride %u: not 1 wavefront", k);
		if (k == 1)
			cr_expect(launch->shared_load.ideal == (size <= 4 ? 1 : size / 4) &&
			                  launch->shared_load.parts == launch->shared_load.ideal,
			          "%u bytes: not by phases", size);
	}
}

Test(counts, strides)
{
	struct report report = run("strides", 256 + 5 * 33);

	check_global_strides(&report);
	for (unsigned i = 0; i < 5; i++)
		check_shared_strides(&report, 256 + 33 * i, 1u << i);
}

/* ---- the kernels of oracle.cu, written down again as addresses ---- */

enum { N = 4096 };

static unsigned mix(unsigned x)
{
	x = (x ^ 61) ^ (x >> 16);
	x *= 9;
	x ^= x >> 4;
	x *= 0x27d4eb2d;
	return x ^ x >> 15;
}

static void gather_lane(unsigned lane, unsigned i, unsigned char touched[4 * N])
{
	for (unsigned k = 0; k < mix(i) % 7; k++) {
		unsigned r = mix(1000 * i + k), index = r % 3 == 0 ? r % N : r % 3 == 1 ? (r / 8 + i) % N : i;

		log_access((int)(r % 3), lane, 4 * index);
		memset(touched + 4 * index, 1, 4);
	}
}

static uint64_t sum_bytes(const unsigned char *touched, size_t bytes)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < bytes; i++)
		sum += touched[i];
	return sum;
}

Test(counts, random_gather)
{
	struct report report = run("oracle", 3);
	static unsigned char touched[4 * N];
	struct count load = {.bytes = 0};

	for (unsigned block = 0; block < 3; block++)
		for (unsigned warp = 0; warp < 4; warp++) {
			begin_warp();
			for (unsigned t = 32 * warp; t < 32 * warp + 32 && t < 100; t++)
				gather_lane(t % 32, 100 * block + t, touched);
			end_warp(&load, 4, 0);
		}
	expect_count("gather", &report.launches[0].load, &load);
	cr_expect(report.launches[0].read_bytes == sum_bytes(touched, sizeof touched), "gather: footprint");
	cr_expect(load.requests > 100 && load.parts > load.requests, "the oracle saw nothing");
}

Test(counts, random_shared)
{
	struct report report = run("oracle", 3);
	struct count load = {.bytes = 0}, store = {.bytes = 0};

	for (unsigned block = 0; block < 2; block++)
		for (unsigned warp = 0; warp < 4; warp++) {
			begin_warp();
			for (unsigned t = 32 * warp; t < 32 * warp + 32; t++)
				for (unsigned k = t; k < 1024; k += 128)
					log_access(0, t % 32, 4 * k);
			end_warp(&store, 4, 1);
			begin_warp();
			for (unsigned t = 32 * warp; t < 32 * warp + 32; t++)
				for (unsigned k = 0; k < 8; k++)
					log_access(0, t % 32, 4 * (mix(t * 8 + k + block) % 1024));
			end_warp(&load, 4, 1);
		}
	expect_count("shared_random, stores", &report.launches[1].shared_store, &store);
	expect_count("shared_random, loads", &report.launches[1].shared_load, &load);
	cr_expect(load.parts > 2 * load.requests, "the oracle saw no conflicts");
}

Test(counts, unequal_loops)
{
	struct report report = run("oracle", 3);
	struct count load = {.bytes = 0};

	for (unsigned first = 0; first < 4 * 96; first += 32) {
		begin_warp();
		for (unsigned i = first; i < first + 32; i++) {
			unsigned trips = i % 64 == 0 ? 0 : mix(i) % (i % 5 == 0 ? 600 : 20);

			for (unsigned k = 0; k < trips; k++)
				log_access(0, i % 32, 8 * ((mix(i + 7) + 3 * k) % N));
		}
		end_warp(&load, 8, 0);
	}
	expect_count("unequal", &report.launches[2].load, &load);
	cr_expect(load.requests > 12 * 300, "the oracle saw no long loops");
}
