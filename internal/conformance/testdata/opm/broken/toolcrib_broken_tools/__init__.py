"""Toolboxes that cannot be used, each in its own way."""

nowhere = "/nowhere/SKILL.md"


def not_a_toolbox():
    pass
