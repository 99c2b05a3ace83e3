"""The main job as its users meet it: who counts, what is dropped, segments, ids, files, look-ups."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import unskew as us
from unskew.atomic import atomic
from unskew.errors import InputError
from unskew.estimators import Strata, Stratified

TEST = pl.DataFrame(
    {
        "user": [1, 1, 1, 2, 2, 3, 4],
        "item": [10, 20, 30, 20, 40, 30, 10],
        "propensity": [0.8, 0.4, 0.2, 0.5, 0.1, 0.25, 0.9],
        "place": ["home", "search", "home", "search", "home", "home", "search"],
    }
)
LISTS = {
    "a": pl.DataFrame({"user": [1, 1, 2, 2, 3], "item": [10, 50, 40, 20, 10], "rank": [1, 2, 1, 2, 1]}),
    "b": pl.DataFrame({"user": [1, 1, 2, 4], "item": [20, 30, 20, 10], "rank": [1, 2, 1, 1]}),
}


def evaluate(test: Any = TEST, models: Any = None, **options: Any) -> us.Result:
    settings: dict[str, Any] = {"metrics": ["recall@2"], "propensity": "known", "estimators": ["naive", "snips"]}
    return us.evaluate(test, LISTS if models is None else models, **(settings | options))


def value(result: us.Result, model: str = "a", estimator: str = "naive", **where: Any) -> float:
    rows = [e for e in result.estimates if e.model == model and e.estimator == estimator]
    rows = [e for e in rows if all(getattr(e, name) == wanted for name, wanted in where.items())]
    assert len(rows) == 1
    return rows[0].value


def numbers(result: us.Result) -> dict[tuple[str, ...], tuple[float, float]]:
    return {(e.model, e.metric, e.estimator, str(e.target)): (e.value, e.se) for e in result.estimates}


# Who counts


def test_users_without_a_list_are_counted_and_score_nothing() -> None:
    """User 4 has no list in a: the same as a list without a hit, and the account says how many."""
    result = evaluate()
    assert value(result, "a") == pytest.approx((1 / 3 + 1.0 + 0.0 + 0.0) / 4)
    filled = LISTS | {"a": pl.concat([LISTS["a"], pl.DataFrame({"user": [4], "item": [99], "rank": [1]})])}
    assert value(evaluate(models=filled), "a") == value(result, "a")
    assert result.inputs["models"]["a"]["users_without_list"] == 1
    assert result.inputs["models"]["b"]["users_without_list"] == 1
    assert any(w.startswith("a: 1 users with held-out interactions have no list") for w in result.warnings)
    assert evaluate(models=filled).inputs["models"]["a"]["users_without_list"] == 0


def test_lists_of_strangers_are_ignored() -> None:
    """Lists of users outside the population change nothing."""
    more = {"a": pl.concat([LISTS["a"], pl.DataFrame({"user": [77], "item": [10], "rank": [1]})]), "b": LISTS["b"]}
    assert numbers(evaluate(models=more)) == numbers(evaluate())


def test_silent_users_lower_sums_but_not_ratios() -> None:
    """per_user_sum is a mean over the whole population; per_user counts users with something seen."""
    users = pl.DataFrame({"user": [1, 2, 3, 4, 5, 6, 7, 8]})
    few, many = (evaluate(target=["per_user", "per_user_sum"], estimators=["naive"], users=u) for u in (None, users))
    assert value(many, target="per_user_sum") == pytest.approx(value(few, target="per_user_sum") / 2)
    assert value(many, target="per_user") == value(few, target="per_user")
    assert any("silent" in w for w in few.warnings) and not any("silent" in w for w in many.warnings)
    assert few.inputs["users"] | {"population": 8, "population_is": "given"} == many.inputs["users"]


def test_training_users_belong_to_the_population() -> None:
    """Without a given population, users of the training log count too, silent in the test log."""
    seen = pl.DataFrame({"user": [1, 8, 9], "item": [60, 60, 60]})
    result = evaluate(seen=seen, target="per_user_sum", estimators=["naive"])
    assert result.inputs["users"]["population"] == 6
    assert value(result) == pytest.approx(value(evaluate(target="per_user_sum", estimators=["naive"])) * 4 / 6)


def test_rows_outside_the_population_are_an_error_or_dropped() -> None:
    """A user with rows who is not in the population is named; dropping such rows is counted."""
    users = pl.DataFrame({"user": [1, 2, 3]})
    with pytest.raises(InputError, match="user '4' has rows"):
        evaluate(users=users)
    result = evaluate(users=users, invalid="drop")
    assert result.inputs["test"]["dropped"] == {"user outside the population": 1}
    assert numbers(result) == numbers(evaluate(TEST.filter(pl.col("user") != 4), users=users))


def test_fewer_relevant_than_seen_is_an_error() -> None:
    """n_u counts all relevant items, so it cannot be below what was seen; the message names the user."""
    users = pl.DataFrame({"user": [1, 2, 3, 4], "relevant": [3.0, 1.0, 5.0, 5.0]})
    with pytest.raises(InputError) as caught:
        evaluate(users=users, estimators=["ips"])
    assert "user '2'" in str(caught.value) and "says 1" in str(caught.value) and "2 relevant items" in str(caught.value)


def test_users_without_relevant_items_are_outside_the_target() -> None:
    """n_u = 0 takes a user out of per_user ips; a silent user with n_u > 0 counts as 0."""

    def ips(extra: float) -> float:
        users = pl.DataFrame({"user": [1, 2, 3, 4, 5], "relevant": [4.0, 4.0, 4.0, 4.0, extra]})
        return value(evaluate(users=users, estimators=["ips"]), estimator="ips")

    assert ips(0.0) == pytest.approx(ips(3.0) * 5 / 4)


@pytest.mark.parametrize(
    "users",
    [
        {"user": [1, 2, 3, None]},
        {"user": ["1", "2", "3", None]},
        {"user": [1, 2, 3, 4, 4]},
        {"user": [1, 2, 3, 4], "relevant": [9.0, 9.0, 9.0, -1.0]},
        {"user": [1, 2, 3, 4], "relevant": [9.0, 9.0, 9.0, None]},
    ],
)
def test_a_wrong_population_is_an_error(users: dict[str, list[Any]]) -> None:
    """Nulls, repeated users and negative n_u are refused by name."""
    with pytest.raises(InputError, match="users: column"):
        evaluate(users=pl.DataFrame(users))


# What is dropped


SEEN = pl.DataFrame({"user": [1, 1, 2, 9], "item": [50, 10, 40, 30]})


def test_training_items_in_lists_are_counted_and_can_be_dropped() -> None:
    """A list that repeats training wastes its places; drop_seen closes the ranks up."""
    kept = evaluate(seen=SEEN)
    assert kept.inputs["models"]["a"]["training_items_in_lists"] == 3
    assert any("3 listed items are in the user's training data" in w for w in kept.warnings)
    closed = evaluate(seen=SEEN, drop_seen=True)
    assert closed.inputs["models"]["a"]["training_items_in_lists"] == 0
    assert closed.inputs["models"]["a"]["dropped"] == {"already seen": 3}
    by_hand = pl.DataFrame({"user": [2, 3], "item": [20, 10], "rank": [1, 1]})
    assert value(evaluate(seen=SEEN, drop_seen=True, metrics=["arhr@1"])) == pytest.approx(
        value(evaluate(seen=SEEN, models={"a": by_hand}, metrics=["arhr@1"]))
    )
    assert value(closed, metric="recall@2") == value(kept)  # at depth 2 the hit was there before
    assert value(evaluate(seen=SEEN, metrics=["recall@1"])) < value(
        evaluate(seen=SEEN, metrics=["recall@1"], drop_seen=True)
    )


def test_repeated_training_pairs_are_dropped_for_unseen_candidates_only() -> None:
    """(1, 10) and (2, 40) are in training: nothing that may be recommended, unless all items are candidates."""
    unseen = evaluate(seen=SEEN)
    assert unseen.inputs["test"]["dropped"] == {"already in training": 2}
    assert any("2 held-out interactions repeat a training pair" in w for w in unseen.warnings)
    again = ~((pl.col("user") == 1) & (pl.col("item") == 10)) & ~((pl.col("user") == 2) & (pl.col("item") == 40))
    assert numbers(unseen) == numbers(evaluate(TEST.filter(again), seen=SEEN))
    everything = evaluate(seen=SEEN, candidates="all")
    assert everything.inputs["test"]["dropped"] == {}
    assert not any("repeat a training pair" in w for w in everything.warnings)
    assert value(everything) == value(evaluate())


def test_support_gap_is_the_share_of_interactions_on_unknown_items() -> None:
    """Item 20 is not in training: 2 of the remaining 5 interactions; without a training log the share is not known."""
    result = evaluate(seen=SEEN)
    left = [20, 30, 20, 30, 10]
    assert result.estimates[0].support_gap == pytest.approx(left.count(20) / 5)
    assert result.inputs["items"]["without_training_support"] == 1
    assert evaluate().estimates[0].support_gap is None


def test_duplicate_pairs_and_wrong_rows_follow_the_options() -> None:
    """duplicates and invalid apply to the test log, and what they drop is counted."""
    twice = pl.concat([TEST, TEST.head(1)])
    with pytest.raises(InputError, match="twice"):
        evaluate(twice)
    assert evaluate(twice, duplicates="first").inputs["test"]["dropped"] == {"duplicate pair": 1}
    assert numbers(evaluate(twice, duplicates="first")) == numbers(evaluate())
    wrong = pl.concat(
        [TEST, TEST.tail(1).with_columns(item=pl.lit(70), propensity=pl.lit(0.0))], how="vertical_relaxed"
    )
    with pytest.raises(InputError, match="propensity"):
        evaluate(wrong)
    assert evaluate(wrong, invalid="drop").inputs["test"]["dropped"] == {"propensity outside (0, 1]": 1}


def test_the_account_counts_clicks_per_user() -> None:
    """How many users have 1, 2, 3–5, 6+ seen relevant items."""
    more = pl.DataFrame({"user": [6] * 7, "item": list(range(7))})
    rows = pl.concat([TEST.select("user", "item"), more])
    result = evaluate(rows, propensity=None, estimators=["naive"])
    assert result.inputs["clicks_per_user"] == {"1": 2, "2": 1, "3-5": 1, "6+": 1}


def test_short_lists_are_said() -> None:
    """A cut-off that no list reaches is worth a warning."""
    assert any("no list goes beyond rank 2" in w and "10" in w for w in evaluate(metrics=["recall@10"]).warnings)


# Segments


def test_segments_by_a_column_of_the_log_equal_the_filtered_log() -> None:
    """by=place: each segment is what evaluate gives for its rows alone, over the same population."""
    users = pl.DataFrame({"user": [1, 2, 3, 4, 5]})
    targets = ["per_user", "pooled", "per_user_sum"]
    options: dict[str, Any] = {"users": users, "target": targets, "metrics": ["recall@2", "dcg@2"], "refused": "skip"}
    whole = evaluate(by="place", **options)
    for place in ("home", "search"):
        alone = evaluate(TEST.filter(pl.col("place") == place), **options)
        part = [e for e in whole.estimates if e.segment == f"place={place}"]
        assert len(part) == len(alone.estimates) > 0
        for e, f in zip(part, alone.estimates, strict=True):
            assert (e.model, e.metric, e.estimator, e.target, e.users) == (
                f.model,
                f.metric,
                f.estimator,
                f.target,
                f.users,
            )
            assert (e.value, e.se, e.ess) == pytest.approx((f.value, f.se, f.ess), rel=1e-12)
        verdicts = [v for v in whole.verdicts_ if v.segment == f"place={place}"]
        for v, w in zip(verdicts, alone.verdicts_, strict=True):
            assert (v.difference, v.p) == pytest.approx((w.difference, w.p), rel=1e-9)
            assert v.verdict == w.verdict
    assert [e for e in whole.estimates if e.segment is None] == list(evaluate(**options).estimates)


def test_segments_of_interactions_add_up_to_the_whole() -> None:
    """Sums over parts of the interactions add up; what has no |C_u| or n_u of its own is left out there."""
    test = TEST.with_columns(value=pl.Series([1.0, 0.0, 2.0, 1.0, 1.0, 0.0, 1.0]))
    users = pl.DataFrame({"user": [1, 2, 3, 4], "relevant": [9.0, 9.0, 9.0, 9.0]})
    result = evaluate(
        test,
        by="place",
        feedback="conversions",
        estimators=["naive", "ips", "snips"],
        target=["per_user_sum", "per_user"],
        users=users,
    )
    for estimator in ("naive", "ips"):
        whole, home, search = (
            value(result, estimator=estimator, target="per_user_sum", segment=s)
            for s in (None, "place=home", "place=search")
        )
        assert whole == pytest.approx(home + search)
    parts = {(e.estimator, str(e.target)) for e in result.estimates if e.segment is not None}
    assert parts == {("naive", "per_user_sum"), ("ips", "per_user_sum"), ("naive", "per_user"), ("snips", "per_user")}
    assert any("left out there" in w for w in result.warnings)


def test_segments_by_a_column_of_the_users_equal_the_filtered_users() -> None:
    """by=country: whole users with their n_u and candidates, as if the others did not exist."""
    users = pl.DataFrame(
        {"user": [1, 2, 3, 4, 5], "relevant": [4.0, 5.0, 2.0, 1.0, 2.0], "country": ["x", "y", "x", "y", "x"]}
    )
    options: dict[str, Any] = {"target": ["per_user", "pooled", "per_user_sum"], "refused": "skip"}
    names = ["naive", "ips", "snips", "gs(strata=column(place))"]
    whole = evaluate(by="country", users=users, estimators=names, **options)
    for country in ("x", "y"):
        inside = users.filter(pl.col("country") == country)
        alone = evaluate(TEST.join(inside.select("user"), on="user"), users=inside, estimators=names, **options)
        part = [e for e in whole.estimates if e.segment == f"country={country}"]
        assert len(part) == len(alone.estimates) > 0
        for e, f in zip(part, alone.estimates, strict=True):
            assert (e.model, e.estimator, e.target, e.users) == (f.model, f.estimator, f.target, f.users)
            assert (e.value, e.se) == pytest.approx((f.value, f.se), rel=1e-12, nan_ok=True)


def test_segments_by_popularity_divide_the_interactions() -> None:
    """popularity(strata=2): rare and frequent items by training count; their sums add up."""
    rng = np.random.default_rng(0)
    items = [i for i in range(6) for _ in range(2**i)]
    seen = pl.DataFrame({"user": [1000 + n for n in range(len(items))], "item": items})
    test = pl.DataFrame({"user": np.repeat(np.arange(20), 2), "item": rng.integers(0, 3, 40) + np.tile([0, 3], 20)})
    lists = {"m": pl.DataFrame({"user": np.arange(20), "item": rng.integers(0, 6, 20), "rank": np.ones(20, dtype=int)})}
    result = us.evaluate(test, lists, seen=seen, target="per_user_sum", by="popularity(strata=2)", metrics=["recall@1"])
    whole, *parts = result.estimates
    assert whole.segment is None and len(parts) == 2 and all(p.segment and "popularity" in p.segment for p in parts)
    assert whole.value == pytest.approx(sum(p.value for p in parts))
    rare = test.filter(pl.col("item") < 3)
    assert parts[0].interactions == len(rare) and parts[1].interactions == 40 - len(rare)


def test_a_column_may_be_called_like_popularity() -> None:
    """A column named popularity_bin is a column."""
    result = evaluate(TEST.rename({"place": "popularity_bin"}), by="popularity_bin")
    assert {e.segment for e in result.estimates} == {None, "popularity_bin=home", "popularity_bin=search"}


# Per-user rows


@pytest.mark.parametrize("target", ["per_user", "pooled", "per_user_sum"])
def test_per_user_rows_aggregate_to_the_estimates(target: str) -> None:
    """Σ numerator / Σ divisor over the population is the estimate."""
    users = pl.DataFrame({"user": [1, 2, 3, 4, 5], "relevant": [4.0, 5.0, 2.0, 0.0, 2.0]})
    test = TEST.filter(pl.col("user") != 4)
    names = ["naive", "ips", "snips", "gs(strata=2)"]
    metrics = ["recall@2", "ndcg@2", "map@2", "mrr@2"]
    result = evaluate(
        test, users=users, estimators=names, metrics=metrics, target=target, per_user=True, refused="skip"
    )
    rows = result.per_user()
    assert rows.columns == ["user", "model", "metric", "estimator", "target", "term", "numerator", "divisor"]
    for e in result.estimates:
        own = rows.filter(model=e.model, metric=e.metric, estimator=e.estimator, target=str(e.target))
        assert own["user"].to_list() == [1, 2, 3, 4, 5]
        assert float(own["numerator"].sum()) / float(own["divisor"].sum()) == pytest.approx(e.value, rel=1e-12)


def test_per_user_rows_are_kept_on_request_only() -> None:
    """They cost memory, so asking for them afterwards is an error that says how."""
    with pytest.raises(InputError, match="per_user=True"):
        evaluate().per_user()


# Ids and inputs of all kinds


def test_ids_of_mixed_types_agree() -> None:
    """The integer 1 in one input and the text "1" in another are the same user; so are items."""
    text: Any = {"user": pl.String, "item": pl.String}
    users = pl.DataFrame({"user": [1, 2, 3, 4]})
    seen = pl.DataFrame({"user": [1, 2], "item": [60, 60]})
    expected = numbers(evaluate(users=users, seen=seen))
    as_text = {name: lists.cast(text) for name, lists in LISTS.items()}
    assert numbers(evaluate(TEST.cast(text), users=users, seen=seen)) == expected
    assert numbers(evaluate(models=as_text, users=users.cast(pl.String), seen=seen)) == expected
    assert numbers(evaluate(TEST.cast(text), as_text, users=users, seen=seen.cast(text))) == expected
    small: Any = {"user": pl.UInt8, "item": pl.Float64}
    assert numbers(evaluate(TEST.cast(small), users=users, seen=seen)) == expected


def test_paths_frames_and_logs_agree(tmp_path: Path) -> None:
    """The same data as polars, pandas, CSV, Parquet, Log and Recommendations gives the same numbers."""
    TEST.write_csv(tmp_path / "test.csv")
    LISTS["a"].write_parquet(tmp_path / "a.parquet")
    LISTS["b"].write_csv(tmp_path / "b.tsv", separator="\t")
    files = {"a": tmp_path / "a.parquet", "b": str(tmp_path / "b.tsv")}
    expected = numbers(evaluate())
    assert numbers(evaluate(tmp_path / "test.csv", files)) == expected
    assert numbers(evaluate(TEST.to_pandas(), {n: f.to_pandas() for n, f in LISTS.items()})) == expected
    lists = {name: us.Recommendations.from_frame(frame) for name, frame in LISTS.items()}
    assert numbers(evaluate(us.Log.from_frame(TEST), lists)) == expected
    assert numbers(evaluate(TEST.sample(fraction=1.0, shuffle=True, seed=1))) == expected


def test_columns_are_renamed_in_every_input() -> None:
    """columns: our names → theirs, for logs, lists and the population, each by the names that it has."""
    names = {"user": "who", "item": "what", "rank": "position", "propensity": "p", "relevant": "n"}

    def renamed(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.rename({ours: theirs for ours, theirs in names.items() if ours in frame.columns})

    users = pl.DataFrame({"user": [1, 2, 3, 4], "relevant": [9.0, 9.0, 9.0, 9.0]})
    options: dict[str, Any] = {"estimators": ["snips", "ips"], "target": "per_user"}
    expected = evaluate(users=users, seen=SEEN, **options)
    found = evaluate(
        renamed(TEST),
        {name: renamed(lists) for name, lists in LISTS.items()},
        users=renamed(users),
        seen=renamed(SEEN),
        columns=names,
        **options,
    )
    assert numbers(found) == numbers(expected)


def test_training_propensities_are_renamed_too() -> None:
    """Shares of propensity strata are measured on the training rows' propensities, under the same given name."""
    test = TEST.with_columns(value=pl.lit(1.0))
    seen = test.with_columns(item=pl.col("item") + 100)
    options: dict[str, Any] = {"feedback": "conversions", "target": "per_user", "estimators": ["stratified(strata=2)"]}
    plain = evaluate(test, seen=seen, **options)
    names = {"propensity": "p"}
    renamed = evaluate(test.rename(names), seen=seen.rename(names), columns=names, **options)
    assert numbers(renamed) == numbers(plain)


def test_scores_make_ranks() -> None:
    """Lists with scores instead of ranks are ordered by them, best first."""
    scored = {name: f.with_columns(score=-pl.col("rank").cast(pl.Float64)).drop("rank") for name, f in LISTS.items()}
    assert numbers(evaluate(models=scored)) == numbers(evaluate())


def test_fitted_models_make_their_own_lists() -> None:
    """A recommender is asked for lists as long as the deepest cut-off, without training items."""
    train = us.Log.from_frame(pl.DataFrame({"user": [1, 2, 2, 3, 3, 3], "item": [10, 10, 20, 10, 20, 30]}))
    model = us.models.MostPopular().fit(train)
    by_model = evaluate(models={"m": model}, seen=train, metrics=["recall@2"])
    lists = model.recommend(us.log.Ids(pl.Series([1, 2, 3, 4])), 2, seen=train)
    assert numbers(by_model) == numbers(evaluate(models={"m": lists}, seen=train, metrics=["recall@2"]))

    class Broken:
        def recommend(self, users: Any, k: int, *, seen: Any = None) -> list[int]:
            return [1]

    with pytest.raises(InputError, match="model 'broken'"):
        evaluate(models={"broken": Broken()})


def test_strata_by_a_column_need_it_in_the_test_log_only() -> None:
    """gs never looks at the training rows, so they need no such column; a missing one in the test log is an error."""
    result = evaluate(estimators=["gs(strata=column(place))"], seen=SEEN)
    assert len(result.estimates) == 2
    with pytest.raises(InputError, match="'plaice'"):
        evaluate(estimators=["gs(strata=column(plaice))"])


# stratified


def test_training_shares_are_measured_at_the_scale_of_the_test_propensities() -> None:
    """Equal P in training and test: a share s, which scales both, moves no pair into another stratum."""
    test = TEST.with_columns(value=pl.lit(1.0))
    seen = test.with_columns(item=pl.col("item") + 100)
    options: dict[str, Any] = {"feedback": "conversions", "target": "per_user", "seen": seen}
    options["estimators"] = ["stratified(strata=2, mode=renormalised)"]
    plain, scaled = (evaluate(test, propensity=p, **options) for p in ("known", "known(share=0.3)"))
    assert [e.value for e in scaled.estimates] == pytest.approx([e.value for e in plain.estimates], rel=1e-12)


def test_training_shares_need_propensities_of_the_training_rows() -> None:
    """Without them the shares of propensity strata cannot be measured, and the message says so."""
    test = TEST.with_columns(value=pl.lit(1.0))
    seen = SEEN.with_columns(value=pl.lit(1.0))
    with pytest.raises(InputError, match="training"):
        evaluate(test, seen=seen, feedback="conversions", target="per_user", estimators=["stratified(strata=2)"])


def test_given_shares_cover_the_strata() -> None:
    """A share for every stratum that occurs, all together 1; strata without rows may have shares."""
    by_place = Strata("column", 0, "place")
    more = {"home": 0.5, "search": 0.3, "mail": 0.2}
    result = evaluate(estimators=[Stratified(by_place, more)])
    assert value(result, estimator=str(Stratified(by_place, more))) == pytest.approx((0.25 + 0.8 + 0.0 + 0.0) / 4)
    with pytest.raises(InputError, match="'search'"):
        evaluate(estimators=[Stratified(by_place, {"home": 1.0})])
    with pytest.raises(InputError, match="sum to"):
        evaluate(estimators=[Stratified(by_place, {"home": 0.6, "search": 0.6})])


def test_two_parts_that_differ_never_share_a_name() -> None:
    """Two tables of shares print alike, and a result could not tell them apart: an error, not one of the two."""
    by_place = Strata("column", 0, "place")
    both = [Stratified(by_place, {"home": share, "search": 1.0 - share}) for share in (0.2, 0.8)]
    with pytest.raises(InputError, match="two different parts"):
        evaluate(estimators=both)
    assert len(evaluate(estimators=[both[0], both[0]]).estimates) == 2


def test_the_same_part_twice_is_one() -> None:
    """gs and gs(strata=5) are one estimator, rbp and rbp(p=0.8) one metric."""
    result = evaluate(estimators=["gs", "gs(strata=5)"], metrics=["rbp@2", "rbp(p=0.8)@2"])
    assert len(result.estimates) == 2


# Verdicts


def test_models_that_score_the_same_for_every_user_are_undecided() -> None:
    """Equal for every user: p = 1, no tipping point, no number of users that would help."""
    same = {"a": LISTS["a"], "again": LISTS["a"], "b": LISTS["b"]}
    for options in ({}, {"interval": "bootstrap", "replicates": 60}):
        result = evaluate(models=same, target=["per_user", "pooled"], **options)
        rows = [v for v in result.verdicts_ if (v.a, v.b) == ("a", "again")]
        assert len(rows) == 4
        for v in rows:
            assert (v.verdict, v.p, v.p_adjusted, v.difference, v.se) == ("undecided", 1.0, 1.0, 0.0, 0.0)
            assert v.tipping is None and v.users_needed is None
            assert "score the same for every user" in v.trust


def test_equal_scores_of_different_lists_are_undecided_too() -> None:
    """What is compared is what a list scores, not how it looks: misses in another order do not matter."""
    swapped = LISTS["a"].with_columns(item=pl.col("item").replace(50, 99))
    result = evaluate(models={"a": LISTS["a"], "misses": swapped})
    assert {(v.verdict, v.p) for v in result.verdicts_} == {("undecided", 1.0)}


def many() -> us.Result:
    """Two gs, several metrics and targets."""
    return evaluate(
        metrics=["recall@1", "recall@2", "dcg@2"],
        estimators=["snips", "gs(strata=2)", "gs(strata=3)", "clipped(snips, at=0.3)"],
        target=["per_user", "pooled"],
    )


def test_verdicts_are_found_by_short_names() -> None:
    """A name without options finds the only one of its kind."""
    result = evaluate(estimators=["naive", "gs(strata=2)"], target=["per_user", "pooled"])
    assert result.verdicts("recall@2", estimator="gs").height == 2
    assert set(result.verdicts("recall", estimator="gs")["estimator"]) == {"gs(strata=2)"}
    assert result.verdicts(estimator="gs(2)", target="pooled").height == 1
    assert result.verdicts().height == 4


def test_ambiguous_or_unknown_names_list_the_choice() -> None:
    """Two of a kind, another number, another target: the message says what there is."""
    result = many()
    with pytest.raises(InputError, match=r"gs\(strata=2\), gs\(strata=3\)"):
        result.verdicts("dcg@2", estimator="gs")
    with pytest.raises(InputError, match="recall@1, recall@2"):
        result.verdicts("recall")
    with pytest.raises(InputError, match="recall@1"):
        result.verdicts("recall@7")
    with pytest.raises(InputError, match=r"gs\(strata=2\)"):
        result.verdicts(estimator="gs(strata=9)")
    with pytest.raises(InputError, match="no target"):
        result.verdicts(target="per_pear")
    assert result.verdicts("dcg", estimator="clipped").height == 2


# Files


ESTIMATE_KEYS = {
    "model", "metric", "estimator", "target", "propensity", "value", "se", "low", "high", "ess", "max_weight_share",
    "clipped_share", "support_gap", "users", "interactions",
}  # fmt: skip
VERDICT_KEYS = {
    "metric", "estimator", "target", "a", "b", "difference", "low", "high", "p", "p_adjusted", "verdict", "tipping",
    "tipping_low", "trust",
}  # fmt: skip


def test_json_holds_everything(tmp_path: Path) -> None:
    """Estimates, verdicts, inputs and warnings come back from JSON; numbers that do not exist are null."""
    result = evaluate(seen=SEEN, interval="bootstrap", replicates=60, by="place", target=["per_user", "per_user_sum"],
                      estimators=["naive", "snips", "ips"], refused="skip")  # fmt: skip
    result.to_json(tmp_path / "result.json")
    text = (tmp_path / "result.json").read_text(encoding="utf-8")
    found = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert found == json.loads(json.dumps(result.to_dict()))
    assert set(found) >= {"schema_version", "estimates", "verdicts", "inputs", "warnings"}
    assert found["schema_version"] == 1
    assert len(found["estimates"]) == len(result.estimates) and len(found["verdicts"]) == len(result.verdicts_) > 0
    for row, e in zip(found["estimates"], result.estimates, strict=True):
        assert set(row) >= ESTIMATE_KEYS
        for key in ESTIMATE_KEYS:
            expected = getattr(e, key)
            missing = isinstance(expected, float) and not math.isfinite(expected)
            assert row[key] == (None if missing else expected), key
    for row in found["verdicts"]:
        assert set(row) >= VERDICT_KEYS and row["verdict"] in ("better", "worse", "undecided")
    assert found["inputs"]["refused"] and found["inputs"]["settings"]["metrics"] == ["recall@2"]
    assert found["warnings"] == list(result.warnings)


def test_tables_come_back_from_csv_and_parquet(tmp_path: Path) -> None:
    """The table of estimates survives both formats."""
    result = many()
    result.to_csv(tmp_path / "result.csv")
    result.to_parquet(tmp_path / "result.parquet")
    assert_frame_equal(pl.read_parquet(tmp_path / "result.parquet"), result.table())
    again = pl.read_csv(tmp_path / "result.csv", schema=result.table().schema)
    assert_frame_equal(again, result.table())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["result.csv", "result.parquet"]


@pytest.mark.parametrize("kind", ["json", "csv", "parquet"])
def test_what_cannot_be_written_leaves_nothing(kind: str, tmp_path: Path) -> None:
    """A place that is a directory, or lies inside a file, is an InputError; no half-written file stays behind."""
    result = evaluate()
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "folder").mkdir()
    for place in (tmp_path / "file" / f"x.{kind}", tmp_path / "folder"):
        with pytest.raises(InputError, match="cannot be written"):
            getattr(result, f"to_{kind}")(place)
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["file", "folder"]
    assert (tmp_path / "file").read_text() == "in the way"


@pytest.mark.parametrize(
    ("failure", "shown"),
    [(OSError(28, "No space left on device"), InputError), (KeyboardInterrupt(), KeyboardInterrupt)],
)
def test_an_old_file_stays_until_the_new_one_is_whole(
    failure: BaseException, shown: type[BaseException], tmp_path: Path
) -> None:
    """If writing fails half-way or is interrupted, what stood there before still stands there, alone."""
    place = tmp_path / "result.csv"
    place.write_text("before")
    with pytest.raises(shown), atomic(place) as temporary:
        temporary.write_text("half")
        raise failure
    assert place.read_text() == "before" and list(tmp_path.iterdir()) == [place]


def test_tables_have_the_columns_of_their_rows() -> None:
    """table() and verdicts() are frames with one row per estimate and per pair of models."""
    result = many()
    assert set(result.table().columns) >= {*ESTIMATE_KEYS, "segment", "promise"}
    assert result.table().height == len(result.estimates) == 2 * 3 * 4 * 2
    assert set(result.verdicts().columns) >= {*VERDICT_KEYS, "segment", "tipping_kind", "users_needed"}
    assert result.verdicts().height == 3 * 4 * 2
    assert result.table().schema["value"] == pl.Float64 and result.table().schema["users"] == pl.Int64


def test_progress_is_told() -> None:
    """Stages come in order, each with what is done and what there is."""
    told: list[tuple[str, int, int]] = []
    evaluate(progress=lambda stage, done, total: told.append((stage, done, total)))
    stages = list(dict.fromkeys(stage for stage, _, _ in told))
    assert stages == ["reading logs", "lists of a", "lists of b", "aligning", "estimating"]
    assert all(0 <= done <= total for _, done, total in told) and told[-1] == ("estimating", 4, 4)


def test_other_users_in_training_are_no_silent_users() -> None:
    """share="users": the population is that of the test log, so that training users do not dilute sums."""
    train = pl.DataFrame({"user": ["x", "y", "z"], "item": ["i", "j", "k"], "value": [1.0, 0.0, 1.0]})
    test = pl.DataFrame({"user": ["u", "v"], "item": ["i", "j"], "value": [1.0, 1.0]})
    lists = pl.DataFrame({"user": ["u", "v"], "item": ["i", "j"], "rank": [1, 1]})
    options: dict[str, Any] = {"feedback": "conversions", "metrics": ["recall@2"], "estimators": ["naive"]}
    apart = us.evaluate(test, {"m": lists}, seen=train, share="users", **options)
    both = us.evaluate(test, {"m": lists}, seen=train, **options)
    assert apart.estimates[0].value == 1.0 and apart.inputs["users"]["population"] == 2
    assert both.estimates[0].value == pytest.approx(0.4) and both.inputs["users"]["population"] == 5
