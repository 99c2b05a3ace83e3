"""Texts are numbered as a dictionary would number them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew.log import numbered_texts
from unskew.log.ids import Ids
from unskew.log.numbered_texts import SLOTS, number


def by_dictionary(texts: list[str]) -> tuple[list[int], list[int]]:
    """First rows and numbers, one text after the other."""
    numbers: dict[str, int] = {}
    out = [numbers.setdefault(text, len(numbers)) for text in texts]
    return [texts.index(text) for text in numbers], out


@settings(deadline=None)
@given(texts=st.lists(st.text(max_size=40) | st.sampled_from(["a" * n for n in range(10, 16)])), cut=st.integers(0, 9))
def test_numbers_are_those_of_a_dictionary(texts: list[str], cut: int) -> None:
    """Short and long texts, any characters, a column of one piece, of two, or a slice of one."""
    column = pl.concat(
        [pl.Series(texts[:cut], dtype=pl.String), pl.Series(texts[cut:], dtype=pl.String)], rechunk=False
    )
    for given_, wanted in ((column, texts), (pl.Series(["x", *texts], dtype=pl.String).slice(1), texts)):
        firsts, numbers = number(given_)
        assert (firsts.tolist(), numbers.tolist()) == by_dictionary(wanted)


@pytest.mark.parametrize("form", ["{}", "a longer text before {}"])
def test_tables_grow(form: str) -> None:
    """More distinct texts than the first table holds, in several pieces."""
    rng = np.random.default_rng(0)
    texts = [form.format(n) for n in rng.integers(0, 3 * SLOTS, 8 * SLOTS)]
    column = pl.concat([pl.Series(texts[:SLOTS]), pl.Series(texts[SLOTS:])], rechunk=False)
    firsts, numbers = number(column)
    assert column.gather(firsts).gather(numbers).equals(column)
    assert firsts.tolist() == sorted(firsts.tolist())
    assert len(firsts) == len(set(texts))


def test_the_way_by_polars_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Arrow hands over no views, polars' dictionary gives the same numbers."""
    column = pl.Series(["b", "a", "b", "a longer text than twelve", "a"])
    wanted = number(column)
    monkeypatch.setattr(numbered_texts, "pieces", lambda _: None)
    for found, expected in zip(number(column), wanted, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_codes_of_texts_follow_their_order() -> None:
    """Codes do not depend on which text came first."""
    ids, codes = Ids.code(pl.Series(["ü", "b", "a longer text than twelve", "b"]))
    assert ids.values.to_list() == ["a longer text than twelve", "b", "ü"]
    assert codes.tolist() == [2, 1, 0, 1]
