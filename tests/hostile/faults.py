"""The machine itself fails: little memory. A full disk is tried in ``tests/test_atomic.py``."""

from __future__ import annotations

import resource
from dataclasses import replace
from pathlib import Path
from random import Random

from tests.hostile.cases import Case
from tests.hostile.classify import Outcome, classify, files
from tests.hostile.processes import Trial, environment, finish, shop, start
from tests.hostile.runner import Run
from tests.hostile.worker import STDERR


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


def _judged(case: Case, run: Run, before: set[str], folder: Path) -> Outcome:
    """The class of a run, whose words are kept beside its files."""
    (folder / STDERR).write_text(run.stderr, encoding="utf-8", errors="backslashreplace")
    return classify(case, run, before, folder)
