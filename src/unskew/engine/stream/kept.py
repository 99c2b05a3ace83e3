"""Parts of the users, kept on disk while others are worked on; what all of them share is not written.

Where there is one part only, it stays in memory.

They are pickled into a folder that nobody else may read or write, made for this run and removed with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from unskew.engine.packing import pack, unpack
from unskew.engine.stream.spill import full_disk


class Kept:
    """Objects in a folder of this run.

    Args:
        shared: what they have in common; each gets these very objects back.
        only: whether there is only one of them.
    """

    def __init__(self, folder: Path, shared: Sequence[object], *, only: bool) -> None:
        self._folder, self._shared, self._only = folder, list(shared), only
        self._files: list[Path] = []
        self._here: list[object] = []

    def add(self, part: object) -> None:
        """Keep one more."""
        if self._only:
            self._here.append(part)
            return
        self._files.append(self._folder / f"part-{len(self._files)}.pickle")
        self._write(self._files[-1], part)

    def put(self, place: int, part: object) -> None:
        """Keep another one in this place."""
        if self._only:
            self._here[place] = part
        else:
            self._write(self._files[place], part)

    def _write(self, file: Path, part: object) -> None:
        with full_disk(self._folder), file.open("wb") as opened:
            pack(part, self._shared, opened)

    def __len__(self) -> int:
        return len(self._files) + len(self._here)

    def __iter__(self) -> Iterator[Any]:
        yield from self._here
        for file in self._files:
            with file.open("rb") as opened:
                yield unpack(opened, self._shared)
