"""Was it right? A run is held to what its case allows."""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
from enum import StrEnum
from pathlib import Path

from tests.hostile.cases import Case
from tests.hostile.runner import Run
from unskew.inference.trust import has_no_value

CLOSE = 1e-9
_JOINER = "\u200d"


class Class(StrEnum):
    """What a run was."""

    CLEAN = "clean"  # one clear error, and nothing left behind
    RIGHT = "right"  # the oracle's numbers, with every dropped row counted
    SILENT = "silent"  # an answer, but not the oracle's
    TRACEBACK = "traceback"  # an exception, a fault of unskew's, a signal
    HANG = "hang"
    MEMORY = "memory"
    UNCLEAR = "unclear"  # an error that is not one panel, obeys control characters, or names nothing
    REFUSED = "refused"  # something that nobody should refuse
    LEFT = "left"  # files that should not be there


GOOD = (Class.CLEAN, Class.RIGHT)
Outcome = tuple[Class, str]


def classify(case: Case, run: Run, before: set[str], folder: Path) -> Outcome:
    """The class of a run, and why."""
    if fault := _fault(run):
        return fault
    if run.code == 0:
        return _answer(case, run, before, folder)
    if left := _left(case, before, folder):
        return Class.LEFT, f"after an error there are {left[:3]}"
    if complaint := _unclear(case, run):
        return Class.UNCLEAR, complaint
    if not case.refusable:
        return Class.REFUSED, flat(run.stderr)[:300]
    return Class.CLEAN, ""


def _fault(run: Run) -> Outcome | None:
    if run.ended == "hang":
        return Class.HANG, f"no end after {run.seconds:.0f} s"
    if run.ended == "memory":
        return Class.MEMORY, "too much memory"
    both = run.stdout + run.stderr
    if run.ended or "Traceback (most recent call last)" in both or "panicked at" in both:
        return Class.TRACEBACK, run.ended or flat(both)[-300:]
    if "fault of unskew's" in flat(both):
        return Class.TRACEBACK, flat(run.stderr)[-500:-80]
    if run.code not in (0, 2):
        return Class.TRACEBACK, f"exit code {run.code}: {flat(run.stderr)[:200]}"
    return None


def _answer(case: Case, run: Run, before: set[str], folder: Path) -> Outcome:
    if wrong := obeyed(run.stdout + run.stderr):
        return Class.UNCLEAR, wrong
    if not case.answerable:
        return Class.SILENT, "it must be refused, and was answered"
    if missing := [name for name in case.outputs if not (folder / name).exists()]:
        return Class.SILENT, f"it ended well, but {missing[0]} is not there"
    if left := _left(case, before | set(case.outputs), folder):
        return Class.LEFT, f"beside its outputs there are {left[:3]}"
    if case.check is not None and (complaint := case.check(folder)):
        return Class.SILENT, complaint
    if case.numbers is None:
        return Class.RIGHT, ""
    record = json.loads((folder / case.outputs[0]).read_text(encoding="utf-8"))
    if complaint := _compare(case, record):
        return Class.SILENT, complaint
    return Class.RIGHT, ""


def _left(case: Case, known: set[str], folder: Path) -> list[str]:
    """Files that should not be there; units that a command keeps are none of them, their locks and beginnings are."""
    found = files(folder) - known
    return sorted(
        n for n in found if not (case.own and n.startswith(case.own) and (folder / n).is_dir() | n.endswith(".unit"))
    )


def _compare(case: Case, record: dict[str, object]) -> str | None:
    assert case.numbers is not None
    rows = record["estimates"]
    assert isinstance(rows, list)
    found = {f"{row['model']} {row['metric']} {row['estimator']} {row['target']}": row for row in rows}
    for key, wanted in case.numbers.items():
        if key in found and has_no_value(str(found[key].get("trust", ""))):  # refused, with the reason
            continue
        value = found.get(key, {"value": None})["value"]
        if value is None or not math.isclose(value, wanted, rel_tol=CLOSE, abs_tol=CLOSE):
            return f"{key} is {value}, the oracle says {wanted}"
    if _dropped(record["inputs"]) < case.dropped:
        return f"{case.dropped} rows are wrong, {_dropped(record['inputs'])} are said to be dropped"
    return None


def _dropped(inputs: object) -> int:
    """All rows that the result says were dropped, of every input."""
    if not isinstance(inputs, dict):
        return 0
    mine = inputs.get("dropped")
    own = sum(mine.values()) if isinstance(mine, dict) else 0
    return own + sum(_dropped(value) for key, value in inputs.items() if key != "dropped")


def _unclear(case: Case, run: Run) -> str | None:
    if wrong := obeyed(run.stderr + run.stdout):
        return wrong
    if run.stderr.count("╭") != 1 or run.stderr.count("╰") != 1:
        return f"not one panel: {flat(run.stderr)[:200]}"
    message = re.sub(r"[\s│╭╮╰╯─]+", "", run.stderr)
    given = [part for arg in case.argv for part in (arg.partition("=")[2], *re.split(r"[-=(),@ ]+", arg))]
    words = [*case.inputs, *given, *(ascii(part)[1:-1] for part in given), "listsandlogs", "directory", "--"]
    if not any(re.sub(r"\s+", "", word)[:60] in message for word in words if len(word) > 1):
        return f"names neither a file nor an option: {flat(run.stderr)[:200]}"
    if len(run.stderr) > 6000:
        return f"an error of {len(run.stderr):,} characters"
    return None


def obeyed(text: str) -> str | None:
    """Characters that a terminal would act on."""
    for sign in text:
        if sign not in "\n" + _JOINER and unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            return f"the terminal would obey {sign!r}"
    return None


def flat(text: str) -> str:
    """A panel's text on one line."""
    return re.sub(r"[\s│╭╮╰╯─]+", " ", text).strip()


def files(folder: Path) -> set[str]:
    """Everything below a folder, but for what the runner itself writes."""
    ours = {"stdout.txt", "stderr.txt", "fault.txt"}
    return {str(path.relative_to(folder)) for path in folder.rglob("*")} - ours


def digests(folder: Path) -> dict[str, str]:
    """A sum of every file's content: whatever happens, inputs stay what they are."""
    there = {name: folder / name for name in files(folder)}
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in there.items()
        if not path.is_symlink() and path.is_file()
    }
