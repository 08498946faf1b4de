#!/usr/bin/perl
# A picture as a README shows it, light or dark as the reader's page is; what it says in words is the SVG's own title.
#   perl plots/picture.pl sim/hbm_vs_n
use strict;
use warnings;
use File::Basename qw(dirname);

my ($name) = @ARGV;
die "usage: picture.pl DEVICE/PICTURE\n" unless @ARGV == 1;
my $stem = dirname($0) . "/pictures/$name";
open my $in, '<', "$stem.light.svg" or die "$stem.light.svg: $!: make plots draws it\n";
my ($title) = do { local $/; <$in> } =~ m{<title[^>]*>(.*?)</title>}s or die "$stem.light.svg: no title\n";
-e "$stem.dark.svg" or die "$stem.dark.svg is missing: make plots draws it\n";
$title =~ s/"/&quot;/g;
print <<"HTML";
<picture>
  <source media="(prefers-color-scheme: dark)" srcset="$stem.dark.svg">
  <img alt="$title" src="$stem.light.svg" width="800">
</picture>
HTML
