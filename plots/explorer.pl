#!/usr/bin/perl
# Makes plots/explorer.html: chapters 01, 04 and 05 at one small size, and chapter 02's trace, each run with --explain;
# their data goes into one page. Run from the repository's root after `make build`.
#
#   perl plots/explorer.pl [FILE]
#
# What is not in the runs stands below: names for the kernels, the tiles of their shared memory, closed forms.
use strict;
use warnings;
use File::Temp qw(tempdir);
use JSON::PP;

my $page = shift // 'plots/explorer.html';
my ($N, $d, $Br, $Bc) = (128, 16, 32, 32);
my $room = tempdir(CLEANUP => 1);
my $json = JSON::PP->new->canonical->allow_nonref;

# One run, as its page holds it, without what is another machine's or compiler's: times, and errors of one rounding.
sub run_of {
    my ($directory, $program, @options) = @_;
    my $file = "$room/page.html";
    system("./$directory/$program", @options, '--quiet', '--repeat', 1, '--color', 'never', '--explain', $file) == 0
        or die "$directory/$program @options: failed\n";
    open my $in, '<', $file or die "$file: $!\n";
    local $/;
    my ($data) = <$in> =~ m{<script type="application/json" id="data">(.*?)</script>}s or die "$program: no data in its page\n";
    my $run = $json->decode($data)->{runs}[0];
    die "$program: no trace; the explorer is made with DEVICE=sim, on which every access is seen\n" unless $run->{trace};
    for my $kernel (@{$run->{result}{kernels}}) {
        delete @{$kernel}{qw(time error errors)};
        delete $kernel->{launches}; # the trace says it all
    }
    delete $_->{maps} for @{$run->{kernels}};
    return $run;
}

# A run whose traffic is not shown needs neither trace nor source. Six digits of what it computed are more than the
# page shows, and the same with any processor's exponential.
sub softmax_run {
    my $run = run_of('02_online_softmax', 'online_softmax', '--trace', @_);
    delete $run->{$_} for qw(trace sources hazards);
    delete $run->{result}{softmax};
    $run->{digits} = 6;
    for my $update (@{$run->{result}{trace}}) {
        $_ = 0 + sprintf '%.6g', $_ for @{$update}{qw(l correction)};
    }
    $run->{kernels} = [];
    $run->{result}{kernels} = [];
    return $run;
}

my @shape = ('--heads', 1, '--seq', $N, '--dim', $d);
my @tiles = ('--tile-q', $Br, '--tile-k', $Bc);
my @runs = (run_of('01_naive', 'naive', @shape), run_of('04_fa1', 'fa1', @shape, @tiles, '--kernel', 'fa1_paper'),
    run_of('05_fa2', 'fa2', @shape, @tiles, '--kernel', 'fa2_row'),
    softmax_run('--values', '1,2,3,6,2,1', '--block', 2),
    softmax_run('--load', 'tests/data/real_qkv', '--row', 1023, '--block', 64));

my $D = int(($d + 31) / 32) * 32;
my $tile = 4 * $Bc;
my %data = (
    title => 'FlashAttention, byte by byte',
    subtitle => "Real runs on the simulated device: one head, N = $N, d = $d, tiles of $Br \xd7 $Bc, fp32",
    predict => "The same attention, computed three ways. How many bytes will the threads of each ask of global memory? "
        . "N = $N, d = $d, fp32. A rough guess is a good guess.",
    runs => \@runs,
    labels => {naive => 'Naive attention', fa1_paper => 'FlashAttention-1', fa2_row => 'FlashAttention-2'},
    regions => {
        fa1_paper => [map {{array => 'dynamic shared memory', name => $_->[0], bytes => $_->[1]}}
            ['K tile', $tile * $d], ['V tile', $tile * $d], ['S tile', $tile * $Br]],
        fa2_row => [map {{array => 'dynamic shared memory', name => $_, bytes => $tile * $D}} 'K tile', 'V tile'],
    },
    forms => {
        problem => {N => $N, d => $d, Br => $Br, Bc => $Bc},
        names => {N => 'sequence length', d => 'head dimension', Br => 'query rows of a tile', Bc => 'key rows of a tile'},
        sliders => {N => [map { 64 << $_ } 0 .. 8], d => [16, 32, 64, 96, 128], Br => [16, 32, 64, 128, 256], Bc => [16, 32, 64, 128, 256]},
        order => [qw(N d Br Bc)],
        note => 'Closed forms, one head, fp32, without the row statistics l, m and L. Naive attention stands there twice: as its '
            . 'threads ask, and as a perfect cache would fetch it, which is the textbook count.',
        rows => [
            {label => 'Naive, as requested', formula => "4N\xb2d + 5N\xb2 + Nd", kernel => 'naive', counts => 'requested',
                terms => [[4, 'N', 'N', 'd'], [5, 'N', 'N'], [1, 'N', 'd']]},
            {label => 'Naive, perfect cache', formula => "4N\xb2 + 4Nd", kernel => 'naive', counts => 'footprint',
                terms => [[4, 'N', 'N'], [4, 'N', 'd']]},
            {label => 'FlashAttention-1', formula => '(3Tc + 1)Nd', kernel => 'fa1_paper', counts => 'requested',
                terms => [[3, 'Tc', 'N', 'd'], [1, 'N', 'd']]},
            {label => 'FlashAttention-2', formula => '2Nd(1 + Tr)', kernel => 'fa2_row', counts => 'requested',
                terms => [[2, 'N', 'd'], [2, 'N', 'd', 'Tr']]},
        ],
        saving => {of => 1, over => 3, text => 'FlashAttention-2 moves {} fewer bytes than naive attention with a perfect cache.',
            loss => 'FlashAttention-2 moves {} as many bytes as naive attention with a perfect cache.',
            formula => '2Br/d', ceiling => [[2, 'Br', '1/d']]},
    },
);

open my $assemble, '-|', 'perl', 'common/explorer/assemble.pl', 'common/explorer', '-' or die "assemble.pl: $!\n";
my $template = do { local $/; <$assemble> };
close $assemble or die "assemble.pl failed\n";
my $text = $json->ascii->encode(\%data);
$text =~ s/</\\u003c/g;
$template =~ s/<!-- data -->/$text/;
open my $out, '>', "$page.new" or die "$page.new: cannot be written: $!\n";
print $out $template;
close $out or die "$page.new: cannot be written: $!\n";
rename "$page.new", $page or die "$page: cannot be written: $!\n";
printf "%s: %d kB, opens in a browser as it is\n", $page, length($template) / 1000;
