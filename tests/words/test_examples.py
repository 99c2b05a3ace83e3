"""Every splitter has an example in its docstring, and the examples are true, notes included."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

from unskew.split import FAMILY


@pytest.mark.parametrize("place", FAMILY.built_in.values())
def test_the_example_of_a_splitter(place: str) -> None:
    """At least two lines are run, and print what stands there."""
    found = doctest.testmod(import_module(place.partition(":")[0]))
    assert found.attempted >= 2 and found.failed == 0
