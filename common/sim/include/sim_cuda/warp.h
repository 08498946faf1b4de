/*
 * Operations among the lanes of a warp. The engine's symbol names the operation, the width of what travels and
 * the integer argument that receives the call's site; float and double travel in their own registers.
 */
#ifndef SIM_CUDA_WARP_H
#define SIM_CUDA_WARP_H

#include <sim_cuda/builtins.h>

extern void __syncwarp(unsigned mask = 0xffffffffu, const void *site = nullptr) __asm__("sim_syncwarp_s2");
#ifdef SIM_FAST
/*
 * An optimiser may make one call of the two in both arms of a branch, or two of one. A --fast build therefore says
 * where a call is written with values, which simcc adds: the call's own number, and those of the calls that led to
 * it.
 */
extern unsigned __activemask(unsigned long place = 0) noexcept __asm__("sim_warp_active_mask_at");
namespace sim
{
extern unsigned long enter_place(unsigned long place) noexcept __asm__("sim_place_enter");
extern void leave_place(unsigned long before) noexcept __asm__("sim_place_leave");
struct place {
	unsigned long before;
	explicit place(unsigned long here) : before(enter_place(here)) {}
	~place() { leave_place(before); }
	place(const place &) = delete;
};
} // namespace sim
#else
extern unsigned __activemask(const void *site = nullptr) __asm__("sim_activemask_s1");
#endif
extern unsigned __ballot_sync(unsigned mask, int predicate, const void *site = nullptr) __asm__("sim_ballot_s3");
extern int __any_sync(unsigned mask, int predicate, const void *site = nullptr) __asm__("sim_any_s3");
extern int __all_sync(unsigned mask, int predicate, const void *site = nullptr) __asm__("sim_all_s3");

#define SIM_SHUFFLE(type, bits, site_argument)                                                                       \
	extern type __shfl_sync(unsigned mask, type value, int lane, int width = warpSize,                           \
	                        const void *site = nullptr) __asm__("sim_shfl_" bits site_argument);                 \
	extern type __shfl_up_sync(unsigned mask, type value, unsigned delta, int width = warpSize,                  \
	                           const void *site = nullptr) __asm__("sim_shfl_up_" bits site_argument);           \
	extern type __shfl_down_sync(unsigned mask, type value, unsigned delta, int width = warpSize,                \
	                             const void *site = nullptr) __asm__("sim_shfl_down_" bits site_argument);       \
	extern type __shfl_xor_sync(unsigned mask, type value, int lane_mask, int width = warpSize,                  \
	                            const void *site = nullptr) __asm__("sim_shfl_xor_" bits site_argument);

SIM_SHUFFLE(int, "i32", "_s5")
SIM_SHUFFLE(unsigned, "i32", "_s5")
SIM_SHUFFLE(long, "i64", "_s5")
SIM_SHUFFLE(unsigned long, "i64", "_s5")
SIM_SHUFFLE(long long, "i64", "_s5")
SIM_SHUFFLE(unsigned long long, "i64", "_s5")
SIM_SHUFFLE(float, "f32", "_s4")
SIM_SHUFFLE(double, "f64", "_s4")

/* the site is argument 3 of one and 4 of the other when the value is an integer, 2 and 3 when it is not */
#define SIM_MATCH_OF(type, width, any, all_site)                                                                     \
	extern unsigned __match_any_sync(unsigned mask, type value,                                                  \
	                                 const void *site = nullptr) __asm__("sim_match_any_" width any);            \
	extern unsigned __match_all_sync(unsigned mask, type value, int *all,                                        \
	                                 const void *site = nullptr) __asm__("sim_match_all_" width all_site);

SIM_MATCH_OF(int, "i32", "_s3", "_s4")
SIM_MATCH_OF(unsigned, "i32", "_s3", "_s4")
SIM_MATCH_OF(long, "i64", "_s3", "_s4")
SIM_MATCH_OF(unsigned long, "i64", "_s3", "_s4")
SIM_MATCH_OF(long long, "i64", "_s3", "_s4")
SIM_MATCH_OF(unsigned long long, "i64", "_s3", "_s4")
SIM_MATCH_OF(float, "f32", "_s2", "_s3")
SIM_MATCH_OF(double, "f64", "_s2", "_s3")

/* compute capability 8.0 and up */
extern int __reduce_add_sync(unsigned mask, int value, const void *site = nullptr) __asm__("sim_reduce_add_s3");
extern unsigned __reduce_add_sync(unsigned mask, unsigned value,
                                  const void *site = nullptr) __asm__("sim_reduce_add_s3");
extern int __reduce_min_sync(unsigned mask, int value, const void *site = nullptr) __asm__("sim_reduce_min_i32_s3");
extern unsigned __reduce_min_sync(unsigned mask, unsigned value,
                                  const void *site = nullptr) __asm__("sim_reduce_min_u32_s3");
extern int __reduce_max_sync(unsigned mask, int value, const void *site = nullptr) __asm__("sim_reduce_max_i32_s3");
extern unsigned __reduce_max_sync(unsigned mask, unsigned value,
                                  const void *site = nullptr) __asm__("sim_reduce_max_u32_s3");
extern unsigned __reduce_and_sync(unsigned mask, unsigned value,
                                  const void *site = nullptr) __asm__("sim_reduce_and_s3");
extern unsigned __reduce_or_sync(unsigned mask, unsigned value,
                                 const void *site = nullptr) __asm__("sim_reduce_or_s3");
extern unsigned __reduce_xor_sync(unsigned mask, unsigned value,
                                  const void *site = nullptr) __asm__("sim_reduce_xor_s3");

#undef SIM_SHUFFLE
#undef SIM_MATCH_OF

#endif
