"""Parts of the users as Spark has them, without Spark: rows are dealt out, packed and merged in this process."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from typing import Any

import polars as pl

from unskew.alignment.inputs import Inputs
from unskew.alignment.part import AlignedPart, PartFacts
from unskew.auditing import Audit
from unskew.auditing.looks import Question
from unskew.auditing.run import concluded
from unskew.auditing.spark import LOG, MCAR, Answers
from unskew.auditing.spark import PartMaker as AuditPartMaker
from unskew.auditing.walk import Audited, told_feedback, walk
from unskew.engine.spark.dealing import Piece, part_places
from unskew.engine.spark.folding import Partial, merged
from unskew.engine.spark.packing import packed, unpacked
from unskew.evaluation.conclude import conclude
from unskew.evaluation.dealt import IDS, Found, SparkInput
from unskew.evaluation.part_inputs import GUESSES, MODEL, AlignedFacts, PartMaker, asked_inputs, bare, facts_of
from unskew.evaluation.partitions import settle_parts
from unskew.evaluation.parts_of_users import AlignedParts
from unskew.evaluation.request import Request
from unskew.kernels.arrays import present
from unskew.log.batches import Kind, Reading, common_type, id_type
from unskew.result import Result


def merged_all(values: list[Any]) -> Any:
    """Merged as the driver does: partial sums as bytes, in any order."""
    rows = [Partial({number: 0}, value).row for number, value in enumerate(values)][::-1]
    return merged([row[0] for row in rows], [row[2] for row in rows]).value


def dealt(name: str, frame: pl.DataFrame, how: Reading, types: Any, parts: list[dict[str, pl.DataFrame]]) -> Any:
    """Deal the good rows of an input out to parts; gives what was found of it."""
    checked = how.check(frame, name, 0, types)
    clean = checked.frame
    piece = Piece(checked._replace(frame=clean.clear()), len(frame), len(clean), clean.schema)
    places = part_places(clean["user"], len(parts))
    for place, part in enumerate(parts):
        if (places == place).any():
            part[name] = clean.filter(pl.Series(places == place))
    return Found.of_piece(piece).merge(Found.of_rows(clean)).looked_through(SparkInput(None, how, types))


class LocalParts:
    """The inputs of a request, given as frames, in so many parts."""

    def __init__(self, request: Request, parts: int) -> None:
        self._parts: list[dict[str, pl.DataFrame]] = [{} for _ in range(parts)]
        asked = dict(asked_inputs(request, lambda name, frame: frame.columns))
        sources = {name: name.removeprefix(MODEL) for name in asked}
        if (table := asked.get(GUESSES)) is not None:
            sources[GUESSES], asked[GUESSES] = str(table.given), table._replace(given=pl.read_parquet(table.given))
        user = common_type([id_type(each.given.schema["user"]) for each in asked.values()])
        looked = {}
        for name, each in asked.items():
            log = each.kind == "log"
            how = Reading(
                each.kind,
                sources[name],
                each.columns,
                each.keep,
                request.invalid == "drop",
                request.feedback if log else None,
                request.duplicates if log else None,
            )
            names = how.names(name, each.given.columns)
            how = replace(how, columns=names, said=each.columns)
            frame = each.given.select(pl.col(theirs).alias(ours) for ours, theirs in names.items())
            types = {ours: id_type(dtype) for ours, dtype in frame.schema.items() if ours in IDS} | {"user": user}
            looked[name] = dealt(name, frame, how, types, self._parts)
        self.facts = facts_of(request, looked)
        self._make = PartMaker({name: each.parts for name, each in looked.items()}, self.facts, request.rates)
        self.people = self._make.people

    def fold(self, of: Callable[[Inputs], Any], stage: str) -> Any:
        parts = [self._make(part.get, lists=False) for part in self._parts]
        return merged_all([of(part) for part in parts if len(part.users)])

    def align(
        self, of: Callable[[Inputs], AlignedPart], also: Callable[[Inputs], Any]
    ) -> tuple[AlignedParts, PartFacts, Any]:
        shared = tuple(getattr(of, "vocabulary", ()))
        parts = [self._make(part.get, lists=True) for part in self._parts if part]
        aligned = [of(part) for part in parts]
        kept = [list(packed(bare(each), shared)) for each, part in zip(aligned, parts, strict=True) if len(part.users)]
        facts = [AlignedFacts(present(each.facts), also(part)) for each, part in zip(aligned, parts, strict=True)]
        found: AlignedFacts = reduce(AlignedFacts.merge, facts)
        return LocalAligned(kept, shared), found.facts, found.also


class LocalAligned:
    """Aligned parts as bytes."""

    def __init__(self, kept: list[list[bytes]], shared: tuple[object, ...]) -> None:
        self._kept, self._shared = kept, shared

    def fold(self, of: Callable[[AlignedPart], Any], stage: str) -> Any:
        return merged_all([of(unpacked(chunks, self._shared)) for chunks in self._kept])

    def remade(self, of: Callable[[AlignedPart], tuple[AlignedPart, Any]], stage: str) -> tuple[AlignedParts, Any]:
        made = [of(unpacked(chunks, self._shared)) for chunks in self._kept]
        return LocalAligned([list(packed(part, self._shared)) for part, _ in made], self._shared), merged_all(
            [found for _, found in made]
        )


def audit(log: pl.DataFrame, parts: int, mcar: pl.DataFrame | None = None, **options: Any) -> Audit:
    """The audit of a log whose users are in so many parts."""
    given = {LOG: log} | ({} if mcar is None else {MCAR: mcar})
    user = common_type([id_type(frame.schema["user"]) for frame in given.values()])
    divided: list[dict[str, pl.DataFrame]] = [{} for _ in range(parts)]
    looked = {}
    for name, frame in given.items():
        how = Reading(Kind.LOG, name, {}, (), False, options.get("feedback"), "first")
        used = frame.select(how.names(name, frame.columns).values())
        types = {ours: id_type(dtype) for ours, dtype in used.schema.items() if ours in IDS} | {"user": user}
        looked[name] = dealt(name, used, how, types, divided)
    relevant = options.get("relevant")
    whole = looked[LOG].template
    asked = Audited(
        whole, looked[MCAR].template if mcar is not None else None, told_feedback(whole, relevant), relevant
    )
    make = AuditPartMaker({name: each.parts for name, each in looked.items()}, asked.feedback, relevant)

    def ask(questions: Mapping[str, Question]) -> Mapping[str, Any]:
        made = [make(part) for part in divided if part]
        carried = pickle.loads(pickle.dumps(questions))
        answers = [Answers({name: question(part) for name, question in carried.items()}) for part in made]
        found: Answers = merged_all(answers)
        return found.answers

    return concluded(walk(asked, ask), None)


def evaluate(parts: int, **call: Any) -> Result:
    """The result of a call whose users are in so many parts."""
    request = Request.of(**call)
    return conclude(settle_parts(request, LocalParts(request, parts), lambda stage, done, total: None))
