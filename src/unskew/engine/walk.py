"""Fixed blocks of users, walked by threads, whose results come in order.

Blocks depend on the number of users only, not on that of threads, and are merged in their order, so the numbers don't
depend on threads either.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TypeVar

from unskew.core.threads import Threads

BLOCK = 8192  # users at most
BLOCKS = 8  # of fewer users there are so many blocks at least, for every thread to have its share ...
LEAST = 512  # ... unless they were smaller than this
T = TypeVar("T")
Progress = Callable[[int, int], None]


def walk(
    users: int,
    one: Callable[[int, int], T],
    threads: int | None = None,
    block: int | None = None,
    progress: Progress | None = None,
) -> Iterator[T]:
    """Run ``one`` over fixed blocks of users; results come in order, whatever the number of threads."""
    block = block or min(BLOCK, max(LEAST, -(-users // BLOCKS)))
    bounds = [(low, min(low + block, users)) for low in range(0, users, block)]
    workers = min(threads or os.cpu_count() or 1, len(bounds))
    with Threads(workers) as pool:
        for (_, high), part in zip(bounds, pool.map(lambda bound: one(*bound), bounds), strict=True):
            if progress is not None:
                progress(high, users)
            yield part
