"""The document of a sample: what was drawn, how skewed it was and is, and what it must not be taken for."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from unskew.report import document as doc
from unskew.report import numbers, plots
from unskew.report.marks import ESTIMATORS
from unskew.report.names import tidy
from unskew.report.plots import chart, colours, field, layers, lines, points
from unskew.report.texts import glossary, section
from unskew.sampling.evenness import Evenness, Side
from unskew.sampling.record import SampleSummary

NAMES = ("before", "sample", "equal chances")


def sample_document(sample: SampleSummary) -> doc.Document:
    """What people look at."""
    sample = tidy(sample)
    counted = [f"users and items counted on {sample.train}"] * (sample.train is not None)
    random = [f"random sample {sample.mcar}"] * (sample.mcar is not None)
    kept = f"{numbers.count(sample.kept)} of {numbers.count(sample.rows)} rows by {sample.strategy}, seed {sample.seed}"
    drawn = tuple(_curve(who, side) for who, side in _sides(sample))
    swatches = tuple(doc.Swatch(name, f"var(--e{place})") for place, name in enumerate(NAMES, 1))
    cards = doc.Cards(drawn, (doc.Legend("", swatches),), fit=True)
    return doc.Document(
        title=doc.Sentence.plain(
            f"{numbers.count(sample.kept)} rows of {PurePath(sample.source).name}, drawn by {sample.strategy}"
        ),
        panel=f"Sample of {sample.source}",
        subtitle="; ".join([kept, *counted, *random]),
        summary=(
            doc.Paragraph(_opening(sample), "opening"),
            doc.Sentences(tuple(doc.Sentence.plain(text, tone) for text, tone in _findings(sample))),
        ),
        body=(section("sample.skew", cards, _table(sample)), glossary("sample")),
    )


def _sides(sample: SampleSummary) -> tuple[tuple[str, Side], ...]:
    return ("items", sample.items), ("users", sample.users)


def _opening(sample: SampleSummary) -> str:
    """How far each side's skew moved, in one sentence."""
    moved = " and ".join(
        f"from {numbers.number(side.before.kl_bits, 2)} to {numbers.number(side.after.kl_bits, 2)} bits over {who}"
        for who, side in _sides(sample)
    )
    return f"The distance to an even spread went {moved}."


def _findings(sample: SampleSummary) -> list[tuple[str, str]]:
    found = []
    if sample.share is None:
        text = (
            "A score on this sample is still a naive score, on rows that were drawn with unequal chances: it is not "
            "debiased, and propensities of the log do not hold for it."
        )
        found.append((text, "warning"))
    else:
        text = f"Every row had the same chance, {numbers.share(sample.share)}: the sample is as skewed as the log."
        found.append((text, "note"))
    for who, side in _sides(sample):
        if side.unseen and sample.share is None:
            found.append((f"{numbers.count(side.unseen)} {who} have no training row: their weight is a guess.", "note"))
        if side.rare and side.unseen:
            text = (
                f"{numbers.count(side.rare)} {who} have training rows and yet count as rarer than those without any: "
                "on a log of this size give unseen ones a smaller posterior, such as 'weighted(zero=1e-7)'."
            )
            found.append((text, "warning"))
    if sample.repeated:
        text = f"{numbers.count(sample.repeated)} rows repeat the user, item and time of an earlier row."
        found.append((f"{text} Each is a row of its own.", "note"))
    return found + [(note, "warning") for note in sample.notes]


def _table(sample: SampleSummary) -> doc.Table:
    labels = ["with a row", "KL bits", "entropy", "Gini"] + ["distance"] * (sample.mcar is not None)
    rows = tuple(
        (who, name, *_figures(part))
        for who, side in _sides(sample)
        for name, part in zip(NAMES, (side.before, side.after, side.equal), strict=True)
    )
    names = (doc.Column("", "name", once=True), doc.Column("rows", "name"))
    return doc.Table("Skew", "before and after", (*names, *(doc.Column(label) for label in labels)), rows)


def _figures(part: Evenness) -> tuple[str, ...]:
    known = (numbers.number(part.kl_bits, 3), numbers.number(part.entropy, 2), numbers.number(part.gini, 3))
    distance = () if part.distance is None else (numbers.number(part.distance, 3),)
    return numbers.count(part.present), *known, *distance


def _curve(who: str, side: Side) -> doc.Chart:
    """Which share of the items (most frequent first) has which share of the rows; the diagonal is even."""
    data: list[dict[str, Any]] = [
        {
            "x": x,
            "y": y,
            "who": name,
            "text": f"{name}: top {numbers.share(x)} of {who}, {numbers.share(y)} of the rows",
        }
        for name, part in zip(NAMES, (side.before, side.after, side.equal), strict=True)
        for x, y in part.curve
    ]
    axis = {"tickCount": 4, "format": "~%"}
    where = {
        "x": field("x:Q", axis={"title": f"share of {who}, most frequent first", **axis}),
        "y": field("y:Q", axis={"title": None, **axis}),
        "color": colours("who:N", NAMES, ESTIMATORS[: len(NAMES)]),
    }
    even = lines({"x": field("x:Q"), "y": field("y:Q")}, 1, "even", **plots.DASHED)
    spec = layers(even, lines(where), points(where, 12))
    name, label = f"Rows over {who}", f"Share of the rows by share of {who}, before and after"
    return chart(name, "the dashed line is even", label, spec, rows=data, even=[{"x": 0, "y": 0}, {"x": 1, "y": 1}])
