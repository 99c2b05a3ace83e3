"""Files appear whole or not at all: written beside their place, then renamed into it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unskew.errors import InputError


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """A temporary path beside ``path`` that takes its place when the block ends well, and vanishes when it does not."""
    final = Path(path)
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{final}: cannot be written: {error.strerror}.") from None
    temporary = final.with_name(f".{final.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        os.replace(temporary, final)
    except OSError as error:
        raise InputError(f"{final}: cannot be written: {error.strerror or error}.") from None
    finally:
        temporary.unlink(missing_ok=True)
