"""The numbers behind every estimate, user by user."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from unskew.engine.plan import EvaluationPlan
from unskew.judging.answer import Answer
from unskew.log import Ids


def per_user_rows(found: Answer, plan: EvaluationPlan, users: Ids, models: Sequence[str]) -> pl.DataFrame:
    """Long table of per-user numerators and divisors: of every cell the first factor of each term."""
    x = np.concatenate(found.sums.x)
    parts = []
    for cell in plan.cells:
        run = plan.runs[cell.run]
        named = {"metric": str(run.metrics[cell.metric]), "estimator": str(run.estimator), "target": str(run.target)}
        for term, ((a, b), *_) in enumerate(cell.form.places):
            for j, model in enumerate(models):
                numbers = {"numerator": x[:, cell.columns[a[j]]], "divisor": x[:, cell.columns[b[j]]]}
                texts = {name: pl.lit(text) for name, text in {"model": model, **named}.items()}
                rows = pl.DataFrame({"user": users.values} | numbers).with_columns(**texts, term=pl.lit(term + 1))
                parts.append(rows.select("user", *texts, "term", *numbers))
    return pl.concat(parts)
