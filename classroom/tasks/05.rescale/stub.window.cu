// TODO (about 17 lines): first this class's window: scores of keys that are WINDOW or more away
// from the row become -INFINITY. Then m_new, the largest of m[r] and of the row's scores
// s[r][...]; m[r] and l[r] brought to it; p = 2^(s - m_new) added to l[r] and put into the slab;
// o[r][...] corrected.
// Hint: first_row and first_key are those of this lane's first score; rows are LANE_ROWS apart,
// keys LANE_KEYS. Eight neighbouring lanes hold the keys of a row, KEYS each: their maximum has to
// go round (three shuffles). It is -inf until the first key of the window comes, and -inf - -inf
// is NaN. l stays this lane's own sum. Key j of row r lies at
//     P[r * T::LANE_ROWS * T::P_STRIDE + j * T::LANE_KEYS]
