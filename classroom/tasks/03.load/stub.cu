// TODO (about 2 lines): a_tile[x][y] = A[i, first + x] and b_tile[y][x] = B[first + y, j]; 0
// beyond the matrices.
// Hint: a row of A has k numbers, a row of B has n. Two guards each: one for the row, one for the
// column.
