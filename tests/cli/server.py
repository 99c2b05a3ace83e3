"""A process that runs one command after another, so that tests don't pay for loading the library each time.

A job comes as a line of JSON on the standard input: ``argv``, ``folder``, ``env``. The command's own streams are caught
at the level of file descriptors, so that what Rust or C writes is seen too. The answer is a line of JSON: ``code``,
``stdout``, ``stderr``.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback
from typing import Any


def main() -> None:
    """Answer until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    jobs = os.fdopen(os.dup(0), "r", encoding="utf-8")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    for line in jobs:
        print(json.dumps(_done(**json.loads(line))), file=answers, flush=True)


def _done(argv: list[str], folder: str, env: dict[str, str]) -> dict[str, Any]:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["unskew", *argv]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        code = _code()
        sys.stdout.flush()
        sys.stderr.flush()
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "backslashreplace"))
    os.chdir("/")
    return {"code": code, "stdout": texts[0], "stderr": texts[1]}


def _code() -> int:
    """The exit code that a process of its own would end with."""
    from unskew.cli import main as command

    try:
        command()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    main()
