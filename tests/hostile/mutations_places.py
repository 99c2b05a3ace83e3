"""Where a file should be there is something else: a folder, a loop of links, a pipe, nothing, a strange name."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

from tests.hostile.drafts import Draft, Expect, mutation


def _folder(path: Path) -> None:
    path.mkdir()


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _nowhere(path: Path) -> None:
    path.symlink_to("/nonexistent/file")


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _null(path: Path) -> None:
    path.symlink_to("/dev/null")


def _nothing(path: Path) -> None:
    pass


PLACES = {
    "folder": _folder, "loop": _loop, "nowhere": _nowhere, "pipe": _pipe,
    "device": _device, "null": _null, "nothing": _nothing,
}  # fmt: skip


@mutation("place")
def something_else(draft: Draft, rng: Random) -> None:
    word = rng.choice(list(PLACES))
    draft.place = PLACES[word]
    draft.done.append(word)


@mutation("place")
def strange_name(draft: Draft, rng: Random) -> None:
    words = (
        "log[v2]",
        "a b",
        "é",
        "e\u0301",
        "[red]x",
        "\x1b[31mx",
        "x" * 240,
        "-x",
        "a=b",
        "*",
        "?",
        "a\nb",
        "~x",
        "log.csv",
    )
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
