"""Categories of a Parquet file, read as the texts that they are.

Arrow's schema in the footer of a file says that texts are categories, and polars then numbers the categories of every
row group anew: that takes several times as long as reading the texts, whose dictionary stands in memory once for every
row group, and which are numbered here in any case. Without the schema they are texts. So the file is opened in memory,
as it is packed, under another name for the schema.
"""

from __future__ import annotations

import mmap
from io import BytesIO
from pathlib import Path

SCHEMA, HIDDEN = b"ARROW:schema", b"hidden:schem"  # of the same length
TAIL = 8  # bytes behind the footer: how long it is, and the mark of the format


def as_texts(file: Path) -> BytesIO | None:
    """The file without what makes categories of texts; nothing where that does not stand there once."""
    if file.stat().st_size < TAIL:
        return None
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
        start = len(content) - TAIL - int.from_bytes(content[-TAIL:-4], "little")
        at = content.find(SCHEMA, start) if start >= 0 else -1
        if at < 0 or content.find(SCHEMA, at + 1) >= 0:
            return None
        with memoryview(content) as whole:  # copied once
            return BytesIO(b"".join((whole[:at], HIDDEN, whole[at + len(SCHEMA) :])))
