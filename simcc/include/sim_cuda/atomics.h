/* Atomics: the types each has in CUDA. _system is the same as none here. */
#ifndef SIM_CUDA_ATOMICS_H
#define SIM_CUDA_ATOMICS_H

#define SIM_ATOMIC_(name, type, symbol)                                                                              \
	extern __device__ type name(type *address, type value) __asm__("sim_atomic_" symbol);
#define SIM_ATOMIC(name, type, symbol)                                                                               \
	SIM_ATOMIC_(name, type, symbol)                                                                              \
	SIM_ATOMIC_(name##_block, type, "block_" symbol)                                                             \
	SIM_ATOMIC_(name##_system, type, symbol)
#define SIM_CAS_(name, type, symbol)                                                                                 \
	extern __device__ type name(type *address, type compare, type value) __asm__("sim_atomic_" symbol);
#define SIM_CAS(type, symbol)                                                                                        \
	SIM_CAS_(atomicCAS, type, symbol)                                                                            \
	SIM_CAS_(atomicCAS_block, type, "block_" symbol)                                                             \
	SIM_CAS_(atomicCAS_system, type, symbol)

SIM_ATOMIC(atomicAdd, int, "add_i32")
SIM_ATOMIC(atomicAdd, unsigned, "add_i32")
SIM_ATOMIC(atomicAdd, unsigned long long, "add_i64")
SIM_ATOMIC(atomicAdd, float, "add_f32")
SIM_ATOMIC(atomicAdd, double, "add_f64")
SIM_ATOMIC(atomicSub, int, "sub_i32")
SIM_ATOMIC(atomicSub, unsigned, "sub_i32")
SIM_ATOMIC(atomicMax, int, "max_i32")
SIM_ATOMIC(atomicMax, unsigned, "max_u32")
SIM_ATOMIC(atomicMax, long long, "max_i64")
SIM_ATOMIC(atomicMax, unsigned long long, "max_u64")
SIM_ATOMIC(atomicMin, int, "min_i32")
SIM_ATOMIC(atomicMin, unsigned, "min_u32")
SIM_ATOMIC(atomicMin, long long, "min_i64")
SIM_ATOMIC(atomicMin, unsigned long long, "min_u64")
SIM_ATOMIC(atomicAnd, int, "and_i32")
SIM_ATOMIC(atomicAnd, unsigned, "and_i32")
SIM_ATOMIC(atomicAnd, unsigned long long, "and_i64")
SIM_ATOMIC(atomicOr, int, "or_i32")
SIM_ATOMIC(atomicOr, unsigned, "or_i32")
SIM_ATOMIC(atomicOr, unsigned long long, "or_i64")
SIM_ATOMIC(atomicXor, int, "xor_i32")
SIM_ATOMIC(atomicXor, unsigned, "xor_i32")
SIM_ATOMIC(atomicXor, unsigned long long, "xor_i64")
SIM_ATOMIC(atomicInc, unsigned, "inc_u32")
SIM_ATOMIC(atomicDec, unsigned, "dec_u32")
SIM_ATOMIC(atomicExch, int, "exch_i32")
SIM_ATOMIC(atomicExch, unsigned, "exch_i32")
SIM_ATOMIC(atomicExch, unsigned long long, "exch_i64")
SIM_ATOMIC(atomicExch, float, "exch_f32")
SIM_CAS(int, "cas_i32")
SIM_CAS(unsigned, "cas_i32")
SIM_CAS(unsigned long long, "cas_i64")
SIM_CAS_(atomicCAS, unsigned short, "cas_i16")

#undef SIM_ATOMIC_
#undef SIM_ATOMIC
#undef SIM_CAS_
#undef SIM_CAS

#endif
