"""What a study consists of: experiments that share a setting, each with its records, its words and its charts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from unskew import InputError
from unskew.core import Progress, Store, plain
from unskew_papers.record import Record


class Chart(NamedTuple):
    """A picture of one part of an experiment.

    Lines: a record's row is x, its column the line. Boxes: its row is the box, its column the run.
    """

    part: str  # the records' ``experiment``
    title: str
    x: str
    y: str
    boxes: bool = False


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper.

    Args:
        name: as the command line knows it.
        story: what was done, how it is judged, and where ours differs; Markdown.
        run: (setting, runs, quick, progress) → records; a quick run may also leave out points.
        runs, quick_runs: how many in full (the paper's number where it has one), and for a quick look.
        folded: whether the page folds long tables away.
        quick: what else a quick run has less of, in words.
    """

    name: str
    title: str
    story: str
    run: Callable[[Any, int, bool, Progress | None], list[Record]]
    runs: int
    quick_runs: int
    charts: tuple[Chart, ...] = ()
    folded: bool = True
    quick: str = ""


@dataclass(frozen=True)
class Study:
    """A paper.

    Args:
        story: what all its experiments share; Markdown.
        version: of what the store keeps.
        setting: (store, workers) → what the experiments share.
        experiments: in the order of the paper.
    """

    name: str
    title: str
    story: str
    version: str
    setting: Callable[[Store, int], Any]
    experiments: tuple[Experiment, ...]

    def find(self, name: str) -> Experiment:
        """The experiment with this name."""
        for experiment in self.experiments:
            if experiment.name == name:
                return experiment
        known = ", ".join(experiment.name for experiment in self.experiments)
        raise InputError(f"{self.name} has no experiment called '{plain(name)}'. Known: {known}.", code="unknown-name")
