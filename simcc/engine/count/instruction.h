#ifndef SIM_INSTRUCTION_H
#define SIM_INSTRUCTION_H

#include "count/count.h"

/* One warp-level instruction: the addresses of its active lanes, and which lanes those are. */
struct instruction {
	uint64_t key;
	uint32_t lanes;
	unsigned count;
	uint64_t address[WARP_SIZE]; /* compact: of the active lanes, in order */
};

void count_instruction(struct tally *tally, const struct instruction *instruction);

#endif
