"""Draws inputs, hands them to workers, and gathers what became of them."""

from __future__ import annotations

import os
import shlex
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from random import Random

from tests.hostile import cases
from tests.hostile.cases import Case
from tests.hostile.classify import GOOD, classify, files
from tests.hostile.runner import Worker
from tests.hostile.tables import Finding, Findings

Make = Callable[[Random, Path], Case]


@dataclass(frozen=True)
class Kind:
    """A kind of input: how one is made, and how many of a hundred are of this kind."""

    make: Make
    share: float


KINDS: dict[str, Kind] = {
    "log": Kind(cases.log_case, 30),
    "lists": Kind(cases.lists_case, 18),
    "both": Kind(cases.both_case, 8),
    "predictions": Kind(cases.predictions_case, 8),
    "ratings": Kind(cases.ratings_case, 6),
}
ENVIRONMENT = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "POLARS_MAX_THREADS": "2"}


class Campaign:
    """One run over all kinds.

    Args:
        seed: which inputs are drawn.
        keep: where the files of inputs lie; those of failures stay.
        jobs: workers side by side.
        always_keep: files stay whatever became of them.
    """

    def __init__(self, seed: int, keep: Path, jobs: int, *, always_keep: bool = False) -> None:
        self.seed, self.keep, self.jobs, self.always_keep = seed, keep, jobs, always_keep

    def run(self, inputs: int, only: Sequence[str] | None = None, index: int | None = None) -> Findings:
        """Run so many inputs, divided over the kinds by their shares."""
        kinds = only or list(KINDS)
        total = sum(KINDS[kind].share for kind in kinds)
        queue: SimpleQueue[tuple[str, int]] = SimpleQueue()
        for kind in kinds:
            count = max(round(inputs * KINDS[kind].share / total), 1)
            for number in [index] if index is not None else range(count):
                queue.put((kind, number))
        findings, began = Findings(), time.monotonic()
        threads = [threading.Thread(target=self._work, args=(queue, findings)) for _ in range(self.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        findings.rows.sort(key=lambda row: (list(KINDS).index(row.kind), row.index))
        findings.seconds = time.monotonic() - began
        return findings

    def _work(self, queue: SimpleQueue[tuple[str, int]], findings: Findings) -> None:
        worker = Worker(ENVIRONMENT)
        try:
            while True:
                kind, number = queue.get_nowait()
                findings.rows.append(self._one(worker, kind, number))
        except Empty:
            pass
        finally:
            worker.close()

    def _one(self, worker: Worker, kind: str, number: int) -> Finding:
        folder = self.keep / f"{kind}-{number}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        case = KINDS[kind].make(Random(f"{self.seed} {kind} {number}"), folder)
        before = files(folder)
        run = worker.run(case.argv, folder, {**os.environ, **ENVIRONMENT, **case.env})
        found, why = classify(case, run, before, folder)
        if found in GOOD and not self.always_keep:
            shutil.rmtree(folder)
        return Finding(kind, number, case.what, found, why, shlex.join(case.argv))
