/*
 * What of an output nobody wrote. Memory begins as bytes 0xff, on a GPU (measure/device.c) and on the simulated device: as
 * floats NaN, and not the NaN that arithmetic makes.
 */
#ifndef VERIFY_UNWRITTEN_H
#define VERIFY_UNWRITTEN_H

#include <stddef.h>

/*
 * "2 of 140 rows of O were never written: O[0,0,69,:], O[0,1,69,:]" into `text`, "" where every element was. `most`: how many
 * elements can be unwritten, as counted; with more of these bytes a kernel copied some. SIZE_MAX: nothing was counted, and the
 * sentence says only what such a NaN may be.
 */
void unwritten_tell(
	const char *tensor, const float *actual, const size_t *shape, size_t rank, size_t row_length, size_t most,
	char *text, size_t size);

#endif
