/*
 * What each GPU may and can do.
 *
 * Data sheet: memory size and bandwidth, SMs, boost clock, fp32 and tensor peaks, L2. CUDA C++ Programming Guide,
 * table of technical specifications by compute capability: threads, blocks, registers and shared memory per SM.
 * Derived, from SMs and the one clock: shared-memory bandwidth (128 bytes a clock and SM), exponentials (16 a
 * clock and SM; the guide's table of arithmetic throughput) and fp32 (a multiply-add a clock for each fp32 lane:
 * 64 an SM on the A100, 128 on the others). The derived fp32 figure rounds to the data sheet's.
 */
#include "gpus.h"

#include <string.h>

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

/* fp32_lanes: multiply-adds a clock and SM */
#define PEAKS(sms_, hertz, fp32_lanes)                                                                               \
	.sms = (sms_), .clock_hz = (hertz), .fp32_flop_per_s = (sms_) * (hertz) * (fp32_lanes)*2.0,                  \
	.shared_bytes_per_s = (sms_) * (hertz)*128.0, .exp_per_s = (sms_) * (hertz)*16.0

#define COMPUTE_8_0                                                                                                  \
	.compute_major = 8, .compute_minor = 0, .max_threads_per_sm = 2048, .max_blocks_per_sm = 32,                 \
	.registers_per_sm = 65536, .shared_per_sm = 164 * KIB, .shared_per_block = 163 * KIB
#define COMPUTE_8_9                                                                                                  \
	.compute_major = 8, .compute_minor = 9, .max_threads_per_sm = 1536, .max_blocks_per_sm = 24,                 \
	.registers_per_sm = 65536, .shared_per_sm = 100 * KIB, .shared_per_block = 99 * KIB
#define COMPUTE_9_0                                                                                                  \
	.compute_major = 9, .compute_minor = 0, .max_threads_per_sm = 2048, .max_blocks_per_sm = 32,                 \
	.registers_per_sm = 65536, .shared_per_sm = 228 * KIB, .shared_per_block = 227 * KIB

const struct gpu gpu_table[] = {
	/* NVIDIA A100 data sheet: 1410 MHz boost, 19.5 fp32 and 312 fp16 TFLOP/s, 1555 GB/s, 40 MB L2 */
	{.name = "a100",
         .title = "NVIDIA A100 40 GB",
         COMPUTE_8_0,
         PEAKS(108, 1.410e9, 64),
         .l2_bytes = 40 * MIB,
         .memory_bytes = 40 * GIB,
         .hbm_bytes_per_s = 1.555e12,
         .fp16_tensor_flop_per_s = 312e12},
	/* the same, SXM 80 GB: 2039 GB/s */
	{.name = "a100-80",
         .title = "NVIDIA A100 80 GB",
         COMPUTE_8_0,
         PEAKS(108, 1.410e9, 64),
         .l2_bytes = 40 * MIB,
         .memory_bytes = 80 * GIB,
         .hbm_bytes_per_s = 2.039e12,
         .fp16_tensor_flop_per_s = 312e12},
	/* NVIDIA H100 data sheet, SXM5: 132 SMs, 1980 MHz boost, 67 fp32 and 990 fp16 dense TFLOP/s, 3.35 TB/s,
         * 50 MB L2 */
	{.name = "h100",
         .title = "NVIDIA H100 SXM",
         COMPUTE_9_0,
         PEAKS(132, 1.980e9, 128),
         .l2_bytes = 50 * MIB,
         .memory_bytes = 80 * GIB,
         .hbm_bytes_per_s = 3.35e12,
         .fp16_tensor_flop_per_s = 990e12},
	/* NVIDIA H200 data sheet: an H100 with 141 GB (decimal) at 4.8 TB/s. Its L2 is quoted as 50 to 60 MB; 50 is
         * the value that lets less stay on the chip. */
	{.name = "h200",
         .title = "NVIDIA H200 SXM",
         COMPUTE_9_0,
         PEAKS(132, 1.980e9, 128),
         .l2_bytes = 50 * MIB,
         .memory_bytes = 141000000000,
         .hbm_bytes_per_s = 4.8e12,
         .fp16_tensor_flop_per_s = 990e12},
	/* as reviews quote NVIDIA's Ada paper (not checked against it): 128 SMs, 2520 MHz boost, 82.6 fp32 TFLOP/s,
         * 1008 GB/s, 72 MB L2; 165.2 fp16 dense TFLOP/s is with fp32 accumulation */
	{.name = "rtx4090",
         .title = "NVIDIA GeForce RTX 4090",
         COMPUTE_8_9,
         PEAKS(128, 2.520e9, 128),
         .l2_bytes = 72 * MIB,
         .memory_bytes = 24 * GIB,
         .hbm_bytes_per_s = 1.008e12,
         .fp16_tensor_flop_per_s = 165.2e12},
	{.name = NULL},
};

const struct gpu *gpu_find(const char *name)
{
	for (const struct gpu *gpu = gpu_table; gpu->name != NULL; gpu++)
		if (strcmp(gpu->name, name) == 0)
			return gpu;
	return NULL;
}

const struct gpu *gpu_of_device(const char *driver_name, int sms, size_t memory_bytes)
{
	static const struct {
		const char *word, *name;
	} known[] = {{"A100", "a100"}, {"GH200", NULL}, {"H200", "h200"}, {"H100", "h100"}, {"RTX 4090", "rtx4090"}};
	const struct gpu *gpu = NULL;
	for (size_t i = 0; i < sizeof known / sizeof known[0] && !gpu; i++)
		if (strstr(driver_name, known[i].word)) {
			if (!known[i].name)
				return NULL;
			gpu = gpu_find(known[i].name);
		}
	if (gpu && strcmp(gpu->name, "a100") == 0 && memory_bytes > (size_t)50 << 30)
		gpu = gpu_find("a100-80");
	return gpu && gpu->sms == sms ? gpu : NULL;
}
