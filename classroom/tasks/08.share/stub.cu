// TODO (about 2 lines): head, the head of queries of this warp; K and V, where the keys and values of
// this block's head of keys begin.
// Hint: block b has head b of keys. H / G heads of queries share it, in order: the first H / G the
// first. Each of them is a warp of the block. Head h of keys begins h a.head numbers further.
int head = 0;
const float *K = a.K, *V = a.V;
