/*
 * A launch that a GPU would accept: its blocks on the workers, then the sum of what they counted. Launches are
 * synchronous; the fault of one is returned by the next call that waits for the device.
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

#include "run/worker.h"

enum { WORKER_STACK = 1024 * 1024 };

/* What a block printed. */
struct block_output {
	uint64_t order;
	char *text; /* owned */
	size_t length;
};

static struct {
	struct worker *workers;
	int count;
	pthread_mutex_t lock;
	pthread_cond_t start, done;
	struct launch *launch;
	uint64_t generation; /* of launches: a worker runs each once */
	int wanted, running;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .start = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static pthread_once_t once = PTHREAD_ONCE_INIT;

__extension__ typedef unsigned __int128 wide;

/* ---- workers ---- */

/* The block that is `order`-th to be run. */
static uint3 block_at(const struct launch *launch, uint64_t order)
{
	const wide product = (wide)order * launch->order_multiplier + launch->order_offset;
	const uint64_t linear = (uint64_t)(product % launch->block_total);
	const dim3 grid = launch->request->grid;
	return (uint3){
		(unsigned)(linear % grid.x), (unsigned)(linear / grid.x % grid.y),
		(unsigned)(linear / grid.x / grid.y)};
}

/* What a block printed appears in the order of blocks, whichever worker was faster. */
static void hand_over_output(struct worker *worker)
{
	struct launch *launch = worker->launch;
	if (worker->output_length == 0)
		return;
	pthread_mutex_lock(&launch->lock);
	need_room(&launch->outputs, &launch->output_capacity, launch->output_count + 1, sizeof *launch->outputs);
	launch->outputs[launch->output_count++] =
		(struct block_output){worker->block_order, worker->output, worker->output_length};
	pthread_mutex_unlock(&launch->lock);
	worker->output = NULL;
	worker->output_length = worker->output_capacity = 0;
}

static void run_blocks(struct worker *worker)
{
	struct launch *launch = worker->launch;
	struct audience *audience = &worker->audience;
	tally_open(&audience->tally);
	shared_set_kernel(&worker->shared, launch->request->function, launch->request->dynamic_shared_bytes);
	audience->tracer = launch->trace ? trace_open_worker(launch->trace) : NULL;
	for (;;) {
		const uint64_t order = launch->next_order++;
		if (order >= launch->block_total || order > launch->failed_order)
			break;
		worker->block_order = order;
		worker->block = block_at(launch, order);
		run_block(worker);
		worker->progress++;
		hand_over_output(worker);
	}
	if (audience->tracer)
		trace_close_worker(audience->tracer);
	audience->tracer = NULL;
}

static void *worker_main(void *argument)
{
	struct worker *worker = argument;
	const int index = (int)(worker - pool.workers);
	uint64_t seen = 0;
	faults_open_worker(worker);
	worker_open(worker);
	pthread_mutex_lock(&pool.lock);
	for (;;) {
		while (pool.generation == seen || index >= pool.wanted)
			pthread_cond_wait(&pool.start, &pool.lock);
		seen = pool.generation;
		worker->launch = pool.launch;
		worker->timed_out = false;
		pthread_mutex_unlock(&pool.lock);
		run_blocks(worker);
		pthread_mutex_lock(&pool.lock);
		if (--pool.running == 0)
			pthread_cond_signal(&pool.done);
	}
	return NULL;
}

static void open_pool(void)
{
	pool.count = sim_options()->threads;
	pool.workers = need(calloc((size_t)pool.count, sizeof *pool.workers));
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, WORKER_STACK + shared_memory_of_the_program());
	faults_install();
	for (int i = 0; i < pool.count; i++) {
		const bool failed =
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
 * barriers, a thread ended, and in how many looks since then it had got on. */
struct watch {
	uint64_t progress, ended;
	double progressed_at, ended_at;
	int advances;
};

enum { BARRIERS_PATIENCE = 10 }; /* times SIM_TIMEOUT for threads that only pass barriers */

/* Once: an endless loop through barriers takes so long to be sure of that nobody waits for it in silence. */
static void tell_of_patience(double timeout)
{
	static bool told;
	if (!told)
		fprintf(stderr,
		        "========= Note: kernel %s passes barriers, but for %g s no thread of it has ended: an "
		        "endless loop? It is ended after %g s (SIM_TIMEOUT=%g)\n",
		        pool.launch->request->name, timeout, BARRIERS_PATIENCE * timeout, timeout);
	told = true;
}

static bool is_overdue(struct watch *watch, const struct worker *worker)
{
	const double now = cpu_seconds(worker), timeout = sim_options()->timeout_s;

	if (worker->progress != watch->progress) {
		watch->progressed_at = now;
		watch->advances++;
	}
	if (worker->ended != watch->ended) {
		watch->ended_at = now;
		watch->advances = 0;
	}
	watch->progress = worker->progress;
	watch->ended = worker->ended;
	/* Not at its beginning alone, which a look that comes late would take for a barrier just passed, nor at its end,
	 * which is one of ours. */
	if (now - watch->ended_at > timeout && now - watch->progressed_at < timeout / 2 && watch->advances > 1 &&
	    !worker->timed_out)
		tell_of_patience(timeout);
	return now - watch->progressed_at > timeout || now - watch->ended_at > BARRIERS_PATIENCE * timeout;
}

/* Waits for the workers; one that makes no progress is told so, and interrupted if it does not hear. Called with the
 * pool's lock held. */
static void wait_for_workers(int wanted)
{
	struct watch *watches = need(calloc((size_t)wanted, sizeof *watches));
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

static void run_on_pool(struct launch *launch)
{
	const uint64_t useful = launch->block_total;
	pthread_once(&once, open_pool);
	pthread_mutex_lock(&pool.lock);
	pool.launch = launch;
	pool.wanted = useful < (uint64_t)pool.count ? (int)useful : pool.count;
	pool.running = pool.wanted;
	pool.generation++;
	pthread_cond_broadcast(&pool.start);
	wait_for_workers(pool.wanted);
	pthread_mutex_unlock(&pool.lock);
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

static cudaError_t error_of(const struct launch *launch)
{
	return launch->fault ? launch->fault->error : cudaSuccess;
}

static void report(const struct launch *launch, int workers)
{
	const struct request *request = launch->request;
	const struct sim_function *function = request->function;
	struct sim_launch record = {
		.kernel = function ? function->name : request->name,
		.template_args = function ? function->template_args : "",
		.grid = {request->grid.x, request->grid.y, request->grid.z},
		.block = {request->block.x, request->block.y, request->block.z},
		.dynamic_shared_bytes = request->dynamic_shared_bytes,
		.static_shared_bytes = sim_static_shared_bytes(function),
		.error = (int)error_of(launch),
		.counted = sim_is_counting(),
	};
	struct tally *tallies[workers];
	struct findings *findings[workers];
	for (int w = 0; w < workers; w++) {
		tallies[w] = &pool.workers[w].audience.tally;
		findings[w] = &pool.workers[w].findings;
	}
	tally_sum(&record, tallies, workers);
	findings_report(request, findings, workers, record.hazards);
	if (launch->race)
		race_describe(launch->race, &record);
	if (launch->fault) {
		report_hazard(launch->fault);
		record.hazards[launch->fault->tool]++;
	}
	report_launch(&record);
}

cudaError_t run_kernel(struct request *request, const struct invocation *invocation)
{
	static uint32_t launches;
	request->number = ++launches & (UINT32_MAX >> 5);
	struct launch launch = {
		.request = request,
		.invocation = invocation,
		.block_total = (uint64_t)request->grid.x * request->grid.y * request->grid.z,
		.failed_order = UINT64_MAX};
	pthread_mutex_init(&launch.lock, NULL);
	choose_block_order(&launch);
	if (sim_options()->check[SIM_RACECHECK])
		launch.race = race_open_launch(request->number, launch.block_total);
	launch.trace = trace_open_launch(request);
	run_on_pool(&launch);
	print_outputs(&launch);
	report(&launch, pool.wanted);
	const cudaError_t error = error_of(&launch);
	if (launch.trace)
		trace_close_launch(launch.trace, launch.failed_order, error);
	if (launch.race)
		race_close_launch(launch.race);
	free(launch.fault);
	pthread_mutex_destroy(&launch.lock);
	return error;
}
