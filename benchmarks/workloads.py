"""All workloads: what they are called, where they stand on the page, what they need and how long they take.

The module of a workload has ``sections(found)``, Markdown by heading of the page, and ``promises(found)``, which also
answers for nothing: then the promises are those that have not been measured yet.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, cast

from promise import Promise
from store import Measured

LISTS = "Metrics from lists"
TOP_K = "Top-k from factors"
PARQUET = "Estimators from Parquet"
OBP = "Doubly robust estimates beside obp"
LEARNERS = "Learners"
PROPENSITIES = "Propensities and audit"
SAMPLING = "Sampling"
SPLITS = "Splits"
FOLDS = "Cross-validation"
STUDIES = "Studies"
PLANS = "Plans"
GROWTH = "Growth"
ENGINES = "Engines"
TEXTS = "Texts as ids"
HEADINGS = (
    LISTS,
    TOP_K,
    PARQUET,
    OBP,
    LEARNERS,
    PROPENSITIES,
    SAMPLING,
    SPLITS,
    FOLDS,
    STUDIES,
    PLANS,
    GROWTH,
    ENGINES,
    TEXTS,
)


class Reporter(Protocol):
    """What the page asks of a workload's module."""

    def sections(self, found: Measured) -> Mapping[str, str]:
        """Markdown by heading."""

    def promises(self, found: Measured | None) -> list[Promise]:
        """Measured, or not yet."""


@dataclass(frozen=True)
class Workload:
    """A script of this folder.

    Args:
        name: of its results, and how it is asked for.
        title: what it is, in a few words.
        headings: the parts of the page that it fills.
        minutes: what it takes on two quiet cores, environments and data made already.
        script: the file, unless it is called like the results.
        reporter: the module with sections and promises, unless it is the script.
        peers: environments that it needs.
        long: only run where asked for by name or with ``--all``.
        thorough: arguments with ``--all``, and the minutes that they take.
    """

    name: str
    title: str
    headings: tuple[str, ...]
    minutes: float
    script: str = ""
    reporter: str = ""
    arguments: tuple[str, ...] = ()
    peers: tuple[str, ...] = ()
    long: bool = False
    thorough: tuple[tuple[str, ...], float] | None = None

    @property
    def command(self) -> str:
        """What one types."""
        return " ".join(("python", f"benchmarks/{self.file}", *self.arguments))

    @property
    def file(self) -> str:
        """Its script."""
        return self.script or f"{self.name}.py"

    def module(self) -> Reporter:
        """What it says about its results."""
        return cast(Reporter, importlib.import_module(self.reporter or self.file.removesuffix(".py")))


WORKLOADS = (
    Workload(
        "core", "metrics and full tables beside other libraries", (LISTS, PARQUET), 10, script="run.py",
        reporter="render", peers=("rectools", "pytrec_eval", "ranx", "ir_measures"),
    ),
    Workload("top_k", "lists from factors", (TOP_K,), 5, arguments=("--write",), peers=("implicit", "faiss", "torch")),
    Workload("reading", "reading logs", (PARQUET,), 3),
    Workload("exposure_path", "the exposure path", (PARQUET,), 3),
    Workload("conversions", "post-click conversions", (OBP, GROWTH), 6, peers=("obp",)),
    Workload("factorisation", "MF-IPS", (LEARNERS,), 15, peers=("implicit", "cornac")),
    Workload("models", "item_knn and wmf", (LEARNERS,), 6, peers=("implicit",)),
    Workload("families", "the families of gs23", (LEARNERS,), 8, peers=("cornac",)),
    Workload("propensities", "propensities and audits", (PROPENSITIES,), 3),
    Workload("sampling", "samples of 100 million rows", (SAMPLING,), 10),
    Workload("splits", "sliding windows of 100 million rows", (SPLITS,), 4),
    Workload("cross_validation", "weekly folds", (FOLDS,), 6, peers=("rectools", "recpack")),
    Workload("study", "the study of gs23", (STUDIES,), 45, long=True),
    Workload("shop_over_time", "a simulated shop", (STUDIES,), 2),
    Workload("plan", "a plan and a draw", (PLANS,), 2),
    Workload("growth", "users, items and models", (GROWTH,), 5),
    Workload(
        "engines", "streams of files that exceed memory", (ENGINES,), 5, arguments=("--repeats", "3"),
        thorough=(("--rows", "1000000", "10000000", "100000000"), 40),
    ),
    Workload(
        "many_models", "ten models beside polars and DuckDB", (ENGINES,), 8, arguments=("--repeats", "3"),
        peers=("duckdb",),
    ),
    Workload("spark", "Spark on one machine", (ENGINES,), 8, long=True),
    Workload("texts", "texts beside integers", (TEXTS,), 8),
)  # fmt: skip


def named(name: str) -> Workload:
    """The workload of this name."""
    return next(workload for workload in WORKLOADS if workload.name == name)
