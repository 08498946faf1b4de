#!/usr/bin/perl
# Everything a GPU can say about this course, in one command: `make gpu-report OUT=dir`. See gpu/README.md.
#
#   perl gpu/report.pl --out DIR [--seconds 460] [--jobs N] [--arch sm_90] [--only STEP,...] [--chapters NAME,...]
#                      [--kernels GLOB] [--cases FILE] [--sim-tree DIR] [--simulated DIR]
#   perl gpu/report.pl --keep-simulated DIR        needs no GPU: the simulated device's side of `counters` and `rules`,
#                                                  for --simulated on a machine whose compiler does not build it
#
# Each step stands alone: one that fails is recorded with what it said, and the next begins. Needs nvcc, make, gcc and
# perl; what else a step needs (ncu, compute-sanitizer, python3 with torch) it says when it is not there.
#
# Exit status: 0 no step failed; 1 one did (summary.md says which); 2 usage; 3 no nvcc, no GPU, or DIR unusable.
use strict;
use warnings;
use Cwd qw(realpath);
use File::Basename qw(dirname);
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use Getopt::Long qw(:config no_auto_abbrev no_ignore_case);
my $root;
BEGIN { $root = realpath(dirname(__FILE__) . '/..') }
use lib "$root/gpu/lib";
use Build;
use Checks;
use Hardware;
use Report;
use Runner;
use Times;

# The order is that of importance: what is cut off at the end is missed least.
my @steps = (
    [machine     => \&Build::machine],
    [build       => \&Build::programs],
    [correctness => \&Checks::correctness],
    [roofs       => \&Times::roofs],
    [matmul      => \&Times::matmul],
    [peers       => \&Times::peers],
    [counters    => \&Hardware::counters],
    [rules       => \&Hardware::rules],
    [sanitizer   => \&Checks::chapters],
    [bench       => \&Times::bench],
    [kernels     => \&Checks::kernels],
);

my ($out, $seconds, $jobs, $arch, $only, $chapters, $kernels, $cases, $sim_tree, $simulated, $keep) =
    ('', 460, cores(), '', '', '', '*');
GetOptions('out=s' => \$out, 'seconds=f' => \$seconds, 'jobs=i' => \$jobs, 'arch=s' => \$arch, 'only=s' => \$only,
    'chapters=s' => \$chapters, 'kernels=s' => \$kernels, 'cases=s' => \$cases, 'sim-tree=s' => \$sim_tree, 'simulated=s' => \$simulated,
    'keep-simulated=s' => \$keep)
    && !@ARGV or exit 2;
refuse(2, '--out: expected a directory (make gpu-report OUT=dir)') if $out eq '' && !defined $keep;
refuse(2, '--jobs: expected at least 1') if $jobs < 1;
my @only = split /,/, $only;
for my $name (@only) {
    refuse(2, "--only: expected some of " . join(', ', map { $_->[0] } @steps) . ", got '$name'")
        unless grep { $_->[0] eq $name } @steps;
}

exit keep_simulated($keep) if defined $keep;
my $nvcc = find_nvcc() // refuse(3, 'needs nvcc (the CUDA Toolkit), and found none');
system('nvidia-smi -L > /dev/null 2>&1') == 0 or refuse(3, 'needs an NVIDIA GPU: nvidia-smi -L lists none. Skipped.');
eval { make_path($out) };
refuse(3, "--out: $out: not a directory that can be written") unless -d $out && -w $out;
$arch ||= `sh '$root/common/arch.sh' '$nvcc'` =~ s/\s+//gr || 'sm_90';

my $work = tempdir('gpu-report.XXXXXX', DIR => -w '/tmp' ? '/tmp' : $out, CLEANUP => 0);
my $owner = $$;
$SIG{$_} = sub { Runner::end_all(); exit 130 } for qw(INT TERM HUP);
END {
    my $status = $?;
    remove_tree($work) if defined $work && $$ == $owner;
    $? = $status;
}

my $report = Report->new(root => $root, out => realpath($out), work => $work, seconds => $seconds, jobs => $jobs, nvcc => $nvcc,
    arch => $arch, kernels => $kernels, cases => $cases, sim_tree => $sim_tree, simulated => $simulated, only => @only ? \@only : undef,
    chapters => $chapters ? [split /,/, $chapters] : undef,
    # What these two leave to the steps after them, when all are asked for.
    @only ? () : (after_counters => 0.45 * $seconds, after_bench => 0.18 * $seconds));
$report->{tools}{$_} = $report->find_tool($_) for qw(ncu compute-sanitizer cuobjdump python3);
$report->{about} = ["started on $arch"];
open STDOUT, '|-', "tee '$report->{out}/log.txt'" or die "log.txt: $!\n";
$| = 1;
$report->step(@$_) for @steps;
$report->step(pack => \&pack_up);
my $status = $report->exit_status;
print "$report->{out}/summary.md; exit status $status\n";
close STDOUT;
exit $status;

sub refuse {
    my ($code, $message) = @_;
    print STDERR "gpu-report: $message\n";
    exit $code;
}

sub cores {
    my $cores = () = Runner::read_file('/proc/cpuinfo') =~ /^processor\b/mg;
    return $cores || 1;
}

sub find_nvcc {
    for my $path ($ENV{NVCC} // '', map({ "$_/nvcc" } split /:/, $ENV{PATH}), '/usr/local/cuda/bin/nvcc') {
        return $path =~ m{^/} ? $path : realpath($path) if $path ne '' && -x $path && !-d $path;
    }
    return undef;
}

# In the repository, with its own programs: `make DEVICE=sim build` first.
sub keep_simulated {
    my ($directory) = @_;
    make_path($directory);
    my $work = tempdir(CLEANUP => 1);
    my $report = Report->new(root => $root, out => $directory, work => $work, seconds => 300, jobs => $jobs);
    $report->{trees}{sim} = $root;
    system("$root/simcc/simcc", '-O1', "$root/gpu/rules.cu", '-o', "$work/rules.sim") == 0 or return 1;
    eval { Hardware::keep_simulated($report, realpath($directory)); 1 } and return 0;
    print STDERR "gpu-report: $@";
    return 1;
}

# One file: data/*.tsv and logs/, these without the ones that said nothing.
sub pack_up {
    my ($report) = @_;
    unlink grep { !-s } glob "$report->{logs}/*";
    for my $log (glob "$report->{logs}/*") {
        truncate $log, 200_000 if -s $log > 200_000;
    }
    my $archive = "$report->{out}/report.tar.gz";
    my $job = Runner::run({ command => ['tar', '-czf', $archive, '-C', $report->{work}, 'data', 'logs'], seconds => 20,
        log => "$report->{work}/tar.log" });
    die Runner::last_line($job) . "\n" if $job->{status} != 0;
    if (-s $archive > 15e6) {
        Runner::run({ command => ['tar', '-czf', $archive, '-C', $report->{work}, 'data'], seconds => 20 });
    }
    return ('done', sprintf 'report.tar.gz, %.1f KB', (-s $archive) / 1000);
}
