"""Categories of a Parquet file, read as the texts that they are.

Arrow's schema in the footer of a file says that texts are categories, and polars then numbers the categories of every
row group anew: that takes several times as long as reading the texts, whose dictionary stands in memory once for every
row group, and which are numbered here in any case. Without the schema they are texts. So the file is opened in memory,
as it is packed, under another name for the schema.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

SCHEMA, HIDDEN = b"ARROW:schema", b"hidden:schem"  # of the same length
TAIL = 8  # bytes behind the footer: how long it is, and the mark of the format


def as_texts(file: Path) -> BytesIO | None:
    """The file without what makes categories of texts; nothing where that does not stand there once."""
    content = bytearray(file.read_bytes())
    if len(content) < TAIL:
        return None
    start = len(content) - TAIL - int.from_bytes(content[-TAIL:-4], "little")
    if start < 0 or content.count(SCHEMA, start) != 1:
        return None
    at = content.index(SCHEMA, start)
    content[at : at + len(SCHEMA)] = HIDDEN
    return BytesIO(content)
