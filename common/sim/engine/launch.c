/*
 * A launch: is it one a GPU would accept, which function is it, then its blocks on the workers, then the sum of what
 * they counted. Launches are synchronous; the fault of one is returned by the next call that waits for the device.
 *
 * Blocks run on pthreads of their own, never on the caller's: __shared__ is thread-local storage, and a worker's
 * belongs to the block it runs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace.h"

enum { WORKER_STACK = 1024 * 1024 };

static struct {
	struct worker *workers;
	int count;
	pthread_mutex_t lock;
	pthread_cond_t start, done;
	struct launch *launch;
	uint64_t generation; /* of launches: a worker runs each once */
	int wanted, running;
	bool probe;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .start = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

__extension__ typedef unsigned __int128 wide;

/* ---- workers ---- */

uint3 launch_block_at(const struct launch *launch, uint64_t order)
{
	const wide product = (wide)order * launch->order_multiplier + launch->order_offset;
	const uint64_t linear = (uint64_t)(product % launch->block_total);
	uint3 block = {(unsigned)(linear % launch->grid.x), (unsigned)(linear / launch->grid.x % launch->grid.y),
	               (unsigned)(linear / launch->grid.x / launch->grid.y)};

	return block;
}

/* What a block printed appears in the order of blocks, whichever worker was faster. */
static void hand_over_output(struct worker *worker)
{
	struct launch *launch = worker->launch;

	if (worker->output_length == 0)
		return;
	pthread_mutex_lock(&launch->lock);
	if (launch->output_count == launch->output_capacity) {
		launch->output_capacity = launch->output_capacity ? 2 * launch->output_capacity : 16;
		launch->outputs = realloc(launch->outputs, launch->output_capacity * sizeof *launch->outputs);
		if (launch->outputs == NULL)
			abort();
	}
	launch->outputs[launch->output_count++] =
		(struct block_output){worker->block_order, worker->output, worker->output_length};
	pthread_mutex_unlock(&launch->lock);
	worker->output = NULL;
	worker->output_length = worker->output_capacity = 0;
}

static void run_blocks(struct worker *worker)
{
	struct launch *launch = worker->launch;
	const size_t tensors = sim_allocation_count();

	free(worker->tally.tensors);
	memset(&worker->tally, 0, sizeof worker->tally);
	worker->tally.tensors = calloc(tensors + 1, sizeof *worker->tally.tensors);
	if (worker->tally.tensors == NULL)
		abort();
	worker_set_kernel(worker, launch->function);
	worker_set_dynamic_shared(worker, launch->dynamic_shared_bytes);
	trace_open_worker(worker);
	for (;;) {
		uint64_t order = launch->next_order++;

		if (order >= launch->block_total || order > launch->failed_order)
			break;
		worker->block_order = order;
		worker->block = launch_block_at(launch, order);
		run_block(worker);
		worker->progress++;
		hand_over_output(worker);
	}
	trace_close_worker(worker);
}

static void *worker_main(void *argument)
{
	struct worker *worker = argument;
	const int index = (int)(worker - pool.workers);
	uint64_t seen = 0;

	faults_open_worker(worker);
	if (!worker_open(worker)) {
		fprintf(stderr, "the simulated device is out of host memory\n");
		exit(3);
	}
	pthread_mutex_lock(&pool.lock);
	for (;;) {
		while (pool.generation == seen || index >= pool.wanted)
			pthread_cond_wait(&pool.start, &pool.lock);
		seen = pool.generation;
		worker->launch = pool.launch;
		worker->timed_out = false;
		pthread_mutex_unlock(&pool.lock);
		if (pool.probe)
			probe_kernel(worker);
		else
			run_blocks(worker);
		pthread_mutex_lock(&pool.lock);
		if (--pool.running == 0)
			pthread_cond_signal(&pool.done);
	}
	return NULL;
}

/* Thread-local storage is taken from a thread's stack. */
static size_t shared_memory_of_the_program(void)
{
	size_t bytes = 2 * (size_t)DYNAMIC_SHARED_MAX;

	for (size_t i = 0; i < sim_shared_count_all(); i++)
		bytes += sim_shared_at(i)->size + sim_shared_at(i)->align + SIM_REDZONE;
	return bytes;
}

static void open_pool(void)
{
	pthread_attr_t attributes;

	pool.count = sim_options()->threads;
	pool.workers = calloc((size_t)pool.count, sizeof *pool.workers);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, WORKER_STACK + shared_memory_of_the_program());
	faults_install();
	for (int i = 0; i < pool.count; i++) {
		int failed = pool.workers == NULL ||
		             pthread_create(&pool.workers[i].thread, &attributes, worker_main, &pool.workers[i]) != 0;

		if (failed && i == 0) {
			fprintf(stderr, "the simulated device cannot start a thread\n");
			exit(3);
		}
		if (failed) { /* a limit on threads: fewer do as well */
			pool.count = i;
			break;
		}
	}
	pthread_attr_destroy(&attributes);
}

/* CPU time of a worker: on a busy machine, or after a pause, a kernel has had no more of it than on an idle one. */
static double cpu_seconds(const struct worker *worker)
{
	clockid_t clock;
	struct timespec now;

	if (pthread_getcpuclockid(worker->thread, &clock) != 0 || clock_gettime(clock, &now) != 0)
		clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* When a worker last got on, by its CPU time: a thread ended or a barrier was passed; and, for loops through
 * barriers, a thread ended. */
struct watch {
	uint64_t progress, ended;
	double progressed_at, ended_at;
};

static bool is_overdue(struct watch *watch, const struct worker *worker)
{
	enum { BARRIERS_PATIENCE = 10 }; /* times SIM_TIMEOUT for a thread that only passes barriers */
	const double now = cpu_seconds(worker), timeout = sim_options()->timeout_s;

	if (worker->progress != watch->progress)
		watch->progressed_at = now;
	if (worker->ended != watch->ended)
		watch->ended_at = now;
	watch->progress = worker->progress;
	watch->ended = worker->ended;
	return now - watch->progressed_at > timeout || now - watch->ended_at > BARRIERS_PATIENCE * timeout;
}

/* Waits for the workers; one that makes no progress is told so, and interrupted if it does not hear. Called with the
 * pool's lock held. */
static void wait_for_workers(int wanted)
{
	struct watch *watches = calloc((size_t)wanted, sizeof *watches);

	if (watches == NULL)
		abort();
	for (int i = 0; i < wanted; i++)
		watches[i].progressed_at = watches[i].ended_at = cpu_seconds(&pool.workers[i]);
	while (pool.running > 0) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 50 * 1000 * 1000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (pthread_cond_timedwait(&pool.done, &pool.lock, &until) != ETIMEDOUT)
			continue;
		for (int i = 0; i < wanted; i++) {
			struct worker *worker = &pool.workers[i];

			if (!is_overdue(&watches[i], worker))
				continue;
			/* First the polite way: a loop that touches memory or passes barriers asks now and then. */
			if (worker->timed_out)
				faults_interrupt(worker);
			worker->timed_out = true;
		}
	}
	free(watches);
}

static void run_on_pool(struct launch *launch, bool probe)
{
	const uint64_t useful = probe ? 1 : launch->block_total;

	pthread_once(&once, open_pool);
	pthread_mutex_lock(&pool.lock);
	pool.launch = launch;
	pool.probe = probe;
	pool.wanted = useful < (uint64_t)pool.count ? (int)useful : pool.count;
	pool.running = pool.wanted;
	pool.generation++;
	pthread_cond_broadcast(&pool.start);
	wait_for_workers(pool.wanted);
	pthread_mutex_unlock(&pool.lock);
}

void fail_launch(struct worker *worker, const struct hazard *hazard, cudaError_t error)
{
	struct launch *launch = worker->launch;

	/* Several blocks may fail at once. The first in order is the one reported, so the report is reproducible. */
	pthread_mutex_lock(&launch->lock);
	if (worker->block_order < launch->failed_order) {
		launch->failed_order = worker->block_order;
		free(launch->fault);
		launch->fault = malloc(sizeof *launch->fault);
		if (launch->fault != NULL)
			*launch->fault = *hazard;
		launch->error = error;
	}
	pthread_mutex_unlock(&launch->lock);
	abandon_block(worker);
}

/* ---- the launch ---- */

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* order -> block is order * multiplier + offset mod total: a permutation for any multiplier prime to the total. */
static void choose_block_order(struct launch *launch)
{
	const uint64_t total = launch->block_total;

	launch->order_multiplier = 1;
	launch->order_offset = 0;
	if (sim_options()->order == SIM_ORDER_REVERSE) {
		launch->order_multiplier = total - 1 + (total == 1);
		launch->order_offset = total - 1;
	} else if (sim_options()->order == SIM_ORDER_SHUFFLE) {
		uint64_t mixed = (sim_options()->order_seed + 1) * 0x9e3779b97f4a7c15u;

		launch->order_multiplier = mixed % total;
		while (greatest_common_divisor(launch->order_multiplier, total) != 1)
			launch->order_multiplier++;
		launch->order_offset = (mixed >> 32) % total;
	}
}

static int compare_outputs(const void *a, const void *b)
{
	const struct block_output *first = a, *second = b;

	return (first->order > second->order) - (first->order < second->order);
}

static void print_outputs(struct launch *launch)
{
	if (launch->output_count > 1)
		qsort(launch->outputs, launch->output_count, sizeof *launch->outputs, compare_outputs);
	for (size_t i = 0; i < launch->output_count; i++) {
		fwrite(launch->outputs[i].text, 1, launch->outputs[i].length, stdout);
		free(launch->outputs[i].text);
	}
	free(launch->outputs);
}

static void add_tally(struct sim_launch *record, const struct tally *tally)
{
	struct sim_global_count *const global[] = {&record->global_load, &record->global_store,
	                                           &record->global_atomic};
	struct sim_shared_count *const shared[] = {&record->shared_load, &record->shared_store,
	                                           &record->shared_atomic};

	for (int op = 0; op < 3; op++) {
		global[op]->bytes += tally->global[op].bytes;
		global[op]->requests += tally->global[op].requests;
		global[op]->sectors += tally->global[op].sectors;
		shared[op]->bytes += tally->shared[op].bytes;
		shared[op]->requests += tally->shared[op].requests;
		shared[op]->wavefronts += tally->shared[op].wavefronts;
		shared[op]->ideal_wavefronts += tally->shared[op].ideal_wavefronts;
		shared[op]->conflicts += tally->shared[op].conflicts;
	}
	record->constant_load.bytes += tally->constant.bytes;
	record->constant_load.requests += tally->constant.requests;
	record->barriers += tally->barriers;
	record->exp += tally->exp;
}

static void add_tensors(struct sim_launch *record, int workers)
{
	const size_t total = sim_allocation_count();
	struct sim_tensor_count *tensors = calloc(total + 1, sizeof *tensors);

	if (tensors == NULL)
		abort();
	for (size_t i = 0; i < total; i++) {
		struct sim_tensor_count tensor = {.name = NULL};

		for (int w = 0; w < workers; w++) {
			const struct tensor_tally *tally = &pool.workers[w].tally.tensors[i];

			tensor.read_bytes += tally->read;
			tensor.write_bytes += tally->write;
			tensor.atomic_bytes += tally->atomic;
		}
		if (tensor.read_bytes + tensor.write_bytes + tensor.atomic_bytes == 0)
			continue;
		tensor.name = strdup(sim_allocation_at(i)->name);
		tensor.footprint = sim_take_footprint(sim_allocation_at(i));
		record->footprint.read_bytes += tensor.footprint.read_bytes;
		record->footprint.write_bytes += tensor.footprint.write_bytes;
		tensors[record->tensor_count++] = tensor;
	}
	record->tensors = tensors;
}

static void write_record(const struct launch *launch, int workers)
{
	struct sim_launch record = {
		.kernel = launch->function ? launch->function->name : launch->name,
		.template_args = launch->function ? launch->function->template_args : "",
		.grid = {launch->grid.x, launch->grid.y, launch->grid.z},
		.block = {launch->block.x, launch->block.y, launch->block.z},
		.dynamic_shared_bytes = launch->dynamic_shared_bytes,
		.static_shared_bytes = sim_static_shared_bytes(launch->function),
		.error = (int)launch->error,
		.counted = sim_is_counting(),
	};

	for (int w = 0; w < workers; w++)
		add_tally(&record, &pool.workers[w].tally);
	add_tensors(&record, workers);
	findings_report(launch, pool.workers, workers, record.hazards);
	if (launch->fault != NULL) {
		report_hazard(launch->fault);
		record.hazards[launch->fault->tool]++;
	}
	report_launch(&record);
	keep_launch(&record);
}

static cudaError_t run_launch(struct launch *launch)
{
	static uint32_t launches;

	launch->number = ++launches & (UINT32_MAX >> 5);
	pthread_mutex_init(&launch->lock, NULL);
	choose_block_order(launch);
	launch->ordering = sim_options()->check[SIM_RACECHECK] ? ordering_open_launch() : NULL;
	trace_open_launch(launch);
	run_on_pool(launch, false);
	print_outputs(launch);
	write_record(launch, pool.wanted);
	trace_close_launch(launch);
	free(launch->fault);
	ordering_close_launch(launch->ordering);
	pthread_mutex_destroy(&launch->lock);
	if (launch->error != cudaSuccess)
		sim_set_fault(launch->error);
	return sim_return(cudaSuccess);
}

/* Which function is it? Its address says, or, where template arguments were deduced, a thread that only goes as far
 * as the kernel's entry. */
static const struct sim_function *find_function(struct launch *launch, const void *kernel)
{
	const struct sim_function *function = kernel != NULL ? sim_function_at(kernel) : NULL;

	if (function == NULL)
		function = sim_kernel_named(launch->name);
	if (kernel == NULL && function != NULL && sim_is_counting()) {
		run_on_pool(launch, true);
		if (pool.workers[0].probed != NULL)
			function = pool.workers[0].probed;
	}
	return function;
}

cudaError_t sim_launch_kernel(dim3 grid, dim3 block, size_t dynamic_shared_bytes, cudaStream_t stream,
                              const void *kernel, const char *name, void (*invoke)(void *), void *arguments)
{
	cudaError_t error = sim_sticky_error();
	struct launch launch = {
		.name = name,
		.grid = grid,
		.block = block,
		.dynamic_shared_bytes = dynamic_shared_bytes,
		.invoke = invoke,
		.arguments = arguments,
		.block_total = (uint64_t)grid.x * grid.y * grid.z,
		.failed_order = UINT64_MAX,
	};

	(void)stream; /* all work is done before the call returns */
	if (error != cudaSuccess)
		return error;
	if ((error = check_shape(&launch)) != cudaSuccess || sim_unseen_fault() != cudaSuccess)
		return sim_return(error);
	pthread_mutex_lock(&one_at_a_time);
	launch.function = find_function(&launch, kernel);
	if ((error = check_shared_memory(&launch, kernel)) != cudaSuccess)
		error = sim_return(error);
	else
		error = run_launch(&launch);
	pthread_mutex_unlock(&one_at_a_time);
	return error;
}

void sim_device_write(const char *text, size_t length)
{
	enum { MOST = 16 << 20 }; /* a GPU's buffer is 1 MB; more than this is a loop that prints */
	struct worker *worker = sim_lane->worker;

	if (worker->output_length + length > MOST)
		return;
	if (worker->output_length + length > worker->output_capacity) {
		worker->output_capacity = 2 * (worker->output_length + length);
		worker->output = realloc(worker->output, worker->output_capacity);
		if (worker->output == NULL)
			abort();
	}
	memcpy(worker->output + worker->output_length, text, length);
	worker->output_length += length;
}
