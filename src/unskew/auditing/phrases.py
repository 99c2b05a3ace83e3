"""How the audit's sentences write shares, counts and lists of names."""

from __future__ import annotations

from collections.abc import Sequence


def percent(share: float) -> str:
    """A share in per cent, with one decimal below ten."""
    value = 100.0 * share
    if 0.0 < value < 0.05:
        return "< 0.1 %"
    return f"{value:.0f} %" if value >= 10.0 or value == 0.0 else f"{value:.1f} %"


def count(number: int, one: str, many: str = "") -> str:
    """A number and its noun, in the singular or plural."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(names: Sequence[str]) -> str:
    """Names with commas and an "and"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
