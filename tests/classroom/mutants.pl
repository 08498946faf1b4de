#!/usr/bin/perl
# The grader's mutation score. Each submission of submissions/*.edits is the solution with a few texts replaced; graded, it
# has to lose exactly the criteria it names, and keep every other of its chapter.
#
#     mutants.pl COURSE SCRATCH FILE.edits...
#
#     @ CHAPTER/FILE.cu what is wrong with it
#     loses TASK: criteria           plain shapes inputs fresh hbm hazards; "all", "rest" = hbm hazards
#     loses chapter: category        every task loses all, and the first reason is of that category
#     keeps all
#     ---
#     a text that occurs exactly once in the solution
#     +++
#     what stands there instead
#
# A text that occurs not once, or a replacement that changes nothing, is an error: no mutant may quietly become a solution.
# Prints a line for each that is not as it should be, and the score; exit 1 unless it is 100 %.
use strict;
use warnings;
use File::Basename qw(basename);
use File::Path qw(make_path remove_tree);

my ($course, $scratch, @files) = @ARGV;
die "usage: mutants.pl COURSE SCRATCH FILE.edits...\n" unless @files;
my @CODE = qw(plain shapes inputs fresh hbm hazards);
my %TOLD = ('correct on the plain case' => 'plain', 'any shape' => 'shapes', 'hard inputs' => 'inputs',
    'fresh cases' => 'fresh', 'memory budget' => 'hbm', 'no hazards' => 'hazards', prediction => 'predict');
my $jobs = $ENV{MUTANT_JOBS} || 2;

sub slurp { my ($path) = @_; open my $in, '<', $path or die "$path: $!\n"; local $/; return scalar <$in> }
sub spill { my ($path, $text) = @_; open my $out, '>', $path or die "$path: $!\n"; print $out $text; close $out or die "$path: $!\n" }

sub read_edits {
    my ($path) = @_;
    my (@mutants, $where);
    for my $line (split /\n/, slurp($path), -1) {
        if ($line =~ /^@ (\w+)\/(\w+\.cu) (.+)/) {
            push @mutants, { chapter => $1, file => $2, name => $3, edits => [], loses => {}, from => basename($path) };
            $where = undef;
        } elsif (@mutants && !defined $where && $line =~ /^loses chapter: (.+)/) {
            $mutants[-1]{category} = $1;
        } elsif (@mutants && !defined $where && $line =~ /^loses (\S+): (.+)/) {
            my ($task, $words) = ($1, $2);
            $words =~ s/\ball\b/@CODE/;
            $words =~ s/\brest\b/hbm hazards/;
            $mutants[-1]{loses}{$task} = { map { $_ => 1 } split ' ', $words };
        } elsif (@mutants && $line eq '---') {
            push @{ $mutants[-1]{edits} }, { from => '', to => '' };
            $where = 'from';
        } elsif ($line eq '+++' && $where) {
            $where = 'to';
        } elsif (defined $where) {
            $mutants[-1]{edits}[-1]{$where} .= "$line\n";
        }
    }
    for my $edit (map { @{ $_->{edits} } } @mutants) { s/\n+\z// for @$edit{qw(from to)} }
    return @mutants;
}

# The solutions, as handout.pl puts them into stubs.
sub solutions {
    my ($directory) = @_;
    remove_tree($directory);
    make_path($directory);
    spill("$directory/class.tsv", scalar `perl $course/classroom/handout.pl --class-table`);
    for my $path (glob "$course/0*_*/*.cu") {
        my ($chapter, $file) = $path =~ m{([^/]+)/([^/]+)$};
        make_path("$directory/$chapter");
        system("unifdef -DHANDOUT '$path' > '$directory/$chapter/$file'") >> 8 <= 1 or die "unifdef failed\n";
    }
    system("perl $course/classroom/handout.pl --solve '$directory' >/dev/null") == 0 or die "handout.pl --solve failed\n";
    spill("$directory/predictions.txt", scalar `perl $course/classroom/grade.pl --answers`);
    return $directory;
}

sub edited {
    my ($mutant, $text) = @_;
    my $before = $text;
    for my $edit (@{ $mutant->{edits} }) {
        my $count = () = $text =~ /\Q$edit->{from}\E/g;
        return (undef, "its text occurs $count times: '" . substr($edit->{from}, 0, 60) . "'") if $count != 1;
        my $at = index $text, $edit->{from};
        substr $text, $at, length $edit->{from}, $edit->{to};
    }
    return (undef, 'it changes nothing') if $text eq $before;
    return ($text, undef);
}

# Grades one; returns what is wrong with the grade, or ''.
sub judge {
    my ($mutant, $solutions, $number) = @_;
    my ($text, $why) = edited($mutant, slurp("$solutions/$mutant->{chapter}/$mutant->{file}"));
    return $why if $why;
    # One task alone, but for the first of each file and chapter: what nobody touched must keep its points too.
    my @tasks = keys %{ $mutant->{loses} };
    my $only = @tasks == 1 && !$mutant->{first} ? $tasks[0] : $mutant->{chapter};
    my $directory = "$scratch/m$number";
    remove_tree($directory);
    make_path("$directory/$mutant->{chapter}");
    spill("$directory/$mutant->{chapter}/$mutant->{file}", $text);
    spill("$directory/predictions.txt", slurp("$solutions/predictions.txt"));
    local $ENV{GRADE_CPU_SECONDS} = 2;
    system('sh', '-c', 'log=$1; shift; exec "$@" >"$log" 2>&1', 'sh', "$directory/log", 'perl', "$course/classroom/grade.pl",
        '--submission', $directory, '--only', $only, '--junit', "$directory/junit.xml");
    return 'it was not graded: ' . slurp("$directory/log") if $? != 0;
    my $difference = compare($mutant, slurp("$directory/junit.xml"));
    remove_tree($directory) if $difference eq '';
    return $difference;
}

sub compare {
    my ($mutant, $xml) = @_;
    my (@wrong, %seen);
    while ($xml =~ m{<testcase classname="[^"]*" name="(\S+): ([^"]*)"(?:/>|>\s*<failure message="([^"]*)">)}g) {
        my ($task, $criterion, $category) = ($1, $TOLD{$2} // $2, $3);
        my $lost = defined $category;
        my $should = $criterion ne 'predict' && ($mutant->{category} || $mutant->{loses}{$task}{$criterion});
        $seen{$task} = 1;
        push @wrong, "$task " . ($lost ? 'loses' : 'keeps') . " $criterion" . ($lost ? " ($category)" : '') if !!$lost != !!$should;
        push @wrong, "$task: '$category', expected '$mutant->{category}'"
            if $mutant->{category} && $criterion eq 'plain' && ($category // '') ne $mutant->{category};
    }
    push @wrong, "no grade of $_" for grep { !$seen{$_} } keys %{ $mutant->{loses} };
    push @wrong, 'no grades at all' unless %seen;
    return join '; ', @wrong;
}

my @mutants = map { read_edits($_) } @files;
die "no submissions in @files\n" unless @mutants;
@mutants = grep { $_->{name} =~ /$ENV{MUTANT}/ } @mutants if $ENV{MUTANT};
my %chapter_seen;
$_->{first} = !$chapter_seen{"$_->{from} $_->{chapter}"}++ for @mutants;
make_path($scratch);
my $solutions = solutions("$scratch/solutions");
my (%running, %outcome);
$| = 1;
for my $number (0 .. $#mutants + $jobs) {
    while (%running && (keys %running >= $jobs || $number > $#mutants)) {
        my $child = wait;
        delete $running{$child};
    }
    next if $number > $#mutants;
    my $child = fork // die "cannot start a process: $!\n";
    if (!$child) {
        my $wrong = eval { judge($mutants[$number], $solutions, $number) } // $@;
        spill("$scratch/$number.outcome", $wrong);
        exit 0;
    }
    $running{$child} = $number;
}
my ($good, $wrong_ones, $right_ones) = (0, 0, 0);
for my $number (0 .. $#mutants) {
    my $mutant = $mutants[$number];
    my $is_wrong = $mutant->{category} || %{ $mutant->{loses} };
    $is_wrong ? $wrong_ones++ : $right_ones++;
    my $outcome = -f "$scratch/$number.outcome" ? slurp("$scratch/$number.outcome") // '' : 'it was not graded';
    unlink "$scratch/$number.outcome";
    if ($outcome eq '') { $good++; next }
    print "$mutant->{from}: $mutant->{chapter}: $mutant->{name}:\n    $outcome\n";
}
printf "table: mutation score %d of %d (%d wrong ones caught as they should be, %d right ones keep all points)\n", $good,
    scalar @mutants, $wrong_ones, $right_ones if $good == @mutants;
printf "table: mutation score %d of %d\n", $good, scalar @mutants if $good != @mutants;
exit($good == @mutants ? 0 : 1);
