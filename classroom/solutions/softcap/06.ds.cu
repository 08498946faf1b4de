#ifndef HANDOUT
		// solution b72a62848421
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
				           (ds[r][t] - d_tile[lane_column() + LANES_ACROSS * t]);
		store_slab<TILE>(ds, slab);
		add_products<D, TILE>(slab, q_tile, dk); // dK += dS^T (scale Q)
#else
		// TODO (about 16 lines): the products of this tile, with keys as rows and queries as columns:
		//     S^T = K (scale Q)^T    P^T by weigh_keys, which caps S^T first    dV += P^T dO
		//     dP^T = V dO^T          dS^T = P^T o (dP^T - D) o cap'(S^T)        dK += dS^T (scale Q)
		// This class's soft-cap c tanh(s / c) has the derivative cap'(s) = 1 - tanh(s / c)².
		// Hint: multiply_rows gives S^T and dP^T; store_slab, then add_products, gives dV and dK. weigh_keys
		// writes P^T over S^T: what do you need of S^T later? p[r][t] belongs to column lane_column() +
		// LANES_ACROSS * t of the tile, and so does its D.
		(void)p, (void)ds, (void)slab, (void)lse_tile, (void)d_tile;
#endif
