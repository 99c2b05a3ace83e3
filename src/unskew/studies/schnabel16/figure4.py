"""Figure 4: estimated propensities that get worse and worse (α = .25).

Naive Bayes (schnabel16 Eq. 18) with P(r) from a random sample of m pairs, Laplace-smoothed; the smaller m, the worse
the propensities. RMSE of ips and snips with these, beside naive and ips with the known ones, as in Figure 2. The
paper's text does not tell its sizes: ours are 10 … 100,000. It prints no numbers, but says:

    neither ips nor snips with estimated propensities is worse than naive, whatever the size of the sample
    ips with estimated propensities can be better than with the known ones, for MSE
"""

from __future__ import annotations

import numpy as np

from unskew.engine.store import Progress
from unskew.log.log import Floats
from unskew.studies.record import Below, Record, judged
from unskew.studies.repeated import Repeated, claim
from unskew.studies.schnabel16.setting import METRICS, Draw, Setting, rmse

RUNS = 50
ALPHA = 0.25
SIZES = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
ESTIMATED = ("ips-nb", "snips-nb")


def naive_bayes(draw: Draw, sample: Floats, pairs: int) -> Floats:
    """P̂(r) for r = 1 … R: P(r | O)·P(O) / P(r), both shares with one pseudo-count, capped at 1.

    Args:
        draw: what was seen.
        sample: how often each rating 1 … R occurs in the random sample.
        pairs: U·I.
    """
    seen = draw.count[1:]
    given = (seen + 1.0) / (seen.sum() + len(seen))
    everywhere = (sample + 1.0) / (sample.sum() + len(sample))
    return np.asarray(np.minimum(1.0, given * (seen.sum() / pairs) / everywhere))


def run(setting: Setting, runs: int = RUNS, quick: bool = False, progress: Progress | None = None) -> list[Record]:
    """RMSE by sample size and estimator, and the claims."""
    draws = setting.draws([ALPHA], range(runs), progress)[ALPHA]
    world, pairs = setting.at(ALPHA), setting.pairs
    p = world.propensity_of[1:]
    there = np.round(world.marginals * pairs).astype(np.int64)
    fixed = {
        "naive": rmse(np.array([draw.naive() for draw in draws]), setting.truth),
        "ips": rmse(np.array([draw.ips(p, pairs) for draw in draws]), setting.truth),
        "snips": rmse(np.array([draw.snips(p) for draw in draws]), setting.truth),
    }
    records = []
    mse = METRICS.index("mse")
    best = Repeated(np.inf, np.empty(0))
    for size in (size for size in SIZES if size <= pairs):
        ips, snips = [], []
        for seed, draw in enumerate(draws):
            sample = np.random.default_rng([size, seed]).multivariate_hypergeometric(there, size)
            guessed = naive_bayes(draw, sample.astype(np.float64), pairs)
            ips.append(draw.ips(guessed, pairs))
            snips.append(draw.snips(guessed))
        found = {
            "ips-nb": rmse(np.array(ips), setting.truth),
            "snips-nb": rmse(np.array(snips), setting.truth),
            **fixed,
        }
        best = min(best, found["ips-nb"][mse], key=lambda one: one.value)
        for m, metric in enumerate(METRICS):
            naive = fixed["naive"][m]
            for name, by_metric in found.items():
                one, row = by_metric[m], f"{size:,}"
                records.append(judged(f"figure4/{metric}", row, name, one.value, se=one.se, runs=runs))
                if name in ESTIMATED:
                    part, what = f"figure4/claims for {metric}", f"{name} beats naive"
                    records.append(claim(part, row, what, one, Below(), "naive", naive, runs=runs))
    known, what = fixed["ips"][mse], "best ips-nb beats known"
    name = "ips with known propensities"
    records.append(claim("figure4/claims for mse", "any", what, best, Below(), name, known, runs=runs))
    return records
