"""Every number of an evaluation against the slow reference, on small worlds with all the awkward users in them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import unskew as us
from tests import reference as ref
from tests.drawn import evaluate_or_reject
from tests.reference import Metric, Row, Rule, World
from unskew.estimators import Strata, Stratified, Summary
from unskew.estimators.summary import Histogram

pytestmark = pytest.mark.usefixtures("made_up_logs")
USERS = [f"u{n}" for n in range(6)]
ITEMS = [f"i{n}" for n in range(8)]
LABELS = ["a", "b", "c"]
SHARES: dict[object, float] = {"a": 0.7, "b": 0.3, "c": 0.0}
MODELS = ("one", "two")
WHOLE = (Phase.explicit, Phase.generate)  # worlds are small as they are drawn, and shrinking them takes minutes
TARGETS = ("per_user", "pooled", "per_user_sum")

METRICS = {
    "recall@2": Metric("recall", 2),
    "recall@20": Metric("recall", 20),
    "precision@3": Metric("precision", 3),
    "dcg@3": Metric("dcg", 3),
    "dcg": Metric("dcg"),
    "rbp(p=0.7)@4": Metric("rbp", 4, p=0.7),
    "arhr": Metric("arhr"),
    "ndcg@3": Metric("ndcg", 3),
    "ndcg": Metric("ndcg"),
    "ndcg(discount=lenskit)@4": Metric("ndcg", 4, discount="lenskit"),
    "ndcg(ideal=full)@3": Metric("ndcg", 3, ideal="full"),
    "map@3": Metric("map", 3),
    "map": Metric("map"),
    "map(divide=min)@2": Metric("map", 2, divide="min"),
    "mrr": Metric("mrr"),
    "mrr@2": Metric("mrr", 2),
    "hit@2": Metric("hit", 2),
    "r_precision": Metric("r_precision"),
}
PLAIN = ("recall@2", "dcg@3")  # that every estimator can do


@dataclass(frozen=True)
class Inputs:
    """One drawn world, as the library gets it and as the reference does."""

    rows: tuple[Row, ...]
    lists: Mapping[str, Mapping[str, Mapping[str, int]]]
    extra: Mapping[str, int]
    feedback: str
    metrics: tuple[str, ...] = tuple(METRICS)  # those that are looked at this time

    @property
    def relevant(self) -> str | None:
        return ">=2" if self.feedback == "ratings" else None

    @property
    def seen(self) -> list[Row]:
        """The rows with y in the place of the value."""
        if self.feedback == "implicit":
            return [replace(row, value=1.0) for row in self.rows]
        if self.feedback == "ratings":
            return [replace(row, value=float(row.value >= 2.0)) for row in self.rows]
        return list(self.rows)

    @property
    def n(self) -> dict[str, float]:
        """n_u: what was seen and some more; 0 for some of the silent users."""
        return {u: sum((r.value for r in self.seen if r.user == u), float(self.extra.get(u, 0))) for u in USERS}

    def frame(self) -> pl.DataFrame:
        columns: dict[str, list[Any]] = {
            "user": [row.user for row in self.rows],
            "item": [row.item for row in self.rows],
            "propensity": [row.propensity for row in self.rows],
            "label": [row.label for row in self.rows],
        }
        if self.feedback != "implicit":
            columns["value"] = [row.value for row in self.rows]
        return pl.DataFrame(columns)

    def models(self) -> dict[str, pl.DataFrame]:
        frames = {}
        for model in MODELS:
            entries = [(u, i, rank) for u, ranks in self.lists[model].items() for i, rank in ranks.items()]
            frames[model] = pl.DataFrame(entries, schema=["user", "item", "rank"], orient="row")
        return frames

    def world(self, model: str) -> World:
        catalogue = {row.item for row in self.rows}
        candidates = {user: float(len(catalogue)) for user in USERS}
        return World(USERS, self.seen, self.lists[model], self.n, candidates)


def evaluate(inputs: Inputs, estimators: Sequence[Any], **options: Any) -> us.Result:
    population = pl.DataFrame({"user": USERS, "relevant": [inputs.n[user] for user in USERS]})
    settings: dict[str, Any] = {
        "metrics": list(inputs.metrics),
        "target": TARGETS,
        "propensity": "known",
        "refused": "skip",
    }
    settings |= {"users": population, "feedback": inputs.feedback, "relevant": inputs.relevant, "threads": 1}
    return evaluate_or_reject(inputs.frame(), inputs.models(), estimators=estimators, **(settings | options))


@st.composite
def lists_of_a_model(draw: st.DrawFn) -> dict[str, dict[str, int]]:
    """For some users a list with gaps between its ranks."""
    lists = {"u0": {draw(st.sampled_from(ITEMS)): draw(st.integers(1, 3))}}  # lists without any entry are an error
    for user in draw(st.lists(st.sampled_from(USERS), unique=True)):
        rank, ranks = 0, {}
        for item in draw(st.lists(st.sampled_from(ITEMS), unique=True, min_size=1, max_size=5)):
            rank += draw(st.sampled_from([1, 1, 1, 2, 4]))
            ranks[item] = rank
        lists[user] = ranks
    return lists


@st.composite
def inputs(draw: st.DrawFn) -> Inputs:
    """Users without rows, without lists, with n_u = 0; graded values with zeros; any propensities."""
    rows = draw(
        st.lists(
            st.builds(
                Row,
                st.sampled_from(USERS[:5]),
                st.sampled_from(ITEMS),
                st.sampled_from([0.0, 1.0, 1.0, 2.0, 3.5]),
                st.floats(0.02, 1.0),
                st.sampled_from(LABELS),
            ),
            unique_by=lambda row: (row.user, row.item),
            min_size=1,
            max_size=14,
        ).filter(lambda rows: any(row.value >= 2.0 for row in rows))
    )
    return Inputs(
        tuple(rows),
        {model: draw(lists_of_a_model()) for model in MODELS},
        draw(st.dictionaries(st.sampled_from(USERS), st.integers(0, 3))),
        draw(st.sampled_from(["implicit", "conversions", "ratings"])),
        (*PLAIN, *draw(st.lists(st.sampled_from(sorted(METRICS.keys() - PLAIN)), unique=True, min_size=4, max_size=4))),
    )


def close(found: float, expected: float, relative: float, absolute: float = 0.0) -> bool:
    """Equal up to rounding; NaN equals NaN."""
    both = math.isnan(found) and math.isnan(expected)
    return both or math.isclose(found, expected, rel_tol=relative, abs_tol=absolute)


def compare(result: us.Result, drawn: Inputs, rules: Mapping[str, Rule]) -> None:
    """Values and diagnostics to 1e-12, standard errors to 1e-9; and those of the differences."""
    worlds = {model: drawn.world(model) for model in MODELS}
    cells: dict[tuple[str, str, str], list[list[ref.Factor]]] = {}
    for e in result.estimates:
        world, cell = worlds[e.model], (e.metric, e.estimator, str(e.target))
        rule = rules.get(f"{e.estimator} {e.target}", rules[e.estimator])
        parts = ref.factors(world, METRICS[e.metric], rule, e.target)
        cells.setdefault(cell, []).append(parts)
        assert close(e.value, ref.value(parts), 1e-12, 1e-12), (e.model, *cell)
        v = ref.shares_of_weight(world, rule, e.target, METRICS[e.metric])
        assert e.hits == sum(x > 0.0 for x in v), cell
        assert close(e.ess, ref.ess(v), 1e-12), cell
        assert close(e.max_weight_share, ref.max_weight_share(v), 1e-12), cell
        weighted = [row for row in world.rows if row.value > 0.0 and rule.weight(row, world.of(row.user)) > 0.0]
        raised = [row for row in weighted if row.propensity < rule.floor]
        assert close(e.clipped_share, len(raised) / len(weighted) if weighted else 0.0, 1e-12), cell
    assert cells and all(len(both) == len(MODELS) for both in cells.values())
    for e in result.estimates:
        both = cells[e.metric, e.estimator, str(e.target)]
        assert e.users == ref.active(*both)
        expected = ref.error(ref.influences(both[MODELS.index(e.model)]), len(USERS), e.users)
        if math.isnan(e.se) and not math.isnan(expected):  # no hit, no error: the interval is a bound
            assert e.hits == 0 and e.low == 0.0 and e.high >= 0.0, e
            continue
        assert close(e.se, expected, 1e-9, 3e-8 * max(1.0, abs(e.value))), e  # an SE of 0 is the root of a rounding
    for d in result.verdicts_:
        both = cells[d.metric, d.estimator, str(d.target)]
        assert close(d.difference, ref.value(both[0]) - ref.value(both[1]), 1e-12, 1e-12), d
        count = ref.active(*both)
        if not d.users_apart:
            assert (d.difference == 0.0 or math.isnan(d.difference)) and math.isnan(d.se), d
            continue
        one, two = (ref.influences(parts) for parts in both)
        larger = max(ref.error(one, len(USERS), count), ref.error(two, len(USERS), count))
        expected = ref.error([a - b for a, b in zip(one, two, strict=True)], len(USERS), count)
        assert close(d.se, expected, 1e-7, 1e-7 * larger + 3e-8), d


@settings(max_examples=25, phases=WHOLE)
@given(inputs())
def test_naive_ips_snips_and_clips_equal_the_reference(drawn: Inputs) -> None:
    """naive, ips, snips and their clipped forms are what docs/estimators.md says, in every cell that is allowed."""
    positives = [row.propensity for row in drawn.seen if row.value > 0.0]
    rules = {
        "naive": Rule("naive"),
        "ips": Rule("ips"),
        "snips": Rule("snips"),
        "clipped(snips, at=0.3)": Rule("snips", floor=0.3),
        "clipped(snips, quantile=0.4)": Rule("snips", floor=ref.quantile(positives, 0.4)),
        "clipped(ips, at=0.3)": Rule("ips", floor=0.3),
    }
    every = ref.quantile([row.propensity for row in drawn.seen], 0.4)  # sums of snips divide by all seen pairs
    summed = {"clipped(snips, quantile=0.4) per_user_sum": Rule("snips", floor=every)}
    compare(evaluate(drawn, list(rules)), drawn, rules | summed)


@settings(max_examples=25, phases=WHOLE)
@given(inputs())
def test_gs_equals_the_reference(drawn: Inputs) -> None:
    """gs averages 1/P inside quantile bins, bins of equal width or a column, before or after a clip."""
    positives = [row.propensity for row in drawn.seen if row.value > 0.0]

    def quantiles(count: int) -> Any:
        return ref.place(ref.quantile_edges(positives, count))

    rules = {
        "gs(strata=2)": Rule("gs", quantiles(2)),
        "gs(strata=3)": Rule("gs", quantiles(3)),
        "gs(strata=equal_width(3))": Rule("gs", ref.place(ref.equal_width_edges(positives, 3))),
        "gs(strata=column(label))": Rule("gs", lambda row: row.label),
        "clipped(gs(strata=2), at=0.3)": Rule("gs", quantiles(2), floor=0.3),
    }
    compare(evaluate(drawn, list(rules)), drawn, rules)


@settings(max_examples=25, phases=WHOLE)
@given(inputs())
def test_stratified_equals_the_reference(drawn: Inputs) -> None:
    """stratified weighs the strata by P(v), as printed (eq3) or over the user's own strata (renormalised)."""
    path = TABLES / "labels.csv"
    path.write_text("stratum,share\n" + "".join(f"{label},{share}\n" for label, share in SHARES.items()))
    bins = TABLES / "bins.csv"
    bins.write_text("stratum,share\n1,0.25\n2,0.75\n")
    positives = [row.propensity for row in drawn.seen if row.value > 0.0]
    halves = ref.place(ref.quantile_edges(positives, 2))
    rules, asked = {}, []
    for mode in ("eq3", "renormalised"):
        labelled = Stratified(Strata("column", 0, "label"), str(path), mode)
        binned = Stratified(Strata(count=2), str(bins), mode)
        rules[str(labelled)] = Rule("stratified", lambda row: row.label, SHARES, mode)
        rules[str(binned)] = Rule("stratified", halves, {0: 0.25, 1: 0.75}, mode)
        asked += [labelled, binned]
    compare(evaluate(drawn, asked), drawn, rules)


TABLES = Path("/nonexistent")


@pytest.fixture(scope="module", autouse=True)
def _tables(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A place for tables of shares that hypothesis may write again and again."""
    global TABLES
    TABLES = tmp_path_factory.mktemp("shares")


@settings(max_examples=60)
@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=40), st.integers(1, 6))
def test_strata_edges_lie_on_the_bins_of_the_reference(numbers: list[float], count: int) -> None:
    """Quantile edges and places are those of the reference."""
    row = Row("u", "i", 1.0, numbers[0])
    places = ref.place(ref.quantile_edges(numbers, count))
    histogram = Histogram.of(np.array(numbers))
    fitted = Strata(count=count).fit(Summary(pairs=histogram))
    expected = [places(replace(row, propensity=p)) for p in numbers]
    assert fitted.place(np.array(numbers)).tolist() == expected


def test_unseen_candidates_are_counted_per_user() -> None:
    """snips under per_user_sum scales by Σ|C_u|, and a user's training items are no candidates."""
    rows = [Row("a", "x", 1.0, 0.5), Row("a", "y", 0.0, 0.25), Row("b", "z", 2.0, 0.2)]
    columns: Mapping[str, Sequence[Any]] = {
        "user": [r.user for r in rows],
        "item": [r.item for r in rows],
        "value": [r.value for r in rows],
        "propensity": [r.propensity for r in rows],
    }
    lists = {"a": {"y": 1, "x": 2}, "b": {"z": 3}}
    train = pl.DataFrame({"user": ["a", "a", "b"], "item": ["z", "w", "w"], "value": [1.0, 0.0, 1.0]})
    entries = [(u, i, rank) for u, ranks in lists.items() for i, rank in ranks.items()]
    for candidates, sizes in (("unseen", {"a": 2.0, "b": 3.0}), ("all", {"a": 4.0, "b": 4.0})):
        result = us.evaluate(
            pl.DataFrame(columns),
            {"one": pl.DataFrame(entries, schema=["user", "item", "rank"], orient="row")},
            metrics=["dcg@3"],
            estimators=["snips"],
            propensity="known",
            feedback="conversions",
            train=train,
            candidates=candidates,  # type: ignore[arg-type]
        )
        world = World(["a", "b"], rows, lists, candidates=sizes)
        parts = ref.factors(world, METRICS["dcg@3"], Rule("snips"), "per_user_sum")
        assert result.estimates[0].value == pytest.approx(ref.value(parts), rel=1e-12)
        assert result.estimates[0].se == pytest.approx(ref.error(ref.influences(parts), 2, 2), rel=1e-9)


def test_the_reference_agrees_with_a_sum_done_by_hand() -> None:
    """One user, three clicks: every estimator's recall@1 worked out on paper."""
    rows = [Row("u", "x", 1.0, 0.5, "a"), Row("u", "y", 1.0, 0.25, "a"), Row("u", "z", 1.0, 0.2, "b")]
    world = World(["u"], rows, {"u": {"x": 1}}, {"u": 10.0}, {"u": 20.0})
    by_label: Any = lambda row: row.label  # noqa: E731
    expected = {
        "naive": (Rule("naive"), 1 / 3),
        "ips": (Rule("ips"), 2 / 10),
        "snips": (Rule("snips"), 2 / 11),
        "gs": (Rule("gs", by_label), 3 / 11),
        "stratified": (Rule("stratified", by_label, {"a": 0.6, "b": 0.4}), 0.3),
        "clipped": (Rule("snips", floor=0.25), 2 / 10),
    }
    for rule, number in expected.values():
        parts = ref.factors(world, Metric("recall", 1), rule, "per_user")
        assert math.isclose(ref.value(parts), number)
