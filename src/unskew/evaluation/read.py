"""Read what an evaluation is given: logs, population, lists and predictions, each once, files side by side."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unskew.alignment.division import later
from unskew.alignment.inputs import FittedModels, Inputs, Rules
from unskew.alignment.sources import (
    Predictor,
    as_lists,
    as_log,
    as_predictions,
    has_column,
    names_in,
    read_side,
    train_columns,
)
from unskew.alignment.vocabulary import training_gains
from unskew.core.errors import InputError
from unskew.core.text import plain
from unskew.core.threads import Task, Threads
from unskew.evaluation.request import Request
from unskew.evaluation.sampled import marked
from unskew.log import Feedback, Ids, Log, Predictions, Recommendations, read_predictions, read_recommendations
from unskew.log.answers import read_answers
from unskew.log.log import WEIGHT
from unskew.log.paths import is_path
from unskew.log.population import Population, read_catalogue, read_population
from unskew.log.relevance import told_feedback

Stage = Callable[[str, int, int], None]  # called with (stage, done, total)


def read(request: Request, say: Stage) -> Inputs:
    """Read the logs while the files of lists are read beside them; then let fitted models make theirs."""
    names, invalid = request.columns, request.invalid
    for name, source in request.models.items():
        _refuse_factors(name, source)
    if request.outcome is not None:
        request.outcome.load()
    say("reading logs", 0, 1)
    read_one: Callable[..., Any] = read_predictions if request.rates else read_recommendations
    columns_of = names.of_predictions if request.rates else names.of_lists
    with Threads(2) as pool:
        files: dict[str, Task[Any]] = {
            name: pool.submit(partial(read_one, columns=columns_of(name), invalid=invalid), source)
            for name, source in request.models.items()
            if is_path(source)
        }
        test, train, population = _logs(request)
        catalogue = None
        if request.items is not None:
            catalogue = read_catalogue(request.items, columns=names.of_items, invalid=invalid)
        rules = rules_of(request, test, train)
        users = everyone(test, train, population, rules.by_users)
        ready = ((name, files[name].result() if name in files else source) for name, source in request.models.items())
        seen = train if rules.unseen else None
        lists, predictions = ask_models(request, ready, users, seen, say, files)
    side = read_side(request.mcar, request.user_features, request.item_features, names, request.reading)
    if side.mcar is not None:
        side = replace(side, mcar=replace(side.mcar, gain=training_gains(side.mcar, rules)))
    models = tuple(request.models)
    fitted = FittedModels.of(request.models, seen)
    inputs = Inputs(test, train, population, catalogue, users, models, lists, predictions, side, rules, fitted=fitted)
    if request.answers is None:
        return inputs
    columns = names_in(request.answers, names.of_answers)  # the file of a plan has our names
    answers, drawing = read_answers(
        request.answers, rules.feedback, rounds=request.rounds, columns=columns, invalid=invalid
    )
    return replace(inputs, answers=answers, drawing=drawing)


def ask_models(
    request: Request,
    ready: Iterable[tuple[str, Any]],
    users: Ids,
    exclude: Log | None,
    say: Stage,
    files: Container[str] = (),
) -> tuple[dict[str, Recommendations], dict[str, Predictions | Predictor]]:
    """The models' lists and predictions, by name.

    Args:
        files: the models whose files are read already; reading has checked them.
    """
    names, invalid = request.columns, request.invalid
    lists: dict[str, Recommendations] = {}
    predictions: dict[str, Predictions | Predictor] = {}
    for done, (name, source) in enumerate(ready):
        say(f"{'predictions' if request.rates else 'lists'} of {plain(name)}", done, len(request.models))
        only_lists = hasattr(source, "recommend") and not hasattr(source, "predict")
        if isinstance(source, Predictions | np.ndarray) or (
            request.rates and not isinstance(source, Recommendations) and not only_lists
        ):
            predictions[name] = as_predictions(source, name, names.of_predictions(name), invalid)
        if name in files and isinstance(source, Recommendations):
            lists[name] = source
        elif name not in predictions or (request.ranks and hasattr(source, "recommend")):
            with _named(name, source):
                lists[name] = as_lists(source, name, users, request.length, exclude, names.of_lists(name), invalid)
    return lists, predictions


@contextmanager
def _named(name: str, source: Any) -> Iterator[None]:
    """What a model says is wrong with the call, under the name that it has here; files and frames say theirs."""
    try:
        yield
    except InputError as problem:
        if not hasattr(source, "recommend"):
            raise
        prefix = f"model '{plain(name)}': "
        raise problem.saying(prefix + str(problem).removeprefix(prefix)) from problem


def _refuse_factors(name: str, source: Any) -> None:
    """Factors say nothing without the ids of their rows, and a file of a model is no file of lists."""
    if isinstance(source, str | PathLike) and Path(source).suffix.lower() == ".npz":
        raise InputError(
            f"{plain(source)}: an .npz file holds a model, not lists or predictions.\n"
            "Load it first, us.models.load(path), and give the model.",
            code="wrong-extension",
        )
    if isinstance(source, tuple | list | Mapping) and not is_path(source):
        raise InputError(
            f"model '{plain(name)}': a {type(source).__name__} is neither a model nor a dataframe.\n"
            "Factors made elsewhere: us.models.GivenFactors(users, items, user_factors, item_factors). Lists: a path, "
            "or a pandas, polars or pyarrow table.",
            code="wrong-type",
        )


def _logs(request: Request) -> tuple[Log, Log | None, Population | None]:
    """The test log, the training log and the population."""
    names, population = request.columns, None
    if request.users is not None:
        population = read_population(
            request.users, columns=names.of_users, keep=request.segment_column, invalid=request.invalid
        )
    by_user = population is not None and request.by in population.columns
    keep = [*request.strata_columns(), *([] if by_user else request.segment_column)]
    keep += [WEIGHT] * has_column(request.test, WEIGHT)
    test = marked(as_log(request.test, name="test", columns=names.of_test, keep=keep, **request.reading))
    if request.train is None:
        return test, None, population
    keep = request.strata_columns(training=True)
    theirs = train_columns(request.train, names, propensity=request.trains_shares)
    train = as_log(request.train, name="train", columns=theirs, keep=keep, **request.reading)
    if train.feedback is None and test.feedback is Feedback.IMPLICIT:
        told_feedback(train, request.relevant)  # values in training that nothing explains are refused as well
    return test, train, population


def rules_of(request: Request, test: Log, train: Log | None) -> Rules:
    """What counts as relevant, as a candidate, as wrong."""
    candidates, share = request.candidates, request.share
    feedback = told_feedback(test, request.relevant)
    if candidates == "unseen" and train is None:
        raise InputError(
            "candidates='unseen' are the items outside the user's training data: give train=….", code="no-training-log"
        )
    return Rules(
        feedback=feedback,
        relevant=request.relevant,
        unseen=train is not None and candidates != "all",
        drop_seen=request.drop_seen,
        drop_invalid=request.invalid == "drop",
        share=None if share == "users" else share,
        by_users=share == "users",
        train_share=None if train is None else train.share,
        train_cut=train is not None and train.cut_by_time,
        later=train is not None and test.share is None and later(test, train),
        ranks=request.ranks,
        rates=request.rates,
        fixed_relevance=request.fixed_relevance,
    )


def everyone(test: Log, train: Log | None, population: Population | None, by_users: bool) -> Ids:
    """The users that count: the population, else the users of both logs; of the test log where training has others."""
    if population is not None:
        return population.users
    if by_users and train is not None:
        trained = Ids(train.users.values.filter(pl.Series(np.diff(train.indptr) > 0)))
        mine = (test.users.into(trained) < 0) | (np.diff(test.indptr) > 0)
        return Ids(test.users.values.filter(pl.Series(mine)))
    return test.users if train is None else Ids.union(test.users, train.users)
