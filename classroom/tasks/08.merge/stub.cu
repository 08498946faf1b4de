// TODO (about 6 lines): a lane has the split first + lane, if that is one of the `splits`. Take its m and
// l into row.m and row.l; correction is what row.o has to be multiplied by, weight what the O of this
// lane's split has to be multiplied by.
// Hint: partials.m and partials.l have them at [index]. Chapter 02's merge; m of a split without keys is
// -inf, and so is row.m before the first 32 splits. row.l is the sum of this lane's own splits only.
float correction = 0.0f, weight = 0.0f;
