// TODO (about 5 lines): K and V, where the keys and values of this head begin; q_row, this row's
// query; past, the number of tokens before the first query; end, the number of keys that some row
// of the block sees.
// Hint: H heads of queries share G of keys and values, in order: the first H / G of them the first.
// The N queries are the last of M tokens. Where a row or a head begins, the strides say: a.q.row,
// a.q.head, a.kv.head; compare o_row below.
const float *K = a.K, *V = a.V, *q_row = a.Q;
int past = 0, end = 0;
