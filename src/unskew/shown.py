"""What results, comparisons, audits and checks have in common: they are written to files, and they show themselves."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from unskew.atomic import atomic, write_json, write_text
from unskew.outputs import refuse_same
from unskew.plain import plain_path
from unskew.provenance import written_now

if TYPE_CHECKING:
    from rich.console import RenderableType

_FORMULA = r"^[=+\-@\t\r]"


class Shown:
    """Something that people look at: as JSON, as a page, on a terminal, in a notebook."""

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        raise NotImplementedError

    def _made_from(self) -> Iterable[Path]:
        """The files that must not be written over."""
        return ()

    def _keep_inputs(self, path: str | Path) -> None:
        refuse_same([(plain_path(path), Path(path))], list(self._made_from()))

    def to_json(self, path: str | Path) -> None:
        """Write everything as JSON."""
        self._keep_inputs(path)
        write_json(path, self.to_dict())

    def to_html(self, path: str | Path, *, anonymous: bool = False) -> None:
        """Write one self-contained page with charts.

        Args:
            anonymous: leave out ids, names of files and the command.
        """
        from unskew.report import page

        self._keep_inputs(path)
        write_text(path, page(self, written=written_now(), anonymous=anonymous))

    def __rich__(self) -> RenderableType:
        from unskew.report import panel

        return panel(self)

    def _repr_html_(self) -> str:
        from unskew.report import notebook

        return notebook(self)


class Plotted(Shown):
    """Something whose charts are worth a look of their own."""

    def plot(self) -> Any:
        """The charts of its page, as an altair chart for a notebook."""
        from unskew.report import plot

        return plot(self)


class ShownTable(Shown):
    """Something with a table of estimates."""

    def table(self) -> pl.DataFrame:
        """The estimates as a dataframe."""
        raise NotImplementedError

    def to_csv(self, path: str | Path) -> None:
        """Write the table of estimates as CSV that is safe to open in a spreadsheet.

        A text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return would be run as a formula there:
        it gets an apostrophe in front, which spreadsheets take for "this is text". Numbers stay as they are.
        """
        self._keep_inputs(path)
        texts = pl.col(pl.String)
        safe = pl.when(texts.str.contains(_FORMULA)).then("'" + texts).otherwise(texts)
        with atomic(path) as temporary, temporary.open("wb") as file:
            self.table().with_columns(safe.name.keep()).write_csv(file)

    def to_parquet(self, path: str | Path) -> None:
        """Write the table of estimates as Parquet."""
        self._keep_inputs(path)
        with atomic(path) as temporary, temporary.open("wb") as file:  # polars knows no folder whose name is no UTF-8
            self.table().write_parquet(file)
