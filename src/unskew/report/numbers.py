"""How numbers are written: as many digits as the interval supports, a true minus sign, a dash where there is none."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

DASH = "–"
MINUS = "\u2212"
SPACE = "\u00a0"
MOST_DECIMALS = 6
_BARS = "▁▂▃▄▅▆▇█"


def decimals(intervals: Iterable[tuple[float, float]]) -> int | None:
    """Decimals that show two significant digits of the narrowest interval; ``None`` where no interval has a width.

    One more where a bound would be written as zero although its interval leaves zero out.
    """
    known = [(low, high) for low, high in intervals if math.isfinite(high - low) and high > low]
    if not known:
        return None
    places = max(1 - math.floor(math.log10(min(high - low for low, high in known))), 0)
    hidden = any(low * high > 0.0 and min(abs(low), abs(high)) < 0.5 * 10.0**-places for low, high in known)
    return min(places + hidden, MOST_DECIMALS)


def number(value: float | None, places: int | None = None, *, sign: bool = False) -> str:
    """A number with that many decimals (four significant digits if ``None``); ``sign`` writes the plus as well."""
    if value is None or not math.isfinite(value):
        return DASH
    if places is None:
        size = math.floor(math.log10(abs(value))) if value else 0
        places = min(max(3 - size, 0), MOST_DECIMALS)
    text = f"{abs(value):,.{places}f}"
    if not any(digit in "123456789" for digit in text):
        return text
    return (MINUS if value < 0.0 else "+" if sign else "") + text


def figure(value: float | None) -> str:
    """Four significant digits: losses and probabilities of sparse logs are small, and losses lie close together."""
    if value is None:
        return DASH
    return number(value, min(max(3 - math.floor(math.log10(abs(value))), 0), 8) if value else 1)


def above(value: float, places: int | None) -> str:
    """A positive number rounded up, for what it does not exceed."""
    step = 10.0 ** -(4 if places is None else places)
    return number(math.ceil(value / step - 1e-9) * step, places)


def interval(low: float | None, high: float | None, places: int | None = None) -> str:
    """An interval as ``[0.020, 0.042]``; a dash where it does not exist."""
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return DASH
    return f"[{_bound(low, places)}, {_bound(high, places)}]"


def factors(low: float | None, high: float | None, far: float = 1000.0) -> str:
    """An interval of a ratio with two decimals; what is hardly bounded is written as ``< 0.01`` or ``> 1,000``."""
    text = interval(low, high, 2)
    if text == DASH or low is None or high is None:
        return text
    below = "< 0.01" if 0.0 <= low < 0.005 else _bound(low, 2)
    above = f"> {far:,.0f}" if high > far else _bound(high, 2)
    return f"[{below}, {above}]"


def p_value(p: float) -> str:
    """Two significant digits, never more than four decimals."""
    if not math.isfinite(p):
        return DASH
    if p < 0.0001:
        return "< 0.0001"
    if p >= 1.0:
        return "1"
    if p > 0.99:
        return "> 0.99"
    return f"{p:.{min(1 - math.floor(math.log10(p)), 4)}f}"


def p_phrase(p: float) -> str:
    """The p-value in a sentence: ``p = 0.012`` or ``p < 0.0001``."""
    text = p_value(p)
    return f"p {text}" if text[0] in "<>" else f"p = {text}"


def gamma(value: float | None) -> str:
    """A tipping point: two decimals, ``none`` when no factor tips the verdict, a dash where it is not defined."""
    if value is None or math.isnan(value):
        return DASH
    return "none" if math.isinf(value) else f"{value:,.2f}"


def count(value: float | None) -> str:
    """A count with thousands separators; an effective size below ten keeps one decimal."""
    if value is None or not math.isfinite(value):
        return DASH
    whole = float(value).is_integer() or abs(value) >= 10.0
    return number(value, 0 if whole else 1)


def about(value: int) -> str:
    """A count rounded to two digits, for sentences: 41,237 becomes ``41,000``."""
    return f"{round(value, min(0, 1 - math.floor(math.log10(abs(value)))) if value else 0):,}"


def share(value: float | None) -> str:
    """A share in per cent, with one decimal."""
    if value is None or not math.isfinite(value):
        return DASH
    percent = 100.0 * value
    if 0.0 < percent < 0.05:
        return f"<{SPACE}0.1{SPACE}%"
    return f"{percent:.0f}{SPACE}%" if percent == round(percent) else f"{percent:.1f}{SPACE}%"


def percent(text: str) -> str:
    """``10%``, as people type it, as it is shown everywhere: number and sign apart, and on one line."""
    return f"{text.removesuffix('%').rstrip()}{SPACE}%"


def spread(values: Iterable[float], write: Callable[[float], str]) -> str:
    """One value, or the range from the least to the greatest."""
    known = [value for value in values if math.isfinite(value)]
    if not known:
        return DASH
    least, greatest = write(min(known)), write(max(known))
    return least if least == greatest else f"{least} to {greatest}"


def small_share(value: float) -> str:
    """A share in per cent that keeps its first two digits, however small."""
    return share(value) if value >= 0.001 else f"{100 * value:.2g}{SPACE}%"


def bars_of(counts: Sequence[int], most_bars: int = 40) -> str:
    """Counts as little bars, neighbours together where there are too many; nothing at all is a space."""
    step = -(-len(counts) // most_bars)
    counts = [sum(counts[at : at + step]) for at in range(0, len(counts), step or 1)]
    most = max(counts, default=0)
    return "".join(_BARS[-(-8 * n // most) - 1] if n else " " for n in counts) if most else ""


def _bound(value: float, places: int | None) -> str:
    if math.isinf(value):
        return f"{MINUS if value < 0.0 else ''}∞"
    return number(value, places)
