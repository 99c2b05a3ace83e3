"""Texts are numbered as a dictionary would number them."""

from __future__ import annotations

import pickle

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.mixing import mix
from unskew.log import numbered_texts
from unskew.log.ids import Ids, hash_texts
from unskew.log.numbered_texts import SLOTS, TextTable, number, unusual

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


def test_another_process_gets_the_ids_alone() -> None:
    """Tables of texts hold a secret of the process: they stay here."""
    ids, other = Ids.of(pl.Series(["a", "b", "a beginning, and so on and on and on"])), Ids.of(pl.Series(["b", "c"]))
    assert (ids.into(other).tolist(), other.into(ids).tolist()) == ([-1, -1, 0], [2, -1])
    again = pickle.loads(pickle.dumps(ids))
    assert set(again.__dict__) == {"values", "origin"}
    assert (again.into(other).tolist(), other.into(again).tolist()) == ([-1, -1, 0], [2, -1])


@pytest.mark.parametrize("length", [1, 5, 8, 12, 13, 15, 16, 17, 24, 36])
@pytest.mark.parametrize("sign", ["\x00", "\n", " ", "\x80", "é"])
def test_an_unusual_sign_is_seen_at_every_place(length: int, sign: str) -> None:
    """And texts of the outermost usual signs are not taken for unusual."""
    usual = pl.Series(["!" * length, "~" * length, "\x7f" * length])
    assert unusual(usual).is_empty()
    odd = pl.Series(["!" * place + sign + "~" * (length - 1 - place) for place in range(length)])
    assert unusual(odd).equals(odd)


def test_more_texts_than_numbers_are_left_to_polars(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that can grow no more numbers nothing; coding gives the same either way."""
    column = pl.Series([f"user {n % 7_000}" for n in range(20_000)] + ["a longer text than a view holds"])
    ids, codes = Ids.code(column)
    monkeypatch.setattr(numbered_texts, "LARGEST", SLOTS)
    assert TextTable().number(column) is None
    fewer, same = Ids.code(column)
    assert fewer.values.equals(ids.values)
    assert same.tolist() == codes.tolist()
