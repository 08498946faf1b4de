#!/usr/bin/perl
# Unit tests of gpu/lib and gpu/verify.pl's runner: prints "ok N what" or "not ok N what" a check, "1..N" at the end.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../../gpu/lib";
use Counters;
use Hardware;
use Json;
use Report;
use Runner;
use Sanitizer;
use Times;
use Tsv;

my ($scratch) = @ARGV;
my $checks = 0;

sub check {
    my ($what, $holds, $got) = @_;
    $checks++;
    print $holds ? "ok $checks $what\n" : "not ok $checks $what: got " . ($got // 'undef') . "\n";
}
sub equal { my ($what, $got, $expected) = @_; check($what, ($got // 'undef') eq $expected, $got) }

# ---- Json ----
my $json = Json::parse('{"a":[1,-2.5e3,"x\"\\\\\u0041"],"b":{"c":true,"d":null},"e":[],"f":{}}');
equal('numbers', "@{$json->{a}}[0,1]", '1 -2500');
equal('a string with escapes', $json->{a}[2], 'x"\\A');
equal('true', $json->{b}{c}, 1);
check('null', !defined $json->{b}{d});
equal('large counts stay exact', Json::parse('[9007199254740991]')->[0], '9007199254740991');
for my $bad ('{"a":1', '[1,]', '{"a" 1}', '[1] 2', '', '"x') {
    check("refused: $bad", !defined eval { Json::parse($bad) } && $@ =~ /expected/, $@);
}

# ---- Nsight Compute's two layouts ----
my $raw = <<'END';
==PROF== Connected to process 12
"ID","Process ID","Process Name","Kernel Name","Block Size","Grid Size","CC","dram__bytes_read.sum","smsp__sass_data_bytes_mem_global_op_ld.sum"
"","","","","","","","byte","byte"
"0","12","fa2","void fa2_row<(int)64>(const float *, float *, int)","(128, 1, 1)","(2, 2, 1)","9.0","1,234,567","98,304"
"1","12","fa2","scores(const float *, const float *, ""x"")","(32, 4, 1)","(7, 1, 1)","9.0","n/a","0"
==PROF== Disconnected
END
my @launches = Counters::read_csv($raw);
equal('launches of the raw page', scalar @launches, 2);
equal('a template kernel', "$launches[0]{kernel} <$launches[0]{template}> $launches[0]{grid} $launches[0]{block}", 'fa2_row <64> 2,2,1 128,1,1');
equal('thousands', $launches[0]{metrics}{dram__bytes_read}, 1234567);
equal('a plain kernel', "$launches[1]{kernel} <$launches[1]{template}> $launches[1]{block}", 'scores <> 32,4,1');
check('n/a is no number', !exists $launches[1]{metrics}{dram__bytes_read});
equal('zero is one', $launches[1]{metrics}{smsp__sass_data_bytes_mem_global_op_ld}, 0);
my $details = <<'END';
"ID","Kernel Name","Block Size","Grid Size","Section Name","Metric Name","Metric Unit","Metric Value"
"0","copy","(256, 1, 1)","(4, 1, 1)","Command line profiler metrics","dram__bytes_read.sum","byte","4,096"
"0","copy","(256, 1, 1)","(4, 1, 1)","Command line profiler metrics","dram__bytes_write.sum","byte","512"
END
@launches = Counters::read_csv($details);
equal('the details page', join(' ', map { $launches[0]{metrics}{"dram__bytes_$_"} } qw(read write)), '4096 512');
for my $case (["==ERROR== ERR_NVGPUCTRPERM - no permission\n", 'ERR_NVGPUCTRPERM'], ['', 'ncu wrote nothing'],
    ["==PROF== x\nFailed to initialize the profiler: LibraryNotLoaded\n", 'LibraryNotLoaded']) {
    check("told: $case->[1]", !defined eval { Counters::read_csv($case->[0]); 1 } && $@ =~ /$case->[1]/, $@);
}
equal('metrics a GPU has', join(' ', Counters::available("dram__bytes_read   Counter  byte  of DRAM\nfoo__bar Counter\n")), 'dram__bytes_read');

# ---- which launch is which ----
sub record { return { kernel => $_[0], grid => [$_[1], 1, 1], block => [32, 1, 1] } }
sub seen { return { kernel => $_[0], grid => "$_[1],1,1", block => '32,1,1', tag => $_[2], metrics => {} } }
# Two kernels of the harness, each launched to verify and again to time.
my @tags = map { $_ ? $_->{tag} : '-' } Counters::match(
    [record('a', 1), record('b', 2), record('b', 3), record('c', 1)],
    [seen('a', 1, 'A'), seen('a', 1, 'again'), seen('other', 9, 'x'), seen('b', 2, 'B2'), seen('b', 3, 'B3'), seen('b', 2, 'again')]);
equal('launches in order', "@tags", 'A B2 B3 -');

# ---- verdicts ----
sub verdicts {
    my ($global, $measured) = @_;
    my %metrics = map { $_ => $measured->{$_} } keys %$measured;
    return join '; ', map { "$_->[0] " . ($_->[3] // '-') . " $_->[4]" }
        Counters::compare({ global => { load => $global }, footprint => { read_bytes => 100, write_bytes => 100 } }, { metrics => \%metrics });
}
my ($bytes, $requests, $sectors) = map { "${_}global_op_ld" } 'smsp__sass_data_bytes_mem_', 'l1tex__t_requests_pipe_lsu_mem_', 'l1tex__t_sectors_pipe_lsu_mem_';
my $ours = { bytes => 4096, requests => 32, sectors => 128 };
equal('exact', verdicts($ours, { $bytes => 4096, $requests => 32, $sectors => 128 }),
    'global_load_bytes 1 exact; global_load_requests 1 exact; global_load_sectors 1 exact');
check('merged', verdicts($ours, { $bytes => 4096, $requests => 8, $sectors => 128 }) =~ /requests 0\.25 fewer: nvcc merges/);
check('kept in registers', verdicts($ours, { $bytes => 2048, $requests => 16, $sectors => 64 }) =~ /bytes 0\.5 fewer: nvcc keeps.*requests 0\.5 fewer: nvcc keeps/);
check('more bytes have no excuse', verdicts($ours, { $bytes => 8192 }) =~ /bytes 2 unexplained/);
check('more sectors have none', verdicts($ours, { $bytes => 4096, $requests => 32, $sectors => 130 }) =~ /sectors \S+ unexplained/);
check('fewer sectors of as many requests have none', verdicts($ours, { $bytes => 4096, $requests => 32, $sectors => 120 }) =~ /sectors \S+ unexplained/);
check('a bound that holds', verdicts($ours, { dram__bytes_read => 150 }) =~ /dram_read_bytes 1\.5 bound holds/);
check('a bound that does not', verdicts($ours, { dram__bytes_read => 50 }) =~ /dram_read_bytes 0\.5 unexplained/);
check('writes may stay in L2', verdicts($ours, { dram__bytes_write => 0 }) =~ /dram_write_bytes 0 fewer: what L2/);
check('no bound on writes', verdicts($ours, { dram__bytes_write => 150 }) =~ /dram_write_bytes 1\.5 more: whole sectors/);
equal('what was not measured has no row', verdicts($ours, {}), '');

# ---- compute-sanitizer ----
my %said = (
    error   => "========= COMPUTE-SANITIZER\n========= Invalid __global__ write of size 4 bytes\n=========     at k\n========= ERROR SUMMARY: 3 errors\n",
    clean   => "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n",
    warning => "========= COMPUTE-SANITIZER\n========= Warning: Race reported\n========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)\n",
    broken  => "========= COMPUTE-SANITIZER\n========= Error: Device not supported. Please refer to the documentation.\n",
);
for my $verdict (sort keys %said) { equal("read as $verdict", Sanitizer::read_output($said{$verdict}, 0)->{verdict}, $verdict) }
equal('a race of error level', Sanitizer::read_output("========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)\n", 0)->{verdict}, 'error');
equal('leaks', Sanitizer::read_output("========= LEAK SUMMARY: 256 bytes leaked in 1 allocations\n========= ERROR SUMMARY: 1 error\n", 0)->{leaks}, 1);
equal('a run without end', Sanitizer::read_output('', 1)->{verdict}, 'endless');
check('what was found is told', Sanitizer::read_output($said{error}, 0)->{said} =~ /^Invalid __global__ write/);
my @limits = ({ kernel => 'race_glo*', tool => 'racecheck', reason => 'blind there' });
my $race = { tool => 'racecheck', severities => 'error|warning' };
sub judged { return join ' / ', Sanitizer::judge(@_) }
equal('both see it', judged('r', 'broken', 'racecheck', $race, { verdict => 'error' }, \@limits), 'error|warning / agree');
equal('known blindness', judged('race_global', 'broken', 'racecheck', $race, { verdict => 'clean' }, \@limits), 'error|warning / differ, as known: blind there');
check('unknown blindness', judged('r', 'broken', 'racecheck', $race, { verdict => 'clean' }, \@limits) =~ /no reason we know/);
check('a false alarm', judged('r', 'fixed', 'racecheck', $race, { verdict => 'error' }, \@limits) =~ /where ours has none/);
check('another tool sees the bug too', judged('r', 'broken', 'memcheck', $race, { verdict => 'error' }, \@limits) =~ /beside it/);
check('a tool that did not run', judged('r', 'broken', 'racecheck', $race, { verdict => 'broken', said => 'why' }, \@limits) =~ /not comparable: why/);
equal('leaks are memcheck\'s', judged('m', 'broken', 'memcheck', { tool => 'leakcheck', severities => 'error' }, { verdict => 'error' }, []), 'error / agree');
# Every known limit names kernels that exist, and the tool that is expected to see them.
my $folder = "$FindBin::RealBin/../../simcc/tests/broken_kernels";
for my $limit (Sanitizer::read_limits("$FindBin::RealBin/../../gpu/sanitizer_limits.tsv")) {
    my @sources = glob "$folder/$limit->{kernel}.cu";
    check("limit of $limit->{kernel}", @sources && !grep { Sanitizer::expectation($_)->{tool} ne $limit->{tool} } @sources);
}

# ---- machine code ----
my %count = Times::count_instructions(<<'END');
		Function : _Z12multiply_addPfffi
        /*0000*/                   LDC R1, c[0x0][0x28] ;   /* 0x00000a */
        /*0010*/                   FFMA R4, R4, R26.reuse, R27.reuse ;
        /*0020*/              @!P0 FFMA.FTZ R4, R4, R26, R27 ;
        /*0030*/                   NOP ;
		Function : _Z12exponentialsPfi
        /*0010*/                   MUFU.EX2 R4, R4 ;
END
equal('instructions', join(' ', $count{multiply_add}{FFMA}, $count{exponentials}{MUFU}, $count{multiply_add}{NOP} // 'none'), '2 1 none');

# ---- the simulated side, run here or brought along ----
my $elsewhere = bless { work => $scratch, logs => $scratch, simulated => "$scratch/simulated", trees => {}, end => Runner::seconds() + 60 }, 'Report';
check('neither built nor brought along', !defined eval { Hardware::simulate($elsewhere, '01_naive', '--seq 8') } && $@ =~ /was not built/, $@);
mkdir "$scratch/simulated";
open my $brought, '>', "$scratch/simulated/sim-01_naive--seq-8.json" or die;
print $brought '{"kernels":[{"name":"naive","launches":[]}]}';
close $brought;
Tsv::write_table("$scratch/simulated/sim-01_naive--seq-8.json.tsv", ['about'], [qw(kernel flop)], ['naive', 4096]);
equal('brought along', eval { Hardware::simulate($elsewhere, '01_naive', '--seq 8')->{kernels}[0]{flop} }, 4096);
my $kernel = { name => 'naive', flop => 4096 };
sub flop { return join ' ', map { $_ // '-' } @{ Hardware::flop_row('c', 'o', $kernel, map { { metrics => { map { ("smsp__sass_thread_inst_executed_op_${_}_pred_on", shift @{ $_[0] }) } qw(fadd fmul ffma) } } } @_) // [] }[6 .. 9] }
equal('all its arithmetic', flop([96, 0, 2000]), '4096 4096 1 exact');
check('arithmetic that the closed form leaves out', flop([1000, 0, 2000]) =~ /^4096 5000 1\.221 more: /);
check('less than the closed form', flop([0, 0, 2000]) =~ /unexplained/);

# ---- times beside floors, also of a file whose writer was stopped between points ----
open my $part, '>', "$scratch/x.part" or die;
print $part join("\n", '# about', "# seq\tkernel\tmedian_ms\tfloor_ms", "64\ta\t2\t1", '# done', '# point N=128', "128\ta\tNaN\t1",
    "256\ta\t5\t4", "torn\trow"), "\n";
close $part;
equal('rows with a time and a floor', join(' ', map { "$_->{seq}:$_->{median_ms}/$_->{floor_ms}" } Times::timed_rows("$scratch/x.part")), '64:2/1 256:5/4');

# ---- tables ----
Tsv::write_table("$scratch/t.tsv", ['about'], [qw(a b)], [1, undef], ["x\ty", '']);
my ($about, $columns, $rows) = Tsv::read_table("$scratch/t.tsv");
equal('what is unknown, what would break a line', join('|', map { @{$_}{qw(a b)} } @$rows), '1|NaN|x y|-');
open my $out, '>', "$scratch/bad.tsv" or die;
print $out "# a\tb\n1\n";
close $out;
check('a torn row is refused', !defined eval { Tsv::read_table("$scratch/bad.tsv"); 1 } && $@ =~ /expected 2 cells, got 1/, $@);

# ---- time limits ----
my $start = Runner::seconds();
my @jobs = Runner::run_all(2, undef, { command => ['sleep', 30], seconds => 0.3 }, { command => ['sh', '-c', 'exit 7'] },
    { command => ['/nowhere/at/all'], log => "$scratch/log" },
    { command => ['sh', '-c', "trap '' TERM; sleep 30 & wait; sleep 30"], seconds => 0.3 });
equal('statuses', join(' ', map { $_->{status} } @jobs), '124 7 127 124');
check('nothing outlives its limit', Runner::seconds() - $start < 25, Runner::seconds() - $start);
check('a program that is not there', Runner::last_line($jobs[2]) =~ /No such file/);
@jobs = Runner::run_all(1, Runner::seconds() + 0.3, { command => ['sleep', 30] }, { command => ['true'] });
check('no time left is no status', $jobs[0]{timed_out} && !defined $jobs[1]{status});

print "1..$checks\n";
