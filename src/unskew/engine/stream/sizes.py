"""How much memory, disk and time a stream takes, from measured constants, and how many parts fit a limit.

The constants come from ``python benchmarks/engines.py --rows 10000000`` (two cores; docs/benchmarks.md), with
room to spare.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from unskew.log.batches import Kind

BASE = 420_000_000  # bytes of a process with everything loaded
PER_ROW: Mapping[Kind, int] = {  # bytes of a row while its part is worked on, and the next one is read
    Kind.LOG: 260,
    Kind.LISTS: 80,
    Kind.PREDICTIONS: 150,
    Kind.PEOPLE: 150,
}
TEXTS = 2  # times as much where ids are texts
WIDE = 200  # bytes of a row that are meant above: longer texts count as so many rows
IN_MEMORY: Mapping[Kind, int] = {Kind.LOG: 85, Kind.LISTS: 48, Kind.PREDICTIONS: 60, Kind.PEOPLE: 90}
DISK = 30  # bytes of a row on disk, in both forms, where it must be brought together
READ = 0.08e-6  # CPU seconds to read, check and bring together a row
SUM = 0.09e-6  # CPU seconds to align and sum a row, tipping points included
WAITING = 60  # bytes of a row while it waits to be written
CHUNK = 2_000_000  # rows that are written at once, at most: more take memory and no less time
PART = 2_000_000  # rows of a part, at most, where they do not fit into one: what is worked on should stay in the cache
MOST_PARTS = 4096


@dataclass(frozen=True)
class Sizes:
    """What a stream is expected to take.

    Args:
        parts: how many parts the users are divided into.
        chunk: rows that are gathered before they are written.
        piece: rows that are read at once.
        disk: bytes of temporary files; none where there is one part.
        seconds: of CPU; less on the clock, where several cores are idle.
    """

    limit: int
    parts: int
    chunk: int
    piece: int
    disk: int
    seconds: float

    @classmethod
    def of(
        cls, rows: Mapping[Kind, int], limit: int, *, texts: bool = False, held: int = 0, width: float = 0.0
    ) -> Sizes:
        """Of inputs with so many rows, in so many bytes of memory.

        Args:
            texts: whether ids of users are texts.
            held: bytes of what stays in memory all the time.
            width: bytes that a row of the widest input unpacks to.
        """
        wide = max(1.0, width / WIDE)
        room = max(limit - BASE - held, limit // 4)
        total = sum(count * PER_ROW[kind] for kind, count in rows.items()) * (TEXTS if texts else 1) * wide
        every = sum(rows.values())
        parts = math.ceil(total / room)
        if parts > 1 and not texts:  # rows with texts are slower to fetch from many places
            parts = max(parts, math.ceil(every / PART))
        parts = min(MOST_PARTS, max(1, parts))
        return cls(
            limit,
            parts=parts,
            chunk=max(1, min(CHUNK, int(room / (4 * WAITING * wide)))),
            piece=max(1, int(max(65_536, min(CHUNK, room // 400)) / wide)),
            disk=int(every * DISK * wide) if parts > 1 else 0,
            seconds=every * (READ + SUM),
        )


def in_memory(rows: Mapping[Kind, int]) -> int:
    """Bytes that the engine in memory takes for so many rows."""
    return BASE + sum(count * IN_MEMORY[kind] for kind, count in rows.items())
