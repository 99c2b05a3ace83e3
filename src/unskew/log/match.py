"""Matching the columns of an input to our names, with an explanation where that fails."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from unskew.errors import InputError
from unskew.plain import plain

OURS = {"user", "item", "value", "time", "policy", "propensity", "rank", "score", "prediction", "relevant", "share"}


def match_columns(
    source: str,
    present: list[str],
    required: tuple[str, ...],
    optional: tuple[str, ...],
    columns: Mapping[str, str] | None,
    keep: Iterable[str],
) -> dict[str, str]:
    """Our name → their name, for the required, the optional that are there, and the kept columns."""
    if not isinstance(columns or {}, Mapping) or not all(isinstance(name, str) for name in (columns or {}).values()):
        raise InputError(f"{source}: 'columns' must map our names to those of the input: {{'user': 'customer_id'}}.")
    asked, known = dict(columns or {}), (*required, *optional)
    if unknown := [name for name in asked if name not in known]:
        raise InputError(
            f"{source}: 'columns' names '{plain(unknown[0])}', which is none of {', '.join(known)}.\n"
            "Write our name first and the name in the file behind it: columns={'user': 'customer_id'}."
        )
    names = {}
    for ours in known:
        theirs = asked.get(ours, ours)
        if theirs in present:
            names[ours] = theirs
        elif ours in required or ours in asked:
            raise InputError(_missing(source, ours, theirs, present))
    _refuse_shared(source, names)
    for theirs in keep:
        if theirs not in present:
            raise InputError(_missing(source, None, theirs, present))
        if names.get(theirs, theirs) != theirs:
            raise InputError(
                f"{source}: column '{plain(theirs)}' cannot be kept: here '{plain(theirs)}' stands for "
                f"'{plain(names[theirs])}'.\n"
                "Give the column another name in the input."
            )
        names.setdefault(theirs, theirs)
    _refuse_duplicates(source, names, present)
    return names


def _refuse_shared(source: str, names: Mapping[str, str]) -> None:
    """One column cannot be both the user and the item; segments may be cut by any column."""
    first: dict[str, str] = {}
    for ours, theirs in ((ours, theirs) for ours, theirs in names.items() if ours in OURS):
        if theirs in first:
            raise InputError(
                f"{source}: column '{plain(theirs)}' would be both {first[theirs]} and {ours}.\n"
                f"Say which column is which: columns={{'{first[theirs]}': '...', '{ours}': '...'}}."
            )
        first[theirs] = ours


def _refuse_duplicates(source: str, names: Mapping[str, str], present: list[str]) -> None:
    """A used column must not be there twice, also not with blanks around its name."""
    bare = [name.strip() for name in present]
    for theirs in names.values():
        if bare.count(theirs.strip()) > 1:
            first, second = [place for place, name in enumerate(bare, 1) if name == theirs.strip()][:2]
            raise InputError(
                f"{source}: there are two columns '{plain(theirs.strip())}', at places {first} and {second}.\n"
                "Rename or remove one of them: nothing says which one counts."
            )


def _missing(source: str, ours: str | None, theirs: str, present: list[str]) -> str:
    there = ", ".join(plain(name) for name in present[:20]) + (", …" if len(present) > 20 else "")
    message = f"{source}: there is no column '{plain(theirs)}'; the columns are: {there}."
    if present and all(_is_number(name) for name in present):
        return f"{message}\nThe first line seems to be a row, not a header: put a line with the names above it."
    near = _nearest(theirs, present)
    if len(present) == 1 and (found := next((c for c in ";\t|" if c in present[0]), None)):
        return f"{message}\nThe columns seem to be separated by {found!r}: use ',' in .csv and tabs in .tsv files."
    near = None if near is None else plain(near)
    if ours is None:
        return message + (f"\nDid you mean '{near}'?" if near else "\nLeave it out of the columns to keep.")
    hint = f"Did you mean '{near}'? Say so" if near else "Say which one it is"
    example = near or "..."
    return f"{message}\n{hint} with columns={{'{ours}': {example!r}}}."


def _nearest(name: str, present: list[str]) -> str | None:
    """The column that is most likely meant: it contains the name, or is spelt like it."""
    lowered = {column.lower(): column for column in reversed(present)}
    holding = [column for low, column in lowered.items() if name.lower() in low]
    near = get_close_matches(name.lower(), lowered, n=1)
    return min(holding, key=len) if holding else lowered[near[0]] if near else None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
