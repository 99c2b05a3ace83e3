"""What may be estimated from what, for estimators of sums, cell by cell; every no comes with a reason and a way out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import polars as pl
import pytest

import unskew as us
from unskew import estimators, metrics
from unskew.errors import InputError, RefusedError
from unskew.estimators import Target
from unskew.estimators.validity import Evidence, refusal
from unskew.log import Feedback, Log
from unskew.outcome import Given, Means

TARGETS = tuple(map(str, Target))
SUMS = ("per_user_sum", "per_user_sum(normalised=pooled)", "per_user_sum(normalised=per_user)")
CORRECTING = ("dr", "sndr", "switch(tau=4)", "clipped(dr, at=0.1)")
ESTIMATORS = ("naive", "ips", "snips", "snips(over=list)", "direct", *CORRECTING)


@dataclass(frozen=True)
class Known:
    """What a log offers."""

    feedback: str
    level: str | None
    outcome: str | None  # to be fitted, from outside, or none
    zeros: bool

    @property
    def evidence(self) -> Evidence:
        return Evidence(
            Feedback(self.feedback),
            thresholded=self.feedback == "ratings",
            propensity=self.level is not None,
            absolute=self.level == "absolute",
            relevant=False,
            zeros=self.zeros,
            outcome=self.outcome is not None,
            outside=self.outcome == "outside",
        )


LOGS = [
    Known(*found)
    for found in product(
        ["implicit", "conversions", "ratings"],
        [None, "relative", "absolute"],
        [None, "fitted", "outside"],
        [True, False],
    )
]


def allowed(estimator: str, target: str, log: Known) -> bool:
    """The table of docs/estimators.md, row by row, for dcg@5."""
    zeros = log.feedback == "ratings" or (log.feedback == "conversions" and log.zeros)
    guesses = log.outcome == "outside" or (log.outcome == "fitted" and log.feedback != "implicit")
    if target not in SUMS:
        if estimator == "naive":
            return target != "per_pair" or zeros
        if estimator == "ips":  # n_u is not known here
            return target == "per_pair" and log.level == "absolute"
        if estimator == "snips":
            return log.level is not None and (target != "per_pair" or zeros)
        return False
    if estimator == "naive":
        return True
    if estimator == "direct":
        return guesses and (zeros or log.outcome == "outside")
    if estimator == "ips":
        return log.level == "absolute" or (log.level == "relative" and target != "per_user_sum")
    if log.level is None or not zeros:
        return False
    if estimator in ("snips", "snips(over=list)"):
        return target == "per_user_sum"
    if estimator == "sndr":
        return target == "per_user_sum" and guesses
    return guesses and log.level == "absolute"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("log", LOGS, ids=str)
def test_every_cell_of_the_table(target: str, log: Known) -> None:
    """Allowed is what the table allows, and nothing else; each refusal has a reason and an alternative."""
    for estimator in ESTIMATORS:
        reason = refusal(metrics.make("dcg@5"), estimators.make(estimator), Target.make(target), log.evidence)
        assert (reason is None) == allowed(estimator, target, log), (estimator, reason)
        if reason is not None:
            assert any(way in reason for way in (" Use ", " Give ")) and reason.endswith("."), reason


def test_the_table_holds_both_answers() -> None:
    """Neither all yes nor all no, for every estimator but naive."""
    for estimator in ESTIMATORS:
        answers = {allowed(estimator, target, log) for target, log in product(TARGETS, LOGS)}
        assert answers == {True, False}, estimator


GOOD = Known("conversions", "absolute", "fitted", True)


@pytest.mark.parametrize(
    ("estimator", "target", "known", "words"),
    [
        ("dr", "per_user_sum", {"outcome": None}, ["unseen pairs", "outcome=", "given(", "ips"]),
        ("direct", "per_user_sum", {"outcome": None}, ["outcome='logistic_mf(dim=10)'"]),
        ("dr", "per_user_sum", {"feedback": "implicit"}, ["brought nothing", "Use ips", "snips under target pooled"]),
        ("dr", "per_user_sum", {"level": "relative"}, ["absolute", "relative", "use sndr"]),
        ("switch(tau=4)", SUMS[1], {"level": "relative"}, ["absolute", "sndr under target per_user_sum"]),
        ("dr", "per_user_sum", {"level": None}, ["never taken as uniform", "propensity="]),
        ("dr", "per_user_sum", {"zeros": False}, ["brought nothing", "value 0", "use ips"]),
        ("snips", SUMS[1], {}, ["no normalised form", "Use ips"]),
        ("snips(over=list)", SUMS[1], {}, ["no normalised form", "ips"]),
        ("sndr", SUMS[2], {}, ["no normalised form", "per_user_sum"]),
        ("dr", "per_user", {}, ["defined for per_user_sum", "snips"]),
        ("dr", "pooled", {}, ["defined for per_user_sum", "snips"]),
        ("dr", "per_pair", {}, ["defined for per_user_sum", "per_pair", "Use ips"]),
        ("snips(over=list)", "pooled", {}, ["defined for per_user_sum"]),
    ],
)
def test_refusals_name_the_reason_and_the_alternative(
    estimator: str, target: str, known: dict[str, Any], words: list[str]
) -> None:
    """Key words of each sentence: what is missing, and what to use or give instead."""
    log = replace(GOOD, **known)
    reason = refusal(metrics.make("dcg@5"), estimators.make(estimator), Target.make(target), log.evidence)
    assert reason is not None and all(word in reason for word in words), reason


@pytest.mark.parametrize("metric", ["ndcg@5", "map@5", "mrr@5", "hit@5", "r_precision"])
@pytest.mark.parametrize("estimator", CORRECTING)
@pytest.mark.parametrize("target", TARGETS)
def test_ratios_and_first_hits_have_no_doubly_robust_form(metric: str, estimator: str, target: str) -> None:
    """Weights of y − q may be negative, and these metrics are no sums: refused under every target."""
    reason = refusal(metrics.make(metric), estimators.make(estimator), Target.make(target), GOOD.evidence)
    assert reason is not None and reason.endswith(".")


TEST = pl.DataFrame({"user": [1, 1, 2], "item": [10, 20, 30], "value": [1.0, 0.0, 1.0], "propensity": [0.5, 0.2, 0.7]})
LISTS = {"m": pl.DataFrame({"user": [1, 2], "item": [10, 10], "rank": [1, 1]})}
GUESS = Given(pl.DataFrame({"user": [1], "item": [10], "prediction": [0.5]}), default=0.1)


def test_evaluate_refuses_before_it_computes() -> None:
    """The error names the cell, and skipping lists it in the result."""
    asked: dict[str, Any] = {"metrics": ["dcg@5"], "estimators": ["ips", "dr"], "feedback": "conversions"}
    with pytest.raises(RefusedError, match=r"dcg@5 × dr × per_user_sum: dr needs a model"):
        us.evaluate(TEST, LISTS, propensity="known", **asked)
    result = us.evaluate(TEST, LISTS, propensity="known", refused="skip", **asked)
    assert [e.estimator for e in result.estimates] == ["ips"]
    assert [r["estimator"] for r in result.inputs["refused"]] == ["dr"]


def test_a_log_without_zeros_has_no_correction() -> None:
    """Positives alone say nothing of what a guess should have been."""
    good = TEST.filter(pl.col("value") > 0.0)
    with pytest.raises(RefusedError, match="brought nothing"):
        us.evaluate(good, LISTS, estimators=["dr"], propensity="known", outcome=GUESS, feedback="conversions")


def test_direct_reads_guesses_from_outside_for_implicit_logs() -> None:
    """An implicit log with predictions made elsewhere has a direct estimate, and no other with a model."""
    clicks = TEST.filter(pl.col("value") > 0.0).select("user", "item")
    result = us.evaluate(
        clicks, LISTS, metrics=["recall@1"], estimators=["naive", "direct"], outcome=GUESS, target="per_user_sum"
    )
    values = {e.estimator: e.value for e in result.estimates}
    assert values["direct"] == pytest.approx((0.5 + 0.1) / 2)
    with pytest.raises(RefusedError, match="lacks those that brought nothing"):
        us.evaluate(clicks, LISTS, estimators=["direct"], outcome="means(shrink=10)", target="per_user_sum")


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ("mindreader(dim=3)", ["mindreader", "means"]),
        ("means(strink=3)", ["strink", "shrink"]),
        ("means(shrink=-1)", ["shrink", "at least 0"]),
        ("given()", ["given(predictions.parquet)"]),
        ("given(nowhere.parquet)", ["nowhere.parquet"]),
        ("crossfit()", ["crossfit(logistic_mf"]),
        ("crossfit(means, folds=1)", ["at least 2"]),
        ("logistic_mf(dim=ten)", ["dim"]),
    ],
)
def test_outcome_strings_that_mean_nothing_are_errors(outcome: str, words: list[str]) -> None:
    """Unknown models, unknown options and files that are not there are named."""
    with pytest.raises(InputError) as caught:
        us.evaluate(TEST, LISTS, estimators=["dr"], propensity="known", outcome=outcome, feedback="conversions")
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_fitting_in_sample_needs_something_to_fit() -> None:
    """--in-sample says nothing without an outcome model, of a table, or of a model that is fitted already."""
    fitted = Means().fit(Log.from_frame(TEST, feedback="conversions"))
    for outcome, said in ((None, "give outcome="), (GUESS, "given.*not fitted here"), (fitted, "means.*not fitted")):
        with pytest.raises(InputError, match=f"in_sample=True.*{said}"):
            us.evaluate(TEST, LISTS, propensity="known", outcome=outcome, in_sample=True, feedback="conversions")


def test_pairs_without_a_prediction_are_an_error_that_names_one() -> None:
    """given(...) without a default must hold all listed candidates and all rows."""
    short = Given(pl.DataFrame({"user": [1], "item": [10], "prediction": [0.5]}))
    with pytest.raises(InputError, match=r"no prediction for .* pairs.*\n.*default=0"):
        us.evaluate(TEST, LISTS, estimators=["dr"], propensity="known", outcome=short, feedback="conversions")


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        ("switch(tau=0.5)", "at least 1"),
        ("switch(tau=nan)", "tau"),
        ("snips(over=everything)", "over must be pairs, user, item or list"),
        ("clipped(direct, at=0.1)", "nothing to clip"),
        ("clipped(switch(tau=5), at=0.2)", r"limits its weights already.* P = 0\.2 changes nothing.*clipped\(dr"),
        ("clipped(clipped(switch, at=0.1), quantile=0.2)", "limits its weights already"),
    ],
)
def test_estimators_that_mean_nothing_are_errors(estimator: str, words: str) -> None:
    """A weight is at least 1; direct weighs nothing; a clip of switch is either switch or a clip of dr."""
    with pytest.raises(InputError, match=words):
        estimators.make(estimator)


@pytest.mark.parametrize(
    ("estimator", "target"), [*product(["naive", "ips", "dr"], SUMS), ("naive", "per_pair"), ("ips", "per_pair")]
)
def test_graded_outcomes_are_not_counted_as_relevant(estimator: str, target: str) -> None:
    """precision@2 of graded outcomes is no share: refused under every target that has it, and cg@2 is named."""
    graded = TEST.with_columns(value=3.0 * pl.col("value"))
    asked: dict[str, Any] = {
        "estimators": [estimator], "target": target, "propensity": "known", "outcome": GUESS, "feedback": "conversions",
    }  # fmt: skip
    with pytest.raises(RefusedError, match=r"graded\. Give .*relevant='>=4'\. Or use cg@2"):
        us.evaluate(graded, LISTS, metrics=["precision@2"], **asked)
    for log, metric in ((TEST, "precision@2"), (graded, "cg@2")):
        assert us.evaluate(log, LISTS, metrics=[metric], **asked).estimates


@pytest.mark.parametrize(
    ("asked", "said"), [(["naive", "snips"], "1 cell is"), (["naive", "snips", "sndr"], "2 cells")]
)
def test_what_is_left_out_is_counted(asked: list[str], said: str) -> None:
    """One cell is *it*, several are *them*."""
    found = us.evaluate(
        TEST, LISTS, metrics=["dcg@2"], estimators=asked, target=SUMS[1], propensity="known", outcome=GUESS,
        feedback="conversions", refused="skip",
    )  # fmt: skip
    (told,) = [text for text in found.warnings if "cannot support" in text]
    assert told.startswith(said) and f"support {'it' if len(asked) == 2 else 'them'};" in told
