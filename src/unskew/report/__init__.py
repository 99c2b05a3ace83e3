"""What people look at: a page, a terminal panel, a notebook cell, and the verdicts in plain words.

Nothing is computed here; every number is one that the result or the audit holds.
"""

from unskew.report.audit_html import audit_notebook, audit_page
from unskew.report.audit_terminal import audit_panel
from unskew.report.html import notebook, page
from unskew.report.terminal import panel
from unskew.report.words import sentences

__all__ = ["audit_notebook", "audit_page", "audit_panel", "notebook", "page", "panel", "sentences"]
