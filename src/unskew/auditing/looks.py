"""How an audit looks at a log: every look asks questions of the rows, round by round, and concludes.

    question → answers of all parts of the users, merged → next question → … → what the look found

A question is a function of one part whose answers merge: sums, extremes, counts by item. The rows of a user are
together in one part. Looks that are under way ask together, so that a round is one walk over the parts. In memory the
whole log is the only part; on Spark there are many, and nothing but answers leaves them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import numpy as np

from unskew.kernels.arrays import Bools, Floats, present
from unskew.log import Feedback, Ids, Log
from unskew.log.ids import Codes
from unskew.log.relevance import gains
from unskew.split.split import draws

T = TypeVar("T")
HELD_OUT, SEED = 0.3, 0  # the hold-out that is rehearsed


@dataclass(frozen=True, eq=False)
class AuditPart:
    """The rows of some users.

    Args:
        mcar: their rows of the log that was drawn at random, if there is one.
        gain: y of the log's rows; 1 where nothing says which of them are relevant.
        whole: these are all users.
        dropped: rows that were left out when the part was made, by reason.
    """

    log: Log
    mcar: Log | None
    gain: Floats
    whole: bool = False
    dropped: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def held_out(self) -> Bools:
        """The rows that ``split.holdout(log, 0.3)`` holds out: each by a hash of its user and item."""
        return np.asarray(draws(self.log, "holdout", SEED) < HELD_OUT)

    @cached_property
    def policies(self) -> tuple[Ids, Codes]:
        """The policies that occur, and that of each row."""
        return Ids.code(present(self.log.policy))


def judges(feedback: Feedback, relevant: str | None) -> bool:
    """Whether anything says which rows are relevant."""
    return feedback is not Feedback.RATINGS or relevant is not None


def row_gains(log: Log, feedback: Feedback | None, relevant: str | None) -> Floats:
    """y of every row; where nothing says which rows are relevant, all count alike."""
    if feedback is None or not judges(feedback, relevant):
        return np.ones(len(log))
    return gains(log, feedback, relevant)


Question: TypeAlias = Callable[[AuditPart], Any]
Look: TypeAlias = Generator[Question, Any, T]
Ask: TypeAlias = Callable[[Mapping[str, Question]], Mapping[str, Any]]


def together(looks: Mapping[str, Look[Any]], ask: Ask) -> dict[str, Any]:
    """What every look found; ``ask`` brings the answers to the questions of one round."""
    under_way, found = dict(looks), dict[str, Any]()
    answers: Mapping[str, Any] = dict.fromkeys(looks)
    while under_way:
        questions: dict[str, Question] = {}
        for name, look in tuple(under_way.items()):
            try:
                questions[name] = look.send(answers[name])
            except StopIteration as end:
                found[name] = end.value
                del under_way[name]
        if questions:
            answers = ask(questions)
    return found
