"""What is known about the aligned rows: the facts that refusals are decided on, and the first-pass summary."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unskew.engine.held import Floats, Held
from unskew.estimators import Summary
from unskew.estimators.summary import Histogram, TrainingRows
from unskew.estimators.validity import Evidence
from unskew.evaluation.level import LevelCheck
from unskew.evaluation.predicted import Sources
from unskew.evaluation.rows import cut_by_time, has_level, in_test_part
from unskew.evaluation.rules import Rules
from unskew.log import Ids, Log
from unskew.outcome import Outcome
from unskew.propensity import Level, Part, Propensity


def evidence_of(
    rules: Rules,
    model: Propensity | None,
    rows: Log,
    held: Held,
    models: Sequence[str],
    predictions: Sources,
    unranked: str,
    outcome: Outcome | None,
    level: LevelCheck | None,
) -> Evidence:
    """The facts on which refusals are decided."""
    silent = [name for name in models if name not in predictions]
    unshared = model is not None and model.level is Level.ABSOLUTE and not has_level(model, rows, rules)
    return Evidence(
        rules.feedback,
        thresholded=rules.relevant is not None,
        propensity=model is not None,
        absolute=model is not None and has_level(model, rows, rules),
        relevant=held.relevant is not None,
        zeros=bool((held.value == 0.0).any()) or (rows.value is not None and bool((rows.value == 0.0).any())),
        unshared=unshared,
        cut=("whole" if model.refers(rows) is Part.LOG else "training")
        if unshared and model is not None and cut_by_time(rows, rules)
        else "",
        wrong_level=level.wrong if level is not None else "",
        wrong_pairs=level.wrong_pairs if level is not None else "",
        wrong_relevant=level.wrong_relevant if level is not None else "",
        binary=bool(((held.value == 0.0) | (held.value == 1.0)).all()),
        unpredicted=f"{' and '.join(silent)} {'gives' if len(silent) == 1 else 'give'} lists only" if silent else "",
        unranked=unranked,
        outcome=outcome is not None,
        outside=outcome is not None and outcome.fitted,
    )


def summary_of(
    model: Propensity | None,
    items: Ids,
    held: Held,
    levels: dict[str, tuple[str, ...]],
    training: TrainingRows | None,
) -> Summary:
    """Histograms of propensities, from which strata edges and clips come."""
    if model is None or held.propensity is None:
        return Summary(levels=levels, training=training)
    catalogue = model.of_items(items)
    return Summary(
        pairs=Histogram.of(held.propensity[held.value > 0.0]),
        seen=Histogram.of(held.propensity),
        items=None if catalogue is None else Histogram.of(catalogue[~np.isnan(catalogue)]),
        levels=levels,
        training=training,
    )


def training_propensity(model: Propensity | None, seen: Log, test: Log, rules: Rules) -> Floats | None:
    """P of the training rows on the test rows' scale, for shares of strata; ``None`` where there is none for them."""
    if model is None or (model.name == "known" and seen.propensity is None):
        return None
    rows = in_test_part(model.of(seen).rows, model, test, rules)
    return rows[~np.isnan(rows)]
