"""The fixtures of the package's own tests."""

from tests.conftest import chromium, made_up_logs

__all__ = ["chromium", "made_up_logs"]
