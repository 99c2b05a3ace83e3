"""What docs/ratings.md says of models that memorise, from the script that makes its table."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import polars as pl
import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "memorising.py"


@pytest.fixture(scope="module")
def table() -> dict[tuple[str, str], tuple[float, float, float]]:
    spec = importlib.util.spec_from_file_location("memorising", SCRIPT)
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    found: pl.DataFrame = script.simulate(60)
    return {(way, model): (truth, ips, error) for way, model, truth, ips, error in found.iter_rows()}


@pytest.mark.parametrize(
    ("way", "model", "unbiased"),
    [
        ("on its own log", "constant", True),
        ("held out, all", "constant", True),
        ("held out, unseen", "constant", True),
        ("on its own log", "memory", False),
        ("held out, all", "memory", False),
        ("held out, unseen", "memory", True),
    ],
)
def test_a_model_fixed_in_advance_is_judged_without_bias(
    table: dict[tuple[str, str], tuple[float, float, float]], way: str, model: str, unbiased: bool
) -> None:
    """Whatever part of the log it is judged on, within four errors of the simulation; memory, fixed given the training
    part, on the other pairs alone. On its own log it looks perfect; held-out pairs never show what it remembers."""
    truth, ips, error = table[way, model]
    assert (abs(ips - truth) <= 4.0 * error) == unbiased
    if model == "memory" and not unbiased:
        assert ips == pytest.approx(0.0 if way == "on its own log" else table[way, "constant"][1])
