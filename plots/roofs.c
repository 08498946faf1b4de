/*
 * The roofs of the GPUs this course knows and their sizes, as a data file for pictures: simcc/gpus.c is where the figures
 * and their sources stand.
 *
 *   roofs [FILE]     default: standard output
 */
#include "gpus.h"
#include "support/output_file.h"

#include <stdio.h>

static int write_roofs(struct output_file *file)
{
	fprintf(file->stream, "# roofs of the GPUs of simcc/gpus.c\n"
	                      "# units: _per_s a second; bytes, FLOP; registers of 4 bytes\n"
	                      "# kernel\ttitle\thbm_bytes_per_s\tfp32_flop_per_s\tfp16_tensor_flop_per_s\tsms\t"
	                      "registers_per_sm\tshared_per_sm\tl2_bytes\tmemory_bytes\n");
	for (const struct gpu *gpu = gpu_table; gpu->name != NULL; gpu++)
		fprintf(file->stream, "%s\t%s\t%.9g\t%.9g\t%.9g\t%d\t%d\t%zu\t%zu\t%zu\n", gpu->name, gpu->title,
		        gpu->hbm_bytes_per_s, gpu->fp32_flop_per_s, gpu->fp16_tensor_flop_per_s, gpu->sms,
		        gpu->registers_per_sm, gpu->shared_per_sm, gpu->l2_bytes, gpu->memory_bytes);
	return 0;
}

int main(int argc, char **argv)
{
	struct output_file file;
	struct error error = {0};
	output_file_guard();
	if (argc > 2) {
		fprintf(stderr, "usage: roofs [FILE]\n");
		return EXIT_USAGE;
	}
	if (output_file_open(&file, argc == 2 ? argv[1] : "-", &error) == 0) {
		write_roofs(&file);
		output_file_commit(&file, &error);
	}
	if (error.exit_code != 0)
		fprintf(stderr, "roofs: %s\n", error.message);
	return error.exit_code;
}
