"""Where a file should be there is something else: a folder, a loop of links, a pipe, nothing, a strange name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.hostile.drafts import Draft, Expect, mutation

PLACES: dict[str, Callable[[Path], None]] = {
    "folder": Path.mkdir,
    "loop": lambda path: path.symlink_to(path.name),
    "nowhere": lambda path: path.symlink_to("/nonexistent/file"),
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "null": lambda path: path.symlink_to("/dev/null"),
    "nothing": lambda path: None,
}


@mutation("place")
def something_else(draft: Draft, rng: Random) -> None:
    word = rng.choice(list(PLACES))
    draft.place = PLACES[word]
    draft.done.append(word)


@mutation("place")
def strange_name(draft: Draft, rng: Random) -> None:
    words = (
        "log[v2]", "é", "e\u0301", "[red]x", "\x1b[31mx", "x" * 240, "-x", "a=b", "*", "?", "a\nb", "~x", "log.csv",
    )  # fmt: skip
    draft.name = rng.choice(words)


@mutation("place")
def wrong_ending(draft: Draft, rng: Random) -> None:
    """The content stays what it is: the name says something else."""
    others = (".csv", ".tsv", ".csv.gz", ".parquet")
    written = draft.ending
    other = rng.choice([ending for ending in others if ending != written])
    draft.place = lambda path: _as(draft, written, path)
    draft.ending = other
    draft.expect = Expect.SAME_OR_REFUSED


def _as(draft: Draft, written: str, path: Path) -> None:
    honest = Draft("honest", draft.table, written)
    honest.write(path.parent).rename(path)
