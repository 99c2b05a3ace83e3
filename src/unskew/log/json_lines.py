"""JSON lines: one object per line, a row each, as review and event data are often published (.jsonl, .ndjson, .json).

A key that a row lacks is a null, and one that it has twice an error: readers differ in which of the two counts. Types
are those that all rows together need: a number beside a text makes texts.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl

from unskew.core import memory
from unskew.core.errors import InputError
from unskew.core.text import plain
from unskew.kernels.json_keys import next_doubtful
from unskew.log.packed import blocks, collect, packing_of
from unskew.log.paths import shown

ENDINGS = (".jsonl", ".ndjson", ".json")
_ROOM = 6  # bytes of memory for a byte of text
_LINES = "Write one object per line, as in jq -c '.[]' old.json > new.jsonl."


def read_json_lines(file: Path) -> pl.DataFrame:
    """The rows of a file, all columns."""
    content = bytearray()
    for _ in collect(file, blocks(file, packing_of(file)), content):
        pass
    memory.require(_ROOM * len(content), f"{shown(file)}: reading JSON", "Convert it to Parquet.")
    start = bytes(content[:4096]).lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start == b"[":
        raise InputError(
            f"{shown(file)}: this is one JSON array, not a row in every line.\n{_LINES}", code="wrong-shape"
        )
    if start not in (b"{", b""):
        raise InputError(
            f"{shown(file)}: the name says JSON, but the content is not.\n{_LINES}", code="wrong-extension"
        )
    try:
        rows = pl.read_ndjson(bytes(content).removeprefix(b"\xef\xbb\xbf"), infer_schema_length=None)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as problem:
        raise _wrong_line(file, content) or _unreadable(file, problem) from None
    lines = sum(1 for line in content.split(b"\n") if line.strip())
    if lines != len(rows):
        raise _wrong_line(file, content) or InputError(
            f"{shown(file)}: the file has {lines:,} lines, and {len(rows):,} rows were read.\n{_LINES}",
            code="damaged-file",
        )
    _refuse_repeated_keys(file, content)
    return rows


def _refuse_repeated_keys(file: Path, content: bytearray) -> None:
    data = np.frombuffer(content, dtype=np.uint8)
    start, end = next_doubtful(data, 0)
    while start < len(data):
        again = _repeated(bytes(content[start:end]))
        if again is not None:
            line = content[:start].count(b"\n") + 1
            raise InputError(
                f"{shown(file)}: line {line:,} has the key '{plain(again)}' twice, and nothing says which of the two "
                "counts.\nFix the line: every key once.",
                code="repeated-key",
                line=line,
                key=again,
            )
        start, end = next_doubtful(data, end + 1)


def _repeated(line: bytes) -> str | None:
    """A key that an object has twice, not those inside of it."""
    try:
        keys = json.loads(line, object_pairs_hook=lambda pairs: [key for key, _ in pairs])
    except (ValueError, RecursionError):
        return None  # polars knows more of JSON than Python, and has read it
    return next((key for place, key in enumerate(keys) if key in keys[:place]), None)


def _wrong_line(file: Path, content: bytearray) -> InputError | None:
    """The first line that is no object, if there is one."""
    for number, line in enumerate(bytes(content).removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            return InputError(
                f"{shown(file)}: line {number:,} is not a JSON object: {plain(line.decode(errors='replace'), 80)}\n"
                f"Fix the line. {_LINES}",
                code="bad-line",
                line=number,
            )
    return None


def _unreadable(file: Path, problem: BaseException) -> InputError:
    reason = plain(str(problem).strip().split("\n")[0], 200)
    return InputError(
        f"{shown(file)}: the rows cannot be read as one table ({reason}).\nGive every column one kind of content: "
        "numbers, texts, or truth values.",
        code="mixed-types",
    )
