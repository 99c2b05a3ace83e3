"""Results that survive: every finished unit of a long run is a file, named by what it is a result of.

    store = Store("runs/table1", version="1")
    records = store.map(keys, make)           # keys: descriptions of the units; make(key): a mapping

A unit's name is the SHA-256 of its description (canonical JSON: sorted keys, no spaces) and of the version of the code
that makes it. It is written beside its place and renamed into it, so that a run may be killed anywhere and started
again: what is finished is read, the rest is made. The file says

    unskew-unit 1 ‹SHA-256 of all that follows›
    {"key": …, "version": …, "record": …}                      values that JSON knows
    ‹npz›                                                      numpy arrays, where the record has some

A file whose sum, form, description or version is not what it should be is set aside as ‹name›.bad, with a word, and
the unit is made again. Whoever makes a unit holds a lock on it (where the system has ``flock``): a second process waits
and then reads it. Locks of killed processes vanish with them.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import stat
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from unskew.core import strict_json
from unskew.core.atomic import atomic_file
from unskew.core.errors import InputError
from unskew.core.locks import alone, try_lock
from unskew.core.text import plain
from unskew.core.workers import each

MAGIC = b"unskew-unit 1 "
Key = Mapping[str, Any]
Record = dict[str, Any]
Progress = Callable[[str, int, int], None]


class Store:
    """A folder of finished units.

    Args:
        folder: made when the first unit is.
        version: of the code that makes the units; another version finds none of them.
        tell: hears of every file that was set aside; by default a warning.
    """

    def __init__(self, folder: str | Path, version: str = "1", tell: Callable[[str], None] | None = None) -> None:
        self.folder, self.version = Path(folder), version
        self.tell = tell or (lambda message: warnings.warn(message, stacklevel=3))

    def path(self, key: Key) -> Path:
        """Where the unit of this description lies, or will lie."""
        name = hashlib.sha256(_canonical({"key": key, "version": self.version})).hexdigest()
        return self.folder / name[:2] / f"{name}.unit"

    def get(self, key: Key) -> Record | None:
        """The finished unit, or ``None``; a damaged one is set aside."""
        path = self.path(key)
        try:
            record = _unpack(_content(path), key, self.version)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(
                f"{path}: this finished unit cannot be read: {error.strerror}.\nDelete it to have it made again, or "
                "give another folder.",
                code="unreadable-file",
            ) from None
        except _DamagedError as damage:
            aside = path.with_suffix(".bad")
            try:
                os.replace(path, aside)
            except OSError as error:
                raise InputError(
                    f"{path}: {damage}, and it cannot be set aside: {error.strerror}.\nDelete it and {aside.name}.",
                    code="store-damaged",
                ) from None
            self.tell(f"{path}: {damage}; it was set aside as {aside.name}, and the unit is made again.")
            return None
        _remove_lock(path.with_suffix(".lock"))
        return record

    def once(self, key: Key, make: Callable[[], Mapping[str, Any]]) -> Record:
        """The unit of this description: read if it is there, else made, written and read back.

        Args:
            key: what the unit is a result of; JSON values only.
            make: gives a mapping of JSON values and numpy arrays (arrays at the top level only).
        """
        if (found := self.get(key)) is not None:
            return found
        with self._claimed(key) as path:
            if (found := self.get(key)) is not None:  # somebody else was quicker
                return found
            content = _pack(make(), key, self.version)
            with atomic_file(path) as temporary:
                temporary.write_bytes(content)
        return _unpack(content, key, self.version)

    def map(
        self,
        keys: Sequence[Key],
        make: Callable[[Key], Mapping[str, Any]],
        *,
        workers: int = 1,
        processes: bool = False,
        progress: Progress | None = None,
        stage: str = "units",
    ) -> list[Record]:
        """The units of all these descriptions, in their order; finished ones are not made again.

        The first failure, or Ctrl-C, ends the run at once: what was finished stays, what was under way is given up.

        Args:
            keys: one description per unit.
            make: makes the unit of a description.
            workers: how many are made at once.
            processes: make them in processes of their own (``make`` must be importable) instead of threads.
            progress: is told (stage, done, total).
        """
        found = [self.get(key) for key in keys]
        done = sum(record is not None for record in found)
        advance = progress or (lambda stage, done, total: None)
        advance(stage, done, len(keys))
        places = [place for place, record in enumerate(found) if record is None]
        jobs = [(self, keys[place], make) for place in places]
        for which, record in each(_make, jobs, workers=workers, processes=processes):
            found[places[which]] = record
            done += 1
            advance(stage, done, len(keys))
        return [record for record in found if record is not None]

    @contextmanager
    def _claimed(self, key: Key) -> Iterator[Path]:
        """Nobody else makes this unit meanwhile; a folder that cannot be written to is found out before the work."""
        path = self.path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"{path.parent}: finished units cannot be written here: {error.strerror}.\nGive another folder.",
                code="cannot-write",
            ) from None
        with alone(path.with_suffix(".lock"), patience=math.inf):
            yield path

    def __getstate__(self) -> dict[str, Any]:
        return {"folder": self.folder, "version": self.version}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]


def _make(store: Store, key: Key, make: Callable[[Key], Mapping[str, Any]]) -> Record:
    return store.once(key, lambda: make(key))


def _remove_lock(lock: Path) -> None:
    """Remove the lock of a finished unit, whose maker was killed before it could; not while somebody holds it."""
    with suppress(OSError):
        handle = os.open(lock, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
        try:
            if try_lock(handle):
                lock.unlink()
        finally:
            os.close(handle)


class _DamagedError(Exception):
    """A file that is not the unit it should be."""


def _canonical(value: Any) -> bytes:
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise InputError(
            f"a unit's description must consist of plain JSON values: {error}.", code="not-plain-json"
        ) from None


def _pack(record: Mapping[str, Any], key: Key, version: str) -> bytes:
    arrays = {name: value for name, value in record.items() if isinstance(value, np.ndarray)}
    values = {name: value for name, value in record.items() if name not in arrays}
    try:
        head = json.dumps({"key": key, "version": version, "record": values}, sort_keys=True).encode()
    except (TypeError, ValueError) as error:
        raise InputError(
            f"a unit consists of plain JSON values and numpy arrays: {error}.", code="not-plain-json"
        ) from None
    if objects := [name for name, value in arrays.items() if value.dtype.hasobject]:
        raise InputError(
            f"a unit consists of plain JSON values and numpy arrays; '{objects[0]}' holds Python objects.",
            code="not-plain-json",
        )
    tail = io.BytesIO()
    if arrays:
        named: dict[str, Any] = {f"={name}": value for name, value in arrays.items()}  # savez has names of its own
        np.savez(tail, **named)
    body = head + b"\n" + tail.getvalue()
    return MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def _unpack(content: bytes, key: Key, version: str) -> Record:
    first, _, body = content.partition(b"\n")
    if not first.startswith(MAGIC):
        raise _DamagedError("this is not a unit, or one of another format")
    if hashlib.sha256(body).hexdigest().encode() != first.removeprefix(MAGIC):
        raise _DamagedError("its content does not have the sum that it should have")
    head, _, tail = body.partition(b"\n")
    try:
        said = strict_json.loads(head)
        same = _canonical([said["key"], said["version"]]) == _canonical([key, version])
        record: Record = dict(said["record"])
        if tail and same:
            with np.load(io.BytesIO(tail), allow_pickle=False) as arrays:
                record.update({name.removeprefix("="): arrays[name] for name in arrays.files})
    except (ValueError, KeyError, TypeError, EOFError, OSError, BadZipFile, zlib.error, InputError) as error:
        raise _DamagedError(f"its content cannot be read ({plain(error)})") from None
    if not same:
        raise _DamagedError("it is the result of something else")
    return record


def _content(path: Path) -> bytes:
    """The bytes of a file; what is no file, such as a folder or a pipe, is damaged, and never waited for."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise _DamagedError("this is not a file")
    with path.open("rb") as file:
        start = file.read(len(MAGIC))
        return start + file.read() if start == MAGIC else start
