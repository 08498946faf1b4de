/*
 * Everything a chapter's chapter.c needs.
 *
 *   chapter.h    what a chapter declares, and chapter_main
 *   problem/     options, shapes, reproducible inputs, .npy files
 *   verify/      the double-precision reference, the tolerance, the comparison
 *   measure/     the device and its memory, counts, times, floors
 *   report/      tables, JSON, TSV, progress
 *   support/     errors and files that are never half-written
 */
#ifndef HARNESS_H
#define HARNESS_H

#include "chapter.h"
#include "problem/scores.h"
#include "report/attention_sides.h"
#include "report/columns.h"
#include "report/peer.h"
#include "report/roofline.h"
#include "report/stream.h"
#include "support/number.h"

#endif
