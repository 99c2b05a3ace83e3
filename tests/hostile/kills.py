"""Kills at random moments: the next run gives the right result, and nothing of the killed one stays."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from random import Random

from tests.hostile.cases import Case
from tests.hostile.classify import Class, Outcome, classify, files
from tests.hostile.oracle import CLICKS, LISTS, ranks, read, recalls
from tests.hostile.processes import Trial, environment, finish, shop, start
from tests.hostile.sheets import of_text


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
    numbers = {key: value for key, value in wanted.items() if " recall@5 " in key and key.endswith("pooled")}

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
        home = {name for name in files(folder) if name.startswith("home")}
        case = Case("killed", argv, ["log.csv"], outputs, numbers, refusable=False)
        return classify(case, again, before | home | set(there), folder)

    return Trial(f"killed after {moment:.2f} s", run)


def _wait(poll: object, seconds: float) -> None:
    """Sleep, but no longer than the process lives."""
    until = time.monotonic() + seconds
    while callable(poll) and poll() is None and time.monotonic() < until:
        time.sleep(min(0.02, max(until - time.monotonic(), 0.0)))
