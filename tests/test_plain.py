"""Text from outside is shown, not obeyed."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from unskew.cli import app
from unskew.core import provenance
from unskew.core.text import LONGEST, plain, without_controls

ANY = st.text(st.characters())  # lone surrogates too


def test_escape_codes_are_shown() -> None:
    assert plain("\x1b[31mred\x1b[0m\r\u202eabc\x07") == "\\x1b[31mred\\x1b[0m\\r\\u202eabc\\x07"
    assert plain("a\nb\u2028c") == "a\\nb\\u2028c"
    assert without_controls("a\nb\tc") == "a\nb\\tc"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("s3://ann:s3cret@shop/log.parquet?token=s3cret", "s3://***@shop/log.parquet?***"),
        ("s3:/ann:s3cret@shop/log.parquet", "s3:/***@shop/log.parquet"),
        (
            "given(s3://ann:s3cret@a/x.parquet, train=gs://s3cret@b/y)",
            "given(s3://***@a/x.parquet, train=gs://***@b/y)",
        ),
        ("no '[https://a/b?signature=s3cret' here", "no '[https://a/b?***' here"),
        (f"s3://{'s3cret' * 50}@shop", "s3://***@shop"),
        ("s3://shop/day@3/part-?.parquet", "s3://shop/day@3/part-?.parquet"),
        ("C:/ann@home/log.csv", "C:/ann@home/log.csv"),
        ("ann@example.org: what? a=b", "ann@example.org: what? a=b"),
    ],
)
def test_what_lets_in_is_not_shown(address: str, shown: str) -> None:
    assert plain(address, 200) == without_controls(address) == shown
    assert plain(shown, 200) == shown


def test_a_password_is_told_neither_by_errors_nor_by_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """The panel folds long lines, so that the password is looked for in pieces."""
    address = "s3://ann:s3cret@shop/log.parquet?token=s3cret"
    for words in (["evaluate", address, "--recs", "a=b.csv", "--engine", "memory"], ["audit", address]):
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 2 and "***" in done.output and "cret" not in done.output
    monkeypatch.setattr(provenance, "_command", ["unskew", "evaluate", address])
    assert provenance.command() == "unskew evaluate 's3://***@shop/log.parquet?***'"


@given(ANY)
def test_nothing_is_obeyed(text: str) -> None:
    shown = plain(text)
    kept = {sign for sign in shown if unicodedata.category(sign) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
    assert kept <= {"\u200d"}
    shown.encode("utf-8")
    assert len(shown) <= 10 * LONGEST + 40
