"""Figure 4: estimated propensities that get worse and worse (α = .25).

Naive Bayes (schnabel16 Eq. 18) with P(r) from a random sample of m pairs, Laplace-smoothed; the smaller m, the worse
the propensities. RMSE of ips and snips with these, beside naive and ips with the known ones, as in Figure 2. The
paper's text does not tell its sizes: ours are 10 … 100,000. It prints no numbers, but says:

    neither ips nor snips with estimated propensities is worse than naive, whatever the size of the sample
    ips with estimated propensities can be better than with the known ones, for MSE
"""

from __future__ import annotations

import numpy as np

from unskew.core import Progress
from unskew.simulate import RatingWorld
from unskew_papers.arrays import Floats
from unskew_papers.record import Below, Record
from unskew_papers.repeated import Repeated, claim, shown
from unskew_papers.schnabel16.setting import METRICS, Draw, Setting, rmse

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


def random_sample(world: RatingWorld, size: int, seed: int) -> Floats:
    """How often each rating 1 … R occurs among pairs that are drawn at random."""
    there = np.round(world.marginals * world.truth.size).astype(np.int64)
    return np.random.default_rng([size, seed]).multivariate_hypergeometric(there, size).astype(np.float64)


def run(setting: Setting, runs: int = RUNS, quick: bool = False, progress: Progress | None = None) -> list[Record]:
    """RMSE by sample size and estimator, and the claims."""
    draws = setting.draws([ALPHA], range(runs), progress)[ALPHA]
    world, pairs = setting.at(ALPHA), setting.pairs
    estimates = setting.estimates(draws, world.propensity_of[1:])
    fixed = {name: rmse(values, setting.truth) for name, values in estimates.items()}
    records = []
    mse = METRICS.index("mse")
    best = Repeated(np.inf, np.empty(0))
    for size in (size for size in SIZES if size <= pairs):
        ips, snips = [], []
        for seed, draw in enumerate(draws):
            guessed = naive_bayes(draw, random_sample(world, size, seed), pairs)
            ips.append(draw.ips(guessed, pairs))
            snips.append(draw.snips(guessed))
        found = {name: rmse(np.array(each), setting.truth) for name, each in zip(ESTIMATED, (ips, snips), strict=True)}
        found |= fixed
        best = min(best, found["ips-nb"][mse], key=lambda one: one.value)
        for m, metric in enumerate(METRICS):
            naive = fixed["naive"][m]
            for name, by_metric in found.items():
                one, row = by_metric[m], f"{size:,}"
                records.append(shown(f"figure4/{metric}", row, name, one))
                if name in ESTIMATED:
                    part, what = f"figure4/claims for {metric}", f"{name} beats naive"
                    records.append(claim(part, row, what, one, Below(), "naive", naive))
    known, what = fixed["ips"][mse], "best ips-nb beats known"
    name = "ips with known propensities"
    records.append(claim("figure4/claims for mse", "any", what, best, Below(), name, known))
    return records
