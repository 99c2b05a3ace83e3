"""The three ways in which unskew says no. Every message says what is wrong, where, and what to do about it."""

from __future__ import annotations

from copy import copy
from importlib.util import find_spec
from typing import Self

from unskew.core.notice import Notice


class UnskewError(Exception):
    """Anything that unskew refuses or cannot read; the command line shows it in one panel.

    Args:
        text: the message, which may change with every release.
        code: what is wrong, in kebab case, which may not: ``missing-column``.
        fields: what the message names: ``file``, ``column``, ``row``, …
    """

    def __init__(self, text: str, *, code: str = "", **fields: object) -> None:
        super().__init__(text)
        self.code, self.fields = code, fields

    @property
    def notice(self) -> Notice:
        """The message with its code, where it is told and not raised."""
        return Notice(str(self), code=self.code, also=(), **self.fields)

    def saying(self, text: str) -> Self:
        """The same error in other words: with the file, or the options of the command line."""
        other = copy(self)
        other.args = (text,)
        return other

    def __reduce__(self) -> tuple[object, ...]:
        return type(self).__new__, (type(self), *self.args), self.__dict__  # errors of other processes keep their code


class InputError(UnskewError, ValueError):
    """A file, frame, option or string that cannot be used as it stands."""


class RefusedError(UnskewError):
    """An estimate that the log cannot support: the reason and the alternative."""


class MissingExtraError(UnskewError, ImportError):
    """An optional dependency that is not installed; the message names the extra to install."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(
            f"{what} needs the extra '{extra}'. Install it in your clone of unskew with: pip install -e '.[{extra}]'",
            code="missing-extra",
            extra=extra,
        )


def require(what: str, extra: str, *modules: str) -> None:
    """Refuse at once what needs modules that are not installed; nothing is imported."""
    if any(find_spec(module) is None for module in modules):
        raise MissingExtraError(what, extra)
