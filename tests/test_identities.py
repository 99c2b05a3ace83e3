"""Identities that hold whatever the data: between estimators, under scaling, over all masks and all partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unskew as us
from unskew import estimators, metrics
from unskew.engine import memory
from unskew.engine.held import Held
from unskew.engine.plan import Plan, make_plan
from unskew.estimators import Estimator, Strata, Stratified, Summary, Target
from unskew.estimators.summary import Histogram
from unskew.inference.moments import Moments
from unskew.log import Ids, Recommendations
from unskew.propensity import part_propensity

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


def held_of(users: Sequence[Sequence[Click]], relevant: Sequence[float] | None = None, candidates: float = 9.0) -> Held:
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
    return Held(
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


def summary_of(held: Held) -> Summary:
    assert held.propensity is not None
    used = held.propensity[held.value > 0.0]
    levels = {"label": tuple(map(str, range(9)))}
    return Summary(pairs=Histogram.of(used) if len(used) else None, levels=levels)


def plan_of(held: Held, cells: Sequence[tuple[str | Estimator, str, str]]) -> Plan:
    kept = [(estimators.make(e), Target.make(t), (metrics.make(m),)) for e, t, m in cells]
    return make_plan(kept, summary_of(held), len(held.lists), 8)


def values(held: Held, cells: Sequence[tuple[str | Estimator, str, str]], plan: Plan | None = None) -> list[Floats]:
    """The estimates of both models in these cells (estimator, target, metric)."""
    plan = plan or plan_of(held, cells)
    return [moments.values for moments in memory.estimate(held, plan.arms, plan.cells, threads=1).moments]


def same(held: Held, one: str | Estimator, two: str | Estimator, *targets: str) -> None:
    """Both estimators give the same for both models, in recall and dcg."""
    for target, metric in product(targets, (RECALL, DCG)):
        left, right = values(held, [(one, target, metric), (two, target, metric)])
        np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-14)


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


# Between estimators


@quick
@given(some_users())
def test_gs_with_one_stratum_is_naive(users: list[list[Click]]) -> None:
    """one stratum for all averages the weights away, user by user."""
    same(held_of(users), "gs(strata=1)", "naive", "per_user")


@quick
@given(some_users())
def test_gs_with_one_click_per_stratum_is_snips(users: list[list[Click]]) -> None:
    """if every click of a user has a stratum of its own, nothing is averaged."""
    own = [[replace(c, label=n) for n, c in enumerate(clicks)] for clicks in users]
    same(held_of(own), "gs(strata=column(label))", "snips", "per_user", "pooled")


@quick
@given(some_users(), st.lists(st.floats(0.05, 1.0), min_size=3, max_size=3))
def test_gs_is_snips_where_propensities_are_equal_inside_strata(users: list[list[Click]], level: list[float]) -> None:
    """averaging equal weights changes nothing."""
    equal = [[replace(c, propensity=level[c.label]) for c in clicks] for clicks in users]
    same(held_of(equal), "gs(strata=column(label))", "snips", "per_user", "pooled")


@quick
@given(some_users(clicks=1))
def test_a_single_click_is_naive_under_every_self_normalised_estimator(users: list[list[Click]]) -> None:
    """n* = 1 ⇒ naive = snips = gs: a ratio over one click knows nothing of its weight."""
    same(held_of(users), "snips", "naive", "per_user")
    same(held_of(users), "gs(strata=3)", "naive", "per_user")


def test_gs_snips_and_naive_differ_where_they_may() -> None:
    """The identities above are no accident of estimators that always agree."""
    users = [[Click(1.0, 0.9, 0, (1, 0)), Click(1.0, 0.1, 0, (0, 1)), Click(1.0, 0.3, 1, (2, 3))]]
    cells = [(e, "per_user", RECALL) for e in ("naive", "snips", "gs(strata=column(label))")]
    naive, snips, gs = (v[0] for v in values(held_of(users), cells))
    assert len({round(x, 6) for x in (naive, snips, gs)}) == 3


@quick
@given(some_users(value=st.just(1.0)))
def test_gs_weights_keep_the_sum_and_shrink_the_spread(users: list[list[Click]]) -> None:
    """docs/estimators.md, binary y: Σŵ = Σr, Σŵ² ≤ Σr², max ŵ ≤ max r, for every user."""
    held = held_of(users)
    assert held.propensity is not None
    gs = estimators.make("gs(strata=column(label))").prepare(summary_of(held))
    (term,) = gs.terms(held.batch(0, held.users), Target.PER_USER)
    assert term.seen is not None
    for first, last in zip(held.indptr[:-1], held.indptr[1:], strict=True):
        w, r = term.seen[first:last], 1.0 / held.propensity[first:last]
        assert w.sum() == pytest.approx(r.sum(), rel=1e-12)
        assert (w**2).sum() <= (r**2).sum() * (1.0 + 1e-12)
        assert w.max() <= r.max() * (1.0 + 1e-12)


@quick
@given(some_users())
def test_gs_weights_keep_the_weighted_sum_of_graded_values(users: list[list[Click]]) -> None:
    """docs/estimators.md, graded y: Σŵy = Σry, so that the divisor is the same."""
    held = held_of(users)
    assert held.propensity is not None
    gs = estimators.make("gs(strata=2)").prepare(summary_of(held))
    (term,) = gs.terms(held.batch(0, held.users), Target.PER_USER)
    assert term.seen is not None
    for first, last in zip(held.indptr[:-1], held.indptr[1:], strict=True):
        y, r = held.value[first:last], 1.0 / held.propensity[first:last]
        assert (term.seen[first:last] * y).sum() == pytest.approx((r * y).sum(), rel=1e-12)


@quick
@given(some_users(users=1), st.sampled_from(["eq3", "renormalised"]))
def test_stratified_with_the_users_own_shares_is_naive(users: list[list[Click]], mode: str) -> None:
    """with P(v) = n*_uv / n*_u the strata add up to what was seen."""
    total = sum(c.value for c in users[0])
    shares = {str(v): sum(c.value for c in users[0] if c.label == v) / total for v in range(9)}
    same(held_of(users), Stratified(Strata("column", 0, "label"), shares, mode), "naive", "per_user")


@quick
@given(some_users(), st.floats(0.05, 1.0))
def test_equal_propensities_make_snips_naive(users: list[list[Click]], level: float) -> None:
    """constant P ⇒ snips = naive, per user and pooled; gs too, per user."""
    equal = held_of([[replace(c, propensity=level) for c in clicks] for clicks in users])
    same(equal, "snips", "naive", "per_user", "pooled")
    same(equal, "gs(strata=3)", "naive", "per_user", "pooled")


# Under scaling


def scaled(users: Sequence[Sequence[Click]], factors: Sequence[float]) -> Held:
    return held_of(
        [[replace(c, propensity=c.propensity * f) for c in mine] for mine, f in zip(users, factors, strict=True)],
        relevant=[9.0] * len(users),
    )


@quick
@given(some_users(), st.floats(0.01, 1.0))
def test_a_global_factor_of_the_propensities_cancels(users: list[list[Click]], factor: float) -> None:
    """P → cP leaves snips and gs as they are, per user, pooled, and snips also as a sum."""
    cells = [(e, t, DCG) for e in ("snips", "gs(strata=column(label))") for t in ("per_user", "pooled")]
    cells.append(("snips", "per_user_sum", DCG))
    before, after = (values(scaled(users, [f] * len(users)), cells) for f in (1.0, factor))
    np.testing.assert_allclose(after, before, rtol=1e-12, atol=1e-14)


@quick
@given(some_users(), st.integers(1, 12))
def test_quantile_strata_move_along_with_the_propensities(users: list[list[Click]], octaves: int) -> None:
    """Halving all propensities moves the quantile bins with them: gs and quantile clips stay."""
    cells = [(e, "per_user", DCG) for e in ("gs(strata=2)", "clipped(snips, quantile=0.4)")]
    before, after = (values(scaled(users, [f] * len(users)), cells) for f in (1.0, 0.5**octaves))
    np.testing.assert_allclose(after, before, rtol=1e-12, atol=1e-14)


@quick
@given(some_users(), st.lists(st.floats(0.01, 1.0), min_size=4, max_size=4))
def test_a_factor_per_user_cancels_inside_users(users: list[list[Click]], factors: list[float]) -> None:
    """P → c_u P leaves per-user snips and gs as they are."""
    cells = [(e, "per_user", DCG) for e in ("snips", "gs(strata=column(label))")]
    before, after = (values(scaled(users, f[: len(users)]), cells) for f in ([1.0] * 4, factors))
    np.testing.assert_allclose(after, before, rtol=1e-12, atol=1e-14)


@quick
@given(some_users(), st.floats(0.01, 1.0))
def test_ips_scales_with_the_inverse_factor(users: list[list[Click]], factor: float) -> None:
    """P → cP divides ips by c, under every target."""
    cells = [("ips", t, DCG) for t in ("per_user", "pooled", "per_user_sum")]
    before, after = (values(scaled(users, [f] * len(users)), cells) for f in (1.0, factor))
    np.testing.assert_allclose(np.array(after) * factor, before, rtol=1e-12, atol=1e-14)


def test_what_does_not_cancel() -> None:
    """a factor per user moves pooled snips, and after an absolute clip not even a global one cancels."""
    users = [[Click(1.0, 0.5, 0, (1, 0)), Click(1.0, 0.2, 0, (0, 1))], [Click(1.0, 0.4, 0, (0, 2))]]

    def of(factors: Sequence[float], cell: tuple[str, str, str]) -> float:
        return float(values(scaled(users, factors), [cell])[0][0])

    pooled, clipped = ("snips", "pooled", RECALL), ("clipped(snips, at=0.3)", "per_user", RECALL)
    assert abs(of([1.0, 1.0], pooled) - of([1.0, 0.1], pooled)) > 0.01
    assert abs(of([1.0, 1.0], clipped) - of([0.5, 0.5], clipped)) > 0.01


# Over all masks


def masked(held: Held, keep: npt.NDArray[np.bool_]) -> Held:
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


def expected_values(held: Held, cells: Sequence[tuple[str, str, str]]) -> Floats:
    """E[estimate] of model 0 in each cell, over all masks with their probabilities."""
    assert held.propensity is not None
    plan, p = plan_of(held, cells), held.propensity
    total = np.zeros(len(cells))
    for bits in product([False, True], repeat=len(p)):
        keep = np.array(bits, dtype=np.bool_)
        chance = np.prod(np.where(keep, p, 1.0 - p))
        total += chance * np.array([v[0] for v in values(masked(held, keep), cells, plan)])
    return total


def truths(held: Held) -> dict[str, float]:
    """recall@3 of model 0 under every target, if every pair had been seen."""
    complete = replace(held, propensity=np.ones(len(held.value)))
    found = values(complete, [("ips", t, RECALL) for t in ("per_user", "pooled", "per_user_sum")])
    return dict(zip(("per_user", "pooled", "per_user_sum"), (float(v[0]) for v in found), strict=True))


IPS_CELLS = [("ips", t, RECALL) for t in ("per_user", "pooled", "per_user_sum")]


@settings(max_examples=8)
@given(some_users(clicks=3, users=2, propensity=st.floats(0.1, 1.0)))
def test_ips_is_unbiased_over_all_masks(users: list[list[Click]]) -> None:
    """under the true P the mean of ips over all 2^n masks is the truth, whatever the world."""
    held = held_of(users, relevant=[sum(c.value for c in clicks) for clicks in users])
    np.testing.assert_allclose(expected_values(held, IPS_CELLS), list(truths(held).values()), rtol=1e-10, atol=1e-12)


def test_ips_is_unbiased_and_naive_is_not() -> None:
    """docs/estimators.md¹¹ masks: popular pairs are seen and listed more, so naive overrates; ips does not."""
    busy = [
        Click(1.0, 0.9, 0, (1, 0)),
        Click(1.0, 0.7, 0, (2, 0)),
        Click(2.0, 0.2, 0, (0, 1)),
        Click(1.0, 0.1, 0, (5, 2)),
    ]
    quiet = [Click(1.0, 0.5, 0, (3, 0)), Click(0.5, 0.15, 0, (0, 1)), Click(0.0, 0.4, 0, (1, 0))]
    other = [
        Click(1.0, 0.3, 0, (2, 1)),
        Click(1.0, 0.6, 0, (1, 3)),
        Click(1.0, 0.05, 0, (0, 0)),
        Click(1.0, 0.8, 0, (0, 2)),
    ]
    users = [busy, quiet, other, []]
    held = held_of(users, relevant=[5.0, 1.5, 4.0, 2.0])
    truth = truths(held)
    found = expected_values(held, [*IPS_CELLS, ("naive", "per_user_sum", RECALL)])
    np.testing.assert_allclose(found[:3], list(truth.values()), rtol=1e-10)
    assert abs(found[3] - truth["per_user_sum"]) > 0.2
    wrong = replace(held, propensity=np.sqrt(np.asarray(held.propensity)))
    assert abs(values(wrong, IPS_CELLS)[2][0] - values(held, IPS_CELLS)[2][0]) > 0.2  # and the propensities matter


def test_nothing_seen_is_nan_or_nought() -> None:
    """an empty mask has no per-user or pooled ratio (NaN); a sum over it is 0, and ips is 0."""
    users = [[Click(1.0, 0.5, 0, (1, 0))], [Click(1.0, 0.25, 0, (0, 1))]]
    held = held_of(users, relevant=[2.0, 3.0])
    nothing = masked(held, np.zeros(2, dtype=np.bool_))
    ratios = [(e, t, RECALL) for e in ("naive", "snips", "gs(strata=2)") for t in ("per_user", "pooled")]
    ratios.append(("snips", "per_user_sum", RECALL))
    assert np.isnan(values(nothing, ratios, plan_of(held, ratios))).all()
    sums = [*IPS_CELLS, ("naive", "per_user_sum", RECALL)]
    assert not np.any(values(nothing, sums, plan_of(held, sums)))


def test_an_empty_log_is_an_error_and_an_empty_segment_is_nan() -> None:
    """What has no seen relevant pair is said, never shown as a number."""
    frame = pl.DataFrame({"user": [1, 2], "item": [1, 2], "value": [0.0, 0.0]})
    lists = pl.DataFrame({"user": [1], "item": [1], "rank": [1]})
    with pytest.raises(us.InputError, match="no relevant held-out interaction"):
        us.evaluate(frame, {"m": lists}, feedback="conversions")
    with pytest.raises(us.InputError, match="no rows"):
        us.evaluate(frame.head(0), {"m": lists}, feedback="conversions")
    users = pl.DataFrame({"user": [1, 2, 3], "kind": ["busy", "busy", "silent"]})
    result = us.evaluate(frame.drop("value"), {"m": lists}, metrics=["recall@5"], users=users, by="kind")
    found = {e.segment: e.value for e in result.estimates}
    assert found["kind=busy"] == 0.5 and np.isnan(found["kind=silent"])
    assert any("NaN" in warning for warning in result.warnings)
    assert [e["value"] for e in result.to_dict()["estimates"] if e["segment"] == "kind=silent"] == [None]


# The share rules


SHARE = 0.3
PAIRS = {"x": (0.9, 1), "y": (0.5, 2), "z": (0.6, 0), "w": (0.2, 3)}  # P and rank of one user's four relevant items


def states() -> list[tuple[dict[str, str], float]]:
    """Every way in which four pairs may be unseen, in training or in the test part, with its probability."""
    found = []
    for places in product(("unseen", "train", "test"), repeat=len(PAIRS)):
        chance = 1.0
        for place, (p, _) in zip(places, PAIRS.values(), strict=True):
            chance *= {"unseen": 1.0 - p, "train": p * (1.0 - SHARE), "test": p * SHARE}[place]
        found.append((dict(zip(PAIRS, places, strict=True)), chance))
    return found


def evaluated(state: Mapping[str, str], propensity: str, candidates: Any) -> float:
    """ips of dcg@3 as a sum over one user (and a second one, whose pair makes neither log empty)."""
    tested, trained = ([item for item, place in state.items() if place == part] for part in ("test", "train"))
    test = pl.DataFrame({"user": ["u"] * len(tested), "item": tested, "propensity": [PAIRS[i][0] for i in tested]})
    extra = pl.DataFrame({"user": ["v"], "item": ["v"], "propensity": [1.0]})
    train = pl.DataFrame({"user": ["u"] * len(trained) + ["v"], "item": [*trained, "t"]})
    listed = [(item, rank) for item, (_, rank) in PAIRS.items() if rank]
    lists = pl.DataFrame({"user": ["u"] * len(listed), "item": [i for i, _ in listed], "rank": [r for _, r in listed]})
    result = us.evaluate(
        pl.concat([test.cast({"user": pl.String, "item": pl.String, "propensity": pl.Float64}), extra]),
        {"m": lists},
        metrics=["dcg@3"],
        estimators=["ips"],
        propensity=propensity,
        target="per_user_sum",
        seen=train,
        candidates=candidates,
        threads=1,
    )
    return 2.0 * result.estimates[0].value


def worth(items: Sequence[str]) -> float:
    """Σ of the discounts at the items' ranks."""
    return float(sum(1.0 / np.log2(rank + 1.0) for item, (_, rank) in PAIRS.items() if item in items and rank))


def test_the_share_rule_for_all_candidates_keeps_ips_unbiased() -> None:
    """with every item a candidate, P·s is the test part's propensity; without the share ips is off."""
    scaled_mean = sum(chance * evaluated(state, f"known(share={SHARE})", "all") for state, chance in states())
    assert scaled_mean == pytest.approx(worth(list(PAIRS)), rel=1e-10)
    plain = sum(chance * evaluated(state, "known", "all") for state, chance in states())
    assert plain == pytest.approx(SHARE * worth(list(PAIRS)), rel=1e-10)


def test_the_share_rule_for_unseen_candidates_keeps_ips_unbiased() -> None:
    """given the training part, P·s/(1 − P(1 − s)) makes ips right for the items outside it."""
    means: dict[tuple[str, ...], list[float]] = {}
    for state, chance in states():
        trained = tuple(item for item, place in state.items() if place == "train")
        total = means.setdefault(trained, [0.0, 0.0])
        total[0] += chance * evaluated(state, f"known(share={SHARE})", "unseen")
        total[1] += chance
    assert len(means) == 2 ** len(PAIRS)
    for trained, (total_value, chance) in means.items():
        outside = [item for item in PAIRS if item not in trained]
        assert total_value / chance == pytest.approx(worth(outside), rel=1e-10)


@given(st.floats(0.01, 1.0), st.floats(0.01, 0.99))
def test_share_rules_are_the_conditional_probabilities(p: float, share: float) -> None:
    """P·s, and by Bayes P·s over the probability of not being in training."""
    whole = np.array([p])
    assert part_propensity(whole, share, unseen=False)[0] == pytest.approx(p * share, rel=1e-12)
    not_trained = 1.0 - p * (1.0 - share)
    assert part_propensity(whole, share, unseen=True)[0] == pytest.approx(p * share / not_trained, rel=1e-12)


def test_a_split_carries_its_share_into_the_evaluation() -> None:
    """A test log from us.split is scaled by itself: the same as telling the share."""
    rng = np.random.default_rng(2)
    n = 400
    frame = pl.DataFrame({"user": np.repeat(np.arange(n // 4), 4), "item": np.tile(np.arange(4), n // 4)})
    frame = frame.with_columns(propensity=pl.Series(rng.uniform(0.1, 0.9, n)))
    train, test = us.split.holdout(us.Log.from_frame(frame), 0.25, seed=3)
    lists = pl.DataFrame({"user": np.arange(n // 4), "item": np.arange(n // 4) % 4, "rank": np.ones(n // 4, dtype=int)})
    plain = us.Log.from_frame(test.to_frame())
    pools: tuple[Any, Any] = ("all", "unseen")
    for candidates in pools:
        found = [
            us.evaluate(
                log,
                {"m": lists},
                estimators=["ips"],
                propensity=propensity,
                target="per_user_sum",
                seen=train,
                candidates=candidates,
                users=pl.DataFrame({"user": np.arange(n // 4)}),
            ).estimates[0]
            for log, propensity in ((test, "known"), (plain, "known(share=0.25)"), (plain, "known"))
        ]
        assert found[0].value == pytest.approx(found[1].value, rel=1e-12)
        assert found[2].value < 0.5 * found[1].value


# Over all partitions and threads


def many_users(count: int, seed: int) -> Held:
    """A larger world with silent users, graded values and lists of all lengths."""
    rng = np.random.default_rng(seed)
    users = []
    for _ in range(count):
        clicks = int(rng.integers(0, 6))
        ranks = [rng.permutation(8)[:clicks] for _ in range(2)]
        users.append(
            [
                Click(
                    float(rng.choice([0.0, 1.0, 1.0, 2.5])),
                    float(rng.uniform(0.02, 1.0)),
                    int(rng.integers(0, 3)),
                    (int(ranks[0][n]), int(ranks[1][n])),
                )
                for n in range(clicks)
            ]
        )
    seen = [sum(c.value for c in clicks) for clicks in users]
    return held_of(users, relevant=[s + float(rng.integers(0, 3)) for s in seen])


EVERY_CELL = [
    *(
        (e, t, m)
        for e in ("naive", "snips", "ips")
        for t in ("per_user", "pooled", "per_user_sum")
        for m in (RECALL, DCG)
    ),
    *((e, t, DCG) for e in ("gs(strata=3)", "clipped(gs(strata=2), at=0.2)") for t in ("per_user", "pooled")),
    *((e, "per_user", m) for e in ("naive", "snips") for m in ("ndcg@3", "map@3")),
]


def close_moments(found: Sequence[Moments], expected: Sequence[Moments]) -> None:
    """Values to 1e-12, standard errors to 1e-9, those of differences to 1e-7 of the larger single one."""
    for one, two in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.values, two.values, rtol=1e-12)
        errors = np.sqrt(np.diag(two.covariance))
        np.testing.assert_allclose(np.sqrt(np.diag(one.covariance)), errors, rtol=1e-9)
        assert abs(one.difference_error(0, 1) - two.difference_error(0, 1)) <= 1e-7 * errors.max()
        assert (one.users, one.active) == (two.users, two.active)
        np.testing.assert_array_equal(one.differ, two.differ)


def close_sums(found: memory.Sums, expected: memory.Sums) -> None:
    close_moments(found.moments, expected.moments)
    for one, two in zip(found.tallies, expected.tallies, strict=True):
        np.testing.assert_allclose(
            [one.ess, one.max_weight_share, one.clipped_share],
            [two.ess, two.max_weight_share, two.clipped_share],
            rtol=1e-12,
        )
        assert one.pairs == two.pairs and (one.bins == two.bins).all()
    assert found.replicates is not None and expected.replicates is not None
    np.testing.assert_allclose(found.replicates, expected.replicates, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("block", [1, 2, 7, 64, 200, 1000])
def test_blocks_of_any_size_give_the_one_pass_result(block: int) -> None:
    """whole users in blocks of 1, 2, 7, …: the same estimates, errors, diagnostics and replicates."""
    held = many_users(200, seed=1)
    plan = plan_of(held, EVERY_CELL)
    whole = memory.estimate(held, plan.arms, plan.cells, replicates=60, seed=4)
    parts = memory.estimate(held, plan.arms, plan.cells, replicates=60, seed=4, block=block, threads=2)
    close_sums(parts, whole)


def chosen(held: Held, users: Sequence[int]) -> Held:
    """Some users, in the given order."""
    assert held.relevant is not None and held.candidates is not None
    rows = np.concatenate([np.arange(held.indptr[u], held.indptr[u + 1]) for u in users]).astype(np.int64)
    kept = masked(held, np.zeros(len(held.value), dtype=np.bool_))
    assert held.propensity is not None
    names = Ids(pl.Series(np.array(users)))
    return replace(
        kept,
        hashes=held.hashes[list(users)],
        indptr=np.concatenate([[0], np.cumsum(np.diff(held.indptr)[list(users)])]).astype(np.int64),
        item=held.item[rows],
        value=held.value[rows],
        propensity=held.propensity[rows],
        labels={name: codes[rows] for name, codes in held.labels.items()},
        relevant=held.relevant[list(users)],
        candidates=held.candidates[list(users)],
        lists=tuple(lists.recode(names, lists.items) for lists in held.lists),
    )


@settings(max_examples=12)
@given(st.randoms(use_true_random=False), st.integers(2, 6))
def test_partitions_merge_in_any_order(random: Any, parts: int) -> None:
    """users dealt out at random, shuffled inside, merged in any order: the same result."""
    held = many_users(60, seed=2)
    plan = plan_of(held, EVERY_CELL)
    whole = memory.estimate(held, plan.arms, plan.cells, replicates=50, seed=4)
    users = list(range(held.users))
    random.shuffle(users)
    dealt = [users[n::parts] for n in range(parts)]
    random.shuffle(dealt)
    sums = [memory.estimate(chosen(held, some), plan.arms, plan.cells, replicates=50, seed=4) for some in dealt]
    close_sums(reduce(memory.Sums.merge, sums), whole)


def test_threads_do_not_change_a_bit() -> None:
    """1, 2 and 5 threads give bit-identical sums, replicates included."""
    held = many_users(300, seed=3)
    plan = plan_of(held, EVERY_CELL)
    one, *others = (
        memory.estimate(held, plan.arms, plan.cells, replicates=60, seed=4, block=13, threads=threads)
        for threads in (1, 2, 5)
    )
    for other in others:
        for a, b in zip(one.moments, other.moments, strict=True):
            assert (a.mean == b.mean).all() and (a.cross == b.cross).all()
        assert one.replicates is not None and other.replicates is not None
        assert (one.replicates == other.replicates).all()


def test_threads_do_not_change_a_result() -> None:
    """A bootstrapped evaluation of several blocks is the same to the last bit with 1, 2 and 5 threads."""
    rng = np.random.default_rng(0)
    n = 3 * memory.BLOCK
    test = pl.DataFrame({"user": np.arange(n), "item": rng.integers(0, 9, n), "propensity": rng.uniform(0.1, 1.0, n)})
    lists = {
        name: pl.DataFrame({"user": np.arange(n), "item": rng.integers(0, 9, n), "rank": rng.integers(1, 5, n)})
        for name in ("a", "b")
    }
    found = [
        us.evaluate(
            test,
            lists,
            metrics=["recall@3"],
            estimators=["snips"],
            propensity="known",
            target="pooled",
            interval="bootstrap",
            replicates=60,
            threads=threads,
        )
        for threads in (1, 2, 5)
    ]
    assert found[0].estimates == found[1].estimates == found[2].estimates
    assert found[0].verdicts_ == found[1].verdicts_ == found[2].verdicts_


def test_the_bootstrap_depends_on_users_not_on_their_order() -> None:
    """The same rows in another order draw the same replicates; another seed draws others."""
    rng = np.random.default_rng(1)
    test = pl.DataFrame(
        {"user": np.arange(80), "item": rng.integers(0, 5, 80), "propensity": rng.uniform(0.2, 1.0, 80)}
    )
    lists = {"a": pl.DataFrame({"user": np.arange(80), "item": rng.integers(0, 5, 80), "rank": np.ones(80, dtype=int)})}

    def run(frame: pl.DataFrame, seed: int) -> tuple[float, float]:
        result = us.evaluate(
            frame, lists, estimators=["snips"], target="pooled", propensity="known", interval="bootstrap", seed=seed
        )
        return result.estimates[0].low, result.estimates[0].high

    assert run(test, 0) == run(test.sample(fraction=1.0, shuffle=True, seed=3), 0) != run(test, 1)
