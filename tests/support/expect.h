/*
 * What a program's source says about its own launches. In a .cu file,
 *
 *     //= scale<float,100,true> load=400/4/13 store=4*100/4/13 barriers=0 x2
 *     //+ foot=400/400 tensor:alloc0=400/0/400/0
 *
 * is one expected launch (here: two equal ones in a row), in the order of execution. A counter that is not named must
 * be 0;
 * `?` leaves one open, ANY after the kernel's name leaves all open. Numbers may be written as sums of products.
 *
 *     load store atomic          global memory: bytes/requests/sectors
 *     sload sstore satomic       shared memory: bytes/requests/wavefronts[/ideal wavefronts[/conflicts]]
 *     const                      constant memory: bytes/requests
 *     barriers exp
 * and these, checked only where given:
 *     foot=read/written                                    footprint
 *     tensor:NAME=read/written[/read/written]              requested [/footprint]
 *     dyn= static=                                         bytes of shared memory
 *     grid=x,y,z block=x,y,z
 *
 * Lines `//> text` are the program's expected standard output. `//! order: reason` says that its counts
 * depend on the order of threads, `//! not fast: reason` that its --fast build is not to be run.
 */
#ifndef SUPPORT_EXPECT_H
#define SUPPORT_EXPECT_H

#include "report.h"

struct expectations {
	char **launches; /* one string each, x2 resolved; NULL ends */
	size_t launch_count;
	char *output;           /* NULL if nothing is said about it */
	char *depends_on_order; /* the reason, or NULL */
	char *not_fast;         /* the reason, or NULL */
};

/* Reads PATH.cu, or PATH/main.cu of a program of several files. */
struct expectations read_expectations(const char *path);

/* Compares; each difference is one failed expectation that names program, launch and counter. */
void expect_launches(const char *program, const struct expectations *expectations, const struct report *report);

/* 2*3+4 -> 10; fails the test on anything else. */
uint64_t evaluate(const char *text);

#endif
