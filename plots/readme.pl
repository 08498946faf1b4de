#!/usr/bin/perl
# Re-makes the printed blocks of a README from the commands that made them, or checks that they are still what the
# commands print.
#
#   perl plots/readme.pl [--check] 01_naive/README.md ...
#
# A block is a fence under a comment that holds its command, run in the README's own directory:
#
#     <!-- output: ./naive --seq 512 -->
#     ```text
#     ...
#     ```
#
# or text of the page itself, a table or a picture, between two comments:
#
#     <!-- markdown: perl plots/chapter_table.pl -->
#     ...
#     <!-- end -->
#
# Counters must be equal. What differs from machine to machine does not count: lines of times, a time at the end of a
# line (a table's last column), rounding errors. Text of the page comes from data files, so all of it must be equal.
use strict;
use warnings;
use File::Basename qw(dirname);

my $check = @ARGV && $ARGV[0] eq '--check' ? shift @ARGV : '';
die "usage: readme.pl [--check] README.md ...\n" unless @ARGV;
my $fresh = 1;
remake($_) or $fresh = 0 for @ARGV;
exit($fresh ? 0 : 1);

# True when nothing of the page is stale, or all of it has been re-made.
sub remake {
    my ($path) = @_;
    open my $in, '<', $path or die "$path: $!\n";
    my $text = do { local $/; <$in> };
    close $in;
    my ($blocks, $stale) = (0, 0);
    my $remade = sub {
        my ($command, $old, $same) = @_;
        $blocks++;
        my $printed = run(dirname($path), $command);
        if ($check && $same->($printed) ne $same->($old)) {
            print STDERR "$path: the block printed by '$command' is stale: make readme\n";
            $stale++;
        }
        return $printed;
    };
    my $new = $text =~ s{(<!-- output: (.+?) -->\n```text\n)(.*?)(^```$)}{
        my ($head, $command, $old, $tail) = ($1, $2, $3, $4);
        $head . $remade->($command, $old, \&comparable) . $tail;
    }gesmr;
    $new =~ s{(<!-- markdown: (.+?) -->\n)(.*?)(^<!-- end -->$)}{
        my ($head, $command, $old, $tail) = ($1, $2, $3, $4);
        $head . $remade->($command, $old, sub { $_[0] }) . $tail;
    }gesm;
    my $begun = () = $text =~ /^<!-- (?:output|markdown): /mg;
    die "$path: $begun blocks begin and $blocks are whole: after the comment ```text and ```, or <!-- end -->\n"
        if $begun != $blocks;
    print "$path: $blocks blocks", $check ? ($stale ? ", $stale of them stale" : ' as printed') : ' re-made', "\n";
    return !$stale if $check || $new eq $text;
    open my $out, '>', "$path.new" or die "$path.new: $!\n";
    print $out $new;
    close $out or die "$path.new: $!\n";
    rename "$path.new", $path or die "$path: $!\n";
    return 1;
}

sub run {
    my ($directory, $command) = @_;
    local $ENV{NO_COLOR} = 1;
    local $ENV{COLUMNS} = 80;
    my $printed = `cd '$directory' && $command 2>&1`;
    die "$directory: '$command' failed\n$printed" if $? != 0;
    return $printed =~ s/[ \t]+$//mgr;
}

sub comparable {
    my ($printed) = @_;
    return $printed =~ s/^(\s*(?:time|error)\b).*$/$1/mgr =~ s/\s+[\d.]+ [num]?s$//mgr
        =~ s/error \S+ at \S+(?: tolerance \S+)?(?: power \S+)?/error/gr;
}
