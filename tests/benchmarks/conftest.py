"""The benchmarks are scripts beside each other: they find one another when their folder is on the path."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
if str(ROOT / "benchmarks") not in sys.path:
    sys.path.append(str(ROOT / "benchmarks"))
