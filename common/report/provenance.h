/*
 * Where the numbers of a file come from: lines that start with "# ", before its columns.
 *
 *     # 05_fa2 on the simulated device (limits of NVIDIA H100 SXM), AMD EPYC with 2 cores, 2026-11-21
 *     # machine: AMD EPYC, 2 cores, Linux x86_64
 *     # device: sim, limits of h100, NVIDIA H100 SXM           or   # device: cuda, NVIDIA H200
 *     # roofs: hbm_bytes_per_s=3.35e+12 ...                    of that GPU, where it is known
 *     # compiler: gcc 12.2.0
 *     # date: 2026-11-21T00:41:02Z
 *     # command: ./fa2 --seq 128 --tsv -
 *
 * The first is a sentence that a picture can show. No line names the machine or its user.
 */
#ifndef REPORT_PROVENANCE_H
#define REPORT_PROVENANCE_H

#include "result.h"

void provenance_print(FILE *out, const struct run_result *result);

#endif
