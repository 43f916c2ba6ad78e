"""Toolcrib's tools for the personas of OpenVoiceOS.

Toolcrib declares tools once, judges every call and writes it down. This package is the way to them for the engines of
OpenVoiceOS, which call toolboxes in their own process: one toolbox, ``toolcrib``, whose tools are those that Toolcrib shows.
"""
from toolcrib_ovos.toolbox import ToolcribToolBox

__all__ = ["ToolcribToolBox", "__version__"]
__version__ = "0.1.0"
