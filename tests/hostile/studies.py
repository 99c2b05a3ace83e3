"""Studies that somebody else wrote: TOML of any kind, modules that would be run, odd places, outputs over inputs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from random import Random

from papers.tests.recovery.small import ITEMS, USERS, ratings

from tests.hostile.cases import Case, spoil
from tests.hostile.drafts import Draft
from tests.hostile.worlds import Table

STORE = "store"
BASE = """\
[data]
log = "log.csv"
random = "random.csv"
relevant = ">=4"
likes = true
split = "holdout(share=0.2)"
[study]
seeds = [0]
metrics = ["recall@5"]
target = "per_user"
[models]
popular = "most_popular"
knn = { model = "item_knn", neighbours = [3, 5] }
mine = { lists = "lists-{seed}.csv" }
[questions.popularity]
estimators = ["naive", "snips"]
propensity = "popularity(gamma=1)"
"""
WORLD = {"users": "60", "items": "30", "relevant": "9", "impressions": "12"}
OPTIONS = (
    "users", "items", "seed", "relevant", "impressions", "skew", "agreement", "test_share", "feedback", "catalogue",
)  # fmt: skip
VALUES = (
    "nan", "inf", "-inf", "-1", "0", "1.5", "1e308", "true", "1979-05-27", "1979-05-27T07:32:00Z", "07:32:00",
    "18446744073709551616", "-9223372036854775809", "1" + "0" * 5000, "0x" + "f" * 300, '""', '"x"', '"\\u0000"', "[]",
    "[[[[1]]]]", "{}", "{ a = 1 }", "[nan]", "[1979-05-27]", '"/dev/zero"', '"/dev/null"', '"."', '"\\u001b[31m"',
    '"' + "y" * 5000 + '"', "[" * 5000 + "]" * 5000, "{" * 900, "a.b.c", "", "1 2", '"((((("', "'''", '"*.csv"',
    '["a", 1]', "1_000", "10000000000",
)  # fmt: skip
DEEP = (
    "a." * 100_000 + "a = 1", "[" + "a." * 100_000 + "a]", "a = " + "[" * 100_000, "a = " + "{b=" * 50_000,
    "[[a]]\n" * 20_000, "# " + "x" * 300_000, "\0", "a = 1\n" * 2, "\ufeff" + BASE, "[" * 250_000, "'" * 200_000,
    "a" * 250_000, "[data]\n", "",
)  # fmt: skip
MODULES = (
    "os:system",
    "antigravity:x",
    "outside:Mine",
    "__main__:x",
    ":",
    "papers.tests.recovery.small:Backwards",
    "\\u0000:x",
)
FILES = ("study.toml", "log.csv", "random.csv", "lists-0.csv")


def _value(rng: Random, text: str) -> str:
    """A key is set to something else, of the file or of a simulated world."""
    if rng.random() < 0.25:
        world = ", ".join(f"{n} = {v}" for n, v in (WORLD | {rng.choice(OPTIONS): rng.choice(VALUES)}).items())
        text = re.sub("(?m)^(log|random|relevant|likes|split|mine) = .*\n", "", text)
        return text.replace("[data]", f"[data]\nworld = {{ {world} }}")
    line = rng.choice(re.findall("(?m)^.* = .*$", text))
    return text.replace(line, f"{line.partition(' = ')[0]} = {rng.choice(VALUES)}", 1)


def _key(rng: Random, text: str) -> str:
    line = rng.choice(re.findall("(?m)^.* = .*$", text))
    name = rng.choice(("x", '"\\u001b[31m"', '""', "seed", "'a b'", "x" * 5000, "data.log", "options", "é"))
    return text.replace(line, rng.choice((f"{name} = 1\n{line}", f"{name} = {line.partition(' = ')[2]}")), 1)


def _line(rng: Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    at = rng.randrange(len(lines))
    return "".join(lines[:at] + rng.choice(([], [lines[at]] * 2)) + lines[at + 1 :])


def _bytes(rng: Random, text: str) -> bytes:
    data = bytearray(text.encode())
    for _ in range(rng.choice((1, 3, 30))):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data) if rng.random() < 0.8 else text.encode("utf-16")


def _deep(rng: Random, text: str) -> str:
    return rng.choice(DEEP)


SPOILT: dict[str, Callable[[Random, str], str | bytes]] = {
    "value": _value, "key": _key, "line": _line, "bytes": _bytes, "deep": _deep,
}  # fmt: skip


def studies_case(rng: Random, folder: Path) -> Case:
    """A study's file, or what it names, is spoilt: an answer or one clear error, no code is run, no input replaced."""
    _inputs(folder)
    way = rng.choice(("value", "value", "value", "key", "line", "bytes", "deep", "module", "place", "output", "data"))
    argv = ["study", "study.toml", f"--store={STORE}", "--workers=1"]
    case = Case(way, argv, list(FILES), ["out.json"], own=STORE)
    text: str | bytes = BASE
    output = "--json=out.json"
    if way == "module":
        text = BASE.replace('popular = "most_popular"', f'popular = {{ class = "{rng.choice(MODULES)}" }}')
        case.answerable = False
    elif way == "output":
        output = rng.choice([f"--{kind}={name}" for name in FILES for kind in ("json", "csv", "html")])
        (folder / "link.csv").symlink_to("log.csv")
        case.answerable, output = False, rng.choice((output, "--csv=link.csv", "--csv=./random.csv"))
    elif way in SPOILT:
        text = SPOILT[way](rng, BASE)
    (folder / "study.toml").write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    if way == "place":
        name = rng.choice(FILES)
        case.what += f": {name} is {_place(folder / name, rng)}"
        case.answerable = False
    elif way == "data":
        name, table = rng.choice((("log", ratings()[0]), ("random", ratings()[1])))
        draft = Draft(name, Table(list(table.columns), [list(row) for row in table.rows()]))
        spoil(draft, rng, rng.choice((1, 2)))
        draft.write(folder)
        case.what += f": {name}: {', '.join(draft.done)}"
    elif way in SPOILT:
        case.what += f": {text[:60]!r}" if way == "deep" else f": {_changed(text)}"
    argv.append(output)
    return case


def _changed(text: str | bytes) -> str:
    """The lines that the study has not as it should be."""
    lines = text.decode("utf-8", "backslashreplace").splitlines() if isinstance(text, bytes) else text.splitlines()
    return "; ".join(line for line in lines if line not in BASE)[:200]


def _inputs(folder: Path) -> None:
    chosen, random = ratings()
    chosen.write_csv(folder / "log.csv")
    random.write_csv(folder / "random.csv")
    rows = ((user, (user + place) % ITEMS, place + 1) for user in range(USERS) for place in range(9))
    Draft("lists-0", Table(["user", "item", "rank"], [list(row) for row in rows])).write(folder)
    (folder / "outside.py").write_text("open('ran', 'w')\nclass Mine: pass\n")


def _place(path: Path, rng: Random) -> str:
    path.unlink()
    way = rng.choice(("a pipe", "a folder", "endless", "a loop", "gone", "a device"))
    if way == "a pipe":
        os.mkfifo(path)
    elif way == "a folder":
        path.mkdir()
    elif way != "gone":
        path.symlink_to({"endless": "/dev/zero", "a loop": path.name, "a device": "/dev/null"}[way])
    return way
