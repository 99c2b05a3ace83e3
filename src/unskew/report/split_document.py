"""The document of a split: its folds over time or by their sizes, what was skipped, and every fold's numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

from unskew.report import document as doc
from unskew.report import numbers
from unskew.report.fold_warnings import skipped_folds
from unskew.report.marks import ESTIMATORS, NAIVE
from unskew.report.names import tidy
from unskew.report.plots import chart, colours, field, layers, marks
from unskew.report.texts import glossary, section
from unskew.split import Splits, SplitSummary
from unskew.split.windows import Window

PARTS = ("train", "test", "skipped")
COLOURS = (ESTIMATORS[0], ESTIMATORS[3], NAIVE)
VARIABLES = ("e1", "e4", "naive")  # the same in the page's style sheet
SHOWN = 10  # skipped windows that a terminal lists
STEP = 15  # height of a fold


def split_document(found: SplitSummary | Splits) -> doc.Document:
    """What people look at."""
    splits = tidy(found.without_rows() if isinstance(found, Splits) else found)
    timed = any(fold.window is not None for fold in splits.folds)
    picture = _over_time(splits) if timed else _by_size(splits)
    swatches = tuple(
        doc.Swatch(name, f"var(--{colour})") for name, colour in zip(_parts(splits), VARIABLES, strict=False)
    )
    number = f"{numbers.count(len(splits.folds))} fold" + "s" * (len(splits.folds) != 1)
    return doc.Document(
        title=doc.Sentence.plain(f"{number} of {PurePath(splits.source).name} by {splits.splitter}"),
        panel=f"{number} of {splits.source}",
        subtitle=f"{numbers.count(splits.rows)} rows by {splits.splitter}",
        summary=(
            doc.Paragraph(_opening(splits), "opening"),
            doc.Sentences(tuple(doc.Sentence.plain(text, "note") for text in _findings(splits))),
            doc.Sentences(skipped_folds(splits.skipped), "Skipped", SHOWN, "more", "in the manifest and on the page"),
        ),
        body=(
            section(
                "split.folds", doc.Cards((picture,), (doc.Legend("", swatches),), fit=True, inline=True), _table(splits)
            ),
            glossary("split"),
        ),
    )


def _parts(splits: SplitSummary) -> tuple[str, ...]:
    return PARTS if splits.skipped else PARTS[:2]


def _opening(splits: SplitSummary) -> str:
    """How large the parts are, in a sentence or two."""
    train = numbers.spread((fold.train_rows for fold in splits.folds), numbers.count)
    test = numbers.spread((fold.test_rows for fold in splits.folds), numbers.count)
    counted = [fold.users for fold in splits.folds if fold.users is not None]
    who = f" of {numbers.spread(counted, numbers.count)} users" if counted else ""
    share = "" if splits.share is None else f" A row was held out with probability {numbers.number(splits.share)}."
    return f"Each fold learns from {train} rows, and is judged on {test} rows{who}.{share}"


def _findings(splits: SplitSummary) -> Iterable[str]:
    if splits.skipped:
        yield f"{numbers.count(len(splits.skipped))} of {len(splits.skipped) + len(splits.folds)} windows are skipped."
    for reason, rows in splits.dropped.items():
        yield f"Not in the log: {numbers.count(rows)} rows that were read ({reason})."
    left_out: Counter[str] = Counter()
    for fold in splits.folds:
        left_out.update(fold.left_out)
    for reason, rows in left_out.items():
        yield f"Not judged, over all folds: {numbers.count(rows)} rows ({reason})."
    yield from splits.notes


def _table(splits: SplitSummary) -> doc.Table:
    timed = any(fold.window is not None for fold in splits.folds)
    names = (doc.Column("fold", "name"),) + (doc.Column("judged", "name", terminal=doc.NEVER),) * timed
    figures = tuple(doc.Column(label) for label in ("train rows", "test rows", "users", "not judged"))
    rows = tuple(
        (
            fold.label,
            *((fold.window.text if fold.window else numbers.DASH,) if timed else ()),
            numbers.count(fold.train_rows),
            numbers.count(fold.test_rows),
            numbers.count(fold.users),
            numbers.count(sum(fold.left_out.values())),
        )
        for fold in splits.folds
    )
    return doc.Table("Folds", "in order", names + figures, rows)


def _over_time(splits: SplitSummary) -> doc.Chart:
    """A bar for what each fold learns from, and one for what it judges."""
    scale = 1.0 if splits.per_second is None else 1000.0 / splits.per_second  # milliseconds, where times are dates
    data: list[dict[str, Any]] = []

    def bar(label: str, part: str, low: int, high: int, text: str) -> None:
        data.append({"fold": label, "part": part, "low": low * scale, "high": high * scale, "text": text})

    folds: list[tuple[str, Window, int, int]] = [
        (fold.label, fold.window, fold.train_rows, fold.test_rows) for fold in splits.folds if fold.window is not None
    ]
    for label, window, train, test in folds:
        since = window.since if window.since is not None else splits.first or 0
        bar(label, "train", since, window.start, f"{label}: {numbers.count(train)} training rows")
        bar(label, "test", window.start, window.end, f"{label}: {numbers.count(test)} test rows, {window.text}")
    for skip in splits.skipped:
        if skip.window is not None:
            bar(skip.label, "skipped", skip.window.start, skip.window.end, f"{skip.label}: {skip.reason}")
    windows = {label: window for label, window, _, _ in folds}
    windows |= {skip.label: skip.window for skip in splits.skipped if skip.window is not None}
    order = sorted(windows, key=lambda label: windows[label].start)
    kind = {"type": "quantitative"} if splits.per_second is None else {"type": "temporal"}
    axis = {"title": "time (UTC)" if splits.zoned else "time", "tickCount": 5, "labelOverlap": "greedy"}
    x = {**kind, "axis": axis, "scale": {"zero": False} if splits.per_second is None else {"type": "utc"}}
    encoding = {
        "y": field("fold:N", sort=order, axis={"title": None, "labelOverlap": True, "labelLimit": 0}),
        "x": {"field": "low", **x},
        "x2": field("high"),
        "color": colours("part:N", _parts(splits), COLOURS),
        "description": field("text:N"),
    }
    spec = layers(marks("rows", "bar", encoding), height={"step": STEP})
    name, label = "What each fold sees", "For each fold, the time from which it learns and the window that it judges"
    return chart(name, "no fold learns from its own window or later", label, spec, rows=data)


def _by_size(splits: SplitSummary) -> doc.Chart:
    """The rows of each fold's parts, one behind the other."""
    data = [
        {
            "fold": fold.label,
            "part": part,
            "low": low,
            "high": low + rows,
            "text": f"{fold.label}: {numbers.count(rows)} {part} rows",
        }
        for fold in splits.folds
        for part, low, rows in (("train", 0, fold.train_rows), ("test", fold.train_rows, fold.test_rows))
    ]
    encoding = {
        "y": field("fold:N", sort=None, axis={"title": None, "labelOverlap": True, "labelLimit": 0}),
        "x": field("low:Q", axis={"title": "rows", "tickCount": 5, "format": ","}),
        "x2": field("high"),
        "color": colours("part:N", _parts(splits), COLOURS),
        "description": field("text:N"),
    }
    spec = layers(marks("rows", "bar", encoding), height={"step": STEP})
    name, label = "What each fold sees", "For each fold, how many rows train and how many are held out"
    return chart(name, "rows that train and rows that are held out", label, spec, rows=data)
