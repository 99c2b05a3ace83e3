"""The guide's numbers are what its commands say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.commands import flat, unskew

GUIDE = Path(__file__).parents[2] / "docs" / "conversions.md"
README = Path(__file__).parents[2] / "README.md"
LAST_DIGIT = 0.0006  # half of it, and a little for other machines


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the guide's first command has been run."""
    made = tmp_path_factory.mktemp("guide")
    done = unskew("simulate", "-o", "shop", "--feedback", "conversions", cwd=made)
    assert done.returncode == 0, done.stderr
    return made


def words(command: str) -> list[str]:
    """A command of the guide as arguments."""
    return [word.strip('"') for word in re.findall(r'"[^"]*"|[^\s\\]+', command)]


def test_the_table_is_what_the_command_says(folder: Path) -> None:
    """Each estimate of the table, the tipping point beside dr, and the truth."""
    text = GUIDE.read_text()
    command = re.search(r"unskew (evaluate shop.*?)```", text, re.DOTALL)
    assert command is not None
    done = unskew(*words(command[1]), "--json", "r.json", "--quiet", cwd=folder)
    assert done.returncode == 0, flat(done.stderr)
    record = json.loads((folder / "r.json").read_text())
    truth = json.loads((folder / "shop" / "truth.json").read_text())
    found = {(row["estimator"], row["model"]): row["value"] for row in record["estimates"]}
    found |= {("truth", row["model"]): row["value"] for row in truth
              if (row["metric"], row["target"]) == ("dcg@10", "per_user_sum")}  # fmt: skip
    rows = re.findall(r"^\| `?([a-z(=)]+)`? \| ([\d.]+) \| ([\d.]+)", text, re.MULTILINE)
    assert [row[0] for row in rows] == ["naive", "direct", "ips", "snips(over=list)", "dr", "truth"]
    for name, popular, challenger in rows:
        assert found[name, "popular"] == pytest.approx(float(popular), abs=LAST_DIGIT)
        assert found[name, "challenger"] == pytest.approx(float(challenger), abs=LAST_DIGIT)
    (gamma,) = (row["tipping"] for row in record["verdicts"] if row["estimator"] == "dr")
    said = re.search(r"Γ = ([\d.]+)", text)
    assert said is not None and gamma == pytest.approx(float(said[1]), abs=10 * LAST_DIGIT)


def test_the_readmes_usual_call_works_on_a_simulated_shop(folder: Path) -> None:
    """As it is written, on the files that ``unskew simulate --feedback conversions`` made; near the truth."""
    call = re.search(r"`(--train train.parquet --share [^`]*--feedback conversions[^`]*)`", README.read_text())
    assert call is not None
    asked = ["evaluate", "test.parquet", "--recs", "challenger.parquet", "--metric", "dcg@10", *words(call[1])]
    done = unskew(*asked, "--json", "r.json", "--quiet", cwd=folder / "shop")
    assert done.returncode == 0, flat(done.stderr)
    rows = json.loads((folder / "shop" / "r.json").read_text())["estimates"]
    assert [row["estimator"] for row in rows] == ["naive", "ips", "dr"]
    row = rows[-1]
    truth = {
        (t["model"], t["metric"], t["target"]): t["value"]
        for t in json.loads((folder / "shop" / "truth.json").read_text())
    }
    assert row["value"] == pytest.approx(truth["challenger", "dcg@10", "per_user_sum"], rel=0.1)
