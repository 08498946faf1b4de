#!/usr/bin/perl
# Makes simcc/ACCURACY.md from the counters of GPU reports: how near the simulated device's counts are to what
# hardware counts.
#
#   perl gpu/accuracy.pl [--check] [--data DIR] [--page FILE]
#
# DIR (plots/data) has a folder for each GPU that was asked: counters.tsv, and rules.tsv where there is one, as
# gpu-report writes them. Without any the page is one line. --check writes nothing: exit 1 when the page is stale.
use strict;
use warnings;
use Cwd qw(realpath);
use File::Basename qw(dirname);
use Getopt::Long qw(:config no_auto_abbrev no_ignore_case);
my $root;
BEGIN { $root = realpath(dirname(__FILE__) . '/..') }
use lib "$root/gpu/lib";
use Counters;
use Tsv;

my ($check, $data, $page) = (0, "$root/plots/data", "$root/simcc/ACCURACY.md");
GetOptions('check' => \$check, 'data=s' => \$data, 'page=s' => \$page) && !@ARGV or exit 2;
my @expected = qw(chapter options kernel launch template counter simulated measured ratio verdict metric);

my $text = eval { page(sort glob "$data/*/counters.tsv") };
if (!defined $text) {
    print STDERR "accuracy.pl: $@";
    exit 2;
}
my $old = -f $page ? do { local (@ARGV, $/) = ($page); <> } : '';
if ($check) {
    exit 0 if $old eq $text;
    print STDERR "$page: stale, run make accuracy\n";
    exit 1;
}
exit 0 if $old eq $text;
open my $out, '>', "$page.new" or die "$page.new: $!\n";
print $out $text;
close $out or die "$page.new: $!\n";
rename "$page.new", $page or die "$page: $!\n";
print "$page: re-made\n";

sub page {
    my (@files) = @_;
    my $head = "# How accurate the simulated device's counts are\n\n";
    return $head . "No GPU has been asked yet: `make gpu-report OUT=dir` on one measures what this page will hold.\n" unless @files;
    return $head . join '', introduction(), map { section($_) } @files;
}

sub introduction {
    return <<'END';
Made by `make accuracy` from `plots/data/*/counters.tsv`, which `make gpu-report` writes on a GPU. *Simulated* is the
launch record: a count of the source. *Measured* is Nsight Compute's count of what nvcc made of it, with cold caches.
*Ratio* is measured over simulated. The simulated footprint of reads is a lower bound on the DRAM bytes read, not a
forecast; of what is written L2 may keep some.

END
}

sub section {
    my ($path) = @_;
    my ($about, $columns, $rows) = Tsv::read_table($path);
    my %has = map { $_ => 1 } @$columns;
    for my $name (@expected) { die "$path: expected a column $name\n" unless $has{$name} }
    die "$path: no rows\n" unless @$rows;
    my ($gpu) = $path =~ m{([^/]+)/counters\.tsv$};
    my $text = "## $gpu\n\n$about->[0]\n\n" . overview($rows) . reasons($rows) . rules($path =~ s/counters\.tsv$/rules.tsv/r);
    my (%seen, @problems);
    for my $row (@$rows) { push @problems, [@{$row}{qw(chapter options)}] unless $seen{"$row->{chapter} $row->{options}"}++ }
    for my $problem (@problems) {
        my ($chapter, $options) = @$problem;
        $text .= "### $chapter, `$options`\n\n| kernel | launch | counter | simulated | measured | ratio | |\n|---|---|---|---:|---:|---:|---|\n";
        for my $row (grep { $_->{chapter} eq $chapter && $_->{options} eq $options } @$rows) {
            my $launch = $row->{launch} . ($row->{template} ne '-' ? "&lt;$row->{template}&gt;" : '');
            $text .= '| ' . join(' | ', $row->{kernel}, $launch, $row->{counter},
                map({ $_ eq 'NaN' ? '' : grouped($_) } @{$row}{qw(simulated measured)}),
                $row->{ratio} eq 'NaN' ? '' : $row->{ratio}, $row->{verdict}) . " |\n";
        }
        $text .= "\n";
    }
    return $text;
}

# A line for each counter: how often it was exact, and between which ratios it lay.
sub overview {
    my ($rows) = @_;
    my $text = "| counter | launches | exact | within its bound | ratios |\n|---|---:|---:|---:|---|\n";
    for my $counter (Counters::names(), 'flop') {
        my @of = grep { $_->{counter} eq $counter && $_->{verdict} ne 'only measured' } @$rows or next;
        my @ratios = sort { $a <=> $b } map { $_->{ratio} } grep { $_->{ratio} ne 'NaN' } @of;
        my $exact = grep { $_->{verdict} eq 'exact' } @of;
        my $bound = grep { $_->{verdict} eq 'bound holds' } @of;
        my $range = !@ratios ? '' : $ratios[0] == $ratios[-1] ? $ratios[0] : "$ratios[0] ... $ratios[-1]";
        $text .= sprintf "| %s | %d | %d | %s | %s |\n", $counter, scalar @of, $exact, $bound || '', $range;
    }
    return "$text\n";
}

sub reasons {
    my ($rows) = @_;
    my %count;
    $count{ $_->{verdict} }++ for grep { $_->{verdict} !~ /^(?:exact|bound holds|only measured)$/ } @$rows;
    return "Every count is exact or within its bound.\n\n" unless %count;
    return "What was not exact:\n\n" . join('', map { "* $count{$_} times: $_\n" } sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count) . "\n";
}

sub rules {
    my ($path) = @_;
    return '' unless -f $path;
    my (undef, undef, $rows) = Tsv::read_table($path);
    my @broken = grep { $_->{verdict} ne 'holds' } @$rows;
    my $text = sprintf "Rules of sectors, banks and wavefronts, one launch each (`gpu/rules.cu`): %d looked at, %d contradicted.\n\n",
        scalar @$rows, scalar @broken;
    return $text unless @broken;
    return $text . "| kernel | pattern | counter | simulated | measured |\n|---|---|---|---:|---:|\n"
        . join('', map { '| ' . join(' | ', @{$_}{qw(kernel pattern counter simulated measured)}) . " |\n" } @broken) . "\n";
}

sub grouped {
    my ($number) = @_;
    1 while $number =~ s/^(\d+)(\d{3})/$1,$2/;
    return $number;
}
