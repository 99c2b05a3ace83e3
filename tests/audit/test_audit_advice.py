"""The last word of the audit: every command is accepted when it is followed, and none is what the findings warn of."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import unskew as us
from unskew.auditing.advice import advise
from unskew.cli import app
from unskew.core.notice import Notice
from unskew.log import Feedback
from unskew.models import MostPopular
from unskew.report import page
from unskew.simulate import World

from . import logs
from .test_audit_values import SEEN, world

READINGS: dict[str, dict[str, Any]] = {
    "implicit": {},
    "conversions": {"feedback": "conversions"},
    "ratings": {"feedback": "ratings"},
    "threshold": {"relevant": ">=3"},
}


def log_of(reading: str, *, known: bool, seed: int = 0) -> pl.DataFrame:
    """A log with zeros where there are conversions, and propensities that add up where they are known."""
    frame = logs.skewed(users=200, items=60, seed=seed, value=reading != "implicit", propensity=known)
    if reading == "conversions":
        frame = frame.with_columns(value=(pl.col("value") > 3).cast(pl.Float64))
    elif reading != "implicit":
        frame = frame.with_columns(value=pl.max_horizontal("value", pl.lit(1.0)))
    return frame


def files_of(frame: pl.DataFrame, folder: Path) -> dict[str, Path]:
    """What a reader has at hand: both parts of a split, lists, predictions and random rows."""
    rng = np.random.default_rng(5)
    held = rng.random(len(frame)) < 0.3
    pairs = pl.DataFrame({"user": range(200)}).join(pl.DataFrame({"item": range(60)}), how="cross")
    seen = frame.filter(~held).select("user", "item")
    free = pairs.join(seen, on=["user", "item"], how="anti").sort("user", "item")
    ranked = free.with_columns(rank=pl.col("item").rank("ordinal").over("user").cast(pl.Int64)).filter(
        pl.col("rank") <= 10
    )
    known = frame["value"].unique().sort().to_numpy() if "value" in frame.columns else np.ones(1)
    random_values = rng.choice(known, 800).astype(np.float64)
    tables = {
        "TEST": frame.filter(held),
        "TRAIN": frame.filter(~held),
        "LISTS": ranked,
        "PREDICTIONS": pairs.with_columns(prediction=pl.lit(3.0)),
        "MCAR": pairs.sample(800, seed=1).with_columns(value=pl.Series(random_values)),
    }
    for name, table in tables.items():
        table.write_parquet(folder / f"{name}.parquet")
    return {name: folder / f"{name}.parquet" for name in tables}


def follow(text: str, files: dict[str, Path]) -> None:
    """Run a command with the reader's files; anything but success is a failure."""
    words = shlex.split(text)
    assert words[:2] == ["unskew", "evaluate"]
    placed = [word if "=" not in word else word.replace("NAME=", "mine=") for word in words[1:]]
    for name, path in files.items():
        placed = [str(path) if word == name else word.replace(f"={name}", f"={path}") for word in placed]
    done = CliRunner().invoke(app, placed, env={"COLUMNS": "200"})
    assert done.exit_code == 0, f"{text}\n{done.output}\n{done.exception!r}"


@pytest.mark.parametrize(
    ("reading", "random"),
    [(reading, random) for reading in READINGS for random in (False, True) if reading != "implicit" or not random],
)
@pytest.mark.parametrize("known", [True, False], ids=["propensities", "none"])
def test_every_command_is_accepted(reading: str, known: bool, random: bool, tmp_path: Path) -> None:
    """Whatever a row says, with and without propensities, a training log and random rows."""
    frame = log_of(reading, known=known)
    files = files_of(frame, tmp_path)
    audit = us.audit(frame, mcar=files["MCAR"] if random else None, **READINGS[reading])
    commands = [advice.command for advice in audit.advice if advice.command is not None]
    assert commands and any("--estimator naive" in text for text in commands)
    assert any("--train TRAIN" in text for text in commands) or any("evaluate MCAR" in text for text in commands)
    assert any("--train" not in text for text in commands)
    assert any("--propensity known" in text for text in commands) == known
    for text in commands:
        follow(text, files)


def test_clicks_without_propensities_get_the_exposure_path_and_what_it_assumes(tmp_path: Path) -> None:
    """The plain call with a training log, which is the path; no single γ and no fitted model anywhere."""
    frame = log_of("implicit", known=False)
    audit = us.audit(frame)
    (plain,) = [a for a in audit.advice if "--train TRAIN" in (a.command or "")]
    assert plain.command is not None and "--propensity" not in plain.command and "--estimator" not in plain.command
    assert plain.code == "exposure-range"
    files = files_of(frame, tmp_path)
    lists = pl.read_parquet(files["LISTS"])
    result = us.evaluate(files["TEST"], {"mine": lists}, train=files["TRAIN"], metrics=["recall@10"])
    assert result.headline()["estimator"] == "exposure_path"
    told = json.dumps(audit.to_dict()["advice"])
    assert "gamma" not in told and "logistic" not in told and "gamma=2" not in json.dumps(audit.to_dict()) + page(audit)


def test_right_propensities_of_a_test_part_are_not_lost(tmp_path: Path) -> None:
    """P given training looks wrong without the training log: the finding and the advice say so, and are accepted."""
    shop = World(users=400, items=100, relevant=16.0, impressions=80.0, feedback=Feedback.CONVERSIONS)
    audit = us.audit(shop.test, propensities="known")
    assert logs.text_of(audit, "propensity-disagrees").startswith("known")
    first, second = audit.advice
    assert "known" not in (first.command or "") and first.code == "own-disagree"
    assert second.code == "own-of-test-part" and second.command is not None
    lists = MostPopular().fit(shop.train).recommend(shop.train.users, 10, seen=shop.train)
    tables = {"TEST": shop.test.to_frame(), "TRAIN": shop.train.to_frame(), "LISTS": lists.to_frame()}
    for name, table in tables.items():
        table.write_parquet(tmp_path / f"{name}.parquet")
    follow(second.command, {name: tmp_path / f"{name}.parquet" for name in tables})


def test_a_model_of_exposure_that_its_check_flags_is_not_advised() -> None:
    """The usual model of what was seen is advised, until its check warns about it."""
    rng = np.random.default_rng(3)
    user, item = np.nonzero(rng.random((200, 60)) < 0.3)
    frame = pl.DataFrame({"user": user, "item": item, "value": rng.integers(0, 2, len(user)).astype(np.float64)})
    name = "logistic(features=none, offsets=user+item)"
    clean = us.audit(frame, feedback="conversions")
    assert any(name in (advice.command or "") for advice in clean.advice)
    checked = us.audit(frame, feedback="conversions", propensities=[name, "uniform"])
    (check,) = [c for c in checked.checks if c.propensity.startswith("logistic")]
    flagged = replace(check, findings=(Notice("is off", code="off"),))
    warned = replace(checked, checks=replace(checked.checks, checks=(flagged,)))
    assert all(name not in (advice.command or "") for advice in advise(warned))
    assert "fitted-disagrees" in [advice.code for advice in advise(warned)]


def test_a_log_whose_values_decide_what_is_seen_gets_no_model_that_ignores_them() -> None:
    """An MCAR log shows selection by value: with enough random rows naive_bayes, else no fitted model."""
    log, mcar = world(3, SEEN)
    for rows, expected in ((2000, True), (100, False)):
        audit = us.audit(log, mcar=mcar.sample(rows, seed=0), feedback="ratings")
        text = " ".join(advice.command or "" for advice in audit.advice)
        assert "logistic" not in text and ("naive_bayes" in text) == expected
        assert "unskew evaluate MCAR" in text


def test_nothing_is_advised_where_nothing_can_be_had() -> None:
    """One user, one item, values that nobody explained, too few rows: no command."""
    for frame, code in (
        (pl.DataFrame({"user": [1] * 40, "item": range(40)}), "nothing-to-compare"),
        (pl.DataFrame({"user": range(40), "item": [1] * 40}), "nothing-to-compare"),
        (pl.DataFrame({"user": [1, 2], "item": [1, 2]}), "more-data"),
        (log_of("ratings", known=False), "say-feedback"),
    ):
        audit = us.audit(frame)
        assert audit.advice[0].code == code and all(advice.command is None for advice in audit.advice)


def test_what_was_said_about_the_file_is_repeated(tmp_path: Path) -> None:
    """Mapped columns and repeated pairs are part of the commands, so that they run on the same file."""
    frame = log_of("implicit", known=False)
    frame = pl.concat([frame, frame.head(1)]).rename({"user": "customer id", "item": "article"})
    audit = us.audit(frame, columns={"user": "customer id", "item": "article"})
    text = audit.advice[0].command
    assert text is not None and {"user=customer id,item=article", "--duplicates"} <= set(shlex.split(text))
    files = files_of(log_of("implicit", known=False), tmp_path)
    for name in ("TEST", "TRAIN", "LISTS"):
        table = pl.read_parquet(files[name]).rename({"user": "customer id", "item": "article"})
        table.write_parquet(files[name])
    follow(text, files)


def test_places_of_a_file_without_a_header_are_told_where_it_is_read(tmp_path: Path, monkeypatch: Any) -> None:
    """Its parts have a header: only the first command names places."""
    frame = log_of("implicit", known=False)
    frame.write_csv(tmp_path / "log.data", separator="\t", include_header=False)
    monkeypatch.chdir(tmp_path)
    audit = us.audit("log.data", columns={"test:user": 1, "item": 2})
    first, *others = [advice.command for advice in audit.advice if advice.command is not None]
    told = shlex.split(first)
    assert told[1:3] == ["split", "log.data"] and told[told.index("--columns") + 1] == "user=1,item=2"
    assert others and not any("--columns" in text for text in others)
    for text in (first, *others):
        done = CliRunner().invoke(app, shlex.split(text)[1:], env={"COLUMNS": "200"})
        assert done.exit_code == 0, f"{text}\n{done.output}\n{done.exception!r}"
