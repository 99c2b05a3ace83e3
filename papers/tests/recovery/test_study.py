"""Studies as a whole: what is scored is what ``evaluate`` says, however the work is divided."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.report.every_output import check_every_output
from tests.said import refuses

import unskew as us
from papers.tests.recovery.small import MODELS, QUESTIONS, paired
from unskew.report import document_of
from unskew_papers.recovery import Question, StudyResult, Worlds, study
from unskew_papers.recovery.draws import Place, as_likes
from unskew_papers.recovery.makers import Imported


def run(store: Path | None = None, **options: object) -> StudyResult:
    asked: dict[str, object] = {"metrics": ["recall@5", "ndcg@3"], "target": "per_user", "seeds": 3} | options
    source, models, questions = (
        asked.pop(name, usual) for name, usual in (("source", paired()), ("models", MODELS), ("questions", QUESTIONS))
    )
    return study(source, models, questions, store=store, **asked)  # type: ignore[arg-type]


def test_scores_are_those_of_evaluations_by_hand() -> None:
    """τ and the truth of one draw, from a split, fits, and two calls of ``evaluate``."""
    source = paired()
    found = run(seeds=[2])
    check_every_output(found)
    train, test = us.split.holdout(source.log, 0.2, seed=2)
    lists = {}
    for name in MODELS:
        model = us.models.make(name)
        model = replace(model, seed=2) if hasattr(model, "seed") else model  # type: ignore[type-var]
        lists[name] = model.fit(train)
    asked = {"metrics": ["recall@5"], "train": train, "target": "per_user"}
    estimates = us.evaluate(test, lists, estimators=["snips"], propensity="popularity(gamma=1)", **asked)  # type: ignore[arg-type]
    truth = us.evaluate(source.random, lists, estimators=["naive"], **asked)  # type: ignore[arg-type]
    value, true = ([e.value for e in result.estimates] for result in (estimates, truth))
    assert [t.value for t in found.truths if t.metric == "recall@5"] == pytest.approx(true)
    row = next(r for r in found.draw_scores if (r.metric, r.estimator) == ("recall@5", "snips"))
    pairs = [(0, 1), (0, 2), (1, 2)]
    signs = [np.sign(value[a] - value[b]) * np.sign(true[a] - true[b]) for a, b in pairs]
    assert row.tau == pytest.approx(sum(signs) / 3)
    assert row.rmse == pytest.approx(math.sqrt(np.mean([(v / t - 1) ** 2 for v, t in zip(value, true, strict=True)])))
    apart = {(v.a, v.b): v.difference / v.se for v in truth.verdicts_ if abs(v.difference) > 1.96 * v.se}
    own = [(apart[v.a, v.b], v.difference / v.se) for v in estimates.verdicts_ if (v.a, v.b) in apart]
    assert row.truly_different == len(own) > 0
    assert row.alone_right == pytest.approx(np.mean([abs(z) > 1.96 and z * t > 0 for t, z in own]))
    assert row.alone_wrong == pytest.approx(np.mean([abs(z) > 1.96 and z * t < 0 for t, z in own]))


def test_questions_without_verdicts_have_the_same_values() -> None:
    fast, slow = (
        run(questions=[Question("q", ("naive", "snips"), "popularity(gamma=1)", verdicts=verdicts)])
        for verdicts in (False, True)
    )
    for a, b in zip(fast.draw_scores, slow.draw_scores, strict=True):
        assert (a.tau, a.rmse, a.coverage) == pytest.approx((b.tau, b.rmse, b.coverage), nan_ok=True)
        assert math.isnan(a.right)


def test_workers_stores_and_resuming_change_nothing(tmp_path: Path) -> None:
    """In one process, in two, from a store, and with lists removed: the same JSON, byte for byte."""
    alone = json.dumps(run().to_dict())
    assert json.dumps(run(tmp_path / "a", workers=2).to_dict()) == alone  # some seconds: processes load everything anew
    assert json.dumps(run(tmp_path / "a").to_dict()) == alone
    assert json.dumps(run(tmp_path / "b", keep_lists=False).to_dict()) == alone
    units = {name: len(list((tmp_path / name).rglob("*.unit"))) for name in "ab"}
    assert units["a"] - units["b"] == 3 * len(MODELS)
    assert json.dumps(run(tmp_path / "b", keep_lists=False).to_dict()) == alone  # nothing is fitted again
    assert len(list((tmp_path / "b").rglob("*.unit"))) == units["b"]


def test_another_question_needs_no_further_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path)
    monkeypatch.setattr("unskew_papers.recovery.run.make_lists", lambda *_: pytest.fail("fitted again"))
    found = run(tmp_path, questions=[Question("more", ("gs(strata=2)",), "popularity(gamma=2)")])
    assert {row.estimator for row in found.draw_scores} == {"gs(strata=2)"}


def test_a_failing_model_does_not_stop_the_rest() -> None:
    mine = Imported("papers.tests.recovery.small:Broken")
    found = run(models={"popular": "most_popular", "knn": "item_knn", "mine": mine})
    (failure,) = found.failures
    assert (failure.model, failure.draw) == ("mine", "seed 1")
    assert failure.error == "ZeroDivisionError: the second draw is too much"
    assert "in fit" in failure.traceback
    assert {row.draw: row.models for row in found.draw_scores} == {"seed 0": 3, "seed 1": 2, "seed 2": 3}
    assert "mine" in str(document_of(found).summary)


def test_classes_of_others_take_part() -> None:
    """Their seed is that of the draw, and what they list is what is judged."""
    mine = Imported("papers.tests.recovery.small:Backwards", {"shift": 3})
    assert mine.key(Place(7))["options"] == {"seed": 7, "shift": 3}
    found = run(models={"popular": "most_popular", "mine": mine}, seeds=2)
    assert {t.model for t in found.truths} == {"popular", "mine"}


def test_worlds_have_a_truth_without_error() -> None:
    world = us.simulate.World(users=200, items=60, relevant=10.0, impressions=60.0)
    asked = Question("known", ("naive", "snips"), "known")
    found = study(Worlds(world), MODELS, [asked], metrics=["recall@5"], seeds=2)
    assert found.complete
    assert {t.se for t in found.truths} == {0.0}
    drawn = world.draw(1)
    lists = us.models.MostPopular().fit(drawn.train).recommend(drawn.train.users, 5, seen=drawn.train)
    value = next(t.value for t in found.truths if (t.draw, t.model) == ("seed 1", "most_popular"))
    assert value == pytest.approx(drawn.truth(lists, "recall@5", "pooled"))


def test_worlds_of_conversions_know_their_zeros() -> None:
    """Models learn from what was converted, known propensities recover the truth, and nothing is refused."""
    world = us.simulate.World(users=300, items=60, relevant=10.0, impressions=60.0, feedback="conversions")  # type: ignore[arg-type]
    asked = Question("known", ("naive", "ips"), "known")
    found = study(Worlds(world), MODELS, [asked], metrics=["recall@5"], target="per_user_sum", seeds=2)
    assert not found.failures
    assert not found.missing
    error = {row.estimator: row.rmse for row in found.draw_scores}
    assert error["ips"] < error["naive"]


def test_training_pairs_among_the_random_ones_are_left_out_or_missed() -> None:
    """``candidates=all`` keeps them, and as nobody recommends them again every worth falls."""
    source = paired()
    without, beside = (run(seeds=1, candidates=kind, source=source).truths for kind in ("unseen", "all"))
    assert all(b.value <= a.value for a, b in zip(without, beside, strict=True))
    assert any(b.value < a.value for a, b in zip(without, beside, strict=True))


def test_likes_hide_all_else() -> None:
    log = paired(likes=False).log
    kept = as_likes(log, ">=4")
    assert kept.value is None
    assert log.value is not None
    assert len(kept) == np.count_nonzero(log.value >= 4)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"models": ["most_popular"]}, "too-few-models"),
        ({"models": ["most_popular", "most_popular"]}, "duplicate-name"),
        ({"models": "most_popular"}, "wrong-type"),
        ({"metrics": ["mae"]}, "not-supported"),
        ({"metrics": []}, "missing-metric"),
        ({"questions": []}, "missing-argument"),
        ({"questions": [QUESTIONS[0], QUESTIONS[0]]}, "missing-argument"),
        ({"seeds": 0}, "out-of-range"),
        ({"seeds": [1, 1]}, "repeated-argument"),
        ({"candidates": "some"}, "unknown-name"),
        ({"memory": "300MB"}, "not-enough-memory"),
        ({"memory": "much"}, "bad-value"),
    ],
)
def test_what_cannot_be_asked(options: dict[str, object], code: str) -> None:
    with refuses(code):
        run(**options)  # type: ignore[arg-type]
