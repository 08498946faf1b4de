#ifndef HANDOUT
		// solution c68f649d9d23
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
				ds[r][t] = p[r][t] * (ds[r][t] - d_tile[lane_column() + LANES_ACROSS * t]);
		store_slab<TILE>(ds, slab);
		add_products<D, TILE>(slab, q_tile, dk); // dK += dS^T (scale Q)
#else
		// TODO (about 17 lines): the products of this tile, with keys as rows and queries as columns:
		//     S^T = K (scale Q)^T    P^T by weigh_keys    dV += P^T dO
		//     dP^T = V dO^T          dS^T = P^T o (dP^T - D)    dK += dS^T (scale Q)
		// weigh_keys knows nothing of this class's window: a query sees a key only if less than WINDOW lies
		// between them, and has no weight, P = 0, for the others.
		// Hint: multiply_rows gives S^T and dP^T; store_slab, then add_products, gives dV and dK. p[r][t]
		// belongs to row lane_row() + LANES_DOWN * r of the tile, a key, and to column lane_column() +
		// LANES_ACROSS * t, a query, whose D it needs.
		(void)p, (void)ds, (void)slab, (void)lse_tile, (void)d_tile;
#endif
