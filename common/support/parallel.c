#include "support/parallel.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

enum { MOST_THREADS = 16 };

struct stretch {
	void (*run)(void *argument, size_t first, size_t end);
	void *argument;
	size_t first, end;
};

static void *run_stretch(void *argument)
{
	const struct stretch *stretch = argument;
	stretch->run(stretch->argument, stretch->first, stretch->end);
	return NULL;
}

void parallel_for(size_t count, void (*run)(void *argument, size_t first, size_t end), void *argument)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	size_t threads = cores < 1 ? 1 : cores > MOST_THREADS ? MOST_THREADS : (size_t)cores;
	if (threads > count)
		threads = count ? count : 1;
	struct stretch stretches[MOST_THREADS];
	pthread_t started[MOST_THREADS];
	bool runs[MOST_THREADS] = {false};
	for (size_t t = 0; t < threads; t++) {
		stretches[t] = (struct stretch){run, argument, t * count / threads, (t + 1) * count / threads};
		if (t > 0)
			runs[t] = pthread_create(&started[t], NULL, run_stretch, &stretches[t]) == 0;
	}
	for (size_t t = 0; t < threads; t++)
		if (!runs[t])
			run_stretch(&stretches[t]);
	for (size_t t = 0; t < threads; t++)
		if (runs[t])
			pthread_join(started[t], NULL);
}
