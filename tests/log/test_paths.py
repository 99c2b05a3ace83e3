"""What is no file that may be read is refused at once, whatever it was given as."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unskew.errors import InputError
from unskew.log import read_features, read_log, read_predictions, read_recommendations
from unskew.log.population import read_catalogue, read_population
from unskew.models import MF, Factors, GivenFactors, load
from unskew.outcome.given import Given
from unskew.propensity.counting import count_items

TABLES: list[Callable[[Path], object]] = [
    read_log,
    read_recommendations,
    read_predictions,
    read_catalogue,
    read_population,
    lambda path: read_features(path, "user"),
    lambda path: Given(str(path)),
    count_items,
]
MODELS: list[Callable[[Path], object]] = [load, MF.load, Factors.load, GivenFactors.load]


def said(path: Path, readers: list[Callable[[Path], object]]) -> str:
    """What all readers say alike."""
    told = set()
    for read in readers:
        with pytest.raises(InputError) as caught:
            read(path)
        told.add(str(caught.value))
    assert len(told) == 1
    return told.pop()


@pytest.mark.parametrize(("ending", "readers"), [("csv", TABLES), ("parquet", TABLES), ("npz", MODELS)])
def test_what_is_no_file(tmp_path: Path, ending: str, readers: list[Callable[[Path], object]]) -> None:
    """Pipes, sockets, devices, loops of links, links into nowhere, names that no file can have."""
    pipe, loop, lost, sock = (tmp_path / f"{name}.{ending}" for name in ("pipe", "loop", "lost", "s"))
    os.mkfifo(pipe)
    assert "this is a pipe, not a file" in said(pipe, readers)
    loop.symlink_to(loop)
    assert "cannot be opened (Too many levels of symbolic links)" in said(loop, readers)
    lost.symlink_to(tmp_path / "nowhere")
    assert "there is no such file" in said(lost, readers)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(sock))
        assert "this is a socket, not a file" in said(sock, readers)
    device = tmp_path / f"zero.{ending}"
    device.symlink_to("/dev/zero")
    assert "this is a device, not a file" in said(device, readers)
    assert "cannot be opened (File name too long)" in said(tmp_path / ("x" * 300 + f".{ending}"), readers)
    assert "there is no such file" in said(tmp_path / f"a.{ending}" / f"b.{ending}", readers)
    nul = said(Path(f"a\0b.{ending}"), readers)
    assert "cannot be opened" in nul and "\0" not in nul
    escape = said(tmp_path / f"\x1b7red.{ending}", readers)
    assert "no such file" in escape and "\x1b" not in escape


def test_a_name_that_is_no_utf_8(tmp_path: Path) -> None:
    """As old file systems have them; polars cannot open such a file, while links to it work."""
    for ending in ("csv", "parquet"):
        path = tmp_path / f"log\udcff.{ending}"
        try:
            path.write_text("user,item\n1,2\n")
        except OSError:
            pytest.skip("all names are UTF-8 here")
        assert f"log\\udcff.{ending}: the name of the file is not in UTF-8" in said(path, TABLES)
    (tmp_path / "link.csv").symlink_to(tmp_path / "log\udcff.csv")
    assert len(read_log(tmp_path / "link.csv")) == 1


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a closed folder; the tests may run as somebody who may read everything."""
    path = tmp_path / "log.csv"
    path.write_text("user,item\n1,2\n")

    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "stat", denied)
    assert "log.csv: the file cannot be opened (Permission denied)" in said(path, TABLES)


@pytest.mark.parametrize("given", [None, 5, {}, b"log.csv"])
def test_what_is_no_path(given: Any) -> None:
    """Python callers may mistake anything for a path."""
    for read in (read_log, read_recommendations, read_predictions, count_items):
        with pytest.raises(InputError, match="a path is a text or a Path"):
            read(given)


def test_columns_that_are_no_names(tmp_path: Path) -> None:
    """The names in the input are texts."""
    path = tmp_path / "log.csv"
    path.write_text("user,item\n1,2\n")
    for columns in (5, {"user": 0.5}, ["user"]):
        wrong: Any = columns
        with pytest.raises(InputError, match="'columns' must map our names"):
            read_log(path, columns=wrong)
