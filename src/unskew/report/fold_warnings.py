"""What is said of folds beside their numbers: which were skipped, and what cross-validations of one log warn of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from unskew.core.notice import Notice
from unskew.cross_validation import CrossValidation
from unskew.protocols.comparison import MissingProtocol
from unskew.report import numbers
from unskew.report.document import Sentence
from unskew.report.input_words import dropped
from unskew.report.names import clean, tidy
from unskew.report.view import grouped
from unskew.report.words import unless_all
from unskew.split import Skipped

LARGER = {  # what gives more users with hits
    "sliding_window": "a longer window",
    "holdout": "a larger share of the rows",
    "leave_one_out": "a log of more users",
}


def skipped_folds(skipped: Iterable[Skipped]) -> tuple[Sentence, ...]:
    """The reason of every fold that was skipped; neighbours with one reason stand together."""
    found = []
    for reason, alike in groupby(skipped, key=lambda fold: fold.reason):
        folds = list(alike)
        name, count = clean(folds[0].label), ""
        if len(folds) > 1:
            name, count = f"{name} to {clean(folds[-1].label)}", f" ({numbers.count(len(folds))} folds)"
        found.append(Sentence.about(name, f"{count}: {clean(reason)}.", "note"))
    return tuple(found)


def not_read(found: CrossValidation) -> Iterator[str]:
    """What was dropped of the log."""
    account = found.inputs["log"]
    for text in dropped(account):
        yield f"{clean(account['source'])}: {text}."


def over_all(results: Mapping[str, CrossValidation]) -> Iterator[str]:
    """Warnings and notes of each, by name; what all of them say stands once, without names."""
    said = [(clean(text), name) for name, found in results.items() for text in (*found.warnings, *found.notes)]
    yield from unless_all(grouped(said), len(results))


def missing(lost: Iterable[MissingProtocol], called: Mapping[str, str]) -> Iterator[str]:
    """What a way of splitting cannot give, and why."""
    for m in tidy(tuple(lost)):
        what = "nothing" if m.estimator is None else f"no {m.estimator}" + (f" × {m.metric}" if m.metric else "")
        yield f"{called.get(m.protocol, m.protocol)} has {what}: {m.reason}"


def untested(rows: Iterable[tuple[str, Any]], average: str) -> Iterator[str]:
    """Values with no ratios, by where they stand, which begins with the kind of split: too few users carry them."""
    for where, models in grouped((where, v.model) for where, v in rows if v.ratio_low is None).items():
        names = ", ".join(dict.fromkeys(models))
        larger = next((text for kind, text in LARGER.items() if where.startswith(kind)), "larger test parts")
        remedy = larger if average == "pooled" else f"{larger}, or folds put together as pooled,"
        text = f"{where}: no ratio of {names} is tested, since too few users carry its value; {remedy} may help."
        yield Notice(text, code="few-users", models=models, larger=larger)
