// Your class, in about 8 lines: a query sees a key only if less than WINDOW lies between them.
// `distance` is the query's number minus that of the tile's first key.
