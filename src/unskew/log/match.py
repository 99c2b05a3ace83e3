"""Matching the columns of an input to our names, with an explanation where that fails.

What people say counts first (``column_maps.py``), then a column that has our name, then one whose name is known
(``names.py``). Two that are known are an error, never a guess.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from unskew.core.errors import InputError
from unskew.core.text import plain
from unskew.log.column_maps import alternatives, as_text, choose
from unskew.log.names import is_number, recognised

OURS = {
    "user", "item", "value", "time", "policy", "position", "propensity",
    "rank", "score", "prediction", "relevant", "share",
}  # fmt: skip

_FEATURE = re.compile(r"feature|embedding|factor|affinity")  # columns that describe users and items, and name none
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_EARLIEST = 1e8  # as Unix times: March 1973
_NUMBERED = re.compile(r"[0-9]+$")  # one of a series, x_1, x_2, …


def match_columns(
    source: str,
    present: list[str],
    required: tuple[str, ...],
    optional: tuple[str, ...],
    columns: Mapping[str, Any] | None,
    keep: Iterable[str],
) -> dict[str, str]:
    """Our name → their name, for the required, the optional that are there, and the kept columns."""
    said, known, role = _said(source, columns), (*required, *optional), getattr(columns, "role", "")
    if unknown := [name for name in said if name not in known]:
        raise InputError(
            f"{source}: 'columns' names '{plain(unknown[0])}', which is none of {', '.join(known)}.\n"
            "Write our name first and the name in the file behind it: columns={'user': 'customer_id'}.",
            code="unknown-column",
            column=unknown[0],
        )
    names: dict[str, str] = {}
    for ours in known:
        if ours in said:
            theirs = choose(said[ours], present)
            if theirs is not None:
                names[ours] = theirs
            elif said[ours] or ours in required:
                raise _missing(source, ours, said[ours] or ours, present, role, known)
        elif ours in present:
            names[ours] = ours
        elif found := _known_by_name(ours, present, said, names, known):
            if len(found) > 1:
                raise _ambiguous(source, ours, found, role, ours in required)
            names[ours] = found[0]
        elif ours in required:
            raise _missing(source, ours, ours, present, role, known)
    _refuse_shared(source, names)
    for theirs in keep:
        if theirs not in present:
            raise _missing(source, None, theirs, present)
        if names.get(theirs, theirs) != theirs:
            raise InputError(
                f"{source}: column '{plain(theirs)}' cannot be kept: here '{plain(theirs)}' stands for "
                f"'{plain(names[theirs])}'.\n"
                "Give the column another name in the input.",
                code="conflicting-arguments",
                column=theirs,
            )
        names.setdefault(theirs, theirs)
    _refuse_duplicates(source, names, present)
    return names


def differing(names: Mapping[str, str]) -> dict[str, str]:
    """Our names → theirs, of the columns that are called otherwise."""
    return {ours: theirs for ours, theirs in names.items() if ours in OURS and ours != theirs}


def _said(source: str, columns: Mapping[str, Any] | None) -> dict[str, str]:
    """What people say of the columns, as texts."""
    try:
        return {name: as_text(name, theirs) for name, theirs in ({} if columns is None else columns).items()}
    except (AttributeError, InputError):
        raise InputError(
            f"{source}: 'columns' must map our names to those of the input: {{'user': 'customer_id'}}.",
            code="wrong-type",
            option="columns",
        ) from None


def _known_by_name(
    ours: str, present: list[str], said: Mapping[str, str], names: Mapping[str, str], known: tuple[str, ...]
) -> list[str]:
    """The columns that may be ours by their name; what is another of our columns is none of them.

    A score orders lists that have no ranks: with ranks nobody looks for it, and who names it wants no rank by guess.
    """
    if (ours == "score" and "rank" in names) or (ours == "rank" and said.get("score")):
        return []
    others = {*names.values(), *(choose(theirs, present) for theirs in said.values()), *known}
    return [theirs for theirs in recognised(ours, present) if theirs not in others]


def _ambiguous(source: str, ours: str, found: list[str], role: str, required: bool) -> InputError:
    named = ", ".join(f"'{plain(theirs)}'" for theirs in found)
    key = f"{role}:{ours}" if role else ours
    none = "" if required else f", or that none is: columns={{'{key}': ''}}"
    return InputError(
        f"{source}: several columns may be the {ours}: {named}.\n"
        f"Say which one it is: columns={{'{key}': {plain(found[0])!r}}}{none}.",
        code="ambiguous-column",
        column=ours,
        found=found,
    )


def _refuse_shared(source: str, names: Mapping[str, str]) -> None:
    """One column cannot be both the user and the item; segments may be cut by any column."""
    first: dict[str, str] = {}
    for ours, theirs in ((ours, theirs) for ours, theirs in names.items() if ours in OURS):
        if theirs in first:
            raise InputError(
                f"{source}: column '{plain(theirs)}' would be both {first[theirs]} and {ours}.\n"
                f"Say which column is which: columns={{'{first[theirs]}': '...', '{ours}': '...'}}.",
                code="shared-column",
                column=theirs,
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
                "Rename or remove one of them: nothing says which one counts.",
                code="duplicate-column",
                column=theirs,
            )


def _missing(
    source: str, ours: str | None, theirs: str, present: list[str], role: str = "", known: tuple[str, ...] = ()
) -> InputError:
    there = ", ".join(plain(name) for name in present[:20]) + (", …" if len(present) > 20 else "")
    wanted = " or ".join(f"'{plain(each)}'" for each in alternatives(theirs) or [theirs])
    message = f"{source}: there is no column {wanted}; the columns are: {there}."
    key = f"{role}:{ours}" if role else str(ours)
    if any(map(is_number, present)):
        places = {f"{role}:{name}" if role else name: str(place) for name, place in _by_place(present, known).items()}
        return InputError(
            f"{message}\nThe first line seems to be a row, not a header. Say which column is which by their places, if "
            f"this is their order: columns={places}; or put a line with the names above it.",
            code="no-header",
            columns=places,
        )
    if len(present) == 1 and (found := next((c for c in ";\t|" if c in present[0]), None)):
        remedy = f"The columns seem to be separated by {found!r}: read the file with this separator."
        return InputError(f"{message}\n{remedy}", code="wrong-separator")
    near = next(iter(recognised(ours or "", present)), None) or _nearest(theirs, present)
    if ours is None:
        remedy = f"Did you mean '{plain(near)}'?" if near else "Leave it out of the columns to keep."
    else:
        hint = f"Did you mean '{plain(near)}'? Say so" if near else "Say which one it is"
        remedy = f"{hint} with columns={{'{key}': {plain(near) if near else '...'!r}}}."
    return InputError(f"{message}\n{remedy}", code="missing-column", column=ours or theirs, near=near)


def _by_place(row: list[str], known: tuple[str, ...]) -> dict[str, int]:
    """Which column of a file without a header may be which, by a row: ids first, and numbers by what they look like.

    All of them are proposed, since a value that nobody names is not used, and every row then counts as a positive.
    """
    found = {name: place for place, name in enumerate((n for n in known if n in ("user", "item")), 1)}
    for place, field in enumerate(row[len(found) :], len(found) + 1):
        if _DATE.match(field) or (is_number(field) and abs(float(field)) >= _EARLIEST):
            kinds: tuple[str, ...] = ("time",)
        elif is_number(field):
            kinds = ("prediction", "value", "rank", "relevant") if field.isdigit() else ("prediction", "value", "score")
        else:
            continue
        if (name := next((kind for kind in kinds if kind in known and kind not in found), None)) is not None:
            found[name] = place
    return found


def _nearest(name: str, present: list[str]) -> str | None:
    """The column that is most likely meant: it contains the name, or is spelt like it, and is no feature."""
    stems = Counter(_NUMBERED.sub("", column.lower()) for column in present if _NUMBERED.search(column))
    lowered = {
        low: column
        for low, column in ((column.lower(), column) for column in reversed(present))
        if not _FEATURE.search(low) and not (_NUMBERED.search(low) and stems[_NUMBERED.sub("", low)] > 1)
    }
    holding = [column for low, column in lowered.items() if name.lower() in low]
    near = get_close_matches(name.lower(), lowered, n=1)
    return min(holding, key=len) if holding else lowered[near[0]] if near else None
