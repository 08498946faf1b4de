// TODO (about 10 lines): each lane has a part of ROWS sums, sum[r] of row first_row + r; ROWS is 32 or 4.
// Afterwards lane l < ROWS has the whole of row first_row + l, adds the residual where there is one, and
// writes it to y.
// Hint: exchange is an array of ROWS x 32 (one column wider). A lane of row p.rows and beyond writes
// nothing. residual and y are [N, rows]; this is `token`.
