"""DuckDB files: views that are programs, types that are no cells, names, damage; and views that never end."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from tests.hostile.cases import Case
from tests.hostile.classify import Class, Outcome, classify, files
from tests.hostile.drafts import Draft, Expect, frame_of
from tests.hostile.interrupts import PROMPT
from tests.hostile.oracle import CLICKS, LISTS, ranks, read, recalls
from tests.hostile.processes import Trial, environment, finish, start
from tests.hostile.worlds import CUTS, draw

HONEST = {  # views of the table t that hold its rows
    "itself": "select * from t",
    "a view on a view": "select * from (select * from t where true)",
    "in another order": 'select * from t order by hash("user" || item)',
    "texts": 'select "user"::varchar as "user", item::varchar as item, propensity from t',
    "wide numbers": "select * replace (propensity::decimal(10, 4) as propensity) from t",
    "categories": "select * replace (item::varchar as item) from t union all select * from t where false",
    "joined": 'select a."user", b.item, b.propensity from t a join t b on a.rowid = b.rowid',
    "numbered": "select *, row_number() over () as n from t",
    "unused columns": "select *, interval 1 day as i, [1] as l, union_value(a := 1) as u, {'a': 1} as s from t",
    "recursive": """
        with recursive r(n) as (select 0 union all select n + 1 from r where n < 9) select t.* from t, r where n = 9
    """,
    "other case": 'select "user" as "USER", item as "Item", propensity as "PROPENSITY" from t',
}  # fmt: skip
WRONG = {  # views that must be refused
    "intervals": "select * replace (interval (propensity) day as propensity) from t",
    "unions": 'select * replace (union_value(a := "user") as "user") from t',
    "lists": "select * replace ([item] as item) from t",
    "maps": "select * replace (map {'a': item} as item) from t",
    "structs": "select * replace ({'a': [interval 1 day]} as item) from t",
    "long numbers": 'select * replace (1::bignum as "user") from t',
    "bits": "select * replace ('01'::bit as item) from t",
    "times": "select * replace (time '10:00' as item) from t",
    "an error": "select * replace (error('\x1b[31mowned\n╭') as item) from t",
    "an error in a row": "select * replace (if(rowid = 7, error('here'), propensity) as propensity) from t",
    "a file": "select * from read_csv('/etc/passwd', header = false) a(\"user\", item, propensity)",
    "an address": "select * from read_parquet('http://192.0.2.1/x.parquet')",
    "a file of text": "select content as \"user\", size as item, 0.5 as propensity from read_text('log.duckdb')",
    "a table that is gone": "select * from gone",
    "infinite": "select * replace ('inf'::double as propensity) from t",
    "nothing": "select * from t where false",
    "nulls": "select * replace (null as item) from t",
    "no columns of ours": "select 1 as a",
    "much work": "select * replace ((select sum(range) * 0 + 2 from range(100000000)) as propensity) from t",
}  # fmt: skip
NAMES = ("log", 'a "b" c', "a b", "é", "select", "\x1b[31m", "x" * 300, "a\nb", "Log::x")
UNENDING = {
    "endless": """
        with recursive r("user", item) as (select 1, 1 union all select "user" + 1, item from r) select * from r
    """,
    "counting": 'select sum(a.i + b.i + c.i) as "user", 1 as item from n a, n b, n c',
}
LARGE = 'select range as "user", range % 9 as item, 0.5 as propensity from range(1000000000000)'


def _made(path: Path, table: Any, name: str, query: str) -> None:
    import duckdb

    with duckdb.connect(str(path)) as database:
        rows = frame_of(table).to_arrow()
        database.register("rows", rows)
        database.execute("create table t as select * from rows")
        database.execute("create table n as select i from range(100000) t(i)")
        database.unregister("rows")
        if "gone" in query:
            database.execute("create table gone as select * from t")
        try:
            database.execute(f'create view "{name.replace(chr(34), chr(34) * 2)}" as {query}')
        except duckdb.Error:  # what binds at once only
            query = query if "gone" in query else "select error('it cannot be bound') as \"user\", 1 as item"
            database.execute(f'create view "{name.replace(chr(34), chr(34) * 2)}" as {query}')
        if "gone" in query:
            database.execute("drop table gone")


def _poked(data: bytes, rng: Random) -> bytes:
    out = bytearray(data)
    used = [place for place, byte in enumerate(out) if byte]
    for _ in range(rng.choice((1, 5, 50))):
        out[rng.choice(used)] = rng.randrange(256)
    return bytes(out)


DAMAGE: dict[str, Callable[[bytes, Random], bytes]] = {
    "damaged": _poked,
    "cut off": lambda data, rng: data[: rng.randrange(len(data))],
    "emptied": lambda data, rng: b"",
    "text": lambda data, rng: b"user,item,propensity\n1,2,0.5\n",
    "zeros": lambda data, rng: bytes(100_000),
    "twice": lambda data, rng: data + data,
}


def database_case(rng: Random, folder: Path) -> Case:
    """A log from a view: the oracle's numbers, or one clear error."""
    world, name = draw(rng), rng.choice(NAMES) if rng.random() < 0.3 else "log"
    kind = rng.choice(("honest", "honest", "wrong", "wrong", "damage"))
    way = rng.choice(list(HONEST) if kind == "honest" else list(WRONG) if kind == "wrong" else list(DAMAGE))
    _made(folder / "log.duckdb", world.log, name, {**HONEST, **WRONG}.get(way, HONEST["itself"]))
    if kind == "damage":
        path = folder / "log.duckdb"
        path.write_bytes(DAMAGE[way](path.read_bytes(), rng))
    for model, table in world.lists.items():
        Draft(model, table).write(folder)
    argv = ["evaluate", f"log.duckdb::{name}", *(f"--recs={model}={model}.csv" for model in world.lists)]
    argv += [f"--metric=recall@{k}" for k in CUTS]
    argv += ["--estimator=naive", "--estimator=snips", "--propensity=known", "--target=pooled", "--target=per_user"]
    case = Case(f"{way}, called {name!r:.40}", [*argv, "--json=out.json"], ["log.duckdb"], ["out.json"])
    if kind == "honest":
        sheets = {"log": world.log, **world.lists}
        careful = {each: Draft(each, sheets[each], expect=Expect.SAME_OR_REFUSED).careful(folder) for each in sheets}
        lists = {model: ranks(read(careful[model], LISTS, False), False) for model in world.lists}
        case.numbers, case.refusable = recalls(read(careful["log"], CLICKS, False), lists), False
    elif kind == "wrong":
        case.answerable = False
    return case


def view_trial(rng: Random, folder: Path) -> Trial:
    """A view that never ends is stopped by Ctrl-C; one that is too large for the memory is refused."""
    way = rng.choice([*UNENDING, "large"])
    _made(folder / "log.duckdb", draw(rng).log, "log", UNENDING.get(way, LARGE))
    argv, before = ["audit", "log.duckdb::log", "--json=out.json"], files(folder)
    env = environment(folder, NUMBA_CACHE_DIR=os.environ.get("NUMBA_CACHE_DIR", ""))

    def large() -> Outcome:
        ended = finish(start(argv, folder, {**env, "POLARS_MAX_THREADS": "1"}, {resource.RLIMIT_AS: 3 << 30}))
        return classify(Case(way, argv, ["log.duckdb"], answerable=False), ended, before, folder)

    def unending() -> Outcome:
        process = start(argv, folder, env)
        time.sleep(rng.uniform(3.0, 8.0))
        if process.poll() is not None:
            return Class.SILENT, f"{way}: it ended: {finish(process).stderr[-300:]}"
        os.killpg(process.pid, signal.SIGINT)
        ended = finish(process, PROMPT)
        if ended.ended == "hang":
            return Class.HANG, f"{way}: no end within {PROMPT:.0f} s"
        if ended.code != 130 or "Traceback" in ended.stderr:
            return Class.TRACEBACK, f"{way}: exit code {ended.code}: {ended.stderr[-300:]}"
        left = sorted(name for name in files(folder) - before if not name.startswith("home"))
        return (Class.LEFT, f"{way}: {left}") if left else (Class.CLEAN, "")

    return Trial(f"a view: {way}", large if way == "large" else unending)
