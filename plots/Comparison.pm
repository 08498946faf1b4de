# Numbers that were published, the verdict on ours beside them, and the printing of both: for plots/tables.pl.
package Comparison;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(read_published value value_unit note as_published verdict verdicts wrong compared unequal paint columns
    prose commas stop);

my $color = -t STDOUT && !length($ENV{NO_COLOR} // '') && ($ENV{TERM} // '') ne 'dumb';
my ($published_path, %published) = ('');
my ($unequal, $compared) = (0, 0);

# Lines of table, row, quantity, value, unit, expect, source, note.
sub read_published {
    my ($path) = @_;
    open my $in, '<', $path or stop(3, "$path: $!");
    $published_path = $path;
    while (my $line = <$in>) {
        next if $line =~ /^#/;
        chomp $line;
        my ($in_table, $row, $quantity, $value, $unit, $expect, undef, $note) = split /\t/, $line, -1;
        stop(2, "$path:$.: expected 8 columns") unless defined $note;
        stop(2, "$path:$.: expected exact, equal, differs, inferred or gpu, got '$expect'")
            unless $expect =~ /^(?:exact|equal|differs|inferred|gpu)$/;
        $published{$in_table}{$row}{$quantity} = {value => $value, unit => $unit, expect => $expect, note => $note};
    }
}

sub compared { return $compared }
sub unequal { return $unequal }

sub entry {
    my ($in_table, $row, $quantity) = @_;
    return $published{$in_table}{$row}{$quantity}
        || stop(2, "$published_path: no line for $in_table, $row, $quantity");
}

sub value { return entry(@_)->{value} }
sub note { return entry(@_)->{note} }
sub value_unit { my $entry = entry(@_); return $entry->{value} . $entry->{unit} }

# Our number in the unit and with the digits of the published one.
sub as_published {
    my ($in_table, $row, $quantity, $number) = @_;
    my $entry = entry($in_table, $row, $quantity);
    my ($unit, $value) = @{$entry}{qw(unit value)};
    return sprintf('%.*f', digits($value), $number / factor($unit)) . $unit;
}

sub factor { my ($unit) = @_; return {K => 1e3, M => 1e6, G => 1e9}->{$unit} || 1 }
sub digits { my ($value) = @_; return $value =~ /\.(\d+)/ ? length $1 : 0 }

# A count exactly, another number to the digits that were published.
sub equal {
    my ($entry, $number) = @_;
    my ($value, $unit) = @{$entry}{qw(value unit)};
    $value =~ s/,//g;
    return $number eq $value unless $value =~ /^[-+\d.]+(?:e[-+]?\d+)?$/;
    return 0 if $value =~ /e/ || $number =~ /nan|inf/i;
    return $number == $value if $entry->{expect} eq 'exact';
    return sprintf('%.*f', digits($value), $number / factor($unit)) eq $value;
}

sub verdict {
    my ($in_table, $row, $quantity, $number) = @_;
    my $entry = entry($in_table, $row, $quantity);
    my $equal = equal($entry, $number);
    $compared++;
    return paint('equal', 'good') if $equal && $entry->{expect} ne 'inferred';
    return paint('equal, by inference', 'good') if $equal;
    return paint('differs because', 'note') if $entry->{expect} eq 'differs';
    return wrong();
}

sub wrong { $unequal++; return paint('NOT EQUAL', 'bad') }

# One word for several numbers of a line.
sub verdicts {
    my @worst = grep { !/equal/ || /NOT/ } map { verdict(@$_) } @_;
    return @worst ? $worst[0] : paint('equal', 'good');
}

# ---- printing ----

sub paint {
    my ($text, $style) = @_;
    return $text unless $color;
    my %codes = (good => 32, bad => 31, note => 33, dim => 2, bold => 1);
    return "\e[$codes{$style}m$text\e[0m";
}

# Rows of cells, each column l(eft) or r(ight); a capital letter stands close to the column before it.
sub columns {
    my ($sides, @lines) = @_;
    my @width;
    for my $line (@lines) {
        for my $i (0 .. $#$line) {
            my $length = length plain($line->[$i]);
            $width[$i] = $length if $length > ($width[$i] || 0);
        }
    }
    for my $line (@lines) {
        my $text = '';
        for my $i (0 .. $#$line) {
            my $side = substr $sides, $i, 1;
            my $fill = ' ' x ($width[$i] - length plain($line->[$i]));
            $text .= ($side =~ /[LR]/ ? ' ' : '  ') . ($side =~ /l/i ? "$line->[$i]$fill" : "$fill$line->[$i]");
        }
        print $text =~ s/\s+$//r, "\n";
    }
}

sub plain { my ($text) = @_; return $text =~ s/\e\[\d+m//gr }

# A paragraph for a terminal of 80 columns.
sub prose {
    my ($text) = @_;
    my $line = ' ';
    for my $word (split ' ', $text) {
        if (length(plain("$line $word")) > 79) {
            print "$line\n";
            $line = ' ';
        }
        $line .= " $word";
    }
    print "$line\n";
}

sub commas {
    my ($number) = @_;
    1 while $number =~ s/^(\d+)(\d{3})/$1,$2/;
    return $number;
}

sub stop {
    my ($status, $text) = @_;
    print STDERR "tables: $text\n";
    exit $status;
}

1;
