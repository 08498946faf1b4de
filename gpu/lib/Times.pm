# The steps that measure: nothing else runs beside them.
package Times;
use strict;
use warnings;
use Json;
use Runner;
use Tsv;

sub roofs {
    my ($report) = @_;
    my $job = Runner::run($report->job('roofs', 30, "$report->{work}/roofs"));
    die Runner::last_line($job) . "\n" if ($job->{status} // 1) != 0;
    open my $out, '>', "$report->{data}/roofs.tsv" or die "roofs.tsv: $!\n";
    print $out grep { /^#|\t/ } map { "$_\n" } split /\n/, Runner::read_file($job->{log});
    close $out or die "roofs.tsv: $!\n";
    my (undef, undef, $rows) = Tsv::read_table("$report->{data}/roofs.tsv");
    my $machine_code = look_at_machine_code($report);
    $report->tell_table('Roofs, measured', ['roof', 'median', 'p10', 'p90', 'how'],
        map { [@{$_}{qw(roof median p10 p90 how)}] } @$rows);
    $report->tell("Machine code of the probes: $machine_code", '');
    $report->{roofs} = { map { $_->{roof} => $_->{median} } @$rows };
    return ('done', join ', ', map { sprintf '%s %.4g', @{$_}{qw(roof median)} } @$rows);
}

# A peak of multiply-adds has to consist of multiply-adds, or it is the peak of something else.
sub look_at_machine_code {
    my ($report) = @_;
    my $cuobjdump = $report->{tools}{cuobjdump} or return 'not looked at, cuobjdump is not here';
    my $job = Runner::run($report->job('roofs-sass', 20, $cuobjdump, '-sass', "$report->{work}/roofs"));
    my %count = count_instructions(Runner::read_file($job->{log}));
    my @wanted = (['multiply_add', 'FFMA', 1024], ['exponentials', 'MUFU', 1024], ['shared_reads', 'LDS', 8]);
    return join '; ', map {
        my ($kernel, $instruction, $least) = @$_;
        my $all = 0;
        $all += $_ for values %{ $count{$kernel} || {} };
        my $found = $count{$kernel}{$instruction} // 0;
        sprintf '%s has %d %s of %d instructions%s', $kernel, $found, $instruction, $all,
            $found >= $least ? '' : ': TOO FEW, its roof is not to be trusted';
    } @wanted;
}

# kernel -> instruction -> how many, from `cuobjdump -sass`; modifiers and NOP are dropped.
sub count_instructions {
    my ($text) = @_;
    my ($kernel, %count) = ('');
    for (split /\n/, $text) {
        $kernel = $1 =~ s/^_Z\d+//r if /Function\s*:\s*(\S+)/;
        next unless m{^\s*/\*[0-9a-f]{4,}\*/\s+(?:\@!?U?P\w+\s+)?([A-Z][A-Z0-9_]*)};
        $count{$kernel}{$1}++ unless $1 eq 'NOP';
    }
    my %short;
    for my $kernel (keys %count) {
        for my $name (qw(multiply_add exponentials shared_reads copy)) {
            $short{$name} = $count{$kernel} if index($kernel, $name) == 0;
        }
    }
    return %short;
}

# Chapter 03 against cuBLAS, where it is, in one process and on one clock.
sub matmul {
    my ($report) = @_;
    my $program = $report->program('cuda', '03_tiled_matmul') // die "03_tiled_matmul was not built\n";
    my (@rows, @failures, $with_cublas);
    for my $size (1024, 2048, 4096) {
        my $json = "$report->{work}/matmul.$size.json";
        my $spec = $report->job("matmul-$size", 40, $program, '--m', $size, '--n', $size, '--k', $size, '--quiet', '--json',
            $json);
        $spec->{environment}{NO_PEER} = undef; # the one step that wants cuBLAS
        my $job = Runner::run($spec);
        my $result = eval { Json::parse(Runner::read_file($json)) };
        if (!$result) {
            push @failures, "$size: " . Runner::last_line($job);
            next;
        }
        my ($peer) = @{ $result->{peers} || [] };
        $with_cublas ||= defined $peer;
        for my $kernel (@{ $result->{kernels} }, $peer // ()) {
            my $ms = $kernel->{time}{median_ms};
            my $floor = $kernel->{floor}{ms};
            push @rows, [$size, $kernel->{name}, exists $kernel->{verified} ? ($kernel->{verified} ? 'yes' : 'no') : '-', $ms,
                @{ $kernel->{time} || {} }{qw(p10_ms p90_ms runs)}, $ms ? sprintf('%.4g', 2e-9 * $size**3 / $ms) : undef,
                $ms && $peer && $peer->{time}{median_ms} ? sprintf('%.1f', 100 * $peer->{time}{median_ms} / $ms) : undef,
                $ms && $floor ? sprintf('%.0f', 100 * $ms / $floor) : undef];
        }
    }
    my @columns = qw(size who verified median_ms p10_ms p90_ms runs tflop_per_s percent_of_cublas_speed percent_of_floor);
    Tsv::write_table("$report->{data}/matmul.tsv",
        [@{ $report->{about} }, 'm = n = k = size; cuBLAS in fp32 without TF32 (CUBLAS_PEDANTIC_MATH), same inputs, same '
            . 'process; percent_of_floor: 100 is the floor, more is slower'], \@columns, @rows);
    $report->tell_table('Chapter 03 beside cuBLAS', \@columns, grep { $_->[0] == 4096 } @rows) if @rows;
    return ('failed', $failures[0]) if @failures;
    return ('done', scalar(@rows) . ' rows' . ($with_cublas ? '' : '; cuBLAS is not here'));
}

sub peers {
    my ($report) = @_;
    return ('not here', 'python3 is not here') unless $report->{tools}{python3};
    my $path = "$report->{data}/peers.tsv";
    my $seconds = $report->limit(85);
    my $job = Runner::run($report->job('peers', $seconds + 15, $report->{tools}{python3}, '-B',
        "$report->{root}/gpu/peers.py", '--tree', $report->{trees}{cuda}, '--out', $path, '--seconds', int $seconds));
    return ('not here', Runner::last_line($job)) if ($job->{status} // 1) == 3;
    my (undef, undef, $rows) = -f $path ? Tsv::read_table($path) : ([], [], []);
    my @timed = grep { $_->{median_ms} ne 'NaN' } @$rows;
    $report->tell_table('Peers', [qw(pass seq dim causal who dtype arithmetic median_ms ratio_to_ours max_abs)],
        map { [@{$_}{qw(pass seq dim causal who dtype arithmetic median_ms ratio_to_ours max_abs)}] } @timed) if @timed;
    die Runner::last_line($job) . "\n" if ($job->{status} // 1) != 0 && !$job->{timed_out};
    return ($job->{timed_out} ? 'cut short' : 'done',
        sprintf '%d peers timed, %d said why not', scalar @timed, @$rows - @timed);
}

# The curves: `make bench` where it is, else each chapter's own sweep.
sub bench {
    my ($report) = @_;
    my $tree = $report->{trees}{cuda};
    my $end = $report->{end} - ($report->{after_bench} // 0);
    my (@done, @failures, @partial);
    # The forwards first: at large N the reference of the backward takes the processor longest.
    my @order = sort { ($a eq '06_backward') <=> ($b eq '06_backward') || $b cmp $a } map { $_->[0] } $report->programs;
    splice @order, -1, 0, 'blocks' if -f "$tree/plots/bench.pl" && !$report->{chapters};
    for my $at (0 .. $#order) {
        my $chapter = $order[$at];
        my $left = $end - Runner::seconds();
        if ($left < 5) {
            push @partial, $chapter;
            next;
        }
        my $share = $left / (@order - $at) * 1.5;
        my @command = -f "$tree/plots/bench.pl"
            ? ('perl', 'plots/bench.pl', '--chapters', $chapter, '--data', "$report->{data}/bench")
            : ($report->program('cuda', $chapter) // "$chapter was not built", '--sweep', '--tsv', "$report->{data}/$chapter.tsv");
        my $job = $report->job("bench-$chapter", $share < $left ? $share : $left, @command);
        $job->{directory} = $tree;
        Runner::run($job);
        if (($job->{status} // 1) == 0) { push @done, $chapter }
        elsif ($job->{timed_out}) { push @partial, $chapter }
        else { push @failures, "$chapter: " . Runner::last_line($job) }
    }
    unlink glob "$report->{data}/*.tsv.??????"; # what a sweep had begun
    floors($report);
    return ('failed', $failures[0]) if @failures;
    my $said = 'whole: ' . (join(' ', @done) || 'none');
    return @partial ? ('cut short', "$said; no time for all of: @partial") : ('done', $said);
}

# The rows of a table that have a time and a floor; also of one whose writer was stopped, with remarks between rows.
sub timed_rows {
    my ($path) = @_;
    my (@columns, @rows);
    for my $line (split /\n/, Runner::read_file($path)) {
        @columns = split /\t/, $1 if $line =~ /^# (.*\tmedian_ms\t.*)/;
        my @cells = split /\t/, $line, -1;
        next if $line =~ /^#/ || !@columns || @cells != @columns;
        my %row;
        @row{@columns} = @cells;
        push @rows, \%row unless grep { ($row{$_} // 'NaN') eq 'NaN' } qw(median_ms floor_ms);
    }
    return @rows;
}

# Each kernel's largest problem: its time, its floor, and what that is in percent. Below the floor cannot be.
sub floors {
    my ($report) = @_;
    my @rows;
    for my $path (sort(glob("$report->{data}/0*.tsv"), glob("$report->{data}/bench/*/*.tsv"), glob("$report->{data}/bench/*/*.part"))) {
        my %largest;
        for my $row (timed_rows($path)) {
            my $best = $largest{ $row->{kernel} };
            $largest{ $row->{kernel} } = $row if !$best || $row->{floor_ms} > $best->{floor_ms};
        }
        for my $kernel (sort keys %largest) {
            my $row = $largest{$kernel};
            my @sizes = map { "$_ $row->{$_}" } grep { defined $row->{$_} } qw(seq rows cols m heads dim causal);
            push @rows, [$kernel, join(', ', @sizes), @{$row}{qw(median_ms floor_ms bound_by)},
                sprintf('%.0f %%%s', 100 * $row->{median_ms} / $row->{floor_ms},
                    $row->{median_ms} < $row->{floor_ms} ? ': BELOW ITS FLOOR, which cannot be' : '')];
        }
    }
    $report->tell_table('Times beside floors, largest problem of each kernel',
        ['kernel', 'problem', 'median ms', 'floor ms', 'bound by', 'of floor'], @rows) if @rows;
}

1;
