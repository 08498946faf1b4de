# What is told: a table for people, results.json for Gradescope, JUnit XML, a line of CSV. Files appear whole or not.
package Results;
use strict;
use warnings;
use JSON::PP ();
use Tasks;

my %SHORT = (plain => 'plain', shapes => 'shapes', inputs => 'inputs', fresh => 'fresh', hbm => 'memory', hazards => 'hazards',
             predict => 'predict');

sub write_file {
    my ($path, $text) = @_;
    my $new = "$path.new$$";
    open my $out, '>:utf8', $new or die "RESULTS=$path: cannot be written: $!\n";
    print $out $text;
    if (!close $out) {
        my $why = $!;
        unlink $new;
        die "RESULTS=$path: cannot be written: $why\n";
    }
    rename $new, $path or die "RESULTS=$path: cannot be written: $!\n";
}

# Names of files and what compilers say are bytes. What no terminal should see becomes "?".
sub readable {
    my ($text) = @_;
    utf8::decode($text);
    return $text =~ s/[\x00-\x08\x0b-\x1f\x7f-\x9f]/?/gr;
}

sub points {
    my ($number) = @_;
    return sprintf('%.2f', $number) =~ s/\.?0+$//r;
}

sub score { my $sum = 0; $sum += $_->{score} // 0 for @_; return 0 + sprintf '%.2f', $sum }
sub most { my $sum = 0; $sum += $_->{points} for @_; return 0 + sprintf '%.2f', $sum }

# ---- the table ----

sub wrapped {
    my ($text, $first, $rest) = @_;
    my ($out, $line) = ('', $first);
    for my $word (split ' ', readable($text)) {
        if (length($line) + length($word) + 1 > 80 && $line =~ /\S\s*$/ && $line ne $first) {
            $out .= "$line\n";
            $line = $rest . $word;
        } else {
            $line .= ($line =~ /(?:^|\s)$/ ? '' : ' ') . $word;
        }
    }
    return "$out$line\n";
}

sub table {
    my ($results) = @_;
    my $text = sprintf "%-18s %-6s%-7s%-7s%-6s%-7s%-8s%-8s%9s\n", 'task', @SHORT{@Tasks::CRITERIA}, 'points';
    my $chapter = '';
    for my $task (@{ $results->{tasks} }) {
        $text .= "\n" if $chapter ne '' && $chapter ne $task->{chapter};
        $chapter = $task->{chapter};
        my @marks = map { my $c = $task->{criteria}{$_}; !$c ? '' : $c->{left_out} ? '.' : $c->{passed} ? 'ok' : $c->{ran} ? 'NO' : '-' }
            @Tasks::CRITERIA;
        $text .= sprintf "%-18s %-6s%-7s%-7s%-6s%-7s%-8s%-8s%9s\n", $task->{id}, @marks,
            points($task->{score} // 0) . '/' . points($task->{points});
    }
    $text .= sprintf "\n%-67s%9s\n", 'all tasks',
        points(score(@{ $results->{tasks} })) . '/' . points(most(@{ $results->{tasks} }));
    return $text;
}

# Every point that is missing, and why. What is lost only because of another criterion is one line.
sub explain_task {
    my ($task) = @_;
    my ($text, @follow) = ('');
    my $lost = 0;
    for my $name (@Tasks::CRITERIA) {
        my $c = $task->{criteria}{$name} or next;
        next if $c->{left_out};
        if ($c->{passed}) {
            $text .= wrapped($c->{message}, "  $Tasks::NAME{$name}:", '      ') if $name eq 'hbm' && $c->{message};
            next;
        }
        if (($c->{category} // '') eq 'not counted') {
            push @follow, $Tasks::NAME{$name};
            $lost += $c->{points};
            next;
        }
        $text .= wrapped($c->{message} // 'not graded', sprintf('  -%s %s:', points($c->{points} // 0), $Tasks::NAME{$name}), '      ');
        $text .= wrapped($c->{hint}, '      hint:', '      ') if $c->{hint};
    }
    $text .= wrapped(join(', ', @follow) . ': not counted without the above', sprintf('  -%s', points($lost)), '      ') if @follow;
    return $text;
}

sub human {
    my ($results) = @_;
    my $text = table($results);
    my @lost = grep { !$_->{full} } @{ $results->{tasks} };
    $text .= "\nok: has its points   NO: has not   -: not counted, because of another   .: not asked\n" if @lost;
    for my $task (@lost) {
        $text .= "\n" . wrapped("$task->{title}", "$task->{id}:", '    ') . explain_task($task);
    }
    $text .= "\n" . join '', map { wrapped($_, 'note:', '      ') } @{ $results->{notes} } if @{ $results->{notes} };
    return $text;
}

# ---- files ----

# Gradescope's: gradescope-autograders.readthedocs.io, "Output format". No test is hidden: that would hide the total.
sub gradescope {
    my ($results) = @_;
    my @tests;
    for my $task (@{ $results->{tasks} }) {
        my $output = explain_task($task);
        push @tests, {
            name => "$task->{chapter}: $task->{title}", number => $task->{id}, score => 0 + sprintf('%.2f', $task->{score} // 0),
            max_score => 0 + $task->{points}, status => $task->{full} ? 'passed' : 'failed', output_format => 'text',
            output => $output ne '' ? $output : 'all points', tags => [ $task->{chapter} ], visibility => 'visible',
        };
    }
    my $output = $results->{trouble} ? readable($results->{trouble}) . "\n" : table($results);
    $output .= join '', map { 'note: ' . readable($_) . "\n" } @{ $results->{notes} };
    $output .= "The grader was stopped before it had graded everything.\n" unless $results->{complete};
    return JSON::PP->new->canonical->pretty->encode({
        score => score(@{ $results->{tasks} }), output => $output, output_format => 'text',
        stdout_visibility => 'hidden', tests => \@tests });
}

sub xml {
    my $text = readable($_[0]);
    $text =~ s/&/&amp;/g;
    $text =~ s/</&lt;/g;
    $text =~ s/>/&gt;/g;
    $text =~ s/"/&quot;/g;
    $text =~ s/[^\x09\x0a\x20-\x{d7ff}\x{e000}-\x{fffd}]/?/g;
    return $text;
}

# A suite a chapter, a case a task and criterion.
sub junit {
    my ($results) = @_;
    my (%cases, @order, %failed, $tests, $failures);
    for my $task (@{ $results->{tasks} }) {
        my $chapter = $task->{chapter};
        push @order, $chapter unless $cases{$chapter};
        for my $name (@Tasks::CRITERIA) {
            my $c = $task->{criteria}{$name} or next;
            next if $c->{left_out};
            my $head = sprintf '    <testcase classname="%s" name="%s: %s"', $chapter, xml($task->{id}), $Tasks::NAME{$name};
            $tests++;
            if ($c->{passed}) { push @{ $cases{$chapter} }, "$head/>\n"; next }
            $failures++;
            $failed{$chapter}++;
            push @{ $cases{$chapter} }, sprintf qq{%s>\n      <failure message="%s">%s</failure>\n    </testcase>\n}, $head,
                xml($c->{category} // 'not graded'), xml(join "\n", grep { defined && $_ ne '' } @$c{qw(message hint)});
        }
    }
    my $text = sprintf qq{<?xml version="1.0" encoding="UTF-8"?>\n<testsuites tests="%d" failures="%d">\n}, $tests // 0,
        $failures // 0;
    for my $chapter (@order) {
        $text .= sprintf qq{  <testsuite name="%s" tests="%d" failures="%d">\n}, $chapter, scalar @{ $cases{$chapter} },
            $failed{$chapter} // 0;
        $text .= join('', @{ $cases{$chapter} }) . "  </testsuite>\n";
    }
    return "$text</testsuites>\n";
}

sub csv_field {
    my $text = readable($_[0]);
    return $text if $text !~ /[",\n]/ && $text !~ /^[=+\@-]/;
    $text = "'$text" if $text =~ /^[=+\@-]/; # a spreadsheet would take it for a formula
    return '"' . ($text =~ s/"/""/gr) . '"';
}

sub csv_line { return join(',', map { csv_field($_ // '') } @_) . "\n" }

1;
