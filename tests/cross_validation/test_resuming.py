"""Serial, parallel and resumed runs give the same result, to the last digit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import unskew as us
from tests.cross_validation import logs
from tests.said import refuses
from unskew.estimators import Strata
from unskew.models import MostPopular

SPLIT = logs.WEEKS
ASKED: dict[str, Any] = {"split": SPLIT, "metrics": ["recall@5", "dcg@5"], "propensity": "popularity(gamma=1)"}


class Made:
    """A store, and how many of its folds were computed, not found."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def units(self) -> list[Path]:
        return sorted(self.folder.rglob("*.unit"))

    def by(self, log: us.Log, models: Any = logs.MODELS, **options: Any) -> tuple[int, dict[str, Any]]:
        """How many folds a cross-validation computes, and what it says."""
        before = {(path.name, path.stat().st_mtime_ns) for path in self.units()}
        found = us.cross_validate(log, models, store=self.folder, **(ASKED | options)).to_dict()
        return len({(path.name, path.stat().st_mtime_ns) for path in self.units()} - before), found


def test_neither_workers_nor_stores_nor_lost_folds_change_anything(tmp_path: Path) -> None:
    """One worker, three workers, kept, found again, some of them lost: the same dictionary, and none is made twice."""
    log, made = logs.log(), Made(tmp_path)
    whole = us.cross_validate(log, logs.MODELS, workers=1, **ASKED).to_dict()
    folds = len(whole["folds"])
    assert us.cross_validate(log, logs.MODELS, workers=3, **ASKED).to_dict() == whole
    assert made.by(log, workers=2) == (folds, whole)
    assert made.by(log, workers=2) == (0, whole)
    for lost in (made.units()[:1], made.units()[1:], made.units()[::2]):
        for path in lost:  # models are then fitted, or updated over the gap, with the same lists
            path.unlink()
        assert made.by(log) == (len(lost), whole)


def test_what_was_asked_decides_what_is_found(tmp_path: Path) -> None:
    """Another metric, model, propensity or candidates finds nothing; other levels and intervals find everything."""
    log, made = logs.log(), Made(tmp_path)
    folds, _ = made.by(log)
    same: tuple[dict[str, Any], ...] = ({"level": 0.9}, {"interval": "bootstrap", "replicates": 50}, {"seed": 3})
    others = {"metrics": ["recall@6"]}, {"propensity": "popularity(gamma=2)"}, {"candidates": "all"}
    assert [made.by(log, **options)[0] for options in same] == [0, 0, 0]
    assert [made.by(log, **options)[0] for options in others] == [folds] * 3
    assert made.by(log, logs.MODELS[:2])[0] == folds


def test_a_longer_log_finds_the_folds_that_it_did_not_change(tmp_path: Path) -> None:
    """A week more, with new users and items: only its own fold is computed, and the result is that of a fresh run."""
    made, end, frame = Made(tmp_path), logs.START + 6 * logs.WEEK, logs.frame()
    split = "sliding_window(width=1w, folds={}, min_users=5, until={})"
    first, longer = us.Log.from_frame(frame.filter(frame["time"] < end)), us.Log.from_frame(frame)
    assert made.by(first, split=split.format(3, end))[0] == 3
    asked = {"split": split.format(4, end + logs.WEEK)}
    fresh = us.cross_validate(longer, logs.MODELS, **(ASKED | asked)).to_dict()
    assert made.by(longer, **asked) == (1, fresh)


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

    shares = us.estimators.Stratified(shares={"1": 0.5, "2": 0.5}, strata=Strata(count=2))
    for model, options in (
        (Other(), {}),
        (Mine(), {}),
        (MostPopular().fit(log), {}),
        ("most_popular", {"estimators": [shares], "target": "per_user"}),
    ):
        with refuses("no-specification"):
            us.cross_validate(log, {"mine": model, "other": "random"}, store=tmp_path, **(ASKED | options))
    assert not list(tmp_path.rglob("*.unit"))
    us.cross_validate(log, {"mine": Other(), "popular": "most_popular"}, **ASKED)
