// TODO (about 3 lines): the new maximum; then both sums, each brought to it.
// Hint: a sum relative to a.m becomes one relative to the new maximum with a single factor.
// weight() is that factor.
return a;
