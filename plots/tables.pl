#!/usr/bin/perl
# The tables of the literature, computed by this code: `make tables`, or one of them, `make tables T=T3`.
#
#   perl plots/tables.pl [--table T3] [--data plots/data] [--published plots/published.tsv]
#
# Every number of ours is a count or a time in plots/data (made by `make bench`), or comes out of a chapter's program
# that is run here; every number of others is in plots/published.tsv, with its source. A verdict stands beside each:
#
#   equal          to the digits that were published
#   differs: ...   as it must, and why
#   needs a GPU    there is no data of one
#   NOT EQUAL      exit 1
#
# Exit 3 where data is missing; the line names the command that makes it. Needs perl's smallest set of modules only.
use strict;
use warnings;
use File::Basename qw(dirname);
use File::Path qw(make_path remove_tree);
use Getopt::Long qw(:config no_auto_abbrev no_ignore_case);
use lib dirname(__FILE__);
use Comparison;

my ($table, $data, $published_path) = ('', 'plots/data', 'plots/published.tsv');
GetOptions('table=s' => \$table, 'data=s' => \$data, 'published=s' => \$published_path) && !@ARGV or exit 2;
my %tables = (
    T1 => \&naive_elements, T2 => \&naive_against_tiled, T3 => \&exactness, T4 => \&online_softmax, T5 => \&roofline,
    T6 => \&intensity, T7 => \&forward_times, T8 => \&whole_training_step, T9 => \&block_sizes,
);
my @chosen = $table eq '' ? sort keys %tables : split /[,\s]+/, uc $table;
for my $name (@chosen ? @chosen : $table) {
    stop(2, 'T: expected some of ' . join(', ', sort keys %tables) . ", got '$name'") unless $tables{$name};
}

read_published($published_path);
my $scratch = "build/tables.$$";
END { my $status = $?; remove_tree($scratch) if defined $scratch && -d $scratch; $? = $status }
$SIG{$_} = sub { exit 130 } for qw(INT TERM);
my $missing = 0;
for my $name (@chosen) {
    print "\n" unless $name eq $chosen[0];
    my $done = eval { $tables{$name}->(); 1 };
    next if $done;
    die $@ unless ref $@ eq 'HASH';
    print "  ", paint('no data', 'bad'), ": $@->{why}\n";
    $missing++;
}
my $count = compared();
print "\n", unequal() ? paint(unequal() . " of $count numbers are not equal to the published ones", 'bad')
    : $missing ? "$count published numbers compared, $missing of the tables without data"
    : "$count published numbers compared: none differs without a reason", "\n";
close STDOUT or stop(3, "standard output: $!");
exit(unequal() ? 1 : $missing ? 3 : 0);

# ---- T1 ----

# Q, K and V are read and O is written, N d elements each: what is read and what is written differ by 2 N d. The rest is
# S and P.
sub naive_elements {
    heading('T1', 'HBM elements of naive attention: one head, N=2048 d=64, a footprint', '01_naive');
    my $row = sim_row('01_naive', seq => 2048, dim => 64, causal => 0, kernel => 'naive');
    my ($read, $written) = map { $_ / 4 / $row->{heads} } @{$row}{qw(footprint_read_bytes footprint_write_bytes)};
    my $Nd = 2 * ($read - $written);
    my %ours = (read => $read, written => $written, total => $read + $written, Nd => $Nd, N2 => $read + $written - $Nd);
    $ours{share} = 100 * $ours{N2} / $ours{total};
    my @lines = (['', 'counted', 'published', '']);
    for my $pair ([read => 'read'], [written => 'written'], [total => 'in all: 4N^2 + 4Nd'],
        [N2 => 'of them S and P, 4N^2'], [Nd => 'Q, K, V and O, 4Nd'], [share => 'share of S and P, %'])
    {
        my ($key, $text) = @$pair;
        push @lines, [$text, $key eq 'share' ? sprintf('%.2f', $ours{share}) : commas($ours{$key}),
            value('T1', 2048, $key), verdict('T1', 2048, $key => $ours{$key})];
    }
    columns('lrrl', @lines);
    print "  The N^2 terms move four times, not three: S and P, each written and read.\n";
}

# ---- T2 ----

sub naive_against_tiled {
    heading('T2', 'Elements moved, naive against tiled (queries outside): d=64 Br=128, a head', '01_naive');
    my @lines = (['', 'naive', '', 'flash', '', '', '', 'less', '', ''],
        ['N', 'counted', 'publ.', 'counted', 'publ.', 'fold', '', '%', '', '']);
    for my $N (256, 512, 1024, 2048, 4096) {
        my $where = $N == 4096 ? 'long' : '';
        my $naive = sim_row($where || '01_naive', seq => $N, dim => 64, causal => 0, kernel => 'naive');
        my $flash = sim_row($where || '05_fa2', seq => $N, dim => 64, causal => 0, kernel => 'fa2_row');
        my %ours = (naive => elements($naive), flash => elements($flash));
        @ours{qw(ratio saved)} = ($ours{naive} / $ours{flash}, 100 - 100 * $ours{flash} / $ours{naive});
        push @lines, [$N, commas($ours{naive}), value('T2', $N, 'naive'), commas($ours{flash}),
            value('T2', $N, 'flash'), sprintf('%.1f', $ours{ratio}), value('T2', $N, 'ratio'),
            sprintf('%.1f', $ours{saved}), value('T2', $N, 'saved'),
            verdicts(map { ['T2', $N, $_ => $ours{$_}] } qw(naive flash ratio saved))];
    }
    columns('rrRrRrRrRL', @lines);
    my ($naive) = fit('01_naive', 64, 'naive', 1024, 2048);
    my ($flash) = fit('05_fa2', 64, 'fa2_row', 1024, 2048);
    my $ceiling = $naive / $flash;
    prose(sprintf 'The ratio has a ceiling, 2Br/d: from the counts at N = 1024 and 2048 it is %.1f (published %s: %s).',
        $ceiling, value('T2', 'ceiling', 'ratio'), verdict('T2', 'ceiling', ratio => $ceiling));
    prose('naive is a footprint, naive at its best; flash is what is requested, flash at its worst (its footprint is '
            . '4Nd).');
}

# ---- T3 ----

sub exactness {
    heading('T3', 'Exactness: largest difference from naive, N=256 d=64, fp32, normal input');
    my @naive = output('01_naive/naive', '--seq', 256, '--dim', 64, '--heads', 1);
    my @lines = (['Br x Bc', 'fa1_paper', 'fa2_row', 'tolerance', 'published', '']);
    my %results;
    for my $tile ([32, 32], [16, 16], [32, 64], [64, 32], [128, 128]) {
        my ($Br, $Bc) = @$tile;
        my (@differences, $tolerance);
        for my $kernel (['04_fa1/fa1', 'fa1_paper'], ['05_fa2/fa2', 'fa2_row']) {
            my ($program, $name) = @$kernel;
            my ($row, @O) = output($program, '--kernel', $name, '--seq', 256, '--dim', 64, '--heads', 1,
                '--tile-q', $Br, '--tile-k', $Bc);
            $results{$name}{pack 'f<*', @O} = 1;
            my $most = 0;
            for my $i (0 .. $#O) {
                my $difference = abs($O[$i] - $naive[$i + 1]);
                $most = $difference if !($difference <= $most);
            }
            push @differences, $most;
            $tolerance = $row->{tolerance_O};
        }
        # Both stand within the tolerance of the reference, so within twice of it of each other.
        my $inside = !grep { !($_ > 0 && $_ <= 2 * $tolerance) } @differences;
        push @lines, ["$Br x $Bc", (map { sprintf '%.2e', $_ } @differences), sprintf('%.1e', $tolerance),
            value('T3', "${Br}x$Bc", 'difference'),
            $inside ? verdict('T3', "${Br}x$Bc", difference => $differences[0]) : wrong()];
    }
    columns('lrrrrl', @lines);
    prose('differs because ' . note('T3', '32x32', 'difference') . '.');
    prose('Exact means the same function, not the same bits: additions in another order round differently. Different '
            . 'results of the five tilings: fa1_paper ' . keys(%{$results{fa1_paper}}) . ', fa2_row '
            . keys(%{$results{fa2_row}}) . '.');
}

# ---- T4 ----

sub online_softmax {
    heading('T4', 'The online softmax by hand: x = 1 2 3 | 6 2 1');
    my $json = run('02_online_softmax/online_softmax', '--kernel', 'softmax_online', '--values', '1,2,3,6,2,1',
        '--block', 3, '--trace', '--json', '-');
    my @trace = flat_objects($json, 'trace');
    my ($weights) = $json =~ /"softmax":\[([^\]]*)\]/;
    stop(1, '02_online_softmax/online_softmax --trace: no trace of two blocks in its JSON')
        if @trace != 2 || !defined $weights;
    my $row = '1,2,3,6,2,1';
    my %ours = (m1 => $trace[0]{m}, l1 => $trace[0]{l}, correction1 => $trace[0]{correction},
        m2 => $trace[1]{m}, l2 => $trace[1]{l}, correction2 => $trace[1]{correction});
    my @y = split /,/, $weights;
    $ours{"y$_"} = $y[$_] for 0 .. $#y;
    my @lines = (['', 'traced', 'published', '']);
    my $indent = ' ' x 15;
    for my $pair ([m1 => 'after block 1: m'], [l1 => "${indent}l"], [correction1 => "${indent}correction"],
        [m2 => 'after block 2: m'], [l2 => "${indent}l"], [correction2 => "${indent}correction"],
        map { ["y$_" => $_ ? "${indent}y$_" : 'softmax:       y0'] } 0 .. 5)
    {
        my ($key, $text) = @$pair;
        my $verdict = verdict('T4', $row, $key => $ours{$key});
        # Rounding on the way costs no more than the last digit that was published.
        $verdict = wrong() if $key eq 'l2' && !(abs($ours{l2} - value('T4', $row, 'l2')) < 2e-4);
        push @lines, [$text, sprintf('%.9g', $ours{$key}), value('T4', $row, $key), $verdict];
    }
    columns('lrrl', @lines);
    prose('differs because ' . note('T4', $row, 'l2') . '.');
}

# ---- T5 ----

sub roofline {
    heading('T5', 'Roofline of one QK^T on an A100 in fp16: from formulas of 01_naive');
    my %of;
    for my $gpu (qw(a100 h100 h200 rtx4090)) {
        my $json = run('01_naive/naive', '--seq', 1, '--dim', 1, '--gpu', $gpu, '--json', '-');
        ($of{$gpu}{fp16}) = $json =~ /"ridge_fp16":([^,]+)/;
        ($of{$gpu}{fp32}) = $json =~ /"ridge_fp32":([^,]+)/;
        $of{$gpu}{products} = [flat_objects($json, 'products')];
    }
    printf "  Ridge: %.0f FLOP/byte (published %s: %s).\n", $of{a100}{fp16}, value('T5', 'ridge', 'intensity'),
        verdict('T5', 'ridge', intensity => $of{a100}{fp16});
    my @lines = (['', '', 'FLOP', '', 'bytes', '', 'FLOP/', 'byte', 'bound', '', ''],
        ['N', 'd', 'ours', 'publ.', 'ours', 'publ.', '', 'publ.', 'ours', 'publ.', '']);
    my @single = (['', '', 'FLOP/', 'bound on', '', '', ''], ['N', 'd', 'byte', 'A100', 'H100', 'H200', 'RTX 4090']);
    for my $i (0 .. $#{$of{a100}{products}}) {
        my $product = $of{a100}{products}[$i];
        my ($N, $d) = @{$product}{qw(N d)};
        my %ours = (flop => $product->{flop}, bytes => $product->{fp16_bytes}, intensity => $product->{fp16_intensity},
            bound => $product->{fp16_bound});
        my $row = "${N}x$d";
        push @lines, [$N, $d, as_published('T5', $row, flop => $ours{flop}), value_unit('T5', $row, 'flop'),
            as_published('T5', $row, bytes => $ours{bytes}), value_unit('T5', $row, 'bytes'),
            sprintf('%.0f', $ours{intensity}), value('T5', $row, 'intensity'), $ours{bound},
            value('T5', $row, 'bound'), verdicts(map { ['T5', $row, $_ => $ours{$_}] } qw(flop bytes intensity bound))];
        push @single, [$N, $d, sprintf('%.0f', $product->{fp32_intensity}),
            map { $of{$_}{products}[$i]{fp32_bound} } qw(a100 h100 h200 rtx4090)];
    }
    columns('rRrRrRrRlLl', @lines);
    prose('d = 256 is model only: the programs take d up to 128.');
    print "\n";
    prose(sprintf 'The same in our fp32: twice the bytes, so half the FLOP a byte. Ridges: A100 %.1f, H100 %.1f, '
            . 'H200 %.1f, RTX 4090 %.0f.', map { $of{$_}{fp32} } qw(a100 h100 h200 rtx4090));
    columns('rrrllll', @single);
}

# ---- T6 ----

sub intensity {
    heading('T6', 'Intensity of whole attention, FLOP/byte, d=128: 4N^2 d over counted bytes', '01_naive');
    my @lines = (['', 'N', 'fp16', 'published', '', 'our fp32']);
    for my $N (1024, 2048) {
        my $row = sim_row('01_naive', seq => $N, dim => 128, causal => 0, kernel => 'naive');
        my $fp16 = 4 * $N * $N * 128 / (2 * elements($row));
        push @lines, ['naive, footprint: Nd/(2(N+d))', $N, sprintf('%.1f', $fp16), value('T6', $N, 'naive'),
            verdict('T6', $N, naive => $fp16), sprintf('%.1f', $fp16 / 2)];
    }
    my ($square) = fit('01_naive', 128, 'naive', 1024, 2048);
    my $limit = 4 * 128 / (2 * $square);
    push @lines, ['naive, any N, from both: d/2', 'limit', sprintf('%.1f', $limit), value('T6', 'limit', 'naive'),
        verdict('T6', 'limit', naive => $limit), sprintf('%.1f', $limit / 2)];
    for my $N (1024, 2048) {
        my $row = sim_row('05_fa2', seq => $N, dim => 128, causal => 0, kernel => 'fa2_row');
        # the footprint without LSE: Q, K, V and O once
        my $elements = ($row->{footprint_read_bytes} + $row->{footprint_write_bytes}) / 4 / $row->{heads} - $N;
        my $fp16 = 4 * $N * $N * 128 / (2 * $elements);
        push @lines, ['fused, each tensor once: N/2', $N, sprintf('%.0f', $fp16), value('T6', $N, 'fused'),
            verdict('T6', $N, fused => $fp16), sprintf('%.0f', $fp16 / 2)];
    }
    for my $kernel (qw(fa2_row fa2_split_q)) {
        for my $N (1024, 2048) {
            my $row = sim_row('05_fa2', seq => $N, dim => 128, causal => 0, kernel => $kernel);
            my $fp16 = 4 * $N * $N * 128 / (2 * elements($row));
            push @lines, ["fused as it runs: $kernel", $N, sprintf('%.1f', $fp16), '-', '', sprintf('%.1f', $fp16 / 2)];
        }
    }
    columns('lrrrlr', @lines);
    prose('The ideal forgets that K and V are read again for every tile of queries, N/(1+Tr): that grows with the '
            . 'tile, not with N.');
}

# ---- T7 ----

sub forward_times {
    heading('T7', 'Forward times, B=1 H=8 d=64, ms');
    my @ours = grep { -f "$data/$_/01_naive.tsv" && -f "$data/$_/04_fa1.tsv" && -f "$data/$_/05_fa2.tsv" } gpus();
    my @kernels = (['01_naive', 'naive'], ['04_fa1', 'fa1_paper'], ['04_fa1', 'fa1_row'], ['05_fa2', 'fa2_row'],
        ['05_fa2', 'fa2_split_q']);
    my @lines = (['', 'published', '', '', '', ''], ['N', 'naive', 'module', 'flash v1', 'flash v2', '']);
    for my $N (1024, 4096, 8192, 16384) {
        push @lines, [$N, (map { value('T7', $N, $_) } qw(naive module v1 v2)),
            paint(@ours ? 'beside ours' : 'needs a GPU', 'dim')];
    }
    columns('rrrrrl', @lines);
    for my $gpu (@ours) {
        my $file = read_data("$gpu/01_naive");
        print "\n  Ours, fp32, on $gpu (", ($file->{device} =~ s/^cuda, //r), "); - was not measured\n";
        my @measured = (['N', map { $_->[1] } @kernels]);
        for my $N (1024, 4096, 8192, 16384) {
            push @measured, [$N, map { milliseconds($gpu, $N, @$_) } @kernels];
        }
        columns('rrrrrr', @measured);
    }
    my %sum;
    for my $N (1024, 4096, 8192, 16384) { $sum{$_} += value('T7', $N, $_) for qw(naive v1 v2) }
    prose(sprintf 'Published with them, "6.01x / 4.37x": ratios of the summed times (%.2f, %.2f); at N=16384 they are '
            . '%.2f and %.2f. From 8192 to 16384 time grows %.1f to %.1f fold.',
        $sum{naive} / $sum{v2}, $sum{naive} / $sum{v1},
        (map { value('T7', 16384, 'naive') / value('T7', 16384, $_) } qw(v2 v1)),
        sort { $a <=> $b } map { value('T7', 16384, $_) / value('T7', 8192, $_) } qw(v1 v2));
    prose('Theirs is Triton on a GPU that is not named: to stand beside, not to be equal.');
}

sub milliseconds {
    my ($gpu, $N, $chapter, $kernel) = @_;
    my $row = find_row("$gpu/$chapter", seq => $N, dim => 64, batch => 1, heads => 8, causal => 0, kernel => $kernel);
    return $row && $row->{median_ms} ne 'NaN' ? sprintf('%.2f', $row->{median_ms}) : '-';
}

# ---- T8 ----

# u is one N x d tensor of all heads, A one N x N. Counts of one head are of units of N d or N^2, whatever N.
sub whole_training_step {
    heading('T8', 'Forward and backward: N=1024 d=64 H=16 B=64, fp16 (paper, Fig. 2 left)', '06_backward');
    my ($N, $d, $heads) = (1024, 64, 16 * 64);
    my ($u, $A) = map { $_ / 1e9 } 2 * $heads * $N * $d, 2 * $heads * $N * $N;
    my $naive = sim_row('01_naive', seq => $N, dim => $d, causal => 0, kernel => 'naive');
    my $back = sim_row('06_backward', seq => $N, dim => $d, causal => 0, kernel => 'backward_naive');
    my @forward = fit('01_naive', $d, 'naive', 512, 1024);
    my @backward = fit('06_backward', $d, 'backward_naive', 512, 1024);
    # Ours rebuilds P from LSE: it reads Q and K and writes P, A + 2u that the plain algorithm, which kept P, does not
    # move.
    my ($plain_A, $plain_u) = ($forward[0] + $backward[0] - 1, $forward[1] + $backward[1] - 2);
    my $standard = $plain_A * $A + $plain_u * $u;
    my $with_passes = $standard + 7 * $A;
    my $paper = sim_row('blocks', kernel => 'fa1_paper', dim => $d, tile_k => 256);
    my $atomic = sim_row('06_backward', seq => 256, dim => $d, causal => 0, kernel => 'backward_atomic');
    my $unit = $atomic->{heads} * 256 * $d;
    # Tc = 4 tiles, as of 256 keys at N = 1024; each atomic counts as a read and a write; the pass that makes D apart
    my $tiles = $atomic->{atomic_bytes} / 4 / $unit;
    my $backward = $atomic->{counted_elements} / $unit - 2 + 2 * $tiles;
    my $flash = ($paper->{units} + $backward) * $u;
    printf "  u = %.4f GB (N x d, all heads), A = %.4f GB (N x N), both fp16\n\n", $u, $A;
    columns('lrrl', ['global memory, GB', 'counted', 'published', ''],
        [sprintf('standard, plain: %.0fA + %.0fu', $plain_A, $plain_u), sprintf('%.1f', $standard), '', ''],
        ['  with 7A of mask and dropout', sprintf('%.2f', $with_passes), value('T8', 'hbm', 'standard'),
            verdict('T8', 'hbm', standard => $with_passes)],
        [sprintf('FlashAttention, Bc=256: %.0fu + %.0fu', $paper->{units}, $backward), sprintf('%.2f', $flash),
            value('T8', 'hbm', 'flash'), verdict('T8', 'hbm', flash => $flash)]);
    prose(sprintf 'The inference: 7 passes over N x N for mask and dropout; the paper does not break its 40.3 down '
            . '(its NeurIPS version prints 35.3 and 4.4). Ours, %.0fA + %.0fu, rebuilds P in the backward: A + 2u are '
            . 'taken off. FlashAttention backward: backward_atomic at %.0f tiles, an atomic being a read and a write, '
            . 'without the pass that makes D (2u).', $forward[0] + $backward[0], $forward[1] + $backward[1], $tiles);
    print "\n";
    my $forward_flop = $naive->{flop} / $naive->{heads} * $heads / 1e9;
    my $backward_flop = $back->{flop} / $back->{heads} * $heads / 1e9;    # with P rebuilt
    my $kept = $forward_flop + $backward_flop * 8 / 10;
    columns('lrrl', ['GFLOP', 'ours', 'published', ''],
        ['standard: 4 + 8', sprintf('%.1f', $kept), value('T8', 'gflop', 'standard'),
            verdict('T8', 'gflop', standard => $kept)],
        ['FlashAttention: 4 + 10', sprintf('%.1f', $forward_flop + $backward_flop), value('T8', 'gflop', 'flash'),
            verdict('T8', 'gflop', flash => $forward_flop + $backward_flop)]);
    prose('differs because the published column does not reproduce from the stated workload, (4 + 8) or (4 + 10) '
            . 'B H N^2 d.');
}

# ---- T9 ----

sub block_sizes {
    heading('T9', 'Forward traffic against block size, N=1024 d=64 (paper, Fig. 2 middle)', 'blocks');
    my $u = 2 * 64 * 16 * 1024 * 64 / 1e9;
    my @lines = (['', 'units of N d', '', 'GB', '', ''], ['', 'counted', 'publ.', '', 'publ.', '']);
    for my $Bc (64, 128, 256, 512) {
        my $d = $Bc == 512 ? 32 : 64;
        my @wanted = (kernel => 'fa1_paper', seq => 1024, dim => $d, tile_k => $Bc);
        if ((any_sim_row('blocks', @wanted)->{verified} // '') eq 'skipped') {
            push @lines, ["FA1 Bc=$Bc", 'refused', value('T9', "fa1 $Bc", 'units'), '', '', "see below"];
            next;
        }
        my $row = sim_row('blocks', @wanted);
        push @lines, ["FA1 Bc=$Bc" . ($d == 64 ? '' : ' (d=32)'), sprintf('%g', $row->{units}),
            value('T9', "fa1 $Bc", 'units'), sprintf('%.2f', $row->{units} * $u), value('T9', "fa1 $Bc", 'GB'),
            verdicts(['T9', "fa1 $Bc", units => $row->{units}], ['T9', "fa1 $Bc", GB => $row->{units} * $u])];
    }
    for my $Br (64, 128, 256) {
        my $row = sim_row('blocks', kernel => 'fa2_row', seq => 1024, dim => 64, tile_q => $Br);
        push @lines, ["FA2 Br=$Br", sprintf('%g', $row->{units}), value('T9', "fa2 $Br", 'units'),
            sprintf('%.2f', $row->{units} * $u), '', verdict('T9', "fa2 $Br", units => $row->{units})];
    }
    columns('lrrrrl', @lines);
    my $refused = any_sim_row('blocks', kernel => 'fa1_paper', seq => 1024, dim => 64, tile_k => 512);
    prose("Bc=512 at d=64 is refused: $refused->{skipped}. Units do not depend on d: d=32 was counted.");
    prose("GB are of B=64 H=16 in fp16. At equal tiles FA2 moves 2+2T units against FA1's 3T+1, up to a third fewer; "
            . 'at the tiles the released programs used (FA1 Bc=256, FA2 Br=128) it moves more. The count alone does '
            . 'not explain FA2.');
}

# ---- our numbers ----

sub gpus {
    opendir my $directory, $data or return;
    return sort grep { !/^\./ && $_ ne 'sim' && -d "$data/$_" } readdir $directory;
}

# A table without its numbers: what is wrong with the file, and the command that makes it anew.
sub no_data {
    my ($name, $why) = @_;
    my ($device, $file) = $name =~ /(.*)\/(.*)/;
    die {why => "$data/$name.tsv$why; make bench DEVICE=" . ($device eq 'sim' ? 'sim' : 'cuda') . " CHAPTERS=$file"};
}

my %files;
sub read_data {
    my ($name) = @_;
    return $files{$name} if $files{$name};
    open my $in, '<', "$data/$name.tsv" or no_data($name, $!{ENOENT} ? ' is not there' : ": $!");
    my (%file, @columns);
    while (my $line = <$in>) {
        $line =~ s/\r?\n\z//;
        if ($line =~ s/^# //) {
            $file{$1} = $2 if $line =~ /^(\w+): (.*)/;
            $file{title} = $line if $. == 1;
            @columns = split /\t/, $line;
            next;
        }
        my %row;
        my @cells = split /\t/, $line, -1;
        no_data($name, ":$.: expected " . @columns . ' columns, found ' . @cells) if @cells != @columns;
        @row{@columns} = @cells;
        push @{$file{rows}}, \%row;
    }
    return $files{$name} = \%file;
}

sub find_row {
    my ($name, %wanted) = @_;
    for my $row (@{read_data($name)->{rows}}) {
        return $row unless grep { !defined $row->{$_} || $row->{$_} ne $wanted{$_} } keys %wanted;
    }
    return undef;
}

sub text_of { my (%wanted) = @_; return join ' ', map { "$_=$wanted{$_}" } sort keys %wanted }

# A row of the simulated device, of a kernel that was refused too.
sub any_sim_row {
    my ($name, %wanted) = @_;
    return find_row("sim/$name", %wanted) || no_data("sim/$name", ' has no row ' . text_of(%wanted));
}

# A row with the counts that the tables are made of.
sub sim_row {
    my ($name, %wanted) = @_;
    my $row = any_sim_row($name, %wanted);
    for my $column (qw(batch heads flop footprint_read_bytes footprint_write_bytes atomic_bytes counted_elements),
        $name eq 'blocks' ? 'units' : ())
    {
        no_data("sim/$name", " has no number of $column in the row " . text_of(%wanted))
            unless ($row->{$column} // '') =~ /^\d+(?:\.\d+)?(?:e[-+]?\d+)?$/;
    }
    return $row;
}

# Counted, of one head: what the kernel's closed form is compared with.
sub elements {
    my ($row) = @_;
    return $row->{counted_elements} / ($row->{batch} * $row->{heads});
}

# (a, b) of a N^2 + b N d elements a head, through the counts at two N.
sub fit {
    my ($name, $d, $kernel, $N, $twice) = @_;
    my ($less, $more) =
        map { elements(sim_row($name, seq => $_, dim => $d, causal => 0, kernel => $kernel)) } $N, $twice;
    my $square = ($more - 2 * $less) / ($twice**2 - 2 * $N**2);
    return ($square, ($less - $square * $N**2) / ($N * $d));
}

sub run {
    my ($program, @arguments) = @_;
    stop(3, "$program is not built: make build") unless -x $program;
    local $ENV{SIM_CHECK} = 'none';
    delete local @ENV{qw(SIM_REPORT SIM_TRACE)};
    open my $out, '-|', $program, @arguments, '--repeat', 1, '--warmup', 0 or stop(3, "$program: $!");
    my $text = do { local $/; <$out> };
    close $out or stop(1, "$program @arguments failed");
    return $text;
}

# One run's row, then the elements of its O.
sub output {
    my ($program, @arguments) = @_;
    make_path($scratch);
    my $text = run($program, @arguments, '--save', $scratch, '--quiet', '--tsv', '-');
    my %row;
    my @lines = split /\n/, $text;
    my ($columns) = (grep { /^#/ } @lines)[-1] =~ /^# (.*)/;
    @row{split /\t/, $columns} = split /\t/, $lines[-1];
    open my $in, '<:raw', "$scratch/o.npy" or stop(1, "$program --save: $!");
    my $bytes = do { local $/; <$in> };
    my $header = unpack 'x8 v', $bytes;
    return (\%row, unpack 'f<*', substr $bytes, 10 + $header);
}

# The objects of an array in a program's JSON, where these hold no further ones.
sub flat_objects {
    my ($json, $key) = @_;
    my ($list) = $json =~ /"$key":\[(.*?)\]/ or return;
    my @objects;
    while ($list =~ /\{(.*?)\}/g) {
        my $members = $1;
        my %object;
        while ($members =~ /"(\w+)":(?:"([^"]*)"|([^,]+))/g) { $object{$1} = defined $2 ? $2 : $3 }
        push @objects, \%object;
    }
    return @objects;
}

sub heading {
    my ($name, $text, $file) = @_;
    print paint("$name  $text", 'bold'), "\n";
    return unless $file;
    my $counts = read_data("sim/$file");
    for my $key (qw(date commit)) { no_data("sim/$file", " has no line '# $key:'") unless defined $counts->{$key} }
    my ($day) = $counts->{date} =~ /^([\d-]+)/;
    print '  ', paint("counts: $data/sim/$file.tsv, $day, commit $counts->{commit}", 'dim'), "\n";
}
