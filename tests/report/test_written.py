"""What is written for programs: JSON by its schema, flat names, MLflow; and what comes back from JSON."""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import runpy
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import unskew as us
from tests.evaluation.shop import evaluate
from tests.evaluation.shop import many as several
from tests.said import refuses
from unskew.core import provenance
from unskew.core.errors import MissingExtraError
from unskew.result import SCHEMA_VERSION, Result
from unskew_papers.record import read_json

from .made_up import INPUTS, NAN, estimate, grid, verdict, withheld
from .over_scenarios import AHEAD, TURNS, over
from .reading import flat

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = json.loads((DOCS / "result.schema.json").read_text())
NAME = re.compile(r"[\w.\-]+(/[\w.\-]+)*")


def written(result: Result) -> Any:
    return json.loads(json.dumps(result.written(), allow_nan=False))


def results(many: Result) -> list[Result]:
    """One of every shape, and real ones."""
    real = evaluate(by="place", estimators=["naive", "snips", "ips"], refused="skip")
    required = replace(many, requirements=many.require("als better than popular on recall@10").items)
    return [real, required, over(AHEAD), over(TURNS, estimated=0.5), Result((), (), (), {}, ())]


def test_the_schema_is_the_one_of_the_records() -> None:
    """``python docs/json_schema.py`` writes it."""
    assert (DOCS / "result.schema.json").read_text() == runpy.run_path(str(DOCS / "json_schema.py"))["text"]()


def test_results_follow_the_schema(many: Result, nothing_known: Result) -> None:
    for result in [*results(many), nothing_known]:
        jsonschema.validate(written(result), SCHEMA)
    wrong = written(many) | {"schema_version": 3}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, SCHEMA)
    wrong = written(many)
    del wrong["estimates"][0]["low"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, SCHEMA)


def test_a_result_comes_back_from_its_json(
    many: Result, kept_back: Result, nothing_known: Result, tmp_path: Path
) -> None:
    """All that it says of itself is the same again."""
    unbounded = Result((estimate("a", 0.1, high=math.inf), estimate("b", 0.1)), (), (), INPUTS, ())
    wide = replace(unbounded, verdicts_=(verdict("a", "b", 0.01, low=-math.inf, high=math.inf, verdict="undecided"),))
    sure = replace(unbounded, verdicts_=(verdict("a", "b", 0.1, tipping=math.inf, tipping_low=math.inf),))
    for result in [*results(many), kept_back, nothing_known, unbounded, wide, sure]:
        result.to_json(tmp_path / "r.json")
        again = Result.from_json(tmp_path / "r.json")
        assert again.to_dict() == result.to_dict() and str(again) == str(result)
        assert again.table().equals(result.table(), null_equal=True) or any(
            math.isnan(e.value) for e in result.estimates
        )
    assert math.isinf(again.verdicts_[0].tipping or 0.0)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"schema_version": 3, "estimates": []}', "wrong-version"),
        (f'{{"schema_version": {SCHEMA_VERSION + 1}, "estimates": [], "kind": "Result"}}', "wrong-version"),
        ('{"kind": "Audit", "schema_version": 1}', "wrong-type"),
        (f'{{"schema_version": {SCHEMA_VERSION}, "kind": "Result", "estimates": [{{}}]}}', "damaged-file"),
        ("[1]", "wrong-type"),
        ("{", "damaged-file"),
        (None, "missing-file"),
    ],
)
def test_other_files_are_refused_with_a_reason(text: str | None, code: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "r.json").write_text(text)
    with refuses(code):
        Result.from_json(tmp_path / "r.json")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes there")
def test_what_is_no_plain_file_is_not_waited_for(tmp_path: Path) -> None:
    """A pipe, a device without an end, a folder; and numbers that no number can be."""
    os.mkfifo(tmp_path / "pipe.json")
    for place in (tmp_path / "pipe.json", Path("/dev/zero"), tmp_path):
        for read in (Result.from_json, read_json):
            with refuses("not-a-file"):
                read(place)
    Result((estimate("a", 0.125), estimate("b", 0.1)), (), (), INPUTS, ()).to_json(tmp_path / "r.json")
    content = (tmp_path / "r.json").read_text()
    assert '"value": 0.125' in content
    (tmp_path / "r.json").write_text(content.replace('"value": 0.125', f'"value": 1{"0" * 400}'))
    with refuses("damaged-file"):
        Result.from_json(tmp_path / "r.json")


def test_json_says_when_how_and_by_what_it_was_written(two: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    assert two.written()["written"]["command"] is None
    monkeypatch.setattr(provenance, "_command", ["unskew", "evaluate", "my log.csv"])
    found = two.written()["written"]
    assert found["command"] == "unskew evaluate 'my log.csv'"
    assert {"unskew", "python", "numpy", "polars"} <= set(found["versions"]) and found["versions"][
        "unskew"
    ] == us.__version__


@given(st.lists(st.text(min_size=1), min_size=1, max_size=5, unique=True))
def test_flat_names_are_accepted_and_unique_whatever_models_are_called(names: list[str]) -> None:
    """MLflow takes letters, digits, _ - . and /, no path that could be written shorter, 250 letters at most."""
    result = Result(tuple(estimate(name, 0.1) for name in names), (), (), {}, ())
    found = result.metrics()
    assert len(found) == 4 * len(names) == len({name.lower() for name in found})
    for name in found:
        assert NAME.fullmatch(name) and len(name) <= 250
        assert not {"", ".", ".."} & set(name.split("/"))


NAMES = st.one_of(st.text(min_size=1), st.lists(st.sampled_from(["a", "b", "vs", "_", "2"]), min_size=1).map("".join))


@given(st.lists(NAMES, min_size=2, max_size=5, unique=True))
@example(["a", "b", "a_vs_b"])
@example(["a", "a_vs", "b", "vs_b"])
@example(["a", "b", "a_vs_b", "a_vs_b_2"])
def test_flat_names_of_models_and_of_their_pairs_never_clash(names: list[str]) -> None:
    """Every number of every model and pair is there, each under a name of its own."""
    pairs = list(itertools.combinations(names, 2))
    values = [estimate(name, 0.1 + n, low=n, high=n + 0.5) for n, name in enumerate(names)]
    verdicts = [verdict(a, b, 100.0 + n, 0.01) for n, (a, b) in enumerate(pairs)]
    result = Result(tuple(values), tuple(verdicts), (), {}, ())
    found = result.metrics()
    assert len(found) == 4 * len(names) + 6 * len(pairs) == len({name.lower() for name in found})
    by_place = {
        value: name.rsplit("/", 1)[0] for name, value in found.items() if name.endswith(("/value", "/difference"))
    }
    for e in values:
        assert found[f"{by_place[e.value]}/low"] == e.low
    for v in verdicts:
        assert found[f"{by_place[v.difference]}/low"] == v.low
    assert list(found) == list(result.metrics())


def test_flat_numbers_keep_their_marks(two: Result) -> None:
    """Naive stands under not_debiased, doubts are beside the number, what was withheld is not there."""
    found = two.metrics()
    assert found["not_debiased/recall_at_10/naive/pooled/challenger/value"] == 0.181
    pair = "recall_at_10/snips/pooled/challenger_vs_popular"
    assert (found[f"{pair}/difference"], found[f"{pair}/decided"], found[f"{pair}/doubts"]) == (0.031, 1.0, 1.0)
    assert found[f"not_debiased/{pair.replace('snips', 'naive')}/decided"] == -1.0
    gone = Result((estimate("a", NAN), estimate("b", 0.1)), (withheld("a", "b", 0.1),), (), {}, ()).metrics()
    assert set(gone) == {f"recall_at_10/snips/pooled/b/{n}" for n in ("value", "low", "high", "doubts")} | {
        "recall_at_10/snips/pooled/a_vs_b/decided"
    }
    assert "recall_at_10/exposure_path/pooled/als/average" in over(TURNS).metrics()


class FakeRun(ModuleType):
    """What we use of MLflow, with its own checks of names."""

    def __init__(self) -> None:
        super().__init__("mlflow")
        self.metrics: dict[str, float] = {}
        self.params: dict[str, str] = {}
        self.tags: dict[str, str] = {}
        self.files: dict[str, Any] = {}

    def log_metrics(self, metrics: dict[str, float]) -> None:
        assert 0 < len(metrics) <= 1000 and all(NAME.fullmatch(name) for name in metrics)
        self.metrics |= metrics

    def log_params(self, params: dict[str, str]) -> None:
        assert all(NAME.fullmatch(name) and len(text) <= 500 for name, text in params.items())
        self.params |= params

    def set_tags(self, tags: dict[str, str]) -> None:
        self.tags |= tags

    def log_dict(self, content: dict[str, Any], name: str) -> None:
        self.files[name] = json.loads(json.dumps(content, allow_nan=False))

    def log_text(self, content: str, name: str) -> None:
        self.files[name] = content


def test_mlflow_gets_numbers_settings_and_what_marks_them(monkeypatch: pytest.MonkeyPatch, naive_only: Result) -> None:
    run = FakeRun()
    monkeypatch.setitem(sys.modules, "mlflow", run)
    naive_only.log_to_mlflow(prefix="night/")
    assert run.metrics == {f"night/{name}": value for name, value in naive_only.metrics().items()}
    assert run.params["night/unskew.level"] == "0.95" and run.params["night/unskew.version"] == us.__version__
    assert run.tags["night/unskew.headline"] == naive_only.headline()["title"]
    assert flat(naive_only.warnings[0]) in flat(run.tags["night/unskew.summary"])
    assert run.tags["night/unskew.summary"] == run.files["night_unskew.txt"]
    jsonschema.validate(run.files["night_unskew.json"], SCHEMA)
    many_models = grid([f"m{n}" for n in range(12)], ["recall@10", "dcg@10"], ["naive", "snips"])
    many_models.log_to_mlflow()
    assert len(run.metrics) > 1000


def test_without_mlflow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, two: Result) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with refuses("missing-extra", MissingExtraError, extra="mlflow"):
        two.log_to_mlflow()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with refuses("missing-extra", MissingExtraError, extra="pandas"):
        two.to_pandas()


def test_tables_come_back_from_csv_and_parquet(tmp_path: Path) -> None:
    """The table of estimates survives both formats."""
    result = several()
    result.to_csv(tmp_path / "result.csv")
    result.to_parquet(tmp_path / "result.parquet")
    assert_frame_equal(pl.read_parquet(tmp_path / "result.parquet"), result.table())
    again = pl.read_csv(tmp_path / "result.csv", schema=result.table().schema)
    assert_frame_equal(again, result.table())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["result.csv", "result.parquet"]
