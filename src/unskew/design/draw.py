"""The draw: systematic sampling of each user's pairs in random order, independently of other users (MATHS §16).

Every pair is drawn with exactly its inclusion probability, and no user is asked more than k times (sequential Poisson
sampling is not exact: .75/.125 became .778/.111). Random numbers are hashes of (seed, user, item), so that neither the
order of rows nor threads matter. The number of rows is n on average: a user's own lies within one of Σ_i π_ui.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unskew.design.probabilities import ListDesign, Scale
from unskew.engine.walk import walk
from unskew.kernels.arrays import Floats, Ints32
from unskew.kernels.design import draw_pairs, line_lengths


@dataclass(frozen=True, eq=False)
class DrawnPairs:
    """The pairs to ask about, by their codes, and how likely each was to be drawn."""

    user: Ints32
    item: Ints32
    propensity: Floats


def draw(design: ListDesign, scale: Scale, seed: int) -> DrawnPairs:
    """Draw pairs, ascending by user."""
    who = design.candidates
    user_hash, item_hash = who.users.hashes, who.items.hashes

    def one(low: int, high: int) -> DrawnPairs:
        how = (design.others, who.asked, scale.t, scale.rate, design.most)
        most = line_lengths(low, high, design.start, design.weight, *how)[0]
        room = int(most) + 1 + (high - low)
        user, item, p = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room)
        n = draw_pairs(
            low, high, design.start, design.item, design.weight, *how, np.uint64(seed), user_hash, item_hash,
            who.gone_start, who.gone, who.place, who.pool, user, item, p,
        )  # fmt: skip
        order = np.lexsort((item[:n], user[:n]))
        return DrawnPairs(user[order], item[order], p[order])

    parts = list(walk(len(who.users), one, design.threads))
    return DrawnPairs(
        np.concatenate([part.user for part in parts]),
        np.concatenate([part.item for part in parts]),
        np.concatenate([part.propensity for part in parts]),
    )
