"""What people look at: a result, an audit, a comparison or a check becomes a document, and any document is shown.

Nothing is computed here; every number is one that the result or the audit holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from unskew.auditing import Audit
from unskew.cross_validation import CrossValidation
from unskew.design import Plan
from unskew.evaluation.comparison import PropensityComparison
from unskew.propensity.checks import Checks
from unskew.protocols import PolicyImpact, ProtocolComparison
from unskew.report import html, terminal
from unskew.report.anchored_demo_document import anchored_demo_document
from unskew.report.anonymous import without_ids
from unskew.report.audit_document import audit_document
from unskew.report.checks_document import checks_document
from unskew.report.comparison_document import comparison_document
from unskew.report.cross_validation_document import cross_validation_document, lines_document
from unskew.report.document import Document
from unskew.report.interactive import interactive
from unskew.report.leaderboard import leaderboard
from unskew.report.plan_document import plan_document
from unskew.report.policies_document import policies_document
from unskew.report.protocols_document import protocols_document
from unskew.report.result_document import result_document
from unskew.report.sample_document import sample_document
from unskew.report.shop_demo_document import shop_demo_document
from unskew.report.split_document import split_document
from unskew.report.study_document import study_document
from unskew.report.words import headline, sentences
from unskew.result import Result
from unskew.sampling.record import SampleSummary
from unskew.shown import Shown
from unskew.simulate.anchored_demo import AnchoredDemo
from unskew.simulate.shop_demo import ShopDemo
from unskew.split import Splits, SplitSummary
from unskew.studies.recovery.result import StudyResult

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["document_of", "headline", "leaderboard", "notebook", "page", "panel", "plot", "sentences"]

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
    StudyResult: study_document,
}
_PICTURES: dict[type, Callable[[Any], Document]] = {CrossValidation: lines_document}  # where a page has more charts


def document_of(shown: Shown) -> Document:
    """What is shown of it, as plain data."""
    return _BUILDERS[type(shown)](shown)


def page(shown: Shown, *, written: Mapping[str, Any] | None = None, anonymous: bool = False) -> str:
    """One self-contained HTML page.

    Args:
        written: date, command and versions for its foot (``unskew.provenance``).
        anonymous: leave out quoted ids, names of files and the command.
    """
    document = document_of(shown)
    if anonymous:
        document, written = without_ids(document), None if written is None else {**written, "command": None}
    return html.page(document, written)


def notebook(shown: Shown) -> str:
    """A small piece of HTML."""
    return html.notebook(document_of(shown))


def panel(shown: Shown) -> RenderableType:
    """Something that rich prints."""
    return terminal.panel(document_of(shown))


def plot(shown: Shown) -> Any:
    """Its charts as one altair chart."""
    return interactive(_PICTURES.get(type(shown), document_of)(shown))
