"""``--require``: statements that a pipeline needs, read before the work and answered after it by the exit code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unskew.cli import options
from unskew.cli.console import err, fail, out
from unskew.cli.flags import with_flags
from unskew.core.errors import InputError, RefusedError
from unskew.requirement import Reply, Requirements, Statement

if TYPE_CHECKING:
    from unskew.core.showing import Shown


def check(statements: Sequence[str], models: Iterable[str], metrics: Sequence[str]) -> None:
    """Refuse a statement that cannot be read; which segments there will be is not known yet."""
    if not statements:
        return
    from unskew.metrics import make

    names, known = list(models), [str(make(metric)) for metric in metrics]
    for text in statements:
        try:
            Statement.parse(text, names, known, make, None)
        except InputError as error:
            raise InputError(f"--require: {error}", code=error.code, **error.fields) from None


@contextmanager
def refusals_undecided(statements: Sequence[str]) -> Iterator[None]:
    """Where something is required, a log that cannot support what was asked leaves it undecided."""
    try:
        yield
    except RefusedError as error:
        if not statements:
            raise
        fail(with_flags(str(error)), Reply.UNDECIDED.exit_code, code=error.code)


def show_and_write(result: Shown, statements: Sequence[str], quiet: bool, **paths: Path | None) -> int:
    """Print and write a result with the answers to the statements; gives back the exit code."""
    if not statements:
        options.show_and_write(result, quiet, **paths)
        return 0
    try:
        found: Requirements = result.require(*statements)  # type: ignore[attr-defined]
    except InputError as error:  # a margin that nothing could miss: known only now
        options.show_and_write(result, quiet, **paths)
        raise InputError(f"--require: {error}", code=error.code, **error.fields) from None
    options.show_and_write(_with(result, found), quiet, **paths)
    console = err if options.piped(paths.get("json")) else out
    for item in () if quiet else found:
        console.print(f"required: {item.statement}\n{item.answer}: {with_flags(item.reason)}", soft_wrap=True)
    return found.exit_code


def _with(result: Any, found: Requirements) -> Any:
    """The result with what was required of it: of a cross-validation, the average over folds."""
    if hasattr(result, "macro"):
        return replace(result, macro=replace(result.macro, requirements=found.items))
    return replace(result, requirements=found.items)
