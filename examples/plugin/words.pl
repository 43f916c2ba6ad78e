#!/usr/bin/env perl
# A plugin of Toolcrib in plain Perl: one tool, count_words.
use strict; use warnings; use JSON::PP;
$| = 1;                                          # each answer is on its way at once
my $json = JSON::PP->new->utf8->canonical;
my $tool = { name => 'count_words', description => 'Count the words of a text.',
  inputSchema => { type => 'object', properties => { text => { type => 'string', description => 'The text.' } }, required => ['text'] },
  annotations => { readOnlyHint => JSON::PP::true } };

sub count_words {
  my ($in) = @_;
  die "text is missing\n" unless defined $in->{text};
  print STDERR "counting\n";                     # the log; the standard output is the protocol's
  my @words = split ' ', $in->{text};
  return scalar @words;
}

while (my $line = <STDIN>) {                     # one message is one line; the end of the input is the end
  my $m = eval { $json->decode($line) };
  my ($result, $error);
  if (ref $m ne 'HASH') { $m = { id => undef }; $error = { code => -32700, message => 'this is no JSON object' } }
  elsif (!exists $m->{id} || !defined $m->{method}) { next }          # a notification, or an answer
  elsif ($m->{method} eq 'initialize') {
    $result = { protocolVersion => '2025-06-18', capabilities => { tools => {} }, serverInfo => { name => 'words', version => '1' } } }
  elsif ($m->{method} eq 'ping') { $result = {} }
  elsif ($m->{method} eq 'tools/list') { $result = { tools => [$tool] } }
  elsif ($m->{method} eq 'tools/call' && ($m->{params}{name} // '') eq 'count_words') {
    my $n = eval { count_words($m->{params}{arguments} // {}) };      # what fails is a result, and a model can mend it
    $result = { content => [{ type => 'text', text => $@ ? $@ : "$n" }], $@ ? (isError => JSON::PP::true) : () } }
  elsif ($m->{method} eq 'tools/call') { $error = { code => -32602, message => 'there is no such tool' } }
  else { $error = { code => -32601, message => 'there is no such method' } }
  print $json->encode({ jsonrpc => '2.0', id => $m->{id}, $error ? (error => $error) : (result => $result) }), "\n";
}
