"""The study of gs23: which experiments there are, and what their page says."""

from __future__ import annotations

from unskew_papers.gs23 import figure1, in_worlds, tables, theorem, variants
from unskew_papers.gs23.printed import SEEDS
from unskew_papers.gs23.setting import VERSION, Setting
from unskew_papers.study import Chart, Experiment, Study

QUICK = 3
FEW = "25 of the 81 models"
SMALL = f"{FEW}, and a tenth of the world's users"


def _boxes(part: str, where: str) -> tuple[Chart, ...]:
    """Figure 1."""
    title = f"Kendall's τ at Recall@100 over 20 seeds, {where}"
    return (Chart(f"{part}/{figure1.SEEDS_OF}", title, "strata of gs, naive and IPS", "Kendall's τ", boxes=True),)


STUDY = Study(
    name="gs23",
    title="Stratified Estimator for Recommendation Systems with Implicit Feedback",
    story="""
STORY
""",
    version=VERSION,
    setting=lambda store, workers: Setting(store, workers=workers),
    experiments=(
        Experiment(
            "table2",
            "Table 2: Kendall's τ on Coat",
            """
T2
""",
            tables.table_2,
            SEEDS,
            QUICK,
            smaller=FEW,
        ),
        Experiment(
            "figure1b",
            "Figure 1b: the number of strata, on Coat",
            """
F1B
""",
            figure1.on_coat,
            SEEDS,
            QUICK,
            _boxes("figure1b", "Coat"),
            smaller=f"{FEW}, and every other number of strata",
        ),
        Experiment(
            "variants",
            "Table 2 with one thing changed at a time",
            """
VAR
""",
            variants.variants,
            SEEDS,
            QUICK,
            smaller=FEW,
        ),
        Experiment(
            "table1",
            "Table 1: Kendall's τ on Yahoo! R3",
            """
T1
""",
            tables.table_1,
            SEEDS,
            QUICK,
            smaller=FEW,
        ),
        Experiment(
            "figure1a",
            "Figure 1a: the number of strata, on Yahoo! R3",
            """
As Figure 1b, with a copy of Yahoo! R3.
""",
            figure1.on_yahoo,
            SEEDS,
            QUICK,
            _boxes("figure1a", "Yahoo! R3"),
            smaller=f"{FEW}, and every other number of strata",
        ),
        Experiment(
            "theorem",
            "Theorems 4.1 and 4.2, user by user",
            """
THEO
""",
            theorem.theorem,
            5,
            1,
            smaller="40 of 200 draws of exposure",
        ),
        Experiment(
            "verdicts",
            "What the paper does not report: verdicts",
            """
VERD
""",
            variants.verdicts,
            SEEDS,
            QUICK,
        ),
        Experiment(
            "worlds",
            "Where gs beats IPS and naive, and where not",
            """
WORLDS
""",
            in_worlds.worlds,
            SEEDS,
            QUICK,
            smaller="250 of 1,000 users",
        ),
        Experiment(
            "simulated",
            "Not the paper's: Kendall's τ in a world of Yahoo's size",
            """
SIM
""",
            tables.simulated,
            SEEDS,
            QUICK,
            smaller=SMALL,
        ),
        Experiment(
            "simulated-strata",
            "Not the paper's: the number of strata there",
            """
SIMS
""",
            figure1.on_world,
            SEEDS,
            QUICK,
            _boxes("simulated-strata", "a simulated world"),
            smaller=f"{SMALL}; every other number of strata",
        ),
    ),
)
