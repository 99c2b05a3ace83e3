"""The charts of ``unskew demo --anchored`` as pictures for docs/ask.md: ``python docs/ask.py`` (``make pictures``).

``python docs/ask.py 40`` walks through the demo with the seeds 0 … 39 instead, and prints how often its story holds.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from unskew.report import document as doc
from unskew.report import document_of
from unskew.report.svg import draw
from unskew.report.view import View
from unskew.report.words import decided
from unskew.simulate.anchored_demo import anchored_demo

HERE = Path(__file__).parent
NAMES = ("ask-power", "ask-before-after", "ask-values")
LOOK = 'xmlns="http://www.w3.org/2000/svg" style="background:#fff;font-family:sans-serif"'
SIZE = re.compile(r'width="(\d+)" height="(\d+)" viewBox="0 0 [\d.]+ [\d.]+"')
SIDE = 20  # beside what was drawn: another font may be wider


def charts(blocks: Sequence[doc.Block]) -> Iterator[doc.Chart]:
    """The charts of a page, in order."""
    for block in doc.shown_in(doc.Medium.PAGE, blocks):
        if isinstance(block, doc.Section):
            yield from charts(block.blocks)
        elif isinstance(block, doc.Cards):
            yield from (card for card in block.cards if isinstance(card, doc.Chart))


def alone(svg: str) -> str:
    """An inline chart as a file of its own."""

    def wider(found: re.Match[str]) -> str:
        width, height = int(found[1]) + 2 * SIDE, int(found[2])
        return f'width="{width}" height="{height}" viewBox="{-SIDE} 0 {width} {height}"'

    text, count = SIZE.subn(wider, svg, count=1)
    assert count == 1, svg[:200]
    return text.replace("<svg ", f"<svg {LOOK} ", 1) + "\n"


def count(seeds: int) -> None:
    """How often the log decides, how often the answers do and are right, and how often intervals hold the truth."""
    alone = right = wrong = held = values = inside = 0
    for seed in range(seeds):
        demo = anchored_demo(seed=seed)
        view = View.of(demo.before)
        assert view.headline is not None and demo.verdict is not None
        alone += any(decided(v) for v in view.verdicts(view.headline, view.carrier(view.headline)))
        right, wrong = right + (demo.agrees is True), wrong + (demo.agrees is False)
        held += demo.verdict.low <= demo.lead <= demo.verdict.high
        values += sum(e.value == e.value for e in demo.estimates())
        inside += sum(e.low <= demo.truth[e.model] <= e.high for e in demo.estimates())
    print(f"{seeds} shops: the log alone decides {alone}; with answers {right} right, {wrong} wrong")
    print(f"intervals that hold the truth: {held} of {seeds} differences, {inside} of {values} values")


def main() -> None:
    """Write docs/images/ask-*.svg."""
    for name, chart in zip(NAMES, charts(document_of(anchored_demo()).body), strict=True):
        path = HERE / "images" / f"{name}.svg"
        path.write_text(alone(draw(chart)), encoding="utf-8")
        print(f"wrote {path.relative_to(HERE.parent)}")


main() if len(sys.argv) == 1 else count(int(sys.argv[1]))
