/* Compiling at run time is not on the simulated device: an error where one of its functions is called. */
#ifndef __NVRTC_H__
#define __NVRTC_H__

#pragma sim_missing function nvrtc NVRTC

typedef enum { NVRTC_SUCCESS = 0 } nvrtcResult;
typedef struct _nvrtcProgram *nvrtcProgram;

#endif
