"""Factors on ML-100K reach what LightFM's documentation shows for the same losses, options and kind of split.

LightFM's page on implicit feedback: ten factors, rate 0.05, ten epochs, every rating a positive, ten ratings per user
held out, training items left in the lists. bpr: precision@10 0.59 in training and 0.10 in the test part, AUC 0.90 and
0.86; warp 0.61, 0.11, 0.93, 0.90. Our ten ratings are another random draw, so 0.02 is allowed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.conftest import missing

import unskew as us
from unskew.log import Feedback, Log, datasets
from unskew_papers.models import Factors


@pytest.fixture(scope="module")
def parts() -> tuple[Log, Log]:
    """Training and test part."""
    if datasets.folder_of("ml-100k") is None:
        missing("no copy of the data set 'ml-100k' (looked in UNSKEW_DATA, ../shared/data and the cache)")
    log = replace(us.load("ml-100k").mnar, value=None, feedback=Feedback.IMPLICIT)
    order = np.lexsort((np.random.default_rng(0).random(len(log)), log.user))
    place = np.empty(len(log), dtype=np.int64)
    place[order] = np.arange(len(log)) - log.indptr[log.user[order]]
    return log.take(place >= 10), log.take(place < 10)


@pytest.mark.parametrize(("loss", "published"), [("bpr", (0.59, 0.90, 0.10, 0.86)), ("warp", (0.61, 0.93, 0.11, 0.90))])
def test_as_good_as_lightfm(loss: str, published: tuple[float, ...], parts: tuple[Log, Log]) -> None:
    """Precision@10 and AUC of both parts, user by user, ranks among all 1,682 films."""
    users, items = Factors(dim=10, loss=loss, epochs=10).fit(parts[0]).factors()
    scores = users @ items.T
    found = []
    for part in parts:
        precision, auc = [], []
        for u in range(len(part.users)):
            liked = part.item[part.indptr[u] : part.indptr[u + 1]]
            top = np.argsort(-scores[u])[:10]
            precision.append(np.isin(top, liked).mean())
            others = np.delete(scores[u], liked)
            auc.append((scores[u, liked][:, None] > others).mean())
        found += [float(np.mean(precision)), float(np.mean(auc))]
    np.testing.assert_allclose(found, published, atol=0.02)
