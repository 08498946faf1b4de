multiply_rows<D, TILE>(q_tile, k_tile, p);   // S
multiply_rows<D, TILE>(do_tile, v_tile, ds); // dP
for (int r = 0; r < ROWS; r++) {
	int row = lane_row() + LANES_DOWN * r, query = first_query + row;
	float L = lse_tile[row], delta = delta_tile[row];
	for (int t = 0; t < TILE / LANES_ACROSS; t++) { // dS = P o (dP - D) o (1 - tanh²)
		int key = first_key + lane_column() + LANES_ACROSS * t;
		float bent = tanhf(p[r][t] / SOFT_CAP);
		bool visible = key < b.N && (!b.causal || key <= query);
		float weight = probability(SOFT_CAP * bent, L, visible);
		ds[r][t] = weight * (ds[r][t] - delta) * (1.0f - bent * bent);
	}
}
store_slab<TILE>(ds, slab);
add_products<D, TILE>(slab, k_tile, dq); // dQ += dS K
