"""In worlds with a known truth: how far samples and weights are from it, and what they say of pairs of models.

    error          mean over models of |estimate / truth − 1|, in percent
    wrong order    of truly different pairs, those that the estimates put in the wrong order
    right, wrong   of truly different pairs, those of which the better one is named, or the worse one
    undecided      the others, "depends" included: it is said that the log does not tell
    holds          of all models, those whose 95 % interval holds the truth

Two models are truly different where their true values differ by at least 10 % of the larger one. Errors are by the
jackknife over worlds: pairs and models of one world are not independent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from unskew.core import Progress
from unskew_papers.arrays import Floats
from unskew_papers.carraro20.click_worlds import KINDS, Size
from unskew_papers.carraro20.methods import KNOWN, METHODS, NAIVE, PATH, POPULARITY, SAMPLES, SHARES
from unskew_papers.carraro20.setting import Setting, Unit
from unskew_papers.record import Below, Record, judged
from unskew_papers.repeated import Repeated, claim, jackknife, shown

WORLDS, QUICK = 60, 6
STRENGTHS, USERS = (0.5, 1.0, 1.5), (300, 1_000, 3_000)
STRENGTH, MANY = 1.0, 1_000  # where the other of the two varies
DIFFERENT = 0.1  # of the larger value
FALSE = 5.0  # percent of verdicts that may be wrong
DRAWN = (NAIVE, "skew", "wtd", "wtd_h", KNOWN, POPULARITY, PATH)  # what charts show

Count = Callable[[Unit, tuple[int, ...]], tuple[float, float]]


def sizes() -> list[Size]:
    """Every kind and strength at one number of users, and every kind and number of users at one strength."""
    strong = [Size(kind, strength, MANY) for kind in KINDS for strength in STRENGTHS]
    large = [Size(kind, STRENGTH, users) for kind in KINDS for users in USERS if users != MANY]
    return sorted(strong + large, key=lambda size: (list(KINDS).index(size.kind), size.strength, size.users))


def run(setting: Setting, worlds: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """All kinds of worlds."""
    every = sizes()
    found = dict(zip(every, setting.worlds(every, worlds, progress), strict=True))
    records = [
        shown(f"worlds/{what}, %", _name(size), method, percent(units, count, (m,)))
        for what, count in COUNTS.items()
        for size, units in found.items()
        for m, method in enumerate(METHODS)
    ]
    return records + _claims(found) + _charts(found) + _shares(setting, worlds, progress)


def error(unit: Unit, place: tuple[int, ...]) -> tuple[float, float]:
    """The sum over models, and their number."""
    away = np.abs(unit["value"][place] / unit["truth"] - 1.0)
    return float(away.sum()), float(len(away))


def wrong_order(unit: Unit, place: tuple[int, ...]) -> tuple[float, float]:
    """Pairs whose estimates are the other way round."""
    value = unit["value"][place]
    gaps = np.array([value[a] - value[b] for a, b in combinations(range(len(value)), 2)])
    return _of_pairs(unit, gaps, -1.0)


def right(unit: Unit, place: tuple[int, ...]) -> tuple[float, float]:
    """Pairs whose better model is named."""
    return _of_pairs(unit, unit["word"][place], 1.0)


def wrong(unit: Unit, place: tuple[int, ...]) -> tuple[float, float]:
    """Pairs whose worse model is named."""
    return _of_pairs(unit, unit["word"][place], -1.0)


def undecided(unit: Unit, place: tuple[int, ...]) -> tuple[float, float]:
    """Pairs of which neither is named."""
    different = truly_different(unit) != 0.0
    return float((different & (unit["word"][place] == 0.0)).sum()), float(different.sum())


def holds(unit: Unit, place: tuple[int, ...]) -> tuple[float, float]:
    """Models whose interval holds the truth."""
    inside = (unit["low"][place] <= unit["truth"]) & (unit["truth"] <= unit["high"][place])
    return float(inside.sum()), float(len(inside))


COUNTS: dict[str, Count] = {
    "error": error,
    "wrong order": wrong_order,
    "right one named": right,
    "wrong one named": wrong,
    "undecided or depends": undecided,
    "interval holds the truth": holds,
}


def truly_different(unit: Unit) -> Floats:
    """Of each pair 1 where the first is truly better, −1 where the second is, 0 where they are about the same."""
    truth = unit["truth"]
    pairs = list(combinations(range(len(truth)), 2))
    return np.array(
        [np.sign(truth[a] - truth[b]) * (abs(truth[a] - truth[b]) >= DIFFERENT * truth[[a, b]].max()) for a, b in pairs]
    )


def percent(units: Sequence[Unit], count: Count, place: tuple[int, ...]) -> Repeated:
    """100 · Σ over worlds of the first number / Σ of the second, also without each world."""
    each = np.array([count(unit, place) for unit in units])
    total = each.sum(axis=0)
    without = total - each
    left = 100.0 * without[:, 0] / without[:, 1] if len(each) > 1 else np.empty(0)
    return Repeated(float(100.0 * total[0] / total[1]), left)


def _of_pairs(unit: Unit, signed: Floats, sign: float) -> tuple[float, float]:
    different = truly_different(unit)
    return float((signed * different * sign > 0.0).sum()), float((different != 0.0).sum())


def _claims(found: dict[Size, list[Unit]]) -> list[Record]:
    """What one would expect: samples help against exposure, hurt where taste is the reason, and known P beat both."""
    records = []
    for size, units in found.items():
        off = {method: percent(units, error, (m,)) for m, method in enumerate(METHODS)}
        for one in ("skew", "wtd_h"):
            near, far = (one, NAIVE) if size.kind == "exposure" else (NAIVE, one)
            if size.kind != "both":
                part, what = f"worlds/claims: {size.kind}", f"{near} nearer to the truth than {far}"
                records.append(claim(part, _name(size), what, off[near], Below(), f"{far}'s", off[far]))
        for one in SAMPLES:
            part, what = "worlds/claims: known propensities", f"{KNOWN}, nearer to the truth than {one}"
            records.append(claim(part, _name(size), what, off[KNOWN], Below(), f"{one}'s", off[one]))
        path = percent(units, wrong, (METHODS.index(PATH),))
        records.append(
            judged(
                "worlds/claims: the path",
                _name(size),
                f"{PATH}: a wrong one named in at most {FALSE:g} % of pairs",
                path.value,
                runs=path.runs,
                rule=Below(),
                reference=("the level", FALSE),
                paired_se=jackknife(path.without),
            )
        )
    return records


def _charts(found: dict[Size, list[Unit]]) -> list[Record]:
    """Errors once more, by the number that charts have as x."""
    records = []
    for size, units in found.items():
        for method in DRAWN:
            number = percent(units, error, (METHODS.index(method),))
            if size.users == MANY:
                records.append(shown(by_strength(size.kind), f"{size.strength:g}", method, number))
            if size.strength == STRENGTH:
                records.append(shown(by_users(size.kind), f"{size.users:,}", method, number))
    return sorted(records, key=lambda record: record.experiment)


def _shares(setting: Setting, worlds: int, progress: Progress | None) -> list[Record]:
    """Smaller and larger samples."""
    some = [Size(kind, STRENGTH, MANY) for kind in KINDS]
    found = setting.shares(some, worlds, progress)
    records = []
    for what, count in (("error", error), ("wrong order", wrong_order), ("wrong one named", wrong)):
        part = f"worlds/{what} by the share of rows drawn, %"
        for size, units in zip(some, found, strict=True):
            for place in np.ndindex(len(SHARES), len(SAMPLES)):
                row, column = f"{size.kind}, {SHARES[place[0]]:.0%}", SAMPLES[place[1]]
                records.append(shown(part, row, column, percent(units, count, place)))
    return records


def by_strength(kind: str) -> str:
    """The part of a chart."""
    return f"worlds/error by strength, {kind}"


def by_users(kind: str) -> str:
    """The part of a chart."""
    return f"worlds/error by users, {kind}"


def _name(size: Size) -> str:
    return f"{size.kind}, {size.strength:g}, {size.users:,} users"
