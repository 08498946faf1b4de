#!/usr/bin/perl
# make hint N=3 [LEVEL=2]: prints the next hint for a task, or that of a level. N is the task's number or its id. What
# was shown is remembered in build/hints.tsv.
# Exit status: 0 done; 2 a mistake in N or LEVEL; 3 build/ cannot be written.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);

my $classroom = abs_path(dirname(__FILE__));
my $build = dirname($classroom) . '/build';

sub fail {
    my ($status, $message) = @_;
    print STDERR "hint: $message\n";
    exit $status;
}

sub lines_of {
    my ($path) = @_;
    open my $in, '<', $path or fail(2, "$path: cannot be read: $!");
    chomp(my @lines = <$in>);
    return @lines;
}

my @tasks = map { [split /\t/] } grep { !/^#|^\s*$/ } lines_of("$classroom/tasks.tsv");
my ($wanted, $level) = @ENV{qw(N LEVEL)};
if (!defined $wanted || $wanted eq '') {
    print "make hint N=... [LEVEL=1]; the tasks:\n\n";
    printf "%3d  %-16s %s\n", $_ + 1, @{ $tasks[$_] }[0, 4] for 0 .. $#tasks;
    exit 0;
}
my ($number) = grep { $wanted eq $_ + 1 || $wanted eq $tasks[$_][0] } 0 .. $#tasks;
defined $number or fail(2, "N=$wanted: expected a task, 1 to " . @tasks . ' or its name; `make hint` lists them');
my ($id, $chapter, undef, undef, $title) = @{ $tasks[$number] };

# The hints: "## 1" and so on; "## 2 softcap" is added to the second one where the class computes that.
my $variant = 'plain';
if (-e "$classroom/../class.tsv") {
    my ($line) = grep { /^\Q$chapter\E\t/ } lines_of("$classroom/../class.tsv");
    $variant = (split /\t/, $line)[1] if $line;
}
my (@hints, $current);
for my $line (lines_of("$classroom/hints/$id.md")) {
    if ($line =~ /^## (\d+)(?: (\w+))?$/) {
        $current = !defined $2 || $2 eq $variant ? $1 : 0;
        next;
    }
    push @{ $hints[$current] }, $line if $current;
}
for my $hint (grep { $_ } @hints) {
    shift @$hint while @$hint && $hint->[0] eq '';
    pop @$hint while @$hint && $hint->[-1] eq '';
}

my %shown = -e "$build/hints.tsv" ? map { split /\t/ } lines_of("$build/hints.tsv") : ();
my $seen = ($shown{$id} // '') =~ /^(\d+)$/ ? $1 : 0;
if (defined $level && $level ne '') {
    $level =~ /^[1-9]\d*$/ && $level <= $#hints or fail(2, "LEVEL=$level: task $id has hints 1 to $#hints");
} else {
    $level = $seen < $#hints ? $seen + 1 : $#hints;
}
printf "Task %d, %s: %s\nHint %d of %d\n\n%s\n", $number + 1, $id, $title, $level, $#hints, join "\n", @{ $hints[$level] };
print $level < $#hints ? "\nmake hint N=" . ($number + 1) . " says more.\n" : "\nThat was the last one.\n";

if ($level > $seen) {
    $shown{$id} = $level;
    mkdir $build unless -d $build;
    open my $out, '>', "$build/hints.tsv.new" or fail(3, "$build/hints.tsv: cannot be written: $!");
    print $out "$_\t$shown{$_}\n" for sort keys %shown;
    close $out && rename "$build/hints.tsv.new", "$build/hints.tsv" or fail(3, "$build/hints.tsv: cannot be written: $!");
}
