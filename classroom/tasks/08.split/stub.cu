// TODO (about 2 lines): begin and end: this block's keys are begin, begin + 1, ..., end - 1.
// Hint: decode.h says which keys are those of split s of S. With more splits than keys some have none.
int begin = 0, end = 0;
