"""How long the shop over time takes at the size of jeunen18's Table 1: ``python benchmarks/shop_over_time.py``.

One process, one thread; a small shop first compiles. Prints seconds of CPU time, since other work on the machine does
not add to them.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np

from unskew.simulate import ShopOverTime
from unskew.threads import Threads

TABLE_1 = ShopOverTime(users=239_000, items=12_700, days=122)
CANDIDATES = {"popular": "most_popular", "recent": "recently_popular(days=7)", "item_knn": "item_knn(neighbours=50)"}


def run(shop: ShopOverTime, say: bool) -> None:
    """Simulate the log, then the A/B test of the week behind it."""
    begin = time.process_time()
    log = shop.log
    logged = time.process_time()
    test = shop.ab_test(CANDIDATES)
    tested = time.process_time()
    if say:
        sizes = f"{np.count_nonzero(np.diff(log.indptr)):,} users × {len(np.unique(log.item)):,} items"
        print(f"log: {logged - begin:.1f} s for {len(log):,} rows of {sizes} in {len(shop.visits.user):,} visits")
        print(f"A/B test of {len(CANDIDATES)} models, {len(test.users):,} users: {tested - logged:.1f} s")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=TABLE_1.users)
    users = parser.parse_args().users
    with Threads(1, alone=True) as pool:
        for shop, say in ((ShopOverTime(users=500, items=100, days=20), False), (replace(TABLE_1, users=users), True)):
            pool.submit(run, shop, say).result()


if __name__ == "__main__":
    main()
