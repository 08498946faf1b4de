# What the hardware counted of a launch, beside what the simulated device counted of it.
package Counters;
use strict;
use warnings;

# name, how to find it in a launch record of the simulated device (a path, or a function), and the metrics of Nsight
# Compute that count the same: alternatives in order of preference, each a list to be added up. All are sums over the
# GPU. Without a path it is only measured: the simulated device has no such thing.
my @counters = (
    ['global_load_bytes',       'global/load/bytes',       ['smsp__sass_data_bytes_mem_global_op_ld']],
    ['global_store_bytes',      'global/store/bytes',      ['smsp__sass_data_bytes_mem_global_op_st']],
    ['global_atomic_bytes',     'global/atomic/bytes',     ['smsp__sass_data_bytes_mem_global_op_atom', 'smsp__sass_data_bytes_mem_global_op_red']],
    ['global_load_requests',    'global/load/requests',    ['l1tex__t_requests_pipe_lsu_mem_global_op_ld']],
    ['global_store_requests',   'global/store/requests',   ['l1tex__t_requests_pipe_lsu_mem_global_op_st']],
    ['global_atomic_requests',  'global/atomic/requests',  ['l1tex__t_requests_pipe_lsu_mem_global_op_atom', 'l1tex__t_requests_pipe_lsu_mem_global_op_red']],
    ['global_load_sectors',     'global/load/sectors',     ['l1tex__t_sectors_pipe_lsu_mem_global_op_ld']],
    ['global_store_sectors',    'global/store/sectors',    ['l1tex__t_sectors_pipe_lsu_mem_global_op_st']],
    ['global_atomic_sectors',   'global/atomic/sectors',   ['l1tex__t_sectors_pipe_lsu_mem_global_op_atom', 'l1tex__t_sectors_pipe_lsu_mem_global_op_red']],
    ['shared_load_bytes',       'shared/load/bytes',       ['smsp__sass_data_bytes_mem_shared_op_ld']],
    ['shared_store_bytes',      'shared/store/bytes',      ['smsp__sass_data_bytes_mem_shared_op_st']],
    ['shared_load_requests',    'shared/load/requests',    ['smsp__sass_inst_executed_op_shared_ld'], ['smsp__inst_executed_op_shared_ld']],
    ['shared_store_requests',   'shared/store/requests',   ['smsp__sass_inst_executed_op_shared_st'], ['smsp__inst_executed_op_shared_st']],
    ['shared_load_wavefronts',  'shared/load/wavefronts',  ['l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld']],
    ['shared_store_wavefronts', 'shared/store/wavefronts', ['l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st']],
    ['shared_load_conflicts',   'shared/load/conflicts',   ['l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld']],
    ['shared_store_conflicts',  'shared/store/conflicts',  ['l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st']],
    ['dram_read_bytes',         'footprint/read_bytes',    ['dram__bytes_read']],
    ['dram_write_bytes',        'footprint/write_bytes',   ['dram__bytes_write']],
    ['fadd',                    undef, ['smsp__sass_thread_inst_executed_op_fadd_pred_on']],
    ['fmul',                    undef, ['smsp__sass_thread_inst_executed_op_fmul_pred_on']],
    ['ffma',                    undef, ['smsp__sass_thread_inst_executed_op_ffma_pred_on']],
    ['local_load_requests',     undef, ['l1tex__t_requests_pipe_lsu_mem_local_op_ld']],
    ['local_store_requests',    undef, ['l1tex__t_requests_pipe_lsu_mem_local_op_st']],
    ['time_ns',                 undef, ['gpu__time_duration']],
);

sub table { return @counters }

sub names { return map { $_->[0] } @counters }

# Every metric that may be asked for, without its ".sum".
sub metrics {
    my %seen;
    return grep { !$seen{$_}++ } map { @$_ } map { @$_[2 .. $#$_] } @counters;
}

# Of what `ncu --query-metrics` printed: the metrics of ours that this GPU has.
sub available {
    my ($printed) = @_;
    my %has = map { $_ => 1 } $printed =~ /^\s*([a-z0-9_]+__[a-z0-9_.]+)\b/mg;
    return grep { $has{$_} } metrics();
}

# ---- Nsight Compute's CSV ----

# The fields of one line.
sub fields {
    my ($line) = @_;
    my @fields;
    while ($line =~ /\G(?:"((?:[^"]|"")*)"|([^,]*))(,|$)/g) {
        my ($quoted, $plain, $end) = ($1, $2, $3);
        push @fields, defined $quoted ? $quoted =~ s/""/"/gr : $plain;
        last if $end eq '';
    }
    return @fields;
}

sub number {
    my ($text) = @_;
    my $plain = $text =~ s/[,\s]//gr;
    return $plain =~ /^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$/ ? $plain + 0 : undef;
}

# Launches in order: { kernel, template, grid, block, metrics => { name without .sum => value } }. Takes --page raw
# (a row a launch, a column a metric, units in the second row) and --page details (a row a metric). Dies when there
# is no table, with what ncu said instead.
sub read_csv {
    my ($text) = @_;
    my (@head, @launches, %by_id);
    for my $line (split /\r?\n/, $text) {
        if (!@head) {
            @head = fields($line) if $line =~ /^"?ID"?,/;
            next;
        }
        next if $line !~ /^"/; # ncu's own remarks
        my %row;
        @row{@head} = fields($line);
        next if ($row{ID} // '') !~ /^\d+$/; # the row of units
        my $launch = $by_id{ $row{ID} };
        if (!$launch) {
            $launch = $by_id{ $row{ID} } = { identity(\%row), metrics => {} };
            push @launches, $launch;
        }
        my %values = defined $row{'Metric Name'} ? ($row{'Metric Name'} => $row{'Metric Value'}) : %row;
        for my $name (grep { /^[a-z0-9_]+__/ } keys %values) {
            my $value = number($values{$name} // '');
            $launch->{metrics}{ $name =~ s/\.sum$//r } = $value if defined $value;
        }
    }
    return @launches if @launches;
    my ($said) = grep { /ERR_|==ERROR==|error/i } split /\n/, $text;
    ($said) = grep { /\S/ } reverse split /\n/, $text unless defined $said;
    die(($said // 'ncu wrote nothing') . "\n");
}

sub identity {
    my ($row) = @_;
    my $name = $row->{'Kernel Name'} // '';
    my ($kernel, $template) = $name =~ /(\w+?)(?:_kernel)?\s*(?:<(.*)>)?\s*(?:\(|$)/;
    return (
        kernel   => $kernel // $name,
        template => ($template // '') =~ s/\((?:int|bool)\)//gr,
        map { my $size = $row->{"\u$_ Size"} // ''; ($_ => join ',', $size =~ /\d+/g) } qw(grid block),
    );
}

# ---- the two side by side ----

sub simulated_value {
    my ($record, $path) = @_;
    my $value = $record;
    for my $key (split m{/}, $path) {
        return undef unless ref $value eq 'HASH';
        $value = $value->{$key};
    }
    return $value;
}

# For each launch of the simulated device, in order, the next launch that ncu saw of that kernel, grid and block, or
# undef. A harness launches to verify, then again to time: what lies between is passed over.
sub match {
    my ($simulated, $measured) = @_;
    my $next = 0;
    return map {
        my $record = $_;
        my ($grid, $block) = map { join ',', @{ $record->{$_} } } qw(grid block);
        my $name = $record->{kernel} =~ s/_kernel$//r;
        my $found;
        for my $at ($next .. $#$measured) {
            my $launch = $measured->[$at];
            next unless $launch->{kernel} eq $name;
            next if grep { $_->[0] ne '' && $_->[0] ne $_->[1] } [$launch->{grid}, $grid], [$launch->{block}, $block];
            $found = $launch;
            $next = $at + 1;
            last;
        }
        $found;
    } @$simulated;
}

sub measured_value {
    my ($launch, $counter) = @_;
    for my $metrics (@$counter[2 .. $#$counter]) {
        my @values = map { $launch->{metrics}{$_} } @$metrics;
        next if grep { !defined } @values;
        my $sum = 0;
        $sum += $_ for @values;
        return ($sum, join ' + ', map { "$_.sum" } @$metrics);
    }
    return;
}

# Rows [counter, simulated or undef, measured, ratio or undef, verdict, metric] of one launch. What was not measured
# has no row; nor has what neither side saw any of.
sub compare {
    my ($record, $launch) = @_;
    my (%simulated, %measured, @rows);
    for my $counter (@counters) {
        my ($name, $path) = @$counter;
        my ($value, $metric) = measured_value($launch, $counter);
        next unless defined $value;
        $measured{$name} = $value;
        $simulated{$name} = simulated_value($record, $path) if defined $path;
        push @rows, [$name, $simulated{$name}, $value, undef, undef, $metric];
    }
    for my $row (@rows) {
        my ($name, $simulated, $value) = @$row;
        $row->[3] = sprintf '%.4g', $value / $simulated if $simulated;
        $row->[4] = verdict($name, \%simulated, \%measured);
    }
    return grep { $_->[1] || $_->[2] } @rows;
}

# "exact", or in what direction it differs and why that may be. The reasons are rules, not excuses: whatever none of
# them covers is "unexplained", and is to be looked at.
sub verdict {
    my ($name, $simulated, $measured) = @_;
    my ($ours, $theirs) = ($simulated->{$name}, $measured->{$name});
    return 'only measured' unless defined $ours;
    return 'exact' if $ours == $theirs;
    return $theirs > $ours ? 'bound holds' : 'unexplained: below the bound' if $name eq 'dram_read_bytes';
    if ($name eq 'dram_write_bytes') {
        return $theirs > $ours ? 'more: whole sectors, and lines that were evicted more than once'
            : 'fewer: what L2 still holds at the end is not written yet';
    }
    my ($group) = $name =~ /^((?:global|shared)_(?:load|store|atomic))_/;
    my ($our_bytes, $their_bytes) = map { $_->{"${group}_bytes"} } $simulated, $measured;
    my $bytes_equal = defined $our_bytes && defined $their_bytes && $our_bytes == $their_bytes;
    my $bytes_fewer = defined $our_bytes && defined $their_bytes && $their_bytes < $our_bytes;
    if ($name =~ /_bytes$/) {
        return 'fewer: nvcc keeps in registers what the source reads again' if $theirs < $ours && $name =~ /load/;
        return 'unexplained';
    }
    my ($our_requests, $their_requests) = map { $_->{"${group}_requests"} } $simulated, $measured;
    my $merged = defined $our_requests && defined $their_requests && $their_requests < $our_requests;
    if ($theirs < $ours) {
        return 'fewer: nvcc keeps in registers what the source reads again' if $bytes_fewer;
        return 'fewer: nvcc merges narrow accesses into wide ones, the bytes are equal' if $bytes_equal && ($merged || $name =~ /_requests$/);
    }
    return 'more: it may count passes lost to arbitration' if $name =~ /_(?:wavefronts|conflicts)$/ && $bytes_equal && !$merged;
    return 'unexplained';
}

1;
