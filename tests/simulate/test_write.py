"""A world as files."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.said import refuses

from unskew.log import read_log, read_recommendations
from unskew.models import ItemKNN
from unskew.simulate import World, write
from unskew.simulate.files import FILES

WORLD = World(users=150, items=120, relevant=25, impressions=100)
NAMES = ["train", "test", "users", "full", "popular", "item_knn", "challenger", "random"]


def test_files_say_what_the_world_says(tmp_path: Path) -> None:
    """Every file is there, in the order of progress, and reads back as the world's own logs and counts."""
    told: list[str] = []
    paths = write(WORLD, tmp_path / "new", told.append)
    assert told == [*NAMES, "truth"] == list(paths)
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == sorted(FILES)
    with refuses("output-exists"):
        write(WORLD, tmp_path / "new")
    assert read_log(paths["train"]).to_frame().equals(WORLD.train.to_frame())
    assert read_log(paths["test"]).to_frame().equals(WORLD.test.to_frame())
    full = pl.read_parquet(paths["full"])
    counted = full.group_by("user").len("counted").with_columns(pl.col("counted").cast(pl.Int64))
    users = pl.read_parquet(paths["users"]).join(counted, on="user", how="left").fill_null(0)
    assert len(users) == WORLD.users and users["relevant"].equals(users["counted"].rename("relevant"))


@pytest.mark.parametrize("name", NAMES[4:])
def test_lists_hold_the_best_hundred_outside_training(name: str, tmp_path: Path) -> None:
    """Every user has the ranks 1 … min(100, what training left), and no training item among them."""
    paths = write(WORLD, tmp_path)
    lists = read_recommendations(paths[name])
    train = pl.read_parquet(paths["train"])
    assert len(lists.to_frame().join(train, on=["user", "item"], how="semi")) == 0
    seen = train.group_by("user").len()
    left = pl.DataFrame({"user": WORLD.train.users.values}).join(seen, on="user", how="left").fill_null(0)
    lengths = lists.to_frame().group_by("user").agg(pl.len().alias("length"), pl.max("rank")).sort("user")
    assert lengths["length"].to_list() == [min(100, 120 - n) for n in left["len"]]
    assert lengths["rank"].to_list() == lengths["length"].to_list()


def test_a_failed_run_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a model fails half-way, no file appears, none is replaced and none is left over."""
    write(WORLD, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def fail(*_: object) -> ItemKNN:
        raise MemoryError

    monkeypatch.setattr(ItemKNN, "fit", fail)
    with pytest.raises(MemoryError):
        write(WORLD.draw(1), tmp_path, force=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
