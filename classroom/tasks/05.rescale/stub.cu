// TODO (about 13 lines): m_new, the largest of m[r] and of the row's scores s[r][...]; m[r] and
// l[r] brought to it; s[r][j] becomes P~, expf(s - m_new), and is added to l[r]; o[r][...]
// corrected.
// Hint: eight neighboring lanes hold the keys of a row, KEYS each: their maximum has to go round
// (three shuffles). l stays this lane's own sum.
