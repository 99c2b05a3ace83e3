"""Logs of any size on Apache Spark (extra ``spark``): docs/spark.md.

us.spark.evaluate(log_df, {name: lists_df}, train=train_df)
us.spark.audit(log_df)
us.spark.sample(log_df, "wtd_h", train=train_df)
"""

from __future__ import annotations

from unskew.auditing.spark import audit
from unskew.engine.spark.sampling import sample
from unskew.evaluation.spark import evaluate

__all__ = ["audit", "evaluate", "sample"]
