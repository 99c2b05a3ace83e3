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


@pytest.mark.parametrize("way", ["on its own log", "held out, all", "held out, unseen"])
def test_a_model_fixed_in_advance_is_judged_without_bias(
    table: dict[tuple[str, str], tuple[float, float, float]], way: str
) -> None:
    """Whatever part of the log it is judged on, within four errors of the simulation."""
    truth, ips, error = table[way, "constant"]
    assert ips == pytest.approx(truth, abs=4.0 * error)


def test_on_its_own_log_memory_looks_perfect(table: dict[tuple[str, str], tuple[float, float, float]]) -> None:
    """It errs on the pairs that it never saw, and none of these is judged."""
    truth, ips, _ = table["on its own log", "memory"]
    assert ips == 0.0 and truth > 0.5


def test_held_out_pairs_are_never_remembered(table: dict[tuple[str, str], tuple[float, float, float]]) -> None:
    """Over all pairs memory is better than a constant, but held-out pairs cannot show it: both look alike."""
    truth, ips, error = table["held out, all", "memory"]
    assert ips > truth + 4.0 * error
    assert ips == pytest.approx(table["held out, all", "constant"][1])


def test_outside_training_memory_is_judged_without_bias(
    table: dict[tuple[str, str], tuple[float, float, float]],
) -> None:
    """Given the training part its predictions are fixed, so ips over the other pairs is unbiased for those."""
    truth, ips, error = table["held out, unseen", "memory"]
    assert ips == pytest.approx(truth, abs=4.0 * error)
