"""How large a sample is: a share of the rows, or a number of them."""

from __future__ import annotations

from fractions import Fraction

from unskew.core.bounds import Number, Whole, shown
from unskew.core.errors import InputError
from unskew.sampling.base import Sampler

USUAL = 0.5  # carraro20 §5.2
_SHARE = Number(above=0.0, high=1.0)
_COUNT = Whole(1, 2**63 - 1)
Size = float | int | None


def checked_size(size: Size, sampler: Sampler, what: str = "size") -> float | int:
    """The size as a share (a float) or as a number of rows; a sampler that keeps all rows takes none."""
    if sampler.keeps_all:
        if size is not None and size != 1.0:
            raise InputError(
                f"'{sampler}' keeps all rows: leave {what}=… out, or draw with equal chances, by 'reg'.",
                code="conflicting-arguments",
                option=what,
            )
        return 1.0
    if size is None:
        return USUAL
    if isinstance(size, float):
        return float(_SHARE.of(size, f"{what}: a share"))
    try:
        return int(_COUNT.of(size, what))
    except InputError:
        raise InputError(
            f"{what} must be a share of the rows, above 0 and at most 1, or a whole number of rows, not {shown(size)}.",
            code="bad-value",
            option=what,
        ) from None


def number_of(size: float | int, rows: int, source: str, what: str = "size") -> int:
    """⌊ρ·n⌋ rows, the share taken as it is written (0.29 of 100 rows are 29), or the number itself."""
    number = int(Fraction(str(size)) * rows) if isinstance(size, float) else size
    if number > rows:
        raise InputError(
            f"{source}: {what}={number} is more rows than there are ({rows:,}), and none are invented.",
            code="too-large",
            option=what,
            rows=rows,
        )
    if not number:
        raise InputError(
            f"{source}: a share of {size:g} of {rows:,} rows is no row at all. Give a larger {what}=….",
            code="too-few-rows",
            option=what,
        )
    return number
