// Your class, in about 16 lines: first the soft-cap of the row's scores, s <- c tanh(s / c), as
// attend has it. These are log_of_e<BASE>() times those of attend; what is c here? Masked ones stay
// -inf.
