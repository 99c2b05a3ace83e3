"""One run in a world of ML-100K: 32 candidates, their true values, and what three estimators make of the clicks.

IPS and DR know the propensity of a validation click, .3·P^ctr. Recall and DCG at 5 and 10, as in the author's code.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from unskew_papers.arrays import Codes
from unskew_papers.design_variance import share_within
from unskew_papers.saito20 import dense
from unskew_papers.saito20.candidates import Training, best, fit
from unskew_papers.saito20.redraws import redrawn
from unskew_papers.saito20.world import TRAINING, Noise, World, conversion_rate, guess

CUTS = (5, 10)
METRICS = dense.metrics_of(CUTS)
POWERS = (0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0)
BOUNDS = (0.01, 0.1, 0.25, 0.4, 0.6, 0.8, 1.0)
NOISES = (Noise.PAIR, Noise.USER)
Items = npt.NDArray[np.uint16]


def lists(world: World, power: float, seed: int, training: Training) -> Items:
    """The best items of all candidates, [model, user, rank]."""
    drawn = world.draw(power, seed)
    scores = fit(drawn.train & drawn.converted, world.users, world.items, training, seed)
    return best(scores, world.users, world.items, max(CUTS)).astype(np.uint16)


def one_run(world: World, power: float, seed: int, lists: Codes) -> dict[str, Any]:
    """truth, naive, ips: [target, metric, model]; dr: [noise, bound, target, metric, model].

    ``again`` are relative errors (plain target) over many draws of validation clicks: [draw, naive | ips, metric] and,
    as ``again_dr``, [draw, noise, bound, metric]. ``trained`` is the share of listed pairs that training clicked.
    """
    ctr = world.ctr(power)
    drawn, p = world.draw(power, seed), (1.0 - TRAINING) * ctr
    z, y = drawn.validation, drawn.converted.astype(np.float64)
    rng = np.random.default_rng([seed, 2])
    guesses = [guess(world.cvr, bound, noise, rng) for noise in NOISES for bound in BOUNDS]
    again = redrawn(ctr, world.cvr, drawn.train, guesses, lists, CUTS, seed)
    shape, user = (len(NOISES), len(BOUNDS)), np.arange(len(ctr))[None, :, None]
    first = np.array([dense.measure(dense.dr(z, y, p, q), lists, CUTS) for q in guesses])
    return {
        "truth": dense.measure(world.cvr, lists, CUTS),
        "naive": dense.measure(dense.naive(z, y), lists, CUTS),
        "ips": dense.measure(dense.ips(z, y, p), lists, CUTS),
        "dr": first.reshape(*shape, *first.shape[1:]),
        "again": again[:, :2],
        "again_dr": again[:, 2:].reshape(len(again), *shape, -1),
        "trained": float(drawn.train[user, lists].mean()),
    }


def describe(world: World, seed: int) -> dict[str, Any]:
    """Rates of clicks by power (Table 2), and by bound the share of pairs that DR helps (Table 3).

    ``helped`` is [noise, bound] as in the code, ``printed`` [bound] with R̂ in the exponents, as printed.
    """
    rng = np.random.default_rng([seed, 3])
    printed = conversion_rate(world.rating)
    return {
        "mean": np.array([world.ctr(power).mean() for power in POWERS]),
        "least": np.array([world.ctr(power).min() for power in POWERS]),
        "helped": np.array(
            [[share_within(guess(world.cvr, bound, noise, rng), world.cvr) for bound in BOUNDS] for noise in NOISES]
        ),
        "printed": np.array([share_within(guess(printed, bound, Noise.PAIR, rng), printed) for bound in BOUNDS]),
    }
