"""Canonical strings: what is printed parses back to the same thing, and what cannot be read is explained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew import estimators, metrics, models, outcome, propensity
from unskew.errors import InputError
from unskew.estimators import (
    IPS,
    SNIPS,
    Clipped,
    Estimator,
    GeneralizedStratified,
    Naive,
    Strata,
    Stratified,
    Target,
)
from unskew.metrics import (
    ARHR,
    DCG,
    MAP,
    MRR,
    NDCG,
    RBP,
    Hit,
    Precision,
    RankingMetric,
    Recall,
    RPrecision,
)
from unskew.propensity import Known, Popularity, Propensity, Uniform
from unskew.spec import Spec, parse, show

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_\-]{0,8}", fullmatch=True)
NUMBERS = st.one_of(st.integers(-(10**6), 10**6), st.floats(allow_nan=False, allow_infinity=False))
INSIDE = st.floats(1e-30, 1.0, exclude_max=True)
CUT = st.integers(1, 10**6)
MAYBE_CUT = st.none() | CUT


def specs() -> st.SearchStrategy[Spec]:
    plain = st.builds(Spec, NAMES, at=MAYBE_CUT)
    deeper = lambda inner: st.builds(  # noqa: E731
        Spec,
        NAMES,
        st.lists(st.one_of(NUMBERS, NAMES, inner), max_size=2).map(tuple),
        st.dictionaries(NAMES, st.one_of(NUMBERS, NAMES, inner), max_size=2),
        MAYBE_CUT,
    )
    return st.recursive(plain, deeper, max_leaves=5)


@given(specs())
def test_what_is_printed_parses_back(spec: Spec) -> None:
    """str and parse are inverse on everything that the grammar can say."""
    again = parse(str(spec))
    assert str(again) == str(spec)
    assert (again.name, again.at) == (spec.name, spec.at)
    assert list(again.options) == list(spec.options) and len(again.args) == len(spec.args)


@given(NUMBERS)
def test_numbers_keep_every_digit(number: float) -> None:
    """A number survives printing and reading to the last bit."""
    (again,) = parse(f"name({show(number)})").args
    assert again == number


@pytest.mark.parametrize("threshold", [">3", ">=4", "<2.5", "<=-1", "==1", ">1e3"])
def test_thresholds_are_kept_as_they_are(threshold: str) -> None:
    """They stand behind '=' or alone, and print as they came; a comparison without a number is none."""
    assert parse(f"most_popular(relevant={threshold}, k=2)").options == {"relevant": threshold, "k": 2}
    assert str(parse(f"name({threshold})")) == f"name({threshold})"
    with pytest.raises(InputError, match="unexpected"):
        parse(f"name(relevant={threshold[0]})" if threshold[0] != "=" else "name(relevant=>)")


METRICS: st.SearchStrategy[RankingMetric] = st.one_of(
    st.builds(Recall, CUT),
    st.builds(Precision, CUT),
    st.builds(DCG, MAYBE_CUT),
    st.builds(RBP, MAYBE_CUT, INSIDE),
    st.builds(ARHR, MAYBE_CUT),
    st.builds(NDCG, CUT, st.sampled_from(["positives", "full"]), st.sampled_from(["log2", "lenskit"])),
    st.builds(NDCG, MAYBE_CUT, st.just("positives"), st.sampled_from(["log2", "lenskit"])),
    st.builds(MAP, CUT, st.sampled_from(["positives", "min"])),
    st.builds(MRR, MAYBE_CUT),
    st.builds(Hit, CUT),
    st.just(RPrecision()),
)

STRATA = st.one_of(
    st.builds(Strata, st.sampled_from(["quantile", "equal_width"]), st.integers(1, 10_000)),
    st.builds(Strata, st.just("column"), st.just(0), NAMES),
)
WEIGHING: st.SearchStrategy[Estimator] = st.one_of(
    st.just(IPS()), st.just(SNIPS()), st.builds(GeneralizedStratified, STRATA)
)
PATHS = st.sampled_from(["train", "shares.csv", "/data/shares.parquet", "./a/b.tsv", "../c.csv", "~/shares.csv"])
ESTIMATORS: st.SearchStrategy[Estimator] = st.one_of(
    st.just(Naive()),
    WEIGHING,
    st.builds(Clipped, WEIGHING, at=INSIDE),
    st.builds(Clipped, WEIGHING, quantile=INSIDE),
    st.builds(Stratified, STRATA, PATHS, st.sampled_from(["eq3", "renormalised"])),
)

PROPENSITIES: st.SearchStrategy[Propensity] = st.one_of(
    st.builds(Known, st.none() | INSIDE),
    st.builds(Popularity, st.floats(-5.0, 5.0), st.sampled_from(["floor", "drop"])),
    st.builds(Uniform, st.none() | INSIDE),
)


@given(METRICS)
def test_metrics_round_trip(metric: RankingMetric) -> None:
    """The canonical string of a metric makes the same metric."""
    assert metrics.make(str(metric)) == metric
    assert metrics.make(metric) is metric


@given(ESTIMATORS)
def test_estimators_round_trip(estimator: Estimator) -> None:
    """The canonical string of an estimator makes the same estimator."""
    assert estimators.make(str(estimator)) == estimator
    assert estimators.make(estimator) is estimator


@given(PROPENSITIES)
def test_propensities_round_trip(model: Propensity) -> None:
    """The canonical string of a propensity makes the same propensity."""
    assert propensity.make(str(model)) == model
    assert propensity.make(model) is model


@pytest.mark.parametrize("target", ["per_user", "pooled", "per_user_sum"])
def test_targets_round_trip(target: str) -> None:
    """A target prints as it is written."""
    assert str(Target.make(target)) == target


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("recall@10", "recall@10"),
        ("  recall @ 10 ", "recall@10"),
        ("rbp@20", "rbp(p=0.8)@20"),
        ("rbp( p = .9 )@20", "rbp(p=0.9)@20"),
        ("ndcg(discount=log2, ideal=positives)@5", "ndcg@5"),
        ("ndcg(ideal=full)@5", "ndcg(ideal=full)@5"),
        ("map(divide=min)@5", "map(divide=min)@5"),
    ],
)
def test_metrics_print_canonically(text: str, canonical: str) -> None:
    """Spaces and defaults do not make another metric."""
    assert str(metrics.make(text)) == canonical


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("gs", "gs(strata=5)"),
        ("gs(3)", "gs(strata=3)"),
        ("gs(strata=quantile(3))", "gs(strata=3)"),
        ("gs(equal_width(4))", "gs(strata=equal_width(4))"),
        ("gs(strata=column(genre))", "gs(strata=column(genre))"),
        ("clipped(at=0.01)", "clipped(snips, at=0.01)"),
        ("clipped(gs(3), quantile=.010)", "clipped(gs(strata=3), quantile=0.01)"),
        ("stratified", "stratified(strata=5, shares=train, mode=renormalised)"),
    ],
)
def test_estimators_print_canonically(text: str, canonical: str) -> None:
    """Everything that an estimate depends on stands in its name."""
    assert str(estimators.make(text)) == canonical


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("popularity", "popularity(gamma=1)"),
        ("popularity(gamma=-1.0)", "popularity(gamma=-1)"),
        ("popularity(gamma=2, unsupported=drop)", "popularity(gamma=2, unsupported=drop)"),
        ("known(share=0.30)", "known(share=0.3)"),
        ("uniform", "uniform"),
        ("uniform(p=1e-3)", "uniform(p=0.001)"),
    ],
)
def test_propensities_print_canonically(text: str, canonical: str) -> None:
    """Defaults are printed, digits are not lost."""
    assert str(propensity.make(text)) == canonical


def test_the_longer_digits_are_another_metric() -> None:
    """Two persistences that differ in the ninth digit do not share a name."""
    assert str(RBP(10, 0.123456789)) != str(RBP(10, 0.123456788))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["expected a name", "the end"]),
        ("10", ["expected a name", "'10'"]),
        ("recall@", ["'@'", "whole number"]),
        ("recall@0", ["'@'", "at least 1"]),
        ("recall@1.5", ["'@'", "whole number"]),
        ("recall@-3", ["'@'", "whole number"]),
        ("recall@10@5", ["unexpected '@'"]),
        ("recall@10 please", ["unexpected 'please'"]),
        ("rbp(p=0.8", ["closing ')'"]),
        ("rbp(p=0.8 exactly)", ["expected ',' or ')' after '0.8', not 'exactly'"]),
        ("rbp(p=", ["ends in the middle"]),
        ("rbp(p=0.8, p=0.9)@5", ["'p'", "twice"]),
        ("recall#10", ["unexpected '#'", "character 7"]),
        ("rbp(,)", ["expected a name", "','"]),
    ],
)
def test_what_cannot_be_read_is_pointed_at(text: str, words: list[str]) -> None:
    """The message quotes the text and says where it stops to make sense."""
    with pytest.raises(InputError) as caught:
        metrics.make(text)
    message = str(caught.value)
    assert repr(text) in message
    assert all(word in message for word in words), message


@pytest.mark.parametrize(
    ("kind", "text", "near"),
    [
        ("metric", "recal@10", "'recall'"),
        ("metric", "nDCG@10", "'ndcg'"),
        ("metric", "precison@5", "'precision'"),
        ("estimator", "snip", "'snips'"),
        ("estimator", "cliped(snips, at=0.1)", "'clipped'"),
        ("propensity", "popularty(gamma=2)", "'popularity'"),
        ("propensity", "unifrm", "'uniform'"),
    ],
)
def test_a_near_miss_is_offered(kind: str, text: str, near: str) -> None:
    """A misspelt name gets the nearest one, and the list of all."""
    make = {"metric": metrics.make, "estimator": estimators.make, "propensity": propensity.make}[kind]
    with pytest.raises(InputError) as caught:
        make(text)
    message = str(caught.value)
    assert f"no {kind} called" in message and f"Did you mean {near}?" in message and "Known:" in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("recall", ["cut-off", "recall@10"]),
        ("precision", ["cut-off"]),
        ("hit", ["cut-off"]),
        ("recall(10)", ["unnamed"]),
        ("rbp(q=0.5)", ["no option 'q'", "known: p"]),
        ("rbp(p=often)", ["p must be a number", "often"]),
        ("rbp(p=1)", ["between 0 and 1"]),
        ("rbp(p=0)@5", ["between 0 and 1"]),
        ("ndcg(ideal=best)@5", ["ideal", "positives or full"]),
        ("ndcg(discount=ln)@5", ["discount", "log2 or lenskit"]),
        ("ndcg(ideal=full)", ["cut-off"]),
        ("map(divide=max)@5", ["divide", "positives or min"]),
        ("map(divide=min)", ["cut-off"]),
        ("r_precision@5", ["without @k"]),
    ],
)
def test_wrong_options_of_metrics_are_explained(text: str, words: list[str]) -> None:
    """The message says which option, what it may be, and what stood there."""
    with pytest.raises(InputError) as caught:
        metrics.make(text)
    assert all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("snips@10", ["@10"]),
        ("snips(strata=5)", ["no option 'strata'"]),
        ("gs(0)", ["strata", "at least 1"]),
        ("gs(2.5)", ["quantile(5)", "column(NAME)"]),
        ("gs(strata=kmeans(5))", ["quantile(5)", "column(NAME)"]),
        ("gs(5, strata=5)", ["'strata'", "twice"]),
        ("gs(5, 6)", ["at most 1", "unnamed"]),
        ("clipped(snips)", ["at=", "quantile="]),
        ("clipped(snips, at=0.1, quantile=0.1)", ["either"]),
        ("clipped(snips, at=1.5)", ["between 0 and 1"]),
        ("clipped(naive, at=0.1)", ["nothing to clip"]),
        ("clipped(stratified, at=0.1)", ["nothing to clip"]),
        ("clipped(snip, at=0.1)", ["Did you mean 'snips'?"]),
        ("stratified(mode=eq4)", ["eq3 or renormalised"]),
    ],
)
def test_wrong_options_of_estimators_are_explained(text: str, words: list[str]) -> None:
    """The message says what is wrong with which option."""
    with pytest.raises(InputError) as caught:
        estimators.make(text)
    assert all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("known@3", ["@3"]),
        ("known(share=1)", ["between 0 and 1"]),
        ("known(share=0)", ["between 0 and 1"]),
        ("uniform(p=0)", ["above 0 and at most 1"]),
        ("uniform(p=2)", ["above 0 and at most 1"]),
        ("popularity(unsupported=guess)", ["floor or drop"]),
        ("popularity(2)", ["unnamed"]),
    ],
)
def test_wrong_options_of_propensities_are_explained(text: str, words: list[str]) -> None:
    """The message says what is wrong with which option."""
    with pytest.raises(InputError) as caught:
        propensity.make(text)
    assert all(word in str(caught.value) for word in words), caught.value


def test_an_unknown_target_lists_the_known_ones() -> None:
    """A wrong target is answered with the right ones."""
    with pytest.raises(InputError, match="per_user, pooled, per_user_sum"):
        Target.make("per_pear")


@pytest.mark.parametrize("text", ["popularity(gamma=1e999)", "popularity(gamma=-1e999)", "uniform(p=1e999)"])
def test_numbers_must_be_finite(text: str) -> None:
    """A number too large for a float is refused, not taken as infinity."""
    with pytest.raises(InputError):
        str(propensity.make(text))


def test_patterns_of_files_read_and_print_back() -> None:
    """A pattern is a name like any other path."""
    text = "counted(naive_bayes, train=train/*.parquet, mcar=data/mcar-0?.csv)"
    assert str(parse(text)) == text


MAKERS = [estimators.make, metrics.make, propensity.make, outcome.make, models.make, Target.make]
HOSTILE = {
    "300 levels": "clipped(" * 300 + "snips" + ", at=0.1)" * 300,
    "open levels": "clipped(" * 300,
    "thousands of digits": f"gs(strata={'9' * 5000})",
    "digits behind @": f"recall@{'9' * 5000}",
    "a number beyond floats": "switch(tau=1e999)",
    "unicode digits": "gs(strata=٣)",
    "superscript digits": "recall@²",
    "unbalanced quotes": "gs('5",
    "a nul": "gs(strata=5\0)",
    "an escape code": "gs(\x1b[31mstrata=5)",
    "a lone surrogate": "gs(\ud800)",
    "twice": "gs(strata=5, strata=6)",
    "an empty argument": "gs(5,)",
    "only a comma": "gs(,)",
    "no value": "gs(strata=)",
    "no name": "gs(=5)",
    "a number as a name": "gs(5=3)",
    "100,000 arguments": f"gs({'5, ' * 100_000}5)",
    "100,000 characters": "x" * 100_000,
    "a long name": "y" * 9000,
    "nothing": "",
    "blanks": " \n\t ",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("make", MAKERS)
def test_hostile_strings_are_one_short_error(make: Callable[[str], object], text: str) -> None:
    """Whatever stands in a canonical string, the error is ours, short, and obeyed by no terminal."""
    with pytest.raises(InputError) as caught:
        make(text)
    message = str(caught.value)
    assert len(message) < 1000 and message.isprintable(), message


@pytest.mark.parametrize("value", [None, 5, 2.5, ["gs"], {"gs": 5}, b"gs", object(), type])
@pytest.mark.parametrize("make", MAKERS)
def test_what_is_no_string_is_an_error(make: Callable[[Any], object], value: object) -> None:
    """Nor does anything else pass for one."""
    with pytest.raises(InputError):
        make(value)


def test_nested_as_deep_as_anybody_writes() -> None:
    """Clips in clips are read, up to twenty."""
    text = "snips"
    for _ in range(15):
        text = f"clipped({text}, at=0.1)"
    assert str(estimators.make(text)) == text
