"""``unskew simulate shop-over-time``: months of a shop's log, and the truth of an A/B test."""

from __future__ import annotations

import shlex
from itertools import count
from pathlib import Path
from typing import Annotated

from unskew.cli import FOLDER, Force, QuietAlone, check_folder, named, option, out, progress


def shop_over_time(
    output: Annotated[Path, option("Folder to write to.", None, *FOLDER)],
    users: Annotated[int, option("Users who come in the days of the log.")] = 4000,
    items: Annotated[int, option("Items that are on sale at some time.")] = 600,
    days: Annotated[int, option("Days of the log.")] = 120,
    seed: Annotated[int, option("Seed of the shop and of all that happens in it.")] = 0,
    search: Annotated[float, option("Items that a visitor finds without the page, on average.")] = 5.0,
    promoted: Annotated[float, option("Share of places that a campaign takes.")] = 0.1,
    drift: Annotated[float, option("Days after which a taste has kept 37 % of itself.")] = 30.0,
    model: Annotated[
        list[str] | None, option("A candidate of the A/B test: mine=item_knn(neighbours=20). Repeat.")
    ] = None,
    force: Force = False,
    quiet: QuietAlone = False,
) -> None:
    """Write months of a shop's log under three logging policies, and what an A/B test would show next week."""
    import numpy as np

    from unskew.models import make
    from unskew_papers.shop.files import CANDIDATES, FILES, write_shop
    from unskew_papers.shop.shop import ShopOverTime

    candidates = CANDIDATES if not model else named("--model", model)
    for text in candidates.values():
        make(text)  # mistakes are told before the work
    check_folder(output, FILES, force)
    shop = ShopOverTime(
        users=users, items=items, days=days, seed=seed, search=search, promoted=promoted, drift=drift, future=7
    )
    with progress(quiet) as report:
        steps, made = days + len(FILES), count(days + 1)
        shop.simulate(lambda done, _: report(f"day {done}", done, steps))
        paths = write_shop(
            shop,
            output,
            candidates=candidates,
            progress=lambda name: report(f"made {name}", next(made), steps),
            force=force,
        )
    if quiet:
        return
    folder, written = shlex.quote(str(output)), ", ".join(path.name for path in paths.values())
    out.print(f"Wrote {len(paths)} files to {folder}: {written}.", soft_wrap=True)
    log, shares = shop.log, ", ".join(f"{policy.name} {policy.share:.0%}" for policy in shop.policies)
    active = int(np.count_nonzero(np.diff(log.indptr)))
    out.print(f"{len(log):,} rows of {active:,} users; policies: {shares}.", soft_wrap=True)
    out.print(
        f"\nNow try:\n  unskew audit {folder}/log.parquet\n"
        f"What an A/B test would show in the week behind the log is in {folder}/truth.json.",
        soft_wrap=True,
    )


shop_over_time.examples = (("Four months of a shop", "unskew simulate shop-over-time -o months"),)  # type: ignore[attr-defined]
