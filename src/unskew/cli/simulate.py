"""``unskew simulate``: worlds whose truth is known, as files. Alone it makes a shop; ``ratings`` follows a log."""

from __future__ import annotations

import shlex
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unskew.cli.commands import OpenOnceGroup
from unskew.cli.console import guarded, out, progress
from unskew.cli.examples import epilog
from unskew.cli.once import OnceCommand
from unskew.cli.options import COLUMNS, FOLDER, File, Force, QuietAlone, Texts, check_folder, column_map, option
from unskew.core.errors import InputError
from unskew.core.text import plain

if TYPE_CHECKING:
    from unskew.log import Log
    from unskew.simulate import RatingWorld

app = typer.Typer(rich_markup_mode="markdown", epilog=epilog("simulate"))


def shop(
    context: typer.Context,
    output: Annotated[File, option("Folder to write to.", None, *FOLDER)] = None,
    users: Annotated[int, option("How many users to draw.")] = 2000,
    items: Annotated[int, option("Size of the catalogue.")] = 500,
    seed: Annotated[int, option("Seed: which users are drawn.")] = 0,
    skew: Annotated[float, option("Exponent of exposure's power law; 0 is even.")] = 0.9,
    feedback: Annotated[str, option("implicit or conversions.")] = "implicit",
    graded: Annotated[
        bool, option("Conversions worth 1 to 5 instead of 1, where there are any.", None, "--graded")
    ] = False,
    force: Force = False,
    quiet: QuietAlone = False,
) -> None:
    """Write a simulated shop: train and test logs, propensities, lists of four models, and the truth.

    ``unskew simulate ratings`` makes a world of ratings that looks like a log of yours instead.
    """
    if context.invoked_subcommand is not None:
        return
    if output is None:
        raise InputError(
            "unskew simulate: say where to write to, as in: unskew simulate --output shop", code="missing-argument"
        )
    from unskew.log import Feedback
    from unskew.simulate import World, relevant_for, write
    from unskew.simulate.files import FILES

    if feedback not in (Feedback.IMPLICIT, Feedback.CONVERSIONS):
        raise InputError(
            f"--feedback {feedback}: a simulated shop has implicit feedback or conversions. For ratings: unskew "
            "simulate ratings --like FILE --output FOLDER",
            code="bad-value",
        )
    if graded and feedback != Feedback.CONVERSIONS:
        raise InputError(
            "--graded: implicit feedback has no outcomes. Add --feedback conversions.", code="conflicting-arguments"
        )
    check_folder(output, FILES, force)
    world = World(
        users=users,
        items=items,
        seed=seed,
        relevant=relevant_for(items),
        skew=skew,
        feedback=Feedback(feedback),
        graded=graded,
    )
    with progress(quiet) as report:
        made = count(1)
        paths = write(world, output, progress=lambda name: report(f"made {name}", next(made), len(FILES)), force=force)
    if quiet:
        return
    folder = shlex.quote(str(output))
    written = ", ".join(path.name for path in paths.values())
    out.print(f"Wrote {len(paths)} files to {folder}: {written}.", soft_wrap=True)
    asked = (
        f"unskew evaluate {folder}/test.parquet --train {folder}/train.parquet \\\n"
        f"    --users {folder}/users.parquet \\\n"
        f"    --recs popular={folder}/popular.parquet --recs challenger={folder}/challenger.parquet \\\n"
    )
    if world.feedback is Feedback.IMPLICIT:
        commands = f"  {asked}    --metric recall@10 --estimator naive --estimator snips --propensity known"
    else:
        guess = "means(shrink=10)" if graded else "logistic_mf(dim=10)"
        doubly = f'    --feedback conversions --metric dcg@10 --outcome "{guess}" \\\n'
        known, fitted = "--propensity known", f'--propensity "logistic_mf(dim=10)" --share {world.test_share:g}'
        commands = (
            f"  {asked}{doubly}    {known}\n\nor, as if propensities were not known (naive, ips and dr are the usual "
            f"estimators):\n  {asked}{doubly}    {fitted}\n\nThe guide is docs/conversions.md."
        )
    out.print(f"\nNow try:\n{commands}", soft_wrap=True)


def ratings(
    like: Annotated[str, option("A log of ratings: a file, or the name of a data set (ml-100k).")],
    output: Annotated[Path, option("Folder to write to.", None, *FOLDER)],
    alpha: Annotated[
        float, option("How much less often a rating is seen than the next better one; 1: as often.")
    ] = 0.25,
    share: Annotated[float, option("Share of all pairs that is seen.")] = 0.05,
    seed: Annotated[int, option("Seed: which pairs are seen.")] = 0,
    marginals: Annotated[
        str, option("Shares of the ratings 1, 2, …: schnabel16, own (the log's), or numbers with commas.")
    ] = "schnabel16",
    rank: Annotated[int, option("Rank of the factorisation that completes the log.")] = 10,
    users: Annotated[int | None, option("Keep this many users, those with the most ratings.")] = None,
    items: Annotated[int | None, option("Keep this many items, those with the most ratings.")] = None,
    columns: Annotated[Texts, option(COLUMNS)] = None,
    force: Force = False,
    quiet: QuietAlone = False,
) -> None:
    """Write a world of ratings that looks like a log: what was seen, propensities, the truth, five predictors."""
    from unskew.simulate import SCHNABEL16, RatingWorld, most_active, write_ratings
    from unskew.simulate.rating_files import FILES

    check_folder(output, FILES, force, read=like)
    with progress(quiet) as report:
        steps, made = len(FILES) + 1, count(2)
        report(f"reading {like}", 0, steps)
        log = most_active(_log_like(like, columns), users=users, items=items)
        report("completing the ratings", 0, steps)
        shares = SCHNABEL16 if marginals == "schnabel16" else _numbers(marginals)
        world = RatingWorld.like(log, alpha=alpha, share=share, marginals=shares, rank=rank)
        paths = write_ratings(
            world, output, seed=seed, progress=lambda name: report(f"made {name}", next(made), steps), force=force
        )
    if not quiet:
        _tell(world, output, paths)


def _log_like(like: str, columns: list[str] | None) -> Log:
    """The log of a file, or the self-selected part of a named data set."""
    from unskew.log import read_log
    from unskew.log.datasets import NAMES, load

    if like in NAMES and not Path(like).is_file():
        if columns is not None:
            raise InputError(
                f"--columns {plain(','.join(columns))}: the columns of the data set '{like}' are known. Leave it out.",
                code="conflicting-arguments",
            )
        return load(like).mnar
    from unskew.alignment.sources import Names

    return read_log(like, columns=Names(column_map(columns), ["log"]).of_test, feedback="ratings")


def _numbers(marginals: str) -> tuple[float, ...] | str:
    """``.5,.3,.2`` as numbers; a word is left to the world."""
    try:
        return tuple(float(part) for part in marginals.split(","))
    except ValueError:
        if marginals == "own":
            return marginals
        raise InputError(
            f"--marginals {marginals}: write schnabel16, own, or the shares of the ratings 1, 2, … with commas.",
            code="bad-value",
        ) from None


def _tell(world: RatingWorld, output: Path, paths: dict[str, Path]) -> None:
    from unskew.simulate.predictions import flips

    folder = shlex.quote(str(output))
    seen = ", ".join(f"{p:.4g}" for p in world.propensity_of[1:])
    written = ", ".join(path.name for path in paths.values())
    size = f"{len(world.users):,} users × {len(world.items):,} items"
    out.print(f"Wrote {len(paths)} files to {folder}: {written}.", soft_wrap=True)
    out.print(f"{size}; P(seen) of the ratings 1 … {world.levels}: {seen}.", soft_wrap=True)
    for name, (wanted, done) in flips(world.truth, world.levels).items():
        if done < wanted:
            out.print(f"{name}: only {done:,} ratings could be flipped, not {wanted:,}.", soft_wrap=True)
    out.print(
        f"\nNow try:\n  unskew evaluate {folder}/log.parquet --feedback ratings \\\n"
        f"    --predictions {folder}/rec_ones.parquet --predictions {folder}/rec_fours.parquet \\\n"
        "    --metric mae --estimator naive --estimator snips --propensity known\n"
        f"The truth is in {folder}/truth.json.",
        soft_wrap=True,
    )


app.callback(cls=OpenOnceGroup, invoke_without_command=True)(guarded(shop))
app.command(cls=OnceCommand, epilog=epilog("simulate ratings"))(guarded(ratings))
