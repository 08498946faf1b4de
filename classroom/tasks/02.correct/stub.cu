// TODO (about 9 lines): `sum` is relative to the old maximum, seen.m; bring it to the new one,
// now.m. Together the threads make weights of the block's scores, in place; then thread c adds
// count products with column c of V.
// Hint: two barriers: weights are read by threads that did not write them, and scores[] is used
// again.
seen = now;
