"""A sentence of ours with a stable code: people read the sentence; programs read the code and the fields.

Sentences may change with every release, codes and the names of fields may not. A notice is its sentence wherever a text
is wanted; what is made of it by slices or f-strings is a plain text again, unless ``saying`` carries the code over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self


class Notice(str):
    """A warning, a refusal, a reason, a finding or a piece of advice.

    Args:
        text: the sentence.
        code: what is said, in kebab case, whatever the wording: ``few-users``.
        also: the codes of what else the sentence says (``made_of``).
        fields: the names and numbers in the sentence.
    """

    code: str
    also: tuple[str, ...]
    fields: Mapping[str, object]

    def __new__(cls, text: str, *, code: str, also: tuple[str, ...] = (), **fields: object) -> Self:
        """A text with its code."""
        notice = super().__new__(cls, text)
        notice.code, notice.also, notice.fields = code, also, fields
        return notice

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, object]]:
        return (str(self),), {"code": self.code, "also": self.also, **self.fields}

    @classmethod
    def of(cls, known: Mapping[str, Any]) -> Self:
        """What ``plain`` has told."""
        return cls(known["text"], code=known["code"], **known["fields"])

    @property
    def plain(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {"code": self.code, "text": str(self), "fields": dict(self.fields)}

    def saying(self, text: str) -> Self:
        """The same notice in other words: shortened, or with the options of the command line."""
        return type(self)(text, code=self.code, also=self.also, **self.fields)


def codes(notices: Iterable[str]) -> tuple[str, ...]:
    """The codes of these notices, each once, in order; texts that are none have no code."""
    found = (notice for notice in notices if isinstance(notice, Notice))
    return tuple(dict.fromkeys(code for notice in found for code in (notice.code, *notice.also)))


def made_of(text: str, *notices: str) -> str:
    """A text that says what these notices say, with their codes and fields; a plain text where none of them has any."""
    found = [notice for notice in notices if isinstance(notice, Notice)]
    if not found:
        return text
    fields = {name: field for notice in reversed(found) for name, field in notice.fields.items()}
    return Notice(text, code=found[0].code, also=codes(found)[1:], **fields)
