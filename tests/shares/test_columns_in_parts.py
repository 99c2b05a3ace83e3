"""What is found of a column of propensities does not depend on where the rows are: memory, a stream, parts of Spark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.shares.logs import LISTS, USERS, WRONG, Shown, alone, pages
from tests.shares.test_columns_tested import certain, core, floored, policies
from tests.spark import parts, same
from tests.spark.worlds import World
from tests.stream import files
from tests.stream.files import Layout, sized

FRAMES: dict[str, Callable[[Shown], pl.DataFrame]] = {
    "right": lambda world: world.frame(),
    **{name: lambda world, column=column: world.frame(column(world)) for name, column in WRONG.items()},  # type: ignore[misc]
    "certain": certain,
    "floored": floored,
    "policies": policies,
    "core": core,
}
CALL: dict[str, Any] = {
    "feedback": "conversions", "metrics": ["recall@5"], "target": "pooled", "estimators": ["naive", "snips"],
    "propensity": "known",
}  # fmt: skip
EVERYBODY = pl.DataFrame({"user": np.arange(USERS)})


@pytest.mark.parametrize("people", [True, False])
@pytest.mark.parametrize("name", FRAMES)
def test_everywhere_the_same_is_found(name: str, people: bool, tmp_path: Path) -> None:
    """The account, the words and the numbers, to 1e-9; with a population and without."""
    frame = FRAMES[name]((alone if name == "right" else pages)(np.random.default_rng(6)))
    world = World(frame, LISTS, users=EVERYBODY if people else None, options=CALL)
    expected = us.evaluate(**world.given())
    assert expected.inputs["propensity_column"]["zeros_logged"]
    for place, table in {"test": frame, "users": EVERYBODY, **LISTS}.items():
        table.write_parquet(tmp_path / f"{place}.parquet")
    given: dict[str, Any] = {"users": tmp_path / "users.parquet"} if people else {}
    with sized(Layout(parts=4)):
        models = {model: tmp_path / f"{model}.parquet" for model in LISTS}
        streamed = us.evaluate(tmp_path / "test.parquet", models, engine="stream", **given, **CALL)
    files.assert_same(streamed, expected)
    same.assert_same(parts.evaluate(world, 5).to_dict(), expected.to_dict())
