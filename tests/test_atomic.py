"""Outputs are whole or absent, several of them all or none, and nothing is left lying about."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.said import refusal, refuses
from unskew.core import temporaries
from unskew.core.atomic import target, together, write_text
from unskew.core.outputs import try_writing

HOLDS_ONE = """
import sys, time
from pathlib import Path
from unskew.core.temporaries import Temporary
kept = Temporary(Path(sys.argv[1])), Temporary(Path(sys.argv[1]), Path.mkdir)
print("there", flush=True)
time.sleep(600)
"""


def left(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_several_files_appear_all_or_none(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", "former")
    with pytest.raises(ZeroDivisionError), together():
        write_text(tmp_path / "a.txt", "new")
        write_text(tmp_path / "b.txt", "new")
        assert (tmp_path / "a.txt").read_text() == "former"
        raise ZeroDivisionError
    assert left(tmp_path) == ["a.txt"]
    with together():
        write_text(tmp_path / "a.txt", "new")
        write_text(tmp_path / "b.txt", "new")
    assert left(tmp_path) == ["a.txt", "b.txt"]
    assert (tmp_path / "a.txt").read_text() == "new"


@pytest.mark.parametrize("bad", [1, 2])
def test_a_rename_that_fails_midway_puts_everything_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: int
) -> None:
    write_text(tmp_path / "a.txt", "former")
    rename = os.replace
    calls: list[Path] = []

    def replace(source: Path, final: Path) -> None:
        calls.append(final)
        if len(calls) == bad + 1:
            raise PermissionError(13, "Permission denied")
        rename(source, final)

    with refuses("cannot-write"), together():
        for name in "abc":
            write_text(tmp_path / f"{name}.txt", "new")
        monkeypatch.setattr(os, "replace", replace)
    assert left(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "former"


def test_a_full_disk_is_one_clear_error_also_from_polars(tmp_path: Path) -> None:
    """A limit on the size of files fails in the same calls as a full disk does."""
    code = (
        "import resource, sys, polars as pl\n"
        "from unskew.core.atomic import atomic_file\nfrom unskew.core.errors import InputError\n"
        "frame = pl.DataFrame({'a': [i * 0.1 for i in range(100000)]})\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "for kind in ('csv', 'parquet'):\n"
        "    try:\n"
        "        with atomic_file(sys.argv[1] + '/a') as temporary:\n"
        "            getattr(frame, 'write_' + kind)(temporary)\n"
        "    except InputError as error:\n"
        "        print(error.code)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["cannot-write"] * 2
    assert left(tmp_path) == []


def test_permissions_follow_the_umask_and_stay_when_a_file_is_replaced(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "a.txt", "one")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o640
    (tmp_path / "a.txt").chmod(0o604)
    write_text(tmp_path / "a.txt", "two")
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o604


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link.txt").symlink_to("real/a.txt")
    write_text(tmp_path / "link.txt", "through")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real" / "a.txt").read_text() == "through"


def test_what_is_no_place_for_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    for path, code in {
        "loop": "cannot-write",
        "pipe": "not-a-file",
        "x" * 300: "cannot-write",
        "no/a.txt": "missing-folder",
        ".": "not-a-file",
        "nul\0": "cannot-write",
    }.items():
        assert refusal(write_text, tmp_path / path, "text").code == code == refusal(try_writing, tmp_path / path).code
    assert target(tmp_path / "new") == tmp_path.resolve() / "new"


def test_temporaries_of_a_killed_run_vanish_with_the_next_and_those_of_a_living_one_stay(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDS_ONE, str(tmp_path)]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE) as living,
        subprocess.Popen(command, stdout=subprocess.PIPE) as killed,
    ):
        assert living.stdout is not None and killed.stdout is not None
        living.stdout.readline(), killed.stdout.readline()
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        foreign = tmp_path / ".unskew-link.tmp"
        foreign.symlink_to("/etc")
        write_text(tmp_path / "a.txt", "text")
        names = left(tmp_path)
        living.kill()
    assert len([name for name in names if name.startswith(f".unskew-{living.pid}-")]) == 2
    assert len([name for name in names if name.startswith(f".unskew-{killed.pid}-")]) == 0
    assert Path("/etc/passwd").exists()


def test_a_process_that_ends_removes_its_temporaries(tmp_path: Path) -> None:
    """From any thread, and nothing takes its place afterwards."""
    code = (
        "import os, sys, threading\nfrom unskew.core.atomic import atomic_file\n"
        "from unskew.core.temporaries import discard_temporaries\n"
        "with atomic_file(sys.argv[1] + '/a.txt') as temporary:\n"
        "    temporary.write_text('half')\n"
        "    watcher = threading.Thread(target=lambda: (discard_temporaries(), os._exit(7)))\n"
        "    watcher.start()\n"
        "watcher.join()\n"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert ran.returncode == 7
    assert left(tmp_path) in ([], ["a.txt"])


def test_threads_that_write_the_same_file_leave_one_whole(tmp_path: Path) -> None:
    texts = [str(n) * 100_000 for n in range(8)]
    threads = [threading.Thread(target=write_text, args=(tmp_path / "a.txt", text)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert left(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() in texts


def test_a_forked_process_leaves_its_parents_temporaries(tmp_path: Path) -> None:
    held = temporaries.Temporary(tmp_path)
    child = os.fork()
    if child == 0:
        temporaries._remove_ours()
        os._exit(0)
    os.waitpid(child, 0)
    assert held.path.exists()
    held.discard()
    assert left(tmp_path) == []
