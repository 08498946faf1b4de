#include "moved.h"

#include "step.h"

#include <string.h>

uint64_t asked_of(const struct kernel_result *kernel, bool keys_and_values)
{
	uint64_t bytes = 0;
	for (size_t t = 0; t < kernel->counts.total.tensor_count; t++) {
		const struct tensor_traffic *tensor = &kernel->counts.total.tensors[t];
		if (keys_and_values ? tensor->name[0] == 'K' || tensor->name[0] == 'V' : tensor->name[0] == 't')
			bytes += tensor->requested.read_bytes + tensor->requested.write_bytes;
	}
	return bytes;
}

uint64_t requested(const struct kernel_result *kernel)
{
	return kernel->counts.total.requested.read_bytes + kernel->counts.total.requested.write_bytes;
}

static bool is_split(const struct kernel_result *kernel)
{
	const char *name = kernel->kernel->name;
	return strcmp(name, "decode_naive") != 0 && strcmp(name, "decode_grouped") != 0;
}

uint64_t blocks_of(const struct kernel_result *kernel, const struct problem *problem)
{
	return is_split(kernel) ? problem->kv_heads * problem->splits : kernel->forms.blocks;
}

uint64_t blocks_with_keys(const struct kernel_result *kernel, const struct problem *problem)
{
	return is_split(kernel) ? problem->kv_heads * smaller(problem->seq, problem->splits) : kernel->forms.blocks;
}
