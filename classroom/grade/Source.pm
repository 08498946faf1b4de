# Is this .cu or .cuh something we are willing to run? Looks at the text before it is compiled, and at the object after it.
#
# The rules are those of the chapters: a kernel file is CUDA C that includes its chapter's headers and the language's,
# defines functions of them and launches kernels. What could take a program away from the judge is refused with one
# line; how far this goes, and where it ends, is in classroom/README.md.
package Source;
use strict;
use warnings;

use constant MOST_OBJECT => 64 << 20;

my @HEADERS = qw(math.h cmath float.h cfloat limits.h climits stdint.h cstdint stddef.h cstddef stdio.h cstdio assert.h
    cuda_runtime.h cuda_runtime_api.h math_constants.h vector_types.h device_launch_parameters.h);

# Names that have no business in a kernel file. Macros cannot hide one: ## is refused.
my %REFUSED = (
    (map { $_ => 'assembly' } qw(asm __asm __asm__)),
    (map { $_ => 'attributes of the compiler' } qw(__attribute__ __attribute __declspec _Pragma __pragma)),
    (map { $_ => 'module syntax' } qw(import)),
    (map { $_ => 'questions about files' } qw(__has_include __has_include_next __has_embed)), # <a/*b> is no comment in them
);
my @REFUSED_PATTERNS = (
    [ qr/\b__(?:sync|atomic)_\w+/  => 'compiler atomics (CUDA has atomicAdd and others)' ],
    [ qr/\b__builtin_\w+/          => 'compiler builtins' ],
    [ qr/\b(?:__tsan|guard_|sim_(?!cuda)|SIM_)\w*/ => 'the inside of the simulated device or of the judge' ],
    [ qr/\b__real_\w+|\b__wrap_\w+/ => "the linker's names" ],
    [ qr/\bgoto\s*\*/              => 'computed goto' ],
    [ qr/\[\s*\[/                  => 'attributes in [[ ]]' ],
    # What they could say, should macros or a line's end hide the brackets.
    [ qr/\b_*(?i:gnu|clang)_*\b|\b\w*no_(?:sanitize|instrument)\w*|\bdisable_sanitizer\w*/ => 'attributes of the compiler' ],
    [ qr/\b(?:u8|[uUL])?R"/         => 'raw strings' ],
);

# Lines as the compiler sees them: spliced first, then without comments, strings and characters emptied. Line numbers stay.
sub code_lines {
    my ($text) = @_;
    $text =~ s/\\[ \t]*\n/\x01/g;
    my @more = map { tr/\x01// } split /\n/, $text, -1;
    $text =~ tr/\x01//d;
    my $out = '';
    pos($text) = 0;
    while (pos($text) < length $text) {
        if ($text =~ m{\G//[^\n]*}gc) {
            next;
        } elsif ($text =~ m{\G/\*.*?(?:\*/|\z)}gcs) {
            $out .= ' ' . ($& =~ s/[^\n]//gr);
        } elsif ($text =~ m{\G\.?[0-9](?:[eEpP][+-]|'\w|[\w.])*}gc) {
            $out .= $&; # 1'000 has no character in it
        } elsif ($text =~ m{\G[A-Za-z_]\w*}gc) {
            $out .= $&;
        } elsif ($text =~ m{\G(["'])(?:(?!\1)[^\\\n]|\\[^\n])*\1?}gc) {
            my ($string, $quote) = ($&, $1);
            # the name of an included file is wanted
            $out .= $out =~ /#\s*include\s*$/ ? $string : "$quote$quote";
        } else {
            $text =~ m{\G.}gcs;
            $out .= $&;
        }
    }
    return map { ($_, ('') x (shift(@more) // 0)) } split /\n/, $out, -1;
}

# The reasons why this text is not compiled, "line 12: ..."; none if it may be. @own: the chapter's headers.
sub refusals {
    my ($text, @own) = @_;
    # A form feed behind a backslash continues a line for gcc, and not for us.
    return ("it has control characters, expected text") if $text =~ /[\x00-\x08\x0b-\x1f\x7f]/;
    return ("it has characters that stand for others (trigraphs)") if $text =~ m{\?\?[=/'()!<>-]};
    my (@why, $number);
    for my $line (code_lines($text)) {
        $number++;
        if ($line =~ /^\s*(?:#|%:)\s*(\w*)(.*)/) {
            push @why, map { "line $number: $_" } directive($1, $2, @own);
            next unless $1 =~ /^(?:define|if|elif)$/;
        }
        push @why, "line $number: ## is not allowed" if $line =~ /##|%:%:/;
        push @why, "line $number: '$1' is not allowed" if $line =~ /(<:|:>|<%|%>)/;
        for my $word ($line =~ /\b([A-Za-z_]\w*)\b/g) {
            push @why, "line $number: $word: $REFUSED{$word} are not allowed" if $REFUSED{$word};
        }
        for (@REFUSED_PATTERNS) {
            push @why, "line $number: $&: $_->[1]: not allowed" if $line =~ $_->[0];
        }
    }
    return @why;
}

sub directive {
    my ($name, $rest, @own) = @_;
    if ($name eq 'include') {
        return () if $rest =~ /^\s*"([\w.]+)"\s*$/ && grep { $_ eq $1 } @own;
        return () if $rest =~ /^\s*[<"]([\w.\/]+)[>"]\s*$/ && grep { $_ eq $1 } @HEADERS;
        my $what = $rest =~ s/^\s+|\s+$//gr;
        return "#include $what is not allowed; " . join(', ', map { "\"$_\"" } @own) . ' and headers of C and CUDA are';
    }
    return () if $name =~ /^(?:define|undef|if|ifdef|ifndef|elif|else|endif|error|warning|)$/;
    return () if $name eq 'pragma' && $rest =~ /^\s*(?:unroll|nounroll|once)\b/;
    return "#$name$rest is not allowed";
}

# ---- the object ----

my $MATH = join '|', qw(fabs fmax fmin fma exp exp2 exp10 expm1 log log2 log10 log1p sqrt rsqrt cbrt pow tanh sinh cosh sin
    cos tan atan atan2 asin acos erf erfc floor ceil round trunc rint nearbyint copysign fmod fdim hypot ldexp scalbn
    lround llround lrint llrint isnan isinf isfinite abs labs llabs asinh acosh atanh lgamma tgamma remainder
    logb ilogb nextafter);
my $DEVICE = join '|', qw(block_dim block_index thread_index grid_dim warp_size dynamic_shared launch_kernel
    syncthreads(?:_and|_or|_count)? syncwarp shfl(?:_up|_down|_xor)?_[a-z0-9]+ (?:ballot|any|all)
    activemask match_\w+ reduce_\w+ atomic_\w+ exp\w* threadfence\w* note_fence nanosleep clock64 trap assert_fail
    mem(?:cpy|move|set) printf puts putchar vprintf shared_address static_shared_bytes return
    lane enter_kernel empty_local leaf_(?:frame|return|overrun) place_(?:enter|leave) warp_active_mask_at);
my $CUDA = join '|', qw(cudaGetLastError cudaPeekAtLastError cudaFuncSetAttribute cudaFuncSetCacheConfig cudaMemset
    cudaMemsetAsync cudaDeviceGetAttribute cudaGetDevice cudaGetDeviceProperties cudaGetErrorString cudaGetErrorName);
my $ALLOWED = qr/^(?:_GLOBAL_OFFSET_TABLE_|_Unwind_Resume|__g(?:xx|cc)_personality_v0|__cxa_begin_catch|_ZSt9terminatev|__cxa_guard_(?:acquire|release)
    |__stack_chk_fail|mem(?:cpy|move|set|pcpy)|printf|puts|putchar|__isnanf?|__isinff?|__finitef?
    |__tsan_(?:func_entry|func_exit|init|(?:volatile_|unaligned_)?(?:read|write)\d+|(?:read|write)_range)
    |(?:$MATH)f?|sim_(?:$DEVICE)|$CUDA)$/x;

my %WHY = (
    (map { $_ => 'a submission ends by returning' } qw(exit _exit _Exit quick_exit abort atexit)),
    (map { $_ => 'a submission starts no process or thread' }
        qw(fork vfork clone execve execv execl execlp execvp system popen posix_spawn pthread_create)),
    (map { $_ => 'the caller owns all memory' } qw(malloc calloc realloc free cudaMalloc cudaFree cudaMallocManaged
        cudaMallocAsync cudaFreeAsync _Znwm _Znam _ZdlPv _ZdaPv _ZdlPvm _ZdaPvm mmap)),
    (map { $_ => 'a launcher copies nothing' } qw(cudaMemcpy cudaMemcpyAsync cudaMemcpyToSymbol cudaMemcpyFromSymbol)),
    (map { $_ => 'it stores through a pointer, where nothing is checked' }
        map { ("sim_$_", "sim_${_}f", $_, "${_}f") } qw(modf frexp remquo sincos)),
    (map { $_ => 'files are not its business' } qw(open fopen write read fwrite fputs fprintf fclose unlink rename getenv
        stderr stdout)),
    (map { $_ => 'the reference is not there' } qw(attention_expect attention_gradients_expect softmax_expect
        matmul_expect softmax_reference)),
);

# \@undefined, \@defined ([letter, name]), names of \@locals, \@sections ([name, bytes]), and the exports of the
# teacher's own.
sub object_refusals {
    my ($undefined, $defined, $locals, $sections, $exports) = @_;
    my %export = map { $_ => 1 } @$exports;
    my @why;
    for my $name (@$undefined) {
        next if $name =~ $ALLOWED;
        push @why, "it calls $name, which is not allowed" . ($WHY{$name} ? ": $WHY{$name}" : '');
    }
    for (@$defined) {
        my ($letter, $name) = @$_;
        if ($name =~ /^_Z(?:nw|na|dl|da)/) {
            push @why, "it replaces new or delete ($name)";
        } elsif ($letter eq 'i') {
            push @why, "$name is chosen when the program is loaded (ifunc), which is not allowed";
        } elsif ($name =~ /^_Z/ || $export{$name} || $name =~ /^DW\.ref\.|^__clang_call_terminate$/) {
            next;
        } else {
            push @why, "it defines $name for the whole program: make it static";
        }
    }
    my %have = map { $_->[1] => 1 } @$defined;
    push @why, map { "it does not define $_" } grep { !$have{$_} } @$exports;
    # The hooks themselves bring one such section; Chapter::link_runner takes it away with all others.
    push @why, map { "code that runs before main or after it is not allowed ($_): an object with a constructor, or a "
            . 'variable whose value is computed at the start' }
        (grep { /^_GLOBAL__sub_|^__cxx_global_(?:var_init|array_dtor)/ } @$locals),
        (grep { /^\.(?:preinit_array|fini_array|ctors|dtors|init$|fini$)/ } map { $_->[0] } @$sections);
    my $bytes = 0;
    $bytes += $_->[1] for @$sections;
    push @why, "its variables and its code take $bytes bytes, expected at most " . MOST_OBJECT if $bytes > MOST_OBJECT;
    return @why;
}

1;
