/* What the CPU of this machine is called. */
#ifndef MEASURE_CPU_NAME_H
#define MEASURE_CPU_NAME_H

#include <stddef.h>

/* The model of the first CPU that Linux lists, shortened; "unknown CPU" where it names none. */
void cpu_name_find(char *name, size_t size);

/* In place: "Intel Xeon Gold 6130" of "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz". No marks, no clock. */
void cpu_name_shorten(char *name);

#endif
