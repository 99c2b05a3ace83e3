"""Draws inputs, hands them to workers, and gathers what became of them."""

from __future__ import annotations

import math
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from random import Random

from tests.hostile import (
    archives,
    cases,
    databases,
    factors,
    faults,
    interrupts,
    kills,
    others,
    pages,
    stores,
    studies,
    words,
)
from tests.hostile.cases import Case
from tests.hostile.classify import GOOD, Class, classify, digests, files
from tests.hostile.processes import Trial
from tests.hostile.runner import Worker
from tests.hostile.tables import Finding, Findings, failure

Make = Callable[[Random, Path], Case | Trial]


@dataclass(frozen=True)
class Kind:
    """A kind of input: how one is made, and how many of a hundred are of this kind."""

    make: Make
    share: float


KINDS: dict[str, Kind] = {
    "log": Kind(cases.log_case, 22),
    "lists": Kind(cases.lists_case, 12),
    "both": Kind(cases.both_case, 5),
    "audit": Kind(cases.audit_case, 4),
    "predictions": Kind(cases.predictions_case, 6),
    "ratings": Kind(cases.ratings_case, 5),
    "others": Kind(others.others_case, 8),
    "databases": Kind(databases.database_case, 6),
    "views": Kind(databases.view_trial, 0.6),
    "factors": Kind(factors.factors_case, 7),
    "specs": Kind(words.specs_case, 9),
    "options": Kind(words.options_case, 8),
    "pages": Kind(pages.pages_case, 3),
    "archives": Kind(archives.archives_case, 4),
    "registry": Kind(archives.registry_case, 2),
    "studies": Kind(studies.studies_case, 4),
    "stores": Kind(stores.store_trial, 2),
    "folds": Kind(stores.folds_trial, 1),
    "kills": Kind(kills.kill_trial, 1),
    "interrupts": Kind(interrupts.interrupt_trial, 1.2),
    "disks": Kind(faults.disk_trial, 0.3),
    "memory": Kind(faults.memory_trial, 0.25),
    "caches": Kind(faults.cache_trial, 0.5),
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
            count = math.ceil(inputs * KINDS[kind].share / total)
            for number in [index] if index is not None else range(count):
                queue.put((kind, number))
        findings, began = Findings(), time.monotonic()
        with ThreadPoolExecutor(self.jobs) as pool:
            for work in [pool.submit(self._work, queue, findings) for _ in range(self.jobs)]:
                work.result()
        findings.rows.sort(key=lambda row: (list(KINDS).index(row.kind), row.index))
        findings.seconds = time.monotonic() - began
        return findings

    def _work(self, queue: SimpleQueue[tuple[str, int]], findings: Findings) -> None:
        worker = Worker(ENVIRONMENT)
        try:
            while True:
                kind, number = queue.get_nowait()
                finding = self._one(worker, kind, number)
                findings.rows.append(finding)
                if finding.found not in GOOD:
                    print(failure(finding, self.seed, self.keep), file=sys.stderr, flush=True)
        except Empty:
            pass
        finally:
            worker.close()

    def _one(self, worker: Worker, kind: str, number: int) -> Finding:
        folder = self.keep / f"{kind}-{number}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        made = KINDS[kind].make(Random(f"{self.seed} {kind} {number}"), folder)
        if isinstance(made, Case):
            before, contents = files(folder), digests(folder)
            run = worker.run(made.argv, folder, made.env, python=made.python)
            found, why = classify(made, run, before, folder)
            if spoilt := [name for name, digest in digests(folder).items() if contents.get(name, digest) != digest]:
                found, why = Class.SILENT, f"the input {spoilt[0]} was changed"
        else:
            found, why = made.run()
        if found in GOOD and not self.always_keep:
            shutil.rmtree(folder)
        return Finding(kind, number, made.what, found, why, shlex.join(made.argv) if isinstance(made, Case) else "")
