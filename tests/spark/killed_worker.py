"""A worker that is killed midway changes no digit: ``python -m tests.spark.killed_worker``, in ``make verify``.

A cluster of two workers on this machine evaluates the same DataFrames twice. During the second evaluation, while parts
are added up, one executor is killed: its running tasks and the aligned parts that it kept are lost, and Spark computes
them again on another one.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import unskew as us
from tests.spark.test_spark import QUICK, to_spark
from tests.stream.files import CALLS, FILES, filled, made

STAGE = "estimating"
DELAY = 0.2  # seconds into the stage


def executors(application: str) -> list[int]:
    """The processes of the executors of an application."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_text().split("\0")
        except OSError:  # it has ended
            continue
        if any(word.endswith("CoarseGrainedExecutorBackend") for word in words) and application in words:
            found.append(int(folder.name))
    return sorted(found)


class Killer:
    """Kills an executor, once, soon after a stage has begun."""

    def __init__(self, application: str) -> None:
        self.application = application
        self.killed: list[int] = []

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage == STAGE and not self.killed:
            self.killed.append(executors(self.application)[0])
            threading.Timer(DELAY, os.kill, (self.killed[0], signal.SIGKILL)).start()


def main() -> int:
    """0 if both results are the same."""
    import pyspark
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    home = os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    settings = {**QUICK, "spark.executor.memory": "1g", "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1"}
    for name, value in settings.items():
        builder = builder.config(name, value)
    session: Any = builder.getOrCreate()
    try:
        to, call = to_spark(session), CALLS["implicit: propensity, popularity"]
        given = filled(call, lambda where, name: to(made(name)) if where in FILES else made(name))
        before = us.spark.evaluate(**given, partitions=6)
        killer = Killer(session.sparkContext.applicationId)
        start = time.perf_counter()
        after = us.spark.evaluate(**given, partitions=6, progress=killer)
        took = time.perf_counter() - start
        still = [pid for pid in killer.killed if pid in executors(killer.application)]
        same = before.to_dict() == after.to_dict() == us.spark.evaluate(**given, partitions=6).to_dict()
        print(f"executor {killer.killed} killed while {STAGE}; {took:.1f} s; digits {'the same' if same else 'DIFFER'}")
        return 0 if same and killer.killed and not still else 1
    finally:
        name = session.sparkContext.applicationId
        session.stop()
        shutil.rmtree(Path(home, "work", name), ignore_errors=True)  # what executors wrote


if __name__ == "__main__":
    sys.exit(main())
