float sum = 0.0f;
for (int first = 0; first < k; first += TILE) {
	load_tiles(A, B, m, n, k, first, a_tile, b_tile);
	__syncthreads(); // without it a warp multiplies elements that others have not fetched yet
	for (int p = 0; p < TILE; p++)
		sum += a_tile[p][threadIdx.y] * b_tile[p][threadIdx.x];
	__syncthreads(); // without it fast warps fetch the next tile over the one slow warps still read
}
if (i < m && j < n) // the tile may hang over the edge of C
	C[(size_t)i * n + j] = soft_cap(sum); // of the whole sum: a cap of each tile's part is another number
