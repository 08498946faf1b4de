// TODO (about 10 lines): each lane has a part of 32 sums, sum[r] of row first_row + r. Afterwards lane l
// has the whole of row first_row + l, adds the residual where there is one, and writes it to y.
// Hint: exchange has a 32 x 32 array (one column wider) for each warp of the block. A lane of row
// p.rows and beyond writes nothing. residual and y are [N, rows]; this is `token`.
