"""MF-IPS in files and strings, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from tests.models.mf_logs import some
from tests.said import refuses

from unskew.core.errors import InputError
from unskew.log import Log
from unskew.models import MF, make


@pytest.mark.parametrize("texts", [False, True])
def test_a_saved_model_comes_back(tmp_path: Path, texts: bool) -> None:
    """Same string, training, predictions and lists; ids of numbers and of any text."""
    _, log = some()
    if texts:
        names = {0: "", 1: "ä", 2: "日本", 3: "a, b;c"}
        frame = log.to_frame().with_columns(
            pl.col("user").map_elements(lambda u: names.get(u, str(u)), return_dtype=pl.String)
        )
        log = Log.from_frame(frame.filter(pl.col("user") != ""), feedback="ratings")
    model = MF(2, 0.3, "free", "absolute", "known", rounds=7, seed=3).fit(log)
    model.save(tmp_path / "model.npz")
    again = MF.load(tmp_path / "model.npz")
    assert str(again) == str(model)
    assert again.training_ == model.training_ and again.history_ == model.history_
    assert again.users_.values.to_list() == model.users_.values.to_list()
    assert np.array_equal(again.of(log).rows, model.of(log).rows)
    users = model.users_
    assert again.recommend(users, 3).to_frame().equals(model.recommend(users, 3).to_frame())
    assert [path.name for path in tmp_path.iterdir()] == ["model.npz"]


def test_damaged_and_foreign_files_are_refused(tmp_path: Path) -> None:
    """Each with one sentence that names the file."""
    _, log = some()
    path = tmp_path / "model.npz"
    MF(2).fit(log).save(path)
    good = dict(np.load(path))
    header = json.loads(good["header"].tobytes())

    def told(**changes: Any) -> npt.NDArray[np.uint8]:
        return np.frombuffer(json.dumps(header | changes).encode(), dtype=np.uint8)

    wrong: dict[str, tuple[dict[str, Any], str]] = {
        "newer": (good | {"header": told(version=2)}, "unknown-version"),
        "foreign": (good | {"header": told(format="other")}, "unknown-format"),
        "options": (good | {"header": told(options={"dims": 3})}, "damaged-file"),
        "short": (good | {"user": good["user"][1:]}, "damaged-file"),
        "narrow": (good | {"item": good["item"][:, 1:]}, "damaged-file"),
        "no ids": ({name: array for name, array in good.items() if name != "users_numbers"}, "damaged-file"),
        "no header": ({"user": good["user"]}, "unknown-format"),
        "pickle": ({"header": np.array([{}], dtype=object)}, "unknown-format"),
    }
    for name, (arrays, code) in wrong.items():
        np.savez(tmp_path / f"{name}.npz", **arrays)
        with refuses(code) as caught:
            MF.load(tmp_path / f"{name}.npz")
        assert f"{name}.npz" in str(caught.value)
    for content in (path.read_bytes()[:200], b""):
        path.write_bytes(content)
        with refuses("unknown-format"):
            MF.load(path)
    with refuses("missing-file"):
        MF.load(tmp_path / "nothing.npz")


def test_the_canonical_string_parses_and_prints_back() -> None:
    text = (
        "mf(dim=7, penalty=0.04, offsets=free, loss=absolute, propensity=popularity(gamma=1), solver=lbfgs, "
        "rounds=9, tolerance=0.001, seed=2)"
    )
    assert str(make(text)) == repr(make(text)) == text
    plain = "mf(dim=20, penalty=1, offsets=penalised, loss=squared, solver=als, tolerance=1e-05, seed=0)"
    assert str(make("mf")) == plain and str(make(plain)) == plain


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("dim", -1),
        ("dim", 2.5),
        ("penalty", -0.1),
        ("penalty", float("nan")),
        ("offsets", "none"),
        ("loss", "huber"),
        ("solver", "newton"),
        ("rounds", 0),
        ("tolerance", -1.0),
        ("seed", -1),
        ("threads", 0),
    ],
)
def test_wrong_settings_are_named(option: str, value: Any) -> None:
    _, log = some()
    with pytest.raises(InputError) as caught:
        MF(**{option: value}).fit(log)
    assert caught.value.fields["option"] == option
    with refuses("unknown-name"):
        MF(propensity="populrity").fit(log)


def test_wrong_logs_and_propensities_are_named() -> None:
    """No values, no rows, a NaN; propensities of 0, above 1, of the wrong number, or none where they are asked for."""
    _, log = some()
    assert log.value is not None and log.propensity is not None
    for wrong, code in (
        (replace(log, value=None), "missing-column"),
        (log.take(np.zeros(len(log), dtype=bool)), "empty-log"),
        (replace(log, value=np.where(np.arange(len(log)) == 3, np.nan, log.value)), "bad-value"),
        (replace(log, value=np.where(np.arange(len(log)) == 0, np.inf, log.value)), "bad-value"),
    ):
        with refuses(code):
            MF(2).fit(wrong)
    zero = np.where(np.arange(len(log)) >= len(log) - 2, 0.0, log.propensity)
    for given, code in (
        (zero, "bad-value"),
        (log.propensity * 9.0, "bad-value"),
        (log.propensity[1:], "wrong-shape"),
        (["x"] * len(log), "not-a-number"),
        ("naive_bayes", "no-random-sample"),
    ):
        with refuses(code):
            MF(2).fit(log, propensity=given)
    with refuses("missing-column", column="propensity"):
        MF(2, propensity="known").fit(replace(log, propensity=None))


def test_wrong_searches_and_questions_are_named() -> None:
    _, log = some()
    with refuses("missing-argument"):
        MF.search(log, penalties=())
    for option, value, named in (
        ("penalties", (1.0, -1.0), "penalty"),
        ("dims", (5, -5), "dim"),
        ("offsets", ("fixed",), "offsets"),
        ("loss", "huber", "loss"),
        ("folds", 1, "folds"),
        ("tolerance", -1.0, "tolerance"),
        ("rounds", 0, "rounds"),
    ):
        with pytest.raises(InputError) as caught:
            MF.search(log, **{option: value})  # type: ignore[arg-type]
        assert caught.value.fields["option"] == named
    with refuses("not-fitted"):
        MF().predict([1], [2])
    model = MF(2).fit(log)
    with refuses("wrong-shape"):
        model.predict([1, 2], [1])
    with refuses("out-of-range"):
        model.predict_codes(np.zeros(1, dtype=np.int32), np.full(1, 12, dtype=np.int32))
