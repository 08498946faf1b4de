# predictions.txt: what a kernel will move, said before it is run. A line each:
#
#     fa1_paper --seq 512 --dim 64 --heads 2 = 1 234 567
#
# kernel, options of the problem, "=", bytes (digits; spaces, commas, underscores, ' and "bytes" may help to read them).
# What follows # is a comment. Which lines there are is decided by the teacher's file; others are pointed out.
package Predictions;
use strict;
use warnings;

# (\%bytes by "kernel options", \@questions in order, \@problems)
sub parse {
    my ($text) = @_;
    my (%bytes, @questions, @problems, $number);
    for my $line (split /\n/, $text) {
        $number++;
        $line =~ s/#.*//;
        next unless $line =~ /\S/;
        my ($question, $answer) = $line =~ /^\s*([^=]*?)\s*=\s*(.*?)\s*$/;
        if (!defined $question || $question !~ /^\w+(?:\s+--[\w-]+(?:\s+[\w.]+)?)*$/) {
            my $shown = substr($line, 0, 60) =~ s/[^\x20-\x7e]/?/gr;
            push @problems, "predictions.txt:$number: expected 'kernel options = bytes', got '$shown'";
            next;
        }
        $question = join ' ', split ' ', $question;
        push @questions, $question unless exists $bytes{$question};
        $bytes{$question} = undef;
        next if $answer eq '' || $answer =~ /^[?._-]+$/;
        my $digits = $answer =~ s/\s*bytes?$//ir =~ s/[\s,_']//gr;
        if ($digits =~ /^[0-9]{1,18}$/) { $bytes{$question} = $digits }
        else {
            my $shown = substr($answer, 0, 40) =~ s/[^\x20-\x7e]/?/gr;
            push @problems, "predictions.txt:$number: expected a number of bytes after '=', got '$shown'";
        }
    }
    return (\%bytes, \@questions, \@problems);
}

# Within 1 %.
sub is_right {
    my ($predicted, $bytes) = @_;
    return defined $predicted && abs($predicted - $bytes) <= $bytes / 100;
}

1;
