"""Graded outcomes: what pairs are worth, the truth by loops, and the commands that simulate proposes."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.cli.commands import unskew

from unskew.log import Feedback
from unskew.simulate import World

PLAIN = World(users=300, items=120, relevant=25, impressions=100, feedback=Feedback.CONVERSIONS)
WORLD = World(users=300, items=120, relevant=25, impressions=100, feedback=Feedback.CONVERSIONS, graded=True)


def test_only_what_pairs_are_worth_differs() -> None:
    """The same pairs are seen; what brought 1 brings 1 to 5, evenly, whether it is seen or not."""
    for one, two in ((PLAIN.test, WORLD.test), (PLAIN.train, WORLD.train)):
        assert one.value is not None and two.value is not None
        np.testing.assert_array_equal(one.item, two.item)
        np.testing.assert_array_equal(one.value > 0.0, two.value > 0.0)
    full = WORLD.full_log()
    assert full.value is not None
    counts = Counter(full.value.tolist())
    assert set(counts) == {1.0, 2.0, 3.0, 4.0, 5.0}
    assert all(abs(n - len(full) / 5) < 4.0 * math.sqrt(len(full) * 0.16) for n in counts.values())
    worth = dict(zip(zip(full.user.tolist(), full.item.tolist(), strict=True), full.value.tolist(), strict=True))
    test = WORLD.test
    assert test.value is not None
    rows = zip(test.user.tolist(), test.item.tolist(), test.value.tolist(), strict=True)
    assert all(worth.get((u, i), 0.0) == y for u, i, y in rows)


@pytest.mark.parametrize("graded", [False, True])
def test_the_proposed_commands_find_the_better_model(graded: bool, tmp_path: Path) -> None:
    """Both name dr's outcome model, one of them --share; each runs as it is printed and is near the truth."""
    told = ["--graded"] if graded else []
    done = unskew("simulate", "-o", "shop", "--users", "800", "--feedback", "conversions", *told, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "docs/conversions.md" in done.stdout
    commands = re.findall(r"unskew (evaluate (?:.*\\\n)+.*)", done.stdout)
    assert len(commands) == 2 and "--propensity known" in commands[0] and "--share 0.5" in commands[1]
    truth = {(t["model"], t["metric"], t["target"]): t["value"]
             for t in json.loads((tmp_path / "shop" / "truth.json").read_text())}  # fmt: skip
    for command, word in zip(commands, ("worse", "behind"), strict=True):  # known, and fitted
        ran = unskew(*shlex.split(command.replace("\\\n", " ")), "--json", "r.json", cwd=tmp_path)
        assert ran.returncode == 0, ran.stderr
        result = json.loads((tmp_path / "r.json").read_text())
        rows = result["estimates"]
        assert {v["verdict"] for v in result["verdicts"] if (v["a"], v["b"]) == ("popular", "challenger")} >= {word}
        found = {row["model"]: row["value"] for row in rows if row["estimator"] == "dr"}
        assert set(found) == {"popular", "challenger"}
        for model, value in found.items():
            assert value == pytest.approx(truth[model, "dcg@10", "per_user_sum"], rel=0.15)
