#include "support/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MOST_THREADS = 64 };

struct job {
	size_t count;
	void (*part)(void *context, size_t index);
	void *context;
	atomic_size_t next;
};

static void *work(void *argument)
{
	struct job *job = argument;
	for (size_t index; (index = atomic_fetch_add(&job->next, 1)) < job->count;)
		job->part(job->context, index);
	return NULL;
}

void parallel_run(size_t count, void (*part)(void *context, size_t index), void *context)
{
	struct job job = {.count = count, .part = part, .context = context};
	pthread_t threads[MOST_THREADS];
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	size_t wanted = cores > 1 ? (size_t)cores - 1 : 0, started = 0; /* this thread works, too */
	if (wanted > MOST_THREADS)
		wanted = MOST_THREADS;
	while (started < wanted && started + 1 < count && pthread_create(&threads[started], NULL, work, &job) == 0)
		started++;
	work(&job);
	while (started > 0)
		pthread_join(threads[--started], NULL);
}
