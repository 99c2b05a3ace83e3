"""What one input is: a command, the files that it reads, and what may come out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.hostile import mutations_cells, mutations_parquet, mutations_places, mutations_text
from tests.hostile.drafts import ENDINGS, MUTATIONS, Draft, Expect
from tests.hostile.oracle import CLICKS, LISTS, PREDICTIONS, RATINGS, Numbers, Reading, errors, ranks, read, recalls
from tests.hostile.sheets import Refused
from tests.hostile.worlds import CUTS, World, draw

assert mutations_cells and mutations_parquet and mutations_places and mutations_text  # they register themselves


@dataclass
class Case:
    """One input.

    Args:
        what: the mutations, in words.
        argv: the command line behind ``unskew``; paths are relative to the case's folder.
        inputs: names of the files that a message may name.
        outputs: files that the command writes when it ends well.
        numbers: what must come out where it ends well; None: whatever it says.
        refusable: a refusal is as good.
        dropped: rows that must be counted as dropped at least.
        python: asked as a Python caller would, by ``unskew.evaluate``.
        check: what else must hold when it ended well: a complaint, or nothing.
        env: of the process.
        own: a folder that the command keeps whole units in.
    """

    what: str
    argv: list[str]
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    numbers: Numbers | None = None
    refusable: bool = True
    answerable: bool = True
    dropped: int = 0
    python: bool = False
    check: Callable[[Path], str | None] | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    own: str = ""


def spoil(draft: Draft, rng: Random, count: int) -> None:
    """Apply some mutations, those of tables before those of bytes."""
    order = {"cell": 0, "row": 0, "column": 0, "ragged": 1, "place": 2, "text": 3, "parquet": 3}
    levels = [
        *("cell", "row", "column", "cell", "row", "column", "place"),
        *(["text"] * 4 if draft.is_text else ["parquet"] * 4),
    ]
    levels += ["ragged"] * draft.is_text
    chosen = sorted((rng.choice(levels) for _ in range(count)), key=lambda level: order[level])
    for level in chosen:
        fitting = [mutation for mutation in MUTATIONS.values() if mutation.level == level and mutation.fits(draft)]
        if fitting:
            rng.choice(fitting).apply(draft, rng)


def log_case(rng: Random, folder: Path) -> Case:
    """The log is spoilt."""
    return _clicks(draw(rng), rng, folder, ("log",))


def lists_case(rng: Random, folder: Path) -> Case:
    """A file of lists is spoilt."""
    return _clicks(draw(rng), rng, folder, ("alpha",))


def both_case(rng: Random, folder: Path) -> Case:
    """The log and a file of lists are spoilt."""
    return _clicks(draw(rng), rng, folder, ("log", "beta"))


def audit_case(rng: Random, folder: Path) -> Case:
    """A log that is audited is spoilt: what must be refused is, and the rows are those that the oracle counts."""
    draft = _drafts({"log": draw(rng).log}, ("log",), rng)["log"]
    drop = rng.random() < 0.4
    path = draft.write(folder).name
    argv = ["audit", path, *(["--invalid=drop"] if drop else []), "--json=out.json"]
    case = Case(f"{draft.ending}: {', '.join(draft.done)}{'; drop' if drop else ''}", argv, [path], ["out.json"])
    if draft.expect is not Expect.ANYTHING:
        try:
            sheet = draft.careful(folder)
            used = {name: cast for name, cast in CLICKS.items() if name != "propensity" or name in sheet.header}
            read(sheet, used, drop)
        except Refused as reason:
            case.answerable = False
            case.what += f" [must be refused: {reason}]"
    return case


def predictions_case(rng: Random, folder: Path) -> Case:
    """A file of predictions is spoilt."""
    return _ratings(draw(rng), rng, folder, "alpha")


def ratings_case(rng: Random, folder: Path) -> Case:
    """A log of ratings is spoilt."""
    return _ratings(draw(rng), rng, folder, "log")


def _drafts(tables: Mapping[str, Any], spoilt: tuple[str, ...], rng: Random) -> dict[str, Draft]:
    drafts = {}
    for name, table in tables.items():
        ending = rng.choice(ENDINGS) if name in spoilt else rng.choice((".csv", ".parquet"))
        drafts[name] = Draft(name, table.copy(), ending)
        if name in spoilt:
            spoil(drafts[name], rng, rng.choice((1, 1, 2, 3)))
    return drafts


def _clicks(world: World, rng: Random, folder: Path, spoilt: tuple[str, ...]) -> Case:
    drafts = _drafts({"log": world.log, **world.lists}, spoilt, rng)
    drop = rng.random() < 0.4
    paths = {name: draft.write(folder).name for name, draft in drafts.items()}
    argv = ["evaluate", paths["log"], *(f"--recs={name}={paths[name]}" for name in world.lists)]
    argv += [f"--metric=recall@{k}" for k in CUTS]
    argv += ["--estimator=naive", "--estimator=snips", "--propensity=known", "--target=pooled", "--target=per_user"]

    def numbers() -> tuple[Numbers, list[Reading]]:
        log = read(drafts["log"].careful(folder), CLICKS, drop)
        lists = {name: read(drafts[name].careful(folder), LISTS, drop) for name in world.lists}
        found = recalls(log, {name: ranks(reading, drop) for name, reading in lists.items()})
        return found, [log, *lists.values()]

    return _judged(argv, drafts, paths, spoilt, drop, rng, numbers)


def _ratings(world: World, rng: Random, folder: Path, spoilt: str) -> Case:
    drafts = _drafts({"log": world.ratings, **world.predictions}, (spoilt,), rng)
    drop = rng.random() < 0.4
    paths = {name: draft.write(folder).name for name, draft in drafts.items()}
    argv = ["evaluate", paths["log"], *(f"--predictions={name}={paths[name]}" for name in world.predictions)]
    argv += ["--feedback=ratings", "--metric=mae", "--estimator=naive", "--estimator=snips", "--propensity=known"]

    def numbers() -> tuple[Numbers, list[Reading]]:
        log = read(drafts["log"].careful(folder), RATINGS, drop)
        said = {name: read(drafts[name].careful(folder), PREDICTIONS, drop) for name in world.predictions}
        return errors(log, said, drop), [log, *said.values()]

    return _judged(argv, drafts, paths, (spoilt,), drop, rng, numbers)


def _judged(
    argv: list[str],
    drafts: Mapping[str, Draft],
    paths: Mapping[str, str],
    spoilt: tuple[str, ...],
    drop: bool,
    rng: Random,
    numbers: Callable[[], tuple[Numbers, list[Reading]]],
) -> Case:
    """The case with what the oracle says of it."""
    changed = [drafts[name] for name in spoilt]
    what = "; ".join(f"{draft.name[:20]}{draft.ending}: {', '.join(draft.done)}" for draft in changed)
    case = Case(what + ("; drop" if drop else ""), [*argv, *(["--invalid=drop"] if drop else []), "--json=out.json"])
    case.outputs, case.inputs = ["out.json"], list(paths.values())
    case.python = rng.random() < 0.1
    if not case.python and rng.random() < 0.06:
        case.argv.append("--html=out.html")
        case.outputs.append("out.html")
    if rng.random() < 0.5:
        case.argv.append("--quiet")
    if any(draft.expect is Expect.ANYTHING or ("times" in draft.done and drop) for draft in changed):
        return case
    try:
        case.numbers, readings = numbers()
    except Refused as reason:
        case.answerable = False
        case.what += f" [must be refused: {reason}]"
        return case
    case.dropped = sum(reading.dropped for reading in readings)
    case.refusable = not all(draft.benign for draft in changed) or any(reading.doubts for reading in readings)
    return case
