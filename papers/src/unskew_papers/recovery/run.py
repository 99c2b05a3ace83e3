"""Run a study: every model fitted and ranked once per draw, every question answered from those ranks.

    places → lists (one unit per model and draw) → truth and answers (one unit per draw and question) → scores

Units are made by processes, each with one thread, as many as memory allows; a finished one is kept under the hash of
all that it depends on (``core/store.py``), so that a run may be killed anywhere and started again, and ends with the
same result. Without ``keep_lists`` the lists of a draw are removed once all its questions are answered.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from unskew import InputError, RefusedError
from unskew.core import COUNTLESS, Progress, Store, Whole, Words, amount, available, each, memory_limit, shown
from unskew.log import Recommendations
from unskew_papers.recovery.draws import Draw, Place, Source
from unskew_papers.recovery.lists import make_lists, read_lists
from unskew_papers.recovery.makers import Maker, makers_of
from unskew_papers.recovery.questions import Asked, Question, checked_metrics, checked_targets, truth_of
from unskew_papers.recovery.result import StudyResult, put_together

BARE = 400_000_000  # bytes of a process that has loaded everything and done nothing
DRAWS = Whole(1, 10_000, COUNTLESS)
SEED, WORKERS, CANDIDATES = Whole(0, 2**31 - 1), Whole(1, 1024), Words(("unseen", "all"))
VERSION = "1"  # of the units that are kept; raise it when their meaning changes
Candidates = Literal["unseen", "all"]
Key = dict[str, Any]
Unit = dict[str, Any]


def study(
    source: Source,
    models: Mapping[str, Any] | Sequence[Any],
    questions: Sequence[Question],
    *,
    metrics: Sequence[str] = ("recall@10",),
    target: str | Sequence[str] = "pooled",
    seeds: int | Sequence[int] = 20,
    candidates: Candidates = "unseen",
    store: str | Path | None = None,
    keep_lists: bool = True,
    workers: int = 1,
    memory: str | int | None = None,
    progress: Progress | None = None,
) -> StudyResult:
    """How well does each way to estimate recover the truth, over many models and draws?

    Args:
        source: ``Paired(log, random)``, or ``Worlds(World(…))``.
        models: canonical strings, a list of them or by name; ``Imported`` and ``Written`` for others (``makers``).
        questions: the ways to estimate.
        metrics: of lists, with a cut-off.
        target: of all questions that name none of their own.
        seeds: how many draws, or which seeds.
        candidates: whether random pairs that stand in the training log count in the truth, as misses: ``unseen``
            leaves them out, ``all`` keeps them.
        store: a folder that keeps finished units, so that a stopped run goes on.
        keep_lists: keep the lists of finished draws, so that further questions need no further fits.
        workers: processes at once; fewer where memory is short. A script that asks for several must have its call
            under ``if __name__ == "__main__":``, as always with processes.
        memory: what all of them together may take (``8GiB``, or bytes); by default what is free.
        progress: called with (stage, done, total).
    """
    WORKERS.of(workers, "workers")
    room = available() if memory is None else memory_limit(memory)
    asked = Settings.of(metrics=metrics, target=target, seeds=seeds, candidates=candidates, keep_lists=keep_lists)
    depth = max([asked.depth, *(checked_metrics(question.metrics)[1] for question in questions if question.metrics)])
    if not questions or len({question.name for question in questions}) < len(questions):
        raise InputError(
            "give at least one question, each with a name of its own.", code="missing-argument", argument="questions"
        )
    task = StudyTask(source, makers_of(models), tuple(questions), asked.metrics, asked.targets, depth, asked.candidates)
    kept = nullcontext(store) if store is not None else tempfile.TemporaryDirectory(prefix="unskew-study-")
    with kept as folder:
        runner = Runner(task, Store(folder, VERSION), workers, room, asked.keep_lists, progress)
        return runner.run(source.places(asked.seeds))


class Settings(NamedTuple):
    """What holds for all questions.

    Args:
        depth: of lists.
    """

    metrics: tuple[str, ...]
    depth: int
    targets: tuple[str, ...]
    seeds: tuple[int, ...]
    candidates: Candidates
    keep_lists: bool

    @classmethod
    def of(
        cls,
        *,
        metrics: Sequence[str] = ("recall@10",),
        target: str | Sequence[str] = "pooled",
        seeds: int | Sequence[int] = 20,
        candidates: Candidates = "unseen",
        keep_lists: bool = True,
    ) -> Settings:
        """As people write them, checked."""
        CANDIDATES.of(candidates, "candidates")
        if not isinstance(keep_lists, bool):
            raise InputError(
                f"keep_lists must be True or False, not {shown(keep_lists)}.", code="wrong-type", option="keep_lists"
            )
        named, depth = checked_metrics(metrics)
        return cls(tuple(named), depth, tuple(checked_targets(target)), _seeds(seeds), candidates, keep_lists)


def _seeds(given: int | Sequence[int]) -> tuple[int, ...]:
    """Which draws: so many, or those of a list."""
    if not isinstance(given, list | tuple | range | np.ndarray):
        return tuple(range(int(DRAWS.of(given, "seeds, a number of draws or a list of seeds,"))))
    DRAWS.of(len(given), "the number of seeds")
    chosen = tuple(int(SEED.of(seed, "a seed")) for seed in given)
    if len(set(chosen)) < len(chosen):
        raise InputError(
            "seeds must be a number of draws, or a list of different seeds.", code="repeated-argument", option="seeds"
        )
    return chosen


@dataclass(frozen=True, eq=False)
class StudyTask:
    """What is asked of every draw; it is sent to processes.

    Args:
        depth: of lists.
    """

    source: Source
    makers: Mapping[str, Maker]
    questions: tuple[Asked, ...]
    metrics: tuple[str, ...]
    targets: tuple[str, ...]
    depth: int
    candidates: Candidates

    def lists_key(self, model: str, place: Place) -> Key:
        """What the lists of a model depend on."""
        told = {"unit": "lists", "data": self.source.mark, "draw": list(place), "depth": self.depth}
        return told | self.makers[model].key(place)

    @property
    def all_targets(self) -> list[str]:
        """Those of the study and of its questions: all that the truth is asked for."""
        own = (target for question in self.questions for target in question.target or ())
        return list(dict.fromkeys([*self.targets, *own]))

    @property
    def all_metrics(self) -> list[str]:
        """Those of the study and of its questions."""
        own = (metric for question in self.questions for metric in question.metrics or ())
        return list(dict.fromkeys([*self.metrics, *own]))

    @cached_property
    def _asked(self) -> dict[str, Key]:
        return {question.name: question.key() for question in self.questions}

    def answer_key(self, name: str | None, place: Place, lists: str) -> Key:
        """What an answer depends on; without a name, the truth."""
        asked: Key = {"truth": self.candidates} if name is None else self._asked[name]
        metrics, targets = (self.all_metrics, self.all_targets) if name is None else (self.metrics, self.targets)
        told = {"metrics": list(metrics), "targets": list(targets), "lists": lists}
        return {"unit": "answer", "draw": list(place), "asked": asked, "models": list(self.makers)} | told

    def lists_digest(self, place: Place) -> str:
        """A short name for the lists of all models, and with them for the draw."""
        keys = [self.lists_key(model, place) for model in self.makers]
        return hashlib.sha256(json.dumps(keys, sort_keys=True).encode()).hexdigest()


_last: dict[tuple[str, Place], Draw] = {}


def _draw(source: Source, place: Place) -> Draw:
    """The draw, kept by this process until it needs another one."""
    at = source.mark, place
    if at not in _last:
        made = source.draw(place)
        _last.clear()
        _last[at] = made
    return _last[at]


def _rows(draw: Draw) -> int:
    return len(draw.train) + len(draw.test) + len(draw.truth)


def _make_once(store: Store, key: Key, job: _MakeLists | _MakeAnswer) -> None:
    store.once(key, job.make)


class _MakeLists(NamedTuple):
    """The unit of one model on one draw."""

    task: StudyTask
    model: str
    place: Place

    def make(self) -> Unit:
        """Fit and rank."""
        return make_lists(self.task.makers[self.model], _draw(self.task.source, self.place), self.task.depth)


class _MakeAnswer(NamedTuple):
    """The unit of one question on one draw; without a name, of the truth."""

    task: StudyTask
    store: Store
    name: str | None
    place: Place

    def make(self) -> Unit:
        """Ask, with the lists of all models that have some."""
        task, draw = self.task, _draw(self.task.source, self.place)
        lists: dict[str, Recommendations] = {}
        failed: dict[str, dict[str, str]] = {}
        notes: dict[str, dict[str, int]] = {}
        for model in task.makers:
            unit = self.store.once(task.lists_key(model, self.place), _MakeLists(task, model, self.place).make)
            if "failed" in unit:
                failed[model] = {"error": unit["failed"], "traceback": unit["traceback"]}
            else:
                lists[model] = read_lists(unit, draw)
                notes[model] = {name: unit[name] for name in ("strangers", "lacking") if unit[name]}
        told = {"models": list(lists), "failed": failed, "notes": {m: n for m, n in notes.items() if n}}
        try:
            return self._answer(draw, lists) | told
        except RefusedError as refusal:
            return {"cells": [], "missing": [{"estimator": None, "reason": str(refusal)}]} | told

    def _answer(self, draw: Draw, lists: Mapping[str, Recommendations]) -> Unit:
        task = self.task
        if len(lists) < 2:
            raise RefusedError("fewer than two models have lists", code="too-few-models")
        if self.name is None:
            return truth_of(draw, lists, task.all_metrics, task.all_targets, task.candidates)
        question = next(question for question in task.questions if question.name == self.name)
        return question.ask(draw, lists, task.metrics, task.targets)


class Runner:
    """Works a study off.

    Args:
        store: where finished units are.
        memory: bytes that all workers together may take.
        keep_lists: whether lists stay when all questions about them are answered.
    """

    def __init__(
        self, task: StudyTask, store: Store, workers: int, memory: int, keep_lists: bool, progress: Progress | None
    ) -> None:
        self.task, self.store, self.workers, self.memory = task, store, workers, memory
        self.keep_lists, self.say = keep_lists, progress or (lambda stage, done, total: None)

    def run(self, places: list[Place]) -> StudyResult:
        """All draws, put together."""
        return put_together(self.task, places, self.answers(places))

    def answers(self, places: list[Place]) -> dict[tuple[Place, str | None], Unit]:
        """By draw the answer to each question, and under ``None`` the truth.

        Group by group where lists are not kept, so that few of them lie on the disk at once.
        """
        task = self.task
        names: list[str | None] = [None, *(question.name for question in task.questions)]
        digests = {place: task.lists_digest(place) for place in places}
        answers: dict[tuple[Place, str | None], Unit] = {}
        todo = []
        for place in places:
            for name in names:
                found = self.store.get(task.answer_key(name, place, digests[place]))
                if found is None:
                    todo.append((place, name))
                else:
                    answers[place, name] = found
        waiting = list(dict.fromkeys(place for place, _ in todo))
        size = len(waiting) if self.keep_lists else self.workers
        models, total = len(task.makers), len(places) * len(task.makers)
        fitted = models * (len(places) - len(waiting))
        for start in range(0, len(waiting), max(1, size)):
            group = waiting[start : start + size]
            self._fit(group, fitted, total)
            fitted += models * len(group)
            asked = [each for each in todo if each[0] in group]
            answers |= self._answer(asked, digests, len(answers), len(places) * len(names))
            if not self.keep_lists:
                self._remove(group)
        return answers

    def _fit(self, places: list[Place], before: int, total: int) -> None:
        jobs = [_MakeLists(self.task, model, place) for place in places for model in self.task.makers]
        keys = [self.task.lists_key(job.model, job.place) for job in jobs]
        self._make(keys, jobs, "fitting and ranking", before, total, self._fit_size(places))

    def _answer(
        self, asked: list[tuple[Place, str | None]], digests: Mapping[Place, str], before: int, total: int
    ) -> dict[tuple[Place, str | None], Unit]:
        jobs = [_MakeAnswer(self.task, self.store, name, place) for place, name in asked]
        keys = [self.task.answer_key(name, place, digests[place]) for place, name in asked]
        self._make(keys, jobs, "answering", before, total, self._answer_size(asked[0][0]))
        found = (self.store.once(key, job.make) for key, job in zip(keys, jobs, strict=True))
        return dict(zip(asked, found, strict=True))

    def _make(self, keys: list[Key], jobs: Sequence[Any], stage: str, before: int, total: int, size: int) -> None:
        """Have all units made that are not there yet; none is held here, as lists together may exceed the memory."""
        if size > self.memory:
            raise InputError(
                f"one worker needs about {amount(size)} of memory, and {amount(self.memory)} may be taken.\nGive fewer "
                "models or shorter lists, or more memory.",
                code="not-enough-memory",
            )
        workers = max(1, min(self.workers, self.memory // size))
        waiting = [
            (self.store, key, job) for key, job in zip(keys, jobs, strict=True) if not self.store.path(key).exists()
        ]
        done = before + len(keys) - len(waiting)
        self.say(stage, done, total)
        for _ in each(_make_once, waiting, workers=workers, processes=workers > 1):
            done += 1
            self.say(stage, done, total)

    def _fit_size(self, places: list[Place]) -> int:
        """About what one process takes for the largest model: itself, the draw, the model and its lists."""
        draw = _draw(self.task.source, places[0])
        largest = max(maker.footprint(draw.train) for maker in self.task.makers.values())
        return BARE + 100 * _rows(draw) + largest + 8 * len(draw.users) * self.task.depth

    def _answer_size(self, place: Place) -> int:
        """About what one process takes for all lists of a draw and the columns that are made of them."""
        draw = _draw(self.task.source, place)
        cells = len(self.task.metrics) * len(self.task.targets)
        lists = 20 * len(draw.users) * self.task.depth * len(self.task.makers)
        columns = 40 * len(draw.users) * len(self.task.makers) * cells
        return BARE + 100 * _rows(draw) + lists + columns

    def _remove(self, places: list[Place]) -> None:
        for place in places:
            for model in self.task.makers:
                self.store.path(self.task.lists_key(model, place)).unlink(missing_ok=True)
