"""Standard errors by the delta method, as tests compare them with others."""

from __future__ import annotations

import math

from unskew.inference.moments import Moments


def difference_error(moments: Moments, a: int, b: int) -> float:
    """Standard error of estimate a minus estimate b, from the difference of gradients."""
    if moments.active < 2:
        return math.nan
    gradient = moments.form.gradients(moments.mean)
    step = gradient[a] - gradient[b]
    spread = max(float(step @ moments.cross @ step), 0.0)
    return math.sqrt(spread * moments.active / (moments.active - 1)) / moments.users
