"""Options of an evaluation that contradict each other, or mean nothing: refused before anything is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from unskew.bounds import SHARE, THREADS, shown, word
from unskew.errors import InputError


def check_options(
    models: Mapping[str, Any],
    seen: Any,
    share: float | Literal["users"] | None,
    refused: str,
    drop_seen: bool,
    refit: bool,
    interval: str,
    threads: int | None,
    progress: Any = None,
    **flags: bool,
) -> None:
    """Refuse them; ``flags`` are further options that are on or off."""
    for option, value in {"drop_seen": drop_seen, "refit": refit, **flags}.items():
        if not isinstance(value, int | np.bool_):
            raise InputError(f"{option} must be True or False, not {shown(value)}.")
    if share is not None:
        replace(SHARE, words=("users",)).of(share, "share")
    word(refused, ("error", "skip"), "refused")
    if drop_seen and seen is None:
        raise InputError(
            "--drop-seen removes training items from lists: give the training log with --train (seen=train)."
        )
    if threads is not None:
        THREADS.of(threads, "threads")
    if refit and interval != "bootstrap":
        raise InputError(
            "--refit fits propensities anew in every bootstrap replicate: it goes with --interval bootstrap."
        )
    if progress is not None and not callable(progress):
        raise InputError(f"progress is called with (stage, done, total); {shown(progress)} cannot be called.")
    _check_models(models)


def _check_models(models: Mapping[str, Any]) -> None:
    """Models have names, which tables and verdicts call them by."""
    if not isinstance(models, Mapping):
        raise InputError(
            f"models are given by name, as in {{'als': lists, 'popular': 'popular.parquet'}}, not as {shown(models)}."
        )
    if not models:
        raise InputError("there is nothing to evaluate: give at least one model (--recs name=lists.parquet).")
    for name in models:
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"a model's name must be a text that is not empty, not {shown(name)}.")
