// TODO (about 3 lines): O[i, c], the sum over all keys j of P[i, j] V[j, c].
// Hint: P has a row for each `row`; V has N rows for each `head`.
