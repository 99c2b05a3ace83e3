"""Several propensities on one log: the numbers of separate evaluations, how far they move, and how it looks."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Self

import polars as pl
import pytest

import unskew as us
from tests.said import refuses
from unskew.core.errors import RefusedError
from unskew.core.notice import codes
from unskew.evaluation import PropensityComparison
from unskew.models import MostPopular
from unskew.propensity import NO_INPUTS, FitInputs, Popularity
from unskew.report import document_of, page
from unskew.report.document import Document, Sentences
from unskew.report.words import NOT_DEBIASED
from unskew.result import Result, Verdict
from unskew.simulate import World, write

from .made_up import ASSUMED, estimate, verdict
from .reading import Reader, flat, printed, told

NAMES = ["known", "popularity(gamma=2)", "uniform"]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small simulated shop as files."""
    folder = tmp_path_factory.mktemp("shop")
    write(World(users=400, items=120), folder)
    return folder


@pytest.fixture(scope="module")
def asked(shop: Path) -> dict[str, Any]:
    """Files and options: relative propensities cannot serve ips."""
    return {
        "metrics": ["recall@10", "dcg@10"],
        "estimators": ["naive", "snips", "ips"],
        "target": ["per_user", "pooled"],
        "train": shop / "train.parquet",
        "users": shop / "users.parquet",
    }


@pytest.fixture(scope="module")
def models(shop: Path) -> dict[str, Any]:
    """Lists in files, and a model that makes its own."""
    popular = MostPopular().fit(us.read_log(shop / "train.parquet").positives())
    return {"challenger": shop / "challenger.parquet", "popular": popular, "random": shop / "random.parquet"}


@pytest.fixture(scope="module")
def found(shop: Path, asked: dict[str, Any], models: dict[str, Any]) -> PropensityComparison:
    return us.compare_propensities(shop / "test.parquet", models, propensities=NAMES, **asked)


def test_the_numbers_are_those_of_separate_evaluations(
    found: PropensityComparison, shop: Path, asked: dict[str, Any], models: dict[str, Any]
) -> None:
    """Estimates, verdicts, weights, inputs and warnings are the same to the last bit."""
    for name in NAMES:
        alone = us.evaluate(shop / "test.parquet", models, propensity=name, refused="skip", **asked)
        assert found[name] == alone
    with refuses("unknown-name"):
        found["nobody"]


def test_with_bootstrap_segments_and_refits_too(shop: Path, models: dict[str, Any]) -> None:
    """Every option of ``evaluate`` passes through."""
    options: dict[str, Any] = {
        "estimators": ["snips"], "train": shop / "train.parquet", "interval": "bootstrap", "replicates": 60, "seed": 3,
        "by": "popularity(strata=2)", "refit": True, "per_user": True,
    }  # fmt: skip
    names = ["popularity(gamma=1)", "popularity(gamma=2)", "known"]
    found = us.compare_propensities(shop / "test.parquet", models, propensities=names, **options)
    assert list(found.results) == names[:2]
    assert found.missing[0].propensity == "known" and "refit=True" in found.missing[0].reason
    for name in names[:2]:
        alone = us.evaluate(shop / "test.parquet", models, propensity=name, **options)
        assert found[name].estimates == alone.estimates and found[name].verdicts_ == alone.verdicts_
        assert found[name].per_user().equals(alone.per_user())
    assert found.moves()["segment"].n_unique() == 3


def test_every_file_is_read_once(shop: Path, asked: dict[str, Any], models: dict[str, Any], tmp_path: Path) -> None:
    """Files may be gone as soon as the first propensity is fitted, and a model makes its lists once for all of them."""
    here = Path(shutil.copytree(shop, tmp_path / "here"))
    made: list[int] = []

    class Counted(MostPopular):
        def recommend(self, *given: Any, **more: Any) -> us.Recommendations:
            made.append(1)
            return super().recommend(*given, **more)

    @dataclass(frozen=True)
    class Last(Popularity):
        def fit(self, log: us.Log, *, inputs: FitInputs = NO_INPUTS, weights: Any = None) -> Self:
            shutil.rmtree(here)
            return super().fit(log, inputs=inputs, weights=weights)

    train = us.read_log(here / "train.parquet").positives()
    files = {"challenger": here / "challenger.parquet", "random": here / "random.parquet"}
    found = us.compare_propensities(
        here / "test.parquet",
        files | {"popular": Counted().fit(train)},
        propensities={"first": Last(2.0)} | {name: name for name in NAMES},
        **asked | {"train": here / "train.parquet", "users": here / "users.parquet"},
    )
    assert not here.exists() and len(made) == 1
    assert found["first"].estimates == found["popularity(gamma=2)"].estimates and len(found.results) == 4


def test_moves_are_those_of_a_loop(found: PropensityComparison) -> None:
    """Smallest, largest, spread and spread over the mean half-width, cell by cell from the table."""
    rows = found.table().to_dicts()
    moves = found.moves().to_dicts()
    assert len(moves) == len({(r["model"], r["metric"], r["estimator"], r["target"]) for r in rows})
    for m in moves:
        mine = [r for r in rows if all(r[key] == m[key] for key in ("model", "metric", "estimator", "target"))]
        values = {r["propensity"]: r["value"] for r in mine}
        half = sum((r["high"] - r["low"]) / 2 for r in mine) / len(mine)
        assert m["propensities"] == len(mine)
        assert m["smallest"] == min(values.values()) == values[m["smallest_under"]]
        assert m["largest"] == max(values.values()) == values[m["largest_under"]]
        if len(mine) == 1:
            assert m["spread"] is None and m["ratio"] is None
        else:
            assert m["spread"] == pytest.approx(m["largest"] - m["smallest"])
            assert m["ratio"] == pytest.approx(m["spread"] / half)
        assert m["weighted"] == (m["estimator"] != "naive")
        if m["estimator"] == "naive":
            assert m["spread"] == 0.0


def test_changes_are_every_two_propensities_that_disagree(found: PropensityComparison) -> None:
    """Uniform takes the popular list for the better one, known ones do not: that is told, from what to what."""
    told = {(c.metric, c.estimator, c.target, c.a, c.b, c.propensity, c.other_propensity) for c in found.all_changes()}
    expected = set()
    ahead = {"better": "a", "ahead": "a", "worse": "b", "behind": "b", "undecided": ""}
    for one, other in combinations(NAMES, 2):
        for v in found[one].verdicts_:
            for w in found[other].verdicts_:
                same = (v.metric, v.estimator, v.target, v.a, v.b) == (w.metric, w.estimator, w.target, w.a, w.b)
                if same and ahead[v.verdict] != ahead[w.verdict]:
                    expected.add((v.metric, v.estimator, v.target, v.a, v.b, one, other))
    assert told == expected and expected and found.changed
    first = found.changes().to_dicts()[0]
    assert first["verdict"] != first["other_verdict"] and set(found.changes()["opposite"]) <= {True, False}


def test_better_and_ahead_are_the_same_winner() -> None:
    """Known propensities say better, assumed ones ahead: no change; another winner and no winner are."""

    def compared(*verdicts: Verdict) -> PropensityComparison:
        rows = (estimate("a", 0.13), estimate("b", 0.1))
        return PropensityComparison({f"p{n}": Result(rows, (v,), (), {}, ()) for n, v in enumerate(verdicts)}, ())

    better, ahead = verdict("a", "b", 0.03), verdict("a", "b", 0.03, assumed=ASSUMED)
    assert (better.verdict, ahead.verdict) == ("better", "ahead")
    assert compared(better, ahead).all_changes() == []
    unknown = verdict("a", "b", 0.001)
    for same in ((better, ahead), (better, better, better), (unknown, unknown)):
        document = document_of(compared(*same))
        assert told(document.title) == ("same-title",) and codes(_texts(document)) == ("same-verdicts",)
    (change,) = compared(better, verdict("a", "b", -0.03, assumed=ASSUMED)).all_changes()
    assert change.opposite and (change.verdict, change.other_verdict) == ("better", "behind")
    (change,) = compared(ahead, verdict("a", "b", 0.001, assumed=ASSUMED)).all_changes()
    assert not change.opposite


def _texts(document: Document) -> list[str]:
    """What is said under the title."""
    said = [block for block in document.summary if isinstance(block, Sentences)]
    return [span.text for block in said for sentence in block.items for span in sentence.spans]


def test_naive_alone_is_not_debiased_by_any_propensity(shop: Path, models: dict[str, Any]) -> None:
    """Propensities that no estimator uses change nothing, and that is no sign of agreement."""
    found = us.compare_propensities(
        shop / "test.parquet",
        models,
        propensities=["known", "uniform"],
        estimators=["naive"],
        train=shop / "train.parquet",
    )
    assert told(document_of(found).title) == ("not-debiased",) and NOT_DEBIASED in page(found)


def test_cells_that_only_some_propensities_support_are_told(found: PropensityComparison) -> None:
    """ips is there under known; relative propensities lack it, with the reason, and the table has no such rows."""
    cells = found.table().filter(pl.col("estimator") == "ips")
    assert set(cells["propensity"]) == {"known"}
    lacking = {(m.propensity, m.metric, m.target) for m in found.missing if m.estimator == "ips"}
    assert lacking == {
        (name, metric, target)
        for name in NAMES[1:]
        for metric in ("recall@10", "dcg@10")
        for target in ("per_user", "pooled")
    }
    assert all("relative" in m.reason for m in found.missing)


def test_what_no_propensity_supports_is_refused(shop: Path, models: dict[str, Any]) -> None:
    """As in ``evaluate``: an error, or listed with refused='skip'; where nothing is left, an error in any case."""
    files: dict[str, Any] = {"train": shop / "train.parquet"}
    relative = NAMES[1:]
    more = files | {"estimators": ["snips", "ips"]}
    with pytest.raises(RefusedError):
        us.compare_propensities(shop / "test.parquet", models, propensities=relative, **more)
    kept = us.compare_propensities(shop / "test.parquet", models, propensities=relative, refused="skip", **more)
    assert set(kept.table()["estimator"]) == {"snips"} and {m.estimator for m in kept.missing} == {"ips"}
    with pytest.raises(RefusedError):
        us.compare_propensities(shop / "test.parquet", models, propensities=relative, estimators=["ips"], **files)


def test_a_propensity_that_cannot_be_had_is_told_and_alone_it_is_an_error(shop: Path, models: dict[str, Any]) -> None:
    """naive_bayes lacks its random sample; wrong names, wrong options and no propensity at all are errors."""
    test = shop / "test.parquet"
    files: dict[str, Any] = {"train": shop / "train.parquet"}
    found = us.compare_propensities(test, models, propensities=["known", "naive_bayes"], **files)
    assert [(m.propensity, m.metric) for m in found.missing] == [("naive_bayes(smoothing=1)", None)]
    lost: tuple[dict[str, Any], ...] = (
        {"propensities": ["naive_bayes", "logistic(features=outer)"]},
        {"propensities": ["calibrated(popularity(gamma=1))", "naive_bayes"]},  # whatever kinds of error they are
        {"propensities": []},
        {"propensities": ["known"], "propensity": "known"},
    )
    for wrong in lost:
        with pytest.raises(us.InputError) as caught:
            us.compare_propensities(test, models, **files, **wrong)
        assert all(
            name.partition("(")[0] in str(caught.value) for name in wrong["propensities"][-2:] if len(wrong) == 1
        )
    for wrong, code in (
        ({"propensities": "naive_bayes"}, "missing-column"),
        ({"propensities": ["knwn"]}, "unknown-name"),
        ({"propensities": ["known"], "share": 7.0}, "out-of-range"),
        ({"propensities": ["known"], "refused": "maybe"}, "unknown-name"),
    ):
        with refuses(code):
            us.compare_propensities(test, models, **files, **wrong)
    with pytest.raises(TypeError, match="colour"):
        us.compare_propensities(test, models, propensities=["known"], colour="red")
    with refuses("missing-file"):
        us.compare_propensities("nowhere.parquet", models, propensities=["known"])


def test_names_and_fitted_objects(shop: Path, models: dict[str, Any]) -> None:
    """A mapping names them; fitted objects are used as they are; the table shows both names."""
    train = us.read_log(shop / "train.parquet")
    own = {"mine": Popularity(1.0).fit(train.take(train.user < 100)), "all": "popularity(gamma=1)"}
    found = us.compare_propensities(
        shop / "test.parquet", models, propensities=own, estimators=["snips"], train=shop / "train.parquet"
    )
    assert found.fitted == {"mine": "popularity(gamma=1)", "all": "popularity(gamma=1)"}
    assert found["mine"].estimates != found["all"].estimates
    assert set(found.table()["propensity"]) == {"mine", "all"}


@pytest.mark.parametrize("width", [80, 150])
def test_the_terminal_tells_what_changes(found: PropensityComparison, width: int) -> None:
    """The headline, the pairs that change, the moves and what is missing, inside the width."""
    text = printed(found, width)
    document = document_of(found)
    assert told(document.title) == ("verdicts-depend",) and str(document.title) in flat(text)
    assert all(flat(m.reason) in flat(text) for m in found.missing)
    assert max(map(len, text.splitlines())) <= width


def test_the_page_loads_nothing_and_has_words_for_every_chart(found: PropensityComparison) -> None:
    text = page(found)
    assert not set(re.findall(r"https?://[^\s\"'<>)]*", text)) - {"http://www.w3.org/2000/svg"}
    labels = [a["aria-label"] for tag, a in Reader(text).tags if tag == "svg" and "aria-label" in a]
    assert len(labels) == 8
    for row, v in zip((r for r in Reader(text).rows("sheet") if "pair" in r), found["known"].verdicts_, strict=True):
        assert row["pair"] == f"{v.a} − {v.b}" and row["known"].split()[0] == v.verdict


def test_files_hold_the_object(found: PropensityComparison, tmp_path: Path) -> None:
    """JSON is ``to_dict`` without a NaN, CSV and Parquet are the table; the repr is one line."""
    found.to_json(tmp_path / "c.json")
    found.to_csv(tmp_path / "c.csv")
    found.to_parquet(tmp_path / "c.parquet")
    record = json.loads((tmp_path / "c.json").read_text())
    assert record.pop("kind") == "PropensityComparison" and record.pop("written")["versions"]["unskew"]
    assert record == json.loads(json.dumps(found.to_dict()))
    assert [row["value"] for row in record["estimates"]] == found.table()["value"].to_list()
    assert record["results"]["known"] == json.loads(json.dumps(found["known"].to_dict()))
    assert pl.read_parquet(tmp_path / "c.parquet").equals(found.table())
    assert pl.read_csv(tmp_path / "c.csv")["value"].to_list() == found.table()["value"].to_list()
    assert repr(found).startswith("<PropensityComparison 3 ") and "\n" not in repr(found)
    assert found._repr_html_().count("<table") > 1
