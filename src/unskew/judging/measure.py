"""What one table needs of the data before anything is judged: sums over users, few clicks, support, bootstrap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.core.notice import made_of
from unskew.engine.engine import Engine
from unskew.engine.estimator_run import EstimatorRun
from unskew.engine.few_clicks import FewClicks
from unskew.engine.plan import EvaluationPlan, make_plan
from unskew.engine.sampled_users import sample_limit
from unskew.engine.sums import Sums
from unskew.engine.support import DifferingWorth, ItemWeights, ListedWorth, WeightSums
from unskew.estimators import Need, Standing, Summary
from unskew.inference.simultaneous import Family, single_error
from unskew.inference.verdict import Judgement
from unskew.judging.answers import AnswerChecks
from unskew.judging.companions import companions
from unskew.judging.count_error import CountError, count_errors, counted_worths, with_spread
from unskew.judging.over_draws import over_draws
from unskew.judging.path_range import SPLIT, PathRange
from unskew.judging.propensity_check import PropensityCheck
from unskew.log import Ids
from unskew.metrics import Metric, RankingMetric

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Setting:
    """What the answer depends on besides the data.

    Args:
        models: their names.
        propensity: its canonical string.
        tested: whether propensities were logged with everything that was shown, and passed every test of them.
        assumption: what must hold for them to be right.
        wrong_column: why nothing can be decided by the log's own column of propensities; empty if nothing is known.
        split: what weights that are known up to a factor assume besides, of how the log was split; empty if nothing.
        level: of intervals and verdicts.
        replicates: of the bootstrap; 0 for normal intervals.
        single_clicks: share of users with one seen relevant item.
        support_gap: share of held-out interactions on items that training never showed.
        item_propensity: P of each item, where it is one per item.
        seen_counts: how often each item was seen in training.
        shortage: the share of all pairs for which inverse propensities of seen pairs do not account, beyond chance.
        kept_training: of every model, which share of its listed items the user had in training, where these are
            candidates; empty where they are not.
        new_users: of every model, which share of the held-out rows is of users of whom it has learnt nothing, and for
            whom it lists something all the same; empty where that is not known.
        sample: how the rows are sampled, in words; empty where they are not.
        rounds: over how many declared rounds answers are drawn, each with its share of the level.
        design: how pairs of a user that were drawn depend on each other; empty where that is not known.
        fixed_users: what rests on answers is about these users and no others.
        closed: whether the catalogue was named, so that answers can speak of items that no log has shown.
        sampled_total: the number of relevant pairs rests on a sample of the guesses.
        propensity_check, path_range: what answers say of the propensities, and of the exposure path.
        answers_assumption: what must hold for answers to be right; empty without answers.
        places: whether items were shown at several places of the page.
        known_lists: of every model, down to which rank its lists are among those that questions were drawn for.
        sample_assumption: what must hold for samples to be as good as pairs drawn at random; empty without samples.
    """

    models: tuple[str, ...]
    propensity: str | None
    tested: bool
    assumption: str
    level: float
    replicates: int
    seed: int
    segment: str | None
    single_clicks: float
    support_gap: float | None
    item_propensity: Floats | None = None
    shortage: float = 0.0
    seen_counts: Floats | None = None
    split: str = ""
    kept_training: tuple[float, ...] = ()
    new_users: tuple[float, ...] = ()
    sample: str = ""
    sample_assumption: str = ""
    answers_assumption: str = ""
    known_lists: tuple[float, ...] = ()
    rounds: int = 1
    design: str = ""
    fixed_users: bool = False
    closed: bool = False
    sampled_total: bool = False
    propensity_check: PropensityCheck | None = None
    path_range: PathRange | None = None
    wrong_column: str = ""
    places: bool = False

    def level_of(self, run: EstimatorRun) -> float:
        """The level of a run's intervals and verdicts.

        What rests on answers has one round's share of the error; the exposure path has what its range does not take.
        """
        error = 1.0 - self.level
        if run.joined:
            return 1.0 - error / self.rounds
        return self.level if self.path_range is None or not by_counts(run) else 1.0 - (1.0 - SPLIT) * error

    @property
    def left(self) -> PathRange | None:
        """What answers leave of the exposure path: they speak of all users, not of the users or items of a segment."""
        return self.path_range if self.segment is None else None

    def contradiction(self, run: EstimatorRun) -> str:
        """Why the log or answers say that a run's weights are wrong; empty where they do not."""
        if self.wrong_column and uses_propensity(run):
            return self.wrong_column
        checked, path = self.propensity_check, self.path_range
        if checked is not None and uses_propensity(run):
            level = Need.ABSOLUTE in run.estimator.needs(run.target)
            if told := checked.contradiction(level=level):
                return made_of(f"the answers contradict the propensities: {told}", told)
        if path is not None and by_counts(run) and path.refuted:
            return made_of(f"the answers refute the exposure path: {path.refuted}", path.refuted)
        return ""

    def propensity_of_items(self, run: EstimatorRun) -> Floats | None:
        """P of each item as a run uses it, where it is one per item: from its own counts, else the given one."""
        own = None if self.seen_counts is None else run.estimator.item_propensity(self.seen_counts)
        return self.item_propensity if own is None else own


@dataclass(frozen=True, eq=False)
class Measured:
    """The sums of one table, and what the checks need besides.

    Args:
        engine: where the rows are.
        few_clicks: per run whose debiased ratios are taken inside users.
        unsupported: u_m by metric, (models,), where any list holds what the log could never show.
        counts: what the chance of training counts does to the cells whose weights come from them, by place.
        leans: of averages over folds, −2B by place and model (MATHS §13, "Few clicks", of users inside folds).
        redrawn: per cell, replicates of the models' estimates with propensities fitted anew.
        companion: the cells that verdicts need beside their own (``companions``), themselves among them.
        judged: what was found out about pairs of models in these cells, by place, models and error probability.
        tips: whether the rows are there to be walked again, for tipping points.
        answers: where answers lie, for runs that rest on them.
        weights: what is expected of the weights of every item's pairs, where P is known for seen pairs only.
        apart: where the lists of pairs of models differ, by place and models, as far as it was looked up.
        alike: which pairs of models give the same lists, by metric and models, as far as it was looked up.
    """

    engine: Engine
    plan: EvaluationPlan
    setting: Setting
    sums: Sums
    few_clicks: dict[int, FewClicks]
    unsupported: dict[Metric, Floats]
    counts: dict[int, CountError]
    redrawn: list[Floats] | None = None
    companion: Measured | None = None
    judged: dict[tuple[int, int, int, float], Judgement] = field(default_factory=dict)
    tips: bool = True
    leans: dict[int, Floats] = field(default_factory=dict)
    answers: AnswerChecks | None = None
    weights: ItemWeights | None = None
    apart: dict[tuple[int, int, int], DifferingWorth] = field(default_factory=dict)
    alike: dict[tuple[Metric, int, int], bool] = field(default_factory=dict)

    def knows_items(self, run: EstimatorRun) -> bool:
        """Whether P of all listed places is known."""
        return self.setting.propensity_of_items(run) is not None

    def differing(self, place: int, a: int, b: int) -> DifferingWorth | None:
        """Where the lists of two models differ, by the worth and the weights of a cell; ``None`` without weights."""
        if (place, a, b) not in self.apart:
            cell = self.plan.cells[place]
            run = self.plan.runs[cell.run]
            asked, propensity = run.metrics[cell.metric], self.setting.propensity_of_items(run)
            weights = self.weights if propensity is None else ItemWeights.of_propensity(propensity)
            if weights is None or not isinstance(asked, RankingMetric):
                return None
            limit = sample_limit(self.engine.users)
            self.apart[place, a, b] = self.engine.differing_worth(a, b, weights, asked.table(run.depth), limit)
        return self.apart[place, a, b]

    def same_lists(self, place: int, a: int, b: int) -> bool:
        """Whether two models give the same lists, as far as the metric of a cell looks at them.

        Whatever is relevant, neither is then better. Only where no held-out row tells them apart it is looked up.
        """
        run = self.plan.runs[self.plan.cells[place].run]
        metric = run.metrics[self.plan.cells[place].metric]
        if not self.tips or self.sums.moments[place].differ[a, b] or not isinstance(metric, RankingMetric):
            return False
        if (metric, a, b) not in self.alike:
            worth = metric.table(run.depth)
            if not metric.additive:  # what a rank is worth depends on the other ones: all of them count
                worth = np.where(worth > 0.0, np.arange(len(worth), 0.0, -1.0), 0.0)
            self.alike[metric, a, b] = self.engine.lists_apart(a, b, worth) == 0.0
        return self.alike[metric, a, b]


def measure(
    engine: Engine,
    plan: EvaluationPlan,
    setting: Setting,
    *,
    keep: bool = False,
    redraw: Callable[[], list[Floats]] | None = None,
) -> Measured:
    """Walk the users once for the sums, and look again where a check needs it.

    Args:
        keep: keep the per-user columns.
        redraw: gives other replicates of every cell's estimates (refitted propensities), with the bias of the fit taken
            off. Differences, p and verdicts of what uses propensities are then those of the replicates, whose mean is
            the corrected estimate, as intervals are; values and tipping points keep their own.
    """
    extra = companion_plan(plan, len(setting.models))
    both = EvaluationPlan((*plan.runs, *extra.runs), (*plan.cells, *extra.cells))
    beside = EvaluationPlan(extra.runs, tuple(replace(cell, run=cell.run - len(plan.runs)) for cell in extra.cells))
    owing = [place for place, run in enumerate(both.runs) if len(setting.models) > 1 and owes_to_clicks(run)]
    asked, limit = answered_metrics(plan), clicks_limit(engine)
    sums, worth, beside_worth, by_item, answers, weights, *few = engine.together(
        lambda rows: rows.first_pass(both, keep=keep, replicates=setting.replicates, seed=setting.seed),
        lambda rows: listed_worth(rows, plan)[1],
        lambda rows: listed_worth(rows, beside)[1],
        lambda rows: counted_worths(rows, plan, setting.seen_counts),
        lambda rows: rows.answer_sums(worth_tables(asked, plan)) if asked else None,
        partial(_weight_sums, wanted=weighs_seen_pairs(both, setting)),
        *(partial(_few_clicks, run=both.runs[place], limit=limit) for place in owing),
    )
    own, others = _divided(sums, plan)
    expected = None if weights is None else weights.expected
    redrawn = None if redraw is None else redraw()
    companion = None
    if extra.runs:
        first = len(plan.runs)
        theirs = {place - first: found for place, found in zip(owing, few, strict=True) if place >= first}
        companion = Measured(engine, beside, setting, others, theirs, _unsupported(beside, beside_worth), {})
        companion = replace(companion, weights=expected)
        companion = replace(companion, companion=companion)
    counts = count_errors(by_item, plan, setting.seen_counts)
    own = over_draws(with_spread(own, counts), plan)
    ratios = {place: found for place, found in zip(owing, few, strict=True) if place < len(plan.runs)}
    found = Measured(engine, plan, setting, own, ratios, _unsupported(plan, worth), counts, redrawn, companion)
    told = None if answers is None else AnswerChecks.of(answers, [str(m) for m in asked], setting.design)
    return replace(found, answers=told, weights=expected)


def _few_clicks(rows: Engine, run: EstimatorRun, limit: np.uint64 | None) -> FewClicks:
    return rows.few_clicks(run, limit)


def _weight_sums(rows: Engine, *, wanted: bool) -> WeightSums | None:
    return rows.weight_sums() if wanted else None


def weighs_seen_pairs(plan: EvaluationPlan, setting: Setting) -> bool:
    """Whether lists are compared by propensities that are known for seen pairs only."""
    ranked = any(uses_propensity(run) and _ranking([run]) for run in plan.runs)
    return ranked and len(setting.models) > 1 and setting.item_propensity is None


def clicks_limit(engine: Engine) -> np.uint64 | None:
    """The hash below which users with two clicks or more are looked at, for how much ratios owe to few clicks."""
    return sample_limit(int(engine.click_counts()[1:].sum()))


def companion_plan(plan: EvaluationPlan, models: int) -> EvaluationPlan:
    """The runs and cells that are looked at beside those of a plan, in columns behind its own."""
    kept = companions(plan.runs)
    if not kept:
        return EvaluationPlan((), ())
    made = make_plan(kept, Summary(), models, max(run.depth for run in plan.runs))
    offset, count = plan.width, len(plan.runs)
    runs = tuple(replace(run, start=run.start + offset) for run in made.runs)
    return EvaluationPlan(runs, tuple(replace(c, run=c.run + count, columns=c.columns + offset) for c in made.cells))


def _divided(sums: Sums, plan: EvaluationPlan) -> tuple[Sums, Sums]:
    """The sums of a plan, and those of what is looked at beside it; columns are common to both."""
    runs, cells = len(plan.runs), len(plan.cells)
    return (
        replace(sums, moments=sums.moments[:cells], tallies=sums.tallies[:runs], carried=sums.carried[:runs]),
        replace(sums, moments=sums.moments[cells:], tallies=sums.tallies[runs:], carried=sums.carried[runs:], x=()),
    )


def owes_to_clicks(run: EstimatorRun) -> bool:
    """Whether a run takes debiased ratios inside users, which few clicks bias."""
    return run.inside_users and debiased(run)


def debiased(run: EstimatorRun) -> bool:
    """Whether the run's estimator tries to undo the skew of the log."""
    return run.estimator.standing(run.target) is not Standing.NAIVE


def weighted(run: EstimatorRun) -> bool:
    """Whether the run weighs by propensities, given or counted."""
    return not {Need.PROPENSITY, Need.COUNTS}.isdisjoint(run.estimator.needs(run.target))


def by_counts(run: EstimatorRun) -> bool:
    """Whether the run weighs by a power of training counts."""
    return Need.COUNTS in run.estimator.needs(run.target)


def uses_propensity(run: EstimatorRun) -> bool:
    """Whether the run weighs by the propensities that were given or fitted."""
    return Need.PROPENSITY in run.estimator.needs(run.target)


def _unsupported(plan: EvaluationPlan, found: ListedWorth | None) -> dict[Metric, Floats]:
    return {} if found is None else dict(zip(_ranking(plan.runs), found.unsupported, strict=True))


def _ranking(runs: Sequence[EstimatorRun]) -> list[RankingMetric]:
    """The metrics of lists."""
    return list(dict.fromkeys(m for run in runs for m in run.metrics if isinstance(m, RankingMetric)))


def answered_metrics(plan: EvaluationPlan) -> list[RankingMetric]:
    """The metrics of the runs that rest on answers."""
    return _ranking([run for run in plan.runs if run.joined])


def worth_tables(metrics: Sequence[RankingMetric], plan: EvaluationPlan) -> Floats:
    """Worth by [rank, metric]."""
    depth = max(run.depth for run in plan.runs)
    return np.ascontiguousarray(np.stack([metric.table(depth) for metric in metrics], axis=1))


def listed_worth(engine: Engine, plan: EvaluationPlan) -> tuple[list[RankingMetric], ListedWorth | None]:
    """The metrics of lists, and how much of the lists' worth by each the log could never show."""
    asked = _ranking(plan.runs)
    return asked, engine.listed_worth(worth_tables(asked, plan)) if asked else None


Key = tuple[str, str, str]  # metric, estimator, target


def error_per_comparison(tables: list[Measured]) -> dict[Key, float]:
    """α* of every cell: one simultaneous level over its pairs of models in the whole and in all segments."""
    families: dict[Key, list[Family]] = {}
    levels: dict[Key, float] = {}
    for table in tables:
        counted = set()  # a scenario that is asked for by itself, too, is the same comparison
        for place, cell in enumerate(table.plan.cells):
            run, moments = table.plan.runs[cell.run], table.sums.moments[place]
            key = (str(run.metrics[cell.metric]), str(run.estimator), str(run.target))
            if moments.models < 2 or key in counted:
                continue
            counted.add(key)
            levels[key] = table.setting.level_of(run)
            known = np.isfinite(moments.covariance).all()
            own = [Family.of(moments.covariance, moments.differ)] if known else []
            if run.joined and table.setting.fixed_users:
                own = [Family(np.eye(2), ((0, 1),)) for family in own for _ in family.pairs]  # as if independent
            families.setdefault(key, []).extend(own)
    return {key: single_error(found, levels[key]) for key, found in families.items()}


def per_user_rows(sums: Sums, plan: EvaluationPlan, users: Ids, models: Sequence[str]) -> pl.DataFrame:
    """Long table of per-user numerators and divisors: of every cell the first factor of each term."""
    x = np.concatenate(sums.x)
    parts = []
    for cell in plan.cells:
        run = plan.runs[cell.run]
        named = {"metric": str(run.metrics[cell.metric]), "estimator": str(run.estimator), "target": str(run.target)}
        for term, ((a, b), *_) in enumerate(cell.form.places):
            for j, model in enumerate(models):
                numbers = {"numerator": x[:, cell.columns[a[j]]], "divisor": x[:, cell.columns[b[j]]]}
                texts = {name: pl.lit(text) for name, text in {"model": model, **named}.items()}
                rows = pl.DataFrame({"user": users.values} | numbers).with_columns(**texts, term=pl.lit(term + 1))
                parts.append(rows.select("user", *texts, "term", *numbers))
    return pl.concat(parts)
