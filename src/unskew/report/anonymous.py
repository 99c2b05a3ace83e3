"""A document without ids and files, for readers who may see the numbers and not whom they are about.

No table or chart of a document lists users or items; ids stand in sentences alone, as quoted examples of what was read
(``'user 17'``), and so do names of files. Names of models, segments and policies stay: nothing could be read without.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from unskew.report.document import Document

T = TypeVar("T")
FILE, ID = "FILE", "'…'"
_ENDINGS = "parquet|pq|csv|tsv|txt|json|jsonl|ndjson|npz|npy|gz|zst|zip|duckdb|db|html|htm|toml|dat|data"
_FILES = re.compile(rf"[\w+.-]+://[^\s'\",;)]+|(?<![\w])(?:~|\.{{1,2}})?/[^\s'\",;)]+|[^\s'\",;(=]+\.(?:{_ENDINGS})\b")
_QUOTED = re.compile(r"'(?!\w+\([^']*\)')[^'\n]*'")  # but for parts with options, 'popularity(gamma=1)'


def without_ids(document: Document) -> Document:
    """The same document without quoted ids and names of files."""
    return _walk(document)


def _walk(value: T) -> T:
    found: Any = value
    if isinstance(value, str):
        found = _QUOTED.sub(ID, _FILES.sub(FILE, value))
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        found = type(value)(*(_walk(item) for item in value))
    elif isinstance(value, tuple | list):
        found = type(value)(_walk(item) for item in value)
    elif isinstance(value, Mapping):
        found = {key: _walk(item) for key, item in value.items()}
    elif is_dataclass(value) and not isinstance(value, type):
        found = replace(value, **{field.name: _walk(getattr(value, field.name)) for field in fields(value)})
    return found  # type: ignore[no-any-return]
