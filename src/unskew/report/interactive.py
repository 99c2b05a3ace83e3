"""The charts of a document as an altair chart, which notebooks show: with legends and tooltips of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from unskew.core.errors import InputError, MissingExtraError
from unskew.report.document import Block, Cards, Chart, Document, Folded, Only, Section, SideBySide


def interactive(document: Document) -> Any:
    """All charts of a document, below each other."""
    try:
        import altair
    except ImportError:
        raise MissingExtraError("a plot", "report") from None
    found = [altair.Chart.from_dict(_with_legends(chart)) for chart in charts_of(document)]
    if not found:
        raise InputError(f"'{document.title}': there is nothing to draw.", code="nothing-to-draw")
    if len(found) == 1:
        return found[0]
    for chart in found:
        chart.autosize = altair.Undefined  # altair refuses it inside a stack
    return altair.vconcat(*found)


def charts_of(document: Document) -> list[Chart]:
    """All charts of a document."""
    return list(_charts(document.body))


def _charts(blocks: Iterable[Block]) -> Iterator[Chart]:
    for block in blocks:
        if isinstance(block, Section | Folded | Only):
            yield from _charts(block.blocks)
        elif isinstance(block, SideBySide):
            yield from _charts(block.sections)
        elif isinstance(block, Cards):
            yield from (card for card in block.cards if isinstance(card, Chart))


def _with_legends(chart: Chart) -> dict[str, Any]:
    """The specification of a chart that stands alone; pages have legends beside their charts."""
    layers = [
        {**layer, "data": {"values": chart.data[layer["data"]["name"]]}, "encoding": _read(layer["encoding"])}
        for layer in chart.spec["layer"]
    ]
    alone = {key: value for key, value in chart.spec.items() if key != "autosize"}  # which only whole pictures have
    return {**alone, "layer": layers, "title": chart.name}


def _read(encoding: Mapping[str, Any]) -> dict[str, Any]:
    shown = {
        name: {key: value for key, value in channel.items() if key != "legend"}
        if name in ("color", "shape")
        else channel
        for name, channel in encoding.items()
    }
    return shown | ({"tooltip": shown["description"]} if "description" in shown else {})
