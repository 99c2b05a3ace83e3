"""Read what an evaluation is given: logs, population, lists and predictions, each once, files side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from unskew.alignment.division import check_division
from unskew.alignment.sources import Names, Predictor, as_lists, as_log, as_predictions, has_column
from unskew.bounds import word
from unskew.errors import InputError
from unskew.evaluation.question import Question
from unskew.log import Feedback, Ids, Log, Predictions, Recommendations, read_predictions, read_recommendations
from unskew.log.catalogue import Catalogue, read_catalogue
from unskew.log.log import Invalid
from unskew.log.population import Population, read_population
from unskew.log.relevance import told_feedback
from unskew.plain import plain
from unskew.threads import Task, Threads

Stage = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class Given:
    """Everything that was read, and what follows from it alone."""

    test: Log
    train: Log | None
    population: Population | None
    catalogue: Catalogue | None
    users: Ids
    lists: dict[str, Recommendations]
    predictions: dict[str, Predictions | Predictor]
    feedback: Feedback
    candidates: str

    def ready(self, models: Mapping[str, Any]) -> dict[str, Any]:
        """The models with everything read and every list made; who both predicts and recommends stays what it is."""
        both = self.lists.keys() & self.predictions.keys()
        return {name: models[name] if name in both else (self.lists | self.predictions)[name] for name in models}


def gather(
    question: Question,
    test: Any,
    seen: Any,
    users: Any,
    items: Any,
    models: Mapping[str, Any],
    candidates: str | None,
    names: Names,
    how: Mapping[str, Any],
    say: Stage,
    share: float | Literal["users"] | None,
) -> Given:
    """Read the logs while the files of lists are read beside them; then let fitted models make theirs."""
    invalid: Invalid = how["invalid"]
    for name, source in models.items():
        _refuse_factors(name, source)
    read: Callable[[Any], Any] = partial(read_recommendations, columns=names.of_lists, invalid=invalid)
    if question.rates:
        read = partial(read_predictions, columns=names.of_predictions, invalid=invalid)
    with Threads(2) as pool:
        files: dict[str, Task[Any]] = {
            name: pool.submit(read, source) for name, source in models.items() if isinstance(source, str | PathLike)
        }
        log, train, population = _read(question, test, seen, users, names, how)
        check_division(log, train, share, question.propensity)
        catalogue = items if isinstance(items, Catalogue) else None
        if items is not None and catalogue is None:
            catalogue = read_catalogue(items, columns=names.of_items, invalid=invalid)
        told = told_feedback(log, question.relevant)
        everyone = _everyone(log, train, population, share == "users")
        among = _candidates(candidates, train)
        lists: dict[str, Recommendations] = {}
        predictions: dict[str, Predictions | Predictor] = {}
        for done, (name, source) in enumerate(models.items()):
            say(f"{'predictions' if question.rates else 'lists'} of {plain(name)}", done, len(models))
            ready = files[name].result() if name in files else source
            if isinstance(ready, Predictions | np.ndarray) or (
                question.rates and not isinstance(ready, Recommendations) and not _only_recommends(ready)
            ):
                predictions[name] = as_predictions(ready, name, names.of_predictions, invalid)
            if name not in predictions or (question.ranks and hasattr(ready, "recommend")):
                exclude = train if among == "unseen" else None
                with _told_of(name, ready):
                    lists[name] = as_lists(ready, name, everyone, question.length, exclude, names.of_lists, invalid)
    return Given(log, train, population, catalogue, everyone, lists, predictions, told, among)


@contextmanager
def _told_of(name: str, source: Any) -> Iterator[None]:
    """What a model says is wrong with the call, under the name that it has here; files and frames say theirs."""
    try:
        yield
    except InputError as problem:
        if not hasattr(source, "recommend"):
            raise
        told = f"model '{plain(name)}': "
        raise InputError(told + str(problem).removeprefix(told)) from problem


def _refuse_factors(name: str, source: Any) -> None:
    """Factors say nothing without the ids of their rows, and a file of a model is no file of lists."""
    if isinstance(source, str | PathLike) and Path(source).suffix.lower() == ".npz":
        raise InputError(
            f"{plain(source)}: an .npz file holds a model, not lists or predictions.\n"
            f"Give it with --model {plain(name)}={plain(source)} (in Python: us.models.load(path))."
        )
    if isinstance(source, tuple | list | Mapping):
        raise InputError(
            f"model '{plain(name)}': a {type(source).__name__} is neither a model nor a dataframe.\n"
            "Factors made elsewhere: us.models.GivenFactors(users, items, user_factors, item_factors). Lists: a path, "
            "or a pandas, polars or pyarrow table."
        )


def _only_recommends(source: Any) -> bool:
    return hasattr(source, "recommend") and not hasattr(source, "predict")


def _read(
    question: Question, test: Any, seen: Any, users: Any, names: Names, how: Mapping[str, Any]
) -> tuple[Log, Log | None, Population | None]:
    """The test log, the training log and the population."""
    population = users if isinstance(users, Population) else None
    if users is not None and population is None:
        population = read_population(
            users, columns=names.of_users, keep=question.segment_column, invalid=how["invalid"]
        )
    by_user = population is not None and question.by in population.columns
    keep = [*question.strata_columns(), *([] if by_user else question.segment_column)]
    log = as_log(test, name="test", columns=names.of_test, keep=keep, **how)
    if seen is None:
        return log, None, population
    keep = question.strata_columns(training=True)
    theirs = dict(names.of_train_with_propensity if question.trains_shares else names.of_train)
    if (time := names.of_test.get("time")) is not None and has_column(seen, time):
        theirs["time"] = time
    train = as_log(seen, name="train", columns=theirs, keep=keep, **how)
    if train.feedback is None and log.feedback is Feedback.IMPLICIT:
        told_feedback(train, question.relevant)  # values in training that nothing explains are refused as well
    return log, train, population


def _candidates(asked: str | None, train: Log | None) -> str:
    if asked is not None:
        word(asked, ("unseen", "all"), "candidates")
    if asked == "unseen" and train is None:
        raise InputError(
            "candidates 'unseen' are the items outside the user's training data: give --train (seen=train)."
        )
    return asked or ("all" if train is None else "unseen")


def _everyone(test: Log, train: Log | None, population: Population | None, by_users: bool) -> Ids:
    """The users that count: the population, else the users of both logs; of the test log where training has others."""
    if population is not None:
        return population.users
    if by_users and train is not None:
        trained = Ids(train.users.values.filter(pl.Series(np.diff(train.indptr) > 0)))
        mine = (test.users.into(trained) < 0) | (np.diff(test.indptr) > 0)
        return Ids(test.users.values.filter(pl.Series(mine)))
    if train is None or train.users is test.users:
        return test.users
    return Ids.of(test.users.values, train.users.values)
