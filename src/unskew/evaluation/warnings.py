"""What a careful reader should know before trusting the numbers, in plain words.

Each rule looks at the facts of one evaluation and gives a sentence, or none. The facts were counted where rows were
dropped, lists coded and models fitted; only here are they put into words. Thresholds of the rules stand beside them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from unskew.alignment.align import Aligned
from unskew.alignment.inputs import Inputs
from unskew.alignment.lists import PLACES_BEYOND, TRAINING_ITEMS, CodedLists
from unskew.alignment.lookalikes import Respelled, respelled
from unskew.alignment.outcome_check import far_off, outside
from unskew.alignment.predicted import WITHOUT_PREDICTION
from unskew.alignment.rows import IN_TRAINING, cut_by_time, has_level, share_of
from unskew.alignment.shares import contradicted_share
from unskew.engine.estimator_run import EstimatorRun
from unskew.engine.plan import EvaluationPlan, Refusal
from unskew.estimators import Need, Standing, Target
from unskew.evaluation.fit_outcome import IN_SAMPLE, FittedOutcome
from unskew.evaluation.fit_propensity import FittedPropensity
from unskew.evaluation.request import Request
from unskew.inference.steps import STEP
from unskew.judging.answer import Answer
from unskew.judging.measure import debiased
from unskew.log import Predictions
from unskew.log.interactions import REPEATED
from unskew.metrics import RankingMetric
from unskew.plain import plain
from unskew.propensity import Level, Scope
from unskew.result import Estimate

ENOUGH = 200  # replicates for refitting
ROUNDED = 0.01  # 0.33 for a third is the same share


@dataclass(frozen=True, eq=False)
class Facts:
    """All that is known when an evaluation is over.

    Args:
        asked: the request as it was made; ``request`` with what follows from the inputs.
        answers: of the whole, and of every segment.
        segments_lack: what segments of interactions cannot give.
    """

    asked: Request
    request: Request
    inputs: Inputs
    propensity: FittedPropensity
    aligned: Aligned
    plan: EvaluationPlan
    refusals: tuple[Refusal, ...]
    outcome: FittedOutcome
    answers: tuple[Answer, ...]
    segments_lack: tuple[str, ...] = ()

    @property
    def dropped(self) -> dict[str, int]:
        """Held-out rows that were dropped, by reason."""
        found: dict[str, int] = self.aligned.account["test"]["dropped"]
        return found

    @property
    def population_given(self) -> bool:
        """Whether the population was named, rather than taken from the logs."""
        return self.inputs.population is not None

    def estimators(self, need: Need) -> list[str]:
        """The estimators of the plan that need this."""
        asked = ((estimator, target) for estimator, target, _ in self.plan.asked)
        return list(dict.fromkeys(str(estimator) for estimator, target in asked if need in estimator.needs(target)))

    def runs(self, target: Target) -> list[EstimatorRun]:
        """The runs of a target."""
        return [run for run in self.plan.runs if run.target is target]


Rule = Callable[[Facts], Iterator[str]]


def warnings(facts: Facts) -> tuple[str, ...]:
    """All that there is to say, each sentence once."""
    return tuple(dict.fromkeys(text for rule in RULES for text in rule(facts)))


# Rows


def _repeated_pairs(facts: Facts) -> Iterator[str]:
    """Pairs that a log holds several times and that were kept once without anybody asking for it."""
    for log in (facts.inputs.test, facts.inputs.train):
        if log is not None:
            yield from (f"{log.account.source}: {note}." for note in log.account.notes if note.endswith(REPEATED))


def _rows_in_training(facts: Facts) -> Iterator[str]:
    """With unseen candidates nothing that is in training can be recommended."""
    if again := facts.dropped.get(IN_TRAINING):
        yield (
            f"{again:,} held-out interactions repeat a training pair of the same user and were dropped, because only "
            "unseen items are candidates. To judge repeats too, use candidates='all'."
        )


def _rows_outside_population(facts: Facts) -> Iterator[str]:
    if facts.propensity.outside:
        yield (
            f"{facts.propensity.outside:,} training rows belong to users outside the population (users=…), and "
            f"'{facts.request.propensity}' is fitted without them: it is the population's probability of being seen "
            "that counts."
        )


def _fitted_to_fewer(facts: Facts) -> Iterator[str]:
    """A propensity fitted in advance knows the users and items of its log only."""
    train, users, items = facts.inputs.train, facts.inputs.users, facts.aligned.logged
    if facts.propensity.outgrown and train is not None:
        model = facts.request.propensity
        yield (
            f"'{model}' was fitted before this evaluation, which counts {len(users):,} users and {len(items):,} items, "
            f"while the training log knows {len(train.users):,} and {len(train.items):,}: users and items without "
            f"training rows make its level too high. Give its string (propensity='{model}'), and it is fitted over all "
            "of them."
        )


# Propensities of the rows


def _cold_items(facts: Facts) -> Iterator[str]:
    """How many rows have a guessed propensity, how much of the weight they carry, and how to leave them out."""
    weighed, model = facts.aligned.weighed, facts.aligned.propensity
    if weighed is None or weighed.cold is None or model is None:
        return
    cold, weight = weighed.cold, ""
    if cold.of_weight is not None:
        weight = f": {cold.of_rows:.1%} of the rows carry {cold.of_weight:.1%} of the weight"
    remedy = "Give a longer training log, or leave these rows out of the test log"
    if (supported := model.supported_only()) is not None:
        remedy = f"Leave them out with propensity='{supported}'"
    yield (
        f"{cold.count:,} held-out interactions are on items that training never showed; their propensity is a guess"
        f"{weight}. {remedy}, and see whether the answer holds."
    )


def _doubts_of_propensity(facts: Facts) -> Iterator[str]:
    if facts.aligned.weighed is not None:
        yield from facts.aligned.weighed.doubts


def _capped_propensities(facts: Facts) -> Iterator[str]:
    if facts.aligned.weighed is not None and (capped := facts.aligned.weighed.capped):
        yield f"{capped:,} held-out propensities came out above 1 and were set to 1."


def _level_lost(facts: Facts) -> Iterator[str]:
    """Why absolute propensities serve as relative ones here."""
    model, rows, rules = facts.aligned.propensity, facts.aligned.rows, facts.inputs.rules
    if model is None or model.level is not Level.ABSOLUTE or has_level(model, rows, rules):
        return
    whose = "whole log" if model.refers(rows) is Scope.LOG else "training log"
    if cut_by_time(rows, rules):
        cut = "test" if rows.cut_by_time else "training"
        yield (
            f"The propensities describe the {whose}, and time decided which rows are in the {cut} log, so their "
            "level means nothing here: they are used up to a constant, and assume that what was shown more often in "
            f"the {whose} was shown more often in the test log too."
        )
    else:
        yield (
            f"The propensities describe the {whose}, and it is not known how the test log was split off, so their "
            "level means nothing here. If the test log is a random share of the whole, say so with share=…."
        )


# Predictions and lists


def _rows_without_prediction(facts: Facts) -> Iterator[str]:
    """Rows that some model does not predict are lost to all."""
    if lost := facts.dropped.get(WITHOUT_PREDICTION):
        yield (
            f"{lost:,} held-out {'pair was' if lost == 1 else 'pairs were'} dropped for want of some model's "
            "prediction. The others stand for all of them in naive and snips; ips still divides by all candidate "
            "pairs, and comes out too low."
        )


def _other_spellings(facts: Facts) -> Iterator[str]:
    """Ids of the training log, the catalogue and dropped predictions that the test log writes otherwise."""
    inputs = facts.inputs
    ours = {"user": inputs.test.users, "item": inputs.test.items}
    if (train := inputs.train) is not None:
        found = respelled({"user": train.users, "item": train.items}, ours)
        harm = "nobody has seen them in training as it is"
        yield from _written_otherwise(f"training log {train.account.source}", found, harm)
    if (catalogue := inputs.catalogue) is not None:
        found = respelled({"item": catalogue.items}, ours)
        yield from _written_otherwise(
            f"catalogue {catalogue.account.source}", found, "each counts as two items as it is"
        )
    for name, source in inputs.predictions.items() if facts.dropped.get(WITHOUT_PREDICTION) else ():
        if isinstance(source, Predictions):
            found = respelled({"user": source.users, "item": source.items}, ours)
            yield from _written_otherwise(plain(name), found, "they predict nothing as it is")


def _written_otherwise(name: str, found: tuple[Respelled, ...], harm: str) -> Iterator[str]:
    for other in found:
        yield (
            f"{name}: {other.count:,} of its {other.total:,} {other.what}s occur in no log as they are written, such "
            f"as '{other.listed}', where the logs have '{other.logged}'. If they are the same, write them alike: "
            f"{harm}."
        )


def _lists_of_models(facts: Facts) -> Iterator[str]:
    for name, coded in facts.aligned.coded_lists.items():
        yield from _about_lists(plain(name), coded, unseen=facts.inputs.rules.unseen)


def _about_lists(name: str, coded: CodedLists, *, unseen: bool) -> Iterator[str]:
    for strange in coded.strange:
        yield (
            f"{name}: {strange.share:.0%} of its {strange.what}s occur in no log. They look like '{strange.listed}', "
            f"those of the logs like '{strange.logged}': are these the same ids, written the same way?"
        )
    yield from _written_otherwise(name, coded.respelled, "they cannot be hits as it is")
    if without := coded.account["users_without_list"]:
        yield f"{name}: {without:,} users with held-out interactions have no list and score 0."
    if unseen and (repeats := coded.account[TRAINING_ITEMS]):
        yield (
            f"{name}: {repeats:,} listed items are in the user's training data and cannot be hits. Remove them and "
            "close the ranks up with drop_seen=True, or judge repeats too with candidates='all'."
        )


# What the numbers rest on


def _estimated_propensities(facts: Facts) -> Iterator[str]:
    """Intervals that take estimated propensities as known are too narrow."""
    model = facts.aligned.propensity
    if model is None or not model.estimated or facts.request.refit:
        return
    can_refit = model.refits and model.smooth and facts.aligned.train is not None
    yield (
        "The propensities are estimates, and the intervals take them as known: with a small training log the true "
        "uncertainty is larger." + (" interval='bootstrap', refit=True allows for that." if can_refit else "")
    )


def _refitted(facts: Facts) -> Iterator[str]:
    """What refitting does to differences, to few replicates, and not to segments."""
    if not facts.request.refit:
        return
    replicates = facts.request.replicates
    if len(facts.inputs.models) > 1:
        yield (
            "refit=True takes off what fitting the propensities is expected to add: differences, p and verdicts are "
            "those of the corrected estimates, around which the intervals lie, and need not be the differences of the "
            "values shown. Tipping points, with sampling error or without, take the propensities as known and start "
            "from the values shown."
        )
    if replicates < ENOUGH:
        blur = 1.0 / (STEP * math.sqrt(replicates))  # standard error of the curvature's correction (``steps.py``)
        yield (
            f"refit=True with {replicates} replicates: the correction is known only to {100.0 * blur:.0f} % "
            f"of the error that fitting the propensities brings. Use at least {ENOUGH} replicates."
        )
    if facts.request.by is not None:
        yield "Segments are bootstrapped with the propensities of the whole: refit=True serves the main table only."


def _short_lists(facts: Facts) -> Iterator[str]:
    for name, account in facts.aligned.account["models"].items():
        deepest = account["longest_rank"]
        deep = sorted({m.k for run in facts.plan.runs for m in run.metrics if m.k and m.k > deepest})
        if deep:
            cuts = ", ".join(map(str, deep))
            yield (
                f"{plain(name)}: no list goes beyond rank {deepest}; metrics at {cuts} count everything deeper as "
                "missed."
            )


def _refused_cells(facts: Facts) -> Iterator[str]:
    if count := len(facts.refusals):
        cells, them = ("1 cell is", "it") if count == 1 else (f"{count} cells are", "them")
        yield f"{cells} not shown because the log cannot support {them}; inputs['refused'] says why."


def _activity_ignored(facts: Facts) -> Iterator[str]:
    """Pooled estimates weigh users by how much of them was seen."""
    model = facts.aligned.propensity
    if model is not None and model.ignores_activity and any(map(debiased, facts.runs(Target.POOLED))):
        yield (
            f"{model.name.capitalize()} propensities ignore how active a user is: pooled estimates weigh users by "
            "activity."
        )


def _split_not_corrected(facts: Facts) -> Iterator[str]:
    """P of the rest, given that a pair is not in training, differs from P by a factor that depends on P."""
    relative = facts.aligned.propensity is not None and facts.aligned.held.relative
    if relative and facts.inputs.rules.unseen and any(map(debiased, facts.plan.runs)):
        yield (
            "Relative propensities are not corrected for the split, after which only items outside training are "
            "candidates: that is fine where they are small."
        )


def _sums_of_shares(facts: Facts) -> Iterator[str]:
    """A share of the relevant items is a number of them where nothing divides."""
    shares = [m for run in facts.runs(Target.PER_USER_SUM) for m in run.metrics if _of_relevant(m)]
    if shares:
        yield (
            f"Under per_user_sum, {shares[0].name}@k is the number of relevant items among the first k, and can exceed "
            "1."
        )


def _of_relevant(metric: object) -> bool:
    return isinstance(metric, RankingMetric) and metric.of_relevant


def _model_believed(facts: Facts) -> Iterator[str]:
    if believing := dict.fromkeys(str(run.estimator) for run in facts.plan.runs if not run.traits.uses_seen_pairs):
        yield (
            f"{' and '.join(believing)} believes the outcome model: its intervals and verdicts know nothing of the "
            "model's errors. dr corrects them by what was seen."
        )


def _predictions_far_off(facts: Facts) -> Iterator[str]:
    if (found := far_off(facts.aligned.held)) is not None:
        means, weighted = found.plain, found.weighted
        yield (
            f"The outcome model guesses {means.guess:.3g} on average for the seen pairs, which brought "
            f"{means.outcome:.3g}"
            + ("" if weighted is None else f" (weighted by 1/P: {weighted.guess:.3g} and {weighted.outcome:.3g})")
            + ". direct is off by as much, and dr is noisier than it need be: look at the guesses."
        )


def _silent_users(facts: Facts) -> Iterator[str]:
    """Averages over a population that nobody named."""
    if facts.population_given:
        return
    if facts.runs(Target.PER_USER_SUM):
        yield (
            "Sums are averaged over the users of the given logs; users who were silent in all of them are not known "
            "and would lower the averages. Give the whole population with users=…."
        )
    elif facts.estimators(Need.CANDIDATES):
        yield (
            "Averages over all pairs divide by the users of the given logs times their candidates; users who were "
            "silent in all of them, and items that no log shows, are not known. Give the population with users=…."
        )


def _column_used(facts: Facts) -> Iterator[str]:
    """The test log's propensities are used although nobody asked for them."""
    if facts.asked.propensity is None and facts.request.propensity is not None:
        yield (
            "The test log has a column 'propensity': pairs are weighed by it, as propensities that were known when "
            "pairs were shown (propensity='known'). Name another with propensity=…, or ask for estimators=['naive'] "
            "alone."
        )


# Items and lists beyond what the logs show


def _items_not_named(facts: Facts) -> Iterator[str]:
    items = facts.aligned.account["items"]
    if items["only_in_logs"]:
        yield (
            f"{items['only_in_logs']:,} of the {items['catalogue']:,} items are in the logs and not in the catalogue "
            "(items=…): they were seen, so they count as candidates all the same."
        )


def _listed_beyond_catalogue(facts: Facts) -> Iterator[str]:
    """Listed items outside the catalogue: what estimators make of them.

    A catalogue that is made of logs lacks the items that nobody happened to see. What is listed beyond it may be such
    an item, or no item at all: naive and ips cannot count it either way, a model counts it, a number of pairs lacks it.
    """
    places = sum(account.get(PLACES_BEYOND, 0) for account in facts.aligned.account["models"].values())
    if not places:
        return
    listed = sum(len(lists.item) for lists in facts.aligned.held.lists)
    share = f"{places:,} of {listed:,} listed places ({places / listed:.1%})"
    if facts.aligned.closed:
        yield f"{share} hold items outside the catalogue (items=…): they are no candidates and count as 0."
        return
    parts = []
    if counting := facts.estimators(Need.LISTS):
        parts.append(f"{', '.join(counting)} count them as candidates")
    if any(run.target.normalised for run in facts.plan.runs):
        parts.append("normalised targets leave them out")
    if dividing := facts.estimators(Need.CANDIDATES):
        parts.append(f"{', '.join(dividing)} count the pairs of the other items only, which may be too few")
    if parts:
        yield f"{share} hold items that no log shows: {'; '.join(parts)}. Name all items there are with items=…."


def _empty_lists(facts: Facts) -> Iterator[str]:
    """Lists that are missing evenly count as empty ones: said where sums over lists are computed."""
    if not (summing := facts.estimators(Need.LISTS)):
        return
    for name, account in facts.aligned.account["models"].items():
        empty = account.get("users_without_list", 0) + account.get("silent_users_without_list", 0)
        if empty:
            yield (
                f"{plain(name)}: {empty:,} of {facts.aligned.held.users:,} users have no list; for "
                f"{', '.join(summing)} they count as users whom the model recommends nothing."
            )


# The outcome model


def _default_predictions(facts: Facts) -> Iterator[str]:
    """A table of predictions that lacks pairs, which get its default."""
    model, account = facts.outcome.model, facts.outcome.account
    if model is None or account is None or model.default is None:
        return
    if account["unknown"] or account["listed_unknown"]:
        yield (
            f"The table of predictions lacks {_part(account['unknown'], account['rows'])} held-out pairs and "
            f"{_part(account['listed_unknown'], account['listed'])} listed pairs: these count as {model.default:g}, "
            "the default that was given."
        )


def _part(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({part / max(1, whole):.0%})"


def _fitted_in_sample(facts: Facts) -> Iterator[str]:
    """An outcome model that has seen what corrects it."""
    if facts.outcome.account is not None and facts.outcome.account["how"] == IN_SAMPLE:
        yield (
            "The outcome model was fitted to the very pairs that correct it: doubly robust estimates then lean towards "
            "the model. Leave out in_sample=True for folds of pairs."
        )


def _census_sampled(facts: Facts) -> Iterator[str]:
    """Sums over unseen candidates that rest on a sample of them."""
    census = facts.outcome.census
    if census is not None and census["looked_at_every"] > 1:
        step, pairs = census["looked_at_every"], census["pairs"]
        yield (
            f"There are {pairs:,} candidate pairs: tilted adds up one in {step} of every user's, chosen at random. "
            "Standard errors hold the error of that sample."
        )


def _census_not_redrawn(facts: Facts) -> Iterator[str]:
    """A bootstrap of users that knows nothing of the census model's error."""
    if facts.request.drawn and facts.outcome.census is not None:
        yield (
            "tilted keeps its normal intervals: bootstrap replicates do not fit its model anew, and would leave out "
            "the model's error."
        )


# The level of the propensities


def _level_unconfirmed(facts: Facts) -> Iterator[str]:
    """The level is wrong, or numbers rest on a level that nothing confirms."""
    check, needing = facts.aligned.level, facts.estimators(Need.ABSOLUTE)
    if check is None:
        return
    if check.wrong:
        yield check.wrong + " What is shown here does without the level."
    elif check.unknown and needing:
        yield (
            f"The level of the propensities cannot be checked ({check.unknown}), and {' and '.join(needing)} "
            f"{'rests' if len(needing) == 1 else 'rest'} on it: if they are those of another log, period or share, the "
            f"values are off by that factor, whatever the intervals say.{check.hint}"
        )


def _doubtful_share(facts: Facts) -> Iterator[str]:
    """A share that was told and is not the one used, or that the numbers of rows contradict."""
    test, rules, model = facts.inputs.test, facts.inputs.rules, facts.aligned.propensity
    used = share_of(model, test, rules)
    if rules.by_users or used is None:
        return
    if rules.share is not None and not math.isclose(rules.share, used, rel_tol=ROUNDED):
        yield (
            f"share={rules.share:g} is not used: "
            + ("the test log comes from a split that" if used == test.share else f"'{model}' says that it")
            + f" holds {used:g} of the whole."
        )
    found = contradicted_share(test, facts.inputs.train, used, rules)
    if found is not None:
        nested = f" and the training log {found.rest:g}" if not math.isclose(used + found.rest, 1.0) else ""
        wanted = f", which makes {found.expected:.3g} of the rows of both" if nested else ""
        yield (
            f"The test log is said to hold {used:g} of the whole{nested}{wanted}; but {found.test:,} of "
            f"{found.both:,} rows in the two logs, {found.seen:.3g}, are test rows. Absolute propensities are scaled "
            "by the share: tell the one by which the log was split. (If rows were left out of one of the logs "
            "afterwards, the share of the split is right.)"
        )


# The answers


def _predictions_outside(facts: Facts) -> Iterator[str]:
    outcome = facts.outcome
    if outcome.outcomes is None:
        return
    predictions = outcome.predictions.merge(facts.answers[0].sums.predictions)
    if (found := outside(predictions, outcome.outcomes)) is not None:
        yield (
            f"{found.count:,} of {found.total:,} guesses of the outcome model lie outside the outcomes, which go from "
            f"{found.outcomes[0]:g} to {found.outcomes[1]:g}: the guesses go from {found.guesses[0]:.3g} to "
            f"{found.guesses[1]:.3g}. direct believes them, and corrections of them are noisy: look at their units and "
            "their column."
        )


def _segments_lacking(facts: Facts) -> Iterator[str]:
    yield from facts.segments_lack


def _outside_own_interval(facts: Facts) -> Iterator[str]:
    """Refitted intervals lie around the corrected estimate, which may be far from the value."""
    estimates = facts.answers[0].estimates
    found = [e for e in estimates if e.value < e.low or e.value > e.high]
    if facts.request.refit and found:
        yield (
            f"{len(found)} of {len(estimates)} estimates lie outside their own interval ({_first(found)}): the "
            "propensities come from so few training rows that fitting them is expected to move the estimate by more "
            "than chance does, and the interval has that taken off. Trust the interval, not the value, or give more "
            "training data."
        )


def _lost_replicates(facts: Facts) -> Iterator[str]:
    if lost := max(answer.lost_replicates for answer in facts.answers):
        yield (
            f"Up to {lost:,} bootstrap replicates of an estimate had an empty divisor, or a propensity that could not "
            "be fitted, and were dropped."
        )


def _shares_above_one(facts: Facts) -> Iterator[str]:
    """Why an estimated share can exceed 1: its sums are not divided by what they were taken over."""
    every = {metric for run in (*facts.plan.runs, *facts.plan.points) for metric in run.metrics}
    shares = {str(metric) for metric in every if isinstance(metric, RankingMetric) and metric.of_listed}
    high = [e for e in facts.answers[0].estimates if e.value > 1.0 and e.metric in shares]
    if not high:
        return
    why = "weights do not add up to exactly the pairs that there are, so an estimate varies around a share"
    if high[0].standing == Standing.NAIVE:
        why = (
            f"{high[0].estimator} takes listed pairs for k in all items of a user, and where more of the seen pairs "
            "are listed ones they count for too many: that is the skew"
        )
    many = "1 estimate of precision exceeds" if len(high) == 1 else f"{len(high)} estimates of precision exceed"
    yield f"{many} 1 ({_first(high)}): {why}. Nothing is cut at 1."


def _first(estimates: list[Estimate]) -> str:
    e = estimates[0]
    return f"{e.model}, {e.metric} × {e.estimator} × {e.target}{', …' if len(estimates) > 1 else ''}"


def _no_numbers(facts: Facts) -> Iterator[str]:
    values = np.array([e.value for answer in facts.answers for e in answer.estimates])
    if np.isnan(values).any():
        yield "Some estimates do not exist because no user counts for them; they are shown as NaN."
    if np.isinf(values).any():
        yield "Some estimates are beyond what numbers can hold, and shown as infinite: values are too large."


RULES: tuple[Rule, ...] = (
    _repeated_pairs, _other_spellings, _rows_in_training, _rows_outside_population, _fitted_to_fewer, _cold_items,
    _doubts_of_propensity, _capped_propensities, _level_lost, _rows_without_prediction, _lists_of_models,
    _estimated_propensities, _refitted, _short_lists, _refused_cells, _activity_ignored, _split_not_corrected,
    _sums_of_shares, _model_believed, _predictions_far_off, _silent_users, _column_used, _items_not_named,
    _listed_beyond_catalogue, _empty_lists, _default_predictions, _fitted_in_sample, _census_sampled,
    _census_not_redrawn, _level_unconfirmed, _doubtful_share, _predictions_outside, _segments_lacking,
    _outside_own_interval, _lost_replicates,
    _shares_above_one, _no_numbers,
)  # fmt: skip
