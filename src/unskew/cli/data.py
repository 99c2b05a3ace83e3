"""``unskew data``: which named data sets are on this machine, what they are, and how they get here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unskew.cli.console import err, guarded, out, progress
from unskew.cli.examples import epilog
from unskew.cli.once import OnceCommand
from unskew.cli.options import QuietAlone, Text, Texts, option

if TYPE_CHECKING:
    from rich.table import Table

    from unskew.log import Log
    from unskew.log.datasets import Dataset, Source

app = typer.Typer(
    help="Named data sets: what is here, what they are, and how to get them.",
    no_args_is_help=True,
    epilog=epilog("data"),
    rich_markup_mode="markdown",
)
Name = Annotated[str, typer.Argument(help="Name of the data set, as in 'unskew data list'.")]


def list_() -> None:
    """List the sets that have a name: where each was found, or how to get it."""
    from rich.table import Table

    from unskew.log.datasets import NAMES, folder_of, source_of

    table = Table("name", "where", "size", "licence", title="Named data sets", title_justify="left")
    table.columns[0].no_wrap = True
    table.columns[1].overflow = "fold"
    table.columns[2].justify = "right"
    for name in NAMES:
        source, folder = source_of(name), folder_of(name)
        if folder is None:
            where, size = f"not here: unskew data {'fetch' if source.downloads else 'show'} {name}", ""
        else:
            where, size = str(folder), f"{source.size(folder) / 1e6:.1f} MB"
        table.add_row(name, where, size, source.about.licence)
    out.print(table)


def show(name: Name) -> None:
    """Show what a set is, its licence and citation, and what is in the copy on this machine."""
    from unskew.log.datasets import folder_of, load, source_of

    source, folder = source_of(name), folder_of(name)
    out.print(_about(source))
    if folder is None:
        from unskew.log.datasets.catalogue import how_to_get

        out.print(f"\nNot on this machine. {how_to_get(source)}")
        return
    with progress(quiet=False) as report:
        report(f"reading {name}", 0, 1)
        dataset = load(name)
    out.print(_content(dataset, folder))


def add(
    name: Name, path: Annotated[Path, typer.Argument(help="Folder with the set's files.")], quiet: QuietAlone = False
) -> None:
    """Check a copy that you have, and remember where it lies."""
    from unskew.log import datasets

    with progress(quiet) as report:
        report(f"checking {name}", 0, 1)
        dataset = datasets.add(name, path)
    if not quiet:
        out.print(f"{dataset}\nRegistered. In Python: us.load('{name}')")


def fetch(
    name: Name,
    mirror: Annotated[Text, option("Your own server with the publisher's paths, instead of the publisher.")] = None,
    again: Annotated[bool, option("Download even if a copy is here.", None, "--again")] = False,
    sha256: Annotated[Texts, option("Accept only files with this checksum. Repeat if there are several.")] = None,
    quiet: QuietAlone = False,
) -> None:
    """Download a set from its publisher into your cache, where its licence allows that."""
    from unskew.log import datasets

    source, there = datasets.source_of(name), datasets.folder_of(name)
    if there is not None and not again and source.downloads:
        if not quiet:
            out.print(f"{name} is here already: {there}. Download it nevertheless with --again.")
        return
    if source.downloads and not quiet:
        err.print(_about(source))
    with progress(quiet) as report:
        folder = datasets.fetch(name, mirror=mirror, again=again, sha256=sha256 or (), progress=report)
    if not quiet:
        out.print(f"\n{name} is in {folder}. In Python: us.load('{name}')", soft_wrap=True)


def _about(source: Source) -> Table:
    about = source.about
    return _facts(
        ("", f"{about.title} ({about.name})"),
        ("", about.description),
        ("licence", about.licence),
        ("cite", about.citation),
        ("publisher", about.homepage),
    )


def _content(dataset: Dataset, folder: Path) -> Table:
    """What was read: rows, users and items of the logs, what was dropped, features, propensities."""
    rows = [("", ""), ("folder", str(folder)), *_log("mnar", dataset.mnar)]
    rows += _log("mcar", dataset.mcar) if dataset.mcar is not None else [("mcar", "none")]
    for key, frame in (("user_features", dataset.user_features), ("item_features", dataset.item_features)):
        if frame is None:
            rows.append((key, "none"))
        else:
            names = ", ".join(frame.columns[1:6]) + (", …" if frame.width > 6 else "")
            rows.append((key, f"{names} ({frame.width - 1} in all) of {len(frame):,}"))
    if dataset.propensity is not None:
        by = f"estimated by {dataset.mnar.estimated_by}, " if dataset.mnar.estimated_by else ""
        rows.append(("propensity", f"{by}of all {len(dataset.propensity):,} pairs; of the seen ones in mnar"))
    else:
        rows.append(("propensity", "none" if dataset.mnar.propensity is None else "of the seen pairs, in the logs"))
    return _facts(*rows)


def _log(part: str, log: Log) -> list[tuple[str, str]]:
    seen = len(set(log.user.tolist()))
    rows = [(part, f"{len(log):,} rows, {seen:,} users, {len(log.items):,} items, {log.feedback}")]
    dropped = [f"{count:,} × {reason}" for reason, count in log.account.dropped.items()]
    return [*rows, ("", f"of {log.account.rows:,} rows; dropped: {', '.join(dropped)}")] if dropped else rows


def _facts(*rows: tuple[str, str]) -> Table:
    """Key and text side by side, without a frame."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for key, text in rows:
        table.add_row(key, Text(text))
    return table


for name, command in (("list", list_), ("show", show), ("add", add), ("fetch", fetch)):
    app.command(name, cls=OnceCommand, epilog=epilog(f"data {name}"))(guarded(command))
