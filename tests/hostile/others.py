"""The other files of an evaluation: population, catalogue, training log, covariates, predictions of outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random

from tests.hostile.cases import Case, honest_numbers, spoil
from tests.hostile.drafts import ENDINGS, Draft, Expect
from tests.hostile.oracle import Cast, identity, number, read
from tests.hostile.sheets import Refused
from tests.hostile.worlds import CUTS, KNOWN, Table, draw

_MORE: Mapping[str, list[str]] = {
    "--train": [],
    "--users": [],
    "--items": [],
    "--user-features": ["--train=train.csv", "--propensity=logistic(features=outer)"],
    "--outcome": ["--estimator=direct", "--train=train.csv"],
    "--propensity": ["--estimator=snips"],
}
_FORMS = {"--outcome": "given({})", "--propensity": "counted(popularity(gamma=1), train={})"}
_CASTS: Mapping[str, Mapping[str, Cast]] = {
    "--train": {"user": identity, "item": identity},
    "--users": {"user": identity, "relevant": number},
    "--items": {"item": identity},
    "--user-features": {"user": identity, "age": number, "score": number},
    "--outcome": {"user": identity, "item": identity, "prediction": number},
    "--propensity": {"item": identity},
}


def others_case(rng: Random, folder: Path) -> Case:
    """One of the other files is spoilt; where it changes no number, the numbers are the oracle's."""
    world = draw(rng)
    option = rng.choice(list(_MORE))
    pairs = [[user, item, rng.randint(1, 99) / 100] for user in world.users for item in world.items]
    guesses = Table(["user", "item", "prediction"], pairs)
    tables = (world.train, world.population, world.catalogue, world.features, guesses, world.train)
    table = dict(zip(_MORE, tables, strict=True))[option].copy()
    if option == "--users" and rng.random() < 0.7:
        table = Table(["user"], [row[:1] for row in table.rows])
    for name, honest in {"log": world.log, "train": world.train, **world.lists}.items():
        Draft(name, honest).write(folder)
    draft = Draft("other", table, rng.choice(ENDINGS))
    spoil(draft, rng, rng.choice((1, 1, 2)))
    path = draft.write(folder).name
    drop = rng.random() < 0.3
    plain = option in ("--users", "--items")
    argv = ["evaluate", "log.csv", "--recs=alpha=alpha.csv", "--recs=beta=beta.csv"]
    argv += KNOWN if plain else KNOWN[: len(CUTS)]
    argv += [*_MORE[option], f"{option}={_FORMS.get(option, '{}').replace('{}', path)}"]
    argv += [*(["--invalid=drop"] if drop else []), "--json=out.json"]
    what = f"{option} {draft.ending}: {', '.join(draft.done)}" + ("; drop" if drop else "")
    case = Case(what, argv, [path, "log.csv"], ["out.json"])
    if draft.expect is Expect.ANYTHING:
        return case
    casts = {name: cast for name, cast in _CASTS[option].items() if name in ("user", "item") or not plain}
    try:
        reading = read(draft.careful(folder), casts, drop)
    except Refused as reason:
        case.answerable = option == "--user-features"  # a text column makes columns of 0 and 1
        case.what += f" [must be refused: {reason}]"
        return case
    if plain and not drop:
        ids = {row[option[2:-1]] for row in reading.rows}
        whole = option == "--items" or {str(user) for user in world.users} <= ids
        case.answerable = whole and len(ids) == len(reading.rows)
        case.numbers = honest_numbers(world) if case.answerable else None
    return case
