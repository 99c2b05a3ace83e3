"""What is shown, and in which order: printable names, the facets of a result, and the one that makes the headline."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from unskew.estimators import Standing
from unskew.inference.trust import has_no_value
from unskew.inference.verdict import Outcome
from unskew.propensity.known import Certain, Known
from unskew.report import numbers
from unskew.report.names import clean, shown
from unskew.result import Estimate, MetricTraits, Result, ScenarioTable, Verdict, Weights

Kept = TypeVar("Kept", bound=Hashable)
Row = TypeVar("Row", Estimate, Verdict, Weights)
Value = TypeVar("Value")

_NAMES = ("model", "a", "b", "segment")  # given by whoever made the files


class Facet(NamedTuple):
    """One question: a metric for a target, for all users (``segment`` is ``None``) or some of them."""

    metric: str
    target: str
    segment: str | None


def _different(name: str) -> cached_property[list[str]]:
    """The different values of a field of the estimates."""
    return cached_property(
        lambda view: unique(text for e in view.result.estimates if (text := getattr(e, name)) is not None)
    )


@dataclass(frozen=True)
class View:
    """A result as it is read: first things first."""

    result: Result

    @classmethod
    def of(cls, result: Result) -> View:
        """The view of a result, with names that are safe to print."""
        names = _outside(result)
        return cls(
            replace(
                result,
                estimates=tuple(_clean_row(row, names) for row in result.estimates),
                verdicts_=tuple(_clean_row(row, names) for row in result.verdicts_),
                weights=tuple(_clean_row(row, names) for row in result.weights),
                scenarios=tuple(_clean_table(table, names) for table in result.scenarios),
                inputs=_clean_value(dict(result.inputs), names),
                warnings=tuple(warning.saying(_clean_text(warning, names)) for warning in result.warnings),
                traits={_clean_text(metric, names): traits for metric, traits in result.traits.items()},
            )
        )

    # Each in the order given; the whole is no segment.
    models = _different("model")
    estimators = _different("estimator")
    metrics = _different("metric")
    targets = _different("target")
    segments = _different("segment")

    @cached_property
    def facets(self) -> list[Facet]:
        """Metric × target × segment; the first metric, the first target and all users come first."""
        there = unique(Facet(e.metric, e.target, e.segment) for e in self.result.estimates)
        place = {segment: n for n, segment in enumerate([None, *self.segments])}
        return sorted(
            there, key=lambda f: (place[f.segment], self.targets.index(f.target), self.metrics.index(f.metric))
        )

    @cached_property
    def not_debiased(self) -> set[str]:
        """The estimators that take the log as it is."""
        debiased = {e.estimator for e in self.result.estimates if Standing(e.standing).debiased}
        return set(self.estimators) - debiased

    def traits(self, metric: str) -> MetricTraits:
        """What a reader must know of a metric."""
        return self.result.traits.get(metric, MetricTraits())

    def facets_of(self, segment: str | None) -> list[Facet]:
        """The facets of one segment."""
        return [facet for facet in self.facets if facet.segment == segment]

    @property
    def whole(self) -> str | None:
        """What stands for everybody: ``None``, or the first segment of a result that has only segments."""
        return self.facets[0].segment if self.facets else None

    @cached_property
    def headline(self) -> Facet | None:
        """The facet that makes the headline: that of the strongest promise, for all users.

        Among equals sums over items come before ratios inside users (ndcg, map), then the first metric and target.
        """
        whole = self.facets_of(self.whole)
        if not whole:
            return None
        return min(
            whole,
            key=lambda f: (not self.traits(f.metric).additive, self._strength(f, self.carrier(f)), whole.index(f)),
        )

    def carrier(self, facet: Facet) -> str:
        """The estimator whose word counts in a facet: that with the strongest promise among those with an interval.

        One whose values are refused has an interval that says nothing, and is not passed over for a weaker promise.

        Of several with the same promise the last one counts: dr is asked for beside ips, not the other way round. What
        holds in all scenarios of what the log cannot tell counts more than what assumes one of them.
        """
        return self._carriers[facet]

    @cached_property
    def _carriers(self) -> dict[Facet, str]:
        return {facet: self._strongest(facet) for facet in self.facets}

    def _strongest(self, facet: Facet) -> str:
        there = unique(e.estimator for e in self.estimates(facet))
        there_or_refused = (
            e for e in self.estimates(facet) if not math.isnan(e.low) or _answered(e) or has_no_value(e.trust)
        )
        sure = {e.estimator for e in there_or_refused}
        known = [name for name in there if name in sure] or there
        return min(reversed(known), key=lambda name: self._strength(facet, name))

    def standing(self, facet: Facet, estimator: str) -> Standing:
        """What may be claimed of an estimator in a facet."""
        return Standing(self.estimates(facet, estimator)[0].standing)

    @property
    def debiased(self) -> bool:
        """Whether the headline rests on an estimator that tries to undo the skew of the log."""
        return self.headline is None or self.standing(self.headline, self.carrier(self.headline)).debiased

    def _strength(self, facet: Facet, estimator: str) -> tuple[int, int]:
        """The lower the stronger: logged propensities, scenarios, assumed propensities, and what promises less."""
        first = self.estimates(facet, estimator)[0]
        if _answered(first):
            return -1, 0
        place, scenarios = Standing(first.standing).place, Standing.SCENARIOS.place
        assumed = bool(first.assumption) and not _logged(first)
        return (int(assumed) * 2 if place < scenarios else 1 if place == scenarios else 3), place

    def scenarios(self, facet: Facet, estimator: str) -> ScenarioTable | None:
        """The scenarios of an estimator in a facet, if it has any."""
        cell = (*facet, estimator)
        found = (t for t in self.result.scenarios if (t.metric, t.target, t.segment, t.estimator) == cell)
        return next(found, None)

    def ahead_in_part(self, v: Verdict) -> str:
        """The model that is ahead in some scenarios, by any estimator, where the other one is in none; or empty."""
        if v.verdict != Outcome.DEPENDS:
            return ""
        upwards = -1 if self.traits(v.metric).lower_is_better else 1
        signs = {
            upwards * row.sign[n]
            for table in self.result.scenarios
            if (table.metric, table.segment) == (v.metric, v.segment)
            for row in table.differences
            if (row.a, row.b) == (v.a, v.b)
            for n in table.places
        } - {0}
        return "" if len(signs) != 1 else v.a if signs == {1} else v.b

    def naive(self, facet: Facet) -> str | None:
        """The naive estimator of a facet, if it is there and something else carries the headline."""
        return self._naive[facet]

    @cached_property
    def _naive(self) -> dict[Facet, str | None]:
        found = {}
        for facet in self.facets:
            there = [e.estimator for e in self.estimates(facet) if not Standing(e.standing).debiased]
            found[facet] = there[0] if there and there[0] != self.carrier(facet) else None
        return found

    def by_naive(self, v: Verdict) -> Verdict | None:
        """What naive says of the same pair, if it is there and something else carries the headline."""
        return self._by_naive.get((_facet(v), v.a, v.b))

    @cached_property
    def _by_naive(self) -> dict[tuple[Facet, str, str], Verdict]:
        rows = ((_facet(v), v) for v in self.result.verdicts_)
        return {(facet, v.a, v.b): v for facet, v in rows if v.estimator == self._naive.get(facet)}

    def estimates(self, facet: Facet, estimator: str | None = None) -> list[Estimate]:
        """The estimates of a facet."""
        return [e for e in self._estimates.get(facet, []) if estimator in (None, e.estimator)]

    def verdicts(self, facet: Facet, estimator: str | None = None) -> list[Verdict]:
        """The verdicts of a facet."""
        return [v for v in self._verdicts.get(facet, []) if estimator in (None, v.estimator)]

    def by_model(self, facet: Facet) -> list[Estimate]:
        """The estimates of a facet, model by model."""
        order = (self.models, self.estimators)
        return sorted(self.estimates(facet), key=lambda e: (order[0].index(e.model), order[1].index(e.estimator)))

    def by_pair(self, facet: Facet) -> list[Verdict]:
        """The verdicts of a facet, pair by pair."""
        pairs = unique((v.a, v.b) for v in self.verdicts(facet))
        return sorted(self.verdicts(facet), key=lambda v: pairs.index((v.a, v.b)))

    def comparisons(self, facet: Facet, estimator: str) -> int:
        """How many comparisons share one level: the pairs of models, for all users and in every segment."""
        return self._comparisons[facet.metric, facet.target, estimator]

    @cached_property
    def _comparisons(self) -> Counter[tuple[str, str, str]]:
        return Counter((v.metric, v.target, v.estimator) for v in self.result.verdicts_)

    def places(self, facet: Facet) -> int | None:
        """Decimals for the estimates of a facet: one number, so that columns line up."""
        return numbers.decimals((e.low, e.high) for e in self.estimates(facet))

    def places_of_differences(self, facet: Facet) -> int | None:
        """Decimals for the differences of a facet."""
        return numbers.decimals((v.low, v.high) for v in self.verdicts(facet))

    def best(self, estimates: Iterable[Estimate]) -> str:
        """The model with the best value among estimates of one metric."""
        rows = list(estimates)
        best = min if self.traits(rows[0].metric).lower_is_better else max
        return best(rows, key=lambda e: e.value).model

    @cached_property
    def _estimates(self) -> dict[Facet, list[Estimate]]:
        return grouped((_facet(e), e) for e in self.result.estimates)

    @cached_property
    def _verdicts(self) -> dict[Facet, list[Verdict]]:
        return grouped((_facet(v), v) for v in self.result.verdicts_)


def _answered(row: Estimate) -> bool:
    """Whether a row rests on answers, which count more than whatever the log alone says."""
    return Standing(row.standing) is Standing.ANSWERED


def _logged(row: Estimate) -> bool:
    """Whether a row is weighed by propensities that were written down when pairs were shown; ones may be none."""
    known = row.propensity is not None and row.propensity.partition("(")[0] == Known.name
    return known and not row.assumption.startswith(Certain().assumption)


def decided(verdict: Verdict) -> bool:
    """Whether one of the two is named."""
    return Outcome(verdict.verdict).decided


def winner(verdict: Verdict) -> str:
    """The model that a decided verdict names."""
    return verdict.a if Outcome(verdict.verdict).first else verdict.b


def same_lists(verdict: Verdict) -> bool:
    """Whether two models give the same lists: only then nothing is left of the interval."""
    return verdict.difference == verdict.low == verdict.high == 0.0


def in_scenarios(row: Estimate | Verdict) -> bool:
    """Whether a row sums up all scenarios of what the log cannot tell: its numbers are ranges."""
    return Standing(row.standing) is Standing.SCENARIOS


def unique(values: Iterable[Kept]) -> list[Kept]:
    """Each value once, in the order in which it first comes."""
    return list(dict.fromkeys(values))


def grouped(pairs: Iterable[tuple[Kept, Value]]) -> dict[Kept, list[Value]]:
    """The values of each key, in the order in which they come."""
    found: dict[Kept, list[Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def _outside(result: Result) -> dict[str, str]:
    """How the names that somebody else gave (models, segments) are shown."""
    rows = [*result.estimates, *result.verdicts_, *result.weights]
    texts = (getattr(row, name, None) for row in rows for name in _NAMES)
    models = result.inputs.get("models", {})
    return shown([*(text for text in texts if isinstance(text, str)), *(models if isinstance(models, Mapping) else ())])


def _clean_row(row: Row, names: Mapping[str, str]) -> Row:
    texts: dict[str, Any] = {}
    for field in fields(row):
        text = getattr(row, field.name)
        if isinstance(text, str):
            texts[field.name] = names[text] if field.name in _NAMES else _clean_text(text, names)
    if isinstance(row, Verdict) and row.turns:
        texts["turns"] = _clean_turns(row, names)
    return replace(row, **texts)


def _clean_turns(row: Verdict, names: Mapping[str, str]) -> str:
    """Where a verdict turns, with both names as everywhere else: there, a name begins a clause and "is" follows."""
    either = "|".join(re.escape(name) for name in sorted((row.a, row.b), key=len, reverse=True))
    pattern = rf"(^|; |, | and )({either})(?= is ahead| is\.)"
    return clean(re.sub(pattern, lambda found: found[1] + names[found[2]], row.turns))


def _clean_table(table: ScenarioTable, names: Mapping[str, str]) -> ScenarioTable:
    return replace(
        table,
        metric=_clean_text(table.metric, names),
        estimator=_clean_text(table.estimator, names),
        segment=None if table.segment is None else names[table.segment],
        values=tuple(replace(row, model=names[row.model]) for row in table.values),
        differences=tuple(replace(row, a=names[row.a], b=names[row.b]) for row in table.differences),
    )


def _clean_text(text: str, names: Mapping[str, str]) -> str:
    """A text that may quote a name, which is then shown as everywhere else."""
    for name, short in names.items():
        if len(name) > len(short):
            text = text.replace(name, short)
    return clean(text)


def _clean_value(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _clean_text(value, names)
    if isinstance(value, Mapping):
        return {names.get(str(key)) or clean(str(key)): _clean_value(item, names) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean_value(item, names) for item in value]
    return value


def _facet(row: Estimate | Verdict) -> Facet:
    return Facet(row.metric, row.target, row.segment)
