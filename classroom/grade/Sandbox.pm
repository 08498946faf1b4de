# Runs one command of a submission with limits: CPU time, memory, processes, size of files; in bwrap (no network, no other
# processes, a file system that is read only) where that works, otherwise with limits alone.
#
# CPU time is what counts, so a busy machine changes nothing. There is a limit on the clock too, far away, for a process
# that sleeps.
package Sandbox;
use strict;
use warnings;
use POSIX qw(:sys_wait_h setsid);

my %LIMITS = (cpu_seconds => 10, compile_seconds => 60, memory_mb => 1024, file_mb => 64, clock_factor => 20);

# 'bwrap', or 'limits' and why it is not bwrap. GRADE_SANDBOX=limits leaves it out, =bwrap insists.
my ($kind, $why_not);
sub kind {
    return ($kind, $why_not) if $kind;
    my $asked = $ENV{GRADE_SANDBOX} // '';
    ($kind, $why_not) = ('limits', 'GRADE_SANDBOX=limits');
    return ($kind, $why_not) if $asked eq 'limits';
    my $works = system("bwrap --unshare-all --die-with-parent --new-session --ro-bind / / --proc /proc --dev /dev "
        . "true >/dev/null 2>&1") == 0;
    if ($works) { ($kind, $why_not) = ('bwrap', '') }
    else {
        my $there = grep { -x "$_/bwrap" } split /:/, $ENV{PATH} // '';
        $why_not = $there ? 'bwrap is installed, but may not make its namespaces here' : 'bwrap is not installed';
        die "GRADE_SANDBOX=bwrap: $why_not\n" if $asked eq 'bwrap';
    }
    return ($kind, $why_not);
}

use constant LEAST_MEMORY_MB => 1024; # of address space: the simulated device reserves what it may need

# A machine that gives less would take points from everybody; better to say so before.
sub check_machine {
    my $most = qx(sh -c 'ulimit -H -v') =~ /^(\d+)/ ? int($1 / 1024) : undef;
    die "this shell allows $most MB of address space (ulimit -v); a run needs @{[LEAST_MEMORY_MB]}\n"
        if defined $most && $most < LEAST_MEMORY_MB;
    die 'GRADE_MEMORY_MB=' . limit('memory_mb') . ": expected at least @{[LEAST_MEMORY_MB]}\n"
        if limit('memory_mb') < LEAST_MEMORY_MB;
}

sub limit {
    my ($name) = @_;
    my $given = $ENV{ 'GRADE_' . uc $name } // '';
    return $given =~ /^[1-9]\d{0,6}$/ ? $given : $LIMITS{$name};
}

# Threads that this user has already: the limit on processes counts them too.
my $threads;
sub threads_now {
    return $threads if defined $threads;
    my $count = 0;
    for my $directory (glob '/proc/[0-9]*') {
        next unless -o $directory;
        $count += () = glob "$directory/task/[0-9]*";
    }
    return $threads = $count;
}

# run(command => [...], read => [paths], write => [paths], everything => 1, environment => {}, output => FILE)
# Returns { status, signal, timeout => 'cpu' | 'clock' | undef }. stdout and stderr go to FILE, at most file_mb.
sub run {
    my (%job) = @_;
    my ($how) = kind();
    my $cpu = $job{cpu_seconds} // limit('cpu_seconds');
    my $clock = $cpu * limit('clock_factor');
    # An address space, not memory in use: what a program reserves and never touches counts here.
    my $limits = sprintf 'ulimit -c 0; ulimit -H -t %d; ulimit -S -t %d; ulimit -v %d 2>/dev/null; ulimit -f %d; ulimit -%s %d 2>/dev/null; exec "$@"',
        $cpu + 2, $cpu, ($job{memory_mb} // limit('memory_mb')) * 1024, limit('file_mb') * 2048, process_letter(),
        threads_now() + 64;
    my @command = ('sh', '-c', $limits, 'sh', @{ $job{command} });
    if ($how eq 'bwrap') {
        my @mounts = $job{everything} ? ('--ro-bind', '/', '/')
            : map { ('--ro-bind-try', $_, $_) } qw(/usr /lib /lib64 /bin /etc/ld.so.cache /etc/alternatives);
        unshift @command, qw(bwrap --unshare-all --die-with-parent --new-session), @mounts, qw(--proc /proc --dev /dev
            --tmpfs /tmp), (map { ('--ro-bind', $_, $_) } @{ $job{read} // [] }),
            (map { ('--bind', $_, $_) } @{ $job{write} // [] });
    }
    my $child = fork // die "cannot start a process: $!\n";
    if ($child == 0) {
        setsid();
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', $job{output} or POSIX::_exit(126);
        open STDERR, '>&', \*STDOUT;
        %ENV = (PATH => $ENV{PATH} // '/usr/bin:/bin', HOME => '/nonexistent', LC_ALL => 'C', %{ $job{environment} // {} });
        exec { $command[0] } @command or POSIX::_exit(127);
    }
    my ($status, $timeout);
    local $SIG{ALRM} = sub { $timeout = 'clock'; kill KILL => -$child };
    local $SIG{INT} = local $SIG{TERM} = sub { kill KILL => -$child; exit 130 };
    alarm $clock;
    1 while waitpid($child, 0) < 0 && $!{EINTR};
    $status = $?;
    alarm 0;
    kill KILL => -$child; # what it may have left behind
    my ($code, $signal) = ($status >> 8, $status & 127);
    $signal = $code - 128, $code = 0 if $code > 128 && $code < 128 + 65; # told by bwrap or sh
    $timeout //= 'cpu' if $signal == 24; # SIGXCPU
    return { status => $code, signal => $signal, timeout => $timeout };
}

# dash calls the number of processes -p, bash -u.
my $letter;
sub process_letter {
    return $letter //= system("sh -c 'ulimit -u' >/dev/null 2>&1") == 0 ? 'u' : 'p';
}

1;
