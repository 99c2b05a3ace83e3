"""When, by which command and with which versions a file was written."""

from __future__ import annotations

import platform
import shlex
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from unskew import __version__
from unskew.core.text import without_secrets

PACKAGES = ("numpy", "numba", "polars", "scipy")  # whose versions may move the last digits of a number
_command: list[str] = []


def remember_command(words: Sequence[str]) -> None:
    """Keep the words that were typed on the command line."""
    _command[:] = words


def command() -> str | None:
    """The command as it could be typed again, without passwords; ``None`` where Python was asked."""
    return without_secrets(shlex.join(_command)) if _command else None


def versions() -> dict[str, str]:
    """unskew, Python, and the packages that computed something."""
    loaded = {name: getattr(sys.modules[name], "__version__", "?") for name in PACKAGES if name in sys.modules}
    return {"unskew": __version__, "python": platform.python_version(), **loaded}


def written_now() -> dict[str, Any]:
    """The account of a file that is being written, ready for JSON."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command(),
        "versions": versions(),
    }
