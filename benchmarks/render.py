"""From ``results/core.json`` to tables and to ``docs/benchmarks.md``: ``python render.py`` writes the page again."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CLOSE = 1e-6
FULL_SIZE = 100_000  # users
OURS = "unskew"
FAMILIES = ("recall", "ndcg", "map")

Results = Mapping[str, Any]
Row = tuple[str, ...]


@dataclass(frozen=True)
class Section:
    """One table with a sentence or two above it."""

    title: str
    header: Row
    rows: list[Row]
    text: str = ""


@dataclass(frozen=True)
class Floor:
    """A promise about speed, what was measured, and whether it holds."""

    promise: str
    measured: str
    holds: bool


def sections(results: Results) -> list[Section]:
    """Every table that the results can fill."""
    found = [
        Section("Promises", ("promise", "measured", ""), [verdict(floor) for floor in floors(results)]),
        Section(
            "From arrays",
            ("library", "seconds", "unskew is", "CPU seconds", "building its structures", "peak MB"),
            comparison(results, "arrays", build=True),
            "Metrics of one model's lists, from each library's own structures in memory, compiled code warmed up.",
        ),
        Section(
            "From Parquet files",
            ("library", "result", "seconds", "unskew is", "CPU seconds", "peak MB"),
            comparison(results, "files", build=False),
            "Two models, in a fresh process, imports not counted. The others compute their naive metrics; unskew "
            "checks its inputs and estimates all metrics by naive, snips and gs, with intervals and verdicts.",
        ),
        Section(
            "A fresh process, start to end",
            ("unskew", "seconds", "peak MB"),
            alone(results),
            "The evaluations count the start of the interpreter and imports; the import rows count imports alone.",
        ),
        Section(
            "Same numbers",
            ("library", "version", *FAMILIES),
            agreement(results),
            f"Largest difference from unskew over all cut-offs; “=” is less than {CLOSE:g}.",
        ),
    ]
    return [section for section in found if section.rows]


def floors(results: Results) -> list[Floor]:
    """Our promises, as far as they were measured; they are about the full size."""
    if results["size"]["users"] < FULL_SIZE:
        return []
    ours = {name: job for name, job in results["ours"].items() if "error" not in job}
    found = []

    def under(promise: str, limit: float, seconds: float) -> None:
        found.append(Floor(promise, f"{seconds:.2f} s", seconds < limit))

    for job, least, what in (
        ("arrays", 100, "kernels from arrays"),
        ("files", 3, "full table from files"),
    ):
        for by_hand, whom in ((False, "the fastest library"), (True, "a library whose arrays the caller aligned")):
            rivals = [
                (peer[job]["seconds"], peer["title"])
                for peer in results["peers"].values()
                if peer["bar"] and peer["by_hand"] is by_hand and "error" not in peer[job]
            ]
            if job in ours and rivals:
                seconds, title = min(rivals)
                ratio = seconds / ours[job]["seconds"]
                promise = f"{what} at least {least}× faster than {whom}"
                found.append(Floor(promise, f"{ratio:.1f}× ({title})", ratio >= least))
    if "bootstrap" in ours and "files" in ours:
        more = ours["bootstrap"]["seconds"] - ours["files"]["seconds"]
        under("1,000 bootstrap replicates in less than 5 s more", 5.0, more)
    if "import" in ours:
        under("`import unskew` in less than 0.5 s", 0.5, ours["import"]["seconds"])
    if "cold" in ours:
        under("first `evaluate`, nothing compiled yet, in less than 15 s", 15.0, ours["cold"]["wall"])
    if "second" in ours:
        under("second `evaluate` in less than 5 s", 5.0, ours["second"]["wall"])
    return found


def verdict(floor: Floor) -> Row:
    return floor.promise, floor.measured, "PASS" if floor.holds else "FAIL"


def comparison(results: Results, job: str, *, build: bool) -> list[Row]:
    """Libraries from fastest to slowest, ours among them."""
    ours = results["ours"].get(job, {})
    titled = [(peer["title"], peer[job]) for peer in results["peers"].values()]
    titled += [(OURS, ours)] if ours else []
    rows = []
    for title, measured in sorted(titled, key=lambda one: one[1].get("seconds", float("inf"))):
        kind = () if build else ("full table" if title == OURS else "naive metrics",)
        if "error" in measured:
            rows.append((title, *kind, measured["error"], *["–"] * (4 if build else 3)))
            continue
        ratio = measured["seconds"] / ours["seconds"] if "seconds" in ours and title != OURS else None
        built = (f"{measured['build']:.1f} s",) if build else ()
        clock, cpu = seconds(measured["seconds"]), seconds(measured["cpu"])
        rows.append((title, *kind, clock, times(ratio), cpu, *built, mb(measured)))
    return rows


def alone(results: Results) -> list[Row]:
    titles = {
        "import": "`import unskew`",
        "ready": "`import unskew` and reach for `unskew.evaluate`",
        "cold": "first `evaluate`, nothing compiled yet",
        "second": "second `evaluate`",
        "bootstrap": "`evaluate` with 1,000 bootstrap replicates",
    }
    rows: list[Row] = []
    for job, title in titles.items():
        measured = results["ours"].get("import" if job == "ready" else job)
        if measured is None:
            continue
        if "error" in measured:
            rows.append((title, measured["error"], "–"))
        else:
            whole = measured[{"import": "seconds", "ready": "ready"}.get(job, "wall")]
            rows.append((title, seconds(whole), mb(measured)))
    return rows


def agreement(results: Results) -> list[Row]:
    """How far each library's values are from ours (or from the first library's, where ours are missing)."""
    measured = [(OURS, results["ours"].get("files", {}))]
    measured += [(OURS + " kernels", results["ours"].get("arrays", {}))]
    measured += [(peer["title"], peer["arrays"]) for peer in results["peers"].values()]
    valued = [(title, one) for title, one in measured if "values" in one]
    rows = []
    for title, one in valued[1:]:
        reference = valued[0][1]["values"]
        cells = []
        for family in FAMILIES:
            if family in one.get("differs", {}):
                cells.append(f"not compared: {one['differs'][family]}")
                continue
            gap = max(abs(one["values"][name] - reference[name]) for name in reference if name.startswith(family))
            cells.append("=" if gap < CLOSE else f"{gap:.1e}")
        name, version = next(iter(one["versions"].items()))
        rows.append((title, f"{name} {version}", *cells))
    return rows


def seconds(number: float) -> str:
    return f"{number:.4f}" if number < 0.1 else f"{number:.2f}" if number < 10 else f"{number:.1f}"


def times(ratio: float | None) -> str:
    if ratio is None:
        return "–"
    if ratio < 1:
        return f"{1 / ratio:.1f}× slower"
    return f"{ratio:,.0f}× faster" if ratio >= 10 else f"{ratio:.1f}× faster"


def mb(measured: Mapping[str, Any]) -> str:
    return f"{measured['peak_mb']:,.0f}"


def markdown(results: Results) -> str:
    """The page."""
    machine, size = results["machine"], results["size"]
    parts = [
        "# Benchmarks",
        f"Made by `{results['command']}` on {machine['date']}: {machine['cpu']}, {machine['cores']} cores, "
        f"{machine['memory_gib']} GiB, {machine['system']}, Python {machine['python']}. "
        f"Load when it started: {machine['load']}. The page is written from `benchmarks/results/core.json`.",
        f"The work: {size['users']:,} users, {size['items']:,} items, top-{size['length']} lists, {size['test']} "
        "held-out items per user; recall, ndcg and map at 5, 10, 20 and 100. Each library runs in an environment of "
        "its own, one process at a time. Map divides by all held-out items; the ideal of ndcg holds min(k, held-out) "
        "items. “Plain polars” is a query without a metrics library, shown for scale.",
    ]
    for section in sections(results):
        parts += [f"## {section.title}", *([section.text] if section.text else []), table(section)]
    return "\n\n".join(parts) + "\n"


def table(section: Section) -> str:
    lines = [section.header, tuple("---" for _ in section.header), *section.rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    stored = json.loads((HERE / "results" / "core.json").read_text())
    (HERE.parent / "docs" / "benchmarks.md").write_text(markdown(stored))
