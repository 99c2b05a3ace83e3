"""What would it be worth if all had been seen? One small file per estimator, free to combine with every metric."""

from __future__ import annotations

from unskew.core.parts import Family
from unskew.estimators.anchored import Anchored
from unskew.estimators.base import Batch, Estimator, Need, Over, Standing, Term
from unskew.estimators.clipped import Clipped
from unskew.estimators.direct import Direct
from unskew.estimators.dr import DR
from unskew.estimators.exposure_path import ExposurePath
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
from unskew.estimators.tilted import Tilted

__all__ = [
    "DR",
    "IPS",
    "SNDR",
    "SNIPS",
    "Anchored",
    "Batch",
    "Clipped",
    "Direct",
    "Estimator",
    "ExposurePath",
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
    "Tilted",
    "make",
    "register",
]


FAMILY: Family[Estimator] = Family(
    "estimator",
    Estimator,
    __name__,
    (
        Naive,
        IPS,
        SNIPS,
        GeneralizedStratified,
        Stratified,
        Clipped,
        ExposurePath,
        Tilted,
        Direct,
        DR,
        SNDR,
        Switch,
        Anchored,
    ),
)
register, make = FAMILY.register, FAMILY.make  # make: the estimator with this canonical string, gs(strata=5)
__dir__ = FAMILY.class_names
