"""What results, comparisons, audits and checks have in common: they are written to files, and they show themselves."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from unskew.core.atomic import atomic_file, write_json, write_text
from unskew.core.errors import MissingExtraError
from unskew.core.outputs import refuse_same
from unskew.core.provenance import written_now
from unskew.core.text import plain_path

if TYPE_CHECKING:
    from rich.console import RenderableType

    from unskew.report.document import Document

_FORMULA = r"^(?:[\s\p{C}]*[=+\-@＝＋－＠]|[\t\r\n])"


class Text(str):
    """A text of several lines that Python shows as it is, so that it can be copied from a prompt or a notebook."""

    def __repr__(self) -> str:
        return str(self)


class Shown:
    """Something that people look at: as text, as JSON, as a page, on a terminal, in a notebook, in a paper."""

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        raise NotImplementedError

    def document(self) -> Document:
        """What people look at, of a result of another package, made of what ``unskew.report`` offers."""
        raise NotImplementedError

    def numbers(self) -> Iterable[tuple[tuple[str, ...], float]] | None:
        """Its numbers by the pieces of their flat names; without them all single numbers of ``to_dict``."""
        return None

    def _made_from(self) -> Iterable[Path]:
        """The files that must not be written over."""
        return ()

    def _keep_inputs(self, path: str | Path) -> None:
        refuse_same([(plain_path(path), Path(path))], list(self._made_from()))

    def to_json(self, path: str | Path) -> None:
        """Write everything as JSON, with the date, the command and the versions (docs/json.md)."""
        self._keep_inputs(path)
        write_json(path, self.written())

    def written(self) -> dict[str, Any]:
        """What ``to_json`` writes: ``to_dict`` with the kind of result, the date, the command and the versions."""
        return {"kind": kind_of(self), **self.to_dict(), "written": written_now()}

    def to_html(self, path: str | Path, *, anonymous: bool = False) -> None:
        """Write one self-contained page with charts.

        Args:
            anonymous: leave out ids, names of files and the command.
        """
        from unskew.report import page

        self._keep_inputs(path)
        write_text(path, page(self, written=written_now(), anonymous=anonymous))

    def summary(self) -> Text:
        """What is read first, as plain text: the verdict, how far to trust it, the warnings."""
        from unskew.report import summary

        return Text(summary(self))

    def plot(self) -> Any:
        """The main charts as one altair chart, for a notebook."""
        from unskew.report import plot

        return plot(self)

    def to_markdown(self) -> Text:
        """The tables as Markdown, with marks and notes."""
        from unskew.report import markdown_of

        return Text(markdown_of(self))

    def to_latex(self, *, unicode: bool = False) -> Text:
        """The tables as LaTeX (``booktabs``), with marks and notes.

        Args:
            unicode: keep all characters of names, for XeLaTeX and LuaLaTeX; else those that pdfLaTeX does not know are
                written as their numbers.
        """
        from unskew.report import latex_of

        return Text(latex_of(self, unicode=unicode))

    def metrics(self) -> dict[str, float]:
        """The numbers by flat names that MLflow accepts; what was refused is left out (docs/pipelines.md)."""
        from unskew.report import flat_metrics

        return flat_metrics(self)

    def log_to_mlflow(self, *, prefix: str = "") -> None:
        """Log numbers, settings, headline, warnings and the whole JSON to the active run of MLflow.

        Args:
            prefix: comes before all names, to tell several results of one run apart.
        """
        from unskew.report import log_to_mlflow

        log_to_mlflow(self, prefix)

    def __str__(self) -> str:
        return str(self.summary())

    def __rich__(self) -> RenderableType:
        from unskew.report import panel

        return panel(self)

    def _repr_html_(self) -> str:
        from unskew.report import notebook

        return notebook(self)


def kind_of(shown: Shown) -> str:
    """The kind of a result as its JSON calls it: ``Result``, ``Audit``, …"""
    return type(shown).__name__


class ShownTable(Shown):
    """Something with a table of estimates."""

    def table(self) -> pl.DataFrame:
        """The estimates as a dataframe."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """The table of estimates as a pandas frame."""
        try:
            import pandas
        except ImportError:
            raise MissingExtraError("a pandas frame", "pandas") from None
        columns = self.table().to_dict().items()  # without pyarrow, which polars would ask for
        return pandas.DataFrame({n: c.to_numpy() if c.dtype.is_numeric() else c.to_list() for n, c in columns})

    def to_csv(self, path: str | Path) -> None:
        """Write the table of estimates as CSV that is safe to open in a spreadsheet.

        A text that begins with ``=``, ``+``, ``-`` or ``@`` (also of full width, or behind blanks and line ends), a tab
        or a line end would be run as a formula there: it gets an apostrophe in front, which spreadsheets take for "this
        is text". Numbers stay as they are.
        """
        self._keep_inputs(path)
        texts = pl.col(pl.String)
        safe = pl.when(texts.str.contains(_FORMULA)).then("'" + texts).otherwise(texts)
        with atomic_file(path) as temporary, temporary.open("wb") as file:
            self.table().with_columns(safe.name.keep()).write_csv(file)

    def to_parquet(self, path: str | Path) -> None:
        """Write the table of estimates as Parquet."""
        self._keep_inputs(path)
        # Polars knows no folder whose name is no UTF-8.
        with atomic_file(path) as temporary, temporary.open("wb") as file:
            self.table().write_parquet(file)
