"""Other libraries, where they are installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from tests.conftest import missing


@pytest.fixture(scope="session")
def implicit() -> Any:
    """The library implicit."""
    return _library("implicit")


@pytest.fixture(scope="session")
def cornac() -> Any:
    """The library Cornac."""
    return _library("cornac")


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        return missing(f"{name} is not installed: pip install -c constraints.txt '.[{name}]'")
