"""Evaluations and audits of Parquet files by Spark, for the command line: ``--engine spark --master …``.

A session that exists (``spark-submit``, a notebook) is used and left as it is; else one is started, and stopped.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from unskew.auditing.advice import advise
from unskew.auditing.record import Audit
from unskew.auditing.spark import audit
from unskew.core.errors import InputError, MissingExtraError
from unskew.core.text import plain
from unskew.engine.spark.frames import SparkRows, read_parquet
from unskew.evaluation.read import Stage
from unskew.evaluation.request import Request
from unskew.evaluation.spark import evaluate_rows
from unskew.result import Result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    "spark.executorEnv.POLARS_MAX_THREADS": "1",  # a task has one core
    "spark.ui.showConsoleProgress": "false",
}


def evaluate_files(
    test: Any,
    models: Mapping[str, Any],
    *,
    master: str | None,
    train: Any = None,
    users: Any = None,
    progress: Stage | None = None,
    **options: Any,
) -> Result:
    """The result for Parquet files, folders and addresses that the executors can read."""
    with session_for(master) as session:

        def rows(path: Any) -> SparkRows | None:
            return None if path is None else read_parquet(session, path)

        lists = {name: rows(path) for name, path in models.items()}
        request = Request.of(rows(test), lists, train=rows(train), users=rows(users), **options)
        return evaluate_rows(request, None, progress)


def audit_files(log: Any, *, master: str | None, mcar: Any = None, **options: Any) -> Audit:
    """The audit of Parquet files, folders and addresses that the executors can read."""
    with session_for(master) as session:
        sample = None if mcar is None else read_parquet(session, mcar)
        found = audit(read_parquet(session, log), mcar=sample, **options)
    files = {name: str(path) for name, path in (("log", log), ("mcar", mcar)) if path is not None}
    return replace(found, advice=advise(found, options.get("columns"), files))


@contextmanager
def session_for(master: str | None) -> Iterator[SparkSession]:
    """The session that exists, or one of our own for as long as it is needed."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError("--engine spark", "spark") from None
    if (existing := SparkSession.getActiveSession()) is not None:
        yield existing
        return
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # of local workers, which see what we see
    if master is None or master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # not whichever python3 comes first
    builder = SparkSession.builder.appName("unskew")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    ctrl_c = signal.getsignal(signal.SIGINT)
    try:
        session = (builder if master is None else builder.master(master)).getOrCreate()
    except Exception as problem:
        raise InputError(
            f"Spark did not start: {plain(str(problem).splitlines()[0])}\nIt needs Java 17 or newer (JAVA_HOME, or "
            "java on PATH) and an address such as --master local[2] or --master spark://HOST:7077.",
            code="spark-did-not-start",
        ) from problem
    try:
        yield session
    finally:
        session.stop()
        signal.signal(signal.SIGINT, ctrl_c)  # Spark takes it, and would ask a session that is gone
