"""Finds skills with AgenticX' own loader: [directory, …] on standard input."""

import json
import logging
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType


class Stubs:
    """Stands for the libraries of models: the loader needs none, and they take most of the time."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "litellm" or name.startswith("agenticx.llms"):
            return ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return ModuleType(spec.name)

    def exec_module(self, module):
        module.__getattr__ = lambda key: type(key, (), {})


sys.meta_path.insert(0, Stubs())

from agenticx.tools.skill_bundle import SkillBundleLoader  # noqa: E402

sys.stdout, out = sys.stderr, sys.stdout
logging.disable(logging.CRITICAL)
results = [SkillBundleLoader(search_paths=[Path(place)]).scan() for place in json.load(sys.stdin)]
json.dump([{s.name: s.description for s in found} for found in results], out)
