"""The study of answers: its closed formulas are what ``evaluate`` says, and its counts what a reader would count."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import unskew as us
from papers.tests.test_coat_truth import small_coat
from unskew.cli import app
from unskew.core import Store
from unskew.design import Plan
from unskew.inference import student
from unskew.outcome import Given
from unskew.simulate import World
from unskew_papers.anchored import experiments, judged, power, ppi
from unskew_papers.anchored.case import METRIC, NOBODY, Case
from unskew_papers.anchored.coat import coat_case
from unskew_papers.anchored.setting import Setting, Units
from unskew_papers.anchored.sweep import ALONE, LISTS, PPI, UNIFORM, WEIGHTED, Target, sweep
from unskew_papers.anchored.worlds import SHOP, population, some_of
from unskew_papers.record import Verdict

SMALL = World(users=400, items=60, relevant=12.0, impressions=40.0, feedback="conversions")  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def world() -> Case:
    return some_of(population(3, SMALL), 0, 200)


@pytest.fixture(scope="module")
def coat() -> Case:
    return coat_case(0, small_coat())


def evaluated(case: Case, rows: np.ndarray, p: np.ndarray, guess: Given | None) -> us.Result:
    """``us.evaluate`` on the same rows: with guesses of its own, or with given ones and candidates' rows alone."""
    known, (users, items) = case.known, case.ids
    answers = pl.DataFrame(
        {"user": known.user[rows], "item": known.item[rows], "value": known.y[rows], "propensity": p}
    )
    return us.evaluate(
        case.log(case.held) if guess is None else case.known_log,
        case.lists,
        metrics=[METRIC],
        estimators=["anchored"],
        target="pooled",
        train=case.log(case.train),
        feedback="conversions",
        answers=answers,
        users=pl.DataFrame({"user": users.values}),
        items=pl.DataFrame({"item": items.values}),
        outcome=guess,
        threads=1,
    )


@pytest.mark.parametrize("name", ["world", "coat"])
@pytest.mark.parametrize("rows", [150, 800])
def test_the_closed_formulas_are_those_of_evaluate(name: str, rows: int, request: pytest.FixtureRequest) -> None:
    """Values, intervals, differences, p, and verdicts at one level; in worlds cross-fitted guesses, too.

    Whether users with the same items in another order count among those who differ is decided by rounding in
    ``evaluate``, and m is therefore its own: the study leaves them out, which moves p in the third decimal.
    """
    case: Case = request.getfixturevalue(name)
    known, made = case.known, case.plan(simultaneous=False)
    drawn, p = case.drawn(made, rows, 5)
    q, guess = known.guesses(drawn, p), None
    if name == "coat":  # here evaluate cannot know by itself which pairs are candidates: guesses are 0 for the others
        table = pl.DataFrame({"user": known.user, "item": known.item, "prediction": q})
        guess = Given(table, default=0.0)
    result = evaluated(case, drawn, p, guess)
    sums = known.anchored(drawn, p, q)
    differences, interval = judged.sampled(known, sums), judged.answered_intervals(known, sums, drawn, p)
    if name == "world":
        assert len(result.estimates) == known.models
        for m, estimate in enumerate(result.estimates):
            if np.isnan(interval[m]).any():
                assert np.isnan(estimate.value)
            else:
                found = (estimate.value, estimate.low, estimate.high)
                assert found == pytest.approx((sums.values[m], *interval[m]), abs=1e-9)
    tail = judged.joint_tail(known, sums.own.T @ sums.own)
    words = judged.words(known, differences, drawn, p, tail)
    assert len(result.verdicts_) == len(known.pairs)
    same = 0
    for place, said in enumerate(result.verdicts_):
        assert said.difference == pytest.approx(differences.lead[place] / sums.total.sum(), abs=1e-9)
        a, b = known.pairs[place]
        d, m = sums.own[:, a] - sums.own[:, b], said.users_apart
        squares, fourth = (d**2).sum(), (d**4).sum()
        if m > 1 and fourth > 0.0:
            t = d.sum() / np.sqrt(m / (m - 1.0) * squares)
            assert said.p == pytest.approx(student.two_sided(t, min(m, squares**2 / fourth) - 1.0), abs=1e-9)
            assert said.p == pytest.approx(student.two_sided(differences.t[place], differences.df[place]), abs=2e-3)
        word = {"undecided": 0.0}.get(said.verdict, 1.0) * np.sign(said.difference)
        same += word == words[place]
    if name == "world":  # on Coat it must refuse: other listed pairs could not be drawn
        assert same >= len(words) - 1  # the levels' random draws differ: a close call may, too
        assert words.any() or rows < 800


def test_fixed_errors_are_those_of_the_draw(coat: Case) -> None:
    """Over many draws with a guess that is fixed, the difference spreads as its error says, around the truth."""
    known, made = coat.known, coat.plan(simultaneous=False)
    q = np.full(len(known.y), 0.3)
    leads, errors = [], []
    for seed in range(300):
        found = judged.fixed(known, *_both(coat, made, seed), q)
        leads.append(found.lead)
        errors.append(found.error**2)
    spread = np.std(leads, axis=0)
    assert (np.abs(np.mean(leads, axis=0) - known.lead) <= 5.0 * spread / np.sqrt(300) + 1e-9).all()
    ratio = spread / np.sqrt(np.mean(errors, axis=0))
    assert np.abs(np.median(ratio) - 1.0) < 0.1


def _both(case: Case, made: Plan, seed: int) -> tuple[np.ndarray, np.ndarray]:
    return case.drawn(made, 300, seed)


def test_everything_asked_is_the_truth(coat: Case) -> None:
    """With all candidates asked about, every unbiased way gives the true values, and only the draw was uncertain."""
    known, every = coat.known, np.arange(len(coat.known.y))
    ones = np.ones(len(every))
    assert np.allclose(known.rows_alone(every, ones).values, known.truth.values)
    unseen = known.unseen
    q = np.random.default_rng(0).random(len(every))
    assert np.allclose(known.anchored(unseen, np.ones(len(unseen)), q).values, known.truth.values)
    found = judged.fixed(known, unseen, np.ones(len(unseen)), q)
    assert np.allclose(found.lead, known.lead) and not found.error.any()
    assert (np.sign(found.t) == np.sign(known.lead)).all()


def test_weights_of_the_log_are_naive_bayes(coat: Case) -> None:
    """snips on the log's likes with P(seen | rating) by Bayes' rule, by a loop over its rows."""
    known, rows = coat.known, np.arange(0, len(coat.known.y), 3)
    asked = [int(coat.truth[known.user[r], known.item[r]]) for r in rows]
    logged = [(u, i, int(coat.held[u, i])) for u, i in zip(*np.nonzero(coat.held != NOBODY), strict=True)]
    above, below = np.zeros(known.models), 0.0
    for u, i, star in logged:
        if star >= 3:
            weight = (asked.count(star) / len(asked)) / sum(each[2] == star for each in logged)
            above += weight * (coat.rank[u, i] > 0)
            below += weight
    assert np.allclose(known.weighted_log(rows).values, above / below)


def test_ppi_is_what_its_formula_gives_by_hand() -> None:
    """Four labels and six more predictions, worked out by hand from the formulas of Angelopoulos et al. (2023).

    Of the mean: Cov(y, f) = 1/12, Var of all ten predictions 5/72, κ = (1/12) / (5/3 · 5/72) = .72; Var(y − κf) =
    .7048/3, Var(f̃) = .1. Of the ratio, at the labelled rows' 1/2: Cov of gradients .3125/3, Var of all ten .78125/9.
    """
    y, f = np.array([1.0, 0.0, 1.0, 0.0]), np.array([0.5, 0.25, 0.75, 0.5])
    others = np.array([0.5, 0.25, 0.25, 0.75, 1.0, 0.25])
    found = ppi.mean(y[:, None], f[:, None], others[:, None])
    assert (found.kappa[0], found.value[0], found.se[0]) == pytest.approx((0.72, 0.5, 0.259564), abs=1e-6)
    lifted = ppi.mean(y[:, None], f[:, None], others[:, None] + 0.25)
    assert lifted.value[0] == pytest.approx(0.5 + lifted.kappa[0] * 0.25)
    worth, other_worth = np.array([[1.0], [1.0], [0.0], [0.0]]), np.array([[1.0], [0.0], [1.0], [0.0], [1.0], [0.0]])
    ratio = ppi.ratio(y, f, worth, others, other_worth)
    assert (ratio.kappa[0], ratio.value[0]) == pytest.approx((0.72, 0.65))  # (.115 + .21) / (.14 + .36)


def test_ppi_without_predictions_is_the_plain_ratio() -> None:
    """κ = 0 leaves Σ yλ / Σ y; predictions that are right are trusted with 1/(1 + n/N), and make it surer."""
    random = np.random.default_rng(0)
    y, worth = (random.random(4_000) < 0.3).astype(float), (random.random((4_000, 2)) < 0.4).astype(float)
    few, rest = slice(0, 1_000), slice(1_000, 4_000)
    plain = ppi.ratio(y[few], np.zeros(1_000), worth[few], np.zeros(3_000), worth[rest])
    assert np.allclose(plain.value, y[few] @ worth[few] / y[few].sum()) and not plain.kappa.any()
    right = ppi.ratio(y[few], y[few], worth[few], y[rest], worth[rest])
    assert np.allclose(right.kappa, 0.75, atol=0.1)
    assert (right.se < plain.se).all()


def test_a_sweep_counts_what_it_says(coat: Case) -> None:
    """All ways, and more rows are better; propensities gain nothing by them; the list design decides more."""
    target = Target.of(coat.known)
    few, many = (sweep(coat, target, rows, 15, 0) for rows in (100, 600))
    assert all(len(values) == 15 for values in few.values())
    for method in (ALONE, UNIFORM, LISTS, PPI):
        assert many[f"{method} | rmse"].mean() < few[f"{method} | rmse"].mean()
    assert abs(many[f"{WEIGHTED} | tau"].mean() - few[f"{WEIGHTED} | tau"].mean()) < 0.05
    assert many[f"{LISTS} | right"].mean() > many[f"{UNIFORM} | right"].mean() > few[f"{UNIFORM} | right"].mean()
    assert many[f"{LISTS} | fixed_right"].mean() >= many[f"{LISTS} | right"].mean()


def test_users_are_drawn_anew(coat: Case) -> None:
    """Each of the users as often as named, with all that is theirs."""
    who = np.array([3, 3, 7])
    other = coat.of(who)
    assert np.array_equal(other.truth[0], other.truth[1]) and np.array_equal(other.held[2], coat.held[7])
    assert other.known.users == 3 and other.known.truth.total[0] == coat.known.truth.total[3]
    again = power.resampled(coat, 1)
    assert again.train.shape == coat.train.shape and not np.array_equal(again.train, coat.train)


def test_planned_power_is_kept_in_a_small_world(world: Case) -> None:
    """Fixed users, rows drawn where two lists differ, guesses below what good lists hold: about what was promised."""
    found = power.fixed_users(world, False, 25, 0)
    right = found["even_right"][np.isfinite(found["even_right"])]
    assert len(right) >= 10 and abs(right.mean() - 0.8) < 0.1
    assert np.nanmean(found["plan_right"]) > 0.65 and np.nanmean(found["even_wrong"]) < 0.01
    some = np.isfinite(found["rows_differ"]) & np.isfinite(found["rows_random"])
    assert (found["rows_differ"] < found["rows_random"])[some].all()


def test_experiments_make_records(tmp_path: Path) -> None:
    """Every experiment on small data; a second call makes nothing anew."""
    units = Units(small_coat(), SMALL, 100)
    setting = Setting(Store(tmp_path), 1, units, rows=(2_000,))
    for run in (experiments.users, experiments.worlds):
        assert run(setting, 1, True)
    records = experiments.coat(setting, 2, True)
    floors = [r for r in records if r.experiment == "coat, 2,000 rows by the list design"]
    assert len(floors) == 5 and all(r.verdict in (Verdict.HOLDS, Verdict.FAILS) for r in floors)
    assert {r.paper for r in records if r.paper is not None} == {0.65, 0.71, 0.85, 0.23, 0.18, 0.12}
    before = sorted(path.stat().st_mtime_ns for path in tmp_path.rglob("*.unit"))
    assert experiments.coat(setting, 2, True) == records
    assert sorted(path.stat().st_mtime_ns for path in tmp_path.rglob("*.unit")) == before


def test_power_is_counted_over_pairs_that_were_planned() -> None:
    """Medians count what no number of rows decides as more than any; promises are judged by the mean over pairs."""
    nan = np.nan
    unit = {
        "apart": np.array([1.0, 1.0, 1.0, 0.0]),
        "rows_differ": np.array([100.0, 140.0, nan, 5.0]),
        "rows": np.array([300.0, nan, nan, 5.0]),
        "rows_random": np.array([900.0, 1_000.0, 1_100.0, 5.0]),
        "alone": np.array([5_000.0, 3_000.0, 6_000.0, 5.0]),
        "alone_finite": np.array([2_000.0, 2_100.0, 2_200.0, 5.0]),
        "even_right": np.array([0.7, 0.81, nan, 0.0]),
        "even_wrong": np.array([0.0, 0.1, nan, 0.0]),
        "plan_right": np.array([0.2, nan, nan, 0.0]),
        "plan_wrong": np.array([0.0, nan, nan, 0.0]),
    }

    class Units:
        def powers(self, *_: object) -> list[dict[str, np.ndarray]]:
            return [unit]

    records = experiments.power(Units(), 1, True)  # type: ignore[arg-type]
    fixed = {(r.experiment, r.column): r for r in records if r.row == "users fixed, 1.96"}
    medians = "coat, rows for 80 % power (medians over pairs of models)"
    assert fixed[medians, "pairs of models"].ours == 3
    assert fixed[medians, "where two lists differ"].ours == 140.0
    assert np.isinf(fixed[medians, "by the plan's draw for all models"].ours)
    assert fixed["coat, measured power", "where two lists differ"].ours == pytest.approx(0.755)
    promises = {r.column.split(":")[0]: r.verdict for r in fixed.values() if r.experiment == "coat, promises"}
    assert promises == {
        "where two lists differ": Verdict.LIKELY,  # ten verdicts: chance could turn it
        "by the plan's draw for all models": Verdict.FAILS,
    }
    floors = [r.verdict for r in records if r.experiment == "coat, rows to decide a pair at 1.96"]
    assert floors == [Verdict.HOLDS, Verdict.HOLDS]


def test_the_command_knows_the_study(tmp_path: Path) -> None:
    """An experiment that it lacks is named with those that it has."""
    assert SHOP.users == 4_000
    done = CliRunner().invoke(app, ["reproduce", "anchored", "table9", "--store", str(tmp_path)])
    assert done.exit_code != 0 and "coat, users, worlds, power" in " ".join(done.output.replace("│", " ").split())
