"""Text from outside is shown, not obeyed."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from unskew.plain import LONGEST, plain, without_controls

ANY = st.text(st.characters())  # lone surrogates too


def test_escape_codes_are_shown() -> None:
    assert plain("\x1b[31mred\x1b[0m\r\u202eabc\x07") == "\\x1b[31mred\\x1b[0m\\r\\u202eabc\\x07"
    assert plain("a\nb\u2028c") == "a\\nb\\u2028c"
    assert without_controls("a\nb\tc") == "a\nb\\tc"


def test_what_people_write_stays() -> None:
    for text in ("Größe 7 µ", "日本語", "👩‍👩‍👧 family", "a|b;c"):
        assert plain(text) == text


def test_long_values_are_cut_by_characters() -> None:
    assert plain("é" * 100_000) == "é" * LONGEST + "… (100,000 characters)"


@given(ANY)
def test_nothing_is_obeyed(text: str) -> None:
    shown = plain(text)
    kept = {sign for sign in shown if unicodedata.category(sign) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
    assert kept <= {"\u200d"}
    shown.encode("utf-8")
    assert len(shown) <= 10 * LONGEST + 40
