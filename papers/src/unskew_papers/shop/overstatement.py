"""How much the log of each policy overstates models: their recall in the log over that of all that was wanted.

    overstated(model, policy) = Recall@k on the policy's rows of some days / Recall@k on all that its users wanted then

Both are pooled, of the same lists and users: models are fitted on the policy's rows before, and users without one are
left out. Where it is 1, the log tells the truth.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unskew import evaluate
from unskew.models import make
from unskew_papers.arrays import Floats
from unskew_papers.shop.shop import ShopOverTime


def overstatement(
    shop: ShopOverTime, models: Mapping[str, str], start: int, days: int, k: int = 10
) -> dict[str, Floats]:
    """By policy one number for each model, in the order of ``models``: canonical strings by name."""
    before, seen, wanted = shop.before(start), shop.window(start, days), shop.full_log(start, days)
    asked: dict[str, Any] = {"metrics": [f"recall@{k}"], "target": "pooled", "estimators": ["naive"], "drop_seen": True}
    found = {}
    for number, policy in enumerate(shop.policies):
        served = shop.policy_of == number
        train = before.take(served[before.user])
        judged = served & (np.diff(train.indptr) > 0)
        fitted = {name: make(text).fit(train) for name, text in models.items()}
        recall = []
        for log in (seen, wanted):
            estimates = evaluate(log.take(judged[log.user]), fitted, train=train, **asked).estimates
            value = {each.model: each.value for each in estimates}
            recall.append(np.array([value[name] for name in models]))
        found[policy.name] = recall[0] / recall[1]
    return found
