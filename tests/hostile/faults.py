"""The machine itself fails: a full disk, little memory, Ctrl-C and kills at random moments."""

from __future__ import annotations

import os
import resource
import signal
import time
from dataclasses import replace
from pathlib import Path
from random import Random

from tests.hostile.cases import Case, honest_numbers
from tests.hostile.classify import Class, Outcome, classify, files
from tests.hostile.processes import Trial, environment, finish, shop, start
from tests.hostile.runner import Run
from tests.hostile.worker import STDERR

PROMPT = 6.0  # seconds to an end after Ctrl-C on a busy machine; alone it should take less than two


def disk_trial(rng: Random, folder: Path) -> Trial:
    """No file may grow beyond a few bytes: an error that names the output, and no output at all."""
    _, argv, outputs = shop(rng, folder)
    most = rng.choice((0, 100, 4096, 30_000))
    case, before = Case(f"files of at most {most:,} bytes", argv, outputs, outputs), files(folder)

    def run() -> Outcome:
        env = environment(folder, NUMBA_CACHE_DIR=os.environ.get("NUMBA_CACHE_DIR", ""))
        return _judged(case, finish(start(argv, folder, env, {resource.RLIMIT_FSIZE: most})), before, folder)

    return Trial(case.what, run)


def memory_trial(rng: Random, folder: Path) -> Trial:
    """Little address space: the right numbers, or one clear error."""
    _, argv, outputs = shop(rng, folder)
    most = rng.choice((1_000, 1_500, 2_000, 3_000, 4_000)) << 20
    if rng.random() < 0.5:
        argv, outputs = [arg for arg in argv if not arg.startswith("--html")], [o for o in outputs if o != "out.html"]
    what = f"{most >> 20:,} MB of address space, {len(outputs)} outputs"
    case, before = Case(what, [*argv, "--threads=1"], ["memory", *outputs], outputs), files(folder)

    def run() -> Outcome:
        env = environment(folder, POLARS_MAX_THREADS="1", OPENBLAS_NUM_THREADS="1")
        ended = finish(start(case.argv, folder, env, {resource.RLIMIT_AS: most}))
        words = [line for line in ended.stderr.splitlines(keepends=True) if not line.startswith("<jemalloc>")]
        return _judged(case, replace(ended, stderr="".join(words)), before, folder)

    return Trial(case.what, run)


def interrupt_trial(rng: Random, folder: Path) -> Trial:
    """Ctrl-C, with compiled kernels at hand or with none: an end in time, one line, nothing half-written."""
    _, argv, outputs = shop(rng, folder)
    compiling = rng.random() < 0.4
    moment = rng.uniform(0.2, 8.0) if compiling else rng.uniform(0.0, 3.0)
    before, at = files(folder), f"interrupted after {moment:.2f} s"

    def run() -> Outcome:
        more = {"NUMBA_CACHE_DIR": str(folder / "home" / "kernels")} if compiling else {}
        process = start(argv, folder, environment(folder, **more))
        time.sleep(moment)
        os.killpg(process.pid, signal.SIGINT)
        ended = finish(process, PROMPT)
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

    return Trial(f"{'compiling, ' if compiling else ''}{at}", run)


def kill_trial(rng: Random, folder: Path) -> Trial:
    """``evaluate`` with four outputs is killed, and run again: the right result, and nothing of the killed one."""
    world, argv, outputs = shop(rng, folder)
    moment = rng.choice((rng.uniform(0.0, 6.0), rng.uniform(1.5, 3.0)))
    wanted, before = honest_numbers(world), files(folder)
    numbers = {key: value for key, value in wanted.items() if " recall@5 " in key and key.endswith("pooled")}

    def run() -> Outcome:
        env, until = environment(folder), time.monotonic() + moment
        killed = start(argv, folder, env)
        while killed.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        if killed.poll() is None:
            os.killpg(killed.pid, signal.SIGKILL)
        killed.communicate()
        there = [name for name in outputs if (folder / name).exists()]
        if empty := [name for name in there if not (folder / name).stat().st_size]:
            return Class.SILENT, f"a killed run left an empty {empty[0]}"
        again = finish(start(argv, folder, env))
        home = {name for name in files(folder) if name.startswith("home")}
        case = Case("killed", argv, ["log.csv"], outputs, numbers, refusable=False)
        return classify(case, again, before | home | set(there), folder)

    return Trial(f"killed after {moment:.2f} s", run)


def _judged(case: Case, run: Run, before: set[str], folder: Path) -> Outcome:
    """The class of a run, whose words are kept beside its files."""
    (folder / STDERR).write_text(run.stderr, encoding="utf-8", errors="backslashreplace")
    return classify(case, run, before, folder)
