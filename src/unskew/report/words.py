"""Verdicts in plain words: who is better, by how much, how surely, and how robustly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from unskew.report import numbers
from unskew.report.view import Facet, View, clean, lower_is_better, unique
from unskew.result import Estimate, Result, Verdict

_DECIDED = ("better", "worse")


class Part(NamedTuple):
    """A piece of a sentence; ``kind`` is ``name``, ``flag`` (naive disagrees) or empty."""

    text: str
    kind: str = ""


@dataclass(frozen=True)
class Sentence:
    """A sentence in pieces, so that every medium can set names and flags in its own way."""

    parts: tuple[Part, ...]
    verdict: str = ""

    def __str__(self) -> str:
        return "".join(part.text for part in self.parts)


def sentences(result: Result) -> list[str]:
    """The verdicts that make the headline, in plain words: the first metric and target (``View.carrier``)."""
    return [str(sentence) for sentence in headline_sentences(View.of(result))]


def headline_sentences(view: View, *, brief: bool = False) -> list[Sentence]:
    """One sentence per pair of models, without pairs one per model.

    Decided pairs come first, and among them those of the model that is ahead. ``brief`` shortens the sentences where
    there are more than three, for places that name the metric and the number of comparisons beside them.
    """
    facet = view.headline
    if facet is None:
        return [Sentence((Part("The result holds no estimates."),))]
    carrier = view.carrier(facet)
    verdicts = view.verdicts(facet, carrier)
    if not verdicts:
        return [_score(e, view) for e in view.estimates(facet, carrier)]
    naive = {(v.a, v.b): v for v in view.verdicts(facet, view.naive(facet))} if view.naive(facet) else {}
    first = {part.text for part in title(view).parts if part.kind == "name"}
    ordered = sorted(verdicts, key=lambda v: (v.verdict not in _DECIDED, first.isdisjoint((v.a, v.b))))
    short = brief and len(verdicts) > 3
    return [say(v, naive.get((v.a, v.b)), comparisons=len(verdicts), brief=short) for v in ordered]


def say(verdict: Verdict, naive: Verdict | None = None, *, comparisons: int = 1, brief: bool = False) -> Sentence:
    """One verdict in plain words, with what naive would have said where that is something else."""
    if math.isnan(verdict.difference):
        return _incomparable(verdict)
    if verdict.difference == 0.0 and not verdict.se > 0.0:
        return _identical(verdict)
    parts = _decided(verdict, comparisons, brief) if verdict.verdict in _DECIDED else _undecided(verdict, brief)
    flag = disagreement(verdict, naive)
    return Sentence((*parts, Part(f" {flag}", "flag")) if flag else parts, verdict.verdict)


def disagreement(verdict: Verdict, naive: Verdict | None) -> str:
    """What naive would have said, where that is not the same; else empty."""
    if naive is None or naive.verdict == verdict.verdict or math.isnan(verdict.difference):
        return ""
    if naive.verdict not in _DECIDED:
        return "Naive could not have decided."
    if verdict.verdict in _DECIDED:
        return "Naive would have said the opposite."
    return f"Naive would have called {naive.a if naive.verdict == 'better' else naive.b} better."


def title(view: View) -> Sentence:
    """The headline of a page: which model is ahead, in a few words."""
    facet = view.headline
    if facet is None:
        return Sentence((Part("No estimates"),))
    verdicts = view.verdicts(facet, view.carrier(facet))
    on = Part(f" on {facet.metric}{_among(facet)}")
    if not verdicts:
        return Sentence((Part("Estimates"), on))
    if all(math.isnan(v.difference) for v in verdicts):
        return Sentence((Part("No comparison"), on))
    models = unique(name for v in verdicts for name in (v.a, v.b))
    beaten = {v.b if v.verdict == "better" else v.a for v in verdicts if v.verdict in _DECIDED}
    ahead = [model for model in models if model not in beaten]
    if len(models) == 2 and len(ahead) == 1:
        (behind,) = beaten
        return Sentence((Part(ahead[0], "name"), Part(" is better than "), Part(behind, "name"), on), "better")
    if not beaten:
        return Sentence((Part("This log cannot decide between "), *_together(models), on), "undecided")
    if len(ahead) == 1 and all(v.verdict in _DECIDED for v in verdicts if ahead[0] in (v.a, v.b)):
        rest = Part(f" is better than all {len(models) - 1} others")
        return Sentence((Part(ahead[0], "name"), rest, on), "better")
    if not ahead:
        return Sentence((Part("No model is ahead of all others"), on), "undecided")
    tail = " is not beaten" if len(ahead) == 1 else " are not beaten by any other model"
    return Sentence((*_together(ahead), Part(tail), on), "undecided")


def trust(view: View) -> list[str]:
    """How far the headline may be trusted: each sentence once, with the pairs it speaks of unless these are all."""
    facet = view.headline
    verdicts = view.verdicts(facet, view.carrier(facet)) if facet else []
    said: dict[str, list[str]] = {}
    for v in verdicts:
        if v.trust:
            said.setdefault(v.trust, []).append(f"{v.a} and {v.b}")
    return [text if len(pairs) == len(verdicts) else f"{'; '.join(pairs)}: {text}" for text, pairs in said.items()]


def read(view: View) -> list[str]:
    """What was read, and what was dropped of it, a line per input."""
    inputs = view.result.inputs
    accounts = {name: inputs.get(name) for name in ("test", "train", "population")} | dict(inputs.get("models", {}))
    lines = []
    for name, account in accounts.items():
        if not isinstance(account, dict) or "source" not in account:
            continue
        lines.append(f"{clean(name)} ({clean(account['source'])}): {_rows(account)}")
    if outcome := inputs.get("outcome"):
        table = f", {_rows(outcome['table'])}" if "table" in outcome else ""
        said = f"{outcome['how']}{table}{_unknown(outcome)}{_means(outcome)}"
        lines.append(f"outcome model ({clean(outcome['model'])}): {said}")
    return lines


def _rows(account: dict[str, Any]) -> str:
    """How many rows an input has, and how many of them were dropped, by reason."""
    dropped = ", ".join(f"{numbers.count(n)} × {clean(why)}" for why, n in account.get("dropped", {}).items())
    return f"{numbers.count(account['rows'])} rows" + (f", dropped {dropped}" if dropped else "")


def _unknown(outcome: dict[str, Any]) -> str:
    """Of how many pairs the outcome model knew too little."""
    if not (outcome["unknown"] or outcome["listed_unknown"]):
        return ""
    rows, listed = (
        f"{numbers.count(outcome[part])} of {numbers.count(outcome[whole])}"
        for part, whole in (("unknown", "rows"), ("listed_unknown", "listed"))
    )
    return f", {rows} rows and {listed} listed pairs unknown to it"


def _means(outcome: dict[str, Any]) -> str:
    """What it guesses for seen pairs on average, beside what those brought."""
    guess, brought = (numbers.number(outcome.get(name)) for name in ("mean", "mean_outcome"))
    return f"; mean guess {guess}, mean outcome {brought} of the seen pairs"


def refused(view: View) -> list[str]:
    """What the log cannot support, and why; cells with one reason stand together."""
    reasons: dict[str, list[str]] = {}
    for r in view.result.inputs.get("refused", ()):
        reasons.setdefault(r["reason"], []).append(f"{r['metric']} × {r['estimator']} × {r['target']}")
    return [f"{', '.join(cells)}: {reason}" for reason, cells in reasons.items()]


def _decided(verdict: Verdict, comparisons: int, brief: bool) -> tuple[Part, ...]:
    """The winner comes first, so a verdict of *worse* is told from the other side."""
    if verdict.verdict == "better":
        first, second, sign, low, high = verdict.a, verdict.b, 1.0, verdict.low, verdict.high
    else:
        first, second, sign, low, high = verdict.b, verdict.a, -1.0, -verdict.high, -verdict.low
    measured = f"{_difference(sign * verdict.difference, low, high)}, {numbers.p_phrase(verdict.p_adjusted)}"
    correction = f" after correction for {comparisons} comparisons" if comparisons > 1 else ""
    lower = " (lower is better)" if lower_is_better(verdict.metric) else ""
    text = f" on {verdict.metric}{lower}: {measured}{correction}.{_robustness(verdict)}"
    if brief:
        text = f": {measured}" + (f", Γ {numbers.gamma(verdict.tipping)}." if verdict.tipping is not None else ".")
    return Part(first, "name"), Part(" is better than "), Part(second, "name"), Part(text)


def _robustness(verdict: Verdict) -> str:
    if verdict.tipping is None or math.isnan(verdict.tipping):
        return ""
    naive, held = verdict.estimator == "naive", ", its strata held fixed," if verdict.estimator.startswith("gs") else ""
    if math.isinf(verdict.tipping):
        if verdict.target == "per_user" or "over=user" in verdict.estimator:
            rivals = "(a single pair has no rival)"
            return f" Reweighing inside users{held} up to a factor of 10 does not undo the lead {rivals}."
        return " No uneven exposure undoes the lead." if naive else " No error in the propensities undoes the lead."
    if naive:
        return f" Uneven exposure by a factor of {numbers.gamma(verdict.tipping)} could undo the lead."
    what = "the odds of being seen" if verdict.tipping_kind == "odds" else "the propensities"
    low = verdict.tipping_low
    least = f" ({numbers.gamma(low)} with sampling error)" if low is not None and math.isfinite(low) else ""
    factor = f"{numbers.gamma(verdict.tipping)}{least}"
    return f" It stays ahead unless{held} {what} are wrong by more than a factor of {factor}."


def _undecided(verdict: Verdict, brief: bool) -> tuple[Part, ...]:
    measured = _difference(verdict.difference, verdict.low, verdict.high)
    names = Part(verdict.a, "name"), Part(" and "), Part(verdict.b, "name")
    needed = f"About {numbers.about(verdict.users_needed)} users" if verdict.users_needed is not None else ""
    if brief:
        return *names, Part(f" undecided: {measured}." + (f" {needed} needed." if needed else ""))
    tail = f" {needed} would be needed at this difference." if needed else ""
    return Part("This log cannot decide between "), *names, Part(f" on {verdict.metric}: {measured}.{tail}")


def _identical(verdict: Verdict) -> Sentence:
    tail = Part(f" on {verdict.metric}: they score the same for every user.")
    return Sentence((Part(verdict.a, "name"), Part(" equals "), Part(verdict.b, "name"), tail), verdict.verdict)


def _incomparable(verdict: Verdict) -> Sentence:
    tail = Part(f" cannot be compared on {verdict.metric}: there is no estimate of their difference.")
    return Sentence((Part(verdict.a, "name"), Part(" and "), Part(verdict.b, "name"), tail), verdict.verdict)


def _score(e: Estimate, view: View) -> Sentence:
    if math.isnan(e.value):
        return Sentence((Part(e.model, "name"), Part(f" has no estimate on {e.metric}.")))
    places = view.places(Facet(e.metric, e.target, e.segment))
    value = f"{numbers.number(e.value, places)} {numbers.interval(e.low, e.high, places)}"
    return Sentence((Part(e.model, "name"), Part(f" scores {value} on {e.metric} ({e.estimator}).")))


def _difference(value: float, low: float, high: float) -> str:
    places = numbers.decimals([(low, high)])
    return f"{numbers.number(value, places, sign=True)} {numbers.interval(low, high, places)}"


def _together(models: list[str]) -> tuple[Part, ...]:
    if len(models) > 4:
        return (Part(f"{len(models)} models"),)
    parts: list[Part] = []
    for n, model in enumerate(models):
        if n:
            parts.append(Part(" and " if n == len(models) - 1 else ", "))
        parts.append(Part(model, "name"))
    return tuple(parts)


def _among(facet: Facet) -> str:
    return f" in {facet.segment}" if facet.segment is not None else ""
