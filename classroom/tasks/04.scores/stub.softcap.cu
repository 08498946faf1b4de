// Your class, in about 8 lines: before the mask s becomes SOFT_CAP * tanh(s / SOFT_CAP).
