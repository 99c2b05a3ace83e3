"""Tables of DuckDB whose columns are no cells, and views that are too large or never end."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.said import refusal, refuses
from unskew.core import memory
from unskew.log import duckdb_tables, read_log

duckdb: Any = pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")
VIEWS = {
    "endless": """
        with recursive r("user", item) as (select 1, 1 union all select "user" + 1, item from r) select * from r
    """,
    "counting": 'select sum(a.i + b.i + c.i) as "user", 1 as item from n a, n b, n c',
    "large": 'select i as "user", i % 5 as item from range(1000000000) t(i)',
    "sorted": 'select i as "user", i % 5 as item from range(100000000) t(i) order by hash(i)',
    "odd": """
        select i as "user", i as item, interval (i) day as value, [i] as listed, union_value(a := i) as tagged,
               i::bignum as long, {'a': [interval (i) day]} as nested, i::bit as bits from range(9) t(i)
    """,
}


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Path]:
    """A file with views; nothing else may be there in the end."""
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute("create table n as select i from range(100000) t(i)")
        for name, query in VIEWS.items():
            database.execute(f"create view {name} as {query}")
    yield path
    assert [each.name for each in tmp_path.iterdir()] == ["shop.duckdb"]


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ("value", "INTERVAL"),
        ("listed", "BIGINT[]"),
        ("tagged", "UNION(a BIGINT)"),
        ("nested", "STRUCT(a INTERVAL[])"),
        ("long", ""),
        ("bits", ""),
    ],
)
def test_types_that_no_cell_has(shop: Path, column: str, kind: str) -> None:
    """Who uses such a column is told its name and type; who does not, is not troubled by it."""
    with refuses("wrong-type", column=column) as said:
        read_log(f"{shop}::odd", columns={"item": column, "value": ""})
    assert kind in str(said.value)
    assert read_log(f"{shop}::odd", columns={"value": ""}).to_frame()["user"].to_list() == list(range(9))


HONEST = (  # views that hold the rows of the table t
    "select * from (select * from t where true)",
    'select * from t order by hash("user" || item)',
    'select "user"::varchar as "user", item::varchar as item, propensity from t',
    "select * replace (propensity::decimal(10, 4) as propensity) from t",
    'select a."user", b.item, b.propensity from t a join t b on a.rowid = b.rowid',
    "select *, row_number() over () as n, interval 1 day as i, [1] as l, {'a': 1} as s from t",
    "with recursive r(n) as (select 0 union all select n + 1 from r where n < 9) select t.* from t, r where n = 9",
    'select "user" as "USER", item as "Item", propensity as "PROPENSITY" from t',
)
WRONG = (
    ("select * replace (map {'a': item} as item) from t", "wrong-type"),
    ("select * replace (time '10:00' as item) from t", "wrong-type"),
    ("select * replace (error('\x1b[31mowned\n╭') as item) from t", "unreadable-file"),
    ("select * replace (if(rowid = 7, error('here'), propensity) as propensity) from t", "unreadable-file"),
    ("select * from read_csv('/etc/passwd', header = false) a(\"user\", item, propensity)", "unreadable-file"),
    ("select * from read_parquet('http://192.0.2.1/x.parquet')", "unreadable-file"),
    ("select content as \"user\", size as item, 0.5 as propensity from read_text('shop.duckdb')", "unreadable-file"),
    ("select * replace ('inf'::double as propensity) from t", "not-a-number"),
    ("select * replace (null as item) from t", "missing-value"),
    ("select * from t where false", "no-rows"),
    ("select 1 as a", "missing-column"),
)


@pytest.mark.parametrize(
    ("query", "code", "name"),
    [*((query, "", 'a "b" é') for query in HONEST), *((query, code, "Log::x") for query, code in WRONG)],
)
def test_views_are_rows_or_one_clear_error(shop: Path, query: str, code: str, name: str) -> None:
    """Whatever a view is called, and whatever program it is."""
    with duckdb.connect(str(shop)) as database:
        database.execute('create table t as select i // 3 as "user", i as item, 0.5 as propensity from range(9) t(i)')
        try:
            database.execute(f'create view "{name.replace(chr(34), chr(34) * 2)}" as {query}')
        except duckdb.Error:  # it cannot even be made
            assert code == "unreadable-file"
            return
    if code:
        said = refusal(read_log, f"{shop}::{name}")
        assert said.code == code and not {"\x1b", "╭"} & set(str(said))
    else:
        rows = read_log(f"{shop}::{name}").to_frame().select(pl.col("user", "item").cast(pl.Int64), "propensity").rows()
        assert sorted(rows) == [(i // 3, i, 0.5) for i in range(9)]


@pytest.mark.parametrize("view", ["endless", "counting"])
def test_a_view_that_does_not_end(shop: Path, view: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is stopped, whether it gives rows or not."""
    monkeypatch.setattr(duckdb_tables, "PATIENCE", 1.0)
    began = time.monotonic()
    assert refusal(read_log, f"{shop}::{view}").code == "too-slow"
    assert time.monotonic() - began < 30.0


def test_a_view_that_is_too_large(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read until it clearly takes more memory than there is."""
    monkeypatch.setattr(memory, "available", lambda: 200_000_000)
    said = refusal(read_log, f"{shop}::large")
    (rows,) = map(int, re.findall("([0-9]+) rows", str(said).replace(",", "")))
    assert said.code == "not-enough-memory" and 200_000_000 < rows * 2 * 28 < 210_000_000


def test_ctrl_c_stops_a_view(shop: Path) -> None:
    """As a Python caller knows it."""
    code = f"import unskew.log as log\nprint('go', flush=True)\nlog.read_log({str(shop) + '::counting'!r})"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None and process.stdout.readline() == "go\n"
        time.sleep(2.0)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        said = process.stderr.read()
        assert process.wait() != 0 and time.monotonic() - began < 20.0
    assert "KeyboardInterrupt" in said and "panicked" not in said


def test_many_rows_come_whole_and_in_order(shop: Path) -> None:
    """More than are taken at a time, of all usual types."""
    with duckdb.connect(str(shop)) as database:
        database.execute("""
            create table usual as select i::int as "user", 'item ' || i as item, i / 7 as value,
            timestamp '2020-01-01' + interval (i) second as time from range(40000) t(i)
        """)
    found = duckdb_tables.DuckTable.open(f"{shop}::usual").read(["user", "item", "value", "time"])
    assert found.rows() == [(n, f"item {n}", n / 7, datetime(2020, 1, 1) + timedelta(seconds=n)) for n in range(40_000)]
