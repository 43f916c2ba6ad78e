#!/bin/sh
# toolcrib:
#   description: Count the words, lines or bytes of a text.
#   args:
#     text: string
#     unit: words | lines | bytes = words
#   effects: [pure]
#   timeout: 10s

# The comment above is the declaration, in YAML; this one is not part of it, because of the empty line.
# A model reads the description: say what the tool does, and when to use it. The arguments arrive here as
# $1, $2, … in the order above, each of them as it is, whatever it holds: write "$1", with the quotes.
# "pure" means that it only computes. To let it do more, say so, and it can reach that and nothing else:
#
#   effects: [reads, network]     also: writes, destroys; without the line and with hosts, people are asked
#   read: [.]                     directories, here the working directory; write: [./out] likewise
#   hosts: [api.example.org]
#
# What it prints is its result. An exit status that is not 0 is a failure, and what stands on standard
# error says why.
set -eu

case "$2" in
words) printf '%s' "$1" | wc -w ;;
lines) printf '%s' "$1" | wc -l ;;
bytes) printf '%s' "$1" | wc -c ;;
esac
