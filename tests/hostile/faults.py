"""The machine itself fails: a full disk, little memory, compiled kernels that cannot be kept or trusted."""

from __future__ import annotations

import hashlib
import os
import pickle
import resource
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from numba.core.caching import UserProvidedCacheLocator

from tests.hostile.cases import Case
from tests.hostile.classify import Class, Outcome, classify, files
from tests.hostile.processes import Trial, environment, finish, shop, start
from tests.hostile.runner import Run
from tests.hostile.worker import STDERR
from unskew.kernels import hits


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
    """Compiled kernels cannot be kept, are damaged, or may be another user's: it works, and runs nothing of theirs."""
    _, argv, outputs = shop(rng, folder)
    kernels = folder / "home" / "above" / "kernels"
    way = rng.choice((*PLACES, *DAMAGE, *THEIRS))
    case = Case(f"compiled kernels: {way}", argv, ["kernels", "NUMBA_CACHE_DIR"], outputs)

    def run() -> Outcome:
        kernels.parent.mkdir(parents=True)
        env = environment(folder, NUMBA_CACHE_DIR=str(kernels))
        if way in PLACES:
            if way == "a file in its place":
                kernels.write_text("x")
            else:
                env["NUMBA_CACHE_DIR"] = "/proc/nowhere"
            if way == "no home":
                env.pop("HOME")
        else:
            kept = _keep(kernels)
            for path in kept if way in THEIRS else rng.sample(kept, len(kept) // 2):
                path.write_bytes(DAMAGE[way](path.read_bytes(), rng) if way in DAMAGE else _payload(folder / "ran"))
            if way in THEIRS:
                place = rng.choice((kernels, kernels.parent, kept[0].parent, *kept[:1]))
                for each in kept if place in kept else (place,):  # a file that nobody else can change is ours
                    _open(each, way)
                for path in kept if way == THEIRS[-1] else ():
                    os.chown(path, NOBODY, NOBODY)
        before = files(folder)
        ended = finish(start(argv, folder, env))
        if (folder / "ran").exists():
            return Class.SILENT, f"{way}: what somebody else had put there was run"
        return _judged(case, ended, before | {name for name in files(folder) if name.startswith("home")}, folder)

    return Trial(case.what, run)


PLACES = ("a file in its place", "in /proc", "no home")
DAMAGE: dict[str, Callable[[bytes, Random], bytes]] = {
    "truncated": lambda data, rng: data[: rng.randrange(len(data) or 1)],
    "zeros": lambda data, rng: bytes(len(data)),
    "garbage": lambda data, rng: rng.randbytes(len(data)),
}
THEIRS = ("all may write", "a group may write", "another user's")
NOBODY = 65_534


def _open(place: Path, way: str) -> None:
    """Somebody else can change this file or folder."""
    if way == "another user's" and os.geteuid() == 0:
        os.chown(place, NOBODY, NOBODY)
    else:
        os.chown(place, -1, NOBODY if os.geteuid() == 0 else -1)
        place.chmod(0o775 if way == "a group may write" and os.geteuid() == 0 else 0o777)


def _keep(folder: Path) -> list[Path]:
    """The compiled kernels of this machine, where ``NUMBA_CACHE_DIR`` would have them."""
    source = Path(hits.__file__)
    place = folder / UserProvidedCacheLocator.get_suitable_cache_subpath(str(source))
    known = os.environ.get("NUMBA_CACHE_DIR")
    kept = Path(known) / place.name if known else source.parent / "__pycache__"
    place.mkdir(parents=True)
    return [Path(shutil.copy(path, place)) for path in sorted(kept.glob("*.nbc"))]


def _payload(ran: Path) -> bytes:
    """A file with a right checksum that leaves a trace where it is loaded."""

    class Run:
        def __reduce__(self) -> tuple[Any, tuple[str, str]]:
            return open, (str(ran), "w")

    content = pickle.dumps(Run())
    return hashlib.sha256(content).digest() + content


def _judged(case: Case, run: Run, before: set[str], folder: Path) -> Outcome:
    """The class of a run, whose words are kept beside its files."""
    (folder / STDERR).write_text(run.stderr, encoding="utf-8", errors="backslashreplace")
    return classify(case, run, before, folder)
