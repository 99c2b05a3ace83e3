"""The campaign's own parts: what is wrong must be called wrong, and a seed must always make the same files."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from tests.hostile.cases import Case, log_case
from tests.hostile.classify import Class, classify, files
from tests.hostile.oracle import CLICKS, LISTS, read
from tests.hostile.runner import Run
from tests.hostile.sheets import Refused, of_text, packed

PANEL = "╭─ unskew cannot do this ─╮\n│ log.csv: no │\n╰─╯\n"
NUMBERS = {"a recall@5 naive pooled": 0.25}


def judged(folder: Path, run: Run, **case: object) -> Class:
    """The class of a run of ``unskew evaluate log.csv --json=out.json``."""
    asked = Case("x", ["evaluate", "log.csv", "--json=out.json"], ["log.csv"], ["out.json"])
    for name, value in case.items():
        setattr(asked, name, value)
    before = files(folder) - {"out.json", "left.tmp"}
    return classify(asked, run, before, folder)[0]


def answered(folder: Path, value: float, dropped: int = 0) -> Run:
    """A run that ended well with this number."""
    row = {"model": "a", "metric": "recall@5", "estimator": "naive", "target": "pooled", "value": value}
    inputs = {"test": {"dropped": {"null user": dropped}}}
    (folder / "out.json").write_text(json.dumps({"estimates": [row], "inputs": inputs}))
    return Run(0, "", "", "", 0.1)


def test_an_answer_is_right_only_with_the_oracles_numbers(tmp_path: Path) -> None:
    """Another number, a drop that is not counted, and an answer where none may be are silent."""
    assert judged(tmp_path, answered(tmp_path, 0.25), numbers=NUMBERS) is Class.RIGHT
    assert judged(tmp_path, answered(tmp_path, 0.26), numbers=NUMBERS) is Class.SILENT
    assert judged(tmp_path, answered(tmp_path, 0.25, 1), numbers=NUMBERS, dropped=2) is Class.SILENT
    assert judged(tmp_path, answered(tmp_path, 0.25), answerable=False) is Class.SILENT
    (tmp_path / "left.tmp").touch()
    assert judged(tmp_path, answered(tmp_path, 0.25), numbers=NUMBERS) is Class.LEFT


@pytest.mark.parametrize(
    ("code", "ended", "stderr", "wanted"),
    [
        (2, "", PANEL, Class.CLEAN),
        (2, "", PANEL.replace("log.csv", "\x1b[31mlog.csv"), Class.UNCLEAR),
        (2, "", PANEL + PANEL, Class.UNCLEAR),
        (2, "", PANEL.replace("log.csv", "it"), Class.UNCLEAR),
        (2, "", PANEL.replace("no", "This is a fault of unskew's"), Class.TRACEBACK),
        (1, "", "Traceback (most recent call last):\n", Class.TRACEBACK),
        (None, "died by signal 11", "", Class.TRACEBACK),
        (None, "hang", "", Class.HANG),
        (0, "memory", "", Class.MEMORY),
    ],
)
def test_errors_are_clean_or_they_are_not(
    tmp_path: Path, code: int | None, ended: str, stderr: str, wanted: Class
) -> None:
    """One panel that names the file is clean; everything else has its own name."""
    assert judged(tmp_path, Run(code, ended, "", stderr, 0.1)) is wanted


def test_an_error_leaves_nothing_and_refuses_nothing_honest(tmp_path: Path) -> None:
    """An output beside an error, and an error about an honest file, are faults."""
    assert judged(tmp_path, Run(2, "", "", PANEL, 0.1), refusable=False) is Class.REFUSED
    (tmp_path / "out.json").touch()
    assert judged(tmp_path, Run(2, "", "", PANEL, 0.1)) is Class.LEFT


@pytest.mark.parametrize(
    "data",
    [
        b"user,item,propensity\n1,2,0.5,3\n",
        b"user,item,propensity\n1,2,0\n",
        b"user,item,item,propensity\n1,2,3,0.5\n",
        b"user item propensity\n1 2 0.5\n",
        b"USER,Item,item ,propensity\n1,2,3,0.5\n",
        b"user,item,propensity\n1,2,1e-320\n",
        b"user,item,propensity\n1,2,nan\n",
        b"user,item,propensity\n",
        b"\0\0\0\0",
        packed(packed(b"user,item,propensity\n1,2,0.5\n")),
        packed(b"user,item,propensity\n1,2,0.5\n")[:-3],
    ],
)
def test_the_oracle_refuses(data: bytes) -> None:
    """What no careful person would use."""
    with pytest.raises(Refused):
        read(of_text(data, ",", data.startswith(b"\x1f")), CLICKS, False)


def test_the_oracle_reads_what_is_written_in_another_way() -> None:
    """Other separators and capitals are in doubt, so that the numbers are held to them, and a refusal is as good."""
    sheet = of_text(b"USER;item\xe2\x80\x8b; propensity\n1;2;0.5\n", ",", False)
    reading = read(sheet, CLICKS, False)
    assert reading.rows == [{"user": "1", "item": "2", "propensity": 0.5}] and reading.doubts


def test_the_oracle_drops_and_counts() -> None:
    """Bad rows go with ``--invalid drop``, and are counted; ranks must be whole."""
    sheet = of_text(b"user,item,rank\n1,2,1\n1,3,0\n,4,2\n1,5,1.5\n1,6,2\n", ",", False)
    reading = read(sheet, LISTS, True)
    assert [row["item"] for row in reading.rows] == ["2", "6"] and reading.dropped == 3


def test_a_seed_makes_the_same_files(tmp_path: Path) -> None:
    """What fails can be made again."""
    made = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        case = log_case(Random("7 log 3"), tmp_path / name)
        made.append((case.argv, {p.name: p.read_bytes() for p in (tmp_path / name).iterdir() if p.is_file()}))
    assert made[0] == made[1]
