"""What is asked of an evaluation: complete, immutable, parsed and checked before anything is read.

``evaluate`` and the command line make one; ``compare_propensities`` asks the same again under another propensity with
``replace(request, propensity=…)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Literal, TypeVar

import numpy as np

from unskew import estimators, metrics, sampling
from unskew import outcome as outcomes
from unskew import propensity as propensities
from unskew.alignment.inputs import Share
from unskew.alignment.sources import Names, Reading, given_inputs
from unskew.core.bounds import SEED, SHARE, THREADS, Number, Whole, shown, word
from unskew.core.errors import InputError, RefusedError
from unskew.core.memory import memory_limit
from unskew.estimators import Estimator, Need, Standing, Target
from unskew.judging.segments import COUNTED
from unskew.log import Feedback
from unskew.log.drawing import DECLARED
from unskew.log.extremes import Extremes
from unskew.log.log import Duplicates, Invalid
from unskew.metrics import Metric, RankingMetric, RatingMetric
from unskew.outcome import Outcome
from unskew.propensity import Propensity
from unskew.propensity.known import Certain, Known
from unskew.sampling import Sampler
from unskew.sampling.size import Size, checked_size

T = TypeVar("T")
LEVEL = Number(low=0.5, high=0.9999, why="What errs more often says little; what errs less often, no log can tell.")
SEEDS = Whole(0, 2**64 - 1)
REPLICATES = Whole(0, 100_000, "More make no interval better.")
FEWEST = 50
RESERVED = ("user", "item", "value", "time", "propensity", "relevant", "rank", "score", "prediction")
MOST_PARTS = 1000
REPEATS = Whole(1, 1000, "More move no digit that counts.")
DRAWS = 10  # samples, unless said otherwise: carraro20 has ten runs
LENGTH = 100  # how long models' own lists are where no metric has a cut-off


@dataclass(frozen=True, eq=False)
class Request:
    """The arguments of ``evaluate``, parsed.

    Args:
        targets: empty where the feedback decides.
        chosen: whether estimators were asked for, or are the usual ones; on samples of the rows there is one only.
        sample: how rows are sampled, ``repeats`` times, where they are.
    """

    test: Any
    models: Mapping[str, Any]
    metrics: tuple[Metric, ...]
    estimators: tuple[Estimator, ...]
    chosen: bool
    targets: tuple[Target, ...]
    propensity: Propensity | None = None
    outcome: Outcome | None = None
    in_sample: bool = False
    train: Any = None
    feedback: Feedback | str | None = None
    relevant: str | None = None
    users: Any = None
    items: Any = None
    share: Share = None
    mcar: Any = None
    answers: Any = None
    rounds: int | None = None
    users_are: Literal["sampled", "fixed"] = "sampled"
    fixed_relevance: bool = False
    user_features: Any = None
    item_features: Any = None
    candidates: Literal["unseen", "all"] | None = None
    columns: Names = field(default_factory=lambda: Names(None))
    drop_seen: bool = False
    invalid: Invalid = "error"
    duplicates: Duplicates | None = None
    by: str | None = None
    level: float = 0.95
    interval: Literal["normal", "bootstrap"] = "normal"
    replicates: int = 1000
    refit: bool = False
    seed: int = 0
    per_user: bool = False
    refused: Literal["error", "skip"] = "error"
    threads: int | None = None
    sample: Sampler | None = None
    sample_size: Size = None
    repeats: int | None = None
    engine: Literal["memory", "stream"] | None = None
    memory: str | int | None = None

    @classmethod
    def of(
        cls,
        test: Any,
        models: Mapping[str, Any],
        *,
        metrics: Sequence[str | Metric] = ("recall@10",),
        estimators: Sequence[str | Estimator] | None = None,
        propensity: str | Propensity | None = None,
        outcome: str | Outcome | None = None,
        target: str | Sequence[str] | None = None,
        columns: Mapping[str, Any] | Names | None = None,
        sample: str | Sampler | None = None,
        **rest: Any,
    ) -> Request:
        """Parse canonical strings; by default those that people mean who name no estimators."""
        check_models(models)
        names = columns if isinstance(columns, Names) else Names(columns, _given_inputs(test, models, rest))
        sampled = sample is not None
        read: dict[str, Any] = {"columns": names.of_guesses, "invalid": rest.get("invalid", "error"), "deferred": True}
        return cls(
            test,
            models,
            metrics=parsed_metrics(metrics),
            estimators=_parsed_estimators(
                ["naive"] if sampled and estimators is None else estimators,
                propensity is not None,
                outcome is not None,
                rest.get("train") is not None,
                rest.get("answers") is not None,
            ),
            chosen=estimators is not None or sampled,
            targets=parsed_targets(target),
            propensity=None if propensity is None else propensities.make(propensity),
            outcome=None if outcome is None else outcomes.make(outcome, **read),  # files that it names are read alike
            columns=names,
            sample=None if sample is None else sampling.make(sample),
            **rest,
        )

    def __post_init__(self) -> None:
        for name in ("drop_seen", "refit", "in_sample", "per_user", "fixed_relevance"):
            if not isinstance(value := getattr(self, name), int | np.bool_) or value not in (0, 1):
                raise InputError(f"{name} must be True or False, not {shown(value)}.", code="wrong-type")
        if self.share is not None:
            replace(SHARE, words=("users",)).of(self.share, "share")
        word(self.refused, ("error", "skip"), "refused")
        if self.candidates is not None:
            word(self.candidates, ("unseen", "all"), "candidates")
        if self.engine is not None:
            word(self.engine, ("memory", "stream"), "engine")
        if self.memory is not None:
            memory_limit(self.memory)
        if self.threads is not None:
            THREADS.of(self.threads, "threads")
        word(self.interval, ("normal", "bootstrap"), "interval")
        LEVEL.of(self.level, "level")
        SEEDS.of(self.seed, "seed")
        REPLICATES.of(self.replicates, "the number of replicates")
        if self.interval == "bootstrap" and self.replicates < FEWEST:
            raise InputError(
                f"a bootstrap needs at least {FEWEST} replicates, not {self.replicates}.", code="out-of-range"
            )
        for option, text in (("by", self.by), ("relevant", self.relevant)):
            if text is not None and not isinstance(text, str):
                raise InputError(f"{option} must be a text, not {shown(text)}.", code="wrong-type")
        self._check_together()
        check_sampling(self)

    def _check_together(self) -> None:
        """Refuse options that contradict each other, or mean nothing."""
        if self.drop_seen and self.train is None:
            raise InputError(
                "drop_seen=True removes training items from lists: give the training log with train=….",
                code="no-training-log",
            )
        if self.refit and self.interval != "bootstrap":
            raise InputError(
                "refit=True fits propensities anew in every bootstrap replicate: it goes with interval='bootstrap'.",
                code="conflicting-arguments",
            )
        if self.by in RESERVED:
            raise InputError(
                f"by={self.by!r}: '{self.by}' is a column with a meaning of its own, and makes no segments. Give a "
                "column of groups under another name; popularity(strata=3) works with any training log.",
                code="wrong-column",
            )
        if self.fixed_relevance and self.answers is None:
            raise InputError(
                "fixed_relevance=True says that a pair of the log would be answered as it was logged: it goes with "
                "answers=….",
                code="missing-argument",
            )
        if self.rounds is not None:
            DECLARED.of(self.rounds, "rounds")
            if self.answers is None:
                raise InputError(
                    "rounds=… says over how many rounds answers are drawn: it goes with answers=….",
                    code="missing-argument",
                )
        word(self.users_are, ("sampled", "fixed"), "users_are")
        if self.users_are == "fixed" and (self.answers is None or self.interval == "bootstrap"):
            raise InputError(
                "users_are='fixed' says that answers decide for these users alone, so that only the draw of the "
                "questions is chance: it goes with answers=…, and not with interval='bootstrap', which draws users.",
                code="missing-argument",
            )
        if self.answers is not None and not self.ranks:
            raise InputError(
                "answers=… settle which lists are better: ask for a ranking metric, metrics=['recall@10'].",
                code="missing-metric",
            )
        if self.in_sample and self.outcome is None:
            raise InputError(
                "in_sample=True says how an outcome model is fitted: give outcome=… as well.", code="missing-argument"
            )
        if self.in_sample and self.outcome is not None and self.outcome.fitted:
            raise InputError(
                f"in_sample=True says how an outcome model is fitted, and '{self.outcome}' is not fitted here: leave "
                "it out.",
                code="conflicting-arguments",
            )

    @property
    def weighs(self) -> bool:
        """Whether any estimator weighs by propensities."""
        return any(Need.PROPENSITY in e.needs(target) for e in self.estimators for target in e.valid)

    def with_column(self, column: Extremes | None) -> Request:
        """The same where the test log has propensities of its own, and nothing else was asked for.

        A column that is the same in every row corrects nothing. It may be a placeholder, and is taken only by those who
        ask for it.
        """
        if column is not None and column.low == 1.0 and type(self.propensity) is Known:
            return replace(self, propensity=Certain(self.propensity.share, self.propensity.part))
        if column is None or self.propensity is not None or (self.chosen and not self.weighs):
            return self
        if column.constant:
            if self.chosen and self.refused == "error":
                raise RefusedError(
                    f"the test log's column 'propensity' is {column.low:g} in every row: it corrects nothing, and may "
                    "be a placeholder.\nIf every pair really was equally likely to be shown, say propensity='known' or "
                    "propensity='uniform'; else name another propensity, or leave the estimators out.",
                    code="constant-propensity",
                )
            return self
        usual = _parsed_estimators(
            None, True, self.outcome is not None, self.train is not None, self.answers is not None
        )
        return replace(self, propensity=Known(), estimators=self.estimators if self.chosen else usual)

    @property
    def draws(self) -> int:
        """How many samples of the rows are drawn, where rows are sampled."""
        return DRAWS if self.repeats is None else self.repeats

    @property
    def reading(self) -> Reading:
        """How logs are read."""
        return {"feedback": self.feedback, "invalid": self.invalid, "duplicates": self.duplicates}

    @property
    def ranks(self) -> bool:
        """Whether any metric asks for ranks."""
        return any(isinstance(m, RankingMetric) for m in self.metrics)

    @property
    def rates(self) -> bool:
        """Whether any metric asks for predictions."""
        return any(isinstance(m, RatingMetric) for m in self.metrics)

    @property
    def chose_how(self) -> bool:
        """Whether estimators were chosen, or propensities given."""
        return self.chosen or self.propensity is not None

    @property
    def drawn(self) -> int:
        """How many bootstrap replicates are drawn."""
        return self.replicates if self.interval == "bootstrap" else 0

    @property
    def length(self) -> int:
        """How long a model's own lists must be."""
        return max((m.k or LENGTH for m in self.metrics if isinstance(m, RankingMetric)), default=1)

    def strata_columns(self, *, training: bool = False) -> list[str]:
        """The columns by which strata are made; of the training log only those whose shares are measured there."""
        found = []
        for estimator in self.estimators:
            inner: Any = estimator.innermost
            measured = not training or getattr(inner, "shares", None) == "train"
            if measured and getattr(inner, "strata", None) and inner.strata.column:
                found.append(inner.strata.column)
        return list(dict.fromkeys(found))

    @property
    def trains_shares(self) -> bool:
        """Whether shares of strata are measured on the training rows."""
        return any(getattr(e, "shares", None) == "train" for e in self.estimators)

    @property
    def segment_column(self) -> list[str]:
        """The column that makes segments, if it is one that must be read along."""
        return [] if self.by is None or "(" in self.by or self.by in (*COUNTED, "policy") else [self.by]


def check_sampling(request: Request) -> None:
    """Refuse what does not go with samples of the rows, and options of samples where there are none."""
    sampler = request.sample
    if sampler is None:
        for name in ("repeats", "sample_size"):
            if getattr(request, name) is not None:
                raise InputError(
                    f"{name}=… is for samples of the held-out rows: give sample=… as well, or leave it out.",
                    code="missing-argument",
                )
        return
    if request.answers is not None:
        raise InputError(
            f"sample='{sampler}' evaluates samples of the held-out rows by naive alone, and answers=… speak of all "
            "candidates. Leave one of them out.",
            code="conflicting-arguments",
        )
    if request.repeats is not None:
        REPEATS.of(request.repeats, "repeats")
    SEED.of(request.seed, "the seed")
    checked_size(request.sample_size, sampler, "sample_size")
    if sampler.needs_train and request.train is None:
        raise InputError(
            f"'{sampler}' counts the rows of users and items in the training log, and there is none.\n"
            "Give train=…, or sample with sample='reg'.",
            code="no-training-log",
        )
    if sampler.needs_random and request.mcar is None:
        raise InputError(
            f"'{sampler}' takes its target from a log of pairs drawn at random, and there is none.\n"
            "Give mcar=…, or sample towards even users and items: sample='wtd_h'.",
            code="no-random-sample",
        )
    if request.interval == "bootstrap":
        raise InputError(
            "interval='bootstrap' draws users anew, and not the samples in which their rows compete for places: its "
            "intervals would be too narrow. With sample=… leave interval=… out.",
            code="conflicting-arguments",
        )
    debiased = [e for e in request.estimators if any(e.standing(t) is not Standing.NAIVE for t in e.valid)]
    if debiased or request.propensity is not None or request.outcome is not None:
        asked = debiased[0] if debiased else request.propensity or request.outcome
        why = "the same skew would be corrected twice, by factors that nobody knows"
        if sampler.equal:
            why = "samples with equal chances are as skewed as the log, and only smaller"
        raise RefusedError(
            f"sample='{sampler}' evaluates samples of the rows, and '{asked}' speaks of the whole log: {why}.\n"
            "Leave it out (samples are evaluated with estimators=['naive']), or leave sample=… out.",
            code="not-in-samples",
        )


def _given_inputs(test: Any, models: Mapping[str, Any], rest: Mapping[str, Any]) -> list[str]:
    """The inputs that a map of columns may speak of."""
    others = ("train", "users", "items", "mcar", "answers", "user_features", "item_features")
    return given_inputs(test=test, **{name: rest.get(name) for name in others}, models=models)


def check_models(models: Mapping[str, Any]) -> None:
    """Models have names, which tables and verdicts call them by."""
    if not isinstance(models, Mapping):
        raise InputError(
            f"models are given by name, as in {{'als': lists, 'popular': 'popular.parquet'}}, not as {shown(models)}.",
            code="wrong-type",
        )
    if not models:
        raise InputError(
            "there is nothing to evaluate: give at least one model, models={'name': 'lists.parquet'}.",
            code="missing-models",
        )
    for name in models:
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"a model's name must be a text that is not empty, not {shown(name)}.", code="bad-name")


def parsed_metrics(asked: Sequence[str | Metric]) -> tuple[Metric, ...]:
    """The metrics that were asked for."""
    several = [asked] if isinstance(asked, str | RankingMetric | RatingMetric) else _several("metrics", asked)
    if not several:
        raise InputError(
            "there is nothing to estimate: give at least one metric, metrics=['recall@10'].", code="missing-metric"
        )
    return _once(metrics.make(metric) for metric in several)


def _parsed_estimators(
    asked: Sequence[str | Estimator] | None, propensities: bool, outcomes: bool, trained: bool, answered: bool
) -> tuple[Estimator, ...]:
    """The estimators that were asked for, or those that people mean who name none."""
    if propensities:
        usual = ["naive", "ips", "dr"] if outcomes else ["naive", "snips"]
    else:
        usual = ["naive", "exposure_path", "tilted"] if trained else ["naive"]
    usual += ["anchored"] * answered
    if asked is not None:
        asked = [asked] if isinstance(asked, str | Estimator) else _several("estimators", asked)
    return _once(estimators.make(estimator) for estimator in asked or usual)


def parsed_targets(asked: str | Sequence[str] | None) -> tuple[Target, ...]:
    """The targets that were asked for, or none."""
    if asked is None:
        return ()
    return _once(Target.make(target) for target in ([asked] if isinstance(asked, str) else _several("target", asked)))


def _several(what: str, given: Any) -> list[Any]:
    """The parts of a list; what is none is an error."""
    if isinstance(given, Mapping | set | frozenset) or not isinstance(given, Iterable):
        raise InputError(f"{what} must be a list of canonical strings, not {shown(given)}.", code="wrong-type")
    found = list(islice(given, MOST_PARTS + 1))
    if len(found) > MOST_PARTS:
        raise InputError(
            f"{what}: more than {MOST_PARTS:,} are asked for. Evaluate them in several calls.", code="too-large"
        )
    return found


def _once(parts: Iterable[T]) -> tuple[T, ...]:
    """Each part once; two different parts with one canonical text would be indistinguishable in every table."""
    found: dict[str, T] = {}
    for part in parts:
        if found.setdefault(str(part), part) != part:
            raise InputError(
                f"two different parts are both called '{part}': evaluate them in two calls.", code="repeated-name"
            )
    return tuple(found.values())
