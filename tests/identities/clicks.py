"""Small logs of any kind, as arrays, and the estimates that a plan makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl
from hypothesis import settings
from hypothesis import strategies as st

from tests.engine import passes
from unskew import estimators, metrics
from unskew.engine.data import EvaluationData
from unskew.engine.plan import EvaluationPlan, make_plan
from unskew.estimators import Estimator, Summary, Target
from unskew.estimators.summary import Histogram
from unskew.log import Ids, Recommendations

Floats = npt.NDArray[np.float64]
RECALL, DCG = "recall@3", "dcg@4"
quick = settings(max_examples=40)


@dataclass(frozen=True)
class Click:
    """A seen pair: its value, propensity, stratum, and its ranks in the two models' lists (0 = not listed)."""

    value: float
    propensity: float
    label: int
    ranks: tuple[int, int]


def held_of(
    users: Sequence[Sequence[Click]], relevant: Sequence[float] | None = None, candidates: float = 9.0
) -> EvaluationData:
    """Arrays of these users; every click of a user is on an item of its own."""
    rows = [click for clicks in users for click in clicks]
    indptr = np.concatenate([[0], np.cumsum([len(clicks) for clicks in users])]).astype(np.int64)
    item = np.array([i for clicks in users for i in range(len(clicks))], dtype=np.int32)
    names = Ids(pl.Series(np.arange(len(users))))
    items = Ids(pl.Series(np.arange(max((len(clicks) for clicks in users), default=0) + 1)))
    lists = []
    for model in range(2):
        entries = [sorted((c.ranks[model], i) for i, c in enumerate(clicks) if c.ranks[model]) for clicks in users]
        lists.append(
            Recommendations(
                names,
                items,
                np.concatenate([[0], np.cumsum([len(e) for e in entries])]).astype(np.int64),
                np.array([i for e in entries for _, i in e], dtype=np.int32),
                np.array([rank for e in entries for rank, _ in e], dtype=np.int32),
            )
        )
    return EvaluationData(
        hashes=names.hashes,
        indptr=indptr,
        item=item,
        value=np.array([c.value for c in rows], dtype=np.float64),
        lists=tuple(lists),
        propensity=np.array([c.propensity for c in rows], dtype=np.float64),
        labels={"label": np.array([c.label for c in rows], dtype=np.int32)},
        relevant=None if relevant is None else np.array(relevant, dtype=np.float64),
        candidates=np.full(len(users), candidates),
        relative=False,
    )


def summary_of(held: EvaluationData) -> Summary:
    assert held.propensity is not None
    used = held.propensity[held.value > 0.0]
    levels = {"label": tuple(map(str, range(9)))}
    return Summary(pairs=Histogram.of(used) if len(used) else None, levels=levels)


def plan_of(held: EvaluationData, cells: Sequence[tuple[str | Estimator, str, str]]) -> EvaluationPlan:
    kept = [(estimators.make(e), Target.make(t), (metrics.make(m),)) for e, t, m in cells]
    return make_plan(kept, summary_of(held), len(held.lists), 8)


def values(
    held: EvaluationData, cells: Sequence[tuple[str | Estimator, str, str]], plan: EvaluationPlan | None = None
) -> list[Floats]:
    """The estimates of both models in these cells (estimator, target, metric)."""
    plan = plan or plan_of(held, cells)
    return [moments.values for moments in passes.first_pass(held, plan, threads=1).moments]


def some_users(
    *,
    clicks: int = 5,
    users: int = 4,
    value: st.SearchStrategy[float] | None = None,
    propensity: st.SearchStrategy[float] | None = None,
    least: int = 1,
) -> st.SearchStrategy[list[list[Click]]]:
    """Lists of users, each with a few clicks; ranks may collide between users, never inside a list."""
    click = st.builds(
        Click,
        value if value is not None else st.sampled_from([1.0, 1.0, 2.0, 0.5]),
        propensity if propensity is not None else st.floats(0.05, 1.0),
        st.integers(0, 2),
        st.just((0, 0)),
    )
    mine = st.lists(click, min_size=least, max_size=clicks)
    ranked = st.tuples(mine, st.permutations(range(8)), st.permutations(range(8))).map(
        lambda drawn: [
            replace(c, ranks=(a if a <= 6 else 0, b if b <= 6 else 0))
            for c, a, b in zip(drawn[0], drawn[1], drawn[2], strict=False)
        ]
    )
    return st.lists(ranked, min_size=1, max_size=users)


def masked(held: EvaluationData, keep: npt.NDArray[np.bool_]) -> EvaluationData:
    """The same world, of which only these pairs were seen."""
    assert held.propensity is not None
    before = np.concatenate([[0], np.cumsum(keep)]).astype(np.int64)
    return replace(
        held,
        indptr=before[held.indptr],
        item=held.item[keep],
        value=held.value[keep],
        propensity=held.propensity[keep],
        labels={name: codes[keep] for name, codes in held.labels.items()},
    )
