#include "row_loops.h"

#include <math.h>

void row_loops(const float *q, const float *k, const float *v, float *o)
{
	for (int row = 0; row < ROWS; row++) {
		float query[ROW_WIDTH], sum[ROW_WIDTH], largest = -INFINITY, total = 0;

		for (int c = 0; c < ROW_WIDTH; c++) {
			query[c] = q[row * ROW_WIDTH + c];
			sum[c] = 0;
		}
		for (int j = 0; j < ROWS; j++) {
			float score = 0;

			for (int c = 0; c < ROW_WIDTH; c++)
				score += query[c] * k[j * ROW_WIDTH + c];
			const float larger = fmaxf(largest, score);
			const float correction = expf(largest - larger), weight = expf(score - larger);

			for (int c = 0; c < ROW_WIDTH; c++)
				sum[c] = sum[c] * correction + weight * v[j * ROW_WIDTH + c];
			total = total * correction + weight;
			largest = larger;
		}
		for (int c = 0; c < ROW_WIDTH; c++)
			o[row * ROW_WIDTH + c] = sum[c] / total;
	}
}
