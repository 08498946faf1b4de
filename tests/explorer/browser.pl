#!/usr/bin/perl
# A browser without a window, driven through its pipe (the DevTools protocol): opens a page, does what it is told, and
# prints one JSON object.
#
#   perl browser.pl [--size WxH] [--dark] [--reduced] PAGE.html[#hash] action...
#
#   key:ArrowRight       a key, as a person presses it           eval:JS     its value goes to "results"
#   until:JS             waits until it is true; fails after 10 s    shot:FILE   a PNG of the whole page
#   type:text            into what has the focus                 hash:TEXT   changes what stands after #
#
# {"results":[...],"console":[...],"requests":[...]}: console holds warnings, errors and exceptions; requests every
# address that was asked for, the page's own left out. Exit status 77: there is no Chromium here.
use strict;
use warnings;
use File::Temp qw(tempdir);
use JSON::PP;
use MIME::Base64;
use POSIX qw(dup2 _exit :sys_wait_h);

my ($width, $height, $dark, $reduced) = (1440, 900, 0, 0);
while (@ARGV && $ARGV[0] =~ /^--/) {
    my $option = shift;
    if ($option eq '--size' && ($ARGV[0] // '') =~ /^(\d+)x(\d+)$/) { ($width, $height) = (0 + $1, 0 + $2); shift }
    elsif ($option eq '--dark') { $dark = 1 }
    elsif ($option eq '--reduced') { $reduced = 1 }
    else { die "$option: unknown option\n" }
}
my ($page, @actions) = @ARGV;
die "usage: browser.pl [--size WxH] [--dark] [--reduced] PAGE.html[#hash] action...\n" unless defined $page;
my ($browser) = grep { -x } map { my $dir = $_; map {"$dir/$_"} qw(chromium chromium-browser google-chrome) } split /:/, $ENV{PATH};
exit 77 unless $browser;

$^F = 20; # keep the pipes open in the child
my $home = tempdir(CLEANUP => 1);
pipe my $to_read, my $to_write or die "pipe: $!\n";
pipe my $from_read, my $from_write or die "pipe: $!\n";
my $child = fork // die "fork: $!\n";
if ($child == 0) {
    setpgrp;
    my ($in, $out) = map { POSIX::dup($_) } fileno $to_read, fileno $from_write;
    my ($high_in, $high_out) = (30, 31);
    dup2($in, $high_in), dup2($out, $high_out);
    dup2($high_in, 3), dup2($high_out, 4);
    POSIX::close($_) for 5 .. 31;
    @ENV{qw(HOME TMPDIR)} = ($home, $home); # what it leaves behind goes with them
    open STDOUT, '>', '/dev/null';
    open STDERR, '>', "$home/log";
    exec {$browser} $browser, '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
        '--disable-background-networking', '--disable-component-update', '--disable-default-apps', '--disable-extensions',
        '--disable-sync', '--hide-scrollbars', '--remote-debugging-pipe', "--user-data-dir=$home/profile", 'about:blank' or _exit(127);

}
close $to_read;
close $from_write;
END {
    if ($child) {
        local $?;
        kill 'KILL', -$child;
        waitpid $child, 0;
    }
}
$SIG{ALRM} = sub { print STDERR "browser.pl: no answer in time\n"; exit 1 };
alarm 80;

my $json = JSON::PP->new->utf8->allow_nonref->canonical;
my ($buffer, $next, @console, @requests) = ('', 1);

sub note {
    my ($message) = @_;
    my ($method, $p) = @{$message}{qw(method params)};
    if ($method eq 'Runtime.exceptionThrown') {
        my $details = $p->{exceptionDetails};
        push @console, "exception: " . ($details->{exception}{description} // $details->{text});
    } elsif ($method eq 'Runtime.consoleAPICalled' && $p->{type} =~ /^(error|warning|assert)$/) {
        push @console, "$p->{type}: " . join ' ', map { $_->{value} // $_->{description} // '' } @{$p->{args}};
    } elsif ($method eq 'Log.entryAdded' && $p->{entry}{level} =~ /^(error|warning)$/) {
        push @console, "$p->{entry}{level}: $p->{entry}{text}";
    } elsif ($method eq 'Network.requestWillBeSent' && $p->{request}{url} !~ /^data:/) {
        push @requests, $p->{request}{url};
    }
}

sub receive {
    until ($buffer =~ /\0/) {
        my $got = sysread $from_read, $buffer, 65536, length $buffer;
        if (!$got) {
            open my $log, '<', "$home/log";
            die "browser.pl: Chromium ended: " . join '', grep { !/dbus/ } <$log>;
        }
    }
    $buffer =~ s/^(.*?)\0//s;
    return $json->decode($1);
}

my $session;
sub call {
    my ($method, %params) = @_;
    my $id = $next++;
    my $message = {id => $id, method => $method, params => \%params};
    $message->{sessionId} = $session if $session;
    my $text = $json->encode($message) . "\0";
    while (length $text) {
        my $sent = syswrite $to_write, $text;
        die "browser.pl: Chromium does not listen: $!\n" unless $sent;
        substr $text, 0, $sent, '';
    }
    for (;;) {
        my $answer = receive();
        if (!defined $answer->{id}) { note($answer); next }
        next if $answer->{id} != $id;
        die "browser.pl: $method: $answer->{error}{message}\n" if $answer->{error};
        return $answer->{result};
    }
}

sub evaluate {
    my $result = call('Runtime.evaluate', expression => $_[0], returnByValue => JSON::PP::true, awaitPromise => JSON::PP::true);
    die "browser.pl: $_[0]: " . ($result->{exceptionDetails}{exception}{description} // 'exception') . "\n"
        if $result->{exceptionDetails};
    return $result->{result}{value};
}

sub until_true {
    for (1 .. 200) {
        return if evaluate($_[0]);
        select undef, undef, undef, 0.05;
    }
    die "browser.pl: never true: $_[0]\n";
}

my %codes = (' ' => 32, ArrowLeft => 37, ArrowUp => 38, ArrowRight => 39, ArrowDown => 40, Home => 36, End => 35, Tab => 9,
    Enter => 13, Escape => 27);
sub press {
    my ($key) = @_;
    $key = ' ' if $key eq 'Space';
    my %params = (key => $key, code => $key eq ' ' ? 'Space' : $key, windowsVirtualKeyCode => $codes{$key} // ord uc $key);
    my %text = $key eq ' ' ? (text => ' ') : $key eq 'Enter' ? (text => "\r") : ();
    call('Input.dispatchKeyEvent', type => 'keyDown', %params, %text);
    call('Input.dispatchKeyEvent', type => 'keyUp', %params);
}

my $target = call('Target.createTarget', url => 'about:blank');
$session = call('Target.attachToTarget', targetId => $target->{targetId}, flatten => JSON::PP::true)->{sessionId};
call("$_.enable") for qw(Runtime Log Network Page);
call('Emulation.setDeviceMetricsOverride', width => $width, height => $height, deviceScaleFactor => $width < 700 ? 2 : 1,
    mobile => $width < 700 ? JSON::PP::true : JSON::PP::false);
call('Emulation.setEmulatedMedia', features => [
    {name => 'prefers-color-scheme', value => $dark ? 'dark' : 'light'},
    {name => 'prefers-reduced-motion', value => $reduced ? 'reduce' : 'no-preference'}]);
call('Page.navigate', url => "file://$page");
until_true("document.readyState === 'complete' && document.documentElement.dataset.ready === 'yes'");

my @results;
for my $action (@actions) {
    my ($what, $text) = split /:/, $action, 2;
    if ($what eq 'eval') { push @results, evaluate($text) }
    elsif ($what eq 'key') { press($text) }
    elsif ($what eq 'until') { until_true($text) }
    elsif ($what eq 'type') { call('Input.insertText', text => $text) }
    elsif ($what eq 'hash') { evaluate('location.hash = ' . $json->encode($text) . '; new Promise((done) => setTimeout(done, 50))') }
    elsif ($what eq 'shot') {
        my $size = call('Page.getLayoutMetrics')->{cssContentSize};
        my $shot = call('Page.captureScreenshot', captureBeyondViewport => JSON::PP::true,
            clip => {x => 0, y => 0, width => $size->{width}, height => $size->{height}, scale => 1});
        open my $out, '>:raw', $text or die "$text: $!\n";
        print $out decode_base64($shot->{data});
        close $out or die "$text: $!\n";
    }
    else { die "$action: unknown action\n" }
}
my $own = (split /#/, $page)[0];
@requests = grep { (split /#/)[0] ne "file://$own" } @requests;
print $json->encode({results => \@results, console => \@console, requests => \@requests}), "\n";
