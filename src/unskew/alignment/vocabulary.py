"""Code the logs over the population's users and the union of all items: the vocabulary that everything else speaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from unskew.alignment.answers import JoinedLog, join_answers
from unskew.alignment.inputs import Inputs, Rules
from unskew.alignment.rows import judged, those_inside
from unskew.kernels.arrays import Floats
from unskew.log import Feedback, Ids, Log
from unskew.log.relevance import train_gains


class Coded(NamedTuple):
    """The logs over one vocabulary.

    Args:
        items: of the logs, the catalogue and all lists.
        logged: the catalogue: items of the logs, and those that were named; the candidates, less a user's training.
        rows: the held-out rows that are judged.
        known: the training rows of the population's users.
        train: the training log with its gains, in its own vocabulary, as propensities are fitted on it.
        dropped: held-out rows that were left out, by reason; aligning may add to them.
        joined: the held-out rows with the answers, where there are any.
    """

    items: Ids
    logged: Ids
    rows: Log
    known: Log | None
    train: Log | None
    dropped: dict[str, int]
    joined: JoinedLog | None = None


class Vocabulary(NamedTuple):
    """All items there are, and the catalogue: items of the logs, and those that were named."""

    items: Ids
    logged: Ids

    @classmethod
    def of(cls, logs: Sequence[Ids], catalogue: Ids | None, lists: Sequence[Ids]) -> Vocabulary:
        """From the items of the logs, of the catalogue where it was named, and of lists."""
        shown = Ids.union(*logs)
        logged = shown if catalogue is None else Ids.union(shown, catalogue)
        return cls(Ids.union(logged, *lists), logged)


def code(inputs: Inputs) -> Coded:
    """The judged rows and the training log over the population's users and the union of all items."""
    test, train, catalogue = inputs.test, inputs.train, inputs.catalogue
    logs = [test.items, *([] if train is None else [train.items])]
    answers = [] if inputs.answers is None else [inputs.answers.items]
    named = None if catalogue is None else catalogue.items
    lists = [lists.items for lists in inputs.lists.values()]
    coded = code_part(inputs, Vocabulary.of([*logs, *answers], named, lists))
    return coded._replace(joined=join_answers(inputs, coded.rows, coded.known, coded.items))


def code_part(inputs: Inputs, vocabulary: Vocabulary) -> Coded:
    """The same for some of the users, over the items of all."""
    test, train, users, rules = inputs.test, inputs.train, inputs.users, inputs.rules
    dropped = dict(test.account.dropped)
    items, logged = vocabulary
    known = None if train is None else those_inside(train, users).recode(users, items)
    rows = judged(test, known, users, items, rules, dropped)
    return Coded(items, logged, rows, known, None if train is None else _with_gains(train, rules), dropped)


def _with_gains(train: Log, rules: Rules) -> Log:
    """The training log with y of its rows; as it is, where every row is a positive by itself."""
    if train.feedback is Feedback.IMPLICIT and train.value is None and train.gain is None:
        return train
    return replace(train, gain=training_gains(train, rules))


def training_gains(train: Log, rules: Rules) -> Floats:
    """y of the training rows; all alike where nothing asks for ranks."""
    return train_gains(train, rules.feedback, rules.relevant) if rules.ranks else np.ones(len(train))
