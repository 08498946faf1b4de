#!/usr/bin/perl
# Plants a fault in a kernel: prints SOURCE with the replacements of one entry of FAULTS.
#
#   perl plant.pl SOURCE.cu FAULTS NAME       the broken source
#   perl plant.pl FAULTS                      the names, one a line
#
# An entry of FAULTS is "@ name", then pairs of lines "- text" and "+ text"; \n and \t stand for themselves. Each text
# has to occur in the source exactly once, or with "-* text" at least once, and every occurrence is replaced: a fault
# that no longer applies, or no longer where it was meant to, is an error.
use strict;
use warnings;

my ($source, $faults, $wanted) = @ARGV == 1 ? (undef, $ARGV[0], undef) : @ARGV;
open my $in, '<', $faults or die "$faults: $!\n";
my (@names, %pairs, $everywhere, $old);
while (<$in>) {
    chomp;
    s/\\n/\n/g, s/\\t/\t/g;
    if (/^@ (\w+)/) { push @names, $1 }
    elsif (/^-(\*?) (.*)/s) { ($everywhere, $old) = ($1, $2) }
    elsif (/^\+ ?(.*)/s) { push @{$pairs{$names[-1]}}, [$old, $1, $everywhere] }
    elsif (/\S/ && !/^#/) { die "$faults:$.: not understood: $_\n" }
}
close $in;
if (!defined $source) {
    print "$_\n" for @names;
    exit 0;
}
die "$faults: no fault '$wanted'\n" unless $pairs{$wanted};
open my $cu, '<', $source or die "$source: $!\n";
my $text = do { local $/; <$cu> };
close $cu;
for (@{$pairs{$wanted}}) {
    my ($from, $to, $all) = @$_;
    my $count = () = $text =~ /\Q$from\E/g;
    die "$faults: $wanted: '$from' stands in $source $count times\n" unless $all ? $count : $count == 1;
    $text =~ s/\Q$from\E/$to/g;
}
print $text;
