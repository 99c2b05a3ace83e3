"""Which column is which, where people say so: for all inputs, or for one of them.

{'user': 'CustomerID'}                       in every input that has users
{'test:user': 'CustomerID'}                  in the test log only
{'als:score': 'p'}                           in the lists of the model 'als' (models:score in those of all models)
{'user': 'CustomerID|customer_id'}           the first of them that an input has
{'test:user': 1, 'test:item': 2}             by place, in a text file without a header line
{'time': ''}                                 none: a column that was recognised as such is not used
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from unskew.core.bounds import shown
from unskew.core.errors import InputError
from unskew.core.text import plain

MODELS = "models"  # stands for the lists or predictions of all models
SAME = {"log": "test", "seen": "train", "recs": MODELS}  # what some commands call them


class InputColumns(dict[str, str]):
    """Our names → theirs in one input; ``role`` is what the input is called where a map speaks of several."""

    role: str = ""

    @classmethod
    def of(cls, names: Mapping[str, str], role: str) -> InputColumns:
        """Names of one input."""
        found = cls(names)
        found.role = role
        return found

    def only(self, *names: str) -> InputColumns:
        """Those of our names."""
        return self.of({ours: theirs for ours, theirs in self.items() if ours in names}, self.role)

    def joined(self, others: Mapping[str, str]) -> InputColumns:
        """These and others."""
        return self.of({**self, **others}, self.role)


class ColumnMap:
    """A map that may speak of several inputs.

    Args:
        columns: as people write it.
        known: our names.
        inputs: what inputs there are, by role or name of the model; others are refused. ``None``: any.
        asked: our names that inputs of a role may have; those of models stand under ``models``.
    """

    def __init__(
        self,
        columns: Mapping[str, Any] | None,
        known: tuple[str, ...],
        inputs: Iterable[str] | None,
        asked: Mapping[str, tuple[str, ...]],
    ) -> None:
        if columns is not None and not isinstance(columns, Mapping):
            raise InputError(
                f"columns must map our names to yours, {{'user': 'customer_id'}}, not {shown(columns)}.",
                code="wrong-type",
            )
        self.given = {str(key): as_text(key, value) for key, value in (columns or {}).items()}
        self._general: dict[str, str] = {}
        self._special: dict[str, dict[str, str]] = {}
        roles = None if inputs is None else list(dict.fromkeys(inputs))
        alone = roles is not None and len(roles) == 1
        self._called = {SAME.get(role, role): "" if alone else role for role in roles or ()}
        for key, theirs in self.given.items():
            role, sign, ours = key.rpartition(":")
            if ours not in known:
                raise InputError(
                    f"columns: '{plain(ours)}' is none of our columns ({', '.join(known)}). Write our name first "
                    "and yours behind it: columns={'user': 'customer_id'}.",
                    code="unknown-column",
                    column=ours,
                )
            if not sign:
                self._general[ours] = theirs
                continue
            if roles is not None and SAME.get(role, role) not in {SAME.get(each, each) for each in roles}:
                raise InputError(_no_input(role, ours, roles), code="unknown-input", input=role)
            usual = SAME.get(role, role)
            if ours not in (names := asked.get(usual, asked[MODELS])):
                raise InputError(
                    f"columns: '{plain(key)}': of this input only these columns are read: {', '.join(names)}.",
                    code="unread-column",
                    column=key,
                )
            self._special.setdefault(usual, {})[ours] = theirs

    def of(self, role: str, *names: str, among: str = "") -> InputColumns:
        """The names of one input, as far as something is said of them.

        Args:
            role: which input.
            names: our names that it may have.
            among: a role that stands for this input and others.
        """
        said = self._general | self._special.get(among, {}) | self._special.get(SAME.get(role, role), {})
        return self._named(said, role, names)

    def alone(self, role: str, *names: str) -> InputColumns:
        """The same, without what is said of all inputs."""
        return self._named(self._special.get(SAME.get(role, role), {}), role, names)

    def _named(self, said: Mapping[str, str], role: str, names: tuple[str, ...]) -> InputColumns:
        called = self._called.get(SAME.get(role, role), role)
        return InputColumns.of({ours: theirs for ours, theirs in said.items() if ours in names}, called)


def by_place(columns: Mapping[str, Any] | None) -> bool:
    """Whether columns are named by their places, which says that a text file has no header line."""
    if not isinstance(columns, Mapping):
        return False  # nothing is said, or nothing that can be read: matching it says so
    named = [str(theirs) for theirs in columns.values() if theirs not in ("", None)]
    return bool(named) and all(theirs.isascii() and theirs.isdigit() for theirs in named)


def choose(theirs: str, present: Iterable[str]) -> str | None:
    """The column that a name means: itself, or the first of its alternatives, ``CustomerID|customer_id``."""
    there = set(present) - {""}
    return theirs if theirs in there else next((each for each in alternatives(theirs) if each in there), None)


def alternatives(theirs: str) -> list[str]:
    """``CustomerID|customer_id`` → both."""
    return [each.strip() for each in theirs.split("|") if each.strip()]


def as_text(key: Any, value: Any) -> str:
    """A name, a place, several names, or nothing, as one text."""
    if isinstance(value, list | tuple) and value and all(isinstance(each, str) for each in value):
        return "|".join(value)
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return str(value)
    raise InputError(
        f"columns: '{plain(key)}' must be mapped to the name of a column, not {shown(value)}.",
        code="wrong-type",
        column=key,
    )


def _no_input(role: str, ours: str, roles: list[str]) -> str:
    near = get_close_matches(role, roles, n=1)
    hint = f" Did you mean '{plain(near[0])}:{ours}'?" if near else ""
    listed = ", ".join(plain(each) for each in roles)
    return f"columns: '{plain(role)}:{ours}' names an input that is not given; there are: {listed}.{hint}"
