// Your class, in about 15 lines: P is that of the capped scores, soft_cap(S), and
// dS = P o (dP - delta) o cap'(S).
