// TODO (about 1 line): `end`, the first key that no row of this query tile sees. Without a mask
// there is none before N.
// Hint: the tile's last row is first_row + Br - 1, and row i sees key i. What stands here gives
// the right numbers, and twice the traffic: the count of a causal run shows it.
int end = N;
