"""The audit of a log: reading, then one look after the other. Wiring only."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from unskew.alignment.sources import Names, Reading, as_log, given_inputs, read_side
from unskew.auditing.advice import advise
from unskew.auditing.contrast import Contrast, contrast
from unskew.auditing.findings import find
from unskew.auditing.opening import opening, skew
from unskew.auditing.policies import compare
from unskew.auditing.powerlaw import power_law
from unskew.auditing.record import Audit, Size
from unskew.auditing.spread import Floats, Ints, spread
from unskew.auditing.support import supports
from unskew.auditing.times import times
from unskew.auditing.values import ValueLevels, Values, describe
from unskew.auditing.weights import Expected, expected, rehearse
from unskew.auditing.weights import propensities as describe_propensities
from unskew.auditing.widths import Width, widths
from unskew.errors import InputError
from unskew.log import Feedback, Log
from unskew.log.log import Duplicates, Invalid
from unskew.log.relevance import gains, train_gains
from unskew.propensity import Propensity
from unskew.propensity.checking import Stage, by_name, check
from unskew.propensity.checks import Checks
from unskew.threads import Threads

_REPEATED = "duplicate pair"


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
        log: the log: a ``Log``, a path, or any dataframe, ``user, item[, value][, time][, policy][, propensity]``.
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
    say("reading", 0, 8)
    asked = by_name(propensities)
    if not asked and (user_features is not None or item_features is not None):
        raise InputError(
            "covariates serve propensities, and none is asked for: name one with "
            "propensities=['logistic(features=outer)']."
        )
    how: Reading = {"feedback": feedback, "invalid": invalid, "duplicates": duplicates}
    inputs = given_inputs(log=log, mcar=mcar, user_features=user_features, item_features=item_features)
    names = Names(columns, inputs)
    read, told = _read(log, names, how, relevant)
    side = read_side(mcar, user_features, item_features, names, how)
    other = side.mcar
    gain = np.ones(len(read))  # where nothing says which rows are relevant, all count alike
    if told is not None and _judges(told, relevant):
        gain = gains(read, told, relevant)
    _comparable(read, other, bool(asked))
    say("counting users and items", 1, 8)
    per_user, per_item = np.diff(read.indptr), np.bincount(read.item, minlength=len(read.items))
    size = _size(read, per_user, per_item)
    users, items = spread(per_user, size.items), spread(per_item, size.users)
    say("fitting the popularity exponent", 2, 8)
    law = power_law(per_item)
    looks = _looks(read, other, gain, say)
    checks = Checks(())
    if asked:
        if other is not None:
            side = replace(side, mcar=_judged(other, told, relevant))
        judged = replace(_judged(read, told, relevant), feedback=told)
        checks = check(asked, judged, inputs=side, refused="skip", progress=say)  # what cannot be had is listed
    weights = None
    if read.propensity is not None:
        weights = describe_propensities(read.propensity, size.users * size.items, read.share or 1.0)
    found = Audit(
        source=read.account.source,
        feedback=None if told is None else str(told),
        relevant=relevant,
        size=size,
        users=users,
        items=items,
        dependence=max(-math.log2(size.density) - users.kl_bits - items.kl_bits, 0.0),
        exponent=law,
        propensity=weights,
        **looks,
        supports=supports(read, told, relevant),
        skew=skew(items),
        checks=checks,
    )
    say("done", 8, 8)
    logged = [name for name, model in asked.items() if model.known]
    findings = find(found, logged, mcar_for_propensities=other is not None and found.mcar is None)
    return replace(found, opening=opening(found), findings=findings, advice=advise(found, columns))


def _read(log: Any, names: Names, how: Reading, relevant: str | None) -> tuple[Log, Feedback | None]:
    """The log, and what a row says."""
    read = as_log(log, name="log", columns=names.of_test, **how)
    told = Feedback.RATINGS if read.feedback is None and relevant is not None else read.feedback
    if not len(read):
        raise InputError(f"{read.account.source}: the log has no rows, so there is nothing to audit.")
    if told is Feedback.IMPLICIT and read.value is not None:
        read = replace(read, value=None)
    return read, told


def _looks(log: Log, mcar: Log | None, gain: Floats, say: Stage) -> dict[str, Any]:
    """The parts of an audit that are seen in the rows; a hold-out is rehearsed and time looked at beside the others."""
    assert len(log.user) == len(log)  # now, not in two threads at once
    with Threads(2) as pool:
        rehearsal = pool.submit(_rehearse, log, gain)
        clock = None if log.time is None else pool.submit(times, log)
        say("looking at values", 3, 8)
        values, versus = _values(log, mcar)
        say("comparing policies", 4, 8)
        policies = None if log.policy is None else compare(log)
        say("looking at time", 5, 8)
        time = None if clock is None else clock.result()
        say("rehearsing a hold-out", 6, 8)
        found = {"values": values, "mcar": versus, "policies": policies, "time": time}
        return found | dict(zip(("expected", "widths"), rehearsal.result(), strict=True))


def _rehearse(log: Log, gain: Floats) -> tuple[tuple[Expected, ...], tuple[Width, ...]]:
    """Effective sample sizes of a random hold-out, and what its weights do to two lists."""
    found = rehearse(log, gain)
    return expected(log, found), () if found is None else widths(log, found)


def _values(log: Log, mcar: Log | None) -> tuple[Values | None, Contrast | None]:
    """The values of the log, and how they differ from the MCAR log's, on common levels."""
    if log.value is None:
        return None, None
    if mcar is None or mcar.value is None:
        return describe(log.value, ValueLevels.of(log.value)), None
    grid = ValueLevels.of(log.value, mcar.value)
    return describe(log.value, grid), contrast(log, mcar, grid)


def _judged(log: Log, feedback: Feedback | None, relevant: str | None) -> Log:
    """The log with its gains, where something says which rows are positives; what needs them refuses the others."""
    told = log.feedback or feedback
    return replace(log, gain=train_gains(log, told, relevant)) if told is not None and _judges(told, relevant) else log


def _judges(feedback: Feedback, relevant: str | None) -> bool:
    """Whether anything says which rows are relevant."""
    return feedback is not Feedback.RATINGS or relevant is not None


def _comparable(log: Log, mcar: Log | None, asked: bool) -> None:
    """An MCAR log without rows, or, where it cannot serve propensities either, one that cannot be compared by value."""
    if mcar is None:
        return
    for side, name in ((log, log.account.source), (mcar, mcar.account.source)):
        if side.value is None and not asked:
            raise InputError(
                f"{name}: an MCAR log is compared by value, and there is no value here.\n"
                "Say which column it is with columns={'value': '...'}, and leave out feedback='implicit'."
            )
    if not len(mcar):
        raise InputError(f"{mcar.account.source}: the MCAR log has no rows.")


def _size(log: Log, per_user: Ints, per_item: Ints) -> Size:
    """Sizes; the account of what was dropped counts only if it is the account of this log, not of one it is part of."""
    users, items = int(np.count_nonzero(per_user)), int(np.count_nonzero(per_item))
    dropped = {reason: rows for reason, rows in log.account.dropped.items() if rows}
    if log.account.rows != len(log) + sum(dropped.values()):
        dropped = {}
    repeated = dropped.pop(_REPEATED, 0)
    return Size(
        read=len(log) + sum(dropped.values()) + repeated,
        dropped=dropped,
        duplicates=repeated,
        rows=len(log),
        users=users,
        items=items,
        silent_users=len(log.users) - users,
        unseen_items=len(log.items) - items,
        density=len(log) / (users * items),
        notes=log.account.notes,
    )
