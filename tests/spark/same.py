"""Whether two results say the same."""

from __future__ import annotations

from typing import Any

import pytest


def assert_same(found: Any, expected: Any, place: str = "") -> None:
    """Equal, numbers to 1e-9."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), place
        for name, value in expected.items():
            if name == "written":  # when, and by which command
                continue
            assert_same(found[name], value, f"{place}.{name}")
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected), f"{place}: {found} {expected}"
        for number, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_same(one, other, f"{place}[{number}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True), place
    else:
        assert found == expected, place
