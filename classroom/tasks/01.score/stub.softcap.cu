// Your class, in about 5 lines: before the mask s becomes SOFT_CAP * tanh(s / SOFT_CAP). The order
// matters: what is tanh(-inf)?
