"""``njit`` whose compiled functions are kept on disk where that is possible, and work where it is not.

numba fails where no folder can be written, where the disk is full and where a kept file is damaged; and as its index
and its data are two files, two processes at once or a kill between the two may pair one function with the code of
another. Here every compiled function is one file, with a checksum and all that it was made for. What cannot be kept
or read is compiled anew, and a warning says once what would help.

Loading a kept function runs code, so that nothing is loaded from folders that others can change (``ownership.py``):
they are judged when a folder is chosen, and again whenever a function is loaded or kept. Folders are found by numba's
rules, the first that is ours alone: ``NUMBA_CACHE_DIR``, ``__pycache__`` beside the kernels, the user's cache folder.

The lock of numba's compiler is ours, so that Ctrl-C in a notebook does not leave it taken. One thread compiles, the
others wait. When the main thread waits in one piece and Ctrl-C comes, Python hears of it only when the lock is there,
raises KeyboardInterrupt before numba has noted that the lock is to be given back, and every thread that compiles later
waits for ever. Waiting in ticks, it hears of Ctrl-C while it does not have the lock.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import sys
import threading
import uuid
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator, UserWideCacheLocator
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import Environment, _rebuild_env, lookup_environment
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from unskew.kernels.ownership import OthersError, own_folder, read_own

TICK = 0.05  # seconds
SECRET = b"_numba_hashsecret"  # in the names of what compiled code needs to hash texts


class PatientLock:
    """A re-entrant lock with what numba uses of one."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def acquire(self) -> bool:
        """Wait for it in ticks."""
        while not self._lock.acquire(timeout=TICK):
            pass
        return True

    def release(self) -> None:
        """Give it back."""
        self._lock.release()

    def _is_owned(self) -> bool:
        return self._lock._is_owned()  # type: ignore[attr-defined, no-any-return]


def make_patient() -> None:
    """Put our lock in the place of numba's, unless that one is in use just now."""
    theirs = global_compiler_lock._lock
    if not isinstance(theirs, PatientLock) and theirs.acquire(blocking=False):
        global_compiler_lock._lock = PatientLock()
        theirs.release()


make_patient()

ADVICE = "Set NUMBA_CACHE_DIR to a folder of yours that can be written; until then every run compiles anew."
_warned: set[str] = set()
_warning = threading.Lock()


class CacheWarning(UserWarning):
    """Compiled functions cannot be kept, or what was kept cannot be used."""


def njit(*, cache: bool, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """``numba.njit`` with ``cache`` as told above."""

    def compiled(function: Callable[..., Any]) -> Any:
        dispatcher = numba.njit(**options)(function)
        if cache:
            try:
                dispatcher._cache = _Kept(function)
            except (OSError, RuntimeError):  # numba's word for no folder that can be written
                _warn("place", f"No folder was found that compiled functions can be kept in. {ADVICE}")
        return dispatcher

    return compiled


def _warn(kind: str, message: str) -> None:
    """Once of every kind."""
    with _warning:
        if kind in _warned:
            return
        _warned.add(kind)
    warnings.warn(message, CacheWarning, stacklevel=3)


def _own(place: Any) -> Any:
    """One of numba's places, passed over where others can change what lies there."""

    class Own(place):  # type: ignore[misc]
        def ensure_cache_path(self) -> None:
            folder = Path(self.get_cache_path())
            for missing in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
                with suppress(FileExistsError):
                    missing.mkdir(mode=0o755)
            try:
                own_folder(folder, _owners(self._py_file))
            except OthersError as why:
                if place is UserProvidedCacheLocator:
                    _not_ours(folder, why)
                raise
            super().ensure_cache_path()

    return Own


def _owners(source: str) -> tuple[int, ...]:
    """Whoever owns the kernels' source can run code here anyway."""
    try:
        return (os.stat(source).st_uid,)
    except OSError:
        return ()


def _not_ours(folder: Path, why: OthersError) -> None:
    _warn(
        "trust",
        f"{folder}: no compiled functions are taken from here or kept here, since others could run code as you: {why}. "
        "Set NUMBA_CACHE_DIR to a folder that only you can change.",
    )


class _Places(CompileResultCacheImpl):  # type: ignore[misc]
    """Numba's places; for a user without a home, the user's folder would be one called ``~``, wherever one is."""

    _locator_classes: ClassVar[list[Any]] = [
        _own(place)
        for place in CompileResultCacheImpl._locator_classes
        if place is not UserWideCacheLocator or os.path.isabs(os.path.expanduser("~"))
    ]


class _Kept(FunctionCache):  # type: ignore[misc]
    """The compiled forms of one function; nothing that goes wrong with them is an error."""

    _impl_class = _Places

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp, friends = self._impl.locator.get_source_stamp(), _owners(function.__code__.co_filename)
        self._cache_file = _Files(Path(self.cache_path), self._impl.filename_base, stamp, friends)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled form for a signature, or nothing.

        numba would first load all that it can compile, half a second of imports; code that is compiled needs no more
        than its runtime, and where it hashes texts, Python's secret for that (``_Files.load``).
        """
        try:
            rtsys.initialize(target_context)
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)
        except OthersError as why:
            _not_ours(Path(self.cache_path), why)
            return None
        except Exception as error:
            path = self._cache_file.path(self._index_key(sig, target_context.codegen()))
            cause = f"{type(error).__name__}: {error}"[:200]
            _warn("load", f"{path}: this file with a compiled function is damaged ({cause}). It is made anew.")
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled form, if that can be done."""
        try:
            super().save_overload(sig, data)
        except OthersError as why:
            _not_ours(Path(self.cache_path), why)
        except OSError as error:
            self.disable()
            _warn("save", f"{self.cache_path}: compiled functions cannot be kept here: {error.strerror}. {ADVICE}")


class _Unpickler(pickle.Unpickler):
    """Reads what was kept without importing those modules of numba whose functions were compiled into it."""

    def find_class(self, module: str, name: str) -> Any:
        """What a name of the pickle stands for."""
        if (module, name) == ("numba.core.environment", "_rebuild_env"):
            return _environment
        return super().find_class(module, name)


def _environment(module: str, constants: Any, name: str) -> Any:
    """The environment of a compiled function, as numba rebuilds it.

    Compiled code looks nothing up in the module of its source; only the name of the module must be there, by which the
    environment is kept again. So modules of numba are not imported for it: what creates arrays takes longer to import
    than all kernels of an evaluation to load.
    """
    if not module.startswith("numba.") or module in sys.modules:
        return _rebuild_env(module, constants, name)
    found = lookup_environment(name)
    if found is None:
        found = Environment({"__name__": module})
        found.consts[:] = constants
        found.env_name = name
        Environment._memo[name] = found
    return found


class _Files:
    """One file for every compiled form of a function: a checksum, then what it was made for, and the code."""

    def __init__(self, folder: Path, name: str, stamp: Any, friends: tuple[int, ...]) -> None:
        self._folder, self._name, self._stamp, self._friends = folder, name, stamp, friends

    def path(self, key: Any) -> Path:
        """Where the form for a signature is kept."""
        return self._folder / f"{self._name}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"

    def load(self, key: Any) -> Any:
        """What was kept for exactly this function and signature."""
        try:
            content = read_own(self.path(key), self._friends)
        except FileNotFoundError:
            return None
        if hashlib.sha256(content[32:]).digest() != content[:32]:
            raise ValueError("the checksum differs")
        if SECRET in content:
            import_module("numba.cpython.hashing")
        stamp, made_for, data = _Unpickler(io.BytesIO(content[32:])).load()
        return data if (stamp, made_for) == (self._stamp, key) else None

    def save(self, key: Any, data: Any) -> None:
        """Keep it: the file appears whole or not at all."""
        content = dumps((self._stamp, key, data))
        path = own_folder(self._folder, self._friends) / self.path(key).name
        temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
        try:
            with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:
                file.write(hashlib.sha256(content).digest() + content)
            os.replace(temporary, path)
        except OSError:
            with suppress(OSError):
                temporary.unlink()
            raise

    def flush(self) -> None:
        """Forget all forms of this function."""
        for path in self._folder.glob(f"{self._name}.*.nbc"):
            path.unlink(missing_ok=True)
