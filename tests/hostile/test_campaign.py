"""Two hundred hostile inputs of a fixed seed: every one ends in a clear error or in the oracle's numbers."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.hostile.campaign import KINDS, Campaign
from tests.hostile.tables import show

SLOW = (
    "views",
    "kills",
    "interrupts",
    "disks",
    "memory",
    "caches",
)  # `make hostile` has time for processes of their own


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is measured in /proc")
def test_two_hundred_hostile_inputs(tmp_path: Path) -> None:
    """None is silent, none a traceback, none hangs, none takes all the memory; nothing is left behind."""
    jobs = min(os.cpu_count() or 1, 2)
    findings = Campaign(0, tmp_path, jobs).run(200, [kind for kind in KINDS if kind not in SLOW])
    assert len(findings.rows) >= 200
    assert findings.good, show(findings, 0, tmp_path)
