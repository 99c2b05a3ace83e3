"""Read what a plan is made from: the log, what was seen before, lists, and whom and what not to ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unskew.alignment.sources import Names, Reading, as_lists, as_log, given_inputs
from unskew.core.errors import InputError
from unskew.core.notice import Notice
from unskew.core.text import plain
from unskew.design.candidates import Candidates
from unskew.design.relevance import refuse_graded
from unskew.kernels.arrays import Bools
from unskew.log import Feedback, Ids, Log, Recommendations, read_recommendations
from unskew.log.log import Duplicates, Invalid
from unskew.log.paths import is_path
from unskew.log.population import read_catalogue, read_population
from unskew.log.relevance import gains, row_gains, told_feedback, train_gains


@dataclass(frozen=True, eq=False)
class PlanInputs:
    """Everything over one vocabulary of users and items.

    Args:
        log, seen: with their gains.
        positives_only: the log says nothing of what was seen and not taken.
        known: whether its rows count as they are and are not asked about: it has zeros, or relevance is fixed.
        notes: what a reader should know.
    """

    log: Log
    seen: Log | None
    lists: Mapping[str, Recommendations]
    candidates: Candidates
    positives_only: bool
    known: bool
    notes: tuple[str, ...]

    @property
    def judged(self) -> Log | None:
        """The rows that count as they are."""
        return self.log if self.known else None


def read(
    models: Mapping[str, Any],
    log: Any,
    seen: Any,
    *,
    length: int,
    feedback: Feedback | str | None,
    relevant: str | None,
    users: Any,
    items: Any,
    not_users: Any,
    not_items: Any,
    columns: Mapping[str, Any] | None,
    invalid: Invalid,
    duplicates: Duplicates | None,
    fixed_relevance: bool,
) -> PlanInputs:
    """Read and code everything; rows and lists that are left out are counted in the notes."""
    if not isinstance(models, Mapping) or len(models) < 2:
        raise InputError(
            "a plan compares models: give at least two, models={'a': …, 'b': …}.",
            code="missing-argument",
            option="models",
        )
    inputs = given_inputs(
        log=log, seen=seen, users=users, items=items, not_users=not_users, not_items=not_items, models=models
    )
    names, notes = Names(columns, inputs), []
    how: Reading = {"feedback": feedback, "invalid": invalid, "duplicates": duplicates}
    held = as_log(log, name="log", columns=names.of_test, **how)
    kind = told_feedback(held, relevant)
    held = replace(held, feedback=kind, gain=gains(held, kind, relevant))
    refuse_graded(held)
    before = None
    if seen is not None:
        before = as_log(seen, name="seen", columns=names.of_train, **how)
        before = replace(before, feedback=before.feedback or kind, gain=train_gains(before, kind, relevant))
    if users is not None:
        people = read_population(users, columns=names.of_users, invalid=invalid).users
    else:
        people = _all(held.users, *([] if before is None else [before.users]))
    lists = {name: _lists(name, each, people, length, before, names, invalid) for name, each in models.items()}
    logged = [held.items] + ([] if before is None else [before.items])
    if items is not None:
        logged.append(read_catalogue(items, columns=names.of_items, invalid=invalid).items)
    known = _all(*logged)
    catalogue = _all(known, *(each.items for each in lists.values()))
    if new := len(catalogue) - len(known):
        notes.append(
            Notice(
                f"{new:,} listed items stand in no log: name them in items=… when the answers are evaluated.",
                code="unlogged-items",
                items=new,
            )
        )
    for name, each in lists.items():
        strange = int(np.count_nonzero((each.users.into(people) < 0) & (np.diff(each.indptr) > 0)))
        if strange and strange == np.count_nonzero(np.diff(each.indptr)):
            theirs, ours = plain(each.users.values[0]), plain(people.values[0])
            raise InputError(
                f"none of the {strange:,} lists of '{plain(name)}' is of a user in the logs, or in users=…: they are "
                f"of users like '{theirs}', and those are called like '{ours}'.\nGive lists and logs the same ids.",
                code="unknown-id",
                model=name,
                lists=strange,
            )
        if strange:
            notes.append(
                Notice(
                    f"{strange:,} lists of '{plain(name)}' are of users outside the population; they are left out.",
                    code="outside-population",
                    model=name,
                    rows=strange,
                )
            )
        lists[name] = each.recode(people, catalogue)
        if lacking := int(np.count_nonzero(np.diff(lists[name].indptr) == 0)):
            notes.append(
                Notice(
                    f"'{plain(name)}' has no list for {lacking:,} of {len(people):,} users; it counts as empty here. "
                    "Make lists for all of them before you ask: values and verdicts from answers need them.",
                    code="missing-lists",
                    model=name,
                    users=lacking,
                )
            )
    held, lost = _inside(held, people, catalogue)
    if lost:
        notes.append(
            Notice(
                f"{lost:,} rows of the log are of users outside the population; they are left out.",
                code="outside-population",
                option="log",
                rows=lost,
            )
        )
    if before is not None:
        before, lost = _inside(before, people, catalogue)
        if lost:
            notes.append(
                Notice(
                    f"{lost:,} rows of seen=… are of users outside the population; they are left out.",
                    code="outside-population",
                    option="seen",
                    rows=lost,
                )
            )
    asked = _allowed(not_users, people, "user", notes, names.of("not_users", "user"), invalid)
    shown = _allowed(not_items, catalogue, "item", notes, names.of("not_items", "item"), invalid)
    positives_only = kind is not Feedback.RATINGS and not (row_gains(held) == 0.0).any()
    counts = fixed_relevance or not positives_only
    candidates = Candidates.of(people, catalogue, (before, held) if counts else (before,), shown, asked)
    return PlanInputs(held, before, lists, candidates, positives_only, counts, tuple(notes))


def _all(first: Ids, *others: Ids) -> Ids:
    """All ids; the first vocabulary itself where it has them, so that nothing needs new codes."""
    if all(o is first or (o.values.dtype == first.values.dtype and (o.into(first) >= 0).all()) for o in others):
        return first
    return Ids.of(first.values, *(each.values for each in others))


def _lists(
    name: str, source: Any, users: Ids, length: int, seen: Log | None, names: Names, invalid: Invalid
) -> Recommendations:
    if is_path(source):
        return read_recommendations(source, columns=names.of_lists(name), invalid=invalid)
    return as_lists(source, name, users, length, seen, names.of_lists(name), invalid)


def _inside(log: Log, users: Ids, items: Ids) -> tuple[Log, int]:
    """The rows of these users over one vocabulary, and how many others there are."""
    mine = log.users.into(users)[log.user] >= 0
    if mine.all() and len(log.users) == len(users):
        return log.recode(users, items), 0
    kept = log.take(mine)
    there = np.flatnonzero(log.users.into(users) >= 0)
    kept = replace(kept, users=log.users.subset(there), indptr=kept.indptr[np.append(there, len(log.users))])
    return kept.recode(users, items), int(np.count_nonzero(~mine))


def _allowed(
    source: Any, ids: Ids, kind: str, notes: list[Notice], columns: Mapping[str, str], invalid: Invalid
) -> Bools | None:
    """Which of the users or items may be asked or shown; ids that nobody knows are counted."""
    if source is None:
        return None
    read: Any = read_population if kind == "user" else read_catalogue
    found = read(source, columns=columns, invalid=invalid)
    named: Ids = found.users if kind == "user" else found.items
    code = named.into(ids)
    if unknown := int(np.count_nonzero(code < 0)):
        notes.append(
            Notice(
                f"not_{kind}s=…: {unknown:,} of {len(code):,} {kind}s are not known here.",
                code="unknown-id",
                option=f"not_{kind}s",
                ids=unknown,
            )
        )
    allowed = np.ones(len(ids), dtype=np.bool_)
    allowed[code[code >= 0]] = False
    if not allowed.any():
        raise InputError(
            f"not_{kind}s=… names every {kind}: nothing is left to ask about.",
            code="nothing-to-ask",
            option=f"not_{kind}s",
        )
    return allowed
