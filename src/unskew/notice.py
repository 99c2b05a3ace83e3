"""A sentence of ours with a stable code: people read the sentence; programs read the code and the fields.

Sentences may change with every release, codes and the names of fields may not. A notice is its sentence wherever a text
is wanted; what is made of it by slices or f-strings is a plain text again, unless ``saying`` carries the code over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Self


class Notice(str):
    """A warning, a refusal, a reason, a finding or a piece of advice.

    Args:
        text: the sentence.
        code: what is said, in kebab case, whatever the wording: ``few-users``.
        fields: the names and numbers in the sentence.
    """

    code: str
    fields: Mapping[str, object]

    def __new__(cls, text: str, *, code: str, **fields: object) -> Self:
        """A text with its code."""
        notice = super().__new__(cls, text)
        notice.code, notice.fields = code, fields
        return notice

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, object]]:
        return (str(self),), {"code": self.code, **self.fields}

    def saying(self, text: str) -> Self:
        """The same notice in other words: shortened, or with the options of the command line."""
        return type(self)(text, code=self.code, **self.fields)


def carried(said: str, text: str) -> str:
    """A text that was made from another one, with the code of that, if it has one."""
    return said.saying(text) if isinstance(said, Notice) else text


def codes(notices: Iterable[str]) -> tuple[str, ...]:
    """The codes of these notices, each once, in order; texts that are none have no code."""
    return tuple(dict.fromkeys(notice.code for notice in notices if isinstance(notice, Notice)))
