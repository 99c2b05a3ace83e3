"""The audit of a log: reading, then one look after the other. Wiring only."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import count
from os import PathLike
from typing import Any

from unskew.alignment.sources import Names, Reading, as_log, given_inputs, read_side
from unskew.auditing.advice import advise
from unskew.auditing.findings import find
from unskew.auditing.looks import AuditPart, Question, judges, row_gains
from unskew.auditing.opening import opening
from unskew.auditing.record import Audit
from unskew.auditing.walk import Audited, refuse_incomparable, told_feedback, walk
from unskew.core.errors import InputError
from unskew.core.threads import Threads
from unskew.log import Feedback, Log
from unskew.log.log import Duplicates, Invalid
from unskew.log.relevance import train_gains
from unskew.propensity import Propensity
from unskew.propensity.checking import Stage, by_name, check

ROUNDS = 6  # of questions, in memory


def audit(
    log: Any,
    *,
    propensities: str | Propensity | Iterable[str | Propensity] | Mapping[str, str | Propensity] = (),
    mcar: Any = None,
    user_features: Any = None,
    item_features: Any = None,
    feedback: Feedback | str | None = None,
    relevant: str | None = None,
    columns: Mapping[str, Any] | None = None,
    invalid: Invalid = "error",
    duplicates: Duplicates = "first",
    progress: Stage | None = None,
) -> Audit:
    """Say what kind of log this is: its long tail, its skew, its drift, and which estimators and targets it supports.

    Args:
        log: the log: a ``Log``, a path, or any dataframe,
            ``user, item[, value][, time][, policy][, position][, propensity]``.
        propensities: canonical strings or objects, fitted to this log and checked on pairs that the fit did not see.
        mcar: a log of pairs drawn at random, ``user, item, value``, to compare the values with (and for
            ``naive_bayes``).
        user_features, item_features: covariates, for ``logistic``.
        feedback: what a row says; without it, a log with values is described for every way in which it may be read.
        relevant: a threshold on the value, ``'>=4'``.
        columns: our column names → theirs, where they are not recognised, in all inputs or in one (docs/files.md).
        invalid: wrong rows are an ``error``, or ``drop`` leaves them out and counts them.
        duplicates: repeated pairs are counted, and the ``first``, ``last`` or ``max`` is kept; ``error`` refuses them.
        progress: called with (stage, done, total).
    """
    say = progress or (lambda stage, done, total: None)
    say("reading", 0, ROUNDS)
    asked = by_name(propensities)
    if not asked and (user_features is not None or item_features is not None):
        raise InputError(
            "covariates serve propensities, and none is asked for: name one with "
            "propensities=['logistic(features=outer)'].",
            code="conflicting-arguments",
            option="covariates",
        )
    how: Reading = {"feedback": feedback, "invalid": invalid, "duplicates": duplicates}
    inputs = given_inputs(log=log, mcar=mcar, user_features=user_features, item_features=item_features)
    names = Names(columns, inputs)
    read, told = _read(log, names, how, relevant)
    side = read_side(mcar, user_features, item_features, names, how)
    other = side.mcar
    part = AuditPart(read, other, row_gains(read, told, relevant), whole=True)
    _comparable(read, other, bool(asked))
    found = walk(Audited(read, other, told, relevant), partial(_ask, part, count(1), say))
    if asked:
        if other is not None:
            side = replace(side, mcar=_judged(other, told, relevant))
        judged = replace(_judged(read, told, relevant), feedback=told)
        checks = check(asked, judged, inputs=side, refused="skip", progress=say)  # what cannot be had is listed
        found = replace(found, checks=checks)
    say("done", ROUNDS, ROUNDS)
    logged = [name for name, model in asked.items() if model.known]
    return concluded(
        found,
        columns,
        logged,
        files={name: str(path) for name, path in (("log", log), ("mcar", mcar)) if isinstance(path, str | PathLike)},
        mcar_for_propensities=other is not None and found.mcar is None,
    )


def concluded(
    found: Audit,
    columns: Mapping[str, str] | None,
    logged: Collection[str] = (),
    *,
    files: Mapping[str, str] | None = None,
    mcar_for_propensities: bool = False,
) -> Audit:
    """The audit in words too."""
    findings = find(found, logged, mcar_for_propensities=mcar_for_propensities)
    return replace(found, opening=opening(found), findings=findings, advice=advise(found, columns, files))


def _read(log: Any, names: Names, how: Reading, relevant: str | None) -> tuple[Log, Feedback | None]:
    """The log, and what a row says."""
    read = as_log(log, name="log", columns=names.of_test, **how)
    told = told_feedback(read, relevant)
    if not len(read):
        raise InputError(
            f"{read.account.source}: the log has no rows, so there is nothing to audit.",
            code="empty-log",
            file=read.account.source,
        )
    if told is Feedback.IMPLICIT and read.value is not None:
        read = replace(read, value=None)
    return read, told


def _ask(part: AuditPart, rounds: Iterator[int], say: Stage, questions: Mapping[str, Question]) -> dict[str, Any]:
    """The answers of the only part, several questions side by side."""
    say("looking at the rows", min(next(rounds), ROUNDS), ROUNDS)
    assert len(part.log.user) == len(part.log)  # now, not in two threads at once
    with Threads(2) as pool:
        tasks = {name: pool.submit(question, part) for name, question in questions.items()}
        return {name: task.result() for name, task in tasks.items()}


def _judged(log: Log, feedback: Feedback | None, relevant: str | None) -> Log:
    """The log with its gains, where something says which rows are positives; what needs them refuses the others."""
    told = log.feedback or feedback
    return replace(log, gain=train_gains(log, told, relevant)) if told is not None and judges(told, relevant) else log


def _comparable(log: Log, mcar: Log | None, asked: bool) -> None:
    """An MCAR log without rows, or, where it cannot serve propensities either, one that cannot be compared by value."""
    if mcar is None:
        return
    if not asked:
        refuse_incomparable(log, mcar)
    if not len(mcar):
        raise InputError(
            f"{mcar.account.source}: the MCAR log has no rows.", code="empty-log", file=mcar.account.source
        )
