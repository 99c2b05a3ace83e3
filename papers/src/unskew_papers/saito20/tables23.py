"""Table 2: how rare clicks are, by power. Table 3: on how many pairs q is good enough for Eq. 5, by bound.

A run is another start of the two factorisations. Rates are told in % (averages) and in millionths (minima), so that
their digits can be read.
"""

from __future__ import annotations

import numpy as np

from unskew.core import Progress
from unskew_papers.record import Near, Record
from unskew_papers.repeated import averaged
from unskew_papers.saito20.semi import BOUNDS, POWERS
from unskew_papers.saito20.setting import Setting
from unskew_papers.saito20.world import Noise

RUNS = 20
AVERAGES = (21.8, 11.3, 6.3, 2.3, 1.0, 0.5024, 0.2685)  # %
MINIMA = (69_000.0, 18_000.0, 4_764.0, 328.8, 22.69, 1.566, 0.108)  # millionths
SHARES = (100.0, 100.0, 94.6, 85.4, 76.3, 71.4, 68.4)  # %
AVERAGE, MINIMUM, SHARE = Near(relative=0.1), Near(relative=0.5), Near(absolute=1.5)


def run_2(setting: Setting, runs: int = RUNS, quick: bool = False, progress: Progress | None = None) -> list[Record]:
    """Average and least P(click) by power."""
    worlds = setting.worlds(range(runs), progress)
    records = []
    for place, power in enumerate(POWERS):
        for column, scale, rule, paper in (("mean", 1e2, AVERAGE, AVERAGES), ("least", 1e6, MINIMUM, MINIMA)):
            ours = np.array([scale * world[column][place] for world in worlds])
            name = "average, %" if column == "mean" else "minimum, millionths"
            records.append(averaged("table2", f"{power:g}", name, ours, paper=paper[place], rule=rule))
    return records


def run_3(setting: Setting, runs: int = RUNS, quick: bool = False, progress: Progress | None = None) -> list[Record]:
    """The share of pairs with q ≤ 2 P^cvr by bound; then with the noise of the code and with the formula as printed."""
    worlds = setting.worlds(range(runs), progress)
    of_pair, of_user = (list(Noise).index(noise) for noise in (Noise.PAIR, Noise.USER))
    records, others = [], []
    for place, bound in enumerate(BOUNDS):
        row = f"{bound:g}"
        ours = np.array([100.0 * world["helped"][of_pair, place] for world in worlds])
        records.append(averaged("table3", row, "%", ours, paper=SHARES[place], rule=SHARE))
        for name, values in (
            ("noise per user", [world["helped"][of_user, place] for world in worlds]),
            ("2^R̂ as printed", [world["printed"][place] for world in worlds]),
        ):
            others.append(averaged("table3/other readings, %", row, name, 100.0 * np.array(values)))
    return records + others
