"""Options that are the same everywhere, and read the same way: ``name=path`` pairs, column maps, output files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from unskew.atomic import together
from unskew.cli.console import err, out
from unskew.errors import InputError
from unskew.outputs import files_in, refuse_same, try_drawing, try_writing
from unskew.plain import plain, plain_path

if TYPE_CHECKING:
    from unskew.shown import Shown

ANONYMOUS: ContextVar[bool] = ContextVar("ANONYMOUS", default=False)  # of the page that is written
INPUTS, WHAT, HOW, OUTPUT = "Inputs", "What to estimate", "How", "Output"  # panels of --help


def option(help: str, panel: str | None = None, *names: str) -> Any:
    """An option in a panel of ``--help``; switches need their names, or they get a ``--no-`` form as well."""
    return typer.Option(*names, help=help, rich_help_panel=panel)


Text: TypeAlias = str | None
Texts: TypeAlias = list[str] | None
File: TypeAlias = Path | None
Columns = Annotated[Text, option("Our column names = yours: user=customer_id,item=sku.", INPUTS)]
Feedback = Annotated[Text, option("What a row says: implicit, conversions or ratings.", INPUTS)]
Relevant = Annotated[Text, option("Threshold on the value, such as '>=4'.", INPUTS)]
Invalid = Annotated[str, option("Wrong rows: error or drop (counted).", INPUTS)]
Json = Annotated[File, option("Write everything as JSON.", OUTPUT)]
Html = Annotated[File, option("Write one self-contained page.", OUTPUT)]
Quiet = Annotated[bool, option("Print nothing but errors.", OUTPUT, "--quiet", "-q")]
QuietAlone = Annotated[bool, option("Print nothing but errors.", None, "--quiet", "-q")]  # where there are no panels


def named(option: str, given: Sequence[str]) -> dict[str, str]:
    """``als=als.parquet`` → {"als": "als.parquet"}; a path without a name is called by its stem."""
    found: dict[str, str] = {}
    for text in given:
        name, sign, rest = text.partition("=")
        if not sign:
            if option not in ("--recs", "--predictions"):
                raise InputError(f"{option} {plain(text)}: write {option} name={plain(text)}.")
            name, rest = Path(text).stem, text
        if not name or not rest:
            raise InputError(f"{option} {plain(text)}: write {option} name=value.")
        if name in found:
            raise InputError(
                f"{option} {plain(text)}: two models are called '{plain(name)}'. Give each a name of its own."
            )
        found[name] = rest
    return found


def size_of(flag: str, text: str | None) -> float | int | None:
    """The size of a sample: a number with a point is a share, one without a number of rows."""
    try:
        return None if text is None else int(text) if text.strip().isdecimal() else float(text)
    except ValueError:
        raise InputError(f"{flag} {plain(text)}: give a share (0.5) or a number of rows (1000).") from None


def column_map(given: str | None) -> dict[str, str] | None:
    """``user=customer_id,item=sku`` → {"user": "customer_id", "item": "sku"}."""
    if given is None:
        return None
    pairs = [part.partition("=") for part in given.split(",")]
    if any(not (name.strip() and sign and theirs.strip()) for name, sign, theirs in pairs):
        raise InputError(f"--columns {plain(given)}: write our name, '=' and yours, as in user=customer_id,item=sku.")
    names = [name.strip() for name, _, _ in pairs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"--columns {plain(given)}: '{plain(twice[0])}' is there twice; say once which column it is.")
    return {name.strip(): theirs.strip() for name, _, theirs in pairs}


def show_and_write(result: Shown, quiet: bool, **paths: Path | None) -> None:
    """Print the result, and write it in every asked format."""
    if not quiet:
        out.print(result)
    written(write_outputs(result, **paths), quiet)


def write_outputs(result: Shown, **paths: Path | None) -> list[Path]:
    """Write the result in every asked format, all or none; gives back what was written."""
    asked = {kind: path for kind, path in paths.items() if path is not None}
    with together():
        for kind, path in asked.items():
            how = {"anonymous": True} if kind == "html" and ANONYMOUS.get() else {}
            getattr(result, f"to_{kind}")(path, **how)
    return list(asked.values())


def written(paths: Iterable[Path], quiet: bool) -> None:
    """Say what was written."""
    for path in () if quiet else paths:
        err.print(f"wrote {path}", soft_wrap=True)


def check_outputs(*inputs: Path | None, specs: Iterable[str | None] = (), **paths: Path | None) -> None:
    """Refuse an output that cannot be written, or would replace an input, before the work is done, not after it.

    Args:
        inputs: files that the command reads.
        specs: canonical strings, which may name more of them, as in ``given(predictions.csv)``.
        paths: the outputs by kind, which is also the ending of their names.
    """
    asked = {kind: path for kind, path in paths.items() if path is not None}
    read = [path for path in inputs if path is not None]
    read += [path for spec in specs if spec is not None for path in files_in(spec)]
    if "html" in asked:
        try_drawing()
    for kind, path in asked.items():
        try:
            try_writing(path)
        except InputError as error:
            raise InputError(f"--{kind} {error}") from None
        ending = path.suffix.lower().lstrip(".")
        allowed = {"html": ("html", "htm"), "parquet": ("parquet", "pq")}.get(kind, (kind,))
        if ending not in allowed:
            raise InputError(f"--{kind} {plain_path(path)}: the file's name should end in .{kind}.")
    refuse_same([(f"--{kind} {plain_path(path)}", path) for kind, path in asked.items()], read)
