#ifndef HANDOUT
		// solution f0b419b5858f
		multiply_rows<D, TILE>(q_tile, k_tile, p);   // S
		multiply_rows<D, TILE>(do_tile, v_tile, ds); // dP
		for (int r = 0; r < ROWS; r++) {
			int row = lane_row() + LANES_DOWN * r, query = first_query + row;
			float L = lse_tile[row], D_row = d_tile[row];
			for (int t = 0; t < TILE / LANES_ACROSS; t++) { // dS = P o (dP - D)
				int key = first_key + lane_column() + LANES_ACROSS * t;
				bool visible = key < b.N && (!b.causal || key <= query) && abs(query - key) < WINDOW;
				float weight = probability(p[r][t], L, visible);
				ds[r][t] = weight * (ds[r][t] - D_row);
			}
		}
		store_slab<TILE>(ds, slab);
		add_products<D, TILE>(slab, k_tile, dq); // dQ += dS K
#else
		// TODO (about 14 lines): S = (scale Q) K^T, dP = dO V^T, P, dS = P o (dP - D), and dQ += dS K, with
		// queries as rows and keys as columns.
		// Hint: as in pass_over_queries, roles exchanged: L and D now belong to row lane_row() + LANES_DOWN
		// * r. probability(S, L, visible) is 0 for what the query may not see: keys from N on, after it when
		// causal, and those WINDOW or more away.
		(void)p, (void)ds, (void)slab, (void)lse_tile, (void)d_tile;
#endif
