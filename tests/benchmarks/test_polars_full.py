"""The hand-written query that full tables are measured against gives the numbers of unskew."""

from __future__ import annotations

from pathlib import Path

import pytest

import unskew as us
from data import Size, generate
from peers import common, peer_polars_full


def test_the_query_gives_the_values_of_unskew(tmp_path: Path) -> None:
    """naive and snips to rounding; gs up to the strata, whose edges are those of fixed bins here."""
    for name, frame in generate(Size(users=300, items=120, length=20, test=5, train=10)).items():
        frame.write_parquet(tmp_path / f"{name}.parquet")
    held = peer_polars_full.test(tmp_path)
    result = us.evaluate(
        tmp_path / "test.parquet",
        {name: tmp_path / f"{name}.parquet" for name in common.MODELS},
        metrics=list(common.METRICS),
        estimators=["naive", "snips", "gs(strata=5)"],
        propensity="popularity(gamma=2)",
        target="per_user",
        train=tmp_path / "train.parquet",
    )
    for model in common.MODELS:
        naive = peer_polars_full.metrics(held, peer_polars_full.listed(tmp_path, model))
        ours = {f"{e.estimator.split('(')[0]} {e.metric}": e.value for e in result.estimates if e.model == model}
        assert set(ours) == set(held.table) and naive["recall@10"] == held.table["naive recall@10"][0]
        for name, value in ours.items():
            close = 0.02 if name.startswith("gs") else 1e-9
            assert held.table[name][0] == pytest.approx(value, rel=close), name
    assert held.differences["snips ndcg@10"][1] > 0.0
