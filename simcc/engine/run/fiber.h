/* A second stack and the jump onto it. One fiber a CUDA thread; a fiber never leaves its pthread. */
#ifndef SIM_FIBER_H
#define SIM_FIBER_H

#include <stddef.h>
#include <stdint.h>

struct sim_fiber {
	void *stack_pointer; /* where the saved registers lie while the fiber is not running */
};

/* Saves the running context in `from` and goes on with `to`. Returns when somebody switches back. */
void sim_fiber_switch(struct sim_fiber *from, struct sim_fiber *to);

/* Prepares `fiber` so that the first switch to it calls entry() on the stack that ends below `stack_top`.
 * entry must not return. */
void sim_fiber_prepare(struct sim_fiber *fiber, uintptr_t stack_top, void (*entry)(void));

#endif
