# clang's intermediate code in, the same with struct copies as loads and stores out.
#
# clang copies a struct with the intrinsic llvm.memcpy, and its thread sanitizer turns that into a call of memcpy
# that has lost the alignment. A float4 copy is one 16-byte access on a GPU: it becomes a load and a store here,
# before the sanitizer's pass runs. Both spellings of pointers are known: `i8*` (LLVM 14) and `ptr` (15 and later).
#
# The sanitizer leaves out what it sees to be a local variable whose address goes nowhere, so an index past the end of
# a local array would be nobody's to find. The address of an array or a struct therefore passes through an empty piece
# of assembler, behind which the sanitizer does not see where it came from.
package LlvmPass;
use strict;
use warnings;

# Bytes of one access => the alignment it takes; of 16 bytes, what gcc asks for too.
my %ALIGNMENT = (1 => 1, 2 => 2, 4 => 4, 8 => 8, 16 => 8);

sub transform {
    my ($text) = @_;
    my ($count, %local, %packed, %veiled, @out, $uses_mempcpy) = (0);
    my $typed = $text =~ /^\s*store .*\* %/m; # pointers say what they point to
    for my $line (split /\n/, $text) {
        %local = %veiled = () if $line =~ /^define /;
        $line =~ s/(%[\w.\$-]+)/$veiled{$1} \/\/ $1/ge if %veiled && $line !~ /\@llvm\.dbg\./;
        # what points into the thread's own stack
        $local{$1} = 1 if $line =~ /^\s*(%[\w.\$-]+) = alloca /;
        $local{$1} = 1 if $line =~ /^\s*(%[\w.\$-]+) = bitcast \S.* (%[\w.\$-]+) to / && $local{$2};
        # a field of a packed struct is the one place whose alignment is less than its type's
        $packed{$1} = 1 if $line =~ /^(%[\w.\$":-]+) = type <\{/;
        $local{"packed $1"} = 1 if $line =~ /^\s*(%[\w.\$-]+) = getelementptr (?:inbounds )?(%[\w.\$":-]+),/ && $packed{$2};
        $line = with_natural_alignment($line) unless $line =~ /(%[\w.\$-]+), align \d/ && $local{"packed $1"};
        my $new = $line =~ /^\s*call void \@llvm\.mem/ ? rewrite($line, \%local, \$count) : undef;
        $uses_mempcpy = 1 if defined $new && $new =~ /\@mempcpy/;
        push @out, $new // $line;
        push @out, veil($1, $typed ? "$2*" : 'ptr', \%local, \%veiled, \$count)
            if $line =~ /^\s*(%[\w.\$-]+) = alloca ((?:\[|%(?:struct|class|union)\b|%"|<?\{).*?)(?:, align \d+)?(?:, !dbg !\d+)?$/
            && $2 !~ /, i\d+ %/;
    }
    push @out, declaration($text) if $uses_mempcpy && $text !~ /^declare .*\@mempcpy\(/m;
    return join("\n", @out) . "\n";
}

# Another name for the address of a local variable, which the rest of the function uses.
sub veil {
    my ($name, $pointer, $local, $veiled, $count) = @_;
    my $new = $veiled->{$name} = '%sim_local_' . $$count++;
    $local->{$new} = 1;
    return "  $new = call $pointer asm \"\", \"=r,0\"($pointer $name) nounwind";
}

# load double, ptr %p, align 4 -> align 8: see rewrite. A misaligned address is then the engine's to find.
sub with_natural_alignment {
    my ($line) = @_;
    my %natural = (i16 => 2, i32 => 4, float => 4, i64 => 8, double => 8);
    my ($type, $align) = $line =~ /^\s*(?:%\S+ = load|store) (?:volatile )?(i16|i32|i64|float|double)[ ,].*, align (\d+)/ or return $line;
    return $align >= $natural{$type} ? $line : $line =~ s/, align \d+/, align $natural{$type}/r;
}

sub pointer_type {
    my ($text) = @_;
    return $text =~ /\@llvm\.mem\w+\.p0i8/ ? 'i8*' : 'ptr';
}

sub declaration {
    my ($text) = @_;
    my $pointer = pointer_type($text);
    return "declare $pointer \@mempcpy($pointer, $pointer, i64)";
}

# The instructions that replace one intrinsic call; undef to keep it.
sub rewrite {
    my ($line, $local, $count) = @_;
    my ($kind, $inside, $rest) = $line =~ /\@llvm\.(memcpy|memmove|memset)[\w.]*\((.*)\)([^()]*(?:,\s*!.*)?)$/ or return;
    my ($to, $from, $size, $volatile) = map { s/^\s+|\s+$//gr } split_arguments($inside);
    my ($bytes) = ($size // '') =~ /^i64 (\d+)$/ or return;
    return if ($volatile // '') ne 'i1 false';
    my $debug = $rest =~ /(, !dbg !\d+)/ ? $1 : '';
    my ($to_value, $to_align) = operand($to) or return;

    if ($kind eq 'memset') {
        return unless $from eq 'i8 0' && $to_align >= ($ALIGNMENT{$bytes} // 1e9);
        return typed_access($to, $to_value, $to_align, $bytes, $count,
            sub { "store i@{[ 8 * $bytes ]} 0, $_[0]" }, $debug);
    }
    my ($from_value, $from_align) = operand($from) or return;
    if ($from_value =~ /\@(?:__const\.|constinit|\.compoundliteral|switch\.table)/) {
        # The initial value of a local variable comes out of the program's image: not an access of the source.
        return unless $local->{$to_value};
        my $pointer = pointer_type($line);
        return "  %sim_value_@{[ $$count++ ]} = call $pointer \@mempcpy($pointer $to_value, $pointer $from_value, i64 $bytes)$debug";
    }
    my $needed = $ALIGNMENT{$bytes} // return;
    # A local variable is aligned as its type is. Of anything else clang says what it knows of that place: a float2
    # that is read through a cast from an array of floats would be "align 4".
    $to_align = $from_align if $local->{$from_value};
    $from_align = $to_align if $local->{$to_value};
    return unless $to_align >= $needed && $from_align >= $needed;
    my $type = 'i' . 8 * $bytes;
    my $value = '%sim_value_' . $$count++;
    return join "\n",
        typed_access($from, $from_value, $from_align, $bytes, $count, sub { "$value = load $type, $_[0]" }, $debug),
        typed_access($to, $to_value, $to_align, $bytes, $count, sub { "store $type $value, $_[0]" }, $debug);
}

# One load or store of $bytes at an operand; an i8* needs a cast first. 16 bytes that are only aligned to 8 are said
# to be aligned to less, so that the sanitizer calls its hook for unaligned accesses: the engine knows what that means.
sub typed_access {
    my ($argument, $value, $known, $bytes, $count, $access, $debug) = @_;
    my $align = 'align ' . ($bytes < 16 ? $ALIGNMENT{$bytes} : $known < 16 ? 4 : 16);
    return '  ' . $access->("ptr $value, $align") . $debug if $argument =~ /^ptr\b/;
    my $type = 'i' . 8 * $bytes;
    my $cast = '%sim_pointer_' . $$count++;
    return "  $cast = bitcast i8* $value to $type*$debug\n  " . $access->("$type* $cast, $align") . $debug;
}

# Splits at commas outside brackets.
sub split_arguments {
    my ($text) = @_;
    my ($depth, @part) = (0, '');
    for my $c (split //, $text) {
        $depth++ if $c =~ /[(\[{<]/;
        $depth-- if $c =~ /[)\]}>]/;
        if ($c eq ',' && $depth == 0) { push @part, '' } else { $part[-1] .= $c }
    }
    return @part;
}

# "i8* noundef align 16 %26" -> ("%26", 16); the value may be a constant expression.
sub operand {
    my ($text) = @_;
    my ($value) = $text =~ /^(?:i8\*|ptr)\s+(?:(?:align \d+|dereferenceable\w*\(\d+\)|[a-z]\w*)\s+)*?((?:%|\@|bitcast|getelementptr|inttoptr|null|addrspacecast).*)$/ or return;
    my ($align) = $text =~ /\balign (\d+)/;
    return ($value, $align // 1);
}

1;
