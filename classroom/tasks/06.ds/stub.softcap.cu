// TODO (about 16 lines): the products of this tile, with keys as rows and queries as columns:
//     S^T = K (scale Q)^T    P^T by weigh_keys, which caps S^T first    dV += P^T dO
//     dP^T = V dO^T          dS^T = P^T o (dP^T - D) o cap'(S^T)        dK += dS^T (scale Q)
// This class's soft-cap c tanh(s / c) has the derivative cap'(s) = 1 - tanh(s / c)².
// Hint: multiply_rows gives S^T and dP^T; store_slab, then add_products, gives dV and dK.
// weigh_keys writes P^T over S^T: what do you need of S^T later? p[r][t] belongs to column
// lane_column() + LANES_ACROSS * t of the tile, and so does its D.
