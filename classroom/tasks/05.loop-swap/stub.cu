// TODO (about 2 lines): chapter 04 had a loop over the query tiles of a head here. Now a block has one tile:
// which head, which is its first row, and which row is this thread's?
// Hint: the grid is (query tiles, H, B); heads are counted through the batch; a thread has a row.
size_t head = 0;
int first_row = 0, row = N;
