"""One evaluation after the other, under several propensities: everything is read once, and every refusal is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

from unskew.core.errors import InputError, RefusedError, UnskewError
from unskew.evaluation.comparison import Missing, PropensityComparison
from unskew.evaluation.expected import expect
from unskew.evaluation.planning import SKIP
from unskew.evaluation.read import Stage, read
from unskew.evaluation.request import Request
from unskew.evaluation.run import answer_request, evaluate_stream, reporter
from unskew.propensity import Propensity
from unskew.propensity.checking import by_name
from unskew.result import Result


def compare_propensities(
    test: Any,
    models: Mapping[str, Any],
    *,
    propensities: str | Propensity | Iterable[str | Propensity] | Mapping[str, str | Propensity],
    refused: Literal["error", "skip"] = "error",
    progress: Stage | None = None,
    **options: Any,
) -> PropensityComparison:
    """Evaluate the same models under several propensities, and say how far the answers depend on the choice.

    The numbers are those of one ``evaluate`` per propensity. Files are read once, and models make their lists once;
    files that exceed memory are read for every propensity.

    Args:
        test, models: as in ``evaluate``.
        propensities: canonical strings or objects; a mapping gives them names of its own.
        refused: a cell that the log cannot support under any of the propensities is an ``error``, or ``skip`` lists it.
            What only some propensities support (ips needs absolute ones) is computed for those, and the others are
            listed in ``missing``; so is a propensity that cannot be had at all, unless none is left.
        progress: called with (stage, done, total).
        options: everything else that ``evaluate`` takes.
    """
    if "propensity" in options:
        raise InputError(
            "several propensities are compared: give propensities=[…] instead of propensity=….",
            code="conflicting-arguments",
        )
    named = by_name(propensities)
    if not named:
        raise InputError(
            "there is no propensity to compare: give at least one, such as 'popularity(gamma=1)'.",
            code="missing-argument",
        )
    say = reporter(progress)
    request = Request.of(test, models, propensity=next(iter(named.values())), refused=refused, **options)
    expected = expect(request)
    inputs = None if expected is not None and expected.engine == "stream" else read(request, say)
    results: dict[str, Result] = {}
    lost: dict[str, UnskewError] = {}
    for name, model in named.items():
        try:
            asked = replace(request, propensity=model, refused="skip")
            own = _prefixed(say, name)
            if inputs is not None:
                results[name] = answer_request(asked, inputs, own)
            elif expected is not None:
                results[name] = evaluate_stream(asked, expected, own)
        except UnskewError as error:
            lost[name] = error
    if not results:
        raise _together(lost)
    missing = [Missing(name, None, None, None, str(error), error.code) for name, error in lost.items()]
    for name, result in results.items():
        missing += [
            Missing(name, r["metric"], r["estimator"], r["target"], r["reason"], r["code"])
            for r in result.inputs["refused"]
        ]
    if refused == "error" and request.chosen:
        _refuse_everywhere(missing, len(results))
    return PropensityComparison(results, tuple(missing))


def _prefixed(say: Stage, name: str) -> Stage:
    return lambda stage, done, total: say(f"{name}: {stage}", done, total)


def _together(lost: Mapping[str, UnskewError]) -> UnskewError:
    """One error where none of the propensities gave an answer: theirs if they agree, else all of them."""
    first = next(iter(lost.values()))
    if len({str(error) for error in lost.values()}) == 1:
        return first
    kind = RefusedError if all(isinstance(error, RefusedError) for error in lost.values()) else InputError
    return kind("\n".join(f"{name}: {error}" for name, error in lost.items()), code="nothing-supported")


def _refuse_everywhere(missing: Iterable[Missing], propensities: int) -> None:
    """Cells that were asked for and that no propensity has."""
    reasons: dict[tuple[Any, ...], list[str]] = {}
    for m in missing:
        if m.metric is not None:
            reasons.setdefault((m.metric, m.estimator, m.target), []).append(m.reason)
    lines = [
        f"{' × '.join(cell)}: {' / '.join(dict.fromkeys(found))}"
        for cell, found in reasons.items()
        if len(found) == propensities
    ]
    if lines:
        raise RefusedError(
            "this log cannot support, under any of the propensities:\n" + "\n".join(lines) + SKIP,
            code="nothing-supported",
        )
