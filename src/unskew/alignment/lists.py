"""Every model's lists over the common vocabulary, and an account of each.

What is known of the lists of some users is a sum over them (``ListFacts``), so that it can be found part by part;
what it says of a model (``found_lists``) is decided when all of it is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from unskew.alignment.account import as_values
from unskew.alignment.inputs import Rules
from unskew.alignment.spelling import Respelled, RespelledUsers, respelled
from unskew.core.errors import InputError
from unskew.core.text import plain
from unskew.core.threads import Threads
from unskew.inference.merging import Mergeable, added_counts, merged_by
from unskew.kernels.arrays import Bools, Ints64
from unskew.kernels.coding import recode_lists
from unskew.log import Account, Ids, Log, Recommendations
from unskew.log.ids import lesser
from unskew.log.numbered_texts import place
from unskew.log.order import starts_among

NOT_ASKED = "users_outside_the_lists"  # in the account of a model's lists: users who occur in none of them
PLACES_BEYOND = "places_beyond_the_catalogue"  # in the account of a model's lists
TRAINING_ITEMS = "training_items_in_lists"
SHOWN_RANKS = 5  # of a list whose ranks have gaps


class StrangeIds(NamedTuple):
    """Ids of lists of which more than half occur in no log: a share, and how either side writes its ids."""

    what: str
    share: float
    listed: str
    logged: str


class Gap(NamedTuple):
    """A list whose ranks do not run 1, 2, 3, …: whose it is, and its first ranks."""

    user: Any
    ranks: str


class CodedLists(NamedTuple):
    """One model's lists over the common vocabulary, and what is known of them."""

    lists: Recommendations
    facts: ListFacts


class FoundLists(NamedTuple):
    """What was found about the lists of one model, of all users.

    Args:
        account: what became of them, as plain values for the result.
        strange, respelled: ids that look like those of other files, or are written otherwise than in the logs.
        gaps: in words, how many lists have gaps in their ranks; empty if none.
    """

    account: dict[str, Any]
    strange: tuple[StrangeIds, ...]
    respelled: tuple[Respelled, ...]
    gaps: str = ""


def _first_id(ids: Ids) -> Any:
    return ids.values[0] if len(ids) else None


def _first_ids(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    """The lesser of two ids, twice; either may be missing."""
    return lesser(a[0], b[0]), lesser(a[1], b[1])


def _first_gap(a: Gap | None, b: Gap | None) -> Gap | None:
    """The gap of the lesser user."""
    return min((gap for gap in (a, b) if gap is not None), default=None, key=lambda gap: place(gap.user))


@dataclass(frozen=True, eq=False)
class ListFacts(Mergeable):
    """What is known of the lists of some users; facts of other users are added to it.

    Args:
        rows: as they came; ``entries`` those of the population's users that are left.
        filled: lists that hold anything; ``outside`` those of users outside the population.
        scored: users with held-out rows; ``without`` those of them who have an empty list or none.
        silent_without: users without held-out rows who have an empty list or none.
        unasked, unasked_silent: users who occur in no list, with held-out rows and without: an empty list is a list,
            but nobody asked the model about these.
        repeats: entries that are in the user's training data; ``beyond`` those outside the catalogue.
        listed: which items of the lists' own vocabulary occur.
        example: a user of the lists, and one of the logs.
        respelled: users that the logs write otherwise, and of how many.
        with_gaps: lists whose ranks, as they came, do not run 1, 2, 3, …; ``gap`` is the first of them.
    """

    rows: int
    entries: int
    filled: int
    with_gaps: int
    outside: int
    scored: int
    without: int
    silent_without: int
    unasked: int
    unasked_silent: int
    repeats: int
    beyond: int
    tied: int | None
    respelled: RespelledUsers
    dropped: Mapping[str, int] = merged_by(added_counts)
    listed: Bools = merged_by(np.logical_or)
    example: tuple[Any, Any] = merged_by(_first_ids)
    depth: int = merged_by(max)
    gap: Gap | None = merged_by(_first_gap)


def code_lists(
    lists: Mapping[str, Recommendations], test: Log, train: Log | None, logged: Ids, rules: Rules
) -> dict[str, CodedLists]:
    """The coded lists by model, and what is known of each: users without a list, training items, ties."""
    scored, inside = np.diff(test.indptr) > 0, np.append(test.items.into(logged) >= 0, True)

    def code(given: Recommendations) -> CodedLists:
        found, repeats, beyond, listed = _recoded(given, test, None if rules.drop_seen else train, inside)
        if train is not None and rules.drop_seen:
            found = found.drop_seen(train)
            beyond = len(found.item) - _count(inside[found.item])  # −1, an item without a code, reads the end
        empty, unasked = np.diff(found.indptr) == 0, test.users.into(given.users) < 0
        filled = np.diff(given.indptr) > 0
        with_gaps = _lists_with_gaps(given)
        facts = ListFacts(
            rows=given.account.rows or len(given.item),
            entries=len(found.item),
            filled=_count(filled),
            with_gaps=len(with_gaps),
            outside=_count(filled & (given.users.into(test.users) < 0)),
            scored=_count(scored),
            without=_count(scored & empty),
            silent_without=_count(~scored & empty),
            unasked=_count(unasked & scored),
            unasked_silent=_count(unasked & ~scored),
            repeats=repeats,
            beyond=beyond,
            tied=found.tied,
            dropped=found.account.dropped,
            depth=found.depth,
            listed=listed,
            example=(_first_id(given.users), _first_id(test.users)),
            gap=_gap(given, int(with_gaps[0])) if len(with_gaps) else None,
            respelled=RespelledUsers.of(given.users, test.users),
        )
        return CodedLists(found, facts)

    with Threads() as pool:
        return dict(zip(lists, pool.map(code, lists.values()), strict=True))


def found_lists(name: str, facts: ListFacts, account: Account, items: Ids, logged: Ids) -> FoundLists:
    """What all facts together say of the lists of a model; lists that could only score 0 are refused.

    Args:
        account: what the facts do not know: source, notes, and rows that were dropped before anybody's were looked at.
        items: the vocabulary of the lists.
    """
    unknown = items.into(logged)[facts.listed] < 0
    strange = _strange(name, facts, unknown, (_first_id(items), _first_id(logged)))
    _refuse_silence(name, facts)
    said = as_values(replace(account, dropped=added_counts(account.dropped, facts.dropped))) | {
        "rows": facts.rows + sum(account.dropped.values()),
        "users_without_list": facts.without,
        NOT_ASKED: {"held_out": facts.unasked, "silent": facts.unasked_silent},
        "silent_users_without_list": facts.silent_without,
        "lists_outside_the_population": facts.outside,
        TRAINING_ITEMS: facts.repeats,
        PLACES_BEYOND: facts.beyond,
        "tied_cut_offs": facts.tied,
        "longest_rank": facts.depth,
        "lists_with_gaps_in_ranks": facts.with_gaps,
    }
    written = (*facts.respelled.found, *respelled({"item": items}, {"item": logged}))
    return FoundLists(said, strange, written, _gaps_in_words(facts))


def _count(mask: Bools) -> int:
    return int(np.count_nonzero(mask))


def _lists_with_gaps(given: Recommendations) -> Ints64:
    """The users whose ranks do not run 1, 2, 3, …: ranks ascend, each once, so that the last tells."""
    lengths = np.diff(given.indptr)
    users = np.flatnonzero(lengths)
    return users[given.rank[given.indptr[users + 1] - 1] > lengths[users]]


def _gap(given: Recommendations, user: int) -> Gap:
    ranks = given.rank[given.indptr[user] : given.indptr[user + 1]]
    at = max(0, int(np.argmax(ranks != np.arange(1, len(ranks) + 1))) - 2)  # the gap itself must be among those shown
    before = "…, " if at else ""
    shown = ranks[at : at + SHOWN_RANKS]
    more = ", …" if at + SHOWN_RANKS < len(ranks) else ""
    return Gap(given.users.values[user], before + ", ".join(map(str, shown.tolist())) + more)


def _gaps_in_words(facts: ListFacts) -> str:
    if facts.gap is None:
        return ""
    return (
        f"{facts.with_gaps:,} of {facts.filled:,} lists have gaps in their ranks (the first: user "
        f"{plain(facts.gap.user)}: {facts.gap.ranks})"
    )


class _Recoded(NamedTuple):
    """One model's lists over the common vocabulary.

    Args:
        seen: entries that are in the user's training data.
        beyond: those outside the catalogue.
        listed: which items of the lists' own vocabulary occur, also in lists of users outside the population.
    """

    lists: Recommendations
    seen: int
    beyond: int
    listed: Bools


def _recoded(given: Recommendations, test: Log, train: Log | None, inside: Bools) -> _Recoded:
    """The lists over the users and items of the test log, by one walk over their entries.

    Args:
        train: the users' training data.
        inside: which items are in the catalogue, and one more that says it of items without a code.
    """
    row, names = test.users.into(given.users), np.append(given.items.into(test.items), np.int32(-1))
    target, stay = starts_among(given.indptr, row)
    kept = np.array_equal(names[:-1], np.arange(len(names) - 1)) and stay
    counts = np.zeros(len(names), dtype=np.int64)
    item = np.empty(0 if kept else int(target[-1]), dtype=np.int32)
    rank = np.empty(0 if stay else int(target[-1]), dtype=np.int32)
    nobody = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
    known = None if train is None else train.recode(test.users, test.items)
    training = nobody if known is None else (known.indptr, known.item)
    seen = recode_lists(
        given.indptr, given.item, given.rank, row, names, len(test.items), *training, target, not stay, counts, item,
        rank,
    )  # fmt: skip
    listed = counts > 0
    if target[-1] < len(given.item):
        listed[given.item] = True  # −1, an item without a code, marks the place at the end
    lists = replace(
        given,
        users=test.users,
        items=test.items,
        indptr=target,
        item=given.item if kept else item,
        rank=given.rank if stay else rank,
    )
    beyond = int(counts[~inside[names]].sum())  # −1, an item without a name, reads the end
    return _Recoded(lists, int(seen), beyond, listed[:-1])


def _strange(name: str, facts: ListFacts, unknown: Bools, items: tuple[Any, Any]) -> tuple[StrangeIds, ...]:
    """Ids that look mixed up: that is no bad model.

    Lists of which the logs know no user, or no item, would score 0, and are refused.
    """
    found = []
    for what, strangers, total, (theirs, ours) in (
        ("user", facts.outside, facts.filled, facts.example),
        ("item", _count(unknown), len(unknown), items),
    ):
        if total and strangers == total:
            raise InputError(
                f"{name}: not one of its {what}s occurs in any log, so that every score would be 0. They look like "
                f"'{plain(theirs)}', those of the logs like '{plain(ours)}'.\n"
                "Write the same ids in lists and logs, or say which column holds them with "
                f"columns={{'{what}': 'NAME'}}.",
                code="no-common-ids",
            )
        if total and strangers / total > 0.5:
            found.append(StrangeIds(what, strangers / total, plain(theirs), plain(ours)))
    return tuple(found)


def _refuse_silence(name: str, facts: ListFacts) -> None:
    """A model without a list for anybody with held-out interactions scores 0, whatever it recommends."""
    if facts.filled and facts.scored and facts.without == facts.scored:
        raise InputError(
            f"{name}: its {facts.filled:,} lists are for other users than the "
            f"{facts.scored:,} with held-out interactions, so that every score would be 0.\n"
            "Make lists for the users of the test log. Are the test log and the training log swapped?",
            code="lists-for-others",
        )
