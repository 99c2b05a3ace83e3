"""Models fold by fold: fitted on the training rows of each, or updated with what is new since the fold before.

An ``Updatable`` model promises that ``fit(log)`` and then ``update(rows)`` gives the same lists as a fit on all
of it (``models/base.py``); so it does not matter on which fold a worker began, nor how many workers there are, nor that
a model is fitted where it says that an update would take longer.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from unskew.cross_validation.fold_logs import FoldLogs, added_log
from unskew.models import Model, Updatable, training_rows
from unskew.split import Split


class Fitter:
    """The models of one worker, who takes folds in their order.

    Args:
        models: by name, none of them fitted; they stay as they are.
        relevant: the threshold that says which values are positives.
    """

    def __init__(self, models: Mapping[str, Any], relevant: str | None) -> None:
        self._models, self._relevant = models, relevant
        self._ready: dict[str, Any] = {}
        self._last: Split | None = None

    def fitted(self, split: Split, logs: FoldLogs) -> dict[str, Any]:
        """The models as a fold may know them."""
        rows = None if self._last is None or not self._ready else added_log(split, self._last, logs)
        found = {}
        for name, model in self._models.items():
            if rows is not None and name in self._ready and self._ready[name].update_pays(logs.fitted):
                found[name] = self._ready[name]
                if len(rows):
                    found[name].update(self._learns_from(model, rows))
            else:
                found[name] = deepcopy(model).fit(self._learns_from(model, logs.fitted))
        self._ready = {name: model for name, model in found.items() if isinstance(model, Updatable)}
        self._last = split
        return found

    def _learns_from(self, model: Any, log: Any) -> Any:
        return training_rows(model, log, self._relevant) if isinstance(model, Model) else log
