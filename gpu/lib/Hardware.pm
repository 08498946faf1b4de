# The steps that hold the simulated device against the hardware's counters.
package Hardware;
use strict;
use warnings;
use Counters;
use Json;
use Runner;
use Tsv;

# What is profiled: small enough for some seconds, large enough for every kind of access; then ragged ones, on the
# paths that whole tiles do not take.
my @runs = (
    ['05_fa2',            '--seq 256 --heads 2 --dim 64'],
    ['04_fa1',            '--seq 256 --heads 2 --dim 64'],
    ['01_naive',          '--seq 256 --heads 2 --dim 64'],
    ['03_tiled_matmul',   '--m 256 --n 256 --k 256'],
    ['06_backward',       '--seq 256 --heads 2 --dim 64'],
    ['02_online_softmax', '--rows 64 --cols 1024 --dim 64 --block 256'],
    ['05_fa2',            '--seq 200 --heads 2 --dim 59 --causal'],
    ['06_backward',       '--seq 200 --heads 2 --dim 59 --causal'],
    ['04_fa1',            '--seq 200 --heads 2 --dim 59 --causal'],
    ['03_tiled_matmul',   '--m 113 --n 97 --k 29'],
    ['01_naive',          '--seq 113 --heads 2 --dim 59'],
);
our @COLUMNS = qw(chapter options kernel launch template counter simulated measured ratio verdict metric);

# Launches as ncu counted them. What this GPU or this ncu does not know is dropped from @$metrics, and told.
sub profile {
    my ($report, $log, $seconds, $metrics, @program) = @_;
    my $csv = "$report->{work}/$log.csv";
    my $said;
    for my $attempt (1 .. 4) {
        unlink $csv;
        my $job = Runner::run($report->job($log, $seconds, $report->{tools}{ncu}, '--clock-control', 'none', '--csv',
            '--page', 'raw', '--print-units', 'base', '--metrics', join(',', map { "$_.sum" } @$metrics),
            '--log-file', $csv, @program));
        my $text = Runner::read_file($csv);
        my @launches = eval { Counters::read_csv($text) };
        return @launches if @launches;
        $said = $job->{timed_out} ? 'ncu ran over its time limit' : $@ =~ s/\s+$//r;
        my $all = $text . Runner::read_file($job->{log});
        last if $job->{timed_out} || $all =~ /ERR_NVGPUCTRPERM|LibraryNotLoaded|not supported on/;
        my @complaints = grep { /metric/i && /fail|find|unknown|invalid|not available|not supported/i } split /\n/, $all;
        my @bad = grep { my $name = $_; grep { /\b\Q$name\E\b/ } @complaints } @$metrics;
        if (!@bad && !$report->{queried}++) {
            my $query = Runner::run($report->job('ncu-query', 30, $report->{tools}{ncu}, '--query-metrics'));
            my %has = map { $_ => 1 } Counters::available(Runner::read_file($query->{log}));
            @bad = grep { !$has{$_} } @$metrics if %has;
        }
        last if !@bad || @bad == @$metrics;
        my %bad = map { $_ => 1 } @bad;
        @$metrics = grep { !$bad{$_} } @$metrics;
        push @{ $report->{unknown_metrics} }, @bad;
    }
    die "$said\n";
}

# What a program moved on the simulated device: its JSON.
sub simulate {
    my ($report, $chapter, $options) = @_;
    my $program = $report->program('sim', $chapter);
    my $log = "sim-$chapter-" . $options =~ s/\W+/-/gr;
    my $json = ($report->{keep_simulated} // $report->{work}) . "/$log.json";
    my $said = "the simulated $chapter was not built";
    if (defined $program) {
        my $job = Runner::run($report->job($log, 60, $program, split(/ /, $options), '--gpu', 'h200', '--repeat', 1,
            '--warmup', 0, '--quiet', '--json', $json, '--tsv', "$json.tsv"));
        $said = "$chapter: " . Runner::last_line($job);
    }
    $json = "$report->{simulated}/$log.json" if !-s $json && defined $report->{simulated};
    my $result = eval { Json::parse(Runner::read_file($json)) } or die "$said\n";
    my (undef, undef, $rows) = Tsv::read_table("$json.tsv");
    my %flop = map { $_->{kernel} => $_->{flop} } @$rows;
    $_->{flop} = $flop{ $_->{name} } for @{ $result->{kernels} };
    return $result;
}

# Keeps in a directory what the simulated device counts of everything that is profiled, for a GPU's machine whose
# compiler does not build it. The counts depend on no machine.
sub keep_simulated {
    my ($report, $directory) = @_;
    $report->{keep_simulated} = $directory;
    my %wanted = map { $_->[0] => 1 } $report->programs;
    simulate($report, @$_) for grep { $wanted{ $_->[0] } } @runs;
    simulate_rules($report);
}

# (launch records, what each shows).
sub simulate_rules {
    my ($report) = @_;
    my $records = ($report->{keep_simulated} // $report->{work}) . '/rules.json';
    my $said = 'rules.sim was not built';
    if (-x "$report->{work}/rules.sim") {
        my $job = $report->job('rules-sim', 30, "$report->{work}/rules.sim");
        $job->{environment}{SIM_REPORT} = $records;
        Runner::run($job);
        $said = 'rules.sim: ' . Runner::last_line($job);
        rename $job->{log}, "$records.what" if ($job->{status} // 1) == 0;
    }
    $records = "$report->{simulated}/rules.json" if !-s "$records.what" && defined $report->{simulated};
    die "$said\n" unless -s "$records.what";
    return ([map { Json::parse($_) } grep { /"type":"launch"/ } split /\n/, Runner::read_file($records)],
        { map { my ($number, undef, $what) = split /\t/; ($number => $what) }
            grep { /^\d+\t/ } split /\n/, Runner::read_file("$records.what") });
}

sub permission_is_missing { return $_[0] =~ /ERR_NVGPUCTRPERM|LibraryNotLoaded|permission/i }

sub counters {
    my ($report) = @_;
    return ('not here', 'ncu is not here') unless $report->{tools}{ncu};
    my %wanted = map { $_->[0] => 1 } $report->programs;
    my @metrics = Counters::metrics();
    my (@rows, @failures, @unfinished);
    my $end = $report->{end} - ($report->{after_counters} // 0);
    for my $run (grep { $wanted{ $_->[0] } } @runs) {
        my ($chapter, $options) = @$run;
        my $left = $end - Runner::seconds();
        if ($left < 4) {
            push @unfinished, "$chapter $options";
            next;
        }
        my @new = eval { one_run($report, $chapter, $options, $left < 60 ? $left : 60, \@metrics) };
        if ($@) {
            my $said = $@ =~ s/\s+$//r;
            return ('not here', $said) if permission_is_missing($said);
            push @failures, "$chapter $options: $said";
        }
        push @rows, @new;
        write_counters($report, @rows);
    }
    summarise($report, @rows);
    $report->tell('Metrics this ncu does not have: ' . join(', ', @{ $report->{unknown_metrics} }), '')
        if $report->{unknown_metrics};
    return ('failed', $failures[0]) if @failures;
    return ('cut short', scalar(@rows) . " rows; no time for: @unfinished") if @unfinished;
    return ('done', scalar(@rows) . ' rows');
}

sub one_run {
    my ($report, $chapter, $options, $seconds, $metrics) = @_;
    my $program = $report->program('cuda', $chapter) // die "$chapter was not built\n";
    my $simulated = simulate($report, $chapter, $options);
    my @measured = profile($report, "ncu-$chapter-" . $options =~ s/\W+/-/gr, $seconds, $metrics, $program,
        split(/ /, $options), '--repeat', 1, '--warmup', 0, '--quiet');
    my (@kernels, @launches);
    for my $kernel (@{ $simulated->{kernels} }) {
        for my $launch (@{ $kernel->{launches} || [] }) {
            push @kernels, $kernel->{name};
            push @launches, $launch;
        }
    }
    my @matched = Counters::match(\@launches, \@measured);
    my @rows;
    for my $at (0 .. $#launches) {
        my $launch = $launches[$at];
        my @where = ($chapter, $options, $kernels[$at], $launch->{kernel}, $launch->{template} || '-');
        push @rows, $matched[$at]
            ? map { [@where, @$_] } Counters::compare($launch, $matched[$at])
            : [@where, 'launch', 1, 0, undef, 'unexplained: ncu saw no such launch', '-'];
    }
    for my $kernel (@{ $simulated->{kernels} }) {
        my @of = map { $matched[$_] } grep { $kernels[$_] eq $kernel->{name} } 0 .. $#kernels;
        push @rows, flop_row($chapter, $options, $kernel, @of) if @of && !grep { !defined } @of;
    }
    return @rows;
}

# Arithmetic leaves no trace in memory: the simulated device's side is the chapter's closed form, all launches together.
sub flop_row {
    my ($chapter, $options, $kernel, @launches) = @_;
    my ($sum, $simulated) = (0, $kernel->{flop});
    for my $launch (@launches) {
        my ($add, $multiply, $fused) = map { $launch->{metrics}{"smsp__sass_thread_inst_executed_op_${_}_pred_on"} } qw(fadd fmul ffma);
        return unless defined $add && defined $multiply && defined $fused;
        $sum += $add + $multiply + 2 * $fused;
    }
    return unless defined $simulated && $simulated ne 'NaN';
    my $verdict = $sum == $simulated ? 'exact' : $sum > $simulated
        ? 'more: the closed form leaves out scaling, exponentials and what nvcc adds' : 'unexplained';
    return [$chapter, $options, $kernel->{name}, 'all launches', '-', 'flop', $simulated, $sum,
        $simulated ? sprintf('%.4g', $sum / $simulated) : undef, $verdict, 'fadd + fmul + 2 ffma'];
}

sub write_counters {
    my ($report, @rows) = @_;
    Tsv::write_table("$report->{data}/counters.tsv",
        [@{ $report->{about} }, 'simulated: the launch record, of the source; measured: Nsight Compute, cold caches; '
            . 'ratio: measured / simulated'], \@COLUMNS, @rows);
}

# How many rows of each counter are exact, and what the others are.
sub summarise {
    my ($report, @rows) = @_;
    my (%all, %exact, %unexplained);
    for my $row (grep { $_->[9] ne 'only measured' } @rows) {
        $all{ $row->[5] }++;
        $exact{ $row->[5] }++ if $row->[9] eq 'exact' || $row->[9] eq 'bound holds';
        $unexplained{ $row->[5] }++ if $row->[9] =~ /^unexplained/;
    }
    $report->tell_table('Simulated counters beside measured ones', ['counter', 'launches', 'exact or within bound', 'unexplained'],
        map { [$_, $all{$_}, $exact{$_} // 0, $unexplained{$_} // 0] } grep { $all{$_} } Counters::names(), 'flop', 'launch') if %all;
}

# ---- the rules, one launch each ----

# The counters that gpu/rules.cu's kernels are about.
sub counters_of_rule {
    my ($kernel) = @_;
    my ($space, $access) = $kernel =~ /^(shared|global)_(read|write|atomic)_/ or return;
    my $operation = { read => 'load', write => 'store', atomic => 'atomic' }->{$access};
    return map { "${space}_${operation}_$_" } $space eq 'shared' ? qw(requests wavefronts conflicts) : qw(requests sectors);
}

sub rules {
    my ($report) = @_;
    return ('not here', 'ncu is not here') unless $report->{tools}{ncu};
    my ($launches, $what) = simulate_rules($report);
    my @launches = @$launches;
    my @metrics = grep { /^l1tex__|inst_executed_op_shared/ && !/_local_/ } Counters::metrics();
    my @measured = eval { profile($report, 'ncu-rules', $report->limit(60), \@metrics, "$report->{work}/rules") };
    if ($@) {
        my $said = $@ =~ s/\s+$//r;
        return ('not here', $said) if permission_is_missing($said);
        die "$said\n";
    }
    my @matched = Counters::match(\@launches, \@measured);
    my (@rows, $contradicted);
    for my $at (0 .. $#launches) {
        my %of_rule = map { $_ => 1 } counters_of_rule($launches[$at]{kernel});
        for my $row ($matched[$at] ? Counters::compare($launches[$at], $matched[$at]) : ()) {
            next unless $of_rule{ $row->[0] };
            my $verdict = $row->[1] == $row->[2] ? 'holds' : 'CONTRADICTED';
            $contradicted++ if $verdict ne 'holds';
            push @rows, [$at + 1, $launches[$at]{kernel}, $what->{ $at + 1 }, @{$row}[0 .. 2], $verdict];
        }
    }
    my @columns = qw(number kernel pattern counter simulated measured verdict);
    Tsv::write_table("$report->{data}/rules.tsv", [@{ $report->{about} }, 'one warp, one access a lane: gpu/rules.cu'],
        \@columns, @rows);
    $report->tell_table('Rules of the simulated device that this GPU contradicts', \@columns,
        grep { $_->[6] ne 'holds' } @rows) if $contradicted;
    die "ncu saw none of the launches of rules.cu\n" unless @rows;
    return ('done', sprintf '%d rules looked at, %d contradicted', scalar @rows, $contradicted // 0);
}

1;
