"""What a worker refuses travels home as a value: an error would be tried again, and come back as a trace of Java."""

from __future__ import annotations

from typing import NamedTuple

from unskew.core import errors
from unskew.core.errors import UnskewError


class Problem(NamedTuple):
    """An error of ours.

    Args:
        place: of several problems the one with the least place is told.
        kind: the class of the error.
    """

    place: tuple[int, ...]
    kind: str
    text: str

    @classmethod
    def of(cls, error: UnskewError, place: tuple[int, ...]) -> Problem:
        """From the error."""
        kind = "RefusedError" if isinstance(error, errors.RefusedError) else "InputError"
        return cls(place, kind, str(error))

    def error(self) -> UnskewError:
        """The error again."""
        found: UnskewError = getattr(errors, self.kind)(self.text)
        return found
