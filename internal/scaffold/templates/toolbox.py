# toolcrib:
#   effects: [pure]
#   timeout: 10s

# A toolbox in one file: every function whose name does not begin with _ is a tool. Its arguments come from its
# type hints, and what a model reads comes from its docstring. "pure" means that they only compute. To let single
# tools do more, say so by name, and they can reach that and nothing else:
#
#   effects: {fetch: [network], "*": pure}
#   hosts: [api.example.org]


def {{function}}_words(text: str) -> int:
    """Count the words of a text.

    Args:
        text: The text to count in.
    """
    return len(text.split())


def {{function}}_longest(text: str) -> str:
    """Find the longest word of a text.

    Args:
        text: The text to look in.
    """
    return max(text.split(), key=len, default="")
