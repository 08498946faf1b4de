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

/* ---- shared memory: 32 banks of 4 bytes ---- */

enum memory { GLOBAL, SHARED_LOAD, SHARED_STORE };

/* Lanes first ... first + count - 1 are served together: the bank with most distinct words decides. */
static unsigned words_of_fullest_bank(const int64_t address[32], int first, int count, int size)
{
	unsigned most = 0;

	for (int64_t bank = 0; bank < 32; bank++) {
		int64_t words[4 * 32];
		unsigned distinct = 0;

		for (int i = first; i < first + count; i++)
			for (int64_t byte = 0; byte < size && address[i] != NOBODY; byte++) {
				int64_t word = (address[i] + byte) / 4;
				unsigned at = 0;

				if (word % 32 != bank)
					continue;
				while (at < distinct && words[at] != word)
					at++;
				words[at] = word;
				distinct += at == distinct;
			}
		most = distinct > most ? distinct : most;
	}
	return most;
}

/* Every active lane finds the lane `distance` away at the same address, or inactive. */
static int all_partners_share(const int64_t address[32], int distance)
{
	for (int i = 0; i < 32; i++)
		if (address[i] != NOBODY && address[i ^ distance] != NOBODY && address[i ^ distance] != address[i])
			return 0;
	return 1;
}

static void count_shared(struct count *count, const int64_t address[32], int size, int is_load)
{
	const int lanes = size <= 4 ? 32 : 128 / size;
	const int merged = is_load && size > 4 && (all_partners_share(address, 1) || all_partners_share(address, 2));
	const int at_once = merged ? 2 * lanes : lanes;

	for (int first = 0; first < 32; first += lanes)
		count->ideal += words_of_fullest_bank(address, first, lanes, size) > 0;
	for (int first = 0; first < 32; first += at_once) {
		unsigned words = words_of_fullest_bank(address, first, at_once, size);

		count->parts += words;
		count->conflicts += words > 0 ? words - 1 : 0;
	}
}

static void end_warp(struct count *count, unsigned size, enum memory memory)
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
			if (memory == GLOBAL)
				count->parts += distinct_sectors(address);
			else
				count_shared(count, address, (int)size, memory == SHARED_LOAD);
		}
}

static void expect_count(const char *what, const struct count *counted, const struct count *computed)
{
	cr_expect(counted->bytes == computed->bytes && counted->requests == computed->requests &&
	                  counted->parts == computed->parts && counted->ideal == computed->ideal &&
	                  counted->conflicts == computed->conflicts,
	          "%s: counted %zu/%zu/%zu/%zu/%zu, from the addresses %zu/%zu/%zu/%zu/%zu", what,
	          (size_t)counted->bytes, (size_t)counted->requests, (size_t)counted->parts, (size_t)counted->ideal,
	          (size_t)counted->conflicts, (size_t)computed->bytes, (size_t)computed->requests,
	          (size_t)computed->parts, (size_t)computed->ideal, (size_t)computed->conflicts);
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
			end_warp(&load, 4, GLOBAL);
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
		struct count load = {.bytes = 0}, store = {.bytes = 0};

		begin_warp();
		for (unsigned lane = 0; lane < 32; lane++)
			log_access(0, lane, size * k * lane);
		end_warp(&load, size, SHARED_LOAD);
		end_warp(&store, size, SHARED_STORE);
		expect_count(text("%u-byte load, stride %u", size, k), &launch->shared_load, &load);
		expect_count(text("%u-byte store, stride %u", size, k), &launch->shared_store, &store);
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

enum { N = 4096, WIDE_ELEMENTS = 128, ROUNDS = 64 };

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
	struct report report = run("oracle", 9);
	static unsigned char touched[4 * N];
	struct count load = {.bytes = 0};

	for (unsigned block = 0; block < 3; block++)
		for (unsigned warp = 0; warp < 4; warp++) {
			begin_warp();
			for (unsigned t = 32 * warp; t < 32 * warp + 32 && t < 100; t++)
				gather_lane(t % 32, 100 * block + t, touched);
			end_warp(&load, 4, GLOBAL);
		}
	expect_count("gather", &report.launches[0].load, &load);
	cr_expect(report.launches[0].read_bytes == sum_bytes(touched, sizeof touched), "gather: footprint");
	cr_expect(load.requests > 100 && load.parts > load.requests, "the oracle saw nothing");
}

Test(counts, random_shared)
{
	struct report report = run("oracle", 9);
	struct count load = {.bytes = 0}, store = {.bytes = 0};

	for (unsigned block = 0; block < 2; block++)
		for (unsigned warp = 0; warp < 4; warp++) {
			begin_warp();
			for (unsigned t = 32 * warp; t < 32 * warp + 32; t++)
				for (unsigned k = t; k < 1024; k += 128)
					log_access(0, t % 32, 4 * k);
			end_warp(&store, 4, SHARED_STORE);
			begin_warp();
			for (unsigned t = 32 * warp; t < 32 * warp + 32; t++)
				for (unsigned k = 0; k < 8; k++)
					log_access(0, t % 32, 4 * (mix(t * 8 + k + block) % 1024));
			end_warp(&load, 4, SHARED_LOAD);
		}
	expect_count("shared_random, stores", &report.launches[1].shared_store, &store);
	expect_count("shared_random, loads", &report.launches[1].shared_load, &load);
	cr_expect(load.parts > 2 * load.requests, "the oracle saw no conflicts");
}

Test(counts, unequal_loops)
{
	struct report report = run("oracle", 9);
	struct count load = {.bytes = 0};

	for (unsigned first = 0; first < 4 * 96; first += 32) {
		begin_warp();
		for (unsigned i = first; i < first + 32; i++) {
			unsigned trips = i % 64 == 0 ? 0 : mix(i) % (i % 5 == 0 ? 600 : 20);

			for (unsigned k = 0; k < trips; k++)
				log_access(0, i % 32, 8 * ((mix(i + 7) + 3 * k) % N));
		}
		end_warp(&load, 8, GLOBAL);
	}
	expect_count("unequal", &report.launches[2].load, &load);
	cr_expect(load.requests > 12 * 300, "the oracle saw no long loops");
}

/* oracle.cu's choose() and choose_own() */
static int choose(unsigned round, unsigned warp, unsigned lane)
{
	unsigned r = mix(977 * round + 31 * warp), active = (r >> 8) % 5;
	const unsigned pair = lane / 2, crossed = lane / 4 * 2 + lane % 2, strays = lane == (r >> 16) % 32;
	const unsigned groups[] = {
		pair, crossed, lane / 4, lane < 16 ? pair : crossed, strays ? 99 : pair, strays ? 99 : crossed, lane};
	const unsigned group = groups[r % 7];

	if ((active == 1 && mix(r + lane) % 8 == 0) || (active == 2 && lane % 2) || (active == 3 && lane & 2) ||
	    (active == 4 && mix(r + lane) % 3))
		return NOBODY;
	return (int)((r >> 21) % 3 == 0 ? group : mix(r + 64 * group) % WIDE_ELEMENTS);
}

static int choose_own(unsigned round, unsigned warp, unsigned lane)
{
	unsigned r = mix(round + 7 * warp);

	return r % 3 == 0 && lane % 2 ? NOBODY : (int)(((lane << (r >> 4) % 3) + (r >> 9)) % WIDE_ELEMENTS);
}

/* One warp in one round: at most one load and one store of each lane. */
static void count_round(unsigned round, unsigned warp, unsigned lanes, unsigned size, struct count *load,
                        struct count *store)
{
	begin_warp();
	for (unsigned lane = 0; lane < lanes; lane++)
		if (choose(round, warp, lane) != NOBODY)
			log_access(0, lane, size * (uint64_t)choose(round, warp, lane));
	end_warp(load, size, SHARED_LOAD);
	begin_warp();
	for (unsigned lane = 0; lane < lanes; lane++)
		if (choose_own(round, warp, lane) != NOBODY)
			log_access(0, lane, size * (uint64_t)choose_own(round, warp, lane));
	end_warp(store, size, SHARED_STORE);
}

/* What a kernel stores before its rounds: all elements, side by side. */
static void count_filling(unsigned threads, unsigned size, struct count *store)
{
	for (unsigned first = 0; first < threads; first += 32) {
		begin_warp();
		for (unsigned t = first; t < first + 32 && t < threads; t++)
			for (unsigned k = t; k < WIDE_ELEMENTS; k += threads)
				log_access(0, t % 32, size * k);
		end_warp(store, size, SHARED_STORE);
	}
}

static void check_wide(const struct launch *launch, unsigned threads, unsigned size)
{
	struct count load = {.bytes = 0}, store = {.bytes = 0};

	count_filling(threads, size, &store);
	for (unsigned warp = 0; warp < 2; warp++)
		for (unsigned round = 0; round < ROUNDS; round++)
			count_round(round, warp, warp == 0 ? 32 : threads - 32, size, &load, &store);
	expect_count(text("%u-byte loads, %u threads", size, threads), &launch->shared_load, &load);
	expect_count(text("%u-byte stores, %u threads", size, threads), &launch->shared_store, &store);
	cr_expect(load.conflicts > 0 && store.conflicts > 0, "the oracle saw no conflicts");
	cr_expect(store.conflicts == store.parts - store.ideal, "stores do not merge");
	if (size > 4) /* fewer passes than the width has phases */
		cr_expect(load.parts - load.conflicts < load.ideal, "the oracle saw no merged load");
}

Test(counts, random_shares)
{
	struct report report = run("oracle", 9);

	for (unsigned i = 0; i < 6; i++)
		check_wide(&report.launches[3 + i], i < 3 ? 64 : 45, 4u << i % 3);
}
