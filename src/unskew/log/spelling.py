"""Ids that differ only by how they are written: '007' and '7', 'é' in one sign or in two, 'A1' and 'a1', 7.0 and 7."""

from __future__ import annotations

import polars as pl


def alike(ids: pl.Series) -> pl.Series:
    """What is left of ids when leading zeros, '.0' at the end, case and the kind of composition do not count."""
    texts = ids.cast(pl.String)
    if (texts.str.len_bytes() > texts.str.len_chars()).any():  # ASCII is composed already
        texts = texts.str.normalize("NFKC")
    texts = texts.str.to_lowercase()
    return texts.str.replace(r"\.0+$", "").str.replace("^0+(.)", "$1")
