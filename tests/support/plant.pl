#!/usr/bin/perl
# Plants a fault in a kernel: prints SOURCE with the replacements of one entry of FAULTS.
#
#   perl plant.pl SOURCE.cu FAULTS NAME       the broken source
#   perl plant.pl FAULTS                      the names, one a line
#
# An entry of FAULTS is "@ name", then pairs of lines "- text" and "+ text"; \n and \t stand for themselves. Each text
# has to occur in the source, and every occurrence is replaced: a fault that no longer applies is an error.
use strict;
use warnings;

my ($source, $faults, $wanted) = @ARGV == 1 ? (undef, $ARGV[0], undef) : @ARGV;
open my $in, '<', $faults or die "$faults: $!\n";
my (@names, %pairs, $old);
while (<$in>) {
    chomp;
    s/\\n/\n/g, s/\\t/\t/g;
    if (/^@ (\w+)/) { push @names, $1 }
    elsif (/^- (.*)/s) { $old = $1 }
    elsif (/^\+ ?(.*)/s) { push @{$pairs{$names[-1]}}, [$old, $1] }
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
    my ($from, $to) = @$_;
    my $count = () = $text =~ /\Q$from\E/g;
    die "$faults: $wanted: '$from' is not in $source any more\n" unless $count;
    $text =~ s/\Q$from\E/$to/g;
}
print $text;
