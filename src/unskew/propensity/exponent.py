"""How steeply does popularity rise with exposure? The exponent a of P_i ∝ ν_i^a, with its error.

Assumed: exposure P_i is the shop's choice, and the share of users who like item i is ρ_i ∝ P_i^b·η_i, where η_i (items
are liked for reasons of their own) has nothing to do with P_i. Positives are then expected as ν_i ∝ P_i^(1+b) η_i, and
the exponent that undoes exposure is a = 1/(1+b): weighted positives ν_i/ν_i^a ∝ P_i^b η_i^(1−a) then rise with exposure
just as relevance does. (Of η they keep a part only: to popularity, what is liked for its own reasons looks shown.) A
regression of exposures on positives would not do: popular items are so partly by η, which flattens it, and the most
exposed items, which matter most, stay undercorrected.

- From exposures e_i:  n_i ∝ e_i^(1+b).
- From a log seen at random (m_i positives of s_i shown):  ρ_i ∝ (ν_i/ρ_i)^b η_i, that is m_i ∝ s_i ν_i^(1−a) η_i^a; ν_i
  contains η_i, so that an estimate of P_i = ν_i/ρ_i must serve as instrument.

Counts err, and a regression on what errs is flattened (errors in variables). Users are divided at random into halves
whose errors have nothing to do with each other: one half gives the instrument z, the other count X and reply r, and

    Σ_i h_i (1, z_i) (r_i − κ s_i (X_i + (1−β)/2)^β) = 0,        h_i = 1/(1 + φ κ Z_i^β)

is solved for κ and β (Mullahy 1997; the shift makes E[X-term] = ν^β up to 1/ν²; h weighs like a negative binomial with
overdispersion φ, Z being the exposures of the instrument's half). Halves change places, and the mean of both is the
estimate. Its standard error is the sandwich over items (each residual over 1 − leverage, which comes near the
jackknife), so that η counts, not only chance.

Limits: the law is one power over all items; the error is that of many items (50, say); the second way leaves out items
so little exposed that an average one would have fewer than ``LEAST`` positives, and needs some positives at random.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unskew.core.errors import InputError
from unskew.propensity.base import Floats

LEAST = 4.0  # positives in half a training log that an average item must have for its exposure
ITEMS = 10  # fewer say nothing
PASSES = 2  # of estimating φ
ROUNDS = 100
STEEPEST = 2.5  # a beyond it (γ > 4): popularity hardly depends on exposure


class Exponent(NamedTuple):
    """a with its standard error, and the number of items it rests on."""

    value: float
    se: float
    items: int


class Half(NamedTuple):
    """What one half of the users shows of every item: positives, among so many exposures."""

    positives: Floats
    exposures: Floats


def from_exposures(one: Half, other: Half) -> Exponent:
    """a = 1/β, β from positives ∝ exposures^β."""
    use = one.exposures + other.exposures > 0.0
    ways = [
        _solve(np.log(z.exposures + 0.5), x.exposures, x.positives, np.ones(len(use)), use, z.exposures)
        for z, x in ((one, other), (other, one))
    ]
    value, se, items = _mean(ways)
    return _checked(1.0 / value if value > 0.0 else np.inf, se / value**2, items)


def from_random(one: Floats, other: Floats, first: Half, second: Half) -> Exponent:
    """a = 1 − β, β from random positives ∝ shown · positives^β.

    Args:
        one, other: training positives of each item, by halves of the training users.
        first, second: the same items in halves of a log seen at random.
    """
    use = (one + other > 0.0) & (first.exposures > 0.0) & (second.exposures > 0.0)
    ways = []
    for z, x, known, reply in ((one, other, first, second), (other, one, second, first)):
        exposure = np.log(z + 0.5) - np.log((known.positives + 0.5) / (known.exposures + 1.0))
        enough = exposure > np.log(LEAST * max(known.exposures.sum(), 1.0) / max(known.positives.sum(), 1.0))
        ways.append(_solve(exposure, x, reply.positives, reply.exposures, use & enough, None))
    value, se, items = _mean(ways)
    return _checked(1.0 - value, se, items)


def _mean(ways: list[tuple[float, Floats]]) -> tuple[float, float, int]:
    value = (ways[0][0] + ways[1][0]) / 2.0
    influence = (ways[0][1] + ways[1][1]) / 2.0
    items = int(np.count_nonzero(influence))
    return value, float(np.sqrt(np.sum(influence**2) * items / max(items - 2, 1))), items


def _checked(value: float, se: float, items: int) -> Exponent:
    if not 0.0 <= value <= STEEPEST:
        raise InputError(
            f"popularity(gamma=estimate): over {items} items popularity hardly follows exposure here (γ would be "
            f"{2.0 * value - 1.0:.1f}), and no power of it is a propensity. Use another one, such as logistic_mf.",
            code="exponent-unknown",
            items=items,
        )
    return Exponent(value, se, items)


def _solve(
    instrument: Floats, count: Floats, reply: Floats, size: Floats, use: npt.NDArray[np.bool_], guess: Floats | None
) -> tuple[float, Floats]:
    """β, and what every item contributes to its error; ``guess`` is Z, without which all items weigh the same."""
    z, x, r, s = instrument[use], count[use], reply[use], size[use]
    if len(z) < ITEMS or np.ptp(z) == 0.0 or not r.any() or not x.any():
        raise InputError(
            f"popularity(gamma=estimate): {len(z)} items with enough rows are too few to tell how popularity follows "
            "exposure. Give a larger training log, or a number: popularity(gamma=1).",
            code="exponent-unknown",
            items=len(z),
        )
    sides = np.column_stack([np.ones(len(z)), z - z.mean()])
    beta, phi, law = 0.5, 0.0, s
    log_k = float(np.log(r.sum() / np.sum(s * _shifted(x, beta) ** beta)))
    for _ in range(PASSES if guess is not None else 1):
        for _ in range(ROUNDS):
            base = _shifted(x, beta)
            law = s * np.exp(log_k) * base**beta
            weighed = sides
            if guess is not None:
                weighed = sides / (1.0 + phi * np.exp(log_k) * (guess[use] + 0.5) ** beta)[:, None]
            slope = weighed.T @ (law[:, None] * np.column_stack([np.ones(len(z)), np.log(base)]))
            step = np.clip(np.linalg.lstsq(slope, weighed.T @ (r - law), rcond=None)[0], -0.25, 0.25)
            log_k, beta = log_k + float(step[0]), beta + float(step[1])
            if np.abs(step).max() < 1e-9 or abs(beta) > 2.0 * STEEPEST:
                break
        phi = max(0.0, float(np.sum((r - law) ** 2 / law) - len(z)) / float(law.sum()))
    if not np.abs(step).max() < 1e-6:
        raise InputError(
            f"popularity(gamma=estimate): the exponent cannot be told from these {len(z)} items: they are too few, or "
            "popularity is no power of exposure. Give a number: popularity(gamma=1).",
            code="exponent-unknown",
            items=len(z),
        )
    pull = np.linalg.solve(slope, weighed.T)
    leverage = law * (pull[0] + pull[1] * np.log(base))
    influence = np.zeros(len(instrument))
    influence[use] = pull[1] * (r - law) / (1.0 - np.clip(leverage, 0.0, 0.9))
    return beta, influence


def _shifted(count: Floats, beta: float) -> Floats:
    """X + (1 − β)/2, kept above 0."""
    return np.maximum(count + (1.0 - beta) / 2.0, 0.25)
