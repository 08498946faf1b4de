#!/usr/bin/perl
# Writes the student tree of classroom/README.md, and puts solutions back into one.
#
#   handout.pl OUT [--class KEY]           a hand-out in OUT, which must not exist or be empty
#   handout.pl --class-table [KEY]         prints class.tsv
#   handout.pl --class-header CLASS.tsv    prints common/problem/class.h
#   handout.pl --solve DIR [--except ID,ID...]
#                                          solutions between the markers of DIR's chapters, those of DIR/class.tsv
#
# Exit status: 0 done; 2 a mistake in the command line, an unusable directory or file; 3 unifdef is missing.
use strict;
use warnings;
use Cwd qw(abs_path);
use Digest::SHA qw(sha1);
use File::Basename qw(basename dirname);
use File::Copy qw(copy);
use File::Find ();
use File::Glob ':bsd_glob';
use File::Path qw(make_path remove_tree);
use File::Temp ();

my $classroom = abs_path(dirname(__FILE__));
my $root = dirname($classroom);
my $temporary;    # directory to remove if we do not get to the end

sub fail {
    my ($status, $message) = @_;
    print STDERR "handout: $message\n";
    exit $status;
}

END {
    my $status = $?;
    remove_tree($temporary) if defined $temporary && -d $temporary;
    $? = $status;
}
$SIG{INT} = $SIG{TERM} = $SIG{HUP} = sub { exit 130 };

sub usage {
    fail(2, "$_[0]; expected OUT [--class KEY], --class-table [KEY], --class-header FILE or --solve DIR [--except ID,...]");
}

# ---- files ----

sub read_file {
    my ($path) = @_;
    open my $in, '<:raw', $path or fail(2, "$path: cannot be read: $!");
    my $text = do { local $/; <$in> };
    close $in;
    return defined $text ? $text : '';
}

sub write_file {
    my ($path, $text) = @_;
    open my $out, '>:raw', "$path.new" or fail(2, "$path: cannot be written: $!");
    (print $out $text) && close $out or fail(2, "$path: cannot be written: $!");
    rename "$path.new", $path or fail(2, "$path: cannot be written: $!");
}

sub copy_file {
    my ($from, $to) = @_;
    my $mode = (stat $from)[2];
    make_path(dirname($to));
    copy($from, $to) or fail(2, "$to: cannot be written: $!");
    chmod $mode & 0755 | 0644, $to;
}

# All plain files below a directory: no hidden ones, no editor's backups, nothing that was built.
sub copy_tree {
    my ($from, $to) = @_;
    my $wanted = sub {
        my $path = $File::Find::name;
        if ($path ne $from && basename($path) =~ /^\.|~$|\.(?:o|d|a|new)$|^__pycache__$/) {
            $File::Find::prune = 1;
            return;
        }
        return if -l $path || !-f $path;
        copy_file($path, $to . substr $path, length $from);
    };
    File::Find::find({wanted => $wanted, no_chdir => 1}, $from);
}

# ---- tasks ----

sub read_tasks {
    my @tasks;
    for my $line (split /\n/, read_file("$classroom/tasks.tsv")) {
        next if $line =~ /^#|^$/;
        my %task;
        @task{qw(id chapter file kernels title lines points)} = split /\t/, $line;
        push @tasks, {%task, number => @tasks + 1};
    }
    return @tasks;
}

my @tasks = read_tasks();
my @chapters = do { my %seen; grep { !$seen{$_}++ } map { $_->{chapter} } @tasks };

sub tasks_of { my ($chapter) = @_; return grep { $_->{chapter} eq $chapter } @tasks }

# A source, taken apart at its markers: a list of [undef, text] for what is given and [id, text] for the regions.
sub take_apart {
    my ($path, $text) = @_;
    my @parts = ([undef, '']);
    for my $line (split /^/, $text) {
        if (defined $parts[-1][0]) {
            if ($line =~ m{^\s*// end (\S+)\s*$}) {
                $1 eq $parts[-1][0] or fail(2, "$path: '// end $1' where '// end $parts[-1][0]' was expected");
                push @parts, [undef, $line];
                next;
            }
        } elsif ($line =~ m{^\s*// task ([^\s:]+):}) {
            $parts[-1][1] .= $line;
            push @parts, [$1, ''];
            next;
        }
        $parts[-1][1] .= $line;
    }
    fail(2, "$path: no line '// end $parts[-1][0]'") if defined $parts[-1][0];
    return @parts;
}

sub put_together { return join '', map { $_->[1] } @_ }

# A region's stub (HANDOUT defined) or solution; the canary's line goes.
sub resolve {
    my ($path, $text, $define) = @_;
    my $file = File::Temp->new(SUFFIX => '.cu');
    print $file $text;
    close $file;
    my $result = qx(unifdef $define "$file");
    fail(3, 'unifdef is not installed: ./setup.sh installs it') if $? == -1 || $? >> 8 == 127;
    fail(2, "$path: unifdef does not understand it") if $? >> 8 > 1 || $result =~ /HANDOUT/;
    $result =~ s{^\s*// solution [0-9a-f]+\n}{}mg;
    return $result;
}

# ---- classes ----

my @attention = map { $_ + 0 } qw(1.5 2 2.5 3 3.5 4 5 6);
my @product = qw(6 8 10 12 14 16 20 24);
my @window = qw(5 6 7 9 10 11 12 13);
my %choices = (
    '01_naive'          => [['softcap', @attention], ['window', @window]],
    '02_online_softmax' => [['softcap', @attention], ['sink', '-']],
    '03_tiled_matmul'   => [['softcap', @product], ['relu', '-']],
    '04_fa1'            => [['softcap', @attention], ['window', @window]],
    '05_fa2'            => [['softcap', @attention], ['window', @window]],
    '06_backward'       => [['softcap', @attention], ['window', @window]],
);

# chapter => [variant, value], from the key alone: the same on every machine.
sub class_of_key {
    my ($key) = @_;
    my %class;
    for my $chapter (@chapters) {
        if (!defined $key) {
            $class{$chapter} = ['plain', '-'];
            next;
        }
        my @bytes = unpack 'C*', sha1("$key\n$chapter");
        my ($variant, @values) = @{ $choices{$chapter}[ $bytes[0] % 2 ] };
        $class{$chapter} = [$variant, $values[ $bytes[1] % @values ]];
    }
    return \%class;
}

sub class_table {
    my ($class) = @_;
    return join '', "# What this class computes (classroom/README.md): chapter, variant, value, separated by tabs.\n",
        map { "$_\t$class->{$_}[0]\t$class->{$_}[1]\n" } @chapters;
}

sub read_class {
    my ($path) = @_;
    my (%class, $number);
    for my $line (split /\r?\n/, read_file($path)) {
        $number++;
        next if $line =~ /^#|^\s*$/;
        my ($chapter, $variant, $value, @more) = split /\t/, $line;
        my $known = defined $value && !@more && $choices{$chapter};
        $known or fail(2, "$path:$number: expected chapter, variant and value, separated by tabs");
        grep { $_ eq $variant } 'plain', map { $_->[0] } @$known
            or fail(2, "$path:$number: $chapter has no variant '$variant'");
        my $wants = {softcap => qr/^\d+(?:\.\d+)?$/, window => qr/^[1-9]\d*$/}->{$variant} || qr/^-$/;
        $value =~ $wants && ($variant ne 'softcap' || $value > 0)
            or fail(2, "$path:$number: '$value' is no value of $variant");
        $class{$chapter} = [$variant, $value];
    }
    $class{$_} or fail(2, "$path: no line for $_") for @chapters;
    return \%class;
}

sub class_header {
    my ($class) = @_;
    my $list = '';
    for my $chapter (@chapters) {
        my ($variant, $value) = @{ $class->{$chapter} };
        next if $variant eq 'plain';
        $list .= sprintf " \\\n\t{\"%s\", {VARIANT_%s, %s}},", $chapter, uc $variant, $value eq '-' ? 0 : $value;
    }
    my $text = read_file("$root/common/problem/class.h");
    $text =~ s{^#define CLASS_VARIANTS$}{#define CLASS_VARIANTS$list}m
        or fail(2, 'common/problem/class.h: no line "#define CLASS_VARIANTS"');
    return $text;
}

sub with_value {
    my ($text, $value) = @_;
    my $float = $value =~ /\./ ? $value : "$value.0";
    $text =~ s/\@VALUE\@f\b/${float}f/g;
    $text =~ s/\@VALUE\@/$value/g;
    return $text;
}

# classroom/solutions/VARIANT/CHAPTER.given: "@@ replace [all]", text, "@@ by", text, ..., "@@ end". A text that is not
# in the given part of the source just once (with `all`: at least once) is a mistake in that file.
sub edit_given {
    my ($edits, $value, @parts) = @_;
    my $given = join '', map { defined $parts[$_][0] ? "\0$_\0" : $parts[$_][1] } 0 .. $#parts;
    my (@pairs, $to);
    for my $line (split /^/, read_file($edits)) {
        if ($line =~ /^\@\@ replace( all)?$/) { push @pairs, [$1 ? 1 : 0, '', '']; $to = 1 }
        elsif ($line eq "\@\@ by\n") { $to = 2 }
        elsif ($line eq "\@\@ end\n") { last }
        else { $pairs[-1][$to] .= $line }
    }
    for (@pairs) {
        my ($all, $from, $by) = @$_;
        $by = with_value($by, $value);
        chomp($from, $by);
        my $count = () = $given =~ /\Q$from\E/g;
        fail(2, "$edits: found $count times in the chapter: $from") if $all ? !$count : $count != 1;
        $given =~ s/\Q$from\E/$by/g;
    }
    my @pieces = split /\0(\d+)\0/, $given, -1;
    return map { $_ % 2 ? $parts[ $pieces[$_] ] : [undef, $pieces[$_]] } 0 .. $#pieces;
}

# The chapter of a class as its teacher has it, regions with solution and stub.
sub chapter_of_class {
    my ($chapter, $class) = @_;
    my ($variant, $value) = @{ $class->{$chapter} };
    my $path = "$root/$chapter/" . (tasks_of($chapter))[0]{file};
    my @parts = take_apart($path, read_file($path));
    my $edits = "$classroom/solutions/$variant/$chapter.given";
    if ($variant ne 'plain') {
        @parts = edit_given($edits, $value, @parts);
        for my $part (grep { defined $_->[0] } @parts) {
            my $other = "$classroom/solutions/$variant/$part->[0].cu";
            $part->[1] = with_value(read_file($other), $value) if -e $other;
        }
    }
    my %there = map { $_->[0] => 1 } grep { defined $_->[0] } @parts;
    $there{$_->{id}} or fail(2, "$path: no line '// task $_->{id}: ...'") for tasks_of($chapter);
    return @parts;
}

# ---- the hand-out ----

my %words = (
    softcap => sub {
        my ($chapter, $c) = @_;
        return $chapter =~ /^02/
            ? "Scores are soft-capped: *x* counts as *c*·tanh(*x*/*c*) with *c* = $c. A weight is exp(cap(*x*) - cap(*m*)),\n"
            . "*m* is still the largest *x*, and a score of -inf still has no weight."
            : $chapter =~ /^03/
            ? "*C* is soft-capped: *C* = *c*·tanh(*AB*/*c*), element by element, with *c* = $c."
            : "Scores are soft-capped: *s* becomes *c*·tanh(*s*/*c*) with *c* = $c, after the scale and before the mask and\n"
            . "the softmax" . ($chapter =~ /^06/ ? '. Its derivative, 1 - tanh²(*s*/*c*), is a factor of dS.' : '.');
    },
    window => sub {
        return "Attention looks through a window: query *i* sees key *j* only if |*i* - *j*| < $_[1], and, with a causal mask,\n"
            . "only if *j* ≤ *i* too. Every query sees itself.";
    },
    sink => sub {
        return "Every row has an attention sink: one more score, 0, that takes weight and has no column. It counts in *m*, in\n"
            . "*l* and in every quotient.";
    },
    relu => sub { return '*C* goes through a ReLU: *C* = max(*AB*, 0), element by element.' },
);

sub assignment {
    my ($chapter, $class) = @_;
    my ($variant, $value) = @{ $class->{$chapter} };
    my %region = map { @$_ } grep { defined $_->[0] } chapter_of_class($chapter, $class);
    my $text = "## Your tasks\n\n| | task | about | points |\n|---|---|---|---|\n";
    for my $task (tasks_of($chapter)) {
        my $lines = 0;
        $lines += $1 while $region{ $task->{id} } =~ m{// TODO \(about (\d+) line}g;
        $text .= sprintf "| %d | `%s`: %s | %d line%s | %s |\n", @$task{qw(number id title)}, $lines,
            $lines == 1 ? '' : 's', $task->{points};
    }
    my ($task) = tasks_of($chapter);
    $text .= "\nIn `$task->{file}`, each between its lines `// task` and `// end`. `make hint N=$task->{number}` in the tree's top\n"
        . "directory helps with task $task->{number}, a little more each time.\n\n";
    $text .= "**Your class computes something else than the text below.**\n" . $words{$variant}->($chapter, $value)
        . "\n\nThe program verifies against that. The bytes that move are the same, so all counts of bytes hold; the errors and\n"
        . "results it shows are those of the plain chapter.\n\n"
        if $variant ne 'plain';
    return $text;
}

# A README without what only a teacher should read, and with the tasks.
sub readme_of {
    my ($chapter, $class) = @_;
    my $text = read_file("$root/$chapter/README.md");
    $text =~ s{<!-- solution -->\n.*?<!-- end solution -->\n\n?}{}sg;
    $text =~ /<!-- (?:end )?solution -->/ and fail(2, "$chapter/README.md: a <!-- solution --> without its end");
    my $tasks = assignment($chapter, $class);
    $text =~ s{^(?=## )}{$tasks}m or fail(2, "$chapter/README.md: no heading to put the tasks before");
    return $text;
}

# All canaries there are: of the chapters and of the variants.
sub canaries {
    my @files = (glob("\Q$root\E/0*_*/*.cu"), glob("\Q$classroom\E/solutions/*/*.cu"));
    return map { read_file($_) =~ m{^\s*// solution ([0-9a-f]{8,})$}mg } @files;
}

sub check_clean {
    my ($tree) = @_;
    my $pattern = join '|', 'ifndef HANDOUT', canaries();
    my $look = sub {
        my $path = $File::Find::name;
        return if -d $path;
        fail(2, "$path: no plain file") if -l $path || !-f $path;
        fail(2, substr($path, length($tree) + 1) . ": holds a solution's mark; no hand-out was written")
            if read_file($path) =~ /$pattern/;
    };
    File::Find::find({wanted => $look, no_chdir => 1}, $tree);
}

sub write_tree {
    my ($tree, $class) = @_;
    copy_file("$root/$_", "$tree/$_") for grep { -e "$root/$_" } qw(setup.sh LICENSE .clang-format .gitignore);
    copy_file($_, "$tree/" . basename($_)) for glob "\Q$classroom\E/student/*";
    for my $chapter (@chapters) {
        my $source = (tasks_of($chapter))[0]{file};
        for my $file (map { basename($_) } glob "\Q$root/$chapter\E/*") {
            copy_file("$root/$chapter/$file", "$tree/$chapter/$file") if $file =~ /^Makefile$|\.(?:c|h|cu|cuh|tsv)$/;
        }
        my $readme = readme_of($chapter, $class);
        write_file("$tree/$chapter/README.md", $readme);
        copy_file("$root/$_", "$tree/$_") for $readme =~ m{["(]\.\./(plots/[\w./-]+\.svg)[")]}g;
        write_file("$tree/$chapter/$source",
            resolve("$chapter/$source", put_together(chapter_of_class($chapter, $class)), '-DHANDOUT'));
    }
    copy_tree("$root/common", "$tree/common");
    copy_tree($_, "$tree/simcc/" . basename($_)) for grep { !m{/(?:tests|bench|build)$} } glob "\Q$root\E/simcc/*";
    write_file("$tree/common/problem/class.h", class_header($class));
    copy_file($_, "$tree/plots/" . basename($_)) for map { glob "\Q$root\E/plots/$_" } qw(*.gp *.awk draw.sh finish_svg.pl);
    copy_tree("$root/tests/data/real_qkv", "$tree/tests/data/real_qkv");
    copy_file("$classroom/$_", "$tree/classroom/$_") for qw(tasks.tsv handout.mk hint.pl);
    copy_tree("$classroom/hints", "$tree/classroom/hints");
    for my $judge (glob "\Q$classroom\E/grade*") {
        my $to = "$tree/classroom/" . basename($judge);
        -d $judge ? copy_tree($judge, $to) : copy_file($judge, $to);
    }
    write_file("$tree/class.tsv", class_table($class));
    prepare_judge($tree) if -f "$tree/classroom/grade.pl";
}

# What the judge needs to know of this very tree: the files as they were handed out, for its own half (grade/judge.mk),
# and what a task looks like before anybody has worked on it.
sub prepare_judge {
    my ($tree) = @_;
    for my $chapter (@chapters) {
        my $source = (tasks_of($chapter))[0]{file};
        copy_file("$tree/$chapter/$source", "$tree/classroom/grade/original/$source");
    }
    open my $stubs, '-|', $^X, "$tree/classroom/grade.pl", '--stubs' or fail(2, "grade.pl --stubs: $!");
    my $table = do { local $/; <$stubs> };
    close $stubs or fail(2, 'grade.pl --stubs failed');
    write_file("$tree/classroom/grade/stubs.tsv", $table);
}

sub hand_out {
    my ($out, $key) = @_;
    my $class = class_of_key($key);
    my $shown = $out;
    $out =~ s{(?<=.)/+$}{};
    if (-e $out || -l $out) {
        -d $out && !-l $out or fail(2, "OUT: $shown: expected a directory, or nothing");
        opendir my $directory, $out or fail(2, "OUT: $shown: cannot be read: $!");
        my @entries = grep { !/^\.\.?$/ } readdir $directory;
        fail(2, "OUT: $shown: is not empty; expected an empty directory, or none") if @entries;
    }
    my $parent = dirname($out);
    -d $parent or fail(2, "OUT: $parent: no such directory");
    my $real = abs_path($parent);
    for my $copied ('common', 'simcc', 'classroom', 'plots', 'tests/data', @chapters) {
        fail(2, "OUT: $shown: is inside of $copied/, which is copied") if "$real/" =~ m{^\Q$root/$copied/\E};
    }
    $temporary = eval { File::Temp::tempdir('.handout-XXXXXX', DIR => $real) }
        or fail(2, "OUT: $shown: cannot be written");
    chmod 0777 & ~umask, $temporary;
    write_tree($temporary, $class);
    check_clean($temporary);
    -d $out && !rmdir $out and fail(2, "OUT: $shown: cannot be replaced: $!");
    rename $temporary, $out or fail(2, "OUT: $shown: cannot be written: $!");
    undef $temporary;

    my %variants = map { $class->{$_}[0] => 1 } @chapters;
    printf "%s: %d chapters, %d tasks%s\n", $shown, scalar @chapters, scalar @tasks,
        defined $key ? ', of a class (' . join(', ', sort keys %variants) . '): class.tsv' : '';
    print "make cannot build in a path with a space: move it before you try it\n" if abs_path($out) =~ /\s/;
}

# ---- solutions back ----

sub solve {
    my ($directory, %except) = @_;
    my $class = read_class("$directory/class.tsv");
    my $put = 0;
    for my $chapter (@chapters) {
        my $path = "$directory/$chapter/" . (tasks_of($chapter))[0]{file};
        next unless -e $path;
        my %solution = map { @$_ } grep { defined $_->[0] } chapter_of_class($chapter, $class);
        my @parts = take_apart($path, read_file($path));
        my %there = map { $_->[0] => 1 } grep { defined $_->[0] } @parts;
        for my $task (tasks_of($chapter)) {
            $there{ $task->{id} } or fail(2, "$path: no line '// task $task->{id}: ...'");
        }
        for my $part (grep { defined $_->[0] && $solution{ $_->[0] } && !$except{ $_->[0] } } @parts) {
            $part->[1] = resolve($path, $solution{ $part->[0] }, '-UHANDOUT');
            $put++;
        }
        write_file($path, put_together(@parts));
    }
    printf "%s: %d solution%s\n", $directory, $put, $put == 1 ? '' : 's';
}

sub check_key {
    my ($key) = @_;
    usage('--class: the key is empty') if $key eq '';
    fail(2, '--class: expected a key in one line, without control characters') if $key =~ /[\x00-\x1f\x7f]/;
    return $key;
}

usage('no directory given') unless @ARGV;
my $first = shift @ARGV;
if ($first eq '--class-table') {
    usage('--class-table takes one key at most') if @ARGV > 1;
    print class_table(class_of_key(@ARGV ? check_key($ARGV[0]) : undef));
} elsif ($first eq '--class-header') {
    usage('--class-header: expected the path of a class.tsv') if @ARGV != 1;
    print class_header(read_class($ARGV[0]));
} elsif ($first eq '--solve') {
    usage('--solve: expected a directory') unless @ARGV;
    my $directory = shift @ARGV;
    my %except;
    if (@ARGV) {
        usage("--solve: '$ARGV[0]' is not understood") if $ARGV[0] ne '--except' || @ARGV != 2;
        %except = map { $_ => 1 } split /,/, $ARGV[1];
        for my $id (sort keys %except) {
            grep { $_->{id} eq $id } @tasks or fail(2, "--except: no task '$id'; classroom/tasks.tsv lists them");
        }
    }
    -d $directory or fail(2, "--solve: $directory: expected a directory");
    solve($directory, %except);
} elsif ($first =~ /^-/ || $first eq '') {
    usage($first eq '' ? 'OUT is empty' : "$first: no such option");
} else {
    my $key;
    if (@ARGV) {
        usage("'$ARGV[0]' is not understood") if $ARGV[0] ne '--class';
        usage('--class: expected one key') if @ARGV != 2;
        $key = check_key($ARGV[1]);
    }
    hand_out($first, $key);
}
