"""What a study gives back: how well each way to estimate recovers the truth, draw by draw and on average."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.stats import t as student

from unskew import metrics as all_metrics
from unskew.core import ShownTable, storable
from unskew.result import frame_of, plain
from unskew_papers.arrays import Floats
from unskew_papers.recovery.draws import Place
from unskew_papers.recovery.scores import BOUNDS, HIGHER, MEASURES, scores, truly_different
from unskew_papers.recovery.welch import best, compare

if TYPE_CHECKING:
    from unskew.report import document as doc
    from unskew_papers.recovery.run import StudyTask

SCHEMA_VERSION = 1
LEVEL = 0.05
COMPARED = ("tau", "rmse", "regret", "wrong")  # measures by which estimators are compared with each other
Unit = Mapping[str, Any]


@dataclass(frozen=True)
class DrawScore:
    """How well one estimator recovers the truth of one draw (``scores.py`` says what each number is)."""

    draw: str
    question: str
    estimator: str
    metric: str
    target: str
    models: int
    truly_different: int
    tau: float
    spearman: float
    rmse: float
    regret: float
    coverage: float
    widened: float
    right: float
    wrong: float
    depends: float
    undecided: float
    alone_right: float
    alone_wrong: float


@dataclass(frozen=True)
class Score:
    """One measure of one estimator over all draws.

    Args:
        mean, sd: over draws.
        low, high: a 95 % interval of the mean over further draws (Student's t), within what the measure can be.
        best: whether it is the best of its metric, or not significantly different from the best, where anything is
            (Welch's t with Bonferroni's correction).
    """

    question: str
    estimator: str
    metric: str
    target: str
    measure: str
    mean: float
    sd: float
    low: float
    high: float
    draws: int
    best: bool


@dataclass(frozen=True)
class Comparison:
    """Two estimators by one measure: Welch's t over draws, corrected, and the paired test."""

    metric: str
    target: str
    measure: str
    a: str
    b: str
    difference: float
    p: float
    p_bonferroni: float
    p_holm: float
    p_paired: float


@dataclass(frozen=True)
class Failure:
    """A model that could not be fitted or ranked on a draw, which goes on without it."""

    model: str
    draw: str
    error: str
    traceback: str


@dataclass(frozen=True)
class Missing:
    """What a question could not give, why, and on how many draws."""

    question: str
    estimator: str | None
    reason: str
    draws: int


@dataclass(frozen=True)
class TrueValue:
    """What a model is really worth on a draw."""

    draw: str
    metric: str
    target: str
    model: str
    value: float
    se: float


@dataclass(frozen=True, eq=False)
class StudyResult(ShownTable):
    """All numbers of a study.

    Args:
        source: the data, in words; ``complete`` where the truth is known without error.
        models, draws: their names.
        draw_scores: one row per draw, question, estimator, metric and target.
        scores_: the same over draws, one row per measure.
        comparisons_: estimators against each other.
        truths: of every model on every draw.
        failures, missing: what went wrong, and what was refused.
        notes: what a reader should know besides.
        files: what was read, and must not be written over.
    """

    source: str
    complete: bool
    candidates: str
    models: tuple[str, ...]
    draws: tuple[str, ...]
    draw_scores: tuple[DrawScore, ...]
    scores_: tuple[Score, ...]
    comparisons_: tuple[Comparison, ...]
    truths: tuple[TrueValue, ...] = field(repr=False)
    failures: tuple[Failure, ...] = ()
    missing: tuple[Missing, ...] = ()
    notes: tuple[str, ...] = ()
    files: tuple[Path, ...] = field(default=(), repr=False)

    def table(self) -> pl.DataFrame:
        """One row per question, estimator, metric, target and measure: mean, interval, best."""
        return frame_of(self.scores_, Score)

    def by_draw(self) -> pl.DataFrame:
        """All measures, draw by draw."""
        return frame_of(self.draw_scores, DrawScore)

    def comparisons(self) -> pl.DataFrame:
        """Estimators against each other."""
        return frame_of(self.comparisons_, Comparison)

    def truth(self) -> pl.DataFrame:
        """What every model is really worth on every draw."""
        return frame_of(self.truths, TrueValue)

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON; numbers that do not exist are ``None``."""
        records: dict[str, Sequence[Any]] = {
            "scores": self.scores_,
            "comparisons": self.comparisons_,
            "draw_scores": self.draw_scores,
            "truth": self.truths,
            "failures": self.failures,
            "missing": self.missing,
        }
        return {
            "schema_version": SCHEMA_VERSION,
            "source": storable(self.source),
            "complete": self.complete,
            "candidates": self.candidates,
            "models": [storable(name) for name in self.models],
            "draws": list(self.draws),
            "notes": [storable(note) for note in self.notes],
            **{name: [plain(asdict(row)) for row in rows] for name, rows in records.items()},
        }

    def document(self) -> doc.Document:
        """What people look at."""
        from unskew_papers.recovery.document import study_document

        return study_document(self)

    def numbers(self) -> Iterator[tuple[tuple[str, ...], float]]:
        """Every score with its interval, by question, metric, estimator, target and measure."""
        for s in self.scores_:
            where = (s.question, s.metric, s.estimator, s.target, s.measure)
            yield from (((*where, name), getattr(s, name)) for name in ("mean", "low", "high"))

    def _made_from(self) -> tuple[Path, ...]:
        return self.files

    def __repr__(self) -> str:
        return (
            f"<StudyResult {len(self.models)} models, {len(self.draws)} draws; .table(), .comparisons(), .by_draw(), "
            ".to_html()>"
        )


def put_together(
    task: StudyTask, places: Sequence[Place], answers: Mapping[tuple[Place, str | None], Unit]
) -> StudyResult:
    """From the answers of all draws to scores."""
    rows: list[DrawScore] = []
    truths: list[TrueValue] = []
    failures: list[Failure] = []
    lost: Counter[tuple[str, str | None, str]] = Counter()
    for place in places:
        truth = answers[place, None]
        truths += _truths(truth, place)
        failures += [Failure(model, place.label, **told) for model, told in truth["failed"].items()]
        lost.update(("the truth", None, each["reason"]) for each in truth.get("missing", ()))
        for question in task.questions:
            answer = answers[place, question.name]
            rows += _scored(question.name, answer, truth, place)
            lost.update({(question.name, each.get("estimator"), each["reason"]): 1 for each in answer["missing"]})
    scores_, comparisons = _over_draws(rows)
    return StudyResult(
        task.source.words,
        _complete(truths),
        task.candidates,
        tuple(task.makers),
        tuple(place.label for place in places),
        tuple(rows),
        tuple(scores_),
        tuple(comparisons),
        tuple(truths),
        tuple(failures),
        tuple(Missing(*what, draws) for what, draws in lost.items()),
        (*task.source.notes, *_notes(places, answers)),
        (*task.source.files, *(file for maker in task.makers.values() for file in maker.files(places))),
    )


def line_of(row: DrawScore | Score, several: bool) -> str:
    """What an estimator is called beside others: with its question where there are several."""
    return f"{row.question}: {row.estimator}" if several else row.estimator


def _truths(truth: Unit, place: Place) -> list[TrueValue]:
    return [
        TrueValue(place.label, metric, target, model, float(truth["value"][n, m]), float(truth["se"][n, m]))
        for n, (metric, _, target) in enumerate(truth["cells"])
        for m, model in enumerate(truth["models"])
    ]


def _complete(truths: Sequence[TrueValue]) -> bool:
    return bool(truths) and all(each.se == 0.0 for each in truths)


def _scored(question: str, answer: Unit, truth: Unit, place: Place) -> list[DrawScore]:
    at = {(metric, target): n for n, (metric, _, target) in enumerate(truth["cells"])}
    rows = []
    for n, (metric, estimator, target) in enumerate(answer["cells"]):
        if (metric, target) in at:
            cell = at[metric, target]
            apart = int(truly_different(truth["z"][cell]).sum())
            found = scores(answer, n, truth, cell, lower=bool(all_metrics.make(metric).lower_is_better))
            rows.append(
                DrawScore(place.label, question, estimator, metric, target, len(answer["models"]), apart, **found)
            )
    return rows


def _over_draws(rows: Sequence[DrawScore]) -> tuple[list[Score], list[Comparison]]:
    several = len({row.question for row in rows}) > 1
    cells = dict.fromkeys((row.metric, row.target) for row in rows)
    made: list[Score] = []
    comparisons: list[Comparison] = []
    for cell in cells:
        own = [row for row in rows if (row.metric, row.target) == cell]
        lines: dict[str, list[DrawScore]] = {}
        for row in own:
            lines.setdefault(line_of(row, several), []).append(row)
        draws = list(dict.fromkeys(row.draw for row in own))
        for measure in MEASURES:
            values = {name: _column(found, measure, draws) for name, found in lines.items()}
            compared = compare(values) if measure in COMPARED and len(draws) > 1 else []
            top = best(values, compared, LEVEL, higher=measure in HIGHER) if compared else set()
            comparisons += [Comparison(*cell, measure, **each._asdict()) for each in compared if not math.isnan(each.p)]
            for name, found in lines.items():
                made.append(_score(found[0], measure, values[name], name in top))
    order = {(s.question, s.estimator): n for n, s in reversed(list(enumerate(made)))}
    made.sort(key=lambda s: (list(cells).index((s.metric, s.target)), order[s.question, s.estimator]))
    return made, comparisons


def _column(rows: Sequence[DrawScore], measure: str, draws: Sequence[str]) -> Floats:
    """One number per draw, NaN where there is none."""
    found = {row.draw: getattr(row, measure) for row in rows}
    return np.array([found.get(draw, math.nan) for draw in draws])


def _score(row: DrawScore, measure: str, values: Floats, top: bool) -> Score:
    known = values[np.isfinite(values)]
    n = len(known)
    mean = float(known.mean()) if n else math.nan
    sd = float(known.std(ddof=1)) if n > 1 else math.nan
    half = float(student.ppf(0.975, n - 1)) * sd / math.sqrt(n) if n > 1 else math.nan
    least, most = BOUNDS.get(measure, (0.0, 1.0))
    low, high = max(mean - half, least), min(mean + half, most)
    return Score(row.question, row.estimator, row.metric, row.target, measure, mean, sd, low, high, n, top)


def _notes(places: Sequence[Place], answers: Mapping[tuple[Place, str | None], Unit]) -> list[str]:
    """What became of lists."""
    lacking: dict[str, list[int]] = {}
    strangers: dict[str, list[int]] = {}
    for place in places:
        for model, told in answers[place, None]["notes"].items():
            for name, found in (("lacking", lacking), ("strangers", strangers)):
                if name in told:
                    found.setdefault(model, []).append(told[name])
    notes = [
        f"{model}: up to {max(counts):,} users with held-out rows have no list, which counts as a list without hits"
        for model, counts in lacking.items()
    ]
    notes += [
        f"{model}: up to {max(counts):,} listed items are in none of the logs; they keep their places"
        for model, counts in strangers.items()
    ]
    return notes
