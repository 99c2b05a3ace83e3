"""The same ids as integers, texts or categories, in files of any mixture: the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import unskew as us
from unskew.log import columns
from unskew.result import Result

FILES = ("test", "train", "a", "b")
KINDS: dict[str, Callable[[pl.Expr], pl.Expr]] = {
    "integers": lambda ids: ids,
    "texts": lambda ids: ids.cast(pl.String),
    "categories": lambda ids: ids.cast(pl.String).cast(pl.Categorical),
}


@pytest.fixture(scope="module")
def frames() -> dict[str, pl.DataFrame]:
    """A log in two parts and two lists; users of the lists come in no order."""
    rng = np.random.default_rng(0)
    pairs = pl.DataFrame({"user": np.repeat(np.arange(60) * 7, 12), "item": (rng.random(720) ** 2 * 90).astype(int)})
    pairs = pairs.unique(maintain_order=True)
    held = pl.int_range(pl.len()).over("user") < 8  # of more than six clicks the order of items picks some
    found = {"test": pairs.filter(held), "train": pairs.filter(~held)}
    for name in ("a", "b"):
        users = rng.permutation(60) * 7
        item = np.concatenate([rng.permutation(100)[:10] for _ in users])
        rank = np.tile(np.arange(1, 11), len(users))
        found[name] = pl.DataFrame({"user": np.repeat(users, 10), "item": item, "rank": rank})
    return found


def table(frames: dict[str, pl.DataFrame], kinds: dict[str, str], folder: Path) -> Result:
    """The evaluation of files whose ids are written as the kinds say."""
    paths = {}
    for name, frame in frames.items():
        paths[name] = folder / f"{name}.parquet"
        frame.with_columns(KINDS[kinds[name]](pl.col("user", "item"))).write_parquet(paths[name])
    return us.evaluate(
        paths["test"],
        {name: paths[name] for name in ("a", "b")},
        metrics=["recall@5", "ndcg@10"],
        estimators=["naive", "snips", "gs(strata=2)"],
        target=["pooled", "per_user"],
        refused="skip",
        propensity="popularity(gamma=1)",
        train=paths["train"],
        interval="bootstrap",
        replicates=100,
    )


@pytest.mark.parametrize(
    "kinds",
    [
        ("texts", "texts", "texts", "texts"),
        ("categories", "categories", "categories", "categories"),
        ("integers", "texts", "categories", "integers"),
        ("categories", "integers", "texts", "texts"),
    ],
)
@pytest.mark.parametrize("side_by_side", [True, False])
def test_numbers_do_not_depend_on_the_type_of_ids(
    frames: dict[str, pl.DataFrame],
    kinds: tuple[str, ...],
    side_by_side: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Estimates, intervals and verdicts are those of integers; users and items coded by one thread or by two."""
    wanted = table(frames, dict.fromkeys(FILES, "integers"), tmp_path)
    monkeypatch.setattr(columns, "MANY", 0 if side_by_side else 10**9)
    found = table(frames, dict(zip(FILES, kinds, strict=True)), tmp_path)
    for mine, theirs in ((found.table(), wanted.table()), (found.verdicts(), wanted.verdicts())):
        assert_frame_equal(mine, theirs, check_exact=True)
    assert found.table()["few_clicks"].null_count() < len(found.table())


@pytest.mark.parametrize("column", ["user", "item"])
def test_an_error_in_either_thread_is_the_error(
    frames: dict[str, pl.DataFrame], column: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names the column, whichever thread came upon it."""
    monkeypatch.setattr(columns, "MANY", 0)
    wrong = frames["test"].with_columns(pl.col(column).cast(pl.String) + pl.lit(" "))
    with pytest.raises(us.InputError, match=f"column '{column}' must hold ids without blanks"):
        us.Log.from_frame(wrong)
