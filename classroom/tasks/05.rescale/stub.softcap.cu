// TODO (about 16 lines): first this class's soft-cap of the row's scores s[r][...], s <- c
// tanh(s / c), as attend has it. Then m_new, the largest of m[r] and of them; m[r] and l[r]
// brought to it; p = 2^(s - m_new) added to l[r] and put into the slab; o[r][...] corrected.
// Hint: these scores are LOG2_E times those of attend; what is c here? Masked ones are -inf and
// must stay so. Eight neighbouring lanes hold the keys of a row, KEYS each: their maximum has to
// go round (three shuffles). l stays this lane's own sum. Key j of row r lies at
//     P[r * T::LANE_ROWS * T::P_STRIDE + j * T::LANE_KEYS]
