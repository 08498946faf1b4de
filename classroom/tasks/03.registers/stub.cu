// TODO (about 8 lines): for each of the BK steps: eight numbers of A's row, eight of B's, and
// their 64 products added to sums[r][c].
// Hint: read_eight(row, at, values) reads the eight floats of a tile's row that belong to thread `at`
// of SIDE: this thread is number y of the rows and number x of the columns. "#pragma unroll" before
// a loop keeps its arrays in registers.
