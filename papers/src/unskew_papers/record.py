"""A number of ours beside the paper's, and whether it is met, by a rule that stands beside it.

A rule is one of

    Near        |ours − reference| ≤ absolute + relative·|reference| + errors·√(se² + their_se²)
    Below       ours ≤ factor · reference
    Above       ours ≥ factor · reference
    Among       low ≤ reference ≤ high: between quantiles of what such an experiment gives when it is repeated

The reference is the paper's number, or a number of our own where the paper makes a claim without printing one ("ips is
never worse than naive"). Numbers are *met* or *missed*; a missed one that chance alone may have missed, being within
two standard errors of the paper's (both errors counted), says so. Claims *hold* or *fail*; where chance could turn the
answer, the margin by which they do being within two of its standard errors (paired over runs, ``repeated.py``), they
are *undecided*, with a word on which way they point. Claims about exact numbers have no error and are always decided.
What cannot be judged (a spread over one run, an error that nobody knows) is *not judged*, and counted as such.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from unskew import InputError
from unskew.core import atomic_file, plain_path, strict_json
from unskew.core import plain as plain_text
from unskew.core import write_json as write_whole
from unskew.log import read_small
from unskew.result import plain

LARGEST = 100_000_000  # bytes of a file of records
ERRORS = 2.0  # standard errors that chance is granted


class Verdict(StrEnum):
    """What came of it."""

    MET = "met"
    MISSED = "missed"
    NEARLY = "missed, within two standard errors"
    HOLDS = "holds"
    LIKELY = "undecided, rather holds"
    UNLIKELY = "undecided, rather fails"
    FAILS = "fails"
    OPEN = "not judged"  # there is a rule, but not what it needs
    UNJUDGED = "no claim"  # shown for its own sake

    @property
    def good(self) -> bool:
        """Whether nothing is wrong."""
        return self not in (Verdict.MISSED, Verdict.NEARLY, Verdict.FAILS)

    @property
    def undecided(self) -> bool:
        """Whether more runs may turn it."""
        return self in (Verdict.LIKELY, Verdict.UNLIKELY)


class Rule(Protocol):
    """How a number is judged."""

    def margin(self, ours: float, reference: float, error: float) -> float:
        """By how much the rule is kept, negative where it is broken; NaN where it needs what is not known.

        Args:
            error: the standard error of ours − reference.
        """
        ...

    def words(self, reference: str) -> str:
        """The rule in words."""
        ...


@dataclass(frozen=True)
class Near:
    """Within a tolerance: a constant, a share of the reference, and a number of standard errors.

    Args:
        absolute, relative: for what is rounded or depends on choices that the paper does not tell.
        errors: for what is random; in standard errors of the difference.
    """

    absolute: float = 0.0
    relative: float = 0.0
    errors: float = 0.0

    def margin(self, ours: float, reference: float, error: float) -> float:
        """How far the distance is within the tolerance."""
        allowed = self.absolute + self.relative * abs(reference)
        if self.errors:
            allowed += self.errors * error
        return allowed - abs(ours - reference)

    def words(self, reference: str) -> str:
        """The tolerance."""
        parts = [f"{self.absolute:g}"] if self.absolute else []
        parts += [f"{100 * self.relative:g} %"] if self.relative else []
        parts += [f"{self.errors:g} standard errors"] if self.errors else []
        return f"within {' + '.join(parts) or '0'} of {reference}"


@dataclass(frozen=True)
class Below:
    """At most the reference, times a factor."""

    factor: float = 1.0

    def margin(self, ours: float, reference: float, error: float) -> float:
        """How far ours is below."""
        return self.factor * reference - ours

    def words(self, reference: str) -> str:
        """The bound."""
        return f"at most {'' if self.factor == 1.0 else f'{self.factor:g} × '}{reference}"


@dataclass(frozen=True)
class Above:
    """At least the reference, times a factor."""

    factor: float = 1.0

    def margin(self, ours: float, reference: float, error: float) -> float:
        """How far ours is above."""
        return ours - self.factor * reference

    def words(self, reference: str) -> str:
        """The bound."""
        return f"at least {'' if self.factor == 1.0 else f'{self.factor:g} × '}{reference}"


@dataclass(frozen=True)
class Among:
    """The reference lies in a range of what the same experiment gives when it is repeated: chance may explain it.

    Args:
        low, high: the ends of the range, NaN where nothing was repeated.
        what: what was repeated, and how much of it the range holds.
    """

    low: float
    high: float
    what: str

    def margin(self, ours: float, reference: float, error: float) -> float:
        """How far the reference is inside."""
        return float(np.minimum(reference - self.low, self.high - reference))  # NaN where either is

    def words(self, reference: str) -> str:
        """The range."""
        return f"{reference} between {self.low:.4g} and {self.high:.4g}, {self.what}"


@dataclass(frozen=True)
class Record:
    """One number of one experiment.

    Args:
        experiment: which table or figure, and which part of it, as in ``table1/mae``.
        paper: the paper's number; ``None`` where it prints none.
        se: the standard error of ours, from the spread over runs; ``None`` where nothing is random.
        rule: by which it was judged, in words; empty where it was not.
        verdict: what came of it.
        their_se: the standard error of the paper's number; ``None`` where it prints none.
        paired_se: of a claim, the standard error of the margin by which it holds or fails, both its numbers coming
            from the same runs; ``None`` where nothing is random.
    """

    experiment: str
    row: str
    column: str
    paper: float | None
    ours: float
    se: float | None
    runs: int
    rule: str
    verdict: Verdict
    their_se: float | None = None
    paired_se: float | None = None

    @property
    def deviation(self) -> float | None:
        """Ours less the paper's."""
        return None if self.paper is None else self.ours - self.paper


def judged(
    experiment: str,
    row: str,
    column: str,
    ours: float,
    *,
    paper: float | None = None,
    se: float | None = None,
    runs: int = 1,
    rule: Rule | None = None,
    reference: tuple[str, float] | None = None,
    their_se: float | None = None,
    paired_se: float | None = None,
) -> Record:
    """A record with its verdict.

    Args:
        rule: how it is judged; without one it is only shown.
        reference: name and value of a number of ours to hold it against, which makes it a claim; by default the
            paper's.
        their_se, paired_se: see ``Record``.
    """
    if rule is None or (paper is None and reference is None):
        return Record(experiment, row, column, paper, ours, se, runs, "", Verdict.UNJUDGED, their_se)
    name, value = reference or ("the paper's", paper)
    assert value is not None
    error = math.hypot(se or 0.0, their_se or 0.0)
    margin = rule.margin(ours, value, error) if math.isfinite(ours) and math.isfinite(value) else math.nan
    if reference is None:
        chance = se is not None and their_se is not None and abs(ours - value) <= ERRORS * error
        verdict, words = _number(margin, chance), rule.words(name)
    else:
        verdict, words = _claim(margin, paired_se or 0.0), rule.words(f"{name}, {value:.4g}")
    return Record(experiment, row, column, paper, ours, se, runs, words, verdict, their_se, paired_se)


def _number(margin: float, chance: bool) -> Verdict:
    if math.isnan(margin):
        return Verdict.OPEN
    if margin >= 0.0:
        return Verdict.MET
    return Verdict.NEARLY if chance else Verdict.MISSED


def _claim(margin: float, se: float) -> Verdict:
    if math.isnan(margin) or math.isnan(se):
        return Verdict.OPEN
    if abs(margin) < ERRORS * se:
        return Verdict.LIKELY if margin >= 0.0 else Verdict.UNLIKELY
    return Verdict.HOLDS if margin >= 0.0 else Verdict.FAILS


def write_json(path: str | Path, records: Iterable[Record], about: dict[str, Any]) -> None:
    """All records of a run, and what the run was; numbers that are none are null."""
    write_whole(path, {**about, "records": [plain(asdict(record)) for record in records]})


def read_json(path: str | Path) -> tuple[list[Record], dict[str, Any]]:
    """What ``write_json`` wrote."""
    text = read_small(path, LARGEST, "Give the JSON file of a study's records.")
    try:
        content = strict_json.loads(text)
        rows = content.pop("records")
        return [_record(row) for row in rows], content
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{plain_path(path)}: these are not records of a study: {plain_text(error)}.\nDelete the file, and run the "
            "experiment again.",
            code="damaged-file",
        ) from None


def _record(row: dict[str, Any]) -> Record:
    kinds = {"str": str, "float": (int, float), "int": int, "Verdict": str}
    for field in fields(Record):
        value, kind = row.get(field.name), str(field.type).split(" ")[0]
        missing = value is None and (field.name == "ours" or str(field.type).endswith("None"))
        if not missing and (isinstance(value, bool) or not isinstance(value, kinds[kind])):  # type: ignore[arg-type]
            raise ValueError(f"'{field.name}' is {value!r}")
    ours = math.nan if row["ours"] is None else row["ours"]
    return Record(**{**row, "ours": ours, "verdict": Verdict(row["verdict"])})


def write_csv(path: str | Path, records: Iterable[Record]) -> None:
    """One line per record, with its deviation."""
    names = [field.name for field in fields(Record)]
    with atomic_file(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow([*names, "deviation"])
        for record in records:
            cells = [getattr(record, name) for name in names] + [record.deviation]
            table.writerow(["" if cell is None or cell != cell else cell for cell in cells])  # NaN is not itself
