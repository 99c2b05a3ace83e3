"""Logs of any size on Apache Spark: ``us.spark.evaluate(log_df, {name: lists_df}, …)`` (extra ``spark``)."""

from __future__ import annotations

from unskew.evaluation.spark import evaluate

__all__ = ["evaluate"]
