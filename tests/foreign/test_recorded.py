"""LensKit and RecTools through their own frames of lists, as the guide says (``docs/other_libraries.md``).

The frames were recorded by ``record.py``, in environments of their own: LensKit needs torch, RecTools numpy below 2.
"""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

import unskew as us
from tests.foreign.rankings import seen_by
from tests.foreign.record import FOLDER
from tests.models.test_models import lists_of


@pytest.mark.parametrize("library", ["lenskit", "rectools"])
def test_lists_ranks_and_recall_are_theirs(library: str) -> None:
    """The same items at the same ranks, none of them seen in training, and the recall@10 that the library computes."""
    frame = pd.read_csv(FOLDER / f"{library}.csv")
    recall = json.loads((FOLDER / f"{library}.json").read_text())
    train, test = (us.read_log(FOLDER / f"{name}.csv") for name in ("train", "test"))
    lists = us.Recommendations.from_frame(frame)
    found, seen = lists_of(lists), seen_by(train)
    for user, rows in frame.groupby("user_id"):
        assert found[user] == rows.sort_values("rank")["item_id"].tolist()
        assert not seen[user] & set(found[user])
    how: Any = {"metrics": ["recall@10"], "estimators": ["naive"], "target": "per_user", "train": train}
    result = us.evaluate(test, {"theirs": lists, "popular": us.models.MostPopular().fit(train)}, **how)
    ours = result.table().filter(model="theirs")["value"].item()
    assert len(recall) == len(set(test.to_frame()["user"]))
    assert ours == pytest.approx(sum(recall.values()) / len(recall), abs=1e-12)
    assert ours > 0.0
