"""Figure 1: τ at Recall@100 over the number of strata, with naive and IPS beside; powers of popularity.

With one stratum gs weighs all pairs of a user alike and is naive; with ever more strata every pair has its own weight
and gs is IPS (Proposition 4.1). Strata are of equal width in the propensity, or of as many held-out pairs each.

That the number of strata matters little is judged twice: as the paper tests differences, by Welch's t with Bonferroni
over all pairs of numbers, and by the paired t over the same seeds, which sees what seeds have in common.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

import numpy as np

from unskew.core import Progress
from unskew_papers.arrays import Floats
from unskew_papers.gs23.printed import CUTS, GAMMAS, STRATA
from unskew_papers.gs23.setting import ANCESTOR, IPS, NAIVE, OURS, Setting, Way
from unskew_papers.gs23.tables import LEVEL, METRICS, taus
from unskew_papers.record import Above, Below, Record, Rule, judged
from unskew_papers.recovery import Paired, StudyResult
from unskew_papers.recovery.welch import compare
from unskew_papers.repeated import averaged

METRIC = "recall@100"
SEEDS_OF, ROBUST = "τ of every seed", "robust to the number of strata"


def figure_1(
    part: str, source: Paired, way: Way, setting: Setting, runs: int, quick: bool, progress: Progress | None
) -> list[Record]:
    """τ over the number of strata, and by γ."""
    counts = STRATA[::2] if quick else STRATA
    ways = {"equal width": way._replace(equal=True), "pairs": way._replace(equal=False)}
    kinds = {kind: [each.gs(count) for count in counts] for kind, each in ways.items()}
    asked = [
        way.question("strata", [NAIVE, IPS, *chain(*kinds.values())], verdicts=False, metrics=(METRIC,)),
        *(way.question(f"γ = {gamma:g}", [IPS, way.gs()], gamma, verdicts=False) for gamma in GAMMAS),
    ]
    models = setting.models(quick, training=way.training)
    result = setting.study(source, models, asked, runs, metrics=METRICS, progress=progress)
    own = kinds["equal width" if way.equal else "pairs"]
    boxes = {"naive": _of(result, NAIVE)} | {str(n): _of(result, e) for n, e in zip(counts, own, strict=True)}
    boxes["IPS"] = _of(result, IPS)
    records = [
        judged(f"{part}/{SEEDS_OF}", box, f"seed {seed}", float(value))
        for box, values in boxes.items() for seed, value in enumerate(values)
    ]  # fmt: skip
    for kind, made in kinds.items():
        for count, estimator in zip(counts, made, strict=True):
            records.append(averaged(f"{part}/τ at Recall@100", str(count), f"gs, {kind}", _of(result, estimator)))
    for name in ("naive", "IPS"):
        records += [averaged(f"{part}/τ at Recall@100", str(count), name, boxes[name]) for count in counts]
    return records + claims(part, boxes) + _by_gamma(part, way, result)


def claims(part: str, boxes: Mapping[str, Floats]) -> list[Record]:
    """Proposition 4.1 at both ends, and that the number of strata matters little, from the τ of every seed."""
    strata = {name: values for name, values in boxes.items() if name not in ("naive", "IPS")}
    one, *_, most = strata.values()
    pairs = compare(strata)
    paired = [min(1.0, pair.p_paired * len(pairs)) for pair in pairs]
    tests = {"Welch's t": [pair.p_bonferroni for pair in pairs], "paired t": paired}
    robust = "no two numbers of strata differ significantly"
    found: list[tuple[str, str, str, float, Rule, tuple[str, float]]] = [
        ("ends", "1 stratum", "|τ − τ of naive| is nothing", np.abs(one - boxes["naive"]).max(), Below(),
         ("rounding", 1e-9)),
        ("ends", "most strata", "|τ − τ of IPS| is at most |τ − τ of naive|", np.abs(most - boxes["IPS"]).mean(),
         Below(), ("|τ − τ of naive|", np.abs(most - boxes["naive"]).mean())),
        *((ROBUST, test, robust, np.min(p), Above(), ("the level", LEVEL)) for test, p in tests.items()),
    ]  # fmt: skip
    return [
        judged(f"{part}/{what}", row, told, float(ours), runs=len(one), rule=rule, reference=reference)
        for what, row, told, ours, rule, reference in found
    ]


def _of(result: StudyResult, estimator: str) -> Floats:
    return taus(result, METRIC, estimator, question="strata")


def _by_gamma(part: str, way: Way, result: StudyResult) -> list[Record]:
    records = []
    for gamma in GAMMAS:
        for called, estimator in (("IPS", IPS), ("GS", way.gs())):
            for cut, metric in zip(CUTS, METRICS, strict=True):
                values = taus(result, metric, estimator, question=f"γ = {gamma:g}")
                records.append(averaged(f"{part}/τ by γ", f"{called}, γ = {gamma:g}", f"Recall@{cut}", values))
    return records


def on_coat(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """Figure 1b."""
    return figure_1("figure1b", setting.coat(), ANCESTOR, setting, runs, quick, progress)


def on_yahoo(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """Figure 1a, on Yahoo! R3; nothing without a copy."""
    source = setting.yahoo()
    return [] if source is None else figure_1("figure1a", source, ANCESTOR, setting, runs, quick, progress)


def on_world(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """The same on a world of Yahoo's size, which is none of the paper's."""
    return figure_1("simulated-strata", setting.world(quick), OURS, setting, runs, quick, progress)
