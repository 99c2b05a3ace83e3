"""What would it be worth if all had been seen? One small file per estimator, free to combine with every metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from unskew.estimators.base import Batch, Estimator, Need, Over, Standing, Term
from unskew.estimators.clipped import Clipped
from unskew.estimators.direct import Direct
from unskew.estimators.dr import DR
from unskew.estimators.gs import GeneralizedStratified
from unskew.estimators.ips import IPS
from unskew.estimators.naive import Naive
from unskew.estimators.sndr import SNDR
from unskew.estimators.snips import SNIPS
from unskew.estimators.strata import Strata
from unskew.estimators.stratified import Stratified
from unskew.estimators.summary import Summary
from unskew.estimators.switch import Switch
from unskew.estimators.target import Target
from unskew.spec import Spec, build, take

__all__ = [
    "DR",
    "IPS",
    "SNDR",
    "SNIPS",
    "Batch",
    "Clipped",
    "Direct",
    "Estimator",
    "GeneralizedStratified",
    "Naive",
    "Need",
    "Over",
    "Standing",
    "Strata",
    "Stratified",
    "Summary",
    "Switch",
    "Target",
    "Term",
    "make",
]


def _strata(spec: Spec, **kinds: type) -> dict[str, object]:
    given = take(spec, ("strata",), strata=object, **kinds)
    return given | ({"strata": Strata.of_option(given["strata"])} if "strata" in given else {})


def _clipped(spec: Spec) -> Estimator:
    given = take(spec, ("inner",), inner=object, at=float, quantile=float)
    return Clipped(make(str(given.pop("inner", "snips"))), **given)


def _plain(estimator: type[Estimator]) -> Callable[[Spec], Estimator]:
    return lambda spec: estimator(**take(spec))


_ESTIMATORS: Mapping[str, Callable[[Spec], Estimator]] = {
    "naive": _plain(Naive),
    "ips": _plain(IPS),
    "snips": lambda spec: SNIPS(**take(spec, ("over",), over=str)),
    "gs": lambda spec: GeneralizedStratified(**_strata(spec)),  # type: ignore[arg-type]
    "stratified": lambda spec: Stratified(**_strata(spec, shares=str, mode=str)),  # type: ignore[arg-type]
    "clipped": _clipped,
    "direct": _plain(Direct),
    "dr": _plain(DR),
    "sndr": _plain(SNDR),
    "switch": lambda spec: Switch(**take(spec, ("tau",), tau=float)),
}


def make(text: str | Estimator) -> Estimator:
    """The estimator with this canonical string, such as ``gs(strata=5)`` or ``clipped(snips, quantile=0.01)``."""
    return text if isinstance(text, Estimator) else build("estimator", text, _ESTIMATORS)
