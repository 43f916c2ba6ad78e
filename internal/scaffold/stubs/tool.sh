#!/bin/sh
# toolcrib:
#   description: {{quoted}}
#   args:
#     text: string
#   effects: [pure]
#   timeout: 30s

# TODO: {{line}}
# The arguments arrive as "$1", "$2", … in the order above. What is printed is the result. An exit
# status that is not 0 is a failure, and what stands on standard error says why.
set -eu

# TODO: this gives the text back as it is.
printf '%s\n' "$1"
