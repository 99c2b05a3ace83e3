"""Files appear whole or not at all: written beside their place, then renamed into it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from unskew.errors import InputError


def missing_folder(path: Path) -> str:
    """What is said of a file in a folder that is not there: it may be misspelt, so that none is made."""
    return f"{path}: cannot be written: there is no folder '{path.parent}'. Make it first, or mend the path."


def folder(path: str | Path) -> Path:
    """The folder that somebody asked to be filled; made where it is missing."""
    found = Path(path)
    try:
        found.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{found}: cannot be made: {error.strerror}.") from None
    return found


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """A temporary path beside ``path`` that takes its place when the block ends well, and vanishes when it does not."""
    final = Path(path)
    if not final.parent.is_dir():
        raise InputError(missing_folder(final))
    temporary = final.with_name(f".{final.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        os.replace(temporary, final)
    except OSError as error:
        raise InputError(f"{final}: cannot be written: {error.strerror or error}.") from None
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: str | Path, content: Any) -> None:
    """Write JSON that any reader takes: what is no number must be ``None`` by now."""
    write_text(path, json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False) + "\n")
