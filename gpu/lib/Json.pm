# A JSON text as Perl data: the small part of JSON::PP that is needed here, for a perl that comes without it.
package Json;
use strict;
use warnings;

my %escape = (n => "\n", t => "\t", r => "\r", b => "\b", f => "\f", '"' => '"', '\\' => '\\', '/' => '/');

# Dies with the place when the text is not JSON. true and false become 1 and 0, null undef.
sub parse {
    my ($text) = @_;
    pos($text) = 0;
    my $value = value(\$text);
    $text =~ /\G\s*/gc;
    fail(\$text, 'the end') if pos($text) < length $text;
    return $value;
}

sub fail {
    my ($text, $expected) = @_;
    my $at = pos($$text) // 0;
    die sprintf("JSON: expected %s at byte %d, got '%s'\n", $expected, $at, substr($$text, $at, 20));
}

sub value {
    my ($text) = @_;
    $$text =~ /\G\s*/gc;
    return object($text) if $$text =~ /\G\{/gc;
    return array($text) if $$text =~ /\G\[/gc;
    return string($text) if $$text =~ /\G"/gc;
    return $1 + 0 if $$text =~ /\G(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)/gc;
    return $1 eq 'true' ? 1 : $1 eq 'false' ? 0 : undef if $$text =~ /\G(true|false|null)\b/gc;
    fail($text, 'a value');
}

sub object {
    my ($text) = @_;
    my %object;
    return \%object if $$text =~ /\G\s*\}/gc;
    while (1) {
        $$text =~ /\G\s*"/gc or fail($text, 'a key');
        my $key = string($text);
        $$text =~ /\G\s*:/gc or fail($text, "':'");
        $object{$key} = value($text);
        return \%object if $$text =~ /\G\s*\}/gc;
        $$text =~ /\G\s*,/gc or fail($text, "',' or '}'");
    }
}

sub array {
    my ($text) = @_;
    my @array;
    return \@array if $$text =~ /\G\s*\]/gc;
    while (1) {
        push @array, value($text);
        return \@array if $$text =~ /\G\s*\]/gc;
        $$text =~ /\G\s*,/gc or fail($text, "',' or ']'");
    }
}

sub string {
    my ($text) = @_;
    my $string = '';
    while (1) {
        $string .= $1 if $$text =~ /\G([^"\\]+)/gc;
        return $string if $$text =~ /\G"/gc;
        if ($$text =~ /\G\\u([0-9a-fA-F]{4})/gc) { $string .= chr hex $1 }
        elsif ($$text =~ /\G\\(.)/gc && exists $escape{$1}) { $string .= $escape{$1} }
        else { fail($text, 'the end of a string') }
    }
}

1;
