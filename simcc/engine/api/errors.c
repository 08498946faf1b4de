/* The errors of the CUDA API: what a call returns, and what the ones after it do. */
#include <stdarg.h>

#include "api/api.h"

static cudaError_t sticky_error = cudaSuccess, last_error = cudaSuccess;
static cudaError_t unseen_fault = cudaSuccess; /* of a launch, and no call has waited for the device since */

cudaError_t sim_return(cudaError_t error)
{
	if (sticky_error != cudaSuccess)
		return sticky_error;
	if (error != cudaSuccess)
		last_error = error;
	return error;
}

cudaError_t sim_sticky_error(void)
{
	return sticky_error;
}

void sim_set_fault(cudaError_t error)
{
	if (unseen_fault == cudaSuccess)
		unseen_fault = error;
}

cudaError_t sim_unseen_fault(void)
{
	return unseen_fault;
}

void sim_wait_for_device(void)
{
	if (sticky_error == cudaSuccess)
		sticky_error = unseen_fault;
	unseen_fault = cudaSuccess;
}

cudaError_t sim_last_error(bool clear)
{
	cudaError_t error = sticky_error != cudaSuccess ? sticky_error : last_error;
	refusals_seen();
	if (clear)
		last_error = cudaSuccess;
	return error;
}

void sim_clear_errors(void)
{
	sticky_error = last_error = unseen_fault = cudaSuccess;
}

cudaError_t sim_api_hazard(cudaError_t error, const char *function, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	report_misuse(error, function, format, arguments);
	va_end(arguments);
	return sim_return(error);
}
