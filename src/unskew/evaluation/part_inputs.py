"""From checked inputs in parts of the users to what an evaluation walks over: facts of the whole, ``Inputs`` of a part.

An engine brings every input as clean rows (``log/batches.py``), once checked and looked through (``LookedThrough``),
and of every part of the users the frames of their rows. What is made of them here is the same for all engines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, NamedTuple

import polars as pl

from unskew.alignment.input_facts import InputFacts
from unskew.alignment.inputs import Inputs
from unskew.alignment.part import AlignedPart, PartFacts
from unskew.alignment.sources import read_side
from unskew.alignment.vocabulary import training_gains
from unskew.evaluation.read import everyone, rules_of
from unskew.evaluation.request import Request
from unskew.evaluation.sampled import UNKNOWN
from unskew.kernels.arrays import present
from unskew.log import Account, Feedback, Log
from unskew.log.batches import Kind
from unskew.log.column_maps import choose
from unskew.log.extremes import Extremes
from unskew.log.lists import RANKED
from unskew.log.log import POSITION, WEIGHT
from unskew.log.population import read_catalogue
from unskew.log.position import are_places, left_alone
from unskew.log.relevance import told_feedback
from unskew.log.user_parts import UserParts
from unskew.outcome import Given

TEST, TRAIN, USERS, GUESSES, MODEL = "test", "train", "users", "guesses", "model:"  # names of inputs


class AskedInput(NamedTuple):
    """One input with rows of users, as a request gives it; ``columns`` and ``keep`` as in ``Reading``."""

    given: Any
    kind: Kind
    columns: Mapping[str, str]
    keep: tuple[str, ...] = ()


def asked_inputs(request: Request, columns_of: Callable[[str, Any], list[str]]) -> Iterator[tuple[str, AskedInput]]:
    """All inputs with rows of users, by name; ``columns_of`` says which columns the one of a name has."""
    names, test, train, people = request.columns, request.test, request.train, request.users
    by_user = False
    if people is not None:
        keep = tuple(request.segment_column)
        by_user = request.by in columns_of(USERS, people)
        yield USERS, AskedInput(people, Kind.PEOPLE, names.of_users, keep)
    kept = [*request.strata_columns(), *([] if by_user else request.segment_column)]
    kept += [WEIGHT] * (WEIGHT in columns_of(TEST, test))
    yield TEST, AskedInput(test, Kind.LOG, names.of_test, tuple(dict.fromkeys(kept)))
    if train is not None:
        theirs, time = names.of_train_with_propensity if request.trains_shares else names.of_train, names.time_of_train
        if time is not None and "time" not in theirs and (not time or choose(time, columns_of(TRAIN, train))):
            theirs = theirs.joined({"time": time})
        yield TRAIN, AskedInput(train, Kind.LOG, theirs, tuple(request.strata_columns(training=True)))
    kind, columns = (Kind.PREDICTIONS, names.of_predictions) if request.rates else (Kind.LISTS, names.of_lists)
    for name, given in request.models.items():
        yield MODEL + name, AskedInput(given, kind, columns(name))
    if (table := divided_table(request)) is not None:
        yield GUESSES, AskedInput(table, Kind.PREDICTIONS, names.of_guesses)


def divided_table(request: Request) -> str | PathLike[str] | None:
    """The file of an outcome model's predictions, unread so far, whose rows are divided by user like all others."""
    return request.outcome.file if isinstance(request.outcome, Given) else None


@dataclass(frozen=True, eq=False)
class LookedThrough:
    """What is known of one input when all its rows were checked once.

    Args:
        account: what became of the rows so far.
        extremes: the least and the largest number of the columns that ``extremes_in`` looks at.
        parts: makes the logs, lists and tables of some users.
    """

    account: Account
    extremes: Mapping[str, Extremes]
    parts: UserParts

    @classmethod
    def of(cls, account: Account, extremes: Mapping[str, Extremes], parts: UserParts) -> LookedThrough:
        """Without the places on the page, where some rows of the column hold something else."""
        found = extremes.get(POSITION)
        if POSITION not in parts.schema or are_places(found):
            return cls(account, extremes, parts)
        schema = pl.Schema({name: dtype for name, dtype in parts.schema.items() if name != POSITION})
        return cls(left_alone(account, found), extremes, replace(parts, schema=schema))

    @property
    def template(self) -> Log:
        """A log without rows that says what the whole one is."""
        log = replace(self.parts.no_rows, account=self.account)
        weights = self.extremes.get(WEIGHT)
        return log if weights is None or weights.constant else replace(log, sampled_by=UNKNOWN)

    @property
    def of_lists(self) -> Account:
        """The account of lists, with what parts do not know."""
        ranked = "score" in self.parts.schema
        return replace(self.account, notes=(*self.account.notes, *([RANKED] if ranked else ())))


def facts_of(request: Request, inputs: Mapping[str, LookedThrough]) -> InputFacts:
    """What is known of all inputs before any part is looked at."""
    test, train = inputs[TEST].template, inputs[TRAIN].template if TRAIN in inputs else None
    if train is not None and train.feedback is None and test.feedback is Feedback.IMPLICIT:
        told_feedback(train, request.relevant)  # values in training that nothing explains are refused as well
    rules, names = rules_of(request, test, train), request.columns
    catalogue = None
    if request.items is not None:
        catalogue = read_catalogue(request.items, columns=names.of_items, invalid=request.invalid)
    side = read_side(request.mcar, request.user_features, request.item_features, names, request.reading)
    if side.mcar is not None:
        side = replace(side, mcar=replace(side.mcar, gain=training_gains(side.mcar, rules)))
    models = {name: inputs[MODEL + name] for name in request.models}
    people, rates = inputs.get(USERS), request.rates
    return InputFacts(
        test=test,
        train=train,
        rows=(0, 0),
        users=0,
        train_users=0,
        population=None if people is None else people.account,
        catalogue=catalogue,
        models=tuple(models),
        lists={} if rates else {name: (each.of_lists, each.parts.items) for name, each in models.items()},
        predictions={name: each.account for name, each in models.items()} if rates else {},
        predicted_items={name: each.parts.items for name, each in models.items()} if rates else {},
        side=side,
        rules=rules,
        knows_relevant=people is not None and "relevant" in people.parts.schema,
        guesses=inputs[GUESSES].account if GUESSES in inputs else None,
        propensities=inputs[TEST].extremes.get("propensity"),
    )


@dataclass(frozen=True, eq=False)
class PartMaker:
    """Makes the ``Inputs`` of some users from the frames of their rows.

    Args:
        makers: of every input.
        facts: of the whole.
        rates: whether models predict.
    """

    makers: Mapping[str, UserParts]
    facts: InputFacts
    rates: bool

    def __call__(self, frame_of: Callable[[str], pl.DataFrame | None], *, lists: bool) -> Inputs:
        """Of one part. Models are left out unless ``lists`` is set.

        Args:
            frame_of: the rows of an input by its name, asked for once and when they are needed: rows as they came take
                more room than what is made of them. ``None`` where an input has no rows there.
        """
        facts, makers = self.facts, self.makers

        def rows(name: str) -> pl.DataFrame:
            found = frame_of(name)
            return pl.DataFrame(schema=makers[name].schema) if found is None else found

        test = replace(makers[TEST].log(rows(TEST)), sampled_by=facts.test.sampled_by)
        train = makers[TRAIN].log(rows(TRAIN)) if TRAIN in makers else None
        people = makers[USERS].population(rows(USERS)) if USERS in makers else None
        models = facts.models if lists else ()
        ranked, rated = ((), models) if self.rates else (models, ())
        return Inputs(
            test,
            train,
            people,
            facts.catalogue,
            everyone(test, train, people, facts.rules.by_users),
            facts.models,
            {name: makers[MODEL + name].lists(rows(MODEL + name)) for name in ranked},
            {name: makers[MODEL + name].predictions(rows(MODEL + name)) for name in rated},
            facts.side,
            facts.rules,
            guesses=makers[GUESSES].predictions(rows(GUESSES)) if lists and GUESSES in makers else None,
        )

    @property
    def people(self) -> tuple[str, ...]:
        """The kept columns of the population."""
        schema = present(self.makers[USERS]).schema if USERS in self.makers else ()
        return tuple(name for name in schema if name not in ("user", "relevant"))


class AlignedFacts(NamedTuple):
    """The facts of aligned parts, and what another function found."""

    facts: PartFacts
    also: Any

    def merge(self, other: AlignedFacts) -> AlignedFacts:
        """Of both sets of users."""
        return AlignedFacts(self.facts.merge(other.facts), self.also.merge(other.also))


def bare(part: AlignedPart) -> AlignedPart:
    """The part without what nobody asks for again, and without what can be made anew."""
    known = None if part.known is None else replace(part.known)
    excluded = None if part.excluded is None else known
    return replace(part, rows=replace(part.rows), known=known, excluded=excluded, lists={}, facts=None, given={})
