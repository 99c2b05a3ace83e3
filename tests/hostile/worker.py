"""A long-lived process that runs one command after another, as the command line would, and says how each ended.

A job comes as a line of JSON on the standard input: ``argv``, ``folder``, ``env``, and whether ``python`` asks.
The command's own streams go into
files of the folder, at the level of file descriptors, so that what Rust or C writes is seen too. The answer is a line
of JSON: ``code`` (None where an exception came through), ``fault``, ``peak`` (bytes of memory above those before).
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

STDOUT, STDERR = "stdout.txt", "stderr.txt"


def main() -> None:
    """Answer until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    with open(os.devnull, "rb") as nothing:
        jobs = os.fdopen(os.dup(0), "r", encoding="utf-8")
        os.dup2(nothing.fileno(), 0)
    import unskew.cli
    import unskew.evaluation

    assert unskew.cli and unskew.evaluation
    _warm_up()
    print("ready", file=answers, flush=True)
    for line in jobs:
        print(json.dumps(_done(json.loads(line))), file=answers, flush=True)


def _warm_up() -> None:
    """One honest job with every output, so that later ones are measured without loading and compiling."""
    from tests.hostile.processes import shop

    with TemporaryDirectory(prefix="hostile-worker-") as folder:
        _, argv, outputs = shop(Random(0), Path(folder))
        answer = _done({"argv": argv, "folder": folder, "env": {}, "python": False})
        assert answer["code"] == 0 and (Path(folder) / outputs[0]).exists(), (Path(folder) / STDERR).read_text()


def _done(job: dict[str, Any]) -> dict[str, Any]:
    folder = Path(job["folder"])
    os.chdir(folder)
    before = dict(os.environ)
    os.environ.update(job["env"])
    streams = [os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600) for name in (STDOUT, STDERR)]
    own = os.dup(2)
    for number, stream in enumerate(streams, start=1):
        os.dup2(stream, number)
        os.close(stream)
    start = _memory("VmRSS", reset=True)
    answer: dict[str, Any] = {"code": None, "fault": ""}
    sys.argv = ["unskew", *job["argv"]]
    try:
        if job["python"]:
            _evaluate(job["argv"])
        else:
            from unskew.cli import main as command

            command()
        answer["code"] = 0
    except SystemExit as end:
        answer["code"] = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        answer["fault"] = traceback.format_exc()
    for stream_of_text in (sys.stdout, sys.stderr):
        stream_of_text.flush()
    os.dup2(own, 2)
    os.close(own)
    answer["peak"] = _memory("VmHWM") - start
    os.chdir("/")
    os.environ.clear()
    os.environ.update(before)
    return answer


def _evaluate(argv: list[str]) -> None:
    """What a Python caller would write for this command; an error of ours is shown as a panel, others come through."""
    import unskew
    from unskew.cli.options import named

    given: dict[str, list[str]] = {}
    for arg in argv[2:]:
        option, _, value = arg.removeprefix("--").partition("=")
        given.setdefault(option, []).append(value)
    try:
        read = {
            name: unskew.read_predictions(path)
            for name, path in named("--predictions", given.get("predictions", [])).items()
        }
        result = unskew.evaluate(
            argv[1],
            {**named("--recs", given.get("recs", [])), **read},
            metrics=given["metric"],
            estimators=given["estimator"],
            propensity=given["propensity"][0],
            target=given.get("target"),
            feedback=given.get("feedback", [None])[0],
            invalid=given.get("invalid", ["error"])[0],  # type: ignore[arg-type]
        )
        result.to_json(given["json"][0])
    except unskew.UnskewError as error:
        sys.stderr.write(f"╭\n{error}\n╰\n")
        sys.exit(2)


def _memory(what: str, *, reset: bool = False) -> int:
    if reset:
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(what)).split()[1]) << 10


if __name__ == "__main__":
    main()
