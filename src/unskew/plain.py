"""Text from outside (cells, headers, names, options, a server's words) as it may be shown: nothing in it is obeyed.

A terminal acts on escape codes, and direction marks reorder a line, so that a file could hide or forge what is read.
Such characters are shown as Python writes them (``\\x1b``), and what is long is shortened, with its length.
"""

from __future__ import annotations

import unicodedata

LONGEST = 80  # characters of one value in a message
LONGEST_PATH = 1_000
_OBEYED = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # control, format, lone surrogates, line and paragraph separators
_JOINER = "\u200d"  # holds emoji together


def without_controls(text: str) -> str:
    """A text of several lines whose control characters are shown, not obeyed; line ends and joined emoji stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(sign) for sign in text)


def plain(value: object, longest: int = LONGEST) -> str:
    """One value on one line, at most ``longest`` characters of it and then how many there are."""
    text = str(value)
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
