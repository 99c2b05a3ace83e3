"""Ctrl-C at random moments, aimed at the start and at compilation: an end in time, one line, nothing half-written."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from random import Random

from tests.hostile.classify import Class, Outcome, files
from tests.hostile.processes import Trial, environment, finish, shop, start

PROMPT = 6.0  # seconds on a busy machine; alone it should take less than two


def interrupt_trial(rng: Random, folder: Path) -> Trial:
    """``evaluate`` is interrupted, with compiled kernels at hand or with none."""
    _, argv, outputs = shop(rng, folder)
    compiling = rng.random() < 0.4
    moment = rng.uniform(0.2, 8.0) if compiling else rng.uniform(0.0, 3.0)
    before = files(folder)

    def run() -> Outcome:
        more = {"NUMBA_CACHE_DIR": str(folder / "home" / "kernels")} if compiling else {}
        process = start(argv, folder, environment(folder, **more))
        time.sleep(moment)
        os.killpg(process.pid, signal.SIGINT)
        ended = finish(process, PROMPT)
        at = f"interrupted after {moment:.2f} s"
        if ended.ended == "hang":
            return Class.HANG, f"{at}: no end within {PROMPT:.0f} s"
        if "KeyboardInterrupt" in ended.stderr and "unskew" not in ended.stderr:
            return Class.CLEAN, ""  # Python itself had not begun yet
        if ended.code not in (0, 130, -signal.SIGINT):
            return Class.TRACEBACK, f"{at}: exit code {ended.code}: {ended.stderr[-300:]}"
        if "Traceback" in ended.stderr or "Exception ignored" in ended.stderr:
            return Class.TRACEBACK, f"{at}: {ended.stderr[-300:]}"
        left = sorted(name for name in files(folder) - before if not name.startswith("home"))
        if left == sorted(outputs):  # also where it stopped right after all was written
            return Class.RIGHT, ""
        return (Class.LEFT, f"{at}: {left}") if left or ended.code == 0 else (Class.CLEAN, "")

    return Trial(f"{'compiling, ' if compiling else ''}interrupted after {moment:.2f} s", run)
