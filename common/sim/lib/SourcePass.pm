# The first pass of simcc: preprocessed CUDA C++ in, plain C++ out.
#
# It rewrites single tokens and never adds or drops a line, so the linemarkers of the preprocessor keep every
# message of the compiler, and every line of a hazard report, on the user's own file and line. Because the text is
# already preprocessed, a launch or an `extern __shared__` works in a header and in a macro. Text of system headers
# passes through untouched.
#
# A token is { t => its text, o => what is written in its place, before => the white space, linemarkers, pragmas
# and system headers in front of it, file, line }. All analysis reads `t`, all rewriting sets `o`.
package SourcePass;
use strict;
use warnings;

# What the simulated device does not have. `before`: only where that token follows; `device`: only in device code.
my %UNSUPPORTED = (
    __managed__      => { name => '__managed__' },
    __cluster_dims__ => { name => '__cluster_dims__' },
    texture          => { name => 'texture<>', before => '<' },
    surface          => { name => 'surface<>', before => '<' },
    asm              => { name => 'inline PTX (asm)', device => 1 },
    __asm            => { name => 'inline PTX (asm)', device => 1 },
    __asm__          => { name => 'inline PTX (asm)', device => 1 },
);

# Specifiers that carry their own parentheses, which must not be taken for a parameter list.
my %TAKES_PARENTHESES = map { $_ => 1 } qw(__attribute__ __attribute alignas decltype __align__ __launch_bounds__
    __maxnreg__ __cluster_dims__ __block_size__ noexcept typeof __typeof__ explicit);

# Words that may stand in front of an expression without being part of it.
my %STATEMENT_WORD = map { $_ => 1 } qw(return else do throw case co_return co_yield and or not);

# A const object of these types is a compile-time constant (an array bound, say), for nvcc too.
my %INTEGRAL = map { $_ => 1 } qw(bool char short int long unsigned signed size_t auto
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t);

# Built-in variables of device code. Host code may use the names for its own variables, and often does.
my %BUILTIN = (
    threadIdx => '(sim_thread_index())',
    blockIdx  => '(sim_block_index())',
    blockDim  => '(sim_block_dim())',
    gridDim   => '(sim_grid_dim())',
);

my $MARKER = qr/^\#[ ]\d+[ ]"(?:[^"\\]|\\.)*"[ \d]*$/m;

# transform(text, fast => 0|1, compiler => 'gcc'|'clang', include => directory of our headers)
# returns { text, shared => {name => 1}, dynamic => {name => 1}, files => {user file => 1}, errors => [message] }.
sub transform {
    my ($text, %option) = @_;
    my $self = bless { %option, tokens => [], partner => [], kernels => {}, shared => {}, dynamic => {}, errors => [] }, __PACKAGE__;
    $self->find_user_files($text);
    $self->tokenize($text);
    $self->pair_brackets;
    $self->rewrite_declarations;
    $self->rewrite_calls;
    $self->number_places if $self->{fast};
    my $out = join '', map { $_->{before} . $_->{o} } @{ $self->{tokens} };
    return { text => $out . $self->{tail}, shared => $self->{shared}, dynamic => $self->{dynamic},
             files => $self->{files}, columns => $self->columns, errors => $self->{errors} };
}

# How columns of the rewritten text lead back to the user's: "file:line" => { moved => [[column now, column before],
# ...], known => n }. Beyond column n a macro or a comment has changed the line, and columns mean nothing.
sub columns {
    my ($self) = @_;
    my (%columns, %text, $now, $before, $changed);
    my $place = '';
    for my $token (@{ $self->{tokens} }) {
        my $here = "$token->{file}:$token->{line}";
        my $blank = $token->{before} =~ s/.*\n//sr;
        ($now, $before, $changed, $place) = (1, 1, 0, $here) if $here ne $place;
        $_ += length $blank for $now, $before;
        push @{ $columns{$here}{moved} }, [ $now, $before ] if $changed;
        $text{ $token->{file} }{ $token->{line} } .= $blank . $token->{t};
        $changed ||= $token->{o} ne $token->{t};
        $now += length $token->{o};
        $before += length $token->{t};
    }
    for my $file (keys %text) {
        open my $in, '<', $file or next;
        while (my $line = <$in>) {
            my $seen = $text{$file}{$.} // next;
            $columns{"$file:$."}{known} = common_length($line =~ tr/\t/ /r, $seen =~ tr/\t/ /r);
        }
    }
    return \%columns;
}

sub common_length {
    my ($first, $second) = @_;
    return ($first ^ $second) =~ /^(\0*)/ ? length $1 : 0;
}

# ---- tokens ----

# The preprocessor flags system headers with 3; it also flags a macro of theirs that is expanded in the user's own
# file. What counts is therefore the file: one that is ever entered without the flag is the user's.
sub find_user_files {
    my ($self, $text) = @_;
    my %files;
    while ($text =~ /^# \d+ "((?:[^"\\]|\\.)*)"([ \d]*)$/mg) {
        my ($file, $flags) = ($1, $2);
        next if $flags =~ /\b3\b/ || $file =~ /^</ || $file =~ m{/$};
        $files{$file} = 1 unless index($file, "$self->{include}/") == 0;
    }
    $self->{files} = \%files;
}

sub tokenize {
    my ($self, $text) = @_;
    my ($before, $file, $line, $fresh) = (q{}, q{}, 1, 1); # fresh: nothing but blanks on this line yet
    pos($text) = 0;
    while (pos($text) < length $text) {
        if ($fresh && $text =~ /\G(#[^\n]*\n?)/gc) {
            my $directive = $1;
            if ($directive =~ /^# (\d+) "((?:[^"\\]|\\.)*)"/) {
                ($line, $file) = ($1, $2);
                $before .= $directive;
                $before .= skip_system_text(\$text) unless $self->{files}{$file};
            } else {
                $before .= $self->pragma($directive);
                $line++;
            }
        } elsif ($text =~ /\G(\n|[ \t\r\f\x0b]+|\\\n)/gc) {
            $before .= $1;
            if ($1 =~ /\n/) { $line++; $fresh = 1 }
        } else {
            my $token = next_token(\$text);
            push @{ $self->{tokens} }, { t => $token, o => $token, before => $before, file => $file, line => $line };
            $line += $token =~ tr/\n//;
            $fresh = 0;
            $before = '';
        }
    }
    $self->{tail} = $before;
}

# Everything up to the next linemarker.
sub skip_system_text {
    my ($text) = @_;
    my $from = pos $$text;
    my $to = $$text =~ /$MARKER/g ? $-[0] : length $$text;
    pos($$text) = $to;
    return substr $$text, $from, $to - $from;
}

# One token at the current position. `<` and `>` are always single, because only the parser knows whether `>>>`
# ends a launch configuration, three template argument lists or a shift.
sub next_token {
    my ($text) = @_;
    return $1 if $$text =~ /\G((?:u8|[uUL])?R"([^()\\\s]{0,16})\(.*?\)\2")/gcs;
    return $1 if $$text =~ /\G((?:u8|[uUL])?"(?:[^"\\\n]|\\.)*")/gcs;
    return $1 if $$text =~ /\G((?:u8|[uUL])?'(?:[^'\\\n]|\\.)*')/gcs;
    return $1 if $$text =~ /\G([A-Za-z_\$\x80-\xff][\w\$\x80-\xff]*)/gc;
    return $1 if $$text =~ /\G(\.?\d(?:[eEpP][+-]|'?[\w.])*)/gc;
    return $1 if $$text =~ /\G(->|::|\.\.\.|<=|>=|==|!=|&&|\|\||[-+*\/%&|^]=)/gc;
    $$text =~ /\G(.)/gcs;
    return $1;
}

# `#pragma unroll` says nothing to an unoptimised build, and gcc would warn about it.
# Optimised, clang understands it, and gcc does better with its own judgement (it vectorises first).
sub pragma {
    my ($self, $directive) = @_;
    return $directive unless $directive =~ /^#\s*pragma\s+(?:no)?unroll\b/;
    return $directive if $self->{fast} && $self->{compiler} eq 'clang';
    return $directive =~ /\n/ ? "\n" : '';
}

sub pair_brackets {
    my ($self) = @_;
    my ($tokens, $partner) = @$self{qw(tokens partner)};
    my @open;
    for my $i (0 .. $#$tokens) {
        my $t = $tokens->[$i]{t};
        if ($t eq '(' || $t eq '[' || $t eq '{') {
            push @open, $i;
        } elsif (($t eq ')' || $t eq ']' || $t eq '}') && @open) {
            my $j = pop @open;
            ($partner->[$i], $partner->[$j]) = ($j, $i);
        }
    }
}

# ---- moving about ----

sub text {
    my ($self, $i) = @_;
    return '' if $i < 0 || $i > $#{ $self->{tokens} };
    return $self->{tokens}[$i]{t};
}

sub is_identifier {
    my ($self, $i) = @_;
    return $self->text($i) =~ /^[A-Za-z_\$\x80-\xff]/ && $self->text($i) !~ /["']$/;
}

# The index behind the bracket that opens at $i, or just $i + 1.
sub after {
    my ($self, $i) = @_;
    my $close = $self->text($i) =~ /^[\(\[\{]$/ ? $self->{partner}[$i] : undef;
    return defined $close ? $close + 1 : $i + 1;
}

# The `>` that closes the template argument list opening at $i; undef when `<` was a comparison.
sub angle_close {
    my ($self, $i) = @_;
    my $depth = 0;
    for (my $j = $i; $j <= $#{ $self->{tokens} }; $j = $self->after($j)) {
        my $t = $self->text($j);
        return undef if $t eq ';' || $t eq ')' || $t eq ']' || $t eq '}';
        $depth++ if $t eq '<';
        $depth-- if $t eq '>';
        return $j if $depth == 0;
    }
    return undef;
}

# The `<` that belongs to the `>` at $i.
sub angle_open {
    my ($self, $i) = @_;
    my $depth = 0;
    for (my $j = $i; $j >= 0; $j--) {
        my $t = $self->text($j);
        if ($t eq ')' || $t eq ']' || $t eq '}') {
            return undef unless defined $self->{partner}[$j];
            $j = $self->{partner}[$j];
            next;
        }
        return undef if $t eq ';' || $t eq '(' || $t eq '[' || $t eq '{';
        $depth++ if $t eq '>';
        $depth-- if $t eq '<';
        return $j if $depth == 0;
    }
    return undef;
}

# The first token of the declaration that $i is in.
sub declaration_start {
    my ($self, $i) = @_;
    while ($i > 0) {
        my $t = $self->text($i - 1);
        last if $t =~ /^[;{},(:]$/;
        my $open = $t eq ')' || $t eq ']' ? $self->{partner}[ $i - 1 ]
                 : $t eq '>'              ? $self->angle_open($i - 1)
                 :                          $i - 1;
        last unless defined $open;
        $i = $open;
    }
    return $i;
}

# How many items stand between the brackets at $open and $close; top-level commas count.
sub count_items {
    my ($self, $open, $close) = @_;
    return 0 if $close == $open + 1;
    my ($items, $depth) = (1, 0);
    for (my $i = $open + 1; $i < $close; $i = $self->after($i)) {
        my $t = $self->text($i);
        $depth++ if $t eq '<';
        $depth-- if $t eq '>' && $depth;
        $items++ if $t eq ',' && $depth == 0;
    }
    return $items;
}

sub drop {
    my ($self, $from, $to) = @_;
    $self->{tokens}[$_]{o} = '' for $from .. $to // $from;
}

sub error {
    my ($self, $i, $message) = @_;
    my $token = $self->{tokens}[$i];
    push @{ $self->{errors} }, "$token->{file}:$token->{line}: error: $message";
}

# ---- declarations ----

my %DECLARATION = (
    __global__        => \&rewrite_kernel,
    __device__        => \&rewrite_device,
    __constant__      => \&rewrite_variable,
    __host__          => \&drop,
    __shared__        => \&rewrite_shared,
    __launch_bounds__ => \&drop_with_parentheses,
    __maxnreg__       => \&drop_with_parentheses,
    __block_size__    => \&drop_with_parentheses,
    __grid_constant__ => \&drop,
    __forceinline__   => \&rewrite_forceinline,
    __noinline__      => \&rewrite_noinline,
    __align__         => \&rewrite_align,
);

sub rewrite_declarations {
    my ($self) = @_;
    for my $i (0 .. $#{ $self->{tokens} }) {
        my $t = $self->text($i);
        my $rewrite = $DECLARATION{$t};
        $self->$rewrite($i) if $rewrite;
    }
    for my $i (0 .. $#{ $self->{tokens} }) {
        my $t = $self->text($i);
        $self->refuse_unsupported($i, $UNSUPPORTED{$t}) if $UNSUPPORTED{$t};
        $self->{tokens}[$i]{o} = $self->kernel_attributes($i) if $t eq '__global__';
        $self->{tokens}[$i]{o} = $BUILTIN{$t} if $BUILTIN{$t} && $self->{tokens}[$i]{device}
            && $self->text($i - 1) !~ /^(?:\.|->|::)$/;
    }
}

sub refuse_unsupported {
    my ($self, $i, $feature) = @_;
    return if $feature->{before} && $self->text($i + 1) ne $feature->{before};
    return if $feature->{device} && !$self->{tokens}[$i]{device};
    $self->error($i, "'$feature->{name}' is not supported by the simulated device");
}

sub drop_with_parentheses {
    my ($self, $i) = @_;
    my $end = $self->text($i + 1) eq '(' ? $self->{partner}[ $i + 1 ] : $i;
    $self->drop($i, $end);
}

# The function declared by the specifier at $i: { name, name_at, parameters, body } as indices, body undef for a
# declaration. Returns nothing where the declaration is no function.
sub function_at {
    my ($self, $i) = @_;
    while (1) {
        my $t = $self->text($i);
        return if $t =~ /^[;={}\[]?$/ && !($t eq '[' && $self->text($i + 1) eq '[');
        if ($t eq 'operator') {
            my $open = $i + 1;
            $open++ while $self->text($open) !~ /^[(;]?$/;
            $open = $self->after($open) if $self->text($open + 1) eq ')' && $self->text($open + 2) eq '(';
            return $self->function_with($i, $open);
        }
        if ($t eq '(') {
            return if $self->text($i + 1) =~ /^[*&]$/; # a pointer to a function is a variable
            return $self->function_with($i - 1, $i);
        }
        if ($t eq '<') {
            my $close = $self->angle_close($i) // return;
            return $self->function_with($i - 1, $close + 1) if $self->text($close + 1) eq '(';
            $i = $close + 1;
        } elsif ($TAKES_PARENTHESES{$t} && $self->text($i + 1) eq '(') {
            $i = $self->after($i + 1);
        } else {
            $i = $self->after($i);
        }
    }
}

sub function_with {
    my ($self, $name_at, $parameters) = @_;
    my $i = $self->after($parameters);
    while ($self->text($i) !~ /^[;={]?$/) {
        if ($self->text($i) eq ':') { # a constructor's initialisers: its body is the last brace before `;`
            $i = $self->after_initialisers($i);
            last;
        }
        $i = $self->after($i);
    }
    my $body = $self->text($i) eq '{' ? $i : undef;
    return { name => $self->text($name_at), name_at => $name_at, parameters => $parameters, body => $body };
}

# Behind `: a(1), b{2}`, that is at the `{` of the body.
sub after_initialisers {
    my ($self, $i) = @_;
    while (1) {
        $i++ while $self->text($i) !~ /^[({;]?$/;
        return $i if $self->text($i) !~ /^[({]$/;
        $i = $self->after($i);
        return $i if $self->text($i) ne ',';
    }
}

# `device` is 1 in a function that may run on the host as well, 2 where it is for the device alone.
sub mark_device_code {
    my ($self, $body, $device) = @_;
    return unless defined $body;
    $self->{tokens}[$_]{device} = $device for $body .. ($self->{partner}[$body] // $#{ $self->{tokens} });
}

# A kernel stays one symbol, in optimised builds too, and says in the assembly that it is one.
sub rewrite_kernel {
    my ($self, $i) = @_;
    my $start = $self->declaration_start($i);
    if ($self->text($start) eq 'template' && $self->text($start + 1) ne '<') {
        return $self->drop($i); # an explicit instantiation takes no attributes
    }
    my $function = $self->function_at($i + 1) or return $self->error($i, '__global__ belongs to a function');
    $self->{tokens}[$i]{kernel} = $function->{name};
    $self->remember_kernel($function, $start);
    return unless defined $function->{body};
    $self->mark_device_code($function->{body}, 2);
    $self->{tokens}[ $function->{body} ]{o} .= ' __asm__ volatile("# sim_kernel"); ::sim_enter_kernel(__func__);';
}

# A direct call of a kernel does not compile, if it can be told from a launch: a launch of a template whose arguments are
# deduced is a direct call too, and an optimiser makes direct calls of launches.
sub kernel_attributes {
    my ($self, $i) = @_;
    my $name = $self->{tokens}[$i]{kernel} // return $self->{tokens}[$i]{o};
    my @attributes = ('noinline', $self->{compiler} eq 'gcc' ? 'noclone' : ());
    push @attributes, qq{error("a __global__ function is launched: $name<<<grid, block>>>(...)")}
        unless $self->{fast} || $self->{kernels}{$name}{template};
    return '__attribute__((' . join(', ', @attributes) . '))';
}

# What a launch has to know: is it a template, and of how many arguments; when all are given, its address is one
# function. `shapes` tells overloads from redeclarations.
sub remember_kernel {
    my ($self, $function, $start) = @_;
    my $kernel = $self->{kernels}{ $function->{name} } //= { template => 0, shapes => {} };
    return unless $self->text($start) eq 'template';
    $kernel->{template} = 1;
    my $close = $self->angle_close($start + 1) // return;
    return if $close == $start + 2; # template <>: a specialisation of one already seen
    my $total = $self->count_items($start + 1, $close);
    my $pack = grep { $self->text($_) eq '...' } $start + 2 .. $close - 1;
    $kernel->{arguments} = $pack ? 1e9 : $total;
    my $parameters = $self->count_items($function->{parameters}, $self->{partner}[ $function->{parameters} ]);
    $kernel->{shapes}{"$total/$parameters"} = 1;
}

# __device__ in front of a function means nothing to a CPU; in front of a variable it is where that variable lives.
sub rewrite_device {
    my ($self, $i) = @_;
    my $function = $self->function_at($i + 1);
    if ($self->is_lambda($i)) {
        $self->mark_device_code($function->{body}, 1) if $function;
        return $self->drop($i);
    }
    return $self->rewrite_variable($i) unless $function;
    $self->drop($i);
    my $start = $self->declaration_start($i);
    push @{ $self->{device_functions} }, $function if defined $function->{body};
    my $for_host = grep { $self->text($_) eq '__host__' } $start .. $function->{name_at};
    $self->mark_device_code($function->{body}, $for_host ? 1 : 2);
}

# [=] __host__ __device__ (int i) { ... }
sub is_lambda {
    my ($self, $i) = @_;
    $i-- while $self->text($i) =~ /^__(?:host__|device__|forceinline__|noinline__)$/;
    my $open = $self->text($i) eq "]" ? $self->{partner}[$i] : undef;
    return defined $open && $self->text($open + 1) ne "["; # [[ opens an attribute
}

# A __device__ or __constant__ variable goes to a section of its own. Its const goes too: compilers do not
# instrument reads of constants, and the count would silently be 0.
sub rewrite_variable {
    my ($self, $i) = @_;
    my $start = $self->declaration_start($i);
    my ($end, $array, $initialised) = $self->declarator_end($i + 1);
    my @words = map { $self->text($_) } $start .. $end - 1;
    my %word = map { $_ => 1 } @words;
    return $self->drop($i) if $self->text($i) eq '__device__' && $word{__constant__};

    my $integral = grep { $INTEGRAL{$_} } @words;
    if (!$array && $initialised && ($word{constexpr} || $word{const} && $integral && !$word{'*'})) {
        return $self->drop($i); # a compile-time constant, never loaded
    }
    my $section = $self->text($i) eq '__constant__' ? 'sim_constant' : 'sim_device';
    my $was_const = $self->drop_const($start, $end);
    # const gave it internal linkage
    my $static = $was_const && !grep({ $word{$_} } qw(static extern inline)) ? 'static ' : '';
    $self->{tokens}[$i]{o} = $static . qq{__attribute__((section("$section"), aligned(256)))};
}

# From a specifier to the end of the first declarator's name: (index, is it an array, is it initialised).
sub declarator_end {
    my ($self, $i) = @_;
    while ($self->text($i) ne '') {
        my $t = $self->text($i);
        if ($t eq '[' && $self->text($i + 1) ne '[') {
            my $behind = $i;
            $behind = $self->after($behind) while $self->text($behind) eq '[';
            return ($i, 1, $self->text($behind) =~ /^[={]$/ ? 1 : 0);
        }
        return ($i, 0, 0) if $t eq ';' || $t eq ',';
        if ($t eq '=' || $t eq '{') {
            my $is_type = $t eq '{' && grep { $self->text($_) =~ /^(?:struct|union|class|enum)$/ } $i - 2 .. $i - 1;
            return ($i, 0, 1) unless $is_type;
        }
        my $close = $t eq '<' ? $self->angle_close($i) : undef;
        $i = defined $close ? $close + 1 : $self->after($i);
    }
    return ($i, 0, 0);
}

# Drops the const and constexpr of the object itself, not of what it points to. Returns whether there was one.
sub drop_const {
    my ($self, $start, $end) = @_;
    my ($last_star, @const) = (-1);
    for (my $i = $start; $i < $end;) {
        my $t = $self->text($i);
        $last_star = $i if $t eq '*';
        push @const, $i if $t eq 'const' || $t eq 'constexpr';
        my $close = $t eq '<' ? $self->angle_close($i) : undef;
        $i = defined $close ? $close + 1 : $self->after($i);
    }
    my @own = grep { $_ > $last_star || $self->text($_) eq 'constexpr' } @const;
    $self->drop($_) for @own;
    return scalar @own;
}

# __shared__ is storage of the thread that runs the block. With extern it is the engine's dynamic shared memory.
sub rewrite_shared {
    my ($self, $i) = @_;
    my $start = $self->declaration_start($i);
    my $end = $i;
    $end = $self->after($end) while $self->text($end) !~ /^;?$/;
    my ($dynamic) = grep { $self->text($_) eq 'extern' } $start .. $end;
    my ($storage) = grep { $self->text($_) =~ /^(?:extern|static)$/ } $start .. $end;
    my $first = defined $storage && $storage < $i ? $storage : $i;

    $self->drop($_) for $i, defined $storage ? $storage : ();
    $self->{tokens}[$first]{o} = defined $dynamic ? 'extern __thread'
                                                              : 'static __thread __attribute__((aligned(16)))';
    $self->{tokens}[$start]{o} = $self->take_alignas($i, $end) . $self->{tokens}[$start]{o};
    $self->shared_declarators($i + 1, $end, defined $dynamic);
}

# alignas must open a declaration; behind __shared__ nvcc takes it anyway.
sub take_alignas {
    my ($self, $i, $end) = @_;
    for my $at ($i .. $end) {
        next unless $self->text($at) eq 'alignas' && $self->text($at + 1) eq '(';
        my $close = $self->{partner}[ $at + 1 ];
        my $taken = join ' ', map { $self->text($_) } $at .. $close;
        $self->drop($at, $close);
        return "$taken ";
    }
    return '';
}

# The declarators of a __shared__ declaration: each name is remembered, an initialiser is an error, and the name
# of a dynamic array is remembered apart: AssemblyPass makes it mean the one array the engine has.
sub shared_declarators {
    my ($self, $i, $end, $dynamic) = @_;
    my ($name, $name_at, $declared) = ('', $i, 0);
    while ($i <= $end) {
        my $t = $self->text($i);
        if ($t =~ /^[\[=;,]$/ || $t eq '{' && $self->text($name_at - 1) !~ /^(?:struct|union|class)$/
                                       && $name !~ /^(?:struct|union|class)$/) {
            $self->{ $dynamic ? "dynamic" : "shared" }{$name} = 1 unless $declared;
            if ($t eq '=' || $t eq '{') {
                return $self->error($name_at, "an initializer is not allowed for __shared__ variable '$name'");
            }
            if ($t eq '[') {
                $i = $self->after($i) while $self->text($i) eq '[';
                $declared = 1;
                next;
            }
            $declared = 0;
        } elsif ($TAKES_PARENTHESES{$t}) {
            $i++;
        } elsif ($self->is_identifier($i) && !$declared) {
            ($name, $name_at) = ($t, $i);
        }
        my $close = $t eq '<' ? $self->angle_close($i) : undef;
        $i = defined $close ? $close + 1 : $self->after($i);
    }
}

# Instrumented, a device function stays a function: inlining would give one line of the source several sites.
sub rewrite_forceinline {
    my ($self, $i) = @_;
    return $self->drop($i) if $self->is_lambda($i);
    my $j = $self->declaration_start($i);
    my $inline = 0;
    for (; $self->text($j) !~ /^[({;]?$/; $j++) {
        $inline = 1 if $self->text($j) =~ /^(?:inline|__inline|__inline__)$/;
    }
    my @words = $inline ? () : ('inline');
    push @words, '__attribute__((always_inline))' if $self->{fast};
    $self->{tokens}[$i]{o} = join ' ', @words;
}

# Also the spelling of a gcc attribute, where it must stay.
sub rewrite_noinline {
    my ($self, $i) = @_;
    $self->{tokens}[$i]{o} = '__attribute__((noinline))' unless $self->text($i - 1) =~ /^[(,]$/;
}

sub rewrite_align {
    my ($self, $i) = @_;
    return unless $self->text($i + 1) eq '(';
    $self->{tokens}[$i]{o} = '__attribute__((aligned';
    $self->{tokens}[ $self->{partner}[ $i + 1 ] ]{o} .= '))';
}

# ---- launches ----

sub rewrite_calls {
    my ($self) = @_;
    for (my $i = 0; $i <= $#{ $self->{tokens} }; $i++) {
        if ($self->text($i) eq 'cudaLaunchKernel' && $self->text($i + 1) eq '(') {
            $self->strip_cast($i + 2);
        } elsif ($self->is_triple($i, '<') && $self->text($i - 1) ne 'operator') {
            $self->rewrite_launch($i);
            $i += 2;
        }
    }
}

sub is_triple {
    my ($self, $i, $character) = @_;
    return 3 == grep { $self->text($_) eq $character } $i .. $i + 2;
}

# KERNEL<<<CONFIGURATION>>>(arguments): everything up to the arguments is replaced, on the lines it was on.
sub rewrite_launch {
    my ($self, $open) = @_;
    my $close = $self->launch_close($open);
    my $first = $self->expression_start($open - 1);
    if (!defined $close || !defined $first || $self->text($close + 3) ne '(') {
        return $self->error($open, 'a kernel launch is KERNEL<<<grid, block>>>(arguments)');
    }
    my $name = $self->kernel_name($first, $open - 1);
    if (($self->{tokens}[$open]{device} // 0) == 2) {
        return $self->error($open, "launching '$name' in device code (dynamic parallelism) is not supported by the "
                                 . 'simulated device');
    }
    my $tokens = $self->{tokens};
    my $kernel = join '', $tokens->[$first]{o}, map { $_->{before} . $_->{o} } @$tokens[ $first + 1 .. $open - 1 ];
    $_->{o} = q{} for @$tokens[ $open .. $open + 2, $close .. $close + 2 ];
    my $config = join q{}, map { $_->{before} . $_->{o} } @$tokens[ $open .. $close + 2 ];
    ($_->{before}, $_->{o}) = ('', '') for @$tokens[ $first + 1 .. $close + 2 ];
    $tokens->[$first]{before} ||= ' ' if $self->text($first - 1) eq ':'; # case 1:k<<<...>>>
    $tokens->[$first]{o} = $self->launch_text($name, $kernel, $config, $self->explicit_arguments($open - 1));
}

# A template whose arguments are all given is one function, and its address can be taken; then arguments convert as
# in any call (a literal 0 to a pointer). If some are deduced from the call, only a call can name the function.
sub launch_text {
    my ($self, $name, $kernel, $config, $given) = @_;
    my $known = $self->{kernels}{$name};
    my $one_function = !$known || !$known->{template}
        || keys %{ $known->{shapes} } == 1 && $given == $known->{arguments};
    return qq{::sim::launch(::sim::launch_config($config), "$name", $kernel)} if $one_function;
    return qq{::sim::launch_deduced(::sim::launch_config($config), "$name", [=](auto... sim_a) }
         . qq{__attribute__((no_sanitize("thread"))) { $kernel(sim_a...); })};
}

# The `>>>` of the `<<<` at $open; brackets inside it are skipped.
sub launch_close {
    my ($self, $open) = @_;
    for (my $i = $open + 3; $self->text($i) !~ /^[;)}\]]?$/; $i = $self->after($i)) {
        return $i if $self->is_triple($i, '>') && $self->text($i + 3) eq '(';
    }
    return undef;
}

# The first token of the postfix expression that ends at $i: k, ns::k<T>, table[i], (*pointer), object.member.
sub expression_start {
    my ($self, $i) = @_;
    while (1) {
        $i = $self->component_start($i) // return undef;
        my $before = $self->text($i - 1);
        $before = $self->text(--$i - 1) if $before eq 'template';
        return $i unless $before =~ /^(?:::|\.|->)$/;
        $i--;
        my $joins = $before ne '::' || $self->text($i - 1) eq '>'
            || $self->is_identifier($i - 1) && !$STATEMENT_WORD{ $self->text($i - 1) };
        return $i unless $joins;
        $i--;
    }
}

# The first token of one part of such an expression: k, k<T>, k(...), k[...], k{...}, (...).
sub component_start {
    my ($self, $i) = @_;
    while (1) {
        my $t = $self->text($i);
        if ($t eq '>') {
            $i = ($self->angle_open($i) // return undef) - 1;
            return $self->is_identifier($i) ? $i : undef;
        }
        return $i if $self->is_identifier($i);
        return undef unless $t =~ /^[)\]}]$/;
        my $open = $self->{partner}[$i] // return undef;
        my $callee = $self->text($open - 1);
        return $open if $t eq ')' && (!$self->is_identifier($open - 1) && $callee !~ /^[>\]]$/
            || $STATEMENT_WORD{$callee} || $callee =~ /^(?:if|while|for|switch)$/);
        $i = $open - 1;
    }
}

# The base name: without namespace and template arguments; of an expression, its last word.
sub kernel_name {
    my ($self, $first, $last) = @_;
    my $end = $last;
    $end = $self->angle_open($last) - 1 if $self->text($last) eq '>';
    $end = $self->{partner}[$end] - 1 while $self->text($end) eq ']';
    return $self->text($end) if $self->is_identifier($end);
    my ($name) = grep { $self->is_identifier($_) } reverse $first .. $last;
    return defined $name ? $self->text($name) : 'kernel';
}

sub explicit_arguments {
    my ($self, $last) = @_;
    return 0 unless $self->text($last) eq '>';
    return $self->count_items($self->angle_open($last), $last);
}

# ---- the places of __activemask, in an optimised build ----

# Each call of __activemask is given a number, and so is each call of a device function that leads to one
# (sim_cuda/warp.h says why).
sub number_places {
    my ($self) = @_;
    my $leads = $self->leading_to('__activemask');
    my $number = 0;
    for my $i (grep { $self->{tokens}[$_]{device} && $leads->{ $self->text($_) } } 0 .. $#{ $self->{tokens} }) {
        my $last = $self->text($i + 1) eq '<' ? $self->angle_close($i + 1) // $i : $i;
        next if $self->text($last + 1) ne '(';
        my $close = $self->{partner}[ $last + 1 ];
        my $first = $self->expression_start($last) // next;
        $number++;
        if ($self->text($i) eq '__activemask') {
            $self->{tokens}[$close]{o} = "${number}ul)";
        } else {
            $self->{tokens}[$first]{o} = "__extension__({ const ::sim::place sim_place_$number(${number}ul); "
                . $self->{tokens}[$first]{o};
            $self->{tokens}[$close]{o} .= '; })';
        }
    }
}

# auto NAME = [...](...) { ... } in device code.
sub named_lambdas {
    my ($self) = @_;
    my @lambdas;
    for my $i (grep { $self->{tokens}[$_]{device} && $self->text($_) eq '[' } 2 .. $#{ $self->{tokens} }) {
        next unless $self->text($i - 1) eq '=' && $self->is_identifier($i - 2);
        my $body = $i;
        $body = $self->after($body) while $self->text($body) !~ /^[{;]?$/;
        push @lambdas, { name => $self->text($i - 2), body => $body } if $self->text($body) eq '{';
    }
    return @lambdas;
}

# The names of the device functions that call $name, or another that does; and $name itself.
sub leading_to {
    my ($self, $name) = @_;
    my %leads = ($name => 1);
    my @functions = (@{ $self->{device_functions} // [] }, $self->named_lambdas);
    my $known;
    do {
        $known = keys %leads;
        for my $function (grep { !$leads{ $_->{name} } } @functions) {
            my $end = $self->{partner}[ $function->{body} ] // $#{ $self->{tokens} };
            $leads{ $function->{name} } = 1 if grep { $leads{ $self->text($_) } } $function->{body} .. $end;
        }
    } while ($known < keys %leads);
    return \%leads;
}

# cudaLaunchKernel((void *)k, ...): our overload wants to see k with its type.
sub strip_cast {
    my ($self, $i) = @_;
    if ($self->text($i) eq '(') {
        my $close = $self->{partner}[$i];
        my $type = join '', map { $self->text($_) } $i + 1 .. $close - 1;
        $self->drop($i, $close) if $type =~ /^(?:constvoid|voidconst|void)\*(?:const)?$/;
    } elsif ($self->text($i) =~ /^(?:reinterpret|static|const)_cast$/ && $self->text($i + 1) eq '<') {
        my $close = $self->angle_close($i + 1) // return;
        $self->drop($i, $close);
    }
}

1;
