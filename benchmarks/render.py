"""What ``results/core.json`` says: tables for the terminal and the page, and the promises."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from promise import SECONDS, Promise, as_fast, as_long, at_most
from store import Measured, busy, conditions, table
from workloads import LISTS, PARQUET

CLOSE = 1e-6
OURS = "unskew"
FAMILIES = ("recall", "ndcg", "map")

Results = Mapping[str, Any]
Row = tuple[str, ...]


@dataclass(frozen=True)
class Section:
    """One table with a sentence or two above it, and the part of the page in which it stands."""

    heading: str
    title: str
    header: Row
    rows: list[Row]
    text: str = ""


def tables(results: Results) -> list[Section]:
    """Every table that the results can fill."""
    found = [
        Section(
            LISTS,
            "From arrays",
            ("library", "seconds", "unskew is", "CPU seconds", "building its structures", "peak MB"),
            comparison(results, "arrays", build=True),
            "Metrics of one model's lists, from each library's own structures in memory, compiled code warmed up.",
        ),
        Section(
            LISTS,
            "Same numbers",
            ("library", "version", *FAMILIES),
            agreement(results),
            f"Largest difference from unskew over all cut-offs; “=” is less than {CLOSE:g}.",
        ),
        Section(
            PARQUET,
            "Full tables from files",
            ("library", "result", "seconds", "unskew is", "CPU seconds", "peak MB"),
            comparison(results, "files", build=False),
            "Two models, in a fresh process, imports not counted. The others compute their naive metrics; unskew "
            "checks its inputs and estimates all metrics by naive, snips and gs, with intervals and verdicts. The same "
            "estimates by hand in polars, with standard errors and differences but without checks and verdicts, are "
            "`benchmarks/peers/peer_polars_full.py`.",
        ),
        Section(
            PARQUET,
            "A fresh process, start to end",
            ("unskew", "seconds", "peak MB"),
            alone(results),
            "The evaluations count the start of the interpreter and imports; the import rows count imports alone.",
        ),
    ]
    return [section for section in found if section.rows]


def sections(found: Measured) -> dict[str, str]:
    """Both parts of the page."""
    size = found["size"]
    kept = found.get("statistic", "the shortest")
    parts = {
        LISTS: [
            f"`python benchmarks/run.py` on {conditions(found)}.",
            f"The work: {size['users']:,} users, {size['items']:,} items, top-{size['length']} lists, {size['test']} "
            "held-out items per user; recall, ndcg and map at 5, 10, 20 and 100. Each library runs in an environment "
            f"of its own, one process at a time; {kept} of several runs. Map divides by all held-out items; the ideal "
            "of ndcg holds min(k, held-out) items. “Plain polars” is a query without a metrics library, shown for "
            "scale.",
        ],
        PARQUET: ["The data and the libraries are those of the metrics from lists."],
    }
    for section in tables(found):
        lines = "\n".join(table(section.header, section.rows))
        parts[section.heading] += [f"### {section.title}", section.text, lines]
    return {heading: "\n\n".join(texts) for heading, texts in parts.items()}


def promises(found: Measured | None) -> list[Promise]:
    """Our promises; they are about the full size."""
    results: Results = found or {"ours": {}, "peers": {}}
    ours = {name: job for name, job in results["ours"].items() if "error" not in job}
    others: dict[str, Any] = {"busy": found is not None and busy(found)}

    def fastest(job: str, which: Callable[[str, Mapping[str, Any]], bool]) -> tuple[Measured | None, str]:
        """The job of the fastest library of a kind, and its name."""
        rivals = [
            (peer[job]["seconds"], peer["title"], peer[job])
            for name, peer in results["peers"].items()
            if which(name, peer) and "error" not in peer[job]
        ]
        return (min(rivals)[2], min(rivals)[1]) if rivals else (None, "")

    def beside(what: str, asked: float, job: str, which: Callable[[str, Mapping[str, Any]], bool]) -> Promise:
        theirs, title = fastest(job, which)
        return as_fast(what, asked, ours.get(job), theirs, found, beside=title)

    def seconds(name: str, field: str) -> float | None:
        return float(ours[name][field]) if name in ours else None

    polars, _ = fastest("files", lambda _, peer: bool(peer.get("same_work")))
    more = None
    if "bootstrap" in ours and "files" in ours:
        more = ours["bootstrap"]["seconds"] - ours["files"]["seconds"]
    whole = "full table from files"
    return [
        beside(
            "kernels from arrays, beside the fastest library",
            100,
            "arrays",
            lambda _, peer: peer["bar"] and not peer["by_hand"],
        ),
        beside("kernels from arrays, beside ranx aligned by hand", 60, "arrays", lambda _, peer: peer["by_hand"]),
        beside(f"{whole}, beside RecTools", 5, "files", lambda name, _: name == "rectools"),
        beside(f"{whole}, beside ranx aligned by hand", 2.5, "files", lambda _, peer: peer["by_hand"]),
        as_long(f"{whole}, times plain polars on the same work", 1.5, ours.get("files"), polars, found),
        at_most("1,000 bootstrap replicates, besides", 5, more, SECONDS, **others),
        at_most("importing until `unskew.evaluate` is there", 0.5, seconds("import", "ready"), SECONDS, **others),
        at_most("first `evaluate`, nothing compiled yet", 15, seconds("cold", "wall"), SECONDS, **others),
        at_most("second `evaluate`", 5, seconds("second", "wall"), SECONDS, **others),
    ]


def comparison(results: Results, job: str, *, build: bool) -> list[Row]:
    """Libraries from fastest to slowest, ours among them."""
    ours = results["ours"].get(job, {})
    titled = [(peer["title"], peer[job]) for peer in results["peers"].values()]
    titled += [(OURS, ours)] if ours else []
    whole = {OURS, *(peer["title"] for peer in results["peers"].values() if peer.get("same_work"))}
    rows = []
    for title, measured in sorted(titled, key=lambda one: one[1].get("seconds", float("inf"))):
        kind = () if build else ("full table" if title in whole else "naive metrics",)
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
