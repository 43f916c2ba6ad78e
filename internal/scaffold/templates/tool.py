# toolcrib:
#   effects: [pure]
#   timeout: 10s

# The comment above is for all functions of this file; this one is not part of it, because of the empty line.
# Every function whose name does not begin with _ is a tool. Its arguments come from its type hints, and what
# a model reads comes from its docstring: say what the tool does, and when to use it.
# "pure" means that it only computes. To let it do more, say so, and it can reach that and nothing else:
#
#   effects: [reads, network]     also: writes, destroys; without the line and with hosts, people are asked
#   read: [.]                     directories, here the working directory; write: [./out] likewise
#   hosts: [api.example.org]
#   python: ~/venvs/mine          a virtual environment with packages that it needs
#
# What it returns is the result, and what it raises is a failure. What it prints goes to the log.

from typing import Literal


def {{function}}(text: str, unit: Literal["words", "lines", "letters"] = "words") -> int:
    """Count the words, lines or letters of a text.

    Args:
        text: The text to count in.
        unit: What to count.
    """
    if unit == "words":
        return len(text.split())
    if unit == "lines":
        return len(text.splitlines())
    return len(text)
