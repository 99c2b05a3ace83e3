"""Small drawn logs with every awkward user in them, as the library gets them and as the reference does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from hypothesis import strategies as st

import unskew as us
from tests.conversions.reference import Metric, Row, Rule, World
from tests.drawn import evaluate_or_reject
from unskew.outcome import Given

USERS = [f"u{n}" for n in range(6)]
ITEMS = [f"i{n}" for n in range(7)]
STRANGE = ["x0", "x1"]  # listed by models, known to no log; perhaps named
SEGMENTS = {user: "even" if n % 2 == 0 else "odd" for n, user in enumerate(USERS)}

METRICS = {
    "recall@2": Metric("recall", 2),
    "recall@20": Metric("recall", 20),
    "precision@3": Metric("precision", 3),
    "cg@2": Metric("cg", 2),
    "dcg@3": Metric("dcg", 3),
    "dcg": Metric("dcg"),
    "rbp(p=0.7)@4": Metric("rbp", 4, p=0.7),
    "arhr": Metric("arhr"),
}
RULES = {
    "naive": Rule("naive"),
    "ips": Rule("ips"),
    "snips": Rule("snips"),
    "snips(over=list)": Rule("snips over list"),
    "direct": Rule("direct"),
    "dr": Rule("dr"),
    "sndr": Rule("sndr"),
    "switch(tau=4)": Rule("switch", tau=4.0),
    "clipped(ips, at=0.3)": Rule("ips", floor=0.3),
    "clipped(snips, at=0.3)": Rule("snips", floor=0.3),
    "clipped(snips(over=list), at=0.3)": Rule("snips over list", floor=0.3),
    "clipped(dr, at=0.3)": Rule("dr", floor=0.3),
    "clipped(sndr, at=0.3)": Rule("sndr", floor=0.3),
    "switch(tau=30)": Rule("switch", tau=30.0),
}


@dataclass(frozen=True)
class Drawn:
    """One drawn log with its lists and guesses, and the metrics that are looked at this time."""

    rows: tuple[Row, ...]
    train: tuple[tuple[str, str], ...]
    lists: Mapping[str, Mapping[str, Mapping[str, int]]]
    q: Mapping[tuple[str, str], float]
    unseen: bool = True
    drop_seen: bool = False
    feedback: str = "conversions"
    named: tuple[str, ...] | None = None
    metrics: tuple[str, ...] = tuple(METRICS)

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(self.lists)

    def test(self) -> pl.DataFrame:
        return pl.DataFrame(
            {
                "user": [row.user for row in self.rows],
                "item": [row.item for row in self.rows],
                "value": [row.value for row in self.rows],
                "propensity": [row.propensity for row in self.rows],
            }
        )

    def frames(self) -> dict[str, pl.DataFrame]:
        found = {}
        for model, lists in self.lists.items():
            entries = [(u, i, rank) for u, ranks in lists.items() for i, rank in ranks.items()]
            found[model] = pl.DataFrame(entries, schema=["user", "item", "rank"], orient="row")
        return found

    def guesses(self) -> Given:
        rows = [(u, i, q) for (u, i), q in self.q.items()]
        return Given(pl.DataFrame(rows, schema=["user", "item", "prediction"], orient="row"))

    def world(self, model: str, users: Sequence[str] = USERS) -> World:
        world = World(users, self.rows, self.train, self.lists[model], self.q, self.unseen, self.named)
        return world.without_training_items() if self.drop_seen else world


def evaluate(drawn: Drawn, estimators: Sequence[str] = tuple(RULES), **options: Any) -> us.Result:
    """What the library makes of it."""
    train = [(user, item, 1.0) for user, item in drawn.train]
    settings: dict[str, Any] = {
        "metrics": list(drawn.metrics),
        "target": ["per_user_sum", "per_user_sum(normalised=pooled)", "per_user_sum(normalised=per_user)"],
        "propensity": "known", "outcome": drawn.guesses(),
        "train": pl.DataFrame(train, schema=["user", "item", "value"], orient="row"),
        "users": pl.DataFrame({"user": USERS, "half": [SEGMENTS[user] for user in USERS]}),
        "items": None if drawn.named is None else pl.DataFrame({"item": drawn.named}),
        "candidates": "unseen" if drawn.unseen else "all", "drop_seen": drawn.drop_seen, "feedback": drawn.feedback,
        "refused": "skip", "threads": 1,
    }  # fmt: skip
    return evaluate_or_reject(drawn.test(), drawn.frames(), estimators=list(estimators), **(settings | options))


@st.composite
def lists_of_a_model(draw: st.DrawFn) -> dict[str, dict[str, int]]:
    """For some users a list with gaps between its ranks, of known, trained and strange items."""
    lists = {"u0": {draw(st.sampled_from(ITEMS)): draw(st.integers(1, 3))}}  # lists without any entry are an error
    for user in draw(st.lists(st.sampled_from([*USERS, "stranger"]), unique=True)):
        rank, ranks = 0, {}
        for item in draw(st.lists(st.sampled_from([*ITEMS, *STRANGE]), unique=True, min_size=1, max_size=5)):
            rank += draw(st.sampled_from([1, 1, 1, 2, 4]))
            ranks[item] = rank
        lists[user] = ranks
    return lists


@st.composite
def drawn_logs(draw: st.DrawFn) -> Drawn:
    """Silent users, users without lists, training rows that the test log repeats, 0/1 and graded outcomes."""
    values = draw(st.sampled_from([[0.0, 1.0], [0.0, 0.5, 1.0, 2.0, 3.5]]))
    rows = draw(
        st.lists(
            st.builds(
                Row, st.sampled_from(USERS[:5]), st.sampled_from(ITEMS), st.sampled_from(values), st.floats(0.02, 1.0)
            ),
            unique_by=lambda row: (row.user, row.item),
            max_size=12,
        )
    )
    sure = [Row("u0", "i0", 0.0, draw(st.floats(0.02, 1.0))), Row("u1", "i1", 1.0, draw(st.floats(0.02, 1.0)))]
    taken = {(row.user, row.item) for row in sure}
    rows = sure + [row for row in rows if (row.user, row.item) not in taken]
    pairs = st.tuples(st.sampled_from(USERS), st.sampled_from([*ITEMS, "t0"]))
    train = draw(st.lists(pairs, unique=True, min_size=1, max_size=10).filter(lambda found: not taken & set(found)))
    top = max(values)
    q = {(u, i): top * draw(st.floats(0.01, 0.98)) for u in USERS for i in [*ITEMS, *STRANGE, "t0"]}
    names = ("one", "two", "three")[: draw(st.integers(1, 3))]
    unseen = draw(st.booleans())
    return Drawn(
        tuple(rows),
        tuple(train),
        {name: draw(lists_of_a_model()) for name in names},
        q,
        unseen,
        draw(st.booleans()),
        draw(st.sampled_from(["conversions", "ratings"])),
        draw(st.sampled_from([None, None, ("x0",), ("i0", "x1", "i6")])),
        (
            "dcg@3",
            *draw(
                st.lists(
                    st.sampled_from([name for name in METRICS if name != "dcg@3"]), unique=True, min_size=2, max_size=2
                )
            ),
        ),
    )
