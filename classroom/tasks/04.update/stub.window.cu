// TODO (about 11 lines): lines 11 to 13 of Algorithm 1. m_new, l_new; then
//     O <- (l e^(m - m_new) O + e^(m~ - m_new) P~ V) / l_new        for the d columns there are
// Hint: l and O are each a sum of two parts, with the same two factors. O holds nothing before the
// first tile: what is read from HBM is counted, and what nobody wrote is a hazard. The window may
// hide the first tiles from a row altogether: m_new is -inf and l_new 0 until its first key comes.
