// TODO (about 17 lines): the products of this tile, with keys as rows and queries as columns:
//     S^T = K (scale Q)^T    P^T by weigh_keys    dV += P^T dO
//     dP^T = V dO^T          dS^T = P^T o (dP^T - D)    dK += dS^T (scale Q)
// weigh_keys knows nothing of this class's window: a query sees a key only if less than WINDOW
// lies between them, and has no weight, P = 0, for the others.
// Hint: multiply_rows gives S^T and dP^T; store_slab, then add_products, gives dV and dK. p[r][t]
// belongs to row lane_row() + LANES_DOWN * r of the tile, a key, and to column lane_column() +
// LANES_ACROSS * t, a query, whose D it needs.
