"""Several propensities on one log: the numbers of separate evaluations, and how it looks."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest

import unskew as us
from tests.said import refuses
from unskew.core.errors import RefusedError
from unskew.core.notice import codes
from unskew.evaluation import PropensityComparison
from unskew.models import MostPopular
from unskew.propensity import NO_INPUTS, FitInputs, Popularity
from unskew.report import document_of
from unskew.report.document import Document, Sentences
from unskew.result import Result, Verdict
from unskew.simulate import World, write

from .every_output import shown
from .made_up import ASSUMED, estimate, verdict
from .reading import Reader, check_loads_nothing, flat, printed, told

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
        "metrics": ["recall@10", "dcg@10"], "estimators": ["naive", "snips", "ips"], "target": ["per_user", "pooled"],
        "train": shop / "train.parquet", "users": shop / "users.parquet",
    }  # fmt: skip


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
    with pytest.raises(TypeError, match="colour"):
        us.compare_propensities(test, models, propensities=["known"], colour="red")


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


def test_the_page_loads_nothing_and_has_words_for_every_chart(found: PropensityComparison, tmp_path: Path) -> None:
    """And every other output holds the numbers."""
    text = shown(found, tmp_path)
    check_loads_nothing(text)
    labels = [a["aria-label"] for tag, a in Reader(text).tags if tag == "svg" and "aria-label" in a]
    assert len(labels) == 8
    for row, v in zip((r for r in Reader(text).rows("sheet") if "pair" in r), found["known"].verdicts_, strict=True):
        assert row["pair"] == f"{v.a} − {v.b}" and row["known"].split()[0] == v.verdict
