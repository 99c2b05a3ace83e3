"""What the commands share: consoles, errors in one panel, progress on anything longer than two seconds."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, NoReturn

import typer
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from unskew.cli.flags import with_flags
from unskew.core.errors import UnskewError
from unskew.core.stopping import stopped
from unskew.core.text import plain, without_controls


class PlainConsole(Console):
    """A console that shows text as it is: no markup (``report[v2].json``), no emoji codes, control characters shown.

    It cuts nothing off (``crops``): a line that is longer than the terminal is the terminal's to wrap.
    """

    crops = False

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)

    def print(self, *objects: Any, crop: bool = False, **options: Any) -> None:
        """Print, and leave long lines whole."""
        super().print(*objects, crop=crop, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Text that is printed, or stands in a table."""
        return super().render_str(without_controls(text), **options)


out = PlainConsole()
err = PlainConsole(stderr=True)
NO_MEMORY = (
    "The memory ran out.\n\nWhat helps: Parquet files rather than CSV, only the columns that are needed, --threads 1, "
    "fewer --replicates, a sample of the users, or a machine (container, ulimit -v) with more memory."
)
TITLE = "unskew cannot do this"
PATIENCE = 2.0  # seconds before progress is shown


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose errors become one panel and Ctrl-C one line, both with their exit code."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            with file_lines(quiet=bool(kwargs.get("quiet"))):
                command(*args, **kwargs)
        except UnskewError as error:
            fail(with_flags(str(error)), code=error.code)
        except KeyboardInterrupt:
            stopped()
        except BrokenPipeError:
            nobody_reads()
        except (SystemExit, typer.Exit):
            raise
        except BaseException as error:  # a panic of polars is no Exception
            if os.environ.get("UNSKEW_TRACEBACK"):
                raise
            fail(_told(error))

    return run


@contextmanager
def file_lines(*, quiet: bool) -> Iterator[None]:
    """Show what was taken for which column of a file, each line once."""
    if quiet:
        yield
        return
    files, lines = logging.getLogger("unskew.files"), _Lines()
    level = files.level
    files.addHandler(lines)
    files.setLevel(logging.INFO)
    try:
        yield
    finally:
        files.removeHandler(lines)
        files.setLevel(level)


class _Lines(logging.Handler):
    """Prints a line beside the result, unless it was printed already."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._shown: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """One line."""
        if (text := record.getMessage()) not in self._shown:
            self._shown.add(text)
            err.print(text, soft_wrap=True)


def _told(error: BaseException) -> str:
    """What is said of an error that is not one of ours."""
    if isinstance(error, MemoryError):
        return NO_MEMORY
    if isinstance(error, OSError) and error.strerror:
        where = "" if error.filename is None else f"{plain(error.filename)}: "
        return f"{where}the system refuses: {error.strerror}."
    return (
        f"{type(error).__name__}: {plain(error, 2000)}\n\nThis is a fault of unskew's, not of your input. Run again "
        "with UNSKEW_TRACEBACK=1 to see where it happened, and report it."
    )


def fail(message: str, status: int = 2, *, code: str = "") -> NoReturn:
    """Show an error, with its code in the lower border, and exit."""
    text, below = Text(without_controls(message)), code or None
    err.print(Panel(text, title=TITLE, title_align="left", subtitle=below, subtitle_align="right", border_style="red"))
    sys.exit(status)


def nobody_reads() -> NoReturn:
    """The reader of the output is gone (``unskew … | head``): nothing more is written, and nothing is said of it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(141)


@contextmanager
def progress(quiet: bool, *, left: bool = False) -> Iterator[Callable[[str, int, int], None]]:
    """A reporter (stage, done, total) that shows a bar after two seconds, where the error stream is a terminal.

    ``left`` shows how long it will still take, where steps take about equally long.
    """
    if quiet or not err.is_terminal:
        yield lambda stage, done, total: None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    remaining = (TextColumn("left:"), TimeRemainingColumn()) if left else ()
    bar = Progress(*columns, *remaining, console=err, transient=True)
    task = bar.add_task("starting", total=1)
    began = time.monotonic()
    shown = False

    def report(stage: str, done: int, total: int) -> None:
        nonlocal shown
        if not shown and time.monotonic() - began > PATIENCE:
            bar.start()
            shown = True
        bar.update(task, description=stage, completed=done, total=total)

    try:
        yield report
    finally:
        if shown:
            bar.stop()
