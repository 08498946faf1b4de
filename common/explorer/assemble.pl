#!/usr/bin/perl
# Puts the page together: page.html with each `<!-- room: FILE ... -->` replaced by those files' text.
#
#   perl assemble.pl DIRECTORY BEFORE AFTER     two files: what stands before the data, and after it
#   perl assemble.pl DIRECTORY -                the whole page on standard output, `<!-- data -->` where the data goes
use strict;
use warnings;

@ARGV == 3 || @ARGV == 2 && $ARGV[1] eq '-' or die "usage: assemble.pl DIRECTORY BEFORE AFTER | DIRECTORY -\n";
my ($directory, $before, $after) = @ARGV;

sub text_of {
    my ($name) = @_;
    open my $in, '<', "$directory/$name" or die "$directory/$name: $!\n";
    local $/;
    return scalar <$in>;
}

my $page = text_of('page.html');
$page =~ s{[ \t]*<!-- room: ([^>]+?) -->\n}{join '', map { text_of($_) } split ' ', $1}ge;
my @parts = split /<!-- data -->/, $page, -1;
@parts == 2 or die "$directory/page.html: expected one <!-- data -->\n";
if ($before eq '-') {
    print $page;
    exit 0;
}
for ([$before, $parts[0]], [$after, $parts[1]]) {
    my ($file, $text) = @$_;
    open my $out, '>', $file or die "$file: $!\n";
    print $out $text;
    close $out or die "$file: $!\n";
}
