"""What lists that are missing or short do to a comparison, in words that stand with the verdict.

A user without a list, and a place that a list leaves empty, count as 0: a verdict may then tell lists that were not
finished, or were cut before items were removed from them, from others, and not one model from another. So it may with
lists that a model makes up for users of whom it has learnt nothing. Users who have a list from no model favour none.
"""

from __future__ import annotations

from unskew.core.notice import Notice, made_of
from unskew.core.text import plain
from unskew.judging.measure import Measured
from unskew.metrics import Metric, RankingMetric

MISSING = 0.005  # the share of users without a list from which on it is said
UNEVEN = 0.02  # how far shares of empty places may lie apart


def list_note(measured: Measured, metric: Metric, a: int, b: int) -> str:
    """What is to be said of the lists of two models; empty where they can be compared."""
    places = measured.sums.places
    if not isinstance(metric, RankingMetric) or not places.filled.size:
        return ""
    names = [plain(name) for name in measured.setting.models]
    missing = places.missing
    notes = [
        Notice(
            f"{names[j]} has no list for {missing[j]:.0%} of users, who count as 0 for it",
            code="missing-lists",
            model=names[j],
        )
        for j in (a, b)
        if missing[j] >= MISSING
    ]
    empty = places.empty(metric.k)
    fuller, shorter = (a, b) if empty[a] <= empty[b] else (b, a)
    if empty[shorter] - empty[fuller] > UNEVEN:
        depth = "" if metric.k is None else f" up to rank {metric.k}"
        told = (
            f"the lists of {names[shorter]} leave {empty[shorter]:.0%} of the places{depth} empty, those of "
            f"{names[fuller]} {empty[fuller]:.0%}"
        )
        notes.append(Notice(told, code="short-lists", model=names[shorter]))
    if kept := measured.setting.kept_training:
        without, with_them = (a, b) if kept[a] <= kept[b] else (b, a)
        if kept[without] < MISSING and kept[with_them] > UNEVEN:
            told = (
                f"{kept[with_them]:.0%} of what {names[with_them]} lists was in the user's training data, and "
                f"{names[without]} leaves such items out"
            )
            notes.append(Notice(told, code="training-items", model=names[with_them]))
    if new := [j for j in (a, b) if measured.setting.new_users and measured.setting.new_users[j]]:
        told = (
            f"{measured.setting.new_users[new[0]]:.0%} of the interactions are of users without a training row, for "
            f"whom what {' and '.join(names[j] for j in new)} {'lists' if len(new) == 1 else 'list'} is arbitrary"
        )
        notes.append(Notice(told, code="new-users", model=names[new[0]]))
    return made_of(", and ".join(notes), *notes)
