"""Serial, parallel, resumed and killed runs give the same result, to the last digit."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import unskew as us
from tests.cross_validation import logs
from unskew.cross_validation.fold import FoldTask
from unskew.estimators.strata import Strata
from unskew.models import MostPopular

SPLIT = logs.WEEKS
ASKED: dict[str, Any] = {"split": SPLIT, "metrics": ["recall@5", "dcg@5"], "propensity": "popularity(gamma=1)"}
CODE = """
import sys
import unskew as us
from tests.cross_validation import logs
us.cross_validate(logs.log(), logs.MODELS, split=logs.WEEKS, metrics=["recall@5", "dcg@5"],
                  propensity="popularity(gamma=1)", store=sys.argv[1], workers=int(sys.argv[2]))
"""


def count_fits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The labels of folds that were computed, not found."""
    made: list[str] = []
    measure = FoldTask.measure

    def counted(self: Any, split: Any, *rest: Any) -> Any:
        made.append(split.label)
        return measure(self, split, *rest)

    monkeypatch.setattr(FoldTask, "measure", counted)
    return made


def test_workers_and_stores_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One worker, three workers, kept, found again: the same dictionary."""
    log, made = logs.log(), count_fits(monkeypatch)
    serial = us.cross_validate(log, logs.MODELS, workers=1, **ASKED).to_dict()
    folds = len(serial["folds"])
    assert us.cross_validate(log, logs.MODELS, workers=3, **ASKED).to_dict() == serial
    assert us.cross_validate(log, logs.MODELS, workers=2, store=tmp_path, **ASKED).to_dict() == serial
    assert len(made) == 3 * folds
    assert us.cross_validate(log, logs.MODELS, workers=2, store=tmp_path, **ASKED).to_dict() == serial
    assert len(made) == 3 * folds


def test_lost_folds_are_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any folds may be missing: models are then fitted, or updated over the gap, with the same lists."""
    log = logs.log()
    whole = us.cross_validate(log, logs.MODELS, store=tmp_path, **ASKED).to_dict()
    made = count_fits(monkeypatch)
    units = sorted(tmp_path.rglob("*.unit"))
    for lost in (units[:1], units[1:], units[::2]):
        made.clear()
        for path in lost:
            path.unlink()
        assert us.cross_validate(log, logs.MODELS, store=tmp_path, **ASKED).to_dict() == whole
        assert len(made) == len(lost)


def test_what_was_asked_decides_what_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another metric, model, propensity or threshold finds nothing; other levels and intervals find everything."""
    log, made = logs.log(), count_fits(monkeypatch)
    us.cross_validate(log, logs.MODELS, store=tmp_path, **ASKED)
    folds = len(made)
    same: dict[str, Any]
    for same in ({"level": 0.9}, {"interval": "bootstrap", "replicates": 50}, {"seed": 3}):
        us.cross_validate(log, logs.MODELS, store=tmp_path, **(ASKED | same))
        assert len(made) == folds
    others: list[dict[str, Any]] = [
        {"metrics": ["recall@6"]},
        {"propensity": "popularity(gamma=2)"},
        {"candidates": "all"},
    ]
    for n, other in enumerate(others):
        us.cross_validate(log, logs.MODELS, store=tmp_path, **(ASKED | other))
        assert len(made) == (n + 2) * folds
    us.cross_validate(log, logs.MODELS[:2], store=tmp_path, **ASKED)
    assert len(made) == 5 * folds


def test_a_longer_log_finds_the_folds_that_it_did_not_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A week more, with new users and items: only its own fold is computed, and the result is that of a fresh run."""
    made, end = count_fits(monkeypatch), logs.START + 6 * logs.WEEK
    frame = logs.frame()
    split = "sliding_window(width=1w, folds={}, min_users=5, until={})"
    first = us.Log.from_frame(frame.filter(frame["time"] < end))
    asked = ASKED | {"split": split.format(3, end)}
    us.cross_validate(first, logs.MODELS, store=tmp_path, **asked)
    assert len(made) == 3
    made.clear()
    longer = us.Log.from_frame(frame)
    asked = ASKED | {"split": split.format(4, end + logs.WEEK)}
    found = us.cross_validate(longer, logs.MODELS, store=tmp_path, **asked)
    assert len(made) == 1
    assert found.to_dict() == us.cross_validate(longer, logs.MODELS, **asked).to_dict()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no kill on this system")
def test_a_run_may_be_killed_at_any_moment(tmp_path: Path) -> None:
    """Killed now and then, started again: in the end the result of an undisturbed run."""
    moments = random.Random(1)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])}
    for attempt in range(3):
        run = subprocess.Popen([sys.executable, "-c", CODE, str(tmp_path), str(1 + attempt % 2)], env=environment)
        deadline = time.monotonic() + 60.0
        while time.monotonic() < deadline and run.poll() is None and len(list(tmp_path.rglob("*.unit"))) <= attempt:
            time.sleep(0.01)
        time.sleep(moments.random() * 0.1)
        run.kill()
        run.wait()
    kept = len(list(tmp_path.rglob("*.unit")))
    assert kept > 0
    log = logs.log()
    found = us.cross_validate(log, logs.MODELS, store=tmp_path, **ASKED).to_dict()
    assert found == us.cross_validate(log, logs.MODELS, **ASKED).to_dict()


def test_models_without_a_string_are_not_kept(tmp_path: Path) -> None:
    """An object that nothing identifies, or one that has learnt something, would be found again as another one."""
    log = logs.log()

    class Mine(MostPopular):
        """Prints as most_popular does, and may be anything."""

    class Other:
        def fit(self, log: Any) -> Other:
            return self

        def recommend(self, users: Any, k: int, *, seen: Any = None) -> Any:
            return MostPopular().fit(log).recommend(users, k, seen=seen)

    for nameless in (Other(), Mine()):
        with pytest.raises(us.InputError, match="has no canonical string"):
            us.cross_validate(log, {"mine": nameless, "popular": "most_popular"}, store=tmp_path, **ASKED)
    shares = us.estimators.Stratified(shares={"1": 0.5, "2": 0.5}, strata=Strata(count=2))
    with pytest.raises(us.InputError, match="has no canonical string"):
        us.cross_validate(log, logs.MODELS, store=tmp_path, **(ASKED | {"estimators": [shares], "target": "per_user"}))
    with pytest.raises(us.InputError, match="was fitted before"):
        us.cross_validate(log, {"mine": MostPopular().fit(log), "other": "random"}, store=tmp_path, **ASKED)
    assert not list(tmp_path.rglob("*.unit"))
    us.cross_validate(log, {"mine": Other(), "popular": "most_popular"}, **ASKED)
