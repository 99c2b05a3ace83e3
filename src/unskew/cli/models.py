"""The recommenders that ``--model`` names: files of saved models or factors are read, canonical strings are fitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unskew.errors import InputError
from unskew.plain import plain

if TYPE_CHECKING:
    from unskew.log import Log


def is_file(text: str) -> bool:
    """Whether --model names a file: canonical strings do not end like this."""
    return text.lower().endswith(".npz")


def _exists(text: str) -> bool:
    """Whether there is a file of this name; what cannot be one (too long, a loop of links) is none."""
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


@dataclass(frozen=True)
class Ready:
    """Makes models ready to recommend.

    Args:
        train: the training log; only models that are fitted need it.
        relevant: the threshold behind which ratings are positives.
        share: that of the test log in the whole, of which training is then the rest.
        reading: how logs are read.
        report: hears of every model.
    """

    train: Path | None
    relevant: str | None
    share: Any
    reading: dict[str, Any]
    report: Callable[[str, int, int], None] | None

    def models(self, specs: dict[str, str]) -> dict[str, Any]:
        """The models by name, in their order."""
        from unskew import models

        read = {name: text for name, text in specs.items() if is_file(text)}
        ready: dict[str, Any] = {}
        for name, text in read.items():
            self._say(f"reading {plain(name)}", len(ready), len(read))
            ready[name] = models.load(text)
        for name, text in specs.items():
            if name not in read and _exists(text):
                raise InputError(
                    f"--model {plain(name)}={plain(text)}: a model is read from a file that ends in .npz: what save "
                    f"wrote, or plain factors.\nGive lists with --recs {plain(name)}={plain(text)}, and predictions "
                    f"with --predictions {plain(name)}={plain(text)}."
                )
        unfitted = {name: models.make(text) for name, text in specs.items() if name not in read}
        if unfitted:
            ready |= self._fitted(unfitted)
        return {name: ready[name] for name in specs}

    def _fitted(self, unfitted: dict[str, Any]) -> dict[str, Any]:
        if self.train is None:
            raise InputError("--model fits a recommender on a training log: give --train.")
        from unskew.alignment.sources import Names
        from unskew.log import read_log

        names = Names(self.reading["columns"])
        weighed = any(getattr(model, "propensity", None) is not None for model in unfitted.values())
        columns = names.of_train_with_propensity if weighed else names.of_train
        log = read_log(self.train, **{**self.reading, "columns": columns})
        if isinstance(self.share, float) and 0.0 < self.share < 1.0:
            log = replace(log, share=1.0 - self.share)
        fitted: dict[str, Any] = {}
        for name, model in unfitted.items():
            self._say(f"fitting {plain(name)}", len(fitted), len(unfitted))
            fitted[name] = model.fit(self._rows(model, log))
        return fitted

    def _rows(self, model: Any, log: Log) -> Log:
        """What a model learns from: all rows, with y where a threshold says it, or the positives."""
        from unskew.log.relevance import gains, told_feedback

        threshold = None if log.value is None else self.relevant
        if not model.learns_values:
            return log.positives(threshold)
        return log if threshold is None else replace(log, gain=gains(log, told_feedback(log, threshold), threshold))

    def _say(self, what: str, done: int, total: int) -> None:
        if self.report is not None:
            self.report(what, done, total)
