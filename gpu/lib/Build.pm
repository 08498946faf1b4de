# The first steps: what machine this is, and everything built on it.
package Build;
use strict;
use warnings;
use Runner;
use Tsv;

sub first_line { return (split /\n/, $_[0] // '')[0] // '' }

sub output_of {
    my ($report, $log, @command) = @_;
    my $job = Runner::run($report->job($log, 20, @command));
    return ($job->{status} // 1) == 0 ? Runner::read_file($job->{log}) : '';
}

# GPU, driver, toolkit, processor: facts that belong beside every number. No name of the machine or its user.
sub machine {
    my ($report) = @_;
    my $smi = first_line(output_of($report, 'nvidia-smi', 'nvidia-smi', '--format=csv,noheader',
        '--query-gpu=name,driver_version,compute_cap,memory.total,clocks.max.sm,clocks.max.mem'));
    $smi ||= first_line(output_of($report, 'nvidia-smi', 'nvidia-smi', '--format=csv,noheader', '--query-gpu=name,driver_version'));
    my ($gpu, $driver, $capability, $memory, $sm_clock, $memory_clock) = split /\s*,\s*/, $smi;
    my ($toolkit) = output_of($report, 'nvcc-version', $report->{nvcc}, '--version') =~ /(V[\d.]+)/;
    my ($processor) = Runner::read_file('/proc/cpuinfo') =~ /^model name\s*:\s*(.*)$/m;
    my $cores = () = Runner::read_file('/proc/cpuinfo') =~ /^processor\b/mg;
    my $torch = first_line(output_of($report, 'torch-version', 'python3', '-c',
        'import torch; print(torch.__version__)'));
    my $commit = first_line(output_of($report, 'git', 'git', '-C', $report->{root}, 'rev-parse', '--short', 'HEAD'));
    my ($seconds, $minutes, $hours, $day, $month, $year) = gmtime;
    my $date = sprintf '%04d-%02d-%02dT%02d:%02d:%02dZ', $year + 1900, $month + 1, $day, $hours, $minutes, $seconds;
    my @facts = (['gpu', $gpu], ['driver', $driver], ['compute_capability', $capability], ['memory', $memory],
        ['max_sm_clock', $sm_clock], ['max_memory_clock', $memory_clock], ['nvcc', $toolkit], ['arch', $report->{arch}],
        ['processor', $processor], ['cores', $cores], ['torch', $torch], ['commit', $commit], ['date', $date],
        map { [$_, $report->{tools}{$_} ? 'yes' : 'no'] } sort keys %{ $report->{tools} });
    $report->{gpu} = $gpu || 'a GPU that nvidia-smi does not name';
    $report->{about} = ["$report->{gpu}, driver " . ($driver // '?') . ', nvcc ' . ($toolkit // '?')
            . ', ' . ($processor // 'a processor') . " with $cores cores, $date" . ($commit ? ", commit $commit" : '')];
    Tsv::write_table("$report->{data}/machine.tsv", ['the machine of this report'], [qw(fact value)], @facts);
    return $gpu ? ('done', $report->{about}[0]) : ('failed', 'nvidia-smi does not say which GPU this is');
}

# A copy of what a build needs, so that the user's own programs stay as they are: build/ there is another device's.
sub copy_tree {
    my ($report, $name) = @_;
    my $tree = "$report->{work}/$name";
    mkdir $tree or die "$tree: $!\n";
    system('cp', '-R', map({ "$report->{root}/$_" } grep { -d "$report->{root}/$_" } qw(common gpu plots)), $tree) == 0
        or die "cannot copy to $tree\n";
    mkdir "$tree/simcc"; # and not what was built in it
    system('cp', '-R', (grep { !m{/(?:build|tests)$} } glob "$report->{root}/simcc/*"), "$tree/simcc") == 0
        or die "cannot copy to $tree\n";
    for my $chapter (map { $_->[0] } $report->programs) {
        mkdir "$tree/$chapter" or die "$tree/$chapter: $!\n";
        my @files = grep { -f } map { glob "$report->{root}/$chapter/$_" } qw(*.c *.h *.cu *.cuh Makefile);
        system('cp', @files, "$tree/$chapter") == 0 or die "cannot copy $chapter to $tree\n";
    }
    $report->{trees}{$name} = $tree;
    return $tree;
}

sub make_job {
    my ($report, $tree, $chapter, $device, $jobs) = @_;
    return $report->job("build-$tree-$chapter", 100, 'make', '--no-print-directory', '-s', "-j$jobs", '-C',
        "$report->{trees}{$tree}/$chapter", "DEVICE=$device", "ARCH=$report->{arch}", "NVCC=$report->{nvcc}", 'WERROR=',
        $device eq 'sim' ? map({ $_->[1] } grep { $_->[0] eq $chapter } $report->programs) : 'build');
}

sub programs {
    my ($report) = @_;
    my @nvcc = ($report->{nvcc}, '-std=c++17', '-O3', "-arch=$report->{arch}");
    my @chapters = map { $_->[0] } $report->programs;
    my ($first, @others) = @chapters;
    my @trees = 'cuda';
    $report->{sim_tree} ? ($report->{trees}{sim} = $report->{sim_tree}) : push @trees, 'sim';
    copy_tree($report, $_) for @trees;

    # The harness is built with the first chapter of a tree, on all cores; after that chapters do not meet.
    my @jobs = Runner::run_all($report->{jobs}, $report->{end}, map {
        make_job($report, $_, $first, $_, $report->{jobs})
    } @trees);
    push @jobs, my @rest = (
        (map { my $tree = $_; map { make_job($report, $tree, $_, $tree, 2) } @others } @trees),
        $report->job('build-roofs', 60, @nvcc, "$report->{root}/gpu/roofs.cu", '-o', "$report->{work}/roofs"),
        $report->job('build-rules', 60, @nvcc, "$report->{root}/gpu/rules.cu", '-o', "$report->{work}/rules"),
        $report->job('build-rules-sim', 60, "$report->{trees}{sim}/simcc/simcc", '-O1', "$report->{root}/gpu/rules.cu",
            '-o', "$report->{work}/rules.sim"),
    );
    my @kernels = kernel_jobs($report);
    my $end = Runner::seconds() + 150; # what is not built by then shall not cost the steps that need it less
    Runner::run_all($report->{jobs}, $end < $report->{end} - 5 ? $end : $report->{end} - 5, @rest, @kernels);
    my @bad = grep { ($_->{status} // 1) != 0 } @jobs, @kernels; # one that had no time has no status
    my $all = @jobs + @kernels;
    return ('done', "$all builds") unless @bad;
    return ('failed', sprintf '%d of %d builds failed, the first: %s: %s', scalar @bad, $all,
        $bad[0]{log} =~ s{.*/}{}r, defined $bad[0]{status} ? Runner::last_line($bad[0]) : 'no time left');
}

# simcc/tests/broken_kernels, each with its bug and without, as the user of a GPU would build them.
sub kernel_jobs {
    my ($report) = @_;
    return unless $report->{tools}{'compute-sanitizer'}; # nothing else runs them
    my $folder = "$report->{root}/simcc/tests/broken_kernels";
    mkdir "$report->{work}/kernels";
    my @jobs;
    for my $path (sort grep { -f } map { glob "$_/$report->{kernels}.cu" } $folder, "$folder/correct") {
        my ($name) = $path =~ m{([^/]+)\.cu$};
        my @variants = $path =~ m{/correct/} ? (['correct']) : (['broken'], ['fixed', '-DFIXED']);
        for my $variant (@variants) {
            my ($kind, @define) = @$variant;
            my $program = "$report->{work}/kernels/$name.$kind";
            push @{ $report->{kernel_programs} }, { name => $name, variant => $kind, source => $path, program => $program };
            push @jobs, $report->job("build-$name.$kind", 60, $report->{nvcc}, '-std=c++17', '-w', '-lineinfo',
                "-arch=$report->{arch}", @define, $path, '-o', $program);
        }
    }
    return @jobs;
}

1;
