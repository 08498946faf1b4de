/*
 * Prints the roofs of the GPUs this course knows and their sizes, as a data file for pictures: simcc/gpus.c is where the
 * figures and their sources stand.
 */
#include "gpus.h"

#include <stdio.h>

int main(void)
{
	printf("# roofs of the GPUs of simcc/gpus.c\n"
	       "# units: _per_s a second; bytes, FLOP; registers of 4 bytes\n"
	       "# kernel\ttitle\thbm_bytes_per_s\tfp32_flop_per_s\tfp16_tensor_flop_per_s\tsms\t"
	       "registers_per_sm\tshared_per_sm\tl2_bytes\tmemory_bytes\n");
	for (const struct gpu *gpu = gpu_table; gpu->name != NULL; gpu++)
		printf("%s\t%s\t%.9g\t%.9g\t%.9g\t%d\t%d\t%zu\t%zu\t%zu\n", gpu->name, gpu->title,
		       gpu->hbm_bytes_per_s, gpu->fp32_flop_per_s, gpu->fp16_tensor_flop_per_s, gpu->sms,
		       gpu->registers_per_sm, gpu->shared_per_sm, gpu->l2_bytes, gpu->memory_bytes);
	return fflush(stdout) == 0 ? 0 : 3;
}
