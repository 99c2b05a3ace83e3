"""Every number of sums per user against the loop-written reference: values, errors, differences, diagnostics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import Phase, given, settings

import unskew as us
from tests.conversions import reference as ref
from tests.conversions.reference import Row
from tests.conversions.worlds import METRICS, RULES, SEGMENTS, USERS, Drawn, drawn_logs, evaluate
from tests.reference import ess, max_weight_share
from unskew.inference.bootstrap import user_weights
from unskew.log import Ids

pytestmark = pytest.mark.usefixtures("made_up_logs")
WHOLE = (Phase.explicit, Phase.generate)  # logs are small as they are drawn, and shrinking them takes minutes
TINY = 3e-8  # an error of 0 is the root of a rounding


def close(found: float, expected: float, relative: float = 1e-9, absolute: float = 1e-12) -> bool:
    """Equal up to rounding; NaN equals NaN."""
    both = math.isnan(found) and math.isnan(expected)
    return both or math.isclose(found, expected, rel_tol=relative, abs_tol=absolute)


def defined(parts: Sequence[ref.Term]) -> bool:
    """Whether every divisor is above 0, so that there is a slope."""
    return all(sum(b for _, b in factor) > 0.0 for term in parts for factor in term)


def compare(result: us.Result, drawn: Drawn, users: Sequence[str] = USERS, segment: str | None = None) -> int:
    """Compare all rows of one segment; gives back how many there were."""
    worlds = {model: drawn.world(model, users) for model in drawn.models}
    cells: dict[tuple[str, str, str], list[list[ref.Term]]] = {}
    rows = [e for e in result.estimates if e.segment == segment]
    for e in rows:
        cell = (e.metric, e.estimator, str(e.target))
        if cell not in cells:
            cells[cell] = [ref.terms(worlds[m], METRICS[e.metric], RULES[e.estimator], e.target) for m in drawn.models]
    for e in rows:
        cell = (e.metric, e.estimator, str(e.target))
        parts, rule, world = cells[cell][drawn.models.index(e.model)], RULES[e.estimator], worlds[e.model]
        assert close(e.value, ref.value(parts)), (e, ref.value(parts))
        assert e.users == ref.active(cells[cell]), e
        v = [] if rule.kind == "direct" else ref.shares(world, METRICS[e.metric], rule)
        if not v and all(a == 0.0 for a, _ in parts[0][0]):  # without a hit there is a bound, and no error
            bound = e.high >= 0.0 or (math.isnan(e.high) and rule.kind == "snips over list")  # another list's divisor
            assert math.isnan(e.se) and (math.isnan(e.value) or (e.value == e.low == 0.0 and bound)), e
        elif defined(parts):
            expected = ref.error(ref.influences(parts), e.users)
            assert close(e.se, expected, 1e-9, TINY * max(1.0, abs(e.value))), (e, expected)
        if rule.kind == "direct":
            assert math.isnan(e.ess) and math.isnan(e.max_weight_share)
        else:
            assert e.hits == len(v), e
            assert close(e.ess, ess(v)), e
            assert close(e.max_weight_share, max_weight_share(v)), e
            assert close(e.clipped_share, ref.clipped_share(world, rule)), e
    for d in (d for d in result.verdicts_ if d.segment == segment):
        both = [cells[d.metric, d.estimator, str(d.target)][drawn.models.index(m)] for m in (d.a, d.b)]
        assert close(d.difference, ref.value(both[0]) - ref.value(both[1]), 1e-9, 1e-10), d
        if all(map(defined, both)):
            one, two = (ref.influences(parts) for parts in both)
            count = ref.active(cells[d.metric, d.estimator, str(d.target)])
            expected = ref.error([a - b for a, b in zip(one, two, strict=True)], count)
            larger = max(ref.error(one, count), ref.error(two, count)) if count > 1 else 0.0
            rounding = TINY * max(1.0, *(abs(ref.value(parts)) for parts in both))  # of a sum that cancels out
            if d.users_apart:
                assert close(d.se, expected, 1e-7, 1e-7 * larger + rounding), (d, expected)
            else:  # nobody tells the two apart: nothing to measure an error by
                assert math.isnan(d.se) and not expected > TINY + rounding, (d, expected)
    return len(rows)


NORMALISED = [name for name, rule in RULES.items() if rule.kind in ("naive", "ips", "direct", "dr", "switch")]


@settings(max_examples=25, phases=WHOLE)
@given(drawn_logs())
def test_every_cell_equals_the_reference(drawn: Drawn) -> None:
    """All estimators × the three sums × some metrics.

    snips and sndr lack normalised forms, graded outcomes precision.
    """
    result = evaluate(drawn)
    trained = drawn.train if drawn.unseen else ()
    graded = any(row.value not in (0.0, 1.0) for row in drawn.rows if (row.user, row.item) not in trained)
    kept = [name for name in drawn.metrics if not (graded and name.startswith("precision"))]
    assert compare(result, drawn) == len(drawn.models) * len(kept) * (len(RULES) + 2 * len(NORMALISED))
    refused = {(r["estimator"], r["target"]) for r in result.inputs["refused"] if r["metric"] in kept}
    assert refused == {(name, t) for name in RULES if name not in NORMALISED for t in (ref.POOLED, ref.PER_USER)}


@settings(max_examples=8, phases=WHOLE)
@given(drawn_logs())
def test_segments_of_users_equal_the_reference_over_those_users(drawn: Drawn) -> None:
    """A segment is the same sum over fewer users, with the whole catalogue."""
    if all(row.value == 0.0 for row in drawn.rows if SEGMENTS[row.user] == "even"):
        drawn = replace(drawn, rows=(*drawn.rows, Row("u4", "i6", 1.0, 0.4)), train=(("u5", "t0"),))
    estimators = ["naive", "ips", "snips", "snips(over=list)", "direct", "dr", "sndr", "switch(tau=4)"]
    result = evaluate(drawn, estimators, by="half")
    for name in ("even", "odd"):
        users = [user for user in USERS if SEGMENTS[user] == name]
        assert compare(result, drawn, users, f"half={name}") > 0


@settings(max_examples=12, phases=WHOLE)
@given(drawn_logs())
def test_bootstrap_intervals_equal_the_reference(drawn: Drawn) -> None:
    """Ratios are recomputed in every replicate under the users' Poisson weights; empty divisors are dropped.

    Intervals end where no value can be; beyond them there is no value at all.
    """
    drawn = replace(drawn, lists=dict(list(drawn.lists.items())[:2]))
    estimators = ["ips", "snips", "snips(over=list)", "dr", "sndr"]
    result = evaluate(drawn, estimators, metrics=["dcg@3"], interval="bootstrap", replicates=60, seed=7)
    hashes = Ids(pl.Series("user", USERS)).hashes
    times = [user_weights(hashes, 7, b).tolist() for b in range(60)]
    replicates: dict[tuple[str, str, str], list[float]] = {}
    most = max(1.0, *(row.value for row in drawn.rows)) * sum(1.0 / math.log2(rank + 1) for rank in (1, 2, 3))
    for e in result.estimates:
        parts = ref.terms(drawn.world(e.model), METRICS[e.metric], RULES[e.estimator], e.target)
        values = [ref.value(parts, weights) for weights in times]
        replicates[e.model, e.estimator, str(e.target)] = values
        known = [x for x in values if math.isfinite(x)]
        if len(known) < 2 or e.users < 2:
            continue
        if e.hits == 0 and e.value == 0.0:  # without a hit all replicates are 0, and say nothing
            assert e.low == 0.0 and not e.high <= 0.0 and math.isnan(e.se), e
            continue
        low, high = np.quantile(known, [0.025, 0.975])
        if "cannot be" in e.trust:
            assert math.isnan(e.value) and (low > most - 1e-9 or high < 1e-9), e
            continue
        assert e.low <= np.clip(low, 0.0, most) + 1e-9, e  # of so few users: at least as wide
        assert e.high >= np.clip(high, 0.0, most) - 1e-9, e
        assert close(e.se, float(np.std(known, ddof=1)), 1e-7, 1e-9), e
    for d in result.verdicts_:
        one, two = (replicates[model, d.estimator, str(d.target)] for model in (d.a, d.b))
        known = [a - b for a, b in zip(one, two, strict=True) if math.isfinite(a - b)]
        if d.users_apart < 10:  # too few for a verdict, and so for an interval
            assert math.isnan(d.low) and math.isnan(d.high), d
        elif len(known) >= 2 and not math.isnan(d.se):  # as wide as every check allows
            assert d.low <= float(np.quantile(known, 0.025)) + 1e-9, d
