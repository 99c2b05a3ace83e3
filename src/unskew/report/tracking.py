"""A result in the active run of MLflow: numbers, settings, what is read first, and everything as JSON.

Numbers alone would lose the marks that a page sets, so the headline, the reasons to doubt it and the warnings are tags,
and the whole JSON is an artifact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unskew.core.errors import MissingExtraError
from unskew.core.showing import Shown, kind_of
from unskew.report.document import Document
from unskew.report.flat import flat_metrics
from unskew.report.plain_text import plain_text

AT_ONCE = 900  # metrics in a request; MLflow takes 1000
LONGEST_PARAM, LONGEST_TAG = 500, 5000  # letters that all versions take


def log_to_mlflow(shown: Shown, document: Document, prefix: str) -> None:
    """Log to the active run; where none is active, MLflow starts one."""
    try:
        import mlflow
    except ImportError:
        raise MissingExtraError("logging to MLflow", "mlflow") from None
    numbers = list(flat_metrics(shown).items())
    for first in range(0, len(numbers), AT_ONCE):
        mlflow.log_metrics({f"{prefix}{name}": value for name, value in numbers[first : first + AT_ONCE]})
    everything = shown.written()
    mlflow.log_params({f"{prefix}{name}": text[:LONGEST_PARAM] for name, text in _settings(everything)})
    summary = plain_text(document)
    tags = {"kind": kind_of(shown), "headline": str(document.title), "summary": summary}
    mlflow.set_tags({f"{prefix}unskew.{name}": text[:LONGEST_TAG] for name, text in tags.items()})
    name = prefix.replace("/", "_")
    mlflow.log_dict(everything, f"{name}unskew.json")
    mlflow.log_text(summary, f"{name}unskew.txt")


def _settings(everything: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    inputs = everything.get("inputs") or everything.get("macro", {}).get("inputs") or everything
    settings = inputs.get("settings")
    for name, value in settings.items() if isinstance(settings, Mapping) else ():
        yield f"unskew.{name}", ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    yield "unskew.version", str(everything["written"]["versions"]["unskew"])
