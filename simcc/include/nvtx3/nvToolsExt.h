/* NVTX: marks for a profiler. There is none here, so they are accepted, without effect. */
#ifndef SIM_NVTOOLSEXT_H
#define SIM_NVTOOLSEXT_H

#include <stdint.h>

typedef uint64_t nvtxRangeId_t;

#define SIM_NVTX static inline __attribute__((unused))
SIM_NVTX void nvtxMarkA(const char *message)
{
	(void)message;
}
SIM_NVTX int nvtxRangePushA(const char *message)
{
	return (void)message, 0;
}
SIM_NVTX int nvtxRangePop(void)
{
	return 0;
}
SIM_NVTX nvtxRangeId_t nvtxRangeStartA(const char *message)
{
	return (void)message, 0;
}
SIM_NVTX void nvtxRangeEnd(nvtxRangeId_t id)
{
	(void)id;
}
#undef SIM_NVTX
#define nvtxMark       nvtxMarkA
#define nvtxRangePush  nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA

#endif
