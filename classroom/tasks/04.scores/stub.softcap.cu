// TODO (about 8 lines): the score of key j: s is scale times the product of q_row and the tile's
// row j; this class caps it softly, to SOFT_CAP * tanh(s / SOFT_CAP); -INFINITY from key `visible`
// on. Keep it in S, and the largest of all in m_tile.
// Hint: a row of the tile has d numbers, and neighbouring keys of this row lie `stride` numbers
// apart in S. A loop to the constant D is unrolled, so that q_row stays in registers; `if (c < d)`
// inside it.
