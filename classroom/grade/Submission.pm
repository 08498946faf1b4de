# A submission as a table of texts: { '01_naive/naive.cu' => { text => ... } or { problem => 'why not' } }.
#
# It is a directory or a zip of one, as `make handout` makes it, perhaps with folders around it. Nothing is unpacked:
# the files that count are read into memory, all others are left alone. What makes a whole submission unusable (no zip,
# a path that leaves it, a link inside a zip) dies with one line.
package Submission;
use strict;
use warnings;
use File::Basename qw(basename);
use File::Find qw(find);
use Compress::Raw::Zlib qw(crc32);
use IO::Uncompress::RawInflate;

use constant {
    MOST_ARCHIVE => 64 << 20,
    MOST_ENTRIES => 20_000,
    MOST_FILES   => 20_000,
    MOST_SOURCE  => 256 << 10,
    MOST_TEXT    => 1 << 20,
};

# $path, and the files that are wanted, as names inside the tree. Returns (\%files, \@notes).
sub read_submission {
    my ($path, @wanted) = @_;
    die "SUBMISSION=$path: no such file or directory\n" unless -e $path;
    my $entries = -d $path ? entries_of_directory($path) : entries_of_zip($path);
    die "SUBMISSION=$path: it is empty\n" unless %$entries;
    my ($top, @notes) = find_top($entries, @wanted);
    my %files;
    for my $name (@wanted) {
        my ($at, @more) = $entries->{"$top$name"} ? "$top$name" : stray($entries, $name);
        if (!defined $at) {
            $files{$name} = { problem => 'is missing' };
        } elsif (@more) {
            $files{$name} = { problem => 'is not in its directory, and several other places have one' };
        } else {
            push @notes, "$name was found as $at" if $at ne "$top$name";
            $files{$name} = text_of($entries->{$at}, $name);
        }
    }
    die "SUBMISSION=$path: none of " . join(', ', @wanted) . " is in it\n"
        unless grep { defined $_->{text} || ($_->{problem} // '') ne 'is missing' } values %files;
    return (\%files, \@notes);
}

# The folder around the tree, "" or "some/folder/": the shallowest in which most of the files are.
sub find_top {
    my ($entries, @wanted) = @_;
    my %found;
    for my $at (keys %$entries) {
        for my $name (@wanted) {
            $found{$1}++ if $name =~ m{/} && $at =~ m{^((?:.*/)?)\Q$name\E$};
        }
    }
    return '' unless %found;
    my ($top) = sort { $found{$b} <=> $found{$a} || ($a =~ tr{/}{}) <=> ($b =~ tr{/}{}) || $a cmp $b } keys %found;
    return ($top, $top eq '' ? () : "the tree was found in the folder $top");
}

# A .cu that lies in the directory of no chapter (two chapters may have files of one name); a text file that lies somewhere
# else.
sub stray {
    my ($entries, $name) = @_;
    my $base = basename($name);
    return sort grep { !m{(?:^|/)\d\d_\w+/[^/]+$} && basename($_) eq $base && !m{(?:^|/)(?:classroom|common|tests|plots)/} } keys %$entries;
}

sub text_of {
    my ($entry, $name) = @_;
    my $most = $name =~ /\.cuh?$/ ? MOST_SOURCE : MOST_TEXT;
    return { problem => $entry->{problem} } if $entry->{problem};
    return { problem => sprintf('has %s bytes, expected at most %d', $entry->{size}, $most) } if $entry->{size} > $most;
    my $text = eval { $entry->{read}->() };
    return { problem => $@ =~ s/\n//gr } unless defined $text;
    return { problem => 'is empty' } if $name =~ /\.cuh?$/ && $text !~ /\S/;
    return { problem => 'is no text: it has bytes of value 0 (UTF-16?); save it as UTF-8' } if $text =~ /\0/;
    $text =~ s/^\xef\xbb\xbf//;
    $text =~ s/\r\n?/\n/g; # line ends of other systems are no mistake
    return { text => $text };
}

# ---- directories ----

sub entries_of_directory {
    my ($path) = @_;
    my (%entries, $count);
    die "SUBMISSION=$path: this directory cannot be read\n" unless opendir(my $handle, $path);
    closedir $handle;
    $path =~ s{(?<=.)/+$}{};
    find({ no_chdir => 1, wanted => sub {
        my $at = $File::Find::name;
        return if $at eq $path;
        $File::Find::prune = 1, return if -d $at && !-l $at && basename($at) =~ /^(?:\.git|build|__MACOSX)$/;
        return if -d $at && !-l $at;
        die "SUBMISSION=$path: more than @{[MOST_FILES]} files in it\n" if ++$count > MOST_FILES;
        my $problem = -l $at ? 'is a link, expected a file' : !-f $at ? 'is no plain file' : !-r $at ? 'cannot be read' : undef;
        $entries{ substr $at, length($path) + 1 } = {
            problem => $problem, size => -s $at // 0, read => sub { return slurp($at) } };
    } }, $path);
    return \%entries;
}

sub slurp {
    my ($path) = @_;
    open my $in, '<:raw', $path or die "cannot be read: $!\n";
    local $/;
    my $text = <$in>;
    return $text // '';
}

# ---- zip: the central directory, read as the format's description says (APPNOTE 4.3) ----

sub entries_of_zip {
    my ($path) = @_;
    my $fail = sub { die "SUBMISSION=$path: $_[0]\n" };
    $fail->('neither a directory nor a plain file') unless -f $path;
    $fail->(sprintf '%d bytes, expected at most %d; hand in only the files that are asked for', -s $path, MOST_ARCHIVE)
        if -s $path > MOST_ARCHIVE;
    my $zip = eval { slurp($path) } // $fail->('cannot be read');
    my $tail = rindex $zip, "PK\5\6";
    $fail->('not a zip file (nor a directory)') if $tail < 0 || length($zip) < $tail + 22;
    my ($count, $bytes, $first) = unpack 'x10 v V V', substr $zip, $tail, 22;
    $fail->('a damaged zip file: its table of contents is cut off')
        if $first == 0xffffffff || $first + $bytes > $tail || $count > MOST_ENTRIES;
    my %entries;
    my $at = $first;
    for (1 .. $count) {
        $fail->('a damaged zip file') unless $at + 46 <= $tail && substr($zip, $at, 4) eq "PK\1\2";
        my ($flags, $method, $crc, $packed, $size, $name_length, $extra, $comment, $mode, $local) =
            unpack 'x8 v v x4 V V V v v v x4 V V', substr $zip, $at, 46;
        my $name = substr $zip, $at + 46, $name_length;
        $at += 46 + $name_length + $extra + $comment;
        $name =~ tr{\\}{/};
        my $shown = $name =~ s/[^\x20-\x7e]/?/gr;
        $fail->("refused: '$shown' leaves the archive") if $name =~ m{^/|(?:^|/)\.\.(?:/|$)|^[A-Za-z]:};
        $fail->("refused: '$shown' is a link, expected files only") if ($mode >> 16 & 0170000) == 0120000;
        next if $name =~ m{/$|(?:^|/)(?:__MACOSX|\.git|build)/};
        $name =~ s{^(?:\./)+}{};
        $entries{$name} = { size => $size, problem => $flags & 1 ? 'is encrypted' : undef,
            read => sub { return inflate_entry(\$zip, $local, $method, $crc, $packed, $size) } };
    }
    return \%entries;
}

sub inflate_entry {
    my ($zip, $local, $method, $crc, $packed, $size) = @_;
    die "is damaged in the zip\n" unless $local + 30 <= length $$zip && substr($$zip, $local, 4) eq "PK\3\4";
    my ($name_length, $extra) = unpack 'x26 v v', substr $$zip, $local, 30;
    my $data = substr $$zip, $local + 30 + $name_length + $extra, $packed;
    die "is cut off in the zip\n" if length $data != $packed;
    my $text = '';
    if ($method == 0) {
        $text = $data;
    } elsif ($method == 8) {
        # In pieces: what inflates to more than it says is stopped.
        my $inflater = IO::Uncompress::RawInflate->new(\$data) or die "is damaged in the zip\n";
        while ((my $got = $inflater->read(my $piece, 65536)) > 0) {
            $text .= $piece;
            die "is longer than the zip says\n" if length $text > $size;
        }
    } else {
        die "is packed in a way that is not known here (method $method)\n";
    }
    die "is damaged in the zip\n" if length $text != $size || crc32($text) != $crc;
    return $text;
}

1;
