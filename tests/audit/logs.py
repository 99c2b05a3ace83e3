"""Logs for audits, and slow, obvious references for their numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

import unskew as us


def skewed(users: int = 300, items: int = 120, seed: int = 0, **columns: bool) -> pl.DataFrame:
    """A log with a long tail; ``value``, ``time``, ``policy``, ``position``, ``propensity`` on request."""
    rng = np.random.default_rng(seed)
    exposure = 0.6 * (np.arange(1, items + 1) ** -0.7)
    seen = rng.random((users, items)) < exposure * rng.uniform(0.3, 1.0, (users, 1))
    user, item = np.nonzero(seen)
    frame = pl.DataFrame({"user": user, "item": item})
    if columns.get("value"):
        frame = frame.with_columns(value=pl.Series(rng.integers(0, 6, len(user)).astype(np.float64)))
    if columns.get("time"):
        frame = frame.with_columns(time=pl.Series(1_500_000_000 + rng.integers(0, 90 * 86_400, len(user))))
    if columns.get("policy"):
        frame = frame.with_columns(policy=pl.Series(np.array(["old", "new"])[(item > 20).astype(int)]))
    if columns.get("position"):
        place = np.random.default_rng(seed + 1).geometric(0.15, len(user))
        frame = frame.with_columns(position=pl.Series(place).set(pl.Series(place == 3), None))
    if columns.get("propensity"):
        frame = frame.with_columns(propensity=pl.Series(exposure[item] * 0.65))
    return frame


def gini(counts: Sequence[int]) -> float:
    """Mean absolute difference over twice the mean."""
    apart = sum(abs(a - b) for a in counts for b in counts) / len(counts) ** 2
    return apart / (2 * sum(counts) / len(counts))


def kl(counts: Sequence[int]) -> float:
    """Bits from the shares to uniform."""
    total = sum(counts)
    return sum(n / total * math.log2(n / total * len(counts)) for n in counts)


def jensen_shannon(a: Counter[Any], b: Counter[Any]) -> float:
    """Bits between two distributions, by its definition."""
    total_a, total_b, found = sum(a.values()), sum(b.values()), 0.0
    for key in a.keys() | b.keys():
        p, q = a[key] / total_a, b[key] / total_b
        m = (p + q) / 2
        found += 0.5 * (p * math.log2(p / m) if p else 0.0) + 0.5 * (q * math.log2(q / m) if q else 0.0)
    return found


def quantile(counts: Sequence[int], q: float) -> int:
    """The least count that at least a share q of the counts does not exceed."""
    ordered = sorted(counts)
    return next(n for n in ordered if sum(m <= n for m in ordered) >= q * len(ordered) - 1e-9)


def said(audit: us.Audit, level: str = "") -> set[str]:
    """The codes of the findings, of one level or of all."""
    return {finding.code for finding in audit.findings if level in ("", finding.level)}


def text_of(audit: us.Audit, code: str) -> str:
    """The one finding with this code."""
    (text,) = [finding.text for finding in audit.findings if finding.code == code]
    return text


def numbers_in(value: Any) -> list[float]:
    """All floats of a nested structure."""
    if isinstance(value, dict):
        return [x for item in value.values() for x in numbers_in(item)]
    if isinstance(value, (list, tuple)):
        return [x for item in value for x in numbers_in(item)]
    return [value] if isinstance(value, float) else []
