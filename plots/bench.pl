#!/usr/bin/perl
# Runs every chapter over its sizes and keeps what it measures: `make bench`.
#
#   perl plots/bench.pl [--chapters 01_naive,05_fa2,blocks] [--gpu a100] [--force]
#                       [--sizes 128,256] [--dims 64] [--repeat R] [--data DIR] [--commit ID]
#
# Writes plots/data/DEVICE/NAME.tsv, DEVICE being sim or the GPU's short name (h200, a100, rtx4090, ...):
#
#   01_naive 04_fa1 05_fa2 06_backward    seq = 128, 256, ...; dim = 64, 128; causal = 0, 1
#   02_online_softmax                     rows x cols
#   03_tiled_matmul                       m = n = k
#   long                                  N = 4096, naive and fa2_row; takes a minute, so only CHAPTERS=long runs it
#   blocks                                fa1_paper against tile_k, fa2_row against tile_q, at one seq;
#                                         as 05_fa2, and at the end `units`: counted (on a GPU: modelled) elements of
#                                         Q, K, V and O, in units of N d a head
#
# A file is lines that start with #, then a row a kernel and point; cells are separated by tabs:
#
#   # 05_fa2 on the simulated device (limits of NVIDIA H100 SXM), AMD EPYC with 2 cores, 2026-11-21
#   # machine: AMD EPYC, 2 cores, Linux x86_64
#   # device:, roofs:, compiler:, commit:, date:, command:, each:, units:, fingerprint:                the same way
#   # seq<TAB>dim<TAB>batch<TAB>...         the columns, always the last of these lines
#   128<TAB>64<TAB>1<TAB>...
#
# The columns are those of a program's --tsv (common/report/report_tsv.c). Columns may be added, none is renamed: read
# them by name. NaN or - was not measured. verified is yes, or skipped: then the column skipped says why.
#
# A program that fails stops the bench with its status. What is done is in NAME.tsv.part beside, whole points only; the
# next bench goes on there if programs, machine, device and options are the same. The .tsv is written when it is
# complete. In a copy of the tree that git does not know, --commit says what it is a copy of.
# Needs perl and its smallest set of modules, as a GPU's machine may have no more.
use strict;
use warnings;
use Fcntl qw(:flock SEEK_SET);
use File::Path qw(make_path);
use Getopt::Long qw(:config no_auto_abbrev no_ignore_case);
use POSIX qw(WNOHANG strftime);

# Seconds a program needs to start, and for each 10^9 of a point's work, as a first guess: what is measured corrects it.
my %chapters = (
    '01_naive'          => {program => 'naive',          kind => 'attention', sim => 2048, guess => 15},
    '02_online_softmax' => {program => 'online_softmax', kind => 'softmax',   sim => 4096, guess => 24},
    '03_tiled_matmul'   => {program => 'tiled_matmul',   kind => 'matmul',    sim => 384,  guess => 65},
    '04_fa1'            => {program => 'fa1',            kind => 'attention', sim => 1024, guess => 63},
    '05_fa2'            => {program => 'fa2',            kind => 'attention', sim => 2048, guess => 24},
    '06_backward'       => {program => 'backward',       kind => 'attention', sim => 1024, guess => 160},
    'blocks'            => {parts => ['04_fa1', '05_fa2'],   kind => 'blocks', guess => 30},
    'long'              => {parts => ['05_fa2', '01_naive'], kind => 'long',   guess => 20},
);
my %tiny = (
    attention => ['--seq', 1, '--dim', 1],
    softmax   => ['--rows', 1, '--cols', 1, '--dim', 1],
    matmul    => ['--m', 1, '--n', 1, '--k', 1],
);
my %text_column = map { $_ => 1 } qw(kernel verified time_kind bound_by model_counts error_tensor skipped);

my ($only, $gpu, $sizes, $dims, $repeat, $data, $commit, $force) = ('', '', '', '', '', '', '', 0);
GetOptions('chapters=s' => \$only, 'gpu=s' => \$gpu, 'sizes=s' => \$sizes, 'dims=s' => \$dims, 'repeat=s' => \$repeat,
    'data=s' => \$data, 'commit=s' => \$commit, 'force' => \$force)
    && !@ARGV
    or exit 2;
my @names = $only ne '' ? once(split /[,\s]+/, $only) : grep { $_ ne 'long' } sort keys %chapters;
for my $name (@names ? @names : $only) {
    refuse("CHAPTERS: expected some of " . join(', ', sort keys %chapters) . ", got '$name'") unless $chapters{$name};
}
my @sizes = whole_numbers('SIZES', $sizes);
my @dims = whole_numbers('DIMS', $dims);
whole_numbers('REPEAT', $repeat);
# What is not the whole bench does not replace the data that the pictures and tables show.
$data ||= @sizes || @dims || $repeat ? 'build/plots/data' : 'plots/data';
$ENV{SIM_CHECK} = 'none' unless defined $ENV{SIM_CHECK};
delete @ENV{qw(SIM_REPORT SIM_TRACE)};
delete $ENV{SIM_GPU} if $gpu;

my ($stopped, $child, $line_shown) = ('', 0, 0);
$SIG{$_} = sub { $stopped = $_[0]; kill 'TERM', -$child if $child } for qw(INT TERM HUP);
my $started = seconds();
my %spent;    # name -> [guessed, measured] seconds of the points that ran

$commit ||= find_commit();
my @files = map { plan($_) } @names;
my $all = 0;
$all += @{$_->{points}} for @files;
my $passed = 0;
for my $file (@files) {
    bench($file);
    $passed += @{$file->{points}};
}
# Pictures and tables show plots/data alone.
printf STDERR "bench: %s, %s%s\n", $files[0]{directory}, duration(seconds() - $started),
    $data eq 'plots/data' ? '. Next: make plots, make tables' : '';

# ---- what there is to run ----

sub plan {
    my ($name) = @_;
    my %file = (name => $name, %{$chapters{$name}});
    my @parts = @{$file{parts} || [$name]};    # the columns are those of the first
    my $probe = probe($parts[0]);
    @file{qw(title machine device roofs compiler units columns)} =
        @{$probe}{qw(title machine device roofs compiler units columns)};
    $file{simulated} = $probe->{device} =~ /^sim/;
    $file{directory} = "$data/" . short_name($probe->{device});
    $file{path} = "$file{directory}/$name.tsv";
    my $heads = $file{simulated} ? 1 : 8;
    $file{points} =
        $name eq 'blocks' ? [block_points(\%file, $heads)]
        : $name eq 'long' ? [long_points(\%file, $heads)]
        : $file{kind} eq 'attention' ? [attention_points(\%file, $heads)]
        : [other_points(\%file)];
    if ($name eq 'blocks') {
        $file{title} =~ s/^04_fa1/04_fa1 and 05_fa2 against block sizes/;
        $file{columns} = [@{$file{columns}}, 'units'];
    }
    $file{title} =~ s/^05_fa2/01_naive and 05_fa2/ if $name eq 'long';
    my @programs = grep { -e } map { ($_, "$_.fast") } map { "$_/$chapters{$_}{program}" } @parts;
    $file{fingerprint} = fingerprint(
        join "\n", (map { checksum($_) } @programs), $file{machine}, $file{device}, $ENV{SIM_CHECK},
        map { "@$_" } $file{columns}, map { $_->{arguments} } @{$file{points}}
    );
    return \%file;
}

sub doubling {
    my ($first, $last) = @_;
    my @list;
    for (my $size = $first; $size <= $last; $size *= 2) { push @list, $size }
    return @list;
}

# (runs to take a time from, runs before them): on a GPU a large problem takes seconds.
sub repeats {
    my ($file, $size) = @_;
    my @runs = $file->{simulated} ? ($size <= 512 ? 9 : 5, 1)
        : $size <= 2048 ? (20, 3)
        : $size <= 4096 ? (10, 1)
        : (3, 1);
    $runs[0] = $repeat if $repeat;
    return @runs;
}

sub point {
    my ($file, $name, $work, $label, $size, @options) = @_;
    my ($runs, $before) = repeats($file, $size);
    my @arguments = ("$name/$chapters{$name}{program}", @options, '--repeat', $runs, '--warmup', $before);
    push @arguments, '--gpu', $gpu if $gpu;
    return {
        label => $label,
        arguments => \@arguments,
        guess => $file->{simulated} ? 0.1 + $chapters{$file->{name}}{guess} * $work / 1e9 : 1 + $work / 1e10,
    };
}

sub attention_points {
    my ($file, $heads) = @_;
    my @points;
    for my $causal (0, 1) {
        for my $d (@dims ? @dims : (64, 128)) {
            for my $N (@sizes ? @sizes : doubling(128, $file->{simulated} ? $file->{sim} : 16384)) {
                my $work = $heads * $N * $N * $d * ($causal && $file->{name} =~ /^0[56]/ ? 0.6 : 1);
                push @points, point($file, $file->{name}, $work, "N=$N d=$d" . ($causal ? ' causal' : ''), $N,
                    '--heads', $heads, '--seq', $N, '--dim', $d, $causal ? '--causal' : ());
            }
        }
    }
    return @points;
}

sub other_points {
    my ($file) = @_;
    if ($file->{kind} eq 'softmax') {
        return map { point($file, $file->{name}, 64 * 64 * $_, "64 x $_", $_, '--rows', 64, '--cols', $_) }
            @sizes ? @sizes : doubling(256, $file->{simulated} ? $file->{sim} : 65536);
    }
    return map { point($file, $file->{name}, $_**3, "m=n=k=$_", $_, '--m', $_, '--n', $_, '--k', $_) }
        @sizes ? @sizes : $file->{simulated} ? (64, 128, 192, 256, 384) : doubling(256, 4096);
}

# Br is 16 for FA1, as in the code that was released with it: K, V and S then fit up to Bc = 256 at d = 64. Bc = 512
# does not; units do not depend on d, so it is counted at d = 32.
sub block_points {
    my ($file, $heads) = @_;
    my $N = @sizes ? (sort { $a <=> $b } @sizes)[-1] : 1024;
    my @points;
    for my $tile ([32, 64], [64, 64], [128, 64], [256, 64], [512, 64], [512, 32]) {
        my ($Bc, $d) = @$tile;
        push @points, point($file, '04_fa1', $heads * $N * $N * $d, "fa1_paper N=$N d=$d Bc=$Bc", $N, '--kernel',
            'fa1_paper', '--heads', $heads, '--seq', $N, '--dim', $d, '--tile-q', 16, '--tile-k', $Bc);
    }
    for my $Br (32, 64, 128, 256) {
        push @points, point($file, '05_fa2', $heads * $N * $N * 64, "fa2_row N=$N d=64 Br=$Br", $N, '--kernel',
            'fa2_row', '--heads', $heads, '--seq', $N, '--dim', 64, '--tile-q', $Br, '--tile-k', 64);
    }
    return @points;
}

sub long_points {
    my ($file, $heads) = @_;
    my $N = @sizes ? $sizes[0] : 4096;
    my $work = $heads * $N * $N * 64;
    my @common = ('--heads', $heads, '--seq', $N, '--dim', 64);
    return (point($file, '01_naive', $work, "naive N=$N d=64", $N, '--kernel', 'naive', @common),
        point($file, '05_fa2', $work, "fa2_row N=$N d=64", $N, '--kernel', 'fa2_row', @common));
}

# ---- running it ----

sub bench {
    my ($file) = @_;
    my $kept = $force ? '' : kept_fingerprint($file->{path});
    if ($kept eq $file->{fingerprint}) {
        say_line("bench: $file->{path} is up to date (FORCE=1 measures again)");
        return;
    }
    make_path($file->{directory}, {error => \my $errors});
    fail(3, "$file->{directory}: " . (values %{$errors->[0]})[0]) if @$errors;
    my $part = open_part($file);
    my $reused = keys %{$part->{done}};
    my $first = seconds();
    my $number = 0;
    for my $point (@{$file->{points}}) {
        $number++;
        next if $part->{done}{$point->{label}};
        my $rows = run_point($file, $point, $number);
        my $text = "# point $point->{label}\n" . join('', map { join("\t", @$_) . "\n" } @$rows) . "# done\n";
        (print { $part->{handle} } $text and $part->{handle}->flush()) or fail(3, "$part->{path}: $!");
        $part->{done}{$point->{label}} = $rows;
    }
    write_file($file, $part->{done});
    close $part->{handle};
    unlink $part->{path};
    say_line(sprintf "bench: %s, %d points%s, %s", $file->{path}, scalar @{$file->{points}},
        $reused ? ", $reused of them from before" : '', duration(seconds() - $first));
}

# Runs one point and returns its rows, each a list of cells.
sub run_point {
    my ($file, $point, $number) = @_;
    my ($tsv, $messages) = temporary();
    my $before = seconds();
    my $status = run_program([@{$point->{arguments}}, '--quiet', '--tsv', $tsv], $messages,
        sub { show_progress($file, $point, $number, $before) });
    my $said = slurp($messages);
    my $text = slurp($tsv);
    unlink $tsv, $messages;
    stop() if $stopped;
    my $rows;
    if ($status == 0) {
        my $run = parse_run($text);
        fail(1, "@{$point->{arguments}} printed no rows") unless $run->{rows} && @{$run->{rows}};
        $rows = [map { row_of($file, $run->{columns}, $_) } @{$run->{rows}}];
    } elsif ($status == 3 && $said =~ /^\w+: ([a-z]\w*): (.+)\n\z/) {
        $rows = [refused_row($file, $point, $1, $2)];
    } else {
        chomp $said;
        fail($status, "$said\n" . "bench: @{$point->{arguments}} ended with status $status");
    }
    $spent{$_}[0] += $point->{guess}, $spent{$_}[1] += seconds() - $before for $file->{name}, 'all';
    return $rows;
}

# A kernel that this device cannot run at that size: a row that says so.
sub refused_row {
    my ($file, $point, $kernel, $reason) = @_;
    my %known = (kernel => $kernel, verified => 'skipped', skipped => $reason, batch => 1, causal => 0, tile_q => 0,
        tile_k => 0);
    my @arguments = @{$point->{arguments}};
    while (@arguments) {
        my $option = shift @arguments;
        next unless $option =~ s/^--//;
        $option =~ tr/-/_/;
        $known{$option} = $option eq 'causal' ? 1 : shift @arguments unless $option eq 'kernel';
    }
    return [map { defined $known{$_} ? $known{$_} : $text_column{$_} ? '-' : 'NaN' } @{$file->{columns}}];
}

# A program's row in the file's columns. In files of more than one program some have columns that others have not.
sub row_of {
    my ($file, $columns, $cells) = @_;
    my %cell = (tile_q => 0, tile_k => 0);
    @cell{@$columns} = @$cells;
    if ($file->{name} eq 'blocks') {
        my $elements = $cell{counted_elements} ne 'NaN' ? $cell{counted_elements} : $cell{model_requested_elements};
        $cell{units} = $elements / ($cell{batch} * $cell{heads} * $cell{seq} * $cell{dim}) if $elements ne 'NaN';
    }
    return [map { defined $cell{$_} ? $cell{$_} : $text_column{$_} ? '-' : 'NaN' } @{$file->{columns}}];
}

# Where a program leaves its rows and what it says. This process's own: after a kill one may still be running.
sub temporary {
    make_path('build');
    return ("build/bench.$$.tsv", "build/bench.$$.messages");
}

# Exit status of a program, its standard error in a file. `meanwhile` is called ten times a second.
sub run_program {
    my ($arguments, $messages, $meanwhile) = @_;
    my $pid = fork;
    fail(3, "cannot start a program: $!") unless defined $pid;
    if ($pid == 0) {
        setpgrp 0, 0;
        $SIG{$_} = 'DEFAULT' for qw(INT TERM HUP);
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', '/dev/null';
        open STDERR, '>', $messages or POSIX::_exit(127);
        exec { $arguments->[0] } @$arguments or POSIX::_exit(127);
    }
    $child = $pid;
    kill 'TERM', -$pid if $stopped;
    my $turn = 0;
    while (waitpid($pid, WNOHANG) == 0) {
        $meanwhile->() if $turn++ % 10 == 0;
        select undef, undef, undef, 0.01;
    }
    my $status = $?;
    $child = 0;
    fail(3, "$arguments->[0] cannot be run: make build") if $status >> 8 == 127;
    $stopped = 'TERM' if !$stopped && ($status & 127) == 2;
    return $status & 127 ? 128 + ($status & 127) : $status >> 8;
}

# A program's --tsv: {key => value, title, columns => [...], rows => [[...], ...]}
sub parse_run {
    my ($text) = @_;
    my %run = (rows => []);
    my $last = '';
    for my $line (split /\n/, $text) {
        if ($line =~ /^# (.*)/) {
            $run{title} = $1 unless defined $run{title};
            $run{$1} = $2 if $line =~ /^# (\w+): (.*)/;
            $last = $1 if $line =~ /^# (.*)/;
        } else {
            push @{$run{rows}}, [split /\t/, $line, -1];
        }
    }
    $run{columns} = [split /\t/, $last];
    return \%run;
}

# The smallest problem, to learn what this program, machine and device call themselves.
my %probed;
sub probe {
    my ($name) = @_;
    return $probed{$name} if $probed{$name};
    my $program = "$name/$chapters{$name}{program}";
    fail(3, "$program is not built: make build") unless -x $program;
    my ($tsv, $messages) = temporary();
    my $status = run_program([$program, @{$tiny{$chapters{$name}{kind}}}, '--repeat', 1, '--warmup', 0, '--quiet',
        '--tsv', $tsv, $gpu ? ('--gpu', $gpu) : ()], $messages, sub { });
    my $said = slurp($messages);
    my $run = parse_run(slurp($tsv));
    unlink $tsv, $messages;
    stop() if $stopped;
    if ($status != 0 || !$run->{device}) {
        chomp $said;
        fail($status || 1, $said);
    }
    $run->{roofs} = '-' unless defined $run->{roofs};
    return $probed{$name} = $run;
}

# "sim"; "h200" of "cuda, NVIDIA H200", "a100" of "cuda, NVIDIA A100-SXM4-80GB", "rtx4090" of "cuda, NVIDIA GeForce
# RTX 4090"
sub short_name {
    my ($device) = @_;
    return 'sim' unless $device =~ /^cuda, (.*)/;
    my @words;
    for my $word (split /[\s-]+/, $1) {
        last if $word =~ /^(?:\d+G[iB]*|SXM\d*|PCIe?|HBM\d*|NVL\d*)$/i && @words;
        push @words, $word unless $word =~ /^(?:NVIDIA|GeForce|Tesla|Quadro)$/i;
    }
    my $name = lc join '', @words;
    $name =~ s/[^a-z0-9]//g;
    return $name eq '' ? 'gpu' : $name;
}

# ---- files ----

# {path, handle (at its end, locked), done => {label => rows}}
sub open_part {
    my ($file) = @_;
    my $path = "$file->{path}.part";
    open my $handle, '+>>', $path or fail(3, "$path: $!");
    flock $handle, LOCK_EX | LOCK_NB or fail(3, "$path: another bench is writing it");
    seek $handle, 0, SEEK_SET;
    my ($kept, %done) = (0);
    my $first = <$handle>;
    if (defined $first && !$force) {
        $first =~ /^# part of a bench, (\w+)\n\z/
            or refuse("$path:1: not the part of a bench; remove it to begin anew");
        if ($1 eq $file->{fingerprint}) {
            $kept = length $first;
            read_points($file, $path, $handle, \$kept, \%done);
        }
    }
    truncate $handle, $kept or fail(3, "$path: $!");
    seek $handle, 0, 2;
    if ($kept == 0) {
        (print $handle "# part of a bench, $file->{fingerprint}\n" and $handle->flush()) or fail(3, "$path: $!");
    }
    return {path => $path, handle => $handle, done => \%done};
}

# Whole points. What a bench that was killed left of its last one is not kept.
sub read_points {
    my ($file, $path, $handle, $kept, $done) = @_;
    my %known = map { $_->{label} => 1 } @{$file->{points}};
    my ($label, $number, $bytes, @rows) = ('', 1, 0);
    while (defined(my $line = <$handle>)) {
        $number++;
        $bytes += length $line;
        my $wrong = '';
        last unless $line =~ s/\n\z//;
        if ($line =~ /^# point (.*)/) {
            $wrong = "expected '# done', found another point" if $label ne '';
            $wrong = "'$1' is no point of this bench" unless $known{$1};
            $wrong = "'$1' for the second time" if $done->{$1};
            ($label, @rows) = ($1);
        } elsif ($line eq '# done') {
            $wrong = 'expected a point with its rows before # done' if $label eq '' || !@rows;
            $done->{$label} = [@rows] unless $wrong;
            ($label, $$kept, $bytes) = ('', $$kept + $bytes, 0);
        } else {
            my @cells = split /\t/, $line, -1;
            my $expected = @{$file->{columns}};
            $wrong = "expected $expected columns, found " . @cells if @cells != $expected;
            $wrong = 'a row outside of a point' if $label eq '';
            push @rows, \@cells;
        }
        refuse("$path:$number: $wrong; remove the file to begin anew") if $wrong;
    }
}

sub write_file {
    my ($file, $done) = @_;
    my $new = "$file->{path}.new";
    my ($common, $each) = each_command($file);
    my $title = $file->{title};
    my $today = strftime('%Y-%m-%d', gmtime);
    $title =~ s/\d{4}-\d\d-\d\d$/$today/;
    open my $out, '>', $new or fail(3, "$new: $!");
    my $printed = print $out "# $title\n",
        "# machine: $file->{machine}\n# device: $file->{device}\n# roofs: $file->{roofs}\n",
        "# compiler: $file->{compiler}\n# commit: $commit\n",
        "# date: ", strftime('%Y-%m-%dT%H:%M:%SZ', gmtime), "\n",
        "# command: $common\n# each: $each\n# units: $file->{units}\n# fingerprint: $file->{fingerprint}\n",
        "# ", join("\t", @{$file->{columns}}), "\n",
        map { join("\t", @$_) . "\n" } map { @{$done->{$_->{label}}} } @{$file->{points}};
    $printed && close $out && rename $new, $file->{path} or do {
        my $why = $!;
        unlink $new;
        fail(3, "$file->{path}: $why");
    };
}

# The command that made the file, and one of those it ran.
sub each_command {
    my ($file) = @_;
    my @words = ('make bench', "CHAPTERS=$file->{name}");
    push @words, 'DEVICE=cuda' unless $file->{simulated};
    push @words, "GPU=$gpu" if $gpu;
    push @words, "SIZES=" . join(',', @sizes) if @sizes;
    push @words, "DIMS=" . join(',', @dims) if @dims;
    push @words, "REPEAT=$repeat" if $repeat;
    my $last = $file->{points}[-1];
    my $checks = $file->{simulated} ? "SIM_CHECK=$ENV{SIM_CHECK} " : '';
    return ("@words", "for example $checks@{$last->{arguments}}");
}

# The sources' commit, and whether they were as committed.
sub find_commit {
    my $commit = `git rev-parse --short=10 HEAD 2>/dev/null`;
    chomp $commit;
    return 'unknown' if $? != 0 || $commit eq '';
    my $sources = "common '0*_*/*.c' '0*_*/*.h' '0*_*/*.cu' '0*_*/*.cuh' plots/bench.pl";
    my $changed = `git status --porcelain --untracked-files=no -- $sources 2>/dev/null`;
    return $changed eq '' ? $commit : "$commit + changes";
}

# Of a complete file; one that was made from changed sources is not kept when they are as committed again.
sub kept_fingerprint {
    my ($path) = @_;
    my $run = parse_run(slurp($path));
    my $stale = ($run->{commit} || '') =~ /changes$/ && $commit !~ /changes$/;
    return $stale || !defined $run->{fingerprint} ? '' : $run->{fingerprint};
}

sub checksum {
    my ($path) = @_;
    open my $in, '-|', 'cksum', $path or fail(3, "cksum: $!");
    my $line = <$in>;
    close $in or fail(3, "cksum $path failed");
    return $line;
}

# 64 bits (FNV-1a in two halves), for this perl may have no module for more.
sub fingerprint {
    my ($text) = @_;
    my @halves = (0x811c9dc5, 0xcbf29ce4);
    for my $byte (unpack 'C*', $text) {
        $_ = (($_ ^ $byte) * 0x01000193) & 0xffffffff for @halves;
    }
    return sprintf '%08x%08x', @halves;
}

sub slurp {
    my ($path) = @_;
    open my $in, '<', $path or return '';
    my $text = do { local $/; <$in> };
    close $in;
    return defined $text ? $text : '';
}

# ---- what is said ----

sub show_progress {
    my ($file, $point, $number, $before) = @_;
    return unless -t STDERR && ($ENV{TERM} || 'dumb') ne 'dumb';
    my $line = sprintf 'bench %d/%d  %s  %s  %s', $passed + $number, $all, $file->{name}, $point->{label},
        time_left($file, $number, seconds() - $before);
    printf STDERR "\r\e[K%s", substr $line, 0, 79;
    $line_shown = 1;
}

# From the guesses, corrected by what this chapter, or all of them, took so far.
sub time_left {
    my ($file, $number, $elapsed) = @_;
    my $left = -$elapsed;
    my $reached = 0;
    for my $other (@files) {
        $reached = 1 if $other == $file;
        next unless $reached;
        my $spent = $spent{$other->{name}} || $spent{all} || [1, 1];
        my $from = $other == $file ? $number - 1 : 0;
        $left += $_->{guess} * $spent->[1] / $spent->[0] for @{$other->{points}}[$from .. $#{$other->{points}}];
    }
    return $left < 1 ? 'nearly done' : 'about ' . duration($left) . ' left';
}

sub duration {
    my ($seconds) = @_;
    return sprintf '%.1f s', $seconds if $seconds < 10;
    return sprintf '%.0f s', $seconds if $seconds < 100;
    return sprintf '%d min %02d s', $seconds / 60, $seconds % 60;
}

sub say_line {
    my ($text) = @_;
    print STDERR "\r\e[K" if $line_shown;
    $line_shown = 0;
    print STDERR "$text\n";
}

sub stop {
    say_line("bench: stopped; what is done is kept, make bench goes on from there");
    exit 130;
}

sub fail {
    my ($status, $text) = @_;
    say_line("bench: $text");
    # Not exit: that tries once more to write what could not be written, and says so.
    POSIX::_exit($status);
}

sub refuse { fail(2, $_[0]) }

sub whole_numbers {
    my ($name, $text) = @_;
    my @numbers = split /[,\s]+/, $text;
    refuse("$name: expected whole numbers of at least 1, with commas between, got '$text'")
        if $text ne '' && (!@numbers || grep { !/^[1-9]\d*$/ } @numbers);
    return once(@numbers);
}

# What is asked for twice is measured once: a point has one place in a file.
sub once {
    my %seen;
    return grep { !$seen{$_}++ } @_;
}

sub seconds { return (POSIX::times())[0] / POSIX::sysconf(POSIX::_SC_CLK_TCK()) }
