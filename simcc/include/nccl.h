/* NCCL is not on the simulated device, which is one: an error where one of its functions is called. */
#ifndef NCCL_H_
#define NCCL_H_

#include <cuda_runtime_api.h>

#pragma sim_missing function nccl NCCL

typedef struct ncclComm *ncclComm_t;
typedef enum { ncclSuccess = 0 } ncclResult_t;

#endif
