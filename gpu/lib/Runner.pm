# Runs programs with a time limit each, one or many at once, and never waits longer than that.
package Runner;
use strict;
use warnings;
use POSIX qw(:sys_wait_h);

my $ticks = POSIX::sysconf(POSIX::_SC_CLK_TCK()) || 100;
my %running; # process id -> job, for end_all

# Seconds since some moment; never jumps.
sub seconds { return (POSIX::times())[0] / $ticks }

# One job: { command => [...], seconds => limit, directory =>, environment => {NAME => value or undef},
# log => file of stdout and stderr together }. Returns it with status (exit status, 128 + signal), timed_out, took.
sub run { return (run_all(1, undef, @_))[0] }

# The jobs in their order, at most `at_once` at a time. No job starts after the moment `end` (of seconds()), and none
# runs on after it: those have no status. `done`, a key of a job, is called with the job as soon as it has ended.
sub run_all {
    my ($at_once, $end, @jobs) = @_;
    my @waiting = @jobs;
    my %own;
    while (@waiting || %own) {
        while (@waiting && keys %own < $at_once) {
            my $job = shift @waiting;
            next if defined $end && seconds() >= $end;
            my $limit = $job->{seconds} // 60;
            $limit = $end - seconds() if defined $end && $end - seconds() < $limit;
            my $process = start($job);
            @{$job}{qw(started stop_at)} = (seconds(), seconds() + $limit);
            $own{$process} = $running{$process} = $job;
        }
        my $ended = reap(\%own);
        select undef, undef, undef, 0.01 if %own && !$ended;
    }
    return @jobs;
}

sub reap {
    my ($own) = @_;
    my $ended = 0;
    for my $process (keys %$own) {
        my $job = $own->{$process};
        if (waitpid($process, WNOHANG) == $process) {
            my $status = $?;
            kill 'KILL', -$process; # what it left behind
            $job->{status} = $status & 127 ? 128 + ($status & 127) : $status >> 8;
            $job->{status} = 124 if $job->{timed_out};
            $job->{took} = seconds() - $job->{started};
            delete $own->{$process};
            delete $running{$process};
            $ended = 1;
            $job->{done}->($job) if $job->{done};
        } elsif (seconds() > $job->{stop_at}) {
            $job->{timed_out} = 1;
            kill seconds() > $job->{stop_at} + 3 ? 'KILL' : 'TERM', -$process;
            if (seconds() > $job->{stop_at} + 10) { # a driver may keep a killed process: leave it to itself
                @{$job}{qw(status took)} = (124, seconds() - $job->{started});
                delete $own->{$process};
                delete $running{$process};
                $job->{done}->($job) if $job->{done};
            }
            select undef, undef, undef, 0.05;
        }
    }
    return $ended;
}

sub start {
    my ($job) = @_;
    my $process = fork // die "fork: $!\n";
    if ($process) {
        POSIX::setpgid($process, $process); # also done by the child: whoever is first
        return $process;
    }
    POSIX::setpgid(0, 0);
    $SIG{$_} = 'DEFAULT' for qw(INT TERM HUP);
    my $log = $job->{log} // '/dev/null';
    open STDIN, '<', '/dev/null';
    open STDOUT, '>', $log or POSIX::_exit(126);
    open STDERR, '>&', \*STDOUT or POSIX::_exit(126);
    if (defined $job->{directory} && !chdir $job->{directory}) {
        print STDERR "$job->{directory}: $!\n";
        POSIX::_exit(126);
    }
    for my $name (keys %{ $job->{environment} || {} }) {
        my $value = $job->{environment}{$name};
        if (defined $value) { $ENV{$name} = $value }
        else { delete $ENV{$name} }
    }
    { no warnings 'exec'; exec { $job->{command}[0] } @{ $job->{command} } }
    print STDERR "$job->{command}[0]: $!\n";
    POSIX::_exit(127);
}

# What a signal handler calls before it exits.
sub end_all { kill 'KILL', map { -$_ } keys %running if %running }

# All of a small file; '' if there is none. With `most`, its last bytes.
sub read_file {
    my ($path, $most) = @_;
    open my $in, '<', $path or return '';
    seek $in, -$most, 2 if defined $most && -s $path > $most;
    local $/;
    my $text = <$in> // '';
    close $in;
    return $text;
}

# The last line that says something: what to tell of a program that failed.
sub last_line {
    my ($job) = @_;
    my @lines = grep { /\S/ } split /\n/, read_file($job->{log} // '/dev/null', 4000);
    my ($error) = grep { /error|fatal|cannot|not found|ERR_/i } @lines;
    my $line = $job->{timed_out} ? 'over its time limit' : $error // $lines[-1] // 'it printed nothing';
    $line =~ s/[\t\r]/ /g;
    return substr($line, 0, 200);
}

1;
