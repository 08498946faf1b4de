/* The CUDA runtime API: streams and events. Any stream is idle, because nothing is ever left running. */
#include <stdlib.h>
#include <time.h>

#include "api/api.h"

enum { STREAM_MAGIC = 0x73747265, EVENT_MAGIC = 0x6576656e };

struct CUstream_st {
	unsigned magic;
};

struct CUevent_st {
	unsigned magic;
	bool timed, recorded;
	struct timespec time;
};

static bool is_stream(cudaStream_t stream)
{
	return !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread ||
	       stream->magic == STREAM_MAGIC;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
	(void)priority;
	RETURN_IF_STICKY();
	RETURN_IF(!stream || flags > cudaStreamNonBlocking, cudaErrorInvalidValue);
	RETURN_IF(!(*stream = malloc(sizeof **stream)), cudaErrorMemoryAllocation);
	(*stream)->magic = STREAM_MAGIC;
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
	RETURN_IF(
		!stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread || !is_stream(stream),
		cudaErrorInvalidResourceHandle);
	stream->magic = 0;
	free(stream);
	return sim_return(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	sim_wait_for_device();
	RETURN_IF_STICKY();
	return sim_return(is_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
	return cudaStreamSynchronize(stream);
}

static bool is_event(cudaEvent_t event)
{
	return event && event->magic == EVENT_MAGIC;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
	(void)flags;
	RETURN_IF_STICKY();
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
	(*event)->magic = EVENT_MAGIC;
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
	RETURN_IF(!is_event(event), cudaErrorInvalidResourceHandle);
	event->magic = 0;
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
	RETURN_IF_STICKY();
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
