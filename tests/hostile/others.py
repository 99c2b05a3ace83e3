"""The other files of an evaluation: population, catalogue, training log, covariates, predictions of outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random

from tests.hostile.cases import Case, spoil
from tests.hostile.drafts import ENDINGS, Draft, Expect, frame_of
from tests.hostile.oracle import CLICKS, LISTS, Cast, Numbers, identity, number, ranks, read, recalls
from tests.hostile.sheets import Refused, of_frame
from tests.hostile.worlds import CUTS, Table, World, draw

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
    table = {
        "--train": world.train,
        "--users": world.population,
        "--items": world.catalogue,
        "--user-features": world.features,
        "--outcome": guesses,
        "--propensity": world.train,
    }[option].copy()
    if option == "--users" and rng.random() < 0.7:
        table = Table(["user"], [row[:1] for row in table.rows])
    for name, honest in {"log": world.log, "train": world.train, **world.lists}.items():
        Draft(name, honest).write(folder)
    draft = Draft("other", table, rng.choice(ENDINGS))
    spoil(draft, rng, rng.choice((1, 1, 2)))
    path = draft.write(folder).name
    drop = rng.random() < 0.3
    plain = option in ("--users", "--items")
    argv = [
        "evaluate",
        "log.csv",
        "--recs=alpha=alpha.csv",
        "--recs=beta=beta.csv",
        *(f"--metric=recall@{k}" for k in CUTS),
    ]
    if plain:
        argv += ["--estimator=naive", "--estimator=snips", "--propensity=known", "--target=pooled", "--target=per_user"]
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
        if len({row[option[2:-1]] for row in reading.rows}) < len(reading.rows):
            case.answerable = False
        elif option == "--items" or {str(user) for user in world.users} <= {row["user"] for row in reading.rows}:
            case.numbers = _numbers(world)
        else:
            case.answerable = False
    return case


def _numbers(world: World) -> Numbers:
    log = read(of_frame(frame_of(world.log)), CLICKS, False)
    lists = {name: read(of_frame(frame_of(table)), LISTS, False) for name, table in world.lists.items()}
    return recalls(log, {name: ranks(reading, False) for name, reading in lists.items()})
