# Tables as files: provenance in lines that start with "# ", the last of them the columns; then a row a line.
package Tsv;
use strict;
use warnings;

# Writes to a temporary name and renames. Rows are array references; undef becomes NaN, tabs and newlines spaces.
sub write_table {
    my ($path, $about, $columns, @rows) = @_;
    open my $out, '>', "$path.new" or die "$path: $!\n";
    print $out "# $_\n" for @$about;
    print $out '# ', join("\t", @$columns), "\n";
    for my $row (@rows) {
        print $out join("\t", map { my $cell = $_ // 'NaN'; $cell =~ s/[\t\n\r]+/ /g; $cell eq '' ? '-' : $cell } @$row), "\n";
    }
    close $out or die "$path: $!\n";
    rename "$path.new", $path or die "$path: $!\n";
}

# (about, columns, rows): rows are hashes by column. Dies on a file that is not such a table.
sub read_table {
    my ($path) = @_;
    open my $in, '<', $path or die "$path: $!\n";
    my (@about, @rows);
    while (my $line = <$in>) {
        chomp $line;
        if ($line =~ s/^# //) {
            die "$path:$.: a comment after the first row\n" if @rows;
            push @about, $line;
            next;
        }
        die "$path: expected a line of columns first\n" unless @about;
        my @columns = split /\t/, $about[-1], -1;
        my @cells = split /\t/, $line, -1;
        die sprintf("%s:%d: expected %d cells, got %d\n", $path, $., scalar @columns, scalar @cells)
            unless @cells == @columns;
        my %row;
        @row{@columns} = @cells;
        push @rows, \%row;
    }
    close $in;
    die "$path: expected a line of columns\n" unless @about;
    my @columns = split /\t/, pop @about, -1;
    return (\@about, \@columns, \@rows);
}

1;
