// TODO (about 10 lines): the products of this tile, with keys as rows and queries as columns:
//     S^T = K (scale Q)^T    P^T by weigh_keys    dV += P^T dO
//     dP^T = V dO^T          dS^T = P^T o (dP^T - delta)    dK += dS^T (scale Q)
// Hint: multiply_rows gives S^T and dP^T; store_slab, then add_products, gives dV and dK. p[r][t]
// belongs to column lane_column() + LANES_ACROSS * t of the tile, and so does its delta.
