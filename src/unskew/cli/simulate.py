"""``unskew simulate``: a world whose truth is known, as files."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated

import typer

from unskew.cli.console import out, progress
from unskew.errors import InputError


def simulate(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write to.")],
    users: Annotated[int, typer.Option(help="How many users to draw.")] = 2000,
    items: Annotated[int, typer.Option(help="Size of the catalogue.")] = 500,
    seed: Annotated[int, typer.Option(help="Which users are drawn.")] = 0,
    skew: Annotated[float, typer.Option(help="Exponent of exposure's power law; 0 is even.")] = 0.9,
    feedback: Annotated[str, typer.Option(help="implicit or conversions.")] = "implicit",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Write a simulated shop: train and test logs, propensities, lists of four models, and the truth."""
    from unskew.atomic import atomic
    from unskew.log import Feedback
    from unskew.simulate import MODELS, World, relevant_for, truths, write

    if feedback not in (Feedback.IMPLICIT, Feedback.CONVERSIONS):
        raise InputError(f"--feedback {feedback}: a simulated world has implicit feedback or conversions.")
    world = World(
        users=users, items=items, seed=seed, relevant=relevant_for(items), skew=skew, feedback=Feedback(feedback)
    )
    with progress(quiet) as report:
        made: list[str] = []

        def tell(name: str) -> None:
            made.append(name)
            if report is not None:
                report(f"made {name}", len(made), 9)

        paths = write(world, output, progress=tell)
        with atomic(output / "truth.json") as temporary:
            truth = truths(world, {name: paths[name] for name in MODELS})
            temporary.write_text(json.dumps(truth, indent=2) + "\n", encoding="utf-8")
    if quiet:
        return
    folder = shlex.quote(str(output))
    out.print(f"Wrote {len(paths) + 1} files to {folder}: {', '.join(paths)}, truth.json.")
    told = "" if world.feedback is Feedback.IMPLICIT else " --feedback conversions"
    out.print(
        f"\nNow try:\n  unskew evaluate {folder}/test.parquet --train {folder}/train.parquet \\\n"
        f"    --users {folder}/users.parquet \\\n"
        f"    --recs popular={folder}/popular.parquet --recs challenger={folder}/challenger.parquet \\\n"
        f"    --metric recall@10 --estimator naive --estimator snips --propensity known{told}",
        soft_wrap=True,
    )
