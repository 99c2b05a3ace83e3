"""Which rows make a fairer test set? Samples whose users and items are less skewed (carraro20): docs/sample.md.

``sample`` draws from a log in memory, ``sample_file`` from files that may exceed it; a strategy is a part with a
canonical string, ``make("weighted(user_power=1, item_power=1)")``.
"""

from unskew.core.parts import Family
from unskew.sampling.base import Counts, Sampler
from unskew.sampling.draw import sample
from unskew.sampling.files import sample_file
from unskew.sampling.plain import Full, Reg
from unskew.sampling.record import SampleSummary
from unskew.sampling.weighted import Skew, Weighted, Wtd, WtdH

__all__ = [
    "Counts",
    "Full",
    "Reg",
    "SampleSummary",
    "Sampler",
    "Skew",
    "Weighted",
    "Wtd",
    "WtdH",
    "make",
    "register",
    "sample",
    "sample_file",
]

FAMILY: Family[Sampler] = Family("sampling strategy", Sampler, __name__, (Full, Reg, Skew, Wtd, WtdH, Weighted))
register, make = FAMILY.register, FAMILY.make  # make: the strategy with this canonical string, wtd_h
