"""A plan: how many answers decide each pair of models, and the draw of the pairs to ask about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unskew.core.atomic import atomic_file
from unskew.core.bounds import SEED, Number
from unskew.core.errors import InputError
from unskew.core.notice import Notice
from unskew.core.outputs import refuse_same
from unskew.core.showing import ShownTable
from unskew.core.text import plain_path
from unskew.design.draw import draw
from unskew.design.listed import Looked
from unskew.design.pilot import Pilot, pilot_of
from unskew.design.power import Curve, Question
from unskew.design.rounds import Asked, read_asked, together
from unskew.kernels.arrays import Floats
from unskew.log import Recommendations
from unskew.log.drawing import BARRED, DRAWN_FOR
from unskew.log.ids import hash_texts
from unskew.outcome.base import PairPredictor

SCHEMA_VERSION = 1
GUESSED_LOW = Notice(
    "The log holds positives only: how relevant pairs are is guessed from how many users took an item, which is too "
    "low by the chance of being seen, so that the plan usually asks for many times the answers that it takes. A log "
    "that keeps what was seen and not taken (feedback='conversions') plans much better, and so do the answers of a "
    "first, small round (rounds=2).",
    code="positives-only",
)
ROWS = Number(above=0.0, high=1e12)


def round_stream(seed: int, number: int) -> int:
    """The random numbers of one round: rounds of one seed are drawn independently of each other."""
    return int(hash_texts(pl.Series([f"plan {seed} {number}"]))[0])


@dataclass(frozen=True)
class PairPlan:
    """What it takes to decide one pair of models.

    Args:
        detect: the difference to detect, on the scale of the metric.
        differing: pairs that the two lists value differently, and that can be asked about.
        rows_random: answers needed if pairs were drawn at random from all candidates; ``None``: see ``needs``.
        rows_differ: answers needed if they were drawn evenly from the pairs where these two lists differ.
        rows: rows to ask for with this plan's draw, which serves all pairs of models, its uniform share included.
        needs: ``rows``; where no number of rows is enough, ``users``, ``positives``, ``pairs`` or ``limits``; ``size``
            where the log suggests no difference; ``nothing`` where the lists do not differ.
        times_users: how many times as many users would be needed, where it is users that are lacking.
    """

    a: str
    b: str
    detect: float
    differing: int
    rows_random: int | None
    rows_differ: int | None
    rows: int | None
    needs: str
    times_users: float | None = None


@dataclass(frozen=True)
class Settings:
    """What was asked, and what follows from the inputs."""

    metric: str
    detect: str
    level: float
    power: float
    critical: float
    simultaneous: bool
    users_are: str
    rounds: int
    uniform: float
    per_user: int | None
    relevance: str
    positives_only: bool
    fixed_relevance: bool
    users: int
    items: int
    candidates: int
    relevant: float
    relevant_error: float


@dataclass(frozen=True, eq=False)
class Parts:
    """What a plan draws from and reckons with; ``detect`` is T by [model, model], ``drawn_for`` tells the lists."""

    looked: Looked
    curve: Curve
    detect: Floats
    lists: Sequence[Recommendations]
    worth: Floats
    q: PairPredictor
    drawn_for: tuple[str, ...]


def _ratio(expected: float, guessed: float) -> float:
    return expected / guessed if guessed > 0.0 else 1.0


@dataclass(frozen=True, eq=False)
class Draw:
    """The pairs to ask about: ``user, item, propensity``, and how they were drawn (``log/drawing.py``).

    Args:
        frame: also the rows of earlier rounds, with their answers.
        new: rows that were not asked about before.
        rows: rows asked for; the draw's own number differs by chance.
    """

    frame: pl.DataFrame
    new: int
    rows: float
    seed: int
    sources: tuple[Path, ...] = ()

    def write(self, path: str | Path) -> None:
        """Write the table as .parquet or .csv, whole or not at all."""
        ending = Path(path).suffix.lower()
        if ending not in (".parquet", ".pq", ".csv"):
            raise InputError(
                f"{plain_path(path)}: the file's name should end in .parquet or .csv.", code="wrong-extension"
            )
        refuse_same([(plain_path(path), Path(path))], list(self.sources))
        with atomic_file(path) as temporary, temporary.open("wb") as file:
            if ending == ".csv":
                self.frame.write_csv(file)
            else:
                self.frame.write_parquet(file)


@dataclass(frozen=True, eq=False)
class Plan(ShownTable):
    """How many answers decide, pair by pair of models.

    Args:
        pairs: one row per pair of models.
        questions: what the numbers are made of, in the same order.
        parts: lists, weights and curve.
        asked: what earlier rounds drew.
        sources: the files it was made from.
        notes: what a reader should know.
    """

    models: tuple[str, ...]
    pairs: tuple[PairPlan, ...]
    settings: Settings
    notes: tuple[str, ...]
    questions: tuple[Question, ...]
    parts: Parts
    asked: Asked | None = None
    pilot: Pilot | None = None
    sources: tuple[Path, ...] = ()

    @property
    def round(self) -> int:
        """Which round a draw would be, from 1."""
        return 1 + (0 if self.asked is None else len(self.asked.rows))

    def table(self) -> pl.DataFrame:
        """One row per pair of models."""
        kinds = {"rows_random": pl.Int64, "rows_differ": pl.Int64, "rows": pl.Int64, "times_users": pl.Float64}
        return pl.DataFrame([asdict(pair) for pair in self.pairs], schema_overrides=kinds)

    def power(self, rows: Iterable[float] | None = None) -> pl.DataFrame:
        """The chance of the right verdict by rows asked for, ``rows, a, b, power, power_random``."""
        asked = [float(ROWS.of(each, "rows")) for each in rows] if rows is not None else self._usual_rows()
        found = [
            {
                "rows": each,
                "a": pair.a,
                "b": pair.b,
                "power": self.power_of(place, each),
                "power_random": question.even(self.settings.candidates)(min(each, self.settings.candidates)),
            }
            for place, (pair, question) in enumerate(zip(self.pairs, self.questions, strict=True))
            for each in asked
        ]
        kinds = {"rows": pl.Float64, "power": pl.Float64, "power_random": pl.Float64}
        return pl.DataFrame(found, schema_overrides=kinds)

    def power_of(self, place: int, rows: float) -> float:
        """The chance of the right verdict on one pair of models by rows asked for."""
        pair, question = self.pairs[place], self.questions[place]
        curve, stakes = self.parts.curve, self.parts.looked.stakes
        a, b = self.models.index(pair.a), self.models.index(pair.b)
        spread, positives = curve.at(min(rows, float(curve.rows[-1])), a, b)
        spread *= _ratio(question.variance, float(stakes.variance[a, b]))
        return question.power(spread, positives * _ratio(question.hits, float(stakes.hits[a, b])))

    def _usual_rows(self) -> list[float]:
        """From 20 rows to a few times what is needed."""
        needed = [pair.rows for pair in self.pairs if pair.rows is not None]
        last = min(4.0 * max(needed, default=2_500), float(self.parts.curve.rows[-1]))
        return [float(each) for each in np.geomspace(20.0, max(last, 40.0), 40)]

    def draw(self, rows: float, seed: int = 0) -> Draw:
        """Draw about so many pairs to ask about; with declared rounds, those of this round beside the earlier ones."""
        rows, seed = float(ROWS.of(rows, "rows")), int(SEED.of(seed, "seed"))
        if rows < 1.0:
            raise InputError(f"a draw needs at least one row, not {rows:g}.", code="out-of-range", option="rows")
        design, number = self.parts.looked.design, self.round
        scale = design.scale(rows)
        drawn = draw(design, scale, round_stream(seed, number))
        who = design.candidates
        frame = pl.DataFrame({"user": who.users.values[drawn.user], "item": who.items.values[drawn.item]})
        if self.settings.rounds == 1:
            frame = frame.with_columns(propensity=pl.Series(drawn.propensity), **self._drawing)
            return Draw(frame, len(frame), rows, seed, self.sources)
        return self._with_rounds(frame, drawn.user.astype(np.int64), drawn.item.astype(np.int64), rows, seed)

    @property
    def _drawing(self) -> dict[str, pl.Expr]:
        """Columns for the lists that this is drawn for, and for what could not be drawn where these differ."""
        barred = self.parts.looked.stakes.barred
        drawn_for = " ".join(self.parts.drawn_for if self.asked is None else self.asked.drawn_for)
        named = (BARRED, barred), (DRAWN_FOR, drawn_for)
        return {name: pl.lit(value) for name, value in named if value}

    def _with_rounds(self, frame: pl.DataFrame, user: Any, item: Any, rows: float, seed: int) -> Draw:
        """This round's rows and the earlier ones, each with its probability in every round and in all together."""
        design, asked, number = self.parts.looked.design, self.asked, self.round
        value, drawn_in = np.full(len(user), np.nan), np.full(len(user), number)
        sizes, scales = [rows], [design.scale(rows)]
        if asked is not None:
            width = np.int64(len(design.candidates.items))
            new = ~np.isin(user * width + item, asked.user * width + asked.item)
            user, item = np.append(asked.user, user[new]), np.append(asked.item, item[new])
            value, drawn_in = np.append(asked.value, value[new]), np.append(asked.round, drawn_in[new])
            sizes, scales = [*asked.rows, rows], [*asked.scales, *scales]
            who = design.candidates
            frame = pl.DataFrame({"user": who.users.values[user], "item": who.items.values[item]})
        p = np.stack([design.of(user, item, scale) for scale in scales], axis=1)
        frame = frame.with_columns(
            value=pl.Series(value).fill_nan(None),
            propensity=pl.Series(together(p)),
            round=pl.Series(drawn_in),
            rounds=pl.lit(self.settings.rounds),
            **self._drawing,
        )
        for r, size in enumerate(sizes):
            frame = frame.with_columns(
                pl.Series(f"propensity_{r + 1}", p[:, r]), pl.lit(size).alias(f"rows_{r + 1}")
            )  # fmt: skip
        return Draw(frame, int(np.count_nonzero(drawn_in == number)), rows, seed, self.sources)

    def next(self, answers: Any) -> Plan:
        """The plan of the next round, from the file that the last one wrote, with answers in a column ``value``."""
        from unskew.design.deciding import decide

        if self.settings.rounds == 1:
            raise InputError(
                "a plan that continues declares its rounds from the first on: rounds=3.", code="undeclared-rounds"
            )
        asked = read_asked(answers, self.parts.looked.design, self.settings.rounds, self.parts.drawn_for)
        pilot = pilot_of(asked, self.parts.looked, self.parts.lists, self.parts.worth, self.parts.q)
        sources = self.sources + ((Path(answers),) if isinstance(answers, str | Path) else ())
        notes = (note for note in self.notes if not (note == GUESSED_LOW and pilot.informs))
        plan = replace(self, asked=asked, pilot=pilot, sources=sources, notes=(*notes, *pilot.notes))
        return decide(plan)

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "schema_version": SCHEMA_VERSION,
            "models": list(self.models),
            "settings": asdict(self.settings),
            "round": self.round,
            "asked": 0 if self.asked is None else len(self.asked.user),
            "pairs": [asdict(pair) for pair in self.pairs],
            "power": self.power().to_dicts(),
            "notes": list(self.notes),
        }

    def _made_from(self) -> Iterable[Path]:
        return self.sources

    def __repr__(self) -> str:
        found = ", ".join(
            f"{pair.a}–{pair.b}: {f'{pair.rows:,} rows' if pair.rows is not None else pair.needs}"
            for pair in self.pairs[:3]
        )
        return f"<Plan {found}{' …' if len(self.pairs) > 3 else ''}; .draw(rows), .to_html()>"
