"""The study of jeunen18: which experiments there are, and what their page says."""

from __future__ import annotations

from unskew.studies.jeunen18 import table2, table3, truth, variants
from unskew.studies.jeunen18.protocols import LOOCV, SW
from unskew.studies.jeunen18.setting import SOURCES, VERSION, Setting
from unskew.studies.study import Chart, Experiment, Study

FIGURE_1 = tuple(
    Chart(f"table2/{name}, {protocol}", f"{name}: Recall@k under {protocol}", "k", "Recall@k")
    for name in SOURCES
    for protocol in table2.protocols_of(name)
    if protocol in (LOOCV, SW)
)
FIGURE_2 = tuple(
    Chart(f"table3/{policy}, {protocol}", f"Rows of '{policy}': Recall@k under {protocol}", "k", "Recall@k")
    for protocol in (LOOCV, SW)
    for policy in table3.OWN
)

STUDY = Study(
    name="jeunen18",
    title="Fair Offline Evaluation Methodologies for Implicit-Feedback Recommender Systems with MNAR Data",
    story="""
TODO
""",
    version=VERSION,
    setting=lambda store, workers: Setting(store, workers=workers),
    experiments=(
        Experiment("table1", "Table 1: the logs", "TODO", table2.table_1, 1, 1, folded=False),
        Experiment(
            "table2", "Table 2 and Figure 1: leave-one-out against SW-EVAL", "TODO", table2.table_2, 1, 1, FIGURE_1
        ),
        Experiment("first-only", "Only the first item of a window", "TODO", variants.first_only, 1, 1),
        Experiment("widths", "Windows of other widths", "TODO", variants.widths, 1, 1, folded=False),
        Experiment("table3", "Table 3 and Figure 2: what the logging policy does", "TODO", table3.run, 1, 1, FIGURE_2),
        Experiment(
            "truth", "Which protocol ranks as an A/B test would?", "TODO", truth.run, truth.RUNS, 3, folded=False
        ),
    ),
)
