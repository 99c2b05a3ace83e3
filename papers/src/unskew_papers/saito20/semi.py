"""One run in a world of ML-100K: 32 candidates, and how far three estimators are off their true values.

IPS and DR know the propensity of a validation click, .3·P^ctr. Recall and DCG at 5 and 10, as in the author's code, in
two readings: sums as printed, in the long run (``redraws.py``), and what the code computes, from one draw
(``coded.py``). Errors are relative RMSE over candidates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from unskew_papers.arrays import Codes, Floats
from unskew_papers.design_variance import share_within
from unskew_papers.saito20 import coded, dense
from unskew_papers.saito20.candidates import Training, best, fit
from unskew_papers.saito20.redraws import redrawn
from unskew_papers.saito20.world import TRAINING, Clicks, Noise, World, conversion_rate, guess

CUTS = (5, 10)
METRICS, CODED = dense.metrics_of(CUTS), coded.metrics_of(CUTS)
POWERS = (0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0)
BOUNDS = (0.01, 0.1, 0.25, 0.4, 0.6, 0.8, 1.0)
DRAWN = (0, 1, 2, 3, 2, 3)  # noise is drawn anew for every metric; DCG without the slips shares that of DCG


def lists_of(world: World, power: float, seed: int, training: Training) -> npt.NDArray[np.uint16]:
    """The best items of all candidates, [model, user, rank]."""
    drawn = world.draw(power, seed)
    scores = fit(drawn.train & drawn.converted, world.users, world.items, training, seed)
    return best(scores, world.users, world.items, max(CUTS)).astype(np.uint16)


def one_run(world: World, power: float, seed: int, lists: Codes) -> dict[str, Any]:
    """plain[estimator, metric], coded[estimator, coded metric], pair[bound, coded metric].

    Estimators are naive, ips, and dr by bound. ``pair`` is a dr whose noise is drawn for every pair, as printed.
    ``listed`` is the mean E[y] of listed pairs, ``trained`` their share that training clicked, ``idle`` the share of
    users without a conversion in validation.
    """
    ctr, drawn = world.ctr(power), world.draw(power, seed)
    rng, user = np.random.default_rng([seed, 2]), np.arange(len(ctr))[None, :, None]
    guesses = [guess(world.cvr, bound, Noise.PAIR, rng) for bound in BOUNDS]
    again = redrawn(ctr, world.cvr, drawn.train, guesses, lists, CUTS, seed)
    of_users, of_pairs = _coded(world, ctr, drawn, guesses, lists, seed)
    return {
        "plain": again.mean(axis=0, dtype=np.float64),
        "coded": of_users,
        "pair": of_pairs,
        "listed": float(dense.at(world.cvr, lists).mean()),
        "trained": float(drawn.train[user, lists].mean()),
        "idle": float(1.0 - (drawn.validation & drawn.converted).any(axis=1).mean()),
    }


def _coded(
    world: World, ctr: Floats, drawn: Clicks, guesses: list[Floats], lists: Codes, seed: int
) -> tuple[Floats, Floats]:
    """Errors of the author's metrics, with noise as in the code (one per user, model and metric) and per pair."""
    z, y, p = drawn.validation, drawn.converted.astype(np.float64), (1.0 - TRAINING) * ctr
    one, nothing, never = np.ones_like(p), np.zeros_like(p), np.zeros_like(z)
    given = [(never, y, one, world.cvr), (z, y, one, nothing), *((z, y, p, q) for q in (nothing, *guesses))]
    truth, naive, ips, *of_pairs = (coded.of_matrices(*each, lists, CUTS) for each in given)
    shape = len(BOUNDS), len(METRICS), len(lists)
    noise = np.random.default_rng([seed, 5]).uniform(-1.0, 1.0, (len(z), *shape)) * np.array(BOUNDS)[:, None, None]
    totals = coded.noisy_totals(z, y, p, world.cvr, noise.reshape(len(z), -1)).reshape(noise.shape)
    seen, (rate, y, p) = dense.at(z, lists), (dense.at(matrix, lists) for matrix in (world.cvr, y, p))
    of_users = np.empty((len(BOUNDS), len(CODED), len(lists)))
    for bound in range(len(BOUNDS)):
        for drawing in range(len(METRICS)):
            shift, total = (each[:, bound, drawing].T for each in (noise, totals))
            q = np.clip(rate + shift[:, :, None], 0.0, 1.0)
            found = coded.measure(seen, y, p, q, total, CUTS)
            mine = [metric for metric, which in enumerate(DRAWN) if which == drawing]
            of_users[bound, mine] = found[mine]
    every = np.stack([naive, ips, *of_users]), np.stack(of_pairs)
    return dense.relative_rmse(every[0], truth), dense.relative_rmse(every[1], truth)


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
            [[share_within(guess(world.cvr, bound, noise, rng), world.cvr) for bound in BOUNDS] for noise in Noise]
        ),
        "printed": np.array([share_within(guess(printed, bound, Noise.PAIR, rng), printed) for bound in BOUNDS]),
    }
