"""Fingerprints of lists: who is listed what, at which rank, down to a depth, in a few letters.

    Σ h(user, item, rank) over the listed pairs with rank ≤ depth, modulo 2^64          written 0f3c…9a@10

h hashes the texts of ids. A sum has no order, so users, rows and files may come in any; one changed place changes it.
A plan writes those of its lists beside the pairs that it draws: lists that have one were there before any answer came.
Lists that learnt from answers list what was answered well, and no judgement by the same answers means anything of them.
"""

from __future__ import annotations

import math
from collections.abc import Collection

from unskew.kernels.hashing import hash_lists
from unskew.log.recommendations import Recommendations

PATTERN = "[0-9a-f]{16}@[0-9]{1,10}"


def fingerprint(lists: Recommendations, depth: int) -> str:
    """What tells these lists, down to a rank, from others."""
    ids = lists.users.hashes, lists.items.hashes
    return f"{int(hash_lists(lists.indptr, lists.item, lists.rank, *ids, depth)):016x}@{depth}"


def known_depth(lists: Recommendations, known: Collection[str]) -> float:
    """Down to which rank these are lists with a known fingerprint: 0 if they are none, ∞ if they end above it."""
    depths = {int(each.partition("@")[2]) for each in known}
    found = max((depth for depth in depths if fingerprint(lists, depth) in known), default=0)
    return math.inf if found and lists.depth <= found else float(found)
