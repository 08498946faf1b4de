// TODO (about 15 lines): S = (scale Q) K^T, dP = dO V^T, P, dS = P o (dP - D) o cap'(S), and dQ +=
// dS K, with queries as rows and keys as columns. P is that of the capped scores, soft_cap(S).
// Hint: as in dkdv.cu, roles exchanged: L and D now belong to row lane_row() +
// LANES_DOWN * r. probability(s, L, visible) is 0 for what the query may not see: keys from N on,
// and after it when causal.
