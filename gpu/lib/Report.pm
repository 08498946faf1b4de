# What the steps of a report share: where things are, how much time is left, and what each step came to.
package Report;
use strict;
use warnings;
use Runner;

my @PROGRAMS = (['01_naive', 'naive'], ['02_online_softmax', 'online_softmax'], ['03_tiled_matmul', 'tiled_matmul'],
    ['04_fa1', 'fa1'], ['05_fa2', 'fa2'], ['06_backward', 'backward']);

# root: the repository; out: where the report goes; work: a directory of its own, outside both; seconds: for all.
sub new {
    my ($class, %given) = @_;
    my $self = bless { jobs => 4, steps => [], summary => [], trees => {}, %given }, $class;
    $self->{start} = Runner::seconds();
    $self->{end} = $self->{start} + $self->{seconds};
    $self->{$_} = "$self->{work}/$_" for qw(data logs);
    mkdir $self->{$_} for qw(data logs);
    return $self;
}

sub left { return $_[0]{end} - Runner::seconds() }

# The smaller of a step's own limit and what is left.
sub limit {
    my ($self, $seconds) = @_;
    my $left = $self->left;
    return $left < $seconds ? $left : $seconds;
}

# [chapter, program] of the chapters this report is about.
sub programs {
    my ($self) = @_;
    return grep { my $chapter = $_->[0]; !$self->{chapters} || grep { $_ eq $chapter } @{ $self->{chapters} } } @PROGRAMS;
}

# A program of a tree ("cuda", "sim"), or undef if it was not built.
sub program {
    my ($self, $tree, $chapter) = @_;
    my ($name) = map { $_->[1] } grep { $_->[0] eq $chapter } @PROGRAMS;
    my $path = ($self->{trees}{$tree} // return undef) . "/$chapter/$name";
    return -x $path ? $path : undef;
}

# A job for Runner: no variable of the make that called us, or of a test, changes what it does.
sub job {
    my ($self, $log, $seconds, @command) = @_;
    my %clean = map { $_ => undef } qw(MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL OUT DEVICE ARCH CC CXX CFLAGS SIM_REPORT
        SIM_TRACE SIM_CHECK SIM_ORDER SIM_GPU);
    return { command => [@command], seconds => $self->limit($seconds), log => "$self->{logs}/$log",
        environment => { %clean, NO_COLOR => 1, NO_PEER => 1 } };
}

# Runs one step: its function returns (status, what came of it). status: "done", "cut short" (no time left),
# "not here" (the machine lacks something), "failed". A step that dies has failed; the others go on.
sub step {
    my ($self, $name, $function) = @_;
    return if $self->{only} && $name ne 'pack' && !grep { $_ eq $name } @{ $self->{only} };
    my $start = Runner::seconds();
    my ($status, $said) = ('cut short', 'no time was left for it');
    if ($self->left > 3) {
        ($status, $said) = eval { $function->($self) };
        ($status, $said) = ('failed', $@ =~ s/\s+$//r) if $@ || !defined $status;
    }
    $said = join ' ', split /\s+/, $said // '';
    push @{ $self->{steps} }, [$name, $status, Runner::seconds() - $start, substr($said, 0, 300)];
    printf "%-12s %-9s %6.1f s  %s\n", $name, $status, Runner::seconds() - $start, substr($said, 0, 120);
    $self->write_summary;
}

# Lines for the summary, below the table of steps.
sub tell {
    my ($self, @lines) = @_;
    push @{ $self->{summary} }, @lines;
}

# Markdown: a heading and a table.
sub tell_table {
    my ($self, $title, $columns, @rows) = @_;
    $self->tell("## $title", '', '| ' . join(' | ', @$columns) . ' |', '|' . '---|' x @$columns);
    $self->tell(map { '| ' . join(' | ', map { ($_ // '') =~ s/\|/\\|/gr } @$_) . ' |' } @rows);
    $self->tell('');
}

# Written after every step: whatever ends us, the summary is there.
sub write_summary {
    my ($self) = @_;
    my $path = "$self->{out}/summary.md";
    open my $out, '>', "$path.new" or die "$path: $!\n";
    print $out "# Report of a GPU\n\n", map({ "$_\n" } @{ $self->{about} || [] }), "\n";
    print $out "| step | status | s | what came of it |\n|---|---|---|---|\n";
    printf $out "| %s | %s | %.1f | %s |\n", @$_[0 .. 2], $_->[3] =~ s/\|/\\|/gr for @{ $self->{steps} };
    print $out "\n", map { "$_\n" } @{ $self->{summary} };
    close $out or die "$path: $!\n";
    rename "$path.new", $path or die "$path: $!\n";
}

# 0 when no step failed.
sub exit_status {
    my ($self) = @_;
    return (grep { $_->[1] eq 'failed' } @{ $self->{steps} }) ? 1 : 0;
}

# A program by name: in PATH, beside nvcc, or where NVIDIA's packages put it.
sub find_tool {
    my ($self, $name) = @_;
    my $cuda = ($self->{nvcc} // '') =~ s{/bin/[^/]+$}{}r;
    for my $path (map({ "$_/$name" } split /:/, $ENV{PATH} // ''), "$cuda/bin/$name", "$cuda/$name/$name",
        glob("/opt/nvidia/nsight-compute/*/$name"), "/usr/local/cuda/bin/$name") {
        return $path if -x $path && !-d $path;
    }
    return undef;
}

1;
