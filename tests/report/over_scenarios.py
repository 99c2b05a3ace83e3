"""Made-up results over scenarios: values that move along an axis, and the rows that follow from them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from unskew.result import Estimate, Result, ScenarioDifferences, ScenarioTable, ScenarioValues, Verdict

from .made_up import INPUTS, NAN, estimate, traits, verdict

SHARES = tuple((n / 10,) for n in range(11))
BOX = tuple(itertools.product((1.0, 1.41, 2.0, 2.83, 4.0), (0.0, 0.2, 0.4)))
ONE = {"axes": ("exposure",), "labels": ("share of popularity that comes from exposure",), "percent": (True,)}
TWO = {"axes": ("odds", "slope"), "labels": ("odds of the unseen", "slope on popularity"), "percent": (False, False)}
ASSUMED = "how likely a relevant item was to be seen depends on its popularity alone"
NOT_COVERED = "The path does not cover exposure chosen for each user."
Line = tuple[float, float]  # a value at the first and at the last scenario


def scenarios(
    lines: Mapping[str, Line],
    *,
    half: float = 0.01,
    points: Sequence[tuple[float, ...]] = SHARES,
    metric: str = "recall@10",
    segment: str | None = None,
    estimated: float | None = None,
) -> tuple[ScenarioTable, list[Estimate], list[Verdict]]:
    """A table, and the rows that sum it up, of models whose values move evenly from one end to the other."""
    cell: dict[str, Any] = {"metric": metric, "estimator": "exposure_path", "target": "pooled", "segment": segment}
    steps = [n / (len(points) - 1) for n in range(len(points))]
    value = {m: [low + (high - low) * step for step in steps] for m, (low, high) in lines.items()}
    values = [
        ScenarioValues(m, tuple(v), tuple(x - half for x in v), tuple(x + half for x in v)) for m, v in value.items()
    ]
    differences, verdicts = [], []
    for a, b in itertools.combinations(lines, 2):
        apart = [x - y for x, y in zip(value[a], value[b], strict=True)]
        signs = tuple(0 if not abs(x) > half else 1 if x > 0 else -1 for x in apart)
        ends = tuple(x - half for x in apart), tuple(x + half for x in apart)
        differences.append(ScenarioDifferences(a, b, tuple(apart), *ends, signs))
        verdicts.append(_verdict(a, b, apart, signs, ends, metric, cell))
    shape = ONE if len(points[0]) == 1 else TWO
    table = ScenarioTable(
        **cell, **shape, points=tuple(points), values=tuple(values), differences=tuple(differences),
        not_covered=NOT_COVERED, estimated=estimated,
    )  # fmt: skip
    estimates = [
        estimate(
            row.model, sum(row.value) / len(row.value), low=min(row.low) if not math.isnan(row.low[0]) else NAN,
            high=max(row.high) if not math.isnan(row.high[0]) else NAN, propensity=None, assumption=ASSUMED, **cell,
        )
        for row in values
    ]  # fmt: skip
    return table, estimates, verdicts


def _verdict(
    a: str,
    b: str,
    apart: Sequence[float],
    signs: Sequence[int],
    ends: tuple[Sequence[float], Sequence[float]],
    metric: str,
    cell: dict[str, Any],
) -> Verdict:
    upwards = -1 if traits([metric])[metric].lower_is_better else 1
    everywhere = signs[0] if len(set(signs)) == 1 else 0
    word = {1: "ahead", -1: "behind"}.get(upwards * everywhere, "depends" if any(signs) else "undecided")
    first = a if upwards * next((sign for sign in signs if sign), 1) > 0 else b
    changes: dict[str, Any] = {
        "verdict": word, "assumption": ASSUMED, "low": min(ends[0]), "high": max(ends[1]),
        "tipping": 1.6 if everywhere else None, "tipping_low": 1.3 if everywhere else None,
        "tipping_kind": "ratio" if everywhere else None, "users_needed": None,
        "not_covered": NOT_COVERED if any(signs) else "",
    }  # fmt: skip
    if word == "depends":
        other = b if first == a else a
        share = "less than 40 % of popularity comes from exposure"
        rest = f"{other} is" if {1, -1} <= set(signs) else "this log cannot decide"
        changes |= {"turns": f"{first} is ahead as long as {share}; beyond that, {rest}.", "turns_at": 0.4}
    return verdict(a, b, sum(apart) / len(apart), **(cell | changes))


def over(lines: Mapping[str, Line], *, naive: bool = True, **options: Any) -> Result:
    """A result of naive, which sees the first scenario, and of an estimator with scenarios."""
    table, estimates, verdicts = scenarios(lines, **options)
    cell: dict[str, Any] = {"metric": table.metric, "estimator": "naive", "segment": table.segment}
    known = [estimate(m, low, 0.005, **cell) for m, (low, _) in lines.items()] if naive else []
    said = [verdict(a, b, lines[a][0] - lines[b][0], 0.005, **cell) for a, b in itertools.combinations(lines, 2)]
    return Result(
        estimates=(*known, *estimates), verdicts_=(*(said if naive else ()), *verdicts), weights=(), inputs=INPUTS,
        warnings=(), scenarios=(table,), traits=traits([table.metric]),
    )  # fmt: skip


AHEAD = {"als": (0.30, 0.28), "popular": (0.25, 0.15)}  # all over
TURNS = {"als": (0.20, 0.30), "popular": (0.28, 0.15)}  # popular, then als
OPEN = {"als": (0.30, 0.155), "popular": (0.25, 0.15)}  # als, then nothing
CLOSE = {"als": (0.20, 0.202), "popular": (0.201, 0.20)}  # nothing
MANY = {f"model {n:02}": (0.30 - 0.004 * n, 0.25 - 0.009 * ((n * 5) % 14)) for n in range(14)}
