# compute-sanitizer's verdicts on programs, beside those of the simulated device.
package Sanitizer;
use strict;
use warnings;
use Tsv;

our @TOOLS = qw(memcheck racecheck initcheck synccheck);

# What follows "compute-sanitizer" on the command line, without the program.
sub arguments {
    my ($tool) = @_;
    return ('--tool', $tool, '--print-limit', '20', '--error-exitcode', '86',
        $tool eq 'memcheck' ? ('--leak-check', 'full') : $tool eq 'racecheck' ? ('--racecheck-report', 'all') : ());
}

# { verdict => error | warning | clean | endless | broken, errors, warnings, leaks, said } of a finished job's output.
# "broken" is a run that says nothing of the program: the tool did not start, or did not get to its summary.
sub read_output {
    my ($text, $timed_out) = @_;
    my %result = (errors => 0, warnings => 0, leaks => 0, said => '-');
    $result{errors} = $1 if $text =~ /ERROR SUMMARY: (\d+) errors?/;
    if ($text =~ /RACECHECK SUMMARY: (\d+) hazards? displayed \((\d+) errors?, (\d+) warnings?\)/) {
        @result{qw(errors warnings)} = ($2, $3);
    }
    $result{leaks} = $1 if $text =~ /LEAK SUMMARY: \d+ bytes leaked in (\d+) allocations?/;
    my $summed = $text =~ /(?:ERROR|RACECHECK) SUMMARY:/;
    my ($first) = grep { !/^\s*(?:COMPUTE-SANITIZER|Saved|Host Frame|in |at )/ } $text =~ /^========= (.*\S)/mg;
    $result{verdict} = $timed_out ? 'endless' : !$summed ? 'broken' : $result{errors} ? 'error'
        : $result{warnings} ? 'warning' : 'clean';
    if ($result{verdict} eq 'broken') {
        my ($why) = $text =~ /^(.*(?:not supported|[Ee]rror|failed|No such).*)$/m;
        ($why) = grep { /\S/ } reverse split /\n/, $text unless defined $why;
        $result{said} = $why // 'it printed nothing';
    } elsif ($result{verdict} ne 'clean' && defined $first) {
        $result{said} = $first;
    }
    $result{said} = substr $result{said} =~ s/^=+ //r =~ s/[\t\r]/ /gr, 0, 160;
    return \%result;
}

# What a source says the simulated device reports of it: { tool, kinds, severities, slow }. simcc/tests holds the
# simulated device to these lines in every `make test`.
sub expectation {
    my ($path) = @_;
    my %expected = (tool => '', kinds => '', severities => '', slow => 0);
    open my $in, '<', $path or die "$path: $!\n";
    while (<$in>) {
        @expected{qw(tool kinds severities)} = ($1, $2, $3) if m{^// EXPECT (\S+) (\S+) (\S+)};
        $expected{slow} = 1 if m{^// SLOW};
    }
    close $in;
    return \%expected;
}

# Under which of NVIDIA's tools a finding of ours belongs: leaks are memcheck's with --leak-check full.
sub tool_of { return $_[0] eq 'leakcheck' ? 'memcheck' : $_[0] }

sub read_limits {
    my ($path) = @_;
    my (undef, undef, $rows) = Tsv::read_table($path);
    return @$rows;
}

sub reason {
    my ($limits, $kernel, $tool) = @_;
    for my $limit (@$limits) {
        my $pattern = join '.*', map { quotemeta } split /\*/, $limit->{kernel}, -1;
        return $limit->{reason} if $tool eq $limit->{tool} && $kernel =~ /^$pattern$/;
    }
    return '';
}

# (ours, "agree" | "differ: ..." | "beside it: ...") of one program and tool. variant: broken, fixed or correct.
sub judge {
    my ($kernel, $variant, $tool, $expected, $result, $limits) = @_;
    my $ours = $variant eq 'broken' && tool_of($expected->{tool}) eq $tool ? $expected->{severities} : 'clean';
    my $theirs = $result->{verdict};
    return ($ours, "not comparable: $result->{said}") if $theirs eq 'broken';
    my $found = $theirs eq 'error' || $theirs eq 'warning';
    if ($ours eq 'clean') {
        return ($ours, 'agree') if !$found && $theirs ne 'endless';
        return ($ours, $theirs eq 'endless' ? 'not comparable: over its time limit' : 'beside it: also reported')
            if $variant eq 'broken';
        return ($ours, $theirs eq 'endless' ? 'not comparable: over its time limit' : 'differ: a finding where ours has none');
    }
    return ($ours, 'agree') if $found && grep { $_ eq $theirs } split /\|/, $ours;
    return ($ours, "differ in severity: $theirs") if $found;
    my $reason = reason($limits, $kernel, $tool);
    return ($ours, $reason ? "differ, as known: $reason" : 'differ: silent, for no reason we know');
}

1;
