"""Pages without ids and names of files, with a foot that says when and by what they were made."""

from __future__ import annotations

import html
from dataclasses import replace

import pytest

from unskew.core.notice import Notice
from unskew.report import page
from unskew.result import Result

WRITTEN = {"date": "2024-05-01T12:00:00+00:00", "command": "unskew evaluate u1.csv", "versions": {"unskew": "1.2.3"}}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("such as 'ann@example.org', not 'ANN'", "such as '…', not '…'"),
        ("read from /home/ann/test.parquet, 3 rows", "read from FILE, 3 rows"),
        ("s3://bucket/ann/part-0.parquet; 3 rows", "FILE; 3 rows"),
        ("clicks of ann.csv.gz", "clicks of FILE"),
        (
            "--recs als=als.parquet --propensity 'popularity(gamma=1)'",
            "--recs als=FILE --propensity 'popularity(gamma=1)'",
        ),
        ("recall@10 and/or dcg@10: 0.123 of 3.4", "recall@10 and/or dcg@10: 0.123 of 3.4"),
    ],
)
def test_ids_and_files_are_left_out(text: str, shown: str, two: Result) -> None:
    """Quoted examples and names of files; parts with options and numbers stay."""
    warned = replace(two, warnings=(Notice(text, code="odd"),))
    left = html.unescape(page(warned, anonymous=True))
    assert shown in left and (text in left) is (text == shown)


def test_a_page_without_ids(two: Result) -> None:
    """Neither the page nor its tooltips hold them; with them, the page does."""
    named = replace(
        two,
        inputs={"test": {"source": "/home/ann/test.parquet", "rows": 3, "dropped": {}}},
        warnings=(Notice("als: 3 items look like 'sku-17', others like '17'.", code="ids"),),
    )
    with_ids, without = page(named, written=WRITTEN), page(named, written=WRITTEN, anonymous=True)
    for secret in ("sku-17", "home", "u1.csv"):
        assert secret in with_ids and secret not in without
    assert "challenger" in without and "2024-05-01" in without and "1.2.3" in without


def test_the_foot_has_date_command_and_versions(two: Result) -> None:
    """As they were given, and nothing where none were."""
    foot = page(two, written=WRITTEN).partition("<footer>")[2]
    assert all(text in foot for text in ("2024-05-01T12:00:00+00:00", "unskew evaluate u1.csv", "unskew 1.2.3"))
    assert "<dl>" not in page(two).partition("<footer>")[2]
