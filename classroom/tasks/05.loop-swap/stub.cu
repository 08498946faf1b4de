// TODO (about 2 lines): chapter 04 had a loop over the query tiles of a head here. Now a block has
// one tile: which head, and which is its first row?
// Hint: the grid is (query tiles, H, B); heads are counted through the batch; a tile has Br rows.
size_t head = 0;
int first_row = N; // no row
