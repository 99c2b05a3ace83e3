"""Ids: one vocabulary, one order, identity by text."""

from __future__ import annotations

from random import Random

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew.log import Ids
from unskew.log.numbered_texts import place

compiled = settings(deadline=None)  # the first call compiles kernels


@compiled
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1), st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_encode_finds_the_position_of_an_id(known: list[int], asked: list[int]) -> None:
    """Codes are positions in the sorted distinct ids; the unknown are −1, however far away."""
    ids = Ids.of(pl.Series(known, dtype=pl.Int64))
    order = sorted(set(known))
    assert ids.values.to_list() == order
    codes = ids.encode(pl.Series(known + asked, dtype=pl.Int64))
    assert codes.tolist() == [order.index(i) if i in order else -1 for i in known + asked]


@compiled
@given(st.lists(st.integers(0, 30), min_size=1), st.booleans())
def test_code_gives_vocabulary_and_codes_at_once(ids: list[int], text: bool) -> None:
    """``Ids.code`` is ``Ids.of`` and ``encode`` in one."""
    column = pl.Series(ids).cast(pl.String) if text else pl.Series(ids)
    vocabulary, codes = Ids.code(column)
    assert vocabulary.values.to_list() == Ids.of(column).values.to_list()
    assert codes.tolist() == Ids.of(column).encode(column).tolist()


def test_the_identity_of_an_id_is_its_text() -> None:
    """7 and '7' are the same user, with the same hash; '007' is another."""
    numbers, texts = Ids.of(pl.Series([7, 10])), Ids.of(pl.Series(["007", "10", "7"]))
    assert numbers.into(texts).tolist() == [0, 1]
    assert texts.into(numbers).tolist() == [0, 1, -1]
    assert numbers.hashes[0] == texts.hashes[0] != texts.hashes[2]
    assert Ids.of(pl.Series([7]), pl.Series(["7", "a"])).values.to_list() == ["7", "a"]


@compiled
@given(st.data())
def test_parts_of_one_vocabulary_find_each_other_as_ids_do(data: st.DataObject) -> None:
    """Codes through the vocabulary that two parts come from are those that comparing the ids gives."""
    whole = Ids.of(pl.Series(data.draw(st.lists(st.text(max_size=2), min_size=1, unique=True))))

    def part(of: Ids) -> Ids:
        kept = data.draw(st.lists(st.booleans(), min_size=len(of), max_size=len(of)))
        return of.subset(np.flatnonzero(kept))

    left, right = part(whole), part(part(whole))
    for a in (whole, left, right):
        for b in (whole, left, right):
            assert a.into(b).tolist() == b.encode(a.values).tolist()
            assert a.into(b).dtype == np.int32


@compiled
@given(st.lists(st.lists(st.integers(0, 20), min_size=1), min_size=1, max_size=4), st.booleans())
def test_a_union_has_all_ids(columns: list[list[int]], text: bool) -> None:
    """As collecting them anew would give; the largest itself where it has them all."""
    vocabularies = [Ids.of(pl.Series(ids).cast(pl.String if text else pl.Int64)) for ids in columns]
    union = Ids.union(*vocabularies)
    assert union.values.to_list() == Ids.of(*(ids.values for ids in vocabularies)).values.to_list()
    assert (union in vocabularies) == (len(union) == max(map(len, vocabularies)))


def slow_place(text: str) -> tuple[bool, int, str]:
    """Whole numbers of 64 bits that print back as they stand come first, as numbers; then all other texts."""
    try:
        number = int(text) if text.isascii() else 2**63
    except ValueError:
        number = 2**63
    whole = -(2**63) <= number < 2**63 and str(number) == text
    return (False, number, "") if whole else (True, 0, text)


odd = ["-0", "+1", "007", "1.0", " 7", "1_0", "٣", "", "-"]
numberlike = st.integers(-(2**64), 2**64).map(str) | st.sampled_from(odd)


@compiled
@given(st.lists(numberlike | st.text(max_size=3), unique=True), st.randoms(use_true_random=False))
def test_texts_have_the_order_of_the_numbers_that_they_are(texts: list[str], random: Random) -> None:
    """So that codes do not depend on the type in which a file holds its ids; parts of ids keep the order of all."""
    wanted = sorted(texts, key=slow_place)
    assert sorted(texts, key=place) == wanted
    random.shuffle(texts)
    column = pl.Series(texts, dtype=pl.String)
    assert Ids.of(column).values.to_list() == wanted
    ids, codes = Ids.code(column)
    assert ids.values.to_list() == wanted and [wanted[code] for code in codes] == texts
