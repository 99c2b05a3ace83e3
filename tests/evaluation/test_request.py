"""One request: what ``evaluate`` takes, parsed and checked once, immutable, asked again with another propensity."""

from __future__ import annotations

import inspect
from dataclasses import FrozenInstanceError, fields, replace

import pytest

import unskew as us
from tests.evaluation.shop import LISTS, SEEN, TEST
from unskew.errors import InputError
from unskew.evaluation.request import Request

PARSED = {"metrics", "estimators", "propensity", "outcome", "target", "columns"}


def test_a_request_takes_what_evaluate_takes_with_the_same_defaults() -> None:
    """The keywords of ``evaluate`` are the fields of the request, so that nothing is copied by hand."""
    taken = dict(inspect.signature(us.evaluate).parameters)
    taken.pop("progress")
    parsed = {name: p for name, p in inspect.signature(Request.of).parameters.items() if name != "rest"}
    own = {f.name: f.default for f in fields(Request) if f.name not in {"targets", "chosen"}}
    assert set(taken) == set(parsed) | set(own)
    for name, parameter in taken.items():
        assert parameter.default == (parsed[name].default if name in parsed else own[name]), name


def test_it_is_parsed_once_and_stays_as_it_is() -> None:
    """Strings become parts; a replaced propensity leaves everything else alone, and is checked again."""
    request = Request.of(TEST, LISTS, metrics=["recall@2"], propensity="popularity", train=SEEN, target="pooled")
    assert [str(m) for m in request.metrics] == ["recall@2"] and not request.chosen
    with pytest.raises(FrozenInstanceError):
        request.level = 0.5  # type: ignore[misc]
    other = replace(request, propensity=us.propensity.Known())
    assert other.metrics is request.metrics and other.propensity != request.propensity
    with pytest.raises(InputError, match="level"):
        replace(request, level=2.0)


def test_messages_name_arguments() -> None:
    """What a Python caller reads is what a Python caller writes."""
    with pytest.raises(InputError, match=r"train=…"):
        us.evaluate(TEST, LISTS, drop_seen=True)
    with pytest.raises(InputError, match=r"refit=True .* interval='bootstrap'"):
        us.evaluate(TEST, LISTS, refit=True)
    with pytest.raises(InputError, match="in_sample=True"):
        us.evaluate(TEST, LISTS, in_sample=True)
