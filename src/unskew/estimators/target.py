"""Targets: how users are put together. Always explicit in every output row.

    per_user       mean over users of (1/n_u) Σ over relevant items of worth(rank)          gs23 §2
    pooled         Σ_u Σ worth(rank) / Σ_u n_u: the average over relevant pairs
    per_user_sum   mean over users of Σ y · worth(rank)                                     saito20 Eq. 1
    per_pair       mean over all candidate pairs of a cost δ                                schnabel16 Eq. 1

Sums have two normalised forms, which are other quantities and carry that in their names:

    per_user_sum(normalised=pooled)     Σ_u Σ y · worth(rank) / Σ_u Σ y over all candidates: a ratio of sums
    per_user_sum(normalised=per_user)   mean over users of each user's own ratio, cut to [0, 1], 0 where the user's
                                        estimated total is not positive (the code of saito20 divides then, too)

A ranking metric is a cost of pairs too: δ = |C_u| · y · worth(rank), whose mean over pairs is the usual sum per user
(users with more candidates weigh more, where numbers of candidates differ).

Each turns a user's sum s and divisor d into *factors* (a, b); an estimate is the product over factors of Σ_u a / Σ_u b.
"""

from __future__ import annotations

from enum import StrEnum

from unskew.core.bounds import shown
from unskew.core.errors import InputError
from unskew.log import Feedback


class Target(StrEnum):
    """What is being estimated."""

    PER_USER = "per_user"
    POOLED = "pooled"
    PER_USER_SUM = "per_user_sum"
    PER_PAIR = "per_pair"
    SUM_POOLED = "per_user_sum(normalised=pooled)"
    SUM_PER_USER = "per_user_sum(normalised=per_user)"

    @classmethod
    def make(cls, text: str) -> Target:
        """The target with this name."""
        try:
            return cls(text.replace(" ", "") if isinstance(text, str) else "")
        except ValueError:
            raise InputError(
                f"there is no target called {shown(text)}. Known: {', '.join(cls)}.", code="unknown-name", name=text
            ) from None

    @property
    def sums(self) -> bool:
        """Whether it is a sum over each user's items, normalised or not."""
        return self in (Target.PER_USER_SUM, Target.SUM_POOLED, Target.SUM_PER_USER)

    @property
    def normalised(self) -> bool:
        """Whether sums are divided by the estimated total over all candidates."""
        return self in (Target.SUM_POOLED, Target.SUM_PER_USER)

    @classmethod
    def default(cls, feedback: Feedback) -> Target:
        """What people usually mean for this feedback."""
        usual = {Feedback.IMPLICIT: cls.POOLED, Feedback.CONVERSIONS: cls.PER_USER_SUM}
        return usual.get(feedback, cls.PER_PAIR)
