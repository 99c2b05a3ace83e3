"""Finished units survive kills, damage, company and Ctrl-C; nothing is made twice without need."""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.said import refuses
from unskew.core.locks import try_lock
from unskew.core.store import MAGIC, Store

UNITS = 40
RUN = """
import signal, sys, time
from pathlib import Path

import polars  # it answers SIGINT first

from unskew.core.store import Store

folder, diary, pause, workers, processes = sys.argv[1:]

def make(key):
    with open(diary, "a") as file:
        file.write(f"{key['unit']}\\n")
    time.sleep(float(pause))
    return {"square": key["unit"] ** 2}

if __name__ == "__main__":
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    keys = [{"unit": unit} for unit in range(40)]
    records = Store(folder).map(keys, make, workers=int(workers), processes=processes == "yes")
    print(sum(record["square"] for record in records))
"""
TOTAL = sum(unit**2 for unit in range(UNITS))


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a run of 40 units in a process of its own; none outlives the test."""
    script = tmp_path / "run.py"
    script.write_text(RUN)
    begun: list[subprocess.Popen[str]] = []

    def begin(pause: float = 0.01, workers: int = 1, processes: bool = False) -> subprocess.Popen[str]:
        command = [sys.executable, script, tmp_path / "store", tmp_path / "diary", pause, workers]
        arguments = [*map(str, command), "yes" if processes else "no"]
        running = subprocess.Popen(
            arguments,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # some shells ignore it for their children
        )
        begun.append(running)
        return running

    yield begin
    for running in begun:
        running.kill()
        running.communicate()


def diary(folder: Path) -> Counter[int]:
    """How often each unit was begun."""
    path = folder / "diary"
    return Counter(int(line) for line in path.read_text().split()) if path.exists() else Counter()


def wait_until(true: Callable[[], bool], what: str, patience: float = 240.0) -> None:
    began = time.monotonic()
    while not true():
        assert time.monotonic() - began < patience, f"waited in vain for {what}"
        time.sleep(0.005)


def test_a_run_that_is_killed_again_and_again_ends_well(
    tmp_path: Path, start: Callable[..., subprocess.Popen[str]]
) -> None:
    """kill -9 at random points, four times: the last run gives the whole result, and no finished unit is made again."""
    rng, workers, kills = random.Random(1), 3, 4
    for turn in range(kills):
        before = diary(tmp_path).total() + (workers if turn == 0 else 0)  # at least one is finished the first time
        running = start(workers=workers)
        wait_until(lambda: diary(tmp_path).total() > before or running.poll() is not None, "a unit")  # noqa: B023
        time.sleep(rng.random() * 0.12)
        running.kill()
        running.communicate()
    assert list((tmp_path / "store").rglob("*.unit"))
    out, err = start(workers=workers).communicate(timeout=240)
    assert out.split() == [str(TOTAL)], err
    begun = diary(tmp_path)
    assert set(begun) == set(range(UNITS))
    assert begun.total() <= UNITS + kills * workers  # each kill costs what was under way
    assert not [path for path in (tmp_path / "store").rglob("*") if path.is_file() and path.suffix != ".unit"]
    out, _ = start(workers=workers).communicate(timeout=240)
    assert out.split() == [str(TOTAL)] and diary(tmp_path) == begun


def test_processes_at_once_share_the_work(tmp_path: Path, start: Callable[..., subprocess.Popen[str]]) -> None:
    """Three runs on one folder, one with processes of its own: all give the whole, and every unit is made once."""
    runs = [start(pause=0.02), start(pause=0.02), start(pause=0.02, workers=2, processes=True)]
    assert [run.communicate(timeout=240)[0].split() for run in runs] == [[str(TOTAL)]] * 3
    assert diary(tmp_path) == Counter(range(UNITS))


@pytest.mark.parametrize("processes", [False, True])
def test_ctrl_c_stops_promptly(tmp_path: Path, processes: bool, start: Callable[..., subprocess.Popen[str]]) -> None:
    """Units of an hour are under way: whoever waits for one fails. After Ctrl-C everything ends, workers too."""
    running = start(pause=3600.0, workers=2, processes=processes)
    wait_until(lambda: diary(tmp_path).total() == 2, "all workers")
    children = _children(running.pid)
    assert len(children) >= (2 if processes else 0)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=120)
    assert running.returncode != 0 and "KeyboardInterrupt" in err
    wait_until(lambda: not any(_alive(child) for child in children), "the workers to end")
    assert not list((tmp_path / "store").rglob("*.unit"))


def test_ctrl_c_stops_a_run_that_waits_for_another(tmp_path: Path, start: Callable[..., subprocess.Popen[str]]) -> None:
    """The other makes the unit, for an hour; who waits for its lock hears Ctrl-C, and the other goes on."""
    if not Path("/proc/self/fd").exists():
        pytest.skip("which files a process has open is asked of /proc")
    maker = start(pause=3600.0)
    wait_until(lambda: diary(tmp_path).total() == 1, "the maker")
    waiting = start(pause=3600.0)
    wait_until(lambda: any(name.endswith(".lock") for name in _open_files(waiting.pid)), "its lock")
    waiting.send_signal(signal.SIGINT)
    _, err = waiting.communicate(timeout=120)
    assert waiting.returncode != 0 and "KeyboardInterrupt" in err
    assert diary(tmp_path).total() == 1 and maker.poll() is None


def _open_files(pid: int) -> list[str]:
    found = []
    for handle in Path(f"/proc/{pid}/fd").iterdir():
        try:
            found.append(os.readlink(handle))
        except FileNotFoundError:  # closed meanwhile
            continue
    return found


def _children(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text().split()] if path.exists() else []


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_killed_worker_is_an_error_not_a_wait(tmp_path: Path) -> None:
    """A worker process that dies ends the run with advice; the units before it stay."""
    store = Store(tmp_path)
    keys = [{"die": unit == 3, "unit": unit} for unit in range(6)]
    with refuses("worker-killed"):
        store.map(keys, _die, workers=1, processes=True)
    assert len(list(tmp_path.rglob("*.unit"))) == 3


def _die(key: Mapping[str, Any]) -> dict[str, Any]:
    if key["die"]:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"unit": key["unit"]}


KEY = {"study": "x", "alpha": 0.25, "seed": 3}
RECORD = {"value": 1.5, "list": [1, None, "ü"], "nan": math.nan, "a": np.arange(6.0).reshape(2, 3), "file": np.eye(2)}


def same(found: Mapping[str, Any]) -> bool:
    return (
        set(found) == set(RECORD)
        and found["value"] == 1.5
        and found["list"] == [1, None, "ü"]
        and math.isnan(found["nan"])
        and np.array_equal(found["a"], np.arange(6.0).reshape(2, 3))
        and np.array_equal(found["file"], np.eye(2))
    )


def never() -> dict[str, Any]:
    raise AssertionError("made again")


def test_records_come_back_as_they_were(tmp_path: Path) -> None:
    """JSON values, NaN and arrays; the first answer is the same as the later ones; the order of keys is no matter."""
    store = Store(tmp_path / "new" / "folder")
    assert store.get(KEY) is None
    assert same(store.once(KEY, lambda: RECORD))
    assert same(store.once(dict(reversed(KEY.items())), never))
    assert same(Store(tmp_path / "new" / "folder").once(KEY, never))
    assert store.once({"whole": 1}, lambda: {"of": store.once({"part": 1}, lambda: {"n": 1})["n"]}) == {"of": 1}
    tuples = store.once({"seed": 1}, lambda: {"pair": (1, 2)})
    assert tuples == store.once({"seed": 1}, never) == {"pair": [1, 2]}


def test_another_description_or_version_is_another_unit(tmp_path: Path) -> None:
    """Also where it lies in the place of the one that was asked for: a collision, or a file copied by hand."""
    store, other = Store(tmp_path), {**KEY, "seed": 4}
    store.once(KEY, lambda: {"value": 1})
    store.path(other).parent.mkdir(exist_ok=True)
    store.path(other).write_bytes(store.path(KEY).read_bytes())
    with pytest.warns(UserWarning):
        assert store.once(other, lambda: {"value": 2})["value"] == 2
    assert Store(tmp_path, version="2").once(KEY, lambda: {"value": 3})["value"] == 3
    assert store.once(KEY, never)["value"] == 1


def _flip(place: Callable[[int], int]) -> Callable[[bytes], bytes]:
    def damage(content: bytes) -> bytes:
        at = place(len(content))
        return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]

    return damage


def test_a_failure_keeps_what_was_finished(tmp_path: Path) -> None:
    """With two threads: the error comes through, finished units stay, the next run makes only the rest."""
    store = Store(tmp_path)
    keys = [{"unit": unit} for unit in range(20)]
    made: list[int] = []
    broken = True

    def make(key: Mapping[str, Any]) -> dict[str, Any]:
        if broken and key["unit"] == 9:
            raise ZeroDivisionError
        made.append(key["unit"])
        return {"unit": key["unit"]}

    before = threading.active_count()  # other tests of the same process may have left some
    with pytest.raises(ZeroDivisionError):
        store.map(keys, make, workers=2)
    wait_until(lambda: threading.active_count() <= before, "the threads to end")
    kept = set(made)
    assert {unit for unit in range(20) if store.get({"unit": unit}) is not None} == kept and 9 not in kept
    broken = False
    steps: list[tuple[str, int, int]] = []
    found = store.map(keys, make, workers=2, progress=lambda *step: steps.append(step), stage="again")
    assert [record["unit"] for record in found] == list(range(20))
    assert Counter(made) == Counter(range(20))
    assert steps == [("again", done, 20) for done in range(len(kept), 21)]


@contextmanager
def nobody() -> Iterator[None]:
    """Root may write anywhere, so for a moment be somebody else."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_folder_that_cannot_be_written_to_is_said_before_the_work(tmp_path: Path) -> None:
    """Finished units are still read; a new one is refused before it is made."""
    for folder in [tmp_path, *tmp_path.parents]:
        if folder.stat().st_uid == os.getuid() and folder.name.startswith(("pytest", "popen", "test_")):
            folder.chmod(0o755)
    store = Store(tmp_path / "store")
    store.once(KEY, lambda: {"value": 1})
    for folder in (tmp_path / "store", *(tmp_path / "store").iterdir()):
        folder.chmod(0o555)
    with nobody():
        assert store.once(KEY, never) == {"value": 1}
        with refuses("cannot-write"):
            store.once({"seed": 9}, never)
        file = tmp_path / "store" / "x"
        with refuses("cannot-write"):
            Store(file).once(KEY, never)


@pytest.mark.parametrize(
    ("code", "ask"),
    [
        ("not-plain-json", lambda store: store.once({"x": np.float64(1.0), "y": np.arange(2)}, never)),
        ("not-plain-json", lambda store: store.once({"x": math.nan}, never)),
        ("not-plain-json", lambda store: store.once({"x": {1, 2}}, never)),
        ("not-plain-json", lambda store: store.once(KEY, lambda: {"x": {1, 2}})),
        ("not-plain-json", lambda store: store.once(KEY, lambda: {"x": np.array([None, 1])})),
        ("out-of-range", lambda store: store.map([KEY], lambda key: {}, workers=0)),
        ("unreadable-file", lambda store: Store(store.folder / "taken").once(KEY, never)),
    ],
)
def test_what_cannot_be_kept_is_an_error(tmp_path: Path, code: str, ask: Callable[[Store], Any]) -> None:
    """Descriptions are plain JSON, records JSON and arrays; no worker; a file in the folder's place."""
    (tmp_path / "taken").write_text("x")
    with refuses(code):
        ask(Store(tmp_path))


def _signed(body: bytes) -> bytes:
    """A unit whose sum is right, whatever it says."""
    return MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


HEAD = json.dumps({"key": KEY, "version": "1", "record": {}}).encode()
BAD: tuple[Callable[[bytes], bytes] | Callable[[Path], None], ...] = (
    lambda content: b"",
    lambda content: content[: len(content) // 2],
    lambda content: content[:-1],
    lambda content: content + b"x",
    lambda content: content.replace(b"unskew-unit 1", b"unskew-unit 0"),
    *(_flip(place) for place in (lambda n: 3, lambda n: 20, lambda n: 100, lambda n: n // 2, lambda n: n - 1)),
    lambda content: _signed(b"[" * 100_000),
    lambda content: _signed(b"[]"),
    lambda content: _signed(b'{"key": {}}'),
    lambda content: _signed(HEAD.replace(b'"record": {}', b'"record": 5')),
    lambda content: _signed(HEAD.replace(b'"record": {}', b'"record": {"a": 1, "a": 2}')),
    lambda content: _signed(HEAD + b"\nPK\x03\x04 not an archive"),
    lambda content: _signed(HEAD + b"\n\x93NUMPY"),
    lambda content: b"unskew-unit 9 of another format",
    Path.mkdir,
    os.mkfifo,
)


@pytest.mark.parametrize("bad", BAD)
def test_what_is_no_unit_is_set_aside_and_made_again(tmp_path: Path, bad: Callable[[Any], Any]) -> None:
    """Cut off, lengthened, emptied, one bit flipped; forged with a right sum; no file at all, and never waited for."""
    told: list[str] = []
    store = Store(tmp_path, tell=told.append)
    store.once(KEY, lambda: RECORD)
    path = store.path(KEY)
    if bad in (Path.mkdir, os.mkfifo):
        path.unlink()
        bad(path)
    else:
        path.write_bytes(spoilt := bad(path.read_bytes()))
    made: list[int] = []
    assert same(store.once(KEY, lambda: made.append(1) or RECORD))  # type: ignore[func-returns-value]
    assert made == [1] and len(told) == 1 and str(path) in told[0]
    assert bad in (Path.mkdir, os.mkfifo) or path.with_suffix(".bad").read_bytes() == spoilt
    assert same(store.once(KEY, never))


def test_a_unit_that_fails_leaves_no_lock(tmp_path: Path) -> None:
    """A full disk, for example; who waited for it makes it, and nobody beside."""
    store, inside, most = Store(tmp_path), [0], [0]

    def failing() -> dict[str, int]:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        time.sleep(0.01)
        inside[0] -= 1
        raise OSError("No space left on device")

    def ask() -> None:
        with pytest.raises(OSError):
            store.once(KEY, failing)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_lock_that_a_killed_run_left_goes_when_the_unit_is_read(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.once(KEY, lambda: {"made": 1})
    lock = store.path(KEY).with_suffix(".lock")
    lock.touch()
    with lock.open("r+") as held:
        assert try_lock(held.fileno())
        assert store.get(KEY) == {"made": 1} and lock.exists()
    assert store.get(KEY) == {"made": 1} and not lock.exists()


def test_worker_processes_end_when_their_parent_is_killed(
    tmp_path: Path, start: Callable[..., subprocess.Popen[str]]
) -> None:
    running = start(pause=3600.0, workers=2, processes=True)
    wait_until(lambda: diary(tmp_path).total() == 2, "both workers")
    children = _children(running.pid)
    running.kill()
    wait_until(lambda: not any(_alive(child) for child in children), "the workers to end")


def test_a_unit_that_cannot_be_set_aside_is_named(tmp_path: Path) -> None:
    store = Store(tmp_path)
    path = store.path(KEY)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"damaged")
    path.with_suffix(".bad").mkdir()
    with refuses("store-damaged"):
        store.get(KEY)
