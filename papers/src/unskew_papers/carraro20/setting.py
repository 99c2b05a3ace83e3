"""What the experiments share: Coat, Webscope R3 or a world of its size, and finished runs that are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from unskew import load
from unskew.core import Progress, Store
from unskew.log import Log
from unskew.log.datasets import folder_of
from unskew_papers.arrays import present
from unskew_papers.carraro20 import methods, rating_world
from unskew_papers.carraro20.click_worlds import Size
from unskew_papers.carraro20.printed import COAT, WEBSCOPE
from unskew_papers.carraro20.protocol import common, one_run
from unskew_papers.carraro20.recommenders import Choice
from unskew_papers.digest import digest_of

VERSION = "1"  # of the runs that are kept; raise it when their meaning changes
WORLD = "a world of Webscope's size"
Unit = dict[str, Any]


class Parts(NamedTuple):
    """A set: ratings that people chose, and ratings of random items."""

    name: str
    printed: str  # which of the paper's sets stands beside it
    mnar: Log
    mcar: Log

    @property
    def is_the_papers(self) -> bool:
        """Whether it is the set that the paper used, so that its numbers are to be met."""
        return self.name == self.printed


class Setting:
    """Runs, made once and kept.

    Args:
        coat, webscope: how to get the sets; by default Coat, and Webscope R3 where there is a copy, else a world of
            its size.
        workers: how many runs at once, each in a process of its own.
    """

    def __init__(
        self,
        store: Store,
        coat: Callable[[], Parts] | None = None,
        webscope: Callable[[], Parts] | None = None,
        *,
        workers: int = 1,
    ) -> None:
        self.store, self.workers = store, workers
        self.coat = cache(coat or (lambda: loaded(COAT, COAT)))
        self.webscope = cache(webscope or _webscope)

    def runs(self, parts: Parts, runs: int, choice: Choice, progress: Progress | None = None) -> list[Unit]:
        """Runs of the paper's protocol on a set."""
        mark = f"{digest_of(parts.mnar)} {digest_of(parts.mcar)}"
        keys = [{"run": run, "data": mark, "choice": choice.told()} for run in range(runs)]
        make = partial(_run, parts.mnar, parts.mcar, choice)
        return self._map(keys, make, progress, f"runs on {parts.name}")

    def worlds(self, sizes: Sequence[Size], worlds: int, progress: Progress | None = None) -> list[list[Unit]]:
        """What every method says in so many worlds of each size."""
        return self._worlds("methods", sizes, worlds, progress)

    def shares(self, sizes: Sequence[Size], worlds: int, progress: Progress | None = None) -> list[list[Unit]]:
        """What samples say that are smaller or larger."""
        return self._worlds("shares", sizes, worlds, progress)

    def _worlds(self, what: str, sizes: Sequence[Size], worlds: int, progress: Progress | None) -> list[list[Unit]]:
        keys = [{what: world, **size._asdict()} for size in sizes for world in range(worlds)]
        found = self._map(keys, partial(_world, what), progress, "worlds of clicks")
        return [found[first : first + worlds] for first in range(0, len(found), worlds)]

    def _map(
        self,
        keys: Sequence[Mapping[str, Any]],
        make: Callable[[Mapping[str, Any]], Mapping[str, Any]],
        progress: Progress | None,
        stage: str,
    ) -> list[Unit]:
        apart = self.workers > 1
        return self.store.map(keys, make, workers=self.workers, processes=apart, progress=progress, stage=stage)


def _run(mnar: Log, mcar: Log, choice: Choice, key: Mapping[str, Any]) -> Unit:
    return one_run(mnar, mcar, key["run"], choice)


def _world(what: str, key: Mapping[str, Any]) -> Unit:
    make = methods.one_world if what == "methods" else methods.one_world_of_shares
    return make(Size(key["kind"], key["strength"], key["users"]), key[what])


def loaded(name: str, printed: str) -> Parts:
    """A named data set on this machine, over the users and items that its parts have in common."""
    data = load(name)
    return Parts(printed, printed, *common(data.mnar, present(data.mcar)))


def _webscope() -> Parts:
    if folder_of("yahoo-r3") is not None:
        return loaded("yahoo-r3", WEBSCOPE)
    return Parts(WORLD, WEBSCOPE, *rating_world.draw())
