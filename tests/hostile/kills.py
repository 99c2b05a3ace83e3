"""Kills at random moments: the next run gives the right result, and nothing of the killed one stays."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from random import Random

from tests.hostile.classify import Class, Outcome, files
from tests.hostile.oracle import CLICKS, LISTS, ranks, read, recalls
from tests.hostile.processes import Trial, environment, finish, shop, start
from tests.hostile.sheets import of_text

SLACK = 1e-9


def kill_trial(rng: Random, folder: Path) -> Trial:
    """``evaluate`` with four outputs, killed, and run again."""
    world, argv, outputs = shop(rng, folder)
    moment = rng.choice((rng.uniform(0.0, 6.0), rng.uniform(1.5, 3.0)))
    sheets = {name: of_text((folder / f"{name}.csv").read_bytes(), ",", False) for name in ("log", *world.lists)}
    wanted = recalls(
        read(sheets["log"], CLICKS, False),
        {name: ranks(read(sheets[name], LISTS, False), False) for name in world.lists},
    )
    before = files(folder)

    def run() -> Outcome:
        env = environment(folder)
        killed = start(argv, folder, env)
        _wait(killed.poll, moment)
        if killed.poll() is None:
            os.killpg(killed.pid, signal.SIGKILL)
        killed.communicate()
        there = [name for name in outputs if (folder / name).exists()]
        for name in there:
            if not (folder / name).stat().st_size:
                return Class.SILENT, f"a killed run left an empty {name}"
        again = finish(start(argv, folder, env))
        if again.code != 0:
            return Class.TRACEBACK, f"after a kill at {moment:.2f} s: {again.ended or again.stderr[-300:]}"
        import json

        for row in json.loads((folder / "out.json").read_text(encoding="utf-8"))["estimates"]:
            key = f"{row['model']} {row['metric']} {row['estimator']} {row['target']}"
            if abs(row["value"] - wanted[key]) > SLACK:
                return Class.SILENT, f"after a kill, {key} is {row['value']}, the oracle says {wanted[key]}"
        left = sorted(name for name in files(folder) - before - set(outputs) if not name.startswith("home"))
        return (Class.LEFT, f"after a kill at {moment:.2f} s: {left}") if left else (Class.RIGHT, "")

    return Trial(f"killed after {moment:.2f} s", run)


def _wait(poll: object, seconds: float) -> None:
    """Sleep, but no longer than the process lives."""
    until = time.monotonic() + seconds
    while callable(poll) and poll() is None and time.monotonic() < until:
        time.sleep(min(0.02, max(until - time.monotonic(), 0.0)))
