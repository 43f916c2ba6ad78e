# toolcrib:
#   effects: [pure]
#   timeout: 30s


def {{function}}(text: str) -> str:
    """{{line}}

    Args:
        text: What it works on.
    """
    # TODO: this gives the text back as it is.
    return text
