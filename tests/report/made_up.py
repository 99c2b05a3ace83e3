"""Made-up estimates, verdicts and weights: no statistics behind them, only numbers to show."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from unskew import estimators, metrics
from unskew.estimators import Standing, Target
from unskew.metrics import RankingMetric, Shape
from unskew.result import Estimate, MetricTraits, Result, Verdict, Weights

NAN = math.nan
ASSUMED = "exposure explains all of popularity"
WITHHELD = "Undecided because only 7 users tell the two apart."
HOSTILE = "<script>alert('x')</script>&\"\x1b[31m"


def standing(metric: str, estimator: str, target: str) -> Standing:
    """What may be claimed of a cell, by the real parts."""
    found = estimators.make(estimator).standing(Target.make(target))
    asked = metrics.make(metric)
    summed = not isinstance(asked, RankingMetric) or asked.shape is Shape.ADDITIVE
    return found if summed or not found.debiased else Standing.BIASED


def traits(names: Sequence[str]) -> dict[str, MetricTraits]:
    """What a result says of its metrics, by the real parts."""
    return {name: MetricTraits.of(metrics.make(name)) for name in names}


def estimate(model: str, value: float, half: float = 0.01, **changes: Any) -> Estimate:
    """An estimate with an interval of ± half."""
    known: dict[str, Any] = {
        "model": model, "metric": "recall@10", "estimator": "snips", "target": "pooled", "propensity": "known",
        "segment": None, "value": value, "se": half / 1.96, "low": value - half, "high": value + half, "ess": 1204.6,
        "hits": 2310, "max_weight_share": 0.0123, "clipped_share": 0.0, "support_gap": 0.031, "unsupported": 0.0,
        "few_clicks": None, "users": 1800, "interactions": 5412,
        "promise": "consistent if the propensities are right up to one factor", "trust": "",
    }  # fmt: skip
    known |= changes
    cell = known["metric"], known["estimator"], known["target"]
    if not standing(*cell).debiased:
        known |= {"propensity": None}
    return Estimate(**({"standing": standing(*cell)} | known))


def verdict(a: str, b: str, difference: float, half: float = 0.011, *, assumed: str = "", **changes: Any) -> Verdict:
    """A verdict that follows from its interval; ``assumed`` is what its propensities rest on, empty if known."""
    cell = {"metric": "recall@10", "estimator": "snips", "target": "pooled"}
    cell |= {name: text for name, text in changes.items() if name in cell}
    stands = standing(**cell)
    sure = not assumed and stands in (Standing.UNBIASED, Standing.CONSISTENT, Standing.LEANS)
    decided = abs(difference) > half
    words = ("better", "worse") if sure else ("ahead", "behind")
    if not stands.debiased:
        assumed = "every relevant pair was equally likely to be seen"
    elif stands is Standing.BIASED:
        assumed = "the bias that it takes on purpose favours neither"
    known: dict[str, Any] = {
        **cell,
        "segment": None,
        "a": a,
        "b": b,
        "difference": difference,
        "se": half / 1.96,
        "low": difference - half,
        "high": difference + half,
        "p": 0.00013 if decided else 0.27,
        "p_adjusted": 0.0004 if decided else 0.41,
        "verdict": words[difference < 0] if decided else "undecided",
        "assumption": assumed,
        "tipping": 1.8 if decided else None,
        "tipping_low": 1.52 if decided else None,
        "tipping_kind": "ratio" if decided else None,
        "users_needed": None if decided else 41_237,
        "users_apart": 640,
        "ess": 412.0,
        "few_clicks": None,
        "standing": stands,
        "trust": "",
    }
    return Verdict(**(known | changes))


def withheld(a: str, b: str, difference: float, why: str = WITHHELD, **changes: Any) -> Verdict:
    """A verdict that a check withheld: no interval, and the reason."""
    gone: dict[str, Any] = {"low": NAN, "high": NAN, "verdict": "undecided", "trust": why, "users_apart": 7}
    nothing: dict[str, Any] = {"tipping": None, "tipping_low": None, "tipping_kind": None, "users_needed": 4_100}
    return verdict(a, b, difference, **(gone | nothing | changes))


def weights(estimator: str, **changes: Any) -> Weights:
    """A skewed spread of weights on bins of a factor √2."""
    edges = [2.0 ** (n / 2) for n in range(12)]
    counts: tuple[int, ...] = (20, 90, 400, 1100, 1500, 1200, 620, 310, 120, 40, 12)
    if estimator == "naive":
        edges, counts = edges[:2], (5412,)
    known: dict[str, Any] = {
        "estimator": estimator, "target": "pooled", "segment": None, "low": tuple(edges[:-1]), "high": tuple(edges[1:]),
        "count": counts,
    }  # fmt: skip
    return Weights(**(known | changes))


INPUTS: dict[str, Any] = {
    "test": {"source": "test.parquet", "rows": 10_000, "dropped": {"duplicate pair": 3, "no user": 1}, "notes": []},
    "train": {"source": "train.parquet", "rows": 123_456, "dropped": {}, "notes": ["values were ignored"]},
    "models": {
        "challenger": {
            "source": "challenger.parquet",
            "rows": 20_000,
            "dropped": {},
            "users_without_list": 12,
            "seen_in_lists": 4,
            "tied": 0,
        },
        "popular": {
            "source": "popular.parquet",
            "rows": 20_000,
            "dropped": {"rank beyond 10": 512},
            "users_without_list": 0,
            "seen_in_lists": 0,
            "tied": 0,
        },
    },
    "users": {"population": 2_000, "with_held_out": 1_800},
    "clicks_per_user": {"1": 300, "2": 250, "3-5": 800, "6+": 450},
    "settings": {"level": 0.95, "bootstrap": 1_000, "seed": 0, "candidates": "unseen"},
}


def grid(
    models: Sequence[str],
    metrics: Sequence[str],
    estimators: Sequence[str],
    targets: Sequence[str] = ("pooled",),
    segments: Sequence[str | None] = (None,),
) -> Result:
    """Everything against everything; naive likes the first models, the others like the last ones."""
    estimates, verdicts = [], []
    for segment, target, metric, name in itertools.product(segments, targets, metrics, estimators):
        base = 0.12 + 0.09 * metrics.index(metric) % 0.5 + (0.02 if segment else 0.0)
        cell: dict[str, Any] = {"metric": metric, "estimator": name, "target": target, "segment": segment}
        step = -0.006 if name == "naive" else 0.009 + 0.001 * estimators.index(name)
        half = 0.006 if name == "naive" else 0.011
        value = {m: base + (0.06 if name == "naive" else 0.0) + step * n for n, m in enumerate(models)}
        estimates += [estimate(m, value[m], half, ess=5412.0 if name == "naive" else 1204.6, **cell) for m in models]
        verdicts += [
            verdict(a, b, value[a] - value[b], half * 0.9, **cell) for a, b in itertools.combinations(models, 2)
        ]
    spreads = tuple(weights(name, target=target) for target in targets for name in estimators)
    return Result(tuple(estimates), tuple(verdicts), spreads, INPUTS, (), traits=traits(metrics))
