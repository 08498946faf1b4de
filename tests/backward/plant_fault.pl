#!/usr/bin/perl
# Writes chapter 06's kernels with one fault in them:  plant_fault.pl NAME backward.cu;  plant_fault.pl --list
# Each fault is one replacement of a text that must occur exactly once, so that none can silently stop to be planted.
use strict;
use warnings;

my %faults = (
    # dV from the dO of the next query
    wrong_do_row => ['add_products<D, TILE>(slab, do_tile, dv);', 'add_products<D, TILE>(slab, do_tile + D + PAD, dv);'],
    # dS = P o dP
    no_d_in_dkdv => ['ds[r][t] = p[r][t] * (ds[r][t] - d_tile[lane_column() + LANES_ACROSS * t]);', 'ds[r][t] *= p[r][t];'],
    no_d_in_dq => ['float L = lse_tile[row], D_row = d_tile[row];', 'float L = lse_tile[row], D_row = 0.0f;'],
    dq_unscaled => ['store_rows<D>(dq, b.scale,', 'store_rows<D>(dq, 1.0f,'],
    dk_unscaled => ['store_rows<D>(dk, 1.0f,', 'store_rows<D>(dk, 1.0f / b.scale,'],
    # P = exp(S)
    unshifted => ['expf(score - L)', 'expf(score)'],
    # the last, ragged tile of queries is lost to dK and dV; the last tile of keys to dQ
    dropped_queries => ['first_query < b.N; first_query += TILE', 'first_query + TILE <= b.N; first_query += TILE'],
    dropped_keys => ['for (int first_key = 0; first_key < keys; first_key += TILE) {
		__syncthreads(); // a slow warp may still be reading the last tiles
		load_tile<D, TILE>(b.K + matrix, first_key, b.N, b.d, 1.0f, k_tile);
		load_tile<D, TILE>(b.V + matrix, first_key, b.N, b.d, 1.0f, v_tile);
		__syncthreads(); // every warp reads rows that other warps loaded

', 'for (int first_key = 0; first_key + TILE <= keys; first_key += TILE) {
		__syncthreads();
		load_tile<D, TILE>(b.K + matrix, first_key, b.N, b.d, 1.0f, k_tile);
		load_tile<D, TILE>(b.V + matrix, first_key, b.N, b.d, 1.0f, v_tile);
		__syncthreads();

'],
    # a query does not see its own key
    causal_off_by_one => ['s[r][t] = probability(s[r][t], L, key < b.N && (!b.causal || key <= query));',
        's[r][t] = probability(s[r][t], L, key < b.N && (!b.causal || key < query));'],
    # D from an O that is not divided by l
    o_not_normalised => ['o[r][c] *= inverse;', 'o[r][c] *= inverse > 0.0f ? 1.0f : inverse;'],
    # no fault, but the forward rounds S elsewhere: scale (q k) in the place of (scale q) k
    s_rounded_elsewhere => ['load_tile<D, TILE>(b.Q + matrix, first_query, b.N, b.d, b.scale, q_tile);
	for (int first_key = 0; first_key < keys; first_key += TILE) {
		__syncthreads(); // a slow warp may still be reading the last tiles
		load_tile<D, TILE>(b.K + matrix, first_key, b.N, b.d, 1.0f, k_tile);
		load_tile<D, TILE>(b.V + matrix, first_key, b.N, b.d, 1.0f, v_tile);
		__syncthreads(); // every warp reads rows that other warps loaded
		multiply_rows<D, TILE>(q_tile, k_tile, p);
', 'load_tile<D, TILE>(b.Q + matrix, first_query, b.N, b.d, 1.0f, q_tile);
	for (int first_key = 0; first_key < keys; first_key += TILE) {
		__syncthreads();
		load_tile<D, TILE>(b.K + matrix, first_key, b.N, b.d, 1.0f, k_tile);
		load_tile<D, TILE>(b.V + matrix, first_key, b.N, b.d, 1.0f, v_tile);
		__syncthreads();
		multiply_rows<D, TILE>(q_tile, k_tile, p);
		for (int r = 0; r < ROWS; r++)
			for (int t = 0; t < TILE / LANES_ACROSS; t++)
				p[r][t] *= b.scale;
'],
    # naive: dV from the next row of dO (and dK from the next row of Q)
    naive_wrong_row => ['B[(head * N + i) * d + c]', 'B[(head * N + (i + 1) % N) * d + c]'],
    naive_no_d => ['(dP[row * N + j] - D)', 'dP[row * N + j]'],
);

if (@ARGV == 1 && $ARGV[0] eq '--list') {
    print join(' ', sort keys %faults), "\n";
    exit;
}
my ($name, $path) = @ARGV;
die "usage: plant_fault.pl NAME backward.cu\n" unless defined $path && $faults{$name};
open my $in, '<', $path or die "$path: $!\n";
my $source = do { local $/; <$in> };
my ($right, $wrong) = @{ $faults{$name} };
my $times = () = $source =~ /\Q$right\E/g;
die "$path: the place of '$name' was found $times times, expected once:\n$right\n" unless $times == 1;
$source =~ s/\Q$right\E/$wrong/;
print $source;
