"""What was said, by its code: no test but those of ``tests/words`` looks at a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from unskew.core.errors import InputError, UnskewError
from unskew.core.notice import Notice, codes


@contextmanager
def refuses(
    code: str, kind: type[UnskewError] = InputError, **fields: object
) -> Iterator[pytest.ExceptionInfo[UnskewError]]:
    """An error of this kind, with this code and at least these fields."""
    with pytest.raises(kind) as caught:
        yield caught
    assert caught.value.code == code, f"{caught.value.code}: {caught.value}"
    assert fields.items() <= caught.value.fields.items(), caught.value.fields


def refusal(call: Callable[..., object], *args: Any, **options: Any) -> UnskewError:
    """The error with which a call ends."""
    with pytest.raises(UnskewError) as caught:
        call(*args, **options)
    return caught.value


def told(call: Callable[..., object], *args: Any, **options: Any) -> tuple[str, object]:
    """The code of the error with which a call ends, and the column that it names."""
    problem = refusal(call, *args, **options)
    return problem.code, problem.fields.get("column")


def only(code: str, notices: Iterable[str], **fields: object) -> Notice:
    """The one notice with this code, which has at least these fields."""
    notices = list(notices)
    found = [notice for notice in notices if isinstance(notice, Notice) and code in codes([notice])]
    assert len(found) == 1, (
        f"{len(found)} notices {code} among {[getattr(notice, 'code', notice) for notice in notices]}"
    )
    assert fields.items() <= found[0].fields.items(), found[0].fields
    return found[0]
