"""What is no file that may be read is refused at once, whatever it was given as."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.said import refusal
from unskew.log import read_features, read_log, read_predictions, read_recommendations
from unskew.log.population import read_catalogue, read_population
from unskew.models import MF, GivenFactors, load
from unskew.outcome.given import Given
from unskew.propensity.counting import count_items
from unskew_papers.models import Factors

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


def code(path: Path, readers: list[Callable[[Path], object]]) -> str:
    """What all readers say alike, without a control character."""
    (said,) = {str(refusal(read, path)) for read in readers}
    assert path.suffix in said and not {"\0", "\x1b"} & set(said)
    return refusal(readers[0], path).code


@pytest.mark.parametrize(("ending", "readers"), [("csv", TABLES), ("parquet", TABLES), ("npz", MODELS)])
def test_what_is_no_file(tmp_path: Path, ending: str, readers: list[Callable[[Path], object]]) -> None:
    """Pipes, sockets, devices, loops of links, links into nowhere, names that no file can have."""
    pipe, loop, lost, sock = (tmp_path / f"{name}.{ending}" for name in ("pipe", "loop", "lost", "s"))
    os.mkfifo(pipe)
    loop.symlink_to(loop)
    lost.symlink_to(tmp_path / "nowhere")
    (device := tmp_path / f"zero.{ending}").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(sock))
        assert code(sock, readers) == code(pipe, readers) == code(device, readers) == "not-a-file"
    for unreadable in (loop, tmp_path / ("x" * 300 + f".{ending}"), Path(f"a\0b.{ending}")):
        assert code(unreadable, readers) == "unreadable-file"
    for missing in (lost, tmp_path / f"a.{ending}" / f"b.{ending}", tmp_path / f"\x1b7red.{ending}"):
        assert code(missing, readers) == "missing-file"


def test_a_name_that_is_no_utf_8(tmp_path: Path) -> None:
    """As old file systems have them; polars cannot open such a file, while links to it work."""
    for ending in ("csv", "parquet"):
        path = tmp_path / f"log\udcff.{ending}"
        try:
            path.write_text("user,item\n1,2\n")
        except OSError:
            pytest.skip("all names are UTF-8 here")
        assert code(path, TABLES) == "bad-file-name"
    (tmp_path / "link.csv").symlink_to(tmp_path / "log\udcff.csv")
    assert len(read_log(tmp_path / "link.csv")) == 1
