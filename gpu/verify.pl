#!/usr/bin/perl
# Runs the chapters' programs over the cases of a GPU and says which are right. The programs verify themselves.
#
#   perl gpu/verify.pl [--tree DIR] [--cases FILE] [--chapter NAME] [--jobs N] [--seconds S] [--tsv FILE]
#
# DIR holds the built chapters (default: the repository). At most N at a time, S seconds for all. A case that had no
# time left counts as not run, never as right. Exit status: 0 all right; 1 one is not, or was not run; 2 usage.
use strict;
use warnings;
use File::Basename qw(dirname);
use Getopt::Long qw(:config no_auto_abbrev no_ignore_case);
use lib dirname(__FILE__) . '/lib';
use Runner;
use Tsv;

my $root = dirname(__FILE__) . '/..';
my ($tree, $cases, $chapter, $jobs, $seconds, $tsv) = ($root, "$root/tests/cuda/cases.tsv", '', 4, 3600, '');
GetOptions('tree=s' => \$tree, 'cases=s' => \$cases, 'chapter=s' => \$chapter, 'jobs=i' => \$jobs,
    'seconds=f' => \$seconds, 'tsv=s' => \$tsv) && !@ARGV && $jobs > 0 or do {
    print STDERR "usage: verify.pl [--tree DIR] [--cases FILE] [--chapter NAME] [--jobs N] [--seconds S] [--tsv FILE]\n";
    exit 2;
};
my @KINDS = qw(random large-logits very-negative constant one-hot ramp);
my %program = ('01_naive' => 'naive', '02_online_softmax' => 'online_softmax', '03_tiled_matmul' => 'tiled_matmul',
    '04_fa1' => 'fa1', '05_fa2' => 'fa2', '06_backward' => 'backward');
my $scratch = "/tmp/verify.$$";
mkdir $scratch or die "$scratch: $!\n";
$SIG{$_} = sub { Runner::end_all(); exit 130 } for qw(INT TERM HUP);
END { my $status = $?; system 'rm', '-rf', $scratch if $scratch; $? = $status }

my (undef, undef, $rows) = eval { Tsv::read_table($cases) } or do { print STDERR "verify.pl: $@"; exit 2 };
my @jobs;
for my $case (grep { !$chapter || $_->{chapter} eq $chapter } @$rows) {
    my $name = $program{ $case->{chapter} } or do { print STDERR "verify.pl: $cases: no chapter $case->{chapter}\n"; exit 2 };
    for my $kind ($case->{inputs} eq 'all' ? @KINDS : $case->{inputs}) {
        push @jobs, {
            case => $case, kind => $kind, seconds => $case->{seconds}, log => "$scratch/" . @jobs,
            command => ["$tree/$case->{chapter}/$name", split(/ /, $case->{options}), '--input', $kind, '--repeat', 1,
                '--warmup', 0, '--quiet'],
        };
    }
}
if (!@jobs) {
    print STDERR "verify.pl: $cases has no case of '$chapter'\n";
    exit 2;
}
# The long ones first: they decide when all is done.
my $end = Runner::seconds() + $seconds;
Runner::run_all($jobs, $end, sort { $b->{seconds} <=> $a->{seconds} } @jobs);

my (@table, %count);
for my $job (@jobs) {
    my $verdict = !defined $job->{status} ? 'not run' : $job->{timed_out} ? 'too slow' : $job->{status} ? 'wrong' : 'right';
    my $kernels = () = Runner::read_file($job->{log}) =~ /^\S+\s+verified\b/mg;
    $verdict = 'empty' if $verdict eq 'right' && !$kernels; # a program that ran nothing has shown nothing
    my $said = $verdict eq 'right' ? '-' : $verdict eq 'not run' ? 'no time left' : Runner::last_line($job);
    $count{ $job->{case}{chapter} }{ $verdict eq 'right' ? 'right' : 'rest' }++;
    push @table, [$job->{case}{chapter}, "$job->{case}{options} --input $job->{kind}", $verdict, $job->{status}, $kernels,
        defined $job->{took} ? sprintf('%.2f', $job->{took}) : undef, $said];
    print "$job->{case}{chapter} $job->{case}{options} --input $job->{kind}: $verdict: $said\n" if $verdict ne 'right';
}
Tsv::write_table($tsv, ['what each case of tests/cuda/cases.tsv gave'],
    [qw(chapter options verdict status kernels_verified seconds said)], @table) if $tsv;
my $wrong = 0;
for my $name (sort keys %count) {
    my ($right, $rest) = map { $count{$name}{$_} // 0 } qw(right rest);
    printf "%-18s %3d of %3d cases right\n", $name, $right, $right + $rest;
    $wrong += $rest;
}
exit($wrong ? 1 : 0);
