"""Drawn worlds in which nothing can be said are thrown away: the library refuses them."""

from __future__ import annotations

from typing import Any

from hypothesis import reject

import unskew as us
from unskew.core.errors import InputError


def evaluate_or_reject(*inputs: Any, **options: Any) -> us.Result:
    """The result, unless no list hits anything: then the drawn example does not count."""
    try:
        return us.evaluate(*inputs, **options)
    except InputError as problem:
        if problem.code in ("no-hits", "no-common-ids", "lists-for-others"):
            reject()
        raise
