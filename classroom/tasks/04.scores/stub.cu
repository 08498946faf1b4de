// TODO (about 7 lines): the score of key j, scale times the product of q_row and the tile's row j,
// or -INFINITY from key `visible` on. Keep it in S, and the largest of all in m_tile.
// Hint: a row of the tile has d numbers, and neighboring keys of this row lie `stride` numbers
// apart in S. A loop to the constant D is unrolled, so that q_row stays in registers; `if (c < d)`
// inside it.
