"""Naive Bayes propensities (schnabel16 Eq. 18): how likely a pair was to be seen, given its value.

    P(O = 1 | y = r) = P(r | O) · P(O) / P(r)

    P(r | O) = (n_r + a) / (|O| + a·K)        n_r of the |O| training rows have the value r, K different values
    P(r)     = (m_r + a) / (m + a·K)          m_r of the m rows of a sample that was seen at random (MCAR)
    P(O)     = |O| / (U·I)                    U, I the users and items that the training log could have shown

Absolute, for the training log. Capped at 1. With a = 0 and no cap, Σ 1/P over the training rows is exactly U·I.

The random sample is small as a rule, and its error is that of P̂: by the delta method P̂(r) is known to
√((m − m_r) / (m·m_r)), relatively, however long the training log is. Fewer than 50 random rows in all, or than 5 of a
value that counts, tell next to nothing, and evaluations refuse them (``python -m tests.inference.naive_bayes_study``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from unskew.core.bounds import NOT_NEGATIVE
from unskew.core.errors import InputError, RefusedError
from unskew.core.notice import Notice
from unskew.core.parts import option
from unskew.core.spec import show
from unskew.log import Feedback, Ids, Log
from unskew.log.expected import a_log
from unskew.propensity.base import NO_INPUTS, FitInputs, Floats, Level, Propensity, Scored, TrainingFiles, row_weights
from unskew.propensity.counting import MOST_VALUES, ValueCounts, count_values, too_many

FEWEST_ROWS = 50  # random rows, and of every value that counts at least
FEWEST = 5
COUNTS = 0.05  # a value with less of the weight does not
KNOWN = 0.02  # relative error of P below which nothing is said

NO_SAMPLE = (
    "naive_bayes compares the values of the training log with those of pairs that were seen at random, and there is no "
    "such sample. Give it with mcar=…, or use 'logistic(features=none, offsets=item)', which needs none."
)


@dataclass(frozen=True)
class NaiveBayes(Propensity):
    """One propensity per value, from a training log and a small sample that was seen at random.

    Args:
        smoothing: pseudo-count a of every value in both distributions (Laplace); 0 leaves the shares as counted.
    """

    smoothing: float = option(1.0, NOT_NEGATIVE, "rows added to every value")
    values: Floats | None = field(default=None, compare=False, repr=False)
    of_value: Floats | None = field(default=None, compare=False, repr=False)
    train: ValueCounts | None = field(default=None, compare=False, repr=False)
    sample: ValueCounts | None = field(default=None, compare=False, repr=False)

    name = "naive_bayes"
    learnt = "of_value"
    estimated = True
    reads = ("value",)
    assumption = "whether a pair was seen depends on its value alone"
    level = Level.ABSOLUTE  # the sample tells what is there to be seen

    @classmethod
    def from_counts(cls, train: ValueCounts, mcar: ValueCounts | Log, smoothing: float = 1.0) -> Self:
        """From values counted elsewhere, such as by ``count_values`` in files that exceed memory."""
        sample = mcar if isinstance(mcar, ValueCounts) else _counts(mcar)
        return cls(smoothing)._from(train, sample)

    @property
    def by_parts(self) -> bool:  # type: ignore[override]
        """Counted from files it knows its users, and would have to be asked about all of them at once."""
        return self.train is None or self.train.user_ids is None

    def fit(self, log: Log, *, inputs: FitInputs = NO_INPUTS, weights: Floats | None = None) -> Self:
        """Count the values of the training rows and of the random sample, both by the weight of their user."""
        return self.fit_tally(self.tally(log, weights), inputs=inputs)

    def tally(self, log: Log, weights: Floats | None = None) -> ValueCounts:
        """The rows of every value, by the weight of their user."""
        return _counts(log, weights)

    def fit_tally(self, tally: ValueCounts, *, inputs: FitInputs = NO_INPUTS) -> Self:
        """From the values of the training rows, and those of the random sample."""
        if inputs.mcar is None:
            raise InputError(NO_SAMPLE, code="no-random-sample")
        return self._from(tally, _counts(inputs.mcar, inputs.mcar_weights))

    def from_files(self, files: TrainingFiles) -> Self:
        """From the rows of every value; the random sample may be a log in memory."""
        if files.above is not None:
            raise InputError(
                "counted: 'above' is for popularity; naive_bayes counts the rows of every value.",
                code="unknown-argument",
                option="above",
            )
        if files.mcar is None:
            raise InputError(
                f"{NO_SAMPLE}\nInside counted(…) it is called mcar: counted({self}, …, mcar=mcar.parquet).",
                code="no-random-sample",
            )
        mcar, columns = files.mcar, files.columns
        sample = mcar if isinstance(mcar, Log) else count_values(mcar, columns=columns)
        return self.from_counts(count_values(files.train, columns=columns), sample, self.smoothing)

    def counted_over(self, users: Ids, items: Ids) -> Self:
        """The same, with users and items of a population and a catalogue beside those that were counted."""
        if self.train is None or self.sample is None or self.train.user_ids is None or self.train.item_ids is None:
            return self
        return self.copy()._from(self.train.among(users, items), self.sample)

    def _from(self, train: ValueCounts, mcar: ValueCounts) -> Self:
        """Eq. 18 over the values of both logs."""
        for log in (train, mcar):
            if not log.counts.sum():
                raise InputError(
                    f"{log.source}: naive_bayes counts values, and this log has no rows.", code="empty-log"
                )
        values = np.union1d(train.values, mcar.values)
        if len(values) > MOST_VALUES:
            raise too_many(f"{train.source}, {mcar.source}", f"{len(values):,}")
        n, m = train.of(values), mcar.of(values)
        given, all_over = self._smooth(n), self._smooth(m)
        if ((all_over == 0.0) & (given > 0.0)).any():
            first = float(values[(all_over == 0.0) & (given > 0.0)][0])
            raise InputError(
                f"{mcar.source}: value {show(first)} occurs in training but not in the random sample, so "
                "its propensity would be infinite. Use naive_bayes(smoothing=1).",
                code="unseen-value",
                value=float(first),
            )
        ratio = np.divide(given, all_over, out=np.zeros_like(given), where=all_over > 0.0)
        of_value = ratio * n.sum() / (train.users * train.items)
        return self.remember(values=values, of_value=of_value, train=train, sample=mcar)

    def _smooth(self, counts: Floats) -> Floats:
        """Shares with a pseudo-count for every value."""
        return np.asarray((counts + self.smoothing) / (counts.sum() + self.smoothing * len(counts)))

    def of(self, log: Log) -> Scored:
        """The propensity of every row's value; a value that was never counted is an error, since nothing is known."""
        if self.values is None or self.of_value is None:
            raise InputError(
                "naive_bayes is counted on a training log and a random sample. Give train=… and mcar=…, "
                "or call .fit(train, inputs=FitInputs(mcar=…)).",
                code="no-training-log",
            )
        asked = _values(log)
        place = np.minimum(np.searchsorted(self.values, asked), len(self.values) - 1)
        strange = (self.values[place] != asked) | (self.of_value[place] == 0.0)
        if strange.any():
            where = "in training" if self.values[place][strange][0] == asked[strange][0] else "in either log"
            raise InputError(
                f"{log.account.source}: value {show(float(asked[strange][0]))} never occurred {where} when naive_bayes "
                "was fitted, so nothing is known of its propensity. Use a training log and a random sample with all "
                "values, and smoothing above 0.",
                code="unseen-value",
                value=float(asked[strange][0]),
            )
        rows = self.of_value[place]
        return Scored(np.minimum(rows, 1.0), capped=int(np.count_nonzero(rows > 1.0)))

    def doubted(self, log: Log) -> Floats | None:
        """Σ 1/P by value, of the rows that count."""
        if self.sample is None or self.values is None or self.of_value is None:
            return None
        rows = np.ones(len(log), dtype=np.bool_) if log.gain is None else log.gain > 0.0
        place = np.searchsorted(self.values, _values(log)[rows])
        inverse = 1.0 / np.minimum(self.of_value[place], 1.0)
        return np.bincount(place, weights=inverse, minlength=len(self.values)).astype(np.float64)

    def doubts_of(self, sums: Floats | None) -> list[str]:
        """How well the random rows tell P of the values that count in a log; too few of them are refused."""
        if sums is None or self.sample is None or self.values is None:
            return []
        weight = sums
        count = np.flatnonzero(weight >= COUNTS * max(weight.sum(), 1e-300))
        m, total = self.sample.of(self.values), float(self.sample.counts.sum())
        few = [j for j in count if m[j] < FEWEST]
        if total < FEWEST_ROWS or few:
            raise RefusedError(
                _too_few(self.sample.source, total, self.values[few], m[few]), code="too-few-rows", rows=total
            )
        error = {float(self.values[j]): float(np.sqrt((total - m[j]) / (total * m[j]))) for j in count}
        if max(error.values(), default=0.0) < KNOWN:
            return []
        each = ", ".join(f"of value {show(value)} ± {100.0 * size:.0f} %" for value, size in error.items())
        return [
            Notice(
                f"naive_bayes knows P from {total:,.0f} random rows only: its relative standard error is {each}, "
                "whatever the size of the other logs. Intervals and verdicts allow for that only with "
                "interval='bootstrap', refit=True.",
                code="few-random-rows",
                rows=total,
            )
        ]


def _counts(log: Log, weights: Floats | None = None) -> ValueCounts:
    """The values of a log, by the weight of their rows' users; users and items with and without rows."""
    values, place = np.unique(_values(log), return_inverse=True)
    counts = np.bincount(place, weights=row_weights(log, weights), minlength=len(values)).astype(np.float64)
    users = len(log.users) if weights is None else float(weights.sum())
    return ValueCounts(values, counts, users, len(log.items), log.account.source)


def _too_few(source: str, rows: float, values: Floats, found: Floats) -> str:
    """Why so small a sample is refused, and what to do."""
    which = ", ".join(f"{m:,.0f} of value {show(float(value))}" for value, m in zip(values, found, strict=True))
    return (
        f"{source}: naive_bayes takes P of every value from rows seen at random, and there are {rows:,.0f}"
        + (f" ({which})" if which else "")
        + f": too few to tell it, or its error. It needs {FEWEST_ROWS} rows, and {FEWEST} of every value that counts.\n"
        "Collect more random rows, join values into fewer bins (alike in all logs), or use "
        "propensity='logistic(features=none, offsets=item)', which needs none."
    )


def _values(log: Log) -> Floats:
    if a_log(log).feedback is Feedback.IMPLICIT or log.value is None:
        raise InputError(
            f"{log.account.source}: naive_bayes takes a pair's propensity from its value, so it needs logs with values "
            "(feedback='ratings' or conversions); implicit logs and unseen pairs have none. Use known "
            "propensities, or popularity(gamma=1) if exposure explains all of popularity.",
            code="missing-column",
            column="value",
        )
    return log.value
