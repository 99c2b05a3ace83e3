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
from unskew_papers.climb import Tried, best
from unskew_papers.digest import digest
from unskew_papers.jeunen18.algorithms import METRICS, NAMES, PATIENCE, POP, POP_N, STEPS, SVD, WITH, tuned
from unskew_papers.jeunen18.protocols import HOLDOUT, LOOCV, SW, kept
from unskew_papers.shop import ShopOverTime

VERSION = "3"  # of what is kept; raise it when its meaning changes
SHOP = "shop"
MAIN_SHOP = ShopOverTime(users=53_000, items=3000)
QUICK_SHOP = ShopOverTime(users=13_000, items=750)
QUICK_LOGS = (SHOP, "online-retail")
SMALL_SHOP = ShopOverTime(users=16_000, items=1000, days=60, future=7)
SHARE = 0.2


@dataclass(frozen=True)
class Source:
    """A log of the study."""

    relevant: str | None  # which ratings are interactions, where the log has ratings: all of them
    width: str | None  # of windows; None where times do not tell when somebody acted


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
        size: how much is judged, and how much in quick runs.
        steps: numbers of neighbours and the like that are tried.
    """

    def __init__(
        self,
        store: Store,
        log: Callable[[str], Log | None] | None = None,
        shop: tuple[ShopOverTime, ShopOverTime] = (MAIN_SHOP, QUICK_SHOP),
        small: ShopOverTime = SMALL_SHOP,
        size: tuple[Size, Size] = (Size(), Size(repeats=3, folds=10, min_users=30)),
        steps: Sequence[int] = STEPS,
        *,
        workers: int = 1,
    ) -> None:
        self.store, self.shops, self.small, self.workers = store, shop, small, workers
        self.sizes, self.steps = size, steps
        self._public = cache(log or _public)
        self.quick = False
        self.begin(False, None)

    def begin(self, quick: bool, progress: Progress | None) -> None:
        """Begin an experiment: with the logs and sizes that it asks for, and who is told what is under way."""
        if quick and not self.quick:
            (shop, few), (full, size) = ((self.shops[quick], self.sizes[quick]) for quick in (True, False))
            self.store.tell(
                f"Quick: {shop.users:,} visitors and {shop.items:,} items stand for {full.users:,} and {full.items:,}, "
                f"{few.repeats} repetitions of leave-one-out for {size.repeats}, {few.folds} windows (of "
                f"{few.min_users} users) for {size.folds} (of {size.min_users}), Online Retail for public logs, few "
                "worlds for many."
            )
        self.quick, self.progress, self.shop, self.size = quick, progress, self.shops[quick], self.sizes[quick]

    def log(self, name: str) -> Log | None:
        """A log by name; None where it is not there."""
        if name != SHOP:
            return self._public(name)
        self.say("simulating the shop")
        return self.shop.log

    def there(self, names: Sequence[str] = tuple(SOURCES)) -> list[str]:
        """The logs that are there; the others are named."""
        names = [name for name in names if name in QUICK_LOGS or not self.quick]
        found = [name for name in names if name == SHOP or self._public(name) is not None]
        for name in names:
            if name not in found:
                self.store.tell(f"{name} is not there, so its rows are left out (unskew data says how to add it).")
        return found

    def say(self, stage: str) -> None:
        """Tell what is under way."""
        if self.progress is not None:
            self.progress(stage, 0, 1)

    def tried(self, name: str) -> dict[str, Tried]:
        """What was tried for each algorithm on a log, and its Recall@10."""
        width = SOURCES[name].width
        size = {"folds": self.size.folds, "min_users": self.size.min_users}
        key = {"tuned": self.mark(name), "width": width, "steps": list(self.steps), "patience": PATIENCE, **size}

        def make() -> dict[str, Tried]:
            self.say(f"{name}: choosing settings")
            return tuned(present(self.log(name)), width, **size, steps=self.steps)

        return self.store.once(key, make)

    def chosen(self, name: str) -> dict[str, str]:
        """The settings for a log."""
        found = {model: WITH[model].format(best(tried)) for model, tried in self.tried(name).items()}
        found[POP] = "most_popular"
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
        dims: Sequence[int] = (),
    ) -> dict[str, Any]:
        """The numbers of a protocol on a log, or on a policy's rows; of the chosen settings, or of SVD by ``dims``."""
        models = {str(dim): WITH[SVD].format(dim) for dim in dims} or self.chosen(name)
        models = {model: text for model, text in models.items() if protocol == SW or model != POP_N}
        how = {"split": self.split(name, protocol, width, folds, first_only), "models": models, "policy": policy}
        key = {"judged": self.mark(name), **how, "metrics": list(METRICS)}

        def make() -> dict[str, Any]:
            said = " ".join(filter(None, [protocol, width, "first item" if first_only else None, policy]))
            return self._judge(f"{name}, {said}", _of_policy(present(self.log(name)), policy), how)

        return self.store.once(key, make)

    def _judge(self, title: str, log: Log, how: Mapping[str, Any]) -> dict[str, Any]:
        found = cross_validate(
            log,
            how["models"],
            split=how["split"],
            metrics=METRICS,
            estimators=["naive"],
            target="per_user",
            store=self.store.folder / "folds",
            workers=self.workers,
            progress=lambda stage, done, total: self.progress and self.progress(f"{title}: {stage}", done, total),
        )
        return kept(found)

    def split(
        self, name: str, protocol: str, width: str | None = None, folds: int | None = None, first_only: bool = False
    ) -> str:
        """The canonical string of a protocol."""
        size = self.size
        if protocol == LOOCV:
            return f"leave_one_out(repeats={size.repeats})"
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
