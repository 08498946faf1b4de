#!/usr/bin/perl
# Grades a submission, or looks at one without grading it. What `make grade`, `make check-submission` and the autograder
# call; classroom/README.md has the rules, the points and what this can and cannot keep out.
#
# Nothing of a submission but the files with tasks and predictions.txt is read, and nothing of it runs in this process or in
# the judge: each kernel runs in a process of its own (grade/Sandbox.pm) that knows no right answer (grade/runner.c);
# grade/judge.c, which knows them, reads the files it leaves.
use strict;
use warnings;
use Cwd qw(realpath);
use Digest::SHA qw(sha1_hex sha256_hex);
use Encode qw(decode encode);
use Fcntl qw(LOCK_EX);
use File::Basename qw(dirname basename);
use File::Find ();
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use Getopt::Long qw(GetOptionsFromArray);

my $here;
BEGIN { $here = dirname(realpath($0)); unshift @INC, "$here/grade" }
use Chapter;
use Predictions;
use Results;
use Sandbox;
use Source;
use Submission;
use Tasks;

my %opt;
binmode STDOUT, ':utf8';
binmode STDERR, ':utf8';
$| = 1;

sub complain { print STDERR 'grade: ', Results::readable($_[0] =~ s/\n?\z/\n/r) }
sub usage { complain($_[0]); exit 2 }

sub help {
    return <<'END';
usage: grade.pl [--submission DIR|ZIP | --submissions DIR] [options]

  --submission PATH    a student's tree, or a zip of it; default: this tree
  --submissions DIR    grades every zip and every directory in DIR, one after the other, into --results DIR
  --key KEY            the class (make handout CLASS=KEY); also draws the fresh cases
  --only LIST          chapters or tasks, separated by commas: 04_fa1,05.skip
  --results FILE       results.json as Gradescope reads it, rewritten after every task
  --junit FILE         JUnit XML
  --require PERCENT    exit 1 when fewer points than that were reached
  --check              only looks: what is there, does it compile, would it be accepted
  --answers            prints predictions.txt with the right numbers (needs the teacher's tree)
  --stubs              prints grade/stubs.tsv: this tree's tasks as they are handed out
  --prepare            only builds what does not depend on a submission

Exit status: 0 graded and written; 1 --require was not reached, or --check found something; 2 a mistake in the command
line or a submission that cannot be used; 3 this machine cannot (a compiler, binutils, a disk that is full).
CC chooses the compiler. GRADE_SANDBOX=bwrap|limits, GRADE_CPU_SECONDS=10 and GRADE_MEMORY_MB=1024 are of one run of one
kernel, GRADE_COMPILE_SECONDS=60 of one compilation. GRADE_BUILD=DIR is where trees of classes are made (default:
build/classroom).
END
}

sub slurp {
    my ($path) = @_;
    open my $in, '<:raw', $path or return;
    local $/;
    return scalar <$in>;
}

# ---- the teacher's tree ----

my $device; # libsim.a
my ($course, $tree, $teacher, @tasks, @cases, %stubs, %needs, $questions, $scratch);
my ($cc, $cxx) = ($ENV{CC} || 'gcc', $ENV{CXX} || '');

sub open_tree {
    $course = dirname($here);
    chomp($cxx = lines('sh', "$course/simcc/counterpart.sh", 'c++', $cc)) if $cxx eq '';
    $teacher = -f "$here/handout.py";
    $tree = defined $opt{key} && $opt{key} ne '' && $teacher ? class_tree($opt{key}) : $course;
    @tasks = Tasks::read_tasks("$here/tasks.tsv");
    @cases = Tasks::read_cases("$here/grade/cases.tsv");
    %needs = map { $_->{task} => $_->{criterion} } Tasks::read_tsv("$here/grade/needs.tsv", qw(task criterion why));
    my $stubs = "$tree/classroom/grade/stubs.tsv";
    %stubs = -f $stubs ? map { $_->{task} => $_->{sha1} } Tasks::read_tsv($stubs, qw(task sha1)) : stubs_of_tree();
    my ($template) = grep { -f } "$here/student/predictions.txt", "$course/predictions.txt";
    (undef, $questions) = Predictions::parse($template ? decode('UTF-8', slurp($template)) : '');
    $tasks[$_]{number} = $_ + 1 for 0 .. $#tasks;
    choose_tasks() if defined $opt{only};
}

# The simulated device, once, for the trees of all classes: they have the same. Links then need not look at its sources.
sub build_device {
    return if defined $ENV{SIM_LIB};
    my $base = $ENV{SIM_BUILD} // "$course/simcc/build";
    make_path($base);
    local %ENV = %ENV;
    delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES)};
    my $directory = "$base/" . join '_', map { basename($_) } split ' ', $cxx; # as toolchain.mk calls it
    make_path($directory);
    open my $lock, '>', "$directory/.lock" or die "$directory: cannot be written: $!\n";
    flock $lock, LOCK_EX;
    my $log = lines('sh', '-c', 'make -s -C "$1" lib CC="$2" CXX="$3" 2>&1 || echo "the simulated device does not build"', 'sh',
        "$course/simcc", $cc, $cxx);
    die $log if $log =~ /the simulated device does not build/;
    close $lock;
    $device = "$directory/libsim.a";
}

sub choose_tasks {
    my %chosen;
    for my $word (split /,/, $opt{only}) {
        my @found = grep { $_->{id} eq $word || $_->{chapter} eq $word } @tasks;
        usage("--only $word: expected chapters and tasks of classroom/tasks.tsv") unless @found;
        $chosen{ $_->{id} } = 1 for @found;
    }
    @tasks = grep { $chosen{ $_->{id} } } @tasks;
}

sub files_below {
    my (@directories) = @_;
    my @files;
    File::Find::find({ wanted => sub { push @files, $File::Find::name if -f && !m{/__pycache__/} }, no_chdir => 1 }, grep { -d } @directories);
    return sort @files;
}

# The hand-out of a class, from which its judge is built. It is made anew when anything of the course has changed.
sub class_tree {
    my ($key) = @_;
    my @files = grep { -f && !m{^\Q$course\E/simcc/(?:build|bench|tests)/} } files_below(map { "$course/$_" } qw(common simcc classroom plots tools/lib tests/data/real_qkv)),
        glob("\Q$course\E/0*_*/{Makefile,*.md,*.tsv,*.c,*.h,*.cu,*.cuh} \Q$course\E/{setup.sh,LICENSE,.clang-format,.gitignore}");
    my $state = sha1_hex(join "\0", $key, map { "$_ " . join ' ', (stat)[ 7, 9 ] } @files);
    my $base = $ENV{GRADE_BUILD} || "$course/build/classroom";
    my ($class, $version) = ("$base/class-" . substr(sha1_hex("class\0$key"), 0, 12), substr $state, 0, 12);
    make_path($base);
    open my $lock, '>', "$base/.class-lock" or die "$base: cannot be written: $!\n";
    flock $lock, LOCK_EX;
    return "$class-$version" if -f "$class-$version/.complete";
    remove_tree(glob "$class-*");
    my $log = "$base/class.log";
    system('sh', '-c', 'log=$1; shift; exec "$@" >"$log" 2>&1', 'sh', $log, 'python3', "$here/handout.py", "$class-$version",
        '--class', $key) == 0 or die "the hand-out of this class cannot be made: " . (slurp($log) // '') . "\n";
    open my $mark, '>', "$class-$version/.complete" or die "$class-$version: $!\n";
    close $mark;
    return "$class-$version";
}

# ---- what lies between the markers of a task ----

# In all files of a chapter: texts {file => text}.
sub regions {
    my ($texts, $id) = @_;
    return map { $texts->{$_} =~ m{^[ \t]*// task \Q$id\E:[^\n]*\n(.*?)^[ \t]*// end \Q$id\E\b}msg } sort keys %$texts;
}

# What counts of a region: its words, without comments and spaces.
sub words_of {
    my ($region) = @_;
    return join ' ', (join ' ', Source::code_lines($region)) =~ /\w+|[^\w\s]/g;
}

sub hash_of { return sha1_hex(encode('UTF-8', words_of($_[0]))) }

sub is_untouched {
    my ($texts, $task) = @_;
    my @regions = regions($texts, $task->{id});
    return @regions && !grep { ($stubs{ $task->{id} } // '') ne hash_of($_) } @regions;
}

# The student's files with every task solved but one: what another task does wrong is not charged here.
sub isolated {
    my ($texts, $task) = @_;
    return unless $teacher;
    my $directory = "$scratch/isolate";
    remove_tree($directory);
    make_path("$directory/$task->{chapter}");
    my $table = "$tree/class.tsv";
    my $class = -f $table ? slurp($table) : lines('python3', "$here/handout.py", '--class-table');
    spill("$directory/class.tsv", $class);
    spill("$directory/$task->{chapter}/$_", $texts->{$_}) for keys %$texts;
    my $status = system('sh', '-c', 'exec "$@" >/dev/null 2>&1', 'sh', 'python3', "$here/handout.py", '--solve', $directory,
        '--except', $task->{id});
    return $status == 0 ? { map { $_ => slurp("$directory/$task->{chapter}/$_") } keys %$texts } : undef;
}

sub lines {
    my (@command) = @_;
    open my $pipe, '-|', @command or die "cannot run $command[0]\n";
    local $/;
    my $text = <$pipe>;
    close $pipe;
    die "@command failed\n" if $? != 0;
    return $text // '';
}

sub spill {
    my ($path, $text) = @_;
    open my $out, '>:raw', $path or die "$path: cannot be written: $!\n";
    print $out $text;
    close $out or die "$path: cannot be written: $!\n";
}

# ---- one kernel on all cases ----

sub run_kernel {
    my ($chapter, $build, $kernel, $cases) = @_;
    my %found = (results => {}, hazards => [], over => []);
    my $ended = 0;
    for my $case (@$cases) {
        my $criterion = $case->{criterion};
        my $result = $found{results}{$criterion};
        next if $ended || ($result && !$result->{passed});
        last if $criterion ne 'plain' && !$found{results}{plain}{passed};
        my $run = $chapter->run_case($build, $kernel, $case);
        push @{ $found{hazards} }, map { { text => Chapter::hazard_text($_), fresh => $criterion eq 'fresh' } } @{ $run->{hazards} };
        push @{ $found{over} }, map { { %$_, fresh => $criterion eq 'fresh', options => $case->{options} } } @{ $run->{over} // [] };
        $found{bytes} //= { %{ $run->{bytes} }, options => $case->{options} } if $run->{bytes};
        $ended = ($run->{category} // '') eq 'does not end';
        $found{results}{$criterion} = $run->{ok} ? { passed => 1, ran => 1 } : failed_case($kernel, $case, $run);
    }
    return \%found;
}

# A fresh case tells what kind of mistake it is, and where to look; never what it was run on.
sub failed_case {
    my ($kernel, $case, $run) = @_;
    my $hint = join ' ', grep { defined } $run->{category_hint}, $case->{hint};
    my $message = $case->{criterion} eq 'fresh' ? "$kernel: $run->{category}"
        : "$run->{category}, $kernel $case->{options}: $run->{message}";
    return { passed => 0, ran => 1, category => $run->{category}, message => $message, hint => $hint };
}

sub human_bytes { my ($number) = @_; 1 while $number =~ s/^(\d+)(\d{3})/$1,$2/; return $number }

sub budget_line {
    my ($kernel, $bytes) = @_;
    my $ideal = defined $bytes->{ideal} ? ', ideal ' . human_bytes($bytes->{ideal}) : '';
    return sprintf '%s: yours %s, budget %s (%s, %s)%s bytes', $kernel, human_bytes($bytes->{yours}),
        human_bytes($bytes->{budget}), $bytes->{counts}, $bytes->{formula}, $ideal;
}

# All criteria of a task from what its kernels did.
sub criteria_of {
    my ($kernels, $found) = @_;
    my %criteria;
    for my $name (qw(plain shapes inputs fresh)) {
        my @results = map { $found->{$_}{results}{$name} } @$kernels;
        my ($bad) = grep { $_ && !$_->{passed} } @results;
        $criteria{$name} = $bad // (@results == grep({ $_ } @results) ? { passed => 1, ran => 1 }
            : { passed => 0, category => 'not counted', message => $name eq 'plain' ? 'it was not run'
                : 'not counted: the plain case comes first' });
    }
    my $right = $criteria{plain}{passed} && $criteria{shapes}{passed};
    my @lines = map { $found->{$_}{bytes} ? budget_line($_, $found->{$_}{bytes}) : () } @$kernels;
    my @over = map { my $k = $_; map { { %$_, kernel => $k } } @{ $found->{$k}{over} } } @$kernels;
    my @hazards = map { my $k = $_; map { { %$_, kernel => $k } } @{ $found->{$k}{hazards} } } @$kernels;
    $criteria{hbm} = !$right ? not_counted() : @over ? over_budget(@over) : { passed => 1, ran => 1, message => join '; ', @lines };
    $criteria{hazards} = !$right ? not_counted() : @hazards ? hazardous(@hazards) : { passed => 1, ran => 1 };
    return \%criteria;
}

sub not_counted {
    return { passed => 0, category => 'not counted', message => 'not counted: the result comes first' };
}

sub over_budget {
    my (@over) = @_;
    my ($shown) = grep { !$_->{fresh} } @over;
    my $message = $shown ? sprintf('%s, with %s', budget_line($shown->{kernel}, $shown), $shown->{options})
        : "$over[0]{kernel}: over its budget on a fresh case";
    $message = "$over[0]{kernel}: fewer bytes than the inputs and outputs have were counted" if $over[0]{impossible};
    return { passed => 0, ran => 1, category => 'over budget', message => $message,
        hint => 'make profile shows the bytes of each tensor. What is read twice could be kept; what lies past the end or above '
            . 'the diagonal need not be read.' };
}

sub hazardous {
    my (@hazards) = @_;
    my ($shown) = grep { !$_->{fresh} } @hazards;
    my $message = $shown ? "$shown->{kernel}: $shown->{text}" : "$hazards[0]{kernel}: " . ($hazards[0]{text} =~ s/ at .*//r);
    $message .= sprintf ' (and %d more)', @hazards - 1 if @hazards > 1;
    return { passed => 0, ran => 1, category => 'hazard', message => $message,
        hint => 'make sanitize shows both sides. A result that came out right by luck is not right.' };
}

# ---- one chapter ----

sub chapter_of {
    my ($task, $directory) = @_;
    return Chapter->new(tree => $tree, chapter => $task->{chapter}, cc => $cc, cxx => $cxx, scratch => $directory);
}

# What a submission has of the files that count, {file => text}, as they were handed out where it has none; and what is
# the matter with those, {file => why}.
sub texts_of {
    my ($chapter, $submission) = @_;
    my (%texts, %problems);
    for my $file ($chapter->counted) {
        my $entry = $submission->{"$chapter->{chapter}/$file"};
        $texts{$file} = $entry->{text} // $chapter->{sources}{$file};
        $problems{$file} = $entry->{problem} unless defined $entry->{text};
    }
    return (\%texts, \%problems);
}

sub grade_chapter {
    my ($chapter_name, $submission, $predictions, $report) = @_;
    my @mine = grep { $_->{chapter} eq $chapter_name } @tasks;
    my $directory = "$scratch/$chapter_name";
    make_path($directory);
    my $chapter = chapter_of($mine[0], $directory);
    $chapter->build_kit;

    my ($texts, $problems) = texts_of($chapter, $submission);
    my @list = Tasks::cases_of(\@cases, $chapter_name, $opt{key} // '', label_of($texts));
    my $grading = { chapter => $chapter, texts => $texts, cases => \@list, builds => {} };
    for my $task (@mine) {
        my ($file) = grep { regions({ $_ => $chapter->{sources}{$_} }, $task->{id}) } sort keys %$problems;
        $task->{criteria} = defined $file ? nothing_to_grade('not there', "not graded: $chapter_name/$file $problems->{$file}")
            : is_untouched($texts, $task) ? untouched($task) : grade_code($grading, $task);
        count_points($task, $chapter, $predictions);
        $report->();
    }
    remove_tree($directory);
}

sub nothing_to_grade {
    my ($category, $message, $hint) = @_;
    my %criteria = map { $_ => { passed => 0, category => 'not counted', message => 'not counted, as above' } }
        qw(plain shapes inputs fresh hbm hazards);
    $criteria{plain} = { passed => 0, ran => 1, category => $category, message => $message, hint => $hint };
    return \%criteria;
}

sub untouched {
    my ($task) = @_;
    return nothing_to_grade('not done', 'not done: the task is as it was handed out',
        "make hint N=$task->{number} helps to begin.");
}

sub label_of { my ($texts) = @_; return sha256_hex(join "\0", map { ($_, $texts->{$_}) } sort keys %$texts) }

# Texts of the files, built once, their kernels run once: { category, ... } where they cannot be built, else { found }.
sub build_of {
    my ($grading, $texts, @kernels) = @_;
    my $chapter = $grading->{chapter};
    my $label = substr label_of($texts), 0, 16;
    my %numbered = map { $_ => with_line_numbers($grading->{texts}{$_}, $texts->{$_}) } keys %$texts;
    my $built = $grading->{builds}{$label} //= $chapter->build($texts, $label, \%numbered);
    return $built if $built->{category};
    $built->{found}{$_} //= run_kernel($chapter, $built, $_, $grading->{cases}) for @kernels;
    return $built;
}

# The text with the line numbers of the student's own file: solutions that were put in are longer or shorter.
sub with_line_numbers {
    my ($own, $text) = @_;
    return $text if $own eq $text;
    my (%line, $number, $out);
    for my $line (split /\n/, $own, -1) {
        $number++;
        $line{$1} = $number if $line =~ m{^\s*// ((?:task|end) \S+)};
    }
    for my $line (split /\n/, $text, -1) {
        $out .= "$line\n";
        $out .= sprintf "#line %d\n", $line{$1} + 1 if $line =~ m{^\s*// ((?:task|end) \S+)} && $line{$1};
    }
    return $out;
}

sub grade_code {
    my ($grading, $task) = @_;
    my @kernels = @{ $task->{kernels} };
    my $whole = build_of($grading, $grading->{texts}, @kernels);
    my $broken = $whole->{category} // '';
    if (!$broken) {
        my $criteria = criteria_of(\@kernels, $whole->{found});
        return $criteria unless grep { !$_->{passed} } values %$criteria;
        return grade_alone($grading, $task) // $criteria;
    }
    # A mistake of grammar in one task does not cost the others; what is refused is refused as a whole.
    my $alone = $broken eq 'does not compile' ? grade_alone($grading, $task) : undef;
    return $alone // not_built($whole);
}

sub not_built {
    my ($build) = @_;
    my $how = $build->{category} eq 'refused' ? 'it is refused' : "it $build->{category}";
    return nothing_to_grade($build->{category}, "not graded: $how: $build->{message}", $build->{hint});
}

sub grade_alone {
    my ($grading, $task) = @_;
    my $texts = isolated($grading->{texts}, $task) // return;
    my $build = build_of($grading, $texts, @{ $task->{kernels} });
    return $build->{category} ? not_built($build) : criteria_of($task->{kernels}, $build->{found});
}

# ---- points ----

sub prediction_of {
    my ($task, $chapter, $predictions) = @_;
    my @asked = grep { my ($kernel) = /^(\w+)/; grep { $_ eq $kernel } @{ $task->{kernels} } } @$questions;
    return { left_out => 1 } unless @asked;
    my @wrong;
    for my $question (@asked) {
        my $given = $predictions->{$question};
        next if Predictions::is_right($given, expected_bytes($chapter, $question));
        push @wrong, defined $given ? "$question: " . human_bytes($given) . ' bytes is not within 1 %'
            : "$question: no number in predictions.txt";
    }
    return { passed => 1, ran => 1 } unless @wrong;
    return { passed => 0, ran => 1, category => 'prediction', message => join('; ', @wrong),
        hint => 'Count before you run: which tensor is read how often? The README of the chapter has the closed forms.' };
}

sub expected_bytes {
    my ($chapter, $question) = @_;
    my ($kernel, @options) = split ' ', $question;
    my $model = $chapter->judge('model', '-', '--kernel', $kernel, @options);
    my $headline = $model->{models}[0] // die "predictions.txt: '$question': " . ($model->{error} // 'no closed form') . "\n";
    return $headline->{read_bytes} + $headline->{write_bytes};
}

sub count_points {
    my ($task, $chapter, $predictions) = @_;
    my $criteria = $task->{criteria};
    $criteria->{predict} = prediction_of($task, $chapter, $predictions);
    my $need = $needs{ $task->{id} };
    if ($need && !$criteria->{$need}{passed}) {
        for (grep { $criteria->{$_}{passed} && $_ ne 'predict' } @Tasks::CRITERIA) {
            $criteria->{$_} = { passed => 0, category => 'not counted', message => "not counted: this task is its $Tasks::NAME{$need}" };
        }
    }
    my %weight = %Tasks::WEIGHT;
    if ($criteria->{predict}{left_out}) {
        $weight{shapes} += $weight{predict};
        $weight{predict} = 0;
    }
    $task->{score} = 0;
    $task->{full} = 1;
    for my $name (@Tasks::CRITERIA) {
        my $criterion = $criteria->{$name};
        $criterion->{points} = $task->{points} * $weight{$name} / 100;
        next if $criterion->{left_out};
        if ($criterion->{passed}) { $task->{score} += $criterion->{points} } else { $task->{full} = 0 }
    }
    $task->{score} = $task->{full} ? $task->{points} : 0 + sprintf '%.2f', $task->{score};
}

# ---- a submission ----

sub chapters { my %seen; return grep { !$seen{$_}++ } map { $_->{chapter} } @tasks }

sub wanted_files {
    my %first = map { $_->{chapter} => $_ } @tasks;
    return map { my $chapter = $_; map { "$chapter/$_" } chapter_of($first{$chapter}, $scratch)->counted } chapters();
}

sub fresh_results {
    return { tasks => \@tasks, notes => [], complete => 0 };
}

sub reset_tasks {
    for my $task (@tasks) {
        delete @$task{qw(criteria score full)};
    }
}

sub read_predictions {
    my ($submission, $results) = @_;
    my $entry = $submission->{'predictions.txt'};
    my $is_course = $teacher && realpath($opt{submission}) eq realpath($course);
    if ($is_course && !defined $entry->{text}) {
        push @{ $results->{notes} }, "the course has no predictions.txt; the judge's own numbers were taken";
        return answers();
    }
    if (!defined $entry->{text}) {
        push @{ $results->{notes} }, "predictions.txt $entry->{problem}: no points for predictions" if @$questions;
        return {};
    }
    my ($bytes, undef, $problems) = Predictions::parse(decode('UTF-8', $entry->{text}));
    push @{ $results->{notes} }, @$problems > 3 ? (@$problems[ 0 .. 2 ], '...') : @$problems;
    return $bytes;
}

sub answers {
    my %bytes;
    for my $question (@$questions) {
        my ($kernel) = $question =~ /^(\w+)/;
        my ($task) = grep { grep { $_ eq $kernel } @{ $_->{kernels} } } @tasks;
        next unless $task;
        my $chapter = chapter_of($task, $scratch);
        $chapter->build_kit;
        $bytes{$question} = expected_bytes($chapter, $question);
    }
    return \%bytes;
}

sub write_results {
    my ($results) = @_;
    Results::write_file($opt{results}, Results::gradescope($results)) if defined $opt{results};
    Results::write_file($opt{junit}, Results::junit($results)) if defined $opt{junit};
}

# Returns the results; dies with one line that begins with SUBMISSION= when nothing of it can be used.
sub grade {
    my ($path, $say) = @_;
    reset_tasks();
    Chapter::new_submission();
    my $results = fresh_results();
    my ($kind, $why_not) = Sandbox::kind();
    push @{ $results->{notes} }, $kind eq 'bwrap' ? 'submissions run in bwrap, with limits'
        : "submissions run with limits on time, memory and files, not in bwrap ($why_not)";
    my ($submission, $notes) = eval { Submission::read_submission($path, wanted_files(), 'predictions.txt') };
    if (!$submission) {
        my $why = $@ =~ s/\n//gr;
        $results->{trouble} = $why;
        $_->{criteria} = nothing_to_grade('not there', "not graded: $why"), $_->{score} = 0 for @tasks;
        $results->{complete} = 1;
        write_results($results);
        return $results;
    }
    push @{ $results->{notes} }, @$notes;
    write_results($results);
    my $predictions = read_predictions($submission, $results);
    for my $chapter (chapters()) {
        $say->("grading $chapter ...");
        grade_chapter($chapter, $submission, $predictions, sub { write_results($results) });
    }
    $say->('');
    $results->{complete} = 1;
    write_results($results);
    return $results;
}

# ---- make check-submission ----

sub check_submission {
    my ($path) = @_;
    my ($submission, $notes) = eval { Submission::read_submission($path, wanted_files(), 'predictions.txt', 'WORKLOG.md') };
    if (!$submission) { complain($@); return 2 }
    my $found = 0;
    for my $chapter_name (chapters()) {
        my ($task) = grep { $_->{chapter} eq $chapter_name } @tasks;
        my $chapter = chapter_of($task, $scratch);
        my ($texts, $problems) = texts_of($chapter, $submission);
        for my $file (sort keys %$problems) {
            $found = 1;
            print Results::wrapped("$problems->{$file}: its tasks get no points", sprintf('%-37s', "$chapter_name/$file"), ' ' x 37);
        }
        next if keys %$problems == keys %$texts;
        $chapter->build_kit;
        my $build = $chapter->build($texts, $chapter_name);
        my @here = grep { $_->{chapter} eq $chapter_name } @tasks;
        my @left = grep { is_untouched($texts, $_) } @here;
        my @lost = grep { !regions($texts, $_->{id}) } @here;
        my $line = $build->{category} ? "$build->{category}: $build->{message}"
            : sprintf('compiles; %d of %d tasks begun%s', @here - @left, scalar @here,
                @lost ? '; without its markers: ' . join(', ', map { $_->{id} } @lost) : '');
        $found = 1 if $build->{category};
        print Results::wrapped($line, sprintf('%-37s', $chapter_name), ' ' x 37);
    }
    my $entry = $submission->{'predictions.txt'};
    my ($bytes, undef, $problems) = Predictions::parse(decode('UTF-8', $entry->{text} // ''));
    my $given = grep { defined $bytes->{$_} } @$questions;
    printf "%-37s%s\n", 'predictions.txt', defined $entry->{text} ? sprintf('%d of %d predictions', $given, scalar @$questions)
        : $entry->{problem};
    print Results::wrapped($_, '', '    ') for @$problems;
    printf "%-37s%s\n", 'WORKLOG.md', defined $submission->{'WORKLOG.md'}{text} ? 'is there (read by people)'
        : $submission->{'WORKLOG.md'}{problem};
    $found = 1 if @$problems;
    print Results::wrapped($_, 'note:', '      ') for @$notes;
    print $found ? "\nSomething to look at above. Nothing was graded.\n" : "\nThis can be handed in. Nothing was graded.\n";
    return $found;
}

# ---- a folder of submissions ----

sub grade_folder {
    my ($folder) = @_;
    opendir my $handle, $folder or usage("SUBMISSIONS=$folder: expected a directory of zips and directories");
    my @names = sort grep { !/^\./ && (-d "$folder/$_" || /\.zip$/i) } readdir $handle;
    usage("SUBMISSIONS=$folder: no zip and no directory in it") unless @names;
    my $into = $opt{results} // usage('SUBMISSIONS= needs RESULTS=, a directory for the results');
    eval { make_path($into); 1 } or die "RESULTS=$into: cannot be made\n";
    my $csv = Results::csv_line('submission', 'points', 'of', (map { $_->{id} } @tasks), 'remark');
    my %taken;
    for my $name (@names) {
        my $stem = $name =~ s/\.zip$//ir;
        $stem = $name if $taken{$stem}++; # anna.zip beside a directory anna
        local $opt{results} = "$into/$stem.json";
        local $opt{submission} = "$folder/$name";
        my $results = grade("$folder/$name", sub { });
        Results::write_file("$into/$stem.txt", Results::human($results));
        $csv .= Results::csv_line($name, Results::points(Results::score(@tasks)), Results::points(Results::most(@tasks)),
            (map { Results::points($_->{score} // 0) } @tasks), $results->{trouble} // '');
        Results::write_file("$into/results.csv", $csv);
        printf "%-50s %7s/%s%s\n", substr(Results::readable($stem =~ tr/\n\t/?/r), 0, 50), Results::points(Results::score(@tasks)), Results::points(Results::most(@tasks)),
            $results->{trouble} ? '  not usable' : '';
    }
    print "results: $into/results.csv, and a .json and a .txt for each\n";
    return 0;
}

# ---- the teacher's own ----

sub print_answers {
    $teacher or usage('--answers needs the teacher\'s tree');
    my $answers = answers();
    my $template = slurp("$here/student/predictions.txt") // '';
    for my $line (split /\n/, decode('UTF-8', $template), -1) {
        my ($question) = $line =~ /^\s*([^=#]*?)\s*=/;
        $question = join ' ', split ' ', $question // '';
        $line =~ s/=.*/= $answers->{$question}/ if defined $answers->{$question};
        print "$line\n";
    }
    return 0;
}

# The tasks of this tree as they are handed out: SHA-1 of the words between their markers. The course keeps them apart.
sub stubs_of_tree {
    my %stubs;
    for my $task (@tasks) {
        my $stub = "$here/tasks/$task->{id}/stub.cu";
        my ($region) = -f $stub ? slurp($stub) : regions(chapter_of($task, '')->{sources}, $task->{id});
        $stubs{ $task->{id} } = hash_of($region) if defined $region;
    }
    return %stubs;
}

sub print_stubs {
    my %found = stubs_of_tree();
    print "# The tasks as they were handed out: SHA-1 of the words between the markers (grade.pl --stubs).\n# task\tsha1\n";
    print "$_->{id}\t", $found{ $_->{id} } // die("$_->{chapter}: no markers of task $_->{id}\n"), "\n" for @tasks;
}

# ---- the halves that do not depend on a submission, built beforehand ----

sub prepare {
    for my $chapter (chapters()) {
        my ($task) = grep { $_->{chapter} eq $chapter } @tasks;
        chapter_of($task, $scratch)->build_kit;
    }
    return 0;
}

sub main {
    Getopt::Long::Configure(qw(no_auto_abbrev no_ignore_case));
    local $SIG{__WARN__} = sub { usage($_[0] =~ s/\n//r) };
    GetOptionsFromArray(\@_, \%opt, qw(submission=s submissions=s key=s only=s results=s junit=s require=f check answers
        stubs prepare help)) or exit 2;
    delete $SIG{__WARN__};
    local $SIG{__WARN__} = sub { print STDERR $_[0] };
    usage("unexpected '$_[0]' (see --help)") if @_;
    if ($opt{help}) { print help(); return 0 }
    umask 077;
    if ($opt{stubs}) {
        $tree = $course = dirname($here);
        @tasks = Tasks::read_tasks("$here/tasks.tsv");
        print_stubs();
        return 0;
    }
    open_tree();
    $scratch = realpath(tempdir('grade-XXXXXX', TMPDIR => 1, CLEANUP => 1));
    local $SIG{TERM} = local $SIG{INT} = sub { exit 130 };
    return print_answers() if $opt{answers};
    Sandbox::check_machine();
    build_device();
    $ENV{SIM_LIB} //= $device;
    return prepare() if $opt{prepare};
    return grade_folder($opt{submissions}) if defined $opt{submissions};
    $opt{submission} //= $course;
    return check_submission($opt{submission}) if $opt{check};
    my $say = -t STDERR ? sub { printf STDERR "\r%-40s%s", $_[0], $_[0] eq '' ? "\r" : '' } : sub { };
    my $results = grade($opt{submission}, $say);
    if ($results->{trouble}) { complain($results->{trouble}); return 2 }
    print Results::human($results);
    my ($score, $most) = (Results::score(@tasks), Results::most(@tasks));
    return defined $opt{require} && $score < $most * $opt{require} / 100 ? 1 : 0;
}

my $status = eval { main(@ARGV) };
if (!defined $status) {
    complain($@);
    exit 3;
}
exit $status;
