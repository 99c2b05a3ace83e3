"""Whether something became slower: by ratios of CPU seconds, whatever the machine does besides."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import quick
import quick_jobs


class Clock:
    """CPU seconds that jobs say they take."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def job(self, costs: Iterator[float]) -> Callable[[], None]:
        def work() -> None:
            self.now += next(costs)

        return work


@pytest.fixture(autouse=True)
def _no_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Collecting takes half a second in a process that has imported much."""
    monkeypatch.setattr("quick.gc.collect", lambda: 0)


def measured(ours: Iterator[float], reference: Iterator[float]) -> quick.Ratio:
    clock = Clock()
    return quick.measure(quick_jobs.Pair(clock.job(ours), clock.job(reference), "it"), clock)


def test_a_machine_that_slows_down_both_changes_nothing() -> None:
    """Interleaved, both feel the same."""
    slow = [1.0, 1.0, *(1.0 + 0.2 * i for i in range(100))]
    found = measured((0.6 * s for s in slow), (0.2 * s for s in slow))
    assert found.ratio == pytest.approx(3.0)


def test_a_noisy_job_is_measured_longer() -> None:
    """One round in three takes twice as long: the median is that of the others, after more rounds."""
    noisy = itertools.cycle([0.2, 0.2, 0.4])
    found = measured(noisy, itertools.repeat(0.2))
    assert found.rounds > quick.LEAST and found.ratio == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("now", "again", "status"), [(1.0, 1.0, 0), (1.29, 1.0, 0), (1.5, 1.0, 0), (1.5, 1.4, 1), (0.2, 0.2, 0)]
)
def test_slower_twice_ends_with_status_1(
    now: float,
    again: float,
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What is slower once is measured again before it is called so."""
    ratios = iter([1.0, now, again])
    monkeypatch.setattr(quick_jobs, "JOBS", {"a job": lambda world: quick_jobs.Pair(int, int, "another")})
    monkeypatch.setattr(quick, "measure", lambda pair: quick.Ratio(next(ratios), 0.01, 5, 0.1, 0.1))
    monkeypatch.setattr(quick, "fix_threads", lambda: 2)
    record = str(tmp_path / "quick.json")
    assert quick.main(["--file", record, "--record"]) == 0
    assert quick.main(["--file", record]) == status
    shown = capsys.readouterr().out
    assert ("1.3 times: a job." in shown) == bool(status)
    assert next(ratios, None) is None or now <= quick.TOLERANCE


def test_every_job_has_a_record() -> None:
    assert set(quick.read(quick.RECORD)) == set(quick_jobs.JOBS)
