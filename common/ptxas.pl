#!/usr/bin/perl
# What nvcc makes of a chapter's kernels, as a table: registers a thread, stack frame, spills, shared memory, and how
# many of its blocks an SM holds at once. Needs nvcc, no GPU.
#
#   perl common/ptxas.pl NVCC "a.cu b.cu" LAUNCHES sm_80 sm_90     compiles, TSV to stdout; LAUNCHES are launch
#                                                              records of the simulated device: threads, shared bytes
#   perl common/ptxas.pl --show ptxas.tsv [WORD]               prints such a file aligned; only lines that hold WORD
#   perl common/ptxas.pl --unchanged ptxas.tsv NVCC "a.cu b.cu"   is it of these sources and this nvcc? exit 0 or 1
#   perl common/ptxas.pl --compare old.tsv new.tsv             do they hold the same rows? exit 0 or 1
use strict;
use warnings;

# What an SM has (CUDA C++ Programming Guide, table of technical specifications by compute capability). The runtime
# keeps 1 KB of shared memory of each block for itself.
my %sm_of = (
    sm_80 => { threads => 2048, blocks => 32, registers => 65536, shared => 164 * 1024, block => 163 * 1024 },
    sm_89 => { threads => 1536, blocks => 24, registers => 65536, shared => 100 * 1024, block => 99 * 1024 },
    sm_90 => { threads => 2048, blocks => 32, registers => 65536, shared => 228 * 1024, block => 227 * 1024 },
);
my ($WARP, $RESERVED_SHARED, $SHARED_STEP, $REGISTER_STEP, $QUARTERS) = (32, 1024, 128, 256, 4);
my @COLUMNS = qw(arch kernel D registers stack spill_stores spill_loads static_shared threads dynamic_shared
    blocks_per_sm occupancy_percent);

my %modes = ('--show' => \&show, '--unchanged' => \&unchanged, '--compare' => \&compare);
if (@ARGV && $modes{ $ARGV[0] }) {
    my $mode = shift @ARGV;
    exit $modes{$mode}->(@ARGV);
}
die "usage: ptxas.pl NVCC FILES.cu LAUNCHES ARCH... | --show FILE.tsv [WORD] | --unchanged FILE.tsv NVCC FILES.cu | "
    . "--compare OLD.tsv NEW.tsv\n" unless @ARGV >= 4;
my ($nvcc, $source, $launches, @archs) = @ARGV;
my %launch_of = read_launches($launches);
print provenance($nvcc, $source), "\n";
print '# ', join("\t", @COLUMNS), "\n";
print rows_of($_) for @archs;
exit 0;

# The first line of a table: toolkit and sources.
sub provenance {
    my ($nvcc, $source) = @_;
    my ($toolkit) = `$nvcc --version` =~ /release [^,]*, (V[\d.]+)/ or die "ptxas.pl: $nvcc does not say its version\n";
    my @files = split ' ', $source;
    my %seen = map { $_ => 1 } @files;
    for (my $i = 0; $i < @files; $i++) { # and what they include
        open my $in, '<', $files[$i] or die "$files[$i]: $!\n";
        push @files, grep { -f && !$seen{$_}++ } map { /^#include "([^"]+)"/ ? $1 : () } <$in>;
    }
    my ($sum) = `cat @files | cksum` =~ /^(\d+)/ or die "ptxas.pl: no checksum of @files\n";
    return "# nvcc $toolkit, -O3, sources with checksum $sum; bytes a thread, shared bytes a block, blocks an SM";
}

# Threads and dynamic shared bytes of each kernel, from the first of its launches.
sub read_launches {
    my ($path) = @_;
    my %launch;
    open my $in, '<', $path or die "$path: $!\n";
    while (<$in>) {
        next unless /"kernel":"([^"]+)","template":"([^"]*)".*?"block":\[(\d+),(\d+),(\d+)\],"dynamic_shared_bytes":(\d+)/;
        my $name = $1 =~ s/_kernel$//r . ' ' . ($2 eq '' ? '-' : $2);
        $launch{$name} //= { threads => $3 * $4 * $5, dynamic => $6 };
    }
    close $in;
    return %launch;
}

sub rows_of {
    my ($arch) = @_;
    open my $ptxas, '-|', "for file in $source; do $nvcc -std=c++17 -O3 -arch=$arch -Xptxas -v -c \$file -o /dev/null 2>&1; done | c++filt"
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
        [$arch, $name, $D // '-', @{$row{$_}}{qw(registers stack stores loads shared)},
            occupancy($arch, $launch_of{ $name . ' ' . ($D // '-') }, $row{$_})]
    } @complete;
    return map { join("\t", @$_) . "\n" } sort { $a->[1] cmp $b->[1] || by_numbers($a->[2], $b->[2]) } @lines;
}

# Threads a block, dynamic shared bytes, blocks an SM holds at once, and the share of its warps that is. "-" for a
# kernel that no run launched, and for an SM that is not in the table.
sub occupancy {
    my ($arch, $launch, $row) = @_;
    return ('-') x 4 unless $launch;
    my $sm = $sm_of{$arch} or return ($launch->{threads}, $launch->{dynamic}, '-', '-');
    my $warps = int(($launch->{threads} + $WARP - 1) / $WARP);
    my $registers_of_warp = round_up($row->{registers} * $WARP, $REGISTER_STEP);
    # Each quarter of an SM has a quarter of the registers, and whole warps.
    my $warps_by_registers = $QUARTERS * int($sm->{registers} / $QUARTERS / $registers_of_warp);
    my $shared = $row->{shared} + $launch->{dynamic};
    my @limits = ($sm->{blocks}, int($sm->{threads} / $WARP / $warps), int($warps_by_registers / $warps),
        int($sm->{shared} / round_up($shared + $RESERVED_SHARED, $SHARED_STEP)));
    push @limits, 0 if $shared > $sm->{block};
    my ($blocks) = sort { $a <=> $b } @limits;
    return ($launch->{threads}, $launch->{dynamic}, $blocks,
        sprintf '%.0f', 100 * $blocks * $warps * $WARP / $sm->{threads});
}

sub round_up {
    my ($value, $step) = @_;
    return int(($value + $step - 1) / $step) * $step;
}

# "96, 32" before "96, 64" before "128, 32"; "-" first.
sub by_numbers {
    my @a = $_[0] =~ /\d+/g;
    my @b = $_[1] =~ /\d+/g;
    for (0 .. ($#a > $#b ? $#a : $#b)) {
        my $order = ($a[$_] // -1) <=> ($b[$_] // -1);
        return $order if $order;
    }
    return $_[0] cmp $_[1];
}

sub read_table {
    my ($path) = @_;
    open my $in, '<', $path or die "$path: $!\n";
    chomp(my ($about, $head, @rows) = <$in>);
    close $in;
    die "$path: not a table of ptxas.pl\n" unless defined $head && $head eq '# ' . join("\t", @COLUMNS);
    return ($about, @rows);
}

sub unchanged {
    my ($path, $nvcc, $source) = @_;
    my ($about) = read_table($path);
    return $about eq provenance($nvcc, $source) ? 0 : 1;
}

sub compare {
    my ($old, $new) = @_;
    my (undef, @old) = read_table($old);
    my (undef, @new) = read_table($new);
    return 0 if "@old" eq "@new";
    my %seen = map { $_ => 1 } @old;
    my @differs = grep { !$seen{$_} } @new;
    my $first = @differs ? $differs[0] : 'fewer rows';
    print STDERR "$old: stale, run make ptxas; nvcc now says: ", $first =~ s/\t/ /gr, "\n";
    return 1;
}

# A group for each architecture; spills as stores/loads, shared memory static and dynamic together.
sub show {
    my ($path, $word) = @_;
    my ($about, @rows) = read_table($path);
    print $about =~ s/^# //r =~ s/, sources with checksum \d+//r, "\n";
    my @head = ('kernel', 'D', 'regs', 'stack', 'spills', 'threads', 'shared', 'blocks', 'occ.');
    my (@groups, %lines);
    for my $row (grep { !defined $word || /\b\Q$word\E\b/ } @rows) {
        my %cell;
        @cell{@COLUMNS} = split /\t/, $row;
        push @groups, $cell{arch} unless $lines{ $cell{arch} };
        my $launched = $cell{threads} ne '-';
        push @{ $lines{ $cell{arch} } }, [$cell{kernel}, $cell{D} =~ s/ //gr, @cell{qw(registers stack)},
            $cell{spill_stores} + $cell{spill_loads} ? "$cell{spill_stores}/$cell{spill_loads}" : 0, $cell{threads},
            $launched ? $cell{static_shared} + $cell{dynamic_shared} : $cell{static_shared}, $cell{blocks_per_sm},
            $cell{occupancy_percent} eq '-' ? '-' : "$cell{occupancy_percent}%"];
    }
    my @width = map { length } @head;
    for my $row (map { @$_ } values %lines) {
        for (0 .. $#$row) { $width[$_] = length $row->[$_] if length $row->[$_] > $width[$_] }
    }
    for my $arch (@groups) {
        print "$arch\n" if @groups > 1;
        print_aligned($_, @width) for \@head, @{ $lines{$arch} };
    }
    return 0;
}

sub print_aligned {
    my ($row, @width) = @_;
    print join('  ', map { sprintf($_ < 1 ? '%-*s' : '%*s', $width[$_], $row->[$_]) } 0 .. $#$row) =~ s/\s+$//r, "\n";
}
