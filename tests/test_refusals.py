"""What may be estimated from what, cell by cell; every no comes with a reason and a way out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import unskew as us
from unskew import estimators, metrics
from unskew.errors import InputError, RefusedError
from unskew.estimators import Strata, Stratified, Target
from unskew.estimators.validity import Evidence, refusal
from unskew.log import Feedback

TARGETS = ("per_user", "pooled", "per_user_sum")
GIVEN = "stratified(given)"
ESTIMATORS = (
    "naive",
    "ips",
    "snips",
    "gs(strata=2)",
    "clipped(snips, quantile=0.1)",
    "clipped(snips, at=0.1)",
    "clipped(ips, at=0.1)",
    "stratified(strata=2)",
    GIVEN,
)


@dataclass(frozen=True)
class Known:
    """What a log offers."""

    feedback: str
    threshold: bool
    level: str | None
    n_u: bool

    def __str__(self) -> str:
        threshold = " with threshold" if self.threshold else ""
        return f"{self.feedback}{threshold}, {self.level or 'no'} P, n_u {'known' if self.n_u else 'unknown'}"

    @property
    def evidence(self) -> Evidence:
        return Evidence(
            Feedback(self.feedback),
            thresholded=self.threshold,
            propensity=self.level is not None,
            absolute=self.level == "absolute",
            relevant=self.n_u,
        )


LOGS = [
    Known(feedback, threshold, level, n_u)
    for (feedback, threshold), level, n_u in product(
        [("implicit", False), ("conversions", False), ("ratings", False), ("ratings", True)],
        [None, "relative", "absolute"],
        [False, True],
    )
]


def allowed(estimator: str, target: str, log: Known) -> bool:
    """The table of docs/estimators.md, row by row."""
    inside = estimator.removeprefix("clipped(").split(",")[0].split("(")[0]
    if estimator == GIVEN:
        inside = "stratified"
    if target != "per_user_sum" and log.feedback == "ratings" and not log.threshold:
        return False  # nothing says which ratings are relevant
    if inside == "naive":
        return True
    if log.level is None:
        return False  # all strata here are made of propensities
    if "at=" in estimator and log.level == "relative":
        return False
    if inside == "ips":
        return log.level == "absolute" and (target == "per_user_sum" or log.n_u)
    if inside == "snips":
        return target != "per_user_sum" or log.feedback != "implicit"
    if inside == "gs":
        return target != "per_user_sum"
    assert inside == "stratified"
    return target == "per_user" and (estimator == GIVEN or log.feedback != "implicit")


def made(estimator: str) -> Any:
    if estimator == GIVEN:
        return Stratified(Strata(count=2), "shares.csv")
    return estimators.make(estimator)


@pytest.mark.parametrize("log", LOGS, ids=str)
@pytest.mark.parametrize("target", TARGETS)
def test_every_cell_of_the_table(target: str, log: Known) -> None:
    """Allowed is what the table allows, and nothing else; each refusal has a reason and an alternative."""
    for estimator in ESTIMATORS:
        reason = refusal(metrics.make("recall@5"), made(estimator), Target.make(target), log.evidence)
        assert (reason is None) == allowed(estimator, target, log), (estimator, reason)
        if reason is not None:
            assert any(way in reason for way in ("Use ", "Give ", "use ")), reason
            assert reason.endswith(".") and len(reason) > 60, reason


def test_the_table_holds_both_answers() -> None:
    """The table is neither all yes nor all no, for every estimator but naive."""
    for estimator in ESTIMATORS[1:]:
        answers = {allowed(estimator, target, log) for target, log in product(TARGETS, LOGS)}
        assert answers == {True, False}, estimator


def frames(log: Known) -> dict[str, Any]:
    """The smallest inputs that offer just this."""
    test = pl.DataFrame({"user": [1, 1, 2, 2], "item": [10, 20, 30, 10]})
    train = pl.DataFrame({"user": [1, 2, 3, 3], "item": [30, 20, 10, 20]})
    settings: dict[str, Any] = {"seen": train, "feedback": log.feedback, "refused": "skip"}
    if log.feedback != "implicit":
        bad = 0.0 if log.feedback == "conversions" else 1.0  # conversions know of pairs that brought nothing
        test = test.with_columns(value=pl.Series([5.0, bad, 4.0, 2.0]))
        settings["seen"] = train.with_columns(value=pl.Series([5.0, 1.0, 4.0, 4.0]))
    if log.threshold:
        settings["relevant"] = ">=4"
    if log.level == "absolute":
        test = test.with_columns(propensity=pl.Series([0.5, 0.2, 0.7, 0.9]))
        settings["seen"] = settings["seen"].with_columns(propensity=pl.Series([0.5, 0.6, 0.2, 0.9]))
        settings["propensity"] = "known"
    elif log.level == "relative":
        settings["propensity"] = "popularity(gamma=2)"
    if log.n_u:
        settings["users"] = pl.DataFrame({"user": [1, 2, 3], "relevant": [9.0, 9.0, 1.0]})
    return {"test": test, **settings}


@pytest.mark.parametrize("log", LOGS, ids=str)
def test_evaluate_computes_the_allowed_cells_and_lists_the_others(log: Known, tmp_path: Path) -> None:
    """refused="skip" leaves refused cells out, lists them with their reasons, and warns."""
    shares = tmp_path / "shares.csv"
    shares.write_text("stratum,share\n1,0.5\n2,0.5\n")
    asked = [Stratified(Strata(count=2), str(shares)) if e == GIVEN else e for e in ESTIMATORS]
    names = {str(estimators.make(a)): e for a, e in zip(asked, ESTIMATORS, strict=True)}
    lists = pl.DataFrame({"user": [1, 2], "item": [10, 10], "rank": [1, 2]})
    given = frames(log)
    result = us.evaluate(
        given.pop("test"), {"m": lists}, metrics=["recall@5"], estimators=asked, target=TARGETS, **given
    )
    computed = {(names[e.estimator], str(e.target)) for e in result.estimates}
    refused = {(names[r["estimator"]], str(r["target"])) for r in result.inputs["refused"]}
    expected = {(e, t) for e, t in product(ESTIMATORS, TARGETS) if allowed(e, t, log)}
    assert computed == expected
    assert refused == set(product(ESTIMATORS, TARGETS)) - expected
    assert all(r["reason"] and r["metric"] == "recall@5" for r in result.inputs["refused"])
    assert any(f"{len(refused)} cells are not shown" in warning for warning in result.warnings)


def reason_for(estimator: str, target: str, metric: str = "recall@5", **known: Any) -> str:
    log = replace(Known("implicit", False, "absolute", True), **known)
    found = refusal(metrics.make(metric), made(estimator), Target.make(target), log.evidence)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("estimator", "target", "known", "words"),
    [
        ("snips", "per_user", {"level": None}, ["never taken as uniform", "--propensity known", "popularity(gamma=2)"]),
        ("ips", "per_user", {"n_u": False}, ["number of relevant items", "'relevant'", "snips"]),
        ("ips", "pooled", {"n_u": False}, ["number of relevant items", "'relevant'", "snips"]),
        ("ips", "per_user", {"level": "relative"}, ["absolute", "relative", "snips", "known"]),
        ("ips", "per_user_sum", {"level": "relative"}, ["absolute", "snips under target pooled"]),
        ("ips", "per_user_sum", {"level": "relative", "feedback": "conversions"}, ["absolute", "Use snips,"]),
        ("snips", "per_user_sum", {}, ["all seen pairs", "far too large", "ips", "pooled"]),
        ("clipped(snips, quantile=0.1)", "per_user_sum", {}, ["all seen pairs", "ips", "pooled"]),
        ("gs(strata=2)", "per_user_sum", {}, ["defined for per_user or pooled", "ips"]),
        ("stratified(strata=2)", "per_user", {}, ["keep its skew", "shares=FILE", "gs"]),
        (GIVEN, "pooled", {}, ["defined for per_user", "snips"]),
        (GIVEN, "per_user_sum", {}, ["defined for per_user", "ips"]),
        ("clipped(snips, at=0.1)", "per_user", {"level": "relative"}, ["means nothing", "clipped(snips, quantile="]),
        ("naive", "per_user", {"feedback": "ratings"}, ["which are relevant", "--relevant '>=4'"]),
        ("naive", "pooled", {"feedback": "ratings"}, ["which are relevant", "--relevant '>=4'"]),
    ],
)
def test_refusals_name_the_reason_and_the_alternative(
    estimator: str, target: str, known: dict[str, Any], words: list[str]
) -> None:
    """Key words of each sentence: what is missing, and what to use or give instead."""
    reason = reason_for(estimator, target, **known)
    assert all(word in reason for word in words), reason


@pytest.mark.parametrize("target", ["per_user", "pooled"])
@pytest.mark.parametrize("estimator", ["naive", "snips", "ips"])
def test_precision_is_recall_in_disguise(estimator: str, target: str) -> None:
    """precision@5 under per_user or pooled is recall@5 / 5: refused, with both ways out."""
    reason = reason_for(estimator, target, metric="precision@5")
    assert "recall@5 divided by 5" in reason and "Use recall@5" in reason and "per_user_sum" in reason
    log = able(Known("implicit", False, "absolute", True))
    assert refusal(metrics.make("precision@5"), made("naive"), Target.PER_USER_SUM, log) is None


@pytest.mark.parametrize("metric", ["ndcg@5", "ndcg", "map@5", "mrr@5", "hit@5", "r_precision"])
@pytest.mark.parametrize("target", ["pooled", "per_user_sum"])
def test_ratios_inside_users_exist_under_per_user_only(metric: str, target: str) -> None:
    """ndcg, map, mrr, hit and r_precision are ratios inside each user."""
    for estimator in ("naive", "snips"):
        reason = reason_for(estimator, target, metric=metric)
        assert "per_user only" in reason and "recall, dcg, rbp or arhr" in reason


@pytest.mark.parametrize("metric", ["mrr@5", "mrr", "hit@5", "r_precision"])
@pytest.mark.parametrize("estimator", [e for e in ESTIMATORS if e != "naive"])
def test_first_hits_are_naive_only(metric: str, estimator: str) -> None:
    """No weight per item can debias what looks at one item of a user only: recall, dcg, rbp, arhr can be."""
    reason = reason_for(estimator, "per_user", metric=metric, feedback="conversions")
    assert "naive is all there is" in reason and "recall, dcg, rbp or arhr" in reason


@pytest.mark.parametrize("metric", ["ndcg@5", "ndcg(discount=lenskit)@5", "map@5"])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_ndcg_and_map_take_any_weights_under_per_user(metric: str, estimator: str) -> None:
    """Weights of at least 0 all work; ips needs n_u and absolute P as ever."""
    log = Known("conversions", False, "absolute", True)
    assert refusal(metrics.make(metric), made(estimator), Target.PER_USER, log.evidence) is None


@pytest.mark.parametrize("estimator", ["ips", "clipped(ips, at=0.1)", "stratified(strata=2)", GIVEN])
def test_map_by_the_largest_weights_needs_weights_below(estimator: str) -> None:
    """map(divide=min) has no meaning over a fixed divisor, also inside a clip."""
    reason = reason_for(estimator, "per_user", metric="map(divide=min)@5", feedback="conversions")
    assert "fixed divisor" in reason and "map@5" in reason and "snips" in reason


@pytest.mark.parametrize("estimator", ["snips", "ips", "gs(strata=2)", "clipped(snips, at=0.1)"])
def test_ndcg_against_equal_hits_is_naive_only(estimator: str) -> None:
    """ndcg(ideal=full) compares with k equal hits, which weighted items do not have."""
    assert "Use ndcg@5" in reason_for(estimator, "per_user", metric="ndcg(ideal=full)@5")


TEST = pl.DataFrame({"user": [1, 2], "item": [10, 20]})
LISTS = {"m": pl.DataFrame({"user": [1, 2], "item": [10, 10], "rank": [1, 1]})}


def test_a_refused_cell_is_an_error_by_default() -> None:
    """Without refused="skip" nothing is computed, and the message tells of it where other cells are possible."""
    with pytest.raises(RefusedError) as caught:
        us.evaluate(TEST, LISTS, metrics=["recall@5"], estimators=["naive", "snips"])
    message = str(caught.value)
    assert "recall@5 × snips × per_user" in message and "--refused skip" in message
    assert "naive × per_user:" not in message


def test_nothing_left_is_an_error_even_when_skipping() -> None:
    """A result without a single cell would say nothing."""
    with pytest.raises(RefusedError) as caught:
        us.evaluate(TEST, LISTS, metrics=["mrr@5"], estimators=["snips"], refused="skip")
    assert "recall, dcg, rbp or arhr" in str(caught.value) and "--refused skip" not in str(caught.value)


def test_unknown_propensities_are_never_uniform() -> None:
    """A log with a column of propensities that nobody asked to use gets naive alone, and snips is refused."""
    with_column = TEST.with_columns(propensity=pl.Series([0.5, 0.1]))
    assert [e.estimator for e in us.evaluate(with_column, LISTS).estimates] == ["naive"]
    with pytest.raises(RefusedError, match="never taken as uniform"):
        us.evaluate(with_column, LISTS, estimators=["snips"])
    asked = us.evaluate(with_column, LISTS, estimators=["snips"], propensity="uniform")
    assert asked.estimates[0].propensity == "uniform"
    with pytest.raises(RefusedError, match="absolute"):
        us.evaluate(with_column, LISTS, estimators=["ips"], propensity="uniform", target="per_user_sum")


def test_popularity_without_a_training_log_says_why() -> None:
    """Counting on the test log would weigh each click by itself."""
    with pytest.raises(InputError) as caught:
        us.evaluate(TEST, LISTS, propensity="popularity(gamma=2)")
    assert "never on the test log" in str(caught.value) and "--train" in str(caught.value)


def test_values_that_nothing_explains_are_an_error() -> None:
    """A column of values may be conversions, ratings or noise; the message offers all of them."""
    valued = TEST.with_columns(value=pl.Series([1.0, 0.0]))
    with pytest.raises(InputError) as caught:
        us.evaluate(valued, LISTS)
    message = str(caught.value)
    assert all(word in message for word in ("'value'", "conversions", "ratings", "implicit", "--relevant"))
    assert us.evaluate(valued, LISTS, relevant=">=1").inputs["settings"]["feedback"] == "ratings"
    assert us.evaluate(valued, LISTS, feedback="implicit").estimates[0].interactions == 2
    with pytest.raises(InputError, match="value"):
        us.evaluate(TEST, LISTS, seen=valued.with_columns(item=pl.Series([30, 40])))


@pytest.mark.parametrize("threshold", ["4", ">=", "=4", ">=four", ">4 or so"])
def test_a_threshold_that_cannot_be_read_is_an_error(threshold: str) -> None:
    """Thresholds are a comparison and a number."""
    with pytest.raises(InputError, match="'>=4'"):
        us.evaluate(TEST.with_columns(value=pl.Series([1.0, 0.0])), LISTS, relevant=threshold)


def test_implicit_rows_have_no_threshold() -> None:
    """A threshold over rows without values is a misunderstanding that is said."""
    with pytest.raises(InputError, match="no values"):
        us.evaluate(TEST, LISTS, relevant=">=4")


@pytest.mark.parametrize(
    ("feedback", "target"), [("implicit", "per_user"), ("conversions", "per_user_sum"), ("ratings", "per_pair")]
)
def test_the_default_target_follows_the_feedback(feedback: str, target: str) -> None:
    """What people usually mean: shares of relevant items for clicks, gains per user, averages over all pairs."""
    valued = TEST.with_columns(value=pl.Series([1.0, 0.0]))
    result = us.evaluate(valued, LISTS, feedback=feedback, metrics=["dcg@10"])
    assert {str(e.target) for e in result.estimates} == {target}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"level": 1.0}, "level"),
        ({"interval": "exact"}, "normal or bootstrap"),
        ({"interval": "bootstrap", "replicates": 10}, "at least 50"),
        ({"candidates": "unseen"}, "seen=train"),
        ({"candidates": "some"}, "unseen or all"),
        ({"refused": "hide"}, "error or skip"),
        ({"target": "per_pear"}, "per_user_sum"),
        ({"by": "country"}, "country"),
        ({"metrics": []}, "metric"),
        ({"columns": {"usr": "user"}}, "usr"),
    ],
)
def test_impossible_settings_are_errors(options: dict[str, Any], words: str) -> None:
    """Wrong settings are named, never replaced by a default."""
    with pytest.raises(InputError, match=words):
        us.evaluate(TEST, LISTS, **options)


def test_no_model_is_an_error() -> None:
    """There must be something to evaluate."""
    with pytest.raises(InputError, match="at least one model"):
        us.evaluate(TEST, {})


PER_PAIR = (*ESTIMATORS, "snips(over=user)", "snips(over=item)", "clipped(snips(over=user), quantile=0.1)")
ERRORS = ("mae", "mse", "rmse", "accuracy")
GAINS = ("dcg@5", "cg@5", "precision@5")


def over_pairs(estimator: str, metric: str, log: Known) -> bool:
    """The per_pair rows of docs/estimators.md, for models that predict and rank, and values of 0 and 1."""
    inside = estimator.removeprefix("clipped(").split(",")[0].split("(")[0]
    if metric not in (*ERRORS, *GAINS) or inside not in ("naive", "ips", "snips"):
        return False  # recall is no average over pairs; strata are made for relevant items
    if log.feedback == "implicit" and (metric in ERRORS or inside != "ips"):
        return False  # the seen pairs that brought nothing are missing: only ips of gains can do without
    if inside == "naive":
        return True
    if log.level is None or ("at=" in estimator and log.level == "relative"):
        return False
    return inside != "ips" or log.level == "absolute"


def able(log: Known) -> Evidence:
    """What is known where every model predicts and ranks, and values are 0 and 1."""
    return replace(log.evidence, unpredicted="", unranked="", binary=True)


@pytest.mark.parametrize("log", LOGS, ids=str)
@pytest.mark.parametrize("metric", [*ERRORS, *GAINS, "recall@5", "rbp(p=0.8)@5", "arhr@5", "ndcg@5", "mrr@5"])
def test_every_cell_of_averages_over_pairs(metric: str, log: Known) -> None:
    """Allowed is what the table allows; n_u and thresholds do not matter; each refusal has a reason and a way out."""
    for estimator in PER_PAIR:
        reason = refusal(metrics.make(metric), made(estimator), Target.PER_PAIR, able(log))
        assert (reason is None) == over_pairs(estimator, metric, log), (estimator, reason)
        if reason is not None:
            assert any(way in reason for way in ("Use ", "Give ", "use ")), reason
            assert reason.endswith(".") and len(reason) > 60, reason


def test_the_table_of_pairs_holds_both_answers() -> None:
    """For every estimator of pairs and every metric there are logs that allow it and logs that do not."""
    for estimator, metric in product(
        ("naive", "ips", "snips", "snips(over=user)", "snips(over=item)"), ("mae", "cg@5")
    ):
        assert {over_pairs(estimator, metric, log) for log in LOGS} == {True, False}, (estimator, metric)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("metric", ERRORS)
def test_errors_of_predictions_are_averages_over_pairs_only(metric: str, target: str) -> None:
    """mae under per_user, pooled or per_user_sum: refused, and per_pair named."""
    reason = refusal(
        metrics.make(metric), made("naive"), Target.make(target), able(Known("ratings", True, "absolute", True))
    )
    assert reason is not None and "per_pair only" in reason


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("over", ["user", "item"])
def test_divisors_per_user_and_item_are_for_pairs(over: str, target: str) -> None:
    """snips(over=user) and snips(over=item) exist under per_pair only."""
    reason = reason_for(f"snips(over={over})", target, feedback="conversions")
    assert "defined for per_pair" in reason


@pytest.mark.parametrize(
    ("estimator", "metric", "known", "words"),
    [
        ("naive", "mae", {"feedback": "implicit"}, ["an implicit log has none", "recall, dcg, rbp or arhr"]),
        ("naive", "dcg@5", {"feedback": "implicit"}, ["brought nothing", "ips with absolute propensities", "per_user"]),
        ("snips", "cg@5", {"feedback": "implicit"}, ["brought nothing", "ips with absolute propensities"]),
        ("ips", "mae", {"level": "relative"}, ["absolute", "relative", "Use snips", "known propensities"]),
        ("ips", "dcg@5", {"level": None}, ["never taken as uniform", "--propensity known"]),
        ("clipped(snips, at=0.1)", "mae", {"level": "relative"}, ["means nothing", "clipped(snips, quantile="]),
        ("gs(strata=2)", "mae", {}, ["per_user or pooled, not for per_pair", "Use snips, ips or naive"]),
        ("stratified(strata=2)", "mae", {}, ["not for per_pair", "Use snips, ips or naive"]),
        ("naive", "recall@5", {}, ["no average over pairs", "cg@5 or dcg@5", "per_user_sum", "--relevant"]),
        ("snips", "ndcg@5", {}, ["no average over pairs", "dcg@5"]),
    ],
)
def test_refusals_of_pairs_name_the_reason_and_the_alternative(
    estimator: str, metric: str, known: dict[str, Any], words: list[str]
) -> None:
    """Key words of each sentence: what is missing, and what to use or give instead."""
    log = replace(Known("ratings", False, "absolute", False), **known)
    reason = refusal(metrics.make(metric), made(estimator), Target.PER_PAIR, able(log))
    assert reason is not None and all(word in reason for word in words), reason


def test_graded_values_are_not_counted_as_relevant() -> None:
    """precision@5 over graded values: the mean of the first five is cg@5; a threshold makes them countable."""
    graded = replace(able(Known("ratings", False, "absolute", False)), binary=False)
    reason = refusal(metrics.make("precision@5"), made("ips"), Target.PER_PAIR, graded)
    assert reason is not None and "graded" in reason and "cg@5" in reason and "--relevant" in reason
    assert refusal(metrics.make("cg@5"), made("ips"), Target.PER_PAIR, graded) is None


RATED = pl.DataFrame({"user": [1, 1, 2], "item": [10, 20, 10], "value": [4.0, 2.0, 5.0], "propensity": [0.5, 0.2, 0.9]})
GUESSED = RATED.select("user", "item", prediction=pl.col("value") - 0.5)


@pytest.mark.parametrize(
    ("models", "metric", "words"),
    [
        ({"m": us.Recommendations.from_frame(LISTS["m"])}, "mae", ["m gives lists only", "--predictions", "dcg@10"]),
        (
            {"p": GUESSED, "l": us.Recommendations.from_frame(LISTS["m"])},
            "rmse",
            ["l gives lists only", "--predictions name=FILE"],
        ),
        (
            {"m": us.Predictions.from_frame(GUESSED)},
            "dcg@5",
            ["m has no column 'rank' and predicts 3 of 4 candidate pairs", "add a column 'rank'", "mae"],
        ),
        ({"m": us.Predictions.from_frame(GUESSED.with_columns(rank=pl.Series([1, 2, 1])))}, "recall@5", ["cg@5"]),
        (
            {"m": us.Predictions.from_frame(GUESSED.with_columns(rank=pl.Series([1, 2, 1])))},
            "precision@2",
            ["graded", "cg@2"],
        ),
    ],
    ids=["lists", "lists beside predictions", "predictions of some", "recall", "graded precision"],
)
def test_models_that_lack_something_are_named(models: dict[str, Any], metric: str, words: list[str]) -> None:
    """Which model gives no predictions, or no ranks, and how to mend it."""
    with pytest.raises(RefusedError) as caught:
        us.evaluate(RATED, models, metrics=[metric], estimators=["naive"], feedback="ratings", target="per_pair")
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_skipping_computes_errors_and_lists_refused_ranks() -> None:
    """refused="skip": mae of predictions is there, dcg of the same model is listed with its reason."""
    result = us.evaluate(
        RATED,
        {"m": GUESSED},
        metrics=["mae", "dcg@5"],
        estimators=["naive", "gs(strata=2)"],
        propensity="known",
        feedback="ratings",
        refused="skip",
    )
    assert {(e.metric, e.estimator) for e in result.estimates} == {("mae", "naive")}
    assert {(r["metric"], r["estimator"]) for r in result.inputs["refused"]} == {
        ("dcg@5", "naive"),
        ("dcg@5", "gs(strata=2)"),
        ("mae", "gs(strata=2)"),
    }


def test_implicit_gains_over_pairs_need_absolute_propensities() -> None:
    """ips of dcg over pairs works on clicks alone: what was not seen to be liked counts 0 anyway."""
    clicks = RATED.drop("value")
    settings: dict[str, Any] = {"metrics": ["dcg@5"], "estimators": ["ips"], "target": "per_pair"}
    result = us.evaluate(clicks, LISTS, propensity="known", **settings)
    expected = 2.0 * (1.0 / 0.5 + 1.0 / 0.9) / 4.0  # item 10 stands first for both users; |C_u| = 2, 4 pairs
    assert result.estimates[0].value == pytest.approx(expected)
    with pytest.raises(RefusedError, match="absolute"):
        us.evaluate(clicks, LISTS, propensity="uniform", **settings)
