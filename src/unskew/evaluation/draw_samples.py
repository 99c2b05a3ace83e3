"""Samples of the held-out rows inside one evaluation: drawn from the log as it was read, marked on the rows judged.

A sample is drawn before rows are left out (those that repeat training pairs, say), as ``us.sample`` draws it: the rows
of ``evaluate(…, sample=s, repeats=1)`` are those of ``evaluate(us.sample(test, s, …), …)``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from unskew.alignment.align import Aligned
from unskew.alignment.inputs import Inputs
from unskew.core.errors import InputError
from unskew.engine.data import EvaluationData
from unskew.engine.draw_marks import DrawMarks
from unskew.evaluation.read import Stage
from unskew.evaluation.request import Request
from unskew.kernels.arrays import Ints64
from unskew.log import Log
from unskew.sampling.repeated_draws import RepeatedDraws, draw_repeatedly
from unskew.sampling.size import checked_size


@dataclass(frozen=True, eq=False)
class DrawnSamples:
    """The samples of an evaluation, and what is said of them."""

    draws: RepeatedDraws

    @property
    def everything(self) -> bool:
        """Whether all rows are kept."""
        return self.draws.number == len(self.draws.log)

    @property
    def equal(self) -> bool:
        """Whether all rows have the same chance."""
        return self.draws.sampler.equal or self.everything

    @property
    def text(self) -> str:
        """The samples in a few words."""
        rows = f"{len(self.draws.log):,} rows"
        if self.everything:
            return f"{self.draws.sampler}, all {rows}"
        number = len(self.draws.seeds)
        return f"{self.draws.sampler}, {number:,} draw{'s' * (number > 1)} of {self.draws.number:,} of {rows}"

    @property
    def assumption(self) -> str:
        """What must hold for them to be as good as pairs drawn at random; empty where nothing new is assumed."""
        return "" if self.equal else f"what {self.draws.sampler} makes rarer was shown more often, and not liked more"

    @cached_property
    def account(self) -> dict[str, Any]:
        """As plain values for the result."""
        return {
            "strategy": str(self.draws.sampler),
            "repeats": len(self.draws.seeds),
            "rows": len(self.draws.log),
            "rows_per_draw": self.draws.number,
            "rows_in_any_draw": int(np.count_nonzero(self.draws.times)),
            "equal_chances": self.equal,
            "seeds": list(self.draws.seeds),
        }


def draw_samples(request: Request, inputs: Inputs, say: Stage) -> DrawnSamples | None:
    """Draw what was asked for; ``None`` where no samples were."""
    if request.sample is None:
        return None
    return DrawnSamples(
        draw_repeatedly(
            inputs.test,
            request.sample,
            train=inputs.train,
            mcar=inputs.side.mcar,
            size=checked_size(request.sample_size, request.sample, "sample_size"),
            repeats=request.draws,
            seed=request.seed,
            progress=lambda done, total: say("drawing samples", done, total),
        )
    )


def with_draws(aligned: Aligned, samples: DrawnSamples | None) -> Aligned:
    """The rows that are judged, with the marks of the samples."""
    if samples is None:
        return aligned
    draws = samples.draws
    place, excess = _places(aligned.rows, draws.log), draws.excess
    users = aligned.users.into(draws.log.users)
    marks = DrawMarks(
        marks=np.ascontiguousarray(draws.marks[:, place]),
        excess=np.where(users >= 0, excess[users], 0.0),
        span=draws.span,
        squares=float(excess @ excess),
    )
    if not (aligned.held.value[marks.times(slice(None)) > 0] > 0.0).any():
        raise InputError(
            f"{draws.log.account.source}: no relevant held-out interaction is in any sample ({samples.text}).\n"
            "Draw larger ones with sample_size=….",
            code="no-hits",
        )
    return replace(aligned, held=replace(aligned.held, draws=marks))


def rows_in_samples(held: EvaluationData) -> EvaluationData:
    """The rows that are in any sample; all of them where rows are not sampled."""
    if held.draws is None:
        return held
    keep = held.draws.times(slice(None)) > 0
    return held.of_rows(keep, np.concatenate([[0], np.cumsum(keep)])[held.indptr])


def _places(rows: Log, log: Log) -> Ints64:
    """Where the rows that are left stand in the log that was read: a pair is there once."""
    users, items, width = rows.users.into(log.users), rows.items.into(log.items), len(log.items)
    wanted = users[rows.user].astype(np.int64) * width + items[rows.item]
    return np.searchsorted(log.user.astype(np.int64) * width + log.item, wanted).astype(np.int64)
