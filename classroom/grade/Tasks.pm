# tasks.tsv, cases.tsv, and the drawing of fresh cases.
package Tasks;
use strict;
use warnings;
use Digest::SHA qw(sha256_hex);

our @CRITERIA = qw(plain shapes inputs fresh hbm hazards predict);
our %NAME = (plain => 'correct on the plain case', shapes => 'any shape', inputs => 'hard inputs', fresh => 'fresh cases',
             hbm => 'memory budget', hazards => 'no hazards', predict => 'prediction');
# Of a task's points, in percent. Where no prediction is asked for its kernels, shapes get that share.
our %WEIGHT = (plain => 15, shapes => 15, inputs => 20, fresh => 15, hbm => 15, hazards => 10, predict => 10);

sub read_tsv {
    my ($path, @columns) = @_;
    open my $in, '<', $path or die "$path: cannot be read: $!\n";
    my @rows;
    while (my $line = <$in>) {
        $line =~ s/\r?\n//;
        next if $line =~ /^\s*(?:#|$)/;
        my @fields = split /\t/, $line, -1;
        die "$path:$.: " . @fields . ' fields, expected ' . @columns . " separated by tabs\n" if @fields != @columns;
        my %row = (line => $.);
        @row{@columns} = @fields;
        push @rows, \%row;
    }
    return @rows;
}

sub read_tasks {
    my ($path) = @_;
    my @tasks = read_tsv($path, qw(id chapter kernels title lines points));
    for my $task (@tasks) {
        $task->{kernels} = [ split /,/, $task->{kernels} ];
        die "$path:$task->{line}: points '$task->{points}': expected a number\n" if $task->{points} !~ /^\d+(?:\.\d+)?$/;
    }
    return @tasks;
}

sub read_cases {
    my ($path) = @_;
    my @cases = read_tsv($path, qw(chapter criterion order options hint));
    for my $case (@cases) {
        die "$path:$case->{line}: criterion '$case->{criterion}': expected plain, shapes, inputs or fresh\n"
            if $case->{criterion} !~ /^(?:plain|shapes|inputs|fresh)$/;
    }
    return @cases;
}

# A stream of numbers that depends on the words alone: the same submission draws the same cases, today and tomorrow, on
# any machine; nobody knows them before the submission is written, and without the key nobody else at all.
sub stream {
    my @words = @_;
    my $count = 0;
    return sub {
        my ($least, $most) = @_;
        return $least + hex(substr sha256_hex(join "\0", @words, $count++), 0, 8) % ($most - $least + 1);
    };
}

sub draw {
    my ($options, $draw) = @_;
    $options =~ s/\{seed\}/$draw->(1000, 999_999_999)/ge;
    $options =~ s/\{(\d+)\.\.(\d+)(?:!(\d+))?\}/number($1, $2, $3, $draw)/ge;
    $options =~ s/\{([^{}]*\|[^{}]*)\}/my @words = split m{\|}, $1; $words[ $draw->(0, $#words) ]/ge;
    die "cases.tsv: what is {...} in '$options'?\n" if $options =~ /[{}]/;
    return $options;
}

sub number {
    my ($least, $most, $not, $draw) = @_;
    my @numbers = grep { !$not || $_ % $not } $least .. $most;
    return $numbers[ $draw->(0, $#numbers) ];
}

# The cases of a chapter, fresh ones drawn.
sub cases_of {
    my ($cases, $chapter, @seed) = @_;
    my @list;
    for my $case (grep { $_->{chapter} eq $chapter } @$cases) {
        my $draw = stream(@seed, $chapter, $case->{line});
        push @list, { %$case, options => $case->{criterion} eq 'fresh' ? draw($case->{options}, $draw) : $case->{options} };
    }
    return @list;
}

1;
