"""What the experiments of jeunen18 share: logs, chosen settings, and cross-validations that are made once and kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np

from unskew import cross_validate, load
from unskew.core import Progress, Store
from unskew.log import Log
from unskew.log.datasets import folder_of
from unskew_papers.arrays import present
from unskew_papers.digest import digest
from unskew_papers.jeunen18.algorithms import GRIDS, LASTS, METRICS, NAMES, POP_N, Chosen, tuned
from unskew_papers.jeunen18.protocols import HOLDOUT, LOOCV, SW, kept
from unskew_papers.shop import ShopOverTime

VERSION = "2"  # of what is kept; raise it when its meaning changes
SHOP = "shop"
PAPERS_SHOP = ShopOverTime(users=228_000, items=12_600)
QUICK_SHOP = ShopOverTime(users=53_000, items=3000)
QUICK_REPEATS = 3  # of leave-one-out in that shop
SMALL_SHOP = ShopOverTime(users=20_000, items=1500, days=90, future=7)
SHARE = 0.2


@dataclass(frozen=True)
class Source:
    """A log of the study.

    Args:
        relevant: which ratings are interactions, where the log has ratings: all of them.
        width: of windows; None where times do not tell when somebody acted.
    """

    relevant: str | None
    width: str | None


SOURCES: dict[str, Source] = {
    SHOP: Source(None, "1d"),
    "online-retail": Source(None, "1w"),
    "movietweetings": Source(">=0", "1d"),
    "ml-100k": Source(">=0", None),
}


@dataclass(frozen=True)
class Size:
    """How much is judged: the paper's numbers by default."""

    repeats: int = 10
    folds: int = 30
    min_users: int = 100


class Setting:
    """Logs, settings and cross-validations.

    Args:
        log: a public log by name, or nothing where it is not there; by default the user's copy.
        shop: the shop that stands for the paper's log, and the one that does in quick runs.
        small: the shop of which many worlds are drawn; their seeds are the runs.
        size: how much is judged.
        grids: of settings.
    """

    def __init__(
        self,
        store: Store,
        log: Callable[[str], Log | None] | None = None,
        shop: tuple[ShopOverTime, ShopOverTime] = (PAPERS_SHOP, QUICK_SHOP),
        small: ShopOverTime = SMALL_SHOP,
        size: Size | None = None,
        grids: Mapping[str, Sequence[str]] = GRIDS,
        *,
        workers: int = 1,
    ) -> None:
        self.store, self.shops, self.small, self.workers = store, shop, small, workers
        self.size, self.grids = size or Size(), grids
        self._public = cache(log or _public)
        self.begin(False, None)

    def begin(self, quick: bool, progress: Progress | None) -> None:
        """Begin an experiment: with the shop that it asks for, and who is told what is under way."""
        self.quick, self.shop, self.progress = quick, self.shops[quick], progress

    def log(self, name: str) -> Log | None:
        """A log by name; None where it is not there."""
        if name != SHOP:
            return self._public(name)
        self.say("simulating the shop")
        return self.shop.log

    def there(self, names: Sequence[str] = tuple(SOURCES)) -> list[str]:
        """The logs that are there; the others are named."""
        found = [name for name in names if name == SHOP or self._public(name) is not None]
        for name in names:
            if name not in found:
                self.store.tell(f"{name} is not there, so its rows are left out (unskew data says how to add it).")
        return found

    def say(self, stage: str) -> None:
        """Tell what is under way."""
        if self.progress is not None:
            self.progress(stage, 0, 1)

    def chosen(self, name: str) -> Chosen:
        """The settings for a log."""
        width = SOURCES[name].width
        size = {"folds": self.size.folds, "min_users": self.size.min_users}
        grids = {model: list(grid) for model, grid in self.grids.items()}
        key = {"tuned": self.mark(name), "width": width, "grids": grids, "lasts": list(LASTS), **size}

        def make() -> Chosen:
            self.say(f"{name}: choosing settings")
            return tuned(present(self.log(name)), width, **size, grids=self.grids)

        found = self.store.once(key, make)
        return {model: found[model] for model in NAMES if model in found}

    def judged(
        self,
        name: str,
        protocol: str,
        *,
        width: str | None = None,
        folds: int | None = None,
        first_only: bool = False,
        policy: str | None = None,
        estimators: tuple[str, ...] = ("naive",),
        metrics: Sequence[str] = METRICS,
    ) -> dict[str, Any]:
        """The numbers of a protocol on a log, or on the rows of one logging policy (``protocols.kept``)."""
        chosen = self.chosen(name)
        models = {model: text for model, text in chosen.items() if protocol == SW or model != POP_N}
        how = {"split": self.split(name, protocol, width, folds, first_only), "models": models, "policy": policy}
        asked = {"estimators": list(estimators), "metrics": list(metrics)}
        key = {"judged": self.mark(name), **how, **asked}

        def make() -> dict[str, Any]:
            said = " ".join(filter(None, [protocol, width, "first item" if first_only else None, policy]))
            return self._judge(f"{name}, {said}", _of_policy(present(self.log(name)), policy), how, asked)

        return self.store.once(key, make)

    def _judge(self, title: str, log: Log, how: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
        weighted = asked["estimators"] != ["naive"]
        found = cross_validate(
            log,
            how["models"],
            split=how["split"],
            propensity="known(part=test)" if {"snips", "gs"} & set(asked["estimators"]) else None,
            target="pooled" if weighted else "per_user",
            store=self.store.folder / "folds",
            workers=self.workers,
            progress=lambda stage, done, total: self.progress and self.progress(f"{title}: {stage}", done, total),
            **asked,
        )
        return kept(found)

    def split(
        self, name: str, protocol: str, width: str | None = None, folds: int | None = None, first_only: bool = False
    ) -> str:
        """The canonical string of a protocol."""
        size = self.size
        if protocol == LOOCV:
            return f"leave_one_out(repeats={QUICK_REPEATS if self.quick and name == SHOP else size.repeats})"
        if protocol == HOLDOUT:
            return f"holdout(share={SHARE})"
        first = ", first_only=true" if first_only else ""
        width = width or present(SOURCES[name].width)
        return f"sliding_window(width={width}, folds={folds or size.folds}, min_users={size.min_users}{first})"

    def mark(self, name: str) -> str:
        """What tells one log from another: of a simulated one, from what it is made."""
        if name == SHOP:
            return f"shop {sorted(asdict(self.shop).items())}"
        log = present(self.log(name))
        time = np.empty(0) if log.time is None else log.time
        return digest(log.users.hashes, log.items.hashes, log.indptr, log.item, time)


def _public(name: str) -> Log | None:
    if folder_of(name) is None:
        return None
    log, relevant = load(name).mnar, SOURCES[name].relevant
    return log if relevant is None else log.positives(relevant)


def _of_policy(log: Log, policy: str | None) -> Log:
    return log if policy is None else log.take((present(log.policy) == policy).to_numpy())
