"""Interrupts at random moments: ``python -m tests.cli.interrupts 200 [seed]``.

Every run must be gone two seconds after SIGINT, with exit code 130 (0 where it had finished), one line and no
traceback, all of its outputs or none, and no temporary file. Moments are drawn over the whole of a run, over its first
fifth of a second, and over the compilation of kernels from an empty cache. Before Python has started, and so before a
line of ours has run, Ctrl-C ends it in its own way: by the signal, or with a traceback of its own; these are counted.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PROMPT = 2.0  # seconds
LINE = "Stopped. Nothing was half-written.\n"


@dataclass(frozen=True)
class Run:
    """A command, the files that it writes into its folder, and how long it takes at most."""

    arguments: tuple[str, ...]
    outputs: frozenset[str]
    seconds: float
    compiles: bool = False


@dataclass(frozen=True)
class Ended:
    """How a run ended: seconds after the signal, and what is wrong with it."""

    seconds: float
    code: int
    problem: str | None


def runs(shop: Path) -> list[Run]:
    """Commands that read, fit, sum, draw, and write every kind of file."""
    train, test, users = (str(shop / f"{name}.parquet") for name in ("train", "test", "users"))
    recs = ["--recs", f"a={shop / 'popular.parquet'}", "--recs", f"b={shop / 'random.parquet'}"]
    files = ("--json", "r.json", "--csv", "r.csv", "--html", "r.html", "--quiet")
    written = frozenset({"r.json", "r.csv", "r.html"})
    evaluate = ("evaluate", test, *recs, "--train", train, "--users", users, "--propensity", "popularity(gamma=1)")
    drawn = (*evaluate, "--interval", "bootstrap", "--replicates", "300", *files)
    return [
        Run((*evaluate, *files), written, 3.0),
        Run(drawn, written, 3.0),
        Run(drawn, written, 30.0, compiles=True),
        Run(("evaluate", test, *recs, "--estimator", "naive", *files), written, 20.0, compiles=True),
        Run(("audit", train, "--html", "a.html", "--quiet"), frozenset({"a.html"}), 3.0),
        Run(("sample", test, "--train", train, "-o", "s.parquet", "--quiet"), frozenset({"s.parquet"}), 3.0),
        Run(
            ("plan", test, *recs, "--seen", train, "--detect", "5%", "--draw", "300", "-o", "ask.csv", *files),
            written | {"ask.csv"},
            3.0,
        ),
        Run(("simulate", "-o", ".", "--users", "3000", "--items", "400", "--quiet"), frozenset(), 2.0),
        Run(("data", "list"), frozenset(), 1.0),
    ]


def make_shop(folder: Path) -> Path:
    """A small world to evaluate."""
    command = [sys.executable, "-m", "unskew", "simulate", "-o", folder, "--users", "3000", "--items", "300", "--quiet"]
    subprocess.run([*map(str, command)], check=True)
    return folder


def interrupt(run: Run, after: float, folder: Path, caches: Path | None = None, number: int = signal.SIGINT) -> Ended:
    """Start a run in an empty folder, send it a signal, and look at what it leaves."""
    environment = dict(os.environ)
    if run.compiles:
        environment["NUMBA_CACHE_DIR"] = str(caches)
    running = subprocess.Popen(
        [sys.executable, "-m", "unskew", *run.arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # some shells ignore it for their children
    )
    time.sleep(after)
    running.send_signal(number)
    sent = time.monotonic()
    try:
        _, said = running.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        running.kill()
        running.communicate()
        return Ended(time.monotonic() - sent, -signal.SIGKILL, "stuck")
    seconds = time.monotonic() - sent
    return Ended(seconds, running.returncode, _problem(run, running.returncode, said, folder, seconds))


def _problem(run: Run, code: int, said: str, folder: Path, seconds: float) -> str | None:
    left = {path.name for path in folder.iterdir()}
    if seconds > PROMPT:
        return f"{seconds:.2f} s after the signal"
    if run.outputs and left not in (set(), run.outputs):
        return f"left {sorted(left)}"
    if any(name.startswith(".") for name in left):
        return f"left {sorted(left)}"
    if code == 0 or (code == 130 and said == LINE):
        return None
    if code in (1, -signal.SIGINT) and _before_ours(said):
        return None
    return f"exit code {code}, said {said[-600:]!r}"


def _before_ours(said: str) -> bool:
    """Nothing, or a traceback of Python's own start, which is over when the first file of ours is in it."""
    return not said or ("KeyboardInterrupt" in said and "unskew/" not in said)


def moment(run: Run, rng: random.Random) -> float:
    """A third of the moments lies in the first fifth of a second, when Python starts and modules are loaded."""
    return rng.uniform(0.0, 0.2) if rng.random() < 0.33 else rng.uniform(0.0, run.seconds)


def campaign(count: int, seed: int, only: Sequence[int] = ()) -> list[tuple[Run, float, Ended]]:
    """So many interrupts, one after another."""
    rng = random.Random(seed)
    found = []
    with tempfile.TemporaryDirectory() as place:
        commands = runs(make_shop(Path(place) / "shop"))
        commands = [commands[n] for n in only] or commands
        for number in range(count):
            folder, caches = Path(place) / "run", Path(place) / "caches"
            for path in (folder, caches):
                shutil.rmtree(path, ignore_errors=True)
                path.mkdir()
            run = commands[number % len(commands)]
            after = moment(run, rng)
            found.append((run, after, interrupt(run, after, folder, caches)))
    return found


def main() -> None:
    """Print what was wrong, then counts and the longest time."""
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**6)
    found = campaign(count, seed)
    wrong = [(run, after, ended) for run, after, ended in found if ended.problem is not None]
    for run, after, ended in wrong:
        print(f"{' '.join(run.arguments[:1])} after {after:.3f} s: {ended.problem}")
    codes = ", ".join(f"{times} × {code}" for code, times in sorted(Counter(e.code for *_, e in found).items()))
    longest = max((ended.seconds for *_, ended in found), default=0.0)
    print(f"{count} interrupts (seed {seed}): {len(wrong)} wrong; exit codes {codes}; longest {longest:.2f} s")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
