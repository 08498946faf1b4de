#!/usr/bin/perl
# The README's map of the chapters, with what was measured for each: from plots/data, printed as Markdown.
#   perl plots/chapter_table.pl [DATA]
use strict;
use warnings;
use File::Basename qw(dirname);

my $here = dirname($0);
my $data = $ARGV[0] // "$here/data";
my $plain = 'dim=64 causal=0';
my %ideas = (
    '01_naive'          => 'attention as three kernels: count the bytes',
    '02_online_softmax' => 'a maximum that may still grow: softmax in one pass',
    '03_tiled_matmul'   => 'fetch once, use many times: tiles in shared memory and registers',
    '04_fa1'            => 'FlashAttention-1: S never exists, K and V stream past',
    '05_fa2'            => 'FlashAttention-2: swap the loops, one block for each query tile',
    '06_backward'       => 'dQ, dK, dV without N×N: recompute P from L',
);
# Whose time stands for the chapter.
my %kernels = (
    '01_naive' => 'naive', '02_online_softmax' => 'softmax_online', '03_tiled_matmul' => 'matmul_registers',
    '04_fa1' => 'fa1_paper', '05_fa2' => 'fa2_split_q', '06_backward' => 'backward_split',
);
my %found = (
    '01_naive'          => \&naive,
    '02_online_softmax' => \&online_softmax,
    '03_tiled_matmul'   => \&tiled_matmul,
    '04_fa1'            => \&fa1,
    '05_fa2'            => \&fa2,
    '06_backward'       => \&backward,
);
my @devices = ('sim', grep { $_ ne 'sim' } map { m{([^/]+)/01_naive\.tsv$} } sort glob "$data/*/01_naive.tsv");

my @head = ('', 'one idea', 'counted by the simulated device');
push @head, $_ eq 'sim' ? 'time, a CPU\'s plain build' : "time, $_" for @devices;
print '| ', join(' | ', @head), " |\n", '|---' x @head, "|\n";
for my $chapter (sort keys %ideas) {
    my @cells = ("[$chapter]($chapter/README.md)", $ideas{$chapter}, $found{$chapter}->());
    push @cells, time_of($_, $chapter) for @devices;
    print '| ', join(' | ', @cells), " |\n";
}
print "\n";
print "Counted and timed by `make bench`", join(';', map { ' ' . provenance($_) } @devices), ".",
    " A CPU's time says nothing about a GPU.\n";

sub naive {
    my ($N, $bytes) = of('01_naive', 'naive', $plain, 'seq', 'footprint');
    return sprintf '%s of footprint at N = %d, %.0f %% of it S and P', bytes($bytes), $N, 100 * (1 - 16 * $N * 64 / $bytes);
}

sub online_softmax {
    my ($three) = of('02_online_softmax', 'softmax_three_pass', '', 'requested');
    my ($two, $columns) = of('02_online_softmax', 'softmax_online', '', 'requested', 'cols');
    return sprintf '%.0f %% fewer bytes requested than in three passes, rows of %d', 100 * (1 - $two / $three), $columns;
}

sub tiled_matmul {
    my ($n, $naive) = of('03_tiled_matmul', 'matmul_naive', '', 'n', 'requested');
    my ($tiled) = of('03_tiled_matmul', 'matmul_tiled', '', 'requested');
    my ($registers) = of('03_tiled_matmul', 'matmul_registers', '', 'requested');
    return sprintf 'tiles cut requested bytes %.0f-fold, register tiles %.0f-fold, n = %d', $naive / $tiled,
        $naive / $registers, $n;
}

sub fa1 {
    my ($N, $peak) = of('04_fa1', 'fa1_paper', $plain, 'seq', 'per_head*peak_bytes');
    my ($naive) = of('01_naive', 'naive', "$plain seq=$N", 'per_head*peak_bytes');
    return sprintf '%.0f times less memory than naive at N = %d', $naive / $peak, $N;
}

sub fa2 {
    my ($N, $requested) = of('05_fa2', 'fa2_split_q', $plain, 'seq', 'per_head*requested');
    my ($naive) = of('01_naive', 'naive', "$plain seq=$N", 'per_head*footprint');
    return sprintf '%.0f %% of the bytes naive moves, N = %d', 100 * $requested / $naive, $N;
}

sub backward {
    my ($N, $split) = of('06_backward', 'backward_split', $plain, 'seq', 'footprint');
    my ($naive) = of('06_backward', 'backward_naive', "$plain seq=$N", 'footprint');
    return sprintf '%.0f %% less footprint than the naive backward at N = %d', 100 * (1 - $split / $naive), $N;
}

# "37.2 ms, fa2_split_q, N = 1024"; nothing where nothing was measured.
sub time_of {
    my ($device, $chapter) = @_;
    my $size = $chapter =~ /^02/ ? 'cols' : $chapter =~ /^03/ ? 'n' : 'seq';
    # The same N for all of attention where it was measured.
    for my $where ($size eq 'seq' && $device eq 'sim' ? ("$plain seq=1024", $plain) : ($size eq 'seq' ? $plain : '')) {
        my ($ms, $extent) = values_of("$data/$device/$chapter.tsv", $kernels{$chapter}, $where, 'median_ms', $size);
        next if $ms eq 'NaN';
        my $name = $size eq 'seq' ? 'N' : $size eq 'n' ? 'n' : 'columns';
        return sprintf '%.3g ms: `%s`, %s = %d', $ms, $kernels{$chapter}, $name, $extent;
    }
    return '';
}

sub of {
    my ($chapter, @rest) = @_;
    my @values = values_of("$data/sim/$chapter.tsv", @rest);
    die "$data/sim/$chapter.tsv: no $rest[0] where $rest[1]: make bench\n" if grep { $_ eq 'NaN' } @values;
    return @values;
}

# Of the last row that fits; plots/rows.awk says what a column and a condition are.
sub values_of {
    my ($file, $kernel, $where, @columns) = @_;
    -s $file or die "$file is missing: make bench writes it\n";
    open my $awk, '-|', 'awk', '-f', "$here/rows.awk", '-v', 'last=1', '-v', "kernel=$kernel", '-v', "where=$where", '-v',
        "columns=@columns", $file or die "awk: $!\n";
    chomp(my $line = <$awk> // '');
    close $awk or die "$file: awk failed\n";
    return split /\t/, $line;
}

sub provenance {
    my ($device) = @_;
    open my $in, '<', "$data/$device/05_fa2.tsv" or die "$data/$device/05_fa2.tsv: $!\n";
    my %notes = map { /^# (\w+): *(.*?)\s*$/ ? ($1 => $2) : () } <$in>;
    my ($date) = ($notes{date} // '') =~ /^([\d-]+)/;
    return join ', ', grep { length } ($device eq 'sim' ? 'on' : "and on the $device,") . " $notes{machine}", $notes{compiler} // '',
        $date ? "on $date" : '', $notes{commit} ? "at commit $notes{commit}" : '';
}

sub bytes {
    my ($bytes) = @_;
    my @units = ('B', 'kB', 'MB', 'GB');
    my $unit = 0;
    ($bytes /= 1000, $unit++) while $bytes >= 1000 && $unit < $#units;
    return sprintf '%.3g %s', $bytes, $units[$unit];
}
