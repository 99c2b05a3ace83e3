"""docs/benchmarks.md from the stored results, and from nothing else: ``python benchmarks/page.py``.

On top every promise with what was measured, as a table and as a picture; then what each workload has to say, by
heading (``workloads.py``). Every workload writes the page again when it ends.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import chart
from promise import Promise
from store import HERE, Measured, stored, table
from workloads import HEADINGS, WORKLOADS, Workload

PAGE = HERE.parent / "docs" / "benchmarks.md"
PICTURE = HERE.parent / "docs" / "images" / "benchmarks.svg"
Find = Callable[[str], Measured | None]

TESTED = (
    (
        "Lists from factors are those of exhaustive scores in double precision, ties included, also with equal items, "
        "zeros, and huge and tiny scales.",
        "tests/models/test_screen.py",
    ),
    (
        "All engines agree to 1e-9 on random inputs (intervals, verdicts, tipping points and warnings included), at "
        "any size of batches, partitioning and order of rows.",
        "tests/stream",
    ),
    ("The same on Spark, retried tasks included.", "tests/spark"),
    ("A worker of Spark killed midway changes no digit (`make verify`).", "tests/spark/killed_worker.py"),
)


def promised(find: Find = stored) -> list[tuple[Workload, Promise]]:
    """All promises, with the workloads that measure them, in the order of the page."""
    found = [(workload, one) for workload in WORKLOADS for one in workload.module().promises(find(workload.name))]
    return sorted(found, key=lambda pair: HEADINGS.index(pair[0].headings[0]))


def text(find: Find = stored) -> str:
    """The page."""
    promises = promised(find)
    counts = {word: sum(one.verdict == word for _, one in promises) for word in ("met", "**missed**")}
    rest = len(promises) - sum(counts.values())
    left = f"; {rest} are not measured yet, or not on a quiet machine" if rest else ""
    lines = [
        "# Benchmarks",
        "",
        "unskew and other libraries on the same work, each workload in one run on one machine. `make bench` measures "
        "everything and writes this page from `benchmarks/results/`; one workload alone: "
        "`python benchmarks/suite.py --only NAME`. "
        "`make bench-quick` tells in a few minutes whether something has become slower "
        "([how](../benchmarks/README.md)).",
        "",
        f"Of {len(promises)} promises {counts['met']} are met and {counts['**missed**']} missed{left}. A ratio is "
        "judged by the clock where the machine was quiet, and by CPU seconds (of all cores together) where others used "
        "it; both are shown.",
        "",
        "![How far each promise is kept](images/benchmarks.svg)",
        "",
        *table(("", "promise", "asked for", "measured", ""), [_row(*pair) for pair in promises]),
        "",
        "What no clock can measure is kept by tests:",
        "",
        *(f"- {words} [`{path}`](../{path})" for words, path in TESTED),
    ]
    for heading in HEADINGS:
        lines += ["", f"## {heading}"]
        for workload in WORKLOADS:
            if heading in workload.headings:
                lines += ["", _part(workload, heading, find(workload.name)).strip()]
    return "\n".join(lines) + "\n"


def _row(workload: Workload, one: Promise) -> tuple[str, ...]:
    heading = workload.headings[0]
    link = heading.lower().replace(" ", "-")
    return f"[{heading}](#{link})", one.what, one.floor, one.shown, one.verdict


def _part(workload: Workload, heading: str, found: Measured | None) -> str:
    if found is None:
        return f"Not measured yet: {workload.title}, `{workload.command}` (about {workload.minutes:g} minutes)."
    return workload.module().sections(found).get(heading, "")


def renew(page: Path = PAGE, picture: Path = PICTURE) -> None:
    """Write the page and its picture."""
    page.write_text(text(), encoding="utf-8")
    print(f"wrote {page.relative_to(HERE.parent)}", flush=True)
    chart.draw([one for _, one in promised() if one.measured is not None], picture)


if __name__ == "__main__":
    renew()
