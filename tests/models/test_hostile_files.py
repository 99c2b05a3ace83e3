"""Model files that lie about their size, or are made to exhaust whoever reads them."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.said import refuses

from unskew.core import memory
from unskew.models import GivenFactors, files, load

GOOD: dict[str, npt.NDArray[Any]] = {
    "users": np.array([1, 2]),
    "items": np.array([7, 8]),
    "user_factors": np.ones((2, 3)),
    "item_factors": np.ones((2, 3)),
}


def packed(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def member(array: npt.NDArray[Any], shape: tuple[int, ...] | None = None) -> bytes:
    """An array as .npy, which may claim another shape."""
    content = io.BytesIO()
    header = np.lib.format.header_data_from_array_1_0(array)
    np.lib.format.write_array_header_1_0(content, header if shape is None else {**header, "shape": shape})
    return content.getvalue() + array.tobytes()


def refused(path: Path, code: str = "unknown-format") -> str:
    """The error that names the file and has this code."""
    with refuses(code) as caught:
        load(path)
    assert path.name in str(caught.value)
    return str(caught.value)


def test_what_is_packed_to_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is as large as it says, and still no model."""
    monkeypatch.setattr(files, "_HARMLESS", 1_000_000)
    good = {f"{name}.npy": member(array) for name, array in GOOD.items()}
    bomb = packed(tmp_path / "m.npz", {**good, "user_factors.npy": member(np.zeros((2, 1_000_000)))})
    refused(bomb)


@pytest.mark.parametrize("shape", [(10**9, 10**6), (2, 4), (1, 3), (-2, -3)])
def test_arrays_that_claim_another_size(tmp_path: Path, shape: tuple[int, ...]) -> None:
    """Memory is taken for what is there, not for what is claimed."""
    members = {f"{name}.npy": member(array) for name, array in GOOD.items()}
    assert isinstance(load(packed(tmp_path / "good.npz", members)), GivenFactors)
    members["user_factors.npy"] = member(GOOD["user_factors"], shape)
    refused(packed(tmp_path / "bad.npz", members))


def test_files_that_cannot_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file of zeros unpacks to a large one."""
    path = tmp_path / "zeros.npz"
    np.savez_compressed(path, **{**GOOD, "user_factors": np.zeros((2, 100_000))})  # type: ignore[arg-type]
    assert path.stat().st_size < 10_000
    monkeypatch.setattr(memory, "available", lambda: 1_000_000)
    refused(path, "not-enough-memory")


@pytest.mark.parametrize(
    "header",
    ["[" * 100_000, "[]", "7", '{"format": ' + "9" * 5000 + "}", '{"version": 1}', "\udcff"],
    ids=["deep", "list", "number", "digits", "no format", "bytes"],
)
def test_headers_that_are_none(tmp_path: Path, header: str) -> None:
    """One sentence each."""
    path = tmp_path / "m.npz"
    np.savez(path, header=np.frombuffer(header.encode(errors="surrogateescape"), dtype=np.uint8))
    refused(path)


def test_a_huge_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not parsed."""
    monkeypatch.setattr(files, "LONGEST_HEADER", 100)
    path = tmp_path / "m.npz"
    np.savez(path, header=np.frombuffer(json.dumps({"format": "x" * 100}).encode(), dtype=np.uint8))
    refused(path)


def test_archives_that_are_strange(tmp_path: Path) -> None:
    """Members that are no arrays, Python objects, the same name twice, names with escape codes."""
    path = tmp_path / "m.npz"
    refused(packed(path, {"users.npy": b"hello"}))
    np.savez(path, **{**GOOD, "users": np.array([{}, 1], dtype=object)})  # type: ignore[arg-type]
    refused(path)
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(path, "w") as archive:
        for _ in range(2):
            archive.writestr("users.npy", member(GOOD["users"]))
    refused(path)
    strange = packed(path, {f"{name}.npy": member(a) for name, a in {**GOOD, "\x1b[31m": np.ones(1)}.items()})
    assert "\x1b" not in refused(strange, "unknown-array")


@pytest.mark.parametrize("text", ["(" * 5000, "{" * 5000, "{'descr': [[[", "-" * 9000 + "1", "{'shape': (1", "\0"])
def test_headers_of_arrays_that_are_none(tmp_path: Path, text: str) -> None:
    """They are written as Python is, and may be anything."""
    content = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()
    path = packed(
        tmp_path / "m.npz", {f"{name}.npy": member(array) for name, array in GOOD.items()} | {"a.npy": content}
    )
    refused(path)


@pytest.mark.parametrize("ids", [np.array([1.5, 2.5]), np.array([3, 3]), np.array([[1], [2]])])
def test_saved_ids_that_are_none(tmp_path: Path, ids: npt.NDArray[Any]) -> None:
    """Fractions, an id twice, a matrix."""
    path = tmp_path / "m.npz"
    header = json.dumps({"format": "unskew factors", "version": 1}).encode()
    np.savez(path, header=np.frombuffer(header, dtype=np.uint8), users_numbers=ids, items_numbers=np.array([1]))
    refused(path, "damaged-file")
