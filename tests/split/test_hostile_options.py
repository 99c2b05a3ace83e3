"""Every option of every splitter with hostile values: refused by an error of ours, or splits that are whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from unskew.errors import InputError
from unskew.log import Log
from unskew.parts import options_of
from unskew.split import FAMILY, make, make_splits

HOSTILE: list[Any] = [
    *(-1, 0, 3, 0.5, 10**30, 10**5000, 2_000_000_000, 1e308, float("nan"), float("inf"), 1j, True, None),
    *(np.int64(3), np.float32(0.5), np.bool_(True), np.arange(3), [5], pl.DataFrame({"a": [1]}), b"1d"),
    *("5", "", "\x1b[2J\x00\n" * 50, "9" * 400, "1d", "1mo", "1y", "999999999999y", "9999-12-31", "0001-01-01"),
    *("2024-02-30", "Europe/Brussels", "../../etc/passwd", "/etc/passwd"),
]
TEXTS = ["-1", "0", "3", "0.5", "1e308", "nan", "9" * 5000, "1d", "1e5", "d1", "2024-02-30", "true", "x", ">=3", "f(1)"]
OPTIONS = [
    (name, entry.name) for name in sorted(FAMILY.built_in) for entry, _ in options_of(FAMILY.class_of(name))
]  # every one of them


def log(clock: str) -> Log:
    time = pl.Series("time", np.arange(1_700_000_000, 1_700_000_000 + 40 * 50_000, 50_000))
    times = {"unix": time, "number": time % 1000, "datetime": pl.from_epoch(time)}
    frame = pl.DataFrame({"user": [k % 4 for k in range(40)], "item": range(40)})
    return Log.from_frame(frame.with_columns(times[clock].alias("time")))


LOGS = {clock: log(clock) for clock in ("unix", "number", "datetime")}


@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_values(name: str, option: str) -> None:
    """From Python: whatever is taken leads to parts that are not empty, or to a refusal."""
    enough = {"min_users": 1, "folds": 2} if name == "sliding_window" else {}
    for value in HOSTILE:
        for whole in LOGS.values():
            try:
                found = make_splits(whole, FAMILY.class_of(name)(**enough | {option: value}))
            except InputError as error:
                assert len(str(error)) < 1_000
            else:
                assert all(len(train) and len(test) for train, test in found)


@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_texts(name: str, option: str) -> None:
    """In canonical strings: taken, and printed so that it parses back, or refused."""
    for text in TEXTS:
        try:
            made = make(f"{name}({option}={text})")
        except InputError:
            continue
        assert str(make(str(made))) == str(made)
