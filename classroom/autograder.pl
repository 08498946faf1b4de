#!/usr/bin/perl
# Writes the zip that Gradescope asks for: setup.sh, run_autograder (classroom/autograder/), the teacher's tree, and the
# class's key. It holds the solutions: it is for the teacher's eyes.
#
#   autograder.pl [--out FILE.zip] [--key KEY]
#
# Exit status: 0 written; 2 a mistake in the command line; 3 it cannot be written.
use strict;
use warnings;
use Cwd qw(realpath);
use File::Basename qw(dirname);
use File::Find qw(find);
use Getopt::Long qw(GetOptionsFromArray);
use IO::Compress::Zip qw($ZipError);

my $classroom = dirname(realpath($0));
my $course = dirname($classroom);

# What a grader never needs: history, builds, tests but their data.
my $LEFT_OUT = qr{^(?:\.git|\.ci|build|tests/(?!data(?:/|$))[^/]+)(?:/|$)|(?:^|/)__pycache__(?:/|$)|\.(?:o|fast|zip)$};

sub fail { my ($status, $message) = @_; print STDERR "gradescope: $message\n"; exit $status }

# [name in the zip, path] of all files, in an order that does not depend on the disk.
sub tree_files {
    my @files;
    find({ no_chdir => 1, wanted => sub {
        return if $File::Find::name eq $course;
        my $name = substr $File::Find::name, length($course) + 1;
        $File::Find::prune = 1, return if $name =~ $LEFT_OUT && -d $File::Find::name;
        return if $name =~ $LEFT_OUT || -l $File::Find::name || !-f $File::Find::name || is_program($File::Find::name);
        push @files, [ "tree/$name", $File::Find::name ];
    } }, $course);
    return sort { $a->[0] cmp $b->[0] } @files;
}

# A program that was built beside its source.
sub is_program {
    my ($path) = @_;
    open my $in, '<:raw', $path or fail(3, "$path: cannot be read: $!");
    my $start = '';
    read $in, $start, 4;
    return $start eq "\x7fELF";
}

sub slurp {
    my ($path) = @_;
    open my $in, '<:raw', $path or fail(3, "$path: cannot be read: $!");
    local $/;
    return scalar(<$in>) // '';
}

sub main {
    my %opt = (out => 'build/autograder.zip');
    local $SIG{__WARN__} = sub { fail(2, $_[0] =~ s/\n//r) };
    GetOptionsFromArray(\@_, \%opt, qw(out=s key=s)) or exit 2;
    delete $SIG{__WARN__};
    fail(2, "unexpected '$_[0]'; expected [--out FILE.zip] [--key KEY]") if @_;
    fail(2, 'KEY: expected a key in one line') if defined $opt{key} && $opt{key} =~ /[\x00-\x1f\x7f]/;
    fail(2, "OUT=$opt{out}: is a directory, expected a file") if -d $opt{out};
    mkdir dirname($opt{out}) unless -d dirname($opt{out});

    my @entries = (map { [ $_, slurp("$classroom/autograder/$_"), 0755 ] } qw(setup.sh run_autograder));
    push @entries, [ 'key', "$opt{key}\n", 0600 ] if defined $opt{key} && $opt{key} ne '';
    my $new = "$opt{out}.new$$";
    my ($zip, $count);
    for my $entry (@entries, map { [ $_->[0], undef, -x $_->[1] ? 0755 : 0644, $_->[1] ] } tree_files()) {
        my ($name, $text, $mode, $path) = @$entry;
        $text //= slurp($path);
        # The same course gives the same zip: no times of files.
        my @options = (Name => $name, ExtAttr => (0100000 | $mode) << 16, Time => 946684800, -Level => 6);
        if (!$zip) {
            $zip = IO::Compress::Zip->new($new, @options) or fail(3, "OUT=$opt{out}: cannot be written: $ZipError");
        } else {
            $zip->newStream(@options) or fail(3, "OUT=$opt{out}: $ZipError");
        }
        defined $zip->print($text) or fail(3, "OUT=$opt{out}: $ZipError");
        $count++;
    }
    $zip->close or fail(3, "OUT=$opt{out}: $ZipError");
    rename $new, $opt{out} or fail(3, "OUT=$opt{out}: cannot be written: $!");
    printf "%s: %d files, %.1f MB%s\n", $opt{out}, $count, (-s $opt{out}) / 1e6,
        defined $opt{key} ? ', of a class' : '';
    print "It holds the solutions. Upload it as the assignment's autograder (classroom/README.md).\n";
    return 0;
}

exit main(@ARGV);
