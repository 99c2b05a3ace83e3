"""Verdicts in plain words: who is better or ahead, by how much, how surely, if what holds, and what would undo it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from unskew.core.notice import Notice, made_of
from unskew.estimators import Standing
from unskew.inference.verdict import Outcome
from unskew.report import numbers
from unskew.report.agreement_words import agreement
from unskew.report.document import Sentence, Span
from unskew.report.scenario_words import ahead_in_part, between, depends, range_of, scenario_notes, what_it_depends_on
from unskew.report.view import Facet, View, decided, grouped, in_scenarios, same_lists, unique, winner
from unskew.result import Estimate, Result, Verdict

NOT_DEBIASED = "Not debiased"
_WHO = (Span("Who is ahead"),)
APART = 0.2  # of the larger value: what may lie further apart is not called equal
AS_IT_IS = "Nothing here undoes the skew of the log: models that resemble what was shown look better than they are."

SAMPLED = (
    "Samples are not debiased: what {} makes rarer counts less, as if it had only been shown more often, and nothing "
    "here checks that. If it was liked more, models that know what is liked look worse than they are. Compare with the "
    "score on the whole log: where the two name different models, neither decides."
)


def sentences(result: Result) -> list[str]:
    """The verdicts that make the headline, in plain words: the first metric and target (``View.carrier``)."""
    return [str(sentence) for sentence in headline_sentences(View.of(result))]


def headline(result: Result) -> dict[str, Any]:
    """What is read first, as plain values."""
    view = View.of(result)
    return {
        "title": str(title(view)),
        "debiased": view.debiased,
        "metric": None if view.headline is None else view.headline.metric,
        "target": None if view.headline is None else view.headline.target,
        "estimator": None if view.headline is None else view.carrier(view.headline),
        "sentences": [str(sentence) for sentence in headline_sentences(view)],
        "agreement": agreement(view),
        "trust": trust(view),
    }


def headline_sentences(view: View, *, brief: bool = False) -> list[Sentence]:
    """One sentence per pair of models, without pairs one per model.

    Decided pairs come first, and among them those of the model that is ahead. ``brief`` shortens the sentences where
    there are more than three, for places that name the metric and the number of comparisons beside them.
    """
    facet = view.headline
    if facet is None:
        return [Sentence.plain(Notice("The result holds no estimates.", code="no-estimates"))]
    carrier = view.carrier(facet)
    verdicts = view.verdicts(facet, carrier)
    if not verdicts:
        return [_score(e, view) for e in view.estimates(facet, carrier)]
    first = {part.text for part in title(view).spans if part.kind == "name"}
    ordered = sorted(
        verdicts, key=lambda v: (not decided(v), v.verdict != Outcome.DEPENDS, first.isdisjoint((v.a, v.b)))
    )
    together, short = view.comparisons(facet, carrier), brief and len(verdicts) > 3
    values = {e.model: abs(e.value) for e in view.estimates(facet, carrier)}
    return [
        say(
            v,
            view.by_naive(v),
            comparisons=together,
            brief=short,
            least=least_tipping(view, v),
            scale=max(values.get(v.a, math.inf), values.get(v.b, math.inf)),
            needed=users_needed(view, v),
            lower_is_better=view.traits(v.metric).lower_is_better,
            in_part=view.ahead_in_part(v),
        )
        for v in ordered
    ]


def least_tipping(view: View, verdict: Verdict) -> float | None:
    """The least tipping point, sampling error allowed for, over the estimators shown that debias this pair.

    ``None`` where one of them names the other model: the lead is then undone already.
    """
    if not decided(verdict):
        return None
    alike = [
        v
        for v in view.result.verdicts_
        if (v.a, v.b, v.metric, v.segment) == (verdict.a, verdict.b, verdict.metric, verdict.segment)
        and Standing(v.standing).debiased == Standing(verdict.standing).debiased
        and decided(v)
    ]
    if any(winner(v) != winner(verdict) for v in alike):
        return None
    same = [v for v in alike if v.tipping_kind == verdict.tipping_kind]
    found = [v.tipping if v.tipping_low is None else v.tipping_low for v in same]
    return min((factor for factor in found if factor is not None), default=None)


def users_needed(view: View, verdict: Verdict) -> int | None:
    """How many users would decide a pair, where chance alone keeps it open.

    ``None`` where a check does, or where a few users carry the difference: the number counts all users alike, and then
    can be smaller than what is there.
    """
    there = view.estimates(Facet(verdict.metric, verdict.target, verdict.segment), verdict.estimator)
    if verdict.users_needed is None or verdict.trust or math.isinf(verdict.low) or not there:
        return None
    return verdict.users_needed if verdict.users_needed > max(e.users for e in there) else None


def say(
    verdict: Verdict,
    naive: Verdict | None = None,
    *,
    comparisons: int = 1,
    brief: bool = False,
    least: float | None = None,
    scale: float = math.inf,
    needed: int | None = None,
    lower_is_better: bool = False,
    in_part: str = "",
) -> Sentence:
    """One verdict in plain words, with what naive would have said where that is something else.

    Args:
        comparisons: how many pairs share the simultaneous level.
        least: the tipping point to quote.
        scale: the larger of the two values, beside which a difference is small or not.
        needed: how many users would decide an open pair.
        lower_is_better: whether the metric counts errors.
        in_part: the model that is ahead in some scenarios, where the other one is in none.
    """
    if math.isnan(verdict.difference):
        why = "there is no estimate of their difference"
        said = Notice(f" cannot be compared on {verdict.metric}: {why}.", code="no-difference")
        return _pair(verdict, " and ", said)
    if verdict.difference == 0.0 and not verdict.se > 0.0:
        lists = same_lists(verdict)
        same = "give the same lists" if lists else "score the same for every user"
        code = "same-lists" if lists else "same-scores"
        return _pair(verdict, " equals ", Notice(f" on {verdict.metric}: they {same}.", code=code))
    if decided(verdict):
        parts = _decided(verdict, comparisons, brief, least, lower_is_better)
    elif verdict.verdict == Outcome.DEPENDS:
        parts = depends(verdict, brief, in_part)
    else:
        parts = _undecided(verdict, brief, scale, needed)
    flag = disagreement(verdict, naive)
    return Sentence((*parts, Span(made_of(f" {flag}", flag), "flag")) if flag else parts, verdict.verdict)


def disagreement(verdict: Verdict, naive: Verdict | None) -> str:
    """What naive would have said, where that is not the same; else empty."""
    if naive is None or math.isnan(verdict.difference):
        return ""
    if not decided(naive):
        return Notice("Naive could not have decided.", code="naive-undecided") if decided(verdict) else ""
    if not decided(verdict):
        text = f"Naive puts {winner(naive)} ahead, which is neither confirmed nor refuted here."
        return Notice(text, code="naive-decides", ahead=winner(naive))
    same = winner(naive) == winner(verdict)
    return "" if same else Notice("Naive would have said the opposite.", code="naive-reverses")


def title(view: View) -> Sentence:
    """The headline of a page: which model is ahead, in a few words."""
    facet = view.headline
    if facet is None:
        return Sentence.plain("No estimates")
    found = _title(view, facet)
    if view.debiased:
        return found
    first, *rest = found.spans
    if not first.kind:  # our own words, no name of a model
        first = Span(first.text[:1].lower() + first.text[1:])
    return Sentence((Span(f"{NOT_DEBIASED}: ", "flag"), first, *rest), found.tone)


def _title(view: View, facet: Facet) -> Sentence:
    verdicts = view.verdicts(facet, view.carrier(facet))
    on = Span(f" on {facet.metric}" + (f" in {facet.segment}" if facet.segment is not None else ""))
    if not verdicts:
        return Sentence((Span("Estimates"), on))
    if all(math.isnan(v.difference) for v in verdicts):
        return Sentence((Span("No comparison"), on))
    models = unique(name for v in verdicts for name in (v.a, v.b))
    beaten = {v.b if winner(v) == v.a else v.a for v in verdicts if decided(v)}
    known = all(v.verdict in (Outcome.BETTER, Outcome.WORSE) for v in verdicts if decided(v))
    leads, word = ("is better than", Outcome.BETTER) if known else ("is ahead of", Outcome.AHEAD)
    ahead = [model for model in models if model not in beaten]
    if len(models) == 2 and len(ahead) == 1:
        (behind,) = beaten
        return Sentence((Span(ahead[0], "name"), Span(f" {leads} "), Span(behind, "name"), on), word)
    others = "both others" if len(models) == 3 else f"all {len(models) - 1} others"
    if top := _never_behind(view, verdicts, models):
        if len(models) == 2:
            return Sentence(ahead_in_part(verdicts[0], top, on.text, end=""), Outcome.DEPENDS)
        where = Span(" in some scenarios at least, and behind in none")
        return Sentence((Span(top, "name"), Span(f" is ahead of {others}"), on, where), Outcome.DEPENDS)
    depending = [v for v in verdicts if v.verdict == Outcome.DEPENDS and not {v.a, v.b}.isdisjoint(ahead)]
    what = Span(what_it_depends_on(view.scenarios(facet, view.carrier(facet))))
    if depending and not beaten:
        who = (Span("Whether "), *_together(models, "or"), Span(" is ahead")) if len(models) == 2 else _WHO
        return Sentence((*who, on, Span(" depends on "), what), Outcome.DEPENDS)
    if all(map(same_lists, verdicts)):
        return Sentence((*_together(models), Span(" give the same lists"), on), "undecided")
    if not beaten:
        answered = any(Standing(v.standing) is Standing.ANSWERED for v in verdicts)
        told = "Log and answers" if answered else "This log"
        return Sentence((Span(f"{told} cannot decide between "), *_together(models), on), "undecided")
    if len(ahead) == 1 and all(decided(v) for v in verdicts if ahead[0] in (v.a, v.b)):
        return Sentence((Span(ahead[0], "name"), Span(f" {leads} {others}"), on), word)
    if not ahead:
        return Sentence((Span("No model is ahead of all others"), on), "undecided")
    if depending:
        return Sentence((*_together(ahead), Span(" may come first"), on, Span(": that depends on "), what), "depends")
    tail = f" {'is' if len(ahead) == 1 else 'are'} not beaten by any other model"
    return Sentence((*_together(ahead), Span(tail), on), "undecided")


def _never_behind(view: View, verdicts: Sequence[Verdict], models: Sequence[str]) -> str:
    """The model that is ahead of all others in some scenarios at least, not of all in every one, and behind in none."""
    for model in models:
        own = [v for v in verdicts if model in (v.a, v.b)]
        if not all(map(decided, own)) and all(
            model == (winner(v) if decided(v) else view.ahead_in_part(v)) for v in own
        ):
            return model
    return ""


def trust(view: View) -> list[str]:
    """How far the headline may be trusted: each sentence once, with the pairs it speaks of unless these are all.

    Why a pair is undecided stands in its own sentence already.
    """
    facet = view.headline
    if facet is None:
        return []
    verdicts = view.verdicts(facet, view.carrier(facet))
    said = grouped((v.trust, f"{v.a} and {v.b}") for v in verdicts if v.trust and decided(v))
    found = [] if view.debiased else [_not_debiased(view)]
    found += scenario_notes(view.scenarios(facet, view.carrier(facet)))
    found += _implied(view, facet)
    doubted = [e for e in view.estimates(facet, view.carrier(facet)) if e.trust]
    found += [f"{e.model}: {e.trust}" for e in doubted if not any(e.trust in v.trust for v in verdicts)]
    return found + unless_all(said, len(verdicts))


def _implied(view: View, facet: Facet) -> list[str]:
    """How many pairs a logged column of propensities makes relevant: what a reader can judge."""
    column = view.result.inputs.get("propensity_column")
    weighed = any(e.propensity for e in view.estimates(facet, view.carrier(facet)))
    if not weighed or not column or column["implied_relevance"] is None:
        return []
    share = min(column["implied_relevance"], 1.0)
    text = f"If the propensities are right, {numbers.share(share)} of all user–item pairs are relevant."
    return [Notice(text, code="implied-relevance", share=share)]


def _not_debiased(view: View) -> str:
    """Why scores of the log, or of samples of it, are not what they seem."""
    sample = view.result.inputs.get("sample")
    if sample is not None and not sample["equal_chances"]:
        return Notice(SAMPLED.format(sample["strategy"]), code="not-debiased", sampled=True)
    text = f"{AS_IT_IS} Estimators that undo it, such as snips, need propensities{_without_propensities(view)}."
    return Notice(text, code="not-debiased")


def _without_propensities(view: View) -> str:
    """What debiases where nobody knows propensities: the exposure path, for sums over items and with a training log."""
    metric = "" if view.headline is None else view.headline.metric
    traits, trained = view.traits(metric), view.result.inputs.get("train") is not None
    if not traits.ranked:
        return ""
    if not traits.additive:
        k = metric.partition("@")[2] or "10"
        sums = f"and {metric} is none: use dcg@{k} or recall@{k} with target pooled"
        return f"; exposure_path does without them, but for sums over items only, {sums}" + (
            "" if trained else ", and a training log"
        )
    if trained:
        return "; where nobody knows these, use exposure_path with target pooled, which needs the training log only"
    return "; where nobody knows these, exposure_path asks for a training log only"


def unless_all(said: Mapping[str, Sequence[str]], number: int) -> list[str]:
    """Texts with the names that they speak of, unless these are all there are."""
    return [
        text if len(names) == number else made_of(f"{'; '.join(names)}: {text}", text) for text, names in said.items()
    ]


def _decided(
    verdict: Verdict, comparisons: int, brief: bool, least: float | None, lower_is_better: bool
) -> tuple[Span, ...]:
    """The winner comes first, so a verdict of *worse* or *behind* is told from the other side."""
    if Outcome(verdict.verdict).first:
        first, second, sign, low, high = verdict.a, verdict.b, 1.0, verdict.low, verdict.high
    else:
        first, second, sign, low, high = verdict.b, verdict.a, -1.0, -verdict.high, -verdict.low
    known = verdict.verdict in (Outcome.BETTER, Outcome.WORSE)
    measured = f"{_measured(verdict, sign * verdict.difference, low, high)}, {_p(verdict)}"
    correction = f" after correction for {comparisons} comparisons" if comparisons > 1 else ""
    lower = " (lower is better)" if lower_is_better else ""
    given = f", if {verdict.assumption}" if verdict.assumption else ""
    text = f" on {verdict.metric}{lower}{given}: {measured}{correction}.{_tipping(verdict, least)}"
    if brief:
        shown = f", Γ {numbers.gamma(least)}" if least is not None and math.isfinite(least) else ""
        text = f"{given}: {measured}{shown}."
    told = Notice(text, code="better" if known else "ahead", tipping=least, comparisons=comparisons)
    return Span(first, "name"), Span(" is better than " if known else " is ahead of "), Span(second, "name"), Span(told)


def _tipping(verdict: Verdict, least: float | None) -> str:
    """Where the lead would vanish; a tipping point that does not exist is no praise."""
    if least is None or not math.isfinite(least):
        return ""
    factor = numbers.gamma(least)
    slight = factor == numbers.gamma(1.0)
    if not Standing(verdict.standing).debiased:
        return f" {'Slightly uneven exposure' if slight else f'Uneven exposure by a factor of {factor}'} could undo it."
    if in_scenarios(verdict):
        much = "only slightly" if slight else f"by a factor of {factor}"
        worst = "in the worst direction, from the scenario where that takes least"
        return f" This could reverse if exposure differed {much}, {worst}."
    if slight:
        return " This could reverse if propensities were only slightly wrong."
    what = "the odds of being seen were" if verdict.tipping_kind == "odds" else "propensities were"
    return f" This could reverse if {what} wrong by a factor of {factor} in the worst direction."


def practically_equal(view: View, verdict: Verdict) -> bool:
    """Whether an open pair is shown to be so close that deciding it would not matter."""
    facet = Facet(verdict.metric, verdict.target, verdict.segment)
    values = {e.model: abs(e.value) for e in view.estimates(facet, verdict.estimator)}
    scale = max(values.get(verdict.a, math.inf), values.get(verdict.b, math.inf))
    return verdict.verdict == Outcome.UNDECIDED and max(abs(verdict.low), abs(verdict.high)) <= APART * scale


def _undecided(verdict: Verdict, brief: bool, scale: float, needed: int | None) -> tuple[Span, ...]:
    """An open pair: why it is open, or how many users would settle it, or that it hardly matters.

    Only what an interval shows to be close is called equal: with few users, a difference near 0 is mere chance.
    """
    measured = _measured(verdict, verdict.difference, verdict.low, verdict.high)
    names = Span(verdict.a, "name"), Span(" and "), Span(verdict.b, "name")
    apart = max(abs(verdict.low), abs(verdict.high))
    tail, code = "", "undecided"
    if verdict.trust:
        tail, code = f" {verdict.trust}", "withheld"
    elif Standing(verdict.standing) is Standing.ANSWERED and not apart <= APART * scale:
        code = "more-answers"
        tail = " More answers where the two lists differ would be needed: unskew plan says how many."
    elif math.isinf(apart):
        tail, code = " Too few users carry the difference to bound it.", "few-users"
    elif needed is not None:
        to_decide = "to decide it in every scenario" if in_scenarios(verdict) else "at this difference"
        tail, code = f" About {numbers.about(needed)} users would be needed {to_decide}.", "users-needed"
    elif verdict.users_needed is None and apart <= APART * scale:
        start = () if brief else (Span(f"On {verdict.metric} "),)
        less = numbers.above(apart, numbers.decimals([(verdict.low, verdict.high)]))
        told = Notice(f" are practically equal: less than {less} apart, {measured}.", code="practically-equal")
        return *start, *names, Span(told)
    elif verdict.users_needed is None and math.isfinite(apart) and not in_scenarios(verdict):
        tail, code = " More than a hundred times the users would be needed at this difference.", "far-more-users"
    if brief:
        return *names, Span(Notice(f" undecided: {measured}.{tail}", code=code))
    who = "Log and answers" if Standing(verdict.standing) is Standing.ANSWERED else "This log"
    told = Notice(f" on {verdict.metric}: {measured}.{tail}", code=code)
    return Span(f"{who} cannot decide between "), *names, Span(told)


def _pair(verdict: Verdict, between: str, tail: str) -> Sentence:
    return Sentence((Span(verdict.a, "name"), Span(between), Span(verdict.b, "name"), Span(tail)), verdict.verdict)


def _score(e: Estimate, view: View) -> Sentence:
    if math.isnan(e.value):
        return Sentence((Span(e.model, "name"), Span(Notice(f" has no estimate on {e.metric}.", code="no-estimate"))))
    places = view.places(Facet(e.metric, e.target, e.segment))
    if in_scenarios(e):
        scored = f" scores {between(e.value, e.low, e.high, places)} on {e.metric} ({e.estimator})."
        return Sentence((Span(e.model, "name"), Span(scored)))
    known = limits(e, places)
    value = f"{numbers.number(e.value, places)} {known if known.startswith('[') else f'({known})'}"
    return Sentence((Span(e.model, "name"), Span(f" scores {value} on {e.metric} ({e.estimator}).")))


def rows_of(estimates: Sequence[Estimate]) -> str:
    """How many rows estimates rest on, and of which kind."""
    kinds = grouped(
        ("answers" if Standing(e.standing) is Standing.ANSWERED else "held-out interactions", e.interactions)
        for e in estimates
    )
    return " and ".join(f"{numbers.spread(found, numbers.count)} {kind}" for kind, found in kinds.items())


def limits(e: Estimate, places: int | None) -> str:
    """The interval of an estimate, the range of one over scenarios; without any hit only a bound from above."""
    if in_scenarios(e):
        return range_of(e.low, e.high, places)
    if e.hits == 0 and e.value == 0.0 and math.isfinite(e.high):
        return f"≤ {numbers.number(e.high, places)}"
    return numbers.interval(e.low, e.high, places)


def _measured(verdict: Verdict, value: float, low: float, high: float) -> str:
    """The difference as a range over scenarios, or with its interval."""
    if in_scenarios(verdict) and not math.isnan(low):
        return between(value, low, high, numbers.decimals([(low, high)]), sign=True)
    wide = not math.isfinite(high - low) or high - low > 200.0 * abs(value)  # too wide to say how many digits count
    places = None if wide and value != 0.0 else numbers.decimals([(low, high)])
    known = "(no interval)" if math.isnan(low) else numbers.interval(low, high, places)
    return f"{numbers.number(value, places, sign=True)} {known}"


def _p(verdict: Verdict) -> str:
    phrase = numbers.p_phrase(verdict.p_adjusted)
    if not in_scenarios(verdict):
        return phrase
    return f"{phrase.replace('=', '≤')} in each"


def _together(models: list[str], link: str = "and") -> tuple[Span, ...]:
    if len(models) > 4:
        return (Span(f"{len(models)} models"),)
    parts: list[Span] = []
    for n, model in enumerate(models):
        if n:
            parts.append(Span(f" {link} " if n == len(models) - 1 else ", "))
        parts.append(Span(model, "name"))
    return tuple(parts)
