"""Texts are numbered as a dictionary would number them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.mixing import mix
from unskew.log.ids import hash_texts
from unskew.log.numbered_texts import TextTable, number

texts_of_any_length = st.lists(st.text(max_size=40) | st.sampled_from(["a" * n for n in range(10, 36)]))


def by_dictionary(texts: list[str]) -> tuple[list[int], list[int]]:
    """First rows and numbers, one text after the other."""
    numbers: dict[str, int] = {}
    firsts: list[int] = []
    out: list[int] = []
    for row, text in enumerate(texts):
        if text not in numbers:
            numbers[text] = len(firsts)
            firsts.append(row)
        out.append(numbers[text])
    return firsts, out


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


@settings(deadline=None)
@given(known=texts_of_any_length, asked=texts_of_any_length)
def test_texts_are_found_as_in_a_dictionary(known: list[str], asked: list[str]) -> None:
    """The number of a text that is known, −1 for all others, which do not become known by asking."""
    table, numbers = TextTable(), {text: place for place, text in enumerate(dict.fromkeys(known))}
    table.number(pl.Series(known, dtype=pl.String))
    for _ in range(2):
        found = table.find(pl.Series(known + asked, dtype=pl.String))
        assert found is not None
        assert found.tolist() == [numbers.get(text, -1) for text in known + asked]


@pytest.mark.parametrize("rows", [1_000, 50_000])
def test_texts_that_share_an_address(rows: int) -> None:
    """Rows of a dictionary stand at one address, beginnings of a text at the same one with another length."""
    rng = np.random.default_rng(1)
    whole = pl.Series([f"{n:05d} is the beginning of a long text" for n in range(2_000)])
    pieces = [whole.str.head(length).gather(rng.integers(0, 2_000, rows)) for length in (13, 20, 13, 38)]
    for rechunk in (False, True):
        firsts, numbers = number(column := pl.concat(pieces, rechunk=rechunk))
        assert (firsts.tolist(), numbers.tolist()) == by_dictionary(column.to_list())


@settings(deadline=None)
@given(texts=texts_of_any_length)
def test_hashes_are_those_of_the_bytes(texts: list[str]) -> None:
    """FNV-1a of the bytes in UTF-8, then the finaliser of SplitMix64: the same on every machine and for ever."""
    assert hash_texts(pl.Series(texts, dtype=pl.String)).tolist() == [by_bytes(text) for text in texts]
    sliced = pl.Series(["x", *texts], dtype=pl.String).slice(1)
    assert hash_texts(sliced).tolist() == [by_bytes(text) for text in texts]


def by_bytes(text: str) -> int:
    """The hash of one text, byte by byte."""
    h = 0xCBF29CE484222325
    for byte in text.encode():
        h = (h ^ byte) * 0x100000001B3 % 2**64
    return mix(h)
