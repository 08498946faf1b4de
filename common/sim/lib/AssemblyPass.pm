# The second pass of simcc: the compiler's assembly in, assembly with the simulated device's tables out.
#
# It gives every access of the source a record of its own (file, line, function) and hands the record's address to
# the hook that is called for it, puts red zones behind shared arrays and device variables, and lists functions,
# arrays and variables. The layout of the tables, and which argument takes a record, is engine/tables.h.
#
# It also makes a function's own variables hold bytes 0x7F when the function begins, and has functions without hooks
# look after the address they return to.
#
# Records of a function that lies in a COMDAT group (a template) join that group, so that of two objects with the
# same instance the linker keeps one copy of code and records together.
package AssemblyPass;
use strict;
use warnings;
use Cwd qw(getcwd);
use File::Spec;

my $REDZONE = 256;
my @ARGUMENT = (undef, qw(%rdi %rsi %rdx %rcx %r8 %r9)); # integer argument registers, counted from 1
my %OP = (read => 0, write => 1, atomic => 2, other => 3);

# Calls that mean something else in device code. printf of a kernel appears in block order; exponentials are
# counted, but not in a --fast build, whose one purpose is speed.
my %RENAMED = map { $_ => "sim_$_" } qw(printf puts putchar);
$RENAMED{__assert_fail} = 'sim_assert_fail';
my %COUNTED = map { $_ => "sim_$_" } qw(expf exp exp2f exp2 exp10f exp10 expm1f expm1);
# C's functions that store a second result through a pointer, inside the library where no hook sees it: which of their
# integer arguments is free for the record.
my %STORING = ((map { $_ => 2, "${_}f" => 2 } qw(modf frexp remquo)), sincos => 3, sincosf => 3);

# What CUDA's device code has not, or the simulated device has not: symbol => what the message calls it.
my @DENIED = (
    [ qr/^(malloc|free|calloc|realloc|aligned_alloc|posix_memalign)$/ ],
    [ qr/^_Zn[wa]/                                         => 'new' ],
    [ qr/^_Zd[la]/                                         => 'delete' ],
    [ qr/^(cuda[A-Z]\w*)$/ ],
    [ qr/^_ZNSt6thread/                                    => 'std::thread' ],
    [ qr/^(pthread_\w+)$/ ],
    [ qr/^(exit|_exit|_Exit|quick_exit|abort|atexit|system|getenv)$/ ],
    [ qr/^(f?open|fclose|fread|fwrite|fprintf|vfprintf|fputs|fputc|fflush|scanf|fscanf|sscanf|getchar|fgets)$/ ],
    [ qr/^(rand|srand|time|sleep|usleep|nanosleep|gettimeofday|clock_gettime)$/ ],
    [ qr/^__cxa_(?:throw|rethrow|allocate_exception)$/     => 'throw' ],
    [ qr/^__cxa_guard_acquire$/                            => 'a static variable initialised at run time' ],
    [ qr/^(?:_ZNSo|_ZStls|_ZSt4endl)/                      => 'std::ostream' ],
    [ qr/^__tsan_atomic|^__(?:sync|atomic)_/               => 'a compiler atomic' ],
);

my $SYMBOL = qr/[A-Za-z_.][\w.\$]*/;
my $DATA = qr/^\s*\.(?:zero|skip|space|byte|value|short|word|[248]byte|long|int|quad|octa|float|double|single|string|asciz|ascii)\b/;

# transform(text, shared => {name => 1}, dynamic => {name => 1}, files => {user file => 1}, include => directory of our headers,
#           fast => 0|1, scratch => a file name to use) returns { text, errors => [message] }.
sub transform {
    my ($text, %option) = @_;
    my $self = bless {
        %option,
        types => {}, sizes => {}, leaves => {}, functions => {}, order => [], objects => [], debug_files => {}, strings => {},
        string_order => [], site_count => 0, label_count => 0, section => '.text', copies => {}, aliases => {}, group => undef, out => [], errors => [],
    }, __PACKAGE__;
    $self->{renamed} = { %RENAMED, $option{fast} ? () : %COUNTED };
    $self->{storing} = {%STORING};
    my @lines = split /\n/, $text;
    $self->collect_symbols(\@lines);
    $self->find_copies(\@lines) unless $option{fast};
    $self->find_leaves(\@lines) unless $option{fast};
    $self->walk(\@lines);
    $self->demangle;
    $self->refuse_denied_calls;
    $self->emit_tables;
    return { text => join("\n", @{ $self->{out} }) . "\n", errors => $self->{errors} };
}

# ---- the walk through the assembly ----

sub collect_symbols {
    my ($self, $lines) = @_;
    for (@$lines) {
        $self->{types}{$1} = $2 if /^\s+\.type\s+($SYMBOL),\s*[@%](\w+)/;
        $self->{sizes}{$1} = $2 if /^\s+\.size\s+($SYMBOL),\s*(\S+)/;
        $self->{aliases}{$1} = $2 if /^\s+\.set\s+($SYMBOL),\s*($SYMBOL)$/;
    }
    my %defined = map { /^($SYMBOL):/ ? ($1 => 1) : () } @$lines;
    delete $self->{$_}->@{ keys %defined } for qw(renamed storing); # the program's own function of that name
    for (@$lines) {
        while (/(?<![\w.])($SYMBOL)@(?:tpoff|gottpoff)/gi) {
            $self->{renamed}{$1} = "sim_dynamic_shared" if !$defined{$1} && names($1, $self->{dynamic});
        }
    }
}

# With -fno-elide-constructors gcc copies a struct by a call of the copy constructor or assignment that it wrote
# itself, where the line of the copy is lost. Remembers those whose whole work is one read and one write of the same
# bytes: symbol => { bytes, read => hook, write => hook }.
sub find_copies {
    my ($self, $lines) = @_;
    my ($symbol, $immediate, @calls);
    for (@$lines) {
        if (/^(_ZN\w+(?:C[12]|aS)E(?:RK|O)\w+):/) {
            ($symbol, @calls) = ($1);
        } elsif (defined $symbol && /^\s+\.size\s+\Q$symbol\E,/) {
            # Of 16 bytes, only CUDA's own types are surely aligned to 16.
            if ($symbol !~ /^_ZN\d+(?:float4|u?int4|double2|u?long2|u?longlong2)(?:C[12]|aS)E/) {
                $_->[1] =~ s/^__tsan_(?=(?:read|write)16$)/__tsan_unaligned_/ for grep { @$_ } @calls;
            }
            my %copy = map { @$_ } @calls[ 1 .. $#calls - 1 ];
            my $is_copy = @calls == 4 && $copy{read} && $copy{write} && $copy{bytes};
            $self->{copies}{$symbol} = \%copy if $is_copy;
            $symbol = undef;
        } elsif (defined $symbol && /^\s+movl\s+\$(\d+), %esi/) {
            $immediate = $1;
        } elsif (defined $symbol && /^\s+call\s+([\w.\$]+)/) {
            my $hook = $1;
            my ($kind, $bytes) = $hook =~ /^__tsan_(?:unaligned_)?(read|write)_?(\d+|range)$/;
            push @calls, defined $kind ? [ $kind => $hook, bytes => $bytes eq 'range' ? $immediate : $bytes ] : [];
        }
    }
}

# Functions that call nothing, not even a hook: they touch nothing but their own variables.
sub find_leaves {
    my ($self, $lines) = @_;
    my $symbol = '';
    for (@$lines) {
        $symbol = $1 if /^($SYMBOL):/ && ($self->{types}{$1} // '') eq 'function';
        $self->{leaves}{$symbol} //= 1 if /^\s+ret/;
        $self->{leaves}{$symbol} = 0 if /^\s+(?:call|jmpq?\s+\*)/;
    }
}

sub walk {
    my ($self, $lines) = @_;
    for my $line (@$lines) {
        $self->end_of_object($line) if $self->{object};
        if ($line =~ /^($SYMBOL):/) {
            $self->label($1);
        } elsif ($line =~ /^\s+\./) {
            $self->directive($line);
        } elsif ($self->{function}) {
            $self->instruction($line);
            next;
        }
        push @{ $self->{out} }, $line;
    }
    $self->end_of_object('') if $self->{object};
}

sub label {
    my ($self, $symbol) = @_;
    my $type = $self->{types}{$symbol} // return;
    if ($type eq 'function') {
        my $function = { symbol => $symbol, group => $self->{group}, sites => [], edges => [], uses => {},
                         index => scalar @{ $self->{order} } };
        $self->{functions}{$symbol} = $function;
        push @{ $self->{order} }, $function;
        $self->{function} = $function;
        $self->{prologue} = !$self->{fast};
        $self->{location} = $self->{any_location} = undef;
    } elsif ($type =~ /object|tls/ && $self->{section} =~ /^(?:\.t(?:bss|data)\b|sim_device$|sim_constant$)/) {
        $self->{object} = { symbol => $symbol, section => $self->{section}, group => $self->{group},
                            align => $self->{align} // 1 };
    }
}

my %DIRECTIVE = (
    '.file'    => \&debug_file,
    '.loc'     => \&location,
    '.section' => \&section,
    '.size'    => \&end_of_function,
    '.align'   => \&alignment,
    '.balign'  => \&alignment,
    '.p2align' => \&alignment,
    '.quad'    => \&address_in_data,
);

sub directive {
    my ($self, $line) = @_;
    my ($name, $rest) = $line =~ /^\s+(\.\w+)\s*(.*)$/;
    if ($name =~ /^\.(?:text|data|bss)$/) {
        ($self->{section}, $self->{group}) = ($name, undef);
    } elsif (my $handle = $DIRECTIVE{$name}) {
        $self->$handle($rest, \$_[1]);
    }
}

sub section {
    my ($self, $rest) = @_;
    my @field = split /\s*,\s*/, $rest =~ s/\s+#.*//r;
    $self->{section} = $field[0] =~ s/"//gr;
    my $flags = $field[1] // '';
    $self->{group} = $flags =~ /G/ ? $field[ $flags =~ /M/ ? 4 : 3 ] : undef;
}

sub alignment {
    my ($self, $rest, $line) = @_;
    my ($n) = $rest =~ /^(\d+)/;
    $self->{align} = $$line =~ /p2align/ ? 1 << $n : $n;
}

sub end_of_function {
    my ($self, $rest) = @_;
    my ($symbol) = $rest =~ /^($SYMBOL)/;
    my $function = $self->{functions}{$symbol // ''} // return;
    push @{ $self->{out} }, ".Lsim_end_$function->{index}:";
    $self->{function} = undef;
}

# A table of functions in data: the names in it are renamed like those in code.
sub address_in_data {
    my ($self, $rest, $line) = @_;
    $self->rename($line);
}

sub rename {
    my ($self, $line) = @_;
    $$line =~ s/(?<![\w.@])($SYMBOL)/$self->{renamed}{$1} \/\/ $1/ge;
}

# ---- where we are in the source ----

# .file 3 "directory" "name" md5 ...: the name as the user's command line led to it, or undef for our own headers,
# which are transparent: a barrier is where the kernel wrote it.
sub debug_file {
    my ($self, $rest) = @_;
    my ($number, $directory, $name) = $rest =~ /^(\d+)\s+(?:"([^"]*)"\s+)?"([^"]*)"/ or return;
    my $path = defined $directory && $name !~ m{^/} ? "$directory/$name" : $name;
    $self->{debug_files}{$number} = $self->user_file($name, $path);
    ($self->{spelled}{$number}) = grep { $self->{files}{$_} } $name, $path, $self->{debug_files}{$number} // '';
}

sub user_file {
    my ($self, @spellings) = @_;
    for my $spelling (@spellings) {
        return $spelling =~ s{^(?:\./)+}{}r if $self->{files}{$spelling};
    }
    my $path = absolute($spellings[-1]);
    return undef if index($path, "$self->{include}/") == 0;
    $self->{absolute} //= { map { absolute($_) => $_ } keys %{ $self->{files} } };
    return ($self->{absolute}{$path} // $path) =~ s{^(?:\./)+}{}r;
}

# Absolute, without `.` and `..`: how a compiler may have respelled a name.
sub absolute {
    my ($path) = @_;
    my @part;
    for (split m{/}, File::Spec->rel2abs($path, getcwd())) {
        next if $_ eq '' || $_ eq '.';
        if ($_ eq '..') { pop @part } else { push @part, $_ }
    }
    return '/' . join '/', @part;
}

sub location {
    my ($self, $rest) = @_;
    my ($file, $line, $column) = $rest =~ /^(\d+)\s+(\d+)(?:\s+(\d+))?/ or return;
    return if $line == 0;
    my $name = $self->{debug_files}{$file};
    my $here = { file => $name // '', line => $line, column => $self->column($file, $line, $column // 0) };
    $self->{any_location} = $here;
    return unless defined $name;
    $self->{location} = $here;
    $self->{function}{file} //= $name if $self->{function};
}

# The column in what the user wrote; 0 where it cannot be told.
sub column {
    my ($self, $file, $line, $column) = @_;
    my $known = $self->{columns}{ ($self->{spelled}{$file} // '') . ":$line" } or return 0;
    my ($last) = grep { $_->[0] <= $column } reverse @{ $known->{moved} // [] };
    $column += $last->[1] - $last->[0] if $last;
    return $column <= ($known->{known} // 0) ? $column : 0;
}

# ---- instructions ----

sub instruction {
    my ($self, $line) = @_;
    my $function = $self->{function};
    return if $self->{prologue} && $self->prologue($line);
    $self->check_leaf if $line =~ /^\s+ret/ && $self->{leaves}{ $function->{symbol} };
    $self->watch_result($line) if $self->{exchange};
    if ($line =~ /^\s*#\s*sim_kernel\b/) {
        $function->{is_kernel} = 1;
    } elsif ($line =~ /^\s+(?:call|jmp)q?\s+\*?($SYMBOL)(?:@\w+)?/ && $1 !~ /^\.L/) {
        my $callee = $1;
        my $meant = $self->{aliases}{$callee} // $callee;
        # the guard of a static is read and written by the compiler, not by the source
        return if delete $self->{guard} && $callee =~ /^__tsan_(?:read|write)1$/;
        return $self->copy($self->{copies}{$meant}) if $self->{copies}{$meant};
        $self->edge($callee);
        my ($new, $register, $value) = $self->hook($callee);
        push @{ $self->{out} }, "\tleaq\t$value(%rip), $register" if defined $value;
        $self->{exchange} = $function->{sites}[-1] if defined $value && $callee =~ /^sim_atomic_(?:block_)?exch_/;
        $line =~ s/\Q$callee\E/$new/;
    } elsif ($line !~ /^\s*#/) {
        $self->{guard} = 1 if $line =~ /\b_ZGV/;
        while ($line =~ /(?<![\w.])($SYMBOL)(?:@(\w+))?/g) {
            my ($symbol, $relocation) = ($1, $2 // '');
            $function->{uses}{$symbol} = 1 if lc $relocation eq 'tpoff' || lc $relocation eq 'gottpoff';
        }
        while ($line =~ /(?<![\w.])($SYMBOL)(?:\@GOTPCREL)?\(%rip\)|\$($SYMBOL)/g) {
            my $symbol = $1 // $2;
            $self->edge($symbol) if $symbol !~ /^\.L/;
        }
        $self->rename(\$line) if $line =~ /\(%rip\)|\$[A-Za-z_]|@(?:tpoff|gottpoff)/i;
    }
    push @{ $self->{out} }, $line;
}

# The first instructions of a function: what it returns to is noted in a leaf, and its variables are filled where the
# stack pointer has gone below them. 3.4e38 as a float: it shows in a sum and in a maximum, and is no value that the
# block before or the engine has left there. True where the line has been written.
sub prologue {
    my ($self, $line) = @_;
    if ($line !~ /^\s*#/ && !$self->{function}{begun}++ && $self->{leaves}{ $self->{function}{symbol} }) {
        push @{ $self->{out} }, "\tmovq\t(%rsp), %r11", "\tmovq\t%r11, %fs:sim_leaf_return\@tpoff",
            "\tmovq\t%rbp, %fs:sim_leaf_frame\@tpoff";
    }
    if ($line =~ /^\s+(?:subq\s+\$|addq\s+\$-)(\d+), %rsp/) {
        $self->{prologue} = 0;
        push @{ $self->{out} }, $line;
        $self->fill_variables($1);
        return 1;
    }
    if ($line =~ /^\s+pushq\s+%r[acd]x\s*$/) { # nothing is saved: clang's way to make room for 8 bytes
        push @{ $self->{out} }, $line;
        $self->fill_variables(8);
        return 1;
    }
    $self->{prologue} = 0 unless $line =~ /^\s*#|^\s+(?:pushq|endbr64|movq\s+%rsp, %rbp|andq\s+\$-\d+, %rsp)/;
    return 0;
}

# From above to below: a frame too large for the stack meets the guard page, whatever lies behind it. Of the registers
# only %r11 and %xmm15 hold nothing yet.
sub fill_variables {
    my ($self, $bytes) = @_;
    my $looped = $bytes > 256 ? $bytes - $bytes % 64 : 0;
    push @{ $self->{out} }, "\tmovups\tsim_empty_local(%rip), %xmm15";
    my $at = $bytes;
    for my $store ([ 16, "movups\t%xmm15" ], [ 8, "movq\t%xmm15" ], [ 4, "movd\t%xmm15" ], [ 1, "movb\t\$127" ]) {
        my ($size, $instruction) = @$store;
        push @{ $self->{out} }, "\t$instruction, " . ($at -= $size) . "(%rsp)" while $at - $looped >= $size;
    }
    return unless $looped;
    my $label = '.Lsim_fill_' . $self->{label_count}++;
    push @{ $self->{out} }, "\tleaq\t$looped(%rsp), %r11", "$label:",
        (map { "\tmovups\t%xmm15, -" . 16 * $_ . "(%r11)" } 1 .. 4),
        "\tsubq\t\$64, %r11", "\tcmpq\t%rsp, %r11", "\tja\t$label";
}

# Before a leaf returns: to where it was called from, with its caller's frame pointer? On the host nobody asks: a
# signal may have come between.
sub check_leaf {
    my ($self) = @_;
    my $label = '.Lsim_leaf_' . $self->{label_count}++;
    push @{ $self->{out} }, "\tmovq\t(%rsp), %r11", "\txorq\t%fs:sim_leaf_return\@tpoff, %r11", "\tjne\t${label}_lost",
        "\tcmpq\t%fs:sim_leaf_frame\@tpoff, %rbp", "\tje\t$label", "${label}_lost:",
        "\tcmpq\t\$0, %fs:sim_lane\@tpoff", "\tje\t$label",
        "\tleaq\t.Lsim_function_$self->{function}{index}(%rip), %rdi", "\tjmp\tsim_leaf_overrun\@PLT", "$label:";
}

# Is what an atomicExch() returns used? If so, the first instruction after it that names the register reads it, before
# any jump: our code is compiled at -O0. Its record says so.
sub watch_result {
    my ($self, $line) = @_;
    my $result = qr/%(?:[er]?ax|al|xmm0)\b/;
    return if $line =~ /^\s*(?:#|$)/ || $line !~ /$result|^\s+(?:call|j|ret|leave|cltq|cltd|cqto)/;
    my $site = delete $self->{exchange};
    return if $line =~ /^\s+(?:call|j|ret|leave)/;
    return if $line =~ /^\s+(?:mov|lea|cvt)\w*\s+(.*),\s*$result\s*$/ && $1 !~ $result;
    $site->{size} = 1 unless $line =~ /^\s+p?xor\w*\s+(\S+),\s*\1\s*$/;
}

# In place of a call of such a copy, with `this` in %rdi and the source in %rsi: the same hooks, with records of this
# line, and the copy itself, which like the call returns `this`.
sub copy {
    my ($self, $copy) = @_;
    push @{ $self->{out} }, "\tpushq\t%rdi", "\tpushq\t%rsi";
    for my $kind (qw(write read)) {
        my $hook = $copy->{$kind};
        push @{ $self->{out} }, "\tmovq\t(%rsp), %rdi" if $kind eq 'read';
        push @{ $self->{out} }, "\tmovl\t\$$copy->{bytes}, %esi" if $hook =~ /range/;
        my (undef, $register, $site) = $self->hook($hook);
        push @{ $self->{out} }, "\tleaq\t$site(%rip), $register", "\tcall\t$hook\@PLT";
    }
    push @{ $self->{out} }, "\tpopq\t%rsi", "\tpopq\t%rdi", "\tmovl\t\$$copy->{bytes}, %edx",
        "\tcall\tmemcpy\@PLT";
}

# Device code that takes a function's address may call it.
sub edge {
    my ($self, $symbol) = @_;
    push @{ $self->{function}{edges} }, { to => $self->{aliases}{$symbol} // $symbol, location => $self->{location} };
}

# What a call becomes: (name, register, value for it); register and value only where the callee takes a record.
sub hook {
    my ($self, $callee) = @_;
    return ($self->{renamed}{$callee}) if $self->{renamed}{$callee};
    return ($callee) if $self->{fast};
    return ($callee, $ARGUMENT[2], $self->site($1, $2)) if $callee =~ /^__tsan_(?:unaligned_|volatile_|unaligned_volatile_)?(read|write)(\d+)$/;
    return ($callee, $ARGUMENT[3], $self->site($1, 0)) if $callee =~ /^__tsan_(read|write)_range$/;
    return ($callee, $ARGUMENT[2], ".Lsim_function_$self->{function}{index}") if $callee eq '__tsan_func_entry';
    return ("sim_$1_s4", $ARGUMENT[4], $self->site('other', 0)) if $callee =~ /^(?:__tsan_)?(mem(?:cpy|move|set))$/;
    if (my $free = $self->{storing}{$callee}) {
        return ("sim_${callee}_s$free", $ARGUMENT[$free], $self->site('write', 0));
    }
    if ($callee =~ /^sim_(atomic)?\w*_s([1-6])$/) {
        return ($callee, $ARGUMENT[$2], $self->site($1 // 'other', 0));
    }
    return ($callee);
}

sub site {
    my ($self, $op, $size) = @_;
    my $where = $self->{location} // $self->{any_location} // { file => '', line => 0, column => 0 };
    my $label = '.Lsim_site_' . $self->{site_count}++;
    push @{ $self->{function}{sites} }, { %$where, label => $label, op => $OP{$op}, size => $size };
    return $label;
}

# ---- objects ----

# The storage of a shared array or a device variable has ended: the red zone goes behind it.
sub end_of_object {
    my ($self, $line) = @_;
    my $object = $self->{object};
    if ($line =~ $DATA) {
        $object->{has_data} = 1;
        return;
    }
    return unless $object->{has_data};
    $self->{object} = undef;
    return if $object->{section} =~ /^\.t/ && !names($object->{symbol}, $self->{shared});
    push @{ $self->{out} }, "\t.zero\t$REDZONE";
    push @{ $self->{objects} }, $object;
}

# Whether a symbol is one of these names: `tile`, `k.tile` and `tile.0` in a function of C linkage, or mangled, where
# the name stands with its length in front: _ZZ1kPfE4tile, _ZZ1kPfE4tile_0, _ZN2ns4tileE.
sub names {
    my ($symbol, $names) = @_;
    return 0 if $symbol =~ /^_ZGV/; # a guard, not the array
    return 1 if grep { $names->{$_} } split /\./, $symbol;
    for my $name (keys %$names) {
        my $length = length $name;
        return 1 if $symbol =~ /^_Z.*\Q$length$name\E/;
    }
    return 0;
}

# ---- names ----

# Demangles every symbol the tables name, in one run of c++filt.
sub demangle {
    my ($self) = @_;
    my @symbols = map { $_->{symbol} } @{ $self->{order} }, @{ $self->{objects} };
    return unless @symbols;
    my $file = "$self->{scratch}.symbols";
    open my $out, '>', $file or die "simcc: cannot write $file: $!\n";
    print $out "$_\n" for @symbols;
    close $out;
    open my $in, '-|', 'c++filt', "\@$file" or die "simcc: cannot run c++filt: $!\n";
    chomp(my @names = <$in>);
    close $in;
    unlink $file;
    @{ $self->{demangled} }{@symbols} = @names;
    $_->{signature} = $self->{demangled}{ $_->{symbol} } for @{ $self->{order} };
}

# "void ns::k<64, true>(float*)" -> ("k", "64, true").
sub split_signature {
    my ($signature) = @_;
    my $text = $signature =~ s/(?:\s*\[[^\]]*\])+$//r =~ s/\)\s*(?:const|volatile|&)+\s*$/)/r;
    $text = substr $text, 0, opening($text, '(', ')') if $text =~ /\)$/;
    $text =~ s/\[abi:[^\]]*\]//g;
    my $arguments = '';
    if ($text =~ />$/ && $text !~ /operator\s*(?:->|>|>>|<=>)$/) {
        my $open = opening($text, '<', '>');
        $arguments = substr $text, $open + 1, length($text) - $open - 2;
        $text = substr $text, 0, $open;
    }
    my ($name) = $text =~ /(operator.*|[~\w\$.]+|\{[^}]*\}|\([^()]*\))$/;
    return ($name // $text, $arguments);
}

# Position of the bracket that the last character of $text closes.
sub opening {
    my ($text, $open, $close) = @_;
    my $depth = 0;
    for (my $i = length($text) - 1; $i >= 0; $i--) {
        my $c = substr $text, $i, 1;
        $depth++ if $c eq $close && substr($text, $i - 1, 2) ne '->';
        $depth-- if $c eq $open;
        return $i if $depth == 0;
    }
    return 0;
}

# The array's name and the signature of the function that declares it ("" at file scope).
sub shared_names {
    my ($self, $object) = @_;
    my $symbol = $object->{symbol};
    my $name = ($self->{demangled}{$symbol} =~ s/\.\d+$//r) =~ s/^.*(?:::|\.)//r;
    if ($symbol =~ /^_ZZ/) {
        my @owner = grep { index($symbol, '_ZZ' . substr($_->{symbol}, 2) . 'E') == 0 }
            grep { $_->{symbol} =~ /^_Z/ } @{ $self->{order} };
        return ($name, $owner[0]{signature}) if @owner;
        return ($name, $self->{demangled}{$symbol} =~ s/::\w+$//r);
    }
    my @user = grep { $_->{uses}{$symbol} } @{ $self->{order} };
    return ($name, $symbol =~ /\./ && @user ? $user[0]{signature} : '');
}

# ---- what device code may not call ----

# Walks the call graph from the kernels. A call inside a function of our headers, or of a system header, is reported
# at the line of the user's that leads there.
sub refuse_denied_calls {
    my ($self) = @_;
    my @queue = map { [ $_, undef ] } grep { $_->{is_kernel} } @{ $self->{order} };
    my %seen = map { $_->[0]{symbol} => 1 } @queue;
    my %reported;
    while (my $next = shift @queue) {
        my ($function, $from) = @$next;
        for my $edge (@{ $function->{edges} }) {
            my $where = $self->is_user_location($edge->{location}) ? $edge->{location} : $from;
            my $callee = $self->{functions}{ $edge->{to} };
            if ($callee) {
                push @queue, [ $callee, $where ] unless $seen{ $edge->{to} }++;
            } elsif (defined(my $name = denied($edge->{to}))) {
                my $place = $where ? "$where->{file}:$where->{line}: " : '';
                my $message = "${place}error: '$name' in device code is not supported by the simulated device";
                push @{ $self->{errors} }, $message unless $reported{$message}++;
            }
        }
    }
}

sub is_user_location {
    my ($self, $location) = @_;
    return $location && ($self->{files}{ $location->{file} } || $self->{files}{"./$location->{file}"});
}

sub denied {
    my ($symbol) = @_;
    for my $rule (@DENIED) {
        next unless $symbol =~ $rule->[0];
        return $rule->[1] // $1;
    }
    return undef;
}

# ---- tables ----

sub emit {
    my ($self, @lines) = @_;
    push @{ $self->{out} }, @lines;
}

# Opens a table's section. `group` puts the records into a COMDAT group.
sub open_table {
    my ($self, $name, $group) = @_;
    $self->emit(defined $group ? qq{\t.section\t$name,"awG",\@progbits,$group,comdat}
                               : qq{\t.section\t$name,"aw",\@progbits}, "\t.p2align\t3");
}

sub string_label {
    my ($self, $text) = @_;
    $self->{strings}{$text} //= do {
        push @{ $self->{string_order} }, $text;
        '.Lsim_string_' . $#{ $self->{string_order} };
    };
    return $self->{strings}{$text};
}

sub emit_tables {
    my ($self) = @_;
    $self->emit_function($_) for @{ $self->{order} };
    # by name, so that reports list variables alike with every compiler
    for my $object (sort { $self->{demangled}{ $a->{symbol} } cmp $self->{demangled}{ $b->{symbol} } }
        @{ $self->{objects} }) {
        if ($object->{section} =~ /^\.t/) { $self->emit_shared($object) } else { $self->emit_variable($object) }
    }
    $self->emit(qq{\t.section\t.rodata.sim_strings,"a",\@progbits});
    for my $text (@{ $self->{string_order} }) {
        my $quoted = $text =~ s/([\\"])/\\$1/gr;
        $self->emit("$self->{strings}{$text}:", qq{\t.string\t"$quoted"});
    }
}

# The shared arrays that a function and what it calls in this object use.
sub shared_of {
    my ($self, $function) = @_;
    my %is_array = map { $_->{symbol} => 1 } grep { $_->{section} =~ /^\.t/ } @{ $self->{objects} };
    my (%seen, %found);
    my @queue = ($function);
    while (my $next = shift @queue) {
        next if $seen{ $next->{symbol} }++;
        $found{$_} = 1 for grep { $is_array{$_} } keys %{ $next->{uses} };
        push @queue, grep { defined } map { $self->{functions}{ $_->{to} } } @{ $next->{edges} };
    }
    return sort keys %found;
}

sub emit_function {
    my ($self, $function) = @_;
    my ($symbol, $group, $index) = @$function{qw(symbol group index)};
    my ($name, $arguments) = split_signature($function->{signature});
    my @shared = $self->shared_of($function);
    if (@shared) {
        $self->emit(defined $group ? qq{\t.section\t.data.rel.sim,"awG",\@progbits,$group,comdat}
                                   : qq{\t.section\t.data.rel.sim,"aw",\@progbits}, "\t.p2align\t3",
            ".Lsim_shared_of_$index:", map { "\t.quad\tsim_shared.$_" } @shared);
    }
    $self->open_table('sim_functions', $group);
    $self->emit(".Lsim_function_$index:",
        (map { "\t.quad\t$_" } $self->string_label($name), $self->string_label($function->{signature}),
            $self->string_label($arguments), $self->string_label($function->{file} // ''),
            $symbol, ".Lsim_end_$index-$symbol", @shared ? ".Lsim_shared_of_$index" : 0),
        "\t.long\t" . @shared, "\t.long\t" . ($function->{is_kernel} ? 1 : 0));
    return unless @{ $function->{sites} };
    $self->open_table('sim_sites', $group);
    $self->emit_site($_, $index) for @{ $function->{sites} };
}

sub emit_site {
    my ($self, $site, $function_index) = @_;
    my $column = $site->{column} > 65535 ? 65535 : $site->{column};
    $self->emit("$site->{label}:",
        "\t.quad\t" . $self->string_label($site->{file}),
        "\t.quad\t.Lsim_function_$function_index",
        "\t.long\t$site->{line}", "\t.short\t$column", "\t.byte\t$site->{op}", "\t.byte\t$site->{size}",
        "\t.quad\t0");
}

# A weak record in a group of its own: every object that has the array of a template describes it, one stays.
# Arrays that are local to the object need a name that no other object has, and keep a local record.
sub emit_shared {
    my ($self, $object) = @_;
    my $symbol = $object->{symbol};
    my ($name, $function) = $self->shared_names($object);
    my $record = "sim_shared.$symbol";
    my $weak = defined $object->{group};
    $self->open_table('sim_shared', $weak ? $record : undef);
    $self->emit("\t.weak\t$record") if $weak;
    $self->emit("$record:",
        "\t.quad\t" . $self->string_label($name), "\t.quad\t" . $self->string_label($function),
        "\t.quad\t$symbol\@tpoff", "\t.quad\t$self->{sizes}{$symbol}", "\t.quad\t$object->{align}");
}

sub emit_variable {
    my ($self, $object) = @_;
    my $symbol = $object->{symbol};
    my $name = ($self->{demangled}{$symbol} =~ s/\.\d+$//r) =~ s/^.*::([^:]+)$/$1/r;
    $self->open_table('sim_variables');
    $self->emit("\t.quad\t" . $self->string_label($name), "\t.quad\t$symbol", "\t.quad\t$self->{sizes}{$symbol}",
        "\t.quad\t" . ($object->{section} eq 'sim_constant' ? 1 : 0));
}

1;
