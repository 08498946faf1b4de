// Your class, in about 17 lines: first scores of keys that are WINDOW or more away from the row
// become -INFINITY. first_row and first_key are those of this lane's first score; rows are LANE_ROWS
// apart, keys LANE_KEYS. m_new is -inf until the first key comes, and -inf - -inf is NaN.
