multiply_rows<D, TILE>(k_tile, q_tile, p); // S^T
float slope[ROWS][TILE / LANES_ACROSS];    // of the cap, while S^T is still there
for (int r = 0; r < ROWS; r++)
	for (int t = 0; t < TILE / LANES_ACROSS; t++) {
		float bent = tanhf(p[r][t] / SOFT_CAP);
		slope[r][t] = 1.0f - bent * bent;
	}
weigh_keys<TILE>(p, lse_tile, first_key, first_query, b);
store_slab<TILE>(p, slab);
add_products<D, TILE>(slab, do_tile, dv); // dV += P^T dO

multiply_rows<D, TILE>(v_tile, do_tile, ds); // dP^T
for (int r = 0; r < ROWS; r++)
	for (int t = 0; t < TILE / LANES_ACROSS; t++) // dS^T = P^T o (dP^T - D) o (1 - tanh²)
		ds[r][t] = slope[r][t] * p[r][t] *
		           (ds[r][t] - delta_tile[lane_column() + LANES_ACROSS * t]);
store_slab<TILE>(ds, slab);
add_products<D, TILE>(slab, q_tile, dk); // dK += dS^T (scale Q)
