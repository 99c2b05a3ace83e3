"""What is found of a column of propensities does not depend on where the rows are: memory, a stream, parts of Spark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.shares.logs import ASKED, EVERYBODY, LISTS, WRONG, Shown, alone, evaluated, pages
from tests.shares.test_columns_tested import certain, core, floored, policies
from tests.spark import parts
from tests.stream.files import Layout, assert_same, sized

FRAMES: dict[str, Callable[[Shown], pl.DataFrame]] = {
    "right": lambda world: world.frame(),
    **{name: lambda world, column=column: world.frame(column(world)) for name, column in WRONG.items()},  # type: ignore[misc]
    "certain": certain,
    "floored": floored,
    "policies": policies,
    "core": core,
}


@pytest.mark.parametrize("name", FRAMES)
def test_everywhere_the_same_is_found(name: str, tmp_path: Path) -> None:
    """The account, the words and the numbers, to 1e-9; with a population, and of some columns without."""
    frame = FRAMES[name]((alone if name in ("right", "floored", "certain") else pages)(np.random.default_rng(6)))
    asked: dict[str, Any] = {"users": None} if name in ("right", "half", "policies") else {}
    expected = evaluated(frame, **asked)
    assert expected.inputs["propensity_column"]["zeros_logged"]
    call = ASKED | {"models": LISTS, "users": EVERYBODY} | asked
    assert_same(parts.evaluate(5, test=frame, **call), expected)
    for place, table in {"test": frame, "users": EVERYBODY, **LISTS}.items():
        table.write_parquet(tmp_path / f"{place}.parquet")
    there = {"test": tmp_path / "test.parquet", "models": {model: tmp_path / f"{model}.parquet" for model in LISTS}}
    users = {} if asked else {"users": tmp_path / "users.parquet"}
    with sized(Layout(parts=4)):
        assert_same(us.evaluate(**call | there | users, engine="stream"), expected)
