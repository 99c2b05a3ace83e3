"""What an evaluation gives back: estimates, verdicts, an account of the inputs, and warnings in plain words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import polars as pl

from unskew import estimators, metrics
from unskew.core.errors import InputError
from unskew.core.notice import Notice
from unskew.core.outputs import files_in
from unskew.core.showing import ShownTable
from unskew.core.spec import find
from unskew.core.text import storable
from unskew.requirement import Requirement, Requirements

__all__ = ["Estimate", "LeaderboardRow", "Result", "ScenarioTable", "Verdict", "Weights", "frame_of", "plain"]

SCHEMA_VERSION = 5
FIRST = (
    "place", "model", "a", "b", "verdict", "value", "difference", "macro", "macro_low", "macro_high", "low", "high",
)  # fmt: skip


@dataclass(frozen=True)
class MetricTraits:
    """What a reader of numbers must know of a metric.

    Args:
        lower_is_better: of errors.
        additive: whether it sums over items; a ratio inside users carries a weaker promise.
        ranked: whether it looks at lists; others look at predictions.
    """

    lower_is_better: bool = False
    additive: bool = True
    ranked: bool = True

    @classmethod
    def of(cls, metric: metrics.RankingMetric | metrics.RatingMetric) -> MetricTraits:
        """The traits of a metric."""
        ranked = isinstance(metric, metrics.RankingMetric)
        additive = not isinstance(metric, metrics.RankingMetric) or metric.shape is metrics.Shape.ADDITIVE
        return cls(metric.lower_is_better, additive, ranked)


@dataclass(frozen=True)
class Estimate:
    """What a model would score on a metric, by one estimator, for one target.

    ``hits`` are the pairs that carry the number, ``ess`` their effective number, ``max_weight_share`` the share of the
    largest; ``clipped_share`` counts pairs whose P was raised by a clip, or whose correction switch left out.
    ``support_gap`` is the share of held-out interactions on items that training never showed (``None`` without a
    training log), ``unsupported`` the share of the list's worth on items that the log could never show, ``few_clicks``
    the leave-one-click-out bias of a ratio inside users. ``standing`` and ``promise`` say what may be claimed. Without
    any hit there is no standard error, and ``high`` is a bound. ``trust`` says what should make a reader doubt it,
    ``assumption`` what it rests on besides the rows, in words that go on after "if"; ``codes`` are those of both.

    Where it is an average over samples of the rows, ``sample`` says how they were drawn, ``interactions``, ``hits`` and
    ``ess`` are those of one sample on average, and ``draws_se`` is the part of ``se`` that more samples would take off.

    Of an estimator with scenarios ``value`` is the average over them, and ``low`` and ``high`` are the ends of all
    their intervals together.
    """

    model: str
    metric: str
    estimator: str
    target: str
    value: float
    low: float
    high: float
    se: float
    ess: float
    hits: int
    max_weight_share: float
    clipped_share: float
    support_gap: float | None
    unsupported: float | None
    few_clicks: float | None
    users: int
    interactions: int
    propensity: str | None
    segment: str | None
    standing: str
    promise: str
    trust: str
    assumption: str = ""
    sample: str = ""
    draws_se: float | None = None
    codes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """Model a against model b.

    ``verdict`` is better or worse where answers carry it, or logged propensities that passed every test, else ahead or
    behind (``assumption`` says what must hold), or undecided. ``low`` and ``high`` hold at one simultaneous level over
    all pairs (and segments), as wide as every check allows, so they exclude 0 exactly where the verdict is decided;
    they are missing where a verdict was withheld, and ``trust`` says why. ``users_apart`` is the number of users who
    tell the two apart, ``ess`` their effective number, ``few_clicks`` the leave-one-click-out bias of the
    difference.

    ``depends`` means that it is decided in some scenarios of what the log cannot tell: ``turns`` says in which, and
    ``turns_at`` where the first of them end. ``not_covered`` says what no scenario covers.

    ``tipping`` is the Γ by which propensities must be wrong to undo the lead: their odds (``tipping_kind`` "odds") or
    they themselves ("ratio"). Infinity means that no Γ does (of ratios inside users: none up to 10); in JSON that is
    ``null`` with a kind. ``None`` means that there is no tipping point.

    ``no_margin`` says why ``low`` and ``high`` do not show that the two differ by less than a margin (``require``);
    empty where they do. ``codes`` are those of what is said in ``trust``, ``assumption`` and ``no_margin``.
    """

    metric: str
    estimator: str
    target: str
    segment: str | None
    a: str
    b: str
    difference: float
    se: float
    low: float
    high: float
    p: float
    p_adjusted: float
    verdict: str
    assumption: str
    tipping: float | None
    tipping_low: float | None
    tipping_kind: str | None
    users_needed: int | None
    users_apart: int
    ess: float
    few_clicks: float | None
    standing: str
    trust: str
    turns: str = ""
    turns_at: float | None = None
    not_covered: str = ""
    no_margin: str = ""
    codes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ScenarioValues:
    """One model's value and interval in every scenario."""

    model: str
    value: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class ScenarioDifferences:
    """Model a less model b in every scenario, and who is ahead there: 1 a, −1 b, 0 not decided (of scores: higher)."""

    a: str
    b: str
    difference: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    sign: tuple[int, ...]


@dataclass(frozen=True)
class ScenarioTable:
    """How one metric's answer depends on what the log cannot tell.

    Args:
        axes: the names of what cannot be told, their ``labels``, and whether each is a share (``percent``).
        points: the scenarios: a value on every axis.
        not_covered: a sentence on what none of the scenarios covers.
        estimated: where an estimate from a random sample would put the first axis; it decides nothing.
        left: the range of the first axis that answers leave, over which values and verdicts are put together.
    """

    metric: str
    estimator: str
    target: str
    segment: str | None
    axes: tuple[str, ...]
    labels: tuple[str, ...]
    points: tuple[tuple[float, ...], ...]
    values: tuple[ScenarioValues, ...]
    differences: tuple[ScenarioDifferences, ...]
    not_covered: str
    estimated: float | None = None
    percent: tuple[bool, ...] = ()
    left: tuple[float, float] | None = None

    @property
    def places(self) -> list[int]:
        """The places of the scenarios that answers leave; all without answers."""
        low, high = self.left or (-math.inf, math.inf)
        return [n for n, point in enumerate(self.points) if low - 1e-9 <= point[0] <= high + 1e-9]


@dataclass(frozen=True)
class LeaderboardRow:
    """One model's place among all of them, by the estimator that counts (``Result.leaderboard``)."""

    metric: str
    estimator: str
    target: str
    segment: str | None
    place: int | None
    model: str
    value: float
    low: float
    high: float
    against_best: str
    in_best_group: bool
    turns: str


@dataclass(frozen=True)
class Weights:
    """How an estimator's weights are spread: counts of interactions by weight, on bins of a factor √2."""

    estimator: str
    target: str
    segment: str | None
    low: tuple[float, ...]
    high: tuple[float, ...]
    count: tuple[int, ...]


@dataclass(frozen=True)
class Result(ShownTable):
    """The answer of one evaluation.

    Args:
        estimates: one row per segment × target × estimator × metric × model.
        verdicts: one row per pair of models in each cell.
        weights: how the weights of each estimator are spread.
        scenarios: how answers depend on what the log cannot tell, for estimators that leave something open.
        inputs: rows read, dropped by reason, users and items, clicks per user, settings.
        warnings: what a careful reader should know before trusting the numbers.
        rows: per-user contributions, kept on request.
        traits: what a reader must know of each metric, by its canonical string.
        requirements: statements that were required, with their answers.
    """

    estimates: tuple[Estimate, ...]
    verdicts_: tuple[Verdict, ...]
    weights: tuple[Weights, ...]
    inputs: Mapping[str, Any]
    warnings: tuple[Notice, ...]
    scenarios: tuple[ScenarioTable, ...] = ()
    rows: pl.DataFrame | None = field(default=None, repr=False)
    traits: Mapping[str, MetricTraits] = field(default_factory=dict, repr=False)
    requirements: tuple[Requirement, ...] = ()

    def table(self) -> pl.DataFrame:
        """The estimates as a dataframe."""
        return frame_of(self.estimates, Estimate)

    def verdicts(
        self, metric: str | None = None, *, estimator: str | None = None, target: str | None = None
    ) -> pl.DataFrame:
        """The verdicts as a dataframe, all or those of a metric, estimator and target.

        Names are parsed: ``estimator="gs"`` finds ``gs(strata=5)`` if it is the only gs there.
        """
        kept = self.verdicts_
        if not kept and (metric, estimator, target) != (None, None, None):
            raise InputError(
                "the result has no verdicts: they compare two models by estimates with intervals. One model alone is "
                "compared with nothing, and a point estimate, such as snips(over=item), has no interval.",
                code="one-model",
            )
        if metric is not None:
            name = find("metric", metric, [v.metric for v in kept], metrics.make)
            kept = tuple(v for v in kept if v.metric == name)
        if estimator is not None:
            name = find("estimator", estimator, [v.estimator for v in kept], estimators.make)
            kept = tuple(v for v in kept if v.estimator == name)
        if target is not None:
            kept = tuple(v for v in kept if v.target == estimators.Target.make(target))
        return frame_of(kept, Verdict)

    def per_user(self) -> pl.DataFrame:
        """Per-user contributions: ``user, model, metric, estimator, target, term, numerator, divisor``.

        Estimators of several terms (sndr) have a row for each.
        """
        if self.rows is None:
            raise InputError("per-user rows were not kept: call evaluate(..., per_user=True).", code="no-per-user-rows")
        return self.rows

    def to_dict(self) -> dict[str, Any]:
        """Everything but the per-user rows, ready for JSON; numbers that do not exist are ``None``."""
        return {
            "schema_version": SCHEMA_VERSION,
            "headline": plain(self.headline()),
            "leaderboard": [plain(row) for row in self.leaderboard().to_dicts()],
            "estimates": [plain(asdict(e)) for e in self.estimates],
            "verdicts": [plain(asdict(v)) for v in self.verdicts_],
            "scenarios": [plain(asdict(s)) for s in self.scenarios],
            "weights": [plain(asdict(w)) for w in self.weights],
            "inputs": plain(dict(self.inputs)),
            "warnings": [plain(warning.plain) for warning in self.warnings],
            "metrics": {name: asdict(traits) for name, traits in self.traits.items()},
            "requirements": [plain(asdict(r)) for r in self.requirements],
        }

    @classmethod
    def from_json(cls, path: str | Path) -> Result:
        """Read what ``to_json`` wrote: to show it again, or to require something of it."""
        from unskew.report.reading import read_result

        return read_result(path)

    def require(self, *statements: str) -> Requirements:
        """Whether statements hold: ``"new better than old on recall@10"``, ``"new not worse than old by 2 % on …"``.

        Each is answered with yes, no or undecided, by the verdict on the two models; what a verdict was withheld for,
        and what nothing debiases, is undecided. Together they are true where all are answered with yes
        (docs/pipelines.md).
        """
        from unskew.report import require

        return require(self, statements)

    def headline(self) -> dict[str, Any]:
        """What is read first: the title, whether it is debiased, the sentences, who disagrees, how far to trust it."""
        from unskew.report import headline

        return headline(self)

    def leaderboard(self) -> pl.DataFrame:
        """The models in order, by the estimator that counts: one row per segment × target × metric × model.

        ``place`` (1 is the best; equal values share one, and a model without an estimate has none), ``value``, ``low``
        and ``high``; ``against_best``, what is said of it against the model on top; ``in_best_group``, whether it
        cannot be told from that one; ``turns``, where that depends on what the log cannot tell.
        """
        from unskew.report import leaderboard

        return frame_of(leaderboard(self), LeaderboardRow)

    def _made_from(self) -> Iterator[Path]:
        return _files_read(self.inputs)

    def __repr__(self) -> str:
        cells = len({(e.metric, e.estimator, e.target, e.segment) for e in self.estimates})
        models = len({e.model for e in self.estimates})
        title = self.headline()["title"]
        numbered = (("model", models), ("cell", cells), ("warning", len(self.warnings)))
        counts = ", ".join(f"{n} {name}{'s' * (n != 1)}" for name, n in numbered)
        return f"<Result: {title}; {counts}; .table(), .verdicts(), .to_html()>"


def _files_read(value: Any, key: str = "") -> Iterator[Path]:
    """The files that an account of inputs names: the sources, and what stands inside propensities and models."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _files_read(item, str(name))
    elif isinstance(value, str) and key == "source":
        yield Path(value)
    elif isinstance(value, str) and key in ("propensity", "model"):
        yield from files_in(value)


def frame_of(rows: Sequence[Any], kind: type) -> pl.DataFrame:
    """Records of one kind as a table, also where there are none."""
    types = {"str": pl.String, "float": pl.Float64, "int": pl.Int64, "bool": pl.Boolean, "tuple[str,": pl.String}
    schema = {f.name: types[str(f.type).split(" ")[0]] for f in fields(kind)}
    found = pl.DataFrame([storable_row({name: getattr(row, name) for name in schema}) for row in rows], schema=schema)
    return found.select(first_columns_first(found.columns))


def first_columns_first(names: Sequence[str]) -> list[str]:
    """Who and how much before where and how: a printed frame shows its first four columns."""
    return [name for name in FIRST if name in names] + [name for name in names if name not in FIRST]


def plain(value: Any) -> Any:
    """Numbers that JSON cannot hold become ``None``, and half characters are shown."""
    if isinstance(value, Mapping):
        return {storable(str(key)): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return storable(value) if isinstance(value, str) else value


def storable_row(row: dict[str, Any]) -> dict[str, Any]:
    """A record whose texts can be stored; several codes are one text."""
    texts = {name: " ".join(value) if isinstance(value, tuple) else value for name, value in row.items()}
    return {name: storable(value) if isinstance(value, str) else value for name, value in texts.items()}
