/* cuDNN is not on the simulated device: an error where one of its functions is called. */
#ifndef CUDNN_H_
#define CUDNN_H_

#include <cuda_runtime_api.h>

#pragma sim_missing function cudnn cuDNN

typedef struct cudnnContext *cudnnHandle_t;
typedef enum { CUDNN_STATUS_SUCCESS = 0 } cudnnStatus_t;

#endif
