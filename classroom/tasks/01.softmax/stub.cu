// TODO (about 9 lines): three passes over the row s[0] ... s[N - 1]: its largest score m; the sum
// l of exp(s - m); P[i, j] = exp(s[j] - m) / l. A lane takes every WARP-th score, beginning with
// its own.
// Hint: after a pass each lane knows a 32nd of the answer; max_over_warp and sum_over_warp make it
// whole.
