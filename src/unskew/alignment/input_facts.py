"""What is known of the inputs besides their rows: marks, accounts and vocabularies, wherever the rows are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from unskew.alignment.inputs import NOT_FITTED, FittedModels, Inputs, Rules
from unskew.alignment.rows import read_rows
from unskew.alignment.spelling import RespelledUsers
from unskew.log import Account, Ids, Log, Predictions
from unskew.log.extremes import Extremes
from unskew.log.population import Catalogue
from unskew.propensity import FitInputs


@dataclass(frozen=True, eq=False)
class InputFacts:
    """The inputs of an evaluation without their rows.

    Args:
        test, train: the logs for what they say of themselves: account, share, columns, items. They may be without rows.
        rows: how many rows the test log and the training log had, as they came.
        users: how many users count; ``train_users`` how many the training log knows.
        population: its account, where it was given.
        lists: accounts and vocabularies of the lists as they were read, by model.
        predictions: accounts of the models that predict; ``predicted_items`` the vocabularies of those that came as
            tables.
        train_spelling, spelling: users of the training log, and of tables of predictions, that the test log writes
            otherwise.
        left_out: held-out rows that were dropped before anybody's were looked at, by reason.
        knows_relevant: whether n_u is known.
        answers: whether pairs were drawn, shown and answered.
        in_parts: whether users are looked at part by part.
        guesses: the account of a table of predicted outcomes that is divided by user.
        fitted: models that were asked here.
        propensities: the least and the largest of the test log's own column, where it has one.
    """

    test: Log
    train: Log | None
    rows: tuple[int, int]
    users: int
    train_users: int
    population: Account | None
    catalogue: Catalogue | None
    models: tuple[str, ...]
    lists: Mapping[str, tuple[Account, Ids]]
    predictions: Mapping[str, Account]
    predicted_items: Mapping[str, Ids]
    side: FitInputs
    rules: Rules
    train_spelling: RespelledUsers = field(default_factory=RespelledUsers)
    spelling: Mapping[str, RespelledUsers] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    knows_relevant: bool = False
    answers: bool = False
    in_parts: bool = False
    guesses: Account | None = None
    fitted: FittedModels = NOT_FITTED
    propensities: Extremes | None = None

    @classmethod
    def of(cls, inputs: Inputs) -> InputFacts:
        """Of inputs in memory."""
        test, train = inputs.test, inputs.train
        tables = {name: source for name, source in inputs.predictions.items() if isinstance(source, Predictions)}
        return cls(
            test=test,
            train=train,
            rows=(read_rows(test), 0 if train is None else read_rows(train)),
            users=len(inputs.users),
            train_users=0 if train is None else len(train.users),
            population=None if inputs.population is None else inputs.population.account,
            catalogue=inputs.catalogue,
            models=inputs.models,
            lists={name: (lists.account, lists.items) for name, lists in inputs.lists.items()},
            predictions={
                name: tables[name].account if name in tables else Account(name, 0) for name in inputs.predictions
            },
            predicted_items={name: table.items for name, table in tables.items()},
            side=inputs.side,
            rules=inputs.rules,
            train_spelling=RespelledUsers() if train is None else RespelledUsers.of(train.users, test.users),
            spelling={name: RespelledUsers.of(table.users, test.users) for name, table in tables.items()},
            knows_relevant=inputs.population is not None and inputs.population.relevant is not None,
            answers=inputs.answers is not None,
            fitted=inputs.fitted,
            propensities=Extremes.of(test.propensity),
        )
