#!/bin/sh
# Tests {{name}}.sh. It runs in the folder of the tool, and a status that is not 0 is a failure.
set -eu

got=$(sh ./{{name}}.sh 'to be')
if [ "$got" != 'to be' ]; then
	echo "{{name}} 'to be' gives: $got" >&2
	exit 1
fi
