"""The share rules, over every way in which a log could have come about and been split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unskew as us
from unskew.propensity import part_propensity

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
    """ips of dcg@3 as a sum over one user, without what a second one brings, who is there in every state with a hit."""
    tested, trained = ([item for item, place in state.items() if place == part] for part in ("test", "train"))
    test = pl.DataFrame({"user": ["u"] * len(tested), "item": tested, "propensity": [PAIRS[i][0] for i in tested]})
    extra = pl.DataFrame({"user": ["v"], "item": ["v"], "propensity": [1.0]})
    train = pl.DataFrame({"user": ["u"] * len(trained) + ["v"], "item": [*trained, "t"]})
    listed = [(item, rank) for item, (_, rank) in PAIRS.items() if rank]
    lists = pl.DataFrame({"user": ["u"] * len(listed), "item": [i for i, _ in listed], "rank": [r for _, r in listed]})
    hit = pl.DataFrame({"user": ["v"], "item": ["v"], "rank": [1]})
    result = us.evaluate(
        pl.concat([test.cast({"user": pl.String, "item": pl.String, "propensity": pl.Float64}), extra]),
        {"m": pl.concat([lists, hit])},
        metrics=["dcg@3"],
        estimators=["ips"],
        propensity=propensity,
        target="per_user_sum",
        train=train,
        users=pl.DataFrame({"user": ["u", "v"]}),
        candidates=candidates,
        threads=1,
    )
    hit_weighs = 1.0 / SHARE if "share" in propensity and candidates == "all" else 1.0
    return 2.0 * result.estimates[0].value - hit_weighs


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
                train=train,
                candidates=candidates,
                users=pl.DataFrame({"user": np.arange(n // 4)}),
            ).estimates[0]
            for log, propensity in ((test, "known"), (plain, "known(share=0.25)"), (plain, "known(part=test)"))
        ]
        assert found[0].value == pytest.approx(found[1].value, rel=1e-12)
        assert found[2].value < 0.5 * found[1].value
