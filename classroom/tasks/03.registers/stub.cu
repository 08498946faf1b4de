// TODO (about 8 lines): for each of the BK steps: eight numbers of A's row, eight of B's, and
// their 64 products added to sums[r][c].
// Hint: read_eight(row, at, values) reads four from `at` and four HALF further on. This thread's
// rows begin at y * VECTOR, its columns at x * VECTOR. "#pragma unroll" before a loop keeps its
// arrays in registers.
