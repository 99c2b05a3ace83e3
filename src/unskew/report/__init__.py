"""What people look at: a page, a terminal panel, a notebook cell, and the verdicts in plain words.

Nothing is computed here; every number is one that the result or the audit holds.
"""

from unskew.report.audit_html import audit_notebook, audit_page
from unskew.report.audit_terminal import audit_panel
from unskew.report.checks_html import checks_notebook, checks_page
from unskew.report.checks_terminal import checks_panel
from unskew.report.comparison_html import comparison_notebook, comparison_page
from unskew.report.comparison_terminal import comparison_panel
from unskew.report.html import notebook, page
from unskew.report.terminal import panel
from unskew.report.words import headline, sentences

__all__ = [
    "audit_notebook",
    "audit_page",
    "audit_panel",
    "checks_notebook",
    "checks_page",
    "checks_panel",
    "comparison_notebook",
    "comparison_page",
    "comparison_panel",
    "headline",
    "notebook",
    "page",
    "panel",
    "sentences",
]
