"""The study of carraro20: which experiments there are, and what their page says."""

from __future__ import annotations

from unskew.studies.carraro20 import choices, in_worlds, tables
from unskew.studies.carraro20.click_worlds import KINDS
from unskew.studies.carraro20.setting import VERSION, Setting
from unskew.studies.study import Chart, Experiment, Study

STUDY = Study(
    name="carraro20",
    title="Debiased Offline Evaluation of Recommender Systems: A Weighted-Sampling Approach",
    story="""
TODO
""",
    version=VERSION,
    setting=lambda store, workers: Setting(store, workers=workers),
    experiments=(
        Experiment("table1", "Table 1: the data", "TODO", tables.table_1, 1, 1, folded=False),
        Experiment(
            "table2",
            "Table 2: Recall@10 on every test set",
            "TODO",
            tables.table_2,
            tables.RUNS,
            tables.QUICK,
            folded=False,
        ),
        Experiment(
            "table3",
            "Tables 3 and 4: do they rank alike?",
            "TODO",
            tables.tables_3_and_4,
            tables.RUNS,
            tables.QUICK,
            folded=False,
        ),
        Experiment(
            "metrics", "Precision, MAP and NDCG", "TODO", choices.metrics, tables.RUNS, tables.QUICK, folded=False
        ),
        Experiment(
            "choices", "What the paper leaves open", "TODO", choices.choices, choices.RUNS, tables.QUICK, folded=False
        ),
        Experiment(
            "worlds",
            "Worlds with a known truth",
            "TODO",
            in_worlds.run,
            in_worlds.WORLDS,
            in_worlds.QUICK,
            tuple(
                Chart(part(kind), f"{title}: {kind}", x, "error, %")
                for part, title, x in (
                    (in_worlds.by_strength, "Error by the strength of the skew", "strength"),
                    (in_worlds.by_users, "Error by the size of the log", "users"),
                )
                for kind in KINDS
            ),
            folded=False,
        ),
    ),
)
