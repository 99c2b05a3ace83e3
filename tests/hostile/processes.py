"""Real processes, for what cannot be tried inside a worker: kills, interrupts, limits of the system, damaged caches."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from tests.hostile.classify import Outcome
from tests.hostile.drafts import Draft
from tests.hostile.runner import Run, crowd
from tests.hostile.worlds import World, draw

PATIENCE = 120.0  # seconds: other work may be going on


@dataclass
class Trial:
    """An input that runs its own processes and judges them itself."""

    what: str
    run: Callable[[], Outcome]


def environment(folder: Path, **more: str) -> dict[str, str]:
    """What a process of its own gets: no colours, and a home that it may fill."""
    usual = {
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "XDG_CACHE_HOME": str(folder / "home"),
        "HOME": str(folder),
    }
    return {**os.environ, **usual, **more}


def start(
    argv: list[str], folder: Path, env: Mapping[str, str], limits: Mapping[int, int] | None = None
) -> subprocess.Popen[str]:
    """Start a command of its own, in its own group, with limits of the system."""

    def limit() -> None:
        for what, most in (limits or {}).items():
            resource.setrlimit(what, (most, most))

    return subprocess.Popen(
        [sys.executable, "-m", "unskew", *argv],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, errors="backslashreplace",
        cwd=folder, env=dict(env), start_new_session=True, preexec_fn=limit if limits else None,
    )  # fmt: skip


def finish(process: subprocess.Popen[str], seconds: float = PATIENCE) -> Run:
    """Wait for the end; what does not end in time is killed, with all that it started."""
    began = time.monotonic()
    try:
        stdout, stderr = process.communicate(timeout=seconds * crowd())
        ended = f"died by signal {-process.returncode}" if process.returncode < 0 else ""
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        stdout, stderr = process.communicate()
        ended = "hang"
    return Run(process.returncode, ended, stdout, stderr, time.monotonic() - began)


def shop(rng: Random, folder: Path) -> tuple[World, list[str], list[str]]:
    """A world's files, the command that evaluates them, and its outputs."""
    world = draw(rng)
    for name, table in {"log": world.log, **world.lists}.items():
        Draft(name, table).write(folder)
    outputs = ["out.json", "out.csv", "out.html", "out.parquet"]
    argv = [
        "evaluate",
        "log.csv",
        "--recs=alpha=alpha.csv",
        "--recs=beta=beta.csv",
        "--metric=recall@5",
        "--estimator=naive",
    ]
    argv += ["--estimator=snips", "--propensity=known", *(f"--{name.split('.')[1]}={name}" for name in outputs)]
    return world, argv, outputs


def values(path: Path) -> list[Any]:
    """The numbers of a record."""
    return [row["value"] for row in json.loads(path.read_text(encoding="utf-8"))["estimates"]]
