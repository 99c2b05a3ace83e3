"""Targets: how users are put together. Always explicit in every output row.

    per_user       mean over users of (1/n_u) Σ over relevant items of worth(rank)          gs23 §2
    pooled         Σ_u Σ worth(rank) / Σ_u n_u: the average over relevant pairs
    per_user_sum   mean over users of Σ y · worth(rank)                                     saito20 Eq. 1

Each turns a user's sum s and divisor d into *factors* (a, b); an estimate is the product over factors of Σ_u a / Σ_u b.
"""

from __future__ import annotations

from enum import StrEnum

from unskew.errors import InputError
from unskew.log import Feedback


class Target(StrEnum):
    """What is being estimated."""

    PER_USER = "per_user"
    POOLED = "pooled"
    PER_USER_SUM = "per_user_sum"

    @classmethod
    def make(cls, text: str) -> Target:
        """The target with this name."""
        try:
            return cls(text)
        except ValueError:
            raise InputError(f"there is no target called '{text}'. Known: {', '.join(cls)}.") from None

    @classmethod
    def default(cls, feedback: Feedback) -> Target:
        """What people usually mean for this feedback."""
        return cls.PER_USER if feedback is Feedback.IMPLICIT else cls.PER_USER_SUM
