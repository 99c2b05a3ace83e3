"""The held-out log and the answers as one log: P = 1 where it was logged, π where it was drawn (MATHS §16).

Where every seen pair was logged, zeros included, the held-out log L is a census of itself: its pairs are known and need
no answer. A log of positives is selected on success. A pair that was clicked by chance would be counted as relevant for
certain, and one that was shown and not clicked not at all; so that such a log enters through the outcome model alone,
and the answers must cover all candidates, logged ones too. Where relevance is declared fixed, a logged positive would
be answered alike, and the log is a census again.

    census form     rows L ∪ S, P = 1 on L and π on S; answers about logged pairs are dropped and counted
    answers alone   rows S, P = π
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from unskew.alignment.account import as_values
from unskew.alignment.inputs import Inputs, Rules
from unskew.alignment.rows import IN_TRAINING, inside
from unskew.core.errors import InputError
from unskew.core.text import plain
from unskew.engine.answers import ANSWERED, ASKED, LOGGED
from unskew.kernels.arrays import Bools, Floats, Ints32, present
from unskew.log import Feedback, Ids, Log, Recommendations
from unskew.log.answers import unanswered
from unskew.log.drawing import Drawing
from unskew.log.fingerprints import known_depth
from unskew.log.order import group, pick
from unskew.log.relevance import gains

IN_LOG = "already in the held-out log"


class JoinedLog(NamedTuple):
    """The rows that ``anchored`` is computed on.

    Args:
        rows: pairs with their gains and propensities; the gain of what nobody answered is not known.
        origin: LOGGED, ANSWERED or ASKED, by row.
        census: whether the held-out log is among them.
        account: what became of the answers, as plain values for the result.
        known: of every model, down to which rank its lists are among those that the questions were drawn for.
    """

    rows: Log
    origin: Ints32
    census: bool
    account: dict[str, Any]
    known: tuple[float, ...] = ()

    def judging(self, lists: Sequence[Recommendations], drawing: Drawing) -> JoinedLog:
        """The same with what the fingerprints say of the lists that are judged."""
        return self._replace(known=tuple(known_depth(each, drawing.drawn_for) for each in lists))


def rests_on(joined: JoinedLog) -> str:
    """What must hold for answers to be right, in words that go on after "if"."""
    told = "the answers' probabilities of being drawn are right"
    told = f"{told} and a pair is as relevant in the log as in the answers" if joined.census else told
    if barred := joined.account["barred"]:
        told += f", and the {barred:,} pairs where lists differ that could not be asked about are as the guesses say"
    return told


def is_census(rows: Log, rules: Rules) -> bool:
    """Whether logged pairs need no answer: all seen ones were logged, or relevance is declared fixed."""
    if rules.fixed_relevance:
        return True
    if rules.feedback is Feedback.RATINGS:
        return True
    return rules.feedback is Feedback.CONVERSIONS and bool((present(rows.gain) == 0.0).any())


def join_answers(inputs: Inputs, rows: Log, train: Log | None, items: Ids) -> JoinedLog | None:
    """The joined log; ``None`` without answers.

    Args:
        rows: the held-out rows that are judged, coded.
        train: the training rows of the population, coded.
    """
    if inputs.answers is None:
        return None
    rules, users = inputs.rules, inputs.users
    census, dropped = is_census(rows, rules), dict(inputs.answers.account.dropped)
    answers = _inside(inputs.answers, users, rules, dropped).recode(users, items)
    answers = replace(answers, gain=_gains(answers, rows, rules))
    if train is not None and rules.unseen:
        answers = _without(answers, train, IN_TRAINING, dropped)
    again = int(np.count_nonzero(_standing_in(answers, rows)))
    if census:
        answers = _without(answers, rows, IN_LOG, dropped)
    silent = unanswered(answers)
    if silent.all():
        reasons = ", ".join(f"{count:,} × {reason}" for reason, count in dropped.items() if count) or "nothing"
        raise InputError(
            f"{answers.account.source}: no answer is left to judge by. Dropped: {reasons}.\n"
            "Ask about candidates that the held-out log does not show, and give what was answered.",
            code="no-answers",
        )
    joined, origin = _joined(rows if census else None, answers, np.where(silent, ASKED, ANSWERED).astype(np.int32))
    gain = present(answers.gain)
    account = as_values(replace(answers.account, dropped=dropped)) | {
        "rounds": inputs.drawing.rounds,
        "design": inputs.drawing.design or None,
        "barred": inputs.drawing.barred,
        "asked": len(answers),
        "answered": int(np.count_nonzero(~silent)),
        "unanswered": int(np.count_nonzero(silent)),
        "positive": int(np.count_nonzero(gain[~silent] > 0.0)),
        "users_asked": int(np.count_nonzero(np.diff(answers.indptr))),
        "also_in_the_held_out_log": again,
        "held_out_log_is_taken_as_known": census,
        "least_propensity": float(present(answers.propensity).min()),
    }
    return JoinedLog(joined, origin, census, account)


def _inside(answers: Log, users: Ids, rules: Rules, dropped: dict[str, int]) -> Log:
    """The answers of the population."""
    keep = inside(answers, users)
    if keep.all():
        return answers
    if not rules.drop_invalid:
        who = answers.users.values[int(answers.user[np.argmin(keep)])]
        raise InputError(
            f"{answers.account.source}: user '{plain(who)}' was asked and belongs to none of the logs, nor to the "
            "population (users=…).\nName everybody who could be asked with users=…, or drop such rows with "
            "invalid='drop'; the result will say how many were dropped.",
            code="outside-population",
        )
    dropped["user outside the population"] = int(np.count_nonzero(~keep))
    return answers.take(keep)


def _gains(answers: Log, rows: Log, rules: Rules) -> Floats:
    """y of the answers, by the same rule as y of the log."""
    kind = Feedback.CONVERSIONS if rules.feedback is Feedback.IMPLICIT else rules.feedback
    found = gains(answers, kind, rules.relevant)
    logged = present(rows.gain)
    binary = bool(np.isin(logged, (0.0, 1.0)).all())
    wrong = ~np.isin(found, (0.0, 1.0)) & ~unanswered(answers)
    if binary and wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"{answers.account.source}: column 'value' holds {found[row]:g} for user "
            f"'{plain(answers.users.values[int(answers.user[row])])}', and the held-out log 0 and 1 only.\n"
            "Answers must mean what values of the log mean: give 0 and 1, or a threshold such as relevant='>=4'.",
            code="bad-value",
        )
    return found


def _standing_in(answers: Log, other: Log) -> Bools:
    """Which answers are about pairs of another log over the same users and items."""
    size = len(answers.items)
    mine, theirs = (log.user.astype(np.int64) * size + log.item for log in (answers, other))
    return np.asarray(np.isin(mine, theirs))


def _without(answers: Log, other: Log, reason: str, dropped: dict[str, int]) -> Log:
    again = _standing_in(answers, other)
    if not again.any():
        return answers
    dropped[reason] = dropped.get(reason, 0) + int(np.count_nonzero(again))
    return answers.take(~again)


def _joined(rows: Log | None, answers: Log, asked: Ints32) -> tuple[Log, Ints32]:
    """One log of both, and where each row comes from."""
    parts = [answers] if rows is None else [rows, answers]
    propensity = [present(answers.propensity)] if rows is None else [np.ones(len(rows)), present(answers.propensity)]
    origin = asked if rows is None else np.concatenate([np.full(len(rows), LOGGED, dtype=np.int32), asked])
    user, item = (np.concatenate([getattr(log, name) for log in parts]) for name in ("user", "item"))
    indptr, order = group(user, item, len(answers.users), len(answers.items))
    gain: Floats = np.concatenate([present(log.gain) for log in parts])
    p: Floats = np.concatenate(propensity)
    item, gain, p, origin = pick(item, order), pick(gain, order), pick(p, order), pick(origin, order)
    joined = Log(
        answers.users,
        answers.items,
        indptr,
        item,
        value=gain,
        gain=gain,
        propensity=p,
        feedback=Feedback.CONVERSIONS,
        account=answers.account,
    )
    return joined, origin
