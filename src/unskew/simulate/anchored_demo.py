"""The whole way from a log that cannot decide to a verdict, in a shop whose truth is known.

    1  what ``evaluate`` says of two models from the log alone
    2  ``plan``: how many answers decide, and the draw
    3  the shop answers: its own relevance, some questions unanswered
    4  what ``evaluate`` says with the answers, and the truth

The log holds the pages that users opened and what came of it (conversions, zeros included), without propensities: what
the shop window shows is not known. ``popular`` is what the log favours, ``challenger`` knows tastes and is better.

Everything is computed from the tables that ``write`` leaves in a folder, so that the commands there repeat each step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from unskew.core.atomic import atomic_file, folder, together
from unskew.core.errors import InputError
from unskew.core.outputs import refuse_existing
from unskew.core.showing import Shown
from unskew.design import Draw, Plan
from unskew.design.run import plan
from unskew.evaluation import evaluate
from unskew.inference.verdict import Outcome
from unskew.log import Feedback, Recommender
from unskew.models import MostPopular
from unskew.result import Estimate, Result, Verdict
from unskew.simulate.answering import answer
from unskew.simulate.world import World, relevant_for

METRIC, TARGET, ANCHORED = "recall@10", "pooled", "anchored"
CHALLENGER, POPULAR = "challenger", "popular"
SHOWN = 0.8  # impressions per user and item: 400 of 500 items, some of them often and most never
NOISE = 0.8  # of the challenger: so good that the log alone does not decide against it
DEPTH = 10  # length of the lists
LEAST = 3 * DEPTH  # items
DETECT = "20%"
PER_USER = 3
INPUTS = ("train", "test", "users", CHALLENGER, POPULAR)
FILES = tuple(f"{name}.parquet" for name in (*INPUTS, "ask", "answers"))

Stage = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class AnchoredDemo(Shown):
    """What each step gave.

    Args:
        tables: logs, population and lists, by the names of their files.
        before, after: the results without and with answers; ``after`` is ``None`` where nothing could be asked.
        drawn: the pairs that were asked about; ``answers`` has what came back.
        truth: of each model, for the users of this shop.
    """

    world: World
    tables: dict[str, pl.DataFrame]
    before: Result
    plan: Plan
    truth: dict[str, float]
    drawn: Draw | None = None
    answers: pl.DataFrame | None = None
    after: Result | None = None

    @property
    def lead(self) -> float:
        """The challenger's true lead."""
        return self.truth[CHALLENGER] - self.truth[POPULAR]

    @property
    def verdict(self) -> Verdict | None:
        """What log and answers say of the challenger against the popular items."""
        found = () if self.after is None else self.after.verdicts_
        return next((v for v in found if (v.estimator, v.target) == (ANCHORED, TARGET)), None)

    @property
    def agrees(self) -> bool | None:
        """Whether the verdict names the model that is better in truth; ``None`` where it names none."""
        verdict = self.verdict
        if verdict is None or not Outcome(verdict.verdict).decided:
            return None
        return Outcome(verdict.verdict).first == (self.lead > 0.0)

    def estimates(self) -> list[Estimate]:
        """The values from log and answers."""
        found = () if self.after is None else self.after.estimates
        return [e for e in found if (e.estimator, e.target) == (ANCHORED, TARGET)]

    def commands(self, place: str) -> tuple[str, str, str]:
        """What repeats the steps 1, 2 and 4 from the files in a folder."""
        models = " ".join(f"--recs {name}={place}/{name}.parquet" for name in (CHALLENGER, POPULAR))
        both = f"--users {place}/users.parquet --feedback conversions {models}"
        judge = f"unskew evaluate {place}/test.parquet --train {place}/train.parquet {both} --metric {METRIC}"
        rows = f"--draw {self.drawn.rows:.0f} --seed {self.drawn.seed} -o {place}/ask.parquet" if self.drawn else ""
        ask = f"unskew plan {place}/test.parquet --seen {place}/train.parquet {both} --detect {DETECT}"
        return judge, f"{ask} --per-user {PER_USER} {rows}".strip(), f"{judge} --answers {place}/answers.parquet"

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "before": self.before.to_dict(),
            "plan": self.plan.to_dict(),
            "after": None if self.after is None else self.after.to_dict(),
            "truth": self.truth,
            "agrees": self.agrees,
        }

    def write(self, directory: str | Path, *, force: bool = False) -> list[Path]:
        """Leave the files of every step in a folder, all or none; questions and answers where there are any."""
        refuse_existing([Path(directory) / name for name in FILES], force)
        asked = {} if self.drawn is None else {"ask": self.drawn.frame, "answers": self.answers}
        paths = []
        with together():
            for name, table in {**self.tables, **asked}.items():
                assert table is not None
                paths.append(folder(directory) / f"{name}.parquet")
                with atomic_file(paths[-1]) as temporary, temporary.open("wb") as file:
                    table.write_parquet(file)
        return paths


def anchored_demo(users: int = 2000, items: int = 500, seed: int = 0, progress: Stage | None = None) -> AnchoredDemo:
    """Walk through all steps in one shop."""
    if items < LEAST:
        raise InputError(
            f"this demo needs at least {LEAST} items, not {items}: lists of {DEPTH} would hardly differ.",
            code="out-of-range",
            option="items",
        )
    say = progress or (lambda stage, done, total: None)
    say("simulating a shop", 0, 4)
    world = World(
        users=users,
        items=items,
        seed=seed,
        relevant=relevant_for(items),
        impressions=SHOWN * items,
        feedback=Feedback.CONVERSIONS,
    )
    models: dict[str, Recommender] = {CHALLENGER: world.challenger(NOISE), POPULAR: MostPopular().fit(world.train)}
    lists = {name: model.recommend(world.train.users, DEPTH, seen=world.train) for name, model in models.items()}
    tables = {
        "train": world.train.to_frame(),
        "test": world.test.to_frame().drop("propensity"),  # nobody knows what the window shows
        "users": world.relevant_counts().select("user"),
    } | {name: found.to_frame() for name, found in lists.items()}
    truth = {name: world.truth(found, METRIC, TARGET) for name, found in lists.items()}
    given = {name: tables[name] for name in models}
    common: dict[str, Any] = {"users": tables["users"], "feedback": Feedback.CONVERSIONS}

    def judged(answers: pl.DataFrame | None) -> Result:
        return evaluate(tables["test"], given, train=tables["train"], metrics=[METRIC], answers=answers, **common)

    say("judging from the log alone", 1, 4)
    before = judged(None)
    say("planning", 2, 4)
    planned = plan(
        given, log=tables["test"], seen=tables["train"], metric=METRIC, detect=DETECT, per_user=PER_USER, **common
    )
    found = AnchoredDemo(world, tables, before, planned, truth)
    rows = planned.pairs[0].rows
    if rows is None:
        return found
    drawn = planned.draw(rows, seed)
    answers = answer(world, drawn.frame, seed=seed)
    say("judging with the answers", 3, 4)
    return AnchoredDemo(world, tables, before, planned, truth, drawn, answers, judged(answers))
