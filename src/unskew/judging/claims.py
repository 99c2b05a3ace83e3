"""What may be claimed of a cell (an estimator, a metric, a target): its standing, its promise, what it rests on."""

from __future__ import annotations

import math

from unskew.core.notice import Notice, made_of
from unskew.core.text import plain
from unskew.engine.estimator_run import EstimatorRun
from unskew.estimators import Need, Standing
from unskew.judging.measure import Measured, by_counts, uses_propensity, weighted
from unskew.metrics import RankingMetric, Shape

LOOKED_AT_ALIKE = Notice("people look at all places alike", code="places-looked-at-alike")
SEEN_ALIKE = Notice("every relevant pair was equally likely to be seen", code="seen-alike")
MODEL_RIGHT = Notice("the outcome model is right", code="outcome-model-right")
TRADED = Notice("the bias that it takes on purpose favours neither", code="bias-favours-neither")


def standing(run: EstimatorRun, metric: int) -> Standing:
    """What may be claimed of a cell: of metrics that are no sums over items nothing, once they are weighed."""
    found = run.estimator.standing(run.target)
    return Standing.BIASED if found.debiased and not additive(run, metric) else found


def additive(run: EstimatorRun, metric: int) -> bool:
    """Whether the metric is a sum over items; weights make no other unbiased."""
    asked = run.metrics[metric]
    return not isinstance(asked, RankingMetric) or asked.shape is Shape.ADDITIVE


def promise(measured: Measured, run: EstimatorRun, metric: int) -> str:
    """What the estimator promises of this metric, in words."""
    asked = run.metrics[metric]
    if measured.setting.sample:
        return f"describes samples of what was seen ({measured.setting.sample}); nothing checks what they assume"
    if not additive(run, metric):
        return f"no promise: {asked.name} is not a sum over items"
    found = run.estimator.promise(run.target)
    return f"of its square: {found}" if asked.root else found


def sure(measured: Measured, run: EstimatorRun, metric: int, *models: int) -> bool:
    """Whether nothing but answers on lists that cannot have learnt from them, or a tested column, carries it."""
    if run.joined:
        return not _new_lists(measured, run, metric, models)
    return _tested(measured, run, metric) and not measured.setting.places


def _tested(measured: Measured, run: EstimatorRun, metric: int) -> bool:
    """Whether nothing but a column of propensities that passed every test of it carries it."""
    claims = standing(run, metric) in (Standing.UNBIASED, Standing.CONSISTENT, Standing.LEANS)
    return measured.setting.tested and claims and uses_propensity(run)


def rests_on(measured: Measured, run: EstimatorRun, metric: int, *models: int) -> str:
    """What must hold besides the rows, in words that go on after "if"; empty where nothing is assumed."""
    if not run.joined:
        assumed = "" if _tested(measured, run, metric) else _assumption(measured, run, standing(run, metric))
        return with_places(assumed, measured)
    setting = measured.setting
    told = setting.answers_assumption
    if new := _new_lists(measured, run, metric, models):
        newer = Notice(f"the lists of {' and '.join(new)} were made without these answers", code="lists-before-answers")
        told = made_of(f"{told}, and {newer}", told, newer)
    return made_of(f"{told}, for these users and no others", told) if setting.fixed_users else told


def _new_lists(measured: Measured, run: EstimatorRun, metric: int, models: tuple[int, ...]) -> list[str]:
    """Which of these models' lists, as far as a metric looks, are not among those that the questions were drawn for."""
    return [plain(measured.setting.models[model]) for model in models if is_new(measured, run, metric, model)]


def is_new(measured: Measured, run: EstimatorRun, metric: int, model: int) -> bool:
    """Whether questions were drawn for other lists than this model's."""
    return (run.metrics[metric].k or math.inf) > measured.setting.known_lists[model]


def with_split(assumed: str, measured: Measured, run: EstimatorRun) -> str:
    """An assumption with what it takes for granted of the split, where weights are known up to a factor only."""
    relative = by_counts(run) or (uses_propensity(run) and measured.engine.relative)
    told = measured.setting.split if relative and assumed else ""
    return made_of(f"{assumed}, and {told}", assumed, told) if told else assumed


def with_places(assumed: str, measured: Measured) -> str:
    """An assumption with what it takes for granted of places on the page, where items were shown at several."""
    if not measured.setting.places:
        return assumed
    return made_of(f"{assumed}, and {LOOKED_AT_ALIKE}", assumed, LOOKED_AT_ALIKE) if assumed else LOOKED_AT_ALIKE


def _assumption(measured: Measured, run: EstimatorRun, cell_standing: Standing) -> str:
    """What a verdict rests on besides the rows, in words that go on after "if"."""
    assumed = with_split(run.estimator.assumption or measured.setting.assumption, measured, run)
    if not cell_standing.debiased:
        return measured.setting.sample_assumption or SEEN_ALIKE
    if cell_standing is Standing.MODEL:
        return MODEL_RIGHT
    if cell_standing is Standing.BIASED:
        return made_of(f"{assumed}, and {TRADED}", assumed, TRADED) if assumed and weighted(run) else TRADED
    if Need.OUTCOME in run.estimator.needs(run.target) and assumed:
        return made_of(f"{MODEL_RIGHT}, or {assumed}", MODEL_RIGHT, assumed)
    return assumed
