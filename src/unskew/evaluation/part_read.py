"""What is known of inputs in parts of the users when all parts were read: rows that were dropped, users, spellings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from unskew.alignment.division import DivisionFacts
from unskew.alignment.input_facts import InputFacts
from unskew.alignment.inputs import Inputs
from unskew.alignment.spelling import RespelledUsers
from unskew.evaluation.request import Request
from unskew.inference.merging import Mergeable, added_counts, merged_by
from unskew.log import Account, Feedback, Predictions
from unskew.log.interactions import repeated_note

DUPLICATE = "duplicate pair"  # why rows are dropped


@dataclass(frozen=True, eq=False)
class ReadFacts(Mergeable):
    """What is known of the inputs of some users when they are read; that of other users is added.

    Args:
        users: that count; ``train_users`` those of the training log.
        spelling: of every table of predictions, users that the test log writes otherwise.
        test, train, people: rows that were dropped inside parts, by reason.
        predicted: ... of every table of predictions; ``guessed`` of that of the outcome model.
    """

    users: int
    train_users: int
    division: DivisionFacts | None
    train_spelling: RespelledUsers
    spelling: tuple[RespelledUsers, ...]
    test: Mapping[str, int] = merged_by(added_counts)
    train: Mapping[str, int] = merged_by(added_counts)
    people: Mapping[str, int] = merged_by(added_counts)
    predicted: tuple[Mapping[str, int], ...] = merged_by(
        lambda a, b: tuple(added_counts(x, y) for x, y in zip(a, b, strict=True))
    )
    guessed: Mapping[str, int] = merged_by(added_counts)

    @classmethod
    def of(cls, inputs: Inputs) -> ReadFacts:
        """Of one part."""
        test, train, people = inputs.test, inputs.train, inputs.population
        tables = [source for source in inputs.predictions.values() if isinstance(source, Predictions)]
        return cls(
            users=len(inputs.users),
            train_users=0 if train is None else len(train.users),
            division=None if train is None else DivisionFacts.of(test, train),
            train_spelling=RespelledUsers() if train is None else RespelledUsers.of(train.users, test.users),
            spelling=tuple(RespelledUsers.of(table.users, test.users) for table in tables),
            test=test.account.dropped,
            train={} if train is None else train.account.dropped,
            people={} if people is None else people.account.dropped,
            predicted=tuple(table.account.dropped for table in tables),
            guessed={} if inputs.guesses is None else inputs.guesses.account.dropped,
        )

    def completed(self, known: InputFacts, request: Request) -> InputFacts:
        """What was known of all inputs, with what parts found."""
        chosen = request.duplicates is not None

        def with_note(account: Account, dropped: Mapping[str, int], timed: bool, feedback: Feedback | None) -> Account:
            notes = account.notes
            if not chosen and feedback is Feedback.IMPLICIT and (again := dropped.get(DUPLICATE, 0)):
                notes = (*notes, repeated_note(again, "earliest" if timed else "first in the file"))
            return replace(account, dropped=added_counts(account.dropped, dropped), notes=notes)

        test, train = known.test, known.train
        left_out = test.account.dropped
        test = replace(test, account=with_note(test.account, self.test, test.time is not None, test.feedback))
        if train is not None:
            told = with_note(train.account, self.train, train.time is not None, train.feedback)
            train = replace(train, account=told)
        later = self.division is not None and test.share is None and self.division.later
        people, guesses = known.population, known.guesses
        predictions = {
            name: replace(account, dropped=added_counts(account.dropped, dropped))
            for (name, account), dropped in zip(known.predictions.items(), self.predicted, strict=True)
        }
        return replace(
            known,
            test=test,
            train=train,
            rules=replace(known.rules, later=later),
            rows=(test.account.rows, 0 if train is None else train.account.rows),
            users=self.users,
            train_users=self.train_users,
            population=None if people is None else replace(people, dropped=added_counts(people.dropped, self.people)),
            predictions=predictions,
            guesses=None if guesses is None else replace(guesses, dropped=added_counts(guesses.dropped, self.guessed)),
            train_spelling=self.train_spelling,
            spelling=dict(zip(known.predicted_items, self.spelling, strict=True)),
            left_out=left_out,
            in_parts=True,
        )
