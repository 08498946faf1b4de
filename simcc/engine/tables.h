/*
 * The tables that the plugin (../front/) writes into every object, and how device code reaches the engine: the whole
 * contract between the two.
 *
 * In counted device code each access of the source is one call of a hook, which is given the record of its place:
 *
 *     sim_readN(address, site), sim_writeN(address, site)     N bytes: 1, 2, 4, 8 or 16, aligned; volatile_ in front
 *     sim_read16_by_8, sim_write16_by_8                       a struct of 16 bytes, of alignment 8
 *     sim_read_range(address, bytes, piece, site), ...        anything else: in pieces of 4, 8 or 16 bytes, or less;
 *                                                             volatile_ in front
 *     sim_enter(function), sim_leave(site)                    where a function that does any of this begins and ends
 *
 * In front of a call of the engine, the C library or a device function sim_call_site is set to its record. Functions of
 * the C library that touch memory or are counted are called sim_NAME there: sim_memcpy, sim_modff, sim_printf, sim_expf.
 *
 * Sections named like C identifiers are concatenated by the linker, which also gives __start_NAME and
 * __stop_NAME. All records are 8-byte aligned, in writable sections ("aw").
 */
#ifndef SIM_TABLES_H
#define SIM_TABLES_H

#include <stdint.h>

/* section sim_functions: one for each function the object defines. */
struct sim_function {
	const char *name;                 /* without namespace, arguments and template arguments: "fa2_row" */
	const char *signature;            /* demangled in full: "void fa2_row<64>(float const*, float*)" */
	const char *template_args;        /* "64, true", or "" */
	const char *file;                 /* where it is written, as the compiler was given it; "" if unknown */
	void *address;                    /* first instruction; all lie in section sim_text */
	struct sim_shared *const *shared; /* the __shared__ arrays it and its callees in this object use */
	uint32_t shared_count;
	uint32_t line;
	uint32_t is_kernel; /* 1: declared __global__ */
};

/* section sim_sites: one for each access, barrier, warp operation and atomic of the source. In no order. */
struct sim_site {
	const char *file; /* as the compiler was given it */
	const struct sim_function *function;
	uint32_t line;
	uint16_t column;
	uint8_t op;   /* enum sim_op */
	uint8_t size; /* bytes of one access; 0 where the call says it; of an atomicExch(), 1: its result is used */
};

enum sim_op { SIM_OP_LOAD = 0, SIM_OP_STORE = 1, SIM_OP_ATOMIC = 2, SIM_OP_OTHER = 3 };

/* What an array or a variable is made of, where its type is known: `t[6][8]` of float2 has 2 dimensions, elements of 8 bytes
 * and parts of 4. */
struct sim_shape {
	uint32_t element;
	uint32_t part;  /* of a vector type, .x to .w; of a number all of it; 0: of another struct */
	uint32_t count; /* of dimensions; 0: one element */
	uint32_t dimensions[];
};

/* section sim_shared: one for each __shared__ array with a size. Dynamic shared memory (extern __shared__)
 * has no record: the plugin makes every such name mean the engine's sim_dynamic_shared. */
struct sim_shared {
	const char *name;     /* "tile" */
	const char *function; /* signature of the function that declares it, or "" at file scope */
	int64_t offset;       /* from the thread pointer: sim_place_shared() says it when the program starts */
	uint64_t size;
	uint64_t align;
	const struct sim_shape *shape; /* NULL: not known */
};

/* section sim_variables: one for each __device__ or __constant__ variable. */
struct sim_variable {
	const char *name;
	void *address;
	uint64_t size;
	uint64_t is_constant; /* 1: __constant__ */
	const struct sim_shape *shape;
};

/* section sim_stubs: one for each kernel, as host code knows it: the address of its stub stands for it.
 * invoke(arguments) calls the kernel with what cudaLaunchKernel() gets. */
struct sim_stub {
	const void *stub;
	const void *kernel; /* its function in device code */
	void (*invoke)(void *arguments);
	const char *name;
};

/* section sim_fences: a byte in each object whose device code executes a fence (__threadfence() and its kin). */

/* Bytes the plugin adds behind every __shared__ array and every variable, so that an overrun meets no neighbor. */
enum { SIM_REDZONE = 256 };

#endif
