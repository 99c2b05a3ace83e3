"""Signals end a command at once, wherever it is; ``make hostile`` tries random moments.

The command interrupts itself when it reaches a certain function, so that no test depends on a clock.
"""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import unskew as us
from tests.cli.commands import unskew
from tests.cross_validation import logs
from unskew.cross_validation.fitting import Fitter

LINE = "Stopped. Nothing was half-written.\n"
RUN = """
import os, signal, sys, threading, time

where, action, log, *sys.argv[1:] = sys.argv[1:]

def reached(once=threading.Lock()):
    if not once.acquire(blocking=False):
        return
    with open(log, "w") as file:
        file.write(f"{time.time()}")
    os.kill(os.getpid(), getattr(signal, action.split("+")[0]))
    if action == "SIGINT+stuck":  # no Python code runs in this thread any more
        threading.Event().wait()

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == where:
            reached()

def patch(place):
    from importlib import import_module
    module, _, name = place.rpartition(".")
    holder = import_module(module.split(":")[0])
    for part in module.split(":")[1:]:
        holder = getattr(holder, part)
    real = getattr(holder, name)
    def noted(*arguments, **options):
        reached()
        return real(*arguments, **options)
    setattr(holder, name, noted)

from unskew.__main__ import main
if "." in where:
    patch(where)
else:
    sys.meta_path.insert(0, Finder())
main()
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("interrupts") / "shop"
    unskew("simulate", "-o", folder, "--users", "3000", "--items", "300", "--quiet")
    return folder


@pytest.fixture
def evaluation(shop: Path) -> list[str]:
    files = ["--recs", f"a={shop / 'popular.parquet'}", "--recs", f"b={shop / 'random.parquet'}"]
    how = ["--train", f"{shop / 'train.parquet'}", "--propensity", "popularity(gamma=1)", "--interval", "bootstrap"]
    return ["evaluate", f"{shop / 'test.parquet'}", *files, *how, "--json", "r.json", "--csv", "r.csv", "--quiet"]


def _heed_signals() -> None:
    """Shells may let their children ignore SIGINT, and ``nohup`` SIGHUP: these tests may run in such a child."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def run(where: str, action: str, command: list[str], folder: Path, **environment: str) -> tuple[int, str, float]:
    """Exit code, what was said, and the seconds from the signal to the end."""
    folder.mkdir(exist_ok=True)
    log = folder.parent / "reached"
    done = subprocess.run(
        [sys.executable, "-c", RUN, where, action, str(log), *command],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=_heed_signals,
    )
    ended = time.time()
    assert log.exists(), f"{where} was never reached: {done.stderr}"
    return done.returncode, done.stderr, ended - float(log.read_text())


PROMPTLY = 60.0  # seconds: two on an idle machine, and who is waited for would never end
STUCK = "SIGINT+stuck"
FITTING = "unskew.propensity.popularity:Popularity.fit"
PLACES = {  # of an evaluation
    "loading": ("numba", "SIGINT"),
    "reading a list in a thread": ("unskew.log.lists.code_pieces", STUCK),
    "making machine code": ("numba.core.codegen:JITCodeLibrary._finalize_specific", STUCK),
    "summing in a thread": ("unskew.engine.data:EvaluationData.batch", "SIGINT"),
    "writing": ("unskew.core.atomic.write_text", STUCK),
}


@pytest.mark.parametrize("moment", PLACES)
def test_ctrl_c_ends_a_run_with_one_line(moment: str, evaluation: list[str], tmp_path: Path) -> None:
    """Nothing is left, also where a thread waits for ever, perhaps with the lock of the compiler."""
    caches = {"NUMBA_CACHE_DIR": str(tmp_path / "caches")} if moment == "making machine code" else {}
    code, said, seconds = run(*PLACES[moment], evaluation, tmp_path / "run", **caches)
    assert (code, said, files_in(tmp_path / "run")) == (130, LINE, {})
    assert seconds < PROMPTLY


def test_a_run_that_is_just_renaming_may_come_to_its_end(evaluation: list[str], tmp_path: Path) -> None:
    """All outputs are there or none."""
    code, said, _ = run("unskew.core.atomic._rename_all", "SIGINT", evaluation, tmp_path / "run")
    assert (code, said, set(files_in(tmp_path / "run"))) in [
        (130, LINE, set()), (130, LINE, {"r.json", "r.csv"}), (0, "", {"r.json", "r.csv"}),
        (0, LINE, {"r.json", "r.csv"}),  # the run ended while the signal was answered
    ]  # fmt: skip


OTHERS = {
    "drawing a sample": ("sample", "unskew.sampling.least:LeastKeys.look"),
    "writing a sample in a thread of polars": ("sample", "unskew.sampling.least:LeastKeys.taken"),
    "lists of a plan, in a thread": ("plan", "unskew.design.listed._block"),
    "pairs to ask": ("plan", "polars:DataFrame.write_parquet"),
    "fits of folds, in a thread": ("folds", "unskew.cross_validation.fitting:Fitter.fitted"),
    "keeping a fold": ("folds", "unskew.core.store._pack"),
}


@pytest.mark.parametrize("moment", OTHERS)
def test_ctrl_c_leaves_no_half_of_anything(moment: str, shop: Path, tmp_path: Path) -> None:
    """Samples, the questions of a plan without the plan, outputs of folds: what is kept is whole, and found again."""
    what, place = OTHERS[moment]
    code, said, seconds = run(place, STUCK, commands(shop)[what], tmp_path / "run")
    left = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert (code, said) == (130, LINE) and seconds < PROMPTLY
    assert all(path.suffix in (".unit", ".lock") for path in left) and (what == "folds" or not left)


def commands(shop: Path) -> dict[str, list[str]]:
    test, train = str(shop / "test.parquet"), str(shop / "train.parquet")
    recs = ["--recs", f"a={shop / 'popular.parquet'}", "--recs", f"b={shop / 'random.parquet'}"]
    models = ["--model", "most_popular", "--model", "random", "--estimator", "naive"]
    return {
        "sample": ["sample", test, "--train", train, "-o", "s.parquet", "-q"],
        "plan": ["plan", test, *recs, "--seen", train, "--detect", "5%", "--draw", "300", "-o", "ask.parquet",
                 "--json", "plan.json", "-q"],
        "folds": ["cross-validate", test, "--split", "k_fold(folds=3)", *models, "--store", "kept", "--json", "r.json",
                  "-q"],
    }  # fmt: skip


def test_ctrl_c_keeps_the_questions_of_an_earlier_plan(shop: Path, tmp_path: Path) -> None:
    """They may have been sent out already: a stopped draw does not touch them."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "ask.parquet").write_text("sent")
    code, said, _ = run("unskew.core.atomic._rename_all", STUCK, commands(shop)["plan"], tmp_path / "run")
    assert (code, said, files_in(tmp_path / "run")) == (130, LINE, {"ask.parquet": b"sent"})


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_other_signals_clean_up_as_well(name: str, evaluation: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "run"
    code, said, _ = run(FITTING, name, evaluation, folder)
    assert (code, said) == (128 + getattr(signal, name), LINE)
    assert not list(folder.iterdir())


def test_a_signal_that_was_ignored_from_the_start_stays_ignored(tmp_path: Path) -> None:
    """As ``nohup`` and ``&`` have it."""
    command = [sys.executable, "-c", RUN, "rich", "SIGHUP", str(tmp_path / "log"), "data", "list"]
    ignored = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=ignored)
    assert done.returncode == 0 and "movietweetings" in done.stdout, done.stderr


def test_the_cursor_is_shown_again_on_a_terminal(evaluation: list[str], tmp_path: Path) -> None:
    """A progress bar hides it."""
    reading, writing = pty.openpty()
    command = [sys.executable, "-c", RUN, FITTING, "SIGINT", str(tmp_path / "log"), *evaluation]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=writing,
        preexec_fn=_heed_signals,
    )
    os.close(writing)
    said = os.read(reading, 10_000)
    os.close(reading)
    assert done.returncode == 130 and b"\x1b[?25h" in said and b"Stopped." in said


def test_finished_folds_are_found_again_after_ctrl_c(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the second fold, where a model is updated for the first time: the first fold is kept and not redone."""
    log, kept, models = tmp_path / "log.parquet", tmp_path / "run" / "kept", ["most_popular", "recently_popular"]
    logs.frame().write_parquet(log)
    command = ["cross-validate", str(log), "--split", logs.WEEKS, "--model", models[0], "--model", models[1]]
    command += ["--estimator", "naive", "--workers", "1", "--store", "kept", "--json", "r.json", "--quiet"]
    code, said, _ = run("unskew.models.most_popular:MostPopular.update", "SIGINT", command, tmp_path / "run")
    assert (code, said, len(list(kept.rglob("*.unit")))) == (130, LINE, 1)
    assert not (tmp_path / "run" / "r.json").exists()
    fits: list[object] = []
    real = Fitter.fitted

    def counted(*given: Any) -> Any:
        fits.append(given)
        return real(*given)

    monkeypatch.setattr(Fitter, "fitted", counted)
    asked = {"split": logs.WEEKS, "estimators": ["naive"]}
    found = us.cross_validate(str(log), models, store=kept, **asked)  # type: ignore[arg-type]
    assert len(fits) == len(found.folds_) - 1 == 3
    assert found.to_dict() == us.cross_validate(str(log), models, **asked).to_dict()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("place", "before"),
    [
        ("unskew.split.files._write", True),
        ("unskew.split.files.write_json", False),
        ("unskew.core.atomic._rename_all", True),
    ],
)
def test_ctrl_c_leaves_all_folds_of_a_split_or_none(place: str, before: bool, tmp_path: Path) -> None:
    """No fold, folder or temporary is left of a split that was stopped, and an earlier one stays as it was."""
    log, folds = tmp_path / "log.parquet", tmp_path / "run" / "folds"
    logs.frame(rows=600).write_parquet(log)
    former: dict[str, bytes] = {}
    if before:
        us.split.write_splits(us.split.make_splits(us.read_log(log), "k_fold(folds=2)"), folds)
        former = files_in(folds)
    command = ["split", str(log), "--split", "sliding_window(width=1w, folds=3, min_users=5)", "-o", "folds", "--force"]
    code, said, seconds = run(place, STUCK, [*command, "--quiet"], tmp_path / "run")
    assert (code, said, files_in(folds)) == (130, LINE, former)
    folders = {path.name for path in (tmp_path / "run").rglob("*") if path.is_dir()}
    assert folders == ({"folds", "000", "001"} if before else set())
    assert seconds < PROMPTLY


def files_in(folder: Path) -> dict[str, bytes]:
    """Everything below a folder, by its path there."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
