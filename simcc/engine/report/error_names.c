/* cudaErrorInvalidValue, "invalid argument". */
#include "report/report.h"

#define ENTRY(name, number, message) {name, #name, message},
static const struct {
	cudaError_t error;
	const char *name, *message;
} error_table[] = {SIM_CUDA_ERRORS(ENTRY)};
#undef ENTRY

const char *cudaGetErrorName(cudaError_t error)
{
	for (size_t i = 0; i < sizeof error_table / sizeof *error_table; i++)
		if (error_table[i].error == error)
			return error_table[i].name;
	return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
	for (size_t i = 0; i < sizeof error_table / sizeof *error_table; i++)
		if (error_table[i].error == error)
			return error_table[i].message;
	return "unrecognized error code";
}
