"""Model files: what comes back, and those that are damaged, lie about their size, or exhaust whoever reads them."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from tests.models.mf_worlds import some
from tests.said import refuses

from unskew.core import memory
from unskew.log import Log
from unskew.models import MF, GivenFactors, files, load
from unskew_papers.models import Factors

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


@pytest.mark.parametrize("texts", [False, True])
@pytest.mark.parametrize("kind", [GivenFactors, MF, Factors])
def test_a_saved_model_comes_back(tmp_path: Path, kind: Any, texts: bool) -> None:
    """Same string, lists and scores; ids of numbers and of any text; nothing else is left in the folder."""
    frame = some()[1].to_frame()
    if texts:
        names = {1: "ä", 2: "日本", 3: "a, b;c"}
        frame = frame.with_columns(user=pl.col("user").map_elements(lambda u: names.get(u, f"u{u}"), pl.String))
    log, rng = Log.from_frame(frame, feedback="ratings"), np.random.default_rng(0)
    shapes = len(log.users), len(log.items)
    models: dict[type, Callable[[], Any]] = {
        GivenFactors: lambda: GivenFactors(log.users, log.items, *(rng.normal(size=(n, 3)) for n in shapes)),
        MF: lambda: MF(2, 0.3, "free", "absolute", "known", rounds=7, seed=3).fit(log),
        Factors: lambda: Factors(dim=3, loss="warp-kos", l2=1e-3, item_l2=0.01, epochs=2).fit(log.positives(">3")),
    }
    model = models[kind]()
    model.save(tmp_path / "model.npz")
    again: Any = load(tmp_path / "model.npz")
    assert type(again) is kind and str(again) == str(model)
    assert again.recommend(log.users, 4).to_frame().equals(model.recommend(log.users, 4).to_frame())
    if kind is MF:
        assert again.training_ == model.training_ and np.array_equal(again.of(log).rows, model.of(log).rows)
    assert [path.name for path in tmp_path.iterdir()] == ["model.npz"]


def test_plain_arrays_are_factors(tmp_path: Path) -> None:
    """With offsets or without, as anybody writes them; no part needs pickle."""
    rng = np.random.default_rng(0)
    arrays: dict[str, Any] = {"users": np.arange(9), "items": np.array([f"ä{n}" for n in range(6)])}
    arrays |= {"user_factors": rng.normal(size=(9, 3)), "item_factors": rng.normal(size=(6, 3))}
    offsets: dict[str, Any] = {"user_offsets": rng.normal(size=9), "item_offsets": rng.normal(size=6)}
    for more in ({}, offsets):
        np.savez(tmp_path / "plain.npz", **arrays, **more)
        model, again = GivenFactors(**arrays, **more), load(tmp_path / "plain.npz")
        assert again.recommend(model.users, 4).to_frame().equals(model.recommend(model.users, 4).to_frame())
        model.save(tmp_path / "saved.npz")
        assert set(np.load(tmp_path / "saved.npz", allow_pickle=False).files) >= set(arrays)


Arrays = dict[str, npt.NDArray[Any]]


def headed(arrays: Arrays, **changes: Any) -> Arrays:
    """A saved model whose header says something else."""
    header = json.loads(arrays["header"].tobytes()) | changes
    return arrays | {"header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)}


DAMAGED: dict[str, tuple[Callable[[Arrays], Arrays], str]] = {  # of a saved model of MF
    "newer": (lambda good: headed(good, version=2), "unknown-version"),
    "foreign": (lambda good: headed(good, format="other"), "unknown-name"),
    "options": (lambda good: headed(good, options={"dims": 3}), "damaged-file"),
    "short": (lambda good: good | {"user": good["user"][1:]}, "damaged-file"),
    "narrow": (lambda good: good | {"item": good["item"][:, 1:]}, "damaged-file"),
    "no ids": (lambda good: {name: array for name, array in good.items() if name != "users_numbers"}, "damaged-file"),
    "no header": (lambda good: {"user": good["user"]}, "missing-array"),
    "pickle": (lambda good: {"header": np.array([{}], dtype=object)}, "unknown-format"),
    "empty": (lambda good: {}, "missing-array"),
    "other arrays": (lambda good: {"a": np.ones(2)}, "missing-array"),
    "a typo": (lambda good: GOOD | {"item_offset": np.ones(2)}, "unknown-array"),
    "nan": (lambda good: GOOD | {"item_factors": np.full((2, 3), np.nan)}, "not-finite"),
    "broken header": (lambda good: GOOD | {"header": np.frombuffer(b"{", dtype=np.uint8)}, "unknown-format"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_and_foreign_files_are_refused(tmp_path: Path, name: str) -> None:
    """By whoever reads any model; each error names the file."""
    path = tmp_path / "model.npz"
    MF(2).fit(some()[1]).save(path)
    spoil, code = DAMAGED[name]
    np.savez(path, **spoil(dict(np.load(path))))  # type: ignore[arg-type]
    refused(path, code)


def test_files_that_are_no_archives(tmp_path: Path) -> None:
    """Absent, empty, a text, one array, cut off."""
    path = tmp_path / "model.npz"
    refused(path, "missing-file")
    MF(2).fit(some()[1]).save(path)
    for content in (path.read_bytes()[:200], b"", b"hello", b"\x93NUMPY" + bytes(100)):
        path.write_bytes(content)
        refused(path)


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
