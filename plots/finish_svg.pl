#!/usr/bin/perl
# Makes gnuplot's SVG fit for a page: a title and a description for those who cannot see it (from FILE.words, which the
# script wrote), and fonts to fall back on where DejaVu Sans is not installed.
#   perl plots/finish_svg.pl FILE
use strict;
use warnings;

my ($path) = @ARGV;
my $svg = read_file($path);
my ($title, @words) = map { escape($_) } split /\n/, read_file("$path.words");
die "$path: no headline\n" unless length($title // '');
my $description = join ' ', map { s/\s+$//r } grep { length } reverse @words;
my $id = 'text';

$svg =~ s{<title>.*?</title>\n<desc>.*?</desc>}{<title id="$id-title">$title</title>\n<desc id="$id-desc">$description</desc>}s
    or die "$path: gnuplot wrote no title and description to replace\n";
$svg =~ s{xmlns="http://www.w3.org/2000/svg"}{$& role="img" aria-labelledby="$id-title $id-desc"};
# Verdana is as wide as DejaVu Sans.
$svg =~ s{font-family="DejaVu Sans"}{font-family="DejaVu Sans, Verdana, sans-serif"}g;
$svg =~ s/[ \t]+$//mg;

open my $out, '>', $path or die "$path: $!\n";
print $out $svg;
close $out or die "$path: $!\n";

sub read_file {
    my ($name) = @_;
    open my $in, '<', $name or die "$name: $!\n";
    local $/;
    return <$in>;
}

sub escape {
    my ($text) = @_;
    return $text =~ s/&/&amp;/gr =~ s/</&lt;/gr =~ s/>/&gt;/gr;
}
