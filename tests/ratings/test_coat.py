"""Coat with the propensities its authors ship: the mean rating, as the error of predicting 0 (schnabel16 §6.4)."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unskew as us
from tests.conftest import missing
from unskew.log import datasets

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def coat() -> datasets.Dataset:
    if datasets.folder_of("coat") is None:
        missing("no Coat: set UNSKEW_DATA to the directory that holds coat/")
    return us.load("coat")


def test_the_mean_rating_of_self_chosen_coats_is_too_high(coat: datasets.Dataset) -> None:
    """naive 2.611, ips 2.424, snips 2.331; of coats shown at random it is 2.2."""
    result = us.evaluate(
        coat.mnar, {"zero": np.zeros((290, 300))}, metrics=["mae"], estimators=["naive", "ips", "snips"],
        propensity="known",
    )  # fmt: skip
    found = {e.estimator: e for e in result.estimates}
    assert [round(found[name].value, 3) for name in ("naive", "ips", "snips")] == [2.611, 2.424, 2.331]
    assert coat.mcar is not None
    random = us.evaluate(coat.mcar, {"zero": np.zeros((290, 300))}, metrics=["mae"], estimators=["naive"])
    truth = random.estimates[0]
    assert found["naive"].low > truth.high  # the skew is real
    assert abs(found["snips"].value - truth.value) < abs(found["ips"].value - truth.value)
    assert abs(found["ips"].value - truth.value) < abs(found["naive"].value - truth.value)


@pytest.fixture(scope="module")
def case() -> Any:
    """The script behind docs/coat.md."""
    spec = importlib.util.spec_from_file_location("coat_case", DOCS / "coat_case.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = script  # its dataclass looks itself up there
    spec.loader.exec_module(script)
    return script


def test_the_error_of_a_constant_is_right_with_the_shipped_propensities(coat: datasets.Dataset, case: Any) -> None:
    """Held out: naive 1.129, snips 1.240; the truth is 1.236. Only the interval of snips holds it."""
    right = case.truth(coat)
    naive, snips = case.held_out(coat)
    assert [round(f.value, 3) for f in (naive, snips, right)] == [1.129, 1.240, 1.236]
    assert not naive.holds(right) and snips.holds(right)
    naive, snips = case.whole(coat)
    assert [round(f.value, 3) for f in (naive, snips)] == [1.117, 1.219]
    assert not naive.holds(right) and snips.holds(right)


def test_the_page_quotes_what_the_script_finds(coat: datasets.Dataset, case: Any) -> None:
    """Every value and interval of the table in docs/coat.md."""
    page = (DOCS / "coat.md").read_text(encoding="utf-8")
    for figure in (*case.held_out(coat), *case.whole(coat), case.truth(coat)):
        assert f"{figure.value:.3f}" in page and f"[{figure.low:.3f}, {figure.high:.3f}]" in page
