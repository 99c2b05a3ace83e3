"""What Rust prints of a panic does not reach the terminal of the command line; all else does."""

from __future__ import annotations

import os
import sys
import threading

import pytest

from unskew.core import panics, stopping

PANIC = b"\nthread 'async-executor-0' (7) panicked at crates/x.rs:289:34:\nunwrap()\nstack backtrace:\n   0: y\n"

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="no memory files there")


@pytest.fixture(autouse=True)
def _wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panics, "_wanted", False)
    monkeypatch.setattr(stopping, "terminal", 2)
    panics.hold_back_panics()


def test_a_panic_is_held_back(capfd: pytest.CaptureFixture[str]) -> None:
    """Also where the block fails, which is why it is there."""
    with pytest.raises(ZeroDivisionError), panics.held_back():
        print("advice", file=sys.stderr)
        os.write(2, PANIC)
        raise ZeroDivisionError
    print("the error", file=sys.stderr)
    assert capfd.readouterr().err == "advice\nthe error\n"


def test_whoever_stops_the_process_is_heard(capfd: pytest.CaptureFixture[str]) -> None:
    """Stopping writes to the terminal itself."""
    with panics.held_back():
        os.write(stopping.terminal, b"Stopped.\n")
        assert capfd.readouterr().err == "Stopped.\n"
    os.write(stopping.terminal, b"Stopped afterwards.\n")
    assert capfd.readouterr().err == "Stopped afterwards.\n"


def test_several_threads_at_once(capfd: pytest.CaptureFixture[str]) -> None:
    """The last one to end shows what was said, and the terminal is the terminal again."""
    begun, end = threading.Event(), threading.Event()

    def other() -> None:
        with panics.held_back():
            begun.set()
            end.wait(10)

    thread = threading.Thread(target=other)
    with panics.held_back():
        thread.start()
        assert begun.wait(10)
        os.write(2, b"said\n")
    assert capfd.readouterr().err == ""
    end.set()
    thread.join()
    os.write(2, b"later\n")
    assert capfd.readouterr().err == "said\nlater\n"
