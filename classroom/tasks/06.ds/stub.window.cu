// Your class, in about 17 lines: weigh_keys knows nothing of the window. P = 0 where WINDOW or more
// lies between query and key: p[r][t] belongs to key lane_row() + LANES_DOWN * r of the tile.
