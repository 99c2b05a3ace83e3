"""Options that are the same everywhere, and read the same way: ``name=path`` pairs, column maps, output files."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from unskew.cli.console import err, out
from unskew.core.atomic import json_text, together
from unskew.core.errors import InputError, require
from unskew.core.outputs import files_in, refuse_existing, refuse_same, try_drawing, try_filling, try_writing
from unskew.core.text import plain, plain_path

if TYPE_CHECKING:
    from unskew.core.showing import Shown

STDOUT = Path("-")
ANONYMOUS: ContextVar[bool] = ContextVar("ANONYMOUS", default=False)  # of the page that is written
INPUTS, WHAT, HOW, OUTPUT = "Inputs", "What to estimate", "How", "Output"  # panels of --help


def option(help: str, panel: str | None = None, *names: str) -> Any:
    """An option in a panel of ``--help``; switches need their names, or they get a ``--no-`` form as well."""
    return typer.Option(*names, help=help, rich_help_panel=panel)


REQUIRE = (
    '"new better than old on recall@10" or "new not worse than old by 2 % on recall@10": exit code 0 for yes, 1 for '
    "no, 3 for undecided. Repeat."
)
Text: TypeAlias = str | None
Texts: TypeAlias = list[str] | None
File: TypeAlias = Path | None
LOG = "user, item[, value][, time][, policy][, position][, propensity]."  # the columns of a log
COLUMNS = (
    "Columns whose names are not recognised: user=guest,item=dish; in one input test:user=guest; alternatives "
    "'user=guest|visitor'; by place, in a file without a header line, user=1,item=2; time= uses none. Repeat."
)
Columns = Annotated[Texts, option(COLUMNS, INPUTS)]
Feedback = Annotated[Text, option("What a row says: implicit, conversions or ratings.", INPUTS)]
Relevant = Annotated[Text, option("Which values count as relevant, such as '>=4'.", INPUTS)]
Invalid = Annotated[str, option("What to do with wrong rows: error, or drop and count them.", INPUTS)]
Json = Annotated[File, option("Write everything as JSON; - writes it to standard output, and nothing else.", OUTPUT)]
Html = Annotated[File, option("Write one self-contained page.", OUTPUT)]
Require = Annotated[Texts, option(REQUIRE, OUTPUT)]
Quiet = Annotated[bool, option("Print nothing but errors.", OUTPUT, "--quiet", "-q")]
FOLDER = ("--output", "--out", "-o")  # the names of an option for a folder
Force = Annotated[bool, option("Replace files of an earlier run in this folder.", None, "--force")]
QuietAlone = Annotated[bool, option("Print nothing but errors.", None, "--quiet", "-q")]  # where there are no panels


def named(option: str, given: Sequence[str]) -> dict[str, str]:
    """``als=als.parquet`` → {"als": "als.parquet"}; a path without a name is called by its stem or table."""
    found: dict[str, str] = {}
    for text in given:
        name, sign, rest = text.partition("=")
        if not sign:
            if option not in ("--recs", "--predictions"):
                raise InputError(
                    f"{option} {plain(text)}: write {option} name={plain(text)}.", code="bad-string", option=option
                )
            name, rest = _stem(text), text
        if not name or not rest:
            raise InputError(f"{option} {plain(text)}: write {option} name=value.", code="bad-string", option=option)
        if name in found:
            raise InputError(
                f"{option} {plain(text)}: two models are called '{plain(name)}'. Give each a name of its own.",
                code="repeated-name",
                name=name,
            )
        found[name] = rest
    return found


def _stem(text: str) -> str:
    """``als.csv.gz`` → ``als``; ``shop.duckdb::als`` → ``als``."""
    file, sign, table = text.partition("::")
    if sign and table:
        return table
    bare = file.removesuffix(".gz").removesuffix(".zst").removesuffix(".zstd")
    return Path(bare).stem


def size_of(flag: str, text: str | None) -> float | int | None:
    """The size of a sample: a number with a point is a share, one without a number of rows."""
    try:
        return None if text is None else int(text) if text.strip().isdecimal() else float(text)
    except ValueError:
        raise InputError(
            f"{flag} {plain(text)}: give a share (0.5) or a number of rows (1000).", code="not-a-number", option=flag
        ) from None


def share_of(text: str | None) -> float | str | None:
    """How the logs were split: the test log's share of all rows, or ``users``."""
    if text is None or text == "users":
        return text
    try:
        return float(text)
    except ValueError:
        raise InputError(
            f"--share {plain(text)}: give a number between 0 and 1, or 'users'.", code="not-a-number"
        ) from None


def column_map(given: Sequence[str] | None) -> dict[str, str] | None:
    """``user=customer_id,train:item=sku`` → {"user": "customer_id", "train:item": "sku"}; ``time=`` is none."""
    if not given:
        return None
    found: dict[str, str] = {}
    for text in given:
        for part in text.split(","):
            name, sign, theirs = (each.strip() for each in part.partition("="))
            if not name or not sign or name.endswith(":"):
                raise InputError(
                    f"--columns {plain(text)}: write our name, '=' and yours, as in user=customer_id,item=sku, or for "
                    "one input test:user=customer_id.",
                    code="bad-string",
                )
            if name in found:
                raise InputError(
                    f"--columns {plain(text)}: '{plain(name)}' is there twice; say once which column it is, with "
                    f"alternatives as in '{plain(name)}=customer_id|user_id'.",
                    code="repeated-name",
                    name=name,
                )
            found[name] = theirs
    return found


def show_and_write(result: Shown, quiet: bool, **paths: Path | None) -> None:
    """Print the result, unless its JSON is printed, and write it in every asked format."""
    if not (quiet or piped(paths.get("json"))):
        out.print(result)
    written(write_outputs(result, **paths), quiet)


def write_outputs(result: Shown, **paths: Path | None) -> list[Path]:
    """Write the result in every asked format, all or none; gives back the files that were written."""
    asked = to_files(paths)
    with together():
        for kind, path in asked.items():
            how = {"anonymous": True} if kind == "html" and ANONYMOUS.get() else {}
            getattr(result, f"to_{kind}")(path, **how)
    if piped(paths.get("json")):
        sys.stdout.write(json_text(result.written(), ascii=True))
    return list(asked.values())


def piped(json: Path | None) -> bool:
    """Whether the JSON goes to standard output, which then holds nothing else."""
    return json == STDOUT


def to_files(paths: Mapping[str, Path | None]) -> dict[str, Path]:
    """The outputs that are files."""
    return {kind: path for kind, path in paths.items() if path is not None and not (kind == "json" and piped(path))}


def written(paths: Iterable[Path], quiet: bool) -> None:
    """Say what was written."""
    for path in () if quiet else paths:
        err.print(f"wrote {path}", soft_wrap=True)


def _files(path: Path) -> list[Path]:
    """The files of an input, if what they need is installed; whatever else is wrong is said when it is read."""
    from unskew.log.duckdb_tables import names_table
    from unskew.log.several import files_of

    try:
        files = files_of(path)
    except InputError:
        return [path]
    for file in files:
        if names_table(file):
            require(f"{plain_path(file)}: a table of DuckDB", "files", "duckdb", "pyarrow")
        if file.suffix.lower() in (".zst", ".zstd"):
            require(f"{plain_path(file)}: a file packed with zstd", "files", "pyarrow")
    return [Path(str(file).partition("::")[0]) if names_table(file) else file for file in files]


def check_outputs(*inputs: Path | None, specs: Iterable[str | None] = (), **paths: Path | None) -> None:
    """Refuse an output that cannot be written, or would replace an input, before the work is done, not after it.

    Args:
        inputs: files that the command reads.
        specs: canonical strings, which may name more of them, as in ``given(predictions.csv)``.
        paths: the outputs by kind, which is also the ending of their names.
    """
    asked = to_files(paths)
    read = [file for path in inputs if path is not None for file in _files(path)]
    read += [path for spec in specs if spec is not None for path in files_in(spec)]
    if "html" in asked:
        try_drawing()
    for kind, path in asked.items():
        try:
            try_writing(path)
        except InputError as error:
            raise InputError(f"--{kind} {error}", code=error.code, **error.fields) from None
        ending = path.suffix.lower().lstrip(".")
        allowed = {"html": ("html", "htm"), "parquet": ("parquet", "pq")}.get(kind, (kind,))
        if ending not in allowed:
            raise InputError(
                f"--{kind} {plain_path(path)}: the file's name should end in .{kind}.",
                code="wrong-extension",
                option=kind,
            )
    keep_inputs(read, **paths)


def keep_inputs(read: Iterable[Path], **paths: Path | None) -> None:
    """Refuse an output that is one of the files that are read, or another output."""
    refuse_same([(f"--{kind} {plain_path(path)}", path) for kind, path in to_files(paths).items()], read)


def check_folder(output: Path, names: Sequence[str], force: bool, read: str | None = None) -> None:
    """Whether the files may and can be written, before the work; what is read is never replaced."""
    paths = [output / name for name in names]
    try_filling(output)
    refuse_same([(plain_path(path), path) for path in paths], [] if read is None else [Path(read)])
    refuse_existing(paths, force)
