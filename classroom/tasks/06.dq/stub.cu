// TODO (about 13 lines): S = (scale Q) K^T, dP = dO V^T, P, dS = P o (dP - delta), and dQ += dS K,
// with queries as rows and keys as columns.
// Hint: as in dkdv.cu, roles exchanged: L and delta now belong to row lane_row() +
// LANES_DOWN * r. probability(S, L, visible) is 0 for what the query may not see: keys from N on,
// and after it when causal.
