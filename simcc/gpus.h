/*
 * The GPUs this course knows: limits the simulated device enforces, roofs the floors are computed from.
 * One table for both, so that they cannot disagree. No dependency: a CUDA build uses it as well.
 * Sources stand beside the figures in gpus.c.
 */
#ifndef SIM_GPUS_H
#define SIM_GPUS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gpu {
	const char *name;  /* as --gpu and SIM_GPU take it: "h100" */
	const char *title; /* "NVIDIA H100 SXM" */
	int compute_major, compute_minor;
	int sms;
	int max_threads_per_sm, max_blocks_per_sm, registers_per_sm;
	size_t shared_per_sm;    /* bytes */
	size_t shared_per_block; /* bytes a block may have after opting in */
	size_t l2_bytes;
	size_t memory_bytes;
	double clock_hz; /* one clock: the boost clock all peaks below are worked out with */
	double hbm_bytes_per_s;
	double fp32_flop_per_s;        /* no tensor cores */
	double fp16_tensor_flop_per_s; /* dense */
	double shared_bytes_per_s;     /* 128 bytes a clock and SM */
	double exp_per_s;              /* MUFU, 16 a clock and SM */
};

/* Shared memory a block may have without opting in, on every GPU here. */
enum { GPU_SHARED_WITHOUT_OPT_IN = 48 * 1024 };

/* The table ends with an entry whose name is NULL. */
extern const struct gpu gpu_table[];

/* NULL for an unknown name. */
const struct gpu *gpu_find(const char *name);

/*
 * The table's entry for a device the driver names, e.g. "NVIDIA A100-SXM4-80GB"; NULL for one it does not know. Names
 * are shared by parts with other roofs (an H100 PCIe, a laptop's RTX 4090, a slice of a GPU): those have other
 * numbers of SMs, and no floor is better than a wrong one.
 */
const struct gpu *gpu_of_device(const char *driver_name, int sms, size_t memory_bytes);

#ifdef __cplusplus
}
#endif
#endif
