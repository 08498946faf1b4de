/* The loops of the row kernel as a C function: what the kernel's plain build is measured against. */
#ifndef ROW_LOOPS_H
#define ROW_LOOPS_H

enum { ROWS = 512, ROW_WIDTH = 64 };

#ifdef __cplusplus
extern "C"
#endif
	/* q, k, v, o: [ROWS, ROW_WIDTH], row-major. */
	void
	row_loops(const float *q, const float *k, const float *v, float *o);

#endif
