"""The command line for tests: ``unskew`` runs a command in a process that is kept, ``process`` in one of its own."""

from __future__ import annotations

import atexit
import json
import os
import re
import select
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

SECONDS = 600.0  # generous: a busy machine is no failure
PLAIN = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
ROOT = Path(__file__).parents[2]

Done = subprocess.CompletedProcess[str]


def process(*arguments: str | Path, cwd: Path | None = None) -> Done:
    """Run a command in a process of its own, as a person does."""
    command = [sys.executable, "-m", "unskew", *map(str, arguments)]
    how = {"capture_output": True, "text": True, "timeout": SECONDS, "check": False}
    return subprocess.run(command, cwd=cwd, env={**os.environ, **PLAIN}, **how)  # type: ignore[call-overload, no-any-return]


def unskew(*arguments: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Done:
    """Run a command in the process that is kept for all commands of this worker: the same answers, sooner."""
    own = dict(env or {**os.environ, **PLAIN})
    server = _server(own["COLUMNS"])
    assert server.stdin is not None and server.stdout is not None
    argv = [str(argument) for argument in arguments]
    job = {"argv": argv, "folder": str((cwd or Path.cwd()).resolve()), "env": own}
    server.stdin.write(json.dumps(job) + "\n")
    server.stdin.flush()
    ready, _, _ = select.select([server.stdout], [], [], SECONDS)
    line = server.stdout.readline() if ready else ""
    if not line:
        server.kill()
        _server.cache_clear()
        raise RuntimeError(f"unskew {' '.join(argv)}: " + (f"died by {server.wait()}" if ready else "takes too long"))
    answer = json.loads(line)
    return Done(argv, answer["code"], answer["stdout"], answer["stderr"])


def code_of(text: str) -> str:
    """The code of the error in the one panel, from its lower border; empty where it has none."""
    assert text.count("╭") == 1 and "Traceback" not in text, text
    (code,) = re.findall(r"╰─+(?: ([a-z-]+) ─)?─*╯", text)
    return str(code)


def refused(done: Done, code: str, *pieces: str) -> None:
    """One panel with this code, which names these things."""
    assert done.returncode == 2 and code_of(done.stderr) == code, done.stderr
    assert all(piece in flat(done.stderr) for piece in pieces), done.stderr


def flat(text: str) -> str:
    """The text without the panel's frame and line breaks."""
    return re.sub(r"[\s│]+", " ", text)


@cache
def _server(columns: str) -> subprocess.Popen[str]:
    """One for each width: the console takes it when it is loaded."""
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.cli.server"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", cwd=ROOT,
        env={**os.environ, **PLAIN, "COLUMNS": columns},
    )  # fmt: skip
    assert server.stdin is not None
    atexit.register(server.stdin.close)
    return server
