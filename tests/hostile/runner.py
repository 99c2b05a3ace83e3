"""Workers and their watchdog: a job that takes too long or too much memory costs its worker, and another one starts."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.worker import STDERR, STDOUT

SECONDS = 20.0  # for a tiny input
MEMORY = 700 << 20  # bytes above what the worker had before
_FIRST = 300.0  # the first job of a worker compiles


@dataclass(frozen=True)
class Run:
    """How a command ended.

    Args:
        code: its exit code, None where it did not end by itself.
        ended: "" or "hang", "memory", "died" (by a signal), "exception" (one that came through).
        text: what it wrote to the terminal.
    """

    code: int | None
    ended: str
    stdout: str
    stderr: str
    seconds: float


class Worker:
    """One process that does jobs."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.env = dict(env)
        self.process: subprocess.Popen[str] | None = None

    def run(
        self, argv: list[str], folder: Path, env: Mapping[str, str], *, python: bool = False, seconds: float = SECONDS
    ) -> Run:
        """Run one command in a folder, or what a Python caller would write in its place."""
        process = self._ready()
        assert process.stdin is not None and process.stdout is not None
        began = time.monotonic()
        job = json.dumps({"argv": argv, "folder": str(folder), "env": dict(env), "python": python})
        process.stdin.write(job + "\n")
        process.stdin.flush()
        ended = self._watch(process, seconds * crowd())
        took = time.monotonic() - began
        code = None
        if not ended:
            line = process.stdout.readline()
            if not line:
                ended = f"died by signal {-process.wait()}"
            else:
                answer = json.loads(line)
                code = answer["code"]
                ended = "exception" if answer["fault"] else "memory" if answer["peak"] > MEMORY else ""
                if answer["fault"]:
                    (folder / "fault.txt").write_text(answer["fault"], errors="backslashreplace")
        return Run(code, ended, _text(folder / STDOUT), _text(folder / STDERR), took)

    def _ready(self) -> subprocess.Popen[str]:
        if self.process is None or self.process.poll() is not None:
            command = [sys.executable, "-m", "tests.hostile.worker"]
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **self.env}
            )
            assert self.process.stdout is not None
            if self._watch(self.process, _FIRST) or not self.process.stdout.readline():
                raise RuntimeError("a worker cannot even do an honest job: see what it wrote")
        return self.process

    def _watch(self, process: subprocess.Popen[str], seconds: float) -> str:
        """Wait for the answer; end the process where none comes in time, or where memory runs away."""
        assert process.stdout is not None
        until, start = time.monotonic() + seconds, _resident(process.pid)
        while not select.select([process.stdout], [], [], 0.2)[0]:
            late, fat = time.monotonic() > until, _resident(process.pid) - start > 2 * MEMORY
            if late or fat:
                process.kill()
                process.wait()
                return "hang" if late else "memory"
        return ""

    def close(self) -> None:
        """End the process."""
        if self.process is not None and self.process.poll() is None:
            assert self.process.stdin is not None
            self.process.stdin.close()
            self.process.wait(timeout=30)


def crowd() -> float:
    """How many times longer everything takes, since others want the processors too."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "backslashreplace") if path.exists() else ""
