"""Installs bundles with AgenticX' own installer: [directory, …] on standard input."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

from agenticx.extensions import installer

sys.stdout, out = sys.stderr, sys.stdout
results = [asdict(installer.install_bundle(Path(d))) for d in json.load(sys.stdin)]
record = json.loads((Path.home() / ".agenticx" / "bundles.json").read_text())
json.dump({"results": results, "keys": sorted({k for b in record["bundles"].values() for k in b})}, out)
