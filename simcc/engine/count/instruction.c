/*
 * What a warp-level instruction costs: sectors of global memory, wavefronts of shared memory, and which bytes of
 * which tensor it touches.
 */
#include "count/instruction.h"

#include <stdlib.h>
#include <string.h>

struct shape {
	uint64_t lowest, highest; /* addresses */
	bool uniform;             /* all the same */
	bool contiguous;          /* each follows on the one before */
};

/* With a constant count the compiler unrolls and vectorizes this. */
static inline __attribute__((always_inline)) struct shape measure_shape(
	const uint64_t *address, unsigned count, unsigned size)
{
	struct shape shape = {.lowest = address[0], .highest = address[0]};
	uint64_t differs = 0, strays = 0;
	for (unsigned i = 0; i < count; i++) {
		uint64_t offset = address[i] - address[0];
		differs |= offset;
		strays |= offset - (uint64_t)i * size;
		shape.lowest = address[i] < shape.lowest ? address[i] : shape.lowest;
		shape.highest = address[i] > shape.highest ? address[i] : shape.highest;
	}
	shape.uniform = differs == 0;
	shape.contiguous = strays == 0;
	return shape;
}

/* ---- global memory ---- */

static unsigned count_distinct(const uint64_t *value, unsigned count)
{
	uint64_t table[64];
	uint64_t used = 0;
	unsigned distinct = 0;
	for (unsigned i = 0; i < count; i++) {
		unsigned at = (unsigned)(value[i] * 0x9e3779b97f4a7c15u >> 58);
		while ((used >> at & 1) && table[at] != value[i])
			at = (at + 1) & 63;
		if (!(used >> at & 1)) {
			used |= (uint64_t)1 << at;
			table[at] = value[i];
			distinct++;
		}
	}
	return distinct;
}

enum { SECTOR_SHIFT = 5 };

static unsigned count_sectors(const struct instruction *instruction, struct shape shape, unsigned size)
{
	uint64_t sector[WARP_SIZE];
	unsigned changes = 0, descents = 0;
	if (shape.uniform || shape.contiguous)
		return (unsigned)((shape.highest + size - 1) >> SECTOR_SHIFT) -
		       (unsigned)(shape.lowest >> SECTOR_SHIFT) + 1;
	for (unsigned i = 0; i < instruction->count; i++)
		sector[i] = instruction->address[i] >> SECTOR_SHIFT;
	for (unsigned i = 1; i < instruction->count; i++) {
		changes += sector[i] != sector[i - 1];
		descents += sector[i] < sector[i - 1];
	}
	return descents == 0 ? changes + 1 : count_distinct(sector, instruction->count);
}

/* Lanes with the same address go one after the other: the k-th of each address are one pass, of so many sectors. */
static unsigned count_atomic_sectors(const struct instruction *instruction, struct shape shape, unsigned size)
{
	uint64_t visit[WARP_SIZE];
	if (shape.contiguous)
		return count_sectors(instruction, shape, size);
	for (unsigned i = 0; i < instruction->count; i++) {
		unsigned pass = 0;
		for (unsigned j = 0; j < i; j++)
			pass += instruction->address[j] == instruction->address[i];
		visit[i] = (instruction->address[i] >> SECTOR_SHIFT) * WARP_SIZE + pass;
	}
	return count_distinct(visit, instruction->count);
}

static struct sim_allocation *allocation_at(uint64_t address)
{
	if (address - sim_arena_first < sim_arena_span)
		return sim_slot_allocations[(address - sim_arena_first) >> SLOT_SHIFT];
	return sim_memory_find(address);
}

static void count_tensor(struct tally *tally, struct sim_allocation *allocation, uint64_t bytes, enum sim_op op)
{
	/* [tensor_count]: of what another thread of the host has allocated since, and passed on in memory */
	const size_t index = allocation->index < tally->tensor_count ? allocation->index : tally->tensor_count;
	struct tensor_tally *tensor = &tally->tensors[index];
	*(op == SIM_OP_LOAD ? &tensor->read : op == SIM_OP_STORE ? &tensor->write : &tensor->atomic) += bytes;
}

static void count_global(struct tally *tally, const struct instruction *instruction, struct shape shape)
{
	const enum sim_op op = key_op(instruction->key);
	const unsigned size = key_size(instruction->key);
	struct sim_global_count *count = &tally->global[op];
	struct sim_allocation *allocation = allocation_at(shape.lowest);
	count->bytes += (uint64_t)instruction->count * size;
	count->requests++;
	count->sectors += op == SIM_OP_ATOMIC ? count_atomic_sectors(instruction, shape, size)
	                                      : count_sectors(instruction, shape, size);
	if (shape.highest - allocation->first < allocation->size) { /* one tensor, as nearly always */
		count_tensor(tally, allocation, (uint64_t)instruction->count * size, op);
		if (shape.uniform || shape.contiguous) {
			sim_mark_footprint(allocation, shape.lowest, shape.highest - shape.lowest + size, op);
			return;
		}
		for (unsigned i = 0; i < instruction->count; i++)
			sim_mark_footprint(allocation, instruction->address[i], size, op);
		return;
	}
	for (unsigned i = 0; i < instruction->count; i++) {
		allocation = allocation_at(instruction->address[i]);
		count_tensor(tally, allocation, size, op);
		sim_mark_footprint(allocation, instruction->address[i], size, op);
	}
}

/* Some leave bytes out. What each reads is aligned to the copy's width: it lies in one sector. */
static void count_copies(struct tally *tally, const struct instruction *instruction)
{
	struct sim_global_count *count = &tally->global[SIM_OP_LOAD];
	uint64_t sector[WARP_SIZE];
	unsigned readers = 0;
	for (unsigned i = 0; i < instruction->count; i++) {
		const uintptr_t address = address_read(instruction->address[i]);
		const unsigned bytes = bytes_read(instruction->key, instruction->address[i]);
		if (bytes == 0)
			continue;
		struct sim_allocation *allocation = allocation_at(address);
		sector[readers++] = address >> SECTOR_SHIFT;
		count->bytes += bytes;
		count_tensor(tally, allocation, bytes, SIM_OP_LOAD);
		sim_mark_footprint(allocation, address, bytes, SIM_OP_LOAD);
	}
	count->requests += readers > 0;
	count->sectors += count_distinct(sector, readers);
}

/* ---- shared memory ---- */

/*
 * 32 banks of 4 bytes. An access of up to 4 bytes is one pass of 32 lanes; 8 bytes are two passes of 16 lanes, 16
 * bytes four of 8: each pass then has as many lanes as there are banks of the access's width. In a pass a bank serves
 * one address a wavefront; lanes that want the same address share it.
 *
 * Loads of 8 and 16 bytes need half the passes, of twice as many lanes each, when every active lane n of the warp
 * finds lane n^1 at its own address or inactive, or every one finds lane n^2 so: a pass then has no more different
 * addresses than it has banks. It is one rule for the whole warp, and there is no second halving. (NVIDIA's forum,
 * thread 77228; counters published for an A10, an A100, an H100 and an RTX 4090 follow it.)
 */
static unsigned count_pass(const uint64_t *unit, unsigned count, unsigned banks)
{
	uint64_t found[WARP_SIZE][WARP_SIZE];
	uint8_t length[WARP_SIZE] = {0};
	unsigned most = 1;
	for (unsigned i = 0; i < count; i++) {
		unsigned bank = (unsigned)unit[i] & (banks - 1), at = 0;
		while (at < length[bank] && found[bank][at] != unit[i])
			at++;
		if (at == length[bank]) {
			found[bank][at] = unit[i];
			length[bank] = (uint8_t)(at + 1);
			most = at + 1 > most ? at + 1 : most;
		}
	}
	return most;
}

/* Of an active lane, which is given as its bit. */
static uint64_t address_of(const struct instruction *instruction, uint32_t lane)
{
	return instruction->address[__builtin_popcount(instruction->lanes & (lane - 1))];
}

/* Whether every active lane finds the lane `distance`, 1 or 2, away at its own address or inactive. */
static bool partners_share(const struct instruction *instruction, unsigned distance)
{
	const uint32_t lower = distance == 1 ? 0x55555555 : 0x33333333; /* of each two partners */
	uint32_t both = instruction->lanes & instruction->lanes >> distance & lower;
	for (; both != 0; both &= both - 1) {
		uint32_t lane = both & -both;
		if (address_of(instruction, lane) != address_of(instruction, lane << distance))
			return false;
	}
	return true;
}

static uint32_t lanes_of_pass(unsigned first, unsigned lanes)
{
	return (lanes == WARP_SIZE ? ~0u : (1u << lanes) - 1) << first;
}

/* How many passes of so many lanes each have an active one. */
static unsigned count_passes(uint32_t active, unsigned lanes)
{
	unsigned passes = 0;
	for (unsigned first = 0; first < WARP_SIZE; first += lanes)
		passes += (active & lanes_of_pass(first, lanes)) != 0;
	return passes;
}

static struct sim_shared_count cost_of_shared(const struct instruction *instruction, struct shape shape)
{
	const enum sim_op op = key_op(instruction->key);
	const unsigned size = key_size(instruction->key);
	const unsigned width = size > 4 ? size : 4, banks = 128 / width;
	const bool simple = shape.uniform || shape.contiguous; /* never two addresses in one bank of a pass */
	struct sim_shared_count cost = {.bytes = (uint64_t)instruction->count * size, .requests = 1};
	uint64_t unit[WARP_SIZE];
	unsigned lanes = banks, passes, next = 0;
	if (width == 4 && simple) {
		cost.wavefronts = cost.ideal_wavefronts = 1;
		return cost;
	}
	if (width > 4 && op == SIM_OP_LOAD &&
	    (shape.uniform || partners_share(instruction, 1) || partners_share(instruction, 2)))
		lanes = 2 * banks;
	passes = count_passes(instruction->lanes, lanes);
	if (simple) {
		cost.wavefronts = passes;
	} else {
		for (unsigned i = 0; i < instruction->count; i++)
			unit[i] = instruction->address[i] / width;
		for (unsigned first = 0; first < WARP_SIZE; first += lanes) {
			uint32_t active = instruction->lanes & lanes_of_pass(first, lanes);
			if (active == 0)
				continue;
			cost.wavefronts += count_pass(unit + next, (unsigned)__builtin_popcount(active), banks);
			next += (unsigned)__builtin_popcount(active);
		}
	}
	cost.ideal_wavefronts = count_passes(instruction->lanes, banks);
	cost.conflicts = cost.wavefronts - passes;
	return cost;
}

static void add_shared(struct sim_shared_count *to, const struct sim_shared_count *count)
{
	to->bytes += count->bytes;
	to->requests += count->requests;
	to->wavefronts += count->wavefronts;
	to->ideal_wavefronts += count->ideal_wavefronts;
	to->conflicts += count->conflicts;
}

static void count_shared(struct tally *tally, const struct instruction *instruction, struct shape shape)
{
	const struct sim_shared_count cost = cost_of_shared(instruction, shape);
	const enum sim_op op = key_op(instruction->key);
	add_shared(&tally->shared[op], &cost);
	add_shared(&tally->sites[key_site(instruction->key)][op], &cost);
}

static inline __attribute__((always_inline)) void count_shaped(
	struct tally *tally, const struct instruction *instruction, unsigned count)
{
	const struct shape shape = measure_shape(instruction->address, count, key_size(instruction->key));
	switch (key_space(instruction->key)) {
	case SIM_GLOBAL: count_global(tally, instruction, shape); break;
	case SIM_SHARED: count_shared(tally, instruction, shape); break;
	case SIM_CONSTANT:
		tally->constant.bytes += (uint64_t)instruction->count * key_size(instruction->key);
		tally->constant.requests++;
		break;
	case SIM_LOCAL:
		if (key_op(instruction->key) != SIM_OP_LOAD)
			break;
		if (shape.highest >> LEFT_OUT_SHIFT == 0)
			count_global(tally, instruction, shape);
		else
			count_copies(tally, instruction);
		break;
	}
}

FASTER_CLONE static void count_any(struct tally *tally, const struct instruction *instruction)
{
	if (instruction->count == WARP_SIZE)
		count_shaped(tally, instruction, WARP_SIZE);
	else
		count_shaped(tally, instruction, instruction->count);
}

void count_instruction(struct tally *tally, const struct instruction *instruction)
{
	count_any(tally, instruction);
}

/* ---- tallies ---- */

void tally_open(struct tally *tally)
{
	free(tally->tensors);
	free(tally->sites);
	const size_t tensor_count = sim_allocation_count();
	*tally = (struct tally){
		.tensors = need(calloc(tensor_count + 1, sizeof *tally->tensors)),
		.tensor_count = tensor_count,
		.sites = need(calloc(site_count(), sizeof *tally->sites))};
}

static void add_tally(struct sim_launch *record, const struct tally *tally)
{
	struct sim_global_count *const global[] = {
		&record->global_load, &record->global_store, &record->global_atomic};
	struct sim_shared_count *const shared[] = {
		&record->shared_load, &record->shared_store, &record->shared_atomic};
	for (int op = 0; op < 3; op++) {
		global[op]->bytes += tally->global[op].bytes;
		global[op]->requests += tally->global[op].requests;
		global[op]->sectors += tally->global[op].sectors;
		add_shared(shared[op], &tally->shared[op]);
	}
	record->constant_load.bytes += tally->constant.bytes;
	record->constant_load.requests += tally->constant.requests;
	record->barriers += tally->barriers;
	record->exp += tally->exp;
}

static void add_tensors(struct sim_launch *record, struct tally *const *workers, int count)
{
	const size_t total = sim_allocation_count();
	struct sim_tensor_count *tensors = need(calloc(total + 1, sizeof *tensors));
	for (size_t i = 0; i < total; i++) {
		struct sim_tensor_count tensor = {.name = NULL};
		for (int w = 0; w < count; w++) {
			if (i >= workers[w]->tensor_count)
				continue;
			const struct tensor_tally *tally = &workers[w]->tensors[i];
			tensor.read_bytes += tally->read;
			tensor.write_bytes += tally->write;
			tensor.atomic_bytes += tally->atomic;
		}
		if (tensor.read_bytes + tensor.write_bytes + tensor.atomic_bytes == 0)
			continue;
		tensor.name = need(strdup(sim_allocation_at(i)->name));
		tensor.footprint = sim_take_footprint(sim_allocation_at(i));
		if (tensor.footprint.write_bytes > 0)
			sim_memory_launch_wrote(sim_allocation_at(i));
		record->footprint.read_bytes += tensor.footprint.read_bytes;
		record->footprint.write_bytes += tensor.footprint.write_bytes;
		tensors[record->tensor_count++] = tensor;
	}
	record->tensors = tensors;
}

static int compare_lines(const void *a, const void *b)
{
	const struct sim_line_count *one = a, *other = b;
	const int files = strcmp(one->file, other->file);
	if (files != 0)
		return files;
	return one->line != other->line ? (one->line > other->line) - (one->line < other->line) : one->op - other->op;
}

/* Sites of one line are one: a template has a site for each of its instances. */
static void add_lines(struct sim_launch *record, struct tally *const *workers, int count)
{
	struct sim_line_count *lines = NULL;
	size_t capacity = 0, used = 0, kept = 0;
	for (uint32_t n = 0; n < 3 * site_count(); n++) {
		const struct sim_site *site = site_at(n / 3);
		struct sim_line_count line = {
			.file = site ? site->file : "", .line = site ? site->line : 0, .op = (int)(n % 3)};
		for (int w = 0; w < count; w++)
			add_shared(&line.count, &workers[w]->sites[n / 3][n % 3]);
		if (line.count.requests == 0)
			continue;
		need_room(&lines, &capacity, used + 1, sizeof *lines);
		lines[used++] = line;
	}
	if (used > 0)
		qsort(lines, used, sizeof *lines, compare_lines);
	for (size_t i = 0; i < used; i++)
		if (kept > 0 && compare_lines(&lines[kept - 1], &lines[i]) == 0)
			add_shared(&lines[kept - 1].count, &lines[i].count);
		else
			lines[kept++] = lines[i];
	record->shared_lines = lines;
	record->shared_line_count = kept;
}

void tally_sum(struct sim_launch *record, struct tally *const *workers, int count)
{
	for (int w = 0; w < count; w++)
		add_tally(record, workers[w]);
	add_tensors(record, workers, count);
	add_lines(record, workers, count);
}
