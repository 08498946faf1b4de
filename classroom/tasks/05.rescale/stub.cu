// TODO (about 13 lines): m_new, the largest of m[r] and of the row's scores s[r][...]; m[r] and
// l[r] brought to it; p = 2^(s - m_new) added to l[r] and put into the slab; o[r][...] corrected.
// Hint: eight neighboring lanes hold the keys of a row, KEYS each: their maximum has to go round
// (three shuffles). l stays this lane's own sum. Key j of row r lies at
//     P[r * T::LANE_ROWS * T::P_STRIDE + j * T::LANE_KEYS]
