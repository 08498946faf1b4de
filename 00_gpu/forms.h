/*
 * Chapter 00: what its kernels ask of global memory, in elements, and which problems they cannot run.
 */
#ifndef FORMS_H
#define FORMS_H

#include "closed_forms.h"

/* As struct kernel's `forms`. Nothing is asked for twice, so what is requested is the footprint. */
struct closed_forms place_forms(const struct problem *problem);     /* 5RC written */
struct closed_forms copy_forms(const struct problem *problem);      /* RC read, RC written */
struct closed_forms float4_forms(const struct problem *problem);    /* the same, with a quarter of the threads */
struct closed_forms transpose_forms(const struct problem *problem); /* RC read, RC written, a block per tile */
struct closed_forms sum_forms(const struct problem *problem);       /* RC read, R written, a block per row */

/* As struct kernel's `runs`: who_am_i up to MOST_PLACES blocks, a transpose up to MOST_TILE_ROWS tiles downwards. */
bool places_fit(const struct problem *problem, char *reason, size_t size);
bool tiles_fit(const struct problem *problem, char *reason, size_t size);

#endif
