"""Table 2: MF-IPS and MF-naive learn from self-selected ratings and are tested on randomly chosen ones.

    Coat        propensities that the authors ship, and beside them our own: a logistic regression on all products of
                users' and coats' covariates, its penalty chosen by cross-validation, as the paper describes it
    Yahoo! R3   where there is a copy: naive Bayes, with the shares of the ratings from 5 % of the random part; the
                other 95 % are the test

λ, d and the treatment of offsets come from 4-fold cross-validation on the training ratings; the test ratings are looked
at once. MSE is that of the squared loss, MAE that of the absolute loss. A run is another assignment to folds, and of
Yahoo! R3 another 5 %. The 366 test pairs of Coat that are also training pairs stay in, as in the paper.

The paper prints λ from 10⁻⁶ to 1. Eq. 14 adds up losses and penalises with λ alone; its Eqs. 10 and 12 average the
losses over all pairs. The grid is that of the authors' code (``MF.search``), whose winners are shown in both units;
Coat is learnt with the printed λ too, with losses as an average.

The paper's paired t-test does not say what is paired. Here it is the errors of both methods on each test rating; beside
it on each person, whose ratings are not independent. Of several runs the largest p counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import ttest_1samp

from unskew import load
from unskew import propensity as propensities
from unskew.core import Progress
from unskew.log import Log, read_features
from unskew.log.datasets import Dataset, folder_of
from unskew.models.mf import DIMS, PENALTIES
from unskew.propensity import FitInputs
from unskew.split import holdout
from unskew_papers.arrays import Floats, present
from unskew_papers.digest import digest_of
from unskew_papers.record import Below, Record, judged
from unskew_papers.repeated import Repeated, averaged, claim
from unskew_papers.schnabel16.learning import LOSSES, last_fit, learn, printed, searched, wrong
from unskew_papers.schnabel16.setting import Setting

RUNS = 10
SAMPLE = 0.05  # of Yahoo's random part, for naive Bayes
PRINTED = tuple(10.0**power for power in range(-6, 1))  # λ; the paper prints the ends
READINGS = ("sum", "mean")  # of the losses in Eq. 14
AS_GOOD = Below(1.02)  # an error: less is better
LEVEL = 0.001
IPS, OURS, NAIVE = "mf-ips", "mf-ips, our logistic", "mf-naive"
PRINTED_METHODS, PRINTED_RUNS, PRINTED_READING = (IPS, NAIVE), 1, "mean"
Units = dict[tuple[str, str], list[dict[str, Any]]]  # by method and metric
HL = ("HL-MNAR", "HL-MAR")  # the Bayesian models of Hernández-Lobato et al. 2014, quoted from the paper
NOT_RUN, ABSENT = "not run", "not run: no copy here"


class Half(NamedTuple):
    """One of the two sets.

    Args:
        most: runs at most.
        methods: name → propensity; ``None`` weighs all ratings alike.
        paper: method → MAE and MSE.
    """

    most: int
    methods: Mapping[str, str | None]
    paper: Mapping[str, tuple[float, float]]


HALVES = {
    "coat": Half(
        RUNS,
        {IPS: "known", OURS: "logistic", NAIVE: None},
        {IPS: (0.860, 1.093), NAIVE: (0.920, 1.202), HL[0]: (0.884, 1.214), HL[1]: (0.892, 1.220)},
    ),
    "yahoo-r3": Half(
        3,
        {IPS: "naive_bayes", NAIVE: None},
        {IPS: (0.810, 0.989), NAIVE: (1.154, 1.891), HL[0]: (1.177, 2.175), HL[1]: (1.179, 2.166)},
    ),
}


def run(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """MAE and MSE of every method on the random ratings, the claim that MF-IPS is ahead, and the paired test."""
    records = []
    for name, half in HALVES.items():
        if folder_of(name) is None:
            setting.store.tell(
                f"{name} is not there, so its half of Table 2 is not run (unskew data says how to add it)."
            )
            records += _printed(name, half, tuple(half.paper), ABSENT)
            continue
        data = load(name)
        units = _units(setting, data, half.methods, "", min(runs, half.most), progress)
        records += _records(name, half, units)
        records += _chosen(f"table2/{name}: what was chosen", data.mnar, units)
        if name == "coat" and not quick:
            units = _units(setting, data, PRINTED_METHODS, PRINTED_READING, min(runs, PRINTED_RUNS), progress)
            part = f"table2/{name}: the printed λ, the {PRINTED_READING} of losses"
            for (method, metric), each in units.items():
                paper = half.paper[method][list(LOSSES).index(metric)]
                records.append(averaged(part, method, metric, _errors(each), paper=paper))
            records += _chosen(f"{part}: what was chosen", data.mnar, units)
    return records


def _units(
    setting: Setting, data: Dataset, methods: Iterable[str], reading: str, runs: int, progress: Progress | None
) -> Units:
    """All runs of some methods, for both metrics."""
    keys = [run_key(data, method, metric, n, reading) for n in range(runs) for metric in LOSSES for method in methods]
    found = setting.store.map(
        keys, lambda key: _run(setting, data, key), progress=progress, stage=f"learning from {data.name}"
    )
    units: Units = {}
    for key, unit in zip(keys, found, strict=True):
        units.setdefault((key["method"], key["metric"]), []).append(unit)
    return units


def run_key(data: Dataset, method: str, metric: str, number: int, reading: str = "") -> dict[str, Any]:
    """The description of one run's unit; with a reading of Eq. 14 its λ are the printed ones."""
    return {
        "reading": reading,
        "unit": "table2, by rating",
        **_identity(data),
        "propensity": HALVES[data.name].methods[method],
        "method": method,
        "metric": metric,
        "run": number,
        "search": searched(PRINTED if reading else PENALTIES, DIMS, LOSSES[metric]),
        "last": last_fit(),
    }


def paired_test(one: Floats, other: Floats, person: Any) -> tuple[float, float]:
    """Two-sided p of Student's t for errors of two methods: paired by rating, and by person (mean over ratings)."""
    difference = one - other
    _, who = np.unique(person, return_inverse=True)
    by_person = np.bincount(who, difference) / np.bincount(who)
    return tuple(float(ttest_1samp(each, 0.0).pvalue) for each in (difference, by_person))  # type: ignore[return-value]


def _identity(data: Dataset) -> dict[str, Any]:
    return {"data": {"mnar": digest_of(data.mnar), "mcar": digest_of(present(data.mcar))}}


def _run(setting: Setting, data: Dataset, key: Mapping[str, Any]) -> dict[str, Any]:
    """Choose and fit by the training ratings, then judge by the random ones."""
    test, sample = _test(data, key["run"])
    given: str | Floats | None = key["propensity"]
    if given == "logistic":
        asked = {"unit": "table2, logistic", **_identity(data), "propensity": str(propensities.make("logistic"))}
        given = setting.store.once(asked, lambda: {"p": _fitted("logistic", data, None)})["p"]
    elif given == "naive_bayes":
        given = _fitted("naive_bayes", data, sample)
    model, cautions = learn(data.mnar, given, key, key["run"], setting.workers)
    error = wrong(key, model.of(test).rows - present(test.value))
    tried = present(model.search_).table["penalty"]
    chosen = {"penalty": model.penalty, "dim": model.dim, "offsets": model.offsets}
    chosen["edge"] = model.penalty in (tried.min(), tried.max())
    return {"errors": error, "person": test.user, **chosen, "cautions": cautions}


def _test(data: Dataset, number: int) -> tuple[Log, Log | None]:
    """The ratings to be judged by, and those of the random part that naive Bayes is given."""
    random = present(data.mcar)
    if HALVES[data.name].methods[IPS] != "naive_bayes":
        return random, None
    rest, sample = holdout(random, SAMPLE, seed=number)
    return rest, sample


def _fitted(name: str, data: Dataset, sample: Log | None) -> Floats:
    """Propensities of the training ratings."""
    sides = (("user", data.user_features), ("item", data.item_features))
    user, item = (None if frame is None else read_features(frame, side) for side, frame in sides)
    inputs = FitInputs(mcar=sample, user_features=user, item_features=item)
    return propensities.make(name).fit(data.mnar, inputs=inputs).of(data.mnar).rows


def _errors(units: Sequence[Mapping[str, Any]]) -> Floats:
    return np.array([unit["errors"].mean() for unit in units])


def _chosen(part: str, log: Log, units: Units) -> list[Record]:
    """Medians over runs of what cross-validation chose, λ in all its units, and how often it was at an edge."""
    records = []
    for (method, metric), each in units.items():
        columns: dict[str, list[float]] = {"λ": [unit["penalty"] for unit in each]}
        for reading in READINGS:
            scales = [printed(log, unit["dim"], unit["offsets"], reading) for unit in each]
            columns[f"λ of the {reading}"] = [scale * unit["penalty"] for scale, unit in zip(scales, each, strict=True)]
        columns["d"] = [unit["dim"] for unit in each]
        columns["offsets penalised, %"] = [100.0 * (unit["offsets"] == "penalised") for unit in each]
        columns["λ at an edge, %"] = [100.0 * unit["edge"] for unit in each]
        for column, values in columns.items():
            number = np.mean(values) if column.endswith("%") else np.median(values)
            records.append(judged(part, f"{method}, {metric}", column, float(number), runs=len(values)))
    return records


def _records(name: str, half: Half, units: Units) -> list[Record]:
    records, claims, tests = [], [], []
    for m, metric in enumerate(LOSSES):
        means = {method: _errors(units[method, metric]) for method in half.methods}
        for method, values in means.items():
            printed = {"paper": half.paper[method][m], "rule": AS_GOOD} if method in half.paper else {}
            records.append(averaged(f"table2/{name}", method, metric, values, **printed))
        naive = Repeated.mean(means[NAIVE])
        for method in half.methods:
            if method != NAIVE:
                part, what = f"table2/{name}: claims", f"{method} beats mf-naive"
                ours = Repeated.mean(means[method])
                claims.append(claim(part, metric, what, ours, Below(), "mf-naive", naive))
                tests += _tests(name, metric, method, units[method, metric], units[NAIVE, metric])
    return [*records, *_printed(name, half, HL, NOT_RUN), *claims, *tests]


def _tests(
    name: str, metric: str, method: str, units: list[dict[str, Any]], naive: list[dict[str, Any]]
) -> list[Record]:
    """The largest p over runs, by rating and by person; the paper's bound is claimed of the first."""
    pairs = zip(units, naive, strict=True)
    each = [paired_test(one["errors"], other["errors"], one["person"]) for one, other in pairs]
    by_rating, by_person = (max(p) for p in zip(*each, strict=True))
    part, row = f"table2/{name}: p of the paired t-test", f"{method} against mf-naive, {metric}"
    what, bound = f"{method} differs from mf-naive, paired by rating", ("the paper's bound of p", LEVEL)
    return [
        judged(part, row, "by rating", by_rating, runs=len(units)),
        judged(part, row, "by person", by_person, runs=len(units)),
        judged(f"table2/{name}: claims", metric, what, by_rating, runs=len(units), rule=Below(), reference=bound),
    ]


def _printed(name: str, half: Half, methods: tuple[str, ...], why: str) -> list[Record]:
    """What the paper prints and is not run here."""
    return [
        judged(f"table2/{name}", f"{method} ({why})", metric, math.nan, paper=half.paper[method][m])
        for m, metric in enumerate(LOSSES)
        for method in methods
    ]
