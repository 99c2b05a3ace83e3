"""Canonical strings: what is printed parses back to the same thing, and what cannot be read is explained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.said import refusal, refuses
from unskew import estimators, metrics, models, outcome, propensity, sampling, split
from unskew.core.errors import InputError
from unskew.core.spec import Spec, parse, show
from unskew.estimators import IPS, SNIPS, Clipped, Estimator, GeneralizedStratified, Naive, Strata, Stratified, Target
from unskew.metrics import ARHR, DCG, MAP, MRR, NDCG, RBP, Hit, Precision, RankingMetric, Recall, RPrecision
from unskew.propensity import Known, Popularity, Propensity, Uniform

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


@pytest.mark.parametrize("threshold", [">3", ">=4", "<2.5", "<=-1", "==1", ">1e3"])
def test_thresholds_are_kept_as_they_are(threshold: str) -> None:
    """They stand behind '=' or alone, and print as they came; a comparison without a number is none."""
    assert parse(f"most_popular(relevant={threshold}, k=2)").options == {"relevant": threshold, "k": 2}
    assert str(parse(f"name({threshold})")) == f"name({threshold})"
    with refuses("bad-string"):
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


ROOMS: tuple[tuple[Any, st.SearchStrategy[Any]], ...] = (
    (metrics, METRICS),
    (estimators, ESTIMATORS),
    (propensity, PROPENSITIES),
)


@given(st.one_of(*(st.tuples(st.just(room), parts) for room, parts in ROOMS)))
def test_parts_round_trip(drawn: tuple[Any, Any]) -> None:
    """The canonical string of a metric, an estimator or a propensity makes the same one."""
    room, part = drawn
    assert room.make(str(part)) == part and room.make(part) is part


@pytest.mark.parametrize(
    ("make", "text", "canonical"),
    [
        (metrics.make, "recall@10", "recall@10"),
        (metrics.make, "  recall @ 10 ", "recall@10"),
        (metrics.make, "rbp@20", "rbp(p=0.8)@20"),
        (metrics.make, "rbp( p = .9 )@20", "rbp(p=0.9)@20"),
        (metrics.make, "ndcg(discount=log2, ideal=positives)@5", "ndcg@5"),
        (metrics.make, "ndcg(ideal=full)@5", "ndcg(ideal=full)@5"),
        (metrics.make, "map(divide=min)@5", "map(divide=min)@5"),
        (estimators.make, "gs", "gs(strata=5)"),
        (estimators.make, "gs(3)", "gs(strata=3)"),
        (estimators.make, "gs(strata=quantile(3))", "gs(strata=3)"),
        (estimators.make, "gs(equal_width(4))", "gs(strata=equal_width(4))"),
        (estimators.make, "gs(strata=column(genre))", "gs(strata=column(genre))"),
        (estimators.make, "clipped(at=0.01)", "clipped(snips, at=0.01)"),
        (estimators.make, "clipped(gs(3), quantile=.010)", "clipped(gs(strata=3), quantile=0.01)"),
        (estimators.make, "stratified", "stratified(strata=5, shares=train, mode=renormalised)"),
        (propensity.make, "popularity", "popularity(gamma=1)"),
        (propensity.make, "popularity(gamma=-1.0)", "popularity(gamma=-1)"),
        (propensity.make, "popularity(gamma=2, unsupported=drop)", "popularity(gamma=2, unsupported=drop)"),
        (propensity.make, "known(share=0.30)", "known(share=0.3)"),
        (propensity.make, "uniform", "uniform"),
        (propensity.make, "uniform(p=1e-3)", "uniform(p=0.001)"),
        (Target.make, "per_user", "per_user"),
        (Target.make, "pooled", "pooled"),
        (Target.make, "per_user_sum", "per_user_sum"),
    ],
)
def test_parts_print_canonically(make: Callable[[str], object], text: str, canonical: str) -> None:
    """Spaces and defaults make no other part, digits are not lost, and what an estimate depends on is in its name."""
    assert str(make(text)) == canonical


@pytest.mark.parametrize(
    ("text", "code", "where"),
    [
        ("", "bad-string", ""),
        ("10", "bad-string", ""),
        ("recall@", "bad-string", "'@'"),
        ("recall@0", "bad-string", "'@'"),
        ("recall@1.5", "bad-string", "'@'"),
        ("recall@-3", "bad-string", "'@'"),
        ("recall@10@5", "bad-string", "'@'"),
        ("recall@10 please", "bad-string", "'please'"),
        ("rbp(p=0.8", "bad-string", "')'"),
        ("rbp(p=0.8 exactly)", "bad-string", "'exactly'"),
        ("rbp(p=", "bad-string", ""),
        ("rbp(p=0.8, p=0.9)@5", "repeated-argument", "'p'"),
        ("recall#10", "bad-string", "7"),
        ("rbp(,)", "bad-string", "','"),
    ],
)
def test_what_cannot_be_read_is_pointed_at(text: str, code: str, where: str) -> None:
    """The message quotes the text and says where it stops to make sense."""
    said = refusal(metrics.make, text)
    assert said.code == code and repr(text) in str(said) and where in str(said).replace(repr(text), "")


@pytest.mark.parametrize(
    ("make", "text", "code", "fields"),
    [
        (metrics.make, "recal@10", "unknown-name", {"near": ["recall"]}),
        (metrics.make, "nDCG@10", "unknown-name", {"near": ["ndcg"]}),
        (metrics.make, "precison@5", "unknown-name", {"near": ["precision"]}),
        (metrics.make, "recall10", "unknown-name", {"near": ["recall@10"]}),
        (metrics.make, "ndcg_5", "unknown-name", {"near": ["ndcg@5"]}),
        (metrics.make, "r_precision10", "unknown-name", {"near": ["r_precision"]}),
        (metrics.make, "mae3", "unknown-name", {"near": ["mae"]}),
        (metrics.make, "recall", "missing-cut-off", {}),
        (metrics.make, "precision", "missing-cut-off", {}),
        (metrics.make, "hit", "missing-cut-off", {}),
        (metrics.make, "ndcg(ideal=full)", "missing-cut-off", {}),
        (metrics.make, "map(divide=min)", "missing-cut-off", {}),
        (metrics.make, "r_precision@5", "needless-cut-off", {}),
        (metrics.make, "recall(10)", "too-many-arguments", {}),
        (metrics.make, "rbp(q=0.5)", "unknown-argument", {"option": "q"}),
        (estimators.make, "snip", "unknown-name", {"near": ["snips"]}),
        (estimators.make, "cliped(snips, at=0.1)", "unknown-name", {"near": ["clipped"]}),
        (estimators.make, "clipped(snip, at=0.1)", "unknown-name", {"near": ["snips"]}),
        (estimators.make, "snips@10", "unknown-cut-off", {}),
        (estimators.make, "snips(strata=5)", "unknown-argument", {"option": "strata"}),
        (estimators.make, "gs(0)", "out-of-range", {"option": "strata"}),
        (estimators.make, "gs(2.5)", "wrong-type", {}),
        (estimators.make, "gs(strata=kmeans(5))", "wrong-type", {}),
        (estimators.make, "gs(5, strata=5)", "repeated-argument", {"option": "strata"}),
        (estimators.make, "gs(5, 6)", "too-many-arguments", {}),
        (estimators.make, "clipped(snips)", "conflicting-arguments", {}),
        (estimators.make, "clipped(snips, at=0.1, quantile=0.1)", "conflicting-arguments", {}),
        (estimators.make, "clipped(naive, at=0.1)", "not-clippable", {}),
        (estimators.make, "clipped(stratified, at=0.1)", "not-clippable", {}),
        (propensity.make, "popularty(gamma=2)", "unknown-name", {"near": ["popularity"]}),
        (propensity.make, "unifrm", "unknown-name", {"near": ["uniform"]}),
        (propensity.make, "known@3", "unknown-cut-off", {}),
        (propensity.make, "popularity(2)", "too-many-arguments", {}),
    ],
)
def test_wrong_names_and_options_are_explained(
    make: Callable[[str], object], text: str, code: str, fields: dict[str, Any]
) -> None:
    """A misspelt name gets the nearest one; an option is named with what it may be."""
    with refuses(code, **fields):
        make(text)


ALONE = {"counted", "given", "sklearn"}  # they need files or a class
LACKING = {"clipped": "clipped(at=0.1)"} | {name: f"{name}@5" for name in ("recall", "precision", "cg", "hit")}


@pytest.mark.parametrize("room", [metrics, estimators, propensity, outcome, models, split, sampling])
def test_every_part_prints_what_it_parses(room: Any) -> None:
    """The canonical string of each, with all its options, makes the same part again."""
    for name in set(room.FAMILY.names()) - ALONE:
        inner = {"calibrated": "popularity", "crossfit": "means"}.get(name)
        part = room.make(LACKING.get(name, f"{name}({inner})" if inner else name))
        assert str(part).startswith(name) and str(room.make(str(part))) == str(part)
    assert {name: str(models.make(name)) for name in ("wmf", "user_knn(votes=count)")} == {
        "wmf": "wmf(dim=50, alpha=1, penalty=0.1, rounds=20, seed=0)",
        "user_knn(votes=count)": "user_knn(neighbours=50, votes=count)",
    }


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


@given(NUMBERS)
def test_numbers_keep_every_digit(number: float) -> None:
    """A number survives printing and reading to the last bit."""
    (again,) = parse(f"name({show(number)})").args
    assert again == number
