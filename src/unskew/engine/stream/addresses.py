"""Addresses of object stores (s3://bucket/log/*.parquet), which polars reads with the credentials that it finds.

What a store answers is a page of XML or a trace of retries. Whether the object, the right to read it or the store
itself is missing is what a reader wants to know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from unskew.core.errors import InputError
from unskew.core.text import plain
from unskew.log.sources import reading

_ABSENT = re.compile(r"not found|no such|paths were empty", re.IGNORECASE)
_FORBIDDEN = re.compile(r"credential|token|access ?denied|forbidden|unauthorized|signature", re.IGNORECASE)
_UNREACHED = re.compile(r"http|retries|dns|connect|timed? ?out", re.IGNORECASE)
_STATUS = re.compile(r"status code: (\d{3})\b")
_NAMED = re.compile(r"(\w+)://\S*")
STORES = "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION for s3://, GOOGLE_APPLICATION_CREDENTIALS for gs://"


def is_address(given: Any) -> bool:
    """Whether this is an address of an object store rather than a path."""
    return isinstance(given, str) and "://" in given


def address_of(given: str) -> str:
    """The address for polars; one whose last name has no ending and no pattern is a folder."""
    last = given.rstrip("/").rsplit("/", 1)[-1]
    return given if any(sign in last for sign in ".*?[") else f"{given.rstrip('/')}/"


@contextmanager
def reached(source: str) -> Iterator[None]:
    """Any problem of the reader becomes an error that names the file, or says what the store lacks."""
    try:
        with reading(source):
            yield
    except InputError as problem:
        if not is_address(source):
            raise
        reason = str(problem.__cause__ or "")
        what = answered(reason)
        if what == "absent":
            said = "there is no such Parquet file in the store.\nCheck the address: a file (…/log.parquet), a pattern "
            said += "(…/log/*.parquet) or a folder (…/log)."
        elif what == "forbidden":
            said = f"the store refuses access, or credentials are missing.\nSet {STORES}, as polars reads them."
        elif what == "unreached":
            said = f"the store cannot be reached ({plain(reason, 100)}).\nCheck the network; a store of your own is "
            said += "named by AWS_ENDPOINT_URL, with AWS_ALLOW_HTTP=true where it has no certificate."
        else:
            raise
        raise InputError(f"{source}: {said}", code=CODES[what], file=source) from problem.__cause__


CODES = {"absent": "missing-file", "forbidden": "no-access", "unreached": "not-reached"}


def answered(reason: str) -> str | None:
    """What a store's answer comes to: "forbidden", "absent" or "unreached"; None where it is something else.

    The status tells where there is one. Words are looked for outside addresses only: a bucket may be called
    ``tokens``, and a port or a time in microseconds may read 404.
    """
    if status := _STATUS.search(reason):
        kind = {"401": "forbidden", "403": "forbidden", "404": "absent"}.get(status[1])
        if kind is not None:
            return kind
    words = _NAMED.sub(r"\1", reason)
    for kind, pattern in (("absent", _ABSENT), ("forbidden", _FORBIDDEN), ("unreached", _UNREACHED)):
        if pattern.search(words):
            return kind
    return None
