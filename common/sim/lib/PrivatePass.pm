# The last pass of simcc: what of this file is device code belongs to this file alone, as with nvcc without -rdc.
#
# C++ gives templates and inline functions to the whole program: of those with one name the linker keeps one. nvcc
# compiles the device code of each file for itself, so two files may have a template `row` of different bodies.
# Here, what kernels reach (functions, shared arrays, tables) leaves its COMDAT group, and device code means a local
# label where it names it. The symbol stays, weak, for all others: host code, which C++ gives one __host__ __device__
# function for the whole program, and a file that launches a kernel instantiated in another. Kernels and device
# variables are this file's own in its host code too.
package PrivatePass;
use strict;
use warnings;

my $SYMBOL = qr/(?<![\w.%"])(?<![\w.]\$)[A-Za-z_.][\w.\$]*/; # behind the $ of an immediate value too
my $DEVICE_VARIABLE = qr/^sim_(?:device|constant)$/;
my $TABLE = qr/^(?:sim_(?:functions|sites|shared|variables)|\.data\.rel\.sim)$/;
# Lines that hold addresses: instructions and data.
my $HOLDS_ADDRESSES = qr/^\s+(?:[a-z]|\.(?:quad|long|int|value|short|[248]byte)\b)/;

# transform(text) returns the text.
sub transform {
    my ($text) = @_;
    my $self = bless { lines => [ split /\n/, $text ], owner => [], place => {}, edges => {}, second_name => {},
                       kernels => {} }, __PACKAGE__;
    $self->read_lines;
    $self->find_device_code;
    $self->choose_private;
    return join("\n", map { $self->rewritten($_) } 0 .. $#{ $self->{lines} }) . "\n";
}

# What a section's directive says; undef for another line.
sub section_of {
    my ($line) = @_;
    return { name => $1 } if $line =~ /^\s+(\.(?:text|data|bss))\b/;
    my ($name, $rest) = $line =~ /^\s+\.section\s+("[^"]*"|[^\s,]+)(.*)/ or return undef;
    my ($group) = $rest =~ /,([^,]+),comdat\b/;
    return { name => $name =~ tr/"//dr, group => $group };
}

# Where each symbol is defined, which one each line belongs to, and what each refers to. A local label in code is a
# place in its function; one in data is an object of its own.
sub read_lines {
    my ($self) = @_;
    my ($section, $in_code, $code, $here, %function) = ({ name => '.text' }, 1, '', '');
    for my $line (@{ $self->{lines} }) {
        my ($label) = $line =~ /^($SYMBOL):/;
        if (my $next = section_of($line)) {
            ($section, $in_code) = ($next, $next->{name} =~ /^\.text/);
            $here = $in_code ? $code : '';
        } elsif ($line =~ /^\s+\.type\s+($SYMBOL),\s*[@%]function/) {
            $function{$1} = 1;
        } elsif (defined $label && !($in_code && $label =~ /^\.L/)) {
            $here = $label;
            $code = $label if $in_code;
            $self->{place}{$here} = { %$section, is_function => $function{$here} };
        } elsif ($line =~ /^\s+\.set\s+($SYMBOL),\s*($SYMBOL)$/) {
            $self->{second_name}{$1} = $2;
            push @{ $self->{edges}{$1} }, $2;
        } elsif ($line =~ /^\s*#\s*sim_kernel\b/) {
            $self->{kernels}{$here} = 1;
        } elsif ($line =~ $HOLDS_ADDRESSES) {
            push @{ $self->{edges}{$here} }, $line =~ /$SYMBOL/g;
        }
        push @{ $self->{owner} }, $here;
    }
}

# Device code is what the kernels and the device variables lead to.
sub find_device_code {
    my ($self) = @_;
    my $place = $self->{place};
    my @queue = (keys %{ $self->{kernels} }, grep { $place->{$_}{name} =~ $DEVICE_VARIABLE } keys %$place);
    while (defined(my $symbol = shift @queue)) {
        push @queue, @{ $self->{edges}{$symbol} // [] } unless $self->{device}{$symbol}++;
    }
}

# A group leaves as a whole, and with it the names of all that is in it.
sub choose_private {
    my ($self) = @_;
    my ($place, $second) = @$self{qw(place second_name)};
    my %left;
    for my $symbol (grep { $place->{$_} && defined $place->{$_}{group} } keys %{ $self->{device} }) {
        @left{ $place->{$symbol}{group}, "sim_shared.$symbol" } = (1, 1) if is_private($symbol, $place->{$symbol});
    }
    # a host template whose argument is such a kernel is another function in each file, although its name is one
    my @kernels = grep { defined $place->{$_}{group} } keys %{ $self->{kernels} };
    for my $symbol (grep { /L_Z/ && defined $place->{$_}{group} } keys %$place) {
        $self->{with_kernel}{$symbol} = $left{ $place->{$symbol}{group} } = 1 if grep { 0 <= index $symbol, "L${_}E" } @kernels;
    }
    $self->{left} = \%left;
    my $count = 0;
    for my $symbol (grep { !/^\.L/ } sort keys %$place) {
        my ($name, $group) = @{ $place->{$symbol} }{qw(name group)};
        $self->{private}{$symbol} = '.Lsim_private_' . $count++ if $name =~ $DEVICE_VARIABLE || $left{ $group // '' };
    }
    for my $symbol (keys %$second) {
        my $meant = $second->{$symbol};
        $meant = $second->{$meant} while defined $second->{$meant};
        $self->{private}{$symbol} = $self->{private}{$meant} if $self->{private}{$meant};
    }
}

# Of the data that device code reaches: its functions' own static variables, virtual tables, constants. Variables of
# the host and the descriptions of types stay the program's.
sub is_private {
    my ($symbol, $place) = @_;
    return 1 if $place->{is_function} || is_of_device($place) || $symbol =~ /^(?:_ZZ|_ZGVZ|_ZTV)/;
    return $place->{name} =~ /^\.(?:rodata|data\.rel\.ro)\b/ && $symbol !~ /^_ZT/;
}

sub is_of_device {
    my ($place) = @_;
    return $place->{name} =~ $DEVICE_VARIABLE || $place->{name} =~ /^\.t(?:bss|data)\b/;
}

sub rewritten {
    my ($self, $number) = @_;
    my ($line, $owner, $private) = ($self->{lines}[$number], $self->{owner}[$number], $self->{private});
    if ($line =~ /,([^,]+),comdat\b/) {
        return $line unless $self->{left}{$1};
        my $alone = $line =~ s/,[^,]+,comdat\b//r;
        return $alone =~ s/^(\s+\.section\s+(?:"[^"]*"|[^\s,]+),"\w*)G/$1/r;
    }
    return "$line\n$private->{$owner}:" if $line =~ /^\Q$owner\E:/ && $private->{$owner};
    return $line =~ s/\bgnu_unique_object\b/object/r if $line =~ /^\s+\.type\s+($SYMBOL),/ && $private->{$1};
    return $line =~ s/\.globl\b/.weak/r
        if $line =~ /^\s+\.globl\s+($SYMBOL)$/ && $private->{$1} && is_of_device($self->{place}{$1});
    return $line if $line !~ $HOLDS_ADDRESSES;
    my ($operation, $operands) = $line =~ /^(\s+\S+)(.*)$/;
    return $operation . $operands =~ s/($SYMBOL)/$self->meant($1, $owner)/ger;
}

# What $symbol is called where $owner names it.
sub meant {
    my ($self, $symbol, $owner) = @_;
    my $label = $self->{private}{$symbol} // return $symbol;
    my $place = $self->{place}{$symbol};
    my $everywhere = $self->{kernels}{$symbol} || $self->{with_kernel}{$symbol} || $place && is_of_device($place);
    my $of_device = $self->{device}{$owner} || ($self->{place}{$owner}{name} // '') =~ $TABLE;
    return $everywhere || $of_device ? $label : $symbol;
}

1;
