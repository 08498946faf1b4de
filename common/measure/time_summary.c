#include "measure/time_summary.h"

#include <math.h>
#include <stdlib.h>

enum { FEWEST_SAMPLES = 5 };

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double percentile(const double *sorted, size_t count, double fraction)
{
	double position = fraction * (double)(count - 1);
	size_t below = (size_t)position;
	size_t above = below + 1 < count ? below + 1 : below;
	return sorted[below] + (position - (double)below) * (sorted[above] - sorted[below]);
}

struct time_summary time_summarise(double *ms, size_t count)
{
	if (count == 0)
		return (struct time_summary){0};
	qsort(ms, count, sizeof *ms, compare_doubles);
	return (struct time_summary){
		percentile(ms, count, 0.5), percentile(ms, count, 0.1), percentile(ms, count, 0.9), count, NULL};
}

bool time_is_settled(const double *ms, size_t count)
{
	if (count < FEWEST_SAMPLES)
		return false;
	double sum = 0.0, squares = 0.0, n = (double)count;
	for (size_t i = 0; i < count; i++)
		sum += ms[i];
	double mean = sum / n;
	for (size_t i = 0; i < count; i++)
		squares += (ms[i] - mean) * (ms[i] - mean);
	return sqrt(squares / (n - 1.0) / n) < 0.01 * mean;
}
