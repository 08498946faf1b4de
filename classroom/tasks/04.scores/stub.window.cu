// TODO (about 8 lines): the score of key j, scale times the product of q_row and the tile's row j,
// or -INFINITY from key `visible` on and outside of this class's window: a query sees a key only
// if less than WINDOW lies between them. Keep it in S, and the largest of all in m_tile.
// Hint: `distance` is the query's number minus that of the tile's first key. A row of the tile has
// d numbers, and neighbouring keys of this row lie `stride` numbers apart in S. A loop to the
// constant D is unrolled, so that q_row stays in registers; `if (c < d)` inside it.
