// Your class, in about 16 lines: first the soft-cap of the row's scores, s <- c tanh(s / c), as
// attend has it. Masked ones stay -inf.
