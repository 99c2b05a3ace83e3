"""gs23 in small: the 81 recommenders, tables, Figure 1, variants, verdicts, theorems and worlds."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import ttest_ind
from tests.log.copies import write_yahoo_r3

import unskew as us
from papers.tests.recovery.small import ratings
from unskew.core import Store
from unskew.log import Ids, Log
from unskew.propensity import Popularity
from unskew_papers import bounds
from unskew_papers.gs23 import families, figure1, in_worlds, tables, theorem, variants
from unskew_papers.gs23.families import FAMILIES, SIZES, models
from unskew_papers.gs23.printed import COAT, CUTS, YAHOO
from unskew_papers.gs23.setting import ANCESTOR, IPS, NAIVE, OURS, Setting, likes_of
from unskew_papers.gs23.setting import COAT as COAT_SET
from unskew_papers.gs23.study import STUDY
from unskew_papers.page import save, write_page
from unskew_papers.record import Record, Verdict
from unskew_papers.recovery import Paired


def small() -> Paired:
    log, random = (Log.from_frame(frame, feedback="ratings") for frame in ratings())
    return likes_of(log, random, COAT_SET)


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Setting:
    store = Store(tmp_path_factory.mktemp("gs23"), "1")
    return Setting(store, small, lambda: None, lambda quick: small(), sizes=(2,), few=(2,))


def values(records: list[Record], part: str) -> dict[tuple[str, str], float]:
    return {(r.row, r.column): r.ours for r in records if r.experiment == part}


def test_there_are_81_recommenders() -> None:
    """All can be made; each way to train changes what it says it changes, and nothing else."""
    found = models()
    assert len(found) == 81 == 1 + len(FAMILIES) * len(SIZES)
    made = {name: us.models.make(text) for name, text in found.items()}
    assert len({str(model) for model in made.values()}) == 81
    assert sum("values=true" in text for text in found.values()) == 50
    assert not any("values" in text for text in models(values=False).values())
    cornac = models(training="cornac")
    assert {name.split()[0] for name in found if found[name] != cornac[name]} == {"MF", "SVD"}
    assert all("rate=0.001" in found[f"{name} 10"] for name in ("MF", "SVD"))
    for name, text in models(training="curves").items():
        assert type(us.models.make(text)) is type(made[name])


def test_likes_keep_their_ratings() -> None:
    source = small()
    assert source.log.value is not None
    assert set(source.log.value) == {4.0, 5.0}
    assert source.relevant == ">=4"


def test_popularity_is_counted_where_it_is_said(setting: Setting) -> None:
    """The ancestor counts held-out likes, too, and weighs by them."""
    source = small()
    draw = source.draw(source.places([0])[0])
    question = ANCESTOR.question("q", [IPS])
    whole = question.weighed(draw)
    both = np.concatenate([log.to_frame()["item"] for log in (draw.train, draw.test)])
    seen, counts = np.unique(both, return_counts=True)
    expected = (counts / counts.max()) ** 1.5
    assert isinstance(whole, Popularity)
    assert whole.of_items(Ids(pl.Series(seen))) == pytest.approx(expected)
    assert OURS.question("q", [IPS]).weighed(draw) == "popularity(gamma=2)"
    assert question.key() != OURS.question("q", [IPS]).key()
    texts = setting.models(True)
    counted, fitted = (
        setting.study(source, texts, [way.question("q", [IPS])], 1, metrics=["recall@5"]).draw_scores[0].rmse
        for way in (ANCESTOR, OURS)
    )
    assert counted != fitted


SHORT = tuple(f"recall@{cut}" for cut in (2, 3, 5, 7, 9))  # longer lists hold all that there is


def test_the_tables_show_the_papers_numbers_beside_ours(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "METRICS", SHORT)
    records = tables.table_2(setting, 2, False)
    shown = {(r.row, r.column): r for r in records if r.experiment.startswith("table2/τ")}
    assert {place: r.paper for place, r in shown.items()} == {
        (called, f"Recall@{cut}"): COAT[called][place] for called in COAT for place, cut in enumerate(CUTS)
    }
    result = tables.asked(setting, small(), ANCESTOR, 2, False, None)
    each = tables.taus(result, "recall@3", "gs(strata=equal_width(5))")
    ours = shown["GS", "Recall@10"]
    assert ours.ours == pytest.approx(each.mean()) and ours.their_se == pytest.approx(each.std(ddof=1) / np.sqrt(20))
    assert ours.verdict.good == (abs(each.mean() - 0.5403) <= 2.0 * each.std(ddof=1) * np.sqrt(1 / 2 + 1 / 20))
    judged = [r for r in records if r.experiment.startswith("table2/p by")]
    assert [r.row for r in judged] == [f"Recall@{cut}" for cut in CUTS]
    (combines,) = (r for r in records if r.experiment == "table2/combines the strengths")
    means = {c: np.mean([tables.taus(result, m, e) for m in SHORT]) for c, e in ANCESTOR.estimators.items()}
    assert combines.ours == pytest.approx(means["GS"])
    assert combines.verdict.good == (means["GS"] >= max(means["IPS"], means["Naive"]) or combines.verdict.undecided)


def test_what_is_simulated_is_none_of_the_papers(setting: Setting, tmp_path: Path) -> None:
    """Without a copy Table 1 and Figure 1a are empty, and say so; the world has a heading and no number to meet."""
    assert tables.table_1(setting, 2, False) == figure1.on_yahoo(setting, 2, False) == []
    written = save(STUDY, STUDY.find("figure1a"), [], tmp_path, quick=False)
    assert [path.suffix for path in written] == [".json", ".csv"]
    assert "20 run" not in write_page(STUDY, tmp_path).read_text().split("## Figure 1a")[1]
    records = [*tables.simulated(setting, 2, False), *figure1.on_world(setting, 2, True)]
    assert all(r.paper is None and r.experiment.startswith("simulated") for r in records)


def test_a_copy_of_yahoo_r3_is_read_and_judged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A made-up copy of the same form: tabs, ids from 1, the publisher's counts; likes only, by the ancestor's way."""
    folder = tmp_path / "data" / "yahoo-r3"
    folder.mkdir(parents=True)
    write_yahoo_r3(folder)
    monkeypatch.setenv("UNSKEW_DATA", str(folder.parent))
    setting = Setting(Store(tmp_path, "1"), small)
    source = setting.yahoo()
    assert source is not None and source.called == "Yahoo! R3"
    for log, part in ((source.log, "train"), (source.random, "test")):
        path = folder / f"ydata-ymusic-rating-study-v1_0-{part}.txt"
        rows = [line.split("\t") for line in path.read_text().splitlines()]
        likes = sorted((int(user), int(song)) for user, song, rating in rows if int(rating) >= 4)
        assert likes[0][0] >= 1
        assert sorted(log.to_frame()["user", "item"].iter_rows()) == likes
    monkeypatch.setattr(families, "FAMILIES", families.FAMILIES[:1])
    monkeypatch.setattr(setting, "sizes", (2,))
    records = tables.table_1(setting, 1, False)
    shown = [r for r in records if r.experiment == "table1/τ, Yahoo! R3"]
    assert [r.paper for r in shown] == [number for called in ("GS", "IPS", "Naive") for number in YAHOO[called]]
    assert {r.verdict for r in shown} == {Verdict.OPEN}  # one seed has no spread
    assert {r.experiment for r in records} >= {"table1/p by Welch's t, Bonferroni", "table1/combines the strengths"}


def test_one_stratum_is_naive_and_many_are_ips(
    setting: Setting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Proposition 4.1; however strata are made, the ends are the same. The picture is drawn."""
    monkeypatch.setattr(figure1, "METRIC", "recall@20")  # lists of 100 hold all that there is
    records = figure1.on_coat(setting, 2, True)
    found = values(records, "figure1b/τ at Recall@100")
    for kind in ("gs, pairs", "gs, equal width"):
        assert found["1", kind] == pytest.approx(found["1", "naive"])
    assert all(r.verdict.good for r in records if r.experiment == "figure1b/ends")
    written = save(STUDY, STUDY.find("figure1b"), records, tmp_path, quick=True)
    assert "<svg" in written[-1].read_text()


def test_numbers_of_strata_are_compared_as_the_paper_tests_and_over_the_same_seeds() -> None:
    """A small difference that every seed shows is nothing to Welch's t, and plain to the paired one."""
    noise = np.random.default_rng(0).normal(0.5, 0.1, 20)
    jitter = np.random.default_rng(1).normal(0.0, 0.001, 20)
    boxes = {"naive": noise, "1": noise, "5": noise + 0.01 + jitter, "IPS": noise + 0.01}
    said = {r.row: r for r in figure1.claims("f", boxes) if "robust" in r.experiment}
    assert said["Welch's t"].verdict is Verdict.HOLDS and said["paired t"].verdict is Verdict.FAILS
    assert said["Welch's t"].ours == pytest.approx(ttest_ind(boxes["1"], boxes["5"], equal_var=False).pvalue)


def test_variants_and_verdicts(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variants, "METRICS", SHORT)
    records = variants.variants(setting, 2, True)
    assert {r.row for r in records} == set(variants.VARIANTS)
    (far,) = (r.ours for r in records if (r.experiment, r.row) == ("variants/all 15", "as in Table 2"))
    own = {(r.experiment.partition("/")[2], r.column): r.ours for r in records if r.row == "as in Table 2"}
    off = [own[called, f"Recall@{cut}"] - COAT[called][n] for called in COAT for n, cut in enumerate(CUTS)]
    assert far == pytest.approx(np.sqrt(np.mean(np.square(off))))
    said = variants.verdicts(setting, 1, True)
    shares = values(said, "verdicts/recall@9")
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


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_the_bounds_of_a_user_hold_over_every_mask(level: float) -> None:
    """Prop. 4.2 and Thm. 4.1 by trying all that may be seen of two users, with weights that were fixed before."""
    p, user = np.array([0.9, 0.4, 0.2, 0.7, 0.5, 0.3, 0.8]), np.array([0, 0, 0, 0, 1, 1, 1])
    weight, worth = np.array([1.0, 3.0, 4.0, 1.5, 2.0, 3.0, 1.0]), np.array([1.0, 0.0, 1.0, 0.5, 1.0, 1.0, 0.0])
    n = np.bincount(user)
    truth, mean = (np.bincount(user, each) / n for each in (worth, worth * weight * p))
    assert (np.abs(mean - truth) <= bounds.weights_bias(weight, p, user)).all()
    assert bounds.weights_bias(1.0 / p, p, user) == pytest.approx([0.0, 0.0])
    within = np.zeros(2)
    for mask in product((False, True), repeat=len(p)):
        seen = np.array(mask)
        chance = np.where(seen, p, 1.0 - p).prod()
        value = np.bincount(user, worth * weight * seen) / n
        reach = bounds.weights_concentration(weight, seen, user, level=level)
        within += chance * (np.abs(value - mean) <= reach)
        delta, squares = (1.0 - level) / 2.0, (weight[:4][seen[:4]] ** 2).sum()
        expected = np.sqrt(2 * np.log(2 / delta) * squares / 12) + 4.0 * 7 * np.log(2 / delta) / 9
        assert reach[0] == pytest.approx(expected)
    assert (within >= level).all()


@pytest.mark.parametrize(("user", "weight", "level", "code"), [
    ([0, 0, 1], [1.0, 1.0, 1.0], 0.9, "out-of-range"),  # one relevant item
    ([0, 0, 0], [1.0, 1.0, 1.0], 1.0, "out-of-range"),
    ([0, 0, 0], [1.0, np.nan, 1.0], 0.9, "not-a-number"),
    ([0, 0, 0], [1.0, 1.0], 0.9, "wrong-shape"),
])  # fmt: skip
def test_bounds_refuse_what_they_cannot_bound(user: list[int], weight: list[float], level: float, code: str) -> None:
    with pytest.raises(us.InputError) as refused:
        bounds.weights_concentration(weight, [True, False, True], user, level=level)
    assert refused.value.code == code


def test_worlds_have_all_estimators(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_worlds, "USERS", 400)
    monkeypatch.setattr(in_worlds, "MODELS", in_worlds.MODELS[:4])
    records = in_worlds.worlds(setting, 1, True)
    assert {r.column for r in records} == {NAIVE, IPS, "gs(strata=2)", "gs(strata=5)", "gs(strata=20)"}
    assert len({r.experiment for r in records}) == 3 * len(in_worlds.MEASURES)
