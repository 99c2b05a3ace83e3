"""Text from outside (cells, headers, names, options, a server's words) as it may be shown: nothing in it is obeyed.

A terminal acts on escape codes, and direction marks reorder a line, so that a file could hide or forge what is read.
Such characters are shown as Python writes them (``\\x1b``), and what is long is shortened, with its length. What lets
somebody in to an address (``s3://user:password@…``, ``…?signature=…``) is not shown.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST = 80  # characters of one value in a message
LONGEST_PATH = 1_000
_OBEYED = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # control, format, lone surrogates, line and paragraph separators
_JOINER = "\u200d"  # holds emoji together
_BETWEEN = re.compile(r"([\s'\"]+)")  # words
_SCHEME = re.compile(r"[A-Za-z][\w+.-]+$")


def without_controls(text: str) -> str:
    """A text of several lines whose control characters are shown, not obeyed; line ends and joined emoji stay."""
    text = without_secrets(text)
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(sign) for sign in text)


def without_secrets(text: str) -> str:
    """A text whose addresses tell neither names and passwords nor what stands behind their question marks."""
    return "".join(map(_without_secrets, _BETWEEN.split(text))) if ":/" in text else text


def _without_secrets(word: str) -> str:
    told, *parts = word.split(":/")  # one stroke: a path of an address has lost the other
    for part in parts:
        known = _SCHEME.search(told[-20:]) is not None
        strokes = part[: len(part) - len(part.lstrip("/"))]
        start, question, query = part.lstrip("/").partition("?")
        user, at, place = start.partition("@")
        secret = known and at and "/" not in user
        told += f":/{strokes}***@{place}" if secret else f":/{strokes}{start}"
        if known and "=" in query:
            return f"{told}?***"
        told += question + query
    return told


def plain(value: object, longest: int = LONGEST) -> str:
    """One value on one line, at most ``longest`` characters of it and then how many there are."""
    text = without_secrets(str(value))
    cut = text if len(text) <= longest else f"{text[:longest]}… ({len(text):,} characters)"
    return without_controls(cut).replace("\n", "\\n")


def plain_path(path: object) -> str:
    """The path of a file on one line; paths are long, and say most at their end."""
    return plain(path, LONGEST_PATH)


def storable(text: str) -> str:
    """The same text, with half characters (lone surrogates), which no UTF-8 file can hold, shown as ``\\ud800``."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def _shown(sign: str) -> str:
    if sign in ("\n", _JOINER) or unicodedata.category(sign) not in _OBEYED:
        return sign
    return sign.encode("unicode_escape", "surrogatepass").decode("ascii")
