#!/usr/bin/perl
# What nvcc makes of a chapter's kernels, as a table: registers a thread, stack frame, spills, static shared memory.
# Needs nvcc, no GPU.
#
#   perl common/ptxas.pl NVCC fa1.cu sm_80 sm_90      compiles and writes TSV to stdout
#   perl common/ptxas.pl --show ptxas.tsv [WORD]      prints such a file aligned; only lines that hold WORD
use strict;
use warnings;

if (@ARGV && $ARGV[0] eq '--show') {
    show(@ARGV[1 .. $#ARGV]);
    exit 0;
}
die "usage: ptxas.pl NVCC FILE.cu ARCH... | --show FILE.tsv [WORD]\n" unless @ARGV >= 3;
my ($nvcc, $source, @archs) = @ARGV;
my ($toolkit) = `$nvcc --version` =~ /release [^,]*, (V[\d.]+)/ or die "ptxas.pl: $nvcc does not say its version\n";
print "# nvcc $toolkit, -O3; bytes a thread, static shared bytes a block (the launchers ask for more at launch)\n";
print join("\t", '# arch', qw(kernel D registers stack spill_stores spill_loads static_shared)), "\n";
for my $arch (@archs) {
    open my $ptxas, '-|', "$nvcc -std=c++17 -O3 -arch=$arch -Xptxas -v -c $source -o /dev/null 2>&1 | c++filt"
        or die "$nvcc: $!\n";
    my ($kernel, %row, @said);
    while (<$ptxas>) {
        push @said, $_;
        $kernel = $1 if /Compiling entry function '(.+)' for/;
        @{$row{$kernel}}{qw(stack stores loads)} = ($1, $2, $3)
            if /(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads/;
        if (/Used (\d+) registers/) {
            $row{$kernel}{registers} = $1;
            $row{$kernel}{shared} = /(\d+) bytes smem/ ? $1 : 0;
        }
    }
    close $ptxas;
    my @complete = grep { defined $row{$_}{registers} && defined $row{$_}{stack} } keys %row;
    die @said, "ptxas.pl: $source does not compile for $arch\n" unless @complete;
    my @lines = map {
        my ($name, $D) = /(\w+?)(?:_kernel)?(?:<([^<>]*)>)?\(/;
        [$arch, $name, defined $D ? $D : '-', @{$row{$_}}{qw(registers stack stores loads shared)}]
    } @complete;
    print join("\t", @$_), "\n" for sort { $a->[1] cmp $b->[1] || number($a->[2]) <=> number($b->[2]) } @lines;
}

sub number { return $_[0] =~ /^(\d+)/ ? $1 : 0 }

sub show {
    my ($path, $word) = @_;
    open my $in, '<', $path or die "$path: $!\n";
    my ($about, $head, @rows) = <$in>;
    close $in;
    print $about =~ s/^# //r;
    my @cells = map { [split /\t/, s/\n//r =~ s/_/ /gr] } $head =~ s/^# //r;
    push @cells, map { [split /\t/, s/\n//r] } grep { !defined $word || /\b\Q$word\E\b/ } @rows;
    my @width;
    for my $row (@cells) {
        for (0 .. $#$row) { $width[$_] = length $row->[$_] if length $row->[$_] > ($width[$_] || 0) }
    }
    for my $row (@cells) {
        print join('  ', map { $_ < 2 ? sprintf('%-*s', $width[$_], $row->[$_]) : sprintf('%*s', $width[$_], $row->[$_]) }
            0 .. $#$row), "\n";
    }
}
