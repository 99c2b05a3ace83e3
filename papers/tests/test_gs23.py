"""gs23 in small: the 81 recommenders, tables, Figure 1, variants, verdicts, theorems and worlds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import unskew as us
from papers.tests.recovery.small import ratings
from unskew.core import Store
from unskew.log import Log
from unskew_papers.gs23 import figure1, in_worlds, tables, theorem, variants
from unskew_papers.gs23.families import FAMILIES, SIZES, models
from unskew_papers.gs23.figure1 import ByCatalogue
from unskew_papers.gs23.printed import CALLED, COAT, CUTS, GS, IPS, NAIVE, YAHOO
from unskew_papers.gs23.setting import COAT as COAT_SET
from unskew_papers.gs23.setting import Setting, likes_of
from unskew_papers.gs23.study import STUDY
from unskew_papers.page import save
from unskew_papers.record import Record
from unskew_papers.recovery import Paired


def small() -> Paired:
    log, random = (Log.from_frame(frame, feedback="ratings") for frame in ratings())
    return likes_of(log, random, COAT_SET)


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Setting:
    return Setting(Store(tmp_path_factory.mktemp("gs23"), "1"), small, small, sizes=(2,), few=(2,))


def values(records: list[Record], part: str) -> dict[tuple[str, str], float]:
    return {(r.row, r.column): r.ours for r in records if r.experiment == part}


def test_there_are_81_recommenders() -> None:
    """All can be made; what fits values is given them, and Cornac's epochs change nothing else."""
    found = models()
    assert len(found) == 81 == 1 + len(FAMILIES) * len(SIZES)
    made = {name: us.models.make(text) for name, text in found.items()}
    assert len({str(model) for model in made.values()}) == 81
    assert sum("values=true" in text for text in found.values()) == 50
    assert not any("values" in text for text in models(values=False).values())
    for name, text in models(cornac=False).items():
        ours = us.models.make(text)
        assert type(ours) is type(made[name])


def test_likes_keep_their_ratings() -> None:
    source = small()
    assert source.log.value is not None
    assert set(source.log.value) == {4.0, 5.0}
    assert source.relevant == ">=4"


def test_the_tables_show_the_papers_numbers_beside_ours(setting: Setting) -> None:
    records = tables.table_2(setting, 2, False)
    printed = {(r.row, r.column): r.paper for r in records if r.experiment.startswith("table2/τ")}
    expected = {
        (CALLED[estimator], f"Recall@{cut}"): COAT[estimator][place]
        for estimator in CALLED
        for place, cut in enumerate(CUTS)
    }
    assert printed == expected
    ours = values(records, f"table2/τ, {COAT_SET}")
    result = setting.study(small(), setting.models(False), [tables.ASKED], 2, metrics=tables.METRICS)
    rows = [r.tau for r in result.draw_scores if (r.metric, r.estimator) == ("recall@10", GS)]
    assert ours["GS", "Recall@10"] == pytest.approx(np.mean(rows))
    judged = [r for r in records if r.experiment.startswith("table2/p by")]
    assert [r.row for r in judged] == ["Recall@5", "Recall@10", "Recall@20"]  # lists of 30 hold all that there is


def test_on_other_data_nothing_is_to_be_met(setting: Setting) -> None:
    records = tables.table_1(setting, 2, False)
    shown = [r for r in records if r.experiment.startswith("table1/τ")]
    assert [r.paper for r in shown] == [number for estimator in CALLED for number in YAHOO[estimator]]
    assert {r.rule for r in shown} == {""}


def test_one_stratum_is_naive_and_many_are_ips(
    setting: Setting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Proposition 4.1; however strata are made, the ends are the same. The picture is drawn."""
    monkeypatch.setattr(figure1, "METRIC", "recall@20")  # lists of 100 hold all that there is
    records = figure1.on_coat(setting, 2, True)
    found = values(records, "figure1b/τ at Recall@100")
    for kind in ("gs, pairs", "gs, equal width", "gs, catalogue"):
        assert found["1", kind] == pytest.approx(found["1", "naive"])
    assert all(r.verdict.good for r in records if r.experiment == "figure1b/ends")
    written = save(STUDY, STUDY.find("figure1b"), records, tmp_path, quick=True)
    assert "<svg" in written[-1].read_text()


def test_strata_of_the_catalogue_hold_as_many_items_each() -> None:
    source = small()
    draw = source.draw(source.places([0])[0])
    strata = ByCatalogue("q", count=3)._strata(draw.train, draw.test)
    of_item = dict(zip(draw.test.item.tolist(), strata.to_list(), strict=True))
    assert set(of_item.values()) <= {"0", "1", "2"}
    seen = np.bincount(draw.train.item, minlength=len(draw.train.items))
    for a in of_item:
        for b in of_item:
            assert not (seen[a] > seen[b] and of_item[a] < of_item[b])


def test_variants_and_verdicts(setting: Setting) -> None:
    records = variants.variants(setting, 2, True)
    assert {r.row for r in records} == set(variants.VARIANTS)
    said = variants.verdicts(setting, 1, True)
    shares = values(said, "verdicts/recall@10")
    rows = {row for row, _ in shares}
    assert any("exposure_path, pooled" in row for row in rows)
    for row in rows:
        parts = [shares.get((row, what)) for what in ("right", "wrong", "depends", "undecided")]
        if None not in parts:
            assert sum(part for part in parts if part is not None) == pytest.approx(100.0)


def test_both_theorems_user_by_user(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    """The inequalities hold everywhere; with weights that break them, the claim fails."""
    monkeypatch.setattr(theorem, "QUICK_DRAWS", 8)
    assert all(r.verdict.good for r in theorem.theorem(setting, 1, True))
    monkeypatch.setattr(theorem, "_gs", lambda user, stratum, count, p, seen: 2.0 / p)
    assert not all(r.verdict.good for r in theorem.theorem(setting, 1, True))


def test_worlds_have_all_estimators(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_worlds, "USERS", 400)
    monkeypatch.setattr(in_worlds, "MODELS", in_worlds.MODELS[:4])
    records = in_worlds.worlds(setting, 1, True)
    assert {r.column for r in records} == {NAIVE, IPS, GS, "gs(strata=2)", "gs(strata=20)"}
    assert len({r.experiment for r in records}) == 3 * len(in_worlds.MEASURES)
