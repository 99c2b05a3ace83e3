"""The machine itself fails: a full disk, little memory, no place for compiled kernels, damaged compiled kernels."""

from __future__ import annotations

import os
import resource
import shutil
from dataclasses import replace
from pathlib import Path
from random import Random

from tests.hostile.cases import Case
from tests.hostile.classify import Outcome, classify, files
from tests.hostile.processes import Trial, environment, finish, shop, start
from tests.hostile.runner import Run
from tests.hostile.worker import STDERR


def disk_trial(rng: Random, folder: Path) -> Trial:
    """No file may grow beyond a few bytes: an error that names the output, and no output at all."""
    _, argv, outputs = shop(rng, folder)
    most = rng.choice((0, 100, 4096, 30_000))
    case = Case(f"files of at most {most:,} bytes", argv, outputs, outputs)
    before = files(folder)

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
    case = Case(what, [*argv, "--threads=1"], ["memory", *outputs], outputs)
    before = files(folder)

    def run() -> Outcome:
        env = environment(folder, POLARS_MAX_THREADS="1", OPENBLAS_NUM_THREADS="1")
        ended = finish(start(case.argv, folder, env, {resource.RLIMIT_AS: most}))
        words = [line for line in ended.stderr.splitlines(keepends=True) if not line.startswith("<jemalloc>")]
        return _judged(case, replace(ended, stderr="".join(words)), before, folder)

    return Trial(case.what, run)


def cache_trial(rng: Random, folder: Path) -> Trial:
    """Compiled kernels cannot be kept, or those that are kept are damaged: it works, or says what to delete."""
    _, argv, outputs = shop(rng, folder)
    kernels = folder / "home" / "kernels"
    ways = ("a file in its place", "in /proc", "truncated", "zeros", "garbage", "no home")
    way = rng.choice(ways)
    case = Case(f"compiled kernels: {way}", argv, ["kernels", "NUMBA_CACHE_DIR"], outputs)

    def run() -> Outcome:
        kernels.parent.mkdir()
        env = environment(folder, NUMBA_CACHE_DIR=str(kernels))
        if way == "a file in its place":
            kernels.write_text("x")
        elif way == "in /proc":
            env["NUMBA_CACHE_DIR"] = "/proc/nowhere"
        elif way == "no home":
            env.pop("HOME")
            env["NUMBA_CACHE_DIR"] = "/proc/nowhere"
        else:
            known = os.environ.get("NUMBA_CACHE_DIR", "")
            if known and Path(known).is_dir():
                shutil.copytree(known, kernels)
            else:
                finish(start(argv, folder, env))
            for path in sorted(kernels.rglob("*.nb?")):
                if rng.random() < 0.5:
                    _damage(path, way, rng)
            for name in outputs:
                (folder / name).unlink(missing_ok=True)
        before = files(folder)
        run = finish(start(argv, folder, env))
        return _judged(case, run, before | {name for name in files(folder) if name.startswith("home")}, folder)

    return Trial(case.what, run)


def _judged(case: Case, run: Run, before: set[str], folder: Path) -> Outcome:
    """The class of a run, whose words are kept beside its files."""
    (folder / STDERR).write_text(run.stderr, encoding="utf-8", errors="backslashreplace")
    return classify(case, run, before, folder)


def _damage(path: Path, way: str, rng: Random) -> None:
    data = path.read_bytes()
    changed = {
        "truncated": data[: rng.randrange(len(data) or 1)],
        "zeros": bytes(len(data)),
        "garbage": rng.randbytes(len(data)),
    }
    path.write_bytes(changed[way])
