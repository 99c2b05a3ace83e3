"""What a careful reader should know of fitted models, the propensities, their level, and the outcome model."""

from __future__ import annotations

import math
from collections.abc import Iterator

from unskew.alignment.outcome_check import outside
from unskew.alignment.rows import contradicted_share, cut_by_time, has_level, share_of, split_assumption
from unskew.core.text import plain
from unskew.estimators import Need, Target
from unskew.evaluation.facts import Facts, guess_for_new_users
from unskew.evaluation.fit_outcome import IN_SAMPLE
from unskew.inference.steps import STEP
from unskew.judging.measure import by_counts, debiased, uses_propensity
from unskew.propensity import Level, Scope

ENOUGH = 200  # replicates for refitting
ROUNDED = 0.01  # 0.33 for a third is the same share


def cold_items(facts: Facts) -> Iterator[str]:
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


def users_without_training(facts: Facts) -> Iterator[str]:
    """What a fitted model lists for users of whom it has learnt nothing looks like a list, and is none of theirs."""
    rows, asked = facts.aligned.facts.rows, guess_for_new_users(facts.aligned, facts.inputs.fitted.personal)
    if asked:
        remedy = ""
        if facts.in_fold:
            remedy = " sliding_window judges only users with a past."
        elif rows.untrained < rows.active:
            remedy = (
                " To judge the others alone, give the users of the training log, each once, as the population "
                "(users=…), and leave out the rows of all others with invalid='drop'."
            )
        yield (
            f"{rows.untrained:,} of {rows.active:,} users with held-out interactions "
            f"({rows.untrained_rows / rows.rows:.0%} of the interactions) have no training row: what "
            f"{' and '.join(map(plain, asked))} {'lists' if len(asked) == 1 else 'list'} for them is not personal, and "
            f"can be arbitrary. It counts in every score and verdict.{remedy}"
        )


def ids_not_checked(facts: Facts) -> Iterator[str]:
    """Ids in a wrong order give everybody somebody else's list, and nothing in the lists shows it."""
    for name in facts.inputs.fitted.unchecked:
        yield (
            f"The order of the ids of {plain(name)} was not checked against a training log: in a wrong order every "
            "list belongs to somebody else, and its scores mean nothing. Give us.models.adapt the matrix that the "
            "model was fitted on, adapt(…, rows=matrix), and evaluate with train=… and without candidates='all'."
        )


def doubts_of_propensity(facts: Facts) -> Iterator[str]:
    """What a propensity says of itself."""
    if facts.aligned.weighed is not None:
        yield from facts.aligned.weighed.doubts


def capped_propensities(facts: Facts) -> Iterator[str]:
    """Probabilities above 1."""
    if facts.aligned.weighed is not None and (capped := facts.aligned.weighed.capped):
        yield f"{capped:,} held-out propensities came out above 1 and were set to 1."


def level_lost(facts: Facts) -> Iterator[str]:
    """Why absolute propensities serve as relative ones here."""
    model, rows, rules = facts.aligned.propensity, facts.aligned.marks, facts.inputs.rules
    if model is None or model.level is not Level.ABSOLUTE or has_level(model, rows, rules):
        return
    whose = "whole log" if model.refers(rows) is Scope.LOG else "training log"
    if cut_by_time(rows, rules):
        cut = "training" if rules.train_cut and not rows.cut_by_time else "test"
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


def level_unconfirmed(facts: Facts) -> Iterator[str]:
    """The level is wrong, or numbers rest on a level that nothing confirms."""
    check, needing = facts.aligned.level, facts.estimators(Need.ABSOLUTE)
    if check is None:
        return
    if check.wrong:
        nothing = facts.aligned.column is not None and facts.aligned.column.wrong
        beside = ", and nothing is decided by these propensities" if nothing else ""
        yield f"{check.wrong} What is shown here does without the level{beside}."
    elif check.unknown and needing:
        yield (
            f"The level of the propensities cannot be checked ({check.unknown}), and {' and '.join(needing)} "
            f"{'rests' if len(needing) == 1 else 'rest'} on it: if they are those of another log, period or share, the "
            f"values are off by that factor, whatever the intervals say.{check.hint}"
        )


def doubtful_share(facts: Facts) -> Iterator[str]:
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
    found = contradicted_share(test, facts.inputs.train, facts.inputs.rows, used, rules)
    if found is not None:
        nested = f" and the training log {found.rest:g}" if not math.isclose(used + found.rest, 1.0) else ""
        wanted = f", which makes {found.expected:.3g} of the rows of both" if nested else ""
        yield (
            f"The test log is said to hold {used:g} of the whole{nested}{wanted}; but {found.test:,} of "
            f"{found.both:,} rows in the two logs, {found.seen:.3g}, are test rows. Absolute propensities are scaled "
            "by the share: tell the one by which the log was split. (If rows were left out of one of the logs "
            "afterwards, the share of the split is right.)"
        )


def estimated_propensities(facts: Facts) -> Iterator[str]:
    """Intervals that take estimated propensities as known are too narrow."""
    model = facts.aligned.propensity
    if model is None or not model.estimated or facts.request.refit:
        return
    can_refit = model.refits and model.smooth and facts.propensity.train is not None
    yield (
        "The propensities are estimates, and the intervals take them as known: with a small training log the true "
        "uncertainty is larger."
        + (" In evaluate, interval='bootstrap', refit=True allows for that." if can_refit else "")
    )


def refitted(facts: Facts) -> Iterator[str]:
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


def activity_ignored(facts: Facts) -> Iterator[str]:
    """Pooled estimates weigh users by how much of them was seen."""
    model = facts.aligned.propensity
    if model is not None and model.ignores_activity and any(map(debiased, facts.runs(Target.POOLED))):
        yield (
            f"{model.name.capitalize()} propensities ignore how active a user is: pooled estimates weigh users by "
            "activity."
        )


def split_not_corrected(facts: Facts) -> Iterator[str]:
    """P of the rest, given that a pair is not in training, differs from P by a factor that depends on P."""
    relative = facts.aligned.propensity is not None and facts.aligned.finish.relative
    runs = [run for run in facts.plan.runs if by_counts(run) or (relative and uses_propensity(run))]
    if not runs or not split_assumption(facts.aligned.marks, facts.inputs.rules):
        return
    weights = "Relative propensities" if any(map(uses_propensity, runs)) else "Weights by popularity"
    when = "" if share_of(None, facts.aligned.marks, facts.inputs.rules) is not None else ", if it was made at random"
    yield (
        f"{weights} are not corrected for the split{when}, after which only items outside training are candidates: "
        "that is fine where all chances to be seen were small; else models that list popular items look too good. "
        "Split by time, give propensities with a level, for which the correction is exact, or use candidates='all' "
        "with lists that keep training items."
    )


def model_believed(facts: Facts) -> Iterator[str]:
    """Estimators that take an outcome model at its word."""
    if believing := dict.fromkeys(str(run.estimator) for run in facts.plan.runs if not run.traits.uses_seen_pairs):
        yield (
            f"{' and '.join(believing)} believes the outcome model: its intervals and verdicts know nothing of the "
            "model's errors. dr corrects them by what was seen."
        )


def predictions_far_off(facts: Facts) -> Iterator[str]:
    """An outcome model that is wrong on average."""
    if facts.outcome.means is not None and (found := facts.outcome.means.far_off) is not None:
        means, weighted = found.plain, found.weighted
        yield (
            f"The outcome model guesses {means.guess:.3g} on average for the seen pairs, which brought "
            f"{means.outcome:.3g}"
            + ("" if weighted is None else f" (weighted by 1/P: {weighted.guess:.3g} and {weighted.outcome:.3g})")
            + ". direct is off by as much, and dr is noisier than it need be: look at the guesses."
        )


def predictions_outside(facts: Facts) -> Iterator[str]:
    """Predictions that no outcome could equal."""
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


def default_predictions(facts: Facts) -> Iterator[str]:
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


def fitted_in_sample(facts: Facts) -> Iterator[str]:
    """An outcome model that has seen what corrects it."""
    if facts.outcome.account is not None and facts.outcome.account["how"] == IN_SAMPLE:
        yield (
            "The outcome model was fitted to the very pairs that correct it: doubly robust estimates then lean towards "
            "the model. Leave out in_sample=True for folds of pairs."
        )


def census_sampled(facts: Facts) -> Iterator[str]:
    """Sums over unseen candidates that rest on a sample of them."""
    census = facts.outcome.census
    if census is not None and census["looked_at_every"] > 1:
        step, pairs = census["looked_at_every"], census["pairs"]
        yield (
            f"There are {pairs:,} candidate pairs: tilted adds up one in {step} of every user's, chosen at random. "
            "Standard errors hold the error of that sample."
        )


def census_not_redrawn(facts: Facts) -> Iterator[str]:
    """A bootstrap of users that knows nothing of the census model's error."""
    if facts.request.drawn and facts.outcome.census is not None:
        yield (
            "tilted keeps its normal intervals: bootstrap replicates do not fit its model anew, and would leave out "
            "the model's error."
        )
