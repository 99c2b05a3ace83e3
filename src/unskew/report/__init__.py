"""What people look at: a result, an audit, a comparison or a check becomes a document, and any document is shown.

Nothing is computed here; every number is one that the result or the audit holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from unskew.auditing import Audit
from unskew.core.showing import Shown
from unskew.cross_validation import CrossValidation
from unskew.design import Plan
from unskew.evaluation.comparison import PropensityComparison
from unskew.propensity.checks import Checks
from unskew.protocols import PolicyImpact, ProtocolComparison
from unskew.report import document, html, latex, markdown, numbers, terminal
from unskew.report.anchored_demo_document import anchored_demo_document
from unskew.report.anonymous import without_ids
from unskew.report.audit_document import audit_document
from unskew.report.box_charts import boxes
from unskew.report.checks_document import checks_document
from unskew.report.comparison_document import comparison_document
from unskew.report.cross_validation_document import cross_validation_document, lines_document
from unskew.report.document import Cards, Document, Medium, in_brief, shown_in
from unskew.report.flat import flat_metrics
from unskew.report.interactive import charts_of, interactive
from unskew.report.leaderboard import leaderboard
from unskew.report.marks import NAIVE, colour, places
from unskew.report.names import clean, shown
from unskew.report.no_break import kept_together
from unskew.report.paper import PaperTable, document_tables, result_table
from unskew.report.plain_text import plain_text
from unskew.report.plan_document import plan_document
from unskew.report.policies_document import policies_document
from unskew.report.protocols_document import protocols_document
from unskew.report.require import require
from unskew.report.result_document import result_document
from unskew.report.result_picture import result_picture
from unskew.report.sample_document import sample_document
from unskew.report.shop_demo_document import shop_demo_document
from unskew.report.split_document import split_document
from unskew.report.tracking import log_to_mlflow as log_document
from unskew.report.words import headline, sentences
from unskew.result import Result
from unskew.sampling.record import SampleSummary
from unskew.simulate.anchored_demo import AnchoredDemo
from unskew.simulate.shop_demo import ShopDemo
from unskew.split import Splits, SplitSummary

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = [
    "NAIVE",
    "boxes",
    "clean",
    "colour",
    "document",
    "document_of",
    "flat_metrics",
    "headline",
    "latex_of",
    "leaderboard",
    "log_to_mlflow",
    "markdown_of",
    "notebook",
    "numbers",
    "page",
    "panel",
    "places",
    "plot",
    "require",
    "sentences",
    "shown",
    "summary",
]

_BUILDERS: dict[type, Callable[[Any], Document]] = {
    Result: result_document,
    AnchoredDemo: anchored_demo_document,
    Audit: audit_document,
    PropensityComparison: comparison_document,
    Checks: checks_document,
    Plan: plan_document,
    PolicyImpact: policies_document,
    ProtocolComparison: protocols_document,
    SampleSummary: sample_document,
    ShopDemo: shop_demo_document,
    Splits: split_document,
    SplitSummary: split_document,
    CrossValidation: cross_validation_document,
}
_PICTURES: dict[type, Callable[[Any], Document]] = {  # where a page has more charts
    Result: result_picture,
    CrossValidation: lines_document,
}


def document_of(shown: Shown) -> Document:
    """What is shown of it, as plain data; a result of another package says it itself (``Shown.document``)."""
    builder = _BUILDERS.get(type(shown))
    return shown.document() if builder is None else builder(shown)


def page(shown: Shown, *, written: Mapping[str, Any] | None = None, anonymous: bool = False) -> str:
    """One self-contained HTML page.

    Args:
        written: date, command and versions for its foot (``unskew.core.provenance``).
        anonymous: leave out quoted ids, names of files and the command.
    """
    document = document_of(shown)
    if anonymous:
        document, written = without_ids(document), None if written is None else {**written, "command": None}
    return html.page(kept_together(document), written)


def notebook(shown: Shown) -> str:
    """A small piece of HTML, which begins with the main charts where the extra that draws them is installed."""
    document = document_of(shown)
    picture = charts_of(_picture(shown)) if type(shown) in _PICTURES else []
    shown_already = shown_in(Medium.BRIEF, document.body)
    if picture and not any(isinstance(block, Cards) and block.inline for block in shown_already):
        document = replace(document, body=(in_brief(Cards(tuple(picture), inline=True)), *document.body))
    return html.notebook(kept_together(document))


def panel(shown: Shown) -> RenderableType:
    """Something that rich prints."""
    return terminal.panel(document_of(shown))


def plot(shown: Shown) -> Any:
    """Its charts as one altair chart."""
    return interactive(_picture(shown))


def _picture(shown: Shown) -> Document:
    return _PICTURES.get(type(shown), document_of)(shown)


def summary(shown: Shown) -> str:
    """What is read first, as plain text."""
    return plain_text(document_of(shown))


def markdown_of(shown: Shown) -> str:
    """Its tables as Markdown."""
    return markdown.markdown(_paper(shown))


def latex_of(shown: Shown, *, unicode: bool) -> str:
    """Its tables as LaTeX."""
    return latex.latex(_paper(shown), unicode=unicode)


def _paper(shown: Shown) -> list[PaperTable]:
    """Its tables for a paper: models by metrics where it has estimates of models, else what a terminal shows."""
    if isinstance(shown, Result):
        return [result_table(shown)]
    if isinstance(shown, CrossValidation):
        return [result_table(shown.macro, f", averaged over {len(shown.folds_):,} folds of {shown.split},")]
    return document_tables(document_of(shown))


def log_to_mlflow(shown: Shown, prefix: str) -> None:
    """Log it to the active run of MLflow."""
    log_document(shown, document_of(shown), prefix)
