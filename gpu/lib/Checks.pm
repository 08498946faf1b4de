# The steps that ask whether programs are right: against the reference, and with compute-sanitizer.
package Checks;
use strict;
use warnings;
use Runner;
use Sanitizer;
use Tsv;

sub correctness {
    my ($report) = @_;
    my $cases = $report->{cases} // "$report->{root}/tests/cuda/cases.tsv";
    my $some = "$report->{work}/cases.tsv";
    my %wanted = map { $_->[0] => 1 } $report->programs;
    open my $out, '>', $some or die "$some: $!\n";
    print $out grep { /^#/ || (/^(\S+)\t/ && $wanted{$1}) } map { "$_\n" } split /\n/, Runner::read_file($cases);
    close $out or die "$some: $!\n";
    my $at_once = $report->{jobs} < 8 ? $report->{jobs} : 8;
    my $seconds = $report->limit(90);
    my $job = Runner::run($report->job('correctness', $seconds + 15, 'perl', "$report->{root}/gpu/verify.pl", '--tree',
        $report->{trees}{cuda}, '--cases', $some, '--jobs', $at_once, '--seconds', int $seconds, '--tsv',
        "$report->{data}/correctness.tsv"));
    my $said = Runner::read_file($job->{log});
    my (undef, undef, $rows) = Tsv::read_table("$report->{data}/correctness.tsv");
    my @wrong = grep { $_->{verdict} ne 'right' } @$rows;
    $report->tell_table('Cases that are not right', [qw(chapter options verdict said)],
        map { [@{$_}{qw(chapter options verdict said)}] } @wrong) if @wrong;
    my $summary = join ', ', $said =~ /^(\S+\s+\d+ of\s+\d+) cases right$/mg;
    return (@wrong ? 'failed' : 'done', @wrong ? scalar(@wrong) . " not right; $summary" : $summary);
}

my %small = (
    '01_naive'          => '--seq 65 --dim 40 --heads 2 --causal',
    '02_online_softmax' => '--rows 5 --cols 257 --dim 40 --block 100',
    '03_tiled_matmul'   => '--m 70 --n 65 --k 33',
    '04_fa1'            => '--seq 65 --dim 40 --heads 2 --causal',
    '05_fa2'            => '--seq 65 --dim 40 --heads 2 --causal',
    '06_backward'       => '--seq 65 --dim 40 --heads 2 --causal',
);

sub sanitizer_job {
    my ($report, $log, $seconds, $tool, @program) = @_;
    return $report->job($log, $seconds, $report->{tools}{'compute-sanitizer'}, Sanitizer::arguments($tool), @program);
}

# The chapters: each tool has to find nothing.
sub chapters {
    my ($report) = @_;
    return ('not here', 'compute-sanitizer is not here') unless $report->{tools}{'compute-sanitizer'};
    my @jobs;
    for my $program ($report->programs) {
        my $path = $report->program('cuda', $program->[0]) or next;
        for my $tool (@Sanitizer::TOOLS) {
            my $job = sanitizer_job($report, "sanitize-$program->[0]-$tool", 60, $tool, $path,
                split(/ /, $small{ $program->[0] }), '--repeat', 1, '--warmup', 0, '--quiet');
            push @jobs, { %$job, chapter => $program->[0], tool => $tool };
        }
    }
    Runner::run_all($report->{jobs} < 8 ? $report->{jobs} : 8, $report->{end} - 3, @jobs);
    my (@rows, @bad, $missing);
    for my $job (@jobs) {
        if (!defined $job->{status}) {
            $missing++;
            next;
        }
        my $result = Sanitizer::read_output(Runner::read_file($job->{log}), $job->{timed_out});
        push @rows, [$job->{chapter}, $small{ $job->{chapter} }, $job->{tool}, @{$result}{qw(verdict errors warnings leaks said)}];
        push @bad, "$job->{chapter} $job->{tool}: $result->{verdict}: $result->{said}" if $result->{verdict} ne 'clean';
    }
    Tsv::write_table("$report->{data}/sanitizer_chapters.tsv", [@{ $report->{about} }, 'compute-sanitizer on the chapters'],
        [qw(chapter options tool verdict errors warnings leaks said)], @rows);
    return ('not here', $bad[0]) if @bad == @rows && @rows && !grep { $_->[3] ne 'broken' } @rows;
    return ('failed', scalar(@bad) . " not clean, the first: $bad[0]") if @bad;
    return ('cut short', scalar(@rows) . " clean, no time for $missing") if $missing;
    return ('done', scalar(@rows) . ' runs clean');
}

# simcc/tests/broken_kernels: both sanitizers on the same sources. First what each bug's own tool says of it and of its
# repaired twin, then the correct ones, then everything else; those that never end come last of all.
sub kernels {
    my ($report) = @_;
    return ('not here', 'compute-sanitizer is not here') unless $report->{tools}{'compute-sanitizer'};
    my @limits = Sanitizer::read_limits("$report->{root}/gpu/sanitizer_limits.tsv");
    my @jobs;
    for my $kernel (grep { -x $_->{program} } @{ $report->{kernel_programs} || [] }) {
        my $expected = Sanitizer::expectation($kernel->{source});
        for my $tool (@Sanitizer::TOOLS) {
            my $own = Sanitizer::tool_of($expected->{tool}) eq $tool;
            my $rank = $kernel->{variant} eq 'correct' ? 2 : !$own ? 3 : $kernel->{variant} eq 'broken' ? 0 : 1;
            $rank = 4 if $expected->{slow} && $kernel->{variant} eq 'broken';
            next if $rank == 4 && !$own;
            my $job = sanitizer_job($report, "kernel-$kernel->{name}-$kernel->{variant}-$tool", $rank == 4 ? 8 : 20, $tool,
                $kernel->{program});
            push @jobs, { %$job, kernel => $kernel, tool => $tool, expected => $expected, rank => $rank };
        }
    }
    die "no kernel was built\n" unless @jobs;
    Runner::run_all($report->{jobs} < 10 ? $report->{jobs} : 10, $report->{end} - 6, sort { $a->{rank} <=> $b->{rank} } @jobs);
    my (@rows, %count, @unknown, $missing);
    for my $job (@jobs) {
        if (!defined $job->{status}) {
            $missing++;
            next;
        }
        my $result = Sanitizer::read_output(Runner::read_file($job->{log}), $job->{timed_out});
        my $kernel = $job->{kernel};
        my ($ours, $agreement) = Sanitizer::judge($kernel->{name}, $kernel->{variant}, $job->{tool}, $job->{expected}, $result, \@limits);
        push @rows, [$kernel->{name}, $kernel->{variant}, $job->{tool}, $ours, $result->{verdict}, $agreement, $result->{said}];
        my ($class) = $agreement =~ /^([^:,]+(?:, as known)?)/;
        $count{$class}{ $job->{tool} }++;
        push @unknown, $rows[-1] if $agreement =~ /no reason we know|where ours has none|in severity/;
    }
    my @columns = qw(kernel variant tool simulated_device compute_sanitizer agreement said);
    Tsv::write_table("$report->{data}/sanitizer.tsv", [@{ $report->{about} }, 'simcc/tests/broken_kernels; simulated_device: what '
            . 'simcc/tests holds it to; compute_sanitizer: run here, built with -O3 -lineinfo'], \@columns, @rows);
    $report->tell_table('Two sanitizers on simcc/tests/broken_kernels', ['', @Sanitizer::TOOLS],
        map { my $class = $_; [$class, map { $count{$class}{$_} // 0 } @Sanitizer::TOOLS] } sort keys %count);
    $report->tell_table('Where they differ for no known reason', \@columns, @unknown) if @unknown;
    my $silent = 0;
    $silent += $_ for values %{ $count{'not comparable'} || {} };
    return ('not here', "compute-sanitizer ran nothing: $rows[0][6]") if @rows && $silent == @rows;
    my $said = sprintf '%d runs, %d differ for no known reason, %d said nothing', scalar @rows, scalar @unknown, $silent;
    return $missing ? ('cut short', "$said; no time for $missing") : ('done', $said);
}

1;
