/* The CUDA runtime API: streams and events. Any stream is idle, because nothing is ever left running. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "api/api.h"

struct CUstream_st {
	char unused;
};

struct CUevent_st {
	bool timed, recorded;
	struct timespec time;
};

/* ---- what was created and is not destroyed: a handle that is none of these is not looked into. No standard stream is ---- */

struct handles {
	void **all;
	size_t count, capacity;
};
static struct handles streams, events;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add(struct handles *handles, void *handle)
{
	pthread_mutex_lock(&lock);
	need_room(&handles->all, &handles->capacity, ++handles->count, sizeof *handles->all);
	handles->all[handles->count - 1] = handle;
	pthread_mutex_unlock(&lock);
}

/* Is it one of them? `take`: from now on no more. */
static bool holds(struct handles *handles, const void *handle, bool take)
{
	pthread_mutex_lock(&lock);
	size_t i = 0;
	while (i < handles->count && handles->all[i] != handle)
		i++;
	const bool found = i < handles->count;
	if (found && take)
		handles->all[i] = handles->all[--handles->count];
	pthread_mutex_unlock(&lock);
	return found;
}

bool is_stream(cudaStream_t stream)
{
	return !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread ||
	       holds(&streams, stream, false);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
	(void)priority;
	RETURN_IF_STICKY();
	RETURN_IF(!stream || flags > cudaStreamNonBlocking, cudaErrorInvalidValue);
	RETURN_IF(!(*stream = malloc(sizeof **stream)), cudaErrorMemoryAllocation);
	add(&streams, *stream);
	return sim_return(cudaSuccess);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
	return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	RETURN_IF_STICKY();
	RETURN_IF(!holds(&streams, stream, true), cudaErrorInvalidResourceHandle);
	free(stream);
	return sim_return(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	sim_wait_for_device();
	return sim_return(is_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
	return cudaStreamSynchronize(stream);
}

static bool is_event(cudaEvent_t event)
{
	return holds(&events, event, false);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
	(void)flags;
	return sim_return(is_stream(stream) && is_event(event) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned flags)
{
	RETURN_IF_STICKY();
	RETURN_IF(!callback || flags != 0, cudaErrorInvalidValue);
	RETURN_IF(!is_stream(stream), cudaErrorInvalidResourceHandle);
	callback(stream, sim_unseen_fault(), data);
	return sim_return(cudaSuccess);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
	RETURN_IF_STICKY();
	RETURN_IF(!function, cudaErrorInvalidValue);
	RETURN_IF(!is_stream(stream), cudaErrorInvalidResourceHandle);
	if (sim_unseen_fault() == cudaSuccess)
		function(data);
	return sim_return(cudaSuccess);
}

/* ---- events ---- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
	RETURN_IF_STICKY();
	RETURN_IF(!event || flags > 7, cudaErrorInvalidValue);
	RETURN_IF(!(*event = calloc(1, sizeof **event)), cudaErrorMemoryAllocation);
	add(&events, *event);
	(*event)->timed = (flags & cudaEventDisableTiming) == 0;
	return sim_return(cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
	return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	RETURN_IF_STICKY();
	RETURN_IF(!holds(&events, event, true), cudaErrorInvalidResourceHandle);
	free(event);
	return sim_return(cudaSuccess);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	RETURN_IF_STICKY();
	RETURN_IF(!is_event(event) || !is_stream(stream), cudaErrorInvalidResourceHandle);
	event->recorded = true;
	clock_gettime(CLOCK_MONOTONIC, &event->time);
	return sim_return(cudaSuccess);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
	(void)flags;
	return cudaEventRecord(event, stream);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	sim_wait_for_device();
	return sim_return(is_event(event) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
	return cudaEventSynchronize(event);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
	sim_wait_for_device();
	RETURN_IF_STICKY();
	RETURN_IF(!milliseconds, cudaErrorInvalidValue);
	RETURN_IF(
		!is_event(start) || !is_event(end) || !start->timed || !end->timed || !start->recorded ||
			!end->recorded,
		cudaErrorInvalidResourceHandle);
	*milliseconds =
		(float)((double)(end->time.tv_sec - start->time.tv_sec) * 1e3 +
	                (double)(end->time.tv_nsec - start->time.tv_nsec) * 1e-6);
	return sim_return(cudaSuccess);
}
