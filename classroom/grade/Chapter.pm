# One chapter of one submission: checked, compiled, linked with the teacher's half, run case by case, judged.
package Chapter;
use strict;
use warnings;
use Fcntl qw(LOCK_EX);
use File::Path qw(make_path remove_tree);
use JSON::PP ();
use Sandbox;
use Source;

my $JSON = JSON::PP->new->utf8;

# new(tree => where chapters and common/ are, chapter, cc, cxx, scratch)
sub new {
    my ($class, %self) = @_;
    my $self = bless \%self, $class;
    # In a hand-out the files that were handed out, not those that were worked on.
    $self->{original} = "$self->{tree}/classroom/grade/original/$self->{chapter}";
    $self->{original} = "$self->{tree}/$self->{chapter}" unless -d $self->{original};
    my %text = map { s{.*/}{}r => slurp($_) } glob "\Q$self->{original}\E/*.{cu,cuh}";
    $self->{sources} = \%text;
    my %own = map { $_ => 1 } map { included($_) } values %text;
    $self->{headers} = [ sort keys %own ];
    $self->{kit} = "$self->{tree}/build/" . join('_', map { s{.*/}{}r } split ' ', $self->{cc}) . "/sim/classroom/$self->{chapter}";
    return $self;
}

# The teacher's half. Dies (environment) when it does not build: that is never the submission's fault.
sub build_kit {
    my ($self) = @_;
    my @command = ('make', '--no-print-directory', '-s', '-C', "$self->{tree}/$self->{chapter}", '-f',
        "$self->{tree}/classroom/grade/judge.mk", 'kit', 'DEVICE=sim', "CC=$self->{cc}", "CXX=$self->{cxx}",
        "ORIGINAL=$self->{original}");
    my $log = "$self->{scratch}/kit.log";
    make_path("$self->{tree}/build");
    open my $lock, '>', "$self->{tree}/build/.classroom-lock" or die "$self->{tree}/build: cannot be written: $!\n";
    flock $lock, LOCK_EX; # two graders may run at once
    local %ENV = %ENV;
    delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES DEVICE)};
    my $status = system { 'sh' } 'sh', '-c', 'log=$1; shift; exec "$@" >"$log" 2>&1', 'sh', $log, @command;
    return if $status == 0;
    die "$self->{chapter}: the judge does not build:\n" . slurp($log);
}

sub slurp {
    my ($path, $most) = @_;
    open my $in, '<:raw', $path or return '';
    my $text = '';
    read $in, $text, $most // 1 << 20;
    return $text;
}

# The names of headers that a text includes with quotes.
sub included { return $_[0] =~ /^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"/mg }

# The files that hold regions: what of a submission is looked at.
sub counted {
    my ($self) = @_;
    return grep { $self->{sources}{$_} =~ m{^[ \t]*// task [^\s:]+:}m } sort keys %{ $self->{sources} };
}

# The .cu to compile anew: those that count, and those that include what counts, however indirectly.
sub compiled {
    my ($self) = @_;
    my %affected = map { $_ => 1 } $self->counted;
    my $before = 0;
    while ($before != keys %affected) {
        $before = keys %affected;
        for my $name (keys %{ $self->{sources} }) {
            $affected{$name} = 1 if grep { $affected{$_} } included($self->{sources}{$name});
        }
    }
    return grep { /\.cu$/ } sort keys %affected;
}

# Checks texts {file => text} of the files that count and builds them with the teacher's own, or $compiled in their place:
# the same with #line directives. Returns { runner } or { category, message, hint }.
sub build {
    my ($self, $texts, $label, $compiled) = @_;
    my $directory = "$self->{scratch}/$label";
    make_path($directory);
    my @why = map { my $file = $_; map { "$file: $_" } Source::refusals($texts->{$file}, @{ $self->{headers} }) } sort keys %$texts;
    return refused(@why) if @why;
    my %written = (%{ $self->{sources} }, %{ $compiled // $texts });
    for my $name (keys %written) {
        open my $out, '>:raw', "$directory/$name" or die "$directory/$name: cannot be written: $!\n";
        print $out $written{$name};
        close $out or die "$directory/$name: cannot be written: $!\n";
    }
    my %anew = map { $_ => 1 } $self->compiled;
    my @objects;
    for my $name (grep { /\.cu$/ } sort keys %written) {
        my $object = $name =~ s/\.cu$/.o/r;
        push @objects, $anew{$name} ? "$directory/$object" : "$self->{kit}/original/$object";
        my $problem = $anew{$name} ? $self->compile($directory, $name, $objects[-1]) : undef;
        return $problem if $problem;
    }
    my $problem = $self->link_log($directory, 'ld', '-r', @objects, '-o', "$directory/student.o");
    return { category => 'does not compile', message => "it does not link: $problem" } if $problem;

    @why = Source::object_refusals($self->symbols("$directory/student.o"));
    return refused(@why) if @why;
    $problem = $self->link_runner($directory);
    return { category => 'does not compile', message => "it does not link: $problem" } if $problem;
    return { runner => "$directory/runner", directory => $directory };
}

# Undef, or why not as build returns it.
sub compile {
    my ($self, $directory, $name, $object) = @_;
    my %environment = (CC => $self->{cc}, CXX => $self->{cxx}, TMPDIR => $directory);
    my $result = Sandbox::run(command => [ "$self->{tree}/simcc/simcc", qw(-c -g -w), "-I$self->{tree}/$self->{chapter}",
            "$directory/$name", '-o', $object ], everything => 1, read => [ $self->{tree} ], write => [$directory],
            cpu_seconds => Sandbox::limit('compile_seconds'), environment => \%environment,
            output => "$directory/compile.log", memory_mb => 4 * Sandbox::limit('memory_mb'));
    return unless $result->{status} || $result->{signal};
    return does_not_compile($result, slurp("$directory/compile.log", 20_000), $directory);
}

sub refused {
    my (@why) = @_;
    my $more = @why > 3 ? sprintf(' (and %d more)', @why - 3) : '';
    return { category => 'refused', message => join('; ', @why[ 0 .. ($#why < 2 ? $#why : 2) ]) . $more,
        hint => "A kernel file includes its chapter's headers, defines functions of them and launches kernels; "
            . 'it needs nothing else.' };
}

sub does_not_compile {
    my ($result, $log, $directory) = @_;
    return { category => 'does not compile', message => 'the compiler ran past its limit of time or memory',
        hint => 'Look for templates that instantiate themselves.' } if $result->{timeout} || $log =~ /out of memory|cannot allocate/i;
    my ($first) = $log =~ /^(.*?\b(?:error|fatal error):.*)$/m;
    $first //= (split /\n/, $log)[0] // "the compiler ended with status $result->{status}";
    $first =~ s/\Q$directory\E\///g;
    return { category => 'does not compile', message => substr($first, 0, 300), hint => 'make build shows all messages.' };
}

sub lines_of {
    my (@command) = @_;
    open my $pipe, '-|', @command or die "cannot run $command[0] (package binutils)\n";
    my @lines = <$pipe>;
    close $pipe;
    die "$command[0] failed\n" if $? != 0;
    chomp @lines;
    return @lines;
}

sub symbols {
    my ($self, $object) = @_;
    my @undefined = map { (split)[-1] } lines_of('nm', '--undefined-only', $object);
    my @defined = map { [ (split)[-2], (split)[-1] ] } lines_of('nm', '--defined-only', '--extern-only', $object);
    my @locals = map { (split)[-1] } lines_of('nm', '--defined-only', $object);
    my @sections = map { /^\s*\d+\s+(\S+)\s+([0-9a-f]+)/ ? [ $1, hex $2 ] : () } lines_of('objdump', '-h', '-w', $object);
    my @exports = split ' ', slurp("$self->{kit}/exports");
    return (\@undefined, \@defined, \@locals, \@sections, \@exports);
}

# Trusted tools on an object that was looked at: no sandbox is needed.
sub link_runner {
    my ($self, $directory) = @_;
    my $kit = $self->{kit};
    local @ENV{qw(CC CXX)} = @$self{qw(cc cxx)};
    system('objcopy', '--wildcard', (map { ('-R', $_, '-R', ".rela$_") } qw(.init_array*)), "--redefine-syms=$self->{tree}/classroom/grade/names", "$directory/student.o", "$directory/guarded.o") == 0
        or die "objcopy failed (package binutils)\n";
    return $self->link_log($directory, "$self->{tree}/simcc/simcc", "$kit/guard_begin.o", "$directory/guarded.o",
        "$kit/guard_end.o", "$kit/rest.o", '-lm', '-o', "$directory/runner");
}

# Undef, or the first line of what the linker says.
sub link_log {
    my ($self, $directory, @command) = @_;
    my $status = system('sh', '-c', 'log=$1; shift; exec "$@" >"$log" 2>&1', 'sh', "$directory/link.log", @command);
    return if $status == 0;
    return (split /\n/, slurp("$directory/link.log", 2000) || 'no message')[0] =~ s/\Q$directory\E\///gr;
}

# ---- one case ----

my %CUDA_CATEGORY = (cudaErrorIllegalAddress => 'wrong access', cudaErrorMisalignedAddress => 'wrong access',
    cudaErrorLaunchTimeout => 'does not end', cudaErrorInvalidConfiguration => 'launch refused',
    cudaErrorInvalidValue => 'launch refused');

# Seconds of CPU time that a run may take; the course's own take less than one. Somebody whose every task spins shall not
# hold up the others: after three runs that did not end, a fifth is enough to see that the next ones do not either.
my $endless = 0;
sub seconds_of_a_run {
    my $most = Sandbox::limit('cpu_seconds');
    return $endless < 3 ? $most : int(($most + 4) / 5);
}

sub new_submission { $endless = 0 }

# Runs a kernel on a case. Returns { ok, category, message, hazards => [..], bytes... }.
sub run_case {
    my ($self, $build, $kernel, $case) = @_;
    my $number = $self->{runs}++;
    my $nonce = sprintf '%08x%08x', rand 2**32, rand 2**32;
    my ($in, $out) = ("$build->{directory}/in$number", "$build->{directory}/out-$nonce");
    make_path($in, $out);
    my @options = ('--kernel', $kernel, split ' ', $case->{options});
    my @problem = grep { $_ ne '--masked' } @options;
    my $written = $self->judge('write', $in, @options);
    die "$self->{chapter}: judge write: $written->{error}\n" if $written->{error};

    my $seconds = seconds_of_a_run();
    my $result = Sandbox::run(cpu_seconds => $seconds, command => [ $build->{runner}, '--load', $in, '--save', $out, @problem ],
        read => [ $build->{runner}, $in ], write => [$out], output => "$out/output.txt",
        environment => { SIM_CHECK => 'memcheck,racecheck,initcheck,synccheck', SIM_ORDER => $case->{order},
            SIM_REPORT => "$out/$nonce.jsonl", SIM_THREADS => 1, SIM_TIMEOUT => $seconds * Sandbox::limit('clock_factor') });
    my %report = read_report("$out/$nonce.jsonl", slurp("$out/run.txt", 10_000));
    my %case = (hazards => $report{hazards}, %{ $self->outcome($result, $seconds, $out, \%report) });
    $endless++ if ($case{category} // '') eq 'does not end';
    if ($case{ok}) {
        my $verdict = $self->judge('verdict', $out, @options);
        die "$self->{chapter}: judge verdict: $verdict->{error}\n" if $verdict->{error};
        judge_values(\%case, $verdict);
        judge_bytes(\%case, $verdict, \%report) if $case{ok};
    }
    remove_tree($in, $out);
    return \%case;
}

sub judge {
    my ($self, @arguments) = @_;
    open my $pipe, '-|', 'sh', '-c', 'exec "$@" 2>&1', 'sh', "$self->{kit}/judge", @arguments or die "cannot run the judge\n";
    local $/;
    my $text = <$pipe>;
    close $pipe;
    return { error => $text =~ s/\n.*//sr } if $? != 0;
    return $text =~ /^\{/ ? $JSON->decode($text) : {};
}

# Launches after the prepared ones, and all hazards. A report that is cut off or no JSON is read up to there.
sub read_report {
    my ($path, $diary) = @_;
    my ($prepared) = $diary =~ /^prepared (\d+)$/m;
    my %report = (launches => [], hazards => [], diary => $diary);
    open my $in, '<:raw', $path or return %report;
    my $launches = 0;
    while (my $line = <$in>) {
        last if @{ $report{hazards} } >= 50 || $launches >= 10_000;
        my $record = eval { $JSON->decode($line) } // last;
        if ($record->{type} eq 'hazard') {
            push @{ $report{hazards} }, $record if ($record->{severity} // '') eq 'error';
        } else {
            push @{ $report{launches} }, $record if $launches++ >= ($prepared // 0);
        }
    }
    return %report;
}

sub outcome {
    my ($self, $result, $seconds, $out, $report) = @_;
    my $violation = slurp("$out/violation.txt", 500) =~ s/\n.*//sr;
    return failure('refused', "$violation while it launches",
        'A launcher computes a grid and launches; it touches no memory but its own variables.') if $violation ne '';
    my ($spinning) = grep { ($_->{kind} // '') eq 'endless_loop' } @{ $report->{hazards} };
    return failure('does not end', $result->{timeout} && $result->{timeout} eq 'clock' ? 'it was still running when the time was up'
            : "it ran past its $seconds seconds of CPU time",
        'Look for a loop whose variable does not change, or a thread that waits for one that has left.')
        if $result->{timeout} || $spinning;
    my ($cannot) = $report->{diary} =~ /^cannot (.*)$/m;
    return failure('launch refused', $cannot, 'The shape is one that the kernel has to take.') if $cannot;
    my ($cuda) = $report->{diary} =~ /^launched (\w+)$/m;
    if ($cuda && $cuda ne 'cudaSuccess') {
        my $hazard = $report->{hazards}[0];
        my $category = $CUDA_CATEGORY{$cuda} // 'launch failed';
        return failure($category, $cuda . ($hazard ? ': ' . hazard_text($hazard) : ''),
            $category eq 'launch refused' ? 'Grid, block and shared memory have to fit this shape.'
            : 'make sanitize shows the line of the access.');
    }
    return { ok => 1 } if $report->{diary} =~ /^saved$/m && $result->{status} <= 1 && !$result->{signal};
    return failure('out of memory', 'it asked for more memory than there is', 'The caller owns all memory.')
        if slurp("$out/output.txt", 10_000) =~ /out of (?:host )?memory/;
    my $how = $result->{signal} ? "signal $result->{signal}" : "status $result->{status}";
    return failure('crash', "the program ended ($how) before its results were written",
        'A wrong pointer or index in the launcher, or a call that ends the program.');
}

sub failure {
    my ($category, $message, $hint) = @_;
    return { ok => 0, category => $category, message => $message, category_hint => $hint };
}

sub hazard_text {
    my ($hazard) = @_;
    my $place = ($hazard->{file} // '') =~ s{.*/}{}r;
    my $text = "$hazard->{tool}: $hazard->{kind}";
    $text .= " at $place:$hazard->{line}" if $place ne '' && $hazard->{line};
    $text .= " of $hazard->{space} memory" if $hazard->{space};
    $text .= " ($hazard->{array})" if $hazard->{array};
    $text .= ", other side line $hazard->{other}{line}" if ref $hazard->{other} && $hazard->{other}{line};
    return $text =~ s/[^\x20-\x7e]/?/gr;
}

sub judge_values {
    my ($case, $verdict) = @_;
    return if $verdict->{passed};
    my ($output) = grep { !$_->{passed} } @{ $verdict->{outputs} };
    $case->{ok} = 0;
    if ($output->{missing}) {
        @$case{qw(category message)} = ('nothing written', "$output->{tensor} $output->{missing}");
        return;
    }
    my $wrong = $output->{first_wrong};
    my $finite = $output->{non_finite} == 0;
    $case->{category} = $finite ? 'wrong result' : 'NaN or infinity';
    $case->{category_hint} = 'A sum, a quotient or a difference of infinities; or an element that nobody wrote.' unless $finite;
    $case->{message} = sprintf '%s[%s]: expected %s, got %s', $output->{tensor}, join(',', @{ $wrong->{at} }),
        $wrong->{expected}, $wrong->{actual};
    $case->{message} .= sprintf ' (%d of %d elements are not numbers)', @$output{qw(non_finite compared)} unless $finite;
}

# Bytes of the matrices, of the statistics and of atomics, each against its closed form. Fewer is fine, down to what has
# to move.
sub judge_bytes {
    my ($case, $verdict, $report) = @_;
    my %statistic = map { $_ => 1 } @{ $verdict->{statistics} };
    my %sum = (requested => { read_bytes => 0, write_bytes => 0 }, footprint => { read_bytes => 0, write_bytes => 0 });
    my ($atomic, $statistics) = (0, 0);
    for my $tensor (map { @{ $_->{tensors} // [] } } @{ $report->{launches} }) {
        if ($statistic{ $tensor->{name} }) {
            $statistics += $tensor->{requested}{$_} // 0 for qw(read_bytes write_bytes atomic_bytes);
            next;
        }
        $atomic += $tensor->{requested}{atomic_bytes} // 0;
        for my $what (keys %sum) {
            $sum{$what}{$_} += $tensor->{$what}{$_} for qw(read_bytes write_bytes);
        }
    }
    my @over;
    my @apart = ({ counts => 'requested', formula => 'atomics', yours => $atomic, budget => $verdict->{atomic_bytes} },
        { counts => 'requested', formula => join(', ', @{ $verdict->{statistics} }), yours => $statistics,
            budget => $verdict->{statistic_bytes} });
    push @over, grep { $_->{yours} > $_->{budget} } @apart;
    for my $model (@{ $verdict->{models} }) {
        my $yours = $sum{ $model->{counts} }{read_bytes} + $sum{ $model->{counts} }{write_bytes};
        my $budget = $model->{read_bytes} + $model->{write_bytes};
        my %line = (counts => $model->{counts}, yours => $yours, budget => $budget, formula => $model->{formula},
            ideal => $verdict->{ideal_bytes});
        $case->{bytes} //= \%line;
        push @over, \%line if $yours > $budget;
        push @over, { %line, impossible => 1 }
            if $model->{counts} eq 'requested' && $yours + $atomic < $verdict->{ideal_bytes};
    }
    $case->{over} = \@over;
}

1;
