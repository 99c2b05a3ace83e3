"""The study of gs23: which experiments there are, and what their page says."""

from __future__ import annotations

from unskew.studies.gs23 import figure1, in_worlds, tables, theorem, variants
from unskew.studies.gs23.printed import SEEDS
from unskew.studies.gs23.setting import VERSION, Setting
from unskew.studies.study import Chart, Experiment, Study

QUICK = 3


def _boxes(part: str, where: str) -> tuple[Chart, ...]:
    """Figure 1."""
    title = f"Kendall's τ at Recall@100 over 20 seeds, {where}"
    return (Chart(f"{part}/τ of every seed", title, "strata of gs, naive and IPS", "Kendall's τ", boxes=True),)


STUDY = Study(
    name="gs23",
    title="Stratified Estimator for Recommendation Systems with Implicit Feedback",
    story="""
To be written.
""",
    version=VERSION,
    setting=lambda store, workers: Setting(store, workers=workers),
    experiments=(
        Experiment("table2", "Table 2: Kendall's τ on Coat", "", tables.table_2, SEEDS, QUICK),
        Experiment(
            "figure1b",
            "Figure 1b: the number of strata, on Coat",
            "",
            figure1.on_coat,
            SEEDS,
            QUICK,
            _boxes("figure1b", "Coat"),
        ),
        Experiment(
            "table1", "Table 1: Kendall's τ on Yahoo! R3, or a world of its size", "", tables.table_1, SEEDS, QUICK
        ),
        Experiment(
            "figure1a",
            "Figure 1a: the number of strata, there",
            "",
            figure1.on_yahoo,
            SEEDS,
            QUICK,
            _boxes("figure1a", "the large set"),
        ),
        Experiment("variants", "What the paper leaves open, on Coat", "", variants.variants, SEEDS, QUICK),
        Experiment("verdicts", "What the paper does not report: verdicts", "", variants.verdicts, SEEDS, QUICK),
        Experiment("theorem", "Theorems 4.1 and 4.2, user by user", "", theorem.theorem, 5, 1),
        Experiment("worlds", "Where gs beats IPS and naive, and where not", "", in_worlds.worlds, SEEDS, QUICK),
    ),
)
