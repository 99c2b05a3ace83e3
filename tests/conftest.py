"""What all tests share: hypothesis without deadlines (first calls compile), and tools that may be missing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from unskew.alignment.level import LevelCheck

# ``fixed``: the same examples on every machine. ``fresh`` (make fuzz): others each time, and what breaks is printed so
# that it can be run again.
usual = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fixed", usual, derandomize=True)
settings.register_profile("fresh", usual, print_blob=True)
PROFILE = os.environ.get("UNSKEW_EXAMPLES", "fixed")
settings.load_profile(PROFILE)
if PROFILE == "fixed":
    # Hypothesis also tries constants of the modules that are loaded so far, which depends on the tests that ran before.
    providers._get_local_constants = lambda: providers._local_constants

# Files that take ten seconds and more, the longest first: those that come last must be short (tests/run.py).
LONG = (
    "test_verdicts.py", "test_spark.py", "test_golden.py", "test_false_verdicts.py", "test_campaign.py",
    "test_against_reference.py",
    "test_every_model.py", "test_estimates_against_reference.py", "test_ways_out.py", "test_coverage_kinds.py",
    "test_population.py", "test_every_combination.py", "test_ctrl_c.py",
    "test_interrupts.py", "test_coverage.py", "test_refit_coverage.py", "test_bootstrap.py", "test_cli.py",
    "test_columns.py", "test_column_worlds.py", "test_store.py", "test_shares.py",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first."""
    items.sort(key=lambda item: LONG.index(item.path.name) if item.path.name in LONG else len(LONG))


def missing(reason: str) -> None:
    """Skip with a printed reason, or fail where everything was promised to be there (UNSKEW_REQUIRE=all)."""
    if os.environ.get("UNSKEW_REQUIRE") == "all":
        pytest.fail(f"required here, but missing: {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        missing("no chromium on PATH: pages are not looked at in a browser")
    assert path is not None
    return path


@pytest.fixture(scope="module")
def made_up_logs() -> Iterator[None]:
    """Tests of arithmetic on rows and propensities that no process drew: what no log could be is not refused."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("unskew.alignment.align.check_level", lambda given: LevelCheck())
        patch.setattr("unskew.evaluation.run.check_division", lambda *given: None)
        yield
