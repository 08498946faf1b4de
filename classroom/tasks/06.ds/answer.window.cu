multiply_rows<D, TILE>(k_tile, q_tile, p); // S^T
weigh_keys<TILE>(p, lse_tile, first_key, first_query, b);
for (int r = 0; r < ROWS; r++)
	for (int t = 0; t < TILE / LANES_ACROSS; t++) {
		int key = first_key + lane_row() + LANES_DOWN * r;
		int query = first_query + lane_column() + LANES_ACROSS * t;
		if (abs(query - key) >= WINDOW)
			p[r][t] = 0.0f;
	}
store_slab<TILE>(p, slab);
add_products<D, TILE>(slab, do_tile, dv); // dV += P^T dO

multiply_rows<D, TILE>(v_tile, do_tile, ds); // dP^T
for (int r = 0; r < ROWS; r++)
	for (int t = 0; t < TILE / LANES_ACROSS; t++) // dS^T = P^T o (dP^T - D)
		ds[r][t] = p[r][t] * (ds[r][t] - delta_tile[lane_column() + LANES_ACROSS * t]);
store_slab<TILE>(ds, slab);
add_products<D, TILE>(slab, q_tile, dk); // dK += dS^T (scale Q)
