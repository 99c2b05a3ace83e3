"""``unskew demo --anchored``: from a log that cannot decide to a verdict, told in four steps.

Over 40 seeds the log decided in none of the shops, and all verdicts from the answers agreed with the truth
(``python docs/ask.py 40``).
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from unskew.cli.console import out, progress
from unskew.cli.options import check_outputs, write_outputs, written
from unskew.core.atomic import together
from unskew.core.errors import InputError
from unskew.core.outputs import try_filling
from unskew.core.text import plain_path

STEPS = ("1. The log alone:", "2. The plan and the questions:", "4. The verdict:")


def show_anchored(users: int, items: int, seed: int, keep: Path | None, html: Path | None, quiet: bool) -> None:
    """Walk through the steps, show them, and leave the files where that is asked for."""
    check_outputs(html=html)
    from unskew.simulate.anchored_demo import FILES, anchored_demo

    if keep is not None:
        try_filling(keep)
        if there := [name for name in FILES if os.path.lexists(keep / name)]:
            raise InputError(
                f"--keep {plain_path(keep)}: {there[0]} is there already. Give another folder.", code="output-exists"
            )
    with progress(quiet) as report:
        found = anchored_demo(users, items, seed, report)
    with together():
        paths = [] if keep is None else found.write(keep)
        paths += write_outputs(found, html=html)
    if not quiet:
        out.print(found)
    if keep is not None and not quiet:
        from unskew.report.terminal import wrapped

        out.print(f"Repeat each step with the files in {plain_path(keep)}:")
        for step, command in zip(STEPS, found.commands(shlex.quote(str(keep))), strict=True):
            out.print(f"\n{step}\n{wrapped(command, 78)}", soft_wrap=True)
        out.print()
    elif not quiet:
        out.print("The files of every step, and the commands that repeat it: unskew demo --anchored --keep shop")
    written(paths, quiet)
