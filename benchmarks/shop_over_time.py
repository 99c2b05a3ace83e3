"""How long the shop over time takes at the size of jeunen18's Table 1: ``python benchmarks/shop_over_time.py``.

One process, one thread; a small shop first compiles. Seconds of CPU time, since other work on the machine does not add
to them; a full run is kept in ``results/shop_over_time.json``.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from importlib.metadata import version

import numpy as np

from peers.common import peak_mb
from promise import Promise
from store import Measured, conditions, keep, machine, versions
from unskew.core.threads import Threads
from unskew_papers.shop import ShopOverTime
from workloads import STUDIES

TABLE_1 = ShopOverTime(users=239_000, items=12_700, days=122)
CANDIDATES = {"popular": "most_popular", "recent": "recently_popular(days=7)", "item_knn": "item_knn(neighbours=50)"}


def run(shop: ShopOverTime) -> Measured:
    """Simulate the log, then the A/B test of the week behind it."""
    begin = time.process_time()
    log = shop.log
    logged = time.process_time()
    test = shop.ab_test(CANDIDATES)
    tested = time.process_time()
    return {
        "rows": len(log),
        "users": int(np.count_nonzero(np.diff(log.indptr))),
        "items": len(np.unique(log.item)),
        "visits": len(shop.visits.user),
        "log": logged - begin,
        "tested": len(test.users),
        "test": tested - logged,
        "peak_mb": peak_mb(),
        "versions": {name: version(name) for name in ("unskew", "numba")},
    }


def promises(found: Measured | None) -> list[Promise]:
    """None: its time is shown, and no floor is set."""
    return []


def sections(found: Measured) -> dict[str, str]:
    """The stored result in words."""
    lines = [
        "### A simulated shop over time",
        "",
        f"`python benchmarks/shop_over_time.py` on {conditions(found)}. {versions(found)}.",
        "",
        f"The size of jeunen18's Table 1: {found['rows']:,} rows of {found['users']:,} users × {found['items']:,} "
        f"items in {found['visits']:,} visits take {found['log']:.1f} CPU seconds on one thread, the A/B test of "
        f"{len(CANDIDATES)} models among {found['tested']:,} users {found['test']:.1f}; "
        f"{found['peak_mb']:,.0f} MB at most.",
    ]
    return {STUDIES: "\n".join(lines)}


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=TABLE_1.users)
    users = parser.parse_args().users
    with Threads(1, alone=True) as pool:
        pool.submit(run, ShopOverTime(users=500, items=100, days=20)).result()
        results = pool.submit(run, replace(TABLE_1, users=users)).result() | machine()
    print(sections(results)[STUDIES])
    if users == TABLE_1.users:
        keep("shop_over_time", results)


if __name__ == "__main__":
    main()
