// Your class, in about 10 lines: a row has an attention sink, one more score, 0, that takes weight
// and has no column. In a row's first block (starts_row) one thread has it too.
