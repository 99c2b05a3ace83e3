"""``--columns``: which column is which, said once."""

from __future__ import annotations

import pytest

from unskew.cli.options import column_map, named
from unskew.errors import InputError


def test_a_name_that_is_said_twice() -> None:
    """The last would win."""
    assert column_map(["user=u, item=i", "test:time="]) == {"user": "u", "item": "i", "test:time": ""}
    for given in ("user=user,user=item", "user=u,item=i, user =u"):
        with pytest.raises(InputError, match="'user' is there twice"):
            column_map([given])


@pytest.mark.parametrize("path", ["als.csv", "als.csv.gz", "logs/als.jsonl.zst", "shop.duckdb::als"])
def test_lists_without_a_name_are_called_by_their_file(path: str) -> None:
    """Without what says how they are packed; a table by its own name."""
    assert named("--recs", [path]) == {"als": path}
