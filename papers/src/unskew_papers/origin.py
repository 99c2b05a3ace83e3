"""Where records come from: commit, version, date and machine, kept beside them and said on their page."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from unskew import __version__


def made_here() -> dict[str, Any]:
    """Of records that are being written; without a commit where the package lies in no checkout."""
    python = platform.python_version()
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "version": __version__,
        "commit": _commit(Path(__file__).parent),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}, Python {python}",
    }


def where(about: Mapping[str, Any]) -> str:
    """For a page, as far as it is known."""
    if "date" not in about:
        return ""
    commit = "" if about["commit"] is None else f" at commit {about['commit']}"
    return f"; {about['date']}, unskew {about['version']}{commit}, {about['machine'] or 'machine not recorded'}"


def _commit(folder: Path) -> str | None:
    """The commit of a checkout, with a plus sign where files differ from it."""
    command = ["git", "-C", str(folder), "describe", "--always", "--abbrev=8", "--dirty=+", "--exclude=*"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return told.stdout.strip() or None
