"""What the commands share: consoles, errors in one panel, progress on anything longer than two seconds."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from unskew.errors import UnskewError

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)
PATIENCE = 2.0  # seconds before progress is shown


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose errors become one panel and Ctrl-C one line, both with their exit code."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except UnskewError as error:
            fail(str(error))
        except KeyboardInterrupt:
            err.print("Stopped. Nothing was half-written.")
            sys.exit(130)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(141)
        except Exception as error:
            if os.environ.get("UNSKEW_TRACEBACK"):
                raise
            fail(
                f"{type(error).__name__}: {error}\n\nThis is a fault of unskew's, not of your input. Run again with "
                "UNSKEW_TRACEBACK=1 to see where it happened, and report it."
            )

    return run


def fail(message: str) -> None:
    """Show an error and exit with 2."""
    err.print(Panel(Text(message), title="unskew cannot do this", title_align="left", border_style="red"))
    sys.exit(2)


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """A reporter (stage, done, total) that shows a bar on the terminal's error stream after two seconds."""
    if quiet:
        yield None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=err, transient=True)
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
