// Your class, in about 10 lines: C[i, j] is soft_cap of the whole sum.
