"""Compiled functions are kept on disk where that is possible; where it is not, everything works all the same."""

from __future__ import annotations

import errno
import gc
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import pytest

import unskew
from unskew.kernels import compiled
from unskew.kernels.compiled import CacheWarning, njit

Load = Callable[..., Any]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """A function from a file of its own, fresh every time, as a new process would have it.

    Its module can be imported, and nothing is left of the function before: numba imports the module of a kept function
    unless an earlier load of it is still alive, so that without either it would depend on the garbage collector
    whether the function is found.
    """
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "caches"))
    monkeypatch.setattr(compiled, "_warned", set())

    def fresh(factor: int = 2) -> Any:
        source = tmp_path / "doubling.py"
        source.write_text(f"def times(x):\n    return {factor} * x\n")
        spec = importlib.util.spec_from_file_location("doubling", source)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "doubling", module)
        gc.collect()
        spec.loader.exec_module(module)
        return njit(cache=True, nogil=True)(module.times)

    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    yield fresh
    sys.dont_write_bytecode = before


def kept(folder: Path) -> list[Path]:
    return sorted(folder.glob("caches/*/*.nbc"))


def hits(function: Any) -> int:
    """How many signatures came from the disk."""
    return sum(function.stats.cache_hits.values())


def test_a_compiled_function_is_kept_and_found_again(load: Load, tmp_path: Path) -> None:
    assert load()(3) == 6
    again = load()
    assert again(3) == 6 and hits(again) == 1
    assert again(1.5) == 3.0 and hits(again) == 1  # another signature
    assert len(kept(tmp_path)) == 2
    assert {path.suffix for path in (tmp_path / "caches").glob("*/*")} == {".nbc"}, "a temporary file is left"


def test_changed_source_is_compiled_anew(load: Load) -> None:
    assert load(2)(3) == 6
    changed = load(5)
    assert changed(3) == 15 and hits(changed) == 0


def test_code_of_another_signature_is_never_taken(load: Load, tmp_path: Path) -> None:
    """A file under a wrong name, as two processes at once could make it, is not used."""
    function = load()
    function(3)
    (integers,) = kept(tmp_path)
    function(1.5)
    (numbers,) = set(kept(tmp_path)) - {integers}
    shutil.copy(integers, numbers)
    again = load()
    assert again(1.5) == 3.0 and hits(again) == 0


@pytest.mark.parametrize("damage", [b"", b"x", bytes(5000), None], ids=["empty", "short", "zeros", "one bit"])
def test_a_damaged_file_is_named_and_made_anew(load: Load, tmp_path: Path, damage: bytes | None) -> None:
    load()(3)
    (path,) = kept(tmp_path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content) if damage is None else damage)
    with pytest.warns(CacheWarning, match=path.name):
        assert load()(3) == 6
    mended = load()
    assert mended(3) == 6 and hits(mended) == 1


def test_a_full_disk_is_survived(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing half-written stays, and the advice says why."""
    replace = os.replace

    def full(source: Any, target: Any) -> None:
        if str(target).endswith(".nbc"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(CacheWarning, match=r"NUMBA_CACHE_DIR"):
        function = load()
        assert function(3) == 6
        assert function(1.5) == 3.0
    assert not list((tmp_path / "caches").glob("*/*"))


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders have other owners there")
def test_a_folder_that_all_can_write_is_not_used(load: Load, tmp_path: Path) -> None:
    """What is kept is code: whoever writes there would have it run here."""
    load()(3)
    (path,) = kept(tmp_path)
    path.parent.chmod(0o777)
    with pytest.warns(CacheWarning, match=str(path.parent)):
        function = load()
    assert function(3) == 6 and hits(function) == 0


def test_without_any_place_everything_works_with_one_line_of_advice(tmp_path: Path) -> None:
    """A package that cannot be written beside, and no home: ``data list`` and a first kernel say it once."""
    place = tmp_path / "install"
    shutil.copytree(Path(unskew.__file__).parent, place / "unskew", ignore=shutil.ignore_patterns("__pycache__"))
    (place / "unskew" / "kernels" / "__pycache__").write_text("no folder")
    nowhere = {"NUMBA_CACHE_DIR": "/proc/nowhere", "HOME": "/proc/nowhere", "XDG_CACHE_HOME": "/proc/nowhere"}
    environment = os.environ | nowhere | {"PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1"}
    code = (
        "import sys; sys.argv = ['unskew', 'data', 'list']\n"
        "import unskew.cli, unskew.kernels.hashing as kernel\n"
        "assert unskew.__file__.startswith(sys.path[1]) and kernel.mix.py_func is not None\n"
        "unskew.cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "coat" in done.stdout
    assert done.stderr.count("NUMBA_CACHE_DIR") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["install"]
