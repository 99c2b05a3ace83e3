"""The audit of DataFrames of Spark: its looks ask the same questions as in memory, of parts of the users.

Rows are checked and dealt out once (``evaluation/dealt.py``); every round of questions is one job, whose answers are
merged in a tree. Items and policies, sums, and the at most 50,000 rows on which widths are measured reach the driver.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from unskew.alignment.sources import Names, given_inputs
from unskew.auditing.looks import AuditPart, Question, row_gains
from unskew.auditing.record import Audit
from unskew.auditing.run import concluded
from unskew.auditing.walk import Audited, refuse_incomparable, told_feedback, walk
from unskew.core.errors import RefusedError
from unskew.engine.spark.dealing import Part, parts_in
from unskew.engine.spark.folding import Partial, rows_of
from unskew.evaluation.dealt import DealtInputs, as_rows, equipped_workers, named
from unskew.evaluation.read import Stage
from unskew.inference.merging import Mergeable, merged_by
from unskew.log import Feedback
from unskew.log.batches import Kind, Reading
from unskew.log.log import Duplicates, Invalid
from unskew.log.user_parts import UserParts

LOG, MCAR = "log", "mcar"
ROUNDS = 9  # of questions, at most


def audit(
    log: Any,
    *,
    mcar: Any = None,
    feedback: Feedback | str | None = None,
    relevant: str | None = None,
    columns: Mapping[str, str] | None = None,
    invalid: Invalid = "error",
    duplicates: Duplicates = "first",
    propensities: Any = (),
    partitions: int | None = None,
    progress: Stage | None = None,
) -> Audit:
    """``unskew.audit`` on DataFrames of Spark, of any size: the same numbers, findings and advice.

    Args:
        log: the log, a DataFrame ``user, item[, value][, time][, policy][, position][, propensity]``.
        mcar: a DataFrame of pairs drawn at random, ``user, item, value``.
        feedback, relevant, columns, invalid, duplicates: as in ``unskew.audit``.
        propensities: refused, since a check fits them to a part of the log in memory.
        partitions: into how many parts the users are divided; one for each million rows by default.
        progress: called with (stage, done, total).
    """
    say = progress or (lambda stage, done, total: None)
    if propensities:
        raise RefusedError(
            "propensities are checked by fitting them to a part of the log, which needs it in memory.\nAudit without "
            "them, and check them on a part of the users: us.audit(log.where('hash(user) % 100 = 0').toArrow(), "
            "propensities=…).",
            code="not-enough-memory",
            option="propensities",
        )
    names, drop = Names(columns, given_inputs(log=log, mcar=mcar)), invalid == "drop"
    read = {LOG: (log, names.of_test)} | ({} if mcar is None else {MCAR: (mcar, names.of_mcar)})
    inputs = {}
    for name, (given, theirs) in read.items():
        rows = as_rows(name, given)
        inputs[name] = rows, Reading(Kind.LOG, rows.source, theirs, (), drop, feedback, duplicates)
    with equipped_workers(), DealtInputs(inputs, partitions, say) as dealt:
        whole = dealt.looked[LOG].template
        other = dealt.looked[MCAR].template if MCAR in inputs else None
        if other is not None:
            refuse_incomparable(whole, other)
        asked = Audited(whole, other, told_feedback(whole, relevant), relevant)
        make, rounds = PartMaker(dealt.makers, asked.feedback, relevant), count(1)

        def ask(questions: Mapping[str, Question]) -> Mapping[str, Any]:
            say("looking at the rows", min(next(rounds), ROUNDS), ROUNDS)
            found: Answers = dealt.fold(AskingParts(dealt.names, make, questions))
            return found.answers

        return concluded(walk(asked, ask), columns)


@dataclass(frozen=True, eq=False)
class Answers(Mergeable):
    """The answers to the questions of a round."""

    answers: Mapping[str, Any] = merged_by(lambda a, b: {name: a[name].merge(b[name]) for name in a})


@dataclass(frozen=True, eq=False)
class PartMaker:
    """Makes parts for questions from the rows of some users."""

    makers: Mapping[str, UserParts]
    feedback: Feedback | None
    relevant: str | None

    def __call__(self, frames: Mapping[str, Any]) -> AuditPart:
        """Of one part; an input without rows there has no frame."""
        logs = {
            name: maker.log(frames[name]) if name in frames else maker.no_rows for name, maker in self.makers.items()
        }
        log = logs[LOG]
        return AuditPart(log, logs.get(MCAR), row_gains(log, self.feedback, self.relevant), dropped=log.account.dropped)


@dataclass(frozen=True, eq=False)
class AskingParts:
    """Carries questions to parts: the work of a task."""

    names: tuple[str, ...]
    make: PartMaker
    questions: Mapping[str, Question]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """One partial answer for each part."""
        for part in parts_in(batches):
            yield rows_of([Partial.of(part.number, part.checksum, self._found, part).row])

    def _found(self, part: Part) -> Answers | None:
        frames = named(part, self.names)
        if not frames:
            return None
        made = self.make(frames)
        return Answers({name: question(made) for name, question in self.questions.items()})
